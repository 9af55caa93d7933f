/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_differ.c - the interval of a difference, and the verdict.
 *
 * Differences are of logarithms where every value is above zero, so that the
 * result is a ratio; drops and switches may be zero and are subtracted.  Fewer
 * pairs than the exact interval needs get Student's, which is wider than a few
 * pairs of a steady machine deserve and right for them.
 * Invariant: the same runs give the same interval; nothing here is random.
 */
#include "tools/vp-bench/bench_compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EXACT_MOST 60u          /* pairs; beyond, the rank sum is as good as normal */

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double *room(size_t n)
{
	double *v = calloc(n ? n : 1, sizeof *v);

	if (v == NULL)
		abort();
	return v;
}

/* ---- signed ranks ------------------------------------------------------------------- */

/* Largest k with P(rank sum <= k) <= tail; -1 when there is none. */
static long exact_rank(size_t n, double tail)
{
	size_t sums = n * (n + 1) / 2 + 1;
	double *p = room(sums), below = 0;
	long k = -1;

	p[0] = 1;
	for (size_t i = 1; i <= n; i++)
		for (size_t s = sums; s-- > 0; )
			p[s] = (p[s] + (s >= i ? p[s - i] : 0)) / 2;
	for (size_t s = 0; s < sums; s++) {
		below += p[s];
		if (below > tail)
			break;
		k = (long)s;
	}
	free(p);
	return k;
}

static long normal_rank(size_t n, double confidence)
{
	double x = (double)n, mean = x * (x + 1) / 4, sd = sqrt(x * (x + 1) * (2 * x + 1) / 24);

	return (long)floor(mean - bench_t(confidence, 1000000) * sd - 0.5);
}

static double *walsh(const double *d, size_t n, size_t *m)
{
	double *w = room(n * (n + 1) / 2);

	*m = 0;
	for (size_t i = 0; i < n; i++)
		for (size_t k = i; k < n; k++)
			w[(*m)++] = (d[i] + d[k]) / 2;
	qsort(w, *m, sizeof *w, ascending);
	return w;
}

bool bench_signed_rank(const double *d, size_t n, double confidence, struct bench_interval *out)
{
	long k = n <= EXACT_MOST ? exact_rank(n, (1 - confidence) / 2) : normal_rank(n, confidence);
	double *w;
	size_t m;

	if (k < 0)
		return false;
	w = walsh(d, n, &m);
	out->lo = w[k];
	out->hi = w[m - 1 - (size_t)k];
	out->mid = m % 2 ? w[m / 2] : (w[m / 2 - 1] + w[m / 2]) / 2;
	free(w);
	return true;
}

/* ---- Welch ---------------------------------------------------------------------------- */

bool bench_welch(const double *a, size_t na, const double *b, size_t nb, double confidence,
		 struct bench_interval *out)
{
	double sa, sb, df, half;

	if (na < 2 || nb < 2)
		return false;
	sa = pow(bench_stddev(a, na), 2) / (double)na;
	sb = pow(bench_stddev(b, nb), 2) / (double)nb;
	df = pow(sa + sb, 2) / (sa * sa / (double)(na - 1) + sb * sb / (double)(nb - 1));
	half = sa + sb > 0 ? bench_t(confidence, df >= 1 ? (unsigned)df : 1) * sqrt(sa + sb) : 0;
	out->mid = bench_mean(b, nb) - bench_mean(a, na);
	out->lo = out->mid - half;
	out->hi = out->mid + half;
	return true;
}

/* ---- two series --------------------------------------------------------------------------- */

static bool all_above_zero(const struct bench_series *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (!(s->v[i] > 0))
			return false;
	return true;
}

static double scaled(double v, bool ratio)
{
	return ratio ? log(v) : v;
}

/* b - a of the blocks that both have; blocks of a series ascend. */
static size_t pair_up(const struct bench_series *a, const struct bench_series *b, bool ratio, double *d)
{
	size_t n = 0, k = 0;

	for (size_t i = 0; i < a->n; i++) {
		while (k < b->n && b->block[k] < a->block[i])
			k++;
		if (k < b->n && b->block[k] == a->block[i])
			d[n++] = scaled(b->v[k], ratio) - scaled(a->v[i], ratio);
	}
	return n;
}

static bool by_pairs(const struct bench_series *a, const struct bench_series *b, double confidence,
		     struct bench_difference *out)
{
	double *d = room(a->n);
	bool good;

	out->pairs = pair_up(a, b, out->ratio, d);
	good = out->pairs >= 2;
	out->method = "signed ranks of pairs";
	if (good && !bench_signed_rank(d, out->pairs, confidence, &out->in)) {
		out->method = "Student's t of pairs";
		out->in = bench_mean_interval(d, out->pairs, confidence);
	}
	if (!good)
		out->why = "fewer than two blocks have both sides";
	free(d);
	return good;
}

static bool by_means(const struct bench_series *a, const struct bench_series *b, double confidence,
		     struct bench_difference *out)
{
	double *x = room(a->n), *y = room(b->n);
	bool good;

	for (size_t i = 0; i < a->n; i++)
		x[i] = scaled(a->v[i], out->ratio);
	for (size_t i = 0; i < b->n; i++)
		y[i] = scaled(b->v[i], out->ratio);
	out->method = "Welch's t";
	good = bench_welch(x, a->n, y, b->n, confidence, &out->in);
	if (!good)
		out->why = "a side has fewer than two runs";
	free(x);
	free(y);
	return good;
}

/* A verdict leans on the differences as they are; then they become ratios. */
static void decide(struct bench_difference *out, bool lower)
{
	bool up = out->in.lo > 0, down = out->in.hi < 0;

	out->verdict = !up && !down ? BENCH_NO_DIFFERENCE : up == lower ? BENCH_WORSE : BENCH_BETTER;
	if (out->ratio) {
		out->in = (struct bench_interval){ exp(out->in.mid), exp(out->in.lo), exp(out->in.hi) };
		out->percent = (out->in.mid - 1) * 100;
	} else {
		out->percent = out->mean_a != 0 ? out->in.mid / fabs(out->mean_a) * 100 : out->in.mid != 0 ? INFINITY : 0;
		if (out->mean_a == 0 && out->in.mid < 0)
			out->percent = -INFINITY;
	}
	if (!lower)
		out->percent = -out->percent;
}

void bench_differ(const struct bench_series *a, const struct bench_series *b, bool paired, bool lower,
		  double confidence, struct bench_difference *out)
{
	*out = (struct bench_difference){ .verdict = BENCH_NOT_MEASURED, .na = a->n, .nb = b->n, .method = "none",
		.ratio = all_above_zero(a) && all_above_zero(b),
		.mean_a = bench_mean(a->v, a->n), .mean_b = bench_mean(b->v, b->n) };
	if (a->n == 0 || b->n == 0)
		out->why = a->n == 0 ? "side A has no value" : "side B has no value";
	else if (paired ? by_pairs(a, b, confidence, out) : by_means(a, b, confidence, out))
		decide(out, lower);
}
