/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_stage.c - who is inside the stages of a pipeline, and when one of them is exclusive.
 *
 * A stage says RUNS before a unit and OUT after it.  One that wants to be exclusive says ASKS, in
 * the middle of its unit, and goes on when no other one runs, none is exclusive, and none above
 * it asks: the highest goes first.  So whoever is exclusive may call up into any stage above it,
 * for their bodies are all at an end, and down into any stage below, whose bodies have come to
 * a place where they are called back.  While anybody asks, no stage begins a unit, hence nobody waits
 * for more than the units that have begun and those that ask before it.
 * Either of "I run" and "I ask" is a locked operation, and so is the look that follows it;
 * they are totally ordered for each word, so one of the two sees the other.
 * Invariant: while a stage is EXCLUSIVE all others of its pipeline are OUT or ASK.
 */
#include "runtime/vp/modes/vp_stage.h"

#include "runtime/vp/modes/vp_modes.h"
#include "runtime/vp/modes/vp_ring.h"
#include "runtime/vp/vp_sim.h"

enum { OUT, RUNS, ASKS, EXCLUSIVE };

static void wake_all(const struct xk_pipeline *c)
{
	for (unsigned i = 0; i < c->nlayers; i++)
		xk_event_wake(&c->stage[i]->event);
}

/* We are not in the way any more: nothing to those who wait for nobody to ask. */
static void wake_askers(const struct xk_pipeline *c)
{
	for (unsigned i = 0; i < c->nlayers; i++)
		if (xk_atomic_or(&c->stage[i]->state, 0u) == ASKS)
			xk_event_wake(&c->stage[i]->event);
}

/* For others to go on; look again after any wake. */
static void await_others(struct xk_stage *l)
{
	xk_event_wait(&l->event, XK_SEC, NULL, 0);
}

void xk_stage_enter(struct xk_stage *l)
{
	struct xk_pipeline *c = l->pipeline;

	for (;;) {
		if (xk_load_acquire(&c->asking) == 0) {
			(void)xk_atomic_xchg(&l->state, (uint32_t)RUNS);
			if (XK_LIKELY(xk_atomic_or(&c->asking, 0u) == 0))
				return;
			(void)xk_atomic_xchg(&l->state, (uint32_t)OUT);
			wake_askers(c);
		}
		xk_event_prepare(&l->event);
		if (xk_load_acquire(&c->asking) != 0)
			await_others(l);
		else
			xk_event_cancel(&l->event);
	}
}

/* What it has put since it entered is published, and whoever is to take it is told. */
static void tell_fed(struct xk_stage *l)
{
	for (unsigned i = 0; l->fed != 0; i++, l->fed >>= 1)
		if ((l->fed & 1) != 0 && i != l->layer) {
			ring_publish(l->to[i]);
			xk_vp_kick(l->pipeline->stage[i]->vp);
		}
}

static void leave_exclusive(struct xk_stage *l)
{
	struct xk_pipeline *c = l->pipeline;

	xk_mutex_lock(&c->lock);
	xk_store_release(&l->state, (uint32_t)OUT);
	(void)xk_atomic_add(&c->asking, -1u);
	xk_mutex_unlock(&c->lock);
	wake_all(c);
}

void xk_stage_leave(struct xk_stage *l)
{
	if (l->fed != 0)
		tell_fed(l);
	if (XK_UNLIKELY(xk_load_relaxed(&l->state) == EXCLUSIVE)) {
		leave_exclusive(l);
		return;
	}
	(void)xk_atomic_xchg(&l->state, (uint32_t)OUT);
	if (XK_UNLIKELY(xk_atomic_or(&l->pipeline->asking, 0u) != 0))
		wake_askers(l->pipeline);
}

static bool may_be_exclusive(const struct xk_stage *me)
{
	const struct xk_pipeline *c = me->pipeline;

	for (unsigned i = 0; i < c->nlayers; i++) {
		struct xk_stage *l = c->stage[i];
		uint32_t state = l != me ? xk_atomic_or(&l->state, 0u) : OUT;

		if (state == RUNS || state == EXCLUSIVE || (state == ASKS && i > me->layer))
			return false;
	}
	return true;
}

/* Time is the same for all that this thread will run. */
static void same_time(const struct xk_stage *me)
{
	const struct xk_pipeline *c = me->pipeline;

	for (unsigned i = 0; i < c->nlayers; i++)
		if (c->stage[i]->vp->now < me->vp->now)
			c->stage[i]->vp->now = me->vp->now;
		else if (me->vp->now < c->stage[i]->vp->now)
			me->vp->now = c->stage[i]->vp->now;
}

static XK_NOINLINE void ask(struct xk_stage *me)
{
	struct xk_pipeline *c = me->pipeline;

	xk_mutex_lock(&c->lock);
	(void)xk_atomic_add(&c->asking, 1u);
	(void)xk_atomic_xchg(&me->state, (uint32_t)ASKS);
	if (!may_be_exclusive(me)) {
		xk_count(me->vp->hops.asked);
		wake_askers(c);          /* who asks above us does not wait for us now */
	}
	while (!may_be_exclusive(me)) {
		xk_event_prepare(&me->event);
		if (may_be_exclusive(me)) {
			xk_event_cancel(&me->event);
			break;
		}
		xk_mutex_unlock(&c->lock);
		await_others(me);
		xk_mutex_lock(&c->lock);
	}
	(void)xk_atomic_xchg(&me->state, (uint32_t)EXCLUSIVE);
	xk_mutex_unlock(&c->lock);
	same_time(me);
}

void xk_stage_exclusive(void)
{
	struct xk_stage *me = xk_vp_self->stage;

	if (xk_load_relaxed(&me->state) != RUNS) /* OUT: no thread runs at all, see xk_vp_enter_idle */
		return;
	xk_count(me->vp->hops.exclusive);
	ask(me);
}

/* ---- the queues ------------------------------------------------------------------ */

void xk_stage_put(struct xk_stage *to, struct xk_msg *m, void *s)
{
	struct xk_stage *me = xk_vp_self->stage, *from = me->cur;
	struct xk_ring *r = from->to[to->layer];
	struct xk_msg *own = m;

	/* Plain reference counts do not cross: what is shared is copied. */
	if (XK_UNLIKELY(m->flags & XK_MSG_SLOW))
		own = xk_msg_own(m);
	if (XK_LIKELY(own != NULL && ring_put(r, (struct xk_hop){ own, s }))) {
		xk_count(from->vp->hops.forwarded);
		me->fed |= 1ull << to->layer;
		/* Exclusive for another stage, or with no unit around us: nobody will publish it later. */
		if (XK_UNLIKELY(xk_load_relaxed(&me->state) != RUNS))
			ring_publish(r);
		return;
	}
	xk_vp_lost(me->vp, to->vp->at, own != NULL ? XK_REC_FULL : XK_REC_NOMEM);
	xk_msg_free(own != NULL ? own : m);
}

static void run_hop(struct xk_stage *l, const struct xk_hop *h, bool up)
{
	struct xk_stage *me = xk_vp_self->stage, *was;

	if (h->m == NULL)                /* dropped while it waited */
		return;
	xk_count(*(up ? &l->vp->hops.up : &l->vp->hops.down));
	was = xk_stage_switch(l);
	l->busy++;
	if (XK_UNLIKELY(l->vp->set->sim != NULL))
		xk_vpsim_hop();
	l->vp->set->hop(l, h->m, h->s, up);
	l->busy--;
	me->cur = was;
}

/* For both sides, who are in the middle of something or at rest. */
static void drain_ring(struct xk_stage *l, unsigned from)
{
	struct xk_ring *r = l->from[from];
	struct xk_hop h;

	for (ring_publish(r); ring_take(r, &h); ring_publish(r))
		run_hop(l, &h, from < l->layer);
	ring_took(r);
}

static void drain(struct xk_stage *l, unsigned first, unsigned last)
{
	for (unsigned i = first; i <= last; i++)
		if (l->from[i] != NULL && i != l->layer)
			drain_ring(l, i);
}

void xk_stage_drain_down(struct xk_stage *to)
{
	const struct xk_pipeline *c = to->pipeline;
	unsigned here = xk_stage_here()->layer;

	/* From the top: what one layer makes of it is there when the next one's turn comes. */
	for (unsigned i = here > 0 ? here - 1 : 0; here > 0 && i < here; i--)
		if (i <= to->layer)
			drain(c->stage[i], i + 1, here);
}

void xk_stage_drain_up(struct xk_stage *to)
{
	const struct xk_pipeline *c = to->pipeline;
	unsigned here = xk_stage_here()->layer;

	for (unsigned i = here + 1; i <= to->layer; i++)
		if (c->stage[i]->busy == 0)
			drain(c->stage[i], here, i - 1);
}

struct seek { const void *s; unsigned n; };

static void drop_named(struct xk_hop *h, void *arg)
{
	struct seek *k = arg;

	if (h->m == NULL || h->s != k->s)
		return;
	xk_msg_free(h->m);
	h->m = NULL;
	k->n++;
}

static void count_named(struct xk_hop *h, void *arg)
{
	struct seek *k = arg;

	k->n += h->m != NULL && h->s == k->s;
}

static unsigned seek_all(const struct xk_pipeline *c, const void *s, void (*fn)(struct xk_hop *, void *))
{
	struct seek k = { s, 0 };

	for (unsigned i = 0; i < c->nlayers; i++)
		for (unsigned j = 0; j < c->nlayers; j++)
			if (c->stage[i]->from[j] != NULL)
				ring_each(c->stage[i]->from[j], fn, &k);
	return k.n;
}

unsigned xk_stage_purge(struct xk_pipeline *c, const void *s)
{
	unsigned n = seek_all(c, s, drop_named);

	xk_count_add(xk_vp_self->hops.late, n);
	return n;
}

bool xk_stage_names(const struct xk_pipeline *c, const void *s)
{
	return seek_all(c, s, count_named) != 0;
}

uint32_t xk_stage_waiting(const struct xk_stage *l)
{
	uint32_t n = 0;

	for (unsigned i = 0; i < XK_LAYERS_MAX; i++)
		n += l->from[i] != NULL ? ring_fill(l->from[i]) : 0;
	return n;
}

void xk_stage_stats(const struct xk_vp *vp, struct xk_stage_stats *out)
{
	const struct xk_stage_counts *c = &vp->hops;

	*out = (struct xk_stage_stats){ 0 };
	if (vp->stage == NULL)
		return;
	*out = (struct xk_stage_stats){
		.pipeline = vp->no, .layer = vp->stage->layer,
		.up = xk_counter_read(c->up), .down = xk_counter_read(c->down), .forwarded = xk_counter_read(c->forwarded),
		.backpressure = xk_counter_read(c->backpressure), .exclusive = xk_counter_read(c->exclusive), .asked = xk_counter_read(c->asked),
		.late = xk_counter_read(c->late), .most = xk_counter_read(c->most),
		.full_ns = xk_counter_read(c->full_ns), .empty_ns = xk_counter_read(c->empty_ns),
	};
	if (vp->worker != NULL)
		out->sleeps = xk_counter_read(vp->worker->stats.sleeps);
}

/* ---- water marks ------------------------------------------------------------------- */

/* Below high, or, having stopped, down to low? */
static bool has_room(struct xk_ring *r, uint32_t limit)
{
	if (XK_LIKELY(ring_below(r, limit)))
		return true;
	/* The consumer takes first and looks at `awaited` then: one of us sees the other. */
	(void)xk_atomic_xchg(&r->awaited, 1u);
	return ring_below(r, limit);
}

/* Messages for stages [first, last] may be made. */
static bool room_below(struct xk_stage *l, unsigned first, unsigned last, bool *stopped)
{
	const struct xk_arch *a = &l->vp->set->arch;
	/* At low it goes on, so what it has stopped for must come down to that. */
	uint32_t limit = *stopped ? a->low + 1 : a->high;

	for (unsigned i = first; i < last; i++)
		if (l->to[i] != NULL && !has_room(l->to[i], limit)) {
			if (!*stopped)
				xk_count(l->vp->hops.backpressure);
			*stopped = true;
			return false;
		}
	*stopped = false;
	return true;
}

static bool may_go_down(struct xk_stage *l)
{
	return room_below(l, 0, l->layer, &l->stopped[0]);
}

/* What comes up may be answered, so there must be room both ways. */
static bool may_go_up(struct xk_stage *l)
{
	return room_below(l, 0, l->pipeline->nlayers, &l->stopped[1]);
}

/* The queue has come down: whoever has stopped for it may go on. */
static void tell_producer(struct xk_stage *l, unsigned from)
{
	struct xk_ring *r = l->from[from];

	if (ring_fill(r) <= l->vp->set->arch.low && xk_atomic_or(&r->awaited, 0u) != 0 &&
	    xk_atomic_xchg(&r->awaited, 0u) != 0)
		xk_vp_kick(l->pipeline->stage[from]->vp);
}

/* Another processor wrote them last: they are on their way here while others' turns last. */
static inline void fetch_ahead(const struct xk_ring *r)
{
	const struct xk_msg *next = ring_ahead(r, 1), *later = ring_ahead(r, 4);

	if (later != NULL)
		__builtin_prefetch(later, 1);
	if (next != NULL)
		__builtin_prefetch(next->data, 1);
}

static unsigned take_from(struct xk_stage *l, unsigned from, unsigned budget, bool (*may)(struct xk_stage *))
{
	struct xk_ring *r = l->from[from];
	uint32_t fill = r != NULL ? ring_look(r) : 0;
	struct xk_hop h;
	unsigned n = 0;

	if (fill == 0)
		return 0;
	if (fill > l->vp->hops.most)
		xk_count_add(l->vp->hops.most, fill - l->vp->hops.most);
	while (n < budget && may(l) && ring_take(r, &h)) {
		fetch_ahead(r);
		run_hop(l, &h, from < l->layer);
		n++;
	}
	if (n != 0) {
		ring_took(r);
		tell_producer(l, from);
	}
	return n;
}

/* Down-going ones first: they are what others wait for. */
static unsigned take_hops(struct xk_stage *l, unsigned budget)
{
	unsigned n = 0;

	for (unsigned i = l->layer + 1; i < l->pipeline->nlayers; i++)
		n += take_from(l, i, budget, may_go_down);
	for (unsigned i = 0; i < l->layer; i++)
		n += take_from(l, i, budget, may_go_up);
	return n;
}

static bool stage_waiting(const struct xk_vp *vp)
{
	const struct xk_stage *l = vp->stage;

	for (unsigned i = 0; i < l->pipeline->nlayers; i++)
		if (l->from[i] != NULL && ring_fill(l->from[i]) != 0)
			return true;
	return false;
}

/* ---- one unit ----------------------------------------------------------------------- */

/* Having been exclusive: what was left for other stages' threads, or made ready there? */
static void tell_others(const struct xk_stage *l)
{
	for (unsigned i = 0; i < l->pipeline->nlayers; i++) {
		struct xk_vp *vp = l->pipeline->stage[i]->vp;

		if (vp != l->vp && (xk_vp_busy(vp) || xk_wheel_next(&vp->wheel) < vp->worker_next))
			xk_vp_kick(vp);
	}
}

/* A timer to be run?  Where none is, the wheel's time goes on, which concerns nobody else. */
static bool timer_due(struct xk_vp *vp)
{
	if (!xk_vp_timers_due(vp))
		return false;
	if (xk_wheel_next(&vp->wheel) <= vp->now)
		return true;
	(void)xk_wheel_run(&vp->wheel, vp->now, 64);
	return false;
}

/* Others' calls, and messages that came from another pipeline: those go up like a task's, and wait for room as they do. */
static unsigned run_left(struct xk_stage *l, unsigned budget)
{
	struct xk_vp *vp = l->vp;

	if (xk_load_relaxed(&vp->calls) != NULL)
		xk_stage_exclusive();
	else if ((xk_load_relaxed(&vp->inbox) == NULL && vp->local.n == 0) || !may_go_up(l))
		return 0;
	return xk_vp_run_left(vp, budget);
}

unsigned xk_stage_unit(struct xk_vp *vp, unsigned budget)
{
	struct xk_stage *l = vp->stage;
	unsigned done = 0;

	l->busy++;
	if (timer_due(vp)) {
		xk_stage_exclusive();
		done += xk_wheel_run(&vp->wheel, vp->now, 64);
	}
	done += run_left(l, budget);
	l->busy--;
	done += take_hops(l, budget);
	l->busy++;
	if (vp->nready != 0 && may_go_up(l))
		done += xk_vp_run_one(vp, budget);
	l->busy--;
	vp_hand_over(vp);
	if (xk_load_relaxed(&l->state) == EXCLUSIVE)
		tell_others(l);
	xk_count(vp->units);
	xk_count_add(vp->messages, done);
	vp_record_turn(vp, done, xk_mem_here());
	return done;
}


/* ---- for a worker ---------------------------------------------------------------------- */

static unsigned stage_step(struct xk_vp *vp, xk_ns now)
{
	unsigned done;

	xk_stage_enter(vp->stage);
	xk_vp_step_in(vp, now);
	done = xk_stage_unit(vp, vp->set->arch.burst);
	xk_vp_step_out(vp);
	xk_stage_leave(vp->stage);
	return done;
}

/* One unit of a stage: others of its pipeline may keep it waiting. */
static unsigned stage_visit(struct xk_worker *w, unsigned i)
{
	struct xk_vp *vp = w->slot[i].vp;
	unsigned done;

	xk_stage_enter(vp->stage);
	xk_vp_step_in(vp, w->now);
	done = xk_stage_unit(vp, w->set->arch.burst);
	if (XK_UNLIKELY(w->set->sim != NULL)) {
		vp_heat(vp, done);
		xk_vpsim_done(vp, done);
	}
	xk_worker_rest(w, i, true);
	xk_vp_step_out(vp);
	xk_stage_leave(vp->stage);
	return done;
}

/* Whoever is exclusive in the pipeline may change its tasks. */
static void stage_hold(struct xk_vp *vp) { xk_stage_enter(vp->stage); }
static void stage_release(struct xk_vp *vp) { xk_stage_leave(vp->stage); }

/* A queue is high: whoever empties it kicks the stage. */
static bool stage_blocked(struct xk_vp *vp) { return !may_go_up(vp->stage); }

static void stage_begin(struct xk_worker *w)
{
	w->slot[0].vp->stage->waits = (struct xk_stage_waits){ 0 };
}

static bool waits_for_room(const struct xk_worker *w)
{
	for (unsigned i = 0; i < w->nslots; i++)
		if (xk_stage_stopped(w->slot[i].vp->stage))
			return true;
	return false;
}

/* What the thread waited until the round is of the reason that the round before has found. */
static void stage_noted(struct xk_worker *w, unsigned done, xk_ns before)
{
	struct xk_stage_waits *k = &w->slot[0].vp->stage->waits;
	struct xk_stage_counts *c = &w->slot[0].vp->hops;
	xk_ns to = done != 0 ? before : w->now;

	if (k->since != 0 && to > k->since)
		xk_count_add(*(k->full ? &c->full_ns : &c->empty_ns), to - k->since);
	k->since = done != 0 ? 0 : to;
	k->full = done == 0 && waits_for_room(w);
}

/* ---- life ------------------------------------------------------------------------------ */

static struct xk_stage *stage_new(struct xk_pipeline *c, struct xk_vp *vp, unsigned layer)
{
	struct xk_stage *l = xk_alloc(sizeof *l);

	if (l == NULL)
		return NULL;
	l->event.fd = -1;
	l->vp = vp;
	l->pipeline = c;
	l->layer = layer;
	l->cur = l;
	vp->stage = l;
	c->stage[layer] = l;
	return l;
}

static int make_rings(struct xk_pipeline *c, uint32_t high)
{
	for (unsigned i = 0; i < c->nlayers; i++)
		for (unsigned j = 0; j < c->nlayers; j++) {
			if (i == j)
				continue;
			c->stage[i]->from[j] = c->stage[j]->to[i] = ring_new(high);
			if (c->stage[i]->from[j] == NULL)
				return XK_E_NOMEM;
		}
	return XK_OK;
}

static bool stages_wanted(const struct xk_arch *a)
{
	return a->domain == XK_DOMAIN_LAYER;
}

static int stages_make(struct xk_vpset *set)
{
	unsigned n = set->arch.layers;

	set->pipeline = xk_alloc(set->nvps * sizeof *set->pipeline);
	if (set->pipeline == NULL)
		return XK_E_NOMEM;
	for (unsigned v = 0; v < set->nvps; v++) {
		struct xk_pipeline *c = &set->pipeline[v];

		xk_mutex_init(&c->lock);
		c->nlayers = n;
		for (unsigned i = 0; i < n; i++) {
			struct xk_stage *l = stage_new(c, set->all[v * n + i], i);
			int err = l != NULL ? xk_event_init(&l->event) : XK_E_NOMEM;

			if (err != XK_OK)
				return err;
		}
		if (make_rings(c, set->arch.high) != XK_OK)
			return XK_E_NOMEM;
	}
	return XK_OK;
}

/* Inside its VP, when nothing runs any more. */
static void stage_empty(struct xk_stage *l)
{
	struct xk_hop h;

	for (unsigned i = 0; i < XK_LAYERS_MAX; i++) {
		if (l->from[i] == NULL)
			continue;
		ring_publish(l->from[i]);
		while (ring_take(l->from[i], &h))
			if (h.m != NULL)
				xk_msg_free(h.m);
		ring_free(l->from[i]);
		l->from[i] = l->pipeline->stage[i]->to[l->layer] = NULL;
	}
}

static void stage_drop(struct xk_vp *vp)
{
	if (vp->stage != NULL)
		stage_empty(vp->stage);
}

static void stages_free(struct xk_vpset *set)
{
	if (set->pipeline == NULL)
		return;
	for (unsigned v = 0; v < set->nvps; v++) {
		struct xk_pipeline *c = &set->pipeline[v];

		if (c->nlayers != 0)
			xk_mutex_fini(&c->lock);
		for (unsigned i = 0; i < c->nlayers && c->stage[i] != NULL; i++) {
			if (c->stage[i]->event.fd >= 0)
				xk_event_fini(&c->stage[i]->event);
			xk_free(c->stage[i]);
		}
	}
	xk_free(set->pipeline);
}

const struct xk_mode_ops xk_mode_stages = {
	.wanted = stages_wanted, .make = stages_make, .free = stages_free, .drop = stage_drop,
	.kick = xk_worker_kick, .waiting = stage_waiting, .step = stage_step, .begin = stage_begin,
	.visit = stage_visit, .noted = stage_noted,
	.hold = stage_hold, .release = stage_release, .blocked = stage_blocked,
};
