/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_emit.c - a segment as bytes, pushed to the layer below.
 *
 * The header is a few stores and its sum is made from the same words in registers:
 * what is constant waits in the session, the payload's sum came with it, so
 * payload is never read here when it was copied with a sum.  A long payload is
 * lent: its headers go into the room before it, and the queue keeps it; a short
 * one is copied.
 * What is sent carries the latest acknowledgement, so whatever was owed is paid.
 * Invariant: a segment that memory refuses is as if the network had lost it.
 */
#include "protocols/tcp/sess/tcp_listen.h"
#include "protocols/tcp/sess/tcp_sess.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"

/* ---- headers ---------------------------------------------------------------------- */

struct head {
	uint32_t ports, seq, ack;
	uint32_t sum;                    /* partial: pseudo-header without length, ports */
	uint32_t tsval, tsecr;           /* of timestamps: nopts 12, opts NULL */
	const uint8_t *opts;
	uint32_t nopts;
	uint16_t flags, wnd, urp;
	uint8_t  mark;                   /* XK_MSG_ECT or 0 */
	bool     checksum;
};

/* Writes the options; their sum. */
static inline uint64_t opts_store(uint8_t *p, const struct head *h)
{
	uint32_t val, ecr;
	uint64_t sum = 0;

	if (XK_LIKELY(h->opts == NULL)) {
		if (h->nopts == 0)
			return 0;
		val = htobe32(h->tsval);
		ecr = htobe32(h->tsecr);
		xk_put_be32(p, TCP_NOP_NOP_TS);
		xk_put_raw32(p + 4, val);
		xk_put_raw32(p + 8, ecr);
		return (uint64_t)htobe32(TCP_NOP_NOP_TS) + val + ecr;
	}
	memcpy(p, h->opts, h->nopts);
	for (uint32_t i = 0; i < h->nopts; i += 4)
		sum += xk_raw32(p + i);
	return sum;
}

/* sum: of the payload; len: of header and payload. */
static inline void head_store(uint8_t *p, const struct head *h, uint32_t psum, uint32_t len)
{
	uint32_t seq = htobe32(h->seq), ack = htobe32(h->ack);
	uint32_t word = htobe32((TCP_HDR_LEN + h->nopts) / 4 << 28 | (uint32_t)h->flags << 16 | h->wnd);
	uint64_t sum = opts_store(p + TCP_HDR_LEN, h) + psum + h->sum;

	sum += (uint64_t)seq + ack + word + htobe16(h->urp) + htobe16((uint16_t)len);
	xk_put_raw32(p, h->ports);
	xk_put_raw32(p + 4, seq);
	xk_put_raw32(p + 8, ack);
	xk_put_raw32(p + 12, word);
	xk_put_raw16(p + 16, h->checksum ? (uint16_t)~xk_csum_fold(xk_csum_fold64(sum)) : 0);
	xk_put_be16(p + 18, h->urp);
}

/* A message of header, options and a copy of `data`; NULL: no memory. */
static struct xk_msg *build_copy(const struct head *h, const struct xk_msg *data)
{
	uint32_t hlen = TCP_HDR_LEN + h->nopts, n = data != NULL ? data->tot : 0, sum = 0;
	struct xk_msg *m = xk_msg_new_cls(XK_MEM_SMALL, hlen + n);

	if (m == NULL)
		return NULL;
	if (n != 0) {
		if (data->flags & XK_MSG_CHAIN)
			xk_msg_copy_out_csum(data, 0, m->data + hlen, n, &sum);
		else
			sum = xk_csum_copy_quick(m->data + hlen, data->data, n, 0);
	}
	head_store(m->data, h, sum, hlen + n);
	return m;
}

/* A header before a second look at data's bytes. */
static XK_NOINLINE struct xk_msg *build_shared(const struct head *h, struct xk_msg *data, uint32_t sum)
{
	struct xk_msg *s = xk_msg_share(data), *m;

	if (s == NULL)
		return NULL;
	m = xk_msg_prepend(s, TCP_HDR_LEN + h->nopts);
	if (m == NULL) {
		xk_msg_free(s);
		return NULL;
	}
	head_store(m->data, h, sum, m->tot);
	return m;
}

/* All headers go into the room before data's bytes, unless the segment is still
 * below from the last time, or in more pieces than one. */
static inline struct xk_msg *build_lent(const struct head *h, struct xk_msg *data)
{
	uint32_t sum = h->checksum ? tcp_sendq_sum(data, true) : 0;
	struct xk_msg *m = xk_msg_lend(data);
	uint8_t *p;

	if (XK_UNLIKELY(m == NULL))
		return build_shared(h, data, sum);
	p = xk_msg_push_quick(m, TCP_HDR_LEN + h->nopts);
	if (XK_UNLIKELY(p == NULL)) {
		xk_msg_free(m);
		return build_shared(h, data, sum);
	}
	head_store(p, h, sum, m->tot);
	return m;
}

/*
 * A header before n messages of the queue, from data on, each of seg bytes and shared: a
 * super-segment.  The device adds the payload's sum to what the checksum's field has.
 */
static struct xk_msg *build_train(const struct head *h, struct xk_msg *data, unsigned n, uint32_t seg, uint32_t psum)
{
	uint32_t hlen = TCP_HDR_LEN + h->nopts;
	struct xk_msg *m = xk_msg_new_cls(XK_MEM_SMALL, hlen), *last = m;

	if (m == NULL)
		return NULL;
	for (; n != 0; n--, data = data->link) {
		struct xk_msg *s = xk_msg_share(data);

		if (XK_UNLIKELY(s == NULL)) {
			xk_msg_free(m);
			return NULL;
		}
		last = xk_msg_append(m, last, s);
	}
	head_store(m->data, h, 0, m->tot);
	xk_put_raw16(m->data + 16, xk_csum_fold(psum + htobe16((uint16_t)m->tot)));
	m->flags |= XK_MSG_SUPER | XK_MSG_PARTIAL;
	m->u.cut.seg = seg;
	return m;
}

static bool send(struct tcp_sess *ts, const struct head *h, struct xk_msg *data)
{
	struct xk_msg *m;

	if (data != NULL && data->tot > TCP_COPY_MAX)
		m = build_lent(h, data);
	else
		m = build_copy(h, data);
	tcp_cb(ts)->segs_out++;
	if (XK_UNLIKELY(m == NULL)) {
		xk_dropped(ts->s.rep, XK_DROP_NOMEM, 1);
		return false;
	}
	m->flags |= h->mark;
	xk_push(ts->s.down, m);
	return true;
}

/* ---- options of a session's segments -------------------------------------------------- */

/* Blocks for the next acknowledgement, at most max; the duplicate first (RFC 2883). */
static unsigned blocks(const struct tcp_cb *cb, unsigned max, struct tcp_opts *o)
{
	struct tcp_opts held;
	unsigned n = 0, k;

	if (max == 0)
		return 0;
	if (cb->flags & TCP_F_DSACK) {
		o->sack[0].l = cb->dsack_l;
		o->sack[0].r = cb->dsack_r;
		n = 1;
	}
	k = cb->reass != NULL && n < max ? tcp_reass_blocks(cb, max - n, &held) : 0;
	for (unsigned i = 0; i < k; i++)
		o->sack[n++] = held.sack[i];
	return n;
}

static inline bool has_blocks(const struct tcp_cb *cb)
{
	return XK_UNLIKELY((cb->reass != NULL || (cb->flags & TCP_F_DSACK)) && (cb->flags & TCP_F_SACK));
}

static unsigned blocks_max(uint32_t room)
{
	unsigned n = room >= 12 ? (room - 4) / 8 : 0;

	return n < TCP_SACK_MAX ? n : TCP_SACK_MAX;
}

uint32_t tcp_emit_sack_room(const struct tcp_cb *cb)
{
	struct tcp_opts o;
	unsigned n;

	if (!has_blocks(cb))
		return 0;
	n = blocks(cb, blocks_max(40 - tcp_opts_usual(cb)), &o);
	return n != 0 ? 4 + 8 * n : 0;
}

static XK_NOINLINE uint32_t options_with_blocks(struct tcp_cb *cb, uint8_t *p, struct tcp_opts *o, uint32_t len)
{
	uint32_t usual = tcp_opts_usual(cb), room = 40 - usual;

	/* A data segment is never longer for them than the path takes. */
	if (len != 0 && room > (cb->mss > len ? cb->mss - len : 0))
		room = cb->mss > len ? cb->mss - len : 0;
	o->nsack = (uint8_t)blocks(cb, blocks_max(room), o);
	if (o->nsack != 0) {
		o->have |= TCP_O_SACK;
		cb->flags &= ~TCP_F_DSACK;
	}
	return tcp_opts_store(p, o);
}

/* Options into h; opts has room for blocks, when there are any. */
static inline void options(struct tcp_cb *cb, struct head *h, uint8_t *opts, uint32_t now, uint32_t len)
{
	struct tcp_opts o;

	h->tsval = now + cb->ts_off;
	h->tsecr = cb->ts_recent;
	h->nopts = tcp_opts_usual(cb);
	h->opts = NULL;
	if (has_blocks(cb) && (h->flags & TCP_ACK)) {
		o.have = cb->flags & TCP_F_TS ? TCP_O_TS : 0;
		o.tsval = h->tsval;
		o.tsecr = h->tsecr;
		h->opts = opts;
		h->nopts = options_with_blocks(cb, opts, &o, len);
	}
}

/* RFC 9293 3.8.5: the pointer leads to the byte behind the urgent data (RFC 6093). */
static inline uint16_t urgent(const struct tcp_cb *cb, uint32_t seq, uint16_t *flags)
{
	uint32_t up;

	if (XK_LIKELY(!(cb->flags & TCP_F_URG_OUT)) || !tcp_gt(cb->snd_up, seq))
		return 0;
	*flags |= TCP_URG;
	up = cb->snd_up - seq;
	return up < UINT16_MAX ? (uint16_t)up : UINT16_MAX;
}

/* The header of a segment of len bytes of payload, none of them sent before when `fresh`. */
static inline __attribute__((always_inline)) void head_fill(struct tcp_sess *ts, struct head *h, uint8_t *opts,
							    uint32_t len, bool fresh)
{
	struct tcp_cb *cb = tcp_cb(ts);

	options(cb, h, opts, tcp_ms(xk_vp_time(ts->s.rep->vp)), len);
	if (XK_LIKELY(h->flags & TCP_ACK)) {
		h->ack = cb->rcv_nxt;
		h->wnd = (uint16_t)(tcp_advertise(ts, cb) >> cb->rcv_wscale);
		if (cb->flags & TCP_F_ECE)
			h->flags |= TCP_ECE;
		tcp_ack_paid(cb);
	}
	h->urp = urgent(cb, h->seq, &h->flags);
	/* RFC 3168 6.1: new data alone may be marked by the path; control and repeated
	 * segments and bare acknowledgements are not ECN-capable. */
	if ((cb->flags & TCP_F_ECN) && fresh)
		h->mark = XK_MSG_ECT;
}

/* Inline, since of a bare acknowledgement nearly all is known. */
static inline __attribute__((always_inline)) bool emit(struct tcp_sess *ts, uint32_t seq, struct xk_msg *data,
						       uint16_t flags)
{
	struct head h = { .ports = tcp_live(ts)->ports, .seq = seq, .sum = tcp_live(ts)->sum, .flags = flags,
			  .checksum = tcp_cb(ts)->tune->checksum };
	uint8_t opts[40];

	head_fill(ts, &h, opts, data != NULL ? data->tot : 0, data != NULL && data->kept.count == 1);
	return send(ts, &h, data);
}

bool tcp_emit(struct tcp_sess *ts, uint32_t seq, struct xk_msg *data, uint16_t flags)
{
	return emit(ts, seq, data, flags);
}

/* ---- trains --------------------------------------------------------------------------------- */

unsigned tcp_emit_train_most(struct tcp_sess *ts)
{
	struct tcp_cb *cb = tcp_cb(ts);
	uint32_t most, frame, hlen = tcp_hlen_usual(cb), n;

	cb->train_whole = xk_sess_control(ts->s.down, XK_CTL_SENDS_SUPER, NULL, 0) > 0;
	if (!cb->tune->checksum || xk_sess_control(ts->s.down, XK_CTL_GETMAXSUPER, &most, sizeof most) != (int)sizeof most ||
	    most < hlen)
		return 1;
	/* IP makes fragments of a segment that has become too long for the path, but not of a train. */
	if (xk_sess_control(ts->s.down, XK_CTL_GETOPTPACKET, &frame, sizeof frame) == (int)sizeof frame &&
	    hlen + cb->mss > frame)
		return 1;
	n = (most - hlen) / cb->mss;
	return n < 1 ? 1 : n < TCP_TRAIN_MAX ? n : TCP_TRAIN_MAX;
}

bool tcp_emit_train(struct tcp_sess *ts, struct xk_msg *data, unsigned n, uint16_t flags)
{
	struct tcp_live *l = tcp_live(ts);
	struct head h = { .ports = l->ports, .seq = data->kept.seq, .sum = l->sum, .flags = flags };
	uint8_t opts[40];
	struct xk_msg *m;

	head_fill(ts, &h, opts, data->tot, true);
	l->cb.segs_out += n;
	m = build_train(&h, data, n, data->tot, l->psum);
	if (XK_UNLIKELY(m == NULL)) {
		xk_dropped(ts->s.rep, XK_DROP_NOMEM, 1);
		return false;
	}
	xk_count(ts->s.rep->count[TCP_COUNT_TRAINS]);
	m->flags |= h.mark;
	xk_push(ts->s.down, m);
	return true;
}

/* ---- the handshake's ------------------------------------------------------------------------ */

static uint16_t syn_flags(const struct tcp_cb *cb, bool answer)
{
	if (answer)
		return TCP_SYN | TCP_ACK | (cb->flags & TCP_F_ECN ? TCP_ECE : 0);
	/* RFC 3168 6.1.1.1: a path that drops such SYNs gets a plain one in the end. */
	return TCP_SYN | (cb->tune->ecn && cb->retries < 2 ? TCP_ECE | TCP_CWR : 0);
}

/* What we offer, or in an answer what of it the peer has taken up. */
static void syn_options(const struct tcp_cb *cb, bool answer, uint32_t now, struct tcp_opts *o)
{
	const struct tcp_tune *t = cb->tune;

	*o = (struct tcp_opts){ .have = TCP_O_MSS, .mss = cb->path_mss, .wscale = tcp_own_wscale(t),
				.tsval = now + cb->ts_off, .tsecr = answer ? cb->ts_recent : 0 };
	if (answer ? (cb->flags & TCP_F_WSCALE) != 0 : t->use_wscale)
		o->have |= TCP_O_WSCALE;
	if (answer ? (cb->flags & TCP_F_SACK) != 0 : t->sack)
		o->have |= TCP_O_SACKOK;
	if (answer ? (cb->flags & TCP_F_TS) != 0 : t->timestamps)
		o->have |= TCP_O_TS;
}

/* The window of a SYN is not scaled. */
static uint16_t syn_window(struct tcp_cb *cb, bool answer)
{
	uint32_t w = cb->rcv_buf < UINT16_MAX ? cb->rcv_buf : UINT16_MAX;

	if (answer && tcp_gt(cb->rcv_nxt + w, cb->rcv_adv))
		cb->rcv_adv = cb->rcv_nxt + w;
	return (uint16_t)w;
}

static void syn_sent(struct tcp_cb *cb, const struct tcp_env *e)
{
	if (cb->snd_max == cb->iss) {
		cb->snd_nxt = cb->snd_max = cb->iss + 1;
		cb->rtt_seq = cb->high_sacked = cb->iss;
		cb->rtt_at_us = e->now_us;
		cb->flags |= TCP_F_RTT;
	} else {
		cb->flags &= ~TCP_F_RTT;
		cb->retransmits++;
	}
	cb->idle_since = e->now;
}

/* Until the next SYN, ms: the times of the table, its last one again and again; else doubling. */
static uint32_t syn_wait(const struct tcp_cb *cb)
{
	const uint32_t *t = cb->tune->syn_times;
	unsigned i = 0;
	uint64_t ms;

	if (t == NULL || t[0] == 0) {
		ms = (uint64_t)cb->tune->rto_init << (cb->retries < 31 ? cb->retries : 31);
		return ms < cb->tune->rto_max ? (uint32_t)ms : cb->tune->rto_max;
	}
	while (i < cb->retries && t[i + 1] != 0)
		i++;
	return t[i];
}

void tcp_send_syn(struct tcp_sess *ts)
{
	struct tcp_cb *cb = tcp_cb(ts);
	struct tcp_env e = tcp_env(ts->s.rep);
	bool answer = cb->state == TCP_S_SYN_RCVD;
	struct head h = { .ports = tcp_live(ts)->ports, .seq = cb->iss, .sum = tcp_live(ts)->sum, .flags = syn_flags(cb, answer),
			  .ack = answer ? cb->rcv_nxt : 0, .checksum = cb->tune->checksum };
	uint8_t opts[40];
	struct tcp_opts o;

	if (!answer)
		cb->rcv_wscale = tcp_own_wscale(cb->tune);
	h.wnd = syn_window(cb, answer);
	syn_options(cb, answer, e.now, &o);
	if (answer)
		tcp_ack_paid(cb);
	syn_sent(cb, &e);
	tcp_timer_arm(cb, &e, TCP_T_REXMT, syn_wait(cb));
	if (cb->user_timeout != 0 && cb->at[TCP_T_KEEP] == 0)
		tcp_timer_arm(cb, &e, TCP_T_KEEP, cb->user_timeout);
	tcp_timer_sync(ts);
	h.opts = opts;
	h.nopts = tcp_opts_syn(opts, &o, cb->tune->synopts);
	send(ts, &h, NULL);
}

/* A number that the peer takes.  One that has drawn its window back (RFC 9293 3.8.6) drops
 * what begins behind its edge without a look at the acknowledgement; were that the only one
 * it can get, both sides would wait for ever. */
static inline uint32_t bare_seq(const struct tcp_cb *cb)
{
	uint32_t edge = tcp_snd_edge(cb);

	return XK_UNLIKELY(tcp_lt(edge, cb->snd_max)) && cb->state >= TCP_S_ESTABLISHED ? edge : cb->snd_max;
}

void tcp_send_ack(struct tcp_sess *ts)
{
	xk_count(ts->s.rep->count[TCP_COUNT_ACK_OUT]);
	emit(ts, bare_seq(tcp_cb(ts)), NULL, TCP_ACK);
}

void tcp_send_probe(struct tcp_sess *ts, uint32_t seq)
{
	tcp_emit(ts, seq, NULL, TCP_ACK);
}

void tcp_send_rst(struct tcp_sess *ts)
{
	struct tcp_cb *cb = tcp_cb(ts);

	xk_count(ts->s.rep->count[TCP_COUNT_RST_OUT]);
	tcp_emit(ts, bare_seq(cb), NULL, cb->state == TCP_S_SYN_SENT ? TCP_RST : TCP_RST | TCP_ACK);
}

/* ---- without a session ------------------------------------------------------------------------ */

/* Towards m's sender. */
static struct xk_sess *open_back(struct xk_rep *r, const uint8_t *net)
{
	uint32_t local = ip_net_dst(net);
	struct xk_parts ps;

	xk_parts_init(&ps, 2);
	xk_part_push_host(&ps.p[XK_REMOTE], ip_net_src(net));
	if (xk_control(r->down[0], XK_CTL_ISLOCAL, &local, sizeof local) == 1)
		xk_part_push_host(&ps.p[XK_LOCAL], local);
	return xk_open(r, r->node, r->down[0], &ps, NULL);
}

void tcp_answer(struct xk_rep *r, struct xk_sess *lls, const struct xk_msg *m, uint32_t seq, uint32_t ack,
		uint16_t flags, uint16_t wnd, const uint8_t *opts, uint32_t nopts)
{
	const uint8_t *net = xk_msg_net(m);
	uint32_t ports = tcp_hdr_ports(m->data);
	struct head h = { .seq = seq, .ack = ack, .flags = flags, .wnd = wnd, .opts = opts, .nopts = nopts,
			  .checksum = tcp_tune(r)->checksum };
	struct xk_msg *x;

	h.ports = tcp_ports(tcp_ports_destination(ports), tcp_ports_source(ports));
	h.sum = xk_csum_add(ip_pseudo_sum(ip_net_pair(net), TCP_PROTO), h.ports);
	lls = lls != NULL ? xk_dup(lls) : open_back(r, net);
	if (lls == NULL)
		return;
	x = build_copy(&h, NULL);
	if (x != NULL)
		xk_push(lls, x);
	else
		xk_dropped(r, XK_DROP_NOMEM, 1);
	xk_close(lls);
}
