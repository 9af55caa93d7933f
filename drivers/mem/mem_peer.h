/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mem_peer.h - what a wire in memory and the simulated peer on its far end know of each other.
 *
 * A peer is a node of its own below eth_mem or fddi_mem: it offers "peer" and answers
 * XK_CTL_MEM_PEER with its struct mem_peer.  The wire resolves it when replicas are made: its
 * session's push is the peer's, so a frame passes no edge between the two, and what the peer sends
 * enters the graph at the wire (xk_input of mr->rep, or the queue mr->q).  Peer and wire are on
 * one VP, and so is all that the peer keeps.
 * Invariant: the first member of a peer's replica state is the struct mem_rep * of its wire, set
 * before any rep_start; NULL where no wire lies over it.
 */
#ifndef XK_MEM_PEER_H
#define XK_MEM_PEER_H

#include "runtime/classify/xk_classify.h"
#include "runtime/upi/xk_node.h"
#include "runtime/vp/xk_timer.h"
#include "runtime/vp/xk_vp.h"

#define MEM_BURST 32u            /* most frames xk_input takes at once */
#define XK_CTL_MEM_PEER 20001u   /* const struct mem_peer *: what a replica of a peer is to its wire */
#define MEM_ASK_FITS    20002u   /* struct mem_fits: is a peer, as configured, too large for a wire? */

struct mem_peer {
	/* Takes a frame that the stack sends, on the VP where it is pushed.  s is the wire's session. */
	xk_push_fn push;
	/* It keeps state of its own: where I/O threads read the devices its frames are brought to
	 * the wire's, and push is called there. */
	bool at_reader;
};

/* In: the wire's MTU.  Result 1: why and what parameter are set, 0: all fits. */
struct mem_fits { uint64_t mtu; const char *param; char why[200]; };

/* How frames of a link type look. */
struct mem_link {
	enum xk_link type;
	uint32_t     header;      /* bytes before the network header */
	uint32_t     mac;         /* offset of the destination address */
};

/* Drops of a wire: a peer that refuses a frame for one of these counts it there, at s->rep. */
#define MEM_DROPS(X) \
	X(QUEUE_FULL, "queue_full")       /* the other end's receive queue is at its cap */ \
	X(NOBODY, "nobody_there")         /* no station on the wire has that address */ \
	X(TOO_LONG, "too_long")           /* longer than the link's largest frame */ \
	X(STOPPED, "stopped")             /* the other end has stopped */ \
	X(SUPER, "bad_super_segment")     /* a super-segment that cannot be cut into frames */ \
	X(DOWN, "interface_down")         /* the cable is down for a time */ \
	X(GONE, "device_gone")            /* the cable was removed */

enum {
	MEM_DROP_BASE = XK_DROP_FIRST - 1,
#define X(id, text) MEM_DROP_##id,
	MEM_DROPS(X)
#undef X
};

struct mem_spell;

/* A wire's node state, written by init only. */
struct mem_state {
	const struct mem_link *link;
	struct xk_node        *other;     /* the other end of a cable, itself, or NULL: there is a peer */
	struct xk_vp          *reader;    /* the device's I/O thread, or NULL: each VP reads it */
	struct mem_spell      *down;      /* [ndown] times at which it is down */
	unsigned               ndown;
	uint32_t               mtu, frame_max;
	uint8_t                mac[6];
};

/* A wire's replica state. */
struct mem_rep {
	struct xk_task   task;            /* passes `q` up; a peer may set another run in rep_start */
	struct xk_rep   *rep;
	struct mem_rep  *other;           /* the other end on this VP; NULL: there is a peer */
	struct xk_msgq   q;               /* frames on the wire towards this end */
	uint32_t         cap;
	uint32_t         frame_max;
	bool             open;            /* between rep_init and rep_stop */
	bool             apart;           /* what others leave is more than input: see mem_enter */
	uint32_t         stamp_at;        /* where the peer's frames have a stamp (xk_stamp.h); 0: nowhere.  By its rep_start */
	const struct mem_peer *peer;      /* or NULL ... */
	struct xk_rep   *far;             /* ... and its replica */
	xk_ns            began;           /* where times of mem_state.down count from */
	struct xk_timer  turn;            /* of the reader: the next of them */
	bool             down;
};

static inline struct mem_state *mem_state(const struct xk_rep *r) { return r->node->state; }

/* Of a wire's session, which is nobody's self: the peer's replica, and its state. */
static inline struct xk_rep *mem_far(const struct xk_sess *s) { return (struct xk_rep *)(uintptr_t)s->own[0]; }
static inline void *mem_far_state(const struct xk_sess *s) { return (void *)(uintptr_t)s->own[1]; }

/* Does what a peer of r, the wire, does for a connection whose home is `home` happen on r's VP? */
static inline bool mem_is_here(const struct xk_rep *r, const struct xk_vp *home)
{
	const struct xk_vp *reader = mem_state(r)->reader;

	/* By number: in the domain layers another stage of the same pipeline is asked for. */
	return (reader != NULL ? reader : home)->no == r->vp->no;
}

/* m waits on the wire to be passed up, inside the wire's VP, in a later unit of work. */
void mem_rx_put(struct mem_rep *to, struct xk_msg *m);
/* The same from a push on any VP: m is brought to the wire's reader where it has one. */
void mem_rx_answer(struct xk_sess *s, struct xk_msg *m);
/* The task's run where a peer sets none: passes up what waits. */
unsigned mem_rx_run(struct xk_task *t, unsigned budget);
/* Is there an I/O thread, and do so many messages wait in the queue that all share that it
 * should make no more? */
bool mem_backlogged(const struct mem_rep *mr);

#endif
