/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs_half.c - error control over flow control, for one direction of a connection; see ncs_half.h.
 *
 * The ask bit stands on the last SDU that may leave at its time, repeated ones too: the receiver
 * answers it at once, and so no end of a burst waits for an acknowledgement that others would
 * have brought.
 */
#include "protocols/ncs/ncs_half.h"

#define STEADY 3u                        /* of tries that a line loses one in three of, four in vain are one in eighty */

static uint32_t words(uint32_t bytes) { return (bytes + 7) / 8; }

static void *tx_error(struct ncs_tx *t) { return &t->state[t->error_at]; }
static const void *tx_error_of(const struct ncs_tx *t) { return &t->state[t->error_at]; }
static void *rx_error(struct ncs_rx *r) { return &r->state[r->error_at]; }

/* ---- life ---------------------------------------------------------------------------------- */

size_t ncs_tx_size(const struct ncs_choice *c)
{
	uint32_t error = c->error->tx_size + c->error->tx_slot * c->agreed.error_window;

	return sizeof(struct ncs_tx) + 8u * (words(c->flow->tx_size) + words(error));
}

void ncs_tx_init(struct ncs_tx *t, const struct ncs_choice *c, xk_ns guess, xk_ns least, xk_ns now)
{
	struct ncs_agreed a = c->agreed;

	a.most = c->flow->buffers != NULL ? a.most : 0;
	t->flow = c->flow;
	t->error = c->error;
	t->tx = t->high = c->agreed.start;
	ncs_cc_init(&t->cc, &c->agreed, now);
	t->cc.on = t->cc.on && t->error->under_way != NULL;
	t->error_at = words(c->flow->tx_size);
	ncs_rtt_init(&t->rtt, guess, least);
	t->rtt.steady = c->agreed.newreno ? 0 : STEADY;
	t->flow->tx_init(t->state, &c->agreed, now);
	t->error->tx_init(tx_error(t), &a);
}

size_t ncs_rx_size(const struct ncs_choice *c)
{
	return sizeof(struct ncs_rx) + 8u * (words(c->flow->rx_size) + words(c->error->rx_size));
}

void ncs_rx_init(struct ncs_rx *r, const struct ncs_choice *c)
{
	r->flow = c->flow;
	r->error = c->error;
	r->error_at = words(c->flow->rx_size);
	r->flow->rx_init(r->state, &c->agreed);
	r->error->rx_init(rx_error(r), &c->agreed);
}

/* ---- the sender -------------------------------------------------------------------------- */

void ncs_tx_add(struct ncs_tx *t, uint32_t n)
{
	t->error->add(tx_error(t), n);
}

static uint32_t under_way(const struct ncs_tx *t)
{
	return t->error->under_way != NULL ? t->error->under_way(tx_error_of(t)) : 0;
}

/* Does the network, as far as that is known? */
static bool uncongested(const struct ncs_tx *t) { return !t->cc.on || ncs_cc_may(&t->cc, under_way(t)); }

bool ncs_tx_next(const struct ncs_tx *t, xk_ns now, uint32_t *no)
{
	return t->error->next(tx_error_of(t), no) && t->flow->may(t->state, now) && uncongested(t);
}

struct ncs_mark ncs_tx_sent(struct ncs_tx *t, uint32_t no, uint32_t bytes, xk_ns now)
{
	struct ncs_mark m = { t->tx++, 0 };
	uint32_t next, before = under_way(t);
	bool more, may;

	t->flow->sent(t->state, bytes, now);
	m.flags = t->error->sent(tx_error(t), no, m.tx, now);
	more = t->error->next(tx_error_of(t), &next);
	may = t->flow->may(t->state, now);
	if (t->cc.on) {
		t->high = ncs_lt(t->high, no + 1) ? no + 1 : t->high;
		/* Who goes back has nothing under way then: all that is not acknowledged was. */
		ncs_cc_sent(&t->cc, (m.flags & NCS_REPEAT) != 0, before != 0 ? before : t->high - ncs_tx_done(t), t->high, now);
	}
	if (!more || !may || !uncongested(t))
		m.flags |= NCS_ASK;
	if (more && !may)
		m.flags |= NCS_STOPPED;
	return m;
}

uint32_t ncs_tx_done(const struct ncs_tx *t)
{
	return t->error->done(tx_error_of(t));
}

void ncs_tx_credit(struct ncs_tx *t, uint32_t value, xk_ns now)
{
	t->flow->heard(t->state, value, now);
}

bool ncs_tx_ack(struct ncs_tx *t, const struct ncs_ack *a, xk_ns now)
{
	uint32_t before = ncs_tx_done(t), done;
	bool good = t->error->heard(tx_error(t), a, t->tx, &t->rtt, now);

	done = ncs_tx_done(t);
	if (t->cc.on && t->cc.extra > under_way(t))
		t->cc.extra = under_way(t);
	if (t->cc.on && done != before)
		ncs_cc_acked(&t->cc, done - before, done, now);
	return good;
}

xk_ns ncs_tx_when(const struct ncs_tx *t, xk_ns now)
{
	xk_ns error = t->error->when(tx_error_of(t), &t->rtt), flow = XK_NS_NEVER;
	uint32_t no;

	if (t->error->next(tx_error_of(t), &no))
		flow = !t->flow->may(t->state, now) ? t->flow->when(t->state, &t->rtt) :
		       uncongested(t) ? now : ncs_cc_when(&t->cc, &t->rtt);
	return error < flow ? error : flow;
}

bool ncs_tx_time(struct ncs_tx *t, xk_ns now, uint32_t *value)
{
	uint32_t no;

	t->error->time(tx_error(t), &t->rtt, now);
	if (t->error->next(tx_error_of(t), &no) && t->flow->may(t->state, now) && !uncongested(t))
		ncs_cc_time(&t->cc, &t->rtt, under_way(t), t->high, now);
	return t->error->next(tx_error_of(t), &no) && !t->flow->may(t->state, now) &&
	       t->flow->query(t->state, &t->rtt, now, value);
}

/* ---- the receiver ------------------------------------------------------------------------- */

enum ncs_verdict ncs_rx_passes(struct ncs_rx *r, const struct ncs_pkt *p)
{
	return r->flow->arrived(r->state, p->tx, p->flags);
}

enum ncs_verdict ncs_rx_wanted(struct ncs_rx *r, const struct ncs_pkt *p)
{
	enum ncs_verdict is = r->error->arrived(rx_error(r), p);

	if (is != NCS_NEW)
		r->flow->freed(r->state, 1);
	return is;
}

enum ncs_verdict ncs_rx_arrived(struct ncs_rx *r, const struct ncs_pkt *p)
{
	enum ncs_verdict is = ncs_rx_passes(r, p);

	return is == NCS_NEW ? ncs_rx_wanted(r, p) : is;
}

void ncs_rx_freed(struct ncs_rx *r, uint32_t n)
{
	r->flow->freed(r->state, n);
}

void ncs_rx_queried(struct ncs_rx *r, uint32_t value)
{
	r->flow->queried(r->state, value);
}

uint32_t ncs_rx_base(const struct ncs_rx *r)
{
	return r->error->base(&r->state[r->error_at]);
}

bool ncs_rx_buffers(const struct ncs_rx *r, struct ncs_buffers *b)
{
	if (r->flow->buffers == NULL)
		return false;
	*b = r->flow->buffers(r->state);
	return true;
}

void ncs_rx_allow(struct ncs_rx *r, uint32_t buffers)
{
	r->flow->allow(r->state, buffers);
}

bool ncs_rx_credit(struct ncs_rx *r, uint32_t *value)
{
	return r->flow->report(r->state, value);
}

bool ncs_rx_ack(struct ncs_rx *r, struct ncs_ack *a)
{
	return r->error->report(rx_error(r), a);
}
