/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_hints.c - reads the kernel's files that hints.lua wants to look at.
 */
#include "tools/vp-bench/bench.h"

#include <string.h>

#include "tools/vp-bench/bench_lua.h"

/* The first line, or NULL. */
static json_t *line(const char *root, const char *path)
{
	char full[600], buf[200];
	FILE *f;
	bool ok;

	snprintf(full, sizeof full, "%s%s", root, path);
	f = fopen(full, "re");
	if (f == NULL)
		return NULL;
	ok = fgets(buf, sizeof buf, f) != NULL;
	fclose(f);
	buf[ok ? strcspn(buf, "\n") : 0] = '\0';
	return ok ? json_string(buf) : NULL;
}

json_t *bench_hints(const char *root, json_t *env)
{
	char why[400];
	json_t *files = bench_lua_call("hints", "files", NULL, 0, why, sizeof why), *lines = json_object(), *path, *list = NULL;
	const char *name;

	json_object_foreach(files, name, path)
		json_object_set_new(lines, name, line(root, json_string_value(path)));
	if (files != NULL)
		list = bench_lua_call("hints", "list", (json_t *[]){ env, lines }, 2, why, sizeof why);
	if (list == NULL)
		fprintf(stderr, "vp-bench: cannot look for issues: %s\n", why);
	json_decref(files);
	json_decref(lines);
	return list;
}
