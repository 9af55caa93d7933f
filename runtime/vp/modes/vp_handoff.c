/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_handoff.c - an I/O thread takes a message through the lock of the connection it found
 * it to be of, and up to the application, without leaving its own VP (domain `none`).
 *
 * Its own VP's lock is held meanwhile, and nothing else waits for that with a lock of its
 * own: a connection's VP leaves what it has for an I/O thread in a queue.  So locks are
 * asked for in one order, see vp_table.c.
 *
 * Order.  A message from the pool's queue has a ticket.  Asked to keep the order
 * of arrival, an I/O thread waits until every message taken before has found its owner or
 * been dropped; then the owner's VP gives it a number, the next one may look, and it
 * waits for those numbered before it to have the lock.  So messages of one connection
 * enter as they came, and those of others do not wait for its lock.
 * Invariant: xk_pool.turn is the lowest ticket that has neither found nor been dropped.
 */
#include "runtime/vp/modes/vp_pool.h"
#include "runtime/vp/vp_priv.h"

/* A processor is lent to who is waited for, and then given away: with more I/O threads than
 * processors, those who only lend it are run in turn with him.  Who is next looks again soon
 * however long it has waited: one that slept through its turn would hold up all behind it,
 * which sleep meanwhile and hold up those behind them. */
#define SPINS  200u
#define YIELDS 256u
#define NAP    20000u            /* ns for each that comes before, of at most: */
#define NAPS   32

/* ---- order ---------------------------------------------------------------------------- */

static bool ordered(const struct xk_vp *io_thread)
{
	return io_thread->ticket != 0 && io_thread->set->arch.order == XK_ORDER_ARRIVAL;
}

static void await(struct xk_vp *io_thread, const uint64_t *at, uint64_t mine)
{
	uint64_t turn = xk_load_acquire(at);

	if (turn == mine)
		return;
	xk_count(io_thread->order_stalls);
	for (unsigned n = io_thread->set->oversubscribed ? SPINS : 0; turn != mine; turn = xk_load_acquire(at)) {
		if (n < SPINS)
			xk_cpu_relax();
		else if (n < SPINS + YIELDS)
			xk_thread_yield();
		else
			xk_thread_nap(NAP * (mine - turn < NAPS ? mine - turn : NAPS));
		n += n < SPINS + YIELDS;
	}
}

void xk_vp_order_find(struct xk_vp *io_thread)
{
	if (ordered(io_thread))
		await(io_thread, &io_thread->set->pool_queue->turn, io_thread->ticket);
}

static void order_pass(struct xk_vp *io_thread)
{
	xk_store_release(&io_thread->set->pool_queue->turn, io_thread->ticket + 1);
}

void xk_vp_order_skip(struct xk_vp *io_thread)
{
	if (ordered(io_thread)) {
		xk_vp_order_find(io_thread);
		order_pass(io_thread);
	}
	io_thread->ticket = 0;
}

/* ---- entering -------------------------------------------------------------------------- */

static void become(struct xk_vp *vp)
{
	xk_vp_self = vp;
	xk_mem_self = &vp->mem;
	xk_vp_no = vp->no;
}

/* With to's lock: is the connection's state where it was? */
static void count_carrier(struct xk_vp *me, struct xk_vp *to)
{
	if (to->carrier == me->no) {
		xk_count(me->carrier_hits);
		return;
	}
	if (to->carrier != 0)
		xk_count(me->carrier_moves);
	to->carrier = me->no;
}

/* With to's lock, which is given back, and the message in its queue. */
static void run_inside(struct xk_vp *me, struct xk_vp *to, uint64_t ticket)
{
	bool kick;

	/* Without a ticket: something that was kept back on its way, and spent it. */
	if (ticket != 0 && ticket < to->order_last)
		xk_count(to->reordered);
	else if (ticket != 0)
		to->order_last = ticket;
	count_carrier(me, to);
	xk_assert(!to->inside);
	to->inside = true;
	if (me->now > to->now)
		to->now = me->now;
	become(to);
	xk_vp_run_brought(to);
	kick = xk_vp_busy(to) || xk_wheel_next(&to->wheel) < to->worker_next;
	to->inside = false;
	become(me);
	xk_vp_unlock(to);
	if (kick)
		xk_vp_kick(to);
}

/* The lock, or to's inbox has m. */
static bool enter(struct xk_vp *to, struct xk_msg *m)
{
	if (to->set->arch.handover == XK_HANDOVER_TRY) {
		if (xk_vp_trylock(to))
			return true;
		if (xk_vp_inbox_push(to, m, m, 1))
			return false;
	}
	xk_vp_lock(to);
	return true;
}

void xk_vp_handoff(struct xk_vp *to, struct xk_msg *m, bool held)
{
	struct xk_vp *me = xk_vp_self;
	uint64_t ticket = me->ticket, number = 0;
	bool keeps = ordered(me), in;

	if (keeps) {
		number = to->order_given++;      /* nobody else's turn */
		order_pass(me);
		await(me, &to->order_taken, number);
	}
	me->ticket = 0;
	m->link = NULL;
	in = enter(to, m);
	/* The next in order may leave its own in the inbox from now on: that is behind this one. */
	if (in)
		xk_vp_take_brought(to, m);
	if (keeps)
		xk_store_release(&to->order_taken, number + 1);
	if (held)
		xk_vp_table_unread(me);
	if (in)
		run_inside(me, to, ticket);
}
