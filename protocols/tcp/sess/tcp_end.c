/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_end.c - the end of a connection: shutdown, close, abort, and what is left to do.
 *
 * Every way out leads through tcp_finish and tcp_sess_free.
 * Invariant: who is told that a connection has ended finds its session unbound.
 */
#include "protocols/tcp/sess/tcp_sess.h"
#include "protocols/inet/inet_sess.h"
#include "runtime/upi/xk_inline.h"

void tcp_sess_free(struct tcp_sess *ts)
{
	tcp_timer_stop(ts);
	tcp_unlist(ts);
	tcp_sendq_free(tcp_cb(ts));
	tcp_reass_free(ts);
	tcp_withdraw(ts);
	if (tcp_live(ts) != tcp_rep(ts->s.rep)->dead)
		xk_slab_put(&tcp_rep(ts->s.rep)->live_slab, tcp_live(ts));
	ts->s.hot = TCP_HOT_COMPRESSED;  /* and nobody's */
	inet_sess_free(&ts->s);
}

/* Something may end while we are in the middle of it: a reference that is not a
 * holder's. */
static void guard(struct tcp_sess *ts)
{
	ts->s.rcnt++;
	ts->own.pops++;
}

static void unguard(struct tcp_sess *ts)
{
	ts->own.pops--;
	if (--ts->s.rcnt == 0 && tcp_cb(ts)->state == TCP_S_CLOSED)
		tcp_sess_free(ts);
}

/* ---- from inside -------------------------------------------------------------------- */

/* What ICMP said on the way says more than that nobody answered. */
static int reason(const struct tcp_cb *cb, int err)
{
	return err == XK_E_TIMEDOUT && cb->err != XK_OK ? cb->err : err;
}

void tcp_finish(struct tcp_sess *ts, int err)
{
	struct tcp_cb *cb = tcp_cb(ts);
	bool held = tcp_held(ts) && !(cb->flags & TCP_F_ORPHAN);
	unsigned was = cb->state;

	if (was == TCP_S_CLOSED)
		return;
	cb->state = TCP_S_CLOSED;
	tcp_record_state(ts, was);
	if (err != XK_OK)
		cb->err = err = reason(cb, err);
	xk_count(ts->s.rep->count[TCP_COUNT_CLOSED]);
	tcp_timer_stop(ts);
	tcp_unlist(ts);
	tcp_sendq_free(cb);
	tcp_reass_free(ts);
	tcp_withdraw(ts);
	guard(ts);
	if (err != XK_OK && held)
		tcp_notify(ts, XK_STREAM_FAILED, err);
	unguard(ts);
}

/* ---- from above --------------------------------------------------------------------- */

/* FIN behind what is queued.  Before the handshake has ended the state waits
 * with it: tcp_input enters FIN-WAIT-1 then. */
void tcp_shutdown(struct tcp_sess *ts)
{
	struct tcp_cb *cb = tcp_cb(ts);
	unsigned was = cb->state;

	if ((cb->flags & TCP_F_FIN_QUEUED) || was == TCP_S_CLOSED)
		return;
	cb->flags |= TCP_F_FIN_QUEUED | TCP_F_DRAINING;
	if (was == TCP_S_SYN_SENT || was == TCP_S_SYN_RCVD)
		return;
	cb->state = tcp_next[was][TCP_E_CLOSE];
	tcp_record_state(ts, was);
	guard(ts);
	tcp_output(ts);
	unguard(ts);
}

static bool resettable(unsigned state)
{
	/* RFC 9293 3.10.5. */
	return state == TCP_S_SYN_RCVD || state == TCP_S_ESTABLISHED || state == TCP_S_FIN_WAIT_1 ||
	       state == TCP_S_FIN_WAIT_2 || state == TCP_S_CLOSE_WAIT;
}

void tcp_abort(struct tcp_sess *ts)
{
	if (tcp_cb(ts)->state == TCP_S_CLOSED)
		return;
	if (resettable(tcp_cb(ts)->state))
		tcp_send_rst(ts);
	tcp_cb(ts)->err = XK_E_CONNABORTED;
	tcp_finish(ts, XK_OK);
}

/* The peer may keep its side open for ever: not with nobody here. */
static void orphan_waits(struct tcp_sess *ts)
{
	struct tcp_env e = tcp_env(ts->s.rep);

	tcp_timer_arm(tcp_cb(ts), &e, TCP_T_2MSL, tcp_cb(ts)->fin_wait2);
	tcp_timer_sync(ts);
}

/* Bytes that nobody will read any more are lost: RFC 1122 4.2.2.13 resets. */
static bool loses_data(const struct tcp_cb *cb)
{
	return (cb->flags & TCP_F_MANUAL) && cb->rcv_held != 0;
}

static void orphan(struct tcp_sess *ts)
{
	struct tcp_cb *cb = tcp_cb(ts);

	cb->flags |= TCP_F_ORPHAN;
	ts->s.up = &ts->s.rep->up;
	if ((cb->flags & TCP_F_RST_CLOSE) || loses_data(cb) ||
	    (cb->state == TCP_S_SYN_SENT && cb->sq.bytes == 0))
		tcp_abort(ts);
	else if (cb->state == TCP_S_FIN_WAIT_2)
		orphan_waits(ts);
	else
		tcp_shutdown(ts);
}

void tcp_left(struct tcp_sess *ts)
{
	if (tcp_cb(ts)->state != TCP_S_CLOSED && !(tcp_cb(ts)->flags & TCP_F_ORPHAN))
		orphan(ts);
}

/* The operation: rcnt is 0.  Runs again after every pop of an orphan. */
void tcp_close(struct xk_sess *s)
{
	struct tcp_sess *ts = tcp_sess(s);

	if (tcp_is_rest(ts))
		return;                  /* its pop is over */
	if (tcp_is_compressed(ts) && !tcp_wake_or_end(ts))
		return;                  /* and nobody held it */
	if (tcp_cb(ts)->state == TCP_S_CLOSED)
		tcp_sess_free(ts);
	else
		tcp_left(ts);
}
