/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tap_priv.h - opening a Linux TAP device, apart from moving frames.
 */
#ifndef XK_TAP_PRIV_H
#define XK_TAP_PRIV_H

#include "runtime/upi/xk_proto.h"

struct tap_want {
	const char    *ifname;           /* NULL: the kernel chooses */
	const char    *netns;            /* name under /run/netns, or NULL */
	struct xk_cidr addr;             /* of the host's side; 0/0: leave the interface alone */
	uint32_t       mtu;
};

/* Opens and, when there is an address, brings up the host's side.  The file
 * descriptor is non-blocking.  On failure negative and a sentence in why[n];
 * nothing is left behind. */
int tap_dev_open(const struct tap_want *w, int *fd, char *why, size_t n);

#endif
