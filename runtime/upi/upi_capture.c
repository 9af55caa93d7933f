/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upi_capture.c - captures: interposers in function pointers, nothing when off.
 *
 * What goes up is seen by the captured node's own demux; what goes down by the push of the
 * sessions that it pushes to, or, at the bottom, of its own.  A capture that is there
 * before the graph comes up finds every pointer set right when it is made.  One that comes
 * later enters each VP: pointers are changed by the thread inside, and sessions made
 * meanwhile see that the node is captured already.
 *
 *   hang, take_off            exclude each other (the graph's structure lock)
 *   fn                        any VP, also beside the two; never after take_off returned
 */
#include "runtime/upi/upi_priv.h"

#define PIECE 256u               /* sessions looked at in one stay inside a VP */

static void capture(const struct xk_node *n, const struct xk_msg *m, bool down)
{
	for (struct xk_capture *c = xk_rcu_dereference(n->capture); c != NULL; c = xk_rcu_dereference(c->next))
		c->fn(c, xk_vp_now(), m, down);
}

void upi_capture_input(const struct xk_node *n, struct xk_msg **m, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		capture(n, m[i], false);
}

/* Does n lie right over the node of s, or is it that node?  A protocol in
 * between may have opened s on behalf of n: then n does not push to it. */
static bool pushes_to(const struct xk_node *n, const struct xk_sess *s)
{
	for (unsigned i = 0; i < n->ndown; i++)
		if (n->down[i] == s->rep->node)
			return true;
	return n == s->rep->node;
}

/* Of the node above, and at the bottom of its own. */
void upi_capture_push(struct xk_sess *s, const struct xk_msg *m)
{
	const struct xk_node *own = s->rep->node, *above = s->up != NULL ? s->up->rep->node : own;

	if (above != own && upi_captured(above) && pushes_to(above, s))
		capture(above, m, true);
	if (own->ndown == 0 && upi_captured(own))
		capture(own, m, true);
}

static void capture_push(struct xk_sess *s, struct xk_msg *m)
{
	upi_capture_push(s, m);
	upi_own_push(s, m);
}

void upi_interpose_push(struct xk_sess *s, const struct xk_node *above)
{
	if (upi_captured(above) && s->push == s->push_own && pushes_to(above, s))
		s->push = capture_push;
}

void upi_capture_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	const struct xk_node *n = up->rep->node;

	capture(n, m, false);
	if (n->graph->meter != NULL)
		upi_meter_demux(upi_own_demux(n), up, lls, m);
	else
		upi_own_demux(n)(up, lls, m);
}

void upi_demux_here(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	const struct xk_node *n = up->rep->node;

	if (upi_captured(n) && up == &up->rep->up)
		upi_capture_demux(up, lls, m);
	else
		upi_own_demux(n)(up, lls, m);
}

/* ---- while the graph runs --------------------------------------------------------- */

struct stay {
	struct xk_node *n;
	struct xk_rep  *below;           /* whose sessions are looked at */
	uint64_t        cursor;
	bool            more;
};

static void sess_on(void *o, void *arg)
{
	const struct stay *st = arg;
	struct xk_sess *s = o;

	if (s->rep == NULL)
		return;
	if (s->rep->node == st->n ? st->n->ndown == 0 : s->up != NULL && s->up->rep->node == st->n)
		upi_interpose_push(s, st->n);
}

/* The interposer stays where the other node that it serves is captured still. */
static void sess_off(void *o, void *arg)
{
	struct xk_sess *s = o;

	(void)arg;
	if (s->rep == NULL || s->push != capture_push)
		return;
	if (upi_captured(s->rep->node) && s->rep->node->ndown == 0)
		return;
	if (s->up != NULL && upi_captured(s->up->rep->node))
		return;
	s->push = s->push_own;
}

static void demux_inside(struct xk_vp *vp, void *arg)
{
	struct xk_rep *r = arg;

	(void)vp;
	r->up.demux = upi_demux_of(r->node);
}

static void stay_inside(struct xk_vp *vp, void *arg)
{
	struct stay *st = arg;
	bool on = upi_captured(st->n);

	(void)vp;
	st->more = xk_slab_walk(&st->below->slab, &st->cursor, PIECE, on ? sess_on : sess_off, st);
}

/* In as many stays as it takes, so that nobody waits long for his VP. */
static void visit_sessions(struct xk_node *n, struct xk_rep *below)
{
	struct stay st = { .n = n, .below = below };

	do
		xk_vp_do(below->vp, stay_inside, &st);
	while (st.more);
}

/* A replica is entered where it lives: with layers that is not the VP of its number. */
static void visit_all(struct xk_node *n)
{
	for (unsigned v = 0; v < n->graph->vps->nvps; v++) {
		xk_vp_do(n->rep[v]->vp, demux_inside, n->rep[v]);
		if (n->ndown == 0)
			visit_sessions(n, n->rep[v]);
		for (unsigned i = 0; i < n->ndown; i++)
			visit_sessions(n, n->down[i]->rep[v]);
	}
}

void xk_capture_hang(struct xk_node *n, struct xk_capture *c)
{
	bool first;

	xk_mutex_lock(&n->graph->structure);
	first = n->capture == NULL;
	c->next = n->capture;
	xk_rcu_assign(n->capture, c);
	xk_mutex_unlock(&n->graph->structure);
	if (first)
		visit_all(n);
}

void xk_capture_take_off(struct xk_node *n, struct xk_capture *c)
{
	struct xk_capture **at = &n->capture;
	bool last;

	xk_mutex_lock(&n->graph->structure);
	while (*at != NULL && *at != c)
		at = &(*at)->next;
	xk_assert(*at == c);
	xk_rcu_assign(*at, c->next);
	last = n->capture == NULL;
	xk_mutex_unlock(&n->graph->structure);
	if (last)
		visit_all(n);
	xk_rcu_synchronize();
}
