/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ec_gbn.c - go-back-N: the receiver takes SDUs in order only, the sender goes back to the first missing one.
 *
 * The sender goes back when an acknowledgement says that something sent after the first missing
 * SDU has arrived, or when it hears nothing.  Since it last went back it has sent its SDUs one after
 * the other, so of each of them it knows the transmission: news of something sent before that is no
 * news.  Nothing but numbers is remembered of SDUs.
 * Invariant: base <= next <= end, next - base <= window; those from base to next - 1 left in
 * consecutive transmissions, the last one of which is last_tx.
 */
#include "protocols/ncs/ncs_policy.h"

struct gbn_tx {
	uint32_t base, next, end;        /* not acknowledged, not sent, not there */
	uint32_t high;                   /* behind the highest that was ever sent */
	uint32_t window;
	uint32_t last_tx;
	uint32_t vain;                   /* timeouts since something was acknowledged */
	uint32_t timed_tx;               /* of a transmission that is timed */
	bool     timed;
	xk_ns    timed_at;
	xk_ns    since;                  /* of the last thing that happened */
};

struct gbn_rx {
	uint32_t base;
	uint32_t window, unsaid;         /* taken since the last acknowledgement */
	uint32_t echo_no, echo_tx;
	bool     due, gap;
};

static void tx_init(void *st, const struct ncs_agreed *a)
{
	*(struct gbn_tx *)st = (struct gbn_tx){
		.window = a->error_window, .base = a->start, .next = a->start, .end = a->start, .high = a->start,
	};
}

static void add(void *st, uint32_t n)
{
	((struct gbn_tx *)st)->end += n;
}

static bool next(const void *st, uint32_t *no)
{
	const struct gbn_tx *g = st;

	*no = g->next;
	return g->next != g->end && g->next - g->base < g->window;
}

static uint8_t sent(void *st, uint32_t no, uint32_t tx, xk_ns now)
{
	struct gbn_tx *g = st;
	bool again = ncs_lt(no, g->high);

	g->next = no + 1;
	if (!again)
		g->high = g->next;
	g->last_tx = tx;
	g->since = now;
	if (!g->timed) {
		g->timed = true;
		g->timed_tx = tx;
		g->timed_at = now;
	}
	return again ? NCS_REPEAT : 0;
}

static void go_back(struct gbn_tx *g)
{
	g->next = g->base;
	g->timed = false;
}

static bool heard(void *st, const struct ncs_ack *a, uint32_t tx, struct ncs_rtt *rtt, xk_ns now)
{
	struct gbn_tx *g = st;

	if (!ncs_lt(a->echo_tx, tx) || ncs_lt(g->high, a->base))
		return false;
	if (g->timed && !ncs_lt(a->echo_tx, g->timed_tx)) {
		if (a->echo_tx == g->timed_tx)
			ncs_rtt_sample(rtt, now - g->timed_at);
		g->timed = false;
	}
	if (ncs_lt(a->base, g->base))
		return true;                     /* an old one */
	if (a->base != g->base) {
		g->base = a->base;
		if (ncs_lt(g->next, g->base))    /* what it went back for has come after all */
			g->next = g->base;
		g->vain = 0;
		g->since = now;
	}
	if (a->gap && g->next != g->base && ncs_lt(g->last_tx - (g->next - 1 - g->base), a->echo_tx))
		go_back(g);
	return true;
}

static xk_ns when(const void *st, const struct ncs_rtt *rtt)
{
	const struct gbn_tx *g = st;

	return g->next == g->base ? XK_NS_NEVER : g->since + ncs_rtt_timeout(rtt, g->vain);
}

static void at(void *st, const struct ncs_rtt *rtt, xk_ns now)
{
	struct gbn_tx *g = st;

	if (now < when(st, rtt))
		return;
	g->vain++;
	g->since = now;
	go_back(g);
}

static uint32_t done(const void *st) { return ((const struct gbn_tx *)st)->base; }

static uint32_t under_way(const void *st)
{
	const struct gbn_tx *g = st;

	return g->next - g->base;
}

/* ---- the receiver ----------------------------------------------------------------------- */

static void rx_init(void *st, const struct ncs_agreed *a)
{
	*(struct gbn_rx *)st = (struct gbn_rx){ .window = a->error_window, .base = a->start };
}

/* What is asked for, or shows that something is missing or was not heard, is answered. */
static enum ncs_verdict arrived(void *st, const struct ncs_pkt *p)
{
	struct gbn_rx *g = st;
	uint32_t no = ncs_pkt_no(p);
	bool due = no == g->base;

	g->echo_no = no;
	g->echo_tx = p->tx;
	g->gap = ncs_lt(g->base, no);
	if (due) {
		g->base++;
		g->unsaid++;
	}
	g->due |= !due || (p->flags & NCS_ASK) != 0 || g->unsaid >= (g->window + 3) / 4;
	return due ? NCS_NEW : NCS_DOUBLE;
}

static uint32_t base(const void *st) { return ((const struct gbn_rx *)st)->base; }

static bool report(void *st, struct ncs_ack *a)
{
	struct gbn_rx *g = st;

	if (!g->due)
		return false;
	g->due = false;
	g->unsaid = 0;
	a->base = g->base;
	a->echo_no = g->echo_no;
	a->echo_tx = g->echo_tx;
	a->gap = g->gap;
	a->depth = a->nbits = 0;
	return true;
}

const struct ncs_error_ops ncs_ec_gbn = {
	.name = "go_back_n", .sure = true, .tx_size = sizeof(struct gbn_tx), .rx_size = sizeof(struct gbn_rx),
	.tx_init = tx_init, .add = add, .next = next, .sent = sent, .heard = heard, .when = when,
	.time = at, .done = done, .under_way = under_way,
	.rx_init = rx_init, .arrived = arrived, .base = base, .report = report,
};
