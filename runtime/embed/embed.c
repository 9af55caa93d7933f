/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * embed.c - a graph inside a program: described, checked, freed; and its errors as text.
 *
 * Invariant: errors that are told stay as they are until the next call that describes, starts or frees; those of the
 * end are another text, so that who reads the first ones is not disturbed by it.
 */
#include "runtime/embed/embed_priv.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/mem/xk_alloc.h"

/* ---- errors ------------------------------------------------------------------------- */

int embed_fault(struct xk_embed *g, int err, const char *file, int line, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	xk_errs_add(g->e, file, line, 0, "%s", text);
	return err;
}

/* Of a graph that was built node by node: places are calls. */
static void print_built(FILE *f, const struct xk_embed *g, struct xk_errs *e, const char *kind)
{
	unsigned n;

	xk_errs_sort(e);
	n = xk_errs_count(e);
	for (unsigned i = 0; i < n; i++) {
		const char *file, *text;
		int line, col, at;

		text = xk_errs_text(e, i, &file, &line, &col);
		if (file != NULL && strcmp(file, EMBED_TEXT) == 0 && !embed_place_of(g, line, &file, &at))
			file = NULL;
		else if (file != NULL && line != 0 && embed_place_of(g, line, &file, &at))
			line = at;
		fprintf(f, file != NULL ? "%s:%d: " : "graph '%s': ", file != NULL ? file : g->name, line);
		fprintf(f, "%s%s%s\n", kind != NULL ? kind : "", kind != NULL ? ": " : "", text);
	}
	if (n > 0 && kind == NULL && g->spec != NULL && xk_spec_nearest(g->spec) != NULL)
		fprintf(f, "nearest that can run: %s\n", xk_spec_nearest(g->spec));
}

char *embed_tell(const struct xk_embed *g, struct xk_errs *e, const char *kind)
{
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	if (f == NULL)
		return NULL;
	if (g->part != NULL)
		print_built(f, g, e, kind);
	else
		xk_spec_print_errors(f, g->spec, e, kind);
	if (fclose(f) == 0)
		return text;
	free(text);
	return NULL;
}

/* What is known until now is what is told from now on. */
static void tell(struct xk_embed *g)
{
	free(g->errors);
	free(g->warnings);
	g->errors = embed_tell(g, g->e, NULL);
	g->warnings = embed_tell(g, g->w, "warning");
}

const char *xk_embed_errors(const struct xk_embed *g)
{
	const char *text = embed_state(g) == EMBED_ENDED ? g->late : g->errors;

	return text != NULL ? text : "out of memory\n";
}

const char *xk_embed_warnings(const struct xk_embed *g)
{
	return g->warnings != NULL ? g->warnings : "";
}

/* ---- life ----------------------------------------------------------------------------- */

struct xk_embed *xk_embed_new(const char *name)
{
	struct xk_embed *g = xk_alloc(sizeof *g);

	if (g == NULL)
		return NULL;
	g->stop.fd = g->up.fd = g->over.fd = g->leave.fd = -1;
	embed_begins();
	g->name = xk_strdup(name != NULL ? name : "graph");
	g->e = xk_errs_new();
	g->w = xk_errs_new();
	g->errors = calloc(1, 1);
	if (g->name != NULL && g->e != NULL && g->w != NULL && g->errors != NULL)
		return g;
	(void)xk_embed_free(g);
	return NULL;
}

uint64_t xk_embed_free(struct xk_embed *g)
{
	uint64_t leaked;

	if (g == NULL)
		return 0;
	embed_leave(g);
	leaked = g->leaked;
	embed_parts_free(g);
	xk_spec_free(g->spec);
	xk_errs_free(g->e);
	xk_errs_free(g->w);
	free(g->errors);
	free(g->warnings);
	free(g->late);
	xk_free(g->name);
	xk_free(g);
	embed_ends();
	return leaked;
}

/* ---- described --------------------------------------------------------------------------- */

/* A graph, checked; or all that is wrong with it is told. */
static int check(struct xk_embed *g, const char *file, int err)
{
	if (g->spec == NULL) {
		xk_errs_add(g->e, NULL, 0, 0, "out of memory");
		return XK_E_NOMEM;
	}
	if (err != XK_OK && err != XK_E_INVAL)
		return err;
	if (xk_spec_check(g->spec, g->e, g->w) != XK_OK || err != XK_OK)
		return XK_E_INVAL;
	if (xk_spec_plan(g->spec) != NULL)
		return XK_OK;
	xk_errs_add(g->e, file, 0, 0, "is a %s, no graph", xk_spec_word(g->spec));
	return XK_E_INVAL;
}

static int done(struct xk_embed *g, int err)
{
	xk_store_release(&g->state, err == XK_OK ? EMBED_GOOD : EMBED_BAD);
	tell(g);
	return err;
}

int embed_take(struct xk_embed *g, const char *file, const char *text, size_t n, const struct xk_compose_opts *o)
{
	int err;

	if (text != NULL)
		err = xk_spec_load_text(&g->spec, file, text, n, o, g->e);
	else
		err = xk_spec_load(&g->spec, file, o, g->e);
	return done(g, check(g, file, err));
}

int xk_embed_load(struct xk_embed *g, const char *file, const char *const *args, unsigned nargs)
{
	struct xk_compose_opts o = { .args = args, .nargs = nargs };

	if (embed_state(g) != EMBED_NEW || g->part != NULL)
		return XK_E_ALREADY;
	return embed_take(g, file, NULL, 0, &o);
}

int xk_embed_load_text(struct xk_embed *g, const char *file, const char *text, size_t n, const char *const *args,
		       unsigned nargs)
{
	struct xk_compose_opts o = { .args = args, .nargs = nargs };

	if (embed_state(g) != EMBED_NEW || g->part != NULL)
		return XK_E_ALREADY;
	return embed_take(g, file, text, n, &o);
}

int xk_embed_check(struct xk_embed *g)
{
	struct xk_compose_opts o = { .nargs = 0 };
	struct embed_text t = { .n = 0 };
	int err;

	if (embed_state(g) == EMBED_BAD)
		return XK_E_INVAL;
	if (embed_state(g) != EMBED_NEW)
		return XK_OK;
	if (g->part == NULL && xk_errs_count(g->e) == 0)
		return done(g, embed_fault(g, XK_E_INVAL, NULL, 0,
					   "the graph is not described: load a file, or add nodes"));
	if (xk_errs_count(g->e) != 0)            /* calls that failed */
		return done(g, XK_E_INVAL);
	err = embed_compose(g, &t);
	if (err == XK_OK)
		err = embed_take(g, EMBED_TEXT, t.s, t.n, &o);
	else
		err = done(g, embed_fault(g, err, NULL, 0, "out of memory"));
	embed_text_free(&t);
	return err;
}
