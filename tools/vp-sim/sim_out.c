/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim_out.c - prints what came out: as a table, JSON or CSV; the machine's values with their sources each time.
 *
 * Nothing in it depends on this machine or on when it was run.  A queue that grew has no mean
 * delay: the words say so, and JSON has null.
 */
#include "tools/vp-sim/sim.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const char *const pick_name[] = { "mru", "lru", "low", "random" }, *const queue_name[] = { "one", "processor" };
static const char *const service_name[] = { "cache", "exponential", "constant", "frames" };

/* ---- what was found -------------------------------------------------------------------- */

static bool steady(const struct sim_outcome *o)
{
	for (unsigned i = 0; i < o->nruns; i++)
		if (!o->r[i].steady)
			return false;
	return o->nruns != 0 && o->r[0].served != 0;
}

static double rate_of(const struct sim_outcome *o, uint64_t n)
{
	return o->r->time != 0 ? (double)n * 1e9 / (double)o->r->time : 0;
}

static double share_of(const struct sim_outcome *o, uint64_t n)
{
	return o->r->served != 0 ? (double)n / (double)o->r->served : NAN;
}

struct row { const char *name, *unit; double v; };
#define ROWS 24u

/* Of the first run: counts that say why. */
static unsigned rows_of(const struct sim_outcome *o, struct row *row)
{
	const struct sim_result *r = o->r;
	const struct row rows[] = {
		{ "offered", "1/s", o->m->rate * o->m->streams }, { "throughput", "1/s", rate_of(o, r->served) },
		{ "utilisation", "", sim_utilisation(o->m, r) },
		{ "delay_p50", "us", xk_hist_percentile(r->places, 0.5) / 1e3 },
		{ "delay_p99", "us", xk_hist_percentile(r->places, 0.99) / 1e3 },
		{ "waiting", "", (double)r->waiting }, { "firsts", "", share_of(o, r->firsts) },
		{ "away", "us", r->firsts != 0 ? (double)r->away / (double)r->firsts / 1e3 : NAN },
		{ "map_hits", "", share_of(o, r->map_hits) }, { "sessions_moved", "", share_of(o, r->sessions_moved) },
		{ "protocol_moved", "", share_of(o, r->protocol_moved) }, { "threads_moved", "", share_of(o, r->threads_moved) },
		{ "memory_moved", "", share_of(o, r->memory_moved) }, { "helped", "", share_of(o, r->helped) },
	};

	memcpy(row, rows, sizeof rows);
	return XK_ARRAY_LEN(rows);
}

static const char *const what_name[] = { "delay", "queueing", "execution" };

/* ---- JSON -------------------------------------------------------------------------------- */

static json_t *number(double v) { return isfinite(v) ? json_real(v) : json_null(); }

static json_t *value_json(const char *group, const char *name, const struct sim_value *v)
{
	return json_pack("{s:s?, s:s, s:f, s:s}", "group", group, "name", name, "value", v->v, "source", v->source);
}

static json_t *machine_json(const struct sim_ledger *l)
{
	json_t *values = json_array();

	for (unsigned i = 0; l->spec != NULL && i < SIM_PROPERTIES; i++)
		json_array_append_new(values, value_json(NULL, sim_property_name[i], &l->property[i]));
	for (unsigned how = 0; how < SIM_PARALLELS; how++)
		for (unsigned i = 0; l->has[how] && i < SIM_COSTS; i++)
			json_array_append_new(values, value_json(sim_parallel_name[how], sim_cost_name[i], &l->cost[how][i]));
	return json_pack("{s:s, s:s, s:o}", "name", l->name, "doc", l->doc, "values", values);
}

static json_t *number_or(uint32_t n, uint32_t is, const char *word)
{
	return n == is ? json_string(word) : json_integer(n);
}

static json_t *model_json(const struct sim_model *m)
{
	json_t *j = json_pack("{s:s, s:i, s:s, s:s, s:i, s:s, s:s, s:b, s:b}", "parallel", sim_parallel_name[m->parallel],
			      "processors", (int)m->processors, "pick", pick_name[m->pick], "queue", queue_name[m->queue],
			      "quantum", (int)m->quantum, "threads", m->threads_global ? "global" : "processor", "memory",
			      m->memory_global ? "global" : "processor", "copy", m->copy, "closed", m->closed);

	json_object_set_new(j, "depth", number_or(m->depth, XK_SCHED_WIRED, "wired"));
	json_object_set_new(j, "stacks", m->stacks == SIM_STACKS_STREAMS ? json_string("streams")
									 : number_or(m->stacks, 0, "processors"));
	json_object_set_new(j, "streams", json_integer(m->streams));
	json_object_set_new(j, "rate", json_real(m->rate));
	json_object_set_new(j, "burst", json_integer(m->burst));
	json_object_set_new(j, "inner_us", json_real(m->inner / 1e3));
	json_object_set_new(j, "between_us", json_real(sim_model_between(m) / 1e3));
	json_object_set_new(j, "frame_bytes", json_real(sim_model_bytes(m)));
	json_object_set_new(j, "displace", json_real(m->displace));
	json_object_set_new(j, "service", json_string(service_name[m->service]));
	return j;
}

static json_t *estimate_json(const struct sim_outcome *o, enum sim_what what)
{
	struct sim_estimate e = sim_estimate(o->r, o->nruns, what);
	bool good = steady(o);

	return json_pack("{s:o, s:o, s:o}", "mean_us", number(good ? e.mean : NAN), "half_width_us", number(good ? e.half : NAN),
			 "lag1", number(e.lag1));
}

static json_t *cells_json(const struct sim_outcome *o)
{
	static const char *const level[] = { "hot_hot", "cold_hot", "cold_cold" };
	const struct sim_ledger *l = o->m->ledger;
	json_t *cells = json_object();

	for (unsigned i = 0; l->has[o->m->parallel] && i < 3; i++)
		json_object_set_new(cells, level[i], json_pack("{s:f, s:f}", "cached", sim_cache_cell(l, o->m->parallel, i, false),
				    "moved", sim_cache_cell(l, o->m->parallel, i, true)));
	return cells;
}

static json_t *result_json(const struct sim_outcome *o)
{
	struct row row[ROWS];
	unsigned n = rows_of(o, row);
	json_t *j = json_pack("{s:b, s:I, s:I, s:I}", "steady", steady(o), "events", (json_int_t)o->r->events, "served",
			      (json_int_t)o->r->served, "arrived", (json_int_t)o->r->arrived);

	for (unsigned i = 0; i < 3; i++)
		json_object_set_new(j, what_name[i], estimate_json(o, (enum sim_what)i));
	for (unsigned i = 0; i < n; i++)
		json_object_set_new(j, row[i].name, number(row[i].v));
	return j;
}

static json_t *found_json(const struct sim_outcome *o)
{
	if (!o->found)
		return json_null();
	return json_pack("{s:i, s:f, s:o, s:o}", "streams", (int)o->most, "limit_us", (double)o->m->limit / 1e3, "delay_us",
			 number(sim_mean(o->r, SIM_DELAY)), "delay_of_one_more_us",
			 number(o->above->time == o->m->duration ? sim_mean(o->above, SIM_DELAY) : NAN));
}

json_t *sim_out_asks(const struct sim_model *m)
{
	return json_pack("{s:o, s:o, s:I, s:I, s:I, s:I, s:b}", "model", model_json(m), "machine", machine_json(m->ledger), "duration",
			 (json_int_t)m->duration, "warmup", (json_int_t)m->warmup, "limit", (json_int_t)m->limit, "seed",
			 (json_int_t)m->seed, "finds", m->find_streams);
}

json_t *sim_out_json(const struct sim_outcome *o)
{
	json_t *j = json_pack("{s:i, s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:i, s:o, s:o, s:o, s:o, s:o}", "schema", 1, "tool",
			 "vp-sim", "file", o->file,
			 "name", o->name, "engine", "model", "seed", (json_int_t)o->m->seed, "measured_ns", (json_int_t)o->m->duration,
			 "messages", (json_int_t)o->r->served, "warmup_ns", (json_int_t)o->m->warmup, "replications", (int)o->nruns,
			 "model", model_json(o->m), "machine", machine_json(o->m->ledger), "cells_us", cells_json(o), "result", result_json(o), "max", found_json(o));

	if (o->at != NULL)
		json_object_set(j, "at", o->at);
	return j;
}

/* ---- text ---------------------------------------------------------------------------------- */

static void text_model(const struct sim_outcome *o)
{
	const struct sim_model *m = o->m;

	printf("%s: %s, %u processors of %s, %s, %s of free ones\n", o->name, sim_parallel_name[m->parallel], m->processors,
	       m->ledger->name, m->queue == XK_QUEUE_ONE ? "one queue" : "a queue for each", pick_name[m->pick]);
	printf("%u streams of %g packets/s, trains of %u; simulated %g s, seed %" PRIu64 "\n\n", m->streams, m->rate, m->burst,
	       (double)m->duration / 1e9, m->seed);
}

static void text_estimates(const struct sim_outcome *o)
{
	for (unsigned i = 0; i < 3; i++) {
		struct sim_estimate e = sim_estimate(o->r, o->nruns, (enum sim_what)i);

		printf("%-15s %12.2f us", what_name[i], e.mean);
		if (isfinite(e.half))
			printf("  +- %.2f (95 %%)\n", e.half);
		else
			printf(o->nruns > 1 || e.lag1 <= 0.3 ? "\n" : "  no interval: batches depend on each other (lag 1: %.2f)\n", e.lag1);
	}
}

void sim_out_sources(const struct sim_ledger *l)
{
	if (l->spec == NULL)
		return;
	printf("\nmachine %s: %s\n", l->name, l->doc);
	for (unsigned i = 0; i < SIM_PROPERTIES; i++)
		printf("  %-26s %10.5g  %s\n", sim_property_name[i], l->property[i].v, l->property[i].source);
	for (unsigned how = 0; how < SIM_PARALLELS; how++)
		for (unsigned i = 0; l->has[how] && i < SIM_COSTS; i++)
			printf("  %-7s %-18s %10.5g  %s\n", sim_parallel_name[how], sim_cost_name[i], l->cost[how][i].v,
			       l->cost[how][i].source);
}

static const char *half_text(double half)
{
	static char buf[24];

	snprintf(buf, sizeof buf, "%.2f", half);
	return buf;
}

int sim_out_text(const struct sim_outcome *o)
{
	struct row row[ROWS];
	unsigned n = rows_of(o, row);

	if (o->found)
		printf("most streams with a mean delay below %g ms: %u\n\n", (double)o->m->limit / 1e6, o->most);
	text_model(o);
	if (steady(o))
		text_estimates(o);
	else if (!o->found || o->most != 0)
		printf("no steady state: %.0f packets/s are offered, %.0f were served and the queue grows; there is no mean delay\n",
		       row[0].v, row[1].v);
	for (unsigned i = 0; i < n; i++)
		if (isfinite(row[i].v))
			printf("%-15s %12.5g %s\n", row[i].name, row[i].v, row[i].unit);
	sim_out_sources(o->m->ledger);
	return SIM_OK;
}

/* "  policy=code streams=20", and the end of the line. */
static void row_point(json_t *at)
{
	const char *axis, *sep = " ";
	json_t *v;

	json_object_foreach(at, axis, v) {
		printf("%s %s=%s", sep, axis, json_string_value(v));
		sep = "";
	}
	putchar('\n');
}

int sim_out_row(const struct sim_outcome *o, bool head)
{
	struct sim_estimate e = sim_estimate(o->r, o->nruns, SIM_DELAY);

	if (head)
		printf("processors  streams  %10s %8s %10s %10s %11s %11s%s\n", "delay us", "+- 95 %", "queueing", "execution", "packets/s",
		       "utilisation", o->at != NULL ? "  point" : "");
	printf("%10u  %7u  ", o->m->processors, o->m->streams);
	/* At its maximum a queue grows as far as the limit lets it. */
	if (o->found ? o->most == 0 : !steady(o))
		printf(o->at != NULL ? "%-65s" : "%s", o->found ? "not even one" : "no steady state");
	else
		printf("%10.2f %8s %10.2f %10.2f %11.0f %11.3f", e.mean, isfinite(e.half) ? half_text(e.half) : "-",
		       sim_mean(o->r, SIM_QUEUEING), sim_mean(o->r, SIM_EXECUTION), rate_of(o, o->r->served),
		       sim_utilisation(o->m, o->r));
	row_point(o->at);
	return SIM_OK;
}

/* ---- CSV -------------------------------------------------------------------------------------- */

static void csv_number(double v)
{
	if (isfinite(v))
		printf(",%.10g", v);
	else
		putchar(',');
}

/* In quotes where it needs them. */
static void csv_text(const char *s)
{
	bool quote = s[strcspn(s, "\",\n")] != '\0';

	if (quote)
		putchar('"');
	for (; *s != '\0'; s++) {
		if (*s == '"')
			putchar('"');
		putchar(*s);
	}
	if (quote)
		putchar('"');
	putchar(',');
}

static void csv_head(const struct sim_outcome *o, const struct row *row, unsigned n)
{
	const char *axis;
	json_t *v;

	json_object_foreach(o->at, axis, v)
		csv_text(axis);
	printf("name,machine,parallel,processors,streams,seed,steady,most_streams");
	for (unsigned i = 0; i < 3; i++)
		printf(",%s_us,%s_half_us", what_name[i], what_name[i]);
	for (unsigned i = 0; i < n; i++)
		printf(",%s", row[i].name);
	putchar('\n');
}

int sim_out_csv(const struct sim_outcome *o, bool head)
{
	struct row row[ROWS];
	unsigned n = rows_of(o, row);
	const char *axis;
	json_t *v;

	if (head)
		csv_head(o, row, n);
	json_object_foreach(o->at, axis, v)
		csv_text(json_string_value(v));
	printf("%s,%s,%s,%u,%u,%" PRIu64 ",%d,", o->name, o->m->ledger->name, sim_parallel_name[o->m->parallel],
	       o->m->processors, o->m->streams, o->m->seed, steady(o));
	if (o->found)
		printf("%u", o->most);
	for (unsigned i = 0; i < 3; i++) {
		struct sim_estimate e = sim_estimate(o->r, o->nruns, (enum sim_what)i);

		csv_number(steady(o) ? e.mean : NAN);
		csv_number(steady(o) ? e.half : NAN);
	}
	for (unsigned i = 0; i < n; i++)
		csv_number(row[i].v);
	putchar('\n');
	return SIM_OK;
}
