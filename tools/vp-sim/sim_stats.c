/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim_stats.c - means with their 95 % intervals, from the batches of one run or from several runs.
 *
 * Batch means are independent when batches are long against what the system remembers.  Where
 * neighbours still go together (lag-1 correlation above 0.3) an interval would be too narrow, and
 * none is quoted.
 */
#include "tools/vp-sim/sim.h"

#include <math.h>

/* Student's t, two-sided 95 %. */
static double student(unsigned df)
{
	static const double t[] = { 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
				    2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048,
				    2.045, 2.042 };

	return df <= XK_ARRAY_LEN(t) ? t[df - 1] : 1.96 + 2.4 / df;
}

struct sim_estimate sim_estimate_of(const double *v, unsigned n, bool batches)
{
	struct sim_estimate e = { .half = NAN };
	double squares = 0, neighbours = 0;

	for (unsigned i = 0; i < n; i++)
		e.mean += v[i] / n;
	for (unsigned i = 0; i < n; i++) {
		squares += (v[i] - e.mean) * (v[i] - e.mean);
		neighbours += i != 0 ? (v[i] - e.mean) * (v[i - 1] - e.mean) : 0;
	}
	e.lag1 = squares > 0 ? neighbours / squares : 0;
	if (n > 1 && !(batches && e.lag1 > 0.3))
		e.half = student(n - 1) * sqrt(squares / (n - 1) / n);
	return e;
}

double sim_mean(const struct sim_result *r, enum sim_what what)
{
	uint64_t sum = what == SIM_DELAY ? r->delay : what == SIM_QUEUEING ? r->queueing : r->execution;

	return r->served != 0 ? (double)sum / (double)r->served / 1e3 : NAN;
}

struct sim_estimate sim_estimate(const struct sim_result *r, unsigned nruns, enum sim_what what)
{
	double v[1000];
	unsigned n = 0;
	struct sim_estimate e;

	if (nruns > 1) {
		for (; n < nruns && n < XK_ARRAY_LEN(v); n++)
			v[n] = sim_mean(&r[n], what);
		return sim_estimate_of(v, n, false);
	}
	for (unsigned i = 0; i < SIM_BATCHES; i++) {
		const struct sim_batch *b = &r->batch[i];

		if (b->n != 0)
			v[n++] = (what == SIM_DELAY ? b->delay : what == SIM_QUEUEING ? b->queueing : b->execution) / (double)b->n / 1e3;
	}
	e = sim_estimate_of(v, n, true);
	/* Each packet counts the same, not each batch. */
	e.mean = sim_mean(r, what);
	if (n < SIM_BATCHES)
		e.half = NAN;
	return e;
}

double sim_utilisation(const struct sim_model *m, const struct sim_result *r)
{
	return r->time != 0 ? (double)r->execution / (double)r->time / m->processors : NAN;
}
