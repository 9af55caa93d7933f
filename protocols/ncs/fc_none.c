/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fc_none.c - no flow control: everything may leave at once, and nothing is said about it.
 */
#include "protocols/ncs/ncs_policy.h"

static void tx_init(void *st, const struct ncs_agreed *a, xk_ns now) { (void)st; (void)a; (void)now; }
static bool may(const void *st, xk_ns now) { (void)st; (void)now; return true; }
static void sent(void *st, uint32_t bytes, xk_ns now) { (void)st; (void)bytes; (void)now; }
static xk_ns when(const void *st, const struct ncs_rtt *rtt) { (void)st; (void)rtt; return XK_NS_NEVER; }

const struct ncs_flow_ops ncs_fc_none = {
	.name = "none",
	.tx_init = tx_init, .may = may, .sent = sent, .when = when, NCS_SILENT,
};
