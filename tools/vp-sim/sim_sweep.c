/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim_sweep.c - runs each point of a bench file on each number of processors: all of them, or one shard's.
 *
 * A unit is a point on one number of processors, with all its replications: they have one interval.
 * Every point is loaded before the first run, whoever runs it; what the runs of all units depend on
 * is hashed, so that parts of different sweeps are told apart when they are merged.  A part is a line
 * that says what it is, and a line for each unit, the same bytes that the whole sweep would print.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/vp-bench/bench.h"
#include "tools/vp-run/build_text.h"
#include "tools/vp-sim/sim_ask.h"

struct sweep {
	const struct sim_ask *p;
	struct bench       b;            /* its points, and the arguments that are no axis */
	struct sim_loaded *at;           /* b.npoints */
	unsigned           units;
	json_t            *point;        /* of the unit that runs */
	bool               head;
	FILE              *lines;        /* of a part; NULL */
	unsigned           nlines;
};

/* ---- points ----------------------------------------------------------------------------- */

static bool names_axis(const struct bench *b, const char *arg)
{
	char name[64];

	snprintf(name, sizeof name, "%.*s", (int)strcspn(arg, "="), arg);
	return strchr(arg, '=') != NULL && bench_axis(b, name) >= 0;
}

static int complain(struct bench *b, int code)
{
	if (xk_errs_count(b->e) != 0)
		xk_spec_print_errors(stderr, b->spec, b->e, NULL);
	return code;
}

static int read_points(struct sweep *w)
{
	const struct sim_ask *p = w->p;
	struct xk_compose_opts opts = { .args = p->arg, .nargs = p->narg };
	struct bench *b = &w->b;

	(void)xk_spec_load(&b->spec, p->file, &opts, b->e);
	if (b->spec == NULL || xk_errs_count(b->e) != 0)
		return complain(b, SIM_FILE_ERRORS);
	if (xk_spec_bench(b->spec) == NULL) {
		xk_errs_add(b->e, p->file, 0, 0, "describes a %s, not a bench with a model: bench \"name\" { model = { ... } }",
			    xk_spec_word(b->spec));
		return complain(b, SIM_FILE_ERRORS);
	}
	b->name = xk_spec_name(b->spec);
	bench_read_points(b, xk_spec_bench(b->spec));
	if (xk_errs_count(b->e) != 0)
		return complain(b, SIM_FILE_ERRORS);
	for (unsigned i = 0; i < p->narg; i++)
		if (!names_axis(b, p->arg[i]))
			b->arg[b->narg++] = p->arg[i];
		else if (bench_restrict(b, p->arg[i]) != BENCH_OK)
			return complain(b, SIM_USAGE);
	return SIM_OK;
}

static int load_point(struct sweep *w, unsigned i)
{
	const struct bench *b = &w->b;
	const char *arg[SIM_ARGS + BENCH_AXES];
	char text[BENCH_AXES][160], all[400];
	int code;

	memcpy(arg, b->arg, b->narg * sizeof *arg);
	for (unsigned k = 0; k < b->naxes; k++) {
		snprintf(text[k], sizeof text[k], "%s=%s", b->axis[k], b->point[i].value[k]);
		arg[b->narg + k] = text[k];
	}
	code = sim_load(&w->at[i], w->p, arg, b->narg + b->naxes);
	if (code != SIM_OK)
		fprintf(stderr, "vp-sim: with %s\n", bench_point_text(b, &b->point[i], all, sizeof all));
	return code;
}

static int load_all(struct sweep *w)
{
	int code = read_points(w);

	if (code != SIM_OK)
		return code;
	w->at = calloc(w->b.npoints + 1, sizeof *w->at);
	if (w->at == NULL)
		return SIM_FAILED;
	for (unsigned i = 0; code == SIM_OK && i < w->b.npoints; i++)
		code = load_point(w, i);
	w->units = w->b.npoints * (w->p->nprocessors != 0 ? w->p->nprocessors : 1);
	return code;
}

/* Point and processors of a unit; the point comes first. */
static unsigned unit_point(struct sweep *w, unsigned unit)
{
	unsigned n = w->p->nprocessors != 0 ? w->p->nprocessors : 1, i = unit / n;

	if (w->p->nprocessors != 0)
		w->at[i].m.processors = w->p->processors[unit % n];
	return i;
}

/* ---- lines ------------------------------------------------------------------------------- */

static int print_line(FILE *f, const struct sim_outcome *o)
{
	json_t *j = sim_out_json(o);
	int code = j != NULL && json_dumpf(j, f, JSON_COMPACT) == 0 && fputc('\n', f) != EOF ? SIM_OK : SIM_FAILED;

	json_decref(j);
	return code;
}

static int use(const struct sim_outcome *out, void *to)
{
	struct sweep *w = to;
	struct sim_outcome o = *out;
	bool head = w->head;

	o.at = w->point;
	w->head = false;
	w->nlines++;
	if (w->lines != NULL)
		return print_line(w->lines, &o);
	if (w->p->json)
		return print_line(stdout, &o);
	return w->p->csv ? sim_out_csv(&o, head) : sim_out_row(&o, head);
}

static int run_units(struct sweep *w)
{
	int code = SIM_OK;

	w->head = true;
	for (unsigned u = 0; code == SIM_OK && u < w->units; u++) {
		unsigned i;

		if (!bench_shard_has(&w->p->shard, u))
			continue;
		i = unit_point(w, u);
		w->point = bench_point_at(&w->b, &w->b.point[i]);
		code = sim_run_all(&w->at[i], w->p, use, w);
		json_decref(w->point);
		if (w->lines == NULL && fflush(stdout) != 0)
			code = SIM_FAILED;
	}
	return code;
}

/* Each machine once. */
static void print_sources(const struct sweep *w)
{
	for (unsigned i = 0; i < w->b.npoints; i++) {
		bool seen = false;

		for (unsigned k = 0; k < i; k++)
			seen = seen || (w->at[k].ledger.spec != NULL && w->at[i].ledger.spec != NULL &&
					strcmp(w->at[k].ledger.name, w->at[i].ledger.name) == 0);
		if (!seen)
			sim_out_sources(&w->at[i].ledger);
	}
}

/* ---- a part ------------------------------------------------------------------------------- */

static uint64_t hash_json(uint64_t from, json_t *j)
{
	char *text = json_dumps(j, JSON_COMPACT);

	if (text != NULL)
		from = bench_hash(from, text, strlen(text));
	free(text);
	json_decref(j);
	return from;
}

/* Of all that the runs of every unit depend on, whichever part this is. */
static json_t *hash_units(struct sweep *w)
{
	uint64_t h = BENCH_HASH;

	for (unsigned u = 0; u < w->units; u++) {
		unsigned i = unit_point(w, u);

		h = hash_json(h, bench_point_at(&w->b, &w->b.point[i]));
		h = hash_json(h, sim_out_asks(&w->at[i].m));
	}
	return json_sprintf("fnv1a:%016" PRIx64, h);
}

static json_t *commit(void)
{
	const char *at = strstr(XK_BUILD_TEXT, "commit ");
	size_t n = at != NULL ? strcspn(at + 7, ";") : 0;

	return at != NULL ? json_stringn(at + 7, n) : json_string("unknown");
}

static json_t *parameters(const struct sim_ask *p)
{
	json_t *args = json_array(), *processors = json_array();

	for (unsigned i = 0; i < p->narg; i++)
		json_array_append_new(args, json_string(p->arg[i]));
	for (unsigned i = 0; i < p->nprocessors; i++)
		json_array_append_new(processors, json_integer(p->processors[i]));
	return json_pack("{s:o, s:o, s:s?, s:I, s:I, s:b}", "args", args, "processors", processors, "machine", p->machine,
			 "duration_ns", (json_int_t)p->duration, "replications", (json_int_t)p->replications, "max", p->find);
}

/* What the part is, and a hash of that and its lines. */
static json_t *part_json(struct sweep *w, const char *text, size_t n)
{
	const struct sim_ask *p = w->p;
	json_t *j = json_pack("{s:i, s:s, s:{s:i, s:i}, s:s, s:s, s:o, s:I}", "schema", 1, "tool", "vp-sim", "shard", "number",
			      (int)p->shard.number, "of", (int)p->shard.of, "file", p->file, "name", w->b.name, "commit", commit(),
			      "seed", (json_int_t)w->at[0].m.seed);

	json_object_set_new(j, "parameters", parameters(p));
	json_object_set_new(j, "units", json_integer(w->units));
	json_object_set_new(j, "sweep", hash_units(w));
	json_object_set_new(j, "lines", json_integer(w->nlines));
	json_object_set_new(j, "hash", json_sprintf("fnv1a:%016" PRIx64, bench_hash(hash_json(BENCH_HASH, json_copy(j)), text, n)));
	return j;
}

static int save(const struct sim_ask *p, const char *text)
{
	char why[4400];

	if (p->out == NULL)
		return fputs(text, stdout) != EOF ? SIM_OK : SIM_FAILED;
	if (bench_text_save(text, p->out, why, sizeof why) == BENCH_OK)
		return SIM_OK;
	fprintf(stderr, "vp-sim: cannot write %s\n", why);
	return SIM_FAILED;
}

static int write_part(struct sweep *w, const char *lines, size_t n)
{
	json_t *j = part_json(w, lines, n);
	char *head = json_dumps(j, JSON_COMPACT), *whole = NULL;
	int code = SIM_FAILED;

	if (head != NULL && asprintf(&whole, "%s\n%s", head, lines) >= 0)
		code = save(w->p, whole);
	free(whole);
	free(head);
	json_decref(j);
	return code;
}

static int run_part(struct sweep *w)
{
	char *text = NULL;
	size_t n = 0;
	int code;

	w->lines = open_memstream(&text, &n);
	if (w->lines == NULL)
		return SIM_FAILED;
	code = run_units(w);
	if (fclose(w->lines) != 0)
		code = SIM_FAILED;
	if (code == SIM_OK)
		code = write_part(w, text, n);
	free(text);
	return code;
}

int sim_sweep(const struct sim_ask *p)
{
	struct sweep w = { .p = p, .b = { .file = p->file, .e = xk_errs_new() } };
	int code = w.b.e != NULL ? load_all(&w) : SIM_FAILED;

	if (code == SIM_OK && p->shard.of != 0) {
		code = run_part(&w);
	} else if (code == SIM_OK) {
		code = run_units(&w);
		if (code == SIM_OK && !p->json && !p->csv)
			print_sources(&w);
	}
	for (unsigned i = 0; w.at != NULL && i < w.b.npoints; i++)
		sim_unload(&w.at[i]);
	free(w.at);
	free(w.b.point);
	xk_spec_free(w.b.spec);
	if (w.b.e != NULL)
		xk_errs_free(w.b.e);
	return code;
}
