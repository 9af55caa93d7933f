/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hostudp_priv.h - what the files of hostudp share.
 *
 *   hostudp.c       opening, waiting, control, life, the descriptor
 *   hostudp_rx.c    datagrams in
 *   hostudp_tx.c    datagrams out
 *
 * A socket belongs to one replica: a session's own, which is connected, or one on which this VP hears
 * of peers.  Sessions of such peers send by it.
 */
#ifndef HOSTUDP_PRIV_H
#define HOSTUDP_PRIV_H

#include <sys/socket.h>

#include "drivers/common/hostsock.h"
#include "runtime/base/xk_list.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/vp/xk_task.h"
#include "runtime/vp/xk_timer.h"

#define HOSTUDP_MAX    65507u            /* payload of a datagram: RFC 768 in RFC 791 */
#define HOSTUDP_RX     8u                /* datagrams, or trains of them, by one system call */
#define HOSTUDP_ROOM   65536u
#define HOSTUDP_EVENTS 16u
#define HOSTUDP_TX     64u               /* datagrams that wait for the unit's end */
#define HOSTUDP_IOVS   512u
#define HOSTUDP_PIECES 64u               /* of a message */
#define HOSTUDP_TRAIN  64u               /* datagrams that the kernel cuts of one (UDP_MAX_SEGMENTS) */
#define HOSTUDP_CTL    64u               /* bytes of ancillary data */

#define HOSTUDP_DROPS(X) \
	X(TOO_LONG, "too_long")          /* longer than a datagram, or than the path where it may not be cut */ \
	X(FULL, "queue_full")            /* the kernel's buffer is full */ \
	X(UNREACHABLE, "unreachable")    /* no way there: no route, the interface is down or gone */ \
	X(REFUSED_OUT, "peer_refused")   /* nobody is there (ICMP port unreachable), and again on repeating */ \
	X(PIECES, "too_many_pieces")     /* of a message that is pushed */ \
	X(ERROR, "kernel_error")         /* anything else that the kernel says */ \
	X(NOBODY, "nobody_waits")        /* read: nobody waits on the port any more, or not for this peer */ \
	X(REFUSED, "refused")            /* read: whoever waits does not want this peer */ \
	X(SESSIONS, "too_many_sessions")
enum {
	HOSTUDP_DROP_BASE = XK_DROP_FIRST - 1,
#define X(id, text) HOSTUDP_DROP_##id,
	HOSTUDP_DROPS(X)
#undef X
};
enum { N_READ, N_WRITTEN, N_READS, N_WRITES, N_TRAINS_IN, N_TRAINS_OUT, N_PEER_REFUSED, N_ERRORS };

struct hostudp_conf {
	char    *netns;
	uint64_t buffer, sessions, idle_timeout;
	bool     offload;
};

struct hostudp_sess;
struct hostudp_sock {
	struct xk_hostlisten l;          /* first */
	struct hostudp_sess *only;       /* whose own it is; NULL: peers are heard of here */
	struct hostudp_sock *dead;       /* the next of those to be freed */
};

struct hostudp_sess {
	struct xk_sess       s;
	struct hostudp_sock *sock;       /* its own or its VP's */
	struct xk_hostend    local, peer;
	struct xk_listed     listed;     /* passive: the driver's own reference, see sweep */
	xk_ns                since;
};
static inline struct hostudp_sess *hostudp_sess(struct xk_sess *s) { return (struct hostudp_sess *)(void *)s; }

/* A datagram that waits, and all that must be known to send it: its session may be gone by then. */
struct hostudp_out { struct xk_msg *m; int fd; bool named; struct xk_hostend to; uint32_t from; };

struct hostudp_rx {
	struct mmsghdr     h[HOSTUDP_RX];
	struct iovec       v[HOSTUDP_RX];
	struct sockaddr_in from[HOSTUDP_RX];
	char               ctl[HOSTUDP_RX][HOSTUDP_CTL] __attribute__((aligned(16)));
	uint8_t            room[HOSTUDP_RX][HOSTUDP_ROOM];
};
struct hostudp_tx {
	struct hostudp_out out[HOSTUDP_TX];
	struct mmsghdr     h[HOSTUDP_TX];
	struct sockaddr_in to[HOSTUDP_TX];
	struct iovec       v[HOSTUDP_IOVS];
	unsigned           count[HOSTUDP_TX];  /* datagrams of header k */
	char               ctl[HOSTUDP_TX][HOSTUDP_CTL] __attribute__((aligned(16)));
};

struct hostudp_node { struct xk_hostlisten *listens; };
struct hostudp_rep {
	struct xk_rep     *rep;
	struct xk_task     rx_task, tx_task;
	struct hostudp_rx *rx;
	struct hostudp_tx *tx;
	unsigned           nout;         /* that wait */
	uint32_t           most_cut;     /* longest datagram that the kernel has not refused to cut to; 0: none */
	int                epoll;        /* -1: none */
	struct hostudp_sock *dead;       /* closed in this unit; events may still name them */
	struct xk_list     passive;      /* by `since` */
	struct xk_timer    sweep;
	unsigned           nsessions;
};

static inline const struct hostudp_conf *hostudp_conf(const struct xk_rep *r) { return r->conf; }
static inline struct hostudp_rep *hostudp_rep(const struct xk_rep *r) { return r->state; }

/* hostudp.c: the session of a peer that is heard of for the first time, told to who waits; NULL: m is dropped. */
struct hostudp_sess *hostudp_first(struct xk_rep *r, struct hostudp_sock *k, const struct xk_key *key,
				   struct xk_hostend peer, struct xk_hostend local, unsigned *reason);
static inline struct xk_key hostudp_key(struct xk_hostend peer, struct xk_hostend local)
{
	return (struct xk_key){ { (uint64_t)peer.host << 32 | local.host, (uint64_t)peer.port << 32 | local.port } };
}

/* hostudp_rx.c */
unsigned hostudp_rx_run(struct xk_task *t, unsigned budget);
void hostudp_rx_init(struct hostudp_rx *rx);

/* hostudp_tx.c */
void hostudp_push(struct xk_sess *s, struct xk_msg *m);
unsigned hostudp_tx_run(struct xk_task *t, unsigned budget);
void hostudp_flush(struct hostudp_rep *hr);

#endif
