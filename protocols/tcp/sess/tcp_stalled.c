/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_stalled.c - connections whose peer keeps its window closed, given up when room for
 * new ones is wanted (RFC 6429, CVE-2008-4609).
 *
 * A peer may keep its window closed for as long as it answers probes (RFC 9293 3.8.6.1),
 * and one that means ill keeps thousands so.  Each costs a session and what waits to be
 * sent, so at the cap of sessions the one that has stood still for the longest goes.  A
 * replica remembers a few, in the order in which they were found still standing at their
 * fourth probe; a session says so at every later probe as long as there is room.
 * Nothing is undone when a window opens: who is remembered is looked at again before it
 * goes.  Sessions are type-stable memory, so a stale pointer is answered by a look, too.
 * Invariant: stalled[] holds stalled_n pointers to sessions, live or not, from stalled_at on.
 */
#include "protocols/tcp/sess/tcp_sess.h"
#include "runtime/upi/xk_inline.h"

#define PROBES 4u

static bool stands_still(const struct xk_rep *r, const struct tcp_sess *ts)
{
	const struct tcp_cb *cb;

	if (ts->s.rep != r || tcp_is_compressed(ts))
		return false;
	cb = tcp_cb(ts);
	return cb->state != TCP_S_CLOSED && cb->at[TCP_T_PERSIST] != 0 && cb->snd_wnd == 0 &&
	       cb->backoff >= PROBES;
}

static bool is_noted(const struct tcp_rep *tr, const struct tcp_sess *ts)
{
	for (uint32_t i = 0; i < tr->stalled_n; i++)
		if (tr->stalled[(tr->stalled_at + i) % TCP_STALLED] == ts)
			return true;
	return false;
}

void tcp_stalled_note(struct tcp_sess *ts)
{
	struct tcp_rep *tr = tcp_rep(ts->s.rep);

	if (tcp_cb(ts)->backoff < PROBES || tr->stalled_n == TCP_STALLED || is_noted(tr, ts))
		return;
	tr->stalled[(tr->stalled_at + tr->stalled_n++) % TCP_STALLED] = ts;
}

struct tcp_sess *tcp_stalled_find(struct xk_rep *r)
{
	struct tcp_rep *tr = tcp_rep(r);

	while (tr->stalled_n != 0) {
		struct tcp_sess *ts = tr->stalled[tr->stalled_at];

		tr->stalled_at = (tr->stalled_at + 1) % TCP_STALLED;
		tr->stalled_n--;
		if (stands_still(r, ts))
			return ts;
	}
	return NULL;
}
