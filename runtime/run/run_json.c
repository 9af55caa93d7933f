/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run_json.c - the result of a run as JSON, schema 1.
 *
 * Times are whole nanoseconds.  Drop reasons and counters appear under their
 * names; a reason that never happened is left out, a counter is not.
 */
#include "runtime/run/run_priv.h"
#include "runtime/run/xk_json.h"
#include "runtime/upi/xk_part.h"

#include <jansson.h>
#include <stdio.h>
#include <unistd.h>

#include "runtime/sync/xk_sync.h"

static void put(json_t *o, const char *key, uint64_t v)
{
	json_object_set_new(o, key, json_integer((json_int_t)v));
}

static json_t *drops_json(const struct xk_node *n, const uint64_t *drop)
{
	json_t *j = json_object();
	const char *name;

	for (unsigned i = 0; i < XK_DROPS_MAX && (name = xk_run_drop_name(n, i)) != NULL; i++)
		if (drop[i] != 0)
			put(j, name, drop[i]);
	return j;
}

static json_t *counts_json(const struct xk_node *n, const struct xk_run_counts *c)
{
	json_t *j = json_object(), *own = json_object();

	put(j, "push", c->push);
	put(j, "pop", c->pop);
	put(j, "sessions", c->sess_live);
	put(j, "sessions_made", c->sess_made);
	put(j, "sessions_gone", c->sess_gone);
	for (unsigned i = 0; i < XK_COUNTS_MAX && n->proto->counts != NULL && n->proto->counts[i] != NULL; i++)
		put(own, n->proto->counts[i], c->count[i]);
	json_object_set_new(j, "drops", drops_json(n, c->drop));
	json_object_set_new(j, "counters", own);
	return j;
}

static json_t *time_json(const struct xk_meter_counts *t)
{
	return json_pack("{s:I, s:f, s:I, s:f}", "up_messages", (json_int_t)t->n[0], "up_ns", t->ns[0], "down_messages",
			 (json_int_t)t->n[1], "down_ns", t->ns[1]);
}

/* Where one thread stands for all the times are the host's, of which a run in virtual time says nothing. */
static void put_locks(json_t *j, const struct xk_run_result *r, const struct xk_lock_counts *c)
{
	put(j, "taken", c->taken);
	put(j, "contended", c->contended);
	put(j, "wait_ns", run_threads(r) ? xk_lock_waited_ns(c) : 0);
	put(j, "hold_ns", run_threads(r) ? xk_lock_held_ns(c) : 0);
}

static json_t *objects_json(const struct xk_run_result *r, const struct xk_object_locks *l)
{
	json_t *map = json_object(), *session = json_object();

	put(map, "locks", l->maps);
	put_locks(map, r, &l->map);
	put(map, "moves", l->map_moves);
	put(map, "misses", l->map_misses);
	put(session, "locks", l->sessions);
	put_locks(session, r, &l->session);
	put(session, "moves", l->session_moves);
	return json_pack("{s:o, s:o}", "map", map, "session", session);
}

static json_t *node_json(const struct xk_run_result *r, const struct xk_run_node *n, bool per_vp)
{
	json_t *j = counts_json(n->node, &n->all), *vps;

	json_object_set_new(j, "name", json_string(n->node->name));
	json_object_set_new(j, "protocol", json_string(n->node->proto->name));
	json_object_set_new(j, "drops_before", drops_json(n->node, n->dropped_before));
	if (r->graph->meter != NULL && !r->is_virtual)
		json_object_set_new(j, "time", time_json(&n->time));
	if (n->objects.maps != 0)
		json_object_set_new(j, "locks", objects_json(r, &n->objects));
	if (n->is_app) {
		put(j, "messages", n->messages);
		put(j, "bytes", n->bytes);
		put(j, "connections", n->nconns);
	}
	if (!per_vp)
		return j;
	vps = json_array();
	for (unsigned v = 0; v < r->nvps; v++)
		json_array_append_new(vps, counts_json(n->node, &n->vp[v]));
	json_object_set_new(j, "vps", vps);
	return j;
}

static json_t *workers_json(const struct xk_run_result *r)
{
	json_t *a = json_array();

	for (unsigned i = 0; i < r->nworkers; i++) {
		const struct xk_worker_stats *w = &r->worker[i];
		json_t *j = json_object();

		json_object_set_new(j, "cpu", json_integer(w->cpu));
		put(j, "user_ns", w->user_ns);
		put(j, "sys_ns", w->sys_ns);
		put(j, "cpu_ns", w->cpu_ns);
		put(j, "voluntary_switches", w->nvcsw);
		put(j, "involuntary_switches", w->nivcsw);
		put(j, "units", w->units);
		put(j, "messages", w->messages);
		put(j, "sleeps", w->sleeps);
		put(j, "migrations", w->migrations);
		if (r->graph->vps->sim != NULL) {
			put(j, "locking_ns", w->locking_ns);
			put(j, "meeting_ns", w->meeting_ns);
		}
		json_object_set_new(j, "atomics", xk_atomics_counted() ? json_integer((json_int_t)w->atomics) : json_null());
		json_array_append_new(a, j);
	}
	return a;
}

/* User-level threads; null where connections have none of their own and nobody else made any. */
static json_t *user_threads_json(const struct xk_run_result *r)
{
	struct xk_ult_stats sum = { 0 };
	json_t *j;

	for (unsigned i = 0; i < r->nvps; i++) {
		sum.live += r->vp[i].ult.live;
		sum.stacks += r->vp[i].ult.stacks;
		sum.stack_bytes += r->vp[i].ult.stack_bytes;
		sum.switches += r->vp[i].ult.switches;
		sum.stackless += r->vp[i].ult.stackless;
	}
	if (sum.stacks == 0 && r->graph->vps->arch.threads != XK_THREADS_USER)
		return json_null();
	j = json_object();
	put(j, "live", sum.live);
	put(j, "stacks", sum.stacks);
	put(j, "stack_bytes", sum.stack_bytes);
	put(j, "switches", sum.switches);
	put(j, "stackless", sum.stackless);
	return j;
}

/* Memory of this process that is in use now, 0 when the system does not say. */
static uint64_t resident_bytes(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	unsigned long long size, pages = 0;

	if (f == NULL)
		return 0;
	if (fscanf(f, "%llu %llu", &size, &pages) != 2)
		pages = 0;
	fclose(f);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static json_t *stage_json(const struct xk_stage_stats *l)
{
	json_t *j = json_object();

	put(j, "pipeline", l->pipeline);
	put(j, "layer", l->layer);
	put(j, "taken_up", l->up);
	put(j, "taken_down", l->down);
	put(j, "forwarded", l->forwarded);
	put(j, "backpressure", l->backpressure);
	put(j, "exclusive", l->exclusive);
	put(j, "exclusive_waits", l->asked);
	put(j, "late", l->late);
	put(j, "longest_queue", l->most);
	put(j, "sleeps", l->sleeps);
	put(j, "full_ns", l->full_ns);
	put(j, "empty_ns", l->empty_ns);
	return j;
}

static json_t *vps_json(const struct xk_run_result *r)
{
	json_t *a = json_array();

	for (unsigned i = 0; i < r->nall; i++) {
		const struct xk_run_vp *v = &r->vp[i];
		json_t *j = json_object();

		put(j, "units", v->units);
		put(j, "messages", v->messages);
		put(j, "handed_over", v->handed_over);
		put(j, "posted_out", v->posted_out);
		put(j, "borrowed", v->borrowed);
		put(j, "inbox_drops", v->inbox_drops);
		put(j, "direct_handoffs", v->carried);
		put(j, "waits", v->lock.contended);
		put(j, "order_stalls", v->order_stalls);
		put(j, "reordered", v->reordered);
		put(j, "wrong_vp", v->wrong_vp);
		put(j, "busy_ns", v->busy_ns);
		if (r->graph->vps->arch.domain == XK_DOMAIN_LAYER)
			json_object_set_new(j, "stage", stage_json(&v->stage));
		json_array_append_new(a, j);
	}
	return a;
}

static json_t *locks_json(const struct xk_run_result *r)
{
	struct xk_run_locks class[XK_RUN_LOCKS];
	unsigned n = xk_run_locks(r, class);
	json_t *a = json_array();

	for (unsigned i = 0; i < n; i++) {
		const struct xk_run_locks *l = &class[i];
		json_t *j = json_object();

		json_object_set_new(j, "class", json_string(l->name));
		json_object_set_new(j, "policy", json_string(l->policy));
		put(j, "locks", l->n);
		put_locks(j, r, &l->sum);
		json_array_append_new(a, j);
	}
	return a;
}

static json_t *conns_json(const struct xk_run_result *r)
{
	json_t *a = json_array();

	for (uint64_t i = 0; i < r->nconns; i++) {
		const struct xk_run_conn *c = &r->conn[i];
		json_t *j = json_object();

		json_object_set_new(j, "node", json_string(r->node[c->node].node->name));
		put(j, "vp", c->vp);
		json_object_set_new(j, "connection", r->node[c->node].together ? json_null() : json_integer((json_int_t)c->no));
		put(j, "messages", c->messages);
		put(j, "bytes", c->bytes);
		json_array_append_new(a, j);
	}
	return a;
}

static json_t *samples_json(const struct xk_run_result *r)
{
	json_t *a = json_array();

	for (uint64_t i = 0; i < r->nsamples; i++) {
		const struct xk_run_sample *s = &r->sample[i];
		json_t *j = json_object();

		put(j, "at_ns", s->at);
		put(j, "len_ns", s->len);
		put(j, "messages", s->messages);
		put(j, "bytes", s->bytes);
		json_array_append_new(a, j);
	}
	return a;
}

static json_t *warnings_json(const struct xk_run_result *r)
{
	char text[XK_RUN_WARNINGS][XK_RUN_WARNING_LEN];
	unsigned n = xk_run_warnings(r, text);
	json_t *a = json_array();

	for (unsigned i = 0; i < n; i++)
		json_array_append_new(a, json_string(text[i]));
	return a;
}

static json_t *run_json(const struct xk_run_result *r, bool per_vp, bool per_conn)
{
	json_t *j = json_object(), *nodes = json_array();
	double s = (double)r->measured_ns / 1e9;

	put(j, "schema", 2);
	json_object_set_new(j, "graph", json_string(r->graph->name));
	json_object_set_new(j, "end", json_string(xk_run_end_text(r->end)));
	json_object_set_new(j, "virtual", json_boolean(r->is_virtual));
	put(j, "warmup_ns", r->warmup_ns);
	put(j, "measured_ns", r->measured_ns);
	put(j, "wall_ns", r->wall_ns);
	put(j, "seed", r->graph->seed);
	put(j, "nvps", r->nvps);
	/* A run in virtual time says only what repeats. */
	json_object_set_new(j, "resident_bytes", r->is_virtual ? json_null() : json_integer((json_int_t)resident_bytes()));
	json_object_set_new(j, "busiest", r->busiest < 0 ? json_null() : json_string(r->node[r->busiest].node->name));
	put(j, "messages", r->messages);
	put(j, "bytes", r->bytes);
	json_object_set_new(j, "messages_per_s", json_real(s > 0 ? (double)r->messages / s : 0));
	json_object_set_new(j, "ns_per_message",
			    r->messages ? json_real((double)r->measured_ns / (double)r->messages) : json_null());
	for (unsigned i = r->nnodes; i-- > 0;)
		json_array_append_new(nodes, node_json(r, &r->node[i], per_vp));
	json_object_set_new(j, "nodes", nodes);
	json_object_set_new(j, "workers", workers_json(r));
	json_object_set_new(j, "locks", locks_json(r));
	if (r->graph->vps->sim != NULL)
		json_object_set_new(j, "machine", run_simulated_json(r));
	json_object_set_new(j, "record", run_record_json(r));
	json_object_set_new(j, "warnings", warnings_json(r));
	json_object_set_new(j, "user_threads", user_threads_json(r));
	if (per_vp)
		json_object_set_new(j, "vps", vps_json(r));
	if (per_conn)
		json_object_set_new(j, "connections", conns_json(r));
	if (r->nsamples != 0)
		json_object_set_new(j, "samples", samples_json(r));
	return j;
}

struct json_t *xk_run_json(const struct xk_run_result *r, bool per_vp, bool per_conn)
{
	uint64_t lost = xk_json_lost();
	json_t *j = run_json(r, per_vp, per_conn);

	if (xk_json_lost() == lost)
		return j;
	json_decref(j);
	return NULL;
}
