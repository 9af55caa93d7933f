/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_window.c - how much room we offer: the receive window (RFC 9293 3.8.6.2.2, RFC 7323 2).
 *
 * The right edge moves in steps worth a segment (receiver's silly window
 * avoidance) and never to the left.  Where the scale cannot say it exactly, what
 * is said is rounded up while that stays within one unit of the buffer.  While the graph's
 * memory is short the limit that the session gives is below the buffer.
 * Invariant: rcv_adv is the highest edge ever announced.
 */
#include "protocols/tcp/core/tcp_core.h"

/* What fits the buffer, counted from rcv_nxt. */
static uint32_t free_room(const struct tcp_cb *cb, uint32_t limit)
{
	return limit > cb->rcv_held ? limit - cb->rcv_held : 0;
}

/* Bytes that move the edge: less is not worth it (RFC 1122 4.2.3.3). */
static uint32_t worth(const struct tcp_cb *cb)
{
	return min32(cb->rcv_buf / 2, cb->mss);
}

/* The wanted window in units of 1 << shift, as bytes. */
static uint32_t in_units(const struct tcp_cb *cb, uint32_t want, uint32_t limit)
{
	uint32_t unit = 1u << cb->rcv_wscale, most = (uint32_t)UINT16_MAX << cb->rcv_wscale, w;

	if (want > most)
		want = most;
	w = want & ~(unit - 1);
	/* Rounding down would take back what was offered.  What is beyond the buffer already does not get more: the edge
	 * would move on with every byte that comes. */
	if (w != want && tcp_lt(cb->rcv_nxt + w, cb->rcv_adv) && (uint64_t)cb->rcv_held + w <= limit && w + unit <= most)
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

uint32_t tcp_rcv_window(struct tcp_cb *cb, uint32_t limit, bool commit)
{
	uint32_t room = free_room(cb, limit), offered = cb->rcv_adv - cb->rcv_nxt, w;

	if (tcp_lt(cb->rcv_adv, cb->rcv_nxt))
		offered = 0;
	w = offer_all(cb, room, offered) ? room : offered;
	w = in_units(cb, w, limit);
	if (commit && tcp_gt(cb->rcv_nxt + w, cb->rcv_adv))
		cb->rcv_adv = cb->rcv_nxt + w;
	return w;
}

/* Is it worth a segment of its own that the edge may move by `gain`?  While the
 * peer still has most of the window, the next acknowledgement can tell it. */
bool tcp_window_worth(const struct tcp_cb *cb, uint32_t gain)
{
	uint32_t part = cb->tune->window_update, offered = cb->rcv_adv - cb->rcv_nxt;

	if (gain < min32(2u * cb->mss, cb->rcv_buf / 2))
		return false;
	return part == 0 || gain >= cb->rcv_buf / part || offered <= cb->rcv_buf / 8 || cb->rcv_buf <= 8u * cb->mss;
}
