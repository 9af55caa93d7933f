/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_compare_main.c - the subcommand compare: of two results, or of two sides
 * of a bench file that it runs in turns.
 *
 * In turns a block has every point of both sides, shuffled; whatever drifts falls
 * on both.  The number of runs is fixed beforehand: a rule that looks at the runs
 * and stops when they please would find differences where there are none.
 * Invariant: both sides have the same points, but for the words after --vs.
 */
#include "tools/vp-bench/bench_compare.h"

#include <argp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/vp-bench/bench_lua.h"

#define RUNS       "30"
#define RUNS_QUICK "8"

enum { OPT_VS = 512, OPT_VS_RUN, OPT_FAIL_OVER };

struct input {
	struct bench_options o;
	struct bench_compare_options c;
	const char *vs_arg[BENCH_ARGS], *vs_file, *vs_run;
	unsigned    nvs;
	bool        vs;
};

/* ---- options ---------------------------------------------------------------------- */

static double percent(const char *arg, struct argp_state *state)
{
	char *end;
	double v = strtod(arg, &end);

	if (*end == '%')
		end++;
	if (end == arg || *end != '\0' || !isfinite(v) || v < 0)
		argp_error(state, "--fail-over needs a percentage, as in 5%%, not '%s'", arg);
	return v;
}

static error_t word(struct input *in, const char *arg, struct argp_state *state)
{
	if (!in->vs)
		return ARGP_ERR_UNKNOWN;          /* the bench's own parser takes it */
	if (strchr(arg, '=') != NULL && in->nvs == BENCH_ARGS)
		argp_error(state, "at most %u arguments", BENCH_ARGS);
	else if (strchr(arg, '=') != NULL)
		in->vs_arg[in->nvs++] = arg;
	else if (in->vs_file != NULL)
		argp_error(state, "one file after --vs");
	else
		in->vs_file = arg;
	return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct input *in = state->input;

	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = &in->o; return 0;
	case ARGP_KEY_ARG: return word(in, arg, state);
	case OPT_VS: in->vs = true; return 0;
	case OPT_VS_RUN: in->vs = true; in->vs_run = arg; return 0;
	case OPT_FAIL_OVER: in->c.fail_over = percent(arg, state); return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static void read_options(struct input *in, int argc, char **argv)
{
	static const struct argp_option opts[] = {
		{ "vs", OPT_VS, NULL, 0, "What follows is of side B: k=v, another FILE; without any the sides are the same", 1 },
		{ "vs-vp-run", OPT_VS_RUN, "PROGRAM", 0, "The vp-run of side B", 1 },
		{ "fail-over", OPT_FAIL_OVER, "PERCENT", 0, "Exit code 1 when B is shown to be worse by more than that", 1 },
		{ 0 }
	};
	static const struct argp_child children[] = { { &bench_argp, 0, "As of run:", 2 }, { 0 } };
	static const struct argp argp = { opts, parse, "A.json B.json\nFILE [k=v ...] --vs [k=v ...]\nFILE.json",
		"Compares two results, or two sides of a bench file that it runs in turns (and writes to -o FILE.json, "
		"which compare reads again).", children, NULL, NULL };

	*in = (struct input){ .c = { .confidence = 0.98, .fail_over = -1 } };
	argp_err_exit_status = BENCH_USAGE;
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, in);
	in->c.metric = in->o.metric;
}

json_t *bench_compare(json_t *doc_a, const char *name_a, json_t *doc_b, const char *name_b,
		      const struct bench_compare_options *o, char *why, size_t n)
{
	json_t *options = json_pack("{s:f, s:o, s:s?}", "confidence", o->confidence, "fail_over",
				    o->fail_over >= 0 ? json_real(o->fail_over) : json_null(), "metric", o->metric);
	json_t *args[] = { doc_a, json_string(name_a), doc_b, name_b ? json_string(name_b) : NULL, options };
	json_t *answer = bench_lua_call("compare", "results", args, 5, why, n);

	json_decref(args[1]);
	json_decref(args[3]);
	json_decref(options);
	return answer;
}

/* ---- the answer ----------------------------------------------------------------------- */

static bool any_fails(const json_t *comparison)
{
	const json_t *p;
	size_t i;
	bool fails = false;

	json_array_foreach(json_object_get(comparison, "points"), i, p)
		fails |= json_is_true(json_object_get(p, "fails"));
	return fails;
}

static int print_answer(const struct input *in, json_t *answer, const char *out)
{
	char why[4400];

	if (out != NULL && bench_doc_save(answer, out, why, sizeof why) != BENCH_OK) {
		fprintf(stderr, "vp-bench: cannot write the comparison: %s\n", why);
		return BENCH_IO;
	}
	if (in->o.format == BENCH_JSON && in->o.format_given) {
		json_dumpf(answer, stdout, JSON_INDENT(1));
		putchar('\n');
	} else if (out == NULL) {
		if (bench_lua_print(stdout, "compare", "text", &answer, 1) != BENCH_OK)
			return BENCH_IO;
	}
	return any_fails(answer) ? BENCH_SHAPE_FAILED : BENCH_OK;
}

/* doc_b NULL: doc_a has both sides. */
static int answer(const struct input *in, json_t *doc_a, const char *name_a, json_t *doc_b,
		  const char *name_b, const char *out)
{
	char why[4400];
	json_t *a = bench_compare(doc_a, name_a, doc_b, name_b, &in->c, why, sizeof why);
	int code;

	if (a == NULL) {
		fprintf(stderr, "vp-bench compare: %s\n", why);
		return BENCH_USAGE;
	}
	code = print_answer(in, a, out);
	json_decref(a);
	return code;
}

static void take_confidence(struct input *in, struct bench *b)
{
	if (in->o.confidence != NULL)
		in->c.confidence = b->confidence;
}

/* ---- two results -------------------------------------------------------------------------- */

static bool is_result(const char *name)
{
	size_t n = strlen(name);

	return n > 5 && strcmp(name + n - 5, ".json") == 0;
}

/* A confidence on the command line, checked as bench files' are. */
static int own_confidence(struct input *in)
{
	struct bench b = { .e = xk_errs_new(), .confidence = in->c.confidence };
	int code = bench_apply(&in->o, &b);

	if (code != BENCH_OK)
		bench_print_errors(&b);
	take_confidence(in, &b);
	bench_free(&b);
	return code;
}

static bool describes(const json_t *part, const char *metric)
{
	const json_t *m;
	size_t i;

	if (strcmp(bench_text(json_object_get(part, "metric"), "name"), metric) == 0)
		return true;
	json_array_foreach(json_object_get(part, "columns"), i, m)
		if (strcmp(bench_text(m, "name"), metric) == 0)
			return true;
	return false;
}

/* One of all, or of a bench file's own that its result describes. */
static int check_metric(const struct input *in, const json_t *doc)
{
	const json_t *part;
	char text[300];
	size_t i;

	if (in->o.metric == NULL || bench_metric_find(in->o.metric) != NULL)
		return BENCH_OK;
	json_array_foreach(json_object_get(doc, "benches"), i, part)
		if (describes(part, in->o.metric))
			return BENCH_OK;
	fprintf(stderr, "vp-bench compare: %s\n", bench_metric_unknown(NULL, in->o.metric, text, sizeof text));
	return BENCH_USAGE;
}

static int compare_results(struct input *in)
{
	json_t *doc[2] = { NULL, NULL };
	char why[4400];
	int code = own_confidence(in);

	for (unsigned i = 0; code == BENCH_OK && i < in->o.nfiles; i++) {
		doc[i] = bench_doc_load(in->o.file[i], why, sizeof why);
		if (doc[i] == NULL) {
			fprintf(stderr, "vp-bench: %s\n", why);
			code = BENCH_IO;
		}
	}
	if (code == BENCH_OK)
		code = check_metric(in, doc[0]);
	if (code == BENCH_OK)
		code = answer(in, doc[0], in->o.file[0], doc[1], in->o.file[1], in->o.out);
	json_decref(doc[0]);
	json_decref(doc[1]);
	return code;
}

/* ---- in turns --------------------------------------------------------------------------------- */

static bool same_name(const char *a, const char *b)
{
	size_t n = strcspn(a, "=");

	return strcspn(b, "=") == n && strncmp(a, b, n) == 0;
}

static bool said_after_vs(const struct input *in, const char *arg)
{
	for (unsigned i = 0; i < in->nvs; i++)
		if (same_name(in->vs_arg[i], arg))
			return true;
	return false;
}

static int load_side(struct input *in, struct bench *b, const char *file, const char *const *args, unsigned n)
{
	int code = bench_load(b, file, args, n);

	if (code == BENCH_OK)
		code = bench_apply(&in->o, b);
	if (b->e != NULL && xk_errs_count(b->e) != 0)
		bench_print_errors(b);
	return code == BENCH_OK ? bench_try_points(b) : code;
}

static int load_b(struct input *in, struct bench *b)
{
	const char *args[BENCH_ARGS], *file = in->vs_file ? in->vs_file : in->o.file[0];
	unsigned n = 0;

	for (unsigned i = 0; i < in->o.nargs && n < BENCH_ARGS; i++)
		if (!said_after_vs(in, in->o.arg[i]))
			args[n++] = in->o.arg[i];
	for (unsigned i = 0; i < in->nvs && n < BENCH_ARGS; i++)
		args[n++] = in->vs_arg[i];
	return load_side(in, b, file, args, n);
}

/* Is the i-th point the same, but for what was said after --vs? */
static bool same_point(const struct input *in, const struct bench *a, const struct bench *b, unsigned i)
{
	for (unsigned k = 0; k < a->naxes; k++) {
		int other = bench_axis(b, a->axis[k]);

		if (other >= 0 && !said_after_vs(in, a->axis[k]) &&
		    strcmp(a->point[i].value[k], b->point[i].value[other]) != 0)
			return false;
	}
	return true;
}

static int check_sides(const struct input *in, const struct bench *a, const struct bench *b)
{
	bool same = a->npoints == b->npoints;

	for (unsigned i = 0; same && i < a->npoints; i++)
		same = same_point(in, a, b, i);
	if (!same)
		fprintf(stderr, "vp-bench compare: the sides have other points (%u and %u): keep those that both have "
			"with k=v before --vs\n", a->npoints, b->npoints);
	else if (strcmp(a->metric->name, b->metric->name) != 0)
		fprintf(stderr, "vp-bench compare: side A measures %s, side B %s\n", a->metric->name, b->metric->name);
	return same && strcmp(a->metric->name, b->metric->name) == 0 ? BENCH_OK : BENCH_USAGE;
}

static json_t *words_of(const struct input *in, bool vs)
{
	const char *const *arg = vs ? in->vs_arg : in->o.arg;
	unsigned n = vs ? in->nvs : in->o.nargs;
	json_t *list = json_array();

	json_array_append_new(list, json_string(vs && in->vs_file ? in->vs_file : in->o.file[0]));
	for (unsigned i = 0; vs && i < in->o.nargs; i++)
		if (!said_after_vs(in, in->o.arg[i]))
			json_array_append_new(list, json_string(in->o.arg[i]));
	for (unsigned i = 0; i < n; i++)
		json_array_append_new(list, json_string(arg[i]));
	return list;
}

static json_t *side_part(const struct input *in, json_t *doc, const struct bench *b, bool vs)
{
	const char *preset = in->o.quick ? "quick" : in->o.paper ? "paper" : "own";
	json_t *part = bench_doc_bench(doc, b, preset);

	json_object_set_new(part, "side", json_string(vs ? "B" : "A"));
	json_object_set_new(part, "words", words_of(in, vs));
	return part;
}

/* Shapes are of one side's points and not judged here. */
static void drop_shapes(json_t *part)
{
	json_object_set_new(part, "shapes", json_array());
	json_object_set_new(part, "reference", json_array());
}

static int run_sides(struct input *in, struct bench *a, struct bench *b)
{
	json_t *doc = bench_doc_new();
	struct bench_side side[2] = {
		{ a, side_part(in, doc, a, false), bench_child_of(a, in->o.vp_run) },
		{ b, side_part(in, doc, b, true), in->vs_run ? in->vs_run : bench_child_of(b, in->o.vp_run) },
	};
	int code, said;

	drop_shapes(side[0].part);
	drop_shapes(side[1].part);
	bench_child_signals();
	code = bench_sweep_sides(side, 2, &in->o, doc);
	if (code == BENCH_OK || code == BENCH_CHILD_FAILED) {
		said = answer(in, doc, in->o.out ? in->o.out : in->o.file[0], NULL, NULL, NULL);
		code = code == BENCH_OK ? said : code;
	}
	json_decref(doc);
	return code;
}

static int compare_in_turns(struct input *in)
{
	struct bench a = { 0 }, b = { 0 };
	int code;

	if (in->o.out != NULL && !is_result(in->o.out)) {
		fprintf(stderr, "vp-bench compare: -o keeps the runs and needs a name that ends with .json\n");
		return BENCH_USAGE;
	}
	if (in->o.runs == NULL && !in->o.paper)
		in->o.runs = in->o.quick ? RUNS_QUICK : RUNS;
	code = load_side(in, &a, in->o.file[0], in->o.arg, in->o.nargs);
	if (code == BENCH_OK)
		code = load_b(in, &b);
	if (code == BENCH_OK)
		code = check_sides(in, &a, &b);
	take_confidence(in, &a);
	if (code == BENCH_OK)
		code = run_sides(in, &a, &b);
	bench_free(&a);
	bench_free(&b);
	return code;
}

int bench_compare_main(int argc, char **argv)
{
	struct input in;

	read_options(&in, argc, argv);
	if (!bench_whole(&in.o, "vp-bench compare"))
		return BENCH_USAGE;
	if (in.o.resume) {
		fprintf(stderr, "vp-bench compare: --resume is for run\n");
		return BENCH_USAGE;
	}
	if (in.o.nfiles == 1 && !is_result(in.o.file[0]) && in.vs)
		return compare_in_turns(&in);
	if (in.o.nfiles >= 1 && in.o.nfiles <= 2 && is_result(in.o.file[0]) && !in.vs)
		return compare_results(&in);
	fprintf(stderr, "vp-bench compare: needs two results (A.json B.json), one that compare -o wrote, or a bench file and "
		"--vs (vp-bench compare --help)\n");
	return BENCH_USAGE;
}
