/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_window.c - how much room we offer and how much is offered to us: the
 * receive window (RFC 9293 3.8.6.2.2, RFC 7323 2), segment size, room to push.
 *
 * The right edge moves in steps worth a segment (receiver's silly window
 * avoidance) and never to the left.  Where the scale cannot say it exactly, what
 * is said is rounded up while that stays within one unit of the buffer.  While the graph's
 * memory is short the edge moves no further than tcp_memory.c lets it.
 * Invariant: rcv_adv is the highest edge ever announced.
 */
#include "protocols/tcp/tcp_out_priv.h"

/* What fits the buffer, counted from rcv_nxt; less of it while memory is short. */
static uint32_t free_room(const struct tcp_sess *ts)
{
	uint32_t limit = tcp_rcv_limit(ts), held = tcp_cb(ts)->rcv_held;

	return limit > held ? limit - held : 0;
}

/* Bytes that move the edge: less is not worth it (RFC 1122 4.2.3.3). */
static uint32_t worth(const struct tcp_cb *cb)
{
	return min32(cb->rcv_buf / 2, cb->mss);
}

/* The wanted window in units of 1 << shift, as bytes. */
static uint32_t in_units(const struct tcp_cb *cb, uint32_t want, uint32_t room)
{
	uint32_t unit = 1u << cb->rcv_wscale, most = (uint32_t)UINT16_MAX << cb->rcv_wscale, w;

	if (want > most)
		want = most;
	w = want & ~(unit - 1);
	/* Rounding down would take back what was offered. */
	if (w != want && tcp_lt(cb->rcv_nxt + w, cb->rcv_adv) && w + unit <= room + unit && w + unit <= most)
		w += unit;
	return w;
}

/* Is the room worth more than what is offered already? */
static bool offer_all(const struct tcp_cb *cb, uint32_t room, uint32_t offered)
{
	if (room < offered)
		return false;
	if (cb->tune->window_exact)
		return room >= cb->mss || room >= cb->rcv_buf / 4;
	return room - offered >= worth(cb);
}

uint32_t tcp_rcv_window(struct tcp_cb *cb, bool commit)
{
	uint32_t room = free_room(xk_container_of(cb, struct tcp_live, cb)->ts), offered = cb->rcv_adv - cb->rcv_nxt, w;

	if (tcp_lt(cb->rcv_adv, cb->rcv_nxt))
		offered = 0;
	w = offer_all(cb, room, offered) ? room : offered;
	w = in_units(cb, w, room > offered ? room : offered);
	if (commit && tcp_gt(cb->rcv_nxt + w, cb->rcv_adv))
		cb->rcv_adv = cb->rcv_nxt + w;
	return w;
}

/* Is it worth a segment of its own that the edge may move by `gain`?  While the
 * peer still has most of the window, the next acknowledgement can tell it. */
static bool worth_telling(const struct tcp_cb *cb, uint32_t gain)
{
	uint32_t part = cb->tune->window_update, offered = cb->rcv_adv - cb->rcv_nxt;

	if (gain < min32(2u * cb->mss, cb->rcv_buf / 2))
		return false;
	return part == 0 || gain >= cb->rcv_buf / part || offered <= cb->rcv_buf / 8 || cb->rcv_buf <= 8u * cb->mss;
}

void tcp_window_opened(struct tcp_sess *ts, uint32_t n)
{
	struct tcp_cb *cb = tcp_cb(ts);
	uint32_t edge;

	(void)n;
	if (cb->state < TCP_S_ESTABLISHED || cb->state == TCP_S_TIME_WAIT || (cb->flags & TCP_F_FIN_RCVD))
		return;
	edge = cb->rcv_nxt + tcp_rcv_window(cb, false);
	if (tcp_gt(edge, cb->rcv_adv) && worth_telling(cb, edge - cb->rcv_adv))
		tcp_send_ack(ts);
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
	if (XK_UNLIKELY(cb->peer_mss < cb->tune->min_mss))
		cb->snd_buf = min32(cb->snd_buf, TCP_SMALL_SEGS * cb->mss);
	if (cb->snd_max - cb->iss <= 1)          /* nothing but a SYN went out yet; or again: RFC 5681 3.1 */
		cb->cwnd = cb->retries == 0 ? tcp_cc_initial(cb) : cb->mss;
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
