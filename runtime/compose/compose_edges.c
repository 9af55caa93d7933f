/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * compose_edges.c - who sits over whom: counts, realms, cycles, nodes that
 * nothing uses.
 *
 * A node needs words ("port|stream") from each node below, in the order its
 * schema names them; the last one repeats.  One shared word is enough.
 * Invariant: when no edge was complained about, order[] names every node once,
 * each behind all that it sits over.
 */
#include "runtime/compose/compose_priv.h"

#include <stdarg.h>
#include <string.h>

#include "runtime/upi/xk_graph.h"

/* Where the words that n offers come from: what lies below those that offer as it does.
 * A chain longer than the graph is a cycle, which others complain about. */
static const struct spec_node *offerer(const struct xk_spec *s, const struct spec_node *n)
{
	for (unsigned i = 0; i < s->nnodes && n->proto->as_below && n->nover != 0; i++)
		n = &s->node[n->over[0]];
	return n;
}

const char *check_offers(const struct xk_spec *s, const struct spec_node *n)
{
	return offerer(s, n)->proto->offers;
}

/* Is one of the words of `need` offered by n, and by all that it passes on? */
static bool meets(const struct xk_spec *s, const struct spec_node *n, const char *need)
{
	const struct spec_node *end = offerer(s, n);
	char word[32];

	for (; *need != '\0'; need += *need == '|') {
		size_t len = strcspn(need, "|");
		const struct spec_node *low = n;

		snprintf(word, sizeof word, "%.*s", (int)len, need);
		need += len;
		while (low != end && xk_words_meet(word, low->proto->offers))
			low = &s->node[low->over[0]];
		if (low == end && xk_words_meet(word, low->proto->offers))
			return true;
	}
	return false;
}

static const char *need_of(const struct xk_proto *p, unsigned i)
{
	unsigned n = 0;

	while (n < XK_DOWN_MAX && p->needs[n] != NULL)
		n++;
	return n == 0 ? NULL : p->needs[i < n ? i : n - 1];
}

/* What any descriptor of its word needs in place i: "port|stream". */
static const char *need_text(const struct xk_spec *s, const struct xk_proto *p, unsigned i, char *buf, size_t n)
{
	const struct xk_proto *t;
	size_t used = 0;

	buf[0] = '\0';
	for (unsigned k = 0; (t = xk_proto_of_word(s->table, p->name, k)) != NULL && used < n; k++)
		if (need_of(t, i) != NULL)
			used += (size_t)snprintf(buf + used, n - used, "%s%s", used ? "|" : "", need_of(t, i));
	return buf;
}

/* A word with several descriptors is the one whose need the first node below meets. */
static void choose_descriptor(const struct xk_spec *s, struct spec_node *n)
{
	const struct xk_proto *t;

	if (n->nover == 0)
		return;
	for (unsigned k = 0; (t = xk_proto_of_word(s->table, n->proto->name, k)) != NULL; k++)
		if (need_of(t, 0) != NULL && meets(s, &s->node[n->over[0]], need_of(t, 0))) {
			n->proto = t;
			return;
		}
}

void check_descriptors(struct xk_spec *s)
{
	for (unsigned i = 0; i < s->nnodes; i++)
		choose_descriptor(s, &s->node[i]);
}

static void edge_error(const struct xk_spec *s, struct xk_errs *e, const struct spec_node *n, unsigned item,
		       const char *fmt, ...) XK_PRINTF(5, 6);
static void edge_error(const struct xk_spec *s, struct xk_errs *e, const struct spec_node *n, unsigned item,
		       const char *fmt, ...)
{
	struct scan_step step[2] = { { .name = "over" }, { .i = item } };
	char label[128], text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	spec_error(s, e, n->at, n->proto->name, step, n->over_given ? item ? 2 : 1 : 0, "%s: %s",
		   spec_label(s, n, label, sizeof label), text);
}

static void check_count(const struct xk_spec *s, struct xk_errs *e, const struct spec_node *n)
{
	const struct xk_proto *p = n->proto;
	char need[64];

	if (p->max_down == 0 && n->nover != 0)
		edge_error(s, e, n, 0, "is a bottom: it sits over nothing");
	else if (n->nover == 0 && p->min_down != 0)
		edge_error(s, e, n, 0, "needs something below that offers '%s': write over = ..., or put it in a stack",
			   *need_text(s, p, 0, need, sizeof need) ? need : "anything");
	else if (n->nover < p->min_down)
		edge_error(s, e, n, 0, "sits over %u, needs at least %u below", n->nover, p->min_down);
	else if (n->nover > p->max_down)
		edge_error(s, e, n, 0, "sits over %u, takes at most %u below", n->nover, p->max_down);
}

static void realm_error(const struct xk_spec *s, struct xk_errs *e, const struct spec_node *n, unsigned item,
			const struct spec_node *low, const char *need)
{
	const struct spec_node *end = offerer(s, low);
	const char *what = end->proto->offers != NULL ? end->proto->offers : "nothing";

	if (end == low)
		edge_error(s, e, n, item, "cannot sit over %s: it needs '%s' below, %s offers '%s'",
			   low->name, need, low->name, what);
	else
		edge_error(s, e, n, item, "cannot sit over %s: it needs '%s' below, %s passes on what %s offers, '%s'",
			   low->name, need, low->name, end->name, what);
}

static void check_realms(const struct xk_spec *s, struct xk_errs *e, const struct spec_node *n)
{
	for (unsigned i = 0; i < n->nover && i < n->proto->max_down; i++) {
		const struct spec_node *low = &s->node[n->over[i]];
		const char *need = need_of(n->proto, i);
		unsigned item = n->nover > 1 ? i + 1 : 0;
		char text[64];

		if (low->proto->offers == NULL)
			edge_error(s, e, n, item, "cannot sit over %s: nothing can", low->name);
		else if (need != NULL && !meets(s, low, need))
			realm_error(s, e, n, item, low, need_text(s, n->proto, i, text, sizeof text));
	}
}

/* ---- cycles, and the order bottom-up ------------------------------------------------ */

enum { NEW, OPEN, DONE };

static void cycle_error(struct xk_spec *s, struct xk_errs *e, const unsigned *path, unsigned n, unsigned back)
{
	const struct spec_node *first = &s->node[back];
	char text[400];
	size_t used = 0;
	unsigned i = 0;

	while (i < n && path[i] != back)
		i++;
	for (; i < n && used < sizeof text - 1; i++)
		used += (size_t)snprintf(text + used, sizeof text - used, "%s -> ", s->node[path[i]].name);
	if (used > sizeof text - 1)
		used = sizeof text - 1;
	snprintf(text + used, sizeof text - used, "%s", first->name);
	edge_error(s, e, first, 0, "sits over itself: %s", text);
}

/* All below n are done.  Said once of each way up: who is above one that is too deep hears nothing. */
static void measure(struct xk_spec *s, struct xk_errs *e, struct spec_node *n)
{
	n->deep = 1;
	for (unsigned i = 0; i < n->nover; i++)
		if (s->node[n->over[i]].deep >= n->deep)
			n->deep = s->node[n->over[i]].deep + 1;
	if (n->deep == COMPOSE_DEEP_MAX + 1)
		edge_error(s, e, n, 0, "stands on %u nodes, one over another: a graph is at most %u nodes high",
			   COMPOSE_DEEP_MAX, COMPOSE_DEEP_MAX);
}

/* Depth-first without recursion: path[] and at[] are the stack. */
static void visit(struct xk_spec *s, struct xk_errs *e, unsigned root, unsigned *path, unsigned *at,
		  unsigned *norder)
{
	unsigned depth = 1;

	path[0] = root;
	at[0] = 0;
	s->node[root].mark = OPEN;
	while (depth > 0) {
		struct spec_node *n = &s->node[path[depth - 1]];
		unsigned low;

		if (at[depth - 1] == n->nover) {
			n->mark = DONE;
			measure(s, e, n);
			s->order[(*norder)++] = path[--depth];
			continue;
		}
		low = n->over[at[depth - 1]++];
		if (s->node[low].mark == OPEN) {
			cycle_error(s, e, path, depth, low);
		} else if (s->node[low].mark == NEW) {
			s->node[low].mark = OPEN;
			path[depth] = low;
			at[depth++] = 0;
		}
	}
}

static void check_order(struct xk_spec *s, struct xk_errs *e)
{
	unsigned norder = 0, *path, *at;

	s->order = arena_get(&s->arena, (s->nnodes + 1) * sizeof *s->order);
	path = arena_get(&s->arena, (s->nnodes + 1) * sizeof *path);
	at = arena_get(&s->arena, (s->nnodes + 1) * sizeof *at);
	if (s->order == NULL || path == NULL || at == NULL) {
		xk_errs_add(e, NULL, 0, 0, "out of memory");
		return;
	}
	for (unsigned i = 0; i < s->nnodes; i++)
		s->node[i].mark = NEW;
	for (unsigned i = 0; i < s->nnodes; i++)
		if (s->node[i].mark == NEW)
			visit(s, e, i, path, at, &norder);
}

/* ---- what nothing uses ----------------------------------------------------------------- */

/* What exists to carry others.  A node that offers something else (ICMP: echo)
 * may well serve alone. */
#define CARRIERS "frame|link|hostlink|host|port|stream"

static void mark_used(struct xk_spec *s)
{
	for (unsigned i = 0; i < s->nnodes; i++)
		s->node[i].mark = 0;
	for (unsigned i = 0; i < s->nnodes; i++)
		for (unsigned k = 0; k < s->node[i].nover; k++)
			s->node[s->node[i].over[k]].mark = 1;
}

static bool unused(const struct spec_node *n)
{
	return n->mark == 0 && xk_words_meet(n->proto->offers, CARRIERS);
}

static void check_unused(struct xk_spec *s, struct xk_errs *warnings)
{
	char label[128];

	mark_used(s);
	for (unsigned i = 0; i < s->nnodes; i++) {
		const struct spec_node *n = &s->node[i];

		if (unused(n))
			spec_error(s, warnings, n->at, n->proto->name, NULL, 0, "%s: nothing sits over it",
				   spec_label(s, n, label, sizeof label));
	}
}

void check_edges(struct xk_spec *s, struct xk_errs *e, struct xk_errs *warnings)
{
	unsigned before = xk_errs_count(e);

	for (unsigned i = 0; i < s->nnodes; i++) {
		const struct spec_node *n = &s->node[i];

		if (!n->over_bad)
			check_count(s, e, n);
		check_realms(s, e, n);
	}
	check_order(s, e);
	if (xk_errs_count(e) == before && warnings != NULL)
		check_unused(s, warnings);
}
