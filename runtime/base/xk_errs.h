/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_errs.h - collects errors with their place so that all are shown at once.
 *
 * Control path only, one thread at a time.
 */
#ifndef XK_ERRS_H
#define XK_ERRS_H

#include "runtime/base/xk_base.h"

struct xk_errs;

struct xk_errs *xk_errs_new(void);                 /* NULL when out of memory */
void     xk_errs_free(struct xk_errs *e);          /* free(NULL) is legal */
/* file may be NULL ("command line"), line 0 when unknown, col 0 when unknown
 * (no caret).  Copies everything.  A NULL collector is legal: nothing is kept. */
void     xk_errs_add(struct xk_errs *e, const char *file, int line, int col,
		     const char *fmt, ...) XK_PRINTF(5, 6);
unsigned xk_errs_count(const struct xk_errs *e);
/* There were more, which nobody keeps: who prints says so last. */
void     xk_errs_cut(struct xk_errs *e);
bool     xk_errs_is_cut(const struct xk_errs *e);
/* Sorted by file and line, duplicates dropped; text of error i and its place. */
const char *xk_errs_text(const struct xk_errs *e, unsigned i, const char **file, int *line, int *col);
void     xk_errs_sort(struct xk_errs *e);

/* The nearest of `words` (n of them) to `word` within edit distance 2 (1 for
 * words of 3 letters or fewer; a transposition counts as one), or NULL. */
const char *xk_errs_suggest(const char *word, const char *const *words, unsigned n);

#endif
