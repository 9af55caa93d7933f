/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upi_edge.c - where frames enter the graph: classified in a burst, then run on
 * this VP or handed to theirs.
 *
 * A hint (flow handle, generation) is turned into the flow's list of sessions
 * only on the flow's own VP.  Invariant: every message above an edge carries a
 * hint list of the VP that runs it.
 */
#include "runtime/upi/upi_priv.h"

#define BURST 32u

/* The hint list of m on this VP; counts messages that came to the wrong one. */
static inline void resolve_hint(struct xk_vp *vp, struct xk_msg *m)
{
	struct xk_flow *f;

	f = xk_flow_get(m->u.v.flow, m->u.v.gen);
	if (XK_LIKELY(f != NULL)) {
		if (XK_LIKELY(xk_load_relaxed(&f->vp) == vp->no)) {
			m->u.hint = f->sess;
			return;
		}
		xk_count(vp->wrong_vp);
	}
	m->u.hint = upi_vp(vp)->scratch;
}

static void input_capture(struct xk_rep *r, struct xk_msg **m, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		r->node->capture->fn(r->node->capture, r->vp->now, m[i], false);
}

static void input_drop(struct xk_rep *r, struct xk_msg **m, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		xk_drop(r, XK_DROP_UNSUPPORTED, m[i]);
}

static XK_NOINLINE void input_away(struct xk_rep *r, struct xk_msg *m)
{
	m->node = r->node->no;
	xk_vp_post(r->vp->set->vp[m->vp], m);
}

/* Sends away what is not ours; keeps the rest in m, hints resolved.  Messages
 * of a burst come in runs of one flow, whose name is resolved once. */
static inline unsigned input_sort(struct xk_rep *r, struct xk_msg **m, unsigned n)
{
	struct xk_vp *vp = r->vp;
	unsigned mine = 0, no = vp->no;
	struct xk_sess **hint = NULL;
	uint64_t name = 0;

	for (unsigned i = 0; i < n; i++) {
		struct xk_msg *x = m[i];

		if (XK_UNLIKELY(x->vp != no)) {
			input_away(r, x);
			continue;
		}
		if (XK_UNLIKELY(hint == NULL || x->u.name != name)) {
			name = x->u.name;
			resolve_hint(vp, x);
			hint = x->u.hint;
			__builtin_prefetch(hint[2]);
		}
		x->u.hint = hint;
		m[mine++] = x;
	}
	return mine;
}

/* Runs of one exact connection go up together where the protocol takes them. */
static inline void input_up(struct xk_rep *r, struct xk_sess *s, struct xk_msg **m, unsigned n)
{
	struct xk_sess **scratch = upi_vp(r->vp)->scratch;
	struct xk_up *up = s->up;
	const struct xk_ops *ops = up->rep->node->proto->ops;
	bool runs = ops->demux_run != NULL && up->demux == ops->demux;

	for (unsigned i = 0, k; i < n; i = k) {
		struct xk_sess **h = m[i]->u.hint;

		for (k = i + 1; runs && k < n && m[k]->u.hint == h && h != scratch;)
			k++;
		if (k - i > 1)
			ops->demux_run(up, s, m + i, k - i);
		else
			up->demux(up, s, m[i]);
	}
}

void xk_input(struct xk_rep *r, struct xk_msg **m, unsigned n)
{
	struct xk_classifier *c = r->node->classifier;
	struct xk_sess *s = r->drv_sess;

	xk_dassert(n <= BURST && r->vp->no == xk_vp_no);
	xk_count_add(r->npop, n);
	if (XK_UNLIKELY(r->node->capture != NULL))
		input_capture(r, m, n);
	if (XK_UNLIKELY(s == NULL || c == NULL)) {
		input_drop(r, m, n);
		return;
	}
	c->ops->classify(c, m, n);
	n = input_sort(r, m, n);
	input_up(r, s, m, n);
}

void xk_input_enter(struct xk_rep *r, struct xk_msg *m)
{
	struct xk_sess *s = r->drv_sess;

	if (XK_UNLIKELY(s == NULL)) {
		xk_drop(r, XK_DROP_UNSUPPORTED, m);
		return;
	}
	resolve_hint(r->vp, m);
	s->up->demux(s->up, s, m);
}

bool xk_reroute(struct xk_rep *r, const struct xk_flowkey *k, struct xk_msg *m)
{
	struct xk_flowtab *t = r->node->graph->flows;
	struct xk_flow *f = xk_flow_find(t, k);
	uint16_t vp = f != NULL ? f->vp : xk_flow_home(t, k);

	m->u.hint = upi_vp(r->vp)->scratch;
	if (vp == r->vp->no)
		return false;
	m->node = r->node->no;
	m->vp = vp;
	xk_vp_post(r->vp->set->vp[vp], m);
	return true;
}

void xk_defer(struct xk_rep *r, struct xk_msg *m)
{
	m->node = r->node->no;
	xk_vp_post(r->vp, m);
}
