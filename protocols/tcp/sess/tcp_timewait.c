/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_timewait.c - connections in TIME-WAIT: in order of age, never more than the
 * cap of a VP.
 *
 * A connection in TIME-WAIT is a session like another, with its timer off but for
 * one; the list is only for reclaiming.  What is reclaimed early loses the protection
 * against old duplicates, which timestamps and keyed sequence numbers give again;
 * refusing new connections instead would let anybody stop us.
 * Invariant: tw_n sessions are linked from tw_first to tw_last, the oldest first.
 */
#include "protocols/tcp/sess/tcp_sess.h"
#include "runtime/upi/xk_inline.h"

static bool is_in(const struct tcp_rep *tr, const struct tcp_sess *ts)
{
	return tcp_live(ts)->tw_next != NULL || tcp_live(ts)->tw_prev != NULL || tr->tw_first == ts;
}

void tcp_timewait_leave(struct tcp_sess *ts)
{
	struct tcp_rep *tr = tcp_rep(ts->s.rep);

	if (!is_in(tr, ts))
		return;
	if (tcp_live(ts)->tw_prev != NULL)
		tcp_live(tcp_live(ts)->tw_prev)->tw_next = tcp_live(ts)->tw_next;
	else
		tr->tw_first = tcp_live(ts)->tw_next;
	if (tcp_live(ts)->tw_next != NULL)
		tcp_live(tcp_live(ts)->tw_next)->tw_prev = tcp_live(ts)->tw_prev;
	else
		tr->tw_last = tcp_live(ts)->tw_prev;
	tcp_live(ts)->tw_next = tcp_live(ts)->tw_prev = NULL;
	tr->tw_n--;
}

static void append(struct tcp_rep *tr, struct tcp_sess *ts)
{
	tcp_live(ts)->tw_prev = tr->tw_last;
	if (tr->tw_last != NULL)
		tcp_live(tr->tw_last)->tw_next = ts;
	else
		tr->tw_first = ts;
	tr->tw_last = ts;
	tr->tw_n++;
}

/* Only the last timer runs in this state. */
static void restart_timers(struct tcp_sess *ts)
{
	struct tcp_cb *cb = tcp_cb(ts);
	struct tcp_env e = tcp_env(ts->s.rep);

	for (unsigned t = 0; t < TCP_T_COUNT; t++)
		tcp_timer_off(cb, (enum tcp_timer_no)t);
	tcp_timer_arm(cb, &e, TCP_T_2MSL, 2 * cb->tune->msl);
	tcp_timer_sync(ts);
}

struct tcp_sess *tcp_timewait_excess(const struct tcp_sess *ts)
{
	const struct tcp_rep *tr = tcp_rep(ts->s.rep);

	return tr->tw_n > tcp_cb(ts)->tune->time_wait ? tr->tw_first : NULL;
}

void tcp_timewait_enter(struct tcp_sess *ts)
{
	struct tcp_rep *tr = tcp_rep(ts->s.rep);

	tcp_timewait_leave(ts);
	append(tr, ts);
	restart_timers(ts);
}
