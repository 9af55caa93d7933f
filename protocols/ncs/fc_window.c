/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fc_window.c - at most W transmissions are under way.
 *
 * The receiver reports how many have arrived or were given up as lost, the sender compares with
 * how many it has sent.  Lost ones would close the window for good: a sender that may not and hears
 * nothing asks, with how many it has sent, and all of those that have not arrived are given up.
 * One that comes after that is no longer wanted.
 * Invariant: sent - reported <= W.
 */
#include "protocols/ncs/ncs_policy.h"

struct window_tx {
	uint32_t window;
	uint32_t sent, come;             /* transmissions; come: as the receiver last said */
	uint32_t vain;                   /* queries since it said something new */
	xk_ns    since;                  /* of the last thing that happened */
};

struct window_rx {
	struct ncs_seen seen;
	uint32_t        window;
	uint32_t        said;            /* the last report */
	bool            asked;
};

static void tx_init(void *st, const struct ncs_agreed *a, xk_ns now)
{
	*(struct window_tx *)st = (struct window_tx){
		.window = a->flow_window, .sent = a->start, .come = a->start, .since = now,
	};
}

static bool may(const void *st, xk_ns now)
{
	const struct window_tx *w = st;

	(void)now;
	return w->sent - w->come < w->window;
}

static void sent(void *st, uint32_t bytes, xk_ns now)
{
	struct window_tx *w = st;

	(void)bytes;
	w->sent++;
	w->since = now;
}

static void heard(void *st, uint32_t value, xk_ns now)
{
	struct window_tx *w = st;

	/* Between what was said before and what can have come. */
	if (value - w->come - 1 >= w->sent - w->come)
		return;
	w->come = value;
	w->vain = 0;
	w->since = now;
}

static xk_ns when(const void *st, const struct ncs_rtt *rtt)
{
	const struct window_tx *w = st;

	return w->since + ncs_rtt_probe(rtt, w->vain);
}

static bool query(void *st, const struct ncs_rtt *rtt, xk_ns now, uint32_t *value)
{
	struct window_tx *w = st;

	if (now < when(st, rtt))
		return false;
	w->vain++;
	w->since = now;
	*value = w->sent;
	return true;
}

/* ---- the receiver ----------------------------------------------------------------------- */

static void rx_init(void *st, const struct ncs_agreed *a)
{
	struct window_rx *w = st;

	*w = (struct window_rx){ .window = a->flow_window, .said = a->start };
	ncs_seen_init(&w->seen, a->start);
}

static enum ncs_verdict arrived(void *st, uint32_t tx, uint8_t flags)
{
	struct window_rx *w = st;

	(void)flags;
	if (ncs_seen_has(&w->seen, tx))
		return NCS_DOUBLE;
	if (!ncs_lt(tx, w->said + w->window))
		return NCS_BEYOND;
	if (tx - w->seen.base >= NCS_WINDOW_MAX)
		ncs_seen_below(&w->seen, tx - NCS_WINDOW_MAX + 1);
	ncs_seen_add(&w->seen, tx);
	return NCS_NEW;
}

static void freed(void *st, uint32_t n) { (void)st; (void)n; }

static void queried(void *st, uint32_t value)
{
	struct window_rx *w = st;

	if (value - w->said > w->window)         /* old, or of no honest sender */
		return;
	ncs_seen_below(&w->seen, value);
	w->asked = true;
}

/* At half a window, and at once where the sender can send no more. */
static bool report(void *st, uint32_t *value)
{
	struct window_rx *w = st;
	uint32_t come = ncs_seen_count(&w->seen), more = come - w->said;

	if (!w->asked && (more == 0 || (more < (w->window + 1) / 2 && w->seen.end - w->said < w->window)))
		return false;
	w->asked = false;
	*value = w->said = come;
	return true;
}

const struct ncs_flow_ops ncs_fc_window = {
	.name = "window", .tx_size = sizeof(struct window_tx), .rx_size = sizeof(struct window_rx),
	.tx_init = tx_init, .may = may, .sent = sent, .heard = heard, .when = when, .query = query,
	.rx_init = rx_init, .arrived = arrived, .freed = freed, .queried = queried, .report = report,
};
