/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * compose_names.c - names of nodes: whose each is, and those that the user left to us.
 *
 * Open addressing under linear probing, in the specification's arena.
 * Invariant: a place holds 0 or a node's number plus 1, and at least half of them hold 0.
 */
#include "runtime/compose/compose_priv.h"

#include <string.h>

#include "runtime/mem/xk_mem.h"

#define PLACES_MIN 64u

/* The place of the name: its node's, or the free one where it belongs. */
static unsigned *place_of(const struct xk_spec *s, const char *name)
{
	uint32_t h = 2166136261u;

	for (const char *p = name; *p != '\0'; p++)
		h = (h ^ (unsigned char)*p) * 16777619u;
	for (h ^= h >> 15;; h++) {
		unsigned *at = &s->name[h & (s->room_names - 1)];

		if (*at == 0 || strcmp(s->node[*at - 1].name, name) == 0)
			return at;
	}
}

const struct spec_node *spec_name_find(const struct xk_spec *s, const char *name)
{
	const unsigned *at = s->room_names != 0 ? place_of(s, name) : NULL;

	return at != NULL && *at != 0 ? &s->node[*at - 1] : NULL;
}

static bool grow(struct xk_spec *s)
{
	unsigned *old = s->name, room = s->room_names;

	s->room_names = room != 0 ? room * 2 : PLACES_MIN;
	s->name = arena_get(&s->arena, s->room_names * sizeof *s->name);
	if (s->name == NULL) {
		s->name = old;
		s->room_names = room;
		return false;
	}
	for (unsigned i = 0; i < room; i++)
		if (old[i] != 0)
			*place_of(s, s->node[old[i] - 1].name) = old[i];
	return true;
}

bool spec_name_add(struct xk_spec *s, unsigned node)
{
	if (2 * (s->nnames + 1) > s->room_names && !grow(s))
		return false;
	*place_of(s, s->node[node].name) = node + 1;
	s->nnames++;
	return true;
}

/* ---- those without ------------------------------------------------------------------ */

/* The last number that a node of a descriptor without a name got; linear: descriptors are few. */
struct last { const struct xk_proto *proto; unsigned no; };

static unsigned *last_of(struct last *l, const struct xk_proto *p)
{
	while (l->proto != NULL && l->proto != p)
		l++;
	l->proto = p;
	return &l->no;
}

static int give_name(struct xk_spec *s, unsigned i, unsigned *last)
{
	struct spec_node *n = &s->node[i];
	char name[96];

	do {
		if (++*last == 1)
			snprintf(name, sizeof name, "%s", n->proto->name);
		else
			snprintf(name, sizeof name, "%s%u", n->proto->name, *last);
	} while (spec_name_find(s, name) != NULL);
	n->name = arena_text(&s->arena, name, strlen(name));
	return n->name != NULL && spec_name_add(s, i) ? XK_OK : XK_E_NOMEM;
}

int spec_names_give(struct xk_spec *s)
{
	unsigned nprotos = 0;
	struct last *last;
	int err = XK_OK;

	while (s->table[nprotos] != NULL)
		nprotos++;
	last = xk_alloc((nprotos + 1) * sizeof *last);
	if (last == NULL)
		return XK_E_NOMEM;
	for (unsigned i = 0; i < s->nnodes && err == XK_OK; i++)
		if (s->node[i].name == NULL)
			err = give_name(s, i, last_of(last, s->node[i].proto));
	xk_free(last);
	return err;
}
