/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upi_hook.c - hooks: attached, detached, entered; see upi_hook.h.
 *
 * Hooks that are there before the graph comes up are found by whatever is made.  When one comes
 * or goes later, its side's pointers are changed by a thread inside the VP that owns them, and
 * what is made meanwhile is made right already.
 */
#include "runtime/upi/upi_priv.h"

#define PIECE 256u               /* sessions looked at in one stay inside a VP */

/* ---- the protocol itself, behind all hooks ---------------------------------------- */

/* What n's own sessions receive by. */
static xk_demux_fn self_of(const struct xk_node *n)
{
	xk_demux_fn fn = xk_load_relaxed(&n->edge->self);

	return fn != NULL ? fn : upi_own_demux(n);
}

static void own_push(const struct upi_link *l, struct xk_sess *s, struct xk_msg *m)
{
	(void)l;
	xk_sess_own_push(s)(s, m);
}

static void own_demux(const struct upi_link *l, struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	const struct xk_node *n = up->rep->node;

	(void)l;
	(up == &up->rep->up ? upi_own_demux(n) : self_of(n))(up, lls, m);
}

static void own_pop(const struct upi_link *l, struct xk_sess *s, struct xk_sess *lls, struct xk_msg *m, void *hdr)
{
	(void)l;
	upi_own_pop(s->rep->node)(s, lls, m, hdr);
}

static unsigned own_batch(const struct upi_link *l, struct xk_up *up, struct xk_sess *lls, const struct xk_batch *f)
{
	const struct xk_ops *ops = up->rep->node->proto->ops;

	(void)l;
	return ops->demux_batch != NULL ? ops->demux_batch(up, lls, f) : 0;
}

static const struct xk_hook own = {
	.name = "own", .push = own_push, .pop = own_pop, .demux = own_demux, .batch = own_batch,
};

int upi_edge_make(struct xk_node *n)
{
	n->edge = xk_alloc(sizeof *n->edge);
	if (n->edge == NULL)
		return XK_E_NOMEM;
	n->edge->at[UPI_BELOW][UPI_PLACES].hook = n->edge->at[UPI_ABOVE][UPI_PLACES].hook = &own;
	return XK_OK;
}

/* ---- entrances --------------------------------------------------------------------- */

void upi_hooked_push(struct xk_sess *s, struct xk_msg *m)
{
	upi_next_push(s->rep->node->edge->at[UPI_ABOVE], s, m);
}

void upi_hooked_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	upi_next_demux(up->rep->node->edge->at[UPI_BELOW], up, lls, m);
}

void upi_hooked_pop(struct xk_sess *s, struct xk_sess *lls, struct xk_msg *m, void *hdr)
{
	upi_next_pop(s->rep->node->edge->at[UPI_ABOVE], s, lls, m, hdr);
}

unsigned upi_hooked_batch(struct xk_up *up, struct xk_sess *lls, const struct xk_batch *f)
{
	return upi_next_batch(up->rep->node->edge->at[UPI_BELOW], up, lls, f);
}

void upi_hooked_input(const struct xk_node *n, struct xk_msg *const *m, unsigned count)
{
	for (const struct upi_link *l = n->edge->at[UPI_BELOW]; l < n->edge->at[UPI_BELOW] + UPI_PLACES; l++) {
		const struct xk_hook *h = upi_hook_at(l);

		if (h != NULL && h->input != NULL)
			h->input(n, m, count);
	}
}

/* ---- around calls -------------------------------------------------------------------- */

/* Each hook h around n's calls that has operation op. */
#define EACH(h, n, op) \
	for (const struct upi_link *at_ = (n)->edge->at[UPI_CALLS]; at_ < (n)->edge->at[UPI_CALLS] + UPI_PLACES; at_++) \
		if (((h) = upi_hook_at(at_)) != NULL && (h)->op != NULL)

void upi_hooked_call(struct upi_call *c)
{
	const struct upi_link *at = c->r->node->edge->at[UPI_CALLS];

	for (unsigned i = 0; i < UPI_PLACES; i++)
		if (at[i].hook != NULL && at[i].hook->call != NULL)
			c->was[i] = at[i].hook->call(c);
}

void upi_hooked_back(const struct upi_call *c)
{
	const struct upi_link *at = c->r->node->edge->at[UPI_CALLS];

	for (unsigned i = UPI_PLACES; i-- > 0;)
		if (at[i].hook != NULL && at[i].hook->back != NULL)
			at[i].hook->back(c, c->was[i]);
}

void upi_hooked_change(const struct xk_node *n)
{
	const struct xk_hook *h;

	EACH(h, n, change)
		h->change(n);
}

void xk_dup_hooked(struct xk_sess *s)
{
	const struct xk_hook *h;

	EACH(h, s->rep->node, hold)
		h->hold(s);
}

int upi_hooked_bind(const struct xk_sess *s)
{
	const struct upi_link *at = s->rep->node->edge->at[UPI_CALLS];
	int err = XK_OK;
	unsigned i;

	for (i = 0; err == XK_OK && i < UPI_PLACES; i++)
		if (at[i].hook != NULL && at[i].hook->bind != NULL)
			err = at[i].hook->bind(s);
	/* The last one asked has refused. */
	for (unsigned k = 0; err != XK_OK && k + 1 < i; k++)
		if (at[k].hook != NULL && at[k].hook->unbind != NULL)
			at[k].hook->unbind(s);
	return err;
}

void upi_hooked_unbind(const struct xk_sess *s)
{
	const struct xk_hook *h;

	EACH(h, s->rep->node, unbind)
		h->unbind(s);
}

void upi_hooked_announce(struct xk_sess *s)
{
	const struct xk_hook *h;

	EACH(h, s->rep->node, announce)
		h->announce(s);
}

void upi_hooked_withdraw(struct xk_sess *s)
{
	const struct xk_hook *h;

	EACH(h, s->rep->node, withdraw)
		h->withdraw(s);
}

void upi_hooked_end(const struct xk_sess *s)
{
	const struct xk_hook *h;

	EACH(h, s->rep->node, end)
		h->end(s);
}

bool upi_hooked_named(const struct xk_sess *s)
{
	const struct xk_hook *h;

	EACH(h, s->rep->node, named)
		if (h->named(s))
			return true;
	return false;
}

/* ---- attach and detach ---------------------------------------------------------------- */

xk_demux_fn xk_self_demux(const struct xk_node *n, xk_demux_fn fn)
{
	if (xk_load_relaxed(&n->edge->self) != fn)
		xk_store_relaxed(&n->edge->self, fn);
	return upi_demux_of(n, fn);
}

static void set(struct xk_node *n, enum upi_side side, enum upi_place at, const struct xk_hook *h)
{
	bool some = false;

	xk_rcu_assign(n->edge->at[side][at].hook, h);
	for (unsigned i = 0; i < UPI_PLACES; i++)
		some = some || n->edge->at[side][i].hook != NULL;
	if (side == UPI_ABOVE && h != NULL && h->pop != NULL)
		xk_store_relaxed(&n->edge->pops, true);
	xk_store_relaxed(&n->hooked[side], some);
}

void upi_hook_attach(struct xk_node *n, enum upi_side side, enum upi_place at, const struct xk_hook *h)
{
	set(n, side, at, h);
}

void upi_hook_detach(struct xk_node *n, enum upi_side side, enum upi_place at)
{
	set(n, side, at, NULL);
}

/* ---- pointers of a graph that is up ------------------------------------------------------ */

/* Of one VP: n's replica, then those of the nodes below it. */
struct visit {
	const struct xk_node *n;
	unsigned              vp, at;    /* at 0: n itself */
	struct xk_rep        *r;
	uint64_t              cursor;
};

/* A session that is nobody's up has something else where `self` is: it names no replica. */
static void resolve_sess(void *o, void *arg)
{
	const struct xk_rep *r = ((const struct visit *)arg)->r;
	const struct xk_node *n = r->node;
	struct xk_sess *s = o;

	if (s->rep == NULL)
		return;
	if (s->push == xk_sess_own_push(s) || s->push == upi_hooked_push)
		s->push = upi_push_of(n, xk_sess_own_push(s));
	if (s->self.rep == r && (s->self.demux == self_of(n) || s->self.demux == upi_hooked_demux))
		s->self.demux = upi_demux_of(n, self_of(n));
}

static void visit_next(struct visit *v)
{
	const struct xk_node *n = v->at == 0 ? v->n : v->at <= v->n->ndown ? v->n->down[v->at - 1] : NULL;

	v->at++;
	v->r = n != NULL ? n->rep[v->vp] : NULL;
	v->cursor = 0;
}

/* Both ways of n in one stay, where they are one VP's: who looks sees no answers without questions. */
static void visit_inside(struct xk_vp *vp, void *arg)
{
	struct visit *v = arg;

	while (v->r != NULL && v->r->vp == vp) {
		v->r->up.demux = upi_demux_of(v->r->node, upi_own_demux(v->r->node));
		if (xk_slab_walk(&upi_rep(v->r)->slab, &v->cursor, PIECE, resolve_sess, v))
			return;
		visit_next(v);
	}
}

/* A replica is entered where it lives: with layers that is not the VP of its number. */
void upi_hook_resolve(struct xk_node *n)
{
	for (unsigned i = 0; i < n->graph->vps->nvps; i++) {
		struct visit v = { .n = n, .vp = i };

		for (visit_next(&v); v.r != NULL;)       /* none: not up yet */
			xk_vp_do(v.r->vp, visit_inside, &v);
	}
}
