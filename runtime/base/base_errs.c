/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * base_errs.c - a growing list of errors with their places.
 *
 * When memory for an error cannot be had, the collector keeps that fact: the
 * count then has one more error, which says so.  Invariant: a collector that
 * was given an error never counts zero.
 */
#include "runtime/base/xk_errs.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct one {
	char *file;              /* NULL: command line */
	char *text;
	int   line, col;
	unsigned seq;            /* order of arrival, keeps the sort stable */
};

struct xk_errs {
	struct one *v;
	unsigned n, room;
	bool lost, cut;
};

struct xk_errs *xk_errs_new(void)
{
	return calloc(1, sizeof(struct xk_errs));
}

static void one_free(struct one *o)
{
	free(o->file);
	free(o->text);
}

void xk_errs_free(struct xk_errs *e)
{
	unsigned i;

	if (e == NULL)
		return;
	for (i = 0; i < e->n; i++)
		one_free(&e->v[i]);
	free(e->v);
	free(e);
}

static bool grow(struct xk_errs *e)
{
	unsigned room = e->room ? e->room * 2 : 16;
	struct one *v;

	if (e->n < e->room)
		return true;
	v = realloc(e->v, room * sizeof *v);
	if (v == NULL)
		return false;
	e->v = v;
	e->room = room;
	return true;
}

void xk_errs_add(struct xk_errs *e, const char *file, int line, int col, const char *fmt, ...)
{
	struct one o = { .line = line, .col = col };
	va_list ap;

	if (e == NULL)
		return;
	va_start(ap, fmt);
	if (vasprintf(&o.text, fmt, ap) < 0)
		o.text = NULL;
	va_end(ap);
	if (file != NULL)
		o.file = strdup(file);
	if (o.text == NULL || (file != NULL && o.file == NULL) || !grow(e)) {
		one_free(&o);
		e->lost = true;
		return;
	}
	o.seq = e->n;
	e->v[e->n++] = o;
}

void xk_errs_cut(struct xk_errs *e)
{
	if (e != NULL)
		e->cut = true;
}

bool xk_errs_is_cut(const struct xk_errs *e)
{
	return e != NULL && e->cut;
}

unsigned xk_errs_count(const struct xk_errs *e)
{
	return e == NULL ? 0 : e->n + e->lost;
}

const char *xk_errs_text(const struct xk_errs *e, unsigned i, const char **file, int *line, int *col)
{
	static const struct one lost = { .text = (char *)"out of memory: more errors could not be kept" };
	const struct one *o;

	xk_assert(i < xk_errs_count(e));
	o = i < e->n ? &e->v[i] : &lost;
	if (file != NULL)
		*file = o->file;
	if (line != NULL)
		*line = o->line;
	if (col != NULL)
		*col = o->col;
	return o->text;
}

/* Same place and text: 0 without looking at the order of arrival. */
static int cmp_place(const struct one *a, const struct one *b)
{
	int d;

	if (a->file == NULL || b->file == NULL)
		d = (a->file != NULL) - (b->file != NULL);
	else
		d = strcmp(a->file, b->file);
	if (d == 0)
		d = (a->line > b->line) - (a->line < b->line);
	return d;
}

static int cmp(const void *pa, const void *pb)
{
	const struct one *a = pa, *b = pb;
	int d = cmp_place(a, b);

	return d != 0 ? d : (a->seq > b->seq) - (a->seq < b->seq);
}

/* Is v[i] said already on the same line?  v[0..i) is sorted and free of doubles. */
static bool is_double(const struct one *v, unsigned n, const struct one *o)
{
	while (n-- > 0 && cmp_place(&v[n], o) == 0)
		if (v[n].col == o->col && strcmp(v[n].text, o->text) == 0)
			return true;
	return false;
}

void xk_errs_sort(struct xk_errs *e)
{
	unsigned i, kept = 0;

	if (e == NULL || e->n == 0)
		return;
	qsort(e->v, e->n, sizeof *e->v, cmp);
	for (i = 0; i < e->n; i++) {
		if (is_double(e->v, kept, &e->v[i]))
			one_free(&e->v[i]);
		else
			e->v[kept++] = e->v[i];
	}
	e->n = kept;
	/* Errors added later sort behind those that are here. */
	for (i = 0; i < kept; i++)
		e->v[i].seq = i;
}
