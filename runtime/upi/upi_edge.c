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

static void input_drop(struct xk_rep *r, struct xk_msg **m, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		xk_drop(r, XK_DROP_UNSUPPORTED, m[i]);
}

static XK_NOINLINE void input_away(struct xk_rep *r, struct xk_msg *m)
{
	m->node = r->node->no;
	xk_vp_post(r->vp->stage == NULL ? r->vp->set->vp[m->vp] : upi_vp_for(r->node, m->vp), m);
}

/* A run of frames, m of them from the burst's one numbered first. */
struct input_run { uint8_t first, n; };

/* Sends away the runs that are not ours; of the others, resolves the hint and
 * fetches what it names.  Returns how many stay. */
static inline unsigned input_sort(struct xk_rep *r, struct xk_msg **m, const uint8_t *len, unsigned nruns,
				  struct input_run *run)
{
	struct xk_vp *vp = r->vp;
	unsigned mine = 0, at = 0;

	for (unsigned i = 0; i < nruns; at += len[i++]) {
		struct xk_msg *x = m[at];

		if (XK_UNLIKELY(x->vp != vp->no)) {
			xk_classify_spread(m + at, len[i]);
			for (unsigned k = 0; k < len[i]; k++)
				input_away(r, m[at + k]);
			continue;
		}
		resolve_hint(vp, x);
		__builtin_prefetch(x->u.hint[2]);
		run[mine++] = (struct input_run){ (uint8_t)at, len[i] };
	}
	return mine;
}

/* A run of n, together where they may. */
static XK_NOINLINE void input_batch(struct xk_up *up, struct xk_sess *s, struct xk_msg **m, unsigned n,
				     bool together)
{
	const struct xk_batch f = { m, n, 0, -1, m[0]->hash, m[0]->u.hint, m[0]->vp };
	struct xk_rep *r = s->rep;
	unsigned done = together ? up->rep->node->proto->ops->demux_batch(up, s, &f) : 0;

	if (XK_UNLIKELY(done < n)) {
		if (up->demux == upi_hooked_demux && done == 0)
			done = upi_hooked_batch(up, s, &f);
		done = xk_batch_demux_each(up, s, r, &f, done);
	}
	/* Whoever was above the driver has closed it. */
	for (; XK_UNLIKELY(done < n); done++)
		xk_drop(r, XK_DROP_UNSUPPORTED, m[done]);
}

static inline void input_up(struct xk_rep *r, struct xk_sess *s, struct xk_msg **m,
			    const struct input_run *run, unsigned nruns)
{
	struct xk_sess **scratch = upi_vp(r->vp)->scratch;
	struct xk_up *up = s->up;
	bool takes = xk_takes_batches(up);

	for (const struct input_run *i = run; i < run + nruns; i++) {
		if (i->n == 1)
			up->demux(up, s, m[i->first]);
		else
			/* Where the connection is not known each message finds its own way. */
			input_batch(up, s, m + i->first, i->n, takes && m[i->first]->u.hint != scratch);
	}
}

void upi_input_runs(struct xk_rep *r, struct xk_sess *s, struct xk_msg **m, const uint8_t *len, unsigned nruns)
{
	struct input_run run[BURST];

	nruns = input_sort(r, m, len, nruns, run);
	input_up(r, s, m, run, nruns);
}

static XK_NOINLINE void input_single_away(struct xk_rep *r, struct xk_msg *x, const struct xk_flow *f)
{
	x->u.v.flow = f != NULL ? xk_slab_handle(f) : 0;
	x->u.v.gen = f != NULL ? xk_load_relaxed(&f->gen) : 0;
	input_away(r, x);
}

/* One frame by itself: no run to look for, no verdict to write down. */
static inline void input_single(struct xk_rep *r, struct xk_classifier *c, struct xk_sess *s, struct xk_msg *x)
{
	struct xk_upivp *u = upi_vp(r->vp);
	struct xk_flow *f = c->ops->single(c, &u->single, x);

	if (XK_UNLIKELY(x->vp != r->vp->no)) {
		input_single_away(r, x, f);
		return;
	}
	x->u.hint = XK_LIKELY(f != NULL) ? f->sess : u->scratch;
	__builtin_prefetch(x->u.hint[2]);
	s->up->demux(s->up, s, x);
}

static XK_APART void input_burst(struct xk_rep *r, struct xk_msg **m, unsigned n)
{
	struct xk_classifier *c = r->node->classifier;
	struct xk_sess *s = r->drv_sess;
	struct input_run run[BURST];
	uint8_t len[BURST];
	unsigned nruns;

	xk_dassert(n <= BURST && r->vp->no == xk_vp_no);
	if (XK_UNLIKELY(upi_hooked(r->node, UPI_BELOW)))
		upi_hooked_input(r->node, m, n);
	if (XK_UNLIKELY(s == NULL || c == NULL)) {
		input_drop(r, m, n);
		return;
	}
	nruns = input_sort(r, m, len, xk_classify_runs(c, m, n, len), run);
	input_up(r, s, m, run, nruns);
}

void xk_input(struct xk_rep *r, struct xk_msg **m, unsigned n)
{
	struct xk_classifier *c = r->node->classifier;

	xk_count_add(r->npop, n);
	if (n == 1 && XK_LIKELY(c != NULL && c->ops->single != NULL && r->drv_sess != NULL &&
				 !upi_hooked(r->node, UPI_BELOW)))
		input_single(r, c, r->drv_sess, m[0]);
	else
		input_burst(r, m, n);
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

/* ---- datagrams that belong to no virtual processor ---------------------------------- */

/* Bottom-up order: what is above a node has a higher number, and has said already whether it does. */
void upi_anywhere(struct xk_graph *g)
{
	enum { SOME = 1, NOT_ALL = 2 };

	for (unsigned i = g->nnodes; i-- > 0;) {
		struct xk_node *n = g->node[i];

		n->anywhere = n->proto->anywhere != XK_ANYWHERE_AS_ABOVE ? n->proto->anywhere == XK_ANYWHERE
									  : n->above == SOME;
		for (unsigned k = 0; k < n->ndown; k++)
			n->down[k]->above |= n->anywhere ? SOME : SOME | NOT_ALL;
	}
}

bool xk_anywhere_waits(const struct xk_graph *g, const struct xk_node *rcv)
{
	return g->vps->arch.datagrams == XK_DATAGRAMS_ANYWHERE && rcv->anywhere;
}

bool xk_anywhere(const struct xk_rep *r, const struct xk_flowkey *k, const struct xk_node *rcv)
{
	return xk_anywhere_here(r) && rcv->anywhere && xk_flow_find(r->node->graph->flows, k) == NULL;
}

/* ---- those that do --------------------------------------------------------------------- */

static uint16_t owner_of(const struct xk_rep *r, const struct xk_flowkey *k)
{
	struct xk_flowtab *t = r->node->graph->flows;
	struct xk_flow *f = xk_flow_find(t, k);

	return f != NULL ? f->vp : xk_flow_home(t, k);
}

/* By who carries it, under the lock on the table, through the lock of its owner, where r's
 * enter finds it. */
static bool reroute_carried(struct xk_rep *r, const struct xk_flowkey *k, struct xk_msg *m)
{
	struct xk_vp *vp = r->vp;
	bool hold = vp->set->arch.hold;

	xk_vp_order_find(vp);
	xk_vp_table_read(vp);
	m->vp = owner_of(r, k);
	xk_dassert(m->vp < vp->set->nconn);      /* xk_sess_announce sees to it: two I/O threads never wait for each other */
	if (!hold || m->vp == vp->no)
		xk_vp_table_unread(vp);
	m->u.hint = upi_vp(vp)->scratch;
	if (m->vp == vp->no)             /* a session of the I/O thread's own */
		return false;
	m->node = r->node->no;
	if (XK_UNLIKELY(m->flags & XK_MSG_SLOW) && (m = xk_msg_own(m)) == NULL) {
		xk_count(vp->inbox_drops);
		if (hold)
			xk_vp_table_unread(vp);
		return true;
	}
	xk_vp_handoff(vp->set->vp[m->vp], m, hold);
	return true;
}

bool xk_reroute(struct xk_rep *r, const struct xk_flowkey *k, struct xk_msg *m)
{
	uint16_t vp;

	if (r->vp->set->arch.domain == XK_DOMAIN_NONE && xk_vp_is_io(r->vp))
		return reroute_carried(r, k, m);
	vp = owner_of(r, k);
	m->u.hint = upi_vp(r->vp)->scratch;
	if (vp == r->vp->no)
		return false;
	m->node = r->node->no;
	m->vp = vp;
	xk_vp_post(r->vp->stage == NULL ? r->vp->set->vp[vp] : upi_vp_for(r->node, vp), m);
	return true;
}

bool xk_spread(struct xk_rep *r, struct xk_msg *m)
{
	m->vp = xk_hash_vp(m->hash, r->vp->set->nconn);
	if (m->vp == r->vp->no)
		return false;
	m->node = r->node->no;
	xk_vp_post(r->node->rep[m->vp]->vp, m);
	return true;
}

void xk_defer(struct xk_rep *r, struct xk_msg *m)
{
	m->node = r->node->no;
	xk_vp_post(r->vp, m);
}
