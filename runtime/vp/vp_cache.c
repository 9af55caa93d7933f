/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_cache.c - the shares of a footprint that other work has displaced; see xk_cache.h.
 */
#include "runtime/vp/xk_cache.h"

#include <math.h>

/* Lines that so many references touch; never more than there were references. */
static double touched(const struct xk_cache_machine *m, double references, double line)
{
	double r = log10(references), b = log10(line), u;

	if (references <= 1)
		return references;
	u = m->w * pow(line, m->a) * pow(references, m->b) * pow(10, m->log_d * b * r);
	return u < references ? u : references;
}

double xk_cache_share(const struct xk_cache_machine *m, unsigned level, double us)
{
	const struct xk_cache_level *c = &m->level[level - 1];

	return -expm1(-touched(m, us * m->references * c->share, c->line) / c->lines);
}

void xk_cache_init(struct xk_cache *c, const struct xk_cache_machine *m, double displace)
{
	for (unsigned i = 0; i < XK_CACHE_ROOM; i++) {
		double us = ldexp(1 + (double)(i % XK_CACHE_STEPS) / XK_CACHE_STEPS, (int)(XK_CACHE_LOW + i / XK_CACHE_STEPS)) / 1e3;

		c->f1[i] = xk_cache_share(m, 1, us * displace);
		c->f2[i] = xk_cache_share(m, 2, us * displace);
	}
}

void xk_cache_displaced(const struct xk_cache *c, xk_ns away, double *f1, double *f2)
{
	unsigned power, i;
	double part, at;

	*f1 = *f2 = 0;
	if (away < 1u << XK_CACHE_LOW)
		return;
	power = 63u - (unsigned)__builtin_clzll(away);
	if (power >= XK_CACHE_HIGH) {
		*f1 = c->f1[XK_CACHE_ROOM - 1];
		*f2 = c->f2[XK_CACHE_ROOM - 1];
		return;
	}
	at = (double)(away - (1ull << power)) / (double)(1ull << power) * XK_CACHE_STEPS;
	i = (power - XK_CACHE_LOW) * XK_CACHE_STEPS + (unsigned)at;
	part = at - floor(at);
	*f1 = c->f1[i] * (1 - part) + c->f1[i + 1] * part;
	*f2 = c->f2[i] * (1 - part) + c->f2[i + 1] * part;
}
