/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * compose_review.c - the review (xk_review.h) of a specification: its nodes as views, and
 * complaints at the keys that caused them.
 *
 * Runs when nothing else was wrong: what it asks for is configurations that hold.
 */
#include "runtime/compose/compose_priv.h"

#include <stdio.h>
#include <string.h>

#include "runtime/upi/xk_review.h"

struct review {
	struct xk_review r;
	const struct xk_spec *s;
	const struct xk_view *view;
	struct xk_errs *e, *warnings;
};

static void tell(struct xk_review *r, const struct xk_view *v, const char *param, bool warning, const char *text)
{
	const struct review *w = xk_container_of(r, struct review, r);
	const struct spec_node *n = &w->s->node[w->s->order[v - w->view]];
	const char *name = param != NULL ? strchr(param, '.') : NULL;
	struct scan_step step[2] = { { .name = param } };
	const struct xk_value *at = &n->tab;
	unsigned steps = param != NULL;
	char label[128], group[64];

	if (name != NULL) {              /* "group.name" */
		snprintf(group, sizeof group, "%.*s", (int)(name - param), param);
		step[0].name = group;
		step[steps++].name = name + 1;
	}
	for (unsigned i = 0; i < steps && at != NULL; i++)
		at = xk_value_get(at, step[i].name);
	spec_error(w->s, warning ? w->warnings : w->e, n->at, n->proto->name, step, at != NULL ? steps : 0, "%s: %s",
		   spec_label(w->s, n, label, sizeof label), text);
}

void check_review(struct xk_spec *s, struct xk_errs *e, struct xk_errs *warnings)
{
	struct review w = { .r = { .tell = tell, .is_virtual = s->plan.is_virtual }, .s = s, .e = e, .warnings = warnings };
	struct xk_view *v = arena_get(&s->arena, (s->nnodes + 1) * sizeof *v);
	const struct xk_view **of = arena_get(&s->arena, (s->nnodes + 1) * sizeof *of);

	if (v == NULL || of == NULL) {
		xk_errs_add(e, NULL, 0, 0, "out of memory");
		return;
	}
	w.view = v;
	for (unsigned i = 0; i < s->nnodes; i++) {
		const struct spec_node *n = &s->node[s->order[i]];

		const struct spec_at *from = n->at.nfrom != 0 ? &n->at.from[n->at.nfrom - 1] : NULL;

		v[i] = (struct xk_view){ .proto = n->proto, .name = n->name, .conf = n->conf, .ndown = n->nover,
					 .file = spec_file_name(s, from ? from->file : n->at.file),
					 .line = from ? from->line : n->at.line };
		for (unsigned k = 0; k < n->nover; k++)
			v[i].down[k] = of[n->over[k]];
		of[s->order[i]] = &v[i];
	}
	if (xk_review_run(&w.r, v, s->nnodes) != XK_OK)
		xk_errs_add(e, NULL, 0, 0, "out of memory");
}
