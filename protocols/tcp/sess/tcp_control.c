/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_control.c - control operations of nodes and sessions, and what ICMP says
 * about connections.
 *
 * An ICMP message counts only when the segment that it quotes is one that may be
 * under way (RFC 5927 4).  A hard error, or a firewall's refusal, ends a connection only before it stands;
 * later it is at most the reason that a timeout gives.  A smaller path MTU cuts what
 * was sent and does not fit, and sends it again at once (RFC 1191).
 * Invariant: no message from the network lowers a segment below min_pmtu's room.
 */
#include "protocols/tcp/fast/tcp_fast.h"
#include "protocols/tcp/sess/tcp_sess.h"

#include "protocols/inet/inet_sess.h"
#include "runtime/upi/xk_inline.h"

/* ---- ICMP -------------------------------------------------------------------------------- */

#define UNREACHABLE   3u
#define TIME_EXCEEDED 11u
#define PARAMETER     12u
#define NEEDS_FRAG    4u         /* code of UNREACHABLE */

/* RFC 1191 7: the next of the usual MTUs below the datagram that was too long. */
static uint32_t plateau(uint32_t total)
{
	static const uint16_t mtus[] = { 32000, 17914, 8166, 4352, 2002, 1492, 1006, 508, 296 };

	for (unsigned i = 0; i < XK_ARRAY_LEN(mtus); i++)
		if (mtus[i] < total)
			return mtus[i];
	return 68;
}

/* Everything that was sent and is longer than a segment may be now goes again. */
static void cut_again(struct tcp_sess *ts)
{
	struct tcp_cb *cb = tcp_cb(ts);

	for (struct xk_msg *m = cb->sq.first; m != NULL && m != cb->sq.unsent; m = m->link) {
		if (m->tot <= cb->mss)
			continue;
		tcp_mark_lost(cb, m);
		/* Out of memory: IP cuts it. */
		if (!tcp_sendq_recut(cb, m, cb->mss))
			return;
	}
}

static void path_mtu(struct tcp_sess *ts, uint32_t mtu)
{
	struct tcp_cb *cb = tcp_cb(ts);
	uint32_t room;

	if (mtu < cb->tune->min_pmtu)
		mtu = cb->tune->min_pmtu;
	room = mtu - 20 - TCP_HDR_LEN;
	if (room >= cb->path_mss)
		return;
	cb->path_mss = (uint16_t)room;
	tcp_set_mss(cb);
	xk_count(ts->s.rep->count[TCP_COUNT_PMTU]);
	cut_again(ts);
	xk_dup(&ts->s);
	tcp_output(ts);
	xk_close(&ts->s);
}

/* RFC 1122 4.2.3.9. */
static bool is_hard(const struct ip_error_in *e)
{
	return e->type == UNREACHABLE && (e->code == 2 || e->code == 3);
}

/* RFC 1812 5.2.7.1: a firewall refuses what our SYN asks for, and will refuse the next (RFC 5461 4.1:
 * as others, we do not wait for that). */
static bool is_prohibited(const struct ip_error_in *e)
{
	return e->type == UNREACHABLE && (e->code == 9 || e->code == 10 || e->code == 13);
}

static int error_of(const struct ip_error_in *e)
{
	return is_hard(e) ? XK_E_CONNREFUSED : XK_E_UNREACH;
}

static void sess_error(struct tcp_sess *ts, const struct ip_error_in *e, uint32_t seq)
{
	struct tcp_cb *cb = tcp_cb(ts);

	if (tcp_is_compressed(ts))               /* nothing in flight */
		return;
	/* RFC 5927 4.1: of something that may be in flight.  A connection that stands
	 * without anything in flight has nothing that could be returned. */
	if (!tcp_geq(seq, cb->snd_una) || !tcp_lt(seq, cb->snd_max))
		return;
	if (e->type == UNREACHABLE && e->code == NEEDS_FRAG)
		path_mtu(ts, (e->arg & 0xffff) != 0 ? e->arg & 0xffff : plateau(xk_be16(e->quote + 2)));
	else if (e->type != UNREACHABLE && e->type != TIME_EXCEEDED && e->type != PARAMETER)
		return;
	else if (cb->state == TCP_S_SYN_SENT && (is_hard(e) || is_prohibited(e)))
		tcp_finish(ts, error_of(e));
	else
		cb->err = error_of(e);
}

static int error_in(struct xk_rep *r, const struct ip_error_in *e)
{
	uint32_t hlen = ip_net_hlen(e->quote), ports, seq;
	struct xk_mapnode *node;
	struct xk_key k;

	if (e->len < hlen + 8)
		return XK_E_INVAL;
	xk_count(r->count[TCP_COUNT_ERRORS_IN]);
	ports = tcp_hdr_ports(e->quote + hlen);
	seq = tcp_hdr_seq(e->quote + hlen);
	tcp_key(&k, ip_pair(ip_net_dst(e->quote), ip_net_src(e->quote)),
		tcp_ports(tcp_ports_destination(ports), tcp_ports_source(ports)));
	node = xk_map_resolve(&r->active, &k);
	if (node != NULL)
		sess_error(tcp_sess(xk_container_of(node, struct xk_sess, map)), e, seq);
	else
		tcp_syncache_error(r, &k, seq);
	return 1;
}

/* ---- a node ------------------------------------------------------------------------------- */

static int count_state(struct xk_mapnode *node, void *arg)
{
	const struct tcp_sess *ts = tcp_sess(xk_container_of(node, struct xk_sess, map));
	uint32_t *n = arg;

	if (tcp_is_compressed(ts))
		n[tcp_is_rest(ts) ? TCP_S_TIME_WAIT : TCP_S_ESTABLISHED]++;
	else
		n[tcp_cb(ts)->state]++;
	return XK_MAP_KEEP;
}

/* LISTEN is the node's, shared by its VPs; SYN-RCVD counts what the cache holds. */
static int states(struct xk_rep *r, void *buf, unsigned len)
{
	uint32_t n[TCP_S_COUNT] = { 0 };

	if (len < sizeof n)
		return XK_E_INVAL;
	xk_map_foreach(&r->active, count_state, n);
	n[TCP_S_LISTEN] = xk_passive_count(&r->node->passive);
	n[TCP_S_SYN_RCVD] += tcp_syncache_count(r);
	return xk_answer(buf, len, n, sizeof n);
}

int tcp_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	switch (op) {
	case XK_CTL_GETMAXPACKET:
	case XK_CTL_GETOPTPACKET:
		return inet_less_header(xk_control(r->down[0], op, buf, len), buf, TCP_HDR_LEN);
	case IP_CTL_ERROR_IN:
		return len < sizeof(struct ip_error_in) ? XK_E_INVAL : error_in(r, buf);
	case TCP_CTL_STATES:
		return states(r, buf, len);
	case TCP_CTL_DEFER:
		return tcp_defer_set(r, buf, len);
	case TCP_CTL_LISTEN_MSS:
		return tcp_listen_mss_set(r, buf, len);
	case TCP_CTL_LISTEN_RCVBUF:
		return tcp_listen_rcvbuf_set(r, buf, len);
	case TCP_CTL_OPEN_WITH:
		return tcp_open_with(r, buf, len);
	case TCP_CTL_BUFFERS:
		return xk_answer(buf, len, (uint32_t[]){ tcp_tune(r)->rcv_buf, tcp_tune(r)->snd_buf }, 2 * sizeof(uint32_t));
	default:
		return XK_E_NOTSUP;
	}
}

/* ---- a session: what it says ----------------------------------------------------------------- */

static void info_segments(const struct tcp_cb *cb, struct tcp_snapshot *i)
{
	for (struct xk_msg *m = cb->sq.first; m != NULL && m != cb->sq.unsent; m = m->link) {
		unsigned f = m->kept.flags;

		i->unacked++;
		i->sacked += (f & TCP_SQ_SACKED) != 0;
		i->lost += (f & TCP_SQ_LOST) != 0;
		i->retrans += (f & TCP_SQ_RETRANS) != 0;
	}
}

static int info(const struct tcp_sess *ts, void *buf, unsigned len)
{
	const struct tcp_cb *cb = tcp_cb(ts);
	struct tcp_snapshot i = {
		.state = cb->state, .ca_state = cb->ca_state,
		.snd_wscale = cb->snd_wscale, .rcv_wscale = cb->rcv_wscale,
		.timestamps = cb->flags & TCP_F_TS, .sack = cb->flags & TCP_F_SACK,
		.ecn = cb->flags & TCP_F_ECN, .wscale = cb->flags & TCP_F_WSCALE,
		.mss = cb->mss, .rmss = cb->peer_mss,
		.snd_una = cb->snd_una, .snd_nxt = cb->snd_nxt, .snd_wnd = cb->snd_wnd,
		.rcv_nxt = cb->rcv_nxt, .rcv_wnd = cb->rcv_adv - cb->rcv_nxt, .iss = cb->iss, .irs = cb->irs,
		.cwnd = cb->cwnd, .ssthresh = cb->ssthresh,
		.srtt_us = cb->srtt, .rttvar_us = cb->rttvar, .rto_ms = cb->rto, .backoff = cb->backoff,
		.queued = cb->sq.bytes, .rcv_buf = cb->rcv_buf, .snd_buf = cb->snd_buf,
		.retransmits = cb->retransmits, .bytes_acked = cb->bytes_acked,
		.bytes_received = cb->bytes_received, .segs_out = cb->segs_out, .segs_in = cb->segs_in,
	};

	info_segments(cb, &i);
	i.ooo_bytes = tcp_reass_bytes(cb, &i.ooo_segments);
	return xk_answer(buf, len, &i, sizeof i);
}

/* ROOM of 0 is a promise: WRITABLE comes when there is some. */
static int room(const struct tcp_sess *ts, void *buf, unsigned len)
{
	uint32_t limit, n = tcp_room_now(ts, &limit);

	if (n == 0 && len >= sizeof n)
		tcp_cb(ts)->flags |= TCP_F_WANT_ROOM;
	return xk_answer32(buf, len, n);
}

/* ---- a session: what it is told ------------------------------------------------------------------ */

static int set_flag(struct tcp_sess *ts, uint32_t flag, const void *buf, unsigned len)
{
	uint32_t on;

	if (xk_take(&on, sizeof on, buf, len) != XK_OK)
		return XK_E_INVAL;
	if (on)
		tcp_cb(ts)->flags |= flag;
	else
		tcp_cb(ts)->flags &= ~flag;
	return 0;
}

/* What held small segments back does not any more. */
static int set_delay(struct tcp_sess *ts, uint32_t flag, const void *buf, unsigned len)
{
	int res = set_flag(ts, flag, buf, len);

	if (res == 0 && tcp_cb(ts)->sq.unsent != NULL)
		tcp_output(ts);
	return res;
}

static int set_manual(struct tcp_sess *ts, const void *buf, unsigned len)
{
	int res = set_flag(ts, TCP_F_MANUAL, buf, len);
	uint32_t held = tcp_cb(ts)->rcv_held;

	if (res != 0 || (tcp_cb(ts)->flags & TCP_F_MANUAL) || held == 0)
		return res;
	tcp_cb(ts)->rcv_held = 0;
	tcp_window_opened(ts);
	return res;
}

static int taken(struct tcp_sess *ts, const void *buf, unsigned len)
{
	uint32_t n;

	if (xk_take(&n, sizeof n, buf, len) != XK_OK || n > tcp_cb(ts)->rcv_held)
		return XK_E_INVAL;
	tcp_cb(ts)->rcv_held -= n;
	if (n != 0 && tcp_cb(ts)->state != TCP_S_CLOSED)
		tcp_window_opened(ts);
	return 0;
}

static int set_keepalive(struct tcp_sess *ts, const void *buf, unsigned len)
{
	struct tcp_cb *cb = tcp_cb(ts);
	struct tcp_env e = tcp_env(ts->s.rep);
	struct tcp_keepalive k;

	/* A deadline lies at most half of 32 bits ahead. */
	if (xk_take(&k, sizeof k, buf, len) != XK_OK || k.count > UINT8_MAX || k.idle_ms > INT32_MAX || k.interval_ms > INT32_MAX)
		return XK_E_INVAL;
	cb->keep_idle = k.idle_ms ? k.idle_ms : cb->tune->keep_idle;
	cb->keep_interval = k.interval_ms ? k.interval_ms : cb->tune->keep_interval;
	cb->keep_count = k.count ? (uint8_t)k.count : cb->tune->keep_count;
	cb->flags = k.on ? cb->flags | TCP_F_KEEPALIVE : cb->flags & ~TCP_F_KEEPALIVE;
	if (cb->state < TCP_S_ESTABLISHED || cb->state == TCP_S_TIME_WAIT)
		return 0;                /* begins with the connection */
	if (k.on)
		tcp_timer_arm(cb, &e, TCP_T_KEEP, cb->keep_idle);
	else
		tcp_timer_off(cb, TCP_T_KEEP);
	tcp_timer_sync(ts);
	return 0;
}

static int set_number(uint32_t *field, uint32_t lo, uint32_t hi, const void *buf, unsigned len)
{
	uint32_t v;

	if (xk_take(&v, sizeof v, buf, len) != XK_OK || v < lo || v > hi)
		return XK_E_INVAL;
	*field = v;
	return 0;
}

static int set_rcv_buf(struct tcp_sess *ts, const void *buf, unsigned len)
{
	uint32_t before = tcp_cb(ts)->rcv_buf;
	int res = set_number(&tcp_cb(ts)->rcv_buf, 2048, 1u << 30, buf, len);

	if (res == 0 && tcp_cb(ts)->rcv_buf > before && tcp_cb(ts)->state >= TCP_S_ESTABLISHED)
		tcp_window_opened(ts);
	return res;
}

static int set_max_seg(struct tcp_sess *ts, const void *buf, unsigned len)
{
	uint32_t v, path = tcp_path_mss(ts->s.rep, ts->s.down);

	if (set_number(&v, tcp_cb(ts)->tune->min_mss, UINT16_MAX, buf, len) != 0)
		return XK_E_INVAL;
	tcp_cb(ts)->path_mss = (uint16_t)(v < path ? v : path);
	tcp_set_mss(tcp_cb(ts));
	return 0;
}

static int set_urgent(struct tcp_sess *ts)
{
	struct tcp_cb *cb = tcp_cb(ts);

	if (cb->sq.bytes == 0)
		return XK_E_INVAL;
	cb->snd_up = cb->snd_end;
	cb->flags |= TCP_F_URG_OUT;
	tcp_output(ts);
	return 0;
}

static int set_more(struct tcp_sess *ts, const void *buf, unsigned len)
{
	struct tcp_cb *cb = tcp_cb(ts);
	uint32_t v;

	if (xk_take(&v, sizeof v, buf, len) != XK_OK || v > XK_STREAM_MORE_NONE)
		return XK_E_INVAL;
	cb->flags = v == XK_STREAM_MORE_FOLLOW ? cb->flags | TCP_F_MORE : cb->flags & ~TCP_F_MORE;
	if (v == XK_STREAM_MORE_NONE && cb->sq.unsent != NULL) {
		cb->sq.last->kept.flags |= TCP_SQ_PUSH;
		tcp_output(ts);
	}
	return 0;
}

/* Whoever wants to hear of it says so each time: nearly always nobody does. */
static int drain(struct tcp_cb *cb)
{
	if (cb->state == TCP_S_CLOSED)
		return XK_E_NOTCONN;
	if (tcp_drained(cb))
		return 1;
	cb->flags |= TCP_F_DRAINING;
	return 0;
}

static int sess_set(struct tcp_sess *ts, unsigned op, void *buf, unsigned len)
{
	switch (op) {
	case XK_STREAM_MANUAL:       return set_manual(ts, buf, len);
	case XK_STREAM_TAKEN:        return taken(ts, buf, len);
	case XK_STREAM_SHUTDOWN:     tcp_shutdown(ts); return 0;
	case XK_STREAM_ABORT:        tcp_abort(ts); return 0;
	case XK_STREAM_DRAIN:        return drain(tcp_cb(ts));
	case XK_STREAM_MORE:         return set_more(ts, buf, len);
	case TCP_CTL_NODELAY:        return set_delay(ts, TCP_F_NODELAY, buf, len);
	case TCP_CTL_CORK:           return set_delay(ts, TCP_F_CORK, buf, len);
	case TCP_CTL_KEEPALIVE:      return set_keepalive(ts, buf, len);
	case TCP_CTL_USER_TIMEOUT:   return set_number(&tcp_cb(ts)->user_timeout, 0, 86400000, buf, len);
	case TCP_CTL_FIN_WAIT2:      return set_number(&tcp_cb(ts)->fin_wait2, 1, 86400000, buf, len);
	case TCP_CTL_URGENT:         return set_urgent(ts);
	case TCP_CTL_LINGER:         return set_flag(ts, TCP_F_RST_CLOSE, buf, len);
	case TCP_CTL_RCVBUF:         return set_rcv_buf(ts, buf, len);
	case TCP_CTL_SNDBUF:         return set_number(&tcp_cb(ts)->snd_buf, 2048, 1u << 30, buf, len);
	case TCP_CTL_MAXSEG:         return set_max_seg(ts, buf, len);
	default:                     return XK_E_NOTSUP;
	}
}

/* What a driver may place, where that is known. */
static int payload_of(void *buf, unsigned len)
{
	const xk_payload_fn fn = XK_FAST(tcp_fast_payload, NULL);

	return fn != NULL ? xk_answer(buf, len, &fn, sizeof fn) : XK_E_NOTSUP;
}

static int sess_control(struct tcp_sess *ts, unsigned op, void *buf, unsigned len)
{
	const struct tcp_cb *cb = tcp_cb(ts);

	switch (op) {
	case XK_CTL_GETMAXPACKET:
		return xk_answer32(buf, len, UINT32_MAX);   /* a stream has no limit */
	case XK_CTL_GETOPTPACKET:
		return xk_answer32(buf, len, cb->mss);
	case XK_CTL_GETMYPORT:
		return xk_answer(buf, len, &(uint16_t){ tcp_lport(ts) }, sizeof(uint16_t));
	case XK_CTL_GETPEERPORT:
		return xk_answer(buf, len, &(uint16_t){ tcp_rport(ts) }, sizeof(uint16_t));
	case XK_CTL_GETMYPROTO:
		return xk_answer32(buf, len, tcp_lport(ts));
	case XK_CTL_GETPARTICIPANTS:
		return inet_participants(ts->s.down, tcp_rport(ts), tcp_lport(ts), buf, len);
	case XK_CTL_HEADER_SUM:
		/* Who asks wants to know whether a sum of its payload is of use. */
		return cb->tune->checksum ? XK_E_NOTSUP : XK_E_INVAL;
	case XK_CTL_PAYLOAD:
		return payload_of(buf, len);
	case XK_STREAM_ROOM:
		return room(ts, buf, len);
	case XK_STREAM_ERRNO:
		return xk_answer32(buf, len, cb->state == TCP_S_CLOSED ? (uint32_t)cb->err : 0);
	case XK_STREAM_QUEUED:
		return xk_answer32(buf, len, cb->sq.bytes);
	case TCP_CTL_INFO:
		return info(ts, buf, len);
	default:
		return sess_set(ts, op, buf, len);
	}
}

/* What it is compressed is told without waking it. */
static bool is_question(unsigned op)
{
	return op < XK_CTL_PRIVATE ? op != XK_STREAM_MANUAL && op != XK_STREAM_TAKEN && op != XK_STREAM_SHUTDOWN &&
		op != XK_STREAM_ABORT && op != XK_STREAM_MORE : op == TCP_CTL_INFO;
}

static int rest_control(struct tcp_sess *ts, unsigned op, void *buf, unsigned len)
{
	const uint64_t hot = ts->s.hot;
	struct tcp_live l;
	int res;

	if (is_question(op)) {
		tcp_idle_copy(ts, &l);
		ts->s.hot = (uintptr_t)&l.cb;
		res = sess_control(ts, op, buf, len);
		ts->s.hot = hot;
		/* No room is a promise: who gives it must be awake, or there is some. */
		if (XK_UNLIKELY(l.cb.flags & TCP_F_WANT_ROOM))
			return tcp_wake(ts) ? sess_control(ts, op, buf, len) : xk_answer32(buf, len, tcp_room(&l.cb));
		return res;
	}
	if (op == XK_STREAM_ABORT)
		return tcp_idle_abort(ts), 0;
	return tcp_wake(ts) ? sess_control(ts, op, buf, len) : XK_E_NOMEM;
}

/* A writer of short pieces asks for each span: those two come first.  Of a connection compressed nothing waits. */
int tcp_sess_control(struct xk_sess *s, unsigned op, void *buf, unsigned len)
{
	struct tcp_sess *ts = tcp_sess(s);
	bool compressed = tcp_is_compressed(ts);

	return XK_UNLIKELY(compressed) ? rest_control(ts, op, buf, len) : sess_control(ts, op, buf, len);
}
