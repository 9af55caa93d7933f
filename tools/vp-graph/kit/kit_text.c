/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kit_text.c - the text of a scene: what the file says, and in front of it what the kit has to say of it.
 *
 * Invariant: all that is put there is part of the first line, so that the lines of errors are the file's.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/vp-graph/kit/kit_priv.h"
#include "tools/vp-graph/kit_text.h"

char *kit_of_build(const char *name)
{
	for (unsigned i = 0; i < XK_ARRAY_LEN(kit_text); i++)
		if (strcmp(kit_text[i].name, name) == 0)
			return strdup((const char *)kit_text[i].text);
	return NULL;
}

/* The value as a file would have it. */
static void put_value(FILE *f, const struct xk_param *p, const char *v)
{
	bool bare = p->type == XK_P_UINT || p->type == XK_P_PORT || p->type == XK_P_BOOL;

	if (p->type == XK_P_LIST || p->type == XK_P_MAP)
		fprintf(f, "{}");
	else
		fprintf(f, bare ? "%s" : "\"%s\"", v);
}

/* Nodes under test are made by a function that gives the parameter its value. */
static void put_param(FILE *f, const struct kit *k, const struct kit_how *how)
{
	const char *p = k->proto->name;

	fprintf(f, "local %s = (function(make) return function(t) t = t or {} ", p);
	if (how->param->group != NULL)
		fprintf(f, "t.%s = t.%s or {} t.%s[\"%s\"] = ", how->param->group, how->param->group, how->param->group,
			how->param->name);
	else
		fprintf(f, "t[\"%s\"] = ", how->param->name);
	put_value(f, how->param, how->value);
	fprintf(f, " return make(t) end end)(%s) ", p);
}

/* So is the graph, with the threading and the clock that are wanted. */
static void put_graph(FILE *f, const struct kit *k, const struct kit_how *how)
{
	fprintf(f, "local graph = (function(make) return function(name) local with = make(name) return function(t) ");
	if (how->preset != NULL)
		fprintf(f, "t.threading = %s ", how->preset);
	if (!k->real && !how->threads)
		fprintf(f, "t.clock = \"virtual\" ");
	fprintf(f, "return with(t) end end end)(graph) ");
}

char *kit_text_of(const struct kit *k, const struct kit_how *how)
{
	char *text = NULL, *own = kit_of_build("kit.lua");
	size_t n;
	FILE *f = open_memstream(&text, &n);

	if (f == NULL || own == NULL) {
		free(own);
		return NULL;
	}
	if (how->param != NULL)
		put_param(f, k, how);
	put_graph(f, k, how);
	if (strstr(k->body, "kit.") != NULL) {
		for (char *c = own; *c != '\0'; c++)
			if (*c == '\n')
				*c = ' ';
		fputs(own, f);
	}
	fputs(k->body, f);
	free(own);
	return fclose(f) == 0 ? text : NULL;
}
