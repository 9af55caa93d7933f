/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fc_credit.c - what leaves has a buffer waiting for it at the receiver (the paper's figures 7, 8).
 *
 * With C transmissions that have arrived or were given up as lost, the receiver allows the sender
 * C - occupied + buffers in all.  Then sent - C <= buffers - occupied: whatever may still
 * come has a buffer, under any delay, order, loss and repetition of packets and reports.  The rule
 * as printed, one more for each packet received, loses a credit with each packet or report lost and
 * sticks; counting from the highest number seen instead gives the buffers of late ones away.
 * Where the sender asks (fc_shared.c), those that have not arrived are given up, and without being asked
 * those that were overtaken by more transmissions than others were so far; one that comes after that is not
 * taken: its place is given away.
 * A connection begins with `first` buffers; each time that its sender says that it has more and may
 * not, and then every buffer is free, they are doubled, up to `most`.  Nothing allowed is taken back.
 * Of a pool (ncs_pool.c) others say how many it has, as soon as it wants more.
 * Invariant: transmissions numbered below the limit, less C, fit into the buffers that are free.
 */
#include "protocols/ncs/ncs_policy.h"

#define DEPTH_LEAST 2u
#define DEPTH_FIRST 4u
#define LOSSY       8192u                /* transmissions that a line is taken to lose some of after it did */

struct credit_tx {
	struct ncs_asker ask;
	uint32_t limit;                  /* transmissions allowed in all */
};

struct credit_rx {
	struct ncs_seen seen;
	uint32_t        buffers, most;
	uint32_t        occupied;
	uint32_t        depth;           /* of those that came, the most by which one was overtaken */
	uint32_t        lost;            /* behind the last one that was given up, while lossy */
	bool            lossy;
	uint32_t        said;            /* the limit as last reported */
	bool            asked;
	bool            stopped;         /* the sender was, since buffers were last added */
	bool            pooled, wants;   /* others add them; more are wanted */
};

/* Both sides begin with the same limit: it was agreed. */
static void tx_init(void *st, const struct ncs_agreed *a, xk_ns now)
{
	*(struct credit_tx *)st = (struct credit_tx){ .ask = { .sent = a->start, .since = now }, .limit = a->start + a->first };
}

static bool may(const void *st, xk_ns now)
{
	const struct credit_tx *c = st;

	(void)now;
	return c->ask.sent != c->limit;
}

static void heard(void *st, uint32_t value, xk_ns now)
{
	struct credit_tx *c = st;

	/* No receiver allows more than its numbers can tell apart. */
	if (!ncs_lt(c->limit, value) || value - c->ask.sent > NCS_WINDOW_MAX)
		return;
	c->limit = value;
	ncs_asker_news(&c->ask, now);
}

/* ---- the receiver ----------------------------------------------------------------------- */

static void rx_init(void *st, const struct ncs_agreed *a)
{
	struct credit_rx *c = st;

	*c = (struct credit_rx){ .buffers = a->first, .most = a->most, .pooled = a->pooled, .said = a->start + a->first };
	c->depth = a->most / 8 < DEPTH_LEAST ? DEPTH_LEAST : a->most / 8 < DEPTH_FIRST ? a->most / 8 : DEPTH_FIRST;
	ncs_seen_init(&c->seen, a->start);
}

static uint32_t limit(const struct credit_rx *c)
{
	return ncs_seen_count(&c->seen) - c->occupied + c->buffers;
}

/* Late ones that were given up look like doubled ones, which are as late. */
static void overtaken(struct credit_rx *c, uint32_t tx)
{
	uint32_t high = c->seen.end - 1, by = high - tx;

	if (ncs_lt(tx, high) && by > c->depth)
		c->depth = by < NCS_WINDOW_MAX ? by : NCS_WINDOW_MAX;
	if (ncs_lt(c->seen.base + c->depth, high)) {
		ncs_seen_below(&c->seen, high - c->depth);
		c->lost = c->seen.base;
		c->lossy = true;
	}
	c->lossy = c->lossy && c->seen.end - c->lost < LOSSY;
}

static enum ncs_verdict arrived(void *st, uint32_t tx, uint8_t flags)
{
	struct credit_rx *c = st;
	enum ncs_verdict is = ncs_seen_take(&c->seen, tx, c->said);

	overtaken(c, tx);
	if (is != NCS_NEW)
		return is;
	c->occupied++;
	c->stopped |= (flags & NCS_STOPPED) != 0;
	return NCS_NEW;
}

static void freed(void *st, uint32_t n)
{
	struct credit_rx *c = st;

	c->occupied -= n;
	if (!c->stopped || c->occupied != 0)
		return;
	/* The sender has more, and no buffer is wanting. */
	c->stopped = false;
	if (c->pooled)
		c->wants = true;
	else
		c->buffers = c->buffers * 2 < c->most ? c->buffers * 2 : c->most;
}

static void queried(void *st, uint32_t value)
{
	struct credit_rx *c = st;

	if (ncs_lt(c->said, value))              /* of no honest sender */
		return;
	ncs_seen_below(&c->seen, value);
	c->asked = true;
}

/* Four times as many: some thousand come in five round trips. */
static struct ncs_buffers buffers(const void *st)
{
	const struct credit_rx *c = st;
	uint32_t more = c->wants ? c->buffers * 4 : c->buffers;

	return (struct ncs_buffers){ c->buffers, more < c->most ? more : c->most,
				     c->said - ncs_seen_count(&c->seen) + c->occupied };
}

static void allow(void *st, uint32_t n)
{
	struct credit_rx *c = st;

	c->wants = c->wants && n <= c->buffers;
	c->buffers = n;
}

/* At half of the buffers, or an eighth, where one that is lost is made up for by the next, and at once where the sender
 * can send no more. */
static bool report(void *st, uint32_t *value)
{
	struct credit_rx *c = st;
	uint32_t now = limit(c), more = ncs_lt(c->said, now) ? now - c->said : 0;
	uint32_t enough = c->lossy ? (c->buffers + 7) / 8 : (c->buffers + 1) / 2;

	if (!c->asked && (more == 0 || (more < enough && c->seen.end != c->said)))
		return false;
	c->asked = false;
	c->said += more;
	*value = c->said;
	return true;
}

const struct ncs_flow_ops ncs_fc_credit = {
	.name = "credit", .tx_size = sizeof(struct credit_tx), .rx_size = sizeof(struct credit_rx),
	.tx_init = tx_init, .may = may, .sent = ncs_asker_sent, .heard = heard, .when = ncs_asker_when, .query = ncs_asker_query,
	.rx_init = rx_init, .arrived = arrived, .freed = freed, .queried = queried, .report = report, .buffers = buffers, .allow = allow,
};
