/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sync_sim_order.c - who of the threads of a simulation is next: a tree in which the earlier of two goes up.
 *
 * Each thread has a leaf for good, and with another time it plays anew against who is beside it, level by level, up to
 * one whose winner stays the same.  So a thread that goes to sleep for long, or is woken long before its
 * time, which is what happens most, costs a level or two however many threads there are.
 * Who runs keeps the place that it was taken up at: others' first is asked for without it.
 * Who plays is one number, its time above its tie, whose lower half says which thread it is.
 * Invariant: best[i] is the less of best[2 * i] and best[2 * i + 1], for each i below room.
 */
#include "runtime/sync/sync_sim_priv.h"

#include <stdlib.h>
#include <string.h>

#define ROOM 16u

static inline sim_place place(xk_ns when, uint64_t tie) { return (sim_place)when << 64 | tie; }

void sim_order_set(struct sim_order *o, const struct xk_sim_thread *t, xk_ns when)
{
	sim_place *best = o->best, here = place(when, t->tie);
	unsigned i = o->room + t->no;

	best[i] = here;
	for (; i > 1; i /= 2) {
		if (best[i ^ 1] < here)
			here = best[i ^ 1];
		if (best[i / 2] == here)
			return;
		best[i / 2] = here;
	}
}

sim_place sim_order_but(const struct sim_order *o, const struct xk_sim_thread *t)
{
	sim_place first = place(XK_NS_NEVER, UINT64_MAX);

	for (unsigned i = o->room + t->no; i > 1; i /= 2)
		if (o->best[i ^ 1] < first)
			first = o->best[i ^ 1];
	return first;
}

/* More leaves, all of them nobody's but the first ones. */
static bool make_room(struct sim_order *o, unsigned room)
{
	struct xk_sim_thread **thread = realloc(o->thread, room * sizeof *thread);
	sim_place *best;

	if (thread == NULL)
		return false;
	o->thread = thread;
	best = malloc(2 * (size_t)room * sizeof *best);
	if (best == NULL)
		return false;
	for (unsigned i = 0; i < room; i++)
		best[room + i] = i < o->room ? o->best[o->room + i] : place(XK_NS_NEVER, UINT64_MAX);
	for (unsigned i = room - 1; i != 0; i--)
		best[i] = best[2 * i] < best[2 * i + 1] ? best[2 * i] : best[2 * i + 1];
	free(o->best);
	o->best = best;
	o->room = room;
	return true;
}

bool sim_order_grow(struct sim_order *o, struct xk_sim_thread *t)
{
	if (t->no >= o->room && !make_room(o, o->room != 0 ? 2 * o->room : ROOM))
		return false;
	o->thread[t->no] = t;
	sim_order_set(o, t, XK_NS_NEVER);
	return true;
}

void sim_order_free(struct sim_order *o)
{
	free(o->thread);
	free(o->best);
}
