/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_sim_owners.c - which simulated processor had a thing last, of things that are known by where they are.
 *
 * Things are asked for as the same one or another, never in the order of their addresses, so a run does not depend on
 * where the host put them.  A message's descriptor is asked for again where its memory is used for the next
 * message: its line is where it was left.
 * Invariant: a thing has one entry, and the table is half empty at least where there is memory.
 */
#include "runtime/vp/vp_sim_owners.h"

#include <stdint.h>

#include "runtime/mem/xk_alloc.h"

#define ROOM 256u                /* at first; a power of two */

struct owner { const void *what; unsigned processor; };

struct vp_owners { struct owner *of; unsigned n, room; };

struct vp_owners *vp_owners_new(void)
{
	struct vp_owners *o = xk_alloc(sizeof *o);

	if (o == NULL)
		return NULL;
	o->room = ROOM;
	o->of = xk_alloc(ROOM * sizeof *o->of);
	if (o->of != NULL)
		return o;
	xk_free(o);
	return NULL;
}

void vp_owners_free(struct vp_owners *o)
{
	if (o == NULL)
		return;
	xk_free(o->of);
	xk_free(o);
}

/* Where it is, or would be. */
static struct owner *owner_of(struct owner *of, unsigned room, const void *what)
{
	unsigned i = (unsigned)(((uintptr_t)what * 0x9E3779B97F4A7C15u) >> 32);

	while (of[i & (room - 1)].what != NULL && of[i & (room - 1)].what != what)
		i++;
	return &of[i & (room - 1)];
}

/* For one more; false: without memory what is new stays unknown. */
static bool make_room(struct vp_owners *o)
{
	struct owner *more;

	if (2 * (o->n + 1) <= o->room)
		return true;
	more = xk_alloc(2 * (size_t)o->room * sizeof *more);
	if (more == NULL)
		return o->n + 1 < o->room;
	for (unsigned i = 0; i < o->room; i++)
		if (o->of[i].what != NULL)
			*owner_of(more, 2 * o->room, o->of[i].what) = o->of[i];
	xk_free(o->of);
	o->of = more;
	o->room *= 2;
	return true;
}

bool vp_owners_take(struct vp_owners *o, const void *what, unsigned processor)
{
	struct owner *x;
	unsigned before;

	if (!make_room(o))
		return false;
	x = owner_of(o->of, o->room, what);
	before = x->processor;
	o->n += x->what == NULL;
	*x = (struct owner){ what, processor };
	return before != 0 && before != processor;
}
