/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * impair_fates.c - reads the list of frames whose fate is given.
 *
 * Invariant: in each direction entries are in the order of their numbers and none meet.
 */
#include "drivers/impair/impair_fates.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/mem/xk_alloc.h"

/* Moves *p past the word w and the blanks behind it. */
static bool word(const char **p, const char *w)
{
	size_t n = strlen(w);

	if (strncmp(*p, w, n) != 0 || ((*p)[n] != '\0' && (*p)[n] != ' '))
		return false;
	*p += n;
	*p += strspn(*p, " ");
	return true;
}

/* A number from 1 to most, and what of blanks is behind it. */
static bool number(const char **p, uint64_t most, uint64_t *out)
{
	char *end;

	if (**p < '0' || **p > '9')
		return false;
	errno = 0;
	*out = strtoull(*p, &end, 10);
	*p = end + strspn(end, " ");
	return errno == 0 && *out >= 1 && *out <= most;
}

/* One entry; ways: bits of the directions that it is about. */
static bool read_one(const char *p, struct fate *f, unsigned *ways)
{
	uint64_t late = 0;

	*f = (struct fate){ .what = FATE_NONE };
	p += strspn(p, " ");
	*ways = word(&p, "up") ? 1u << IMPAIR_UP : word(&p, "down") ? 1u << IMPAIR_DOWN : 3u;
	if (!number(&p, UINT64_MAX - 1, &f->first))
		return false;
	f->last = f->first;
	if (*p == '-') {
		p++;
		if (!number(&p, UINT64_MAX - 1, &f->last) || f->last < f->first)
			return false;
	}
	if (word(&p, "lost"))
		f->what = FATE_LOST;
	else if (word(&p, "doubled"))
		f->what = FATE_DOUBLED;
	else if (word(&p, "late") && number(&p, FATE_LATE_MAX, &late))
		f->what = FATE_LATE;
	f->late = (uint32_t)late;
	return f->what != FATE_NONE && *p == '\0';
}

static int by_number(const void *a, const void *b)
{
	const struct fate *x = a, *y = b;

	return x->first < y->first ? -1 : x->first > y->first;
}

/* In order, and none of them meet? */
static bool put_in_order(struct fates *f, unsigned way, char *why, size_t n)
{
	struct fate *v = f->v[way];

	if (f->n[way] != 0)              /* without any there is no array */
		qsort(v, f->n[way], sizeof *v, by_number);
	for (unsigned i = 1; i < f->n[way]; i++)
		if (v[i].first <= v[i - 1].last) {
			snprintf(why, n, "fates: frame %llu %s has two", (unsigned long long)v[i].first,
				 way == IMPAIR_UP ? "up" : "down");
			return false;
		}
	return true;
}

int fates_read(struct fates *f, const struct xk_plist *l, char *why, size_t n)
{
	struct fate one;
	unsigned ways;

	*f = (struct fates){ .n = { 0, 0 } };
	for (unsigned w = 0; w < 2 && l->n != 0; w++) {
		f->v[w] = xk_alloc(l->n * sizeof *f->v[w]);
		if (f->v[w] == NULL) {
			fates_free(f);
			return XK_E_NOMEM;
		}
	}
	for (unsigned i = 0; i < l->n; i++) {
		if (!read_one(l->v[i].text, &one, &ways)) {
			snprintf(why, n, "fates: \"%.60s\" is none: \"[up|down] FIRST[-LAST] lost|doubled|late N\", "
				 "frames from 1, N from 1 to %u", l->v[i].text, FATE_LATE_MAX);
			fates_free(f);
			return XK_E_INVAL;
		}
		for (unsigned w = 0; w < 2; w++)
			if (ways >> w & 1)
				f->v[w][f->n[w]++] = one;
	}
	if (put_in_order(f, IMPAIR_UP, why, n) && put_in_order(f, IMPAIR_DOWN, why, n))
		return XK_OK;
	fates_free(f);
	return XK_E_INVAL;
}

void fates_free(struct fates *f)
{
	for (unsigned w = 0; w < 2; w++)
		xk_free(f->v[w]);
	*f = (struct fates){ .n = { 0, 0 } };
}
