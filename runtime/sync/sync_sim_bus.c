/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sync_sim_bus.c - the bus of simulated processors: one server, whose time is given out in windows.
 *
 * A thread runs ahead of others for as long as its unit of work takes, so those who ask for the bus
 * do not come in the order of their times.  Who asks gets what is free of the window of its own time and
 * of those after it, whoever asked before: in each window no more passes than there is time, and a
 * late asker of an early time does not stand behind one who was ahead.
 * Invariant: no window is taken for longer than it lasts.
 */
#include "runtime/sync/sync_sim_priv.h"

#include <stdlib.h>

#define WINDOW  ((xk_ns)16384)   /* ns: within one, order is not known */
#define WINDOWS 8192u            /* 134 ms: further apart than threads ever are */

bool sim_bus_make(struct sim_bus *b)
{
	b->window = calloc(WINDOWS, sizeof *b->window);
	return b->window != NULL;
}

void sim_bus_free(struct sim_bus *b) { free(b->window); }

static struct bus_window *window_of(struct sim_bus *b, uint64_t no)
{
	struct bus_window *w = &b->window[no % WINDOWS];

	if (w->no != no)
		*w = (struct bus_window){ .no = no };
	return w;
}

/* When what asks for so much of its time from `at` on has crossed. */
static xk_ns cross(struct sim_bus *b, xk_ns at, xk_ns need)
{
	uint64_t no = at / WINDOW + 1;
	xk_ns room = no * WINDOW - at, earliest = at + need, end;
	struct bus_window *w;

	b->busy += need;
	for (;; no++, room = WINDOW) {
		w = window_of(b, no);
		if (room > WINDOW - w->taken)
			room = WINDOW - w->taken;
		if (room >= need)
			break;
		w->taken += room;
		need -= room;
	}
	w->taken += need;
	end = (no - 1) * WINDOW + w->taken;
	return end > earliest ? end : earliest;
}

void xk_sim_work(xk_ns ns, xk_ns bus)
{
	struct sim *s = sim_of(xk_sim_self);
	xk_ns at = *s->pub.now, end = bus != 0 ? cross(&s->bus, at, bus) : at;

	sim_charge(s, end - at > ns ? end - at : ns);
}

xk_ns xk_sim_bus_busy(const struct xk_sim *sim)
{
	return xk_container_of(sim, struct sim, pub)->bus.busy;
}
