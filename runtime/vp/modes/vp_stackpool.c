/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_stackpool.c - thread stacks that units of work run on, from pools of idle ones: one of each processor, or one
 * of all.
 *
 * Thread-stack affinity of Salehi and others (1995, 2.1): what runs a packet writes to its stack first of all, and
 * each such line misses that another processor wrote last.  A turn of a VP, or what a thread has brought to one, takes
 * an idle stack, runs there from its beginning to its end, and gives it back.  A processor's pool is a pile: the stack
 * that it used last is next.  That of all is a queue, the lower bound: the stack that has been idle longest is next,
 * of as many as there are processors.  Where more are in use at once another one is made.
 * Stacks and the switch are those of user-level threads (vp_stack.c, xk_fiber.h); a unit ends on the kernel thread that
 * it began on, and the next one of the stack may be on another: stack_main keeps nothing between the two.
 *   operation x operation: take and give of one pool exclude each other by its lock, the innermost.
 * Invariant: a stack is in one pool, stopped, or one unit runs on it.
 */
#include "runtime/mem/xk_mem.h"
#include "runtime/sync/xk_sim.h"
#include "runtime/vp/modes/vp_modes.h"
#include "runtime/vp/modes/vp_ult.h"
#include "runtime/vp/vp_sim.h"

/* All of a unit is there, from a device to the application and back, not what one connection does. */
#define DEEPER 16u

struct stack_pool {
	struct xk_lock     lock;         /* of all below */
	struct xk_lockstat stat;
	struct xk_ults    *slab;         /* memory of those that were made here, wherever they are now */
	struct xk_stack   *first, *last; /* idle */
	xk_counter         hits, moves, stackless;
} XK_ALIGNED;

struct xk_stacks {
	const struct xk_lock_ops *ops;   /* of each pool's lock */
	unsigned           npools;       /* [0]: of threads that are none of the set's, or of all */
	bool               queue;        /* longest idle first */
	const struct vp_units *under;    /* how what is on a stack is run: as it would be without them */
	void              *block;
	struct stack_pool *pool;
};

/* One unit: what is run, and how much it did. */
struct vp_work {
	void        (*fn)(struct vp_work *w);
	struct xk_vp *vp;
	unsigned      budget, done;
	int32_t      *deficit;
	bool         *idle;
};

/* ---- stacks, under their pool's lock ----------------------------------------------------------- */

static void stack_main(void *arg)
{
	struct xk_stack *s = arg;

	for (;;) {
		s->work->fn(s->work);
		xk_fiber_switch(&s->fiber, s->home);
	}
}

static void put_idle(const struct xk_stacks *t, struct stack_pool *p, struct xk_stack *s)
{
	bool at_the_end = t->queue && p->last != NULL;

	s->next = at_the_end ? NULL : p->first;
	*(at_the_end ? &p->last->next : &p->first) = s;
	if (at_the_end || p->last == NULL)
		p->last = s;
}

static struct xk_stack *take_idle(struct stack_pool *p)
{
	struct xk_stack *s = p->first;

	if (s == NULL)
		return xk_stack_get(p->slab, stack_main);
	p->first = s->next;
	if (p->first == NULL)
		p->last = NULL;
	return s;
}

/* ---- life ---------------------------------------------------------------------------------------- */

static bool stacks_wanted(const struct xk_arch *a) { return a->stacks != XK_STACKS_NONE; }

static int pool_fill(const struct xk_stacks *t, struct stack_pool *p, size_t size, unsigned n)
{
	p->slab = xk_ults_new(size);
	if (p->slab == NULL)
		return XK_E_NOMEM;
	for (; n != 0; n--) {
		struct xk_stack *s = xk_stack_get(p->slab, stack_main);

		if (s == NULL)
			return XK_E_NOMEM;
		put_idle(t, p, s);
	}
	return XK_OK;
}

static void stacks_free(struct xk_vpset *set)
{
	struct xk_stacks *t = set->stacks;

	if (t == NULL)
		return;
	for (unsigned i = 0; t->pool != NULL && i < t->npools; i++) {
		xk_ults_free(t->pool[i].slab);
		t->ops->fini(&t->pool[i].lock);
	}
	xk_free(t->block);
	xk_free(t);
	set->stacks = NULL;
}

static const struct vp_units on_stacks;

static int stacks_make(struct xk_vpset *set)
{
	const struct xk_arch *a = &set->arch;
	size_t size = a->stack != 0 ? a->stack : DEEPER * xk_ult_stack_default();
	unsigned processors = set->sim != NULL ? a->processors : a->workers + a->io_threads;
	struct xk_stacks *t = set->stacks = xk_alloc(sizeof *t);
	int err = XK_OK;

	if (t == NULL)
		return XK_E_NOMEM;
	t->ops = vp_mode_lock(set);
	t->queue = a->stacks == XK_STACKS_GLOBAL;
	t->npools = t->queue ? 1 : processors + 1;
	t->block = xk_alloc(t->npools * sizeof *t->pool + XK_CACHELINE);
	if (t->block == NULL)
		return XK_E_NOMEM;
	t->pool = (void *)(((uintptr_t)t->block + XK_CACHELINE - 1) & ~(uintptr_t)(XK_CACHELINE - 1));
	for (unsigned i = 0; i < t->npools; i++) {
		t->ops->init(&t->pool[i].lock);
		t->pool[i].stat.untimed = a->lock_untimed;
	}
	for (unsigned i = 0; err == XK_OK && i < t->npools; i++)
		err = pool_fill(t, &t->pool[i], size, t->queue ? processors : 1);
	t->under = set->units;
	set->units = &on_stacks;
	return err;
}

const struct xk_mode_ops xk_mode_stacks = { .wanted = stacks_wanted, .make = stacks_make, .free = stacks_free };

/* ---- a unit -------------------------------------------------------------------------------------------- */

static struct stack_pool *pool_of(const struct xk_stacks *t, unsigned me) { return &t->pool[me < t->npools ? me : 0]; }

static struct xk_stack *take(const struct xk_stacks *t, struct stack_pool *p)
{
	struct xk_stack *s;

	xk_lock_take(t->ops, &p->lock, &p->stat);
	s = take_idle(p);
	if (s == NULL)
		xk_count(p->stackless);
	xk_lock_drop(t->ops, &p->lock, &p->stat);
	return s;
}

const struct xk_stack *vp_stack_next(const struct xk_vpset *set) { return pool_of(set->stacks, xk_mem_here())->first; }

/* Was s another processor's before? */
static bool is_moved(const struct xk_stack *s, unsigned me) { return s->used_by != 0 && s->used_by != me + 1; }

/* To the pool that it is of.  The unit is over that took it, as processor `took`; did it do anything?  A simulated
 * thread may have changed its processor. */
static void give(const struct xk_stacks *t, struct stack_pool *p, struct xk_stack *s, unsigned took, bool did)
{
	xk_lock_take(t->ops, &p->lock, &p->stat);
	if (did && is_moved(s, took))
		xk_count(p->moves);
	else if (did && s->used_by != 0)
		xk_count(p->hits);
	s->used_by = xk_mem_here() + 1;
	put_idle(t, p, s);
	xk_lock_drop(t->ops, &p->lock, &p->stat);
}

static void run_there(struct xk_stack *s, struct vp_work *w)
{
	struct xk_fiber home = { 0 };

	s->work = w;
	s->home = &home;
	xk_fiber_switch(&home, &s->fiber);
	xk_stack_check(s);
}

static unsigned on_stack(struct vp_work w)
{
	const struct xk_stacks *t = w.vp->set->stacks;
	struct stack_pool *p = pool_of(t, xk_mem_here());
	struct xk_stack *s = take(t, p);
	unsigned me = xk_mem_here();            /* now: a simulated thread may have waited for the lock, and gone on elsewhere */

	if (XK_UNLIKELY(s == NULL)) {
		w.fn(&w);
		return w.done;
	}
	xk_vpsim_stack_moved(is_moved(s, me));
	run_there(s, &w);
	xk_vpsim_stack_moved(false);
	give(t, p, s, me, w.done != 0);
	return w.done;
}

/* ---- what is run there: as anywhere else, charged where processors are simulated ---------------------------- */

static void do_unit(struct vp_work *w) { w->done = vp_unit_by(w->vp->set->stacks->under, w->vp, w->budget); }

static void do_turn(struct vp_work *w)
{
	w->done = vp_turn_by(w->vp->set->stacks->under, w->vp, w->budget, w->deficit, w->idle);
}

static void do_brought(struct vp_work *w)
{
	w->done = w->vp->local.n;
	xk_vp_run_brought(w->vp);
}

static unsigned unit(struct xk_vp *vp, unsigned budget)
{
	return on_stack((struct vp_work){ .fn = do_unit, .vp = vp, .budget = budget });
}

static unsigned turn(struct xk_vp *vp, unsigned budget, int32_t *deficit, bool *idle)
{
	return on_stack((struct vp_work){ .fn = do_turn, .vp = vp, .budget = budget, .deficit = deficit, .idle = idle });
}

static void brought(struct xk_vp *vp) { (void)on_stack((struct vp_work){ .fn = do_brought, .vp = vp }); }

static const struct vp_units on_stacks = { .unit = unit, .turn = turn, .brought = brought };

/* As the core visits a VP of its own, but that it does not know what is run. */
static unsigned visit_stacked(struct xk_worker *w, unsigned i)
{
	struct xk_slot *s = &w->slot[i];
	unsigned total;
	bool idle;

	xk_vp_step_in(s->vp, w->now);
	if (w->nslots > 1)
		xk_memvp_take_hot(&s->vp->mem, &w->hot);
	total = turn(s->vp, xk_load_relaxed(&w->set->arch.burst), &s->deficit, &idle);
	if (w->nslots > 1)
		xk_memvp_leave_hot(&s->vp->mem, &w->hot);
	xk_worker_rest(w, i, idle);
	xk_vp_step_out(s->vp);
	return total;
}

const struct xk_mode_ops xk_mode_own_stacked = { .kick = xk_worker_kick, .visit = visit_stacked };

/* ---- what is counted --------------------------------------------------------------------------------------- */

void xk_vpset_stacks(const struct xk_vpset *set, struct xk_stack_counts *out)
{
	const struct xk_stacks *t = set->stacks;
	struct xk_lock_counts lock;

	*out = (struct xk_stack_counts){ 0 };
	for (unsigned i = 0; t != NULL && i < t->npools; i++) {
		const struct stack_pool *p = &t->pool[i];

		out->pools++;
		out->stacks += xk_counter_read(p->slab->nstacks);
		out->hits += xk_counter_read(p->hits);
		out->moves += xk_counter_read(p->moves);
		out->stackless += xk_counter_read(p->stackless);
		xk_lockstat_read(&p->stat, &lock);
		xk_lock_counts_add(&out->lock, &lock, 1);
	}
}

void xk_stack_counts_add(struct xk_stack_counts *sum, const struct xk_stack_counts *c, int sign)
{
	uint64_t by = (uint64_t)(int64_t)sign;

	sum->hits += by * c->hits;
	sum->moves += by * c->moves;
	sum->stackless += by * c->stackless;
	xk_lock_counts_add(&sum->lock, &c->lock, sign);
}
