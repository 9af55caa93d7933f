/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_shard.h - a sweep as the work of several machines (bench_shard.c): which part of it is whose.
 *
 * Shard i of n does every n-th unit of the ordered list, from the i-th on.  What a unit is, the
 * sweep says: of vp-sim a point, of vp-bench the points that something compares.
 */
#ifndef XK_BENCH_SHARD_H
#define XK_BENCH_SHARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BENCH_SHARDS 4096u

/* number: from 1; of 0: the sweep is whole. */
struct bench_shard { unsigned number, of; };

/* "2/4"; false and why. */
bool bench_shard_parse(const char *text, struct bench_shard *s, char *why, size_t n);
/* How many parts, "4"; 0 and why. */
unsigned bench_shard_count(const char *text, char *why, size_t n);
/* Is unit (from 0) one of this shard's? */
static inline bool bench_shard_has(const struct bench_shard *s, unsigned unit)
{
	return s->of == 0 || unit % s->of == s->number - 1;
}
/* FNV-1a of n bytes; from: of those before, or BENCH_HASH. */
#define BENCH_HASH 0xcbf29ce484222325u
uint64_t bench_hash(uint64_t from, const void *bytes, size_t n);

#endif
