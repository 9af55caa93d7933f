/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peer_sink.c - the infinite sink: counts what the stack sends, and forgets it.
 */
#include "drivers/peer/peer_priv.h"

void peer_sink_push(struct xk_sess *s, struct xk_msg *m)
{
	const struct mem_rep *mr = s->rep->state;
	struct xk_rep *r = mem_far(s);

	if (XK_UNLIKELY(m->tot > mr->frame_max)) {
		xk_drop(s->rep, MEM_DROP_TOO_LONG, m);
		return;
	}
	xk_count(r->count[PEER_N_SUNK]);
	xk_count_add(r->count[PEER_N_SUNK_BYTES], m->tot);
	xk_msg_free(m);
}

static const struct mem_peer sink_peer = { .push = peer_sink_push };

static int sink_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	(void)r;
	return op == XK_CTL_MEM_PEER ? peer_tell(&sink_peer, buf, len) : XK_E_NOTSUP;
}

static const struct xk_ops sink_ops = { .control = sink_control };

static const char *const sink_counts[] = { "sunk", "sunk_bytes", NULL };

const struct xk_proto xk_proto_peer_sink = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "peer_sink",
	.doc = "at the far end of a wire in memory: counts what the stack sends, and forgets it",
	.is_driver = true, .ops = &sink_ops, .offers = "peer", .rep_size = sizeof(struct mem_rep *),
	.counts = sink_counts,
};
