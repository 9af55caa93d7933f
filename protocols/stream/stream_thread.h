/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stream_thread.h - a connection served by a body in blocking style: read, write,
 * return.
 *
 * The body runs on the connection's user-level thread.  Where there is nothing to read
 * or no room to write it stops, and the virtual processor does other work until there
 * is.  An application embeds a struct stream_thread in its session, which stream_accept
 * has stood over the connection, and passes on what it is told of the connection; the
 * rest is in the body.  When the body returns the connection is given back.
 * Between two calls of the body the session is what it was: nobody else frees it.
 * Invariant: a body that is told of the end (0 or negative) is told of it for ever.
 */
#ifndef STREAM_THREAD_H
#define STREAM_THREAD_H

#include "protocols/stream/stream_app.h"
#include "runtime/upi/xk_thread.h"

struct stream_thread {
	struct xk_sess  *s;              /* the application's, over the connection */
	struct xk_ult   *t;
	void           (*body)(struct stream_thread *st);
	struct stream_q  in;             /* received, not read */
	bool             ended;          /* the peer sends no more */
	int              err;            /* XK_E_*: the connection is gone */
};

/* Starts body for s, which gets what is received by hand (XK_STREAM_MANUAL).  Not XK_OK: no
 * memory; s is still the caller's. */
int  stream_thread_begin(struct stream_thread *st, struct xk_sess *s, void (*body)(struct stream_thread *));

/* ---- told by the application, inside the VP and not from the body ------------------- */

void stream_thread_put(struct stream_thread *st, struct xk_msg *m);      /* demux */
void stream_thread_ended(struct stream_thread *st);                      /* close_done */
void stream_thread_writable(struct stream_thread *st);
void stream_thread_failed(struct stream_thread *st, int err);
/* The graph stops: the body is let run until it has returned.  From rep_stop. */
void stream_thread_stop(struct stream_thread *st);

/* ---- by the body --------------------------------------------------------------------- */

/* At least 1 byte, at most n, 0 at the peer's end; negative: XK_E_*. */
int64_t stream_read(struct stream_thread *st, void *buf, uint32_t n);
/* All n bytes are queued, or negative. */
int64_t stream_write(struct stream_thread *st, const void *buf, uint32_t n);

#endif
