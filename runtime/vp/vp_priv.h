/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_priv.h - what the files of runtime/vp share: the worker and the steps of
 * running a VP.
 */
#ifndef XK_VP_PRIV_H
#define XK_VP_PRIV_H

#include "runtime/base/xk_wide.h"
#include "runtime/vp/vp_heat.h"
#include "runtime/vp/vp_mode.h"
#include "runtime/vp/xk_vp.h"

/* xk_vpset.running: workers are being made and wait, so that the thread that makes
 * hundreds of them does not compete with the first. */
#define XK_STARTING 2u

#define XK_ROUND 256u            /* messages between two readings of the clock */
#define XK_USAGE_EVERY (10 * XK_MS)  /* a thread says what it has used */

/* VPs, I/O threads and the pool's queue have one row of numbers: are they more than it has? */
static inline bool xk_arch_too_many(const struct xk_arch *a)
{
	return (unsigned)a->vps + a->io_threads + (a->inbound == XK_INBOUND_POOL) > XK_VP_MAX;
}

struct vp_background;

/* What a worker, or an I/O thread, counts of what it was chosen for; its own, read by anybody (vp_affinity.c). */
struct vp_affine {
	xk_counter     hits, moves, code_hits, code_moves, starts, away_ns;
	struct xk_hist away;
};
/* It starts, having been idle so long; code_is_here: no other one has run protocol code since. */
void vp_affine_start(struct vp_affine *a, xk_ns away, bool code_is_here);

/* A worker's private note about one of its VPs. */
struct xk_slot {
	struct xk_vp *vp;
	int32_t       deficit;   /* deficit round robin, messages */
	xk_ns         next;      /* when its wheel wants to run, as of the last visit */
};

struct xk_worker {
	struct xk_vpset  *set;
	const struct xk_mode_ops *mode;  /* of all its VPs */
	struct xk_slot   *slot;
	unsigned          nslots, no;
	int               cpu;           /* pinned to it, or -1 */
	struct xk_vp     *only;          /* owned, with no others: its turns are the worker's rounds; else NULL */
	uint64_t         *ready;         /* bitmap over slots; the worker's own */
	xk_ns             next;          /* earliest slot[].next */
	xk_ns             now;
	struct xk_thread *thread;
	struct xk_memhot  hot;           /* free buffers, from the VP that had a turn for the one that has */
	struct xk_worker_stats stats;    /* filled when the thread ends, and live counters */
	struct xk_recorder recorder;     /* what it did last */
	struct vp_background *background; /* other work, NULL: it sleeps */
	/* Written by others. */
	uint64_t         *kicked XK_ALIGNED;  /* bitmap: somebody left work for slot i */
	uint32_t          any_kicked;
	uint32_t          napping;       /* tasks for which there is no spinning (xk_task_nap) */
	struct xk_event   event;
};

/* vp_place.c: pinned workers get processors that no other program has pinned workers on, where
 * there are enough.  Between begin and end other programs wait with theirs; begin's result is end's. */
int  xk_place_begin(struct xk_vpset *set);
void xk_place_end(int place);
/* The choice, when others have those. */
void xk_place_workers(struct xk_vpset *set, uint64_t taken);

/* ---- who is inside, vp_enter.c --------------------------------------------------------- */

/* Takes and gives up the role of "the thread inside", which is an RCU read
 * section, too; no lock. */
void xk_vp_step_in(struct xk_vp *vp, xk_ns now);
void xk_vp_step_out(struct xk_vp *vp);

/* Entry policy `lock`; do nothing under `own`. */
static inline bool xk_vp_locks(const struct xk_vp *vp)
{
	return vp->set->arch.entry == XK_ENTRY_LOCK;
}
/* vp_recorder.c: somebody had to wait for vp's lock, and has it. */
void vp_record_wait(struct xk_vp *vp);
static inline void xk_vp_lock(struct xk_vp *vp)
{
	xk_lock_take(vp->set->arch.lock, &vp->lock, &vp->lockstat);
	if (XK_UNLIKELY(vp->lockstat.contended != vp->waits))
		vp_record_wait(vp);
}
static inline bool xk_vp_trylock(struct xk_vp *vp) { return xk_lock_try(vp->set->arch.lock, &vp->lock, &vp->lockstat); }
static inline void xk_vp_unlock(struct xk_vp *vp) { xk_lock_drop(vp->set->arch.lock, &vp->lock, &vp->lockstat); }

/* vp_table.c: the lock of vp, no I/O thread, for a thread inside no VP, which finds it in the table and gives that back
 * when it has it. */
void xk_vp_lock_by_table(struct xk_vp *vp);

/* ---- what others leave, vp_inbox.c ------------------------------------------------------- */

/* A chain, newest first.  False: the inbox is full. */
bool xk_vp_inbox_push(struct xk_vp *to, struct xk_msg *newest, struct xk_msg *oldest, uint32_t n);
/* Inside vp: what is collected for others is theirs. */
void xk_vp_flush(struct xk_vp *vp);
/* Inside vp: frees what waits in it. */
void xk_vp_inbox_empty(struct xk_vp *vp);

/* Tells who runs vp that there is work; from any thread. */
static inline void xk_vp_kick(struct xk_vp *vp) { vp->mode->kick(vp); }

/* When a worker that sleeps must be awake for what is due at `when`: sleepers are late, mostly by less than this, but
 * not in simulated time. */
static inline xk_ns vp_awake_by(const struct xk_vpset *set, xk_ns when)
{
	xk_ns lead = set->sim != NULL || when == XK_NS_NEVER ? 0 : 100 * XK_US;

	return when > lead ? when - lead : 0;
}

static inline void vp_hand_over(struct xk_vp *vp)
{
	if (XK_UNLIKELY((vp->nout | vp->mem.nforeign) != 0))
		xk_vp_flush(vp);
}

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

/* The same, behind what waits in vp. */
static inline uint32_t vp_take_chain(struct xk_vp *vp, struct xk_msg *newest)
{
	uint32_t n = vp_put_in_order(&vp->local, newest);

	xk_count_add(vp->handed_over, n);
	return n;
}

static inline void vp_take_inbox(struct xk_vp *vp)
{
	uint32_t n = vp_take_chain(vp, xk_atomic_xchg(&vp->inbox, NULL));

	xk_store_relaxed(&vp->inbox_taken, vp->inbox_taken + n);
}

/* Handoffs that the calling thread will bring to their VPs itself, by xk_vp_carry. */
#define XK_HANDOFFS 32u
struct xk_handoff { struct xk_vp *to; struct xk_msg *newest, *oldest; uint32_t n; };
struct xk_handoffs { unsigned first, n; struct xk_handoff of[XK_HANDOFFS]; };
/* A function, because gcc's check for null of another file's thread-local variable is spoilt by what
 * the linker makes of its address. */
struct xk_handoffs *xk_vp_handoffs(void);

/* vp_carry.c: brings them, and what comes of it.  Inside no VP. */
void xk_vp_carry(struct xk_vpset *set, xk_ns now);

/* ---- flight recorders, vp_recorder.c ------------------------------------------------------- */

/* XK_E_NOMEM.  When VPs and workers are there; free is legal always. */
int  vp_recorders_new(struct xk_vpset *set);
void vp_recorders_free(struct xk_vpset *set);

/* Inside vp: so many messages were done, if any, by a worker: xk_mem_here(). */
static inline void vp_record_turn(struct xk_vp *vp, unsigned done, unsigned who)
{
	if (done == 0)
		return;
	xk_vp_record(vp, XK_REC_TURN, 0, who, done, vp->singly);
	vp->singly = 0;
}

/* ---- running, vp_unit.c -------------------------------------------------------------------- */

/* Units until *deficit is used up or, *idle, one had nothing to do: what the
 * owner of a VP runs in one turn.  Returns messages and timers done; who calls it records them. */
unsigned xk_vp_turn(struct xk_vp *vp, unsigned budget, int32_t *deficit, bool *idle);
/* Is there something to do besides timers and polling tasks? */
bool xk_vp_busy(const struct xk_vp *vp);
/* With vp's lock: what is in the inbox, then the chain, goes behind what waits here already. */
void xk_vp_take_brought(struct xk_vp *vp, struct xk_msg *newest);
/* Inside vp: runs all of it. */
void xk_vp_run_brought(struct xk_vp *vp);
/* Steps of a unit, for modes with one of their own: is the wheel due; what others left; a turn of
 * the next task. */
bool xk_vp_timers_due(const struct xk_vp *vp);
unsigned xk_vp_run_left(struct xk_vp *vp, unsigned budget);
unsigned xk_vp_run_one(struct xk_vp *vp, unsigned budget);

/* How units and turns are run, and what was brought, where not as above: charged by a simulated machine
 * (vp_sim_unit.c), or on thread stacks of a pool (modes/vp_stackpool.c). */
struct vp_units {
	unsigned (*unit)(struct xk_vp *vp, unsigned budget);
	unsigned (*turn)(struct xk_vp *vp, unsigned budget, int32_t *deficit, bool *idle);
	void     (*brought)(struct xk_vp *vp);   /* by a thread that is in no unit */
};

/* As u says, NULL: as above; counted for who has run it. */
static inline unsigned vp_unit_by(const struct vp_units *u, struct xk_vp *vp, unsigned budget)
{
	unsigned done;

	if (XK_UNLIKELY(u != NULL))
		return u->unit(vp, budget);
	done = xk_vp_unit(vp, budget);
	vp_heat(vp, done);
	return done;
}

static inline unsigned vp_turn_by(const struct vp_units *u, struct xk_vp *vp, unsigned budget, int32_t *deficit, bool *idle)
{
	unsigned done;

	if (XK_UNLIKELY(u != NULL))
		return u->turn(vp, budget, deficit, idle);
	done = xk_vp_turn(vp, budget, deficit, idle);
	vp_record_turn(vp, done, xk_mem_processor);
	vp_heat(vp, done);
	return done;
}

static inline unsigned vp_any_unit(struct xk_vp *vp, unsigned budget) { return vp_unit_by(vp->set->units, vp, budget); }

static inline unsigned vp_any_turn(struct xk_vp *vp, unsigned budget, int32_t *deficit, bool *idle)
{
	return vp_turn_by(vp->set->units, vp, budget, deficit, idle);
}

static inline void vp_any_brought(struct xk_vp *vp)
{
	const struct vp_units *u = vp->set->units;

	if (XK_UNLIKELY(u != NULL))
		u->brought(vp);
	else
		xk_vp_run_brought(vp);
}

/* ---- lines that will be wanted ------------------------------------------------------------- */

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
static inline void vp_fetch_first(const struct xk_task *t)
{
	vp_fetch_lines(t->ahead, 2);
	if (t->beyond == NULL)
		__builtin_prefetch((const char *)t->ahead + 2 * XK_CACHELINE);
}
static inline void vp_fetch_beyond(const struct xk_task *t)
{
	if (t->beyond != NULL)
		vp_fetch_at((uintptr_t)*t->beyond - XK_CACHELINE, 6);
}
/* vp_fetch.c: vp's turn comes `before` turns of other VPs from now, 4 to 1: fetches what
 * can be known of it by what was fetched at the turns before.  By vp's worker, where
 * nobody else enters (entry `own`). */
void xk_vp_fetch(const struct xk_vp *vp, unsigned before);

/* ---- workers, vp_worker.c -------------------------------------------------------------------- */

void xk_worker_main(void *arg);
int  xk_worker_setup(struct xk_worker *w, struct xk_vpset *set, unsigned no);
void xk_worker_teardown(struct xk_worker *w);
/* Other work for one that is set up; errors as of vp_background_init. */
int  xk_worker_background(struct xk_worker *w);
/* A bit for the VP, and a wake: what most modes do for a kick. */
void xk_worker_kick(struct xk_vp *vp);
/*
 * Does another program want the processor?  Neighbours of a pipeline give it back when their queues
 * are empty or full; who gave it away and had it back later than that gave it to a stranger, who
 * takes a whole slice each time.  For a while after that it sleeps at once when there is nothing to
 * do, and is run again as soon as it is woken.  One thread's own; zeroed: never yet.
 */
struct xk_crowd { xk_ns until; };
#define XK_CROWD_AFTER (500 * XK_US)
#define XK_CROWD_FOR   (100 * XK_MS)
static inline bool xk_crowded(const struct xk_crowd *c, xk_ns now) { return now < c->until; }
/* The processor was given away at `from` and had back at `to`. */
static inline void xk_crowd_note(struct xk_crowd *c, xk_ns from, xk_ns to)
{
	if (to - from >= XK_CROWD_AFTER)
		c->until = to + XK_CROWD_FOR;
}
/* The turn of the i-th VP is over: is it still ready, and when does it want to run again? */
void xk_worker_rest(struct xk_worker *w, unsigned i, bool idle);
/* Somebody else runs the i-th VP, timers included, and will kick it. */
void xk_worker_spare(struct xk_worker *w, unsigned i);
/* Units of the i-th VP, each by `unit`, until one finds nothing or its share is used; messages done. */
static inline unsigned vp_visit_by(struct xk_worker *w, unsigned i, unsigned (*unit)(struct xk_worker *, unsigned))
{
	struct xk_slot *s = &w->slot[i];
	unsigned n, total = 0;

	do {
		n = unit(w, i);
		s->deficit -= (int32_t)(n != 0 ? n : 1);
		total += n;
	} while (n != 0 && s->deficit > 0);
	return total;
}

/* With vp held, by a thread that is not inside: asks its tasks as before a sleep (xk_task_on_sleep), each of
 * them.  False: one has work already.  vp_task.c. */
bool vp_ask(struct xk_vp *vp);
/* What the calling thread has used, into its own record; out of a record, of thread t or NULL. */
void xk_worker_note(struct xk_worker_stats *s);
void xk_worker_stats_of(const struct xk_worker_stats *s, const struct xk_thread *t, struct xk_worker_stats *out);

#endif
