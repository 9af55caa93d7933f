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
	bool           offload;          /* frames have a header of virtio-net, where the kernel can */
};

/* A device that is open. */
struct tap_dev {
	int  fd;                         /* non-blocking */
	bool vnet;                       /* frames have that header (drivers/common/vnet_hdr.h) */
	bool datagrams;                  /* ... and may be several datagrams of UDP as one */
};

/* Opens and, when there is an address, brings up the host's side.  On failure
 * negative and a sentence in why[n]; nothing is left behind. */
int tap_dev_open(const struct tap_want *w, struct tap_dev *d, char *why, size_t n);
/* From now on the kernel may give us what is longer than a frame, and leave checksums to us. */
void tap_dev_take_long(const struct tap_dev *d);

#endif
