/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_timer.c - what a session does when one of its deadlines has come.
 *
 * All deadlines stand behind one timer of the wheel (tcp_wheel.c); when it fires each that
 * has passed is acted on, what notices a loss early before what gives up waiting.
 * Invariant: after it has fired the wheel's timer is not later than any deadline.
 */
#include "protocols/tcp/sess/tcp_sess.h"
#include "runtime/upi/xk_inline.h"

#define PROGRESS_EVERY 5000u     /* ms */
#define DOUBT_FROM     2u        /* timeouts in a row */

/* ---- the ends of waiting --------------------------------------------------------------- */

#define ORPHAN_RETRIES 8u        /* nobody waits for it: R2 of RFC 1122 4.2.3.5, no more */

/* Has everything been tried often enough? */
static bool tried(const struct tcp_cb *cb)
{
	uint32_t most = cb->tune->retries;

	if ((cb->flags & TCP_F_ORPHAN) && most > ORPHAN_RETRIES)
		most = ORPHAN_RETRIES;
	return cb->retries >= most;
}

static void give_up(struct tcp_sess *ts, const struct tcp_env *e, bool reset)
{
	xk_count(e->count[TCP_COUNT_TIMED_OUT]);
	tcp_record(ts, TCP_EV_GIVE_UP);
	if (reset)
		tcp_send_rst(ts);
	tcp_finish(ts, XK_E_TIMEDOUT);
}

/* ---- REXMT ------------------------------------------------------------------------------- */

/* One timeout is a loss, several may be a neighbour that is not there: whoever resolves addresses
 * asks it before what he knows is old (RFC 1122 2.3.2.1 (4)). */
static void tell_doubt(struct tcp_sess *ts)
{
	if (tcp_cb(ts)->retries >= DOUBT_FROM)
		(void)xk_sess_control(ts->s.down, XK_CTL_DOUBT, NULL, 0);
}

static void syn_again(struct tcp_sess *ts, const struct tcp_env *e)
{
	struct tcp_cb *cb = tcp_cb(ts);
	uint8_t most = cb->state == TCP_S_SYN_SENT ? cb->tune->syn_retries : cb->tune->synack_retries;

	if (cb->retries >= most) {
		give_up(ts, e, false);
		return;
	}
	cb->retries++;
	tcp_record(ts, TCP_EV_TIMEOUT);
	tell_doubt(ts);
	/* RFC 5681 3.1: a SYN was lost, so begin with one segment. */
	cb->cwnd = cb->mss;
	xk_count(e->count[TCP_COUNT_REXMT]);
	xk_count(e->count[TCP_COUNT_RTO]);
	tcp_send_syn(ts);
}

static void rexmt(struct tcp_sess *ts, const struct tcp_env *e)
{
	struct tcp_cb *cb = tcp_cb(ts);

	if (cb->state == TCP_S_SYN_SENT || cb->state == TCP_S_SYN_RCVD) {
		syn_again(ts, e);
		return;
	}
	if (cb->snd_una == cb->snd_max)
		return;
	if (tried(cb)) {
		give_up(ts, e, false);
		return;
	}
	cb->retries++;
	tcp_record(ts, TCP_EV_TIMEOUT);
	tell_doubt(ts);
	tcp_rec_timeout(cb, e);
	tcp_output(ts);
}

/* ---- PERSIST (RFC 9293 3.8.6.1) -------------------------------------------------------------- */

/* A window that is open but too small gets what fits (RFC 1122 4.2.3.4, the override);
 * a closed one is asked by a segment below it, which the peer must answer.  It
 * may stay closed for as long as it does and somebody waits: what nobody owns gets no
 * more probes than a peer that is silent. */
static void persist(struct tcp_sess *ts, const struct tcp_env *e)
{
	struct tcp_cb *cb = tcp_cb(ts);
	uint64_t wait;

	if (cb->sq.unsent == NULL || cb->snd_una != cb->snd_max)
		return;
	if (cb->snd_wnd != 0) {
		cb->backoff = 0;
		tcp_output_forced(ts);
		return;
	}
	if (tried(cb)) {
		give_up(ts, e, true);    /* it may well be there */
		return;
	}
	cb->retries++;
	if (cb->backoff < 15)
		cb->backoff++;
	wait = (uint64_t)cb->rto << cb->backoff;
	if (wait < cb->tune->persist_min)
		wait = cb->tune->persist_min;
	tcp_timer_arm(cb, e, TCP_T_PERSIST, wait < cb->tune->persist_max ? (uint32_t)wait : cb->tune->persist_max);
	xk_count(e->count[TCP_COUNT_PERSIST]);
	tcp_record(ts, TCP_EV_PROBE);
	tcp_stalled_note(ts);
	tcp_send_probe(ts, cb->snd_una - 1);
}

/* ---- KEEP (RFC 1122 4.2.3.6) ----------------------------------------------------------------- */

static void keep(struct tcp_sess *ts, const struct tcp_env *e)
{
	struct tcp_cb *cb = tcp_cb(ts);
	uint32_t idle = e->now - cb->last_rcv;

	if (cb->state == TCP_S_SYN_SENT || cb->state == TCP_S_SYN_RCVD) {
		give_up(ts, e, false);
		return;
	}
	if (!(cb->flags & TCP_F_KEEPALIVE) || cb->state < TCP_S_ESTABLISHED || cb->state == TCP_S_TIME_WAIT)
		return;
	/* Data under way is watched by other timers. */
	if (idle < cb->keep_idle || cb->snd_una != cb->snd_max || cb->sq.unsent != NULL) {
		if (cb->snd_una == cb->snd_max && cb->sq.unsent == NULL)
			cb->retries = 0;
		tcp_timer_arm(cb, e, TCP_T_KEEP, idle < cb->keep_idle ? cb->keep_idle - idle : cb->keep_idle);
		return;
	}
	/* RFC 5482: the user's patience, when given, counts instead of the probes. */
	if (cb->user_timeout != 0 ? cb->retries != 0 && idle >= cb->user_timeout : cb->retries >= cb->keep_count) {
		give_up(ts, e, true);
		return;
	}
	cb->retries++;
	tcp_timer_arm(cb, e, TCP_T_KEEP, cb->keep_interval);
	xk_count(e->count[TCP_COUNT_KEEP]);
	tcp_send_probe(ts, cb->snd_una - 1);
}

/* ---- the others ---------------------------------------------------------------------------------- */

static void delack(struct tcp_sess *ts, const struct tcp_env *e)
{
	(void)e;
	if (tcp_cb(ts)->flags & (TCP_F_ACK_LATER | TCP_F_ACK_NOW))
		tcp_send_ack(ts);
}

static void two_msl(struct tcp_sess *ts, const struct tcp_env *e)
{
	(void)e;
	tcp_finish(ts, XK_OK);
}

static void reorder(struct tcp_sess *ts, const struct tcp_env *e)
{
	tcp_rec_reorder(tcp_cb(ts), e);
	tcp_output(ts);
}

/* The last segment again, or the FIN that stands alone behind it. */
static void probe_again(struct tcp_sess *ts, const struct tcp_env *e, struct xk_msg *last)
{
	struct tcp_cb *cb = tcp_cb(ts);

	cb->tlp_retrans = true;
	if ((cb->flags & TCP_F_FIN_SENT) && (cb->sq.first == NULL || (cb->flags & TCP_F_FIN_ALONE))) {
		cb->snd_nxt = cb->snd_end;
		tcp_output(ts);
	} else if (last == NULL || !tcp_resend(ts, e, last)) {
		cb->tlp_out = false;
	}
}

/* RFC 8985 7.3: something new when there is, else the last segment again. */
static void probe(struct tcp_sess *ts, const struct tcp_env *e)
{
	struct tcp_cb *cb = tcp_cb(ts);
	struct xk_msg *last = cb->sq.unsent_prev;
	uint32_t max = cb->snd_max;

	if (!tcp_tlp_begin(cb))
		return;
	if (tcp_tlp_new(cb))
		tcp_output_forced(ts);
	if (cb->state != TCP_S_CLOSED && cb->snd_max == max)
		probe_again(ts, e, last);
	if (cb->state != TCP_S_CLOSED)
		tcp_tlp_sent(cb, e);
}

static void user(struct tcp_sess *ts, const struct tcp_env *e)
{
	if (tcp_cb(ts)->snd_una != tcp_cb(ts)->snd_max || tcp_cb(ts)->sq.bytes != 0)
		give_up(ts, e, true);
}

static void (*const handler[TCP_T_COUNT])(struct tcp_sess *, const struct tcp_env *) = {
	[TCP_T_REXMT] = rexmt, [TCP_T_PERSIST] = persist, [TCP_T_DELACK] = delack, [TCP_T_KEEP] = keep,
	[TCP_T_2MSL] = two_msl, [TCP_T_REORDER] = reorder, [TCP_T_PROBE] = probe, [TCP_T_USER] = user,
};
/* What notices a loss early comes before what gives up waiting. */
static const uint8_t order[TCP_T_COUNT] = {
	TCP_T_USER, TCP_T_REORDER, TCP_T_PROBE, TCP_T_REXMT, TCP_T_PERSIST, TCP_T_DELACK, TCP_T_KEEP, TCP_T_2MSL,
};

/* Both only grow: another sum means that one of them has moved. */
static uint32_t moved_to(const struct tcp_cb *cb)
{
	return cb->snd_una + cb->rcv_nxt;
}

/*
 * New data was acknowledged, or came: what we send reaches the peer, our acknowledgements too, so the neighbour below
 * need not be asked whether it is there (RFC 4861 7.3.1, RFC 1122 2.3.2.1 (4)).  Looked at here, because a
 * connection that sends, or owes an acknowledgement, has this timer running and pays nothing for it elsewhere.
 */
static void tell_progress(struct tcp_sess *ts, uint32_t now)
{
	struct tcp_live *l = tcp_live(ts);

	if (moved_to(&l->cb) == l->told_sum || l->cb.state < TCP_S_ESTABLISHED || now - l->told_at < PROGRESS_EVERY)
		return;
	l->told_sum = moved_to(&l->cb);
	l->told_at = now;
	(void)xk_sess_control(ts->s.down, XK_CTL_REACHED, NULL, 0);
}

/* A deadline has 32 bits and is compared by difference; the wheel's has 64, and tells when the clock
 * has jumped further than that can say.  Then all that was waited for has come. */
static void fire(struct xk_timer *t)
{
	struct tcp_sess *ts = xk_container_of(t, struct tcp_live, timer)->ts;
	struct tcp_env e = tcp_env(ts->s.rep);
	struct tcp_cb *cb = tcp_cb(ts);
	bool jumped = e.now_ns - t->deadline > INT32_MAX * XK_MS;

	tcp_live(ts)->wheel_at = 0;
	tcp_memory_look(ts->s.rep);
	tell_progress(ts, e.now);
	xk_dup(&ts->s);
	ts->own.pops++;
	for (unsigned i = 0; i < TCP_T_COUNT && cb->state != TCP_S_CLOSED; i++) {
		uint32_t at = cb->at[order[i]];

		if (at == 0 || (!jumped && (int32_t)(e.now - at) < 0))
			continue;
		tcp_timer_off(cb, order[i]);
		handler[order[i]](ts, &e);
	}
	if (cb->state != TCP_S_CLOSED)
		tcp_timer_sync_all(ts);
	ts->own.pops--;
	if (tcp_live(ts)->wheel_at == 0 && ts->s.rcnt > 1)
		tcp_idle_look(ts);
	xk_close(&ts->s);
}

void tcp_timer_init(struct tcp_sess *ts)
{
	memset(tcp_cb(ts)->at, 0, sizeof tcp_cb(ts)->at);
	tcp_live(ts)->wheel_at = 0;
	tcp_live(ts)->told_sum = moved_to(tcp_cb(ts));
	tcp_live(ts)->told_at = tcp_ms(xk_vp_time(ts->s.rep->vp)) - PROGRESS_EVERY;
	tcp_live(ts)->ts = ts;
	xk_timer_init(&tcp_live(ts)->timer, fire);
}
