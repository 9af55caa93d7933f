/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kit_memory.c - clause: each allocation of a start and of a conversation fails in turn; nothing dies, hangs or leaks.
 *
 * No virtual processor keeps buffers, so that each message's is one of the allocations.  Reading the graph
 * file is not what is tried: the count begins with the start.
 */
#include "runtime/sync/xk_sync.h"
#include "tools/vp-graph/kit/kit_clauses.h"

#define TALK (300 * XK_MS)

static void starve(struct kit_world *w)
{
	for (unsigned i = 0; i < w->g->vps->nvps; i++) {
		struct xk_vp *vp = w->g->vps->vp[i];

		xk_vp_enter_idle(vp);
		xk_memvp_starve(&vp->mem, true);
		xk_vp_leave_idle(vp);
	}
}

/* One life in which allocation n fails (0: none); how many there were. */
static uint64_t life(struct kit *k, uint64_t n)
{
	struct kit_how how = { .preset = "up {}", .conns = 1, .count = 2, .size = 64 };
	struct kit_world w;
	uint64_t tries = 0;

	if (kit_build(&w, k, &how)) {
		xk_mem_fail_after(n);
		if (kit_up(&w)) {
			starve(&w);
			if (!k->real)
				kit_pass_time(&w, TALK);
		}
		tries = xk_mem_tries();
		xk_mem_fail_after(0);
	} else {
		kit_fail(k, "does not start: %s", kit_error(&w));
	}
	kit_down(&w);
	return tries;
}

/* All of the first ones, which are the start's and the first messages'; of more of the same every so many. */
static uint64_t next_of(const struct kit *k, uint64_t n, uint64_t all)
{
	uint64_t first = 20ull * k->rounds, rest = 5ull * k->rounds;

	return n < first || all <= first + rest ? n + 1 : n + (all - first) / rest;
}

void kit_clause_memory(struct kit *k)
{
	uint64_t all, n = 1, done = 0;

	kit_at(k, "a life without a failure");
	all = life(k, 0);
	for (; n <= all && !kit_found_any(k); n = next_of(k, n, all), done++) {
		kit_at(k, "allocation %llu, which fails", (unsigned long long)n);
		(void)life(k, n);
	}
	if (k->found->state == KIT_FAIL)
		kit_more(k, " (%s)", k->found->at);
	kit_pass(k, "%llu of %llu allocations%s", (unsigned long long)done, (unsigned long long)all,
		 k->real ? " of a start" : "");
}
