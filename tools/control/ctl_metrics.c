/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ctl_metrics.c - counters as Prometheus reads them: text format, version 0.0.4.
 *
 * One family after the other, each with HELP and TYPE, and all its samples together.  What
 * ends in _total only grows while the graph runs; times are seconds.
 */
#include "tools/control/ctl_view.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long long ull;

struct out { FILE *f; const struct ctl_view *v; bool per_vp; };

static void family(const struct out *o, const char *name, const char *type, const char *help)
{
	fprintf(o->f, "# HELP xkvp_%s %s\n# TYPE xkvp_%s %s\n", name, help, name, type);
}

void ctl_label(FILE *f, const char *key, const char *value, const char *after)
{
	fprintf(f, "%s=\"", key);
	for (; *value != '\0'; value++) {
		if (*value == '\n') {
			fputs("\\n", f);
			continue;
		}
		if (*value == '"' || *value == '\\')
			fputc('\\', f);
		fputc(*value, f);
	}
	fprintf(f, "\"%s", after);
}

/* ---- nodes ----------------------------------------------------------------------------- */

static void node_labels(const struct out *o, const char *name, const struct ctl_view_node *n, const char *key,
			const char *value, int vp)
{
	fprintf(o->f, "xkvp_%s{", name);
	ctl_label(o->f, "node", n->name, ",");
	ctl_label(o->f, "protocol", n->protocol, "");
	if (key != NULL) {
		fputc(',', o->f);
		ctl_label(o->f, key, value, "");
	}
	if (vp >= 0)
		fprintf(o->f, ",vp=\"%d\"", vp);
	fputs("} ", o->f);
}

/* One counter of one node: the sum, or each VP's, never both, or sums would count twice. */
static void node_counter(const struct out *o, const char *name, const struct ctl_view_node *n, uint64_t field,
			 const char *key, const char *value)
{
	if (!o->per_vp) {
		node_labels(o, name, n, key, value, -1);
		fprintf(o->f, "%llu\n", (ull)ctl_view_node_sum(o->v, n, field));
		return;
	}
	for (unsigned i = 0; i < o->v->nvps; i++) {
		node_labels(o, name, n, key, value, (int)i);
		fprintf(o->f, "%llu\n", (ull)ctl_view_read(o->v, n->rep[i] + field));
	}
}

static void node_family(const struct out *o, const char *name, const char *field, const char *help)
{
	uint64_t at = ctl_field(&o->v->node_field, field);

	family(o, name, "counter", help);
	for (unsigned i = 0; i < o->v->nnodes; i++)
		node_counter(o, name, &o->v->node[i], at, NULL, NULL);
}

/* Gone is read first: a session made and gone meanwhile must not count as minus one. */
static void sessions(const struct out *o)
{
	uint64_t made = ctl_field(&o->v->node_field, "sessions_made"), gone = ctl_field(&o->v->node_field, "sessions_gone");

	family(o, "node_sessions", "gauge", "Sessions alive.");
	for (unsigned i = 0; i < o->v->nnodes; i++) {
		uint64_t ended = ctl_view_node_sum(o->v, &o->v->node[i], gone);

		node_labels(o, "node_sessions", &o->v->node[i], NULL, NULL, -1);
		fprintf(o->f, "%llu\n", (ull)(ctl_view_node_sum(o->v, &o->v->node[i], made) - ended));
	}
}

static void node_families(const struct out *o)
{
	const struct ctl_view *v = o->v;

	node_family(o, "node_push_total", "push", "Messages pushed down through the node's sessions.");
	node_family(o, "node_pop_total", "pop", "Messages passed up by the node's sessions.");
	node_family(o, "node_sessions_made_total", "sessions_made", "Sessions made.");
	node_family(o, "node_sessions_gone_total", "sessions_gone", "Sessions ended.");
	sessions(o);
	family(o, "node_drops_total", "counter", "Messages dropped, by reason.");
	for (unsigned i = 0; i < v->nnodes; i++)
		for (unsigned k = 0; k < v->node[i].ndrops; k++)
			node_counter(o, "node_drops_total", &v->node[i], v->drops_at + 8 * k, "reason", v->node[i].drop[k]);
	family(o, "node_events_total", "counter", "The node's own counters.");
	for (unsigned i = 0; i < v->nnodes; i++)
		for (unsigned k = 0; k < v->node[i].ncounts; k++)
			node_counter(o, "node_events_total", &v->node[i], v->counts_at + 8 * k, "event", v->node[i].count[k]);
}

/* ---- virtual processors and workers ---------------------------------------------------------- */

struct row { const char *field, *name, *help; };

static bool ends_in(const char *s, const char *end)
{
	size_t n = strlen(s), k = strlen(end);

	return n >= k && strcmp(s + n - k, end) == 0;
}

/* Sample i of a family; of stages, layer i mod layers of VP i / layers. */
static void row_labels(const struct out *o, const char *name, const char *key, unsigned i, unsigned layers)
{
	fprintf(o->f, "xkvp_%s{%s=\"%u\"", name, key, layers != 0 ? i / layers : i);
	if (layers != 0)
		fprintf(o->f, ",layer=\"%u\"", i % layers);
	fputs("} ", o->f);
}

static void rows(const struct out *o, const char *key, const struct ctl_fields *f, const uint64_t *base, unsigned n,
		 unsigned layers, const struct row *r)
{
	for (; r->field != NULL; r++) {
		uint64_t at = ctl_field(f, r->field);
		bool time = ends_in(r->field, "_ns");

		if (at == UINT64_MAX)
			continue;
		family(o, r->name, ends_in(r->name, "_total") ? "counter" : "gauge", r->help);
		for (unsigned i = 0; i < n; i++) {
			uint64_t x = ctl_view_read(o->v, base[i] + at);

			row_labels(o, r->name, key, i, layers);
			if (time)
				fprintf(o->f, "%llu.%09llu\n", (ull)(x / 1000000000u), (ull)(x % 1000000000u));
			else
				fprintf(o->f, "%llu\n", (ull)x);
		}
	}
}

static const struct row vp_rows[] = {
	{ "units", "vp_units_total", "Units of work run inside the virtual processor." },
	{ "messages", "vp_messages_total", "Messages run inside the virtual processor." },
	{ "handed_over", "vp_handed_over_total", "Messages that came from other virtual processors." },
	{ "posted_out", "vp_posted_out_total", "Messages left for other virtual processors." },
	{ "borrowed", "vp_borrowed_total", "Times that another thread was lent to the virtual processor." },
	{ "direct_handoffs", "vp_direct_handoffs_total", "Messages run by the thread that found them." },
	{ "inbox_drops", "vp_inbox_drops_total", "Messages dropped because another's inbox was full." },
	{ "wrong_vp", "vp_wrong_total", "Messages that came to a virtual processor that is not their connection's." },
	{ "lock_taken", "vp_lock_taken_total", "Times that its lock was taken." },
	{ "lock_contended", "vp_lock_contended_total", "Times that its lock was not had by a first try." },
	{ "lock_waits_timed", "vp_lock_waits_timed_total", "Waits for its lock that were timed, one in 8." },
	{ "lock_wait_ns", "vp_lock_wait_timed_seconds_total", "Time of these waits." },
	{ "lock_holds_timed", "vp_lock_holds_timed_total", "Times that holding its lock was timed, one in 64." },
	{ "lock_hold_ns", "vp_lock_hold_timed_seconds_total", "Time that it was then held." },
	{ "table_taken", "vp_table_taken_total", "Times that the lock on the table of connections was taken." },
	{ "table_contended", "vp_table_contended_total", "Times that it was not had by a first try." },
	{ "buffer_refills", "vp_buffer_refills_total", "Trips to the shared stock of buffers." },
	{ "buffer_misses", "vp_buffer_misses_total", "Buffers that were not to be had." },
	{ NULL, NULL, NULL }
};
static const struct row stage_rows[] = {
	{ "units", "stage_units_total", "Units of work run inside the stage." },
	{ "messages", "stage_messages_total", "Messages run inside the stage." },
	{ "up", "stage_taken_up_total", "Messages taken from queues of stages below." },
	{ "down", "stage_taken_down_total", "Messages taken from queues of stages above." },
	{ "forwarded", "stage_forwarded_total", "Messages put into queues of other stages." },
	{ "backpressure", "stage_backpressure_total", "Times that the stage stopped because a queue that it fills was high." },
	{ "exclusive", "stage_exclusive_total", "Times that the stage had its pipeline to itself." },
	{ "exclusive_waits", "stage_exclusive_waits_total", "Of them, times that it waited for others to leave." },
	{ "late", "stage_late_total", "Messages whose session had ended while they waited." },
	{ "full_ns", "stage_full_nanoseconds_total", "Time that the stage's thread ran nothing because a queue that it fills was high." },
	{ "empty_ns", "stage_empty_nanoseconds_total", "Time that it ran nothing because all queues that it takes from were empty." },
	{ "longest_queue", "stage_longest_queue", "Most messages that waited in one of its queues." },
	{ NULL, NULL, NULL }
};
static const struct row worker_rows[] = {
	{ "units", "worker_rounds_total", "Rounds of the worker." },
	{ "messages", "worker_messages_total", "Messages run by the worker." },
	{ "sleeps", "worker_sleeps_total", "Times that the worker went to sleep." },
	{ "user_ns", "worker_user_seconds_total", "Processor time of the worker in user space." },
	{ "sys_ns", "worker_system_seconds_total", "Processor time of the worker in the kernel." },
	{ "voluntary_switches", "worker_voluntary_switches_total", "Voluntary context switches." },
	{ "involuntary_switches", "worker_involuntary_switches_total", "Involuntary context switches." },
	{ "migrations", "worker_migrations_total", "Times that the worker was seen on another processor." },
	{ NULL, NULL, NULL }
};

char *ctl_metrics(const struct ctl_view *v, bool per_vp, size_t *len)
{
	char *text = NULL;
	struct out o = { open_memstream(&text, len), v, per_vp };
	bool good;

	if (o.f == NULL)
		return NULL;
	family(&o, "info", "gauge", "The graph; always 1.");
	fputs("xkvp_info{", o.f);
	ctl_label(o.f, "graph", v->graph, ",");
	ctl_label(o.f, "threading", v->threading, ",");
	ctl_label(o.f, "lock", v->lock, ",");
	ctl_label(o.f, "clock", v->is_virtual ? "virtual" : "real", "} 1\n");
	family(&o, "vps", "gauge", "Virtual processors.");
	fprintf(o.f, "xkvp_vps %u\n", v->nvps);
	family(&o, "workers", "gauge", "Worker threads.");
	fprintf(o.f, "xkvp_workers %u\n", v->nworkers);
	node_families(&o);
	ctl_histograms(v, o.f, per_vp);
	rows(&o, "vp", &v->vp_field, v->vp, v->nvps, 0, vp_rows);
	if (v->nall != 0)
		rows(&o, "vp", &v->stage_field, v->stage, v->nall, v->layers, stage_rows);
	rows(&o, "worker", &v->worker_field, v->worker, v->nworkers, 0, worker_rows);
	good = !ferror(o.f);
	if (fclose(o.f) != 0 || !good) {
		free(text);
		return NULL;
	}
	return text;
}
