/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpr_table.c - the table at the end of a run, and a line per interval.
 *
 * Nodes are shown top-down, as one draws a stack.  Drop reasons and counters
 * that are zero are left out.
 */
#include "runtime/vp/xk_machine.h"
#include "tools/vp-run/vpr.h"
#include "runtime/upi/xk_part.h"

#include <string.h>

typedef unsigned long long ull;

/* VPs on which anything happened. */
static unsigned busy_vps(const struct xk_run_result *r, const struct xk_run_node *n)
{
	unsigned busy = 0;

	for (unsigned v = 0; v < r->nvps; v++)
		busy += n->vp[v].push != 0 || n->vp[v].pop != 0 || n->vp[v].sess_live != 0;
	return busy;
}

/* "queue_full 3, no memory 1" of drops at one node; the total is returned. */
static uint64_t drops_text(const struct xk_node *n, const uint64_t *drop, char *buf, size_t len)
{
	uint64_t total = 0;
	size_t used = 0;
	const char *name;

	buf[0] = '\0';
	for (unsigned i = 0; i < XK_DROPS_MAX && (name = xk_run_drop_name(n, i)) != NULL; i++) {
		if (drop[i] == 0)
			continue;
		total += drop[i];
		if (used < len)
			used += (size_t)snprintf(buf + used, len - used, "%s%s %llu", used ? ", " : "", name, (ull)drop[i]);
	}
	return total;
}

/* Counters of an application that say again what its connections say. */
static bool said_already(const struct xk_run_node *n, const char *name)
{
	return n->is_app && (strcmp(name, "messages") == 0 || strcmp(name, "bytes") == 0);
}

/* "42.0 ms" */
static void put_time(FILE *f, double ns)
{
	static const struct { double from, unit; const char *name; } in[] = {
		{ 1e9, 1e9, "s" }, { 1e6, 1e6, "ms" }, { 1e3, 1e3, "us" }, { 0, 1, "ns" },
	};
	unsigned i = 0;

	while (ns < in[i].from)
		i++;
	fprintf(f, "%.*f %s", in[i].unit > 1 ? 1 : 0, ns / in[i].unit, in[i].name);
}

/* A counter; one of nanoseconds is a time, and its unit not part of its name. */
static void put_counter(FILE *f, const char *name, uint64_t v)
{
	size_t len = strlen(name);

	if (len > 3 && strcmp(name + len - 3, "_ns") == 0) {
		fprintf(f, "%.*s ", (int)len - 3, name);
		put_time(f, (double)v);
	} else {
		fprintf(f, "%s %llu", name, (ull)v);
	}
}

static void counters(FILE *f, const struct xk_run_node *n)
{
	const char *const *name = n->node->proto->counts, *sep = "";

	if (n->is_app) {
		fprintf(f, "messages %llu, bytes %llu, connections %llu", (ull)n->messages, (ull)n->bytes,
			(ull)n->nconns);
		sep = ", ";
	}
	for (unsigned i = 0; name != NULL && i < XK_COUNTS_MAX && name[i] != NULL; i++) {
		if (n->all.count[i] == 0 || said_already(n, name[i]))
			continue;
		fputs(sep, f);
		put_counter(f, name[i], n->all.count[i]);
		sep = ", ";
	}
}

static bool has_counters(const struct xk_run_node *n)
{
	for (unsigned i = 0; i < XK_COUNTS_MAX; i++)
		if (n->all.count[i] != 0)
			return true;
	return n->is_app;
}

static void node_line(FILE *f, const struct xk_run_result *r, const struct xk_run_node *n, int width)
{
	char drops[512];
	uint64_t dropped = drops_text(n->node, n->all.drop, drops, sizeof drops);

	fprintf(f, "%-*s %5u %10llu %13llu %13llu %11llu  %s\n", width, n->node->name, busy_vps(r, n),
		(ull)n->all.sess_live, (ull)n->all.push, (ull)n->all.pop, (ull)dropped, drops);
}

void vpr_bits(FILE *f, uint64_t bytes, double s)
{
	double bits = (double)bytes * 8 / s;

	if (bytes != 0)
		fprintf(f, ", %.3g %sbit/s", bits / (bits >= 999.5e6 ? 1e9 : bits >= 999.5e3 ? 1e6 : 1e3),
			bits >= 999.5e6 ? "G" : bits >= 999.5e3 ? "M" : "k");
}

/* The applications that the first line is not of. */
static void others(FILE *f, const struct xk_run_result *r)
{
	double s = (double)r->measured_ns / 1e9;

	for (unsigned i = r->nnodes; i-- > 0;) {
		const struct xk_run_node *n = &r->node[i];

		if (!n->is_app || (int)i == r->busiest || n->messages == 0 || s <= 0)
			continue;
		fprintf(f, "%s %llu messages: %.0f messages/s", n->node->name, (ull)n->messages, (double)n->messages / s);
		vpr_bits(f, n->bytes, s);
		fputc('\n', f);
	}
}

static void processors(FILE *f, const struct xk_run_result *r)
{
	unsigned workers = r->nworkers - r->noutside;
	uint64_t user = 0, sys = 0;

	for (unsigned i = 0; i < r->nworkers; i++) {
		user += r->worker[i].user_ns;
		sys += r->worker[i].sys_ns;
	}
	fprintf(f, "%u virtual processor%s, %u worker%s", r->nvps, r->nvps == 1 ? "" : "s", workers, workers == 1 ? "" : "s");
	if (r->noutside != 0)
		fprintf(f, ", %u thread%s of applications", r->noutside, r->noutside == 1 ? "" : "s");
	if (!r->is_virtual)
		fprintf(f, ", user %.3f s, system %.3f s", (double)user / 1e9, (double)sys / 1e9);
	fputc('\n', f);
}

/* The machine, and every cost with who says so. */
static void machine(FILE *f, const struct xk_run_result *r)
{
	struct xk_run_busy b;

	if (!xk_run_busy(r, &b))
		return;
	fprintf(f, "machine %s: %u simulated processor%s, %.1f %% busy (least %.1f, most %.1f)\n", b.machine->name,
		b.processors, b.processors == 1 ? "" : "s", 100 * b.mean, 100 * b.least, 100 * b.most);
	for (unsigned i = 0; i < b.machine->nvalues; i++) {
		const struct xk_machine_value *v = &b.machine->value[i];

		if (v->text != NULL)
			fprintf(f, "  %-20s %8s     %s\n", v->key, v->text, v->source);
		else
			fprintf(f, "  %-20s %8g %s  %s\n", v->key, v->value, v->bare ? "  " : "us", v->source);
	}
}

static void totals(FILE *f, const struct xk_run_result *r)
{
	double s = (double)r->measured_ns / 1e9;

	fprintf(f, "%s %llu messages in %.3f s%s", r->busiest >= 0 ? r->node[r->busiest].node->name : "total:",
		(ull)r->messages, s, r->is_virtual ? " of virtual time" : "");
	if (r->messages != 0 && s > 0) {
		fprintf(f, ": %.0f messages/s", (double)r->messages / s);
		vpr_bits(f, r->bytes, s);
		fprintf(f, ", %.1f ns per message", (double)r->measured_ns / (double)r->messages);
	}
	fprintf(f, "; %s\n", xk_run_end_text(r->end));
	others(f, r);
	processors(f, r);
	machine(f, r);
}

static void rtt(FILE *f, const struct xk_run_rtt *t)
{
	if (t->known && t->n != 0)
		fprintf(f, "latency: p50 %.1f us, p90 %.1f us, p99 %.1f us, p99.9 %.1f us (%llu samples)\n",
			t->p50 / 1e3, t->p90 / 1e3, t->p99 / 1e3, t->p999 / 1e3, (ull)t->n);
}

static void times(FILE *f, const struct xk_run_times *t)
{
	static const char *const name[XK_TIMES] = { "waited", "worked on", "delay" };

	if (!t->known || t->n == 0)
		return;
	for (unsigned i = 0; i < XK_TIMES; i++) {
		const struct xk_run_dist *d = &t->of[i];

		fprintf(f, "%s: ", name[i]);
		if (i == XK_TIME_EXEC || !t->grows)
			fprintf(f, "mean %.2f us, ", d->mean / 1e3);
		fprintf(f, "p50 %.2f us, p90 %.2f us, p99 %.2f us, p99.9 %.2f us", d->p50 / 1e3, d->p90 / 1e3, d->p99 / 1e3, d->p999 / 1e3);
		fprintf(f, i == 0 ? " (%llu messages)\n" : "\n", (ull)t->n);
	}
}

static void affinity(FILE *f, const struct xk_run_affinity *a, bool carried)
{
	const char *what = carried ? "messages by the I/O thread of the one before" : "turns on the worker of the one before";
	const struct xk_affinity_counts *c = &a->counts;
	uint64_t turns = c->hits + c->moves;

	if (!a->known || turns == 0)
		return;
	fprintf(f, "affinity: %.1f %% of %llu %s, %llu moves", 100.0 * (double)c->hits / (double)turns, (ull)turns, what, (ull)c->moves);
	if (c->starts != 0)
		fprintf(f, "; %llu starts of idle ones, %.1f %% of who ran last, idle for %.1f us (p50), %.1f us (p99)", (ull)c->starts,
			100.0 * (double)c->code_hits / (double)c->starts, a->away.p50 / 1e3, a->away.p99 / 1e3);
	fputc('\n', f);
}

static void freelist(FILE *f, const struct xk_freelist_counts *c)
{
	uint64_t all = c->hits + c->moves;

	if (all != 0)
		fprintf(f, "freelist: %.1f %% of %llu free buffers taken by the processor that had freed them, %llu moves\n",
			100.0 * (double)c->hits / (double)all, (ull)all, (ull)c->moves);
}

static void stacks(FILE *f, const struct xk_stack_counts *c)
{
	uint64_t all = c->hits + c->moves;

	if (all != 0)
		fprintf(f, "stacks: %.1f %% of %llu units of work on a stack that the processor had used last, %llu moves\n",
			100.0 * (double)c->hits / (double)all, (ull)all, (ull)c->moves);
	if (c->stackless != 0)
		fprintf(f, "stacks: %llu units of work found no memory for one\n", (ull)c->stackless);
}

static void background(FILE *f, const struct xk_background_counts *b)
{
	if (b->slices + b->rests != 0)
		fprintf(f, "background: %.1f %% of %llu slices of idle workers walked, %llu references to data, %llu to code\n",
			100.0 * (double)b->slices / (double)(b->slices + b->rests), (ull)(b->slices + b->rests), (ull)b->data, (ull)b->code);
}

/* What nodes took, and what is left: input of drivers, applications' own work, scheduling. */
static void layer_times(FILE *f, const struct xk_run_result *r, int width)
{
	double all = 0;

	if (r->graph->meter == NULL || r->messages == 0)
		return;
	fprintf(f, "%-*s %13s %13s %13s %13s %13s\n", width, "own time", "up", "ns each", "down", "ns each", "ns/message");
	for (unsigned i = r->nnodes; i-- > 0;) {
		const struct xk_meter_counts *t = &r->node[i].time;

		fprintf(f, "%-*s %13llu %13.1f %13llu %13.1f %13.1f\n", width, r->node[i].node->name, (ull)t->n[0],
			t->n[0] ? t->ns[0] / (double)t->n[0] : 0, (ull)t->n[1], t->n[1] ? t->ns[1] / (double)t->n[1] : 0,
			(t->ns[0] + t->ns[1]) / (double)r->messages);
		all += t->ns[0] + t->ns[1];
	}
	fprintf(f, "nodes took %.1f ns a message, waiting included; the workers took %.1f ns of processor time\n", all / (double)r->messages,
		xk_run_processor_ns(r) / (double)r->messages);
}

static const char *lock_class(const char *name)
{
	static const struct { const char *name, *text; } of[] = {
		{ "vp", "virtual processor lock" }, { "io_thread", "I/O thread lock" }, { "table", "connection table lock" },
		{ "map", "layer map lock" }, { "session", "layer session lock" }, { "queue", "I/O queue lock" },
		{ "memory", "memory pool lock" }, { "stacks", "stack pool lock" },
	};
	unsigned i = 0;

	while (i + 1 < XK_ARRAY_LEN(of) && strcmp(of[i].name, name) != 0)
		i++;
	return of[i].text;
}

static void locks(FILE *f, const struct xk_run_result *r)
{
	struct xk_run_locks class[XK_RUN_LOCKS];
	unsigned n = xk_run_locks(r, class);

	for (unsigned i = 0; i < n; i++) {
		const struct xk_lock_counts *c = &class[i].sum;

		if (c->taken == 0)
			continue;
		fprintf(f, "%u %s%s (%s): %llu acquisitions, %.2f %% contended", class[i].n, lock_class(class[i].name),
			class[i].n == 1 ? "" : "s", class[i].policy, (ull)c->taken,
			100.0 * (double)c->contended / (double)c->taken);
		if (!r->is_virtual || r->graph->vps->sim != NULL)
			fprintf(f, ", about %.3f s wait, %.3f s hold", (double)xk_lock_waited_ns(c) / 1e9,
				(double)xk_lock_held_ns(c) / 1e9);
		fputc('\n', f);
	}
}

/* What measuring them took of the processor time that all took. */
static void measuring(FILE *f, const struct xk_run_result *r)
{
	double share;

	(void)xk_run_lock_measuring(r, &share);
	if (!r->is_virtual && share > 0)
		fprintf(f, "lock timing overhead %.3f %% CPU\n", 100 * share);
}

static void handoffs(FILE *f, const struct xk_run_result *r)
{
	const struct xk_arch *arch = &r->graph->vps->arch;
	uint64_t direct = 0, waits = 0, reordered = 0;

	for (unsigned i = 0; i < r->nvps; i++) {
		direct += r->vp[i].carried;
		waits += r->vp[i].order_stalls;
		reordered += r->vp[i].reordered;
	}
	if (arch->handover == XK_HANDOVER_POST)
		return;
	fprintf(f, "%llu messages run by the finding thread (direct handoff)", (ull)direct);
	if (xk_vpset_pools(r->graph->vps))
		fprintf(f, ", %llu stalled for ordering, %llu reordered", (ull)waits, (ull)reordered);
	fputc('\n', f);
}

static void stages(FILE *f, const struct xk_run_result *r)
{
	const struct xk_vpset *set = r->graph->vps;

	if (set->arch.domain != XK_DOMAIN_LAYER)
		return;
	fprintf(f, "%8s %5s %13s %13s %13s %12s %11s %13s %9s %9s\n", "pipeline", "layer", "rx", "tx",
		"forwarded", "backpressure", "sleeps", "longest queue", "full ms", "empty ms");
	for (unsigned i = 0; i < r->nall; i++) {
		const struct xk_stage_stats *l = &r->vp[i].stage;

		fprintf(f, "%8u %5u %13llu %13llu %13llu %12llu %11llu %13llu %9.1f %9.1f\n", l->pipeline, l->layer,
			(ull)l->up, (ull)l->down, (ull)l->forwarded, (ull)l->backpressure, (ull)l->sleeps, (ull)l->most,
			(double)l->full_ns / 1e6, (double)l->empty_ns / 1e6);
	}
}

/* What was lost in the warm-up or before may be why the rate is what it is. */
static void before(FILE *f, const struct xk_run_result *r)
{
	const char *sep = "before measuring: ";
	char drops[512];

	for (unsigned i = r->nnodes; i-- > 0;) {
		const struct xk_run_node *n = &r->node[i];

		if (drops_text(n->node, n->dropped_before, drops, sizeof drops) == 0)
			continue;
		fprintf(f, "%s%s %s", sep, n->node->name, drops);
		sep = ", ";
	}
	if (sep[1] == ' ')
		fputc('\n', f);
}

static void warnings(FILE *f, const struct xk_run_result *r)
{
	char text[XK_RUN_WARNINGS][XK_RUN_WARNING_LEN];
	unsigned n = xk_run_warnings(r, text);

	for (unsigned i = 0; i < n; i++)
		fprintf(f, "warning: %s\n", text[i]);
}

void vpr_table(FILE *f, const struct xk_run_result *r)
{
	int width = 10;

	for (unsigned i = 0; i < r->nnodes; i++)
		if ((int)strlen(r->node[i].node->name) > width)
			width = (int)strlen(r->node[i].node->name);
	fprintf(f, "%-*s %5s %10s %13s %13s %11s  %s\n", width, "node", "VPs", "sessions", "push", "pop", "drops",
		"reasons");
	for (unsigned i = r->nnodes; i-- > 0;)
		node_line(f, r, &r->node[i], width);
	for (unsigned i = r->nnodes; i-- > 0;) {
		if (!has_counters(&r->node[i]))
			continue;
		fprintf(f, "%-*s ", width, r->node[i].node->name);
		counters(f, &r->node[i]);
		fputc('\n', f);
	}
	before(f, r);
	totals(f, r);
	warnings(f, r);
	rtt(f, &r->rtt);
	times(f, &r->times);
	affinity(f, &r->affinity, r->graph->vps->fifo == NULL);
	vpr_heat_line(f, &r->heat);
	freelist(f, &r->freelist);
	stacks(f, &r->stacks);
	background(f, &r->background);
	layer_times(f, r, width);
	locks(f, r);
	measuring(f, r);
	handoffs(f, r);
	stages(f, r);
}

void vpr_interval(void *arg, const struct xk_run_sample *s)
{
	double len = (double)s->len / 1e9;

	(void)arg;
	fprintf(stderr, "%8.3f s  %12.0f messages/s  %10.3f Mbit/s\n", (double)(s->at + s->len) / 1e9,
		len > 0 ? (double)s->messages / len : 0, len > 0 ? (double)s->bytes * 8 / len / 1e6 : 0);
}
