/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mem_tcp_sink.c - the simulated TCP receiver: takes any connection,
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
#include "drivers/mem/mem_tcp.h"
#include "runtime/upi/xk_input.h"

#define DEPTH 4u
#define TICK  (200 * XK_MS)

static void send_up(struct mem_tcp *t, struct xk_msg *m)
{
	if (XK_UNLIKELY(m == NULL))
		return;
	if (XK_UNLIKELY(t->depth == DEPTH || !t->mr->open)) {
		mem_tcp_later(t, m);
		return;
	}
	t->depth++;
	xk_input(t->mr->rep, &m, 1);
	t->depth--;
}

static void acknowledge(struct mem_tcp *t, struct mem_tcp_conn *c)
{
	c->unacked = 0;
	xk_count(t->mr->rep->count[MEM_N_ACKS]);
	send_up(t, mem_tcp_frame(t, c, c->snd_nxt, MEM_TCP_ACK, 0));
}

/* Acknowledges what no second segment has followed; asleep when there is none. */
static void tick(struct xk_timer *timer)
{
	struct mem_tcp *t = xk_container_of(timer, struct mem_tcp, tick);
	struct mem_tcp_conn *c = t->first;

	t->first = t->last = NULL;
	while (c != NULL) {
		struct mem_tcp_conn *next = c->next;

		c->listed = false;
		if (c->unacked != 0) {
			c->unacked = 0;
			xk_count(t->mr->rep->count[MEM_N_ACKS]);
			mem_tcp_later(t, mem_tcp_frame(t, c, c->snd_nxt, MEM_TCP_ACK, 0));
		}
		c = next;
	}
}

/* ---- segments ------------------------------------------------------------------------- */

static void on_syn(struct mem_tcp *t, const struct mem_tcp_seg *g)
{
	struct mem_tcp_conn *c = mem_tcp_find(t, &g->key);
	bool again = c != NULL && c->rcv_nxt == g->seq + 1 && c->state == MEM_TCP_SYN_SENT;

	if (c != NULL && !again) {               /* the old one is over */
		mem_tcp_conn_free(t, c);
		c = NULL;
	}
	if (c == NULL)
		c = mem_tcp_conn_new(t, &g->key);
	if (c == NULL) {
		xk_count(t->mr->rep->drop[XK_DROP_NOMEM]);
		return;
	}
	if (!again)
		xk_count(t->mr->rep->count[MEM_N_OPENED]);
	c->state = MEM_TCP_SYN_SENT;
	c->rcv_nxt = g->seq + 1;
	c->snd_nxt = c->snd_una + 1;
	mem_tcp_later(t, mem_tcp_frame(t, c, c->snd_una, MEM_TCP_SYN | MEM_TCP_ACK, 0));
}

/* The stack's FIN is answered by ours, its last ACK ends it. */
static void on_fin(struct mem_tcp *t, struct mem_tcp_conn *c)
{
	if (c->state != MEM_TCP_FIN_SENT) {
		c->rcv_nxt++;
		c->state = MEM_TCP_FIN_SENT;
		c->snd_una = c->snd_nxt++;
	}
	mem_tcp_later(t, mem_tcp_frame(t, c, c->snd_una, MEM_TCP_FIN | MEM_TCP_ACK, 0));
}

/* len bytes came in order. */
static inline void on_data(struct mem_tcp *t, struct mem_tcp_conn *c, uint32_t len)
{
	c->rcv_nxt += len;
	if (len != 0) {
		xk_count(t->mr->rep->count[MEM_N_SUNK]);
		xk_count_add(t->mr->rep->count[MEM_N_SUNK_BYTES], len);
	}
}

/* For one segment more: now, or when the tick comes. */
static inline void owe(struct mem_tcp *t, struct mem_tcp_conn *c)
{
	if (++c->unacked >= mem_conf(t->mr->rep)->ack_every) {
		acknowledge(t, c);
	} else if (!c->listed) {
		if (!xk_timer_armed(&t->tick))
			xk_timer_set(t->mr->rep->wheel, &t->tick, xk_vp_now() + TICK);
		mem_tcp_list(t, c);
	}
}

static void on_segment(struct mem_tcp *t, struct mem_tcp_conn *c, const struct mem_tcp_seg *g)
{
	if (c->state == MEM_TCP_FIN_SENT && g->ack == c->snd_nxt && g->len == 0) {
		mem_tcp_conn_free(t, c);
		xk_count(t->mr->rep->count[MEM_N_CLOSED]);
		return;
	}
	if (c->state == MEM_TCP_SYN_SENT && g->ack == c->snd_nxt)
		c->state = MEM_TCP_OPEN;
	if (XK_UNLIKELY(g->seq != c->rcv_nxt)) {
		if (c->state == MEM_TCP_FIN_SENT && (g->flags & MEM_TCP_FIN))
			on_fin(t, c);
		else if (g->len != 0 || (g->flags & MEM_TCP_FIN))
			acknowledge(t, c);
		return;
	}
	if (XK_UNLIKELY(g->flags & MEM_TCP_FIN)) {
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
static inline uint32_t next_data(const struct mem_tcp_conn *c, const struct xk_msg *m, uint32_t h)
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
	    (tcp[13] & ~MEM_TCP_PSH) != MEM_TCP_ACK || c->state != MEM_TCP_OPEN || headers < 40 || headers >= total ||
	    h + total > m->len)
		return 0;
	return total - headers;
}

/* Any frame, examined. */
static XK_APART void sink_push_any(struct xk_sess *s, struct xk_msg *m)
{
	struct xk_rep *r = s->rep;
	struct mem_rep *mr = r->state;
	struct mem_tcp *t = mr->tcp;
	const struct xk_flowkey *k;
	struct mem_tcp_conn *c;
	struct mem_tcp_seg g;

	if (!mem_tcp_take(s, m, &g))
		return;
	k = (const struct xk_flowkey *)(const void *)&g.key;
	c = mem_tcp_find(t, &g.key);
	if (c != NULL)
		t->recent[mem_tcp_recent((const uint8_t *)&k->lport, (const uint8_t *)&k->rport)] = c;
	if (XK_UNLIKELY(g.flags & MEM_TCP_RST)) {
		if (c != NULL) {
			mem_tcp_conn_free(t, c);
			xk_count(r->count[MEM_N_CLOSED]);
		}
	} else if (XK_UNLIKELY((g.flags & (MEM_TCP_SYN | MEM_TCP_ACK)) == MEM_TCP_SYN)) {
		on_syn(t, &g);
	} else if (c != NULL) {
		on_segment(t, c, &g);
	} else if (!mem_tcp_idle_answer(t, &g)) {
		xk_count(r->drop[MEM_DROP_NOT_REFLECTED]);
	}
}

/* The next data of one of the connections that the last segments were of, as nearly always. */
void mem_tcp_sink_push(struct xk_sess *s, struct xk_msg *m)
{
	struct mem_rep *mr = s->rep->state;
	struct mem_tcp *t = mr->tcp;
	const uint8_t *ports = m->data + t->hdr_len - 20;  /* behind headers without options, else not theirs */
	struct mem_tcp_conn *c = m->len < t->hdr_len ? NULL : t->recent[mem_tcp_recent(ports, ports + 2)];
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

int mem_tcp_sink_new(struct mem_rep *mr)
{
	return mem_tcp_new(mr, tick);
}
