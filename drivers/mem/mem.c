/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mem.c - the in-memory network drivers eth_mem and fddi_mem.
 *
 * One implementation for both link types.  At the other end of the cable stands the other driver
 * of a named wire, or the simulated peer that this one lies over (mem_peer.h).  Everything is at
 * memory speed.
 * Invariant: a frame pushed here is counted, queued or dropped with a reason;
 * none is passed up on the stack of the push.
 */
#include "drivers/mem/mem_priv.h"

#include "drivers/common/edge.h"
#include "runtime/base/xk_stamp.h"
#include "runtime/upi/xk_gives.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_input.h"
#include "runtime/upi/xk_part.h"
#include "runtime/upi/xk_review.h"

#include <stdio.h>
#include <string.h>

static const struct mem_link link_eth = { XK_LINK_ETH, 14, 0 };
static const struct mem_link link_fddi = { XK_LINK_FDDI, 21, 1 };

/* ---- sessions ----------------------------------------------------------------- */

static xk_push_fn push_of(const struct xk_rep *r)
{
	const struct mem_peer *peer = ((const struct mem_rep *)r->state)->peer;
	bool carried = mem_state(r)->reader != NULL;

	if (peer == NULL && mem_down_ever(r->node))
		return mem_down_push;
	if (peer == NULL)
		return carried ? mem_carried_loop_push : mem_loop_push;
	return carried && peer->at_reader ? mem_carried_peer_push : peer->push;
}

static struct xk_sess *mem_open(struct xk_rep *r, struct xk_rep *rcv, struct xk_node *type,
				struct xk_parts *ps, int *err)
{
	const struct mem_rep *mr = r->state;

	if (xk_edge_open(r, rcv, type, ps, err) == NULL)
		return NULL;
	if (mr->far != NULL) {
		r->drv_sess->own[0] = (uintptr_t)mr->far;
		r->drv_sess->own[1] = (uintptr_t)mr->far->state;
	}
	xk_sess_set_push(r->drv_sess, push_of(r));
	return r->drv_sess;
}

/* ---- control -------------------------------------------------------------------- */

static int mem_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	const struct mem_state *st = mem_state(r);

	if (op == XK_CTL_GETMAXSUPER)
		return xk_answer32(buf, len, mem_wire_super(r));
	return xk_edge_control((struct xk_edge){ st->frame_max, st->link->type, st->mac }, op, buf, len);
}

/* ---- life ------------------------------------------------------------------------ */

/* The given address, or the first driver's ...:01, the second's ...:02. */
static void choose_mac(struct xk_node *n)
{
	static const uint8_t unset[6];
	const struct mem_conf *c = n->conf;
	struct mem_state *st = n->state;
	unsigned no = n->nth_edge + 1;

	memcpy(st->mac, c->mac, 6);
	if (memcmp(c->mac, unset, 6) != 0)
		return;
	memcpy(st->mac, (uint8_t[6]){ 0x02, 0, 0, 0, (uint8_t)(no >> 8), (uint8_t)no }, 6);
}

static int mem_init(struct xk_node *n, struct xk_errs *e)
{
	const struct mem_conf *c = n->conf;
	struct mem_state *st = n->state;
	char why[200];
	int err;

	st->link = n->proto == &xk_proto_fddi_mem ? &link_fddi : &link_eth;
	st->mtu = (uint32_t)c->mtu;
	st->frame_max = st->mtu + st->link->header;
	choose_mac(n);
	err = mem_down_read(&c->down, &st->down, why, sizeof why);
	if (err != XK_OK) {
		xk_node_error(n, e, "%s", why);
		return err;
	}
	st->ndown = c->down.n;
	st->reader = n->graph->vps->arch.io_threads != 0 ? xk_node_reader(n) : NULL;
	if (n->ndown == 0)
		return mem_wire_join(n, e);
	/* Or a frame would be in two stages of a pipeline at a time. */
	if (n->down[0]->layer == n->layer)
		return XK_OK;
	xk_node_error(n, e, "%s, the peer at its far end, belongs to the same layer", n->down[0]->name);
	return XK_E_INVAL;
}

static void mem_fini(struct xk_node *n)
{
	struct mem_state *st = n->state;

	xk_free(st->down);
	st->down = NULL;
	st->ndown = 0;
}

/* Who is at the far end, told of its wire. */
static int meet_peer(struct mem_rep *mr)
{
	struct xk_rep *far;
	int res;

	if (mr->rep->node->ndown == 0)
		return XK_OK;
	far = mr->far = mr->rep->down[0];
	res = far->ops->control == NULL ? XK_E_NOTSUP :
	      far->ops->control(far, XK_CTL_MEM_PEER, &mr->peer, sizeof mr->peer);
	if (res < 0)
		return res;
	*(struct mem_rep **)far->state = mr;
	return XK_OK;
}

static int mem_rep_init(struct xk_rep *r)
{
	struct mem_rep *mr = r->state;

	mr->rep = r;
	mr->cap = (uint32_t)mem_conf(r)->queue;
	mr->open = true;
	mr->frame_max = mem_state(r)->frame_max;
	xk_msgq_init(&mr->q);
	/* What all of an I/O thread's senders leave waits in one queue. */
	if (mem_state(r)->reader != NULL)
		mr->cap = mr->cap > UINT32_MAX / r->vp->set->nconn ? UINT32_MAX : mr->cap * r->vp->set->nconn;
	xk_task_init(&mr->task, r->vp, mem_state(r)->reader != NULL ? mem_carried_rx_run : mem_rx_run);
	xk_task_input(&mr->task, &mr->q.n);
	mem_down_init(mr);
	return meet_peer(mr);
}

static int mem_rep_start(struct xk_rep *r, struct xk_errs *e)
{
	const struct mem_state *st = mem_state(r);
	struct mem_rep *mr = r->state;

	(void)e;
	if (st->other != NULL)
		mr->other = xk_rep_here(st->other, r)->state;
	mem_down_start(r);
	mr->apart = st->reader != NULL || mr->stamp_at != 0;
	return XK_OK;
}

static void mem_rep_stop(struct xk_rep *r)
{
	struct mem_rep *mr = r->state;

	mr->open = false;
	xk_timer_cancel(r->wheel, &mr->turn);
	xk_task_park(&mr->task);
	xk_msgq_free(&mr->q);
	xk_msgq_init(&mr->q);
}

/* A frame that waited for this VP, or in the queue of all: work on it begins. */
static void begin_stamped(struct xk_rep *r, struct xk_msg *m)
{
	uint32_t at = ((const struct mem_rep *)r->state)->stamp_at;

	if (at != 0 && m->len > at)
		xk_stamp_begin(m->data + at, m->len - at, xk_vp_clock(r->vp));
}

static XK_NOINLINE void mem_enter_apart(struct xk_rep *r, struct xk_msg *m)
{
	begin_stamped(r, m);
	if (mem_state(r)->reader != NULL)
		mem_carried_enter(r, m);
	else
		xk_input_enter(r, m);
}

static void mem_enter(struct xk_rep *r, struct xk_msg *m)
{
	if (XK_UNLIKELY(((const struct mem_rep *)r->state)->apart))
		mem_enter_apart(r, m);
	else
		xk_input_enter(r, m);
}

static int mem_check(const void *conf, char *why, size_t n)
{
	const struct mem_conf *c = conf;
	struct mem_spell *down;
	int err;

	if (c->mac[0] & 1) {
		snprintf(why, n, "mac is a group address (lowest bit of its first byte set): a station needs its own");
		return XK_E_INVAL;
	}
	err = mem_down_read(&c->down, &down, why, n);
	xk_free(down);
	return err;
}

/* ---- before there is a graph ------------------------------------------------------- */

static bool speaks_fddi(const struct xk_proto *p)
{
	return p == &xk_proto_fddi_mem;
}

static void review_peer(const struct xk_view *v, struct xk_review *r)
{
	const struct mem_conf *c = v->conf;
	const struct xk_view *peer = v->down[0];
	struct mem_fits fits = { .mtu = c->mtu };

	if (c->wire != NULL)
		xk_review_fault(r, v, "wire", "names a cable to another driver, but %s is at its far end", peer->name);
	if (c->down.n != 0)
		xk_review_fault(r, v, "down", "is of a cable to another driver, but %s is at its far end", peer->name);
	if (peer->proto->ask != NULL && peer->proto->ask(peer, MEM_ASK_FITS, &fits, sizeof fits) > 0)
		xk_review_fault(r, peer, fits.param, "%s", fits.why);
}

static void mem_review(const struct xk_view *v, struct xk_review *r)
{
	const struct mem_conf *c = v->conf;
	const struct xk_claim end = { .param = "wire", .what = "cable", .name = c->wire, .ends = 2,
				      .kind = speaks_fddi(v->proto) ? "FDDI" : "Ethernet" };

	if (c->wire != NULL)
		xk_review_claim(r, v, &end);
	if (v->ndown != 0)
		review_peer(v, r);
}

/* Peers were words of a parameter. */
static int old_word(struct xk_old_word *w)
{
	if (strcmp(w->name, "peer") != 0)
		return XK_E_NOTSUP;
	snprintf(w->text, sizeof w->text, "what is at the far end is a node below: peer_sink {} under eth_mem {}, "
		 "and so peer_source, peer_echo, ...");
	return 1;
}

static int mem_ask(const struct xk_view *v, unsigned op, void *buf, unsigned len)
{
	const struct mem_conf *c = v->conf;
	struct xk_segment *s = buf;

	if (op == XK_ASK_WORD)
		return old_word(buf);
	if (op == XK_CTL_LINK_TYPE)
		return xk_answer32(buf, len, speaks_fddi(v->proto) ? XK_LINK_FDDI : XK_LINK_ETH);
	if (op != XK_ASK_SEGMENT || c->wire == NULL)
		return XK_E_NOTSUP;
	snprintf(s->name, sizeof s->name, "%s", c->wire);
	return 1;
}

static uint32_t mem_gives(const void *conf, uint32_t below)
{
	return xk_edge_gives_own(conf, below) | (((const struct mem_conf *)conf)->crc ? XK_GIVES_CRC : 0);
}

static const struct xk_ops mem_ops = {
	.init = mem_init, .fini = mem_fini, .rep_init = mem_rep_init,
	.rep_start = mem_rep_start, .rep_stop = mem_rep_stop,
	.open = mem_open, .close = xk_edge_close, .push = mem_loop_push,
	.enter = mem_enter, .control = mem_control,
};

/* ---- parameters --------------------------------------------------------------------- */

#define P(field, t, d, text, ...) \
	{ .name = #field, .type = t, .def = d, .doc = text, .offset = offsetof(struct mem_conf, field), ##__VA_ARGS__ }

#define MEM_PARAMS(mtu_def, mtu_max) \
	P(mtu, XK_P_SIZE, mtu_def, "largest payload of a frame", .min = "68", .max = mtu_max), \
	P(mac, XK_P_MAC, NULL, "own address; default 02:00:00:00:00:01 for the first driver, :02 for the second, ..."), \
	P(wire, XK_P_TEXT, NULL, "name of the cable; the two drivers that name it are its ends; unnamed: this end only"), \
	P(copy, XK_P_BOOL, "true", "copy each frame once into the receiver's buffer; false hands the buffer over"), \
	P(queue, XK_P_UINT, "1024", "most frames that wait on the wire, per virtual processor", \
	  .min = "1", .max = "1048576"), \
	P(crc, XK_P_BOOL, "false", "the cable stands for one whose interfaces check a CRC of each frame; in memory there is none"), \
	P(down, XK_P_LIST, NULL, "times of the graph at which the cable is down: \"FROM-UNTIL\", or \"FROM-\", removed for good", \
	  .elem = XK_P_TEXT), \
	XK_CLASSIFIER_PARAM(struct mem_conf, classifier), \
	XK_PARAM_END

static const struct xk_param eth_params[] = { MEM_PARAMS("1500", "9000") };
static const struct xk_param fddi_params[] = { MEM_PARAMS("4352", "4352") };

static const char *const mem_drops[] = {
#define X(id, text) text,
	MEM_DROPS(X)
#undef X
	NULL
};
static const char *const mem_counts[] = { "copies", "went_down", NULL };

#define MEM_DRIVER(word, text, schema, kind) { \
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = word, .doc = text, \
	.is_driver = true, .ops = &mem_ops, .offers = "frame/" kind, .needs = { "peer" }, .max_down = 1, .params = schema, \
	.conf_size = sizeof(struct mem_conf), .node_size = sizeof(struct mem_state), \
	.rep_size = sizeof(struct mem_rep), .sess_size = sizeof(struct xk_sess), \
	.check = mem_check, .review = mem_review, .ask = mem_ask, .gives = mem_gives, .drops = mem_drops, .counts = mem_counts }

const struct xk_proto xk_proto_eth_mem =
	MEM_DRIVER("eth_mem", "Ethernet in memory: joined to another one, or over a simulated peer", eth_params, "eth");
const struct xk_proto xk_proto_fddi_mem =
	MEM_DRIVER("fddi_mem", "FDDI in memory: joined to another one, or over a simulated peer", fddi_params, "fddi");
