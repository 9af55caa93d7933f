/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_output.c - what may be sent now: the sender's rules of RFC 9293 3.8 and
 * RFC 1122 4.2.3.4.
 *
 * Order: what is lost, then new data, then a FIN, then an acknowledgement that
 * nothing has carried.  All state is up to date before a segment leaves,
 * because what is below may answer inside our push; a tcp_output from in there
 * returns at once and leaves the rest to the one under way.
 * Invariant: when data waits and nothing is in flight, PERSIST or REXMT runs.
 */
#include "protocols/tcp/sess/tcp_sess.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_input.h"

/* States in which we may send data or repeat it. */
static bool sends(unsigned state)
{
	return state >= TCP_S_ESTABLISHED && state <= TCP_S_LAST_ACK;
}

/* ---- again -------------------------------------------------------------------------- */

static bool ends_stream(const struct tcp_cb *cb, uint32_t end)
{
	return (cb->flags & TCP_F_FIN_SENT) && end == cb->snd_end;
}

/* What of a segment at seq may go again: the path may take less than when it was cut, and the
 * peer may have drawn its window back.  Then the first segment goes whole, as a probe, and
 * what is behind it waits.  0: not now. */
static uint32_t resend_length(const struct tcp_cb *cb, uint32_t seq)
{
	uint32_t edge = tcp_snd_edge(cb);

	if (tcp_gt(edge, seq))
		return min32(cb->mss, edge - seq);
	return seq == cb->snd_una ? cb->mss : 0;
}

bool tcp_resend(struct tcp_sess *ts, const struct tcp_env *e, struct xk_msg *m)
{
	struct tcp_cb *cb = tcp_cb(ts);
	uint32_t seq = m->kept.seq, most = resend_length(cb, seq);
	uint16_t flags = TCP_ACK;

	if (XK_UNLIKELY(most == 0))
		return false;
	if (XK_UNLIKELY(m->tot > most))
		tcp_sendq_recut(cb, m, most);
	flags |= tcp_sq_psh(m);
	if (ends_stream(cb, seq + m->tot)) {
		flags |= TCP_FIN;
		cb->snd_nxt = cb->snd_max;
	}
	tcp_rec_sent(cb, e, m, true);
	return tcp_emit(ts, seq, m, flags);
}

/* False: nothing more to repeat now. */
static bool send_lost(struct tcp_sess *ts, const struct tcp_env *e)
{
	struct xk_msg *m = tcp_rec_next(tcp_cb(ts), e);

	return m != NULL && tcp_resend(ts, e, m);
}

/* ---- new data -------------------------------------------------------------------------- */

/* Does our FIN stand right behind what is sent? */
static bool fin_next(const struct tcp_cb *cb)
{
	return (cb->flags & TCP_F_FIN_QUEUED) && cb->snd_nxt == cb->snd_end;
}

/* May a segment that is not full go: RFC 1122 4.2.3.4 with Minshall's form of
 * Nagle's algorithm. */
static bool small_may_go(const struct tcp_cb *cb, uint32_t len)
{
	bool all = len == cb->sq.unsent_bytes, idle = cb->snd_una == cb->snd_max;

	if (!all)                        /* the window cuts it: only when it never gets much better */
		return len >= cb->max_wnd / 2 && len != 0;
	if (cb->flags & TCP_F_FIN_QUEUED)
		return true;
	if (cb->flags & (TCP_F_CORK | TCP_F_MORE))
		return false;
	return (cb->flags & TCP_F_NODELAY) || idle || !(cb->flags & TCP_F_SMALL);
}

/* Bytes of the next new segment; 0: nothing may go. */
static uint32_t next_length(const struct tcp_cb *cb, uint32_t full, bool forced)
{
	uint32_t allow = tcp_rec_allow(cb), len = min32(min32(cb->sq.unsent_bytes, full), allow);

	if (XK_LIKELY(len == full))
		return len;
	if (forced) {                    /* past cwnd, never past the window offered */
		uint32_t edge = tcp_snd_edge(cb);

		return tcp_gt(edge, cb->snd_max) ? min32(min32(cb->sq.unsent_bytes, full), edge - cb->snd_max) : 0;
	}
	/* cwnd cuts it: wait for an ACK, when one will come. */
	if (len != 0 && len < min32(cb->sq.unsent_bytes, full) &&
	    tcp_geq(tcp_snd_edge(cb), cb->snd_max + min32(cb->sq.unsent_bytes, full)))
		return cb->snd_una == cb->snd_max ? len : 0;
	return len != 0 && small_may_go(cb, len) ? len : 0;
}

static uint16_t new_flags(struct tcp_cb *cb, struct xk_msg *m)
{
	uint16_t flags = TCP_ACK;

	flags |= tcp_sq_psh(m);
	if (XK_UNLIKELY(cb->flags & TCP_F_CWR)) {
		flags |= TCP_CWR;
		cb->flags &= ~TCP_F_CWR;
	}
	return flags;
}

/* The FIN takes a number of its own, behind all data. */
static void take_fin(struct tcp_cb *cb)
{
	cb->flags |= TCP_F_FIN_SENT;
	cb->snd_nxt = cb->snd_max = cb->snd_end + 1;
}

/* RFC 5681 4.1: after a pause of a timeout nobody knows what the path takes. */
static XK_NOINLINE void restart_idle(struct tcp_cb *cb)
{
	cb->cwnd = min32(cb->cwnd, tcp_cc_initial(cb));
}

/* ---- several at once -------------------------------------------------------------------- */

/*
 * How many full segments may go as one super-segment: as many as would go one by one.  None
 * while something is to be repeated or captured, or where a segment must carry blocks or urgent data
 * of its own.
 */
static unsigned train_length(struct tcp_sess *ts, uint32_t full)
{
	struct tcp_cb *cb = tcp_cb(ts);
	uint32_t bytes = min32(tcp_rec_allow(cb), cb->sq.unsent_bytes);

	if (bytes < 2 * full || full != cb->mss || cb->lost_out != 0 || cb->ca_state > TCP_CA_CWR ||
	    (cb->flags & TCP_F_URG_OUT))
		return 1;
	if (cb->train == 0)
		cb->train = (uint8_t)tcp_emit_train_most(ts);
	return xk_captured(ts->s.rep->node) ? 1 : min32(bytes / full, cb->train);
}

/* The next full segment as sent; NULL: memory refused. */
static struct xk_msg *take_full(struct tcp_cb *cb, const struct tcp_env *e)
{
	struct xk_msg *m = tcp_sendq_cut(cb, cb->mss);

	if (XK_UNLIKELY(m == NULL || m->tot != cb->mss))
		return NULL;
	tcp_sendq_sent(cb, m, cb->snd_max, tcp_stamp(cb, e));
	cb->snd_nxt = cb->snd_max += m->tot;
	return m;
}

/*
 * n full segments in one push: each is kept and counted as if it had gone alone.  PSH is the last
 * one's, since one is enough for all that lies before it (RFC 9293 3.9.1.2); so is a FIN.
 */
static bool send_train(struct tcp_sess *ts, const struct tcp_env *e, unsigned n)
{
	struct tcp_cb *cb = tcp_cb(ts);
	struct xk_msg *first = NULL, *last = NULL, *m;
	uint16_t flags;
	unsigned k;

	for (k = 0; k < n && (m = take_full(cb, e)) != NULL; k++) {
		first = first != NULL ? first : m;
		last = m;
		tcp_rec_sent(cb, e, m, false);
	}
	if (XK_UNLIKELY(k == 0))
		return false;
	flags = new_flags(cb, last);
	if (fin_next(cb)) {
		take_fin(cb);
		flags |= TCP_FIN;
	}
	return k > 1 ? tcp_emit_train(ts, first, k, flags) : tcp_emit(ts, first->kept.seq, first, flags);
}

/* ---- one by one -------------------------------------------------------------------------- */

/* False: nothing more may go, or memory refused. */
static bool send_new(struct tcp_sess *ts, const struct tcp_env *e, bool forced)
{
	struct tcp_cb *cb = tcp_cb(ts);
	uint32_t full, len, seq;
	struct xk_msg *m;
	uint16_t flags;
	unsigned n;

	if (cb->sq.unsent == NULL)
		return false;
	full = cb->mss;
	if (XK_UNLIKELY(cb->reass != NULL || (cb->flags & TCP_F_DSACK)))
		full -= min32(tcp_emit_sack_room(cb), full / 2);
	if (XK_UNLIKELY(cb->snd_una == cb->snd_max && cb->tune->idle_restart &&
			e->now - cb->idle_since > tcp_rto_now(cb)))
		restart_idle(cb);
	n = cb->train == 1 || cb->sq.unsent_bytes < 2 * full || forced ? 1 : train_length(ts, full);
	if (n > 1)
		return send_train(ts, e, n);
	len = next_length(cb, full, forced);
	if (len == 0 || (m = tcp_sendq_cut(cb, len)) == NULL)
		return false;
	seq = cb->snd_max;
	len = m->tot;
	tcp_sendq_sent(cb, m, seq, tcp_stamp(cb, e));
	cb->snd_nxt = cb->snd_max = seq + len;
	if (len < full) {
		cb->flags |= TCP_F_SMALL;
		cb->snd_sml = cb->snd_max;
	}
	flags = new_flags(cb, m);
	if (fin_next(cb)) {
		take_fin(cb);
		flags |= TCP_FIN;
	}
	tcp_rec_sent(cb, e, m, false);
	return tcp_emit(ts, seq, m, flags);
}

/* A FIN without data: for the first time, or again after a timeout. */
static void send_fin(struct tcp_sess *ts, const struct tcp_env *e)
{
	struct tcp_cb *cb = tcp_cb(ts);
	bool again = (cb->flags & TCP_F_FIN_SENT) != 0;

	if (!fin_next(cb) || cb->sq.unsent != NULL || (again && cb->lost_out > cb->retrans_out))
		return;
	if (again) {
		cb->snd_nxt = cb->snd_max;
		cb->retransmits++;
		xk_count(e->count[TCP_COUNT_REXMT]);
	} else {
		take_fin(cb);
		cb->flags |= TCP_F_FIN_ALONE;
	}
	tcp_rec_sent(cb, e, NULL, false);
	tcp_emit(ts, cb->snd_end, NULL, TCP_FIN | TCP_ACK);
}

/* ---- what follows ------------------------------------------------------------------------ */

/* Data waits, nothing is in flight that an ACK could come for: the window is
 * closed, or too small to be worth a segment. */
static void persist(struct tcp_cb *cb, const struct tcp_env *e)
{
	uint32_t first;

	if (cb->snd_una != cb->snd_max || cb->sq.unsent == NULL || (cb->flags & (TCP_F_CORK | TCP_F_MORE))) {
		if (cb->at[TCP_T_PERSIST] != 0) {
			tcp_timer_off(cb, TCP_T_PERSIST);
			cb->backoff = 0;
		}
		return;
	}
	if (cb->at[TCP_T_PERSIST] != 0)
		return;
	first = tcp_rto_now(cb);
	if (first < cb->tune->persist_min)
		first = cb->tune->persist_min;
	tcp_timer_arm(cb, e, TCP_T_PERSIST, min32(first, cb->tune->persist_max));
	if (cb->user_timeout != 0 && cb->at[TCP_T_USER] == 0)
		tcp_timer_arm(cb, e, TCP_T_USER, cb->user_timeout);
}

void tcp_window_opened(struct tcp_sess *ts)
{
	struct tcp_cb *cb = tcp_cb(ts);
	uint32_t edge;

	if (cb->state < TCP_S_ESTABLISHED || cb->state == TCP_S_TIME_WAIT || (cb->flags & TCP_F_FIN_RCVD))
		return;
	edge = cb->rcv_nxt + tcp_rcv_window(cb, tcp_rcv_limit(ts), false);
	if (tcp_gt(edge, cb->rcv_adv) && tcp_window_worth(cb, edge - cb->rcv_adv))
		tcp_send_ack(ts);
}

static void output(struct tcp_sess *ts, bool forced)
{
	struct tcp_cb *cb = tcp_cb(ts);
	struct tcp_env e = tcp_env(ts->s.rep);
	uint32_t max = cb->snd_max, was = cb->idle_since;
	uint64_t segs = cb->segs_out;
	bool armed = cb->at[TCP_T_REXMT] != 0;

	cb->flags |= TCP_F_OUTPUT;
	if (XK_LIKELY(sends(cb->state))) {
		if (XK_UNLIKELY(cb->lost_out != 0))
			while (sends(cb->state) && send_lost(ts, &e))
				;
		while (sends(cb->state) && send_new(ts, &e, forced))
			forced = false;
		if (sends(cb->state))
			send_fin(ts, &e);
	}
	cb->flags &= ~TCP_F_OUTPUT;
	if (cb->state == TCP_S_CLOSED)
		return;
	if (XK_UNLIKELY(cb->flags & TCP_F_ACK_NOW) && cb->state > TCP_S_SYN_SENT)
		tcp_send_ack(ts);
	if (cb->state == TCP_S_CLOSED)
		return;
	/* The same deadline would come out again within a millisecond, or of the one segment that has just armed it. */
	if (cb->snd_max != max && !cb->tlp_out && (armed || cb->segs_out - segs != 1) &&
	    (cb->at[TCP_T_PROBE] == 0 || was != e.now || max - cb->snd_una <= cb->mss))
		tcp_rec_arm_probe(cb, &e);
	if (sends(cb->state))
		persist(cb, &e);
	tcp_timer_sync(ts);
	if (XK_UNLIKELY(cb->flags & TCP_F_WANT_ROOM))
		tcp_notify_room(ts);
}

void tcp_output(struct tcp_sess *ts)
{
	if (!(tcp_cb(ts)->flags & TCP_F_OUTPUT))
		output(ts, false);
}

void tcp_output_forced(struct tcp_sess *ts)
{
	if (!(tcp_cb(ts)->flags & TCP_F_OUTPUT))
		output(ts, true);
}
