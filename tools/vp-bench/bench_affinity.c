/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_affinity.c - the subcommand affinity: this machine's own table 3 (Salehi and others 1995), what the
 * parts of a message's time cost, and what other work displaces, after docs/schema/vp-affinity-1.json.
 *
 * A round measures everything once, so that what the machine does over time falls on all alike and differences are of
 * one round; rounds go on until every interval is narrow enough, or the time is over.  affinity.lua
 * has the intervals and the verdicts.
 * Invariant: what could not be measured here is null, with a reason.
 */
#include "tools/vp-bench/bench_affinity.h"

#include <argp.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/xk_clock.h"
#include "runtime/base/xk_param_value.h"
#include "runtime/compose/xk_home.h"
#include "tools/vp-bench/bench.h"
#include "tools/vp-bench/bench_goals.h"
#include "tools/vp-bench/bench_lua.h"

#define SAMPLES_MOST 128u
#define LOOK         5u          /* rounds between two looks at the intervals */
#define OPT_POLICIES 256

/* ---- rounds --------------------------------------------------------------------------------- */

/* Median of the samples that were one message each, ns; NAN: there was none. */
static double round_of(struct aff_run *u, unsigned i)
{
	unsigned most = u->part->samples(i), n = 0;
	double v[SAMPLES_MOST];

	for (unsigned k = 0; k < most && k < SAMPLES_MOST; k++) {
		uint64_t before = u->rig->misfits;

		v[n] = u->part->sample(u->rig, i) / aff_ticks_of_ns();
		n += u->rig->misfits == before;
	}
	return n != 0 ? bench_stat("median", v, n) : NAN;
}

void aff_round(struct aff_run *u)
{
	char why[AFF_TEXT];

	for (unsigned i = 0; i < u->part->n; i++) {
		struct aff_series *s = &u->series[i];
		double ns;

		if (s->n == AFF_ROUNDS || !u->part->here(u->rig, i, why))
			continue;
		ns = round_of(u, i);
		if (!isnan(ns))
			s->v[s->n++] = fmax(ns - u->clock, 0);
	}
}

json_t *aff_run_json(const struct aff_run *u)
{
	json_t *list = json_array();
	char why[AFF_TEXT];

	for (unsigned i = 0; i < u->part->n; i++) {
		json_t *o = u->part->head(i), *v = json_array();
		bool here = u->part->here(u->rig, i, why);

		for (unsigned k = 0; k < u->series[i].n; k++)
			json_array_append_new(v, json_real(u->series[i].v[k]));
		json_object_set_new(o, "v", v);
		json_object_set_new(o, "why", here ? json_null() : json_string(why));
		json_array_append_new(list, o);
	}
	return list;
}

/* ---- all parts --------------------------------------------------------------------------------- */

enum { PROBES, CELLS, CURVE, PARTS };

struct affinity {
	double      precision;
	xk_ns       time;
	size_t      size, walk;
	bool        interrupted;
	struct aff_rig rig;
	struct aff_run run[PARTS];
	unsigned    rounds;
	double      others;          /* share of the two processors that other programs had */
	double      trip[2];         /* round trip of a line between them before and after, ns; 0: there is one */
};

/* The clock's own cost is the first probe's value of this round. */
static void all_parts(struct affinity *a)
{
	double clock = round_of(&a->run[PROBES], 0);

	for (unsigned i = 0; i < PARTS; i++) {
		a->run[i].clock = isnan(clock) ? 0 : clock;
		aff_round(&a->run[i]);
	}
	a->run[PROBES].series[0].v[a->run[PROBES].series[0].n - 1] = clock;
	a->rounds++;
}

static json_t *caches_json(const struct aff_caches *c)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:f}", "l1d_bytes", (json_int_t)c->l1d, "l1i_bytes",
			 (json_int_t)c->l1i, "l2_bytes", (json_int_t)c->l2, "last_bytes", (json_int_t)c->last, "line_bytes",
			 (json_int_t)c->line, "walked_l1_bytes", (json_int_t)c->walk_l1, "walked_all_bytes",
			 (json_int_t)c->walk_all, "code_is_walked", (int)aff_walks_code, "references_per_us",
			 aff_references(c) * 1e3);
}

static json_t *raw(const struct affinity *a)
{
	json_t *o = json_pack("{s:s, s:i, s:f, s:I, s:I, s:b, s:f, s:[f, f], s:o}", "clock", aff_ticks_are, "rounds",
			      (int)a->rounds, "precision", a->precision, "payload_bytes", (json_int_t)a->size, "misfits",
			      (json_int_t)a->rig.misfits, "two_processors", a->rig.pair != NULL, "others", a->others,
			      "line_round_trip_ns", a->trip[0], a->trip[1], "caches", caches_json(&a->rig.caches));

	for (unsigned i = 0; i < PARTS; i++)
		json_object_set_new(o, a->run[i].part->name, aff_run_json(&a->run[i]));
	return o;
}

/* Are all intervals narrow enough?  A sentence on stderr when affinity.lua cannot say. */
static bool narrow(const struct affinity *a)
{
	json_t *o = raw(a), *says;
	char why[400];
	bool yes;

	says = bench_lua_call("affinity", "narrow", &o, 1, why, sizeof why);
	if (says == NULL)
		fprintf(stderr, "vp-bench affinity: %s\n", why);
	yes = says == NULL || json_is_true(says);
	json_decref(says);
	json_decref(o);
	return yes;
}

/* Who runs children has these signals blocked. */
static bool asked_to_stop(void)
{
	sigset_t set;

	return sigpending(&set) == 0 && (sigismember(&set, SIGINT) == 1 || sigismember(&set, SIGTERM) == 1);
}

static void rounds(struct affinity *a)
{
	static const struct aff_part *const parts[PARTS] = { &aff_probes, &aff_cells, &aff_curve };
	xk_ns end = xk_clock_host() + a->time;

	for (unsigned i = 0; i < PARTS; i++)
		a->run[i] = (struct aff_run){ .rig = &a->rig, .part = parts[i] };
	while (a->rounds < AFF_ROUNDS && (a->rounds < AFF_LEAST || xk_clock_host() < end)) {
		all_parts(a);
		a->interrupted = asked_to_stop();
		if (a->interrupted)
			break;
		if (a->rounds >= AFF_LEAST && a->rounds % LOOK == 0 && narrow(a))
			break;
	}
}

static void measure(struct affinity *a)
{
	const int *cpu = a->rig.cpu;
	struct goal_busy busy;

	if (a->rig.pair == NULL) {
		rounds(a);
		return;
	}
	a->trip[0] = goal_probe(cpu[0], cpu[1]);
	goal_busy_begin(&busy, cpu[0], cpu[1]);
	rounds(a);
	a->others = goal_busy_others(&busy);
	a->trip[1] = goal_probe(cpu[0], cpu[1]);
}

static json_t *document(const struct affinity *a, char *why, size_t n)
{
	json_t *args[] = { json_string(BENCH_VERSION), bench_env(), raw(a) };
	json_t *doc = bench_lua_call("affinity", "document", args, XK_ARRAY_LEN(args), why, n);

	for (unsigned i = 0; i < XK_ARRAY_LEN(args); i++)
		json_decref(args[i]);
	return doc;
}

static json_t *measure_all(struct affinity *a, char *why, size_t n)
{
	char reason[AFF_TEXT] = "";
	json_t *doc = NULL;

	if (!aff_rig_open(&a->rig, a->size, a->walk, reason)) {
		snprintf(why, n, "%s", reason);
	} else {
		measure(a);
		if (a->interrupted)
			snprintf(why, n, "interrupted");
		else
			doc = document(a, why, n);
	}
	aff_rig_close(&a->rig);
	return doc;
}

json_t *bench_affinity_measure(const struct bench_affinity_opts *o, char *why, size_t n)
{
	struct affinity *a = aligned_alloc(XK_CACHELINE, sizeof *a);
	json_t *doc;

	if (a == NULL) {
		snprintf(why, n, "out of memory");
		return NULL;
	}
	memset(a, 0, sizeof *a);
	a->precision = o->precision;
	a->time = o->time;
	a->size = o->size;
	a->walk = o->walk;
	doc = measure_all(a, why, n);
	if (a->interrupted && o->interrupted != NULL)
		*o->interrupted = true;
	free(a);
	return doc;
}

/* ---- the subcommand --------------------------------------------------------------------------------- */

struct options { struct bench_affinity_opts measure; const char *out; bool json; };

static bool parse_value(const struct xk_param *p, const char *arg, uint64_t *out, struct argp_state *state)
{
	union xk_pval v;
	char why[300];

	if (xk_param_parse(p, arg, false, &v, why, sizeof why) != XK_OK) {
		argp_error(state, "--%s %s", p->name, why);
		return false;
	}
	*out = v.u;
	return true;
}

static void parse_precision(struct bench_affinity_opts *o, const char *arg, struct argp_state *state)
{
	char *end;
	double v = strtod(arg, &end);

	if (end == arg || (*end != '\0' && strcmp(end, "%") != 0) || !(v > 0) || v > 100)
		argp_error(state, "--precision is above 0 to 100 per cent, not '%s'", arg);
	o->precision = v / 100;
}

bool bench_affinity_option(int key, const char *arg, struct bench_affinity_opts *o, struct argp_state *state)
{
	static const struct xk_param time = { .name = "time", .type = XK_P_TIME, .min = "1ms", .max = "1h" };
	static const struct xk_param size = { .name = "size", .type = XK_P_SIZE, .min = "1", .max = "4324" };
	static const struct xk_param walk = { .name = "walk", .type = XK_P_SIZE, .min = "64KiB", .max = "1GiB" };
	uint64_t v = 0;

	switch (key) {
	case 't': o->time = parse_value(&time, arg, &v, state) ? v : o->time; return true;
	case 's': o->size = parse_value(&size, arg, &v, state) ? v : o->size; return true;
	case 'w': o->walk = parse_value(&walk, arg, &v, state) ? v : o->walk; return true;
	case 'P': parse_precision(o, arg, state); return true;
	default: return false;
	}
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case 'j': o->json = true; return 0;
	case 'o': o->out = arg; return 0;
	case ARGP_KEY_ARG: argp_error(state, "needs no argument, got '%s'", arg); return 0;
	default: return bench_affinity_option(key, arg, &o->measure, state) ? 0 : ARGP_ERR_UNKNOWN;
	}
}

static int show(const struct options *o, json_t *doc)
{
	char why[4400];

	if (o->out != NULL && bench_doc_save(doc, o->out, why, sizeof why) != BENCH_OK) {
		fprintf(stderr, "vp-bench affinity: cannot write %s\n", why);
		return BENCH_IO;
	}
	if (!o->json)
		return bench_lua_print(stdout, "affinity", "table", &doc, 1);
	json_dumpf(doc, stdout, JSON_INDENT(1));
	putchar('\n');
	return BENCH_OK;
}

/* --policies is `run` of a bench file, and what stands behind it is that one's. */
static int policies(int at, int argc, char **argv)
{
	static char file[4096];

	xk_near_graphs("bench/policies.lua", file, sizeof file);
	argv[at] = file;
	return bench_run_main(argc, argv);
}

int bench_affinity_main(int argc, char **argv)
{
	static const struct argp_option opts[] = {
		{ "json", 'j', NULL, 0, "JSON instead of a table (docs/schema/vp-affinity-1.json)", 0 },
		{ "output", 'o', "FILE", 0, "Write the JSON there, too", 0 },
		{ "time", 't', "TIME", 0, "Stop after so long (default 15s), 6 rounds at least", 0 },
		{ "precision", 'P', "PERCENT", 0, "Stop when every interval's half is within this of its value (default 1)", 0 },
		{ "size", 's', "SIZE", 0, "Payload of a message (default 64)", 0 },
		{ "walk", 'w', "SIZE", 0, "Data walked to empty all caches (default twice the last level, at most 64MiB)", 0 },
		{ "policies", OPT_POLICIES, NULL, 0, "Instead: run graphs/bench/policies.lua, with the options of vp-bench run", 0 },
		{ 0 }
	};
	static const struct argp argp = { .options = opts, .parser = parse,
		.doc = "What a message costs here by what is cached and what the other processor wrote last." };
	struct options o = { .measure = BENCH_AFFINITY_DEFAULTS };
	char why[500];
	json_t *doc;
	int code;

	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--policies") == 0)
			return policies(i, argc, argv);
	argp_err_exit_status = BENCH_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, &o);
	doc = bench_affinity_measure(&o.measure, why, sizeof why);
	if (doc == NULL) {
		fprintf(stderr, "vp-bench affinity: %s\n", why);
		return BENCH_CHILD_FAILED;
	}
	code = show(&o, doc);
	json_decref(doc);
	return code;
}
