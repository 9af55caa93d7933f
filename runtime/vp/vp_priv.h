/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_priv.h - what the files of runtime/vp share: the worker and the steps of
 * running a VP.
 */
#ifndef XK_VP_PRIV_H
#define XK_VP_PRIV_H

#include "runtime/base/xk_wide.h"
#include "runtime/vp/xk_vp.h"

/* xk_vpset.running: workers are being made and wait, so that the thread that makes
 * hundreds of them does not compete with the first. */
#define XK_STARTING 2u

#define XK_ROUND 256u            /* messages between two readings of the clock */
#define XK_USAGE_EVERY (10 * XK_MS)  /* a thread says what it has used */

/* VPs, carriers and the pool's queue have one row of numbers: are they more than it has? */
static inline bool xk_arch_too_many(const struct xk_arch *a)
{
	return (unsigned)a->vps + a->carriers + (a->inbound == XK_INBOUND_POOL) > XK_VP_MAX;
}

/* A worker's private note about one of its VPs. */
struct xk_slot {
	struct xk_vp *vp;
	int32_t       deficit;   /* deficit round robin, messages */
	xk_ns         next;      /* when its wheel wants to run, as of the last visit */
};

struct xk_worker {
	struct xk_vpset  *set;
	struct xk_fifo   *fifo;          /* the queue it shares, or NULL */
	struct xk_slot   *slot;
	unsigned          nslots, no;
	int               cpu;           /* pinned to it, or -1 */
	uint64_t         *ready;         /* bitmap over slots; the worker's own */
	xk_ns             next;          /* earliest slot[].next */
	xk_ns             now;
	struct xk_thread *thread;
	struct xk_memhot  hot;           /* free buffers, from the VP that had a turn for the one that has */
	struct xk_worker_stats stats;    /* filled when the thread ends, and live counters */
	/* Written by others. */
	uint64_t         *kicked XK_ALIGNED;  /* bitmap: somebody left work for slot i */
	uint32_t          any_kicked;
	struct xk_event   event;
};

/* vp_place.c: pinned workers get processors that no other program has pinned workers on, where
 * there are enough.  Between begin and end other programs wait with theirs; begin's result is end's. */
int  xk_place_begin(struct xk_vpset *set);
void xk_place_end(int place);
/* The choice, when others have those. */
void xk_place_workers(struct xk_vpset *set, uint64_t taken);

/* vp_core.c */
/* no: as protocols know it; at: among the set's lanes. */
int  xk_vp_setup(struct xk_vp *vp, struct xk_vpset *set, uint16_t no, uint16_t at);
void xk_vp_teardown(struct xk_vp *vp);
/* Takes and gives up the role of "the thread inside", which is an RCU read
 * section, too; no lock. */
void xk_vp_step_in(struct xk_vp *vp, xk_ns now);
void xk_vp_step_out(struct xk_vp *vp);
/* Units until *deficit is used up or, *idle, one had nothing to do: what the
 * owner of a VP runs in one turn.  Returns messages and timers done. */
unsigned xk_vp_turn(struct xk_vp *vp, unsigned budget, int32_t *deficit, bool *idle);
/* Is there something to do besides timers and polling tasks? */
bool xk_vp_busy(const struct xk_vp *vp);
/* Tells the worker of vp that there is work; from any thread. */
void xk_vp_kick(struct xk_vp *vp);
/* Entry policy `lock`; do nothing under `own`. */
static inline bool xk_vp_locks(const struct xk_vp *vp)
{
	return vp->set->arch.entry == XK_ENTRY_LOCK;
}
static inline void xk_vp_lock(struct xk_vp *vp) { xk_lock_take(vp->set->arch.lock, &vp->lock, &vp->lockstat); }
static inline bool xk_vp_trylock(struct xk_vp *vp) { return xk_lock_try(vp->set->arch.lock, &vp->lock, &vp->lockstat); }
static inline void xk_vp_unlock(struct xk_vp *vp) { xk_lock_drop(vp->set->arch.lock, &vp->lock, &vp->lockstat); }

/* vp_escort.c: the lock of vp, no carrier, for a thread inside no VP, which finds it in the table and gives that back
 * when it has it. */
void xk_vp_lock_by_table(struct xk_vp *vp);

/* vp_core.c: a chain, newest first.  False: the inbox is full. */
bool xk_vp_inbox_push(struct xk_vp *to, struct xk_msg *newest, struct xk_msg *oldest, uint32_t n);
/* With vp's lock: what is in the inbox, then the chain, goes behind what waits here already. */
void xk_vp_take_brought(struct xk_vp *vp, struct xk_msg *newest);
/* Inside vp: runs all of it. */
void xk_vp_run_brought(struct xk_vp *vp);

/* A chain as it lay in an inbox, newest first, goes behind q in the order of sending; returns
 * how many. */
static inline uint32_t vp_put_in_order(struct xk_msgq *q, struct xk_msg *newest)
{
	struct xk_msg *m = newest, *rev = NULL;
	uint32_t n = 0;

	while (m != NULL) {
		struct xk_msg *next = m->link;

		m->link = rev;
		rev = m;
		m = next;
	}
	while (rev != NULL) {
		struct xk_msg *next = rev->link;

		xk_msgq_put(q, rev);
		rev = next;
		n++;
	}
	return n;
}

/* vp_pool.c: the queue that all carriers share. */
struct xk_pool {
	struct xk_vp      *queue;        /* what is posted to it lies in its inbox, then in `local` */
	uint64_t           given;        /* tickets, under the lock */
	struct xk_lock     lock;         /* of queue->local and given */
	struct xk_lockstat lockstat;
	uint64_t           idle XK_ALIGNED;  /* carriers whose task is parked */
	uint32_t           woken;        /* who was woken last */
	uint64_t           turn XK_ALIGNED;  /* the ticket that may look for its owner, see vp_escort.c */
	struct { struct xk_task task; struct xk_call wake; } carrier[XK_CARRIERS_MAX];
};
int  xk_pool_new(struct xk_vpset *set);
void xk_pool_free(struct xk_vpset *set);
/* Somebody has left work in the queue. */
void xk_pool_kick(struct xk_vpset *set);
/* vp_escort.c: the message that carrier carries has found no owner: those behind it go on. */
void xk_vp_order_skip(struct xk_vp *carrier);

/* vp_carry.c: does the thread that is inside a VP bring others their messages itself? */
static inline bool xk_vp_brings(const struct xk_vpset *set)
{
	return set->arch.handover != XK_HANDOVER_POST && xk_load_relaxed(&set->running) != 0;
}
/* Remembers a chain that the calling thread will bring; false: it has too many. */
bool xk_vp_bring(struct xk_vp *to, struct xk_msg *newest, struct xk_msg *oldest, uint32_t n);
/* Brings what the calling thread has remembered, and what comes of it.  Inside no VP. */
void xk_vp_carry(struct xk_vpset *set, xk_ns now);

/* ---- lines that will be wanted ---- */

/* Numbers, not pointers: what a session keeps in `hot` may be nothing yet, or anymore, and
 * asking for a line that is nowhere does nothing. */
static inline void vp_fetch_at(uintptr_t at, unsigned lines)
{
	XK_UNROLL
	for (unsigned i = 0; i < lines; i++)
		__builtin_prefetch((const void *)(at + i * XK_CACHELINE));
}

static inline void vp_fetch_lines(const void *p, unsigned lines) { vp_fetch_at((uintptr_t)p, lines); }

static inline void vp_fetch_task(const struct xk_task *t) { vp_fetch_lines(t, 2); }
static inline void vp_fetch_first(const struct xk_task *t) { vp_fetch_lines(t->ahead, 3); }
static inline void vp_fetch_beyond(const struct xk_task *t)
{
	if (t->beyond != NULL)
		vp_fetch_at((uintptr_t)*t->beyond - XK_CACHELINE, 5);
}
/* vp_fetch.c: vp's turn comes `before` turns of other VPs from now, 4 to 1: fetches what
 * can be known of it by what was fetched at the turns before.  By vp's worker, where
 * nobody else enters (entry `own`). */
void xk_vp_fetch(const struct xk_vp *vp, unsigned before);

/* vp_core.c, steps of a unit for vp_lane.c: is the wheel due; what others left; a turn of the
 * next task, and what was collected for others. */
bool xk_vp_timers_due(const struct xk_vp *vp);
unsigned xk_vp_run_left(struct xk_vp *vp, unsigned budget);
unsigned xk_vp_run_one(struct xk_vp *vp, unsigned budget);
void xk_vp_hand_over(struct xk_vp *vp);

/* vp_fifo.c: the queue of VPs that workers share (schedule `fifo`). */
int  xk_fifo_new(struct xk_vpset *set);
void xk_fifo_free(struct xk_vpset *set);
void xk_fifo_kick(struct xk_vp *vp);
void xk_fifo_begin(struct xk_worker *w);
/* Each VP in the queue at most once; returns messages done. */
unsigned xk_fifo_round(struct xk_worker *w);
/* Queues those whose timers are due. */
void xk_fifo_timers(struct xk_worker *w);
bool xk_fifo_sleeps(struct xk_worker *w);
void xk_fifo_wakes(struct xk_worker *w);

/* vp_worker.c */
/* What the calling thread has used, into its own record; out of a record, of thread t or NULL. */
void xk_worker_note(struct xk_worker_stats *s);
void xk_worker_stats_of(const struct xk_worker_stats *s, const struct xk_thread *t, struct xk_worker_stats *out);
void xk_worker_main(void *arg);
int  xk_worker_setup(struct xk_worker *w, struct xk_vpset *set, unsigned no);
void xk_worker_teardown(struct xk_worker *w);

#endif
