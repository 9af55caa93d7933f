/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ec_none.c - no error control: messages arrive whole, once and in order, or not at all.
 *
 * SDUs leave once.  The receiver knows which have come; the first message that is whole is over,
 * and with it all that began before.  A message that a later one has overtaken whole, or that lies
 * further back than the window, never will be.
 * Invariant: base is the first SDU of a message, or all of its message before base have come.
 */
#include "protocols/ncs/ncs_policy.h"

struct none_tx { uint32_t next, end; };

static void tx_init(void *st, const struct ncs_agreed *a)
{
	*(struct none_tx *)st = (struct none_tx){ a->start, a->start };
}

static void add(void *st, uint32_t n)
{
	((struct none_tx *)st)->end += n;
}

static bool next(const void *st, uint32_t *no)
{
	const struct none_tx *n = st;

	*no = n->next;
	return n->next != n->end;
}

static uint8_t sent(void *st, uint32_t no, uint32_t tx, xk_ns now)
{
	(void)tx; (void)now;
	((struct none_tx *)st)->next = no + 1;
	return 0;
}

static bool heard(void *st, const struct ncs_ack *a, uint32_t tx, struct ncs_rtt *rtt, xk_ns now)
{
	(void)st; (void)a; (void)tx; (void)rtt; (void)now;
	return false;
}

static xk_ns when(const void *st, const struct ncs_rtt *rtt) { (void)st; (void)rtt; return XK_NS_NEVER; }
static void at(void *st, const struct ncs_rtt *rtt, xk_ns now) { (void)st; (void)rtt; (void)now; }
static uint32_t done(const void *st) { return ((const struct none_tx *)st)->next; }

/* ---- the receiver ----------------------------------------------------------------------- */

static void rx_init(void *st, const struct ncs_agreed *a)
{
	ncs_seen_init(st, a->start);
}

/* Have all from n up to end come? */
static bool all(const struct ncs_seen *s, uint32_t n, uint32_t end)
{
	for (; ncs_lt(n, end); n++)
		if (!ncs_seen_has(s, n))
			return false;
	return true;
}

static enum ncs_verdict arrived(void *st, const struct ncs_pkt *p)
{
	struct ncs_seen *s = st;
	uint32_t no = ncs_pkt_no(p), end = p->message + p->last + 1;

	if (ncs_seen_has(s, no))
		return NCS_DOUBLE;
	if (no - s->base >= NCS_WINDOW_MAX) {
		if (p->sdu >= NCS_WINDOW_MAX) {  /* some before it are missing, and stay so */
			ncs_seen_below(s, end);
			return NCS_DOUBLE;
		}
		ncs_seen_below(s, p->message);
	}
	ncs_seen_add(s, no);
	if (ncs_lt(s->base, end) && ncs_leq(s->base, p->message) && p->last < NCS_WINDOW_MAX &&
	    all(s, p->message, end))
		ncs_seen_below(s, end);
	return NCS_NEW;
}

static uint32_t base(const void *st) { return ((const struct ncs_seen *)st)->base; }
static bool report(void *st, struct ncs_ack *a) { (void)st; (void)a; return false; }

const struct ncs_error_ops ncs_ec_none = {
	.name = "none", .tx_size = sizeof(struct none_tx), .rx_size = sizeof(struct ncs_seen),
	.tx_init = tx_init, .add = add, .next = next, .sent = sent, .heard = heard, .when = when,
	.time = at, .done = done,
	.rx_init = rx_init, .arrived = arrived, .base = base, .report = report,
};
