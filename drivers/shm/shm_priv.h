/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shm_priv.h - what the files of shm share.
 *
 *   shm.c        sessions: opening, waiting, control, life, the descriptor
 *   shm_io.c     messages out and in, sleeping
 *   shm_link.c   links: begun, met, ended
 *   shm_meet.c   sockets, areas, greetings
 *   shm_ring.c   what is in an area
 *
 * A link is between a VP here and one of a peer's, and has two areas and a socket.  All sessions of the two
 * use it, so what one VP pushes to one peer stays in order.
 */
#ifndef SHM_PRIV_H
#define SHM_PRIV_H

#include "drivers/shm/shm_meet.h"
#include "runtime/base/xk_list.h"
#include "runtime/msg/xk_msgq.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/vp/xk_task.h"
#include "runtime/vp/xk_timer.h"

#define SHM_LISTENERS 64u                /* VPs that hear of peers, at most */
#define SHM_EPHEMERAL 32768u             /* ports from there on say which VP of a host has them */

#define SHM_DROPS(X) \
	X(TOO_LONG, "too_long")          /* longer than a slot */ \
	X(QUEUE, "queue_full")           /* the link takes too little: the session fails, and is told */ \
	X(GONE, "peer_gone")             /* pushed, and there is no link any more */ \
	X(NOBODY, "nobody_waits")        /* read: nobody waits on the port */ \
	X(REFUSED, "refused")            /* read: whoever waits does not want this peer */ \
	X(SESSIONS, "too_many_sessions") \
	X(BAD, "bad_line")               /* read: the peer writes nonsense; its link ends */
enum {
	SHM_DROP_BASE = XK_DROP_FIRST - 1,
#define X(id, text) SHM_DROP_##id,
	SHM_DROPS(X)
#undef X
};
#define SHM_COUNTS(X) \
	X(READ, "read") X(WRITTEN, "written") X(QUEUED, "queued") X(WAKES, "wakes") \
	X(BEGUN, "links_begun") X(MET, "links_met") X(LOST, "links_lost") X(BAD_PEERS, "bad_peers") \
	X(FOREIGN, "foreign_users")
enum {
#define X(id, text) SHM_N_##id,
	SHM_COUNTS(X)
#undef X
};

struct shm_conf {
	char    *job, *dir;
	uint32_t at;
	uint64_t lines, slots, slot, queue, sessions, links, wait;
};

struct shm_rep;
enum shm_state {
	SHM_SEEKING,                     /* nobody is there yet: tried again */
	SHM_MEETING,                     /* a socket, but no greeting */
	SHM_UP,
	SHM_OVER,                        /* freed at the unit's end */
};
struct shm_link {
	struct xk_listed all, bell;      /* of its replica; its peer is to be woken where it sleeps */
	struct shm_rep  *hr;
	struct xk_list   sessions;
	struct shm_out   out;
	struct shm_in    in;
	struct xk_msgq   q;              /* for which there was no room; kept.seq: ports, kept.flags: kind */
	uint64_t         queued;         /* bytes in it */
	struct xk_list   stopped;        /* sessions that are to be told when it is empty */
	void            *mine;           /* areas; NULL: none */
	const void      *theirs;
	uint32_t        *by;
	int              fd, memfd;
	uint8_t          state;
	bool             ours, hup;      /* begun here; the peer is gone, what it wrote is still read */
	bool             home;           /* sessions to ports of no VP take it */
	int              to_vp;          /* ours: the peer's that it must lead to; -1: any */
	uint32_t         left;           /* hup: lines that may still be read */
	uint32_t         host;
	uint16_t         vp, vps;        /* of the peer */
	xk_ns            until;          /* no peer by then: given up */
};

struct shm_sess {
	struct xk_sess   s;
	struct shm_link *link;           /* NULL: over */
	struct xk_listed of_link;
	struct xk_listed kept;           /* of a peer: the driver's own reference */
	struct xk_listed failed;
	struct xk_listed stopped;
	uint32_t host;
	uint16_t peer_port, port;
};
static inline struct shm_sess *shm_sess(struct xk_sess *s) { return (struct shm_sess *)(void *)s; }

struct shm_rep {
	struct xk_rep   *rep;
	struct xk_task   rx_task, tx_task;
	struct xk_list   links, bells, kept, failed;
	struct xk_timer  seek;
	struct shm_place at;
	int              listening, epoll;   /* -1: none */
	unsigned         nlinks, nsessions;
	uint32_t         next_port;
	bool             armed, over;    /* links say that we sleep; one is to be freed */
	unsigned         idle;           /* runs since descriptors were looked at */
	xk_ns            looked;
	uint32_t         fence;
};
static inline const struct shm_conf *shm_conf(const struct xk_rep *r) { return r->conf; }
static inline struct shm_rep *shm_rep(const struct xk_rep *r) { return r->state; }
static inline struct shm_shape shm_shape_of(const struct shm_conf *c)
{
	return (struct shm_shape){ (uint32_t)c->lines, (uint32_t)c->slots, (uint32_t)c->slot };
}
/* What was written before is seen by whoever is not seen by what is read after. */
static inline void shm_fence(struct shm_rep *hr) { (void)xk_atomic_xchg(&hr->fence, 0u); }

/* shm.c */
void shm_deliver(struct shm_link *l, const struct shm_got *g);
/* There is no link any more; those above are told. */
void shm_sess_over(struct shm_sess *us);

/* shm_io.c */
unsigned shm_rx_run(struct xk_task *t, unsigned budget);
unsigned shm_tx_run(struct xk_task *t, unsigned budget);
bool shm_sleeps(struct xk_task *t);
void shm_push(struct xk_sess *s, struct xk_msg *m);
/* Bytes that may be pushed now; 0: none, and who is above is told when there are. */
uint32_t shm_room(struct shm_sess *us);
/* The peer forgets what it knows of these ports. */
void shm_say_end(struct shm_link *l, uint16_t from, uint16_t to);
/* What waits goes out, as far as there is room. */
void shm_flush(struct shm_link *l);

/* shm_link.c */
struct shm_link *shm_link_to(struct shm_rep *hr, uint32_t host, uint16_t port, int *err);
/* Looks at descriptors; returns how many events there were. */
unsigned shm_events(struct shm_rep *hr);
/* What is pushed over it is lost from now on. */
void shm_link_end(struct shm_link *l);
void shm_links_free(struct shm_rep *hr, bool all);
void shm_seek(struct xk_timer *t);

#endif
