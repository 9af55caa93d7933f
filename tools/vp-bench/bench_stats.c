/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_stats.c - means, intervals, ratios and fairness.
 *
 * Student's quantile is found by bisection on the distribution function, which
 * is the regularised incomplete beta function by its continued fraction.
 */
#include "tools/vp-bench/bench_stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/xk_rand.h"

double bench_mean(const double *v, size_t n)
{
	double s = 0;

	for (size_t i = 0; i < n; i++)
		s += v[i];
	return n ? s / (double)n : 0;
}

double bench_stddev(const double *v, size_t n)
{
	double m = bench_mean(v, n), s = 0;

	if (n < 2)
		return 0;
	for (size_t i = 0; i < n; i++)
		s += (v[i] - m) * (v[i] - m);
	return sqrt(s / (double)(n - 1));
}

static int cmp(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double *sorted(const double *v, size_t n)
{
	double *s = malloc((n ? n : 1) * sizeof *s);

	if (s == NULL)
		abort();
	memcpy(s, v, n * sizeof *s);
	qsort(s, n, sizeof *s, cmp);
	return s;
}

double bench_median(const double *v, size_t n)
{
	double *s, m;

	if (n == 0)
		return 0;
	s = sorted(v, n);
	m = n % 2 ? s[n / 2] : (s[n / 2 - 1] + s[n / 2]) / 2;
	free(s);
	return m;
}

double bench_percentile(const double *v, size_t n, double p)
{
	double *s, x;
	size_t rank;

	if (n == 0)
		return 0;
	s = sorted(v, n);
	rank = (size_t)ceil(p * (double)n);
	x = s[rank == 0 ? 0 : rank > n ? n - 1 : rank - 1];
	free(s);
	return x;
}

/* Continued fraction of the incomplete beta function (modified Lentz). */
static double beta_fraction(double a, double b, double x)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1), h;

	d = 1 / (fabs(d) < tiny ? tiny : d);
	h = d;
	for (int m = 1; m < 500; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double step;

		d = 1 + even * d;
		c = 1 + even / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		h *= d * c;
		d = 1 + odd * d;
		c = 1 + odd / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		step = d * c;
		h *= step;
		if (fabs(step - 1) < 1e-14)
			break;
	}
	return h;
}

static double incomplete_beta(double a, double b, double x)
{
	double front;

	if (x <= 0)
		return 0;
	if (x >= 1)
		return 1;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(1 - x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

/* P(|T| <= t) for df degrees of freedom. */
static double t_inside(double t, double df)
{
	return 1 - incomplete_beta(df / 2, 0.5, df / (df + t * t));
}

double bench_t(double confidence, unsigned df)
{
	double lo = 0, hi = 1e4;

	for (int i = 0; i < 200; i++) {
		double mid = (lo + hi) / 2;

		if (t_inside(mid, df) < confidence)
			lo = mid;
		else
			hi = mid;
	}
	return (lo + hi) / 2;
}

struct bench_interval bench_mean_interval(const double *v, size_t n, double confidence)
{
	struct bench_interval r;
	double half = 0;

	r.mid = bench_mean(v, n);
	if (n >= 2)
		half = bench_t(confidence, (unsigned)n - 1) * bench_stddev(v, n) / sqrt((double)n);
	r.lo = r.mid - half;
	r.hi = r.mid + half;
	return r;
}

double bench_trimmed_mean(const double *v, size_t n)
{
	double *s, m;

	if (n < 3)
		return bench_mean(v, n);
	s = sorted(v, n);
	m = bench_mean(s + 1, n - 2);
	free(s);
	return m;
}

#define RESAMPLES 2000

static double resampled_median(const double *ratio, double *tmp, size_t n, struct xk_rand *r)
{
	for (size_t i = 0; i < n; i++)
		tmp[i] = ratio[xk_rand_below(r, n)];
	return bench_median(tmp, n);
}

struct bench_interval bench_ratio_interval(const double *a, const double *b, size_t n,
					   double confidence, uint64_t seed)
{
	struct bench_interval out = { 0, 0, 0 };
	double *ratio, *tmp, *med;
	struct xk_rand r;

	if (n == 0)
		return out;
	ratio = malloc(n * sizeof *ratio);
	tmp = malloc(n * sizeof *tmp);
	med = malloc(RESAMPLES * sizeof *med);
	if (ratio == NULL || tmp == NULL || med == NULL)
		abort();
	for (size_t i = 0; i < n; i++)
		ratio[i] = a[i] / b[i];
	xk_rand_init(&r, seed, 0);
	for (size_t i = 0; i < RESAMPLES; i++)
		med[i] = resampled_median(ratio, tmp, n, &r);
	out.mid = bench_median(ratio, n);
	out.lo = bench_percentile(med, RESAMPLES, (1 - confidence) / 2);
	out.hi = bench_percentile(med, RESAMPLES, (1 + confidence) / 2);
	free(ratio);
	free(tmp);
	free(med);
	return out;
}

double bench_jain(const double *v, size_t n)
{
	double s = 0, q = 0;

	for (size_t i = 0; i < n; i++) {
		s += v[i];
		q += v[i] * v[i];
	}
	return q > 0 ? s * s / ((double)n * q) : 1;
}

double bench_max_over_min(const double *v, size_t n)
{
	double lo = INFINITY, hi = -INFINITY;

	for (size_t i = 0; i < n; i++) {
		lo = v[i] < lo ? v[i] : lo;
		hi = v[i] > hi ? v[i] : hi;
	}
	if (n == 0)
		return 1;
	return lo > 0 ? hi / lo : INFINITY;
}

double bench_little(double user_seconds, double messages)
{
	return messages > 0 ? user_seconds / messages : 0;
}

void bench_normalise(const double *v, size_t n, double *out)
{
	double m = bench_mean(v, n);

	for (size_t i = 0; i < n; i++)
		out[i] = m > 0 ? v[i] / m : 0;
}

int bench_is_flat(const double *v, size_t n, double tolerance)
{
	double mx = ((double)n - 1) / 2, my = bench_mean(v, n), sxy = 0, sxx = 0;

	if (n < 3 || my == 0)
		return 0;
	for (size_t i = 0; i < n; i++) {
		sxy += ((double)i - mx) * (v[i] - my);
		sxx += ((double)i - mx) * ((double)i - mx);
	}
	return fabs(sxy / sxx * (double)n) <= tolerance * my;
}

double bench_correlation(const double *a, const double *b, size_t n)
{
	double ma = bench_mean(a, n), mb = bench_mean(b, n), ab = 0, aa = 0, bb = 0;

	for (size_t i = 0; i < n; i++) {
		ab += (a[i] - ma) * (b[i] - mb);
		aa += (a[i] - ma) * (a[i] - ma);
		bb += (b[i] - mb) * (b[i] - mb);
	}
	return aa > 0 && bb > 0 ? ab / sqrt(aa * bb) : 0;
}
