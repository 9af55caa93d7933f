/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sync_sim_order.c - who of the threads of a simulation is next: a tree in which the earlier of two goes up.
 *
 * Each thread has a leaf, and with another time it plays anew against who is beside it, level by level, up to
 * one where nothing changes.  So a thread that goes to sleep for long, or is woken long before its
 * time, which is what happens most, costs a level or two however many threads there are.
 * Who runs keeps the place that it was taken up at: others' first is asked for without it.
 * Leaves stand in the order of ties: of the same time the left one is first, and a time is all that plays.  A
 * thread that begins makes room for its leaf.
 * Invariant: best[i] is the less of best[2 * i] and best[2 * i + 1], for each i below room.
 */
#include "runtime/sync/sync_sim_priv.h"

#include <stdlib.h>

#define ROOM 16u

void sim_order_set(struct sim_order *o, const struct xk_sim_thread *t, xk_ns when)
{
	xk_ns *best = o->best;

	if (t == o->zero) {
		o->at = when;
		return;
	}
	best[o->room + t->leaf] = when;
	for (unsigned i = o->room + t->leaf; i > 1; i /= 2) {
		if (best[i ^ 1] < when)
			when = best[i ^ 1];
		if (best[i / 2] == when)
			return;
		best[i / 2] = when;
	}
}

/* Up to when who goes on before one of this time, if that is before it in ties, too (ahead: 1, or 0). */
static inline xk_ns up_to(xk_ns when, xk_ns ahead) { return when - ahead + (when < ahead); }

static inline xk_ns sooner(xk_ns a, xk_ns b) { return a < b ? a : b; }

struct xk_sim_thread *sim_order_first(const struct sim_order *o, xk_ns *limit)
{
	const xk_ns *best = o->best;
	xk_ns when = best[1], least = up_to(o->at, 1);
	unsigned i = 1;

	if (o->at <= when) {
		*limit = when;
		return o->at != XK_NS_NEVER ? o->zero : NULL;
	}
	while (i < o->room) {
		unsigned right = best[2 * i] != when;

		i = 2 * i + right;
		least = sooner(least, best[i ^ 1] - right);  /* who is left behind on the left is later, so not 0 */
	}
	*limit = least;
	return o->thread[i - o->room];
}

xk_ns sim_order_limit(const struct sim_order *o, const struct xk_sim_thread *t)
{
	xk_ns least = up_to(o->at, 1);

	if (t == o->zero)
		return o->best[1];
	for (unsigned i = o->room + t->leaf; i > 1; i /= 2)
		least = sooner(least, up_to(o->best[i ^ 1], i & 1));
	return least;
}

xk_ns sim_order_others(const struct sim_order *o, const struct xk_sim_thread *t)
{
	xk_ns least = o->at;

	if (t == o->zero)
		return o->best[1];
	for (unsigned i = o->room + t->leaf; i > 1; i /= 2)
		least = sooner(least, o->best[i ^ 1]);
	return least;
}

/* Twice as many leaves; those that are there keep theirs. */
static bool make_room(struct sim_order *o)
{
	unsigned room = o->room != 0 ? 2 * o->room : ROOM;
	struct xk_sim_thread **thread = realloc(o->thread, room * sizeof *thread);
	xk_ns *best;

	if (thread == NULL)
		return false;
	o->thread = thread;
	best = malloc(2 * (size_t)room * sizeof *best);
	if (best == NULL)
		return false;
	for (unsigned i = 0; i < room; i++)
		best[room + i] = i < o->n ? o->best[o->room + i] : XK_NS_NEVER;
	free(o->best);
	o->best = best;
	o->room = room;
	return true;
}

static void move(struct sim_order *o, unsigned from, unsigned to)
{
	o->thread[to] = o->thread[from];
	o->thread[to]->leaf = to;
	o->best[o->room + to] = o->best[o->room + from];
}

static void play(struct sim_order *o)
{
	for (unsigned i = o->room - 1; i != 0; i--)
		o->best[i] = sooner(o->best[2 * i], o->best[2 * i + 1]);
}

bool sim_order_grow(struct sim_order *o, struct xk_sim_thread *t)
{
	unsigned i = o->n;

	if (o->n == o->room && !make_room(o))
		return false;
	if (o->zero == NULL) {
		o->zero = t;
		o->at = XK_NS_NEVER;
	} else {
		xk_assert(t->tie > o->zero->tie);
		for (o->n++; i != 0 && o->thread[i - 1]->tie > t->tie; i--)
			move(o, i - 1, i);
		t->leaf = i;
		o->thread[i] = t;
		o->best[o->room + i] = XK_NS_NEVER;
	}
	play(o);
	return true;
}

void sim_order_leave(struct sim_order *o, const struct xk_sim_thread *t)
{
	o->n--;
	for (unsigned i = t->leaf; i < o->n; i++)
		move(o, i + 1, i);
	o->best[o->room + o->n] = XK_NS_NEVER;
	play(o);
}

void sim_order_free(struct sim_order *o)
{
	free(o->thread);
	free(o->best);
}
