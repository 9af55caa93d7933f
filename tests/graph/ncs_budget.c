/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs_budget.c - a flow control of ncs from outside the tree: at most `count` SDUs in each `period`, in one burst.
 *
 * ncs_control.t builds it as a plug-in.  The receiver has nothing to say, as with `pace`.
 * Invariant: `left` is at most `count`.
 */
#include <xk/proto.h>

struct budget { uint32_t left, count; xk_ns since, period; };
struct budget_conf { uint64_t count, period; };

static void tx_init(void *st, const struct ncs_agreed *a, xk_ns now)
{
	*(struct budget *)st = (struct budget){ a->flow_window, a->flow_window, now, a->rate };
}

static bool may(const void *st, xk_ns now)
{
	const struct budget *b = st;

	return b->left != 0 || now - b->since >= b->period;
}

static void sent(void *st, uint32_t bytes, xk_ns now)
{
	struct budget *b = st;

	(void)bytes;
	if (now - b->since >= b->period) {
		b->since = now;
		b->left = b->count;
	}
	b->left--;
}

static xk_ns when(const void *st, const struct ncs_rtt *rtt)
{
	const struct budget *b = st;

	(void)rtt;
	return b->since + b->period;
}

static const struct ncs_flow_ops budget_flow = {
	.name = "budget", .tx_size = sizeof(struct budget), .rx_size = 0,
	.tx_init = tx_init, .may = may, .sent = sent, .when = when, NCS_SILENT,
};

static void put_budget(struct ncs_choice *c, const void *conf)
{
	const struct budget_conf *b = conf;

	c->flow = &budget_flow;
	c->agreed.flow_window = (uint32_t)b->count;
	c->agreed.rate = b->period;
}

static int budget_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	return ncs_control_put(r, op, buf, len, put_budget);
}

static const struct xk_ops budget_ops = NCS_CONTROL_OPS(budget_control);
static const struct xk_param budget_params[] = {
	{ .name = "count", .type = XK_P_UINT, .def = "10", .min = "1", .max = "1024",
	  .doc = "SDUs of a connection in a period", .offset = offsetof(struct budget_conf, count) },
	{ .name = "period", .type = XK_P_TIME, .def = "10ms", .min = "1us", .max = "1s",
	  .doc = "after so long as many may leave again", .offset = offsetof(struct budget_conf, period) },
	XK_PARAM_END
};

static const struct xk_proto budget = {
	NCS_CONTROL_PROTO("budget"), .doc = "flow control of ncs: so many SDUs in a period", .ops = &budget_ops,
	.params = budget_params, .conf_size = sizeof(struct budget_conf),
};

XK_PLUGIN(&budget);
