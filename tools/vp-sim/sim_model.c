/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim_model.c - reads the `model` of a bench file: streams, policies, and what is to be found.
 *
 * `affinity` is the policy in one word (Salehi and others 1995, Table 1): code, the processor that
 * was used last, from one queue; stream, each stream or stack on its own processor; none, the
 * processor that was used first.  `pick`, `queue` and `depth` refine it.
 */
#include "tools/vp-sim/sim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/xk_param_value.h"

static const char *const affinities[] = { "code", "stream", "none", NULL };
static const char *const picks[] = { "mru", "lru", "low", "random", NULL };
static const char *const queues[] = { "one", "processor", NULL };
static const char *const pools[] = { "processor", "global", NULL };
static const char *const services[] = { "cache", "exponential", "constant", "frames", NULL };
static const char *const finds[] = { "nothing", "streams", NULL };

enum key {
	K_AFFINITY, K_BURST, K_CLOSED, K_COPY, K_DEPTH, K_DISPLACE, K_FIND, K_FRAMES, K_INNER, K_LIMIT, K_MACHINE, K_MEAN, K_MEMORY,
	K_PARALLEL, K_PICK, K_PROCESSORS, K_QUANTUM, K_QUEUE, K_RATE, K_SERVICE, K_STACKS, K_STREAMS, K_THREADS, KEYS
};

/* Those with a type of their own have none here. */
static const struct xk_param params[KEYS] = {
	[K_AFFINITY] = { .name = "affinity", .type = XK_P_ENUM, .choices = affinities },
	[K_BURST] = { .name = "burst", .type = XK_P_UINT, .min = "1", .max = "1000000" },
	[K_CLOSED] = { .name = "closed", .type = XK_P_BOOL },
	[K_COPY] = { .name = "copy", .type = XK_P_BOOL },
	[K_DEPTH] = { .name = "depth", .type = XK_P_TEXT },
	[K_DISPLACE] = { .name = "displace", .type = XK_P_FRACTION },
	[K_FIND] = { .name = "find", .type = XK_P_ENUM, .choices = finds },
	[K_FRAMES] = { .name = "frames", .type = XK_P_TEXT },
	[K_INNER] = { .name = "inner", .type = XK_P_TIME, .max = "1h" },
	[K_LIMIT] = { .name = "limit", .type = XK_P_TIME, .min = "1us", .max = "1h" },
	[K_MACHINE] = { .name = "machine", .type = XK_P_TEXT },
	[K_MEAN] = { .name = "mean", .type = XK_P_TIME, .min = "1ns", .max = "1h" },
	[K_MEMORY] = { .name = "memory", .type = XK_P_ENUM, .choices = pools },
	[K_PARALLEL] = { .name = "parallel", .type = XK_P_ENUM, .choices = sim_parallel_name },
	[K_PICK] = { .name = "pick", .type = XK_P_ENUM, .choices = picks },
	[K_PROCESSORS] = { .name = "processors", .type = XK_P_UINT, .min = "1", .max = "1024" },
	[K_QUANTUM] = { .name = "quantum", .type = XK_P_UINT, .max = "1000000" },
	[K_QUEUE] = { .name = "queue", .type = XK_P_ENUM, .choices = queues },
	[K_RATE] = { .name = "rate", .type = XK_P_TEXT },
	[K_SERVICE] = { .name = "service", .type = XK_P_ENUM, .choices = services },
	[K_STACKS] = { .name = "stacks", .type = XK_P_TEXT },
	[K_STREAMS] = { .name = "streams", .type = XK_P_UINT, .min = "1", .max = "65536" },
	[K_THREADS] = { .name = "threads", .type = XK_P_ENUM, .choices = pools },
};

struct reader { const struct xk_spec *s; struct xk_errs *e; const struct xk_value *tab; };

void sim_model_defaults(struct sim_model *m)
{
	*m = (struct sim_model){ .depth = XK_SCHED_WIRED, .streams = 100, .burst = 1, .rate = 125, .inner = 80e3, .displace = 1,
				 .duration = 20 * XK_SEC, .warmup = 2 * XK_SEC, .limit = 40 * XK_MS, .seed = 1, .mean = 100e3 };
}

/* ---- values ---------------------------------------------------------------------------- */

#define COMPLAIN(r, k, ...) \
	xk_spec_bench_error((r)->s, (r)->e, (const char *[]){ "model", params[k].name, NULL }, __VA_ARGS__)

static const struct xk_value *given(const struct reader *r, enum key k)
{
	const struct xk_value *v = xk_value_get(r->tab, params[k].name);

	return v == NULL || v->kind == XK_V_POISON ? NULL : v;
}

/* A scalar by its type; false: not given, or wrong and told. */
static bool take(const struct reader *r, enum key k, union xk_pval *out)
{
	const struct xk_value *v = given(r, k);
	bool bare;
	char why[300];

	if (v == NULL)
		return false;
	bare = v->kind == XK_V_INT || v->kind == XK_V_FLOAT;
	if (!bare && v->kind != XK_V_TEXT && v->kind != XK_V_TYPED && v->kind != XK_V_BOOL)
		COMPLAIN(r, k, "'%s' needs a %s", params[k].name, xk_param_type_name(params[k].type));
	else if (xk_param_parse(&params[k], v->text, bare, out, why, sizeof why) != XK_OK)
		COMPLAIN(r, k, "'%s' %s", params[k].name, why);
	else
		return true;
	return false;
}

static unsigned take_word(const struct reader *r, enum key k, unsigned otherwise)
{
	union xk_pval v;

	return take(r, k, &v) ? v.e : otherwise;
}

static unsigned take_uint(const struct reader *r, enum key k, unsigned otherwise)
{
	union xk_pval v;

	return take(r, k, &v) ? (unsigned)v.u : otherwise;
}

static bool take_bool(const struct reader *r, enum key k)
{
	union xk_pval v;

	return take(r, k, &v) && v.b;
}

static xk_ns take_time(const struct reader *r, enum key k, xk_ns otherwise)
{
	union xk_pval v;

	return take(r, k, &v) ? v.u : otherwise;
}

/* A whole number up to most, or one of two words that stand for one. */
static uint32_t take_number_or(const struct reader *r, enum key k, unsigned least, unsigned most, const char *const word[2],
			       const uint32_t means[2], uint32_t otherwise)
{
	const struct xk_value *v = given(r, k);
	unsigned long n;
	char *end;
	bool whole;

	if (v == NULL)
		return otherwise;
	for (unsigned i = 0; i < 2; i++)
		if (v->kind == XK_V_TEXT && strcmp(v->text, word[i]) == 0)
			return means[i];
	whole = v->kind == XK_V_INT || v->kind == XK_V_TEXT;
	n = whole ? strtoul(v->text, &end, 10) : 0;
	if (whole && end != v->text && *end == '\0' && v->text[0] != '-' && n >= least && n <= most)
		return (uint32_t)n;
	COMPLAIN(r, k, "'%s' needs \"%s\", \"%s\" or a whole number from %u to %u", params[k].name, word[0], word[1], least, most);
	return otherwise;
}

static double take_rate(const struct reader *r, double otherwise)
{
	const struct xk_value *v = given(r, K_RATE);
	double rate;

	if (v == NULL)
		return otherwise;
	rate = v->kind == XK_V_INT || v->kind == XK_V_FLOAT || v->kind == XK_V_TEXT ? strtod(v->text, NULL) : 0;
	if (isfinite(rate) && rate > 0 && rate <= 1e9)
		return rate;
	COMPLAIN(r, K_RATE, "'rate' needs packets a second and stream, above 0 and at most 1e9");
	return otherwise;
}

/* ---- frames ---------------------------------------------------------------------------------- */

static bool is_number(const struct xk_value *v)
{
	return v->kind == XK_V_INT || v->kind == XK_V_FLOAT;
}

static void read_frames(const struct reader *r, struct sim_model *m)
{
	const struct xk_value *v = given(r, K_FRAMES);
	double sum = 0;

	if (v == NULL)
		return;
	if (v->kind != XK_V_LIST || v->n == 0 || v->n > SIM_FRAMES) {
		COMPLAIN(r, K_FRAMES, "'frames' needs a list of at most %u pairs of bytes and per cent: { { 28, 2.8 }, ... }",
			 SIM_FRAMES);
		return;
	}
	for (unsigned i = 0; i < v->n; i++) {
		const struct xk_value *pair = &v->item[i];
		double share;

		if (pair->kind != XK_V_LIST || pair->n != 2 || !is_number(&pair->item[0]) || !is_number(&pair->item[1]) ||
		    strtod(pair->item[0].text, NULL) < 0 || (share = strtod(pair->item[1].text, NULL)) < 0) {
			COMPLAIN(r, K_FRAMES, "'frames': number %u needs bytes and per cent, neither below 0: { 28, 2.8 }", i + 1);
			return;
		}
		sum += share;
		m->frame[m->nframes++] = (struct sim_frame){ .bytes = strtod(pair->item[0].text, NULL), .share = sum };
	}
	/* Printed tables are rounded. */
	if (fabs(sum - 100) > 0.5)
		COMPLAIN(r, K_FRAMES, "'frames' add up to %g %%, not to 100", sum);
	for (unsigned i = 0; i < m->nframes; i++)
		m->frame[i].share /= sum;
}

double sim_model_bytes(const struct sim_model *m)
{
	double bytes = 0, before = 0;

	for (unsigned i = 0; i < m->nframes; i++) {
		bytes += m->frame[i].bytes * (m->frame[i].share - before);
		before = m->frame[i].share;
	}
	return bytes;
}

double sim_model_between(const struct sim_model *m)
{
	return 1e9 / m->rate * m->burst - (m->burst - 1) * m->inner;
}

/* ---- the table ---------------------------------------------------------------------------------- */

static void read_keys(const struct reader *r)
{
	const char *names[KEYS], *near;

	for (unsigned i = 0; i < KEYS; i++)
		names[i] = params[i].name;
	for (unsigned i = 0; i < r->tab->n; i++) {
		const char *key = r->tab->kind == XK_V_MAP && r->tab->key[i].kind == XK_V_TEXT ? r->tab->key[i].text : "(none)";
		const char *path[] = { "model", key, NULL };
		bool is = false;

		for (unsigned k = 0; k < KEYS; k++)
			is |= strcmp(names[k], key) == 0;
		near = is ? NULL : xk_errs_suggest(key, names, KEYS);
		if (!is && near != NULL)
			xk_spec_bench_error(r->s, r->e, path, "unknown parameter 'model: %.60s' (did you mean '%s'?)", key, near);
		else if (!is)
			xk_spec_bench_error(r->s, r->e, path, "unknown parameter 'model: %.60s'", key);
	}
}

static void read_policy(const struct reader *r, struct sim_model *m)
{
	static const char *const depth_word[2] = { "wired", "steal" }, *const stacks_word[2] = { "processors", "streams" };
	static const uint32_t depth[2] = { XK_SCHED_WIRED, XK_SCHED_STEAL };
	static const uint32_t stacks[2] = { SIM_STACKS_PROCESSORS, SIM_STACKS_STREAMS };
	unsigned affinity = take_word(r, K_AFFINITY, 0);

	m->parallel = (enum sim_parallel)take_word(r, K_PARALLEL, SIM_LOCKING);
	m->pick = (enum xk_pick)take_word(r, K_PICK, affinity == 2 ? XK_PICK_LRU : XK_PICK_MRU);
	m->queue = (enum xk_queue)take_word(r, K_QUEUE, affinity == 1 ? XK_QUEUE_PER : XK_QUEUE_ONE);
	m->depth = take_number_or(r, K_DEPTH, 0, 1000000, depth_word, depth, XK_SCHED_WIRED);
	m->stacks = take_number_or(r, K_STACKS, 1, SIM_STREAMS_MAX, stacks_word, stacks, SIM_STACKS_PROCESSORS);
	m->quantum = take_uint(r, K_QUANTUM, 0);
	m->threads_global = take_word(r, K_THREADS, 0) == 1;
	m->memory_global = take_word(r, K_MEMORY, 0) == 1;
	m->processors = take_uint(r, K_PROCESSORS, 0);
}

static void read_streams(const struct reader *r, struct sim_model *m)
{
	union xk_pval v;

	m->streams = take_uint(r, K_STREAMS, m->streams);
	m->burst = take_uint(r, K_BURST, m->burst);
	m->rate = take_rate(r, m->rate);
	m->inner = (double)take_time(r, K_INNER, (xk_ns)m->inner);
	m->closed = take_bool(r, K_CLOSED);
	m->copy = take_bool(r, K_COPY);
	m->displace = take(r, K_DISPLACE, &v) ? v.d : m->displace;
	m->service = (enum sim_service)take_word(r, K_SERVICE, SIM_SERVICE_CACHE);
	m->mean = (double)take_time(r, K_MEAN, (xk_ns)m->mean);
	m->limit = take_time(r, K_LIMIT, m->limit);
	m->find_streams = take_word(r, K_FIND, 0) == 1;
	read_frames(r, m);
}

static void read_times(struct sim_model *m, const struct xk_spec *s, struct xk_errs *e)
{
	static const struct xk_param p[2] = { { .name = "duration", .type = XK_P_TIME, .min = "1us", .max = "10h" },
					      { .name = "warmup", .type = XK_P_TIME, .max = "10h" } };
	xk_ns *out[2] = { &m->duration, &m->warmup };

	for (unsigned i = 0; i < 2; i++) {
		const struct xk_value *v = xk_value_get(xk_spec_bench(s), p[i].name);
		union xk_pval u;
		char why[300];

		if (v == NULL || (v->kind != XK_V_TEXT && v->kind != XK_V_TYPED))
			continue;
		if (xk_param_parse(&p[i], v->text, false, &u, why, sizeof why) == XK_OK)
			*out[i] = u.u;
		else
			xk_spec_bench_error(s, e, (const char *[]){ p[i].name, NULL }, "'%s' %s", p[i].name, why);
	}
}

void sim_model_read(struct sim_model *m, const struct xk_spec *s, struct xk_errs *e)
{
	struct reader r = { .s = s, .e = e, .tab = xk_value_get(xk_spec_bench(s), "model") };
	const struct xk_value *machine;

	read_times(m, s, e);
	if (r.tab == NULL) {
		xk_spec_bench_error(s, e, NULL, "parameter 'model' is needed: model = { parallel = \"ips\", streams = 100 }");
		return;
	}
	if (r.tab->kind != XK_V_MAP) {
		if (r.tab->kind != XK_V_POISON)
			xk_spec_bench_error(s, e, (const char *[]){ "model", NULL }, "'model' needs a table of names and values");
		return;
	}
	read_keys(&r);
	read_policy(&r, m);
	read_streams(&r, m);
	machine = given(&r, K_MACHINE);
	if (machine != NULL && machine->kind != XK_V_TEXT)
		COMPLAIN(&r, K_MACHINE, "'machine' needs a name");
	else if (machine != NULL)
		m->machine = machine->text;
}

void sim_model_no_machine(const struct xk_spec *s, struct xk_errs *e, const char *why)
{
	struct reader r = { .s = s, .e = e };

	COMPLAIN(&r, K_MACHINE, "%s", why);
}

/* ---- against the machine -------------------------------------------------------------------------- */

void sim_model_check(const struct sim_model *m, const struct xk_spec *s, struct xk_errs *e)
{
	struct reader r = { .s = s, .e = e };
	bool costs = m->service == SIM_SERVICE_CACHE, copies = m->copy || m->service == SIM_SERVICE_FRAMES;

	if (sim_model_between(m) <= 0)
		COMPLAIN(&r, K_BURST, "%u packets %g us apart take longer than the %g us that the rate gives them: "
			 "no time is left between trains", m->burst, m->inner / 1e3, 1e6 / m->rate * m->burst);
	if (m->closed && m->burst != 1)
		COMPLAIN(&r, K_CLOSED, "'closed' streams have one packet each: 'burst' needs to be 1");
	if ((costs || copies) && m->ledger->spec == NULL)
		COMPLAIN(&r, K_MACHINE, "a machine is needed: machine = \"challenge\", or --machine");
	else if (costs && !m->ledger->has[m->parallel])
		COMPLAIN(&r, K_PARALLEL, "machine %s has no costs for '%s': none is guessed", m->ledger->name,
			 sim_parallel_name[m->parallel]);
	if (copies && m->nframes == 0)
		COMPLAIN(&r, K_FRAMES, "what is copied has sizes: frames = { { 28, 2.8 }, ... }");
	if (m->ledger->spec == NULL && m->processors == 0)
		COMPLAIN(&r, K_PROCESSORS, "'processors' is needed where there is no machine");
}
