/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_sweep.c - runs the points of a bench, in random order within blocks.
 *
 * A block runs every unfinished point once, shuffled, so that what the machine
 * does over time falls on all points alike and ratios can be paired.  A point
 * is finished after at least runs_min runs when its interval is narrow enough,
 * or after runs_max, which is said loudly.  The document is saved after each
 * run, so a stopped sweep keeps what it had; resumed, it goes on from there.
 */
#include "tools/vp-bench/bench.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/xk_rand.h"

struct sweep {
	struct bench         *b;
	const struct bench_options *o;
	json_t               *doc, *part;
	const char           *program;
	struct bench_progress bar;
	bool                  failed, interrupted;
};

static json_t *point_of(const struct sweep *s, unsigned i)
{
	return json_array_get(json_object_get(s->part, "points"), i);
}

static const char *status(const struct sweep *s, unsigned i)
{
	return bench_text(point_of(s, i), "status");
}

static bool open_point(const struct sweep *s, unsigned i)
{
	const char *t = status(s, i);

	return strcmp(t, "pending") == 0 || strcmp(t, "running") == 0;
}

static unsigned runs_of(const struct sweep *s, unsigned i)
{
	return (unsigned)json_array_size(json_object_get(point_of(s, i), "runs"));
}

static int save(struct sweep *s)
{
	char why[4400];

	if (s->o->out == NULL || s->o->format != BENCH_JSON)
		return BENCH_OK;
	if (bench_doc_save(s->doc, s->o->out, why, sizeof why) == BENCH_OK)
		return BENCH_OK;
	bench_progress_note(&s->bar, "cannot write the result: %s", why);
	return BENCH_IO;
}

/* ---- one run --------------------------------------------------------------------- */

static void point_failed(struct sweep *s, unsigned i, const char *why)
{
	char at[400];

	bench_doc_failed(s->part, i, why);
	bench_progress_note(&s->bar, "%s failed: %s", bench_point_text(s->b, &s->b->point[i], at, sizeof at), why);
	s->failed = true;
}

static void settle(struct sweep *s, unsigned i)
{
	char at[400];

	bench_doc_summarise(s->part);
	if (strcmp(status(s, i), "interval not reached") == 0 && s->b->max_runs > s->b->min_runs)
		bench_progress_note(&s->bar, "%s: INTERVAL NOT REACHED after %u runs",
				    bench_point_text(s->b, &s->b->point[i], at, sizeof at), runs_of(s, i));
}

static int one_run(struct sweep *s, unsigned i, unsigned block)
{
	struct bench_child k = { .program = s->program, .b = s->b, .p = &s->b->point[i],
				 .duration = s->b->duration, .warmup = s->b->warmup,
				 .seed = s->b->seed * 1000003 + block };
	char why[600] = "", at[400];
	json_t *child = bench_child_run(&k, &s->interrupted, why, sizeof why), *metrics = NULL;

	if (s->interrupted) {
		json_decref(child);
		return BENCH_INTERRUPTED;
	}
	if (child != NULL)
		metrics = bench_metrics_of(child, s->b->needs, why, sizeof why);
	if (metrics != NULL) {
		bench_doc_run(s->part, i, block, child, metrics);
		settle(s, i);
	} else {
		point_failed(s, i, why);
	}
	json_decref(child);
	bench_progress_step(&s->bar, bench_point_text(s->b, &s->b->point[i], at, sizeof at));
	return save(s);
}

/* ---- blocks ---------------------------------------------------------------------------- */

static void shuffle(unsigned *v, unsigned n, struct xk_rand *r)
{
	for (unsigned i = n; i > 1; i--) {
		unsigned k = (unsigned)xk_rand_below(r, i), t = v[i - 1];

		v[i - 1] = v[k];
		v[k] = t;
	}
}

static unsigned gather(const struct sweep *s, unsigned block, unsigned *todo)
{
	unsigned n = 0;

	for (unsigned i = 0; i < s->b->npoints; i++)
		if (open_point(s, i) && runs_of(s, i) <= block)
			todo[n++] = i;
	return n;
}

static int blocks(struct sweep *s, unsigned *todo)
{
	int code = BENCH_OK;

	for (unsigned block = 0; block < s->b->max_runs && code == BENCH_OK; block++) {
		unsigned n = gather(s, block, todo);
		struct xk_rand r;

		/* By block: a resumed sweep has the same order. */
		xk_rand_init(&r, s->b->seed, block);
		shuffle(todo, n, &r);
		for (unsigned i = 0; i < n && code == BENCH_OK; i++)
			code = one_run(s, todo[i], block);
	}
	return code;
}

static unsigned runs_left(const struct sweep *s, uint64_t runs)
{
	unsigned n = 0;

	for (unsigned i = 0; i < s->b->npoints; i++)
		if (open_point(s, i) && runs_of(s, i) < runs)
			n += (unsigned)runs - runs_of(s, i);
	return n;
}

#define START_S 0.15     /* of a child */

void bench_estimate(const struct bench *b, double *least, double *most)
{
	double one = (double)(b->duration + b->warmup) / 1e9 + START_S;

	*least = one * b->npoints * (double)b->min_runs;
	*most = one * b->npoints * (double)b->max_runs;
}

int bench_sweep(struct bench *b, const struct bench_options *o, json_t *doc, json_t *part)
{
	struct sweep s = { .b = b, .o = o, .doc = doc, .part = part, .program = bench_child_program(o->vp_run) };
	unsigned *todo = calloc(b->npoints + 1, sizeof *todo);
	double one = (double)(b->duration + b->warmup) / 1e9 + START_S;
	unsigned total = runs_left(&s, b->min_runs);
	int code;

	if (todo == NULL)
		return BENCH_IO;
	bench_progress_begin(&s.bar, b->name, total, one * total);
	code = save(&s);
	if (code == BENCH_OK)
		code = blocks(&s, todo);
	free(todo);
	if (code == BENCH_OK)
		json_object_set_new(part, "complete", json_true());
	if (!bench_doc_judge(part) && code == BENCH_OK)
		code = BENCH_SHAPE_FAILED;
	bench_progress_end(&s.bar);
	if (save(&s) != BENCH_OK)
		code = BENCH_IO;
	return s.failed && (code == BENCH_OK || code == BENCH_SHAPE_FAILED) ? BENCH_CHILD_FAILED : code;
}
