/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fc_shared.c - what flow controls have in common: a sender that asks, and a receiver that says nothing.
 *
 * Lost transmissions would close a window, or use up credit, for good: a sender that may not and hears
 * nothing asks, with how many it has sent, and all of those that have not arrived are given up.
 */
#include "protocols/ncs/ncs_policy.h"

/* ---- the sender that asks ----------------------------------------------------------------- */

void ncs_asker_sent(void *st, uint32_t bytes, xk_ns now)
{
	struct ncs_asker *a = st;

	(void)bytes;
	a->sent++;
	a->since = now;
}

void ncs_asker_news(struct ncs_asker *a, xk_ns now)
{
	a->vain = 0;
	a->since = now;
}

xk_ns ncs_asker_when(const void *st, const struct ncs_rtt *rtt)
{
	const struct ncs_asker *a = st;

	return a->since + ncs_rtt_probe(rtt, a->vain);
}

bool ncs_asker_query(void *st, const struct ncs_rtt *rtt, xk_ns now, uint32_t *value)
{
	struct ncs_asker *a = st;

	if (now < ncs_asker_when(st, rtt))
		return false;
	a->vain++;
	a->since = now;
	*value = a->sent;
	return true;
}

/* ---- the receiver that counts --------------------------------------------------------------- */

enum ncs_verdict ncs_seen_take(struct ncs_seen *s, uint32_t tx, uint32_t limit)
{
	if (ncs_seen_has(s, tx))
		return NCS_DOUBLE;
	if (!ncs_lt(tx, limit))
		return NCS_BEYOND;
	if (tx - s->base >= NCS_WINDOW_MAX)
		ncs_seen_below(s, tx - NCS_WINDOW_MAX + 1);
	ncs_seen_add(s, tx);
	return NCS_NEW;
}

/* ---- the receiver that says nothing ---------------------------------------------------------- */

void ncs_silent_heard(void *st, uint32_t value, xk_ns now) { (void)st; (void)value; (void)now; }

bool ncs_silent_query(void *st, const struct ncs_rtt *rtt, xk_ns now, uint32_t *value)
{
	(void)st; (void)rtt; (void)now; (void)value;
	return false;
}

void ncs_silent_rx_init(void *st, const struct ncs_agreed *a) { (void)st; (void)a; }

enum ncs_verdict ncs_silent_arrived(void *st, uint32_t tx, uint8_t flags)
{
	(void)st; (void)tx; (void)flags;
	return NCS_NEW;
}

void ncs_silent_freed(void *st, uint32_t n) { (void)st; (void)n; }
void ncs_silent_queried(void *st, uint32_t value) { (void)st; (void)value; }
bool ncs_silent_report(void *st, uint32_t *value) { (void)st; (void)value; return false; }
