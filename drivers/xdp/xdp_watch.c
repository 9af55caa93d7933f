/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xdp_watch.c - notices when the interface goes down, comes back or is removed.
 *
 * An AF_XDP socket whose interface is gone stays silent: nothing becomes
 * readable.  So a timer of the first VP looks twice a second at a netlink socket on
 * which the kernel says what becomes of interfaces, and notes it where all VPs see
 * it.  When the kernel had more to say than fits, the state is
 * asked for.  The same timer looks whether the program is still there, which somebody may have taken away: then
 * nothing comes any more either.
 * Invariant: once gone, always gone: an interface that comes back has another number, and another netlink socket.
 */
#include "drivers/xdp/xdp_priv.h"
#include "runtime/upi/xk_node.h"
#include "runtime/vp/xk_vp.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define WATCH_EVERY (500 * XK_MS)

int xdp_watch_open(struct xdp_dev *d, char *why, size_t n)
{
	struct sockaddr_nl a = { .nl_family = AF_NETLINK, .nl_groups = RTMGRP_LINK };

	d->watch_fd = socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_ROUTE);
	if (d->watch_fd >= 0 && bind(d->watch_fd, (struct sockaddr *)&a, sizeof a) == 0)
		return XK_OK;
	snprintf(why, n, "cannot watch the interfaces: %s", strerror(errno));
	return -errno;
}

static void watch_ask(const struct xdp_dev *d)
{
	struct { struct nlmsghdr h; struct ifinfomsg i; } q = {
		.h = { .nlmsg_len = sizeof q, .nlmsg_type = RTM_GETLINK, .nlmsg_flags = NLM_F_REQUEST },
		.i = { .ifi_family = AF_UNSPEC, .ifi_index = (int)d->ifindex },
	};

	(void)!send(d->watch_fd, &q, sizeof q, 0);
}

static void watch_say(struct xdp_dev *d, enum xdp_link now)
{
	static const char *const said[] = { "is up again", "was taken down: nothing can be sent", "was removed" };

	if (d->link == now || d->link == XDP_GONE)
		return;
	xk_store_relaxed(&d->link, now);
	XK_TRACE(&d->rep->node->log, now == XDP_GONE ? 1 : 2, "interface %s %s%s", d->ifname, said[now],
		 now == XDP_GONE && xdp_conf(d->rep)->reattach ? ": one of its name is waited for" : "");
	if (now != XDP_GONE)
		return;
	xk_count(d->rep->count[N_ERRORS]);
	if (xdp_conf(d->rep)->reattach)
		xdp_back_wait(d);
	else
		xk_node_failed(d->rep->node, "its interface is gone");
}

static void watch_one(struct xdp_dev *d, const struct nlmsghdr *h)
{
	const struct ifinfomsg *i = NLMSG_DATA(h);

	if (h->nlmsg_type == NLMSG_ERROR) {             /* the answer to watch_ask, when there is nothing */
		const struct nlmsgerr *e = NLMSG_DATA(h);

		if (e->error == -ENODEV)
			watch_say(d, XDP_GONE);
		return;
	}
	if ((h->nlmsg_type != RTM_NEWLINK && h->nlmsg_type != RTM_DELLINK) || i->ifi_index != (int)d->ifindex ||
	    i->ifi_family != AF_UNSPEC)
		return;
	watch_say(d, h->nlmsg_type == RTM_DELLINK ? XDP_GONE : i->ifi_flags & IFF_UP ? XDP_UP : XDP_DOWN);
}

static void watch_read(struct xdp_dev *d)
{
	_Alignas(struct nlmsghdr) char b[16384];
	ssize_t n;

	while ((n = recv(d->watch_fd, b, sizeof b, 0)) >= 0 || errno == ENOBUFS) {
		if (n < 0) {
			watch_ask(d);
			continue;
		}
		for (struct nlmsghdr *h = (struct nlmsghdr *)(void *)b; NLMSG_OK(h, n); h = NLMSG_NEXT(h, n))
			watch_one(d, h);
	}
}

static void watch_look(struct xk_timer *t)
{
	struct xdp_dev *d = xk_container_of(t, struct xdp_dev, watch);

	if (d->link != XDP_GONE) {
		watch_read(d);
		if (d->link == XDP_UP && xdp_prog_gone(d))
			watch_say(d, XDP_GONE);
	} else if (!xdp_back_look(d)) {
		return;
	}
	if (d->link != XDP_GONE)
		xk_timer_set(d->rep->wheel, t, xk_vp_now() + WATCH_EVERY);
	else if (xdp_conf(d->rep)->reattach)
		xk_timer_set(d->rep->wheel, t, xk_vp_now() + XDP_BACK_EVERY);
}

void xdp_watch_start(struct xdp_dev *d, struct xk_rep *r)
{
	d->rep = r;
	xk_timer_init(&d->watch, watch_look);
	xk_timer_set(r->wheel, &d->watch, r->vp->now + WATCH_EVERY);
}

void xdp_watch_stop(struct xdp_dev *d)
{
	if (d->rep != NULL)
		xk_timer_cancel(d->rep->wheel, &d->watch);
	d->rep = NULL;
}
