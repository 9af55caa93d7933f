/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * classify_ebpf_follow.c - a kernel map that follows the flow table.
 *
 * The table tells, under its lock and so in order, of each connection that lives elsewhere than
 * its hash says; the map has just these, so a device's program looks a key up and takes the hash
 * where it finds nothing.  One system call for such a connection, none for the others.
 * Invariant: while it follows, the map has every connection that it was told of and had room for.
 */
#include <string.h>
#include <unistd.h>

#include "runtime/base/xk_errs.h"
#include "runtime/classify/xk_ebpf.h"

static struct xk_ebpf_flows *flows_of(struct xk_flow_watch *w)
{
	return xk_container_of(w, struct xk_ebpf_flows, watch);
}

static void follow_bound(struct xk_flow_watch *w, const struct xk_flowkey *k, uint16_t vp)
{
	struct xk_ebpf_flows *f = flows_of(w);

	if (xk_ebpf_flows_set(f->fd, k, vp) == XK_OK)
		f->set++;
	else
		f->refused++;
}

static void follow_unbound(struct xk_flow_watch *w, const struct xk_flowkey *k)
{
	struct xk_ebpf_flows *f = flows_of(w);

	if (xk_ebpf_flows_drop(f->fd, k) == XK_OK)
		f->dropped++;
}

int xk_ebpf_follow(struct xk_ebpf_flows *f, struct xk_flowtab *tab, uint32_t most, char *log, size_t loglen)
{
	int fd = xk_ebpf_flows_new(most, log, loglen);

	*f = (struct xk_ebpf_flows){ .watch = { .bound = follow_bound, .unbound = follow_unbound }, .fd = -1 };
	if (fd < 0)
		return fd;
	f->fd = fd;
	f->tab = tab;
	xk_flowtab_watch(tab, &f->watch);
	return XK_OK;
}

void xk_ebpf_unfollow(struct xk_ebpf_flows *f)
{
	if (f->tab != NULL) {
		xk_flowtab_unwatch(f->tab, &f->watch);
		close(f->fd);
	}
	f->tab = NULL;
	f->fd = -1;
}
