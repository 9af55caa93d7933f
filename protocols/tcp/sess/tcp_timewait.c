/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_timewait.c - connections in TIME-WAIT: in order of age, never more than the
 * cap of a VP.
 *
 * A connection in TIME-WAIT is a session like another, with its timer off but for
 * one; the list is only for reclaiming.  What is reclaimed early loses the protection
 * against old duplicates, which timestamps and keyed sequence numbers give again;
 * refusing new connections instead would let anybody stop us.
 * Invariant: the list of a VP has tw_n sessions, the oldest first.
 */
#include "protocols/tcp/sess/tcp_sess.h"
#include "runtime/base/xk_list.h"
#include "runtime/upi/xk_inline.h"

void tcp_unlist(struct tcp_sess *ts)
{
	struct tcp_rep *tr = tcp_rep(ts->s.rep);
	struct tcp_live *l = tcp_live(ts);

	if (!xk_is_listed(&l->listed))
		return;
	xk_list_take(&l->listed);
	if (l->fresh)
		tr->fresh_n--;
	else
		tr->tw_n--;
	l->fresh = false;
}

struct tcp_sess *tcp_timewait_oldest(const struct xk_rep *r)
{
	struct xk_listed *i = xk_list_first(&tcp_rep(r)->time_wait);

	return i != NULL ? xk_container_of(i, struct tcp_live, listed)->ts : NULL;
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
	const struct xk_rep *r = ts->s.rep;

	return tcp_rep(r)->tw_n > tcp_cb(ts)->tune->time_wait ? tcp_timewait_oldest(r) : NULL;
}

void tcp_timewait_enter(struct tcp_sess *ts)
{
	struct tcp_rep *tr = tcp_rep(ts->s.rep);

	tcp_unlist(ts);
	xk_list_put(&tr->time_wait, &tcp_live(ts)->listed);
	tr->tw_n++;
	restart_timers(ts);
}
