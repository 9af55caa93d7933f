/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mem_tcp_source.c - the simulated TCP sender: opens N connections to
 * the stack, sends segments in order as fast as its window allows, ends them.
 *
 * A data segment is a template's line before whatever the receive buffer holds;
 * its checksum is a dummy, computed and ignored by the receiver.  A unit of
 * work is a burst of one connection, connections take turns.  The network is
 * error-free, so what is lost all the same (no memory, a full inbox) is found by a
 * tick of 1 s and sent again from the first unacknowledged byte on.
 * The ports of a connection are chosen so that the classifier's hash leads to the
 * VP that shall run it: nothing changes its VP.
 * Invariant: a connection is in the list of turns when it may send, else an
 * acknowledgement or the tick puts it there.
 */
#include "drivers/mem/mem_tcp.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_input.h"

#include <stdio.h>
#include <string.h>

#define HEADERS 40u              /* IP and TCP */
#define TICK  XK_SEC
#define PER_HOST 64u             /* connections of one remote address */
#define TRIES    256u            /* ports of a connection on one address */
#define HOSTS    64u             /* addresses tried for it */

/* ---- one turn -------------------------------------------------------------------- */

/* Whole segments only: what is counted is messages. */
static bool may_send(const struct mem_tcp *t, const struct mem_tcp_conn *c)
{
	switch (c->state) {
	case MEM_TCP_NEW:
		return true;
	case MEM_TCP_OPEN:
		return c->left == 0 || (int32_t)(c->edge - c->snd_nxt) >= (int32_t)mem_conf(t->mr->rep)->size;
	default:
		return false;
	}
}

static struct xk_msg *next_data(struct mem_tcp *t, struct mem_tcp_conn *c)
{
	uint32_t size = (uint32_t)mem_conf(t->mr->rep)->size;
	struct xk_msg *m = mem_tcp_frame(t, c, c->snd_nxt, MEM_TCP_ACK, size);

	if (XK_UNLIKELY(m == NULL))
		return NULL;
	c->snd_nxt += size;
	c->left -= c->left != UINT64_MAX;
	xk_count(t->made[c->slot]);
	xk_count_add(t->bytes[c->slot], size);
	return m;
}

static struct xk_msg *next_frame(struct mem_tcp *t, struct mem_tcp_conn *c)
{
	uint8_t flags = MEM_TCP_FIN | MEM_TCP_ACK;
	struct xk_msg *m;

	if (XK_LIKELY(c->state == MEM_TCP_OPEN && c->left != 0))
		return next_data(t, c);
	if (c->state == MEM_TCP_NEW)
		flags = MEM_TCP_SYN;
	m = mem_tcp_frame(t, c, c->snd_nxt, flags, 0);
	if (m == NULL)
		return NULL;
	c->snd_nxt++;
	c->state = flags == MEM_TCP_SYN ? MEM_TCP_SYN_SENT : MEM_TCP_FIN_SENT;
	return m;
}

/* What waits on the wire first: answers to the stack. */
static unsigned answers(struct mem_rep *mr)
{
	struct xk_msg *m[MEM_BURST];
	unsigned n = 0;

	while (n < MEM_BURST && mr->q.n != 0)
		m[n++] = xk_msgq_get(&mr->q);
	if (n != 0)
		xk_input(mr->rep, m, n);
	return n;
}

unsigned mem_tcp_source_run(struct xk_task *task, unsigned budget)
{
	struct mem_rep *mr = xk_container_of(task, struct mem_rep, task);
	struct mem_tcp *t = mr->tcp;
	uint64_t burst = mem_conf(mr->rep)->burst, unit = burst != 0 ? burst : budget;
	struct mem_tcp_conn *c = t->first;
	struct xk_msg *m[MEM_BURST];
	unsigned n = 0;

	if (mr->q.n != 0)
		return answers(mr);
	if (c == NULL) {
		xk_task_park(task);
		return 0;
	}
	t->first = c->next;
	c->listed = false;
	while (n < unit && n < MEM_BURST && may_send(t, c) && (m[n] = next_frame(t, c)) != NULL)
		n++;
	if (may_send(t, c))
		mem_tcp_list(t, c);
	xk_count_add(mr->rep->count[MEM_N_MADE], n);
	if (n != 0)
		xk_input(mr->rep, m, n);
	return n;
}

static void take_turn(struct mem_tcp *t, struct mem_tcp_conn *c)
{
	if (!may_send(t, c))
		return;
	mem_tcp_list(t, c);
	xk_task_ready(&t->mr->task);
}

/* ---- what the stack says ----------------------------------------------------------------- */

static void source_over(struct mem_tcp *t, struct mem_tcp_conn *c)
{
	c->state = MEM_TCP_DONE;
	t->live--;
	xk_count(t->mr->rep->count[MEM_N_CLOSED]);
}

static void on_syn_ack(struct mem_tcp *t, struct mem_tcp_conn *c, const struct mem_tcp_seg *g)
{
	if (c->state != MEM_TCP_SYN_SENT && c->rcv_nxt != g->seq + 1)
		return;
	if (c->state == MEM_TCP_SYN_SENT && (g->flags & MEM_TCP_ACK) && g->ack == c->snd_nxt) {
		xk_count(t->mr->rep->count[MEM_N_OPENED]);
		c->state = MEM_TCP_OPEN;
		c->rcv_nxt = g->seq + 1;
		c->wscale = g->wscale != 255 ? g->wscale : 0;
		c->snd_una = c->snd_nxt;
		c->edge = c->snd_una + g->wnd;
	}
	mem_tcp_later(t, mem_tcp_frame(t, c, c->snd_nxt, MEM_TCP_ACK, 0));
	take_turn(t, c);
}

static void on_ack(struct mem_tcp *t, struct mem_tcp_conn *c, const struct mem_tcp_seg *g)
{
	uint32_t edge = g->ack + ((uint32_t)g->wnd << c->wscale);

	if ((int32_t)(g->ack - c->snd_una) > 0 && (int32_t)(g->ack - c->snd_nxt) <= 0)
		c->snd_una = g->ack;
	if ((int32_t)(edge - c->edge) > 0)
		c->edge = edge;
	/* The stack's data, were there any, is taken and forgotten. */
	if (g->len != 0 || (g->flags & MEM_TCP_FIN)) {
		if (g->seq == c->rcv_nxt)
			c->rcv_nxt += g->len + !!(g->flags & MEM_TCP_FIN);
		mem_tcp_later(t, mem_tcp_frame(t, c, c->snd_nxt, MEM_TCP_ACK, 0));
		if ((g->flags & MEM_TCP_FIN) && c->left == UINT64_MAX)
			c->left = 0;             /* the stack has had enough: so have we */
		if ((g->flags & MEM_TCP_FIN) && c->state == MEM_TCP_FIN_SENT && c->snd_una == c->snd_nxt)
			source_over(t, c);
	}
	if (c->state == MEM_TCP_OPEN)
		take_turn(t, c);
}

void mem_tcp_source_push(struct xk_sess *s, struct xk_msg *m)
{
	struct xk_rep *r = s->rep;
	struct mem_rep *mr = r->state;
	struct mem_tcp *t = mr->tcp;
	struct mem_tcp_conn *c;
	struct mem_tcp_seg g;

	if (!mem_tcp_take(s, m, &g))
		return;
	c = mem_tcp_find(t, &g.key);
	if (XK_UNLIKELY(c == NULL)) {
		if (!mem_tcp_idle_answer(t, &g))
			xk_count(r->drop[MEM_DROP_NOT_REFLECTED]);
	} else if (XK_UNLIKELY(g.flags & MEM_TCP_RST)) {
		if (c->state != MEM_TCP_DONE)
			source_over(t, c);
	} else if (XK_UNLIKELY(g.flags & MEM_TCP_SYN)) {
		on_syn_ack(t, c, &g);
	} else if (g.flags & MEM_TCP_ACK) {
		on_ack(t, c, &g);
	}
}

/* Nothing acknowledged for a whole tick: from the first segment without one on. */
static void resend(struct mem_tcp *t, struct mem_tcp_conn *c)
{
	uint32_t size = (uint32_t)mem_conf(t->mr->rep)->size, first = c->map.hash + 1;

	if (c->state == MEM_TCP_SYN_SENT) {
		c->snd_nxt = c->snd_una;
		c->state = MEM_TCP_NEW;
	} else if (c->snd_nxt != c->snd_una && c->snd_una == c->una_then) {
		uint32_t from = c->snd_una - (c->snd_una - first) % size, fin = c->state == MEM_TCP_FIN_SENT;

		if (c->left != UINT64_MAX)
			c->left += (c->snd_nxt - fin - from) / size;
		c->snd_nxt = from;
		c->state = MEM_TCP_OPEN;
	}
	c->una_then = c->snd_una;
	take_turn(t, c);
}

static void tick(struct xk_timer *timer)
{
	struct mem_tcp *t = xk_container_of(timer, struct mem_tcp, tick);

	for (uint32_t i = 0; i < t->nconn; i++)
		if (t->conn[i]->state != MEM_TCP_DONE)
			resend(t, t->conn[i]);
	if (t->live != 0)
		xk_timer_set(t->mr->rep->wheel, &t->tick, xk_vp_now() + TICK);
}

/* ---- connections ------------------------------------------------------------------------------ */

/* Connection i's k-th choice of address and port. */
static struct xk_flowkey choice(const struct mem_conf *c, uint64_t i, uint32_t k)
{
	struct xk_flowkey f = { .proto = 6 };

	f.raddr = htobe32(c->from + (uint32_t)(i / PER_HOST + k / TRIES * (c->conns / PER_HOST + 1)));
	f.laddr = htobe32(c->to);
	f.rport = htobe16((uint16_t)(c->from_port + i % PER_HOST * TRIES + k % TRIES));
	f.lport = htobe16((uint16_t)(c->port + i % c->ports));
	return f;
}

/* Is connection i this VP's, and by which key?  With place = "hash" its first
 * choice goes wherever it goes. */
static bool conn_key(const struct xk_rep *r, uint64_t i, struct xk_flowkey *f)
{
	const struct mem_conf *c = mem_conf(r);
	const struct xk_flowtab *flows = r->node->graph->flows;
	const struct xk_vp *vp = xk_graph_vp_of(r->node->graph, i);
	bool hash = c->place == MEM_PLACE_HASH;

	if (!hash && !mem_is_here(r, vp))
		return false;
	for (uint32_t k = 0; k < (hash ? 1 : TRIES * HOSTS); k++) {
		uint16_t home;

		*f = choice(c, i, k);
		home = xk_flow_home(flows, f);

		if (hash ? mem_is_here(r, r->vp->set->vp[home]) : home == vp->no)
			return true;
	}
	return false;
}

static int conn_add(struct mem_tcp *t, uint64_t i, const struct xk_flowkey *f)
{
	const struct mem_conf *c = mem_conf(t->mr->rep);
	uint64_t n = c->count / c->conns + (i < c->count % c->conns);
	struct mem_tcp_conn *k;
	struct xk_key key;

	memcpy(&key, f, sizeof key);
	k = mem_tcp_conn_new(t, &key);
	if (k == NULL)
		return XK_E_NOMEM;
	k->left = c->count != 0 ? n : UINT64_MAX;
	k->slot = t->nconn;
	t->no[t->nconn] = i;
	t->conn[t->nconn++] = k;
	t->live++;
	mem_tcp_list(t, k);
	return XK_OK;
}

static int fill(struct mem_tcp *t)
{
	struct xk_rep *r = t->mr->rep;
	const struct mem_conf *c = mem_conf(r);
	struct xk_flowkey f;
	uint32_t n = 0;
	int err = XK_OK;

	for (uint64_t i = 0; i < c->conns; i++)
		n += conn_key(r, i, &f);
	if (n == 0)
		return XK_OK;
	t->conn = xk_alloc(n * sizeof(struct mem_tcp_conn *));
	t->made = xk_alloc(n * 3 * sizeof *t->made);
	if (t->conn == NULL || t->made == NULL)
		return XK_E_NOMEM;
	t->bytes = t->made + n;
	t->no = t->bytes + n;
	for (uint64_t i = 0; err == XK_OK && i < c->conns; i++)
		if (conn_key(r, i, &f))
			err = conn_add(t, i, &f);
	return err;
}

int mem_tcp_source_new(struct mem_rep *mr)
{
	const struct mem_conf *c = mem_conf(mr->rep);
	int err = mem_tcp_new(mr, tick), lead;

	if (err == XK_OK && (lead = mem_lead(c->lead, mr->tcp->lead)) > 0)
		mr->tcp->nlead = (uint8_t)lead;
	if (err == XK_OK)
		err = fill(mr->tcp);
	if (err == XK_OK && c->rxbuf == MEM_COLD && mr->tcp->nconn != 0)
		err = mem_cold_fill(&mr->tcp->cold, c->rxcold ? c->rxcold : 2 * mem_l2_size(),
				    mr->tcp->hdr_len + (uint32_t)c->size);
	if (err != XK_OK || mr->tcp->nconn == 0)
		return err;
	xk_task_ready(&mr->task);
	xk_timer_set(mr->rep->wheel, &mr->tcp->tick, xk_vp_now() + TICK);
	return XK_OK;
}

int mem_tcp_source_counts(const struct mem_rep *mr, void *buf, unsigned len)
{
	const struct mem_tcp *t = mr->tcp;
	struct xk_app_counts c = { t->nconn, t->made, t->bytes, t->no, NULL, NULL };

	return xk_answer(buf, len, &c, sizeof c);
}

int mem_tcp_source_check(const struct mem_conf *c, char *why, size_t n)
{
	if (c->to == 0)
		snprintf(why, n, "peer = \"tcp_source\" needs 'to', the address to connect to");
	else if (c->size == 0 || c->size + HEADERS > c->mtu)
		snprintf(why, n, "size %llu: a segment has 1 to %llu bytes with an mtu of %llu", (unsigned long long)c->size,
			 (unsigned long long)(c->mtu - HEADERS), (unsigned long long)c->mtu);
	else if (mem_lead(c->lead, NULL) < 0 || (uint64_t)mem_lead(c->lead, NULL) > c->size)
		snprintf(why, n, "lead needs pairs of hexadecimal digits, at most %u of them and no more than size", MEM_LEAD_MAX);
	else if (mem_lead(c->lead, NULL) != 0 && c->checksum == MEM_CSUM_GOOD)
		snprintf(why, n, "a good checksum is made for zeros: lead needs checksum = \"compute-ignore\"");
	else if (c->from_port + PER_HOST * TRIES > 65536)
		snprintf(why, n, "from_port %u leaves too few ports for connections (%u for each address)", c->from_port,
			 PER_HOST * TRIES);
	else if (c->port + c->ports > 65536)
		snprintf(why, n, "port %u plus %llu ports passes 65535", c->port, (unsigned long long)c->ports);
	else
		return XK_OK;
	return XK_E_INVAL;
}
