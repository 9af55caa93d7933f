/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peer_tcp_source.c - the simulated TCP sender: opens N connections to
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
#include "drivers/peer/peer_tcp.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_input.h"
#include "runtime/upi/xk_review.h"

#include <stdio.h>
#include <string.h>

#define HEADERS 40u              /* IP and TCP */
#define TICK  XK_SEC
#define PER_HOST 64u             /* connections of one remote address */
#define TRIES    256u            /* ports of a connection on one address */
#define HOSTS    64u             /* addresses tried for it */

/* ---- one turn -------------------------------------------------------------------- */

/* Whole segments only: what is counted is messages. */
static bool may_send(const struct peer_tcp *t, const struct peer_tcp_conn *c)
{
	switch (c->state) {
	case PEER_TCP_NEW:
		return true;
	case PEER_TCP_OPEN:
		return c->left == 0 || (int32_t)(c->edge - c->snd_nxt) >= (int32_t)t->conf->size;
	default:
		return false;
	}
}

static struct xk_msg *next_data(struct peer_tcp *t, struct peer_tcp_conn *c)
{
	uint32_t size = (uint32_t)t->conf->size;
	struct xk_msg *m = peer_tcp_frame(t, c, c->snd_nxt, PEER_TCP_ACK, size);

	if (XK_UNLIKELY(m == NULL))
		return NULL;
	c->snd_nxt += size;
	c->left -= c->left != UINT64_MAX;
	xk_count(t->made[c->slot]);
	xk_count_add(t->bytes[c->slot], size);
	return m;
}

static struct xk_msg *next_frame(struct peer_tcp *t, struct peer_tcp_conn *c)
{
	uint8_t flags = PEER_TCP_FIN | PEER_TCP_ACK;
	struct xk_msg *m;

	if (XK_LIKELY(c->state == PEER_TCP_OPEN && c->left != 0))
		return next_data(t, c);
	if (c->state == PEER_TCP_NEW)
		flags = PEER_TCP_SYN;
	m = peer_tcp_frame(t, c, c->snd_nxt, flags, 0);
	if (m == NULL)
		return NULL;
	c->snd_nxt++;
	c->state = flags == PEER_TCP_SYN ? PEER_TCP_SYN_SENT : PEER_TCP_FIN_SENT;
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

unsigned peer_tcp_source_run(struct xk_task *task, unsigned budget)
{
	struct mem_rep *mr = xk_container_of(task, struct mem_rep, task);
	struct peer_tcp *t = mr->far->state;
	uint64_t burst = t->conf->burst, unit = burst != 0 ? burst : budget;
	struct peer_tcp_conn *c = t->first;
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
		peer_tcp_list(t, c);
	xk_count_add(t->rep->count[PEER_TCP_N_MADE], n);
	if (n != 0)
		xk_input(mr->rep, m, n);
	return n;
}

static void take_turn(struct peer_tcp *t, struct peer_tcp_conn *c)
{
	if (!may_send(t, c))
		return;
	peer_tcp_list(t, c);
	xk_task_ready(&t->mr->task);
}

/* ---- what the stack says ----------------------------------------------------------------- */

static void source_over(struct peer_tcp *t, struct peer_tcp_conn *c)
{
	c->state = PEER_TCP_DONE;
	t->live--;
	xk_count(t->rep->count[PEER_TCP_N_CLOSED]);
}

static void on_syn_ack(struct peer_tcp *t, struct peer_tcp_conn *c, const struct peer_tcp_seg *g)
{
	if (c->state != PEER_TCP_SYN_SENT && c->rcv_nxt != g->seq + 1)
		return;
	if (c->state == PEER_TCP_SYN_SENT && (g->flags & PEER_TCP_ACK) && g->ack == c->snd_nxt) {
		xk_count(t->rep->count[PEER_TCP_N_OPENED]);
		c->state = PEER_TCP_OPEN;
		c->rcv_nxt = g->seq + 1;
		c->wscale = g->wscale != 255 ? g->wscale : 0;
		c->snd_una = c->snd_nxt;
		c->edge = c->snd_una + g->wnd;
	}
	peer_tcp_later(t, peer_tcp_frame(t, c, c->snd_nxt, PEER_TCP_ACK, 0));
	take_turn(t, c);
}

static void on_ack(struct peer_tcp *t, struct peer_tcp_conn *c, const struct peer_tcp_seg *g)
{
	uint32_t edge = g->ack + ((uint32_t)g->wnd << c->wscale);

	if ((int32_t)(g->ack - c->snd_una) > 0 && (int32_t)(g->ack - c->snd_nxt) <= 0)
		c->snd_una = g->ack;
	if ((int32_t)(edge - c->edge) > 0)
		c->edge = edge;
	/* The stack's data, were there any, is taken and forgotten. */
	if (g->len != 0 || (g->flags & PEER_TCP_FIN)) {
		if (g->seq == c->rcv_nxt)
			c->rcv_nxt += g->len + !!(g->flags & PEER_TCP_FIN);
		peer_tcp_later(t, peer_tcp_frame(t, c, c->snd_nxt, PEER_TCP_ACK, 0));
		if ((g->flags & PEER_TCP_FIN) && c->left == UINT64_MAX)
			c->left = 0;             /* the stack has had enough: so have we */
		if ((g->flags & PEER_TCP_FIN) && c->state == PEER_TCP_FIN_SENT && c->snd_una == c->snd_nxt)
			source_over(t, c);
	}
	if (c->state == PEER_TCP_OPEN)
		take_turn(t, c);
}

static void source_push(struct xk_sess *s, struct xk_msg *m)
{
	struct peer_tcp *t = mem_far_state(s);
	struct peer_tcp_conn *c;
	struct peer_tcp_seg g;

	if (!peer_tcp_take(s, m, &g))
		return;
	c = peer_tcp_find(t, &g.key);
	if (XK_UNLIKELY(c == NULL)) {
		if (!peer_tcp_idle_answer(t, &g))
			xk_dropped(t->rep, PEER_DROP_NOT_REFLECTED, 1);
	} else if (XK_UNLIKELY(g.flags & PEER_TCP_RST)) {
		if (c->state != PEER_TCP_DONE)
			source_over(t, c);
	} else if (XK_UNLIKELY(g.flags & PEER_TCP_SYN)) {
		on_syn_ack(t, c, &g);
	} else if (g.flags & PEER_TCP_ACK) {
		on_ack(t, c, &g);
	}
}

/* Nothing acknowledged for a whole tick: from the first segment without one on. */
static void resend(struct peer_tcp *t, struct peer_tcp_conn *c)
{
	uint32_t size = (uint32_t)t->conf->size, first = c->map.hash + 1;

	if (c->state == PEER_TCP_SYN_SENT) {
		c->snd_nxt = c->snd_una;
		c->state = PEER_TCP_NEW;
	} else if (c->snd_nxt != c->snd_una && c->snd_una == c->una_then) {
		uint32_t from = c->snd_una - (c->snd_una - first) % size, fin = c->state == PEER_TCP_FIN_SENT;

		if (c->left != UINT64_MAX)
			c->left += (c->snd_nxt - fin - from) / size;
		c->snd_nxt = from;
		c->state = PEER_TCP_OPEN;
	}
	c->una_then = c->snd_una;
	take_turn(t, c);
}

static void tick(struct xk_timer *timer)
{
	struct peer_tcp *t = xk_container_of(timer, struct peer_tcp, tick);

	for (uint32_t i = 0; i < t->nconn; i++)
		if (t->conn[i]->state != PEER_TCP_DONE)
			resend(t, t->conn[i]);
	if (t->live != 0)
		xk_timer_set(t->rep->wheel, &t->tick, xk_vp_now() + TICK);
}

/* ---- connections ------------------------------------------------------------------------------ */

/* Connection i's k-th choice of address and port. */
static struct xk_flowkey choice(const struct peer_tcp_conf *c, uint64_t i, uint32_t k)
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
static bool conn_key(const struct peer_tcp *t, uint64_t i, struct xk_flowkey *f)
{
	const struct peer_tcp_conf *c = t->conf;
	const struct xk_rep *r = t->mr->rep;
	const struct xk_flowtab *flows = r->node->graph->flows;
	const struct xk_vp *vp = xk_graph_vp_of(r->node->graph, i);
	bool hash = c->place == PEER_PLACE_HASH;

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

static int conn_add(struct peer_tcp *t, uint64_t i, const struct xk_flowkey *f)
{
	const struct peer_tcp_conf *c = t->conf;
	uint64_t n = c->count / c->conns + (i < c->count % c->conns);
	struct peer_tcp_conn *k;
	struct xk_key key;

	memcpy(&key, f, sizeof key);
	k = peer_tcp_conn_new(t, &key);
	if (k == NULL)
		return XK_E_NOMEM;
	k->left = c->count != 0 ? n : UINT64_MAX;
	k->slot = t->nconn;
	t->no[t->nconn] = i;
	t->conn[t->nconn++] = k;
	t->live++;
	peer_tcp_list(t, k);
	return XK_OK;
}

static int fill(struct peer_tcp *t)
{
	const struct peer_tcp_conf *c = t->conf;
	struct xk_flowkey f;
	uint32_t n = 0;
	int err = XK_OK;

	for (uint64_t i = 0; i < c->conns; i++)
		n += conn_key(t, i, &f);
	if (n == 0)
		return XK_OK;
	t->conn = xk_alloc(n * sizeof(struct peer_tcp_conn *));
	t->made = xk_alloc(n * 3 * sizeof *t->made);
	if (t->conn == NULL || t->made == NULL)
		return XK_E_NOMEM;
	t->bytes = t->made + n;
	t->no = t->bytes + n;
	for (uint64_t i = 0; err == XK_OK && i < c->conns; i++)
		if (conn_key(t, i, &f))
			err = conn_add(t, i, &f);
	return err;
}

/* ---- the node --------------------------------------------------------------------------------- */

static int source_init(struct xk_node *n, struct xk_errs *e)
{
	const struct peer_tcp_conf *c = n->conf;

	(void)e;
	if (c->rxbuf == PEER_COLD && c->rxcold == 0)
		peer_cold_warn(n);
	return XK_OK;
}

static int source_rep_init(struct xk_rep *r)
{
	peer_tcp_init(r, tick);
	return XK_OK;
}

static int begin(struct peer_tcp *t)
{
	const struct peer_tcp_conf *c = t->conf;
	int lead = peer_lead(c->lead, t->lead), err;

	if (lead > 0)
		t->nlead = (uint8_t)lead;
	err = fill(t);
	if (err == XK_OK && c->rxbuf == PEER_COLD && t->nconn != 0)
		err = peer_cold_fill(&t->cold, c->rxcold, t->hdr_len + (uint32_t)c->size);
	if (err != XK_OK || t->nconn == 0)
		return err;
	xk_task_ready(&t->mr->task);
	xk_timer_set(t->rep->wheel, &t->tick, xk_vp_now() + TICK);
	return XK_OK;
}

static int source_rep_start(struct xk_rep *r, struct xk_errs *e)
{
	struct peer_tcp *t = r->state;
	int err;

	if (t->mr == NULL)
		return XK_OK;
	xk_task_no_input(&t->mr->task);
	peer_tcp_start(t, t->conf->idle != 0 ? peer_tcp_source_idle_run : peer_tcp_source_run);
	err = begin(t);
	if (err != XK_OK)
		peer_no_memory(r, e, t->conf->conns);
	return err;
}

static const struct mem_peer source_peer = { .push = source_push, .at_reader = true };

static int source_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	const struct peer_tcp *t = r->state;
	struct xk_app_counts c = { t->nconn, t->made, t->bytes, t->no, NULL, NULL };

	if (op == XK_CTL_MEM_PEER)
		return peer_tell(&source_peer, buf, len);
	return op == XK_CTL_PEER_COUNTS ? xk_answer(buf, len, &c, sizeof c) : XK_E_NOTSUP;
}

static const struct xk_ops source_ops = {
	.init = source_init, .rep_init = source_rep_init, .rep_fini = peer_tcp_rep_fini,
	.rep_start = source_rep_start, .rep_stop = peer_tcp_rep_stop, .control = source_control,
};

/* ---- before there is a graph ------------------------------------------------------------------ */

static int source_check(const void *conf, char *why, size_t n)
{
	const struct peer_tcp_conf *c = conf;

	if (c->from_port + PER_HOST * TRIES > 65536)
		snprintf(why, n, "from_port %u leaves too few ports for connections (%u for each address)",
			 c->from_port, PER_HOST * TRIES);
	else if (!peer_lead_fault(c->lead, c->size, c->checksum, why, n) &&
		 !peer_ports_fault(c->port, c->ports, why, n))
		return XK_OK;
	return XK_E_INVAL;
}

static int source_ask(const struct xk_view *v, unsigned op, void *buf, unsigned len)
{
	const struct peer_tcp_conf *c = v->conf;

	(void)len;
	return op == MEM_ASK_FITS ? peer_fits(buf, c->size, HEADERS) : XK_E_NOTSUP;
}

static const struct xk_param source_params[] = {
	PEER_SOURCE_PARAMS(PEER_TCP_PARAM),
	PEER_TCP_PARAM(size, XK_P_SIZE, "64", "payload bytes of each segment", .min = "1",
		       .max = "65495"),
	PEER_TCP_PARAM(from, XK_P_IPV4, "10.0.0.2",
	  "address that the first 64 connections come from; the next 64 come from the next"),
	PEER_TCP_PARAM(window, XK_P_SIZE, "64KiB", "receive window that is offered", .min = "1KiB",
		       .max = "1GiB"),
	PEER_TCP_PARAM(checksum, XK_P_ENUM, "compute-ignore",
	  "of data: a dummy that receivers compute and ignore, or a good one",
	  .choices = peer_csums),
	PEER_TCP_IDLE_PARAMS,
	XK_PARAM_END
};

static const char *const source_drops[] = { "not_reflected", NULL };
static const char *const source_counts[] = { "opened", "closed", "made", NULL };

const struct xk_proto xk_proto_peer_tcp_source = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "peer_tcp_source",
	.doc = "at the far end of a wire in memory: "
	       "opens TCP connections and sends as fast as their windows allow",
	.is_driver = true, .ops = &source_ops, .offers = "peer", .params = source_params,
	.conf_size = sizeof(struct peer_tcp_conf), .rep_size = sizeof(struct peer_tcp),
	.check = source_check, .ask = source_ask, .drops = source_drops, .counts = source_counts,
};
