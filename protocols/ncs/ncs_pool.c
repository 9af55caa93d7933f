/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs_pool.c - receive buffers that the connections of a virtual processor share (the paper's dynamic credits).
 *
 * Each connection under credit has one; more, four times as many each time, are taken from the pool where
 * its sender was stopped by their number alone.  Where the pool has none left, those that used fewer over the
 * last four round trips than they have keep twice what a round trip brought, and those that have more than an
 * equal share of what is active keep that share.  Nothing that was allowed is taken back: a connection counts
 * with what its sender may still send, until it has.
 * Invariant: `pooled` is the sum over connections of what each is accounted for.
 */
#include "protocols/ncs/ncs_priv.h"

#include "runtime/vp/xk_task.h"

static struct xk_rep *rep_of(const struct ncs_conn *c) { return c->sess->s.rep; }

static xk_ns period(const struct ncs_conn *c) { return 4 * c->tx->rtt.mean; }

/* What c is to be accounted for: all but its first. */
static void account(struct ncs_conn *c)
{
	struct ncs_rep *nr = ncs_rep(rep_of(c));
	struct ncs_buffers b;
	uint64_t now = 0;

	if (c->rx != NULL && ncs_rx_buffers(c->rx, &b)) {
		uint32_t n = b.of > b.owed ? b.of : b.owed;

		now = (uint64_t)(n - 1) * c->choice.agreed.sdu;
	}
	nr->pooled += now - c->pooled;
	c->pooled = now;
}

/* SDUs of the last four round trips, at least those of the present ones. */
static uint32_t rate(struct ncs_conn *c, xk_ns now)
{
	if (now - c->since >= period(c)) {
		c->came_before = now - c->since >= 2 * period(c) ? 0 : c->came;
		c->came = 0;
		c->since = now;
	}
	return c->came > c->came_before ? c->came : c->came_before;
}

/* Those that do not need what they have keep less. */
static void gather(struct ncs_conn *by, xk_ns now)
{
	struct ncs_rep *nr = ncs_rep(rep_of(by));
	uint64_t share, active = 1;
	struct ncs_buffers b;

	if (now - nr->gathered < by->tx->rtt.mean)
		return;
	nr->gathered = now;
	for (uint32_t i = 0; i < nr->room; i++)
		active += nr->conn[i] != NULL && nr->conn[i] != by && rate(nr->conn[i], now) != 0;
	share = ncs_conf(rep_of(by))->pool / active / by->choice.agreed.sdu + 1;
	for (uint32_t i = 0; i < nr->room; i++) {
		struct ncs_conn *c = nr->conn[i];
		uint32_t keep;

		if (c == NULL || c == by || c->pooled == 0 || !ncs_rx_buffers(c->rx, &b))
			continue;
		keep = rate(c, now) / 2 < share ? rate(c, now) / 2 : (uint32_t)share;
		if (keep < b.of)
			ncs_rx_allow(c->rx, keep != 0 ? keep : 1);
		account(c);
	}
}

/* SDUs that the pool still has. */
static uint64_t left(const struct ncs_conn *c)
{
	const struct xk_rep *r = rep_of(c);
	uint64_t pool = ncs_conf(r)->pool, used = ncs_rep(r)->pooled;

	return used < pool ? (pool - used) / c->choice.agreed.sdu : 0;
}

void ncs_pool_turn(struct ncs_conn *c)
{
	xk_ns now = xk_vp_now();
	struct ncs_buffers b;
	uint64_t n;

	if (!c->choice.agreed.pooled || !ncs_rx_buffers(c->rx, &b))
		return;
	rate(c, now);
	c->came++;
	account(c);
	if (b.wants > b.of) {
		if (left(c) < b.wants - b.of)
			gather(c, now);
		n = b.of + left(c);
		if (n > b.of)
			ncs_rx_allow(c->rx, n < b.wants ? (uint32_t)n : b.wants);
		account(c);
	}
}

void ncs_pool_leave(struct ncs_conn *c)
{
	ncs_rep(rep_of(c))->pooled -= c->pooled;
	c->pooled = 0;
}
