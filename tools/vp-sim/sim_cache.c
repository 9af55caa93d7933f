/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim_cache.c - how much of the protocol's footprint other work displaces, and what a packet costs then.
 *
 * u(R; L) = W L^a R^b d^(log L log R) lines of L bytes are touched by R references (Singh, Stone
 * and Thiebaut 1992, with logarithms to the base 10), and a share 1 - exp(-u / sets) of a
 * footprint in a direct-mapped cache is gone then (Thiebaut and Stone 1987).  The paper cites
 * both and does not give the numbers; those of the ledger say where they are from.
 * Shares are tabulated, a straight line between 64 points for each power of two: a run computes
 * no logarithm, and its result does not depend on the mathematical library's speed or rounding.
 */
#include "tools/vp-sim/sim.h"

#include <math.h>

/* Lines that R references touch; never more than there were references. */
static double touched(const struct sim_ledger *l, double references, double line)
{
	double r = log10(references), b = log10(line), u;

	if (references <= 1)
		return references;
	u = l->property[SIM_FOOTPRINT_W].v * pow(line, l->property[SIM_FOOTPRINT_A].v) *
	    pow(references, l->property[SIM_FOOTPRINT_B].v) * pow(10, l->property[SIM_FOOTPRINT_D].v * b * r);
	return u < references ? u : references;
}

double sim_cache_level(const struct sim_ledger *l, unsigned level, double us)
{
	const struct sim_value *c = &l->property[level == 1 ? SIM_L1_LINES : SIM_L2_LINES];

	/* lines, bytes of a line, share of the references: in this order. */
	return -expm1(-touched(l, us * l->property[SIM_REFERENCES].v * c[2].v, c[1].v) / c[0].v);
}

void sim_cache_init(struct sim_cache *c, const struct sim_ledger *l, double displace)
{
	for (unsigned i = 0; i < SIM_CACHE_ROOM; i++) {
		double us = ldexp(1 + (double)(i % SIM_CACHE_STEPS) / SIM_CACHE_STEPS, (int)(SIM_CACHE_LOW + i / SIM_CACHE_STEPS)) / 1e3;

		c->f1[i] = sim_cache_level(l, 1, us * displace);
		c->f2[i] = sim_cache_level(l, 2, us * displace);
	}
}

void sim_cache_displaced(const struct sim_cache *c, xk_ns away, double *f1, double *f2)
{
	unsigned power, i;
	double part, at;

	*f1 = *f2 = 0;
	if (away < 1u << SIM_CACHE_LOW)
		return;
	power = 63u - (unsigned)__builtin_clzll(away);
	if (power >= SIM_CACHE_HIGH) {
		*f1 = c->f1[SIM_CACHE_ROOM - 1];
		*f2 = c->f2[SIM_CACHE_ROOM - 1];
		return;
	}
	at = (double)(away - (1ull << power)) / (double)(1ull << power) * SIM_CACHE_STEPS;
	i = (power - SIM_CACHE_LOW) * SIM_CACHE_STEPS + (unsigned)at;
	part = at - floor(at);
	*f1 = c->f1[i] * (1 - part) + c->f1[i + 1] * part;
	*f2 = c->f2[i] * (1 - part) + c->f2[i + 1] * part;
}

double sim_cache_cell(const struct sim_ledger *l, enum sim_parallel how, unsigned level, bool thread_moved)
{
	const struct sim_value *c = l->cost[how];
	/* Each of the things that may have moved has done so in half of the cells. */
	double us = c[SIM_HOT].v + (c[SIM_MAP_MISS].v + c[SIM_SESSION_MOVED].v + c[SIM_PROTOCOL_MOVED].v) / 2;

	if (level == 2)
		return us + c[SIM_MEMORY_COLD].v;
	us += level == 1 ? c[SIM_L1_COLD].v : 0;
	return us + (thread_moved ? c[level == 1 ? SIM_THREAD_COLD : SIM_THREAD_MOVED].v : 0);
}
