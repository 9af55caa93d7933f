/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upi_change.c - a graph is changed while it runs: what is wanted is compared with what is there, refused
 * where it cannot be had, and done in steps each of which can be undone.
 *
 * The steps: nodes that come are made; memory is got for what will be exchanged; applications that come start.
 * Until then all that was there is as it was, and whatever fails is undone backwards.  Only then do
 * applications that go end and layers between nodes that stay change, seat by seat (upi_seat.c), which cannot
 * fail.
 * Invariant: when xk_graph_change returns an error, no message has gone or will go another way than without
 * it.
 */
#include "runtime/mem/xk_shared.h"
#include "runtime/upi/upi_priv.h"

#include <string.h>

#include "runtime/upi/xk_app.h"
#include "runtime/upi/xk_change.h"
#include "runtime/upi/xk_move.h"

struct change {
	struct xk_graph *g;
	struct xk_want  *w;
	unsigned         n;
	struct xk_errs  *e;
	struct xk_node **made;           /* [n]: those that stay, and those that have come */
	struct upi_seat *seat;
	unsigned         nseats, nmade, nprepared, nstarted;
};

/* ---- what is what ------------------------------------------------------------------------ */

/* Passes messages on as they are: what devices know of headers stays right. */
static bool is_layer(const struct xk_proto *p)
{
	return p->offers != NULL && p->demux != NULL && p->demux->through && p->min_down == 1 && p->max_down == 1;
}

/* Hands on what is enabled above it, and remembers for whom, or has no sessions and knows of nothing itself. */
static bool hands_on(const struct xk_proto *p)
{
	return (p->demux != NULL && p->demux->through) || (!p->is_driver && p->ops->open_enable != NULL && p->sess_size == 0);
}

/* Ports are bound and given up while it runs, by threads of its own or of a program, and a change is not waited for
 * (xk_binding_begin). */
static bool binds_meanwhile(const struct xk_node *n)
{
	return (n->proto->ops->run != NULL || n->proto->ops->halt != NULL) && !upi_can(n, XK_CTL_MOVE);
}

static bool is_application(const struct xk_proto *p)
{
	return p->offers == NULL && !p->is_driver;
}

static bool stays(const struct change *c, const struct xk_node *n)
{
	for (unsigned i = 0; i < c->n; i++)
		if (c->w[i].is == n)
			return true;
	return false;
}

/* Once those that come are made. */
static bool goes(const struct change *c, const struct xk_node *n)
{
	for (unsigned i = 0; i < c->nmade; i++)
		if (c->made[i] == n)
			return false;
	return !stays(c, n);
}

static int refuse(struct change *c, const char *file, int line, const char *name, const char *why)
{
	xk_errs_add(c->e, file, line, 0, "%s %s: end the run and start it with this file", name, why);
	return XK_E_INVAL;
}

/* ---- may it be at all? ---------------------------------------------------------------------- */

static const char *kind_fault(const struct xk_proto *p)
{
	if (is_layer(p))
		return p->ops->enter != NULL ? "has messages left for later, which name it" : NULL;
	if (p->ops->run != NULL || p->ops->halt != NULL)
		return p->ops->run != NULL ? "has threads of its own" :
		       "is called by threads of a program, which hold what it gave them";
	if (!is_application(p))
		return p->is_driver ? "is a driver: devices stay as they were opened" :
		       "has a header of its own or more than one node below, and what devices know of it stays as it was";
	return p->ops->enter != NULL ? "has messages left for later, which name it" : NULL;
}

/* Architectures that stand something at every node before the graph comes up, or count by node. */
static const char *graph_fault(const struct xk_graph *g)
{
	if (g->vps->pipeline != NULL)
		return "layers have threads, which messages wait for between two nodes";
	if (g->vps->arch.objects == XK_OBJECTS_LAYER)
		return "each layer's objects have locks of their own";
	if (g->vps->arch.threads == XK_THREADS_USER)
		return "connections have threads of their own, which may be inside any node";
	if (g->meter != NULL)
		return "each node's times are taken (--layer-times)";
	return g->vps->sim != NULL ? "processors are simulated" : NULL;
}

static int check_graph(struct change *c)
{
	const char *why = graph_fault(c->g);

	if (why != NULL)
		return refuse(c, NULL, 0, "no node can come or go where", why);
	if (xk_load_relaxed(&c->g->ncaptures) == c->g->nshort)
		return XK_OK;
	xk_errs_add(c->e, NULL, 0, 0, "no node can come or go while messages are captured or traced: end that first");
	return XK_E_INVAL;
}

/* Sessions below that a receiver leaves behind have to be given up. */
static int check_below(struct change *c, struct xk_node *n)
{
	for (unsigned i = 0; i < n->ndown; i++) {
		struct xk_node *d = n->down[i];

		if (!upi_can(d, XK_CTL_ORPHANS)) {
			xk_errs_add(c->e, n->file, n->line, 0, "%s cannot go while the graph runs: %s below keeps sessions for it and "
				    "does not give them up: end the run and start it with this file", n->name, d->name);
			return XK_E_INVAL;
		}
		if (is_layer(d->proto) && check_below(c, d) != XK_OK)
			return XK_E_INVAL;
	}
	return XK_OK;
}

static int check_goes(struct change *c, struct xk_node *n)
{
	const char *why = kind_fault(n->proto);

	if (why != NULL)
		return refuse(c, n->file, n->line, n->name, why);
	return is_layer(n->proto) ? XK_OK : check_below(c, n);
}

/* For what went in its place: that is one error. */
static bool is_refused(const struct change *c, const struct xk_want *w)
{
	const struct xk_node *was = xk_graph_find(c->g, w->name);

	return was != NULL && was->proto == w->proto && kind_fault(was->proto) != NULL;
}

static int check_comes(struct change *c, const struct xk_want *w)
{
	const char *why = kind_fault(w->proto);

	if (why == NULL && c->g->vps->arch.datagrams == XK_DATAGRAMS_ANYWHERE && w->proto->anywhere != XK_ANYWHERE)
		why = "takes no datagrams that belong to no virtual processor, which this threading has (datagrams = \"anywhere\")";
	return why != NULL ? refuse(c, w->file, w->line, w->name, why) : XK_OK;
}

/* ---- seats ---------------------------------------------------------------------------------- */

static int seat_fault(struct change *c, const struct xk_want *w, const char *why)
{
	return refuse(c, w->file, w->line, w->name, why);
}

/* Numbers of wants stand in for nodes that are yet to come: at these places of s->in. */
static int seat_ins(struct change *c, const struct xk_want *w, unsigned way, struct upi_seat *s, unsigned *no)
{
	unsigned at = w->down[way];

	for (; c->w[at].is == NULL; at = c->w[at].down[0]) {
		if (!is_layer(c->w[at].proto) || s->nin == UPI_BETWEEN)
			return seat_fault(c, w, s->nin == UPI_BETWEEN ? "would lie over more than 8 layers that come at once" :
					  "would lie over another node, and what it has open stays where it is");
		no[s->nin++] = at;
	}
	s->base = c->w[at].is;
	return XK_OK;
}

static int seat_outs(struct change *c, const struct xk_want *w, unsigned way, struct upi_seat *s)
{
	struct xk_node *n = w->is->down[way];

	for (; !stays(c, n); n = n->down[0]) {
		if (!is_layer(n->proto) || s->nout == UPI_BETWEEN)
			return seat_fault(c, w, "lies over a node that cannot go");
		s->out[s->nout++] = n;
	}
	return n == s->base ? XK_OK : seat_fault(c, w, "would lie over another node, and what it has open stays where it is");
}

/* Does anybody bind meanwhile through n? */
static bool is_bound_through(const struct change *c, const struct xk_node *n)
{
	for (unsigned i = 0; i < xk_graph_slots(c->g); i++) {
		const struct xk_node *x = xk_graph_slot(c->g, i);

		for (unsigned k = 0; x != NULL && k < x->ndown; k++)
			if (x->down[k] == n && (binds_meanwhile(x) || (hands_on(x->proto) && is_bound_through(c, x))))
				return true;
	}
	return false;
}

/* A layer keeps whom it received an enable for: it has to tell of it, and nobody may add to that or take of it, for
 * what is enabled to stay of one piece. */
static bool keeps_track(const struct change *c, const struct xk_node *n)
{
	return !hands_on(n->proto) || (upi_can(n, XK_CTL_HANDED) && !is_bound_through(c, n));
}

static int seat_stacked(struct change *c, const struct xk_want *w, const struct upi_seat *s)
{
	if (s->nin == 0 && s->nout == 0)
		return XK_OK;
	if (binds_meanwhile(s->above))
		return seat_fault(c, w, "binds and gives up ports while it runs, and would lose track of them when a layer below "
				  "it comes or goes");
	if (!keeps_track(c, s->above) || !keeps_track(c, s->base))
		return seat_fault(c, w, "is above, or one of, layers that lie on each other, of which one does not tell what is "
				  "enabled by it, or has another above it that binds and gives up ports while it runs");
	return XK_OK;
}

/* The numbers are kept until the nodes are there. */
struct seat_plan { struct upi_seat s; unsigned no[UPI_BETWEEN]; };

static int plan_seat(struct change *c, const struct xk_want *w, unsigned way, struct seat_plan *p)
{
	int err;

	*p = (struct seat_plan){ .s = { .above = w->is, .way = way } };
	err = seat_ins(c, w, way, &p->s, p->no);
	if (err == XK_OK)
		err = seat_outs(c, w, way, &p->s);
	if (err == XK_OK)
		err = seat_stacked(c, w, &p->s);
	return err;
}

static int plan_seats(struct change *c, struct seat_plan *p)
{
	int err = XK_OK;

	for (unsigned i = 0; i < c->n; i++) {
		const struct xk_want *w = &c->w[i];

		if (w->is == NULL)
			continue;
		if (w->ndown != w->is->ndown)
			return seat_fault(c, w, "would lie over more or fewer nodes");
		for (unsigned k = 0; k < w->ndown; k++) {
			int one = plan_seat(c, w, k, &p[c->nseats]);

			err = err != XK_OK ? err : one;
			c->nseats += one == XK_OK && (p[c->nseats].s.nin != 0 || p[c->nseats].s.nout != 0);
		}
	}
	return err;
}

static int check_all(struct change *c)
{
	bool any = false;
	int err = XK_OK, one;

	for (unsigned i = 0; i < xk_graph_slots(c->g); i++) {
		struct xk_node *n = xk_graph_slot(c->g, i);

		if (n == NULL || stays(c, n))
			continue;
		any = true;
		one = check_goes(c, n);
		err = err != XK_OK ? err : one;
	}
	for (unsigned i = 0; i < c->n; i++) {
		if (c->w[i].is != NULL)
			continue;
		any = true;
		one = is_refused(c, &c->w[i]) ? XK_OK : check_comes(c, &c->w[i]);
		err = err != XK_OK ? err : one;
	}
	one = any ? check_graph(c) : XK_OK;
	return err != XK_OK ? err : one;
}

/* ---- doing it -------------------------------------------------------------------------------- */

/* Can it be exchanged, too, and be put over what others hold? */
static int check_made(struct change *c, const struct xk_node *n)
{
	if (!is_layer(n->proto) || upi_can(n, XK_CTL_STAND))
		return XK_OK;
	return refuse(c, n->file, n->line, n->name, "cannot be put over sessions that others hold");
}

static int make_nodes(struct change *c)
{
	int err = XK_OK;

	for (unsigned i = 0; err == XK_OK && i < c->n; i++) {
		struct xk_want *w = &c->w[i];
		struct xk_node *down[XK_DOWN_MAX];

		c->made[i] = w->is;
		c->nmade = i + 1;
		if (w->is != NULL)
			continue;
		for (unsigned k = 0; k < w->ndown; k++)
			down[k] = c->made[w->down[k]];
		c->made[i] = upi_late_make(c->g, w, down, c->e, &err);
		if (err == XK_OK)
			err = check_made(c, c->made[i]);
	}
	return err;
}

static void unmake_nodes(struct change *c)
{
	for (unsigned i = c->nmade; i-- > 0;)
		if (c->w[i].is == NULL && c->made[i] != NULL)
			(void)upi_late_end(c->made[i]);
}

static int prepare_seats(struct change *c, struct seat_plan *p)
{
	int err = XK_OK;

	for (unsigned i = 0; err == XK_OK && i < c->nseats; i++) {
		for (unsigned k = 0; k < p[i].s.nin; k++)
			p[i].s.in[k] = c->made[p[i].no[k]];
		c->nprepared = i + 1;
		err = upi_seat_prepare(&p[i].s);
		if (err != XK_OK)
			xk_errs_add(c->e, p[i].s.above->file, p[i].s.above->line, 0, "%s: what it has open cannot be exchanged: %s",
				    p[i].s.above->name, xk_strerror(err));
	}
	return err;
}

/* Once applications that come have enabled what they wait for. */
static int adopt_all(struct change *c, struct seat_plan *p)
{
	int err = XK_OK;

	for (unsigned i = 0; err == XK_OK && i < c->nseats; i++) {
		err = upi_seat_adopt(&p[i].s);
		if (err != XK_OK)
			xk_errs_add(c->e, p[i].s.above->file, p[i].s.above->line, 0, "%s: what it waits for cannot go another way: %s",
				    p[i].s.above->name, xk_strerror(err));
	}
	return err;
}

/* Those that go, or stay after all: others may, or may not, take over what they wait for. */
static void set_going(struct change *c, bool on)
{
	for (unsigned i = 0; i < xk_graph_slots(c->g); i++) {
		struct xk_node *n = xk_graph_slot(c->g, i);

		if (n != NULL && goes(c, n))
			n->going = on;
	}
}

static int start_apps(struct change *c)
{
	int err = XK_OK;

	set_going(c, true);
	for (unsigned i = 0; err == XK_OK && i < c->n; i++) {
		if (c->w[i].is != NULL || is_layer(c->w[i].proto))
			continue;
		err = upi_late_start(c->made[i], c->e);
		c->nstarted = err == XK_OK ? i + 1 : c->nstarted;
	}
	return err;
}

static void stop_apps(struct change *c)
{
	for (unsigned i = c->nstarted; i-- > 0;)
		if (c->w[i].is == NULL && !is_layer(c->w[i].proto))
			upi_late_stop(c->made[i]);
	set_going(c, false);
}

/* Numbers say nothing of what lies over what, among those that came late. */
static bool is_under_going(const struct change *c, const struct xk_node *n)
{
	for (unsigned i = 0; i < xk_graph_slots(c->g); i++) {
		const struct xk_node *x = xk_graph_slot(c->g, i);

		for (unsigned k = 0; x != NULL && k < x->ndown; k++)
			if (x->down[k] == n && goes(c, x))
				return true;
	}
	return false;
}

/* Nothing of it can fail. */
static void end_one(struct xk_node *n, bool layer)
{
	if (layer)
		upi_late_leave(n);
	else
		upi_late_stop(n);
	if (xk_load_relaxed(&n->ends) == 1)
		xk_app_finished(n);              /* the run's end is not for it to say any more */
	(void)upi_late_end(n);
}

/* Top-down. */
static void end_gone(struct change *c, bool layers)
{
	bool below;

	do {
		below = false;
		for (unsigned i = xk_graph_slots(c->g); i-- > 0;) {
			struct xk_node *n = xk_graph_slot(c->g, i);
			bool its = n != NULL && goes(c, n) && is_layer(n->proto) == layers;

			if (its && layers && is_under_going(c, n))
				below = true;
			else if (its)
				end_one(n, layers);
		}
	} while (below);
}

/* Who sends through a layer that came asked before whether there are super-segments; it asks each time whether
 * they are seen. */
static void shorten(struct change *c)
{
	for (unsigned i = 0; i < c->n; i++) {
		struct xk_node *n = c->made[i];

		if (!n->late || n->is_short || !is_layer(n->proto) || xk_node_offers(n, "port") || xk_node_offers(n, "stream"))
			continue;
		n->is_short = true;
		c->g->nshort++;
		upi_count_captures(c->g, 1);
	}
}

/* Applications that wait for each other's connections before they send have waited. */
static void open_gates(struct change *c)
{
	struct xk_app_gate gate = { .go = true };

	for (unsigned i = 0; i < c->n; i++)
		if (c->w[i].is == NULL && !is_layer(c->w[i].proto))
			(void)upi_ask(c->made[i]->rep[0], XK_CTL_APP_GATE, &gate, sizeof gate);
}

static void finish(struct change *c, struct seat_plan *p)
{
	shorten(c);
	for (unsigned i = 0; i < xk_graph_slots(c->g); i++)
		if (xk_graph_slot(c->g, i) != NULL)
			upi_enable_keep(c->g->node[i]);
	end_gone(c, false);
	for (unsigned i = 0; i < c->nseats; i++)
		upi_seat_change(&p[i].s);
	end_gone(c, true);
	open_gates(c);
}

/* Whoever binds meanwhile waits: what is adopted is what is there when the seats change. */
static int change_seats(struct change *c, struct seat_plan *p)
{
	int err;

	xk_lock_rw.lock(&c->g->binding);
	err = adopt_all(c, p);
	if (err == XK_OK)
		finish(c, p);
	xk_lock_rw.unlock(&c->g->binding);
	return err;
}

static int change(struct change *c, struct seat_plan *p)
{
	int err = upi_nobody_make(c->g);

	if (err != XK_OK)
		xk_errs_add(c->e, NULL, 0, 0, "out of memory for the change");
	if (err == XK_OK)
		err = make_nodes(c);
	if (err == XK_OK)
		err = prepare_seats(c, p);
	if (err == XK_OK)
		err = start_apps(c);
	if (err == XK_OK)
		err = change_seats(c, p);
	if (err == XK_OK)
		return XK_OK;
	stop_apps(c);
	while (c->nprepared > 0)
		upi_seat_unprepare(&p[--c->nprepared].s);
	unmake_nodes(c);
	return err;
}

/* ---- live parameters -------------------------------------------------------------------------- */

struct setting { struct xk_rep *r; const struct xk_param *p; const void *conf; char *why; size_t n; int err; };

static void set_inside(struct xk_vp *vp, void *arg)
{
	struct setting *s = arg;

	(void)vp;
	s->err = xk_rep_set(s->r, s->p, s->conf, s->why, s->n);
}

int xk_node_set(struct xk_node *n, const struct xk_param *p, const void *conf, char *why, size_t len)
{
	struct setting s = { .p = p, .conf = conf, .why = why, .n = len };
	unsigned v, nvps = n->graph->vps->nvps;

	for (v = 0; v < nvps && s.err == XK_OK; v++) {
		s.r = n->rep[v];
		xk_vp_do(s.r->vp, set_inside, &s);
	}
	if (s.err == XK_OK) {
		xk_param_copy(p, n->conf, conf);
		return XK_OK;
	}
	s.conf = n->conf;
	for (v--; v-- > 0;) {
		s.r = n->rep[v];
		xk_vp_do(s.r->vp, set_inside, &s);
	}
	return XK_E_INVAL;
}

/* ---- the whole ------------------------------------------------------------------------------- */

int xk_graph_change(struct xk_graph *g, struct xk_want *w, unsigned n, bool look, struct xk_errs *e)
{
	struct change c = { .g = g, .w = w, .n = n, .e = e };
	struct seat_plan *p;
	unsigned ways = 1;
	int err;

	if (g->vps->shared != NULL)
		xk_shared_reuse(g->vps->shared); /* of the change before, whose end all have been told */
	upi_late_reap(g);
	for (unsigned i = 0; i < n; i++)
		ways += w[i].is != NULL ? w[i].ndown : 0;
	c.made = xk_alloc((n + 1) * sizeof *c.made);
	p = xk_alloc(ways * sizeof *p);
	if (c.made == NULL || p == NULL) {
		xk_errs_add(e, NULL, 0, 0, "out of memory for the change");
		err = XK_E_NOMEM;
	} else {
		err = check_all(&c);
		if (err == XK_OK)
			err = plan_seats(&c, p);
		if (err == XK_OK && !look)
			err = change(&c, p);
	}
	xk_free(p);
	xk_free(c.made);
	return err;
}
