/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * base_suggest.c - "did you mean": the nearest known word to a mistyped one.
 *
 * Edit distance with insertion, deletion, substitution and the transposition
 * of neighbours, each costing one.  Words longer than any name are not
 * compared.  Invariant: what is suggested is one of the caller's own words.
 */
#include "runtime/base/xk_errs.h"

#include <string.h>

#define WORD_MAX 63

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
	unsigned m = a < b ? a : b;

	return m < c ? m : c;
}

/* Optimal string alignment distance; three rows are all it looks back at. */
static unsigned distance(const char *a, size_t na, const char *b, size_t nb)
{
	unsigned row[3][WORD_MAX + 1];
	unsigned *before = row[0], *prev = row[1], *cur = row[2], *t;
	size_t i, j;

	for (j = 0; j <= nb; j++)
		prev[j] = (unsigned)j;
	for (i = 1; i <= na; i++) {
		cur[0] = (unsigned)i;
		for (j = 1; j <= nb; j++) {
			cur[j] = min3(prev[j] + 1, cur[j - 1] + 1,
				      prev[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    before[j - 2] + 1 < cur[j])
				cur[j] = before[j - 2] + 1;
		}
		t = before, before = prev, prev = cur, cur = t;
	}
	return prev[nb];
}

const char *xk_errs_suggest(const char *word, const char *const *words, unsigned n)
{
	size_t len = strlen(word), l;
	unsigned best = len <= 3 ? 2 : 3, d, i;
	const char *found = NULL;

	if (len > WORD_MAX)
		return NULL;
	for (i = 0; i < n; i++) {
		l = strlen(words[i]);
		if (l > WORD_MAX || (l > len ? l - len : len - l) >= best)
			continue;
		d = distance(word, len, words[i], l);
		if (d < best) {
			best = d;
			found = words[i];
		}
	}
	return found;
}
