/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upi_seat.c - layers between two nodes change while messages pass.
 *
 * A seat is a node of the graph above, one below, and what lies between: layers that go, layers that come, or
 * none.  First the enables below name the new receiver, so what a peer begins goes the new way.  Then each VP
 * is entered once.  Between two units of its work nobody is inside a session: those that come stand sessions
 * of their own over the sessions below, and who is above exchanges what it holds, all of them in one stay.  So
 * each message goes one way or the other, whole, and none waits for another VP.  Memory is asked for before
 * anything is touched, for the sessions that there are and some more.  What is opened meanwhile beyond that,
 * and finds none, keeps its old way until it is closed, as do sessions of who cannot exchange what it holds.
 * Invariant: who lies above holds, of each session below, the old way's top or the new way's, never both.
 */
#include "runtime/upi/upi_priv.h"

#include "runtime/upi/xk_move.h"

#define MORE 64u                 /* sessions of a VP that may be opened while the memory for the others is got */

/* Of one VP. */
struct upi_stay { const struct upi_seat *s; unsigned vp, n; };
/* Of all; err: the first one's. */
struct stays { const struct upi_seat *s; int err; };

static struct xk_node *lowest(const struct upi_seat *s, bool come)
{
	unsigned n = come ? s->nin : s->nout;

	return n == 0 ? s->above : come ? s->in[n - 1] : s->out[n - 1];
}

static struct xk_node *highest(const struct upi_seat *s, bool come)
{
	return come ? (s->nin != 0 ? s->in[0] : s->base) : s->nout != 0 ? s->out[0] : s->base;
}

/* ---- enables ------------------------------------------------------------------------- */

/* n's enable at `at` of this type. */
static struct xk_enable *enable_at(const struct xk_node *n, const struct xk_node *at, const struct xk_node *type)
{
	struct xk_enable *e = n->wants;

	while (e != NULL && (e->node != at || e->type != type))
		e = e->next;
	return e;
}

/* Is e, of what is received from below by the old way, for who lies above? */
static bool is_ours(const struct upi_seat *s, const struct xk_enable *e)
{
	return e->node == s->base && enable_at(s->above, highest(s, false), e->type) != NULL;
}

/* Those that come will pass on what e gets. */
static int adopt(struct upi_seat *s, struct xk_enable *e)
{
	int err = XK_OK;

	for (unsigned i = s->nin; err == XK_OK && i-- > 0;) {
		struct xk_adopt a = { .a = { .of = s->in[i]->rep[0] }, .rcv = i != 0 ? s->in[i - 1] : s->above, .e = e };

		err = upi_ask(s->in[i]->rep[0], XK_CTL_ADOPT, &a, sizeof a);
		e = err == XK_OK ? enable_at(a.rcv, s->in[i], e->type) : NULL;
		if (e == NULL)
			return err;      /* it has none: nor have those above it */
	}
	return err;
}

/* The list stands still: whoever binds while it runs waits, or is refused a change below it (upi_change.c).  What
 * those have enabled who go is given up before the seat changes. */
int upi_seat_adopt(struct upi_seat *s)
{
	int err = XK_OK;

	for (struct xk_enable *e = lowest(s, false)->wants; err == XK_OK && e != NULL; e = e->next)
		/* As often as it will be given up. */
		for (uint32_t k = is_ours(s, e) && !e->type->going ? e->rcnt : 0; err == XK_OK && k > 0; k--)
			err = adopt(s, e);
	return err;
}

/* What is received from below goes the new way. */
static void redirect_locked(struct upi_seat *s)
{
	XK_MUTEX_SCOPE(&s->above->graph->structure);
	for (struct xk_enable *e = lowest(s, false)->wants, *next; e != NULL; e = next) {
		next = e->next;
		if (is_ours(s, e))
			upi_enable_move_locked(e, lowest(s, true));
	}
}

/* And a layer below has noted for whom. */
static void redirect(struct upi_seat *s)
{
	struct xk_handed h = { .a = { .of = s->base->rep[0] }, .rcv = lowest(s, false), .now = lowest(s, true) };

	redirect_locked(s);
	(void)upi_ask(s->base->rep[0], XK_CTL_HANDED, &h, sizeof h);
}

/* ---- sessions, inside a VP -------------------------------------------------------------- */

/* The highest session of the old way over `base`, if what it passes up is for who lies above. */
static struct xk_sess *top_of(const struct upi_seat *s, struct xk_sess *base)
{
	struct xk_sess *t = base;

	for (unsigned i = s->nout; t != NULL && i-- > 0;)
		t = upi_own_over(s->out[i], t);
	return t != NULL && t->up != NULL && t->up->rep == s->above->rep[base->rep->no] ? t : NULL;
}

static bool is_held(const struct upi_seat *s, struct xk_sess *t)
{
	struct xk_move m = { .a = { .of = s->above->rep[t->rep->no] }, .old = t };

	return upi_ask(s->above->rep[t->rep->no], XK_CTL_MOVE, &m, sizeof m) == XK_OK;
}

static int move(const struct upi_seat *s, struct xk_sess *old, struct xk_sess *now)
{
	struct xk_move m = { .a = { .of = s->above->rep[old->rep->no] }, .old = old, .now = now };

	return upi_ask(s->above->rep[old->rep->no], XK_CTL_MOVE, &m, sizeof m);
}

/* Sessions of those that come over b, where `up` received by t, the old way's top; the caller's reference to the
 * highest.  NULL: no memory, and none is there.  t may be b, whose `up` is the lowest's with the first step. */
static struct xk_sess *stand(const struct upi_seat *s, struct xk_sess *b, const struct xk_sess *t, struct xk_up *up)
{
	struct xk_sess *below = b;

	for (unsigned i = s->nin; i-- > 0;) {
		struct xk_rep *r = s->in[i]->rep[b->rep->no];
		struct xk_stand st = { .a = { .of = r }, .below = below, .up = up, .type = xk_sess_type(t) };
		int err = upi_ask(r, XK_CTL_STAND, &st, sizeof st);

		if (err == XK_OK)
			xk_dup(st.own);
		if (below != b)
			xk_close(below);         /* which the one over it holds, or nobody */
		if (err != XK_OK)
			return NULL;
		below = st.own;
	}
	return below;
}

/* t, the old way's top over b, is held. */
static void exchange_held(const struct upi_seat *s, struct xk_sess *b, struct xk_sess *t)
{
	struct xk_up *was = b->up, *up = t->up;
	struct xk_sess *now = s->nin != 0 ? stand(s, b, t, up) : xk_dup(b);
	bool moved;

	if (s->nin == 0)
		b->up = up;
	moved = now != NULL && move(s, t, now) == XK_OK;
	if (now != NULL)
		xk_close(now);
	if (!moved)
		b->up = was;             /* it keeps its way */
}

/* One session below that belongs to this seat. */
static void exchange(void *o, void *arg)
{
	const struct upi_stay *w = arg;
	const struct upi_seat *s = w->s;
	struct xk_sess *b = o, *t = b->rep != NULL ? top_of(s, b) : NULL;

	if (t == NULL)
		return;
	if (!is_held(s, t)) {
		/* The next message makes what there is to be above it. */
		b->up = s->nin != 0 ? &s->in[s->nin - 1]->rep[w->vp]->up : t->up;
		return;
	}
	xk_dup(b);
	xk_dup(t);
	exchange_held(s, b, t);
	xk_close(t);
	xk_close(b);
}

static void each(struct upi_stay *w, void (*fn)(void *, void *))
{
	uint64_t at = 0;

	while (xk_slab_walk(&upi_rep(w->s->base->rep[w->vp])->slab, &at, UINT32_MAX, fn, w))
		;
}

static void change_inside(struct xk_vp *vp, void *arg)
{
	const struct upi_seat *s = ((struct stays *)arg)->s;
	struct upi_stay w = { .s = s, .vp = vp->no };

	for (unsigned i = 0; i < s->nout; i++) {
		struct xk_leave l = { .a = { .of = s->out[i]->rep[vp->no] } };

		(void)upi_ask(s->out[i]->rep[vp->no], XK_CTL_LEAVE, &l, sizeof l);
	}
	if (s->moves)
		each(&w, exchange);
	s->above->rep[vp->no]->down[s->way] = highest(s, true)->rep[vp->no];
}

/* ---- memory, before anything is touched ------------------------------------------------------ */

static void count_sess(void *o, void *arg)
{
	struct upi_stay *w = arg;
	const struct xk_sess *b = o;

	w->n += b->rep != NULL;
}

/* Places for n more sessions of r, in its slab and in its map. */
static int reserve(struct xk_rep *r, unsigned n)
{
	struct xk_sess **all = xk_alloc(n * sizeof *all);
	int err = all != NULL ? XK_OK : XK_E_NOMEM;
	unsigned k;

	for (k = 0; err == XK_OK && k < n; k++) {
		all[k] = xk_slab_get(&upi_rep(r)->slab);
		if (all[k] == NULL) {
			err = XK_E_NOMEM;
			break;
		}
		all[k]->map.key = (struct xk_key){ { (uintptr_t)all[k], 0 } };
		err = xk_map_bind(&r->active, &all[k]->map);
	}
	while (k-- > 0) {
		if (all[k]->map.bound)
			xk_map_unbind(&r->active, &all[k]->map);
		xk_slab_put(&upi_rep(r)->slab, all[k]);
	}
	xk_free(all);
	return err;
}

static void reserve_inside(struct xk_vp *vp, void *arg)
{
	struct stays *all = arg;
	struct upi_stay w = { .s = all->s, .vp = vp->no };
	int err = XK_OK, none = XK_OK;

	each(&w, count_sess);
	for (unsigned i = 0; err == XK_OK && i < w.s->nin; i++)
		err = reserve(w.s->in[i]->rep[vp->no], w.n + MORE);
	if (err != XK_OK)
		(void)xk_atomic_cas(&all->err, &none, err);
}

/* ---- all of it ------------------------------------------------------------------------------ */

int upi_seat_prepare(struct upi_seat *s)
{
	struct stays all = { .s = s };

	s->moves = upi_can(s->above, XK_CTL_MOVE);
	if (s->moves && s->nin != 0)
		upi_each_vp(s->above->graph, reserve_inside, &all);
	return all.err;
}

void upi_seat_unprepare(struct upi_seat *s)
{
	for (unsigned i = 0; i < s->nin; i++)
		xk_enable_unbind_all(s->in[i], i != 0 ? s->in[i - 1] : s->above);
}

void upi_seat_change(struct upi_seat *s)
{
	struct stays all = { .s = s };

	redirect(s);
	xk_rcu_synchronize();            /* whoever saw the old receiver has opened for it */
	upi_each_vp(s->above->graph, change_inside, &all);
	s->above->down[s->way] = highest(s, true);
	for (unsigned i = 0; i < s->nout; i++)
		xk_enable_unbind_all(s->out[i], i != 0 ? s->out[i - 1] : s->above);
}
