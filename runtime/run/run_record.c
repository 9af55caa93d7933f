/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run_record.c - a run in one record: throughput and what it cost, each also per KB of
 * payload, and what measuring the locks took of it.
 *
 * A KB is 1024 bytes of the busiest application.  What a run cannot tell is null, with
 * the reason beside it: one in virtual time has no processor and no scheduler (simulated processors have
 * switches, waits for locks, and user time, in their own), one without applications no payload.
 * Invariant: every key is there in every record.
 */
#include "runtime/run/run_priv.h"

#include <jansson.h>

#include "runtime/base/xk_clock.h"

struct record {
	json_t *j, *per_kb;
	double  kb;                      /* 0: not known */
};

static void put(struct record *r, const char *key, bool known, double v)
{
	json_object_set_new(r->j, key, known ? json_real(v) : json_null());
}

/* The same per KB, too. */
static void put_cost(struct record *r, const char *key, bool known, double v)
{
	put(r, key, known, v);
	json_object_set_new(r->per_kb, key, known && r->kb > 0 ? json_real(v / r->kb) : json_null());
}

static void put_workers(struct record *r, const struct xk_run_result *x)
{
	double user = 0, sys = 0, cpu = 0, vol = 0, invol = 0, moved = 0;
	bool real = !x->is_virtual;

	for (unsigned i = 0; i < x->nworkers; i++) {
		const struct xk_worker_stats *w = &x->worker[i];

		user += (double)w->user_ns;
		sys += (double)w->sys_ns;
		cpu += (double)w->cpu_ns;
		vol += (double)w->nvcsw;
		invol += (double)w->nivcsw;
		moved += (double)w->migrations;
	}
	put_cost(r, "user_ns", run_threads(x), user);
	put_cost(r, "system_ns", real, sys);
	put_cost(r, "cpu_ns", real, cpu);
	put_cost(r, "voluntary_switches", run_threads(x), vol);
	put_cost(r, "involuntary_switches", run_threads(x), invol);
	put_cost(r, "migrations", real, moved);
}

double xk_run_processor_ns(const struct xk_run_result *x)
{
	double cpu = 0;

	for (unsigned i = 0; i < x->nworkers; i++)
		cpu += (double)x->worker[i].cpu_ns;
	return cpu;
}

double xk_run_lock_measuring(const struct xk_run_result *x, double *share)
{
	struct xk_run_locks class[XK_RUN_LOCKS];
	unsigned n = xk_run_locks(x, class);
	double cpu = xk_run_processor_ns(x), ns;
	uint64_t readings = 0;

	for (unsigned i = 0; i < n; i++)
		readings += 2 * (class[i].sum.waits_timed + class[i].sum.holds_timed);
	ns = (double)readings * xk_clock_cost();
	*share = cpu > 0 ? ns / cpu : 0;
	return ns;
}

static void put_locks(struct record *r, const struct xk_run_result *x)
{
	struct xk_run_locks class[XK_RUN_LOCKS];
	struct xk_lock_counts sum = { 0 };
	unsigned n = xk_run_locks(x, class);
	double share, measuring = xk_run_lock_measuring(x, &share);

	for (unsigned i = 0; i < n; i++)
		xk_lock_counts_add(&sum, &class[i].sum, 1);
	put(r, "lock_measuring_ns", !x->is_virtual, measuring);
	put(r, "lock_measuring_share", !x->is_virtual && xk_run_processor_ns(x) > 0, share);
	put_cost(r, "lock_taken", true, (double)sum.taken);
	put(r, "lock_contended_share", sum.taken != 0, sum.taken != 0 ? (double)sum.contended / (double)sum.taken : 0);
	put_cost(r, "lock_wait_ns", run_threads(x), (double)xk_lock_waited_ns(&sum));
}

static void put_machine(struct record *r, const struct xk_run_result *x)
{
	bool sched = x->sched.known && !x->is_virtual, misses = x->misses.known && !x->is_virtual;
	const char *why = x->is_virtual ? "the clock was simulated" : x->misses.why;

	put_cost(r, "run_delay_ns", sched, (double)x->sched.delay_ns);
	put_cost(r, "time_slices", sched, (double)x->sched.slices);
	put(r, "starved_share", sched, xk_run_starved(x));
	put_cost(r, "cache_misses", misses, (double)x->misses.n);
	json_object_set_new(r->j, "cache_misses_not_available", misses || why == NULL ? json_null() : json_string(why));
}

/* Each node's own time on a message of the run, where it was metered. */
static json_t *layers_json(const struct xk_run_result *x)
{
	json_t *j;

	if (x->graph->meter == NULL || x->is_virtual || x->messages == 0)
		return json_null();
	j = json_object();
	for (unsigned i = 0; i < x->nnodes; i++)
		json_object_set_new(j, x->node[i].node->name,
				    json_real((x->node[i].time.ns[0] + x->node[i].time.ns[1]) / (double)x->messages));
	return j;
}

static void put_rtt(struct record *r, const struct xk_run_rtt *t)
{
	bool known = t->known && t->n != 0;

	put(r, "rtt_samples", t->known, (double)t->n);
	put(r, "rtt_p50_ns", known, t->p50);
	put(r, "rtt_p90_ns", known, t->p90);
	put(r, "rtt_p99_ns", known, t->p99);
	put(r, "rtt_p999_ns", known, t->p999);
}

/* As queue_ns and so on: of each the mean and percentiles; null where nobody reads stamps.  Where no steady state was,
 * neither waiting nor delay has a mean. */
static void put_times(struct record *r, const struct xk_run_times *t)
{
	static const char *const name[XK_TIMES] = { "queue_ns", "exec_ns", "delay_ns" };

	put(r, "delay_samples", t->known, (double)t->n);
	json_object_set_new(r->j, "steady", t->known && t->n != 0 ? json_boolean(!t->grows) : json_null());
	for (unsigned i = 0; i < XK_TIMES; i++) {
		const struct xk_run_dist *d = &t->of[i];
		bool steady = i == XK_TIME_EXEC || !t->grows;

		json_object_set_new(r->j, name[i], !t->known || t->n == 0 ? json_null() :
			json_pack("{s:o, s:f, s:f, s:f, s:f}", "mean", steady ? json_real(d->mean) : json_null(),
				  "p50", d->p50, "p90", d->p90, "p99", d->p99, "p999", d->p999));
	}
}

static json_t *dist_json(const struct xk_run_dist *d)
{
	return json_pack("{s:f, s:f, s:f, s:f, s:f}", "mean", d->mean, "p50", d->p50, "p90", d->p90, "p99", d->p99, "p999", d->p999);
}

/* By powers of two: [nanoseconds, how often it was as long as that, or up to twice as long], the shortest first. */
static json_t *hist_json(const uint64_t *hist)
{
	json_t *rows = json_array();
	uint64_t n = 0;

	for (unsigned i = 0, power = 0; i < XK_HIST_PLACES; i++) {
		n += hist[i];
		if (i + 1 < XK_HIST_PLACES && xk_hist_place(1ull << (power + 1)) != i + 1)
			continue;
		if (n != 0)
			json_array_append_new(rows, json_pack("[I, I]", (json_int_t)(power == 0 ? 0 : 1ull << power), (json_int_t)n));
		n = 0;
		power++;
	}
	return rows;
}

static json_t *affinity_json(const struct xk_run_affinity *a)
{
	const struct xk_affinity_counts *c = &a->counts;
	json_t *j;

	if (!a->known)
		return json_null();
	j = json_pack("{s:I, s:I}", "hits", (json_int_t)c->hits, "moves", (json_int_t)c->moves);
	json_object_set_new(j, "code", !a->chosen ? json_null() :
			    json_pack("{s:I, s:I}", "hits", (json_int_t)c->code_hits, "moves", (json_int_t)c->code_moves));
	json_object_set_new(j, "starts", a->chosen ? json_integer((json_int_t)c->starts) : json_null());
	json_object_set_new(j, "away_ns", c->starts != 0 ? dist_json(&a->away) : json_null());
	json_object_set_new(j, "away", a->chosen ? hist_json(c->away) : json_null());
	return j;
}

static json_t *freelist_json(const struct xk_freelist_counts *c)
{
	return c->shelves == 0 ? json_null() : json_pack("{s:I, s:I, s:I}", "pools", (json_int_t)c->shelves,
							   "hits", (json_int_t)c->hits, "moves", (json_int_t)c->moves);
}

static json_t *stacks_json(const struct xk_stack_counts *c)
{
	return c->pools == 0 ? json_null() :
	       json_pack("{s:I, s:I, s:I, s:I, s:I}", "pools", (json_int_t)c->pools, "stacks", (json_int_t)c->stacks,
			 "hits", (json_int_t)c->hits, "moves", (json_int_t)c->moves, "stackless", (json_int_t)c->stackless);
}

static json_t *background_json(const struct xk_run_result *x)
{
	const struct xk_background_counts *b = &x->background;

	if (!x->graph->vps->arch.background.on)
		return json_null();
	return json_pack("{s:I, s:I, s:I, s:I}", "slices", (json_int_t)b->slices, "rests", (json_int_t)b->rests,
			 "data", (json_int_t)b->data, "code", (json_int_t)b->code);
}

struct json_t *run_record_json(const struct xk_run_result *x)
{
	struct record r = { json_object(), json_object(), x->busiest >= 0 ? (double)x->bytes / 1024 : 0 };
	double s = (double)x->measured_ns / 1e9;

	put(&r, "mbit_per_s", x->busiest >= 0 && s > 0, s > 0 ? (double)x->bytes * 8 / 1e6 / s : 0);
	put(&r, "messages_per_s", s > 0, s > 0 ? (double)x->messages / s : 0);
	put(&r, "payload_kb", x->busiest >= 0, r.kb);
	put_rtt(&r, &x->rtt);
	put_times(&r, &x->times);
	json_object_set_new(r.j, "affinity", affinity_json(&x->affinity));
	if (x->heat.cell != NULL)
		json_object_set_new(r.j, "heat", run_heat_json(&x->heat));
	json_object_set_new(r.j, "freelist", freelist_json(&x->freelist));
	json_object_set_new(r.j, "stacks", stacks_json(&x->stacks));
	json_object_set_new(r.j, "background", background_json(x));
	put_workers(&r, x);
	put_locks(&r, x);
	put_machine(&r, x);
	json_object_set_new(r.j, "layer_ns", layers_json(x));
	json_object_set_new(r.j, "per_kb", r.per_kb);
	return r.j;
}
