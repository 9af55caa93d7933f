/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peer_tcp_idle.c - peers by the million that connect to the stack and then are
 * silent.
 *
 * They keep nothing: connection i's addresses and ports are made from i, its numbers
 * from those, and what the stack sends to one is answered from the segment itself.
 * So a process that holds a million connections holds one end of each.  A virtual
 * processor makes those that the classifier's hash leads to it, a burst at a time,
 * and only while nothing waits on the wire.
 * Invariant: what is answered is a segment with something to acknowledge, never an
 * acknowledgement alone.
 */
#include "drivers/peer/peer_tcp.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_input.h"

#include <string.h>

#define HOST_GAP 65536u          /* behind the addresses of the peers that talk */
#define PER_HOST 32768u

static struct xk_flowkey key_of(const struct peer_tcp_conf *c, uint64_t i)
{
	struct xk_flowkey f = { .proto = 6 };

	f.raddr = htobe32(c->from + HOST_GAP + (uint32_t)(i / PER_HOST));
	f.laddr = htobe32(c->to);
	f.rport = htobe16((uint16_t)(65535 - i % PER_HOST));
	f.lport = htobe16(c->idle_port);
	return f;
}

/* A connection that lives no longer than the segment that is made of it. */
static void passing(struct peer_tcp *t, struct peer_tcp_conn *c, const struct xk_key *k, uint32_t rcv_nxt)
{
	memset(c, 0, sizeof *c);
	c->map.key = *k;
	c->rcv_nxt = rcv_nxt;
	peer_tcp_template(t, c);
}

static struct xk_msg *syn_of(struct peer_tcp *t, const struct xk_flowkey *f)
{
	struct peer_tcp_conn c;
	struct xk_key k;

	memcpy(&k, f, sizeof k);
	passing(t, &c, &k, 0);
	return peer_tcp_frame(t, &c, xk_key_hash(&k), PEER_TCP_SYN, 0);
}

bool peer_tcp_idle_answer(struct peer_tcp *t, const struct peer_tcp_seg *g)
{
	uint32_t span = g->len + !!(g->flags & PEER_TCP_SYN) + !!(g->flags & PEER_TCP_FIN);
	struct peer_tcp_conn c;

	if (t->conf->idle == 0)
		return false;
	if (g->flags & PEER_TCP_FIN)
		xk_count(t->rep->count[PEER_TCP_N_CLOSED]);
	else if (g->flags & PEER_TCP_SYN)
		xk_count(t->rep->count[PEER_TCP_N_OPENED]);
	if ((g->flags & PEER_TCP_RST) || span == 0)
		return true;
	passing(t, &c, &g->key, g->seq + span);
	peer_tcp_later(t, peer_tcp_frame(t, &c, g->ack, g->flags & PEER_TCP_FIN ? PEER_TCP_FIN | PEER_TCP_ACK : PEER_TCP_ACK, 0));
	return true;
}

static unsigned burst(struct peer_tcp *t)
{
	const struct peer_tcp_conf *c = t->conf;
	const struct xk_rep *r = t->mr->rep;
	const struct xk_flowtab *flows = r->node->graph->flows;
	struct xk_msg *m[MEM_BURST];
	unsigned n = 0;

	while (n < MEM_BURST && t->idle_next < c->idle) {
		struct xk_flowkey f = key_of(c, t->idle_next++);

		if (!mem_is_here(r, r->vp->set->vp[xk_flow_home(flows, &f)]))
			continue;
		m[n] = syn_of(t, &f);
		if (m[n] == NULL) {
			t->idle_next--;
			break;
		}
		n++;
	}
	if (n != 0)
		xk_input(t->mr->rep, m, n);
	return n;
}

/* A burst of them while nothing waits on the wire, else what `run` has to do. */
static inline unsigned idle_run(struct xk_task *task, unsigned budget, unsigned (*run)(struct xk_task *, unsigned))
{
	struct peer_tcp *t = peer_tcp_of(task);
	unsigned n;

	if (t->mr->q.n == 0 && t->idle_next < t->conf->idle)
		return burst(t);
	n = run(task, budget);
	if (t->idle_next < t->conf->idle)
		xk_task_ready(task);
	return n;
}

unsigned peer_tcp_sink_idle_run(struct xk_task *task, unsigned budget)
{
	return idle_run(task, budget, mem_rx_run);
}

unsigned peer_tcp_source_idle_run(struct xk_task *task, unsigned budget)
{
	return idle_run(task, budget, peer_tcp_source_run);
}
