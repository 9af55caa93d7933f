/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_act.c - segments up, one by one: finds the session, predicts, and carries
 * out what tcp_input has decided.  Runs of them are tcp_run.c's.
 *
 * Nearly every segment of an established connection is the next data, or an
 * acknowledgement of ours, and says nothing else (Van Jacobson's header
 * prediction): those are seen through here by a few compares, the others are
 * parsed and go to tcp_input, whose actions are executed in one order: what
 * concerns our data, then the peer's bytes, then its FIN, then what we send.
 * rcv_nxt moves before bytes go up, so that an answer pushed from inside the
 * upcall carries the acknowledgement.
 *
 * Every upcall may push, close or abort, and a peer under the same thread may
 * answer inside our own push; the session is held meanwhile, and its state is
 * looked at again afterwards.
 * Invariant: s.rcnt - pops is the number of holders above; bytes are passed up
 * only while that is not 0.
 */
#include "protocols/tcp/fast/tcp_fast.h"
#include "protocols/tcp/sess/tcp_act.h"

/* ---- telling the holder ---------------------------------------------------------------- */

static bool listens(const struct tcp_sess *ts)
{
	return tcp_held(ts) && !(tcp_cb(ts)->flags & TCP_F_ORPHAN);
}

void tcp_tell(struct tcp_sess *ts, enum xk_stream_what what, int err)
{
	struct xk_stream_event ev = { &ts->s, what, err };

	if (listens(ts))
		xk_control(ts->s.up->rep, XK_CTL_STREAM_EVENT, &ev, sizeof ev);
}

void tcp_tell_drained(struct tcp_sess *ts)
{
	struct tcp_cb *cb = tcp_cb(ts);

	if ((cb->flags & TCP_F_DRAINING) && tcp_drained(cb)) {
		cb->flags &= ~TCP_F_DRAINING;
		tcp_tell(ts, XK_STREAM_DRAINED, XK_OK);
	}
}

void tcp_tell_close(struct tcp_sess *ts)
{
	if ((tcp_cb(ts)->flags & TCP_F_TOLD_CLOSE) || !listens(ts))
		return;
	tcp_cb(ts)->flags |= TCP_F_TOLD_CLOSE;
	xk_close_done(&ts->s);
}

/* ---- bytes up ------------------------------------------------------------------------------ */

/* Bytes that nobody will read: the peer must not believe that they arrived
 * (RFC 1122 4.2.2.13). */
XK_NOINLINE void tcp_nobody_reads(struct tcp_sess *ts, struct xk_msg *m)
{
	xk_drop(ts->s.rep, TCP_DROP_AFTER_CLOSE, m);
	tcp_abort(ts);
}

/* m, the bytes at rcv_nxt, goes up. */
static inline void deliver(struct tcp_sess *ts, struct xk_msg *m)
{
	struct tcp_cb *cb = tcp_cb(ts);

	cb->rcv_nxt += m->tot;
	cb->bytes_received += m->tot;
	if (cb->flags & TCP_F_MANUAL)
		cb->rcv_held += m->tot;
	if (XK_LIKELY(tcp_held(ts)))
		xk_demux(&ts->s, m);
	else
		tcp_nobody_reads(ts, m);
}

/* The first n bytes go; NULL, and m gone, when memory is out. */
static struct xk_msg *cut_front(struct xk_msg *m, uint32_t n)
{
	struct xk_msg *rest;

	if (XK_LIKELY(m->len >= n)) {
		xk_msg_pop(m, n);
		return m;
	}
	rest = xk_msg_split(m, n);
	xk_msg_free(m);
	return rest;
}

/* [skip, skip + take) of the payload of m; NULL, and m gone, when memory is out. */
static struct xk_msg *payload(struct xk_rep *r, const struct tcp_seg *g, const struct tcp_acts *a, struct xk_msg *m)
{
	m = cut_front(m, g->hlen + a->skip);
	if (XK_UNLIKELY(m == NULL))
		xk_count(r->drop[XK_DROP_NOMEM]);
	else
		xk_msg_truncate(m, a->take);
	return m;
}

/* Can more come up? */
static bool receives(const struct tcp_cb *cb)
{
	return cb->state != TCP_S_SYN_RCVD && tcp_fsm[cb->state][TCP_E_DATA].act == TCP_FSM_TAKE;
}

/* The peer's FIN stands at rcv_nxt. */
static void fin_here(struct tcp_sess *ts, const struct tcp_env *e, struct tcp_acts *a)
{
	tcp_cb(ts)->rcv_nxt++;
	tcp_input_fin(tcp_cb(ts), e, a);
	tcp_reass_free(ts);
	tcp_tell_close(ts);
}

/* What was kept and is in order now; true: the FIN is among it. */
static bool pull(struct tcp_sess *ts, const struct tcp_env *e)
{
	struct xk_msg *m;
	bool fin = false;

	while (receives(tcp_cb(ts)) && !fin && (m = tcp_reass_get(ts, &fin)) != NULL) {
		tcp_owe_ack(tcp_cb(ts), e, m->tot, false);
		deliver(ts, m);
	}
	return fin && receives(tcp_cb(ts));
}

/* ---- actions ------------------------------------------------------------------------------- */

static void refuse(struct tcp_sess *ts, const struct tcp_acts *a, const struct xk_msg *m)
{
	struct xk_rep *r = ts->s.rep;

	xk_count(r->count[TCP_COUNT_RST_OUT]);
	tcp_answer(r, ts->s.down, m, a->rst_seq, a->rst_ack, a->rst_flags, 0, NULL, 0);
}

/* A connection in TIME-WAIT makes room for the one that this SYN begins. */
static void reuse(struct tcp_sess *ts, const struct tcp_seg *g, struct xk_msg *m)
{
	struct xk_rep *r = ts->s.rep;
	struct xk_key k = ts->s.map.key;
	struct xk_sess *lls = xk_dup(ts->s.down);

	tcp_finish(ts, XK_OK);
	tcp_listen_input(r, lls, g, &k, m);
	xk_close(lls);
}

/* The segment's bytes, kept or passed up; m is gone afterwards. */
static void bytes(struct tcp_sess *ts, const struct tcp_env *e, const struct tcp_seg *g, struct tcp_acts *a,
		  struct xk_msg *m)
{
	uint32_t seq = g->seq + !!(g->flags & TCP_SYN) + a->skip;
	bool fin = (a->do_ & TCP_A_FIN) != 0;

	if (a->do_ & (TCP_A_OOO | TCP_A_DATA)) {
		m = payload(ts->s.rep, g, a, m);
		if (XK_UNLIKELY(m == NULL))
			return;
	}
	if (a->do_ & TCP_A_OOO) {
		tcp_reass_put(ts, m, seq, fin);
		return;
	}
	if (a->do_ & TCP_A_DATA)
		deliver(ts, m);
	else
		xk_msg_free(m);
	if (tcp_cb(ts)->reass != NULL && !fin)
		fin = pull(ts, e);
	if (fin && receives(tcp_cb(ts)))
		fin_here(ts, e, a);
}

static void opened(struct tcp_sess *ts)
{
	tcp_cb(ts)->flags |= TCP_F_TOLD_OPEN;
	tcp_tell(ts, XK_STREAM_OPENED, XK_OK);
}

/* Everything that is to be sent now. */
static void send(struct tcp_sess *ts, uint32_t acts)
{
	struct tcp_cb *cb = tcp_cb(ts);

	if (acts & TCP_A_SYN) {
		tcp_send_syn(ts);
		return;
	}
	/* An acknowledgement that shall be seen as such goes by itself. */
	if ((acts & TCP_A_ACK) && cb->state != TCP_S_CLOSED)
		tcp_send_ack(ts);
	if (cb->state == TCP_S_CLOSED)
		return;
	if ((acts & TCP_A_OUTPUT) || (cb->flags & (TCP_F_ACK_NOW | TCP_F_WANT_ROOM)))
		tcp_output(ts);
	else
		tcp_timer_sync(ts);
}

static void carry_out(struct tcp_sess *ts, const struct tcp_env *e, const struct tcp_seg *g, struct tcp_acts *a,
		      struct xk_msg *m)
{
	if (a->do_ & TCP_A_RESET)
		refuse(ts, a, m);
	if (a->do_ & TCP_A_DROP) {
		xk_drop(ts->s.rep, a->drop, m);
		m = NULL;
	}
	if (a->do_ & TCP_A_OPENED)
		opened(ts);
	if (a->do_ & TCP_A_DRAINED)
		tcp_tell_drained(ts);
	if ((a->do_ & TCP_A_URGENT) && tcp_cb(ts)->state != TCP_S_CLOSED)
		tcp_tell(ts, XK_STREAM_URGENT, XK_OK);
	if (m != NULL && tcp_cb(ts)->state != TCP_S_CLOSED)
		bytes(ts, e, g, a, m);
	else if (m != NULL)
		xk_msg_free(m);
	send(ts, a->do_);
	if ((a->do_ & TCP_A_TIME_WAIT) && tcp_cb(ts)->state == TCP_S_TIME_WAIT)
		tcp_timewait_enter(ts);
	if (a->do_ & TCP_A_FINISH)
		tcp_finish(ts, a->err);
}

void tcp_act(struct tcp_sess *ts, const struct tcp_seg *g, struct xk_msg *m)
{
	struct tcp_env e = tcp_env(ts->s.rep);
	struct tcp_acts a;

	xk_count(e.count[TCP_COUNT_SLOW]);
	tcp_cb(ts)->segs_in++;
	tcp_input(tcp_cb(ts), &e, g, &a);
	if (XK_UNLIKELY(a.do_ & TCP_A_REUSE))
		reuse(ts, g, m);
	else
		carry_out(ts, &e, g, &a, m);
}

/* ---- segments as they come ----------------------------------------------------------------------- */

/* Header first and in one piece; or the reason. */
static int parse(struct tcp_seg *g, const struct xk_msg *m)
{
	const uint8_t *p = m->data, *net = xk_msg_net(m);

	if (m->tot < TCP_HDR_LEN)
		return TCP_DROP_SHORT;
	/* The layer below leaves both headers in one piece, its own noted. */
	if (net == NULL || m->len < TCP_HDR_LEN)
		return XK_DROP_UNSUPPORTED;
	g->hlen = (uint8_t)tcp_hdr_len(p);
	if (g->hlen < TCP_HDR_LEN || g->hlen > m->tot)
		return TCP_DROP_OFFSET;
	if (g->hlen > m->len)
		return XK_DROP_UNSUPPORTED;
	g->seq = tcp_hdr_seq(p);
	g->ack = tcp_hdr_ack(p);
	g->len = m->tot - g->hlen;
	g->wnd = tcp_hdr_wnd(p);
	g->urp = tcp_hdr_urp(p);
	g->flags = tcp_hdr_flags(p);
	g->ce = net[1] & 3;
	tcp_opts_parse(&g->o, p + TCP_HDR_LEN, g->hlen - TCP_HDR_LEN);
	return XK_OK;
}

/* ---- header prediction ------------------------------------------------------------------------ */

/* An acknowledgement of new data in a connection without trouble. */
static inline void predicted_ack(struct tcp_sess *ts, const struct tcp_env *e, const struct tcp_seg *g)
{
	struct tcp_cb *cb = tcp_cb(ts);
	struct tcp_acts a = { 0 };
	uint32_t wnd = (uint32_t)g->wnd << cb->snd_wscale;
	bool changed = wnd != cb->snd_wnd;

	cb->snd_wnd = wnd;
	cb->snd_wl1 = g->seq;
	cb->snd_wl2 = g->ack;
	if (wnd > cb->max_wnd)
		cb->max_wnd = wnd;
	if (XK_UNLIKELY(!tcp_ack_quick(cb, e, g->ack, &a))) {
		tcp_rec_ack(cb, e, g, changed, &a);
		tcp_input_advance(cb, e, g->ack, &a);
	}
	if (a.do_ & TCP_A_DRAINED)
		tcp_tell_drained(ts);
	if (cb->state == TCP_S_CLOSED)
		return;
	if ((a.do_ & TCP_A_OUTPUT) || changed || (cb->flags & TCP_F_WANT_ROOM))
		tcp_output(ts);
	else
		tcp_timer_sync(ts);
}

/* The next data; hlen bytes of header are in front. */
static inline void predicted_data(struct tcp_sess *ts, struct xk_msg *m, uint32_t hlen, bool push)
{
	struct tcp_cb *cb = tcp_cb(ts);
	struct tcp_env e = tcp_env(ts->s.rep);
	uint32_t later = cb->flags & TCP_F_ACK_LATER;

	m->flags &= (uint8_t)~XK_MSG_CSUM;
	xk_msg_pop(m, hlen);
	tcp_owe_ack(cb, &e, m->tot, push);
	/* The wheel first: after the upcall the deadline is often off again. */
	if (!later && (cb->flags & TCP_F_ACK_LATER))
		tcp_timer_sync(ts);
	deliver(ts, m);
	if ((cb->flags & TCP_F_ACK_NOW) && cb->state != TCP_S_CLOSED)
		tcp_pay_ack(ts);
}

/*
 * Is it the segment that the connection waits for?  All of its words that may not
 * differ, in the order in which they lie.  Length and checksum are good, m is one
 * piece.  g is set as far as predicted_ack needs it.
 */
static inline bool predict(const struct tcp_cb *cb, const struct xk_msg *m, const uint8_t *p, uint32_t len,
			   struct tcp_seg *g)
{
	uint32_t ts = cb->flags & TCP_F_TS, hlen = ts ? 32 : 20, word = xk_be16(p + 12);

	g->seq = tcp_hdr_seq(p);
	g->ack = tcp_hdr_ack(p);
	g->wnd = tcp_hdr_wnd(p);
	g->hlen = (uint8_t)hlen;
	g->flags = word & 0x1ff;
	g->len = len - hlen;
	g->o.tsval = g->o.tsecr = 0;
	if (!tcp_takes_data(cb) || (word & ~TCP_PSH) != (ts ? HDR_WORD_TS : HDR_WORD) || len < hlen ||
	    g->seq != cb->rcv_nxt || cb->reass != NULL || (cb->flags & (TCP_F_ORPHAN | TCP_F_URG_IN)))
		return false;
	if (ts) {
		g->o.tsval = xk_be32(p + 24);
		g->o.tsecr = xk_be32(p + 28);
		if (xk_be32(p + 20) != NOP_NOP_TS || tcp_lt(g->o.tsval, cb->ts_recent))
			return false;
	}
	if ((cb->flags & TCP_F_ECN) && (((const uint8_t *)xk_msg_net(m))[1] & 3) == 3)
		return false;
	return g->len <= cb->rcv_adv - cb->rcv_nxt;
}

/* Of those, which half?  None: a window update or a duplicate. */
static inline bool predict_ack(const struct tcp_cb *cb, const struct tcp_seg *g)
{
	uint32_t wnd = (uint32_t)g->wnd << cb->snd_wscale, more = g->ack - cb->snd_una;

	if (more == 0)
		return g->len != 0 && wnd == cb->snd_wnd;
	return more <= cb->snd_max - cb->snd_una && cb->ca_state == TCP_CA_OPEN && wnd != 0 &&
	       cb->snd_wnd != 0 && !(cb->flags & TCP_F_FIN_SENT);
}

/* Not what it was predicted to be any more: something was done inside our push. */
static XK_NOINLINE void again(struct tcp_sess *ts, struct xk_msg *m)
{
	struct tcp_seg g;

	parse(&g, m);
	tcp_act(ts, &g, m);
}

static void predicted_both(struct tcp_sess *ts, struct tcp_seg *g, struct xk_msg *m)
{
	struct tcp_env e = tcp_env(ts->s.rep);

	g->o.have = tcp_cb(ts)->flags & TCP_F_TS ? TCP_O_TS : 0;
	g->o.nsack = 0;
	g->ce = 0;
	predicted_ack(ts, &e, g);
	if (g->len != 0 && tcp_takes_data(tcp_cb(ts)) && tcp_cb(ts)->rcv_nxt == g->seq && tcp_held(ts))
		predicted_data(ts, m, g->hlen, (g->flags & TCP_PSH) != 0);
	else if (g->len != 0 && tcp_cb(ts)->state != TCP_S_CLOSED)
		again(ts, m);
	else
		xk_msg_free(m);
}

/* True: done with m. */
static inline bool predicted(struct tcp_sess *ts, struct xk_msg *m, const uint8_t *p, uint32_t len)
{
	struct tcp_cb *cb = tcp_cb(ts);
	struct tcp_seg g;

	if (XK_UNLIKELY(!predict(cb, m, p, len, &g) || !predict_ack(cb, &g)))
		return false;
	xk_count(ts->s.rep->count[TCP_COUNT_PREDICTED]);
	tcp_pop_begin(ts);
	tcp_note_time(cb, g.o.tsval, tcp_ms(ts->s.rep->vp->now));
	if (XK_LIKELY(g.ack == cb->snd_una))
		predicted_data(ts, m, g.hlen, (g.flags & TCP_PSH) != 0);
	else
		predicted_both(ts, &g, m);
	tcp_pop_end(ts);
	return true;
}

/* ---- demux: every other segment ------------------------------------------------------------------ */

static bool sum_good(const struct xk_rep *r, struct xk_msg *m)
{
	uint8_t flags = m->flags;
	uint32_t sum;

	m->flags &= (uint8_t)~XK_MSG_CSUM;       /* judged once, here */
	if ((flags & XK_MSG_CSUM_OK) || !tcp_tune(r)->checksum)
		return true;
	sum = xk_csum_add(ip_pseudo_sum(ip_net_pair(xk_msg_net(m)), TCP_PROTO), htobe16((uint16_t)m->tot));
	if (flags & XK_MSG_CSUM)
		sum = xk_csum_add(sum, m->csum);
	else
		sum = flags & XK_MSG_CHAIN ? xk_msg_csum(m, 0, sum) : xk_csum_quick(m->data, m->len, sum);
	return xk_csum_fold(sum) == 0xffff || (flags & XK_MSG_CSUM_IGNORE);
}

static bool is_over(const struct tcp_sess *ts)
{
	return !tcp_rests(ts) && tcp_cb(ts)->state == TCP_S_CLOSED;
}

/* The session under k, or NULL.  One that is over but held keeps its key without
 * being bound, and may still be hinted at. */
static struct tcp_sess *find(struct xk_rep *r, struct xk_msg *m, const struct xk_key *k)
{
	struct xk_sess *s = xk_find(r, m, k);
	struct xk_mapnode *node;

	if (s == NULL || XK_LIKELY(!is_over(tcp_sess(s))))
		return s != NULL ? tcp_sess(s) : NULL;
	node = xk_map_resolve(&r->active, k);
	s = node != NULL ? xk_container_of(node, struct xk_sess, map) : NULL;
	return s != NULL && !is_over(tcp_sess(s)) ? tcp_sess(s) : NULL;
}

/* One at rest is woken for its segment; without memory the segment is lost. */
static bool awake(struct tcp_sess *ts, struct xk_msg *m)
{
	if (XK_LIKELY(!tcp_rests(ts)) || tcp_wake(ts))
		return true;
	xk_drop(ts->s.rep, XK_DROP_NOMEM, m);
	return false;
}

/* A segment whose sum is good, for the session that was found.  What is predicted where it came in is predicted
 * where it was handed to: the two ways do not send the same segments, since the one answers an
 * acknowledgement before the bytes that came with it go up, the other after. */
static void act_found(struct tcp_sess *ts, const struct tcp_seg *g, struct xk_msg *m)
{
	if (!awake(ts, m))
		return;
	if (!(m->flags & XK_MSG_CHAIN) && predicted(ts, m, m->data, m->len))
		return;
	tcp_pop_begin(ts);
	tcp_act(ts, g, m);
	tcp_pop_end(ts);
}

/* No session under k on this VP. */
static void input_first(struct xk_rep *r, struct xk_sess *lls, const struct tcp_seg *g, const struct xk_key *k,
			struct xk_msg *m)
{
	struct xk_flowkey f;

	tcp_flowkey(&f, k);
	if (xk_reroute(r, &f, m))
		xk_count(r->count[TCP_COUNT_REROUTED]);
	else
		tcp_listen_input(r, lls, g, k, m);
}

static XK_NOINLINE void demux_any(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	struct xk_rep *r = up->rep;
	struct tcp_sess *ts;
	struct tcp_seg g;
	struct xk_key k;
	int reason = parse(&g, m);

	if (reason == XK_OK && !sum_good(r, m))
		reason = TCP_DROP_CHECKSUM;
	if (reason != XK_OK) {
		xk_drop(r, (unsigned)reason, m);
		return;
	}
	tcp_key(&k, ip_net_pair(xk_msg_net(m)), tcp_hdr_ports(m->data));
	ts = find(r, m, &k);
	if (ts == NULL)
		input_first(r, lls, &g, &k, m);
	else
		act_found(ts, &g, m);
}

/* One piece, good sum, for the hinted session, as predicted; all else is left to
 * demux_any, with the hint as it was. */
static inline bool demux_quick(struct xk_rep *r, struct xk_msg *m)
{
	const uint8_t *p = m->data;
	uint32_t len = m->len, sum;
	struct xk_sess *s;

	if (XK_UNLIKELY(len < TCP_HDR_LEN || m->net == 0 || (m->flags & XK_MSG_CHAIN)))
		return false;
	s = xk_find_hinted(r, m, ip_net_pair(xk_msg_net(m)), tcp_hdr_ports(p));
	if (XK_UNLIKELY(s == NULL))
		return false;
	if (XK_UNLIKELY(tcp_rests(tcp_sess(s))))
		goto no;
	if (!(m->flags & XK_MSG_CSUM_OK)) {
		sum = tcp_live(tcp_sess(s))->psum + htobe16((uint16_t)len);
		sum = m->flags & XK_MSG_CSUM ? xk_csum_add(m->csum, sum) : xk_csum_quick(p, len, sum);
		if (XK_UNLIKELY(!xk_csum_valid(sum) && !(m->flags & XK_MSG_CSUM_IGNORE)))
			goto no;
	}
	if (XK_LIKELY(predicted(tcp_sess(s), m, p, len)))
		return true;
no:
	m->u.hint--;
	return false;
}

XK_APART void tcp_demux_one(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	if (XK_UNLIKELY(!demux_quick(up->rep, m)))
		demux_any(up, lls, m);
}

/* By its length alone it may be a header with nothing behind it.  No stack frame. */
void tcp_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	if (m->len == TCP_HDR_LEN || m->len == 32)
		tcp_ack_demux(up, lls, m);
	else
		tcp_demux_one(up, lls, m);
}

/* Whatever comes through a session by name: its own segments, examined. */
void tcp_pop(struct xk_sess *s, struct xk_sess *lls, struct xk_msg *m, void *hdr)
{
	struct tcp_seg g;
	int reason = parse(&g, m);

	(void)lls;
	(void)hdr;
	if (reason != XK_OK)
		xk_drop(s->rep, (unsigned)reason, m);
	else if (awake(tcp_sess(s), m))
		tcp_act(tcp_sess(s), &g, m);
}

/* From another VP: examined there, but for its session. */
void tcp_enter(struct xk_rep *r, struct xk_msg *m)
{
	struct tcp_sess *ts;
	struct tcp_seg g;
	struct xk_key k;
	int reason = parse(&g, m);

	if (reason != XK_OK) {
		xk_drop(r, (unsigned)reason, m);
		return;
	}
	tcp_key(&k, ip_net_pair(xk_msg_net(m)), tcp_hdr_ports(m->data));
	ts = find(r, m, &k);
	if (ts == NULL)
		tcp_listen_input(r, NULL, &g, &k, m);
	else
		act_found(ts, &g, m);
}
