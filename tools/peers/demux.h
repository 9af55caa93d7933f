/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * demux.h - keys to sessions, a goal's job, the same for our map and for the tables of
 * others: a burst of 32 keys of 16 bytes, drawn at random from a million flows,
 * each to its session, whose first line is read.
 *
 * Keys are made in registers (a multiplication each), so no stream of keys takes
 * the caches from the tables.  Sessions are three lines, as one of TCP at rest,
 * and lie in huge pages where the kernel gives them, on every side.  The sum of
 * the sessions' numbers proves that each key met its own.
 * Invariant: no two flows have one key: w[0] is an odd multiple of the number.
 */
#ifndef XK_PEER_DEMUX_H
#define XK_PEER_DEMUX_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define DEMUX_FLOWS (1u << 20)
#define DEMUX_BURST 32u
#define DEMUX_ROUND 1024u        /* bursts between two looks at the clock */
#define DEMUX_SESSION 192u
#define DEMUX_HUGE  ((size_t)2 << 20)

struct demux_key { uint64_t w[2]; };

/* Addresses of both ends; ports of both ends and UDP. */
static inline struct demux_key demux_key(uint32_t i)
{
	uint64_t a = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);

	return (struct demux_key){ { a, (a >> 40 & 0xffff) | 0x1100090000u } };
}

/* The flow of the next frame, by a generator whose period is all of 32 bits. */
static inline uint32_t demux_next(uint32_t *x)
{
	*x = *x * 1664525u + 1013904223u;
	return *x >> 12;
}

/* Zeroed memory that the kernel was asked to back with huge pages. */
static inline void *demux_memory(size_t n)
{
	size_t size = (n + 2 * DEMUX_HUGE - 1) & ~(DEMUX_HUGE - 1);
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	p += -(uintptr_t)p & (DEMUX_HUGE - 1);
	(void)madvise(p, n & ~(DEMUX_HUGE - 1), MADV_HUGEPAGE);
	return p;
}

static inline void demux_check(uint64_t sum, uint64_t want)
{
	if (sum == want)
		return;
	fprintf(stderr, "a key met another flow's session\n");
	exit(1);
}

#endif
