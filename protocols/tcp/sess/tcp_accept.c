/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_accept.c - the last step of a handshake makes a session, or is refused.
 *
 * Invariant: a session that its holder does not want leaves no trace.
 */
#include "protocols/tcp/sess/tcp_listen.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"

void tcp_refuse(const struct tcp_arrival *a, unsigned why)
{
	struct tcp_acts acts = { 0 };

	tcp_input_closed(a->g, &acts);
	if (acts.acts & TCP_A_RESET) {
		xk_count(a->r->count[TCP_COUNT_RST_OUT]);
		tcp_answer(a->r, a->lls, a->m, acts.rst_seq, acts.rst_ack, acts.rst_flags, 0, NULL, 0);
	}
	xk_drop(a->r, why, a->m);
}

/* The session below for a segment that came by way of another VP. */
static struct xk_sess *open_below(const struct tcp_arrival *a)
{
	uint32_t remote, local;
	struct xk_parts ps;

	remote = be64toh(a->k->w[0]) >> 32;
	local = be64toh(a->k->w[0]) & 0xffffffff;
	xk_parts_init(&ps, 2);
	xk_part_push_host(&ps.p[XK_REMOTE], remote);
	xk_part_push_host(&ps.p[XK_LOCAL], local);
	return xk_open(a->r, a->r->node, a->r->down[0], &ps, NULL);
}

/* The connection that has stood still for the longest makes room. */
static void reclaim(struct xk_rep *r)
{
	struct tcp_sess *ts = tcp_stalled_find(r);

	if (ts == NULL)
		return;
	xk_count(r->count[TCP_COUNT_TIMED_OUT]);
	tcp_send_rst(ts);
	tcp_finish(ts, XK_E_TIMEDOUT);
}

static struct tcp_sess *sess_over(const struct tcp_arrival *a, const struct xk_enable *e, int *err)
{
	struct xk_sess *lls = a->lls != NULL ? xk_dup(a->lls) : open_below(a);
	struct tcp_sess *ts;

	*err = XK_E_NOMEM;
	if (lls == NULL)
		return NULL;
	if (xk_rep_sessions(a->r) >= tcp_tune(a->r)->sessions && tcp_rep(a->r)->tw_n == 0)
		reclaim(a->r);
	ts = tcp_sess_new(a->r, &xk_rep_here(xk_enable_rcv(e), a->r)->up, xk_enable_type(e), lls, err);
	if (ts == NULL)
		return NULL;
	*err = tcp_sess_bind(ts, a->k);
	if (*err == XK_OK)
		return ts;
	tcp_sess_free(ts);
	return NULL;
}

/* As if our SYN-ACK had been sent and acknowledged from SYN-RCVD on. */
static void cb_establish(struct tcp_sess *ts, const struct tcp_arrival *a, const struct tcp_half *h)
{
	struct tcp_env e = tcp_env(a->r);
	struct tcp_cb *cb = tcp_cb(ts);
	struct tcp_seg syn = { .seq = h->irs, .wnd = a->g->wnd, .flags = TCP_SYN, .o = h->peer, .hlen = TCP_HDR_LEN };

	if (h->ecn)
		syn.flags |= TCP_ECE | TCP_CWR;
	cb->flags |= TCP_F_PASSIVE | TCP_F_TOLD_OPEN;
	cb->rcv_buf = tcp_listen_rcvbuf(a);
	cb->iss = h->iss;
	cb->ts_off = h->ts_off;
	cb->irs = h->irs;
	cb->rcv_nxt = cb->rcv_acked = cb->rcv_up = h->irs + 1;
	cb->rcv_adv = cb->rcv_nxt + h->window;
	cb->snd_una = cb->snd_nxt = cb->snd_max = cb->snd_end = cb->snd_up = h->iss + 1;
	cb->recover = h->iss;
	tcp_negotiate(cb, &e, &syn);
	cb->state = TCP_S_ESTABLISHED;
	tcp_record_state(ts, TCP_S_SYN_RCVD);
	tcp_rec_init(cb);
	if (!h->sent_again && h->sent_us != 0)
		tcp_rtt_sample(cb, e.now_us - h->sent_us);
	tcp_rec_open(cb, h->sent_again);
	cb->snd_wnd = (uint32_t)a->g->wnd << cb->snd_wscale;
	cb->max_wnd = cb->snd_wnd;
	cb->snd_wl1 = a->g->seq;
	cb->snd_wl2 = a->g->ack;
	cb->last_rcv = cb->idle_since = e.now;
	if (a->g->o.have & TCP_O_TS)
		cb->ts_recent = a->g->o.tsval;
	cb->ts_recent_at = e.now;
	if (cb->flags & TCP_F_KEEPALIVE) {
		tcp_timer_arm(cb, &e, TCP_T_KEEP, cb->keep_idle);
		tcp_timer_sync(ts);
	}
}

static unsigned drop_of(int err)
{
	return err == XK_E_NOSPC ? TCP_DROP_SESSIONS :
	       err == XK_E_EXIST ? TCP_DROP_ELSEWHERE : XK_DROP_NOMEM;
}

/* The holder that would take it is asked; a session it does not want leaves no trace. */
static int offer(struct tcp_sess *ts, const struct xk_enable *e)
{
	int err;

	xk_dup(&ts->s);
	err = xk_open_done(xk_enable_rcv(e), &ts->s, xk_enable_type(e));
	if (err >= 0)
		return XK_OK;
	tcp_cb(ts)->state = TCP_S_CLOSED;
	tcp_record_state(ts, TCP_S_ESTABLISHED);
	xk_close(&ts->s);
	return err;
}

/* What else the segment says.  Our reference is no holder's, where there is one. */
static void go_on(struct tcp_sess *ts, const struct tcp_arrival *a)
{
	bool held = ts->s.rcnt > 1;

	ts->own.pops = (int16_t)(ts->own.pops + held);
	if (tcp_says_more(a->g))
		(void)tcp_act(ts, a->g, a->m);   /* not in TIME-WAIT */
	else
		xk_msg_free(a->m);
	if (ts->s.rcnt > 1)
		tcp_idle_soon(ts);
	ts->own.pops = (int16_t)(ts->own.pops - held);
	xk_close(&ts->s);
}

int tcp_accept(const struct tcp_arrival *a, const struct xk_enable *e, const struct tcp_half *h)
{
	struct tcp_sess *ts;
	int err;

	ts = sess_over(a, e, &err);
	if (ts == NULL) {
		xk_drop(a->r, drop_of(err), a->m);
		return XK_E_AGAIN;
	}
	cb_establish(ts, a, h);
	err = offer(ts, e);
	if (err == XK_E_AGAIN)
		xk_drop(a->r, TCP_DROP_REFUSED, a->m);
	else if (err != XK_OK)
		tcp_refuse(a, TCP_DROP_REFUSED);
	if (err != XK_OK)
		return err;
	xk_count(a->r->count[TCP_COUNT_ACCEPTED]);
	go_on(ts, a);
	return XK_OK;
}
