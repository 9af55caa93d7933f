/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_affinity_curve.c - a message's time after this processor has done other work for a while, which puts what
 * the message needs out of the caches by and by: t(x) of Salehi and others (1995, equation 1).
 *
 * affinity.lua inverts it: F1 and F2, the shares that are gone.  At intensity 0 nothing is done meanwhile: what is
 * gone then others have displaced, programs on this processor or whoever shares its caches.
 */
#include "tools/vp-bench/bench_affinity.h"

static const double intensity[] = { 0, 0.25, 0.5, 1 };
static const struct { double ns; unsigned samples; } away[] = {
	{ 1e3, 20 }, { 3e3, 20 }, { 10e3, 20 }, { 30e3, 10 }, { 100e3, 10 }, { 300e3, 5 }, { 1e6, 4 }, { 3e6, 3 }, { 10e6, 2 },
};
#define NAWAY ((unsigned)XK_ARRAY_LEN(away))

static bool here(struct aff_rig *r, unsigned i, char *why)
{
	(void)r;
	(void)i;
	(void)why;
	return true;
}

static double sample(struct aff_rig *r, unsigned i)
{
	struct xk_vp *vp = aff_vp(r, AFF_RECEIVE, AFF_ONE, AFF_TIMED);
	uint64_t from;

	aff_message(r, vp);
	aff_message(r, vp);
	aff_other_work(&r->caches, away[i % NAWAY].ns, intensity[i / NAWAY]);
	from = aff_ticks();
	aff_message(r, vp);
	return (double)(aff_ticks() - from);
}

static unsigned samples(unsigned i) { return away[i % NAWAY].samples; }

static json_t *head(unsigned i)
{
	return json_pack("{s:f, s:f}", "intensity", intensity[i / NAWAY], "away_ns", away[i % NAWAY].ns);
}

const struct aff_part aff_curve = { "curve", NAWAY * (unsigned)XK_ARRAY_LEN(intensity), here, sample, samples, head };
