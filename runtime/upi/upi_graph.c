/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upi_graph.c - a graph of protocol objects: assembled, brought up in stages,
 * taken down by undoing exactly the stages that were reached.
 *
 * Bring-up runs bottom-up on the control thread: init, replicas, classifiers,
 * start, rep_start; run, when the workers do.  Take-down is the mirror image, top-down.
 * Invariant: node[i] lies only over nodes of smaller number.
 */
#include "runtime/upi/upi_charge.h"
#include "runtime/upi/upi_priv.h"
#include "runtime/upi/xk_change.h"

#include <stdio.h>
#include <string.h>

/* How far a graph got; ORDER STAGE: graph_undo mirrors xk_graph_up and xk_graph_run. */
enum { STAGE_NEW, STAGE_INIT, STAGE_REPS, STAGE_START, STAGE_LIVE };

/* ---- making --------------------------------------------------------------------- */

static void deliver(struct xk_vp *vp, struct xk_msg *m)
{
	struct xk_upivp *u = upi_vp(vp);
	struct xk_node *n = u->graph->node[m->node];
	struct xk_rep *r = n->rep[vp->no];

	if (XK_UNLIKELY(r->vp != vp)) {  /* of another layer */
		xk_vp_post(r->vp, m);
		return;
	}
	if (n->classifier == NULL)
		m->u.hint = u->scratch;
	if (n->proto->ops->enter != NULL)
		n->proto->ops->enter(r, m);
	else
		xk_drop(r, XK_DROP_UNSUPPORTED, m);
}

static int make_upivps(struct xk_graph *g)
{
	for (unsigned i = 0; i < g->vps->nall; i++) {
		struct xk_upivp *u = xk_alloc(sizeof *u);

		if (u == NULL)
			return XK_E_NOMEM;
		u->graph = g;
		for (unsigned k = 0; k < XK_SCRATCH - 1; k++)
			u->scratch[k] = &xk_sess_none;
		u->scratch[XK_SCRATCH - 1] = &xk_sess_end;
		g->vps->all[i]->owner = u;
	}
	return XK_OK;
}

static void free_upivp(struct xk_vp *vp)
{
	struct xk_upivp *u = upi_vp(vp);

	if (u != NULL) {
		xk_free(u->posted);
		upi_threads_fini(u);
	}
	xk_free(u);
}

static int copy_conn_map(struct xk_graph *g, const struct xk_graph_conf *c, struct xk_errs *e)
{
	uint16_t *map;

	if (c->nconn_map == 0)
		return XK_OK;
	map = xk_alloc(c->nconn_map * sizeof *map);
	if (map == NULL)
		return XK_E_NOMEM;
	g->conn_map = map;
	g->nconn_map = c->nconn_map;
	for (unsigned i = 0; i < c->nconn_map; i++) {
		map[i] = c->conn_map[i];
		if (map[i] >= g->vps->nconn) {
			xk_errs_add(e, NULL, 0, 0, "the map of connections names virtual processor %u, "
				    "but there are only %u", map[i] + 1u, g->vps->nconn);
			return XK_E_INVAL;
		}
	}
	return XK_OK;
}

static int copy_layers(struct xk_graph *g, const struct xk_graph_conf *c)
{
	if (c->nlayers == 0)
		return XK_OK;
	g->layers = xk_alloc(c->nlayers * sizeof *g->layers);
	if (g->layers == NULL)
		return XK_E_NOMEM;
	for (; g->nlayers < c->nlayers; g->nlayers++) {
		g->layers[g->nlayers] = xk_strdup(c->layers[g->nlayers]);
		if (g->layers[g->nlayers] == NULL)
			return XK_E_NOMEM;
	}
	return XK_OK;
}

int xk_graph_new(struct xk_graph **out, const struct xk_graph_conf *c, struct xk_errs *e)
{
	struct xk_graph *g = xk_alloc(sizeof *g);
	int err;

	if (g == NULL) {
		xk_errs_add(e, NULL, 0, 0, "out of memory for the graph");
		return XK_E_NOMEM;
	}
	err = xk_rcu_start();
	if (err != XK_OK) {
		xk_errs_add(e, NULL, 0, 0, "cannot start a thread: %s: a higher limit is needed (ulimit -u)", strerror(-err));
		xk_free(g);
		return err;
	}
	xk_mutex_init(&g->structure);
	xk_lock_rw.init(&g->binding);
	g->name = xk_strdup(c->name ? c->name : "graph");
	g->seed = c->arch.seed;
	g->done.fd = -1;
	err = g->name ? xk_event_init(&g->done) : XK_E_NOMEM;
	if (err == XK_OK)
		err = xk_vpset_new(&g->vps, &c->arch, &c->mem, e);
	if (err == XK_OK) {
		g->vps->owner = g;
		g->vps->deliver = deliver;
		err = make_upivps(g);
	}
	if (err == XK_OK)
		err = copy_conn_map(g, c, e);
	if (err == XK_OK)
		err = copy_layers(g, c);
	if (err == XK_OK)
		err = xk_flowtab_new(&g->flows, g->vps->nconn);
	if (err != XK_OK) {
		if (xk_errs_count(e) == 0)
			xk_errs_add(e, NULL, 0, 0, "%s for the graph", xk_strerror(err));
		xk_graph_free(g);
		return err;
	}
	*out = g;
	return XK_OK;
}

static int grow_nodes(struct xk_graph *g)
{
	struct xk_node **more;

	if (g->nnodes > UINT16_MAX)
		return XK_E_NOSPC;
	if (g->nnodes < g->room)
		return XK_OK;
	more = xk_alloc(2 * (g->room + 1) * sizeof *more);
	if (more == NULL)
		return XK_E_NOMEM;
	if (g->nnodes != 0)
		memcpy(more, g->node, g->nnodes * sizeof *more);
	xk_free(g->node);
	g->node = more;
	g->room = 2 * (g->room + 1);
	return XK_OK;
}

int xk_graph_add(struct xk_graph *g, const struct xk_proto *p, const char *name, void *conf,
		 struct xk_node *const *down, unsigned ndown, const char *file, int line,
		 struct xk_node **out)
{
	struct xk_node *n = NULL;
	int err;

	if (p->abi != XK_ABI || ndown > XK_DOWN_MAX) {
		err = XK_E_INVAL;
		goto fail;
	}
	err = grow_nodes(g);
	if (err == XK_OK && (n = upi_node_new(g, p, name, file)) == NULL)
		err = XK_E_NOMEM;
	if (err != XK_OK)
		goto fail;
	n->conf = conf;
	n->line = line;
	n->no = (uint16_t)g->nnodes;
	n->nth_edge = g->nedges;
	g->nedges += xk_node_is_edge(n);
	for (unsigned i = 0; i < ndown; i++)
		n->down[i] = down[i];
	n->ndown = ndown;
	g->node[g->nnodes++] = n;
	if (out != NULL)
		*out = n;
	return XK_OK;
fail:
	if (conf != NULL && p->abi == XK_ABI && p->params != NULL)
		xk_param_release(p->params, conf);
	xk_free(conf);
	return err;
}

/* ---- stages ---------------------------------------------------------------------------- */

static void complain(const struct xk_node *n, struct xk_errs *e, unsigned before, const char *what, int err)
{
	if (xk_errs_count(e) == before)
		xk_errs_add(e, n->file, n->line, 0, "%s: %s failed: %s", n->name, what, xk_strerror(err));
}

static int stage_init(struct xk_graph *g, struct xk_errs *e, unsigned *reached)
{
	for (; *reached < g->nnodes; ++*reached) {
		struct xk_node *n = g->node[*reached];
		unsigned before = xk_errs_count(e);
		int err = xk_passive_init(&n->passive);

		if (err != XK_OK) {
			complain(n, e, before, "setting up", err);
			return err;
		}
		xk_slab_init(&n->enables, sizeof(struct xk_enable));
		err = n->proto->ops->init ? n->proto->ops->init(n, e) : XK_OK;
		if (err != XK_OK) {
			xk_passive_fini(&n->passive);
			xk_slab_fini(&n->enables);
			complain(n, e, before, "setting up", err);
			return err;
		}
	}
	return XK_OK;
}

/* One replica, inside its VP. */
static int rep_up(struct xk_node *n, struct xk_vp *vp)
{
	int err = upi_rep_new(n, vp);

	if (err != XK_OK || n->proto->ops->rep_init == NULL)
		return err;
	xk_vp_enter_idle(vp);
	err = n->proto->ops->rep_init(n->rep[vp->no]);
	xk_vp_leave_idle(vp);
	if (err != XK_OK) {
		upi_rep_free(n->rep[vp->no]);
		n->rep[vp->no] = NULL;
	}
	return err;
}

static int make_classifier(struct xk_node *n, struct xk_errs *e)
{
	struct xk_rep *r = n->rep[0];
	char why[256];
	int res;

	if (!xk_node_is_edge(n) || n->proto->ops->control == NULL)
		return XK_OK;
	xk_vp_enter_idle(r->vp);
	res = n->proto->ops->control(r, XK_CTL_LINK_TYPE, &n->link, sizeof n->link);
	xk_vp_leave_idle(r->vp);
	if (res < 0)
		return XK_OK;
	res = xk_node_classify(n, why, sizeof why);
	if (res != XK_OK)
		xk_errs_add(e, n->file, n->line, 0, "%s: no classifier: %s", n->name, why);
	return res;
}

static int stage_reps(struct xk_graph *g, struct xk_errs *e)
{
	for (unsigned i = 0; i < g->nnodes; i++) {
		struct xk_node *n = g->node[i];
		unsigned before = xk_errs_count(e);
		int err = XK_OK;

		for (unsigned v = 0; err == XK_OK && v < g->vps->nvps; v++)
			err = rep_up(n, upi_vp_for(n, v));
		if (err == XK_OK)
			err = make_classifier(n, e);
		if (err != XK_OK) {
			complain(n, e, before, "making its replicas", err);
			return err;
		}
	}
	return XK_OK;
}

static int stage_start(struct xk_graph *g, struct xk_errs *e, unsigned *reached)
{
	for (; *reached < g->nnodes; ++*reached) {
		struct xk_node *n = g->node[*reached];
		unsigned before = xk_errs_count(e);
		int err = n->proto->ops->start ? n->proto->ops->start(n, e) : XK_OK;

		if (err != XK_OK) {
			complain(n, e, before, "starting", err);
			return err;
		}
	}
	return XK_OK;
}

static int stage_live(struct xk_graph *g, struct xk_errs *e)
{
	for (unsigned i = 0; i < g->nnodes; i++) {
		struct xk_node *n = g->node[i];
		unsigned before = xk_errs_count(e);
		int err = XK_OK;

		if (n->proto->ops->rep_start == NULL)
			continue;
		for (unsigned v = 0; err == XK_OK && v < g->vps->nvps; v++) {
			xk_vp_enter_idle(n->rep[v]->vp);
			err = n->proto->ops->rep_start(n->rep[v], e);
			xk_vp_leave_idle(n->rep[v]->vp);
		}
		if (err != XK_OK) {
			complain(n, e, before, "starting", err);
			return err;
		}
	}
	return XK_OK;
}

int xk_graph_up(struct xk_graph *g, struct xk_errs *e)
{
	int err = g->vps->pipeline != NULL ? upi_layers_attach(g, e) : XK_OK;

	if (err == XK_OK)
		err = xk_graph_filter(g, e);
	if (err == XK_OK && (err = upi_late_room(g)) != XK_OK)
		xk_errs_add(e, NULL, 0, 0, "out of memory for the graph's nodes");
	upi_anywhere(g);
	if (err == XK_OK)
		upi_threads_attach(g);
	if (err == XK_OK)
		err = upi_charge_attach(g, e);
	if (err == XK_OK && g->vps->arch.objects == XK_OBJECTS_LAYER && (err = upi_locks_attach(g)) != XK_OK)
		xk_errs_add(e, NULL, 0, 0, "out of memory for the locks of layers");
	if (err != XK_OK)
		return err;
	g->stage = STAGE_INIT;
	err = stage_init(g, e, &g->ninit);
	if (err != XK_OK)
		return err;
	g->stage = STAGE_REPS;
	err = stage_reps(g, e);
	if (err != XK_OK)
		return err;
	g->stage = STAGE_START;
	err = stage_start(g, e, &g->nstarted);
	if (err != XK_OK)
		return err;
	g->stage = STAGE_LIVE;
	return stage_live(g, e);
}

static int stage_run(struct xk_graph *g, struct xk_errs *e)
{
	for (; g->nrun < g->nnodes; g->nrun++) {
		struct xk_node *n = g->node[g->nrun];
		unsigned before = xk_errs_count(e);
		int err = n->proto->ops->run ? n->proto->ops->run(n, e) : XK_OK;

		if (err != XK_OK) {
			complain(n, e, before, "starting its threads", err);
			return err;
		}
	}
	return XK_OK;
}

int xk_graph_run(struct xk_graph *g, struct xk_errs *e)
{
	int err = xk_vpset_start(g->vps, e);

	return err == XK_OK && !g->vps->clock.is_virtual ? stage_run(g, e) : err;
}

/* ---- taking down ------------------------------------------------------------------------- */

/* While the workers run: threads that wait for them get what they wait for. */
static void undo_run(struct xk_graph *g)
{
	while (g->nrun > 0) {
		struct xk_node *n = g->node[--g->nrun];

		if (n->proto->ops->halt != NULL)
			n->proto->ops->halt(n);
	}
}

static void undo_live(struct xk_graph *g)
{
	for (unsigned i = g->nnodes; i-- > 0;) {
		struct xk_node *n = g->node[i];

		if (n->proto->ops->rep_stop == NULL || n->gone)
			continue;
		for (unsigned v = 0; v < g->vps->nvps; v++) {
			xk_vp_enter_idle(n->rep[v]->vp);
			n->proto->ops->rep_stop(n->rep[v]);
			xk_vp_leave_idle(n->rep[v]->vp);
		}
	}
}

static void undo_start(struct xk_graph *g)
{
	while (g->nstarted > 0) {
		struct xk_node *n = g->node[--g->nstarted];

		if (n->proto->ops->stop != NULL && !n->gone)
			n->proto->ops->stop(n);
	}
}

static uint64_t undo_reps(struct xk_graph *g)
{
	uint64_t leaked = 0;

	for (unsigned i = g->nnodes; i-- > 0;) {
		struct xk_node *n = g->node[i];

		for (unsigned v = 0; v < g->vps->nvps; v++) {
			if (n->rep[v] == NULL)
				continue;
			if (n->proto->ops->rep_fini != NULL) {
				struct xk_vp *vp = n->rep[v]->vp;

				xk_vp_enter_idle(vp);
				n->proto->ops->rep_fini(n->rep[v]);
				xk_vp_leave_idle(vp);
			}
			leaked += upi_rep_free(n->rep[v]);
			n->rep[v] = NULL;
		}
		xk_classifier_free(n->classifier);
		n->classifier = NULL;
	}
	return leaked;
}

static void undo_init(struct xk_graph *g)
{
	xk_rcu_barrier();                /* enables on their way back to their slabs */
	for (unsigned i = g->ninit; i-- > 0;) {
		struct xk_node *n = g->node[i];

		if (n->proto->ops->fini != NULL)
			n->proto->ops->fini(n);
		xk_passive_fini(&n->passive);
	}
	xk_rcu_barrier();                /* and those of the last moment */
	while (g->ninit > 0) {
		struct xk_node *n = g->node[--g->ninit];

		n->enables.live = 0;
		xk_slab_fini(&n->enables);
	}
}

/* Messages still under way between VPs and in deferral queues are run once
 * more by nobody: they are freed when the VPs go. */
static uint64_t graph_undo(struct xk_graph *g)
{
	uint64_t leaked = 0;

	undo_run(g);
	xk_vpset_stop(g->vps);
	if (g->stage >= STAGE_LIVE) {
		upi_late_stop_all(g);
		undo_live(g);
	}
	if (g->stage >= STAGE_START)
		undo_start(g);
	leaked = upi_late_free_all(g);
	if (g->stage >= STAGE_REPS)
		leaked += undo_reps(g);
	if (g->stage >= STAGE_INIT)
		undo_init(g);
	return leaked;
}

/* Messages that came to another VP than their connection's: a classifier or a hand-over lied. */
static uint64_t astray(const struct xk_graph *g)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < g->vps->nall; i++)
		n += xk_counter_read(g->vps->all[i]->wrong_vp);
	if (n != 0 && g->nnodes != 0)
		XK_TRACE(&g->node[0]->log, 1, "%llu messages came to another virtual processor than their connection's",
			 (unsigned long long)n);
	return n;
}

uint64_t xk_graph_free(struct xk_graph *g)
{
	uint64_t leaked = 0;

	if (g == NULL)
		return 0;
	if (g->vps != NULL) {
		leaked = graph_undo(g) + astray(g);
		for (unsigned i = 0; i < g->vps->nall; i++)
			free_upivp(g->vps->all[i]);
		leaked += xk_vpset_free(g->vps);
	}
	upi_meter_free(g);
	for (unsigned i = 0; i < g->nnodes; i++)
		upi_node_free(g->node[i]);
	xk_free(g->node);
	if (g->flows != NULL)
		xk_flowtab_free(g->flows);
	if (g->done.fd >= 0)
		xk_event_fini(&g->done);
	while (g->nlayers > 0)
		xk_free(g->layers[--g->nlayers]);
	xk_free(g->layers);
	xk_free((void *)(uintptr_t)g->conn_map);
	xk_free((char *)(uintptr_t)g->name);
	xk_lock_rw.fini(&g->binding);
	xk_mutex_fini(&g->structure);
	xk_free(g);
	return leaked;
}

/* ---- questions ------------------------------------------------------------------------------ */

struct xk_node *xk_graph_find(const struct xk_graph *g, const char *name)
{
	for (unsigned i = 0; i < xk_graph_slots(g); i++)
		if (xk_graph_slot(g, i) != NULL && strcmp(g->node[i]->name, name) == 0)
			return g->node[i];
	return NULL;
}

static bool lies_over_it(const struct xk_node *above, const struct xk_node *n)
{
	for (unsigned i = 0; i < above->ndown; i++)
		if (above->down[i] == n)
			return true;
	return false;
}

static unsigned add_beside(const struct xk_node *n, struct xk_node *x, struct xk_node **out, unsigned have, unsigned most)
{
	if (x == n || x->proto != n->proto || x->late || have == most)
		return have;
	for (unsigned i = 0; i < have; i++)
		if (out[i] == x)
			return have;
	out[have] = x;
	return have + 1;
}

unsigned xk_node_beside(const struct xk_node *n, struct xk_node **out, unsigned most)
{
	const struct xk_graph *g = n->graph;
	unsigned have = 0;

	for (unsigned i = 0; i < xk_graph_slots(g); i++) {
		const struct xk_node *above = xk_graph_slot(g, i);

		if (above == NULL || !lies_over_it(above, n))
			continue;
		for (unsigned d = 0; d < above->ndown; d++)
			have = add_beside(n, above->down[d], out, have, most);
	}
	return have;
}

struct xk_vp *xk_graph_vp_of(const struct xk_graph *g, uint64_t conn)
{
	unsigned v = g->conn_map != NULL ? g->conn_map[conn % g->nconn_map] : (unsigned)(conn % g->vps->nconn);

	/* Whoever asks inside a stage of the connection's pipeline wants to hear of itself. */
	if (g->vps->pipeline != NULL && xk_vp_self != NULL && xk_vp_self->set == g->vps && xk_vp_self->no == v)
		return xk_vp_self;
	return g->vps->vp[v];
}

struct xk_vp *xk_node_reader(const struct xk_node *n)
{
	struct xk_vp *vp = xk_vpset_io(n->graph->vps, n->nth_edge);

	return vp != NULL ? vp : upi_vp_for(n, 0);
}

void xk_graph_will_finish(struct xk_graph *g)
{
	(void)xk_atomic_add(&g->napps, 1u);
}

void xk_graph_finished(struct xk_graph *g)
{
	if (xk_atomic_add(&g->ndone, 1u) + 1 >= xk_load_acquire(&g->napps))
		xk_event_wake(&g->done);
}

void xk_node_failed(struct xk_node *n, const char *why)
{
	const char *none = NULL;

	if (!xk_atomic_cas(&n->failure, &none, why))
		return;
	if (xk_vp_self != NULL)
		xk_vp_record(xk_vp_self, XK_REC_FAILED, n->no, 0, 0, 0);
	if (!xk_node_is_edge(n))
		return;
	(void)xk_atomic_add(&n->graph->nlost, 1u);
	if (xk_graph_cut_off(n->graph))
		xk_event_wake(&n->graph->done);
}

void xk_node_gives_up(struct xk_node *n, const char *why)
{
	xk_node_failed(n, why);
	xk_store_release(&n->graph->gave_up, true);
	xk_event_wake(&n->graph->done);
}

bool xk_graph_gave_up(const struct xk_graph *g)
{
	return xk_load_acquire(&g->gave_up);
}

const char *xk_node_failure(const struct xk_node *n)
{
	return xk_load_acquire(&n->failure);
}

bool xk_graph_cut_off(const struct xk_graph *g)
{
	uint32_t lost = xk_load_acquire(&g->nlost);

	return lost != 0 && lost == g->nedges;
}
