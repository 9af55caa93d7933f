/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peer_tcp_sink.c - the simulated TCP receiver: takes any connection,
 * swallows what comes, acknowledges every other segment as Berkeley TCP does, and
 * ends when the stack ends.
 *
 * An acknowledgement of data goes up on the stack of the push that carried the
 * segment: no thread, no queue, the VP already held.  That may bring another push
 * and another answer; deeper than DEPTH of them, the next one waits for the next
 * unit of work, as answers to SYN and FIN always do, because whoever opens or
 * closes does not expect the answer before it has returned.
 * A segment left alone is acknowledged by the tick, 200 ms.
 * Invariant: rcv_nxt acknowledges only what came in order; anything else is
 * answered at once with the same number.
 */
#include "drivers/peer/peer_tcp.h"
#include "runtime/upi/xk_input.h"

#include <stdio.h>

#define DEPTH 4u
#define TICK  (200 * XK_MS)

static void send_up(struct peer_tcp *t, struct xk_msg *m)
{
	if (XK_UNLIKELY(m == NULL))
		return;
	if (XK_UNLIKELY(t->depth == DEPTH || !t->mr->open)) {
		peer_tcp_later(t, m);
		return;
	}
	t->depth++;
	xk_input(t->mr->rep, &m, 1);
	t->depth--;
}

static void acknowledge(struct peer_tcp *t, struct peer_tcp_conn *c)
{
	c->unacked = 0;
	xk_count(t->rep->count[PEER_TCP_N_ACKS]);
	send_up(t, peer_tcp_frame(t, c, c->snd_nxt, PEER_TCP_ACK, 0));
}

/* Acknowledges what no second segment has followed; asleep when there is none. */
static void tick(struct xk_timer *timer)
{
	struct peer_tcp *t = xk_container_of(timer, struct peer_tcp, tick);
	struct peer_tcp_conn *c = t->first;

	t->first = t->last = NULL;
	while (c != NULL) {
		struct peer_tcp_conn *next = c->next;

		c->listed = false;
		if (c->unacked != 0) {
			c->unacked = 0;
			xk_count(t->rep->count[PEER_TCP_N_ACKS]);
			peer_tcp_later(t, peer_tcp_frame(t, c, c->snd_nxt, PEER_TCP_ACK, 0));
		}
		c = next;
	}
}

/* ---- segments ------------------------------------------------------------------------- */

static void on_syn(struct peer_tcp *t, const struct peer_tcp_seg *g)
{
	struct peer_tcp_conn *c = peer_tcp_find(t, &g->key);
	bool again = c != NULL && c->rcv_nxt == g->seq + 1 && c->state == PEER_TCP_SYN_SENT;

	if (c != NULL && !again) {               /* the old one is over */
		peer_tcp_conn_free(t, c);
		c = NULL;
	}
	if (c == NULL)
		c = peer_tcp_conn_new(t, &g->key);
	if (c == NULL) {
		xk_dropped(t->rep, XK_DROP_NOMEM, 1);
		return;
	}
	if (!again)
		xk_count(t->rep->count[PEER_TCP_N_OPENED]);
	c->state = PEER_TCP_SYN_SENT;
	c->rcv_nxt = g->seq + 1;
	c->snd_nxt = c->snd_una + 1;
	peer_tcp_later(t, peer_tcp_frame(t, c, c->snd_una, PEER_TCP_SYN | PEER_TCP_ACK, 0));
}

/* The stack's FIN is answered by ours, its last ACK ends it. */
static void on_fin(struct peer_tcp *t, struct peer_tcp_conn *c)
{
	if (c->state != PEER_TCP_FIN_SENT) {
		c->rcv_nxt++;
		c->state = PEER_TCP_FIN_SENT;
		c->snd_una = c->snd_nxt++;
	}
	peer_tcp_later(t, peer_tcp_frame(t, c, c->snd_una, PEER_TCP_FIN | PEER_TCP_ACK, 0));
}

/* len bytes came in order. */
static inline void on_data(struct peer_tcp *t, struct peer_tcp_conn *c, uint32_t len)
{
	c->rcv_nxt += len;
	if (len != 0) {
		xk_count(t->rep->count[PEER_TCP_N_SUNK]);
		xk_count_add(t->rep->count[PEER_TCP_N_SUNK_BYTES], len);
	}
}

/* For one segment more: now, or when the tick comes. */
static inline void owe(struct peer_tcp *t, struct peer_tcp_conn *c)
{
	if (++c->unacked >= t->conf->ack_every) {
		acknowledge(t, c);
	} else if (!c->listed) {
		if (!xk_timer_armed(&t->tick))
			xk_timer_set(t->rep->wheel, &t->tick, xk_vp_now() + TICK);
		peer_tcp_list(t, c);
	}
}

static void on_segment(struct peer_tcp *t, struct peer_tcp_conn *c, const struct peer_tcp_seg *g)
{
	if (c->state == PEER_TCP_FIN_SENT && g->ack == c->snd_nxt && g->len == 0) {
		peer_tcp_conn_free(t, c);
		xk_count(t->rep->count[PEER_TCP_N_CLOSED]);
		return;
	}
	if (c->state == PEER_TCP_SYN_SENT && g->ack == c->snd_nxt)
		c->state = PEER_TCP_OPEN;
	if (XK_UNLIKELY(g->seq != c->rcv_nxt)) {
		if (c->state == PEER_TCP_FIN_SENT && (g->flags & PEER_TCP_FIN))
			on_fin(t, c);
		else if (g->len != 0 || (g->flags & PEER_TCP_FIN))
			acknowledge(t, c);
		return;
	}
	if (XK_UNLIKELY(g->flags & PEER_TCP_FIN)) {
		on_data(t, c, g->len);
		c->unacked = 0;
		on_fin(t, c);
	} else if (g->len != 0) {
		on_data(t, c, g->len);
		owe(t, c);
	}
}

/* The payload of the next data of c in m, h bytes of link header before it; 0: m is
 * something else. */
static inline uint32_t next_data(const struct peer_tcp_conn *c, const struct xk_msg *m, uint32_t h)
{
	const uint8_t *ip = m->data + h, *tcp = ip + 20;
	const uint64_t pair = c->map.key.w[0];
	uint32_t ports, total, headers;

	if ((m->flags & XK_MSG_CHAIN) || m->len < h + 40 || xk_raw16(ip - 2) != htobe16(0x0800) || ip[0] != 0x45 ||
	    ip[9] != 6 || (xk_raw16(ip + 6) & htobe16(0x3fff)) != 0 || xk_raw64(ip + 12) != (pair << 32 | pair >> 32))
		return 0;
	/* The key has the peer's ends first. */
	ports = xk_raw32(tcp);
	ports = ports << 16 | ports >> 16;
	total = xk_be16(ip + 2);
	headers = 20 + (uint32_t)(tcp[12] >> 4) * 4;
	if (memcmp((const uint8_t *)&c->map.key + 8, &ports, sizeof ports) != 0 || xk_be32(tcp + 4) != c->rcv_nxt ||
	    (tcp[13] & ~PEER_TCP_PSH) != PEER_TCP_ACK || c->state != PEER_TCP_OPEN || headers < 40 || headers >= total ||
	    h + total > m->len)
		return 0;
	return total - headers;
}

/* Any frame, examined. */
static XK_APART void sink_push_any(struct xk_sess *s, struct xk_msg *m)
{
	struct peer_tcp *t = mem_far_state(s);
	const struct xk_flowkey *k;
	struct peer_tcp_conn *c;
	struct peer_tcp_seg g;

	if (!peer_tcp_take(s, m, &g))
		return;
	k = (const struct xk_flowkey *)(const void *)&g.key;
	c = peer_tcp_find(t, &g.key);
	if (c != NULL)
		t->recent[peer_tcp_recent((const uint8_t *)&k->lport, (const uint8_t *)&k->rport)] = c;
	if (XK_UNLIKELY(g.flags & PEER_TCP_RST)) {
		if (c != NULL) {
			peer_tcp_conn_free(t, c);
			xk_count(t->rep->count[PEER_TCP_N_CLOSED]);
		}
	} else if (XK_UNLIKELY((g.flags & (PEER_TCP_SYN | PEER_TCP_ACK)) == PEER_TCP_SYN)) {
		on_syn(t, &g);
	} else if (c != NULL) {
		on_segment(t, c, &g);
	} else if (!peer_tcp_idle_answer(t, &g)) {
		xk_dropped(t->rep, PEER_DROP_NOT_REFLECTED, 1);
	}
}

/* The next data of one of the connections that the last segments were of, as nearly always. */
static void sink_push(struct xk_sess *s, struct xk_msg *m)
{
	struct peer_tcp *t = mem_far_state(s);
	const struct mem_rep *mr = t->mr;
	const uint8_t *ports = m->data + t->hdr_len - 20;  /* behind headers without options, else not theirs */
	struct peer_tcp_conn *c = m->len < t->hdr_len ? NULL : t->recent[peer_tcp_recent(ports, ports + 2)];
	uint32_t len;

	if (XK_UNLIKELY(c == NULL || !mr->open || m->tot > mr->frame_max) ||
	    (len = next_data(c, m, t->hdr_len - 40u)) == 0) {
		sink_push_any(s, m);
		return;
	}
	/* The buffer first: the answer takes it while it is warm. */
	xk_msg_free(m);
	on_data(t, c, len);
	owe(t, c);
}

/* ---- the node ------------------------------------------------------------------------- */

static int sink_rep_init(struct xk_rep *r)
{
	peer_tcp_init(r, tick);
	return XK_OK;
}

static int sink_rep_start(struct xk_rep *r, struct xk_errs *e)
{
	struct peer_tcp *t = r->state;

	(void)e;
	if (t->mr != NULL)
		peer_tcp_start(t, t->conf->idle != 0 ? peer_tcp_sink_idle_run : NULL);
	return XK_OK;
}

static const struct mem_peer sink_peer = { .push = sink_push, .at_reader = true };

static int sink_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	(void)r;
	return op == XK_CTL_MEM_PEER ? peer_tell(&sink_peer, buf, len) : XK_E_NOTSUP;
}

static int sink_check(const void *conf, char *why, size_t n)
{
	const struct peer_tcp_conf *c = conf;

	if (c->idle == 0 || c->to != 0)
		return XK_OK;
	snprintf(why, n, "idle = %llu needs 'to', the address to connect to", (unsigned long long)c->idle);
	return XK_E_INVAL;
}

static const struct xk_ops sink_ops = {
	.rep_init = sink_rep_init, .rep_fini = peer_tcp_rep_fini,
	.rep_start = sink_rep_start, .rep_stop = peer_tcp_rep_stop, .control = sink_control,
};

static const struct xk_param sink_params[] = {
	PEER_TCP_PARAM(window, XK_P_SIZE, "64KiB",
	  "receive window that is offered", .min = "1KiB", .max = "1GiB"),
	PEER_TCP_PARAM(ack_every, XK_P_UINT, "2",
	  "segments per ACK", .min = "1", .max = "64"),
	PEER_TCP_PARAM(mac, XK_P_MAC, NULL, "link address that frames come from"),
	PEER_TCP_IDLE_PARAMS,
	PEER_TCP_PARAM(to, XK_P_IPV4, NULL, "address that silent peers connect to"),
	PEER_TCP_PARAM(from, XK_P_IPV4, "10.0.0.2",
	  "silent peers have addresses from this one + 65536 on"),
	XK_PARAM_END
};

static const char *const sink_drops[] = { "not_reflected", NULL };
static const char *const sink_counts[] = { "opened", "closed", "sunk", "sunk_bytes", "acks", NULL };

const struct xk_proto xk_proto_peer_tcp_sink = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "peer_tcp_sink",
	.doc = "at the far end of a wire in memory: "
	       "accepts TCP connections, swallows and acknowledges their data",
	.is_driver = true, .ops = &sink_ops, .offers = "peer", .params = sink_params,
	.conf_size = sizeof(struct peer_tcp_conf), .rep_size = sizeof(struct peer_tcp),
	.check = sink_check, .drops = sink_drops, .counts = sink_counts,
};
