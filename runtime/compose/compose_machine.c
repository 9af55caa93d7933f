/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * compose_machine.c - finds machine files, and reads their values with the sources; see xk_machine_file.h.
 */
#include "runtime/compose/xk_machine_file.h"

#include "runtime/compose/xk_home.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEPTH 6u                 /* names in a path, and the end */

/* ---- files ---------------------------------------------------------------------------- */

const char *xk_machine_folder(void)
{
	static char path[PATH_MAX];
	const char *env = getenv("VP_SIM_MACHINES");

	if (env != NULL)
		return env;
	xk_home_graphs("machines", path, sizeof path);
	return path;
}

void xk_machine_list(const char *folder, struct xk_machine_names *names)
{
	DIR *d = opendir(folder);
	struct dirent *f;

	names->n = 0;
	while (d != NULL && names->n < XK_MACHINES && (f = readdir(d)) != NULL) {
		size_t len = strlen(f->d_name);

		if (len > 4 && len < 60 && strcmp(f->d_name + len - 4, ".lua") == 0)
			snprintf(names->name[names->n++], sizeof names->name[0], "%.*s", (int)(len - 4), f->d_name);
	}
	if (d != NULL)
		closedir(d);
	qsort(names->name, names->n, sizeof names->name[0], (int (*)(const void *, const void *))strcmp);
}

bool xk_machine_path(const char *folder, const char *name, char *path, size_t room)
{
	if (strchr(name, '/') != NULL || strstr(name, ".lua") != NULL) {
		snprintf(path, room, "%s", name);
		return true;
	}
	snprintf(path, room, "%s/%s.lua", folder, name);
	return access(path, F_OK) == 0;
}

/* NAME=...: a word of a path may have a '=', too, behind a '/'. */
static bool is_argument(const char *word)
{
	size_t n = strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");

	return n != 0 && word[n] == '=';
}

bool xk_machine_ask(const char *text, struct xk_machine_asked *out)
{
	const char *arg[XK_MACHINE_ARGS];
	char *space;

	*out = (struct xk_machine_asked){ .name = out->text };
	if ((size_t)snprintf(out->text, sizeof out->text, "%s", text) >= sizeof out->text)
		return false;
	/* From the end: a path may have spaces. */
	while ((space = strrchr(out->text, ' ')) != NULL && (space[1] == '\0' || is_argument(space + 1))) {
		*space = '\0';
		if (space[1] == '\0')
			continue;
		if (out->nargs == XK_MACHINE_ARGS)
			return false;
		arg[out->nargs++] = space + 1;
	}
	for (unsigned i = 0; i < out->nargs; i++)
		out->arg[i] = arg[out->nargs - 1 - i];
	return true;
}

const char *xk_machine_near(const struct xk_machine_names *names, const char *name)
{
	const char *list[XK_MACHINES];

	for (unsigned i = 0; i < names->n; i++)
		list[i] = names->name[i];
	return xk_errs_suggest(name, list, names->n);
}

/* ---- tables --------------------------------------------------------------------------------- */

const struct xk_value *xk_machine_table(const struct xk_spec *s, struct xk_errs *e, const char *file)
{
	const struct xk_value *tab = xk_spec_machine(s);

	if (tab == NULL)
		xk_errs_add(e, file, 0, 0, "describes a %s, not a machine (a machine file returns machine \"name\" { ... })",
			    xk_spec_word(s));
	return tab;
}

static unsigned depth_of(const char *const *path)
{
	unsigned n = 0;

	while (path[n] != NULL)
		n++;
	xk_assert(n + 1 < DEPTH);
	return n;
}

static bool is_known(const char *key, const char *const *names, unsigned n)
{
	unsigned i = 0;

	while (i < n && strcmp(names[i], key) != 0)
		i++;
	return i < n;
}

void xk_machine_keys(const struct xk_spec *s, struct xk_errs *e, const struct xk_value *tab, const char *const *path,
		     const char *const *names, unsigned n)
{
	const char *at[DEPTH] = { NULL }, *near;
	unsigned depth = depth_of(path);

	memcpy(at, path, depth * sizeof *at);
	for (unsigned i = 0; i < tab->n; i++) {
		at[depth] = tab->kind == XK_V_MAP && tab->key[i].kind == XK_V_TEXT ? tab->key[i].text : NULL;
		if (at[depth] == NULL) {
			xk_spec_bench_error(s, e, at, "a value stands here without a name");
		} else if (!is_known(at[depth], names, n)) {
			near = xk_errs_suggest(at[depth], names, n);
			xk_spec_bench_error(s, e, at, "unknown parameter '%.60s'%s%s%s", at[depth],
					    near != NULL ? " (did you mean '" : "", near != NULL ? near : "", near != NULL ? "'?)" : "");
		}
	}
}

/* What stands in the table without a name, a number or a word. */
static const struct xk_value *unnamed(const struct xk_value *v, bool word)
{
	for (unsigned i = 0; v->kind == XK_V_MAP && i < v->n; i++) {
		const struct xk_value *x = &v->item[i];

		if (v->key[i].kind == XK_V_INT && strcmp(v->key[i].text, "1") == 0)
			return (word ? x->kind == XK_V_TEXT : x->kind == XK_V_INT || x->kind == XK_V_FLOAT) ? x : NULL;
	}
	return NULL;
}

static bool sourced(const struct xk_spec *s, struct xk_errs *e, const struct xk_value *tab, const char *const *path, bool word,
		    struct xk_sourced *out)
{
	const char *above[DEPTH] = { NULL }, *name;
	const struct xk_value *v, *what, *source;
	unsigned depth = depth_of(path);

	name = path[depth - 1];
	memcpy(above, path, (depth - 1) * sizeof *above);
	v = xk_value_get(tab, name);
	if (v == NULL) {
		xk_spec_bench_error(s, e, above, "'%s' is needed: %s = { 1.5, source = \"where it is from\" }", name, name);
		return false;
	}
	what = unnamed(v, word);
	source = v->kind == XK_V_MAP ? xk_value_get(v, "source") : NULL;
	if (what != NULL && source != NULL && source->kind == XK_V_TEXT) {
		*out = (struct xk_sourced){ .v = word ? 0 : strtod(what->text, NULL), .text = what->text, .source = source->text };
		return true;
	}
	if (v->kind != XK_V_POISON)
		xk_spec_bench_error(s, e, path, "'%s' needs a %s and its source: { %s, source = \"where it is from\" }", name,
				    word ? "word" : "number", word ? "\"...\"" : "1.5");
	return false;
}

bool xk_machine_value(const struct xk_spec *s, struct xk_errs *e, const struct xk_value *tab, const char *const *path,
		      struct xk_sourced *out)
{
	return sourced(s, e, tab, path, false, out);
}

bool xk_machine_word(const struct xk_spec *s, struct xk_errs *e, const struct xk_value *tab, const char *const *path,
		     struct xk_sourced *out)
{
	return sourced(s, e, tab, path, true, out);
}
