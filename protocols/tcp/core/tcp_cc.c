/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_cc.c - congestion control as const policies: reno (RFC 5681 with appropriate
 * byte counting, RFC 3465).
 *
 * A policy decides how cwnd grows when data is acknowledged and what is left of
 * it after a loss; what was lost, and how fast recovery sends, is not its
 * business.  Slow start is the same for all: it ends at ssthresh, at a loss, or
 * early (tcp_hystart.c).  The policy "none" is the absence of one.
 * Invariant: mss <= cwnd <= TCP_CWND_MAX.
 */
#include "protocols/tcp/core/tcp_cc.h"

static uint32_t max32(uint32_t a, uint32_t b) { return a > b ? a : b; }

uint32_t tcp_cc_initial(const struct tcp_cb *cb)
{
	uint32_t mss = cb->mss, n = cb->tune->initial_window, w;

	if (cb->cc->unlimited)
		return TCP_CWND_MAX;
	if (n != 0)                      /* RFC 6928 2: counted in segments, capped in bytes */
		return n < 10 || mss <= 1460 ? n * mss : max32(2 * mss, n * 1460);
	w = max32(2 * mss, 4380);        /* RFC 3390 */
	return w < 4 * mss ? w : 4 * mss;
}

void tcp_cc_grow(struct tcp_cb *cb, uint32_t n)
{
	uint32_t room = cb->cwnd < TCP_CWND_MAX ? TCP_CWND_MAX - cb->cwnd : 0;

	cb->cwnd += n < room ? n : room;
}

uint32_t tcp_cc_slow_start(struct tcp_cb *cb, uint32_t acked)
{
	uint32_t limit = cb->tune->abc && cb->ca_state != TCP_CA_LOSS ? cb->tune->abc_limit * (uint32_t)cb->mss : cb->mss;
	uint32_t n = acked < limit || limit == 0 ? acked : limit, left;

	if (cb->hystart != TCP_HS_OFF)
		n = tcp_hystart_acked(cb, acked, n);
	left = cb->ssthresh - cb->cwnd;
	if (n < left) {
		tcp_cc_grow(cb, n);
		return 0;
	}
	tcp_cc_grow(cb, left);
	return n - left;
}

uint32_t tcp_cc_flight(const struct tcp_cb *cb)
{
	uint32_t flight = cb->snd_max - cb->snd_una;

	return flight < cb->cwnd ? flight : cb->cwnd;
}

/* ---- reno ------------------------------------------------------------------------------ */

static void reno_init(struct tcp_cb *cb)
{
	cb->acked_bytes = 0;
}

static void reno_acked(struct tcp_cb *cb, const struct tcp_env *e, uint32_t acked)
{
	uint64_t more;

	(void)e;
	if (cb->cwnd < cb->ssthresh) {
		acked = tcp_cc_slow_start(cb, acked);
		if (acked == 0)
			return;
	}
	if (!cb->tune->abc) {            /* RFC 5681 (3) */
		more = (uint64_t)cb->mss * cb->mss / cb->cwnd;
		tcp_cc_grow(cb, more != 0 ? (uint32_t)more : 1);
		return;
	}
	cb->acked_bytes += acked;
	if (cb->acked_bytes >= cb->cwnd) {
		cb->acked_bytes -= cb->cwnd;
		tcp_cc_grow(cb, cb->mss);
	}
}

/* RFC 5681 (4). */
static uint32_t reno_reduced(struct tcp_cb *cb, const struct tcp_env *e)
{
	(void)e;
	cb->acked_bytes = 0;
	return max32(tcp_cc_flight(cb) / 2, 2u * cb->mss);
}

static void reno_timeout(struct tcp_cb *cb, const struct tcp_env *e)
{
	(void)e;
	cb->acked_bytes = 0;
}

static void reno_undo(struct tcp_cb *cb)
{
	cb->acked_bytes = 0;
}

static uint32_t reno_rest(const struct tcp_cb *cb)
{
	return cb->acked_bytes;
}

static void reno_wake(struct tcp_cb *cb, uint32_t kept)
{
	cb->acked_bytes = kept;
}

/* ---- none -------------------------------------------------------------------------------- */

/* What the peer has room for and what we may hold are all that limits.  A loss takes
 * nothing back, so ssthresh stays out of reach and recovery never waits: what is
 * found to be lost goes again at once, after a timeout all of it; only more than three
 * timeouts in a row send one segment each, as a path that is slower than we think would else be
 * filled with repetitions.  For links of one's own, where no one else could be
 * crowded out. */
static void none_init(struct tcp_cb *cb)
{
	cb->cwnd = TCP_CWND_MAX;
}

static void none_acked(struct tcp_cb *cb, const struct tcp_env *e, uint32_t acked)
{
	(void)e;
	(void)acked;
	cb->cwnd = TCP_CWND_MAX;
}

static uint32_t none_reduced(struct tcp_cb *cb, const struct tcp_env *e)
{
	(void)cb;
	(void)e;
	return TCP_CWND_MAX;
}

static void none_timeout(struct tcp_cb *cb, const struct tcp_env *e)
{
	(void)cb;
	(void)e;
}

const struct tcp_cc_ops tcp_cc_table[TCP_CC_COUNT] = {
	[TCP_CC_CUBIC] = { "cubic", false, tcp_cubic_init, tcp_cubic_acked, tcp_cubic_reduced, tcp_cubic_timeout,
			   tcp_cubic_undo, tcp_cubic_keep, tcp_cubic_wake },
	[TCP_CC_RENO] = { "reno", false, reno_init, reno_acked, reno_reduced, reno_timeout, reno_undo, reno_rest,
			  reno_wake },
	[TCP_CC_NONE] = { "none", true, none_init, none_acked, none_reduced, none_timeout, none_init, reno_rest,
			  reno_wake },
};
