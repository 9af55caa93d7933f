/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run_read.c - reads every counter of a running graph, twice, and subtracts.
 *
 * Counters are read one by one while they move, so two of them are not of
 * quite the same moment; each is exact by itself.
 */
#include "runtime/run/run_priv.h"
#include "runtime/upi/xk_part.h"

#include <string.h>

#include "runtime/mem/xk_mem.h"

/* ---- applications -------------------------------------------------------------- */

static bool ask(struct xk_rep *rep, struct xk_app_counts *c)
{
	const struct xk_ops *ops = rep->node->proto->ops;

	memset(c, 0, sizeof *c);
	return ops->control != NULL && ops->control(rep, XK_CTL_APP_COUNTS, c, sizeof *c) == (int)sizeof *c;
}

int run_find_apps(struct run *u)
{
	const struct xk_graph *g = u->g;
	struct xk_app_counts c;

	u->app = xk_alloc((size_t)g->nnodes * g->vps->nvps * sizeof *u->app + 1);
	u->total = xk_alloc(g->nnodes * sizeof *u->total + 1);
	u->seen = xk_alloc(g->nnodes * sizeof *u->seen + 1);
	if (u->app == NULL || u->total == NULL || u->seen == NULL)
		return XK_E_NOMEM;
	for (unsigned i = 0; i < g->nnodes; i++) {
		if (g->node[i]->proto->offers != NULL)
			continue;
		for (unsigned v = 0; v < g->vps->nvps; v++)
			if (ask(g->node[i]->rep[v], &c))
				u->app[u->napps++].rep = g->node[i]->rep[v];
	}
	return XK_OK;
}

static uint64_t *copy_counts(const xk_counter *from, uint64_t n)
{
	uint64_t *to = xk_alloc(n * sizeof *to + 1);

	for (uint64_t i = 0; to != NULL && i < n; i++)
		to[i] = xk_counter_read(from[i]);
	return to;
}

static int app_begin(struct run *u, struct run_app *a)
{
	struct xk_app_counts c;

	if (!ask(a->rep, &c))
		return XK_OK;
	run_times_begin(&u->times, a->rep);
	if (c.rtt != NULL)
		xk_hist_sum(u->rtt, c.rtt, -1);
	a->n = c.n;
	a->messages = copy_counts(c.messages, c.n);
	a->bytes = copy_counts(c.bytes, c.n);
	a->last = copy_counts(c.messages, c.n);
	return a->messages && a->bytes && a->last ? XK_OK : XK_E_NOMEM;
}

int run_totals(struct run *u)
{
	int most = -1;

	for (unsigned i = 0; i < u->g->nnodes; i++)
		u->total[i].messages = u->total[i].bytes = 0;
	for (unsigned k = 0; k < u->napps; k++) {
		const struct run_app *a = &u->app[k];
		unsigned no = a->rep->node->no;
		struct xk_app_counts c;

		if (!ask(a->rep, &c))
			continue;
		for (uint64_t i = 0; i < c.n; i++) {
			u->total[no].messages += xk_counter_read(c.messages[i]) - (i < a->n ? a->messages[i] : 0);
			u->total[no].bytes += xk_counter_read(c.bytes[i]) - (i < a->n ? a->bytes[i] : 0);
		}
		if (most < 0 || u->total[no].messages > u->total[most].messages)
			most = (int)no;
	}
	return most;
}

int run_window_conns(struct run *u, struct xk_run_sample *s)
{
	uint64_t n = 0;

	if (!u->o->window_conns)
		return XK_OK;
	s->conn = xk_alloc(u->r->nold * sizeof *s->conn + 1);
	if (s->conn == NULL)
		return XK_E_NOMEM;
	for (unsigned k = 0; k < u->napps; k++) {
		struct run_app *a = &u->app[k];
		struct xk_app_counts c;

		if (!ask(a->rep, &c))
			continue;
		for (uint64_t i = 0; i < a->n; i++) {
			uint64_t now = i < c.n ? xk_counter_read(c.messages[i]) : a->last[i];

			s->conn[n++] = (uint32_t)(now - a->last[i]);
			a->last[i] = now;
		}
	}
	return XK_OK;
}

/* ---- counters ------------------------------------------------------------------- */

static void read_rep(const struct xk_rep *r, struct xk_run_counts *c)
{
	c->push = xk_counter_read(r->npush);
	c->pop = xk_counter_read(r->npop);
	c->sess_made = xk_counter_read(r->nsess_made);
	c->sess_gone = xk_counter_read(r->nsess_gone);
	c->sess_live = c->sess_made - c->sess_gone;
	for (unsigned i = 0; i < XK_DROPS_MAX; i++)
		c->drop[i] = xk_counter_read(r->drop[i]);
	for (unsigned i = 0; i < XK_COUNTS_MAX; i++)
		c->count[i] = xk_counter_read(r->count[i]);
}

static void tally(struct xk_vp *vp, void *arg)
{
	struct xk_rep *r = arg;

	(void)vp;
	r->node->proto->ops->rep_tally(r);
}

/* What others count for a driver, it reads now and then only. */
static void tally_all(const struct xk_graph *g)
{
	for (unsigned i = 0; i < g->nnodes; i++)
		for (unsigned v = 0; g->node[i]->proto->ops->rep_tally != NULL && v < g->vps->nvps; v++)
			xk_vp_do(g->vps->vp[v], tally, g->node[i]->rep[v]);
}

static void read_vp(const struct xk_vp *vp, struct xk_run_vp *out)
{
	*out = (struct xk_run_vp){
		.units = xk_counter_read(vp->units), .messages = xk_counter_read(vp->messages),
		.handed_over = xk_counter_read(vp->handed_over), .posted_out = xk_counter_read(vp->posted_out),
		.borrowed = xk_counter_read(vp->borrowed), .inbox_drops = xk_counter_read(vp->inbox_drops),
		.carried = xk_counter_read(vp->carried), .wrong_vp = xk_counter_read(vp->wrong_vp),
		.busy_ns = __atomic_load_n(&vp->busy_ns, __ATOMIC_RELAXED),
	};
	out->order_stalls = xk_counter_read(vp->order_stalls);
	out->reordered = xk_counter_read(vp->reordered);
	xk_stage_stats(vp, &out->stage);
	xk_lockstat_read(&vp->lockstat, &out->lock);
	xk_ult_stats(vp, &out->ult);
	xk_lockstat_read(&vp->tablestat, &out->table);
}

static void snap_fini(struct run_snap *s)
{
	xk_free(s->counts);
	xk_free(s->vp);
	xk_free(s->worker);
	xk_free(s->time);
	xk_free(s->objects);
	xk_free(s->heat);
	memset(s, 0, sizeof *s);
}

static int snap(const struct xk_graph *g, struct run_snap *s)
{
	unsigned nvps = g->vps->nvps;

	s->counts = xk_alloc((size_t)g->nnodes * nvps * sizeof *s->counts + 1);
	s->vp = xk_alloc(g->vps->nall * sizeof *s->vp);
	s->worker = xk_alloc((g->vps->nworkers + g->vps->noutside) * sizeof *s->worker + 1);
	s->time = xk_alloc(g->nnodes * sizeof *s->time + 1);
	s->objects = xk_alloc(g->nnodes * sizeof *s->objects + 1);
	if (s->counts == NULL || s->vp == NULL || s->worker == NULL || s->time == NULL || s->objects == NULL)
		return XK_E_NOMEM;
	tally_all(g);
	for (unsigned i = 0; i < g->nnodes; i++) {
		xk_meter_read(g->node[i], &s->time[i]);
		xk_objects_read(g->node[i], &s->objects[i]);
	}
	for (unsigned i = 0; i < g->nnodes; i++)
		for (unsigned v = 0; v < nvps; v++)
			read_rep(g->node[i]->rep[v], &s->counts[(size_t)i * nvps + v]);
	for (unsigned v = 0; v < g->vps->nall; v++)
		read_vp(g->vps->all[v], &s->vp[v]);
	for (unsigned i = 0; i < g->vps->nworkers; i++)
		xk_worker_stats(g->vps, i, &s->worker[i]);
	for (unsigned i = 0; i < g->vps->noutside; i++)
		xk_outside_stats(g->vps, i, &s->worker[g->vps->nworkers + i]);
	xk_vpset_queue_locks(g->vps, &s->queue);
	xk_vpset_affinity(g->vps, &s->affinity);
	xk_vpset_background(g->vps, &s->background);
	xk_mempool_freelist(g->vps->pool, &s->freelist);
	xk_vpset_stacks(g->vps, &s->stacks);
	return run_heat_snap(g->vps, s);
}

int run_begin(struct run *u, bool birth)
{
	int err = snap(u->g, &u->first);

	if (err == XK_OK && birth)
		memset(u->first.counts, 0, (size_t)u->g->nnodes * u->g->vps->nvps * sizeof *u->first.counts);
	run_misses_open(&u->misses);
	run_sched_read(&u->sched);
	for (unsigned i = 0; err == XK_OK && i < u->napps; i++) {
		err = app_begin(u, &u->app[i]);
		u->r->nold += u->app[i].n;
	}
	return err;
}

static void apps_fini(struct run *u)
{
	for (unsigned i = 0; i < u->napps; i++) {
		struct run_app *a = &u->app[i];

		xk_free(a->messages);
		xk_free(a->bytes);
		xk_free(a->last);
		*a = (struct run_app){ .rep = a->rep };
	}
}

int run_begin_anew(struct run *u)
{
	struct xk_run_misses none;

	run_misses_close(&u->misses, &none);
	apps_fini(u);
	snap_fini(&u->first);
	memset(u->rtt, 0, sizeof u->rtt);
	memset(&u->times, 0, sizeof u->times);
	memset(u->seen, 0, u->g->nnodes * sizeof *u->seen);
	u->r->nold = 0;
	for (uint64_t i = 0; i < u->r->nsamples; i++)
		xk_free(u->r->sample[i].conn);
	u->r->nsamples = 0;
	return run_begin(u, false);
}

/* ---- differences ------------------------------------------------------------------ */

static void counts_less(struct xk_run_counts *c, const struct xk_run_counts *old)
{
	c->push -= old->push;
	c->pop -= old->pop;
	c->sess_made -= old->sess_made;
	c->sess_gone -= old->sess_gone;
	for (unsigned i = 0; i < XK_DROPS_MAX; i++)
		c->drop[i] -= old->drop[i];
	for (unsigned i = 0; i < XK_COUNTS_MAX; i++)
		c->count[i] -= old->count[i];
}

static void counts_add(struct xk_run_counts *sum, const struct xk_run_counts *c)
{
	sum->push += c->push;
	sum->pop += c->pop;
	sum->sess_made += c->sess_made;
	sum->sess_gone += c->sess_gone;
	sum->sess_live += c->sess_live;
	for (unsigned i = 0; i < XK_DROPS_MAX; i++)
		sum->drop[i] += c->drop[i];
	for (unsigned i = 0; i < XK_COUNTS_MAX; i++)
		sum->count[i] += c->count[i];
}

static void stage_less(struct xk_stage_stats *l, const struct xk_stage_stats *old)
{
	l->up -= old->up;
	l->down -= old->down;
	l->forwarded -= old->forwarded;
	l->backpressure -= old->backpressure;
	l->exclusive -= old->exclusive;
	l->asked -= old->asked;
	l->late -= old->late;
	l->sleeps -= old->sleeps;
	l->full_ns -= old->full_ns;
	l->empty_ns -= old->empty_ns;
}

static void vp_less(struct xk_run_vp *v, const struct xk_run_vp *old)
{
	v->units -= old->units;
	v->messages -= old->messages;
	v->handed_over -= old->handed_over;
	v->posted_out -= old->posted_out;
	v->borrowed -= old->borrowed;
	v->inbox_drops -= old->inbox_drops;
	v->carried -= old->carried;
	xk_lock_counts_add(&v->lock, &old->lock, -1);
	v->ult.switches -= old->ult.switches;
	v->ult.stackless -= old->ult.stackless;
	xk_lock_counts_add(&v->table, &old->table, -1);
	v->order_stalls -= old->order_stalls;
	v->reordered -= old->reordered;
	v->wrong_vp -= old->wrong_vp;
	v->busy_ns -= old->busy_ns;
	stage_less(&v->stage, &old->stage);
}

static void worker_less(struct xk_worker_stats *w, const struct xk_worker_stats *old)
{
	w->user_ns -= old->user_ns;
	w->sys_ns -= old->sys_ns;
	w->cpu_ns -= old->cpu_ns;
	w->atomics -= old->atomics;
	w->nvcsw -= old->nvcsw;
	w->nivcsw -= old->nivcsw;
	w->units -= old->units;
	w->messages -= old->messages;
	w->sleeps -= old->sleeps;
	w->migrations -= old->migrations;
	w->locking_ns -= old->locking_ns;
	w->meeting_ns -= old->meeting_ns;
}

static void time_less(struct xk_meter_counts *t, const struct xk_meter_counts *old)
{
	for (unsigned down = 0; down < 2; down++) {
		t->n[down] -= old->n[down];
		t->ns[down] -= old->ns[down];
	}
}

static void objects_less(struct xk_object_locks *l, const struct xk_object_locks *old)
{
	xk_lock_counts_add(&l->map, &old->map, -1);
	xk_lock_counts_add(&l->session, &old->session, -1);
	l->map_moves -= old->map_moves;
	l->session_moves -= old->session_moves;
	l->map_misses -= old->map_misses;
}

static int end_nodes(struct run *u, struct run_snap *last)
{
	struct xk_run_result *r = u->r;

	r->node = xk_alloc(r->nnodes * sizeof *r->node + 1);
	if (r->node == NULL)
		return XK_E_NOMEM;
	for (unsigned i = 0; i < r->nnodes; i++) {
		struct xk_run_node *n = &r->node[i];

		n->node = u->g->node[i];
		n->time = last->time[i];
		time_less(&n->time, &u->first.time[i]);
		n->objects = last->objects[i];
		objects_less(&n->objects, &u->first.objects[i]);
		n->vp = xk_alloc(r->nvps * sizeof *n->vp);
		if (n->vp == NULL)
			return XK_E_NOMEM;
		for (unsigned v = 0; v < r->nvps; v++) {
			const struct xk_run_counts *first = &u->first.counts[(size_t)i * r->nvps + v];

			n->vp[v] = last->counts[(size_t)i * r->nvps + v];
			counts_less(&n->vp[v], first);
			counts_add(&n->all, &n->vp[v]);
			for (unsigned k = 0; k < XK_DROPS_MAX; k++)
				n->dropped_before[k] += first->drop[k];
		}
	}
	return XK_OK;
}

static void end_conn(struct run *u, const struct run_app *a, const struct xk_app_counts *c, uint64_t i,
		     struct xk_run_conn *out)
{
	struct xk_run_node *n = &u->r->node[a->rep->node->no];
	bool old = i < a->n, gone = i >= c->n;   /* gone: the application says it no more */

	*out = (struct xk_run_conn){
		.node = a->rep->node->no, .vp = a->rep->vp->no, .no = c->conn && !gone ? xk_counter_read(c->conn[i]) : i,
		.messages = (gone ? a->last[i] : xk_counter_read(c->messages[i])) - (old ? a->messages[i] : 0),
		.bytes = gone ? 0 : xk_counter_read(c->bytes[i]) - (old ? a->bytes[i] : 0),
	};
	n->messages += out->messages;
	n->bytes += out->bytes;
}

/* A replica of an application: what it says of itself. */
static void end_app(struct run *u, const struct run_app *a, const struct xk_app_counts *c)
{
	struct xk_run_node *n = &u->r->node[a->rep->node->no];

	n->is_app = true;
	n->together = c->accepted != NULL && c->conn == NULL;
	n->nconns += c->accepted != NULL ? xk_counter_read(*c->accepted) : c->n;
	if (c->rtt != NULL) {
		u->r->rtt.known = n->times = true;
		xk_hist_sum(u->rtt, c->rtt, 1);
	}
}

/* Old connections first, so that the windows' arrays name them by place: also those that are gone. */
static int end_conns(struct run *u)
{
	struct xk_run_result *r = u->r;
	struct xk_app_counts *c = xk_alloc(u->napps * sizeof *c + 1);
	uint64_t n = 0;

	if (c == NULL)
		return XK_E_NOMEM;
	for (unsigned k = 0; k < u->napps; k++) {
		(void)ask(u->app[k].rep, &c[k]);
		r->nconns += c[k].n > u->app[k].n ? c[k].n : u->app[k].n;
		end_app(u, &u->app[k], &c[k]);
	}
	r->conn = xk_alloc(r->nconns * sizeof *r->conn + 1);
	for (int young = 0; r->conn != NULL && young <= 1; young++)
		for (unsigned k = 0; k < u->napps; k++)
			for (uint64_t i = young ? u->app[k].n : 0; i < (young ? c[k].n : u->app[k].n); i++)
				end_conn(u, &u->app[k], &c[k], i, &r->conn[n++]);
	xk_free(c);
	return r->conn ? XK_OK : XK_E_NOMEM;
}

static void end_rtt(const uint64_t *sum, struct xk_run_rtt *out)
{
	out->n = xk_hist_count(sum);
	out->p50 = xk_hist_percentile(sum, 0.5);
	out->p90 = xk_hist_percentile(sum, 0.9);
	out->p99 = xk_hist_percentile(sum, 0.99);
	out->p999 = xk_hist_percentile(sum, 0.999);
}

static void end_times(struct run *u)
{
	xk_ns late = 0;

	for (unsigned k = 0; k < u->napps; k++)
		run_times_end(&u->times, u->app[k].rep, &late);
	run_times_read(&u->times, late, u->r->measured_ns, &u->r->times);
}

static void end_affinity(struct run *u, const struct xk_affinity_counts *last)
{
	struct xk_run_affinity *out = &u->r->affinity;

	out->known = xk_vpset_affinities(u->g->vps) != 0;
	out->chosen = u->g->vps->fifo != NULL || xk_vpset_pools(u->g->vps);
	out->counts = *last;
	xk_affinity_counts_add(&out->counts, &u->first.affinity, -1);
	run_dist(out->counts.away, out->counts.away_ns, &out->away);
}

static void end_background(struct run *u, const struct xk_background_counts *last)
{
	const struct xk_background_counts *first = &u->first.background;

	u->r->background = (struct xk_background_counts){
		.slices = last->slices - first->slices, .rests = last->rests - first->rests,
		.data = last->data - first->data, .code = last->code - first->code,
	};
}

/* Of equals the one that counts by connection, then the one with more connections. */
static bool busier(const struct xk_run_node *a, const struct xk_run_node *b)
{
	if (a->messages != b->messages)
		return a->messages > b->messages;
	return a->together != b->together ? b->together : a->nconns > b->nconns;
}

/* The busiest; but where a client that waits for answers has as many, up to what was on its
 * way, it is that client: it counts by connection, and its server perhaps all together. */
static int busiest(const struct xk_run_result *r)
{
	int most = -1, client = -1;

	for (int i = 0; i < (int)r->nnodes; i++) {
		const struct xk_run_node *x = &r->node[i];

		if (x->is_app && (most < 0 || busier(x, &r->node[most])))
			most = i;
		if (x->is_app && x->times && (client < 0 || busier(x, &r->node[client])))
			client = i;
	}
	return client >= 0 && r->node[client].messages >= r->node[most].messages / 16 * 15 ? client : most;
}

static void end_messages(struct xk_run_result *r)
{
	r->busiest = busiest(r);
	if (r->busiest >= 0) {
		r->messages = r->node[r->busiest].messages;
		r->bytes = r->node[r->busiest].bytes;
		return;
	}
	for (unsigned v = 0; v < r->nall; v++)
		r->messages += r->vp[v].messages;
}

int run_end(struct run *u)
{
	struct xk_run_result *r = u->r;
	struct run_snap last = { 0 };
	int err = snap(u->g, &last);

	run_sched_read(&r->sched);
	run_misses_close(&u->misses, &r->misses);
	r->sched.run_ns -= u->sched.run_ns;
	r->sched.delay_ns -= u->sched.delay_ns;
	r->sched.slices -= u->sched.slices;

	if (err == XK_OK)
		err = end_nodes(u, &last);
	if (err == XK_OK)
		err = end_conns(u);
	if (err != XK_OK) {
		snap_fini(&last);
		return err;
	}
	for (unsigned v = 0; v < r->nall; v++)
		vp_less(&last.vp[v], &u->first.vp[v]);
	for (unsigned i = 0; i < r->nworkers; i++)
		worker_less(&last.worker[i], &u->first.worker[i]);
	xk_lock_counts_add(&last.queue, &u->first.queue, -1);
	r->queue = last.queue;
	end_affinity(u, &last.affinity);
	end_background(u, &last.background);
	r->freelist = last.freelist;
	xk_freelist_counts_add(&r->freelist, &u->first.freelist, -1);
	r->stacks = last.stacks;
	xk_stack_counts_add(&r->stacks, &u->first.stacks, -1);
	r->vp = last.vp;
	r->worker = last.worker;
	run_heat_end(r, &u->first, &last);
	last.vp = NULL;
	last.worker = NULL;
	snap_fini(&last);
	end_messages(r);
	end_rtt(u->rtt, &r->rtt);
	end_times(u);
	return XK_OK;
}

int run_so_far(const struct run *u, struct xk_run_result *out)
{
	struct run copy = *u;
	int err;

	*out = *u->r;
	out->end = XK_RUN_GOES_ON;
	out->nsamples = 0;
	out->sample = NULL;
	copy.r = out;
	copy.misses = (struct run_misses){ .n = 0 };     /* the run's own stay open */
	err = run_end(&copy);
	if (err != XK_OK)
		xk_run_fini(out);
	return err;
}

void run_fini(struct run *u)
{
	struct xk_run_misses none;

	run_misses_close(&u->misses, &none);     /* where the run ended early */
	apps_fini(u);
	xk_free(u->app);
	xk_free(u->total);
	xk_free(u->seen);
	snap_fini(&u->first);
}

/* Of all layers together. */
static unsigned object_locks(const struct xk_run_result *r, const char *policy, struct xk_run_locks *out)
{
	if (r->graph->vps->arch.objects != XK_OBJECTS_LAYER)
		return 0;
	out[0] = (struct xk_run_locks){ .name = "map", .policy = policy };
	out[1] = (struct xk_run_locks){ .name = "session", .policy = policy };
	for (unsigned i = 0; i < r->nnodes; i++) {
		const struct xk_object_locks *l = &r->node[i].objects;

		out[0].n += l->maps;
		out[1].n += l->sessions;
		xk_lock_counts_add(&out[0].sum, &l->map, 1);
		xk_lock_counts_add(&out[1].sum, &l->session, 1);
	}
	return 2;
}

unsigned xk_run_locks(const struct xk_run_result *r, struct xk_run_locks *out)
{
	const struct xk_vpset *set = r->graph->vps;
	const struct xk_arch *a = &set->arch;
	const char *of_vp = a->entry == XK_ENTRY_LOCK ? a->lock->name : "none";
	unsigned n = 1;

	memset(out, 0, XK_RUN_LOCKS * sizeof *out);
	out[0] = (struct xk_run_locks){ .name = "vp", .policy = of_vp, .n = a->entry == XK_ENTRY_LOCK ? set->nconn : 0 };
	if (a->io_threads != 0 && a->entry == XK_ENTRY_LOCK)
		out[n++] = (struct xk_run_locks){ .name = "io_thread", .policy = of_vp, .n = a->io_threads };
	for (unsigned i = 0; i < r->nvps; i++)
		xk_lock_counts_add(&out[i >= set->nconn && n > 1].sum, &r->vp[i].lock, 1);
	if (a->table != NULL) {
		out[n] = (struct xk_run_locks){ .name = "table", .policy = a->table->name, .n = 1 };
		for (unsigned i = 0; i < r->nvps; i++)
			xk_lock_counts_add(&out[n].sum, &r->vp[i].table, 1);
		n++;
	}
	n += object_locks(r, of_vp, out + n);
	if (xk_vpset_pools(set))
		out[n++] = (struct xk_run_locks){ .name = "queue", .policy = of_vp, .n = 1, .sum = r->queue };
	if (r->freelist.shelves != 0)
		out[n++] = (struct xk_run_locks){ .name = "memory", .policy = xk_lock_adaptive.name, .n = r->freelist.shelves,
						  .sum = r->freelist.lock };
	if (r->stacks.pools != 0)
		out[n++] = (struct xk_run_locks){ .name = "stacks", .policy = xk_lock_adaptive.name, .n = (unsigned)r->stacks.pools,
						  .sum = r->stacks.lock };
	return n;
}

void xk_run_fini(struct xk_run_result *r)
{
	for (unsigned i = 0; r->node != NULL && i < r->nnodes; i++)
		xk_free(r->node[i].vp);
	for (uint64_t i = 0; i < r->nsamples; i++)
		xk_free(r->sample[i].conn);
	xk_free(r->node);
	xk_free(r->vp);
	xk_free(r->worker);
	xk_free(r->conn);
	xk_free(r->sample);
	xk_free(r->heat.cell);
	memset(r, 0, sizeof *r);
}
