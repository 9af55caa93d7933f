/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs_tree.c - who sends to whom when a group talks; see ncs_tree.h.
 */
#include "protocols/ncs/ncs_tree.h"

uint32_t ncs_tree_parent(enum ncs_shape s, uint32_t k, uint32_t n, uint32_t place)
{
	(void)n;
	if (place == 0)
		return NCS_NOBODY;
	switch (s) {
	case NCS_BINOMIAL: return place & (place - 1);
	case NCS_KARY: return (place - 1) / k;
	case NCS_CHAIN: return place - 1;
	default: return 0;
	}
}

/* place has those below its lowest bit, the highest first: its subtree is the largest. */
static uint32_t binomial_child(uint32_t n, uint32_t place, uint32_t i)
{
	uint32_t bit = 1;

	while (bit < n && !(place & bit))
		bit <<= 1;
	for (bit >>= 1; bit != 0; bit >>= 1)
		if ((place | bit) < n && i-- == 0)
			return place | bit;
	return NCS_NOBODY;
}

uint32_t ncs_tree_child(enum ncs_shape s, uint32_t k, uint32_t n, uint32_t place, uint32_t i)
{
	uint64_t c;

	switch (s) {
	case NCS_BINOMIAL: return binomial_child(n, place, i);
	case NCS_KARY: c = i < k ? (uint64_t)place * k + 1 + i : n; break;
	case NCS_CHAIN: c = i == 0 ? (uint64_t)place + 1 : n; break;
	default: c = place == 0 ? (uint64_t)i + 1 : n; break;
	}
	return c < n ? (uint32_t)c : NCS_NOBODY;
}

enum ncs_shape ncs_tree_best(uint32_t n, uint64_t bytes, uint64_t piece)
{
	/* A chain takes n - 1 steps until the last one has its first piece, and one for each piece then. */
	return n > 2 && bytes / piece >= n ? NCS_CHAIN : NCS_BINOMIAL;
}

uint32_t ncs_barrier_rounds(uint32_t n)
{
	uint32_t r = 0;

	while (((uint64_t)1 << r) < n)
		r++;
	return r;
}

uint32_t ncs_barrier_to(uint32_t n, uint32_t place, uint32_t round)
{
	return (uint32_t)((place + ((uint64_t)1 << round)) % n);
}

uint32_t ncs_barrier_from(uint32_t n, uint32_t place, uint32_t round)
{
	return (uint32_t)((place + n - ((uint64_t)1 << round)) % n);
}
