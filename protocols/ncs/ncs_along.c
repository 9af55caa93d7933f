/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs_along.c - answers that go along with an SDU the other way, so that a question and its answer are two datagrams and
 * not four.
 *
 * An acknowledgement that says no more than that all came in order, and what flow control reports, fit where a message
 * of one SDU has two numbers that are 0.  They go with the first such SDU that leaves before the VP's tasks have had
 * their turns: who asks by messages gets the answer with the next question.  No time passes, and what came in one unit is
 * answered once.  Whatever does not fit is said by a record, as is all that is due when the turns are over, where a peer
 * does not know of this, where one end has `answers = "apart"`, where buffers are of a pool, and where stages have
 * threads.
 * Where what is below loses nothing (shm) all that may wait until a timer says that none has left: programs that answer
 * each other come back with a message later than a round, and nobody there waits for an answer, since nothing is repeated.
 * It does not wait where the sender would (NCS_MORE, credit).
 * Of numbers 24 bits are there.  What is answered is among the last 2^24 that were sent, since an SDU is taken once, and
 * within `give_up`, or the connection has ended.
 * Invariant: what was taken from a control is said, one way or the other; outside of ncs_data_in a connection that owes is
 * in the list, or holds.
 */
#include "protocols/ncs/ncs_priv.h"

#include "runtime/vp/xk_task.h"

#define LOW(bits) ((1u << (bits)) - 1)
#define HELD_MOST 8u
#define DEPTH_KNOWN 2u                   /* senders reckon with that much by themselves */

/* ---- later in the round ------------------------------------------------------------------------ */

static struct ncs_conn *conn_at(struct xk_listed *i) { return xk_container_of(i, struct ncs_conn, owing); }

static unsigned answers_run(struct xk_task *t, unsigned budget)
{
	struct ncs_rep *nr = xk_container_of(t, struct ncs_rep, answers);
	struct xk_listed *i;
	unsigned n = 0;

	for (; n < budget && (i = xk_list_first(&nr->owing)) != NULL; n++) {
		struct ncs_conn *c = conn_at(i);
		struct ncs_sess *peer = c->peer;

		xk_list_take(i);
		if (!c->owes)
			continue;
		ncs_peer_enter(peer);
		ncs_answer(c);
		ncs_peer_leave(peer);
	}
	if (xk_list_empty(&nr->owing))
		xk_task_park(t);
	return n;
}

void ncs_along_init(struct xk_rep *r)
{
	xk_task_init(&ncs_rep(r)->answers, r->vp, answers_run);
}

void ncs_along_stop(struct xk_rep *r)
{
	xk_task_park(&ncs_rep(r)->answers);
}

void ncs_along_later(struct ncs_conn *c)
{
	struct ncs_rep *nr = ncs_rep(c->sess->s.rep);

	if (c->holds && c->held == 0)            /* the sender waits for it */
		ncs_answer(c);
	if (!c->owes || c->held != 0 || xk_is_listed(&c->owing))
		return;
	xk_list_put(&nr->owing, &c->owing);
	xk_task_ready(&nr->answers);
}

/* ---- later than that ------------------------------------------------------------------------------- */

/* So many SDUs, of so many buffers or SDUs under way, are answered by nothing at most. */
static uint32_t most_held(const struct ncs_conn *c)
{
	uint32_t n = c->choice.agreed.error_window / 4;
	struct ncs_buffers b;

	if (ncs_rx_buffers(c->rx, &b) && b.owed < 2)
		return 0;                        /* the sender's next SDU would wait */
	if (c->choice.flow == &ncs_fc_window && n >= c->choice.agreed.flow_window)
		n = c->choice.agreed.flow_window - 1;
	return n < HELD_MOST ? n : HELD_MOST;
}

void ncs_along_hold(struct ncs_conn *c, uint8_t flags)
{
	if (!c->holds || (flags & (NCS_MORE | NCS_REPEAT)) != 0 || c->held >= most_held(c)) {
		c->held = 0;
		return;
	}
	c->held_at = c->held == 0 ? xk_vp_now() : c->held_at;
	c->held++;
}

/* ---- what fits ------------------------------------------------------------------------------------ */

/* All below base have come, the last of them now. */
static bool is_plain(const struct ncs_ack *a)
{
	return a->nbits == 0 && !a->gap && a->depth <= DEPTH_KNOWN && a->echo_no == a->base - 1;
}

/* Is value less echo a number of NCS_OFF_BITS with a sign? */
static bool is_near(uint32_t value, uint32_t echo)
{
	return value - echo + (1u << (NCS_OFF_BITS - 1)) <= LOW(NCS_OFF_BITS);
}

static uint64_t take_ack(struct ncs_conn *c, uint32_t *echo)
{
	struct ncs_ack a;

	if (!ncs_rx_ack(c->rx, &a))
		return 0;
	if (!is_plain(&a)) {
		ncs_say_this_ack(c, &a);
		return 0;
	}
	*echo = a.echo_tx;
	return NCS_ALONG | NCS_ALONG_ACK | (uint64_t)(a.base & LOW(NCS_NUMBER_BITS)) << NCS_ALONG_BASE;
}

static uint64_t take_value(struct ncs_conn *c, uint32_t echo)
{
	uint32_t value;

	if (!ncs_rx_credit(c->rx, &value))
		return 0;
	if (!is_near(value, echo)) {
		ncs_say_this_credit(c, value);
		return 0;
	}
	return NCS_ALONG | NCS_ALONG_VALUE | (uint64_t)((value - echo) & LOW(NCS_OFF_BITS)) << NCS_ALONG_OFF;
}

uint64_t ncs_along_take(struct ncs_conn *c)
{
	uint32_t echo = c->last_tx;
	uint64_t along = take_ack(c, &echo);

	c->owes = false;
	c->held = 0;
	along |= take_value(c, echo);
	if (along == 0)
		return 0;
	xk_count(c->sess->s.rep->count[NCS_N_ALONG]);
	return along | (echo & LOW(NCS_NUMBER_BITS));
}

/* The number whose lowest bits these are, not above `most` and near it. */
static uint32_t below(uint32_t most, uint64_t bits)
{
	return most - ((most - (uint32_t)bits) & LOW(NCS_NUMBER_BITS));
}

uint32_t ncs_along_heard(const struct ncs_conn *c, uint64_t along, struct ncs_ack *a)
{
	uint32_t off = (uint32_t)(along >> NCS_ALONG_OFF) & LOW(NCS_OFF_BITS);

	a->base = below(c->fresh, along >> NCS_ALONG_BASE);
	a->echo_no = a->base - 1;
	a->echo_tx = below(c->tx->tx - 1, along);
	a->depth = a->nbits = 0;
	a->gap = false;
	/* off has a sign. */
	return a->echo_tx + off - ((off >> (NCS_OFF_BITS - 1)) << NCS_OFF_BITS);
}
