/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * compose_suggest.c - of a threading table that cannot run, the nearest that can.
 *
 * Nearest is: as few axes as possible are changed.  All tables with one change are
 * tried, then all with two, up to four; of those with as few the one is taken whose
 * changes keep most of what was written (a number, an axis added, a word, an axis left
 * out, the domain).  A change is a value that the axis has by its schema; of numbers, those
 * that mean something: its bounds, and the other numbers of the table.  A number that
 * was found is then brought back as near to the written one as still runs.
 * Where four changes do not do, words are left out one after the other; what is
 * left of a table then is its preset, which runs.
 * Invariant: what is proposed has passed axes_fault, the function that refuses.
 */
#include "runtime/base/xk_param_value.h"
#include "runtime/compose/compose_arch.h"

#include <stdlib.h>
#include <string.h>

#define DEEPEST 4u
#define CHANGES 160u
#define LIST_MOST 256u           /* longer lists are no line to paste */

struct change { uint8_t axis, weight; bool drop; uint64_t u; };

struct search {
	const struct axes_graph *g;
	struct axes   from, base, best;
	struct change change[CHANGES];
	unsigned      n, weight;         /* weight: of best; 0: none yet */
	unsigned      budget;
};

/* ---- one change -------------------------------------------------------------------- */

static uint64_t get_value(const struct axes *x, enum axis a)
{
	const struct xk_param *p = &xk_arch_params[a];
	const char *at = (const char *)&x->conf + p->offset;

	return p->type == XK_P_BOOL ? *(const bool *)at : p->type == XK_P_ENUM ? *(const unsigned *)(const void *)at :
	       p->type == XK_P_LIST ? 0 : *(const uint64_t *)(const void *)at;
}

static void set_value(struct axes *x, enum axis a, uint64_t u)
{
	const struct xk_param *p = &xk_arch_params[a];
	char *at = (char *)&x->conf + p->offset;

	if (p->type == XK_P_BOOL)
		*(bool *)at = u != 0;
	else if (p->type == XK_P_ENUM)
		*(unsigned *)(void *)at = (unsigned)u;
	else if (p->type == XK_P_LIST)
		*(struct xk_plist *)(void *)at = (struct xk_plist){ 0 };      /* the writer's is freed by its owner */
	else
		*(uint64_t *)(void *)at = u;
	if (a == AX_VPS)
		x->vps_word = 0;
}

static void apply(struct axes *x, const struct search *s, const struct change *c)
{
	set_value(x, c->axis, c->drop ? get_value(&s->base, c->axis) : c->u);
	x->said = c->drop ? x->said & ~(1ull << c->axis) : x->said | 1ull << c->axis;
}

static bool runs(const struct search *s, const struct axes *x)
{
	enum axis about;
	char why[300];

	return axes_fault(x, s->g, why, sizeof why, &about) == NULL;
}

/* ---- which changes there are ----------------------------------------------------------- */

/* What an axis of words costs more than others: the domain and the kind of thread are what a table is about, and a pool of
 * stacks is what nobody means who has not said so. */
static unsigned matters(enum axis a, bool said)
{
	return a == AX_STACKS && !said ? 3 : a == AX_DOMAIN || a == AX_THREADS ? 2 : a == AX_VPS ? 1 : 0;
}

static void offer(struct search *s, enum axis a, bool drop, uint64_t u, unsigned weight)
{
	bool said = axes_said(&s->from, a);

	if (s->n == CHANGES || (!drop && said && s->from.vps_word == 0 && get_value(&s->from, a) == u))
		return;
	if (!said)
		weight = 2;
	s->change[s->n++] = (struct change){ (uint8_t)a, (uint8_t)(weight + matters(a, said)), drop, u };
}

static void offer_words(struct search *s, enum axis a)
{
	const struct xk_param *p = &xk_arch_params[a];
	bool clock = a == AX_SCHEDULE && !s->g->is_virtual;

	for (unsigned i = 0; p->choices[i] != NULL; i++)
		if (!(clock && i == XK_SCHED_VIRTUAL))       /* a simulation is no architecture */
			offer(s, a, false, i, 3);
}

static void offer_bound(struct search *s, enum axis a, const char *bound)
{
	union xk_pval v;
	char why[80];

	if (bound != NULL && xk_param_parse_as(xk_arch_params[a].type, bound, true, &v, why, sizeof why) == XK_OK)
		offer(s, a, false, v.u, 1);
}

static void offer_numbers(struct search *s, enum axis a)
{
	static const enum axis others[] = { AX_VPS, AX_WORKERS, AX_HIGH, AX_LOW };

	if (!axes_said(&s->from, a) && a != AX_VPS && a != AX_WORKERS && a != AX_IO_THREADS)
		return;
	offer_bound(s, a, xk_arch_params[a].min);
	offer_bound(s, a, xk_arch_params[a].max);
	if (a == AX_IO_THREADS)
		offer(s, a, false, 1, 1);
	for (unsigned i = 0; i < XK_ARRAY_LEN(others); i++)
		if (others[i] != a && axes_said(&s->from, others[i]))
			offer(s, a, false, get_value(&s->from, others[i]), 1);
}

static void gather(struct search *s)
{
	for (enum axis a = 0; a < AX_N; a++) {
		switch (xk_arch_params[a].type) {
		case XK_P_ENUM: offer_words(s, a); break;
		case XK_P_BOOL: offer(s, a, false, !get_value(&s->from, a), 3); break;
		case XK_P_UINT: offer_numbers(s, a); break;
		default: break;
		}
		if (axes_said(&s->from, a))
			offer(s, a, true, 0, 4);
	}
}

/* ---- the search --------------------------------------------------------------------------- */

/* x has `weight` of changes before the i-th; `left` more are to be made, each of another axis. */
static void look(struct search *s, const struct axes *x, unsigned i, unsigned left, unsigned weight)
{
	for (; i < s->n; i++) {
		const struct change *c = &s->change[i];
		struct axes next = *x;
		unsigned skip = i + 1;

		if (s->budget == 0 || (s->weight != 0 && weight + c->weight + left - 1 >= s->weight))
			continue;
		apply(&next, s, c);
		if (left > 1) {
			while (skip < s->n && s->change[skip].axis == c->axis)
				skip++;
			look(s, &next, skip, left - 1, weight + c->weight);
			continue;
		}
		s->budget--;
		if (runs(s, &next)) {
			s->best = next;
			s->weight = weight + c->weight;
		}
	}
}

/* The last resort: what is in the way goes, one word after the other. */
static bool strip(struct search *s)
{
	s->best = s->from;
	for (enum axis a = 0; a < AX_N && !runs(s, &s->best); a++)
		if (axes_said(&s->best, a))
			apply(&s->best, s, &(struct change){ (uint8_t)a, 0, true, 0 });
	return runs(s, &s->best);
}

/* A number that was changed goes back as near to what was written as still runs. */
static void bring_back(struct search *s)
{
	for (enum axis a = 0; a < AX_N; a++) {
		uint64_t good = get_value(&s->best, a), bad = get_value(&s->from, a);

		if (xk_arch_params[a].type != XK_P_UINT || !axes_said(&s->from, a) || !axes_said(&s->best, a))
			continue;
		while (good != bad && (good < bad ? bad - good : good - bad) > 1) {
			uint64_t mid = good < bad ? good + (bad - good) / 2 : bad + (good - bad) / 2;
			struct axes x = s->best;

			set_value(&x, a, mid);
			*(runs(s, &x) ? &good : &bad) = mid;
		}
		if (good != get_value(&s->from, a))
			set_value(&s->best, a, good);
	}
}

/* ---- the line ------------------------------------------------------------------------------- */

static bool put_list(FILE *f, const struct xk_plist *l, enum xk_ptype elem)
{
	fputs("{ ", f);
	for (unsigned i = 0; i < l->n; i++)
		if (elem == XK_P_UINT)
			fprintf(f, "%s%llu", i ? ", " : "", (unsigned long long)l->v[i].u);
		else
			fprintf(f, "%s\"%s\"", i ? ", " : "", l->v[i].text);
	fputs(" }", f);
	return l->n <= LIST_MOST;
}

static bool put_axis(FILE *f, const struct axes *x, enum axis a)
{
	const struct xk_param *p = &xk_arch_params[a];
	const char *at = (const char *)&x->conf + p->offset;
	char buf[256];

	fprintf(f, "%s = ", p->name);
	if (p->type == XK_P_LIST)
		return put_list(f, (const struct xk_plist *)(const void *)at, p->elem);
	if (a == AX_VPS && x->vps_word != 0)
		fprintf(f, "\"%s\"", xk_arch_vps_word(x->vps_word));
	else if (p->type == XK_P_UINT || p->type == XK_P_BOOL || p->type == XK_P_FRACTION)
		fputs(xk_param_format(p, at, buf, sizeof buf), f);
	else
		fprintf(f, "\"%s\"", xk_param_format(p, at, buf, sizeof buf));
	return true;
}

static const char *line_of(struct xk_spec *spec, const struct axes *x)
{
	const char *name = x->base->name, *out = NULL, *group = NULL;     /* that is open: axes of one follow each other */
	bool any = false, good = true;
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	if (f == NULL)
		return NULL;
	fprintf(f, "threading = %s%s{", xk_arch_find(name) ? name : "", xk_arch_find(name) ? " " : "");
	for (enum axis a = 0; a < AX_N && good; a++)
		if (axes_said(x, a)) {
			const char *of = xk_arch_params[a].group;

			fputs(group != NULL && of != group ? " }" : "", f);
			fputs(any ? ", " : " ", f);
			if (of != NULL && of != group)
				fprintf(f, "%s = { ", of);
			good = put_axis(f, x, a);
			any = true;
			group = of;
		}
	fprintf(f, "%s%s", group != NULL ? " }" : "", any ? " }" : "}");
	if (fclose(f) == 0 && good)
		out = arena_text(&spec->arena, text, n);
	free(text);
	return out;
}

const char *axes_nearest(struct xk_spec *spec, const struct axes *x, const struct axes_graph *g)
{
	struct search s = { .g = g, .from = *x, .base = axes_of(x->base), .budget = 2000000 };

	s.best = *x;
	gather(&s);
	if (!runs(&s, x)) {
		for (unsigned k = 1; k <= DEEPEST && s.weight == 0; k++)
			look(&s, x, 0, k, 0);
		if (s.weight == 0 && !strip(&s))
			return NULL;
		bring_back(&s);
	}
	return line_of(spec, &s.best);
}
