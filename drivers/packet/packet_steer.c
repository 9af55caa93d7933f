/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * packet_steer.c - the program that chooses a frame's socket, made from the graph.
 *
 * The runtime's packet filter of this device is translated once, before the
 * sockets are there: a connection's frames come to the socket of the virtual
 * processor that their hash names, which is where the runtime would send them.
 * Without a program the kernel spreads flows by a hash of its own, and frames
 * are handed over.
 * Invariant: steering decides who looks first, never who owns a message.
 */
#include "drivers/packet/packet_priv.h"

#include <linux/if_packet.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "runtime/classify/xk_cbpf.h"
#include "runtime/upi/xk_input.h"

#define FLOWS_MAX 65536u         /* connections in the program's map */

static int steer_cbpf(struct packet_steer *s, const struct xk_node *n, char *why, size_t len)
{
	int count;

	s->prog = xk_alloc(BPF_MAXINSNS * sizeof *s->prog);
	if (s->prog == NULL) {
		snprintf(why, len, "out of memory");
		return XK_E_NOMEM;
	}
	/* Where a received frame is shown to the group the link header is behind. */
	count = xk_pattern_cbpf_vp(n->pattern, packet_readers(n), PACKET_ETH_HEADER, s->prog, BPF_MAXINSNS);
	if (count < 0) {
		snprintf(why, len, "%s", xk_strerror(count));
		return count;
	}
	s->nprog = (unsigned)count;
	s->mode = PACKET_FANOUT_CBPF;
	return XK_OK;
}

/* Without a map of flows those that live elsewhere than their hash says are handed over. */
static int steer_ebpf(struct packet_steer *s, const struct xk_node *n, char *why, size_t len)
{
	struct packet_state *st = n->state;

	if (xk_ebpf_follow(&st->flows, n->graph->flows, FLOWS_MAX, why, len) != XK_OK)
		XK_TRACE(&n->log, 2, "the program knows connections by their hash alone: %s", why);
	s->fd = xk_pattern_fanout(n->pattern, packet_readers(n), st->flows.fd, why, len);
	if (s->fd < 0) {
		xk_ebpf_unfollow(&st->flows);
		return s->fd;
	}
	s->mode = PACKET_FANOUT_EBPF;
	return XK_OK;
}

/* Does the runtime send frames to their virtual processors, so that a program knows where? */
static bool steer_knows(const struct xk_node *n)
{
	return n->pattern != NULL && n->pattern->ncell != 0 && strcmp(xk_node_classifier(n), "none") != 0;
}

void packet_steer_new(struct packet_steer *s, const struct xk_node *n)
{
	const struct packet_conf *c = n->conf;
	char why[512] = "the graph does not say what is in a frame, or classifier = \"none\"";
	int err = XK_E_NOTSUP;

	*s = (struct packet_steer){ .mode = PACKET_FANOUT_HASH, .fd = -1 };
	if (c->fanout == PACKET_BY_LB)
		s->mode = PACKET_FANOUT_LB;
	else if (c->fanout == PACKET_BY_CPU)
		s->mode = PACKET_FANOUT_CPU;
	if (c->fanout >= PACKET_BY_HASH || c->queues == 1 || packet_readers(n) == 1)
		return;
	if (steer_knows(n))
		err = c->fanout == PACKET_BY_EBPF ? steer_ebpf(s, n, why, sizeof why) : steer_cbpf(s, n, why, sizeof why);
	else if (c->fanout == PACKET_BY_AUTO)
		return;
	if (err != XK_OK)
		XK_TRACE(&n->log, 2, "no program chooses the socket of a frame, the kernel's hash does: %s", why);
}

void packet_steer_free(struct packet_steer *s)
{
	xk_free(s->prog);
	if (s->fd >= 0)
		close(s->fd);
	s->prog = NULL;
	s->fd = -1;
}

int packet_steer_attach(const struct packet_steer *s, int fd)
{
	const struct sock_fprog p = { (unsigned short)s->nprog, s->prog };

	if (s->mode == PACKET_FANOUT_CBPF)
		return setsockopt(fd, SOL_PACKET, PACKET_FANOUT_DATA, &p, sizeof p);
	if (s->mode == PACKET_FANOUT_EBPF)
		return setsockopt(fd, SOL_PACKET, PACKET_FANOUT_DATA, &s->fd, sizeof s->fd);
	return 0;
}

const char *packet_steer_name(const struct packet_steer *s)
{
	switch (s->mode) {
	case PACKET_FANOUT_CBPF: return "cbpf";
	case PACKET_FANOUT_EBPF: return "ebpf";
	case PACKET_FANOUT_LB:   return "lb";
	case PACKET_FANOUT_CPU:  return "cpu";
	default:                 return "hash";
	}
}
