/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hosttcp_priv.h - what the files of hosttcp share.
 *
 *   hosttcp.c         opening, waiting, control, life, the descriptor
 *   hosttcp_io.c      bytes in and out, events of the kernel
 *
 * A session is a connected socket.  What the kernel does not take yet waits in the session, up to `buffer`
 * bytes, so XK_STREAM_ROOM knows without a system call.
 */
#ifndef HOSTTCP_PRIV_H
#define HOSTTCP_PRIV_H

#include <sys/epoll.h>

#include "drivers/common/hostsock.h"
#include "runtime/base/xk_list.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_stream.h"
#include "runtime/vp/xk_task.h"
#include "runtime/vp/xk_timer.h"

#define HOSTTCP_ROOM   65536u            /* bytes by one read */
#define HOSTTCP_EVENTS 16u
#define HOSTTCP_IOVS   64u
#define HOSTTCP_ACCEPT 16u               /* connections taken by one look */

#define HOSTTCP_DROPS(X) \
	X(ENDED, "connection_ended")     /* pushed on a connection that is over, or behind its end */ \
	X(NO_ROOM, "no_room")            /* pushed into no room: the connection is reset */
enum {
	HOSTTCP_DROP_BASE = XK_DROP_FIRST - 1,
#define X(id, text) HOSTTCP_DROP_##id,
	HOSTTCP_DROPS(X)
#undef X
};
enum {
	N_OPENED, N_ACCEPTED, N_REFUSED_HERE, N_NOBODY, N_FAILED, N_RESET, N_NO_DESCRIPTORS, N_READS, N_WRITES,
	N_BYTES_IN, N_BYTES_OUT
};

struct hosttcp_conf {
	char    *netns;
	uint64_t buffer, kernel_buffer, sessions, backlog;
};

/* What an event of epoll names. */
struct hosttcp_sess;
struct hosttcp_watch { struct hosttcp_sess *sess; struct hosttcp_listen *listen; };  /* one of the two */

struct hosttcp_listen {
	struct xk_hostlisten l;          /* first */
	struct hosttcp_watch watch;
	struct hosttcp_listen *paused;   /* the next of those that wait for descriptors */
};

enum hosttcp_state { HOSTTCP_CONNECTING, HOSTTCP_OPEN, HOSTTCP_OVER };
struct hosttcp_sess {
	struct xk_sess       s;
	struct hosttcp_watch watch;
	struct xk_listed     all, busy, drain; /* every one; with something for the unit's end; waits for acknowledgements */
	struct xk_hostend    local, peer;
	int                  fd;         /* -1: closed */
	int32_t              err;        /* XK_E_*: why it is over, or is to be */
	enum hosttcp_state   state;
	uint32_t             events;     /* of epoll, asked for; UINT32_MAX: it is not watched */
	uint32_t             queued, gone; /* bytes that wait; of the first message, those the kernel has */
	uint32_t             untaken;    /* passed up, XK_STREAM_MANUAL, not taken yet */
	struct xk_msgq       q;
	bool passive, manual, shut, shut_done, ended, wants_room, wants_drained, closed;
};
static inline struct hosttcp_sess *hosttcp_sess(struct xk_sess *s) { return (struct hosttcp_sess *)(void *)s; }

struct hosttcp_node { struct xk_hostlisten *listens; };
struct hosttcp_rep {
	struct xk_rep         *rep;
	struct xk_task         rx_task, tx_task;
	uint8_t               *room;
	int                    epoll;    /* -1: none */
	struct epoll_event     ev[HOSTTCP_EVENTS];
	int                    nev;      /* events of this unit that may name a session */
	struct xk_list         all, busy, drain;
	struct hosttcp_listen *paused;
	struct xk_timer        poll, resume;
	unsigned               nsessions;
};

static inline const struct hosttcp_conf *hosttcp_conf(const struct xk_rep *r) { return r->conf; }
static inline struct hosttcp_rep *hosttcp_rep(const struct xk_rep *r) { return r->state; }

/* hosttcp.c: a session over fd, watched by nothing yet; NULL and *err: fd is still the caller's. */
struct hosttcp_sess *hosttcp_make(struct xk_rep *r, struct xk_up *up, struct xk_node *type, int fd, int *err);
/* The end of a session that nobody above has any more. */
void hosttcp_free(struct hosttcp_sess *ts);

/* hosttcp_io.c */
unsigned hosttcp_rx_run(struct xk_task *t, unsigned budget);
unsigned hosttcp_tx_run(struct xk_task *t, unsigned budget);
void hosttcp_push(struct xk_sess *s, struct xk_msg *m);
/* Asks epoll for what this session waits for now; XK_OK or what the kernel says. */
int  hosttcp_watch(struct hosttcp_sess *ts);
/* It has something to do or to say at the unit's end. */
void hosttcp_later(struct hosttcp_sess *ts);
/* Closes the socket: by a reset, or as the kernel does. */
void hosttcp_cut(struct hosttcp_sess *ts, bool reset);
/* It is over for err: whoever is above is told. */
void hosttcp_fail(struct hosttcp_sess *ts, int err);
uint32_t hosttcp_room(const struct hosttcp_sess *ts);
/* Bytes that the peer has not acknowledged. */
uint32_t hosttcp_unacked(const struct hosttcp_sess *ts);
void hosttcp_poll(struct xk_timer *t);
void hosttcp_resume(struct xk_timer *t);

#endif
