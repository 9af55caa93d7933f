/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim_cache.c - a ledger's numbers as the model of caches has them (runtime/vp/xk_cache.h), and the cells of table 3.
 */
#include "tools/vp-sim/sim.h"

struct xk_cache_machine sim_cache_of(const struct sim_ledger *l)
{
	const struct sim_value *p = l->property;

	return (struct xk_cache_machine){
		.references = p[SIM_REFERENCES].v, .w = p[SIM_FOOTPRINT_W].v, .a = p[SIM_FOOTPRINT_A].v,
		.b = p[SIM_FOOTPRINT_B].v, .log_d = p[SIM_FOOTPRINT_D].v,
		.level = { { p[SIM_L1_LINES].v, p[SIM_L1_LINE].v, p[SIM_L1_SHARE].v },
			   { p[SIM_L2_LINES].v, p[SIM_L2_LINE].v, p[SIM_L2_SHARE].v } },
	};
}

double sim_cache_cell(const struct sim_ledger *l, enum sim_parallel how, unsigned level, bool thread_moved)
{
	const struct sim_value *c = l->cost[how];
	/* Each of the things that may have moved has done so in half of the cells. */
	double us = c[SIM_HOT].v + (c[SIM_MAP_MISS].v + c[SIM_SESSION_MOVED].v + c[SIM_PROTOCOL_MOVED].v) / 2;

	if (level == 2)
		return us + c[SIM_MEMORY_COLD].v;
	us += level == 1 ? c[SIM_L1_COLD].v : 0;
	return us + (thread_moved ? c[level == 1 ? SIM_THREAD_COLD : SIM_THREAD_MOVED].v : 0);
}
