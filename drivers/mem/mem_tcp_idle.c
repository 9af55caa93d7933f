/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mem_tcp_idle.c - peers by the million that connect to the stack and then are
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
#include "drivers/mem/mem_tcp.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_input.h"

#include <string.h>

#define HOST_GAP 65536u          /* behind the addresses of the peers that talk */
#define PER_HOST 32768u

static struct xk_flowkey key_of(const struct mem_conf *c, uint64_t i)
{
	struct xk_flowkey f = { .proto = 6 };

	f.raddr = htobe32(c->from + HOST_GAP + (uint32_t)(i / PER_HOST));
	f.laddr = htobe32(c->to);
	f.rport = htobe16((uint16_t)(65535 - i % PER_HOST));
	f.lport = htobe16(c->idle_port);
	return f;
}

/* A connection that lives no longer than the segment that is made of it. */
static void passing(struct mem_tcp *t, struct mem_tcp_conn *c, const struct xk_key *k, uint32_t rcv_nxt)
{
	memset(c, 0, sizeof *c);
	c->map.key = *k;
	c->rcv_nxt = rcv_nxt;
	mem_tcp_template(t, c);
}

static struct xk_msg *syn_of(struct mem_tcp *t, const struct xk_flowkey *f)
{
	struct mem_tcp_conn c;
	struct xk_key k;

	memcpy(&k, f, sizeof k);
	passing(t, &c, &k, 0);
	return mem_tcp_frame(t, &c, xk_key_hash(&k), MEM_TCP_SYN, 0);
}

bool mem_tcp_idle_answer(struct mem_tcp *t, const struct mem_tcp_seg *g)
{
	uint32_t span = g->len + !!(g->flags & MEM_TCP_SYN) + !!(g->flags & MEM_TCP_FIN);
	struct mem_tcp_conn c;

	if (mem_conf(t->mr->rep)->idle == 0)
		return false;
	if (g->flags & MEM_TCP_FIN)
		xk_count(t->mr->rep->count[MEM_N_CLOSED]);
	else if (g->flags & MEM_TCP_SYN)
		xk_count(t->mr->rep->count[MEM_N_OPENED]);
	if ((g->flags & MEM_TCP_RST) || span == 0)
		return true;
	passing(t, &c, &g->key, g->seq + span);
	mem_tcp_later(t, mem_tcp_frame(t, &c, g->ack, g->flags & MEM_TCP_FIN ? MEM_TCP_FIN | MEM_TCP_ACK : MEM_TCP_ACK, 0));
	return true;
}

static unsigned burst(struct mem_rep *mr)
{
	const struct mem_conf *c = mem_conf(mr->rep);
	const struct xk_flowtab *flows = mr->rep->node->graph->flows;
	struct mem_tcp *t = mr->tcp;
	struct xk_msg *m[MEM_BURST];
	unsigned n = 0;

	while (n < MEM_BURST && t->idle_next < c->idle) {
		struct xk_flowkey f = key_of(c, t->idle_next++);

		if (!mem_is_here(mr->rep, mr->rep->vp->set->vp[xk_flow_home(flows, &f)]))
			continue;
		m[n] = syn_of(t, &f);
		if (m[n] == NULL) {
			t->idle_next--;
			break;
		}
		n++;
	}
	if (n != 0)
		xk_input(mr->rep, m, n);
	return n;
}

unsigned mem_tcp_idle_run(struct xk_task *task, unsigned budget)
{
	struct mem_rep *mr = xk_container_of(task, struct mem_rep, task);

	const struct mem_conf *c = mem_conf(mr->rep);
	unsigned n;

	if (mr->q.n == 0 && mr->tcp->idle_next < c->idle)
		return burst(mr);
	n = c->peer == MEM_TCP_SOURCE ? mem_tcp_source_run(task, budget) : mem_rx_run(task, budget);
	if (mr->tcp->idle_next < c->idle)
		xk_task_ready(task);
	return n;
}
