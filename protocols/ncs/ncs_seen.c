/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs_seen.c - remembers which numbers have come, in a ring of bits above the first that has not.
 *
 * Invariant: base itself is not in; a bit outside of [base, base + NCS_WINDOW_MAX) does not exist.
 */
#include "protocols/ncs/ncs_policy.h"

#include <string.h>

#define RING(n) ((n) & (NCS_WINDOW_MAX - 1))
#define WORD(s, n) ((s)->bit[RING(n) / 64])
#define MASK(n) (UINT64_C(1) << ((n) & 63))

/* Those at base have come: it moves on. */
static void slide(struct ncs_seen *s)
{
	while (WORD(s, s->base) & MASK(s->base)) {
		WORD(s, s->base) &= ~MASK(s->base);
		s->above--;
		s->base++;
	}
}

void ncs_seen_init(struct ncs_seen *s, uint32_t n)
{
	memset(s, 0, sizeof *s);
	s->base = s->end = n;
}

bool ncs_seen_has(const struct ncs_seen *s, uint32_t n)
{
	return ncs_lt(n, s->base) || (n - s->base < NCS_WINDOW_MAX && (WORD(s, n) & MASK(n)) != 0);
}

void ncs_seen_add(struct ncs_seen *s, uint32_t n)
{
	if (ncs_lt(s->end, n + 1))
		s->end = n + 1;
	if (n == s->base) {
		s->base++;
	} else {
		WORD(s, n) |= MASK(n);
		s->above++;
	}
	slide(s);
}

void ncs_seen_below(struct ncs_seen *s, uint32_t n)
{
	if (ncs_lt(s->end, n))
		s->end = n;
	for (; s->above != 0 && ncs_lt(s->base, n); s->base++) {
		if (WORD(s, s->base) & MASK(s->base)) {
			WORD(s, s->base) &= ~MASK(s->base);
			s->above--;
		}
	}
	if (ncs_lt(s->base, n))
		s->base = n;
	slide(s);
}
