/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_sweep.c - runs the points of a bench, in random order within blocks.
 *
 * A block runs every unfinished point once, shuffled, so that what the machine
 * does over time falls on all points alike and ratios can be paired.  A point
 * is finished after at least runs_min runs when its interval is narrow enough,
 * or after runs_max, which is said loudly; and when no expectation that compares
 * it waits for more runs, or none can have more (runs_decide).  The document is saved after each
 * run, so a stopped sweep keeps what it had; resumed, it goes on from there.
 * Two sides of a comparison are swept as one: a block has the points of both.
 */
#include "tools/vp-bench/bench.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/xk_rand.h"

struct sweep {
	const struct bench_side *side;        /* their points are numbered through */
	unsigned              nsides, npoints;
	const struct bench_options *o;
	json_t               *doc;
	struct bench_progress bar;
	bool                 *asked;          /* points that an expectation needs more of */
	unsigned              waiting;        /* expectations */
	bool                  failed, interrupted;
};

static const struct bench_side *side_of(const struct sweep *s, unsigned *i)
{
	const struct bench_side *d = s->side;

	for (; *i >= d->b->npoints; d++)
		*i -= d->b->npoints;
	return d;
}

static json_t *point_of(const struct sweep *s, unsigned i)
{
	const struct bench_side *d = side_of(s, &i);

	return json_array_get(json_object_get(d->part, "points"), i);
}

/* "vps=2 conns=12", with its side where there are two. */
static const char *called(const struct sweep *s, unsigned i, char *buf, size_t n)
{
	const struct bench_side *d = side_of(s, &i);
	size_t used = s->nsides > 1 ? (size_t)snprintf(buf, n, "%s: ", bench_text(d->part, "side")) : 0;

	bench_point_text(d->b, &d->b->point[i], buf + used, n - used);
	return buf;
}

static const char *status(const struct sweep *s, unsigned i)
{
	return bench_text(point_of(s, i), "status");
}

/* Or another shard's? */
static bool is_mine(const struct sweep *s, unsigned i)
{
	const struct bench_side *d = side_of(s, &i);

	return bench_is_mine(d->b, i);
}

static bool open_point(const struct sweep *s, unsigned i)
{
	const char *t = status(s, i);

	if (!is_mine(s, i))
		return false;
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
	unsigned own = i;
	const struct bench_side *d = side_of(s, &own);

	bench_doc_failed(d->part, own, why);
	bench_progress_note(&s->bar, "%s failed: %s", called(s, i, at, sizeof at), why);
	s->failed = true;
}

static void settle(struct sweep *s, unsigned i)
{
	char at[400];
	unsigned own = i;
	const struct bench_side *d = side_of(s, &own);

	bench_doc_summarise_point(d->part, own);
	if (strcmp(status(s, i), "interval not reached") == 0 && d->b->max_runs > d->b->min_runs &&
	    runs_of(s, i) == d->b->max_runs)
		bench_progress_note(&s->bar, "%s: INTERVAL NOT REACHED after %u runs", called(s, i, at, sizeof at),
				    runs_of(s, i));
}

static int one_run(struct sweep *s, unsigned i, unsigned block)
{
	unsigned own = i;
	const struct bench_side *d = side_of(s, &own);
	const struct bench *b = d->b;
	struct bench_child k = { .program = d->program, .b = b, .p = &b->point[own], .duration = b->duration,
				 .warmup = b->warmup, .timeout = bench_timeout(s->o, b),
				 .seed = b->seed * 1000003 + block };
	char why[600] = "", at[400];
	unsigned pinned = bench_pinned_others();
	long throttled = bench_throttled();
	json_t *child = bench_child_run(&k, &s->interrupted, why, sizeof why), *metrics = NULL;

	if (s->interrupted) {
		json_decref(child);
		return BENCH_INTERRUPTED;
	}
	if (child != NULL)
		metrics = bench_run_metrics(b, child, why, sizeof why);
	if (metrics != NULL) {
		bench_doc_run(d->part, own, block, child, metrics);
		/* Who ran beside it changes nothing that is simulated. */
		if (!b->simulated)
			bench_doc_beside(d->part, own, pinned, throttled < 0 ? -1 : bench_throttled() - throttled);
		settle(s, i);
	} else {
		point_failed(s, i, why);
	}
	json_decref(child);
	bench_progress_step(&s->bar, called(s, i, at, sizeof at));
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

	for (unsigned i = 0; i < s->npoints; i++)
		if ((open_point(s, i) || (s->asked[i] && is_mine(s, i) && strcmp(status(s, i), "failed") != 0)) && runs_of(s, i) <= block)
			todo[n++] = i;
	return n;
}

static void say_waiting(struct sweep *s, const json_t *w)
{
	unsigned n = (unsigned)bench_real(w, "shapes");

	if (n != 0 && n != s->waiting)
		bench_progress_note(&s->bar, "%u expectation%s undecided: more runs of %zu points, at most %.0f of each", n,
				    n == 1 ? " is" : "s are", json_array_size(json_object_get(w, "points")), bench_real(w, "limit"));
	s->waiting = n;
}

/* Sides of a comparison have no expectations. */
static void ask_judge(struct sweep *s, unsigned block)
{
	json_t *w = s->nsides == 1 ? bench_doc_wanted(s->side[0].part, block, s->side[0].b) : NULL, *p;
	size_t i;

	if (w == NULL || !json_is_true(json_object_get(w, "keep")))
		memset(s->asked, 0, s->npoints * sizeof *s->asked);
	json_array_foreach(json_object_get(w, "points"), i, p)
		if (json_integer_value(p) >= 0 && json_integer_value(p) < (json_int_t)s->npoints)
			s->asked[json_integer_value(p)] = true;
	if (w != NULL && block >= s->side[0].b->min_runs && !json_is_true(json_object_get(w, "keep")))
		say_waiting(s, w);
	json_decref(w);
}

static int blocks(struct sweep *s, unsigned *todo)
{
	const struct bench *b = s->side[0].b;
	int code = BENCH_OK;

	uint64_t most = b->decide_runs > b->max_runs ? b->decide_runs : b->max_runs;

	for (unsigned block = 0; block < most && code == BENCH_OK; block++) {
		struct xk_rand r;
		unsigned n;

		ask_judge(s, block);
		n = gather(s, block, todo);

		/* By block: a resumed sweep has the same order. */
		xk_rand_init(&r, b->seed, block);
		shuffle(todo, n, &r);
		for (unsigned i = 0; i < n && code == BENCH_OK; i++)
			code = one_run(s, todo[i], block);
	}
	return code;
}

static unsigned runs_left(const struct sweep *s, uint64_t runs)
{
	unsigned n = 0;

	for (unsigned i = 0; i < s->npoints; i++)
		if (open_point(s, i) && runs_of(s, i) < runs)
			n += (unsigned)runs - runs_of(s, i);
	return n;
}

#define START_S 0.15     /* of a child */

void bench_estimate(const struct bench *b, double *least, double *most)
{
	double one = (double)(b->duration + b->warmup) / 1e9 + START_S;

	*least = *most = 0;
	for (unsigned i = 0; i < b->npoints; i++) {
		if (!bench_is_mine(b, i))
			continue;
		*least += one * (double)b->min_runs;
		*most += one * (double)(b->point[i].compared && b->decide_runs > b->max_runs ? b->decide_runs : b->max_runs);
	}
}

int bench_sweep_sides(const struct bench_side *side, unsigned nsides, const struct bench_options *o, json_t *doc)
{
	struct sweep s = { .side = side, .nsides = nsides, .o = o, .doc = doc };
	const struct bench *b = side[0].b;
	double one = (double)(b->duration + b->warmup) / 1e9 + START_S;
	unsigned *todo, total;
	int code;

	for (unsigned i = 0; i < nsides; i++)
		s.npoints += side[i].b->npoints;
	todo = calloc(s.npoints + 1, sizeof *todo);
	for (unsigned i = 0; i < nsides; i++)
		bench_doc_binary(side[i].part, side[i].program);
	s.asked = calloc(s.npoints + 1, sizeof *s.asked);
	if (todo == NULL || s.asked == NULL)
		abort();
	total = runs_left(&s, b->min_runs);
	bench_progress_begin(&s.bar, b->name, total, b->simulated ? 0 : one * total);
	code = save(&s);
	if (code == BENCH_OK)
		code = blocks(&s, todo);
	free(todo);
	free(s.asked);
	for (unsigned i = 0; i < nsides; i++) {
		bench_doc_warn(side[i].part);
		if (code == BENCH_OK)
			json_object_set_new(side[i].part, "complete", json_true());
		if (!bench_doc_judge(side[i].part, side[i].b) && code == BENCH_OK)
			code = BENCH_SHAPE_FAILED;
	}
	bench_progress_end(&s.bar);
	if (save(&s) != BENCH_OK)
		code = BENCH_IO;
	return s.failed && (code == BENCH_OK || code == BENCH_SHAPE_FAILED) ? BENCH_CHILD_FAILED : code;
}

int bench_sweep(struct bench *b, const struct bench_options *o, json_t *doc, json_t *part)
{
	struct bench_side one = { b, part, bench_child_of(b, o->vp_run) };

	return bench_sweep_sides(&one, 1, o, doc);
}
