/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ctl_dir.c - says where every counter of a graph is.
 *
 * Written when the graph is up, and again when nodes have come or gone; virtual processors and workers
 * stay as they are until it goes.  Where the system has no memory to share, places are addresses, and only
 * this process can read the counters.
 * Invariant: the directory that holds names counters of nodes that are there, and neither it nor they are
 * got for anything else before another one holds.
 */
#include "tools/control/ctl_priv.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/run/xk_run.h"
#include "runtime/upi/xk_app.h"
#include "runtime/upi/xk_change.h"
#include "runtime/upi/xk_part.h"

#define TEXT_STEP 4096u          /* a directory's text: so that one of about the same length can have its place */

struct field { const char *name; size_t at; };

#define REP(f, key) { key, offsetof(struct xk_rep, f) }
static const struct field node_fields[] = {
	REP(npush, "push"), REP(npop, "pop"), REP(nsess_made, "sessions_made"), REP(nsess_gone, "sessions_gone"),
	REP(active.lookup, "map_lookups"), REP(active.hit, "map_hits"), { NULL, 0 }
};
#define VP(f, key) { key, offsetof(struct xk_vp, f) }
static const struct field vp_fields[] = {
	VP(units, "units"), VP(messages, "messages"), VP(handed_over, "handed_over"), VP(posted_out, "posted_out"),
	VP(borrowed, "borrowed"), VP(carried, "direct_handoffs"), VP(inbox_drops, "inbox_drops"), VP(wrong_vp, "wrong_vp"),
	VP(lockstat.taken, "lock_taken"), VP(lockstat.contended, "lock_contended"),
	VP(lockstat.waits_timed, "lock_waits_timed"), VP(lockstat.wait_ns, "lock_wait_ns"),
	VP(lockstat.holds_timed, "lock_holds_timed"), VP(lockstat.hold_ns, "lock_hold_ns"),
	VP(tablestat.taken, "table_taken"), VP(tablestat.contended, "table_contended"),
	VP(mem.refills, "buffer_refills"), VP(mem.misses, "buffer_misses"), { NULL, 0 }
};
/* Of a layer's stage; vp_fields are of the highest one, where applications are. */
static const struct field stage_fields[] = {
	VP(units, "units"), VP(messages, "messages"), VP(hops.up, "up"), VP(hops.down, "down"),
	VP(hops.forwarded, "forwarded"), VP(hops.backpressure, "backpressure"), VP(hops.exclusive, "exclusive"), VP(hops.asked, "exclusive_waits"),
	VP(hops.late, "late"), VP(hops.most, "longest_queue"),
	VP(hops.full_ns, "full_ns"), VP(hops.empty_ns, "empty_ns"), { NULL, 0 }
};
#define WORKER(f, key) { key, offsetof(struct xk_worker_stats, f) }
static const struct field worker_fields[] = {
	WORKER(units, "units"), WORKER(messages, "messages"), WORKER(sleeps, "sleeps"), WORKER(user_ns, "user_ns"),
	WORKER(sys_ns, "sys_ns"), WORKER(nvcsw, "voluntary_switches"), WORKER(nivcsw, "involuntary_switches"),
	WORKER(migrations, "migrations"), WORKER(atomics, "atomics"), { NULL, 0 }
};

static json_t *fields_json(const struct field *f)
{
	json_t *o = json_object();

	for (; f->name != NULL; f++)
		ctl_put(o, f->name, f->at);
	return o;
}

static json_t *place(const struct ctl *c, const void *p)
{
	const struct xk_shared *s = c->g->vps->shared;

	return json_integer((json_int_t)(s != NULL ? xk_shared_offset(s, p) : (uintptr_t)p));
}

static json_t *names(const char *const *name, unsigned max)
{
	json_t *a = json_array();

	for (unsigned i = 0; name != NULL && i < max && name[i] != NULL; i++)
		json_array_append_new(a, json_string(name[i]));
	return a;
}

static json_t *drop_names(const struct xk_node *n)
{
	json_t *a = json_array();
	const char *name;

	for (unsigned i = 0; i < XK_DROPS_MAX && (name = xk_run_drop_name(n, i)) != NULL; i++)
		json_array_append_new(a, json_string(name));
	return a;
}

/* ORDER TIMES: XK_TIME_* behind round trips.  The histograms of an application's replica, and where their sums are; NULL: it has none, or nobody else can read them. */
struct times { const struct xk_hist *hist[CTL_TIMES]; const xk_counter *sum[CTL_TIMES]; };

static bool readable(const struct ctl *c, const void *p)
{
	const struct xk_shared *s = c->g->vps->shared;

	return p != NULL && (s == NULL || xk_shared_has(s, p));
}

static struct times times_of(const struct ctl *c, struct xk_rep *r)
{
	const struct xk_ops *ops = r->node->proto->ops;
	struct xk_app_counts counts = { 0 };
	struct xk_app_times t = { 0 };
	struct times out = { { NULL }, { NULL } };

	if (r->node->proto->offers != NULL || ops->control == NULL)
		return out;
	if (ops->control(r, XK_CTL_APP_COUNTS, &counts, sizeof counts) == (int)sizeof counts && readable(c, counts.rtt))
		out.hist[0] = counts.rtt;
	if (ops->control(r, XK_CTL_APP_TIMES, &t, sizeof t) != (int)sizeof t || !readable(c, t.hist) || !readable(c, t.sum))
		return out;
	for (unsigned i = 0; i < XK_TIMES; i++) {
		out.hist[1 + i] = &t.hist[i];
		out.sum[1 + i] = &t.sum[i];
	}
	return out;
}

/* Of each of the node's replicas that has such a histogram: the place of it, and of its sum or null. */
static json_t *time_json(const struct ctl *c, const struct xk_node *n, unsigned i)
{
	json_t *hists = json_array(), *sums = json_array(), *vps = json_array();

	for (unsigned v = 0; v < c->g->vps->nvps; v++) {
		struct times t = times_of(c, n->rep[v]);

		if (t.hist[i] == NULL)
			continue;
		json_array_append_new(vps, json_integer((json_int_t)v));
		json_array_append_new(hists, place(c, t.hist[i]));
		if (t.sum[i] != NULL)
			json_array_append_new(sums, place(c, t.sum[i]));
	}
	if (json_array_size(vps) != 0)
		return json_pack("{s:s, s:o, s:o, s:o}", "name", ctl_times[i], "vps", vps, "histograms", hists, "sums", sums);
	json_decref(vps);
	json_decref(hists);
	json_decref(sums);
	return NULL;
}

static json_t *times_json(const struct ctl *c, const struct xk_node *n)
{
	json_t *a = json_array(), *one;

	for (unsigned i = 0; i < CTL_TIMES; i++)
		if ((one = time_json(c, n, i)) != NULL)
			json_array_append_new(a, one);
	return a;
}

static json_t *node_json(const struct ctl *c, const struct xk_node *n)
{
	json_t *o = json_object(), *reps = json_array();

	json_object_set_new(o, "name", ctl_string(n->name));
	json_object_set_new(o, "protocol", json_string(n->proto->name));
	ctl_put(o, "came", n->came);
	json_object_set_new(o, "drops", drop_names(n));
	json_object_set_new(o, "counts", names(n->proto->counts, XK_COUNTS_MAX));
	for (unsigned v = 0; v < c->g->vps->nvps; v++)
		json_array_append_new(reps, place(c, n->rep[v]));
	json_object_set_new(o, "replicas", reps);
	json_object_set_new(o, "times", times_json(c, n));
	return o;
}

static json_t *dir_json(const struct ctl *c)
{
	const struct xk_vpset *set = c->g->vps;
	json_t *o = json_object(), *nodes = json_array(), *vps = json_array(), *workers = json_array();
	json_t *stages = json_array();

	ctl_put(o, "schema", 2);
	json_object_set_new(o, "graph", ctl_string(c->g->name));
	json_object_set_new(o, "threading", json_string(set->arch.name ? set->arch.name : "custom"));
	json_object_set_new(o, "lock", json_string(set->arch.entry == XK_ENTRY_LOCK ? set->arch.lock->name : "none"));
	json_object_set_new(o, "virtual", json_boolean(c->is_virtual));
	ctl_put(o, "pid", (uint64_t)getpid());
	json_object_set_new(o, "node_fields", fields_json(node_fields));
	ctl_put(o, "drops_at", offsetof(struct xk_rep, drop));
	ctl_put(o, "counts_at", offsetof(struct xk_rep, count));
	ctl_put(o, "hist_places", XK_HIST_PLACES);
	json_object_set_new(o, "vp_fields", fields_json(vp_fields));
	json_object_set_new(o, "stage_fields", fields_json(stage_fields));
	json_object_set_new(o, "worker_fields", fields_json(worker_fields));
	for (unsigned i = 0; i < xk_graph_slots(c->g); i++)
		if (xk_graph_slot(c->g, i) != NULL)
			json_array_append_new(nodes, node_json(c, c->g->node[i]));
	for (unsigned v = 0; v < set->nvps; v++)
		json_array_append_new(vps, place(c, set->vp[v]));
	for (unsigned i = 0; set->pipeline != NULL && i < set->nall; i++)
		json_array_append_new(stages, place(c, set->all[i]));
	for (unsigned i = 0; i < set->nworkers; i++)
		json_array_append_new(workers, place(c, xk_worker_counters(set, i)));
	json_object_set_new(o, "nodes", nodes);
	json_object_set_new(o, "vps", vps);
	json_object_set_new(o, "stages", stages);
	json_object_set_new(o, "workers", workers);
	return o;
}

/* Whoever reads sees the directory that was before, or all of this one. */
static void hold(struct ctl *c, uint64_t number)
{
	struct ctl_head *h = xk_shared_head(c->g->vps->shared);

	/* A full barrier: memory of nodes that have gone is got again only when their directory holds no more. */
	(void)xk_atomic_xchg(&h->number, number);
}

static int write_dir(struct ctl *c, uint64_t number, const char *text)
{
	struct xk_shared *s = c->g->vps->shared;
	struct ctl_head *h = xk_shared_head(s);
	size_t n = strlen(text), size = (n + TEXT_STEP) / TEXT_STEP * TEXT_STEP;
	unsigned at = number % 2;

	if (c->dir[at] != NULL)
		xk_shared_put(s, c->dir[at], c->dir_size[at]);
	c->dir[at] = xk_shared_get(s, size, false);
	if (c->dir[at] == NULL)
		return XK_E_NOMEM;
	c->dir_size[at] = size;
	memcpy(c->dir[at], text, n);
	memcpy(h->magic, CTL_HEAD_MAGIC, sizeof h->magic);
	h->version = CTL_HEAD_VERSION;
	h->size = sizeof *h;
	xk_store_relaxed(&h->dir[at].at, xk_shared_offset(s, c->dir[at]));
	xk_store_relaxed(&h->dir[at].len, n);
	return XK_OK;
}

static int share_dir(struct ctl *c, uint64_t number)
{
	json_t *dir = dir_json(c);
	char *text = json_dumps(dir, JSON_COMPACT);
	int err = text != NULL ? write_dir(c, number, text) : XK_E_NOMEM;

	json_decref(dir);
	free(text);
	if (err == XK_OK)
		hold(c, number);
	return err;
}

/* By the descriptor of the one before, which a process that may open nothing any more has yet. */
static struct ctl_view *open_view(struct ctl *c, const struct ctl_view *was)
{
	const struct xk_shared *s = c->g->vps->shared;
	char why[128];
	int fd;

	if (s == NULL)
		return ctl_view_here(dir_json(c), why, sizeof why);
	if (was != NULL)
		return ctl_view_anew(was, why, sizeof why);
	fd = xk_shared_reader(s);
	return fd >= 0 ? ctl_view_open(fd, why, sizeof why) : NULL;
}

int ctl_dir_make(struct ctl *c)
{
	bool shared = c->g->vps->shared != NULL;
	struct ctl_view *was = c->view;
	uint64_t number = ++c->ndirs;

	c->view = NULL;
	c->has_dir = !shared || share_dir(c, number) == XK_OK;
	if (!c->has_dir)
		hold(c, 0);              /* places of the one before are no nodes' for ever */
	else
		c->view = open_view(c, was);
	ctl_view_free(was);
	return c->view != NULL ? XK_OK : XK_E_NOMEM;
}

const struct ctl_view *ctl_dir_view(struct ctl_call *k)
{
	if (k->c->view == NULL && ctl_dir_make(k->c) != XK_OK)
		ctl_fail(k, "no-memory", "out of memory");
	return k->c->view;
}

int ctl_cmd_counters(struct ctl_call *k)
{
	int fd;

	if (k->c->g->vps->shared == NULL)
		return ctl_fail(k, "not-shared", "this system has no memory to share: ask for metrics or a snapshot");
	if (!k->c->has_dir && ctl_dir_make(k->c) != XK_OK && !k->c->has_dir)
		return ctl_fail(k, "no-memory", "out of memory");
	fd = xk_shared_reader(k->c->g->vps->shared);
	if (fd < 0)
		return ctl_fail(k, "failed", "cannot open the counters: %s", xk_strerror(fd));
	k->client->pass_fd = fd;
	k->client->looks = true;
	k->result = json_pack("{s:I, s:i}", "bytes", (json_int_t)xk_shared_size(k->c->g->vps->shared), "version",
			      (int)CTL_HEAD_VERSION);
	return XK_OK;
}
