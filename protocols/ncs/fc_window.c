/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fc_window.c - at most W transmissions are under way.
 *
 * The receiver reports how many have arrived or were given up as lost, the sender compares with
 * how many it has sent.  Where it asks (fc_shared.c), those that have not arrived are given up; one that
 * comes after that is no longer wanted.
 * Invariant: sent - reported <= W.
 */
#include "protocols/ncs/ncs_policy.h"

struct window_tx {
	struct ncs_asker ask;
	uint32_t window;
	uint32_t come;                   /* transmissions, as the receiver last said */
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
		.ask = { .sent = a->start, .since = now }, .window = a->flow_window, .come = a->start,
	};
}

static bool may(const void *st, xk_ns now)
{
	const struct window_tx *w = st;

	(void)now;
	return w->ask.sent - w->come < w->window;
}

static void heard(void *st, uint32_t value, xk_ns now)
{
	struct window_tx *w = st;

	/* Between what was said before and what can have come. */
	if (value - w->come - 1 >= w->ask.sent - w->come)
		return;
	w->come = value;
	ncs_asker_news(&w->ask, now);
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
	return ncs_seen_take(&w->seen, tx, w->said + w->window);
}

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
	.tx_init = tx_init, .may = may, .sent = ncs_asker_sent, .heard = heard, .when = ncs_asker_when, .query = ncs_asker_query,
	.rx_init = rx_init, .arrived = arrived, .freed = ncs_silent_freed, .queried = queried, .report = report,
};
