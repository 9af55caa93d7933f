/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_timewait.c - connections in TIME-WAIT: in order of age, never more than the
 * cap of a VP.
 *
 * Most are nobody's any more and only there to answer: see tcp_rest.c.  What is reclaimed early
 * loses the protection against old duplicates, which timestamps and keyed sequence numbers
 * give again; refusing new connections instead would let anybody stop us.
 * Invariant: both lists of a VP together have tw_n sessions, each the oldest first.
 */
#include "protocols/tcp/sess/tcp_sess.h"
#include "runtime/base/xk_list.h"

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

void tcp_timewait_enter(struct tcp_sess *ts)
{
	struct tcp_rep *tr = tcp_rep(ts->s.rep);

	tcp_unlist(ts);
	xk_list_put(&tr->time_wait, &tcp_live(ts)->listed);
	tr->tw_n++;
	restart_timers(ts);
}

bool tcp_timewait_reclaim(struct xk_rep *r, const struct tcp_sess *ts, bool held)
{
	struct xk_listed *i = xk_list_first(&tcp_rep(r)->time_wait);
	struct tcp_sess *old;

	if (tcp_rest_reclaim(r, ts))
		return true;
	old = i != NULL ? xk_container_of(i, struct tcp_live, listed)->ts : NULL;
	if (old == NULL || old == ts || (!held && old->s.rcnt != 0))
		return false;
	tcp_finish(old, XK_OK);
	return true;
}
