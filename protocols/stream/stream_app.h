/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stream_app.h - what applications over a stream share: waiting on a port, a
 * session of their own over each connection, bytes held back, bytes made.
 *
 * An application embeds struct xk_sess first in its session structure, as every
 * protocol does.  stream_keep stands such a session over a connection and makes it
 * the connection's `up`: demux, close_done and events find it without a search.
 * All calls are made inside the session's VP.
 * Invariant: while an application's session has `down`, it owns one reference to
 * it, and down->up is its `self`.
 */
#ifndef STREAM_APP_H
#define STREAM_APP_H

#include "runtime/base/xk_csum_inline.h"
#include "runtime/upi/xk_app.h"
#include "runtime/upi/xk_stream.h"

/* ---- connections -------------------------------------------------------------- */

/* A session of r's protocol over lls; takes over one reference that the caller
 * owns.  NULL: no memory, the reference stays the caller's. */
struct xk_sess *stream_keep(struct xk_rep *r, struct xk_sess *lls);
/* The same for a passive connection that nobody holds yet, up to `most` of r. */
struct xk_sess *stream_accept(struct xk_rep *r, struct xk_sess *lls, uint64_t most);
/* Gives the connection back (what is queued is sent, then it ends) and frees s. */
void stream_forget(struct xk_sess *s);
/* Calls forget for every kept session of r: for rep_stop. */
void stream_forget_all(struct xk_rep *r, void (*forget)(struct xk_sess *));

/* Resets and gives back every connection that r holds without a session of its own
 * (up is r's, one reference): for rep_stop. */
void stream_release_all(struct xk_rep *r);
/* The session that stream_keep has stood over lls, or NULL. */
static inline struct xk_sess *stream_above(const struct xk_sess *lls)
{
	struct xk_up *up = lls->up;

	return up == &up->rep->up ? NULL : xk_container_of(up, struct xk_sess, self);
}
/* The same, seen from a demux. */
static inline struct xk_sess *stream_own(struct xk_up *up)
{
	return up == &up->rep->up ? NULL : xk_container_of(up, struct xk_sess, self);
}

/* The answer of one XK_STREAM_* or XK_CTL_* question, 0 when there is none. */
uint32_t stream_ask(struct xk_sess *lls, unsigned op);
static inline void stream_tell(struct xk_sess *lls, unsigned op, uint32_t v)
{
	xk_sess_control(lls, op, &v, sizeof v);
}
static inline uint32_t stream_room(struct xk_sess *lls) { return stream_ask(lls, XK_STREAM_ROOM); }
/* The event in a control call, or NULL: it is another operation. */
static inline const struct xk_stream_event *stream_event(unsigned op, const void *buf, unsigned len)
{
	return op == XK_CTL_STREAM_EVENT && len >= sizeof(struct xk_stream_event) ? buf : NULL;
}
/* A whole control operation: what c says of the connections, and events passed to event;
 * everything else is XK_E_NOTSUP. */
int stream_app_control(struct xk_rep *r, unsigned op, void *buf, unsigned len, const struct xk_app_counts *c,
		       void (*event)(struct xk_rep *r, const struct xk_stream_event *ev));

/* ---- bytes held back -------------------------------------------------------------- */

/*
 * Bytes in order, as messages.  Small ones are copied into the spare room of the
 * last, so that what is held is a small multiple of the bytes, whatever pieces
 * the peer sends them in.
 */
struct stream_q {
	struct xk_msg *first, *last;
	uint32_t       bytes;          /* what was dropped is not counted */
	uint32_t       dropped;        /* of the first message */
};
/* Takes m; forgets what was true of it as received. */
void stream_q_put(struct stream_q *q, struct xk_msg *m);
/* The first message, or NULL.  Not together with stream_q_drop. */
struct xk_msg *stream_q_get(struct stream_q *q);
/* Bytes [off, off + n) to dst; returns bytes copied. */
uint32_t stream_q_copy(const struct stream_q *q, uint32_t off, void *dst, uint32_t n);
/* Forgets the first n bytes, at most all. */
void stream_q_drop(struct stream_q *q, uint32_t n);
void stream_q_free(struct stream_q *q);

/* ---- bytes made --------------------------------------------------------------------- */

/* A message with a copy of n bytes, its sum noted when it is one segment.  NULL: no memory. */
struct xk_msg *stream_copy(const void *p, uint32_t n);
/* Does lls take bytes, whatever messages they came in?  Else who is below may want messages whole. */
static inline bool stream_takes_bytes(const struct xk_sess *lls) { return lls->rep->ops->write != NULL; }
/*
 * Copies bytes at p behind what was pushed, n or fewer; returns how many.  Fewer: ask for room,
 * which says 0 when WRITABLE comes, and more when memory is out.  The connection may have ended,
 * so hold it where that would free it.
 */
uint32_t stream_push_copy(struct xk_sess *lls, const void *p, uint32_t n);
static inline uint32_t stream_write_some(struct xk_sess *lls, const void *p, uint32_t n)
{
	uint32_t (*const fn)(struct xk_sess *, const void *, uint32_t) = lls->rep->ops->write;

	/* Who stands before a session's push sees messages. */
	if (XK_UNLIKELY(fn == NULL || lls->push != lls->rep->pushes[lls->push_no]))
		return stream_push_copy(lls, p, n);
	xk_count(lls->rep->npush);
	return fn(lls, p, n);
}

/* ---- many short writes -------------------------------------------------------------- */

/*
 * For who writes more than once in a unit of work: each write is as stream_write_some's, but what that would
 * only join to what waits is copied there, and the stream is told once.  Between begin and end nothing
 * is asked of the session, or of another on the VP, but by the writer; what the stream does with the bytes
 * is the same.  A write may end the connection: who sees that it has leaves the writer without an end.  After
 * fewer bytes than were asked for nothing is left to end, and room may be asked for.
 */
#define STREAM_WRITER_SUM 512u       /* shorter ones are summed with the segment, all at once */
struct stream_writer {
	uint8_t        *at, *end;      /* the next byte goes here, no byte goes there */
	uint8_t        *told;          /* the stream knows of all before this one */
	uint32_t        writes;        /* in what it does not know of */
	uint32_t        sum, summed;   /* the sum of so many bytes of that; all or it is not used */
	struct xk_sess *lls;
};
static inline void stream_writer_begin(struct stream_writer *w, struct xk_sess *lls)
{
	*w = (struct stream_writer){ .lls = lls };
}
/* Would a write of n bytes only join?  Then that is all it does, and nobody is called. */
static inline bool stream_writer_joins(const struct stream_writer *w, uint32_t n)
{
	return n <= (size_t)(w->end - w->at);
}
static inline void stream_writer_join(struct stream_writer *w, const void *p, uint32_t n)
{
	uint8_t *at = w->at;

	w->at = at + n;
	w->writes++;
	if (n < STREAM_WRITER_SUM) {
		xk_copy_quick(at, p, n);
	} else {
		uint32_t sum = xk_csum_copy_long(at, p, n, 0);

		w->sum = xk_csum_add(w->sum, (at - w->told) & 1 ? xk_csum_swap(sum) : sum);
		w->summed += n;
	}
}
/* Member by member: a copy of all in vectors would wait for those that have just been stored singly, and
 * these for all that the pieces' copies have stored before. */
static inline void stream_writer_copy(struct stream_writer *to, const struct stream_writer *w)
{
	to->at = w->at;
	to->end = w->end;
	to->told = w->told;
	to->writes = w->writes;
	to->sum = w->sum;
	to->summed = w->summed;
	to->lls = w->lls;
}
uint32_t stream_writer_other(struct stream_writer *w, const void *p, uint32_t n);
/* n: 1 or more. */
static inline uint32_t stream_writer_put(struct stream_writer *w, const void *p, uint32_t n)
{
	struct stream_writer x;

	if (XK_LIKELY(stream_writer_joins(w, n))) {
		stream_writer_join(w, p, n);
		return n;
	}
	/* So that *w, whose address nobody has then, can be in registers. */
	stream_writer_copy(&x, w);
	n = stream_writer_other(&x, p, n);
	stream_writer_copy(w, &x);
	return n;
}
/* Tells the stream of n bytes in so many writes; summed: and of their sum. */
void stream_writer_tell(struct xk_sess *lls, uint32_t n, uint32_t writes, uint32_t sum, bool summed);
static inline void stream_writer_end(struct stream_writer *w)
{
	uint32_t n = (uint32_t)(w->at - w->told);

	if (n != 0)
		stream_writer_tell(w->lls, n, w->writes, w->sum, w->summed == n);
	w->at = w->end = w->told = NULL;
	w->writes = w->sum = w->summed = 0;
}
/* Are writes of n bytes for a writer?  Not where a segment has but few of them. */
bool stream_writer_pays(struct xk_sess *lls, uint32_t n);
/* The bytes that load repeats and sink can compare. */
void stream_pattern(uint8_t *p, uint64_t n);

#endif
