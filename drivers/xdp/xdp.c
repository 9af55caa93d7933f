/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xdp.c - the driver over AF_XDP sockets: its name, parameters, reasons and
 * counters, the same in a build without the libraries.
 *
 * An XDP program takes the frames of an interface before the kernel has made
 * anything of them and puts each into the socket of a virtual processor.  What
 * moves them lies in xdp_io.c; where libxdp or libbpf was missing xdp_none.c
 * stands in for all of it and says which.
 * Invariant: a graph file that names this driver is checked alike in every build.
 */
#include "drivers/common/edge.h"
#include "drivers/xdp/xdp_priv.h"
#include "runtime/upi/xk_gives.h"
#include "runtime/upi/xk_input.h"
#include "runtime/upi/xk_review.h"

#include <stdio.h>
#include <string.h>

static bool power_of_two(uint64_t n)
{
	return n != 0 && (n & (n - 1)) == 0;
}

static int xdp_check(const void *conf, char *why, size_t n)
{
	const struct xdp_conf *c = conf;
	const char *name = c->ifname != NULL ? c->ifname : "";

	if (strlen(name) == 0 || strlen(name) > 15)
		snprintf(why, n, "ifname '%s' is not the name of an interface: it has 1 to 15 letters", name);
	else if (!power_of_two(c->frames))
		snprintf(why, n, "frames is %llu, but the kernel's rings take powers of two only", (unsigned long long)c->frames);
	else if (!power_of_two(c->rx_ring))
		snprintf(why, n, "rx_ring is %llu, but the kernel's rings take powers of two only", (unsigned long long)c->rx_ring);
	else if (!power_of_two(c->tx_ring))
		snprintf(why, n, "tx_ring is %llu, but the kernel's rings take powers of two only", (unsigned long long)c->tx_ring);
	else if (!xk_edge_mac_fault(c->mac, why, n))
		return XK_OK;
	return XK_E_INVAL;
}

static void xdp_review(const struct xk_view *v, struct xk_review *r)
{
	const struct xdp_conf *c = v->conf;

	xk_review_interface(r, v, c->ifname, c->netns, c->queue, c->queues);
}

static uint32_t xdp_gives(const void *conf, uint32_t below)
{
	return xk_edge_gives_net(conf, below) | (((const struct xdp_conf *)conf)->crc ? XK_GIVES_CRC : 0);
}

static const char *const modes[] = { "auto", "generic", "native", "zerocopy", NULL };   /* ORDER enum xdp_mode */
static const char *const partials[] = { "auto", "accept", "drop", "off", NULL };        /* ORDER enum xdp_partial */

#define P(field, t, d, text, ...) \
	{ .name = #field, .type = t, .def = d, .doc = text, .offset = offsetof(struct xdp_conf, field), ##__VA_ARGS__ }

static const struct xk_param xdp_params[] = {
	P(ifname, XK_P_TEXT, NULL, "name of the interface, which must be there: all its frames come to the graph",
	  .flags = XK_PF_REQUIRED | XK_PF_HOST),
	P(netns, XK_P_TEXT, NULL, "network namespace that the interface is in, a name of \"ip netns\"",
	  .flags = XK_PF_HOST),
	P(mode, XK_P_ENUM, "auto", "where the program runs: in the kernel's stack, in the device's driver, there without "
	  "copies, or the best of these that works", .choices = modes),
	P(queue, XK_P_UINT, "0", "first receive queue of the device", .max = "4095"),
	P(queues, XK_P_UINT, "0", "receive queues from there on; 0: all", .max = "4096"),
	P(frames, XK_P_UINT, "4096", "frames that a queue can hold received or free; a power of two", .min = "64",
	  .max = "1048576"),
	P(rx_ring, XK_P_UINT, "2048", "frames that can wait for a virtual processor; a power of two", .min = "32",
	  .max = "65536"),
	P(tx_ring, XK_P_UINT, "256", "frames of a virtual processor that can wait to be sent; a power of two", .min = "32",
	  .max = "65536"),
	P(coalesce, XK_P_TIME, "50us", "where frames come fast, a virtual processor that has read all sleeps for so long, and is not "
	  "woken for each; 0: it is", .max = "50ms"),
	P(lend, XK_P_SIZE, "1024", "frames at least this long are not copied when they come in, nor when they go out "
	  "again", .max = "64KiB"),
	P(buffers, XK_P_SIZE, "0", "message buffers in the frames' memory, from which frames are sent without a copy; "
	  "whole 2 MiB", .max = "1GiB"),
	P(partial, XK_P_ENUM, "auto", "frames whose sender left the checksum to its device: believed, dropped, or not looked "
	  "for; auto: believed from a veth, else not looked for", .choices = partials),
	P(reattach, XK_P_BOOL, "false", "when the interface is removed, wait for one of its name, and go on there"),
	P(crc, XK_P_BOOL, "false", "the interface is hardware that checks a CRC of each frame, and so is what is on its cable"),
	XK_CLASSIFIER_PARAM(struct xdp_conf, classifier),
	P(mac, XK_P_MAC, NULL, "our address; unset: the interface's"),
	XK_PARAM_END
};

static const char *const xdp_drops[] = {
#define X(id, text) text,
	XDP_DROPS(X)
#undef X
	NULL
};
static const char *const xdp_counts[] = {
#define X(id, text) text,
	XDP_COUNTS(X)
#undef X
	NULL
};

const struct xk_proto xk_proto_xdp = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "xdp",
	.doc = "a network interface through AF_XDP sockets (needs CAP_NET_ADMIN, CAP_NET_RAW and CAP_BPF)",
	.is_driver = true, .is_host = true, .ops = &xdp_ops, .offers = "frame/eth", .params = xdp_params,
	.conf_size = sizeof(struct xdp_conf), .node_size = sizeof(void *), .sess_size = sizeof(struct xk_sess),
	.check = xdp_check, .drops = xdp_drops, .counts = xdp_counts,
	.review = xdp_review, .ask = xk_edge_ask_eth, .gives = xdp_gives,
};
