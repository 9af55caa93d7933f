/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fc_none.c - no flow control: everything may leave at once, and nothing is said about it.
 */
#include "protocols/ncs/ncs_policy.h"

static void tx_init(void *st, const struct ncs_agreed *a, xk_ns now) { (void)st; (void)a; (void)now; }
static bool may(const void *st, xk_ns now) { (void)st; (void)now; return true; }
static void sent(void *st, uint32_t bytes, xk_ns now) { (void)st; (void)bytes; (void)now; }
static void heard(void *st, uint32_t value, xk_ns now) { (void)st; (void)value; (void)now; }
static xk_ns when(const void *st, const struct ncs_rtt *rtt) { (void)st; (void)rtt; return XK_NS_NEVER; }

static bool query(void *st, const struct ncs_rtt *rtt, xk_ns now, uint32_t *value)
{
	(void)st; (void)rtt; (void)now; (void)value;
	return false;
}

static void rx_init(void *st, const struct ncs_agreed *a) { (void)st; (void)a; }

static enum ncs_verdict arrived(void *st, uint32_t tx, uint8_t flags)
{
	(void)st; (void)tx; (void)flags;
	return NCS_NEW;
}

static void freed(void *st, uint32_t n) { (void)st; (void)n; }
static void queried(void *st, uint32_t value) { (void)st; (void)value; }
static bool report(void *st, uint32_t *value) { (void)st; (void)value; return false; }

const struct ncs_flow_ops ncs_fc_none = {
	.name = "none",
	.tx_init = tx_init, .may = may, .sent = sent, .heard = heard, .when = when, .query = query,
	.rx_init = rx_init, .arrived = arrived, .freed = freed, .queried = queried, .report = report,
};
