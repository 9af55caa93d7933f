/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sync_sim.c - simulated processors: whose turn it is; see xk_sim.h.
 *
 * A processor runs one thread at a time, its own: that one is in the order with the time it goes on
 * at; those that stand in line for the processor are in its queue, for any processor in that of
 * all.  A thread that sleeps for a time is in the order with the moment it wakes.  So the first in the
 * order is what happens next, and who runs compares its own time with that alone (xk_sim.limit).
 * Thread 0 is the kernel thread itself, on a processor of its own that the others do not see.
 * Invariant: a thread is exactly one of: running, its processor's own (in the order), in a
 * queue, asleep (in the order unless only another thread wakes it), ended.
 */
#include "runtime/sync/sync_sim_priv.h"

_Thread_local struct xk_sim *xk_sim_self __attribute__((tls_model("initial-exec")));

static struct sim *sim_self(void) { return sim_of(xk_sim_self); }

/* Does somebody stand in line for p? */
static bool wanted(const struct sim *s, const struct processor *p)
{
	return p->queue.first != NULL || s->floating.first != NULL;
}

/* The running thread goes on up to `limit`, while it has some of its slice left where others stand in line. */
static void goes_on(struct sim *s, xk_ns limit)
{
	s->pub.limit = limit;
	if (s->self->p->slice_end <= limit && wanted(s, s->self->p))
		s->pub.limit = s->self->p->slice_end - 1;
}

/* The running thread goes on while it is before the top, or as early with a lower number. */
void sim_limit(struct sim *s) { goes_on(s, sim_order_limit(&s->order, s->self)); }

/* ---- processors -------------------------------------------------------------------------- */

/* t has its processor from `at` on. */
static void give(struct sim *s, struct xk_sim_thread *t, xk_ns at)
{
	struct processor *p = t->p;

	if (at < p->now)
		at = p->now;
	if (p->before != t && p->before != NULL)
		at += s->cost.context;
	if (p->own == NULL)
		s->nidle -= p != s->p;
	p->own = p->before = t;
	s->meets[p - s->p] = (int64_t)p->meets_until;
	p->slice_end = s->cost.slice != 0 ? at + s->cost.slice : XK_NS_NEVER;
	t->state = OWN;
	t->when = at;
	sim_put(s, t);
}

/* Where t can run first from `at` on: its last processor before others; NULL: all have something to run. */
static struct processor *free_for(struct sim *s, const struct xk_sim_thread *t, xk_ns at)
{
	struct processor *best = t->p->own == NULL ? t->p : NULL;

	for (unsigned i = 1; t->floats && s->nidle != 0 && i <= s->nprocessors; i++) {
		struct processor *p = &s->p[i];

		if (best != NULL && best->now <= at)
			break;
		if (p->own == NULL && (best == NULL || p->now < best->now))
			best = p;
	}
	return best;
}

static void line_up(struct line_up *q, struct xk_sim_thread *t)
{
	t->next = NULL;
	*(q->first != NULL ? &q->last->next : &q->first) = t;
	q->last = t;
}

/* t may run from `at` on: a processor is free for it, or it stands in line. */
static void make_ready(struct sim *s, struct xk_sim_thread *t, xk_ns at)
{
	struct processor *p = free_for(s, t, at);

	if (p != NULL) {
		t->p = p;
		give(s, t, at);
		return;
	}
	t->state = QUEUED;
	t->when = at;
	sim_out(s, t);
	line_up(t->floats ? &s->floating : &t->p->queue, t);
}

/* The running thread leaves its processor, now. */
static void leave_processor(struct sim *s)
{
	struct processor *p = s->self->p;
	struct line_up *q = p->queue.first != NULL ? &p->queue : &s->floating;
	struct xk_sim_thread *t = q->first;

	p->now = *s->pub.now;
	p->own = NULL;
	s->meets[p - s->p] = INT64_MAX;
	if (p == s->p)                   /* thread 0's is nobody else's */
		return;
	s->nidle++;
	if (t == NULL)
		return;
	q->first = t->next;
	t->p = p;
	give(s, t, t->when);
}

/* ---- switching ------------------------------------------------------------------------------ */

/* The end of all work as far as only time would bring some: thread 0 is asked what to make of it. */
static void tell_quiet(struct sim *s)
{
	xk_ns latest = 0;

	for (unsigned i = 1; i <= s->nprocessors; i++)
		if (s->p[i].now > latest)
			latest = s->p[i].now;
	s->quiet = true;
	s->main.when = latest < s->main.when ? latest : s->main.when;
	sim_put(s, &s->main);
}

static XK_NOINLINE void nothing_to_run(const struct sim *s)
{
	const char *on = "";

	for (const struct xk_sim_thread *t = &s->main; t != NULL; t = t == &s->main ? s->all : t->all)
		if (t->state == ASLEEP && t->on != NULL)
			on = t->on;
	xk_panic(__FILE__, __LINE__, "every simulated thread waits for another (%s)", on);
}

/* Thread 0's time has come: may it wait for longer without having its turn? */
static bool waits_on(struct sim *s)
{
	xk_ns at;

	if (s->again == NULL || !s->runs || s->quiet)
		return false;
	*s->pub.now = s->main.when;
	at = s->again(s->again_arg);
	if (at <= s->main.when)
		return false;
	s->asked = true;
	s->main.slept = s->main.when;
	s->main.when = at;
	sim_put(s, &s->main);
	return true;
}

/* Who has a processor to run on and goes on first, up to *limit. */
static struct xk_sim_thread *next_to_run(struct sim *s, xk_ns *limit)
{
	for (;;) {
		struct xk_sim_thread *t = sim_order_first(&s->order, limit);

		if (XK_UNLIKELY(t == NULL))
			nothing_to_run(s);
		if (t->state == OWN)
			return t;
		if (t == &s->main && waits_on(s))
			continue;
		/* Its time to sleep is over. */
		s->nactive += t != &s->main;
		make_ready(s, t, t->when);
	}
}

/* The running thread has been put where it belongs. */
static void go_on(struct sim *s)
{
	xk_ns limit;
	struct xk_sim_thread *from = s->self, *to = next_to_run(s, &limit);

	to->state = RUNNING;
	*s->pub.now = to->when;
	s->self = to;
	goes_on(s, limit);
	/* Thread 0 could have had its turn in between: counted as if it had. */
	to->p->stats.switches += to != from || s->asked;
	s->asked = false;
	if (to == from)
		return;
	s->ops.leave(from->kept);
	s->pub.kept = to->kept;
	xk_fiber_switch(&from->fiber, &to->fiber);
	s->ops.enter(from->kept);
}

void xk_sim_charge(xk_ns ns) { sim_charge(sim_self(), ns); }

/* Its slice is over, or it yields, and others stand in line. */
static void to_the_end(struct sim *s)
{
	struct xk_sim_thread *t = s->self;

	t->counts.involuntary++;
	leave_processor(s);
	make_ready(s, t, *s->pub.now);
}

void xk_sim_pass_now(void)
{
	struct sim *s = sim_self();
	struct xk_sim_thread *t = s->self;

	if (*s->pub.now >= t->p->slice_end && wanted(s, t->p)) {
		to_the_end(s);
	} else {
		t->state = OWN;
		t->when = *s->pub.now;
		sim_put(s, t);
	}
	go_on(s);
}

/* ---- waiting ------------------------------------------------------------------------------------ */

/* at: XK_NS_NEVER, only another thread ends it. */
static void sleep_until(struct sim *s, xk_ns at)
{
	struct xk_sim_thread *t = s->self;

	leave_processor(s);
	t->state = ASLEEP;
	t->slept = *s->pub.now;
	t->when = at;
	sim_put(s, t);
	if (t != &s->main && --s->nactive == 0 && s->runs)
		tell_quiet(s);
	go_on(s);
}

static void wake_at(struct sim *s, struct xk_sim_thread *t, xk_ns at)
{
	s->nactive += t != &s->main;
	make_ready(s, t, at > t->slept ? at : t->slept);
	sim_limit(s);
}

void xk_sim_yield(void)
{
	struct sim *s = sim_self();
	xk_ns first;

	xk_sim_charge(s->cost.yield != 0 ? s->cost.yield : 1);
	if (wanted(s, s->self->p)) {
		to_the_end(s);
		go_on(s);
		return;
	}
	/* What it waits for is something that another thread will do. */
	first = sim_order_others(&s->order, s->self);
	if (first != XK_NS_NEVER && first > *s->pub.now)
		*s->pub.now = first;
	xk_sim_pass();
}

void xk_sim_nap(xk_ns ns)
{
	struct sim *s = sim_self();

	s->self->counts.voluntary++;
	sleep_until(s, *s->pub.now + (ns != 0 ? ns : 1));
}

xk_ns sim_waking(const struct sim *s, const struct xk_sim_thread *t)
{
	return t->p->own == NULL || (t->floats && s->nidle != 0) ? s->cost.wake : 0;
}

static struct xk_sim_thread **bucket(struct sim *s, const struct xk_event *e)
{
	return &s->waiting[((uintptr_t)e >> 3) % s->nbuckets];
}

static void stop_waiting(struct sim *s, struct xk_sim_thread *t)
{
	struct xk_sim_thread **at = bucket(s, t->event);

	while (*at != t)
		at = &(*at)->peer;
	*at = t->peer;
	t->event = NULL;
}

bool xk_sim_wake(struct xk_event *e)
{
	struct sim *s = sim_self();
	struct xk_sim_thread *t = *bucket(s, e);

	while (t != NULL && t->event != e)
		t = t->peer;
	if (t == NULL)
		return false;
	if (t->state == ASLEEP) {
		xk_ns now = *s->pub.now, waited = now > t->slept ? now - t->slept : 0;

		t->spun = waited <= s->cost.spin;
		wake_at(s, t, now + (t->spun ? s->cost.handover : sim_waking(s, t)));
	}
	return true;
}

/* Processors that are at it now: signed, so that several are compared at once. */
static xk_ns meet_now(const int64_t *meets, unsigned n, int64_t now)
{
	int64_t at = 0;

	for (unsigned i = 0; i < n; i++)
		at += meets[i] > now;
	return (xk_ns)at;
}

/* Threads meet: it costs the processor so much, and more for others. */
static void charge_meeting(struct sim *s, xk_ns cost)
{
	struct processor *p = s->self->p;

	if (s->cost.sleep_other != 0)
		cost += meet_now(s->meets + 1, s->nprocessors, (int64_t)*s->pub.now) * s->cost.sleep_other;
	sim_charge(s, cost);
	s->self->counts.meeting += cost;
	p->meets_until = *s->pub.now;
	s->meets[p - s->p] = (int64_t)p->meets_until;
}

void xk_sim_hop(void)
{
	struct sim *s = sim_self();

	if (s->cost.hop != 0)
		charge_meeting(s, s->cost.hop);
}

void xk_sim_wait(struct xk_event *e, xk_ns timeout)
{
	struct sim *s = sim_self();
	struct xk_sim_thread *t = s->self, **at = bucket(s, e);
	xk_ns now = *s->pub.now;

	t->event = e;
	t->peer = *at;
	*at = t;
	t->on = "an event";
	t->spun = false;
	sleep_until(s, timeout < XK_NS_NEVER - now ? now + timeout : XK_NS_NEVER);
	stop_waiting(s, t);
	if (t->spun)
		return;
	t->counts.voluntary++;
	if (s->cost.sleep != 0 && t != &s->main)
		charge_meeting(s, s->cost.sleep);
}

struct xk_sim_thread *xk_sim_running(void) { return sim_self()->self; }

unsigned xk_sim_processor(void) { return sim_processor(sim_self()); }

void sim_block(struct sim *s, const char *on)
{
	s->self->on = on;
	sleep_until(s, XK_NS_NEVER);
}

void sim_spin(struct sim *s, xk_ns until)
{
	struct xk_sim_thread *t = s->self;
	xk_ns from = *s->pub.now;

	t->state = OWN;
	t->slept = from;
	t->when = until;
	sim_put(s, t);
	go_on(s);
	t->counts.worked += *s->pub.now - from;
	t->p->stats.busy += *s->pub.now - from;
}

void sim_grant(struct sim *s, struct xk_sim_thread *t, xk_ns after)
{
	xk_ns at = *s->pub.now + after;

	if (t->state != OWN) {
		wake_at(s, t, at);
		return;
	}
	t->when = at > t->slept ? at : t->slept;
	sim_put(s, t);
	sim_limit(s);
}

void xk_sim_again(struct xk_sim *sim, xk_ns (*again)(void *arg), void *arg)
{
	struct sim *s = sim_of(sim);

	s->again = again;
	s->again_arg = arg;
}

bool xk_sim_run(struct xk_sim *sim, xk_ns until)
{
	struct sim *s = sim_of(sim);

	xk_assert(s->self == &s->main);
	if (*s->pub.now >= until)
		return true;
	s->runs = true;
	s->quiet = false;
	sleep_until(s, until);
	s->runs = false;
	return !s->quiet;
}

/* ---- threads begin and end ------------------------------------------------------------------- */

void sim_begins(struct sim *s, struct xk_sim_thread *t)
{
	s->nactive++;
	make_ready(s, t, *s->pub.now);
	sim_limit(s);
}

void sim_ends(struct sim *s, struct xk_sim_thread *t)
{
	leave_processor(s);
	sim_out(s, t);
	t->state = ENDED;
	t->slept = *s->pub.now;
	s->nactive--;
	if (t->joiner != NULL)
		wake_at(s, t->joiner, t->slept);
	else if (s->nactive == 0 && s->runs)
		tell_quiet(s);
	go_on(s);
	xk_panic(__FILE__, __LINE__, "a simulated thread that has ended was run");
}
