/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * patterns.h - patterns made by hand or by chance, and frames that suit them, for tests of
 * back ends.
 *
 * Invariant: what a function makes follows from the state of its generator of numbers alone.
 */
#ifndef PATTERNS_H
#define PATTERNS_H

#include "runtime/classify/xk_pattern.h"

#define PATTERN_FRAME 256u       /* most bytes of a frame */

struct dice { uint64_t s; };
static inline uint32_t roll(struct dice *d, uint32_t n)
{
	d->s ^= d->s << 13;
	d->s ^= d->s >> 7;
	d->s ^= d->s << 17;
	return n != 0 ? (uint32_t)(d->s >> 11) % n : (uint32_t)(d->s >> 11);
}

/* Patterns by name: "eth", "fddi", "rawip" with ip, udp, tcp and icmp above; "user": a
 * protocol of a user's own in ip, variable and little endian, its key under masks; "wide": so
 * many protocols above one that jumps get long. */
extern const char *const pattern_names[];        /* NULL last */
void pattern_make(struct xk_pattern *p, const char *name);
/* One by chance, of 1 to 24 cells. */
void pattern_random(struct xk_pattern *p, struct dice *d);

/* A frame that goes far into the pattern, or fails at a step by chance; its length. */
uint32_t pattern_frame(const struct xk_pattern *p, struct dice *d, uint8_t *frame);

#endif
