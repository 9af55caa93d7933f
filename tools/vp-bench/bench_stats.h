/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_stats.h - the estimators of vp-bench, each defined once and tested on
 * vectors with known answers.
 *
 * The unit of statistics is a run.  Intervals of means are Student's t; ratios
 * are paired (side A and side B of one random block) and bootstrapped with a
 * seeded generator, so that the same data give the same interval.
 */
#ifndef XK_BENCH_STATS_H
#define XK_BENCH_STATS_H

#include <stddef.h>
#include <stdint.h>

struct bench_interval { double mid, lo, hi; };

double bench_mean(const double *v, size_t n);
double bench_stddev(const double *v, size_t n);          /* n - 1; 0 for n < 2 */
double bench_median(const double *v, size_t n);
/* The value below or at which p (0..1) of v lies, by nearest rank: p = 0 is the
 * smallest, p = 1 the largest.  v need not be sorted. */
double bench_percentile(const double *v, size_t n, double p);
/* Two-sided Student's t quantile for `confidence` (0.5..0.999), df >= 1. */
double bench_t(double confidence, unsigned df);
/* Mean and its t interval; lo = hi = mid for n < 2. */
struct bench_interval bench_mean_interval(const double *v, size_t n, double confidence);
/* Mean without the smallest and the largest value (n >= 3). */
double bench_trimmed_mean(const double *v, size_t n);
/* Median of a[i] / b[i] with a bootstrap interval over pairs. */
struct bench_interval bench_ratio_interval(const double *a, const double *b, size_t n,
					   double confidence, uint64_t seed);
/* Jain's index: (sum x)^2 / (n sum x^2); 1 for equal shares. */
double bench_jain(const double *v, size_t n);
double bench_max_over_min(const double *v, size_t n);    /* INFINITY when min is 0 */
/* Mean time in the system by Little's law for one thread with one message in
 * its hands: user seconds / messages, in seconds. */
double bench_little(double user_seconds, double messages);
/* Share of the mean: v[i] / mean(v), into out. */
void   bench_normalise(const double *v, size_t n, double *out);
/* Is the slope of v (least squares over its index), times its length, within
 * `tolerance` of its mean?  Warm-up has ended when it is. */
int    bench_is_flat(const double *v, size_t n, double tolerance);
/* Pearson correlation; 0 when a side is constant. */
double bench_correlation(const double *a, const double *b, size_t n);

#endif
