/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim_find.c - the most streams whose mean delay stays below a limit, by bisection.
 *
 * Each run has the same seed, so a stream has the same packets in all of them.  The search starts
 * at what the processors could serve if every packet were hot: too many, but for times too short
 * for a queue to grow, where it goes on from there.
 */
#include "tools/vp-sim/sim.h"

#include <math.h>

/* us of the cheapest packet on the average. */
static double cheapest(const struct sim_model *m)
{
	double us = m->mean / 1e3;

	if (m->service == SIM_SERVICE_CACHE)
		us = m->ledger->cost[m->parallel][SIM_HOT].v + (m->copy ? m->ledger->property[SIM_COPY].v * sim_model_bytes(m) : 0);
	else if (m->service == SIM_SERVICE_FRAMES)
		us = m->ledger->property[SIM_COPY].v * sim_model_bytes(m);
	return us;
}

static unsigned too_many(const struct sim_model *m)
{
	double n = ceil(m->processors * 1e6 / (cheapest(m) * m->rate)) + 1;

	return n < SIM_STREAMS_MAX ? (unsigned)n : SIM_STREAMS_MAX;
}

static bool is_below(const struct sim_model *m, unsigned streams, struct sim_result *r, bool *below)
{
	struct sim_model with = *m;

	with.streams = streams;
	if (!sim_run(&with, r))
		return false;
	*below = r->time == with.duration && r->served != 0 && (double)r->delay < (double)m->limit * (double)r->served;
	return true;
}

struct search { const struct sim_model *m; struct sim_result *at, *above; unsigned low, high; };

static bool look(struct search *s, unsigned streams)
{
	struct sim_result r;
	bool below;

	if (!is_below(s->m, streams, &r, &below))
		return false;
	*(below ? s->at : s->above) = r;
	*(below ? &s->low : &s->high) = streams;
	return true;
}

bool sim_find_streams(const struct sim_model *m, unsigned *most, struct sim_result *at, struct sim_result *above)
{
	struct search s = { .m = m, .at = at, .above = above };

	for (unsigned n = too_many(m); s.high == 0; n *= 2) {
		if (!look(&s, n < SIM_STREAMS_MAX ? n : SIM_STREAMS_MAX))
			return false;
		if (s.low == SIM_STREAMS_MAX)
			break;
	}
	while (s.high > s.low + 1)
		if (!look(&s, s.low + (s.high - s.low) / 2))
			return false;
	*most = s.low;
	return true;
}
