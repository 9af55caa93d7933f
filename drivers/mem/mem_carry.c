/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mem_carry.c - the in-memory driver where I/O threads own the devices.
 *
 * A frame that a connection's VP pushes is on the wire of a device that another VP reads:
 * it is copied by the push, as the wire's copy, and left for the other end's I/O thread,
 * or in the queue that all I/O threads share.  A simulated peer that keeps state lives on the
 * device's I/O thread, and frames for it are left there.
 * Invariant: behind a device of a graph with I/O threads, only its I/O thread makes frames.
 */
#include "drivers/mem/mem_priv.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_input.h"

#include <string.h>

#define BACKLOG 1024u            /* messages in the shared queue at which a generator waits */

/* A frame arrives at n: at its I/O thread, or in the queue of all, through the edge of the
 * replica where it was made. */
static void arrive(struct xk_node *n, struct xk_rep *here, struct xk_msg *m)
{
	struct mem_state *st = n->state;

	if (xk_vpset_pools(n->graph->vps)) {
		xk_input(here, &m, 1);
		return;
	}
	m->node = n->no;
	m->vp = st->reader->no;
	m->hash = 0;
	m->u.name = 0;
	xk_vp_post(st->reader, m);
}

static void put_cut(struct mem_rep *mr, struct xk_msg *x)
{
	arrive(mr->other->rep->node, mr->other->rep, x);
}

static void push_super(struct mem_rep *mr, struct xk_msg *m)
{
	if (XK_UNLIKELY(!mem_wire_cut(mr, m, put_cut)))
		xk_drop(mr->rep, MEM_DROP_SUPER, m);
}

void mem_carried_loop_push(struct xk_sess *s, struct xk_msg *m)
{
	struct xk_rep *r = s->rep;
	struct mem_rep *mr = r->state;

	if (XK_UNLIKELY(m->tot > mr->frame_max && !(m->flags & XK_MSG_SUPER)))
		xk_drop(r, MEM_DROP_TOO_LONG, m);
	else if (XK_UNLIKELY(!mem_wire_reaches(mr, &m)))
		xk_drop(r, MEM_DROP_NOBODY, m);
	else if (XK_UNLIKELY(!mr->other->open))
		xk_drop(r, MEM_DROP_STOPPED, m);
	else if (m->flags & XK_MSG_SUPER)
		push_super(mr, m);
	else if ((m = mem_wire_cross(mr, m)) != NULL)
		arrive(mr->other->rep->node, mr->other->rep, m);
}

void mem_rx_answer(struct xk_sess *s, struct xk_msg *m)
{
	if (XK_UNLIKELY(mem_state(s->rep)->reader != NULL))
		arrive(s->rep->node, s->rep, m);
	else
		mem_rx_put(s->rep->state, m);
}

/* For a peer that lives on the I/O thread. */
void mem_carried_peer_push(struct xk_sess *s, struct xk_msg *m)
{
	struct xk_node *n = s->rep->node;
	struct mem_state *st = n->state;

	m->node = n->no;
	m->vp = st->reader->no;
	xk_vp_post(st->reader, m);
}

static void to_peer(struct xk_rep *r, struct xk_msg *m)
{
	struct mem_rep *mr = r->state;

	if (XK_UNLIKELY(!mr->open || r->drv_sess == NULL))
		xk_drop(r, MEM_DROP_STOPPED, m);
	else
		mr->peer->push(r->drv_sess, m);
}

void mem_carried_enter(struct xk_rep *r, struct xk_msg *m)
{
	struct mem_rep *mr = r->state;

	/* From the shared queue, or found to be of a connection of this VP's. */
	if (m->vp == r->vp->set->nvps || !xk_vp_is_io(r->vp))
		xk_input_enter(r, m);
	else if (mr->peer != NULL && mr->peer->at_reader)
		to_peer(r, m);
	else if (XK_UNLIKELY(!mr->open))
		xk_drop(r, MEM_DROP_STOPPED, m);
	else if (XK_UNLIKELY(mr->q.n >= mr->cap))
		xk_drop(r, MEM_DROP_QUEUE_FULL, m);
	else
		mem_rx_put(mr, m);
}

/* What has arrived, as it is: it was copied when it was pushed. */
unsigned mem_carried_rx_run(struct xk_task *t, unsigned budget)
{
	struct mem_rep *mr = xk_container_of(t, struct mem_rep, task);
	struct xk_msg *burst[MEM_BURST];
	unsigned done = 0;

	if (budget > mr->q.n)
		budget = mr->q.n;
	while (done < budget) {
		unsigned n = budget - done < MEM_BURST ? budget - done : MEM_BURST;

		for (unsigned i = 0; i < n; i++)
			burst[i] = xk_msgq_get(&mr->q);
		xk_input(mr->rep, burst, n);
		done += n;
	}
	if (mr->q.n == 0)
		xk_task_park(t);
	return done;
}

bool mem_backlogged(const struct mem_rep *mr)
{
	const struct xk_vpset *set = mr->rep->vp->set;

	return mem_state(mr->rep)->reader != NULL && xk_vpset_pools(set) && xk_vpset_backlog(set) >= BACKLOG;
}
