/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_merge.h - the parts of a sweep that machines ran for themselves, made whole again.
 */
#ifndef XK_BENCH_MERGE_H
#define XK_BENCH_MERGE_H

#include "tools/vp-bench/bench.h"

/* One file: its text, and its first JSON value. */
struct bench_part { const char *file; char *text; size_t n; json_t *head; size_t head_n; };

/* Parts that vp-sim --shard wrote: the bytes that the whole sweep prints; NULL and why. */
char *bench_merge_sim(const struct bench_part *part, unsigned n, char *why, size_t size);
/* Parts that vp-bench --shard wrote: the whole document, new; NULL and why. */
json_t *bench_merge_docs(const struct bench_part *part, unsigned n, char *why, size_t size);
/* Where the part of each number is: at[number - 1] of `of`, to be freed; NULL and why: one is missing or there twice,
 * or they are not of the same number of parts. */
unsigned *bench_merge_order(const struct bench_part *part, unsigned n, char *why, size_t size);

#endif
