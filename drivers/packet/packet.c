/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * packet.c - a driver over Linux packet sockets: the graph is a station on an
 * Ethernet interface that the kernel has.
 *
 * Each virtual processor has a socket of its own with a ring that the kernel
 * fills; a fanout group spreads the interface's frames over them, and the task
 * of each sleeps on its own socket.  A frame that came to another virtual
 * processor than its connection's is handed over.  What is sent leaves by the
 * sender's own socket in batches.  When the interface goes the tasks park, and
 * the graph is told or one virtual processor looks for one that has the name.
 * Invariant: while the interface is there no lock and no word is shared by two
 * virtual processors here, but what is said once.
 */
#include "drivers/common/cut.h"
#include "drivers/common/edge.h"
#include "drivers/packet/packet_priv.h"
#include "runtime/upi/xk_gives.h"
#include "runtime/upi/xk_input.h"
#include "runtime/upi/xk_review.h"

#include <stdio.h>
#include <string.h>

/* ---- sessions ------------------------------------------------------------------------- */

static int packet_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	if (op == XK_CTL_SENDS_SUPER)
		return packet_state(r)->vnet;
	if (op == XK_CTL_GETMAXSUPER)
		return xk_answer32(buf, len, packet_state(r)->vnet ? PACKET_ETH_HEADER + XK_CUT_MAX : 0);
	return xk_edge_control((struct xk_edge){ packet_state(r)->frame_max, XK_LINK_ETH, packet_state(r)->mac }, op, buf, len);
}

/* ---- life -------------------------------------------------------------------------------- */

static void packet_fini(struct xk_node *n)
{
	packet_dev_close(n->state);
}

static int packet_init(struct xk_node *n, struct xk_errs *e)
{
	struct packet_state *st = n->state;
	struct packet_steer s;
	char why[320];
	int err;

	packet_steer_new(&s, n);
	err = packet_dev_open(st, n->conf, &s, packet_readers(n), why, sizeof why);
	st->keeps_steer = ((const struct packet_conf *)n->conf)->reattach;
	if (st->keeps_steer)
		st->steer = s;
	else
		packet_steer_free(&s);
	if (err == XK_OK) {
		if (st->shared)
			XK_TRACE(&n->log, 2, "interface '%s' is used by another graph with the same address: both get all "
				 "frames (another mac, or another interface, keeps them apart)",
				 ((const struct packet_conf *)n->conf)->ifname);
		if (st->nqueues > 1)
			XK_TRACE(&n->log, 3, "%u sockets, frames spread by \"%s\"", st->nqueues, packet_steer_name(&s));
		return XK_OK;
	}
	xk_errs_add(e, n->file, n->line, 0, "%s: %s", n->name, why);
	packet_fini(n);
	return err;
}

static int packet_rep_init(struct xk_rep *r)
{
	struct packet_rep *pr = r->state;

	pr->rep = r;
	xk_task_init(&pr->task, r->vp, packet_rx_run);
	xk_task_init(&pr->tx.task, r->vp, packet_tx_run);
	xk_timer_init(&pr->watch, packet_watch);
	xk_task_input(&pr->tx.task, NULL);
	pr->call = (struct xk_call){ .fn = packet_told, .arg = pr };
	packet_use(pr, packet_set_get(packet_state(r), NULL));
	return XK_OK;
}

static int packet_rep_start(struct xk_rep *r, struct xk_errs *e)
{
	struct packet_rep *pr = r->state;

	(void)e;
	if (pr->queue != NULL) {
		packet_dev_admit(pr->queue);
		xk_task_ready(&pr->task);
	}
	return XK_OK;
}

static void packet_rep_tally(struct xk_rep *r)
{
	struct packet_rep *pr = r->state;

	if (pr->queue != NULL)
		packet_count_lost(pr);
}

/* What is pushed from now on is sent at once: no task will run. */
static void packet_rep_stop(struct xk_rep *r)
{
	struct packet_rep *pr = r->state;

	pr->stopped = true;
	xk_timer_cancel(r->wheel, &pr->watch);
	xk_task_park(&pr->task);
	xk_task_park(&pr->tx.task);
	packet_tx_flush(pr);
	pr->tx.direct = true;
	packet_rep_tally(r);
}

static int packet_check(const void *conf, char *why, size_t n)
{
	const struct packet_conf *c = conf;
	const char *name = c->ifname != NULL ? c->ifname : "";

	if (strlen(name) == 0 || strlen(name) > 15)
		snprintf(why, n, "ifname '%s' is not an interface's name: these have 1 to 15 letters", name);
	else if (!xk_edge_mac_fault(c->mac, why, n))
		return XK_OK;
	return XK_E_INVAL;
}

static void packet_review(const struct xk_view *v, struct xk_review *r)
{
	const struct packet_conf *c = v->conf;

	xk_review_interface(r, v, c->ifname, c->netns, 0, 0);
}

static uint32_t packet_gives(const void *conf, uint32_t below)
{
	return xk_edge_gives_net(conf, below) | (((const struct packet_conf *)conf)->crc ? XK_GIVES_CRC : 0);
}

static const struct xk_ops packet_ops = {
	.init = packet_init, .fini = packet_fini, .rep_init = packet_rep_init,
	.rep_start = packet_rep_start, .rep_stop = packet_rep_stop, .rep_tally = packet_rep_tally,
	.open = xk_edge_open, .close = xk_edge_close, .push = packet_tx_push,
	.enter = xk_input_enter, .control = packet_control,
};

#define P(field, t, d, text, ...) \
	{ .name = #field, .type = t, .def = d, .doc = text, .offset = offsetof(struct packet_conf, field), ##__VA_ARGS__ }

static const char *const formats[] = { "v2", "v3", NULL };
static const char *const fanouts[] = { "auto", "cbpf", "ebpf", "hash", "lb", "cpu", NULL };

static const struct xk_param packet_params[] = {
	P(ifname, XK_P_TEXT, NULL, "name of the interface, which must be up", .flags = XK_PF_REQUIRED | XK_PF_HOST),
	P(netns, XK_P_TEXT, NULL, "network namespace of the interface, a name of \"ip netns\"", .flags = XK_PF_HOST),
	P(mtu, XK_P_SIZE, NULL, "largest payload of a frame; unset: the interface's", .min = "68", .max = "65521"),
	P(mac, XK_P_MAC, NULL, "our address; unset: the interface's own"),
	P(promiscuous, XK_P_BOOL, "false", "receive the frames for every station"),
	P(queues, XK_P_UINT, "0", "virtual processors that read a socket of their own; 0: all, at most 64", .max = "64"),
	P(ring, XK_P_SIZE, "2MiB", "bytes of each socket's receive ring", .min = "64KiB", .max = "1GiB"),
	P(format, XK_P_ENUM, "v3", "of the ring: v3 tells of blocks of frames, which costs less, v2 of each frame at once",
	  .choices = formats),
	P(retire, XK_P_TIME, "1ms", "v3: a block that is not full is passed on after this time", .min = "1ms", .max = "1s"),
	P(fanout, XK_P_ENUM, "auto", "what chooses a frame's socket: a program made from the graph (cbpf, ebpf), the kernel's hash "
	  "of its flow (hash), each in turn (lb), the receiving processor (cpu)",
	  .choices = fanouts),
	P(qdisc_bypass, XK_P_BOOL, "false", "send past the interface's queueing discipline, which a capture does not see either"),
	P(offload, XK_P_BOOL, "true", "leave segmentation and checksums to the kernel, and learn from it what it has not cut"),
	P(reattach, XK_P_BOOL, "false", "when the interface is removed, wait for one of its name that is up, and go on there"),
	P(crc, XK_P_BOOL, "false", "the interface is hardware that checks a CRC of each frame, and so is what is on its cable"),
	XK_CLASSIFIER_PARAM(struct packet_conf, classifier),
	XK_PARAM_END
};

static const char *const packet_drops[] = {
#define X(id, text) text,
	PACKET_DROPS(X)
#undef X
	NULL
};
static const char *const packet_counts[] = { "read", "written", "batches", "long_frames", "vouched", "own", "ring_full",
					     "went_down", "device_errors", "super_segments_read", "super_segments_written", "looked_for", "reattached", NULL };

const struct xk_proto xk_proto_packet = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "packet",
	.doc = "an Ethernet interface of the Linux kernel, by packet sockets (needs CAP_NET_RAW)",
	.is_driver = true, .is_host = true, .ops = &packet_ops, .offers = "frame/eth", .params = packet_params,
	.conf_size = sizeof(struct packet_conf), .node_size = sizeof(struct packet_state),
	.rep_size = sizeof(struct packet_rep), .sess_size = sizeof(struct xk_sess),
	.check = packet_check, .drops = packet_drops, .counts = packet_counts,
	.review = packet_review, .ask = xk_edge_ask_eth, .gives = packet_gives,
};
