/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * linger.c - gives back the references of lingering passive sessions.
 *
 * Closing a session changes the map that is walked, so every walk first gathers
 * a handful of victims, then ends them, until a walk finds no more.  A session
 * falls on the first timer pass after the one that marked it: its life is one to
 * two periods.
 * Invariant: a session that is gathered is marked until linger_end.
 */
#include "protocols/link/linger.h"

#define LINGERS 1u            /* in the session's aux */
#define BATCH   64u

struct gather {
	struct linger   *l;
	bool           (*want)(struct linger *l, struct xk_sess *s, bool (*gone)(struct xk_sess *));
	bool           (*gone)(struct xk_sess *s);
	struct xk_sess  *victim[BATCH];
	unsigned         n;
};

static int gather_visit(struct xk_mapnode *node, void *arg)
{
	struct xk_sess *s = xk_container_of(node, struct xk_sess, map);
	struct gather *g = arg;

	if (!(s->aux & LINGERS) || !g->want(g->l, s, g->gone))
		return XK_MAP_KEEP;
	g->victim[g->n++] = s;
	return g->n == BATCH ? XK_MAP_STOP : XK_MAP_KEEP;
}

static void gather_end(struct linger *l, bool (*want)(struct linger *, struct xk_sess *, bool (*)(struct xk_sess *)),
		       bool (*gone)(struct xk_sess *))
{
	struct gather g = { .l = l, .want = want, .gone = gone };

	do {
		g.n = 0;
		xk_map_foreach(&l->rep->active, gather_visit, &g);
		for (unsigned i = 0; i < g.n; i++)
			linger_end(l, g.victim[i]);
	} while (g.n == BATCH);
}

/* ---- who shall go -------------------------------------------------------------- */

/* Marks what it sees for the first time. */
static bool want_old(struct linger *l, struct xk_sess *s, bool (*gone)(struct xk_sess *))
{
	(void)gone;
	if (s->idle_mark == 0)
		s->idle_mark = l->pass;
	return s->idle_mark != l->pass;
}

static bool want_unheld(struct linger *l, struct xk_sess *s, bool (*gone)(struct xk_sess *))
{
	(void)l;
	(void)gone;
	return s->rcnt == 1;
}

static bool want_gone(struct linger *l, struct xk_sess *s, bool (*gone)(struct xk_sess *))
{
	(void)l;
	return gone(s);
}

static bool want_all(struct linger *l, struct xk_sess *s, bool (*gone)(struct xk_sess *))
{
	(void)l;
	(void)s;
	(void)gone;
	return true;
}

/* ---- operations ------------------------------------------------------------------ */

static void next_pass(struct linger *l)
{
	if (++l->pass == 0)
		l->pass = 1;
	xk_timer_set(&l->rep->vp->wheel, &l->timer, xk_vp_now() + l->period);
}

static void linger_tick(struct xk_timer *t)
{
	struct linger *l = xk_container_of(t, struct linger, timer);

	gather_end(l, want_old, NULL);
	if (l->n != 0)
		next_pass(l);
}

void linger_init(struct linger *l, struct xk_rep *r, xk_ns period, uint32_t cap, xk_counter *swept)
{
	l->rep = r;
	l->period = period;
	l->cap = cap;
	l->pass = 1;
	l->swept = swept;
	xk_timer_init(&l->timer, linger_tick);
}

bool linger_room(struct linger *l)
{
	if (XK_UNLIKELY(l->n >= l->cap))
		gather_end(l, want_unheld, NULL);
	return l->n < l->cap;
}

void linger_add(struct linger *l, struct xk_sess *s)
{
	s->rcnt++;
	s->aux |= LINGERS;
	s->idle_mark = 0;
	l->n++;
	if (!xk_timer_armed(&l->timer))
		next_pass(l);
}

void linger_end(struct linger *l, struct xk_sess *s)
{
	if (!(s->aux & LINGERS))
		return;
	s->aux &= ~LINGERS;
	l->n--;
	if (l->swept != NULL)
		xk_count(*l->swept);
	xk_close(s);
}

void linger_purge(struct linger *l, bool (*gone)(struct xk_sess *s))
{
	gather_end(l, want_gone, gone);
}

void linger_stop(struct linger *l)
{
	if (l->rep == NULL)
		return;
	gather_end(l, want_all, NULL);
	xk_timer_cancel(&l->rep->vp->wheel, &l->timer);
}
