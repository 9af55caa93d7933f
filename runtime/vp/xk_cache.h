/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_cache.h - how much of what a processor has cached other work displaces: x -> F1(x), F2(x).
 *
 * The one model of caches of both engines, of vp-sim's models and of graphs on simulated processors.
 * u(R; L) = W L^a R^b d^(log L log R) lines of L bytes are touched by R references (Singh, Stone
 * and Thiebaut 1992, with logarithms to the base 10), and a share 1 - exp(-u / sets) of a
 * footprint in a direct-mapped cache is gone then (Thiebaut and Stone 1987).  Salehi, Kurose and Towsley
 * (1995) cite both and do not give the numbers; those of a machine file say where they are from.
 * Pure: no state but what is handed in, any thread.
 */
#ifndef XK_CACHE_H
#define XK_CACHE_H

#include "runtime/base/xk_base.h"
#include "runtime/base/xk_clock.h"

/* references: a microsecond of work makes so many; share: of them, to this level; line: bytes. */
struct xk_cache_level { double lines, line, share; };
struct xk_cache_machine {
	double references, w, a, b, log_d;
	struct xk_cache_level level[2];
};

#define XK_CACHE_STEPS 64u       /* for each power of two */
#define XK_CACHE_LOW   6u
#define XK_CACHE_HIGH  40u
#define XK_CACHE_ROOM  ((XK_CACHE_HIGH - XK_CACHE_LOW) * XK_CACHE_STEPS + 1)

/* Shares that are gone, by how long other work ran: a straight line between 64 points for each power of two, so
 * that a run computes no logarithm. */
struct xk_cache { double f1[XK_CACHE_ROOM], f2[XK_CACHE_ROOM]; };

/* displace: share of its references that displace something. */
void xk_cache_init(struct xk_cache *c, const struct xk_cache_machine *m, double displace);
/* Nanoseconds of other work to the shares of the first and the second level. */
void xk_cache_displaced(const struct xk_cache *c, xk_ns away, double *f1, double *f2);
/* The share of one level, 1 or 2, computed: us of other work. */
double xk_cache_share(const struct xk_cache_machine *m, unsigned level, double us);
/* Equation 1 of Salehi, Kurose and Towsley. */
static inline double xk_cache_mix(double f1, double f2, double hot, double l1_cold, double memory_cold)
{
	return (1 - f1) * hot + f1 * ((1 - f2) * l1_cold + f2 * memory_cold);
}

#endif
