/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_shard.c - reads which part of a sweep is asked for, and hashes what parts shall have in common.
 */
#include "tools/vp-bench/bench_shard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Digits alone; what is too large stays so. */
static const char *take(const char *text, unsigned long *v)
{
	size_t n = strspn(text, "0123456789");

	*v = n == 0 ? 0 : n > 9 ? 999999999 : strtoul(text, NULL, 10);
	return n != 0 ? text + n : NULL;
}

unsigned bench_shard_count(const char *text, char *why, size_t n)
{
	unsigned long of;
	const char *end = take(text, &of);

	if (end != NULL && *end == '\0' && of >= 1 && of <= BENCH_SHARDS)
		return (unsigned)of;
	snprintf(why, n, "takes a number from 1 to %u, not '%s'", BENCH_SHARDS, text);
	return 0;
}

bool bench_shard_parse(const char *text, struct bench_shard *s, char *why, size_t n)
{
	unsigned long number, of;
	const char *end = take(text, &number);

	if (end == NULL || *end != '/' || (end = take(end + 1, &of)) == NULL || *end != '\0')
		snprintf(why, n, "takes i/n, as in 2/4 for the second of four parts, not '%s'", text);
	else if (of == 0)
		snprintf(why, n, "%s: no sweep has 0 parts", text);
	else if (of > BENCH_SHARDS)
		snprintf(why, n, "%s: at most %u parts", text, BENCH_SHARDS);
	else if (number == 0 || number > of)
		snprintf(why, n, "%s: the parts are 1 to %lu", text, of);
	else {
		*s = (struct bench_shard){ (unsigned)number, (unsigned)of };
		return true;
	}
	return false;
}

uint64_t bench_hash(uint64_t from, const void *bytes, size_t n)
{
	const unsigned char *b = bytes;

	for (size_t i = 0; i < n; i++)
		from = (from ^ b[i]) * 0x100000001b3u;
	return from;
}
