/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upi_late.c - nodes of a graph that is up: made, started, stopped, taken away.
 *
 * A node that comes late has a number behind all others', of a place in g->node that nobody reads until it is
 * named, and replicas of its own memory, so that everything goes back when it goes.  A node of the graph's
 * beginning that goes is stopped and stays in its place, for those who count what the whole run did.  Whoever
 * went, a session that it received by has an `up` that is nobody's until its own protocol gives it up.
 * Invariant: no pointer that a message follows leads to a node that has ended.
 */
#include "runtime/upi/upi_priv.h"

#include "runtime/upi/xk_change.h"
#include "runtime/upi/xk_move.h"

#include <string.h>

/* ---- places ------------------------------------------------------------------------- */

int upi_late_room(struct xk_graph *g)
{
	unsigned room = g->nnodes + UPI_LATE_MAX;
	struct xk_node **all = xk_alloc(room * sizeof *all);

	if (all == NULL)
		return XK_E_NOMEM;
	memcpy(all, g->node, g->nnodes * sizeof *all);
	xk_free(g->node);
	g->node = all;
	g->room = room;
	g->nslots = g->nnodes;
	return XK_OK;
}

/* A session's type is its node's number and 1, in 16 bits. */
static unsigned free_slot(const struct xk_graph *g)
{
	unsigned i = g->nnodes;

	while (i < g->room && i < UINT16_MAX && g->node[i] != NULL)
		i++;
	return i < g->room && i < UINT16_MAX ? i : 0;
}

/* ---- every VP ------------------------------------------------------------------------ */

/* Each is left a call, all of them at once, and the last answer is waited for. */
static void call_all(struct xk_vpset *set, struct xk_call *call, struct xk_event *done)
{
	for (unsigned v = 0; v < set->nvps; v++)
		xk_vp_call_async(set->vp[v], &call[v]);
	for (unsigned v = 0; v < set->nvps; v++)
		while (!xk_load_acquire(&call[v].finished)) {
			xk_event_prepare(done);
			if (xk_load_acquire(&call[v].finished))
				xk_event_cancel(done);
			else
				xk_event_wait(done, XK_SEC, NULL, 0);
		}
}

void upi_each_vp(struct xk_graph *g, void (*fn)(struct xk_vp *vp, void *arg), void *arg)
{
	struct xk_vpset *set = g->vps;
	struct xk_event *done = xk_guest_call_event();
	struct xk_call *call = NULL;

	/* Where the caller's thread may enter, it need not wait for another one. */
	if (xk_load_acquire(&set->running) && set->arch.entry != XK_ENTRY_LOCK && done != NULL)
		call = xk_alloc(set->nvps * sizeof *call);
	for (unsigned v = 0; v < set->nvps; v++) {
		if (call == NULL)
			xk_vp_do(set->vp[v], fn, arg);
		else
			call[v] = (struct xk_call){ .fn = fn, .arg = arg, .done = done };
	}
	if (call != NULL)
		call_all(set, call, done);
	xk_free(call);
}

/* ---- asking -------------------------------------------------------------------------- */

int upi_ask(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	return r->ops->control != NULL ? r->ops->control(r, op, buf, len) : XK_E_NOTSUP;
}

bool upi_can(const struct xk_node *n, unsigned op)
{
	struct xk_asked a = { .of = n->rep[0], .could = true };

	return upi_ask(n->rep[0], op, &a, sizeof a) == XK_OK;
}

/* ---- a node's life --------------------------------------------------------------------- */

/* Of all VPs together; err: the first one's. */
struct stay { struct xk_node *n; struct xk_errs *e; int err; bool orphans, layer; };

static void stay_failed(struct stay *st, int err)
{
	int none = XK_OK;

	if (err != XK_OK)
		(void)xk_atomic_cas(&st->err, &none, err);
}

static void rep_make(struct xk_vp *vp, void *arg)
{
	struct stay *st = arg;
	struct xk_node *n = st->n;
	int err = upi_rep_new(n, vp);

	if (err == XK_OK && n->proto->ops->rep_init != NULL && (err = n->proto->ops->rep_init(n->rep[vp->no])) != XK_OK) {
		upi_rep_free(n->rep[vp->no]);
		n->rep[vp->no] = NULL;
	}
	stay_failed(st, err);
}

static void rep_end(struct xk_vp *vp, void *arg)
{
	struct stay *st = arg;
	struct xk_rep *r = st->n->rep[vp->no];

	if (r == NULL)                   /* not made, for want of memory */
		return;
	if (r->ops->rep_fini != NULL)
		r->ops->rep_fini(r);
	st->n->rep[vp->no] = NULL;
	upi_rep_free(r);
}

static void reps_end(struct xk_node *n)
{
	struct stay st = { .n = n };

	upi_each_vp(n->graph, rep_end, &st);
}

/* Enables that are on their way back to their slab are waited for; there are none mostly. */
static void enables_back(struct xk_node *n)
{
	uint32_t live;

	xk_mutex_lock(&n->graph->structure);
	live = n->enables.live;
	xk_mutex_unlock(&n->graph->structure);
	if (live != 0)
		xk_rcu_barrier();
}

/* Its init has succeeded. */
static void node_end(struct xk_node *n)
{
	reps_end(n);
	enables_back(n);
	if (n->proto->ops->fini != NULL)
		n->proto->ops->fini(n);
	xk_passive_fini(&n->passive);
	enables_back(n);
	n->enables.live = 0;
	xk_slab_fini(&n->enables);
}

static int node_begin(struct xk_node *n, struct xk_errs *e)
{
	struct stay st = { .n = n, .e = e };
	int err = xk_passive_init(&n->passive);

	if (err != XK_OK)
		return err;
	xk_slab_init(&n->enables, sizeof(struct xk_enable));
	err = n->proto->ops->init != NULL ? n->proto->ops->init(n, e) : XK_OK;
	if (err != XK_OK) {
		xk_passive_fini(&n->passive);
		xk_slab_fini(&n->enables);
		return err;
	}
	upi_each_vp(n->graph, rep_make, &st);
	if (st.err != XK_OK)
		node_end(n);
	return st.err;
}

static void complain(const struct xk_node *n, struct xk_errs *e, unsigned before, const char *what, int err)
{
	if (xk_errs_count(e) == before)
		xk_errs_add(e, n->file, n->line, 0, "%s: %s failed: %s", n->name, what, xk_strerror(err));
}

static void slot_free(struct xk_node *n)
{
	struct xk_graph *g = n->graph;

	g->node[n->no] = NULL;
	while (g->nslots > g->nnodes && g->node[g->nslots - 1] == NULL)
		g->nslots--;
	upi_node_free(n);
}

static struct xk_node *slot_take(struct xk_graph *g, struct xk_want *w, struct xk_errs *e, int *err)
{
	unsigned at = free_slot(g);
	struct xk_node *n = NULL;

	*err = at == 0 ? XK_E_NOSPC : XK_E_NOMEM;
	if (at != 0)
		n = upi_node_new(g, w->proto, w->name, w->file);
	if (n == NULL) {
		xk_errs_add(e, w->file, w->line, 0, "%s: %s", w->name, at == 0 ?
			    "256 nodes have come while the graph ran and are there yet: end the run and start it with this file" :
			    "out of memory");
		return NULL;
	}
	n->late = true;
	n->came = ++g->ncame;
	n->no = (uint16_t)at;
	n->line = w->line;
	n->conf = w->conf;
	w->conf = NULL;
	g->node[at] = n;
	if (at >= g->nslots)
		g->nslots = at + 1;
	return n;
}

struct xk_node *upi_late_make(struct xk_graph *g, struct xk_want *w, struct xk_node *const *down, struct xk_errs *e,
			      int *err)
{
	unsigned before = xk_errs_count(e);
	struct xk_node *n = slot_take(g, w, e, err);

	if (n == NULL)
		return NULL;
	for (unsigned i = 0; i < w->ndown; i++)
		n->down[i] = down[i];
	n->ndown = w->ndown;
	n->anywhere = w->proto->anywhere == XK_ANYWHERE;
	*err = node_begin(n, e);
	if (*err == XK_OK)
		return n;
	complain(n, e, before, "making it", *err);
	slot_free(n);
	return NULL;
}

/* ---- nobody ------------------------------------------------------------------------------ */

/* Counted where it came from. */
static void orphan_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	(void)up;
	xk_drop(lls->rep, XK_DROP_UNSUPPORTED, m);
}

static const struct xk_ops nobody_ops = { .demux = orphan_demux };
static const struct xk_proto nobody_proto = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "nobody", .doc = "receives for those who have gone",
	.ops = &nobody_ops,
};

static void nobody_free(struct xk_graph *g)
{
	if (g->nobody == NULL)
		return;
	reps_end(g->nobody);
	upi_node_free(g->nobody);
	g->nobody = NULL;
}

int upi_nobody_make(struct xk_graph *g)
{
	struct stay st = { .n = g->nobody };

	if (g->nobody != NULL)
		return XK_OK;
	st.n = upi_node_new(g, &nobody_proto, "nobody", NULL);
	if (st.n == NULL)
		return XK_E_NOMEM;
	st.n->late = true;
	g->nobody = st.n;
	upi_each_vp(g, rep_make, &st);
	if (st.err != XK_OK)
		nobody_free(g);
	return st.err;
}

bool xk_sess_is_orphan(struct xk_sess *s)
{
	const struct xk_node *nobody = s->rep->node->graph->nobody;

	return nobody != NULL && s->up == &nobody->rep[s->rep->no]->up;
}

/* ---- what was received by ------------------------------------------------------------------ */

struct xk_sess *upi_own_over(const struct xk_node *n, struct xk_sess *below)
{
	struct xk_rep *r = n->rep[below->rep->no];

	if (below->up == NULL || below->up->rep != r)
		return NULL;
	if (below->up != &r->up)
		return xk_container_of(below->up, struct xk_sess, self);
	return r->drv_sess != NULL && r->drv_sess->down == below ? r->drv_sess : NULL;
}

struct orphans { const struct xk_node *gone; struct xk_rep *below; bool layer; };

static void orphan_sess(void *o, void *arg)
{
	const struct orphans *w = arg;
	struct xk_sess *s = o;

	if (s->rep == NULL || s->up == NULL)
		return;
	/* What sessions of a layer receive is passed on, as long as they are held. */
	if (w->layer ? s->up == &w->gone->rep[w->below->no]->up && upi_own_over(w->gone, s) == NULL :
	    s->up->rep == w->gone->rep[w->below->no] || s->type == w->gone->no + 1)
		s->up = &w->gone->graph->nobody->rep[w->below->no]->up;
}

/* Layers that have no header open what is below them with the type of who is above. */
static void orphan_below(const struct xk_node *gone, struct xk_node *n, unsigned vp, bool layer)
{
	struct orphans w = { .gone = gone, .below = n->rep[vp], .layer = layer };
	struct xk_orphans o = { .a = { .of = n->rep[vp] } };
	uint64_t at = 0;

	while (xk_slab_walk(&upi_rep(w.below)->slab, &at, UINT32_MAX, orphan_sess, &w))
		;
	(void)upi_ask(w.below, XK_CTL_ORPHANS, &o, sizeof o);
	for (unsigned i = 0; !layer && n->proto->demux != NULL && n->proto->demux->through && i < n->ndown; i++)
		orphan_below(gone, n->down[i], vp, false);
}

/* ---- start and stop -------------------------------------------------------------------------- */

static void rep_start(struct xk_vp *vp, void *arg)
{
	struct stay *st = arg;

	st->err = st->n->proto->ops->rep_start(st->n->rep[vp->no], st->e);
}

static void rep_stop(struct xk_vp *vp, void *arg)
{
	struct stay *st = arg;

	if (st->n->proto->ops->rep_stop != NULL)
		st->n->proto->ops->rep_stop(st->n->rep[vp->no]);
	for (unsigned i = 0; st->orphans && i < st->n->ndown; i++)
		orphan_below(st->n, st->n->down[i], vp->no, st->layer);
}

/* And, of a graph that goes on: what it received by. */
static void reps_stop(struct xk_node *n, bool orphans, bool layer)
{
	struct stay st = { .n = n, .orphans = orphans, .layer = layer };

	upi_each_vp(n->graph, rep_stop, &st);
}

void upi_late_stop(struct xk_node *n)
{
	if (n->proto->ops->stop != NULL)
		n->proto->ops->stop(n);
	xk_rcu_synchronize();            /* nobody opens for it any more */
	reps_stop(n, true, false);
}

void upi_late_leave(struct xk_node *n)
{
	reps_stop(n, true, true);
}

int upi_late_start(struct xk_node *n, struct xk_errs *e)
{
	struct stay st = { .n = n, .e = e };
	unsigned before = xk_errs_count(e);

	st.err = n->proto->ops->start != NULL ? n->proto->ops->start(n, e) : XK_OK;
	if (st.err == XK_OK && n->proto->ops->rep_start != NULL) {
		for (unsigned v = 0; st.err == XK_OK && v < n->graph->vps->nvps; v++)
			xk_vp_do(n->rep[v]->vp, rep_start, &st);
		if (st.err != XK_OK)
			upi_late_stop(n);
	}
	if (st.err != XK_OK)
		complain(n, e, before, "starting", st.err);
	return st.err;
}

/* ---- the end ------------------------------------------------------------------------------------- */

static uint64_t sessions_of(const struct xk_node *n)
{
	uint64_t live = 0;

	for (unsigned v = 0; v < n->graph->vps->nvps; v++)
		live += n->rep[v] != NULL ? xk_rep_sessions(n->rep[v]) : 0;
	return live;
}

/* Who counts what the run did asks it, and through it nobody else, once nobody has a session of it. */
static void bury(struct xk_node *n)
{
	n->ndown = 0;
	for (unsigned v = 0; v < n->graph->vps->nvps; v++)
		for (unsigned i = 0; i < XK_DOWN_MAX; i++)
			n->rep[v]->down[i] = NULL;
}

bool upi_late_end(struct xk_node *n)
{
	n->gone = true;
	if (sessions_of(n) != 0)
		return false;
	if (n->is_short) {
		n->graph->nshort--;
		upi_count_captures(n->graph, UINT32_MAX);
		n->is_short = false;
	}
	if (n->late) {
		node_end(n);
		slot_free(n);
	} else {
		bury(n);
	}
	return true;
}

void upi_late_reap(struct xk_graph *g)
{
	for (unsigned i = xk_graph_slots(g); i-- > 0;)
		if (g->node[i] != NULL && g->node[i]->gone)
			(void)upi_late_end(g->node[i]);
}

/* ---- with the graph ---------------------------------------------------------------------------------- */

void upi_late_stop_all(struct xk_graph *g)
{
	for (unsigned i = g->nslots; i-- > g->nnodes;) {
		struct xk_node *n = g->node[i];

		if (n == NULL || n->gone)
			continue;
		reps_stop(n, false, false);
		if (n->proto->ops->stop != NULL)
			n->proto->ops->stop(n);
	}
}

uint64_t upi_late_free_all(struct xk_graph *g)
{
	uint64_t leaked = 0;

	for (unsigned i = g->nslots; i-- > g->nnodes;) {
		struct xk_node *n = g->node[i];

		if (n == NULL)
			continue;
		leaked += sessions_of(n);
		node_end(n);
		slot_free(n);
	}
	nobody_free(g);
	return leaked;
}
