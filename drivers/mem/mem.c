/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mem.c - the in-memory network drivers eth_mem and fddi_mem.
 *
 * One implementation for both link types.  What stands at the other end of the
 * cable is the parameter `peer`: the other driver of a named wire, an infinite
 * sink, an infinite source, or a reflector.  Everything is at memory speed.
 * Invariant: a frame pushed here is counted, queued or dropped with a reason;
 * none is passed up on the stack of the push.
 */
#include "drivers/mem/mem_priv.h"

#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_input.h"
#include "runtime/upi/xk_part.h"
#include "runtime/upi/xk_review.h"

#include <stdio.h>
#include <string.h>

static const struct mem_link link_eth = { XK_LINK_ETH, 14, 0 };
static const struct mem_link link_fddi = { XK_LINK_FDDI, 21, 1 };

/* ---- sessions ----------------------------------------------------------------- */

static void mem_sink_push(struct xk_sess *s, struct xk_msg *m)
{
	struct xk_rep *r = s->rep;

	if (XK_UNLIKELY(m->tot > mem_state(r)->frame_max)) {
		xk_drop(r, MEM_DROP_TOO_LONG, m);
		return;
	}
	xk_count(r->count[MEM_N_SUNK]);
	xk_count_add(r->count[MEM_N_SUNK_BYTES], m->tot);
	xk_msg_free(m);
}

/* By enum mem_peer. */
static const xk_push_fn peer_push[] = {
	[MEM_LOOP] = mem_loop_push, [MEM_SINK] = mem_sink_push,
	[MEM_SOURCE] = mem_sink_push, [MEM_ECHO] = mem_echo_push,
	[MEM_TCP_SINK] = mem_tcp_sink_push, [MEM_TCP_SOURCE] = mem_tcp_source_push,
};

/* The same where I/O threads own the devices. */
static const xk_push_fn carried_push[] = {
	[MEM_LOOP] = mem_carried_loop_push, [MEM_SINK] = mem_sink_push,
	[MEM_SOURCE] = mem_sink_push, [MEM_ECHO] = mem_carried_echo_push,
	[MEM_TCP_SINK] = mem_carried_peer_push, [MEM_TCP_SOURCE] = mem_carried_peer_push,
};

static xk_push_fn push_of(const struct xk_rep *r)
{
	return (mem_state(r)->reader != NULL ? carried_push : peer_push)[mem_conf(r)->peer];
}

static struct xk_sess *mem_open(struct xk_rep *r, struct xk_rep *rcv, struct xk_node *type,
				struct xk_parts *ps, int *err)
{
	(void)ps;
	if (r->drv_sess != NULL) {
		*err = XK_E_BUSY;
		return NULL;
	}
	r->drv_sess = xk_sess_create(r, &rcv->up, type, NULL);
	if (r->drv_sess == NULL)
		*err = XK_E_NOMEM;
	else
		xk_sess_set_push(r->drv_sess, push_of(r));
	return r->drv_sess;
}

static void mem_close(struct xk_sess *s)
{
	s->rep->drv_sess = NULL;
	xk_sess_destroy(s);
}

/* ---- control -------------------------------------------------------------------- */

static int mem_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	const struct mem_state *st = mem_state(r);

	switch (op) {
	case XK_CTL_GETMAXPACKET:
	case XK_CTL_GETOPTPACKET:
		return xk_answer32(buf, len, st->frame_max);
	case XK_CTL_LINK_TYPE:
		return xk_answer32(buf, len, st->link->type);
	case XK_CTL_GETMYMAC:
		return xk_answer(buf, len, st->mac, 6);
	case XK_CTL_MEM_COUNTS:
		return mem_conf(r)->peer == MEM_TCP_SOURCE ? mem_tcp_source_counts(r->state, buf, len) :
		       mem_gen_counts(r->state, buf, len);
	default:
		return XK_E_NOTSUP;
	}
}

static int mem_sess_control(struct xk_sess *s, unsigned op, void *buf, unsigned len)
{
	return mem_control(s->rep, op, buf, len);
}

/* ---- life ------------------------------------------------------------------------ */

/* The given address, or the first driver's ...:01, the second's ...:02. */
static void choose_mac(struct xk_node *n)
{
	static const uint8_t unset[6];
	const struct mem_conf *c = n->conf;
	struct mem_state *st = n->state;
	unsigned no = 1;

	memcpy(st->mac, c->mac, 6);
	if (memcmp(c->mac, unset, 6) != 0)
		return;
	for (unsigned i = 0; i < n->no; i++)
		no += xk_node_is_edge(n->graph->node[i]);
	memcpy(st->mac, (uint8_t[6]){ 0x02, 0, 0, 0, (uint8_t)(no >> 8), (uint8_t)no }, 6);
}

static int mem_init(struct xk_node *n, struct xk_errs *e)
{
	const struct mem_conf *c = n->conf;
	struct mem_state *st = n->state;

	st->link = n->proto == &xk_proto_fddi_mem ? &link_fddi : &link_eth;
	st->frame_max = (uint32_t)c->mtu + st->link->header;
	choose_mac(n);
	st->reader = n->graph->vps->arch.io_threads != 0 ? xk_node_reader(n) : NULL;
	if (c->peer == MEM_SOURCE && c->rxbuf == MEM_COLD && c->rxcold == 0 && !n->graph->vps->arch.wired)
		XK_TRACE(&n->log, 2, "rxbuf = \"cold\" measures what it should only where workers are wired "
			 "(threading = \"ppc\" or wired = true)");
	return c->peer == MEM_LOOP ? mem_wire_join(n, e) : XK_OK;
}

static bool has_idle(const struct xk_rep *r)
{
	const struct mem_conf *c = mem_conf(r);

	return (c->peer == MEM_TCP_SINK || c->peer == MEM_TCP_SOURCE) && c->idle != 0;
}

static unsigned (*run_of(const struct xk_rep *r))(struct xk_task *, unsigned)
{
	unsigned peer = mem_conf(r)->peer;
	bool carried = mem_state(r)->reader != NULL;

	if (peer == MEM_SOURCE)
		return carried ? mem_carried_gen_run : mem_gen_run;
	if (has_idle(r))
		return mem_tcp_idle_run;
	if (peer == MEM_TCP_SOURCE)
		return mem_tcp_source_run;
	return carried ? mem_carried_rx_run : mem_rx_run;
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
	xk_task_init(&mr->task, r->vp, run_of(r));
	mr->task.input = mr->task.run == mem_rx_run || mr->task.run == mem_carried_rx_run ||
			 (has_idle(r) && mem_conf(r)->peer == MEM_TCP_SINK);
	return XK_OK;
}

static int mem_rep_start(struct xk_rep *r, struct xk_errs *e)
{
	struct mem_rep *mr = r->state;
	const struct mem_state *st = mem_state(r);
	int err;

	if (st->peer != NULL)
		mr->peer = xk_rep_here(st->peer, r)->state;
	switch (mem_conf(r)->peer) {
	case MEM_SOURCE:     err = mem_gen_new(mr); break;
	case MEM_TCP_SINK:   err = mem_tcp_sink_new(mr); break;
	case MEM_TCP_SOURCE: err = mem_tcp_source_new(mr); break;
	default:             return XK_OK;
	}
	if (err == XK_OK && has_idle(r))
		xk_task_ready(&mr->task);
	if (err != XK_OK)
		xk_errs_add(e, r->node->file, r->node->line, 0, "%s: not enough memory for the frames of "
			    "%llu connections (fewer connections, a smaller rxcold or a higher memory limit)",
			    r->node->name, (unsigned long long)mem_conf(r)->conns);
	return err;
}

static void mem_rep_stop(struct xk_rep *r)
{
	struct mem_rep *mr = r->state;

	mr->open = false;
	xk_task_park(&mr->task);
	xk_msgq_free(&mr->q);
	xk_msgq_init(&mr->q);
	mem_gen_stop(mr);
	mem_tcp_stop(mr);
}

static void mem_rep_fini(struct xk_rep *r)
{
	mem_gen_free(r->state);
	mem_tcp_free(r->state);
}

static void mem_enter(struct xk_rep *r, struct xk_msg *m)
{
	if (XK_UNLIKELY(mem_state(r)->reader != NULL))
		mem_carried_enter(r, m);
	else
		xk_input_enter(r, m);
}

static int mem_check(const void *conf, char *why, size_t n)
{
	const struct mem_conf *c = conf;

	if (c->wire != NULL && c->peer != MEM_LOOP) {
		snprintf(why, n, "'wire' joins two drivers with peer = \"loop\" and means nothing to other peers");
		return XK_E_INVAL;
	}
	if (c->mac[0] & 1) {
		snprintf(why, n, "mac is a group address (lowest bit of its first byte set): a station needs its own");
		return XK_E_INVAL;
	}
	if (c->idle != 0 && c->to == 0) {
		snprintf(why, n, "idle = %llu needs 'to', the address to connect to", (unsigned long long)c->idle);
		return XK_E_INVAL;
	}
	return c->peer == MEM_SOURCE ? mem_gen_check(c, why, n) :
	       c->peer == MEM_TCP_SOURCE ? mem_tcp_source_check(c, why, n) : XK_OK;
}

/* ---- before there is a graph ------------------------------------------------------- */

static bool speaks_fddi(const struct xk_proto *p)
{
	return p == &xk_proto_fddi_mem;
}

static void mem_review(const struct xk_view *v, struct xk_review *r)
{
	const struct mem_conf *c = v->conf;
	const struct xk_claim end = { .param = "wire", .what = "cable", .name = c->wire, .ends = 2,
				      .kind = speaks_fddi(v->proto) ? "FDDI" : "Ethernet" };

	if (c->wire != NULL)
		xk_review_claim(r, v, &end);
}

static int mem_ask(const struct xk_view *v, unsigned op, void *buf, unsigned len)
{
	const struct mem_conf *c = v->conf;
	struct xk_segment *s = buf;

	if (op == XK_CTL_LINK_TYPE)
		return xk_answer32(buf, len, speaks_fddi(v->proto) ? XK_LINK_FDDI : XK_LINK_ETH);
	if (op != XK_ASK_SEGMENT || c->wire == NULL)
		return XK_E_NOTSUP;
	snprintf(s->name, sizeof s->name, "%s", c->wire);
	return 1;
}

static const struct xk_ops mem_ops = {
	.init = mem_init, .rep_init = mem_rep_init, .rep_fini = mem_rep_fini,
	.rep_start = mem_rep_start, .rep_stop = mem_rep_stop,
	.open = mem_open, .close = mem_close, .push = mem_sink_push,
	.enter = mem_enter, .control = mem_control, .sess_control = mem_sess_control,
};

/* ---- parameters --------------------------------------------------------------------- */

static const char *const peers[] = { "loop", "sink", "source", "echo", "tcp_sink", "tcp_source", NULL };
static const char *const rxbufs[] = { "lifo", "cold", NULL };
static const char *const csums[] = { "compute-ignore", "none", "good", NULL };
static const char *const places[] = { "map", "hash", NULL };

#define P(field, t, d, text, ...) \
	{ .name = #field, .type = t, .def = d, .doc = text, .offset = offsetof(struct mem_conf, field), ##__VA_ARGS__ }

#define MEM_PARAMS(mtu_def, mtu_max) \
	P(peer, XK_P_ENUM, "loop", "what is at the other end: the wire, an infinite sink, an infinite source, a reflector, a simulated TCP " \
	  "receiver or sender", \
	  .choices = peers), \
	P(mtu, XK_P_SIZE, mtu_def, "largest payload of a frame", .min = "68", .max = mtu_max), \
	P(mac, XK_P_MAC, NULL, "own address; default 02:00:00:00:00:01 for the first driver, :02 for the second, ..."), \
	P(wire, XK_P_TEXT, NULL, "loop: name of the cable; the two drivers that name it are its ends; unnamed: this end only"), \
	P(copy, XK_P_BOOL, "true", "loop: copy each frame once into the receiver's buffer; false hands the buffer over"), \
	P(queue, XK_P_UINT, "1024", "loop, echo: most frames that wait on the wire, per virtual processor", \
	  .min = "1", .max = "1048576"), \
	P(conns, XK_P_UINT, "1", "source: connections", .min = "1", .max = "1048576"), \
	P(size, XK_P_SIZE, "64", "source: payload bytes of each datagram", .min = "0", .max = "65507"), \
	P(to, XK_P_IPV4, NULL, "source: address the datagrams are for"), \
	P(port, XK_P_PORT, "9", "source: first port they are for"), \
	P(ports, XK_P_UINT, "1", "source: consecutive ports, used in turn", .min = "1", .max = "65535"), \
	P(from, XK_P_IPV4, "10.0.0.2", "source: address of the first 16384 connections' peer; the next 16384 come from the next"), \
	P(from_port, XK_P_PORT, "20000", "source: first port of a peer"), \
	P(peer_mac, XK_P_MAC, NULL, "source, echo: link address of the peer"), \
	P(burst, XK_P_UINT, "0", "source: frames of one connection in a unit of work; 0: the graph's burst", .max = "1024"), \
	P(mix, XK_P_BOOL, "false", "source: each frame of a unit is the next connection's, in an order that looks like chance"), \
	P(count, XK_P_UINT, "0", "source: stop after so many frames of all connections together; 0: never"), \
	P(rate, XK_P_UINT, "0", "source: frames per second of all connections together; 0: as fast as they are taken", \
	  .max = "1000000000"), \
	P(ring, XK_P_UINT, "0", "source, with rate: frames that wait to be taken at most, by virtual processor; what comes then is missed; 0: " \
	  "none is, they are late", .max = "1048576"), \
	P(checksum, XK_P_ENUM, "compute-ignore", "source: a dummy that receivers compute and ignore, none, or a good one", \
	  .choices = csums), \
	P(place, XK_P_ENUM, "map", "source: make frames on the virtual processor of the graph's map of connections, or of the flow hash", \
	  .choices = places), \
	P(lead, XK_P_TEXT, NULL, "source: what every payload begins with, at most 8 bytes in hexadecimal; unset: whatever the buffer holds"), \
	P(rxbuf, XK_P_ENUM, "lifo", "source: receive buffers last freed first, or cold ones from a circular list", .choices = rxbufs), \
	P(rxcold, XK_P_SIZE, "0", "source: bytes in the circular list of a virtual processor; 0: twice the second-level cache", \
	  .max = "1GiB"), \
	P(window, XK_P_SIZE, "64KiB", "tcp_sink, tcp_source: receive window that the peer offers", .min = "1KiB", .max = "1GiB"), \
	P(ack_every, XK_P_UINT, "2", "tcp_sink: segments that are acknowledged together", .min = "1", .max = "64"), \
	P(idle, XK_P_UINT, "0", "tcp_sink, tcp_source: peers besides, who connect to idle_port of 'to' and are silent", \
	  .max = "16777216"), \
	P(idle_port, XK_P_PORT, "9", "tcp_sink, tcp_source: where silent peers connect to", .min = "1"), \
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
static const char *const mem_counts[] = { "sunk", "sunk_bytes", "made", "copies", "acks", "opened", "closed", NULL };

#define MEM_DRIVER(word, text, schema) { \
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = word, .doc = text, \
	.is_driver = true, .ops = &mem_ops, .offers = "frame", .params = schema, \
	.conf_size = sizeof(struct mem_conf), .node_size = sizeof(struct mem_state), \
	.rep_size = sizeof(struct mem_rep), .sess_size = sizeof(struct xk_sess), \
	.check = mem_check, .review = mem_review, .ask = mem_ask, .drops = mem_drops, .counts = mem_counts }

const struct xk_proto xk_proto_eth_mem =
	MEM_DRIVER("eth_mem", "Ethernet in memory: joined to another one, to a sink, a source or a reflector", eth_params);
const struct xk_proto xk_proto_fddi_mem =
	MEM_DRIVER("fddi_mem", "FDDI in memory: joined to another one, to a sink, a source or a reflector", fddi_params);
