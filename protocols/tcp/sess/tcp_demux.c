/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_demux.c - segments up: parsed, summed, and given to their session.
 *
 * This is the whole way of every segment, one by one.  What exists for speed sees most of
 * them through before they come here (fast/tcp_predict.c) and comes back for the others.
 * Invariant: no segment whose checksum is wrong reaches a session.
 */
#include "protocols/inet/inet_sum.h"
#include "protocols/tcp/fast/tcp_fast.h"
#include "protocols/tcp/sess/tcp_act.h"
#include "runtime/upi/xk_inline.h"

/* Header first and in one piece; or the reason. */
int tcp_parse(struct tcp_seg *g, const struct xk_msg *m)
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

static bool sum_good(const struct xk_rep *r, const struct xk_msg *m, uint64_t pair)
{
	return (m->flags & XK_MSG_CSUM_OK) || !tcp_tune(r)->checksum ||
	       inet_sum_good(m, xk_csum_add(ip_pseudo_sum(pair, TCP_PROTO), htobe16((uint16_t)m->tot)));
}

static bool is_over(const struct tcp_sess *ts)
{
	return !tcp_is_compressed(ts) && tcp_cb(ts)->state == TCP_S_CLOSED;
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

static void run(struct tcp_sess *ts, const struct tcp_seg *g, struct xk_msg *m)
{
	if (XK_UNLIKELY(!tcp_act(ts, g, m)))
		reuse(ts, g, m);
}

/* One compressed is woken for its segment; without memory the segment is lost. */
static bool awake(struct tcp_sess *ts, struct xk_msg *m)
{
	if (XK_LIKELY(!tcp_is_compressed(ts)) || tcp_wake(ts))
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
	if (XK_FAST(tcp_fast_predicted(ts, m), false))
		return;
	tcp_pop_begin(ts);
	run(ts, g, m);
	tcp_pop_end(ts);
}

/* No session under k on this VP; lls is NULL where the segment came from another one. */
static void input_first(struct xk_rep *r, struct xk_sess *lls, const struct tcp_seg *g, const struct xk_key *k,
			struct xk_msg *m)
{
	struct xk_flowkey f;

	tcp_flowkey(&f, k);
	if (lls != NULL && xk_reroute(r, &f, m))
		xk_count(r->count[TCP_COUNT_REROUTED]);
	else
		tcp_listen_input(r, lls, g, k, m);
}

/* A segment between two addresses whose sum is good, for the session of its ports. */
static void input(struct xk_rep *r, struct xk_sess *lls, const struct tcp_seg *g, uint64_t pair, struct xk_msg *m)
{
	struct tcp_sess *ts;
	struct xk_key k;

	tcp_key(&k, pair, tcp_hdr_ports(m->data));
	ts = find(r, m, &k);
	if (ts == NULL)
		input_first(r, lls, g, &k, m);
	else
		act_found(ts, g, m);
}

void tcp_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	struct xk_rep *r = up->rep;
	uint64_t pair = 0;
	struct tcp_seg g;
	int reason = tcp_parse(&g, m);

	if (reason == XK_OK) {
		pair = ip_net_pair(xk_msg_net(m));
		reason = sum_good(r, m, pair) ? XK_OK : TCP_DROP_CHECKSUM;
	}
	if (reason != XK_OK) {
		xk_drop(r, (unsigned)reason, m);
		return;
	}
	m->flags &= (uint8_t)~(XK_MSG_CSUM | XK_MSG_CSUM_OK);   /* judged, and nobody's above */
	input(r, lls, &g, pair, m);
}

/* Whatever comes through a session by name: its own segments, examined. */
void tcp_pop(struct xk_sess *s, struct xk_sess *lls, struct xk_msg *m, void *hdr)
{
	struct tcp_seg g;
	int reason = tcp_parse(&g, m);

	(void)lls;
	(void)hdr;
	if (reason != XK_OK)
		xk_drop(s->rep, (unsigned)reason, m);
	else if (awake(tcp_sess(s), m))
		run(tcp_sess(s), &g, m);
}

/* From another VP: examined there, but for its session. */
void tcp_enter(struct xk_rep *r, struct xk_msg *m)
{
	struct tcp_seg g;
	int reason = tcp_parse(&g, m);

	if (reason != XK_OK)
		xk_drop(r, (unsigned)reason, m);
	else
		input(r, NULL, &g, ip_net_pair(xk_msg_net(m)), m);
}
