/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_cb.c - a control block at its beginning: what the node's parameters say, the size of
 * a segment (RFC 9293 3.7.1), buffers.
 *
 * Invariant: mss is never smaller than TCP_MSS_LEAST.
 */
#include "protocols/tcp/core/tcp_core.h"

/* What a segment that is sent reads and writes lies in the lines that are fetched for it (xk_task_fetch). */
#define FETCHED(field) (offsetof(struct tcp_cb, field) < 5 * XK_CACHELINE)
_Static_assert(FETCHED(sacked_out) && FETCHED(retrans_out) && FETCHED(backoff) && FETCHED(user_timeout), "five lines");
#undef FETCHED

uint8_t tcp_own_wscale(const struct tcp_tune *t)
{
	uint8_t shift = 0;

	if (t->wscale <= 14)
		return t->wscale;
	while (shift < 14 && ((uint32_t)UINT16_MAX << shift) < t->rcv_buf)
		shift++;
	return shift;
}

void tcp_cb_init(struct tcp_cb *cb, const struct tcp_tune *t)
{
	cb->tune = t;
	cb->rcv_buf = t->rcv_buf;
	cb->snd_buf = t->snd_buf;
	cb->user_timeout = t->user_timeout;
	cb->fin_wait2 = t->fin_wait2;
	cb->keep_idle = t->keep_idle;
	cb->keep_interval = t->keep_interval;
	cb->keep_count = t->keep_count;
	cb->quick = t->quick_acks;
	cb->peer_mss = 536;
	cb->rcv_wscale = tcp_own_wscale(t);
	cb->cc_kind = t->cc;
	cb->cc = &tcp_cc_table[t->cc];
	cb->flags = (t->nagle ? 0 : TCP_F_NODELAY) | (t->keepalive ? TCP_F_KEEPALIVE : 0) | TCP_F_PMTU;
}

uint32_t tcp_room(const struct tcp_cb *cb)
{
	if (cb->flags & TCP_F_FIN_QUEUED)
		return 0;
	switch (cb->state) {
	case TCP_S_SYN_SENT:
	case TCP_S_SYN_RCVD:
	case TCP_S_ESTABLISHED:
	case TCP_S_CLOSE_WAIT:
		return cb->snd_buf > cb->sq.bytes ? cb->snd_buf - cb->sq.bytes : 0;
	default:
		return 0;
	}
}

/* RFC 6691: what options take is taken off the segment. */
void tcp_set_mss(struct tcp_cb *cb)
{
	uint32_t mss = min32(cb->path_mss != 0 ? cb->path_mss : 536, cb->peer_mss != 0 ? cb->peer_mss : 536);
	uint32_t usual = tcp_opts_usual(cb);

	if (cb->tune->mss != 0)
		mss = min32(mss, cb->tune->mss);
	cb->mss = (uint16_t)(mss > usual + TCP_MSS_LEAST ? mss - usual : TCP_MSS_LEAST);
	cb->train = 0;
	if (XK_UNLIKELY(cb->peer_mss < cb->tune->min_mss))
		cb->snd_buf = min32(cb->snd_buf, TCP_SMALL_SEGS * cb->mss);
	if (cb->snd_max - cb->iss <= 1)          /* nothing but a SYN went out yet; or again: RFC 5681 3.1 */
		cb->cwnd = cb->retries == 0 ? tcp_cc_initial(cb) : cb->mss;
}

uint32_t tcp_hoped_mss(const struct tcp_cb *cb)
{
	uint32_t mss = cb->path_mss != 0 ? cb->path_mss : 536, usual = cb->tune->timestamps ? 12 : 0;

	if (cb->tune->mss != 0)
		mss = min32(mss, cb->tune->mss);
	return mss > usual + TCP_MSS_LEAST ? mss - usual : TCP_MSS_LEAST;
}

static uint32_t round_up(uint32_t n, uint32_t unit)
{
	return n > unit ? (n + unit - 1) / unit * unit : n;
}

void tcp_round_buffers(struct tcp_cb *cb)
{
	uint32_t unit = min32(cb->path_mss != 0 ? cb->path_mss : 536, cb->peer_mss);

	cb->rcv_buf = round_up(cb->rcv_buf, unit);
	cb->snd_buf = round_up(cb->snd_buf, unit);
}
