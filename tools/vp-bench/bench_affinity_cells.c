/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_affinity_cells.c - one message's time, by what the caches hold and who wrote it last
 * (Salehi and others 1995, table 3).
 *
 * Before each: this processor runs a message of a stack of its own and, unless the cell says that they moved, of
 * the stack that is timed; the other one runs a message of a stack of its own, or of that; then this one's caches
 * are flushed as far as the cell says.  So all cells have the same pauses and the same lock step.
 * With two streams in turn a message is of another stream than the stack's last one; where the two processors take
 * turns, too, each stream stays on its processor and only the stack moves.  With locks a processor has an I/O thread of
 * its own, and what it shares with the other one's is behind locks.
 */
#include "tools/vp-bench/bench_affinity.h"

#include <string.h>

enum flush { FLUSH_NONE, FLUSH_L1, FLUSH_ALL };
enum stack { STACK_WORKER, STACK_STAYS, STACK_MOVES };

static const struct cell {
	const char *id, *doc;
	unsigned    streams, samples;    /* samples: of a round */
	enum flush  flush;
	bool        moved;
	enum stack  stack;
} cells[] = {
	{ "hot", "everything cached", 1, 100, FLUSH_NONE, false, STACK_WORKER },
	{ "l1_cold", "code and data out of the first level", 1, 40, FLUSH_L1, false, STACK_WORKER },
	{ "cold", "out of all caches", 1, 4, FLUSH_ALL, false, STACK_WORKER },
	{ "other_stream", "of another stream than the stack's last", 2, 100, FLUSH_NONE, false, STACK_WORKER },
	{ "moved", "stack and stream written by the other processor", 1, 100, FLUSH_NONE, true, STACK_WORKER },
	{ "stack_moved", "another stream, the stack written by the other processor", 2, 100, FLUSH_NONE, true, STACK_WORKER },
	{ "moved_l1_cold", "written by the other processor, the rest out of the first level", 1, 40, FLUSH_L1, true,
	  STACK_WORKER },
	{ "thread", "on a thread stack of its own", 1, 100, FLUSH_NONE, false, STACK_STAYS },
	{ "thread_moved", "on one that the other processor used", 1, 100, FLUSH_NONE, false, STACK_MOVES },
	{ "thread_l1_cold", "on one of its own, first level cold", 1, 40, FLUSH_L1, false, STACK_STAYS },
	{ "thread_moved_l1_cold", "on one that the other processor used, first level cold", 1, 40, FLUSH_L1, false,
	  STACK_MOVES },
};
#define NCELLS ((unsigned)XK_ARRAY_LEN(cells))

static const struct cell *cell_of(unsigned i) { return &cells[i % NCELLS]; }
static enum aff_side side_of(unsigned i) { return i / NCELLS; }

static bool here(struct aff_rig *r, unsigned i, char *why)
{
	const struct cell *c = cell_of(i);

	if (c->stack != STACK_WORKER && !r->threads) {
		snprintf(why, AFF_TEXT, "thread stacks cannot be switched: %s is not installed", xk_fiber_missing);
		return false;
	}
	if ((c->moved || c->stack == STACK_MOVES) && r->pair == NULL) {
		snprintf(why, AFF_TEXT, "%s", r->why_one);
		return false;
	}
	return true;
}

/* ---- what the other processor does ------------------------------------------------------------ */

struct theirs { struct aff_rig *r; struct xk_vp *vp; };

static void message(void *arg)
{
	const struct theirs *t = arg;

	aff_message(t->r, t->vp);
}

static void message_on_thread(void *arg)
{
	const struct theirs *t = arg;

	aff_message_on_thread(t->r, t->vp);
}

/* ---- a sample ----------------------------------------------------------------------------------- */

static enum aff_variant variant_of(const struct cell *c, enum aff_side side)
{
	return c->streams == 1 ? AFF_ONE : c->moved && side == AFF_LOCKING ? AFF_APART : AFF_TURN;
}

/* What a processor is in when it works on a message of what is timed: no 1: this one; 0: the other one. */
static struct xk_vp *timed_of(const struct aff_rig *r, const struct cell *c, enum aff_side side, unsigned no)
{
	enum aff_variant v = variant_of(c, side);

	return side == AFF_LOCKING ? aff_io(r, v, no) : aff_vp(r, side, v, AFF_TIMED);
}

static void prepare(struct aff_rig *r, const struct cell *c, enum aff_side side)
{
	enum aff_side alone = side == AFF_LOCKING ? AFF_RECEIVE : side;
	enum aff_variant v = c->streams == 1 ? AFF_ONE : AFF_TURN;
	struct xk_vp *timed = timed_of(r, c, side, 1), *ours = aff_vp(r, alone, v, AFF_OURS);
	struct theirs t = { r, c->moved ? timed_of(r, c, side, 0) : aff_vp(r, alone, v, AFF_THEIRS) };

	if (c->stack == STACK_STAYS)
		aff_message_on_thread(r, ours);
	else
		aff_message(r, ours);
	if (!c->moved)
		aff_message(r, timed);
	aff_pair_do(r->pair, c->stack == STACK_MOVES ? message_on_thread : message, &t);
	if (c->flush == FLUSH_L1)
		aff_flush_l1(&r->caches);
	else if (c->flush == FLUSH_ALL)
		aff_flush_all(&r->caches);
}

static double sample(struct aff_rig *r, unsigned i)
{
	const struct cell *c = cell_of(i);
	struct xk_vp *vp = timed_of(r, c, side_of(i), 1);
	uint64_t from;

	prepare(r, c, side_of(i));
	from = aff_ticks();
	if (c->stack == STACK_WORKER)
		aff_message(r, vp);
	else
		aff_message_on_thread(r, vp);
	return (double)(aff_ticks() - from);
}

static unsigned samples(unsigned i) { return cell_of(i)->samples; }

static json_t *head(unsigned i)
{
	return json_pack("{s:s, s:s, s:s}", "side", aff_side_name[side_of(i)], "id", cell_of(i)->id, "doc", cell_of(i)->doc);
}

const struct aff_part aff_cells = { "cells", AFF_SIDES * NCELLS, here, sample, samples, head };
