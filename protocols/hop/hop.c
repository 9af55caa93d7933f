/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hop.c - one graph hop between an application and its port: a virtual protocol
 * that changes nothing, any number of times over itself.
 *
 * The smallest complete layer, and the one to copy for a new one (for an application, copy
 * protocols/echo): sessions of its own come and go with those below, opened from above or made by
 * a peer, and what is opened through it is what its neighbours see (protocols/virtual).
 * It is what a protocol costs before it does anything, and the benchmark of one
 * graph hop counts it: a push is one call, a message up is one call to the own
 * session's self and one pop, without a search.  With `look` it reads the first
 * byte of each message on its way up and notes it in the descriptor, as much as
 * a node must do that chooses by a header.
 * Invariant: adds no byte, keeps no message, restores the lower session's `up`.
 */
#include "protocols/hop/hop_priv.h"

/* ---- up ----------------------------------------------------------------------------- */

void hop_look_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	(void)lls;
	if (XK_LIKELY(m->len != 0))
		m->aux = m->data[0];
	xk_pass(xk_container_of(up, struct xk_sess, self), m);   /* as virt_self_demux */
}

/* Each turn waits for the one before, so they cost the same everywhere in a program. */
void hop_burn(const struct xk_up *up, unsigned messages)
{
	const struct hop_conf *c = up->rep->conf;
	uint64_t turns = c->burn * messages, x = turns;

	for (uint64_t i = 0; i < turns; i++) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		__asm__ volatile("" : "+r"(x));
	}
}

void hop_burn_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	hop_burn(up, 1);
	if (((const struct hop_conf *)up->rep->conf)->look)
		hop_look_demux(up, lls, m);
	else
		virt_self_demux(up, lls, m);
}

static int hop_rep_init(struct xk_rep *r)
{
	const struct hop_conf *c = r->conf;
	struct virt_rep *v = r->state;

	if (c->burn != 0) {
		v->self = hop_burn_demux;
		v->sees = XK_FAST(hop_fast_burn, NULL);
	} else if (c->look) {
		v->self = hop_look_demux;
		v->sees = XK_FAST(hop_fast_look, NULL);
	}
	return virt_rep_init(r);
}

static const struct xk_ops hop_ops = {
	VIRT_OPS, .rep_init = hop_rep_init, .push = virt_push, .pop = virt_pop, .control = hop_control,
	.batch_self = true, .demux_batch = XK_FAST(virt_fast_batch, NULL),
};

static const struct xk_param hop_params[] = {
	{ .name = "look", .type = XK_P_BOOL, .def = "false", .doc = "read the first byte of each message on its way up",
	  .offset = offsetof(struct hop_conf, look) },
	{ .name = "burn", .type = XK_P_UINT, .def = "0", .max = "1000000",
	  .doc = "turns of arithmetic for each message on its way up, a multiplication and an addition each: a known slow-down",
	  .offset = offsetof(struct hop_conf, burn) },
	VIRT_PARAMS
};
static const char *const hop_drops[] = { VIRT_DROPS, NULL };
static const char *const hop_counts[] = { VIRT_COUNTS, NULL };

const struct xk_proto xk_proto_hop = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto),
	.name = "hop", .doc = "one graph hop: passes messages through untouched", .ops = &hop_ops,
	.offers = "port|stream", .as_below = true, .needs = { "port|stream", NULL }, .min_down = 1, .max_down = 1,
	.params = hop_params, .conf_size = sizeof(struct hop_conf), .node_size = sizeof(struct virt_node),
	.rep_size = sizeof(struct virt_rep),
	.sess_size = sizeof(struct virt_sess), .drops = hop_drops, .counts = hop_counts,
	.demux = &virt_through,
	.anywhere = XK_ANYWHERE_AS_ABOVE,
};
