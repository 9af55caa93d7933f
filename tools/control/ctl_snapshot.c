/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ctl_snapshot.c - all counters as one document: docs/schema/vp-ctl-snapshot-2.json.
 *
 * Whole numbers, under the names that the directory gives them; nodes bottom-up.
 */
#include "tools/control/ctl_view.h"

#include <time.h>

static void put(json_t *o, const char *key, uint64_t v)
{
	json_object_set_new(o, key, json_integer((json_int_t)v));
}

static json_t *fields_at(const struct ctl_view *v, const struct ctl_fields *f, uint64_t base)
{
	json_t *o = json_object();

	for (unsigned i = 0; i < f->n; i++)
		put(o, f->name[i], ctl_view_read(v, base + f->at[i]));
	return o;
}

static json_t *named(const struct ctl_view *v, const uint64_t *rep, unsigned nreps, uint64_t at, unsigned n,
		     const char *const *name)
{
	json_t *o = json_object();

	for (unsigned i = 0; i < n; i++) {
		uint64_t sum = 0;

		for (unsigned k = 0; k < nreps; k++)
			sum += ctl_view_read(v, rep[k] + at + 8 * i);
		put(o, name[i], sum);
	}
	return o;
}

/* The replicas given, added up. */
static json_t *counts(const struct ctl_view *v, const struct ctl_view_node *n, const uint64_t *rep, unsigned nreps)
{
	json_t *o = json_object();

	for (unsigned i = v->node_field.n; i-- > 0;) {
		uint64_t sum = 0;

		for (unsigned k = 0; k < nreps; k++)
			sum += ctl_view_read(v, rep[k] + v->node_field.at[i]);
		put(o, v->node_field.name[i], sum);
	}
	json_object_set_new(o, "drops", named(v, rep, nreps, v->drops_at, n->ndrops, n->drop));
	json_object_set_new(o, "counters", named(v, rep, nreps, v->counts_at, n->ncounts, n->count));
	return o;
}

static json_t *node_json(const struct ctl_view *v, const struct ctl_view_node *n, bool per_vp)
{
	json_t *o = counts(v, n, n->rep, v->nvps), *vps;

	json_object_set_new(o, "name", json_string(n->name));
	json_object_set_new(o, "protocol", json_string(n->protocol));
	if (n->ntimes != 0)
		json_object_set_new(o, "times", ctl_times_json(v, n));
	if (!per_vp)
		return o;
	vps = json_array();
	for (unsigned k = 0; k < v->nvps; k++)
		json_array_append_new(vps, counts(v, n, &n->rep[k], 1));
	json_object_set_new(o, "vps", vps);
	return o;
}

static json_t *stages_json(const struct ctl_view *v)
{
	json_t *a = json_array();

	for (unsigned i = 0; i < v->nall; i++) {
		json_t *o = fields_at(v, &v->stage_field, v->stage[i]);

		put(o, "vp", i / v->layers);
		put(o, "layer", i % v->layers);
		json_array_append_new(a, o);
	}
	return a;
}

json_t *ctl_snapshot(const struct ctl_view *v, bool per_vp)
{
	json_t *o = json_object(), *nodes = json_array(), *vps = json_array(), *workers = json_array();
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	put(o, "schema", 2);
	put(o, "time_ns", (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec);
	json_object_set_new(o, "graph", json_string(v->graph));
	json_object_set_new(o, "threading", json_string(v->threading));
	json_object_set_new(o, "lock", json_string(v->lock));
	json_object_set_new(o, "virtual", json_boolean(v->is_virtual));
	put(o, "pid", (uint64_t)v->pid);
	for (unsigned i = 0; i < v->nnodes; i++)
		json_array_append_new(nodes, node_json(v, &v->node[i], per_vp));
	for (unsigned i = 0; i < v->nvps; i++)
		json_array_append_new(vps, fields_at(v, &v->vp_field, v->vp[i]));
	for (unsigned i = 0; i < v->nworkers; i++)
		json_array_append_new(workers, fields_at(v, &v->worker_field, v->worker[i]));
	json_object_set_new(o, "nodes", nodes);
	json_object_set_new(o, "vps", vps);
	json_object_set_new(o, "workers", workers);
	if (v->nall != 0)
		json_object_set_new(o, "stages", stages_json(v));
	return o;
}
