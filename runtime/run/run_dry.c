/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run_dry.c - notices that a run cannot go on because memory is out.
 *
 * An application that gets no buffer tries again, and one whose message was dropped for want of one waits for
 * an answer that never comes: where no memory comes back they do so for ever.  Of a graph that ends when its
 * applications have finished is therefore asked, once a second of the host's time and of the graph's: were buffers
 * refused, and did no application move a message?  So many seconds in a row, and the run is over.  A graph that serves
 * others goes on: it drops, and counts, until there is memory again.
 */
#include "runtime/run/run_priv.h"

#define TIMES 5u                 /* seconds without a message, and with refusals in each */

static uint64_t refused(const struct xk_vpset *set)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < set->nall; i++)
		n += xk_counter_read(set->all[i]->mem.misses);
	return n;
}

/* What applications have moved; where none counts that, what any VP has. */
static uint64_t done(struct run *u)
{
	uint64_t n = xk_load_relaxed(&u->g->ndone);

	if (u->napps != 0)
		(void)run_totals(u);
	for (unsigned i = 0; u->napps != 0 && i < u->g->nnodes; i++)
		n += u->total[i].messages + u->total[i].bytes;
	for (unsigned i = 0; u->napps == 0 && i < u->g->vps->nall; i++)
		n += xk_counter_read(u->g->vps->all[i]->messages);
	return n;
}

bool run_dry(struct run *u)
{
	struct run_dry *d = &u->dry, now = { .looked = xk_clock_host(), .at = xk_clock_read(&u->g->vps->clock) };

	if (xk_load_acquire(&u->g->napps) == 0 || now.looked - d->looked < RUN_DRY_LOOK || now.at - d->at < RUN_DRY_LOOK)
		return d->times >= TIMES;
	now.refused = refused(u->g->vps);
	if (now.refused != d->refused)
		now.done = done(u);
	if (now.refused != d->refused && now.done == d->done)
		now.times = d->times + 1;
	*d = now;
	return d->times >= TIMES;
}

bool run_dried_up(const struct run *u)
{
	return xk_load_acquire(&u->g->napps) != 0 && refused(u->g->vps) != 0;
}
