/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs_choice.c - flow and error controls as nodes: what connections through them shall have.
 *
 * They lie between ncs and an interface, one of each kind at most, error control on top.  They
 * have no sessions: what is opened and enabled through them is opened and enabled below, and no
 * message ever passes them.  The table of each is what the graph chooses.
 */
#include "protocols/ncs/ncs_priv.h"
#include "runtime/upi/xk_gives.h"
#include "runtime/upi/xk_review.h"

#include <stdio.h>

static const struct ncs_flow_ops *const flows[] = { &ncs_fc_none, &ncs_fc_window, &ncs_fc_credit, &ncs_fc_rate };
static const struct ncs_error_ops *const errors[] = { &ncs_ec_none, &ncs_ec_gbn, &ncs_ec_sr };

const struct ncs_flow_ops *ncs_flow_of(unsigned no) { return no < XK_ARRAY_LEN(flows) ? flows[no] : NULL; }
const struct ncs_error_ops *ncs_error_of(unsigned no) { return no < XK_ARRAY_LEN(errors) ? errors[no] : NULL; }

unsigned ncs_flow_no(const struct ncs_flow_ops *f)
{
	for (unsigned i = 0; i < XK_ARRAY_LEN(flows); i++)
		if (flows[i] == f)
			return i;
	return NCS_BY_NAME;
}

unsigned ncs_error_no(const struct ncs_error_ops *e)
{
	for (unsigned i = 0; i < XK_ARRAY_LEN(errors); i++)
		if (errors[i] == e)
			return i;
	return NCS_BY_NAME;
}

/* ---- what passes through --------------------------------------------------------------------- */

struct xk_sess *ncs_control_open(struct xk_rep *r, struct xk_rep *rcv, struct xk_node *type, struct xk_parts *ps, int *err)
{
	struct xk_sess *s = xk_open(rcv, type, r->down[0], ps, err);

	if (s != NULL)
		s->rcnt--;                       /* who asked counts it again */
	return s;
}

int ncs_control_enable(struct xk_node *n, struct xk_node *rcv, struct xk_node *type, struct xk_parts *ps)
{
	return xk_open_enable(rcv, type, xk_node_down(n, 0), ps);
}

int ncs_control_disable(struct xk_node *n, struct xk_node *rcv, struct xk_node *type, struct xk_parts *ps)
{
	return xk_open_disable(rcv, type, xk_node_down(n, 0), ps);
}

void ncs_control_disable_all(struct xk_node *n, struct xk_node *rcv)
{
	xk_open_disable_all(rcv, xk_node_down(n, 0));
}

/* ---- what is chosen -------------------------------------------------------------------------- */

struct window_conf { uint64_t window; };
struct credit_conf { uint64_t first, most; };
struct rate_conf { uint64_t rate; };

static void put_window(struct ncs_choice *c, const void *conf)
{
	c->flow = &ncs_fc_window;
	c->agreed.flow_window = (uint32_t)((const struct window_conf *)conf)->window;
}

static void put_credit(struct ncs_choice *c, const void *conf)
{
	const struct credit_conf *k = conf;

	c->flow = &ncs_fc_credit;
	c->agreed.first = (uint32_t)k->first;
	c->agreed.most = (uint32_t)k->most;
}

static void put_rate(struct ncs_choice *c, const void *conf)
{
	c->flow = &ncs_fc_rate;
	c->agreed.rate = ((const struct rate_conf *)conf)->rate;
}

static void put_gbn(struct ncs_choice *c, const void *conf)
{
	c->error = &ncs_ec_gbn;
	c->agreed.error_window = (uint32_t)((const struct window_conf *)conf)->window;
}

static void put_sr(struct ncs_choice *c, const void *conf)
{
	c->error = &ncs_ec_sr;
	c->agreed.error_window = (uint32_t)((const struct window_conf *)conf)->window;
}

int ncs_control_put(struct xk_rep *r, unsigned op, void *buf, unsigned len,
		    void (*what)(struct ncs_choice *c, const void *conf))
{
	int below;

	if (op != NCS_CTL_CHOICE)
		return xk_control(r->down[0], op, buf, len);
	if (len < sizeof(struct ncs_choice))
		return XK_E_INVAL;
	what(buf, r->conf);
	below = xk_control(r->down[0], op, buf, len);
	return below > 0 ? below + 1 : 1;
}

#define CONTROL(name) \
	static int name##_control(struct xk_rep *r, unsigned op, void *buf, unsigned len) \
	{ \
		return ncs_control_put(r, op, buf, len, put_##name); \
	}
CONTROL(window)
CONTROL(credit)
CONTROL(rate)
CONTROL(gbn)
CONTROL(sr)

static int credit_check(const void *conf, char *why, size_t n)
{
	const struct credit_conf *c = conf;

	if (c->first <= c->most)
		return XK_OK;
	snprintf(why, n, "begins with %llu buffers, more than 'most', %llu", (unsigned long long)c->first,
		 (unsigned long long)c->most);
	return XK_E_INVAL;
}

/* ---- the descriptors ------------------------------------------------------------------------------ */

extern const struct xk_proto xk_proto_pace;
static bool is_flow(const struct xk_proto *p);
static bool is_error(const struct xk_proto *p);

/* What the interface does by itself needs no doing above it. */
static void review_interface(const struct xk_view *v, struct xk_review *r)
{
	const char *name = xk_view_base(v->down[0])->proto->name;
	uint32_t gives;
	char text[128];

	if (xk_view_ask(v->down[0], XK_CTL_GIVES, &gives, sizeof gives) < 0 || !(gives & XK_GIVES_RELIABLE) ||
	    v->proto == &xk_proto_pace)
		return;
	snprintf(text, sizeof text, is_error(v->proto) ? "lies over '%s', which loses nothing itself" :
		 "lies over '%s', which holds its senders back itself", name);
	r->tell(r, v, NULL, true, text);
}

static void choice_review(const struct xk_view *v, struct xk_review *r)
{
	const struct xk_proto *below = v->down[0]->proto;

	review_interface(v, r);
	if (is_flow(v->proto) && is_flow(below))
		xk_review_fault(r, v, NULL, "lies over '%s': a connection has one flow control", below->name);
	else if (is_error(v->proto) && is_error(below))
		xk_review_fault(r, v, NULL, "lies over '%s': a connection has one error control", below->name);
	else if (is_flow(v->proto) && is_error(below))
		xk_review_fault(r, v, NULL, "lies over '%s': error control lies over flow control", below->name);
}

#define OPS(n) NCS_CONTROL_OPS(n##_control)
#define PROTO(n) NCS_CONTROL_PROTO(n), .review = choice_review

#define MOST "1024"
_Static_assert(NCS_WINDOW_MAX == 1024, "MOST");

static const struct xk_ops window_ops = OPS(window), credit_ops = OPS(credit), rate_ops = OPS(rate),
			   gbn_ops = OPS(gbn), sr_ops = OPS(sr);

static const struct xk_param window_params[] = {
	{ .name = "window", .type = XK_P_UINT, .def = "32", .min = "1", .max = MOST,
	  .doc = "most SDUs of a connection under way", .offset = offsetof(struct window_conf, window) },
	XK_PARAM_END
};

static const struct xk_param error_params[] = {
	{ .name = "window", .type = XK_P_UINT, .def = "128", .min = "1", .max = MOST,
	  .doc = "most SDUs of a connection that are sent and not acknowledged",
	  .offset = offsetof(struct window_conf, window) },
	XK_PARAM_END
};

static const struct xk_param credit_params[] = {
	{ .name = "first", .type = XK_P_UINT, .def = "4", .min = "1", .max = MOST,
	  .doc = "receive buffers of a connection at first, one an SDU", .offset = offsetof(struct credit_conf, first) },
	{ .name = "most", .type = XK_P_UINT, .def = "128", .min = "1", .max = MOST,
	  .doc = "receive buffers of a connection that is busy", .offset = offsetof(struct credit_conf, most) },
	XK_PARAM_END
};

static const struct xk_param rate_params[] = {
	{ .name = "rate", .type = XK_P_RATE, .min = "1bit/s", .flags = XK_PF_REQUIRED,
	  .doc = "payload bits a second of a connection", .offset = offsetof(struct rate_conf, rate) },
	XK_PARAM_END
};

const struct xk_proto xk_proto_window = {
	PROTO("window"), .doc = "flow control of ncs: so many SDUs under way", .ops = &window_ops,
	.params = window_params, .conf_size = sizeof(struct window_conf),
};

const struct xk_proto xk_proto_credit = {
	PROTO("credit"), .doc = "flow control of ncs: what leaves has a buffer waiting", .ops = &credit_ops,
	.params = credit_params, .conf_size = sizeof(struct credit_conf), .check = credit_check,
};

const struct xk_proto xk_proto_pace = {
	PROTO("pace"), .doc = "flow control of ncs: so many bits a second", .ops = &rate_ops,
	.params = rate_params, .conf_size = sizeof(struct rate_conf),
};

const struct xk_proto xk_proto_go_back_n = {
	PROTO("go_back_n"), .doc = "error control of ncs: in order, from the first missing SDU on", .ops = &gbn_ops,
	.params = error_params, .conf_size = sizeof(struct window_conf),
};

const struct xk_proto xk_proto_selective_repeat = {
	PROTO("selective_repeat"), .doc = "error control of ncs: the SDUs that are missing, by bits", .ops = &sr_ops,
	.params = error_params, .conf_size = sizeof(struct window_conf),
};

static bool is_flow(const struct xk_proto *p)
{
	return p == &xk_proto_window || p == &xk_proto_credit || p == &xk_proto_pace;
}

static bool is_error(const struct xk_proto *p)
{
	return p == &xk_proto_go_back_n || p == &xk_proto_selective_repeat;
}
