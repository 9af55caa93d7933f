/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sched.c - the life of a run and of a processor: what happens on each call of xk_sched.h.
 *
 *   a run:        rest -> queued -> running -> rest, or queued again
 *   a processor:  free -> starting (chosen, has not asked yet) -> busy -> free
 *
 * Where it waits and who takes it is the queue's (sched_one.c, sched_per.c), who is chosen of the
 * free ones the pick's (sched_pick.c).  A processor leaves the free ones when it is chosen, so two
 * arrivals start two.
 */
#include "runtime/vp/sched_priv.h"

#include <string.h>

size_t xk_sched_size(unsigned nprocs)
{
	return sizeof(struct xk_sched) + (nprocs + 1u) * sizeof(struct sched_proc);
}

static void sched_lists(struct xk_sched *s)
{
	struct sched_proc *head = &s->proc[s->conf.nprocs];

	head->free.next = head->free.prev = head->deep.next = head->deep.prev = (uint16_t)s->conf.nprocs;
}

int xk_sched_init(struct xk_sched *s, const struct xk_sched_conf *conf)
{
	if (conf->nprocs == 0 || conf->nprocs > XK_SCHED_PROCS_MAX)
		return XK_E_RANGE;
	memset(s, 0, xk_sched_size(conf->nprocs));
	s->conf = *conf;
	s->ops = conf->queue == XK_QUEUE_ONE ? &sched_one : &sched_per;
	xk_rand_init(&s->rand, conf->seed, 0);
	sched_lists(s);
	for (unsigned p = conf->nprocs; p-- != 0;)
		sched_pick_free(s, p);
	return XK_OK;
}

/* r waits: somebody free may be its processor. */
static unsigned sched_start(struct xk_sched *s, const struct xk_sched_run *r)
{
	unsigned p = s->ops->start(s, r);

	if (p == XK_SCHED_NONE)
		return p;
	sched_pick_take(s, p);
	s->proc[p].state = SCHED_STARTING;
	return p;
}

static unsigned sched_queue(struct xk_sched *s, struct xk_sched_run *r)
{
	r->place = XK_PLACE_QUEUED;
	r->had = 0;
	s->waiting++;
	s->ops->put(s, r);
	return sched_start(s, r);
}

unsigned xk_sched_arrive(struct xk_sched *s, struct xk_sched_run *r, xk_ns now)
{
	(void)now;
	switch ((enum xk_place)r->place) {
	case XK_PLACE_REST:
		return sched_queue(s, r);
	case XK_PLACE_POLLS:
		r->place = XK_PLACE_QUEUED;
		s->waiting++;
		s->ops->woken(s, r);
		return sched_start(s, r);
	case XK_PLACE_RUNNING:
		r->place = XK_PLACE_AGAIN;
		break;
	case XK_PLACE_QUEUED:
	case XK_PLACE_AGAIN:
		break;
	}
	return XK_SCHED_NONE;
}

unsigned xk_sched_brought(struct xk_sched *s, unsigned p, struct xk_sched_run *r, xk_ns now)
{
	bool was_free = s->proc[p].state == SCHED_FREE;
	bool is_new = r->place == XK_PLACE_REST || r->place == XK_PLACE_POLLS;
	unsigned other;

	if (!was_free)
		return xk_sched_arrive(s, r, now);
	sched_pick_take(s, p);
	s->proc[p].state = SCHED_BUSY;
	other = xk_sched_arrive(s, r, now);
	sched_pick_free(s, p);
	return other == XK_SCHED_NONE && is_new ? sched_start(s, r) : other;
}

static struct xk_sched_run *sched_take(struct xk_sched *s, unsigned p, xk_ns now)
{
	struct sched_proc *proc = &s->proc[p];
	struct xk_sched_run *r = s->ops->take(s, p);

	if (r == NULL)
		return NULL;
	s->waiting -= r->place == XK_PLACE_QUEUED;
	r->place = XK_PLACE_RUNNING;
	if (proc->state == SCHED_FREE)
		sched_pick_take(s, p);
	proc->away = proc->state == SCHED_BUSY ? 0 : now - proc->since;
	proc->state = SCHED_BUSY;
	return r;
}

struct xk_sched_run *xk_sched_next(struct xk_sched *s, unsigned p, xk_ns now)
{
	struct xk_sched_run *r = s->proc[p].run;

	if (r == NULL)
		return sched_take(s, p, now);
	s->proc[p].run = NULL;
	s->proc[p].away = 0;
	return r;
}

/* Does p go on with it? */
static bool sched_goes_on(const struct xk_sched *s, const struct xk_sched_run *r, enum xk_after left)
{
	return left == XK_AFTER_MORE && (s->conf.quantum == 0 || r->had < s->conf.quantum);
}

unsigned xk_sched_done(struct xk_sched *s, unsigned p, struct xk_sched_run *r, enum xk_after left, uint32_t n, xk_ns now)
{
	(void)now;
	r->last = (int16_t)p;
	r->had += n;
	/* What arrived meanwhile may have been missed by who says that there is nothing. */
	if (r->place == XK_PLACE_AGAIN && (left == XK_AFTER_REST || left == XK_AFTER_POLLS))
		left = XK_AFTER_MORE;
	if (sched_goes_on(s, r, left)) {
		r->place = XK_PLACE_RUNNING;
		s->proc[p].run = r;
		return XK_SCHED_NONE;
	}
	if (left == XK_AFTER_MORE || left == XK_AFTER_YIELD)
		return sched_queue(s, r);
	r->had = 0;
	r->place = left == XK_AFTER_REST ? XK_PLACE_REST : XK_PLACE_POLLS;
	if (left == XK_AFTER_POLLS)
		s->ops->put(s, r);
	return XK_SCHED_NONE;
}

bool xk_sched_release(struct xk_sched *s, unsigned p, xk_ns now)
{
	if (s->proc[p].run != NULL || s->ops->has(s, p))
		return false;
	/* A processor that was chosen and found nothing has run none of ours meanwhile. */
	if (s->proc[p].state == SCHED_BUSY)
		s->proc[p].since = now;
	if (s->proc[p].state != SCHED_FREE)
		sched_pick_free(s, p);
	return true;
}

struct xk_sched_run *xk_sched_drain(struct xk_sched *s)
{
	struct xk_sched_run *r = s->ops->drain(s);

	if (r == NULL)
		return NULL;
	s->waiting -= r->place == XK_PLACE_QUEUED;
	r->place = XK_PLACE_REST;
	return r;
}

xk_ns xk_sched_away(const struct xk_sched *s, unsigned p) { return s->proc[p].away; }
bool xk_sched_is_free(const struct xk_sched *s, unsigned p) { return s->proc[p].state == SCHED_FREE; }
unsigned xk_sched_nfree(const struct xk_sched *s) { return s->nfree; }
unsigned xk_sched_waiting(const struct xk_sched *s) { return s->waiting; }
