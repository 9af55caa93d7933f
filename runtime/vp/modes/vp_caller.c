/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_caller.c - threads that wait in a call run the virtual processor themselves (waiters `run`).
 *
 * Entry is by lock.  A program's thread that waits becomes the VP's *runner*: it runs units until what it waits for
 * has happened, so that an answer crosses from the link to the caller without another thread; when there was nothing
 * to do for as long as a worker spins, it sleeps.  One that only calls runs what it has made.  Either way nobody is
 * woken: the worker that stands in for callers sleeps on the descriptors of the VP's tasks, which are asked to make
 * them readable (xk_task_on_sleep) when the last thread leaves.  It is kicked where it does not know enough: a task
 * that it did not find when it fell asleep, a nearer timer, work that is left.
 *
 *   word                written by                            says
 *   runner              who waits: set outside, cleared       kicks have nothing to do: who clears it
 *                       with the VP's lock                    looks for what was left, then
 *   known               the worker, with the VP's lock        what it sleeps on; not valid: it is awake, or
 *                                                             would sleep through what is left
 *
 * A kick and a runner that leaves both change `runner` by a read-modify-write, so one of the two sees the other.
 * Invariant: with nobody inside and no runner, what there is to do in a VP is known to its worker, or it was kicked, or
 * it looks by itself within LINGERS.
 */
#include "runtime/vp/modes/vp_modes.h"
#include "runtime/vp/vp_sim.h"

#define LOOKS  16u               /* at a VP with nothing to do, between two looks at the clock */
#define LINGERS (2 * XK_MS)
#define PATIENT 3u               /* doublings of the time that a worker spins, at most */
#define SERVES 8u                /* units of one that only called */

static unsigned unit(struct xk_vp *vp) { return vp_any_unit(vp, xk_load_relaxed(&vp->set->arch.burst)); }

/* ---- what the worker knows, with the VP's lock ------------------------------------------------ */

static void note_known(struct xk_vp *vp)
{
	struct xk_vp_known *k = &vp->known;
	const struct xk_task *first = vp->ring[0], *t = first;

	*k = (struct xk_vp_known){ .valid = true, .due = xk_vp_due(vp) };
	if (t != NULL) do {
		if (k->n == XK_VP_KNOWN) {
			k->valid = false;
			return;
		}
		k->of[k->n].task = t;
		k->of[k->n++].fd = t->fd;
		t = t->next;
	} while (t != first);
}

static bool is_known(const struct xk_vp_known *k, const struct xk_task *t)
{
	for (unsigned i = 0; i < k->n; i++)
		if (k->of[i].task == t && k->of[i].fd == t->fd)
			return true;
	return false;
}

static bool all_known(const struct xk_vp *vp)
{
	const struct xk_task *first = vp->ring[0], *t = first;

	if (vp->nready != vp->known.n)
		return false;
	if (t != NULL) do {
		if (!is_known(&vp->known, t))
			return false;
		t = t->next;
	} while (t != first);
	return true;
}

/* Left by others, who did not kick because somebody was there. */
static bool is_left(const struct xk_vp *vp)
{
	return vp->local.n != 0 || xk_load_relaxed(&vp->inbox) != NULL || xk_load_relaxed(&vp->calls) != NULL;
}

/* Does it know of all there is, but for what those say who are to be asked? */
static bool knows(const struct xk_vp *vp)
{
	return vp->known.valid && vp->ring[1] == NULL && !is_left(vp) &&
	       xk_wheel_next(&vp->wheel) >= xk_load_relaxed(&vp->worker_next) && xk_vp_due(vp) >= vp->known.due && all_known(vp);
}

/* May the worker sleep on?  Tasks that have to ask do so; one that finds work: it may not. */
static bool may_sleep_on(struct xk_vp *vp) { return knows(vp) && vp_ask(vp); }

/* Who has what it waited for calls again soon, as a rule: nobody is asked if the worker looks before long by itself. */
static bool may_linger(const struct xk_vp *vp, xk_ns now)
{
	return xk_load_relaxed(&vp->worker_next) <= now + LINGERS && knows(vp);
}

/* ---- its worker --------------------------------------------------------------------------------- */

static void caller_kick(struct xk_vp *vp)
{
	if (xk_atomic_add(&vp->runner, 0u) == 0)
		xk_worker_kick(vp);
}

static unsigned one_unit(struct xk_worker *w, unsigned i)
{
	struct xk_vp *vp = w->slot[i].vp;
	unsigned n = 0;

	xk_vp_lock(vp);
	vp->known.valid = false;
	if (xk_load_relaxed(&vp->runner) != 0) {
		xk_worker_spare(w, i);
	} else {
		xk_vp_step_in(vp, w->now);
		n = unit(vp);
		xk_worker_rest(w, i, n == 0);
		xk_vp_step_out(vp);
	}
	xk_vp_unlock(vp);
	xk_vp_carry(w->set, w->now);
	return n;
}

static unsigned caller_visit(struct xk_worker *w, unsigned i) { return vp_visit_by(w, i, one_unit); }

/* It is about to sleep: what it finds is what it will know, unless somebody runs vp, who kicks it then. */
static void caller_hold(struct xk_vp *vp)
{
	xk_vp_lock(vp);
	if (xk_load_relaxed(&vp->runner) == 0)
		note_known(vp);
	else
		vp->known.valid = false;
}

static void caller_release(struct xk_vp *vp) { xk_vp_unlock(vp); }

/* Its descriptors are looked at by who runs it. */
static bool caller_blocked(struct xk_vp *vp) { return !vp->known.valid && xk_load_relaxed(&vp->runner) != 0; }

/* ---- a thread that calls ---------------------------------------------------------------------------- */

/* Until none of the tasks had anything to do: one that is left ready has its worker woken. */
static void caller_serve(struct xk_vp *vp)
{
	unsigned idle = 0;

	for (unsigned i = 0; i < SERVES && (i == 0 || idle < vp->nready); i++)
		idle = unit(vp) != 0 ? 0 : idle + 1;
}

static bool caller_keeps(struct xk_vp *vp)
{
	return xk_load_relaxed(&vp->runner) != 0 || may_sleep_on(vp);
}

/* ---- a thread that waits ------------------------------------------------------------------------------ */

static unsigned run(struct xk_vp *vp, const struct xk_event *e, xk_ns now)
{
	unsigned n = 0;

	xk_vp_lock(vp);
	xk_vp_step_in(vp, now);
	for (unsigned i = 0; n == 0 && i < LOOKS && !xk_event_is_woken(e); i++)
		n = unit(vp);
	xk_vp_step_out(vp);
	xk_vp_unlock(vp);
	xk_vp_carry(vp->set, now);
	return n;
}

/* What came with what it waited for is done first: an answer that is due, say. */
static void leave(struct xk_vp *vp, const struct xk_event *e, xk_ns now)
{
	bool kept;

	xk_vp_lock(vp);
	xk_vp_step_in(vp, now);
	caller_serve(vp);
	xk_vp_step_out(vp);
	kept = (xk_event_is_woken(e) && may_linger(vp, now)) || may_sleep_on(vp);
	(void)xk_atomic_xchg(&vp->runner, 0u);
	kept = kept && !is_left(vp);
	xk_vp_unlock(vp);
	if (!kept)
		xk_worker_kick(vp);
	xk_vp_carry(vp->set, now);
}

/*
 * Who sleeps is woken by two others, which takes longer than a worker spins: two that answer each other, and have once
 * slept, would sleep each time.  So one that slept for a short while looks longer next time.
 */
static xk_ns patience(struct xk_vp *vp, xk_ns now)
{
	xk_ns spin = xk_load_relaxed(&vp->set->arch.spin_us) * XK_US;

	if (vp->rested != 0 && now - vp->rested < spin << PATIENT)
		vp->patience += vp->patience < PATIENT;
	else if (vp->rested != 0)
		vp->patience = 0;
	vp->rested = 0;
	return spin << vp->patience;
}

/* While it looks it is not asleep, and to be woken costs no system call. */
static void caller_wait(struct xk_vp *vp, struct xk_event *e, uint64_t *left)
{
	struct xk_vpset *set = vp->set;
	xk_ns begun = xk_clock_read(&set->clock), now = begun, busy = begun, gone = 0;
	xk_ns spin;

	if (!xk_load_acquire(&set->running) || xk_load_relaxed(&vp->runner) != 0 || xk_atomic_xchg(&vp->runner, 1u) != 0)
		return;
	xk_event_cancel(e);
	spin = patience(vp, begun);
	do {
		unsigned n = run(vp, e, now);

		now = xk_clock_read(&set->clock);
		gone = now - begun;
		if (n != 0)
			busy = now;
		else if (set->oversubscribed && !xk_event_is_woken(e))
			xk_thread_yield();
	} while (!xk_event_is_woken(e) && now - busy < spin && gone < *left && xk_load_acquire(&set->running));
	vp->rested = xk_event_is_woken(e) ? 0 : now;
	leave(vp, e, now);
	xk_event_prepare(e);
	if (*left != XK_NS_NEVER)
		*left = gone < *left ? *left - gone : 0;
}

const struct xk_mode_ops xk_mode_caller = {
	.kick = caller_kick, .visit = caller_visit, .hold = caller_hold, .release = caller_release,
	.blocked = caller_blocked, .serve = caller_serve, .keeps = caller_keeps, .wait = caller_wait,
};
