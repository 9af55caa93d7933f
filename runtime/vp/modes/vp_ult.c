/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_ult.c - user-level threads of a virtual processor.
 *
 * A stack is a fiber that serves whatever thread has it: a unit, or the beginning of a
 * body, then back to the VP, for ever.  So a stack that is given back needs no new
 * start.  The VP and a thread change places in ult_enter and ult_back alone.
 * A body that waits is inside xk_ult_wait, which serves units, too: they run above it.
 * Invariant: xk_ults.self is the thread whose stack is running, NULL on the VP's own.
 */
#include "runtime/vp/modes/vp_ult.h"

#include "runtime/mem/xk_mem.h"
#include "runtime/vp/modes/vp_modes.h"

/* ---- switching -------------------------------------------------------------------- */

/* From the VP to t, until t has done what it was asked for, or waits. */
static void ult_enter(struct xk_ult *t)
{
	struct xk_ults *u = t->vp->ults;
	struct xk_stack *s = t->stack;

	u->self = t;
	t->on = true;
	s->ult = t;
	xk_count(u->switches);
	xk_fiber_switch(&u->vp_fiber, &s->fiber);
	xk_stack_check(s);
	t->on = false;
	u->self = NULL;
}

static void ult_back(struct xk_ult *t)
{
	struct xk_ults *u = t->vp->ults;

	xk_count(u->switches);
	xk_fiber_switch(&t->stack->fiber, &u->vp_fiber);
}

static void serve_unit(struct xk_ult *t)
{
	unsigned (*unit)(void *, unsigned) = t->unit;

	t->unit = NULL;
	t->in_unit = true;
	t->n = unit(t->arg, t->n);
	t->in_unit = false;
}

/* What a stack does: the thread that has it may be another one each time. */
static void stack_main(void *arg)
{
	struct xk_stack *s = arg;

	for (;;) {
		struct xk_ult *t = s->ult;

		if (t->unit != NULL) {
			serve_unit(t);
		} else {
			t->body(t->body_arg);
			t->body = NULL;
		}
		ult_back(t);
	}
}

static struct xk_ults *ults_of(struct xk_vp *vp)
{
	if (XK_UNLIKELY(vp->ults == NULL))
		xk_store_release(&vp->ults, xk_ults_new(vp->set->arch.stack));
	return vp->ults;
}

static bool ult_ready_to_run(struct xk_ult *t)
{
	struct xk_ults *u = ults_of(t->vp);

	if (XK_LIKELY(u != NULL && t->stack != NULL))
		return true;
	if (u == NULL)
		return false;
	t->stack = xk_stack_get(u, stack_main);
	return t->stack != NULL;
}

/* ---- life ------------------------------------------------------------------------- */

static unsigned body_turn(struct xk_task *task, unsigned budget);

void xk_ult_init(struct xk_ult *t, struct xk_vp *vp, void (*gone)(struct xk_ult *t))
{
	*t = (struct xk_ult){ .vp = vp, .gone = gone, .refs = 1 };
	xk_task_init(&t->task, vp, body_turn);
	if (ults_of(vp) != NULL)
		xk_count(vp->ults->live);
}

static void ult_end(struct xk_ult *t)
{
	struct xk_ults *u = t->vp->ults;

	if (u != NULL) {
		xk_store_relaxed(&u->live, u->live - (u->live != 0));
		if (t->stack != NULL)
			xk_stack_put(u, t->stack);
	}
	t->stack = NULL;
	t->gone(t);
}

void xk_ult_put(struct xk_ult *t)
{
	xk_dassert(t->refs != 0);
	if (--t->refs == 0 && !t->on)
		ult_end(t);
}

/* t has stopped, and may have lost its last reference while it ran. */
static inline void ult_stopped(struct xk_ult *t)
{
	if (XK_UNLIKELY(t->refs == 0))
		ult_end(t);
}

/* ---- units ------------------------------------------------------------------------- */

struct xk_ult *xk_ult_self(const struct xk_vp *vp)
{
	return vp->ults != NULL ? vp->ults->self : NULL;
}

unsigned xk_ult_call(struct xk_ult *t, unsigned (*fn)(void *arg, unsigned n), void *arg, unsigned n)
{
	if (xk_ult_self(t->vp) != NULL)
		return fn(arg, n);
	if (XK_UNLIKELY(!ult_ready_to_run(t))) {
		if (t->vp->ults != NULL)
			xk_count(t->vp->ults->stackless);
		return fn(arg, n);
	}
	t->unit = fn;
	t->arg = arg;
	t->n = n;
	ult_enter(t);
	n = t->n;
	ult_stopped(t);
	return n;
}

void xk_ult_rest(struct xk_ult *t)
{
	if (t->stack == NULL || t->on || t->body != NULL)
		return;
	xk_stack_put(t->vp->ults, t->stack);
	t->stack = NULL;
}

/* ---- a task's turns on a thread ------------------------------------------------------- */

static struct xk_ult *ult_of(const struct xk_task *task)
{
	return (struct xk_ult *)(uintptr_t)task->ahead;
}

static unsigned turn_unit(void *arg, unsigned n)
{
	struct xk_task *task = arg;

	return ult_of(task)->run(task, n);
}

static unsigned adopted_turn(struct xk_task *task, unsigned budget)
{
	return xk_ult_call(ult_of(task), turn_unit, task, budget);
}

bool xk_ult_adopt(struct xk_ult *t, struct xk_task *task)
{
	if (t->run != NULL || task->run == adopted_turn)
		return false;
	t->run = task->run;
	task->run = adopted_turn;
	task->ahead = xk_ult_ref(t);
	task->beyond = NULL;
	return true;
}

void xk_ult_leave(struct xk_task *task)
{
	struct xk_ult *t = ult_of(task);

	if (task->run != adopted_turn)
		return;
	task->run = t->run;
	task->ahead = task;
	t->run = NULL;
	xk_ult_put(t);
}

/* ---- bodies ----------------------------------------------------------------------------- */

int xk_ult_begin(struct xk_ult *t, void (*body)(void *arg), void *arg)
{
	if (t->body != NULL)
		return XK_E_BUSY;
	if (!ult_ready_to_run(t))
		return XK_E_NOMEM;
	t->body = body;
	t->body_arg = arg;
	t->woken = false;
	xk_ult_ref(t);
	xk_task_ready(&t->task);
	return XK_OK;
}

void xk_ult_resume(struct xk_ult *t)
{
	struct xk_ults *u = ults_of(t->vp);

	xk_assert(u != NULL && u->self == NULL);
	if (t->body == NULL)
		return;
	xk_task_park(&t->task);
	t->unit = NULL;
	ult_enter(t);
	if (t->body == NULL) {           /* its end */
		xk_task_park(&t->task);
		xk_ult_put(t);
	}
}

static unsigned body_turn(struct xk_task *task, unsigned budget)
{
	(void)budget;
	xk_ult_resume(xk_container_of(task, struct xk_ult, task));
	return 1;
}

void xk_ult_wait(struct xk_ult *t)
{
	xk_assert(xk_ult_self(t->vp) == t && !t->in_unit);
	while (!t->woken) {
		ult_back(t);
		while (t->unit != NULL) {
			serve_unit(t);
			ult_back(t);
		}
	}
	t->woken = false;
}

void xk_ult_wake(struct xk_ult *t)
{
	t->woken = true;
	if (t->body != NULL)
		xk_task_ready(&t->task);
}

void xk_ult_yield(struct xk_ult *t)
{
	xk_assert(xk_ult_self(t->vp) == t && !t->in_unit);
	xk_task_ready(&t->task);
	ult_back(t);
	while (t->unit != NULL) {
		serve_unit(t);
		ult_back(t);
	}
}

void xk_ult_stats(const struct xk_vp *vp, struct xk_ult_stats *out)
{
	const struct xk_ults *u = xk_load_acquire(&vp->ults);

	*out = (struct xk_ult_stats){ 0 };
	if (u == NULL)
		return;
	out->live = xk_counter_read(u->live);
	out->stacks = xk_counter_read(u->nstacks);
	out->stack_bytes = out->stacks * u->size;
	out->switches = xk_counter_read(u->switches);
	out->stackless = xk_counter_read(u->stackless);
}

static void ult_drop(struct xk_vp *vp)
{
	xk_ults_free(vp->ults);
	vp->ults = NULL;
}

const struct xk_mode_ops xk_mode_threads = { .drop = ult_drop };
