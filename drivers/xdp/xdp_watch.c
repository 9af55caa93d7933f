/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xdp_watch.c - whether the interface is up, down or removed.
 *
 * An AF_XDP socket whose interface is gone stays silent: nothing becomes
 * readable.  The kernel says on a netlink socket what becomes of interfaces; when it had more to say than fits, the
 * state is asked for.  A program that somebody has taken away is an interface that is gone: nothing comes any more.
 * Invariant: once gone, always gone: an interface that comes back has another number, and another netlink socket.
 */
#include "drivers/xdp/xdp_priv.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

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

static void watch_one(const struct xdp_dev *d, const struct nlmsghdr *h, enum xdp_link *now)
{
	const struct ifinfomsg *i = NLMSG_DATA(h);

	if (h->nlmsg_type == NLMSG_ERROR) {             /* the answer to watch_ask, when there is nothing */
		const struct nlmsgerr *e = NLMSG_DATA(h);

		if (e->error == -ENODEV)
			*now = XDP_GONE;
		return;
	}
	if ((h->nlmsg_type != RTM_NEWLINK && h->nlmsg_type != RTM_DELLINK) || i->ifi_index != (int)d->ifindex ||
	    i->ifi_family != AF_UNSPEC)
		return;
	if (*now != XDP_GONE)
		*now = h->nlmsg_type == RTM_DELLINK ? XDP_GONE : i->ifi_flags & IFF_UP ? XDP_UP : XDP_DOWN;
}

enum xdp_link xdp_watch_read(const struct xdp_dev *d)
{
	enum xdp_link now = (enum xdp_link)d->link;
	_Alignas(struct nlmsghdr) char b[16384];
	ssize_t n;

	while ((n = recv(d->watch_fd, b, sizeof b, 0)) >= 0 || errno == ENOBUFS) {
		if (n < 0) {
			watch_ask(d);
			continue;
		}
		for (struct nlmsghdr *h = (struct nlmsghdr *)(void *)b; NLMSG_OK(h, n); h = NLMSG_NEXT(h, n))
			watch_one(d, h, &now);
	}
	return now == XDP_UP && xdp_prog_gone(d) ? XDP_GONE : now;
}
