/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_complain.c - tells what is wrong in a bench file, at its place, for all that read a part of one.
 */
#include "tools/vp-bench/bench.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void bench_complain(struct bench *b, const char *const *path, const char *fmt, ...)
{
	char text[600];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	xk_spec_bench_error(b->spec, b->e, path, "%s", text);
}

static unsigned count(const char *const *list)
{
	unsigned n = 0;

	while (list[n] != NULL)
		n++;
	return n;
}

bool bench_known(struct bench *b, const char *const *path, const char *what, const char *key,
		 const char *const *list)
{
	const char *near;

	for (unsigned i = 0; list[i] != NULL; i++)
		if (strcmp(list[i], key) == 0)
			return true;
	near = xk_errs_suggest(key, list, count(list));
	if (near != NULL)
		bench_complain(b, path, "%s '%.60s' (did you mean '%s'?)", what, key, near);
	else
		bench_complain(b, path, "%s '%.60s'", what, key);
	return false;
}

int bench_axis(const struct bench *b, const char *name)
{
	for (unsigned i = 0; i < b->naxes; i++)
		if (strcmp(b->axis[i], name) == 0)
			return (int)i;
	return -1;
}

bool bench_number(const struct xk_value *v, double *out)
{
	if (v == NULL || (v->kind != XK_V_INT && v->kind != XK_V_FLOAT))
		return false;
	*out = strtod(v->text, NULL);
	return isfinite(*out);
}
