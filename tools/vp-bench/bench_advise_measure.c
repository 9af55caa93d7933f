/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_advise_measure.c - what a run does not tell an advisor: whether payload is copied
 * and whether there is a choice of presets (the graph file), how many processors (this machine).
 */
#include "tools/vp-bench/bench_advise.h"
#include "runtime/base/xk_param_value.h"

#include <sched.h>
#include <string.h>

int advise_processors(void)
{
	cpu_set_t s;

	return sched_getaffinity(0, sizeof s, &s) == 0 ? CPU_COUNT(&s) : 1;
}

/* Does a node say that it copies payload: copy = true, touch = "copy"? */
static bool copies(const struct xk_spec_node *n)
{
	char buf[64];

	for (const struct xk_param *p = n->proto->params; n->conf != NULL && p != NULL && p->name != NULL; p++) {
		const char *word = strcmp(p->name, "copy") == 0 && p->type == XK_P_BOOL ? "true" :
				   strcmp(p->name, "touch") == 0 && p->type == XK_P_ENUM ? "copy" : NULL;

		if (word != NULL && strcmp(xk_param_format(p, (const char *)n->conf + p->offset, buf, sizeof buf), word) == 0)
			return true;
	}
	return false;
}

/* The words of an argument `preset`; NULL: there is none. */
static json_t *presets_of(const struct xk_spec *s)
{
	unsigned n;
	const struct xk_arg *a = xk_spec_args(s, &n);

	for (unsigned i = 0; i < n; i++) {
		json_t *words;

		if (strcmp(a[i].p.name, "preset") != 0 || a[i].p.type != XK_P_ENUM)
			continue;
		words = json_array();
		for (const char *const *w = a[i].p.choices; *w != NULL; w++)
			json_array_append_new(words, json_string(*w));
		return words;
	}
	return NULL;
}

int advise_from_file(const char *file, const char *const *args, unsigned nargs, struct advise_file *f)
{
	struct xk_compose_opts o = { .args = args, .nargs = nargs };
	struct xk_errs *e = xk_errs_new();
	struct xk_spec *s = NULL;
	int code = BENCH_FILE_ERRORS;

	*f = (struct advise_file){ false, NULL };
	if (e != NULL && xk_spec_load(&s, file, &o, e) == XK_OK && xk_spec_check(s, e, NULL) == XK_OK) {
		code = BENCH_OK;
		f->presets = presets_of(s);
		for (unsigned i = 0; i < xk_spec_nodes(s); i++) {
			struct xk_spec_node n;

			xk_spec_node(s, i, &n);
			f->copies |= copies(&n);
		}
	} else if (e != NULL) {
		xk_spec_print_errors(stderr, s, e, NULL);
	}
	xk_spec_free(s);
	xk_errs_free(e);
	return code;
}
