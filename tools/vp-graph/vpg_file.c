/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpg_file.c - a graph file, loaded and checked, and what is printed of it as JSON.
 */
#include "tools/vp-graph/vpg.h"

#include <stdlib.h>
#include <string.h>

void vpg_close(struct vpg_file *f)
{
	xk_spec_free(f->s);
	xk_errs_free(f->errs);
	xk_errs_free(f->warnings);
}

static int code_of(int load, const struct xk_errs *e)
{
	return xk_errs_count(e) == 0 ? VPG_OK : load == XK_E_NOENT || load == XK_E_PERM || load == XK_E_IO ||
	       load == -13 || load == XK_E_NOMEM ? VPG_FAILED : VPG_GRAPH_ERRORS;
}

int vpg_open(struct vpg_file *f, const struct vpg *o, const char *file)
{
	struct xk_compose_opts opts = { .args = o->arg + 1, .nargs = o->narg - 1, .path = o->path,
					.unsafe = o->unsafe };
	int err;

	*f = (struct vpg_file){ .errs = xk_errs_new(), .warnings = xk_errs_new() };
	if (f->errs == NULL || f->warnings == NULL) {
		fprintf(stderr, "vp-graph: out of memory\n");
		return VPG_FAILED;
	}
	err = xk_spec_load(&f->s, file, &opts, f->errs);
	if (f->s == NULL)
		xk_errs_add(f->errs, file, 0, 0, "out of memory");
	else if (err == XK_OK || err == XK_E_INVAL)
		xk_spec_check(f->s, f->errs, f->warnings);
	if (!o->json) {
		xk_spec_print_errors(stderr, f->s, f->errs, NULL);
		xk_spec_print_errors(stderr, f->s, f->warnings, "warning");
	}
	return code_of(err, f->errs);
}

/* A sentence may quote bytes of the file that are no UTF-8. */
static json_t *any_text(const char *s)
{
	json_t *j = json_string(s);
	char *copy;

	if (j != NULL || (copy = strdup(s)) == NULL)
		return j;
	for (char *c = copy; *c != '\0'; c++)
		if ((unsigned char)*c >= 0x80)
			*c = '?';
	j = json_string(copy);
	free(copy);
	return j;
}

json_t *vpg_errs_json(struct xk_errs *e)
{
	json_t *list = json_array();

	xk_errs_sort(e);
	for (unsigned i = 0; i < xk_errs_count(e); i++) {
		const char *file, *text;
		int line, col;

		text = xk_errs_text(e, i, &file, &line, &col);
		json_array_append_new(list, json_pack("{s:o, s:i, s:i, s:o}", "file", file ? any_text(file)
						      : json_null(), "line", line, "column", col, "message", any_text(text)));
	}
	if (xk_errs_is_cut(e))
		json_array_append_new(list, json_pack("{s:n, s:i, s:i, s:s}", "file", "line", 0, "column", 0,
						      "message", "there are more errors, which are not shown"));
	return list;
}

int vpg_print_json(json_t *j)
{
	if (j == NULL || json_dumpf(j, stdout, JSON_INDENT(2)) != 0) {
		fprintf(stderr, "vp-graph: out of memory\n");
		json_decref(j);
		return VPG_FAILED;
	}
	putchar('\n');
	json_decref(j);
	return VPG_OK;
}
