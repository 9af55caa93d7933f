/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_fifo.c - any worker runs any virtual processor that has work (schedule `fifo`).
 *
 * Each VP is a stack with a queue of messages; stacks that have some wait for a worker (Salehi and
 * others 1995, 8).  Who runs which, and which idle worker starts, is what xk_sched.h says, under the lock
 * here; a worker then runs a stack's messages until there are none or it has had `quantum` of them; without
 * a quantum the same worker goes on with it until there are none, with a look at the clock and at what is due between.
 * With as many VPs as workers each message finds its stack's processor, and with many more no worker
 * is idle while a stack waits that nobody is inside of, unless streams are wired.
 *
 * A VP that somebody leaves work in is kicked once: who finds `kicked` set has nothing to do, because who set it
 * tells the scheduler, and the worker clears it before it looks for what was left.  A VP whose lock
 * somebody has (a borrowed thread, or one that asks what its tasks wait for) goes to the end of the queue.
 * Where nothing but tasks that know when they are due is left in a VP it rests, and whichever worker looks
 * first when that time has come kicks it; other timers are looked after by the worker that a VP
 * is dealt to, its home.
 * Invariant: a VP with work is in a queue, or somebody is inside it who will put it there.
 */
#include "runtime/vp/modes/vp_modes.h"
#include "runtime/vp/vp_sim.h"

/* A worker's. */
struct fifo_proc {
	uint32_t       started;          /* it was chosen, by others; cleared by itself */
	bool           is_free;          /* it has said that it has nothing to do; its own note */
	struct vp_affine affine;
} XK_ALIGNED;

struct xk_fifo {
	struct xk_lock     lock;         /* of all down to the next line */
	const struct xk_lock_ops *ops;   /* of it */
	struct xk_lockstat stat;
	struct xk_sched   *sched;
	struct xk_heap     dues;         /* VPs whose tasks have something to do later, the earliest first */
	unsigned           ran_last;     /* the worker whose turn ended last */
	bool               any;          /* affinity any: whoever looks first takes it */
	struct xk_sched_conf conf;
	void             (*note)(void *arg, const struct xk_sched_note *n);  /* or NULL */
	void              *note_arg;
	/* Read without the lock: runs that wait; that poll; when the first of `dues` is due. */
	uint32_t           waiting XK_ALIGNED, polls;
	xk_ns              next_due;
	struct fifo_proc   proc[];
};

static inline void fifo_lock(struct xk_fifo *f) { xk_lock_take(f->ops, &f->lock, &f->stat); }

/* ---- VPs that are due later, under the lock ------------------------------------------------- */

static xk_ns due_first(const struct xk_fifo *f)
{
	const struct xk_heap_item *x = xk_heap_first(&f->dues);

	return x != NULL ? x->key : XK_NS_NEVER;
}

/* XK_NS_NEVER: it is not among them. */
static void due_set(struct xk_fifo *f, struct xk_vp *vp, xk_ns when)
{
	vp->due.key = when;
	if (when != XK_NS_NEVER)
		xk_heap_put(&f->dues, &vp->due);
	else
		xk_heap_take(&f->dues, &vp->due);
}

/* The earliest that is due by now; NULL: none is. */
static struct xk_vp *due_take(struct xk_fifo *f, xk_ns now)
{
	struct xk_heap_item *x = xk_heap_first(&f->dues);

	if (x == NULL || x->key > now)
		return NULL;
	xk_heap_take(&f->dues, x);
	return xk_container_of(x, struct xk_vp, due);
}

/* What others look at without it is as it is now. */
static inline void fifo_unlock(struct xk_fifo *f)
{
	xk_store_relaxed(&f->waiting, xk_sched_waiting(f->sched));
	xk_store_relaxed(&f->next_due, due_first(f));
	xk_lock_drop(f->ops, &f->lock, &f->stat);
}

/* ---- life ------------------------------------------------------------------------------- */

static bool fifo_wanted(const struct xk_arch *a)
{
	return a->schedule == XK_SCHED_FIFO;
}

static void fifo_free(struct xk_vpset *set)
{
	struct xk_fifo *f = set->fifo;

	if (f == NULL)
		return;
	f->ops->fini(&f->lock);
	xk_free(f->dues.place);
	xk_free(f->sched);
	xk_free(f);
	set->fifo = NULL;
}

static int fifo_make(struct xk_vpset *set)
{
	const struct xk_arch *a = &set->arch;
	struct xk_fifo *f = xk_alloc(sizeof *f + a->workers * sizeof f->proc[0] + XK_CACHELINE);

	if (f == NULL)
		return XK_E_NOMEM;
	f->ops = vp_mode_lock(set);
	f->ops->init(&f->lock);
	set->fifo = f;
	f->conf = (struct xk_sched_conf){
		.nprocs = a->workers, .pick = a->affinity == XK_AFFINITY_ANY ? XK_PICK_LOW : a->pick, .queue = a->queue,
		.depth = a->depth, .seed = a->seed,
	};
	f->any = a->affinity == XK_AFFINITY_ANY;
	f->next_due = XK_NS_NEVER;
	f->ran_last = XK_SCHED_NONE;
	f->sched = xk_alloc(xk_sched_size(a->workers));
	f->dues.place = xk_alloc(set->nconn * sizeof *f->dues.place);
	if (f->sched == NULL || f->dues.place == NULL)
		return XK_E_NOMEM;
	for (unsigned i = 0; i < set->nconn; i++) {
		set->vp[i]->run = (struct xk_sched_run){ .home = (uint16_t)(i % a->workers), .last = -1 };
		set->vp[i]->due.tie = i;
	}
	for (unsigned i = 0; i < a->workers; i++)
		f->proc[i].is_free = true;
	return xk_sched_init(f->sched, &f->conf);
}

static const struct vp_affine *fifo_affine(const struct xk_vpset *set, unsigned i) { return &set->fifo->proc[i].affine; }

/* ---- the scheduler, under the lock; each call may be noted ------------------------------- */

void xk_vpset_note_sched(struct xk_vpset *set, void (*note)(void *arg, const struct xk_sched_note *n), void *arg,
			 struct xk_sched_conf *conf)
{
	struct xk_fifo *f = set->fifo;

	fifo_lock(f);
	f->note = note;
	f->note_arg = arg;
	*conf = f->conf;
	fifo_unlock(f);
}

static void note(const struct xk_fifo *f, struct xk_sched_note n)
{
	if (XK_UNLIKELY(f->note != NULL))
		f->note(f->note_arg, &n);
}

static unsigned sched_arrive(struct xk_fifo *f, struct xk_vp *vp, xk_ns now)
{
	unsigned p = xk_sched_arrive(f->sched, &vp->run, now);

	note(f, (struct xk_sched_note){ .call = XK_CALL_ARRIVE, .vp = vp->no, .now = now, .answer = p });
	return p;
}

static struct xk_vp *sched_next(struct xk_fifo *f, unsigned p, xk_ns now)
{
	struct xk_sched_run *r = xk_sched_next(f->sched, p, now);
	struct xk_vp *vp = r != NULL ? xk_container_of(r, struct xk_vp, run) : NULL;

	note(f, (struct xk_sched_note){ .call = XK_CALL_NEXT, .p = p, .vp = vp != NULL ? vp->no : XK_SCHED_NONE, .now = now });
	return vp;
}

static unsigned sched_done(struct xk_fifo *f, unsigned p, struct xk_vp *vp, enum xk_after left, uint32_t n, xk_ns now)
{
	unsigned starts = xk_sched_done(f->sched, p, &vp->run, left, n, now);

	note(f, (struct xk_sched_note){ XK_CALL_DONE, p, vp->no, left, n, now, starts });
	return starts;
}

static bool sched_release(struct xk_fifo *f, unsigned p, xk_ns now)
{
	bool is_free = xk_sched_release(f->sched, p, now);

	note(f, (struct xk_sched_note){ .call = XK_CALL_RELEASE, .p = p, .vp = XK_SCHED_NONE, .now = now, .answer = is_free });
	return is_free;
}

/* ---- what arrives ------------------------------------------------------------------------- */

/* Under the lock: p, if any, starts; it is to be woken when the lock is given back. */
static unsigned start(struct xk_fifo *f, unsigned p)
{
	if (p != XK_SCHED_NONE)
		xk_store_release(&f->proc[p].started, 1u);
	return p;
}

static void wake(struct xk_vpset *set, unsigned p)
{
	if (p != XK_SCHED_NONE)
		xk_event_wake(&set->worker[p]->event);
}

/* Under the lock: does vp stand in a queue with nothing known to do? */
static void polls(struct xk_fifo *f, struct xk_vp *vp, bool on)
{
	xk_store_relaxed(&f->polls, f->polls + on - vp->polls);
	vp->polls = on;
}

/* Under the lock. */
static unsigned arrive(struct xk_fifo *f, struct xk_vp *vp, xk_ns now)
{
	polls(f, vp, false);
	return start(f, sched_arrive(f, vp, now));
}

/* Somebody has left work in vp; any thread. */
static void fifo_kick(struct xk_vp *vp)
{
	struct xk_fifo *f = vp->set->fifo;
	unsigned p;

	/* A change even where there is none: who clears it then sees what was left. */
	if (xk_atomic_xchg(&vp->kicked, 1u) != 0)
		return;
	fifo_lock(f);
	p = arrive(f, vp, 0);
	fifo_unlock(f);
	wake(vp->set, p);
}

/* Those that are due by now. */
static XK_NOINLINE void take_due(struct xk_worker *w)
{
	struct xk_fifo *f = w->set->fifo;
	struct xk_vp *vp;
	unsigned p;

	do {
		p = XK_SCHED_NONE;
		fifo_lock(f);
		vp = due_take(f, w->now);
		if (vp != NULL)
			p = arrive(f, vp, w->now);
		fifo_unlock(f);
		if (p != w->no)
			wake(w->set, p);
	} while (vp != NULL);
}

static inline bool is_due(const struct xk_worker *w)
{
	return xk_load_relaxed(&w->set->fifo->next_due) <= w->now;
}

/* ---- a turn ------------------------------------------------------------------------------------ */

/* How a turn ended. */
struct turn { enum xk_after left; uint32_t n; xk_ns due; };

/* Is there nothing in vp but tasks that know when they have something to do? */
static bool waits_for_time(const struct xk_vp *vp)
{
	unsigned n = 0;

	for (const struct xk_due *d = vp->dues; d != NULL; d = d->next)
		n += xk_task_is_ready(d->task);
	return n != 0 && n == vp->nready && vp->local.n == 0 && xk_load_relaxed(&vp->inbox) == NULL &&
	       xk_load_relaxed(&vp->calls) == NULL;
}

/* Inside vp, whose turn has ended because a unit found nothing (idle), or was long enough. */
static void turn_ends(struct turn *t, const struct xk_vp *vp, bool idle, bool exhaustive)
{
	t->due = XK_NS_NEVER;
	if (!xk_vp_busy(vp)) {
		t->left = XK_AFTER_REST;
	} else if (!idle) {
		t->left = exhaustive ? XK_AFTER_MORE : XK_AFTER_YIELD;
	} else if (waits_for_time(vp)) {
		t->left = XK_AFTER_REST;
		t->due = xk_vp_due(vp);
	} else {
		t->left = XK_AFTER_POLLS;
	}
}

/* Its home sleeps until what it knows of; a nearer timer is news. */
static void tell_home(const struct xk_worker *w, struct xk_vp *vp)
{
	if (vp->worker == w)
		return;
	xk_store_release(&vp->worker->any_kicked, 1);
	xk_event_wake(&vp->worker->event);
}

static struct turn visit(struct xk_worker *w, struct xk_vp *vp)
{
	unsigned quantum = xk_load_relaxed(&w->set->arch.quantum);
	int32_t left = (int32_t)(quantum != 0 ? quantum : XK_ROUND);
	struct turn t = { XK_AFTER_YIELD, 0, XK_NS_NEVER };
	bool idle, nearer;
	xk_ns next;

	if (!xk_vp_trylock(vp))
		return t;
	(void)xk_atomic_xchg(&vp->kicked, 0u);
	xk_vp_step_in(vp, w->now);
	t.n = vp_any_turn(vp, xk_load_relaxed(&w->set->arch.burst), &left, &idle);
	turn_ends(&t, vp, idle, quantum == 0);
	next = xk_wheel_next(&vp->wheel);
	nearer = next < xk_load_relaxed(&vp->worker_next);
	xk_store_relaxed(&vp->worker_next, next);
	xk_vp_step_out(vp);
	xk_vp_unlock(vp);
	xk_vp_carry(w->set, w->now);
	if (nearer) {
		w->next = next < w->next ? next : w->next;
		tell_home(w, vp);
	}
	return t;
}

/* ---- a worker ------------------------------------------------------------------------ */

/* w has a turn of vp.  last: who had the one before, -1: nobody. */
static void count_turn(struct fifo_proc *me, const struct xk_worker *w, int last)
{
	const struct xk_fifo *f = w->set->fifo;
	xk_ns away = xk_sched_away(f->sched, w->no);

	if (last == (int)w->no)
		xk_count(me->affine.hits);
	else if (last >= 0)
		xk_count(me->affine.moves);
	if (away != 0)
		vp_affine_start(&me->affine, away, f->ran_last == w->no);
}

/* May a worker that has said that it has nothing to do take something all the same? */
static inline bool may_look(const struct xk_fifo *f, const struct fifo_proc *me)
{
	if (xk_load_acquire(&me->started))
		return true;
	/* Somebody else was started for what waits. */
	return f->any ? (xk_load_relaxed(&f->waiting) | xk_load_relaxed(&f->polls)) != 0 :
			xk_load_relaxed(&f->waiting) == 0 && xk_load_relaxed(&f->polls) != 0;
}

/* Under the lock: what w runs next; NULL, and it is free: nothing. */
static struct xk_vp *next(struct xk_worker *w, struct fifo_proc *me)
{
	struct xk_fifo *f = w->set->fifo;
	struct xk_vp *vp;

	xk_store_relaxed(&me->started, 0u);
	vp = sched_next(f, w->no, w->now);
	if (vp == NULL) {
		me->is_free = sched_release(f, w->no, xk_clock_read(&w->set->clock));
		return NULL;
	}
	me->is_free = false;
	polls(f, vp, false);
	count_turn(me, w, vp->run.last);
	return vp;
}

/*
 * vp polls, and this worker goes on with another VP: it asks for its home, which asked before it slept, and has been
 * answered for by the turns of others since.  Who makes work wakes it then.
 */
static XK_NOINLINE void ask_for_home(struct xk_vp *vp)
{
	bool none;

	if (!xk_vp_trylock(vp))          /* whose turn it is, asks */
		return;
	none = vp_ask(vp);
	xk_vp_unlock(vp);
	if (!none)
		fifo_kick(vp);
}

/* Under the lock, vp's turn is over: is anything else to be run while nobody looks at it? */
static inline bool is_left_alone(const struct xk_fifo *f, const struct xk_worker *w, const struct xk_vp *vp)
{
	return vp->polls && vp->worker != w && xk_load_relaxed(&vp->asks) && xk_sched_waiting(f->sched) != 0;
}

static struct xk_vp *take(struct xk_worker *w)
{
	struct xk_fifo *f = w->set->fifo;
	struct fifo_proc *me = &f->proc[w->no];
	struct xk_vp *vp;

	if (me->is_free && !may_look(f, me))
		return NULL;
	fifo_lock(f);
	vp = next(w, me);
	fifo_unlock(f);
	return vp;
}

/* The turn is over; what is next, unless the round is. */
static struct xk_vp *put_back(struct xk_worker *w, struct xk_vp *vp, const struct turn *t, bool more)
{
	struct xk_fifo *f = w->set->fifo;
	struct xk_vp *then = NULL;
	bool alone;
	unsigned p;

	fifo_lock(f);
	due_set(f, vp, t->due);
	p = start(f, sched_done(f, w->no, vp, t->left, t->n, w->now));
	f->ran_last = w->no;
	polls(f, vp, vp->run.place == XK_PLACE_POLLS);
	alone = is_left_alone(f, w, vp);
	if (more)
		then = next(w, &f->proc[w->no]);
	fifo_unlock(f);
	wake(w->set, p);
	if (XK_UNLIKELY(alone))
		ask_for_home(vp);
	return then;
}

/* Each VP that is queued at most once; what is due meanwhile is not forgotten. */
static unsigned run_queued(struct xk_worker *w)
{
	unsigned total = 0, tries = w->set->nconn;
	struct xk_vp *vp = take(w);

	while (vp != NULL) {
		struct turn t = visit(w, vp);

		total += t.n;
		if (XK_UNLIKELY(xk_load_relaxed(&w->set->fifo->next_due) != XK_NS_NEVER)) {
			w->now = xk_clock_read(&w->set->clock);
			if (is_due(w))
				take_due(w);
		}
		vp = put_back(w, vp, &t, total < XK_ROUND && --tries != 0);
	}
	return total;
}

/* Queues those whose timers are due. */
static void fifo_timers(struct xk_worker *w)
{
	w->next = XK_NS_NEVER;
	for (unsigned i = 0; i < w->nslots; i++) {
		struct xk_vp *vp = w->slot[i].vp;
		xk_ns next = xk_load_relaxed(&vp->worker_next);

		/* What it will want next is news when it has run. */
		if (next <= w->now && xk_atomic_cas(&vp->worker_next, &next, XK_NS_NEVER))
			fifo_kick(vp);
		else if (next < w->next)
			w->next = next;
	}
}

static unsigned fifo_round(struct xk_worker *w)
{
	/* Its home's news: a nearer timer. */
	if (xk_load_relaxed(&w->any_kicked) && xk_atomic_xchg(&w->any_kicked, 0))
		w->next = 0;
	if (w->next <= w->now)
		fifo_timers(w);
	if (XK_UNLIKELY(is_due(w)))
		take_due(w);
	return run_queued(w);
}

/* Whatever was done while nobody ran, each has a turn. */
static void fifo_begin(struct xk_worker *w)
{
	for (unsigned i = 0; i < w->nslots; i++)
		xk_store_relaxed(&w->slot[i].vp->worker_next, (xk_ns)0);
	w->next = 0;
}

/* After xk_event_prepare: false, there is something to be done, or will be before it could be awake. */
static bool fifo_sleeps(struct xk_worker *w)
{
	struct xk_fifo *f = w->set->fifo;
	struct fifo_proc *me = &f->proc[w->no];
	xk_ns by = vp_awake_by(w->set, xk_load_relaxed(&f->next_due));

	if (!me->is_free) {
		fifo_lock(f);
		me->is_free = sched_release(f, w->no, xk_clock_read(&w->set->clock));
		fifo_unlock(f);
	}
	if (!me->is_free || xk_load_acquire(&me->started))
		return false;
	if (by <= w->now)
		return false;
	w->next = by < w->next ? by : w->next;
	return true;
}

static void fifo_hold(struct xk_vp *vp) { xk_vp_lock(vp); }
static void fifo_release(struct xk_vp *vp) { xk_vp_unlock(vp); }

const struct xk_mode_ops xk_mode_fifo = {
	.wanted = fifo_wanted, .make = fifo_make, .free = fifo_free, .affine = fifo_affine, .kick = fifo_kick,
	.begin = fifo_begin, .round = fifo_round, .hold = fifo_hold, .release = fifo_release,
	.sleeps = fifo_sleeps,
};
