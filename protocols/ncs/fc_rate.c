/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fc_rate.c - paces what leaves by the clock: so many bits a second, at most two SDUs at once.
 *
 * Each transmission moves the time at which the bytes before it will have left at the rate; the
 * next one may leave when that is at most one full SDU away.  What a division leaves of a
 * nanosecond is carried on, so no error adds up.  Who was silent has gained nothing, but for the
 * grain of its timers: who is woken a tick late makes up for that.
 */
#include "protocols/ncs/ncs_policy.h"

struct rate_tx {
	uint64_t rate;                   /* bits a second */
	xk_ns    busy;                   /* until then, with all that has left */
	uint64_t rest;                   /* and that many rate-ths of a nanosecond */
	xk_ns    ahead;                  /* how far busy may be away: the time of one SDU */
	xk_ns    grain;                  /* how late who sends may be without losing by it */
};

/* bits at the rate, with what was left of the one before. */
static xk_ns time_of(struct rate_tx *r, uint64_t bits)
{
	uint64_t whole = bits / r->rate, part = bits % r->rate;
	unsigned __int128 ns = (unsigned __int128)part * XK_SEC + r->rest;

	r->rest = (uint64_t)(ns % r->rate);
	return whole * XK_SEC + (xk_ns)(ns / r->rate);
}

static void tx_init(void *st, const struct ncs_agreed *a, xk_ns now)
{
	struct rate_tx *r = st;

	*r = (struct rate_tx){ .rate = a->rate != 0 ? a->rate : 1, .grain = a->grain };
	r->ahead = time_of(r, (uint64_t)a->sdu * 8);
	r->rest = 0;
	r->busy = now;
}

static bool may(const void *st, xk_ns now)
{
	const struct rate_tx *r = st;

	return r->busy <= now || r->busy - now <= r->ahead;
}

static void sent(void *st, uint32_t bytes, xk_ns now)
{
	struct rate_tx *r = st;

	if (r->busy + r->grain < now) {
		r->busy = now - r->grain;
		r->rest = 0;
	}
	r->busy += time_of(r, (uint64_t)bytes * 8);
}

static xk_ns when(const void *st, const struct ncs_rtt *rtt)
{
	const struct rate_tx *r = st;

	(void)rtt;
	return r->busy > r->ahead ? r->busy - r->ahead : 0;
}

const struct ncs_flow_ops ncs_fc_rate = {
	.name = "rate", .tx_size = sizeof(struct rate_tx),
	.tx_init = tx_init, .may = may, .sent = sent, .when = when, NCS_SILENT,
};
