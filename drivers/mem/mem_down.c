/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mem_down.c - a cable that is down at times that a list names, or is removed for good.
 *
 * The list is of one end; while either end is down nothing is sent from either.  What waits on the cable
 * already arrives.  Times are the graph's, from the start of each replica on, so a run under virtual time
 * repeats frame by frame.  Only an end with a list, and the one it is joined to, look at the time at all.
 * Invariant: spells are in the order of their times and none meet; only the last has no end.
 */
#include "drivers/mem/mem_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/xk_param_value.h"
#include "runtime/mem/xk_alloc.h"
#include "runtime/upi/xk_input.h"

/* From one time to another; until XK_NS_NEVER: it is removed. */
struct mem_spell { xk_ns from, until; };

/* ---- the list ----------------------------------------------------------------------- */

static bool read_time(const char *text, xk_ns *t)
{
	union xk_pval v = { .u = 0 };
	char why[160];

	if (xk_param_parse_as(XK_P_TIME, text, false, &v, why, sizeof why) != XK_OK)
		return false;
	*t = (xk_ns)v.u;
	return true;
}

/* "FROM-UNTIL" or "FROM-". */
static bool read_spell(const char *text, struct mem_spell *s)
{
	char from[64];
	const char *dash = strchr(text, '-');
	size_t n = dash != NULL ? (size_t)(dash - text) : sizeof from;

	if (n >= sizeof from)
		return false;
	memcpy(from, text, n);
	from[n] = '\0';
	s->until = XK_NS_NEVER;
	return read_time(from, &s->from) && (dash[1] == '\0' || read_time(dash + 1, &s->until)) && s->from < s->until;
}

static int by_time(const void *a, const void *b)
{
	const struct mem_spell *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

static int read_list(struct mem_spell *v, const struct xk_plist *l, char *why, size_t n)
{
	for (unsigned i = 0; i < l->n; i++)
		if (!read_spell(l->v[i].text, &v[i])) {
			snprintf(why, n, "down: \"%.60s\" is none: \"FROM-UNTIL\", times such as \"10ms-1s\", or \"FROM-\": "
				 "removed for good", l->v[i].text);
			return XK_E_INVAL;
		}
	qsort(v, l->n, sizeof *v, by_time);
	for (unsigned i = 1; i < l->n; i++)
		if (v[i].from <= v[i - 1].until) {
			snprintf(why, n, "down: two of the times meet");
			return XK_E_INVAL;
		}
	return XK_OK;
}

int mem_down_read(const struct xk_plist *l, struct mem_spell **v, char *why, size_t n)
{
	int err;

	*v = NULL;
	if (l->n == 0)
		return XK_OK;
	*v = xk_alloc(l->n * sizeof **v);
	if (*v == NULL) {
		snprintf(why, n, "down: out of memory");
		return XK_E_NOMEM;
	}
	err = read_list(*v, l, why, n);
	if (err != XK_OK) {
		xk_free(*v);
		*v = NULL;
	}
	return err;
}

/* ---- while it runs ------------------------------------------------------------------- */

/* The spell at time t of this end, or the next one; NULL: none is left. */
static const struct mem_spell *spell_at(const struct mem_state *st, xk_ns t)
{
	for (unsigned i = 0; i < st->ndown; i++)
		if (t < st->down[i].until)
			return &st->down[i];
	return NULL;
}

/* Why nothing is sent from this end at time t, or 0. */
static unsigned down_reason(const struct mem_state *st, xk_ns t)
{
	const struct mem_spell *s = spell_at(st, t);

	if (s == NULL || t < s->from)
		return 0;
	return s->until == XK_NS_NEVER ? MEM_DROP_GONE : MEM_DROP_DOWN;
}

void mem_down_push(struct xk_sess *s, struct xk_msg *m)
{
	struct xk_rep *r = s->rep;
	struct mem_rep *mr = r->state;
	xk_ns t = xk_vp_now() - mr->began;
	unsigned reason = down_reason(mem_state(r), t);

	if (reason == 0 && down_reason(mem_state(mr->other->rep), t) != 0)
		reason = MEM_DROP_DOWN;
	if (reason != 0)
		xk_drop(r, reason, m);
	else if (mem_state(r)->reader != NULL)
		mem_carried_loop_push(s, m);
	else
		mem_loop_push(s, m);
}

bool mem_down_ever(const struct xk_node *n)
{
	const struct mem_state *st = n->state;

	return st->ndown != 0 || (st->other != NULL && ((const struct mem_state *)st->other->state)->ndown != 0);
}

/* Says what has become of the cable now, and looks again when that changes. */
static void down_look(struct xk_timer *t)
{
	struct mem_rep *mr = xk_container_of(t, struct mem_rep, turn);
	struct xk_rep *r = mr->rep;
	xk_ns now = xk_vp_now() - mr->began;
	const struct mem_spell *s = spell_at(mem_state(r), now);
	bool down = s != NULL && now >= s->from;

	if (down && s->until == XK_NS_NEVER) {
		XK_TRACE(&r->node->log, 1, "the cable was removed");
		xk_node_failed(r->node, "its cable is gone");
		return;
	}
	if (down != mr->down) {
		xk_count_add(r->count[MEM_N_WENT_DOWN], down);
		XK_TRACE(&r->node->log, 3, "the cable is %s", down ? "down" : "up again");
	}
	mr->down = down;
	if (s != NULL)
		xk_timer_set(r->wheel, t, mr->began + (down ? s->until : s->from));
}

void mem_down_start(struct xk_rep *r)
{
	const struct mem_state *st = mem_state(r);
	struct mem_rep *mr = r->state;

	mr->began = xk_vp_clock(r->vp);
	if (st->ndown != 0 && xk_node_reader(r->node) == r->vp)
		xk_timer_set(r->wheel, &mr->turn, mr->began + st->down[0].from);
}

void mem_down_init(struct mem_rep *mr)
{
	xk_timer_init(&mr->turn, down_look);
}
