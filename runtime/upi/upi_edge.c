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

/* The hint list of m, which another VP has classified; counts messages that came to the wrong one. */
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

#define LEAST 4u                 /* frames of several connections that are worth a batch */

/* Are all of them for here (the bits of vp), of known connections, and may go up together (those of plain)?
 * Bits of a struct xk_run in which one of them is odd.  Fetches what flows name. */
static inline uint32_t input_look(const struct xk_vp *vp, const struct xk_run *run, unsigned nruns)
{
	const struct xk_run want = { .vp = vp->no, .plain = 1 }, mask = { .vp = 0xffff, .plain = 0xff };
	uint32_t odd = 0;

	XK_UNROLL
	for (const struct xk_run *i = run; i < run + nruns; i++) {
		odd |= xk_run_word(i) ^ xk_run_word(&want);
		/* Whoever has the flow may be writing there. */
		if (XK_LIKELY(i->flow != NULL))
			__builtin_prefetch(xk_load_relaxed(&i->flow->sess[2]));
	}
	return odd & xk_run_word(&mask);
}

/* Sends away the runs that are not ours and moves the others together; returns how many. */
static XK_NOINLINE unsigned input_sort(struct xk_rep *r, struct xk_msg **m, struct xk_run *run, unsigned nruns)
{
	struct xk_vp *vp = r->vp;
	struct xk_msg **from = m;
	unsigned mine = 0;

	for (unsigned i = 0; i < nruns; from += run[i++].n) {
		if (XK_UNLIKELY(run[i].vp != vp->no)) {
			xk_classify_tell(&run[i], from);
			for (unsigned k = 0; k < run[i].n; k++)
				input_away(r, from[k]);
			continue;
		}
		memmove(m, from, run[i].n * sizeof *m);
		m += run[i].n;
		run[mine++] = run[i];
	}
	return mine;
}

/* The first n messages, of run and those behind it, one by one, for as long as s is held. */
static unsigned input_each(struct xk_up *up, struct xk_sess *s, struct xk_msg **m, const struct xk_run *run, unsigned n)
{
	const struct xk_rep *r = s->rep;
	struct xk_sess **scratch = upi_vp(r->vp)->scratch;
	unsigned i, of = 0;

	for (i = 0; i < n && XK_LIKELY(s->rep == r && s->rcnt > 0); i++) {
		struct xk_msg *x = m[i];

		/* In the form that placed messages have in runs (xk_batch_materialise). */
		if (XK_UNLIKELY(x->flags & XK_MSG_CHAIN) && x->len == x->tot)
			x->len -= x->next->len;
		x->hash = run->hash;
		x->vp = run->vp;
		/* Where the connection is not known each message finds its own way. */
		x->u.hint = run->flow != NULL ? run->flow->sess : scratch;
		if (++of == run->n) {
			run++;
			of = 0;
		}
		up->demux(up, s, x);
	}
	return i;
}

/* The first n messages of nruns runs have gone: how many runs are left, from *run on? */
static unsigned runs_behind(struct xk_run **run, unsigned nruns, unsigned n)
{
	for (; n != 0 && n >= (*run)->n; nruns--)
		n -= (*run)++->n;
	if (n != 0)
		(*run)->n = (uint8_t)((*run)->n - n);
	return nruns;
}

/*
 * n messages together.  The first that does not go with those before it goes by itself,
 * and what is behind it together again; where little went so, all the rest goes one by one.
 * Returns how many went before s was closed.
 */
static XK_APART unsigned input_batch(struct xk_up *up, struct xk_sess *s, struct xk_msg **m, struct xk_run *run,
				     unsigned nruns, unsigned n)
{
	const struct xk_rep *r = s->rep;
	unsigned done = 0;

	while (done < n && s->rep == r && s->rcnt > 0) {
		const struct xk_batch f = { m + done, run, NULL, n - done, 0, -1, 0, n - done == nruns };
		unsigned went = up->rep->ops->demux_batch(up, s, &f), each;

		done += went;
		if (XK_LIKELY(done == n))
			break;
		each = went < LEAST || n - done <= LEAST ? n - done : 1;
		nruns = runs_behind(&run, nruns, went);
		went = input_each(up, s, m + done, run, each);
		nruns = runs_behind(&run, nruns, went);
		done += went;
		if (went < each)
			break;
	}
	return done;
}

/* A run where hooks stand before who receives. */
static unsigned input_hooked(struct xk_up *up, struct xk_sess *s, struct xk_msg **m, struct xk_run *run)
{
	const struct xk_batch f = { m, run, NULL, run->n, 0, -1, 0, false };
	unsigned n = run->n, done = 0;

	if (n > 1 && run->flow != NULL && up->demux == upi_hooked_demux)
		done = upi_hooked_batch(up, s, &f);
	if (done == n)
		return n;
	runs_behind(&run, 1, done);
	return done + input_each(up, s, m + done, run, n - done);
}

/* The first messages; sets *nruns to the runs they are, and *n to how many they are; returns how many went. */
static inline unsigned input_some(struct xk_up *up, struct xk_sess *s, struct xk_msg **m, struct xk_run *run,
				  unsigned *nruns, unsigned *n)
{
	unsigned most = *nruns;

	*nruns = *n = 0;
	if (XK_UNLIKELY(!xk_takes_batches(up))) {
		*nruns = 1;
		*n = run->n;
		return input_hooked(up, s, m, run);
	}
	while (*nruns < most && run[*nruns].plain)
		*n += run[(*nruns)++].n;
	if (*n >= LEAST || (*nruns == 1 && *n > 1))
		return input_batch(up, s, m, run, *nruns, *n);
	if (*nruns == 0)
		*n = run[(*nruns)++].n;
	return input_each(up, s, m, run, *n);
}

static XK_NOINLINE void input_stretches(struct xk_sess *s, struct xk_msg **m, struct xk_run *run, unsigned nruns)
{
	struct xk_up *up = s->up;
	struct xk_rep *r = s->rep;

	while (nruns != 0) {
		unsigned these = nruns, n, went = input_some(up, s, m, run, &these, &n);

		/* Whoever was above the driver has closed it. */
		for (; XK_UNLIKELY(went < n); went++)
			xk_drop(r, XK_DROP_UNSUPPORTED, m[went]);
		m += n;
		run += these;
		nruns -= these;
	}
}

void upi_input_runs(struct xk_rep *r, struct xk_sess *s, struct xk_msg **m, unsigned n, struct xk_run *run,
		    unsigned nruns)
{
	const struct xk_run vps = { .vp = 0xffff };
	uint32_t odd = input_look(r->vp, run, nruns);
	struct xk_up *up = s->up;
	unsigned went;

	if (XK_LIKELY(odd == 0) && (n >= LEAST || (nruns == 1 && n > 1)) && XK_LIKELY(xk_takes_batches(up))) {
		went = input_batch(up, s, m, run, nruns, n);
	} else if (XK_UNLIKELY((odd & xk_run_word(&vps)) != 0)) {
		input_stretches(s, m, run, input_sort(r, m, run, nruns));
		return;
	} else if (n < LEAST && nruns == n) {
		went = input_each(up, s, m, run, n);     /* too few for a batch, and none is another's */
	} else {
		input_stretches(s, m, run, nruns);
		return;
	}
	for (; XK_UNLIKELY(went < n); went++)
		xk_drop(r, XK_DROP_UNSUPPORTED, m[went]);
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

	r->vp->singly++;
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
	struct xk_run run[BURST];
	unsigned nruns;

	xk_dassert(n <= BURST && r->vp->no == xk_vp_no);
	if (XK_UNLIKELY(upi_hooked(r->node, UPI_BELOW)))
		upi_hooked_input(r->node, m, n);
	if (XK_UNLIKELY(s == NULL || c == NULL)) {
		input_drop(r, m, n);
		return;
	}
	nruns = xk_classify_runs(c, m, n, run);
	xk_vp_record(r->vp, XK_REC_IN, r->node->no, n, m[0]->tot, nruns);
	upi_input_runs(r, s, m, n, run, nruns);
}

void xk_input(struct xk_rep *r, struct xk_msg **m, unsigned n)
{
	struct xk_classifier *c = r->node->classifier;

	xk_count_add(r->npop, n);
	if (n == 1 && XK_LIKELY(c != NULL && c->ops->single != NULL && r->drv_sess != NULL &&
				 !upi_hooked(r->node, UPI_BELOW)))
		input_single(r, c, r->drv_sess, m[0]);
	else if (XK_LIKELY(n != 0))
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
	struct xk_vp *to;

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
	to = vp->set->vp[m->vp];
	if (XK_UNLIKELY(m->flags & XK_MSG_SLOW) && (m = xk_msg_own(m)) == NULL) {
		xk_vp_lost(vp, to->at, XK_REC_NOMEM);
		if (hold)
			xk_vp_table_unread(vp);
		return true;
	}
	xk_vp_handoff(to, m, hold);
	return true;
}

bool xk_reroute(struct xk_rep *r, const struct xk_flowkey *k, struct xk_msg *m)
{
	uint16_t vp;

	if (r->vp->set->arch.domain == XK_DOMAIN_NONE && xk_vp_is_io(r->vp))
		return reroute_carried(r, k, m);
	m->u.hint = upi_vp(r->vp)->scratch;
	if (r->vp->set->nvps == 1)       /* nobody else can have it */
		return false;
	vp = owner_of(r, k);
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
