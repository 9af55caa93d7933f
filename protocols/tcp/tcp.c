/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp.c - the Transmission Control Protocol (RFC 9293): the descriptor, what a
 * node and its replicas own, start and stop.
 *
 * What a connection does is in the files that tcp_core.h, tcp_sess.h and tcp_fast.h list; here is only
 * what lives as long as the graph.  Under the virtual clock the node's secrets
 * come from the graph's seed, so that a run can be repeated; under the real one
 * they come from the system, because the seed could be guessed from what a VP's
 * generator shows the network.
 * Invariant: after rep_stop no session is left that nobody above holds.
 */
#include "protocols/tcp/fast/tcp_fast.h"
#include "protocols/tcp/sess/tcp_sess.h"
#include "protocols/inet/inet_ports.h"
#include "protocols/inet/inet_sess.h"
#include "runtime/base/xk_list.h"
#include "runtime/upi/xk_gives.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"
#include "runtime/upi/xk_secret.h"
#include "runtime/upi/xk_vps.h"
#include "runtime/vp/xk_task.h"

/* ---- the node -------------------------------------------------------------------- */

static int tcp_init(struct xk_node *n, struct xk_errs *e)
{
	struct tcp_node *tn = n->state;

	(void)e;
	tcp_profile_resolve(n->conf, &tn->tune);
	if (tcp_profile_syn_times(n->conf, tn->syn_times, XK_ARRAY_LEN(tn->syn_times)) != 0)
		tn->tune.syn_times = tn->syn_times;
	xk_node_secrets(n, 0x7463700000000000u, tn->secret, XK_ARRAY_LEN(tn->secret));
	return XK_OK;
}

/* ---- its replicas ------------------------------------------------------------------ */

static void tcp_rep_fini(struct xk_rep *r)
{
	tcp_syncache_fini(r);
	tcp_reass_fini(r);
	if (tcp_rep(r)->dead != NULL)
		xk_slab_put(&tcp_rep(r)->live_slab, tcp_rep(r)->dead);
	xk_slab_fini(&tcp_rep(r)->rest_slab);
	xk_slab_fini(&tcp_rep(r)->idle_slab);
	xk_slab_fini(&tcp_rep(r)->live_slab);
}

static int tcp_rep_init(struct xk_rep *r)
{
	struct tcp_rep *tr = tcp_rep(r);

	tr->rand = xk_vp_rand(r->vp);
	tr->mem = xk_mem_self;
	xk_slab_init(&tr->live_slab, sizeof(struct tcp_live));
	xk_slab_init_halves(&tr->idle_slab);
	xk_slab_init(&tr->rest_slab, sizeof(struct tcp_rest));
	tcp_reass_init(r);
	tr->rep = r;
	tcp_memory_init(r);
	tcp_idle_init(r);
	tcp_rest_init(r);
	tr->dead = xk_slab_get(&tr->live_slab);
	if (tr->dead != NULL && tcp_syncache_init(r) == XK_OK) {
		tr->dead->cb.state = TCP_S_CLOSED;
		tr->dead->cb.tune = tcp_tune(r);
		tr->dead->cb.err = XK_E_NOMEM;
		return XK_OK;
	}
	tcp_rep_fini(r);
	return XK_E_NOMEM;
}

struct orphans { struct xk_list list; };

static int find_orphan(struct xk_mapnode *node, void *arg)
{
	struct tcp_sess *ts = tcp_sess(xk_container_of(node, struct xk_sess, map));
	struct orphans *o = arg;

	/* What is left of those is held. */
	if (tcp_is_compressed(ts))
		return XK_MAP_KEEP;
	/* In no list any more, so that its link is free. */
	tcp_unlist(ts);
	if (ts->s.rcnt == 0)
		xk_list_put_first(&o->list, &tcp_live(ts)->listed);
	return XK_MAP_KEEP;
}

/* Connections that end in the background are cut off: the peer is told where it
 * would wait for us. */
static void tcp_rep_stop(struct xk_rep *r)
{
	struct orphans o = { 0 };
	struct xk_listed *i;

	tcp_memory_stop(r);
	tcp_idle_stop(r);
	tcp_rest_stop(r);
	tcp_syncache_clear(r);
	xk_map_foreach(&r->active, find_orphan, &o);
	while ((i = xk_list_first(&o.list)) != NULL) {
		struct tcp_sess *ts = xk_container_of(i, struct tcp_live, listed)->ts;

		xk_list_take(i);
		if (tcp_cb(ts)->state != TCP_S_TIME_WAIT)
			tcp_send_rst(ts);
		tcp_finish(ts, XK_OK);
	}
}

/* ---- the descriptor ------------------------------------------------------------------ */

#define TCP_TEXT(n, s) s,
static const char *const tcp_drops[] = { TCP_DROPS(TCP_TEXT) NULL };
static const char *const tcp_counts[] = { TCP_COUNTS(TCP_TEXT) NULL };
static const struct xk_number tcp_numbers[] = { { "host", TCP_PROTO }, { NULL, 0 } };

static const struct xk_ops tcp_ops = {
	.init = tcp_init, .start = inet_start, .stop = inet_stop,
	.rep_init = tcp_rep_init, .rep_fini = tcp_rep_fini, .rep_stop = tcp_rep_stop,
	.open = tcp_open, .open_enable = inet_open_enable, .open_disable = inet_open_disable,
	.open_disable_all = xk_enable_unbind_all,
	.demux = XK_FAST(tcp_fast_demux, tcp_demux), .demux_batch = XK_FAST(tcp_fast_batch, NULL), .batch_many = true,
	.enter = tcp_enter, .control = tcp_control, .push = XK_FAST(tcp_fast_push, tcp_push),
	.write = XK_FAST(tcp_fast_write, tcp_write), .write_on = tcp_write_on, .pop = tcp_pop, .close = tcp_close, .sess_control = tcp_sess_control,
};

/* The ports are all it takes, and 8 bytes what is judged by them: shorter ones than TCP has
 * are counted where the connection is. */
static const struct xk_demux_field tcp_fields[] = {
	{ .role = XK_DX_REMOTE, .width = 2, .off = 0 },
	{ .role = XK_DX_LOCAL, .width = 2, .off = 2 },
	{ .role = XK_DX_END }
};
static const struct xk_demux tcp_decl = { .need = 8, .field = tcp_fields };

/* Its congestion control minds the others on the way. */
static uint32_t tcp_gives(const void *conf, uint32_t below)
{
	(void)conf;
	(void)below;
	return XK_GIVES_ORDER | XK_GIVES_RELIABLE | XK_GIVES_SUM;
}

const struct xk_proto xk_proto_tcp = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto),
	.name = "tcp", .doc = "Transmission Control Protocol",
	.ops = &tcp_ops, .offers = "stream", .needs = { "host" },
	.min_down = 1, .max_down = 1, .numbers = tcp_numbers,
	.params = tcp_params, .conf_size = TCP_CONF_SIZE, .check = tcp_profile_check,
	.fill = tcp_profile_fill,
	.node_size = sizeof(struct tcp_node), .rep_size = sizeof(struct tcp_rep),
	.sess_size = sizeof(struct tcp_sess),
	.drops = tcp_drops, .counts = tcp_counts, .events = tcp_events,
	.demux = &tcp_decl, .ask = inet_ports_ask, .gives = tcp_gives,
};
