/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_rand.h - seeded pseudo-random numbers (xoshiro256**, seeded by splitmix64).
 *
 * Each VP and each impaired link owns one generator, derived from the graph's
 * seed and its own number, so that a run is reproducible.  Not for secrets.
 */
#ifndef XK_RAND_H
#define XK_RAND_H

#include "runtime/base/xk_base.h"

struct xk_rand { uint64_t s[4]; };

/* Same (seed, stream) gives the same numbers on every machine. */
void     xk_rand_init(struct xk_rand *r, uint64_t seed, uint64_t stream);
uint64_t xk_rand_u64(struct xk_rand *r);
/* Uniform in [0, n), without modulo bias; n > 0. */
uint64_t xk_rand_below(struct xk_rand *r, uint64_t n);
/* Uniform in [0, 1). */
double   xk_rand_unit(struct xk_rand *r);
/* Exponential with the given mean. */
double   xk_rand_exp(struct xk_rand *r, double mean);
/* A seed from the system's entropy, for graphs that gave none. */
uint64_t xk_rand_entropy(void);

#endif
