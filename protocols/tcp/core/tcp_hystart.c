/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_hystart.c - HyStart++ (RFC 9406): leaving the first slow start because round
 * trips grow, before a queue somewhere overflows.
 *
 * Each window is a round.  When the least of a round's round trips is an eighth above
 * that of the round before (no less than hystart_min, no more than hystart_max),
 * growth goes on at a quarter of the pace: conservative slow start.  Round trips that
 * fall again below where they were then take that back; after hystart_rounds such
 * rounds cwnd is the threshold, and congestion avoidance begins, of whatever policy.
 * Of rounds with fewer than hystart_samples measurements nothing is concluded.
 * Only what lets the window grow is looked at: an application that sends less than
 * cwnd fills no queue.
 * Invariant: off for good once anything has set ssthresh.
 */
#include "protocols/tcp/core/tcp_cc.h"

#define NONE         UINT32_MAX
#define RTT_DIVISOR  8u
#define CSS_DIVISOR  4u

static void round_begin(struct tcp_cb *cb)
{
	cb->hs_last = cb->hs_least;
	cb->hs_least = NONE;
	cb->hs_samples = 0;
	cb->hs_end = cb->snd_max;
}

/* A round trip once; what was measured for another ACK has been taken. */
static void take_sample(struct tcp_cb *cb)
{
	if (cb->rtt_us == 0)
		return;
	if (cb->rtt_us < cb->hs_least)
		cb->hs_least = cb->rtt_us;
	if (cb->hs_samples < UINT8_MAX)
		cb->hs_samples++;
	cb->rtt_us = 0;
}

/* RttThresh, us. */
static uint32_t threshold(const struct tcp_cb *cb)
{
	uint32_t t = cb->hs_last / RTT_DIVISOR, least = cb->tune->hystart_min * 1000, most = cb->tune->hystart_max * 1000;

	t = t < most ? t : most;
	return t > least ? t : least;
}

/* What the round's measurements say so far. */
static void judge(struct tcp_cb *cb)
{
	if (cb->hs_samples < cb->tune->hystart_samples || cb->hs_least == NONE)
		return;
	if (cb->hystart == TCP_HS_CSS) {
		if (cb->hs_least < cb->hs_base)
			cb->hystart = TCP_HS_ON;
	} else if (cb->hs_last != NONE && cb->hs_least >= cb->hs_last + threshold(cb)) {
		cb->hs_base = cb->hs_least;
		cb->hs_rounds = 0;
		cb->hystart = TCP_HS_CSS;
	}
}

/* Does the ACK of acked bytes more end the round?  An end that is nowhere in flight is
 * of long ago. */
static bool round_ends(const struct tcp_cb *cb, uint32_t acked)
{
	uint32_t left = cb->hs_end - (cb->snd_una + acked);

	return left - 1 >= cb->snd_max - cb->snd_una;
}

uint32_t tcp_hystart_acked(struct tcp_cb *cb, uint32_t acked, uint32_t n)
{
	if (cb->ssthresh != TCP_CWND_MAX) {
		cb->hystart = TCP_HS_OFF;
		return n;
	}
	if (cb->hystart == TCP_HS_NEW) {
		cb->hs_least = NONE;
		round_begin(cb);
		cb->hystart = TCP_HS_ON;
	}
	take_sample(cb);
	judge(cb);
	if (cb->hystart == TCP_HS_CSS)
		n /= CSS_DIVISOR;
	if (!round_ends(cb, acked))
		return n;
	round_begin(cb);
	if (cb->hystart == TCP_HS_CSS && ++cb->hs_rounds >= cb->tune->hystart_rounds) {
		cb->ssthresh = cb->cwnd;
		cb->hystart = TCP_HS_OFF;
	}
	return n;
}
