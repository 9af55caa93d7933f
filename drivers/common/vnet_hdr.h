/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vnet_hdr.h - the header of virtio-net before a frame: what the Linux kernel and a driver say to each
 * other of segmentation and checksums (struct virtio_net_hdr in linux/virtio_net.h; TAP and packet
 * sockets have it when asked).
 *
 * Ten bytes, numbers in the host's order.  What comes from the kernel is checked against the frame and
 * not believed beyond it.  Any thread; no memory.
 */
#ifndef XK_VNET_HDR_H
#define XK_VNET_HDR_H

#include "runtime/msg/xk_msg.h"

#include <string.h>

#define XK_VNET_LEN 10u

/* A plain frame: nothing to be done with it. */
static inline void xk_vnet_none(uint8_t h[XK_VNET_LEN]) { memset(h, 0, XK_VNET_LEN); }

/* The header of m, a super-segment (XK_MSG_SUPER) whose network header lies behind `link` bytes and whose
 * frames are at most frame_max long; false: it is none that could be cut (cut.h). *udp: it is of
 * datagrams, which not every kernel takes. */
bool xk_vnet_super(uint8_t h[XK_VNET_LEN], const struct xk_msg *m, uint32_t link, uint32_t frame_max, bool *udp);

/* Does a header say that the frame behind it stands for several? */
static inline bool xk_vnet_several(const uint8_t h[XK_VNET_LEN]) { return h[1] != 0; }

/* What a header says of the frame behind it. */
struct xk_vnet {
	bool     vouched;        /* the checksum of TCP or UDP is right, though the field may not hold it (XK_MSG_CSUM_OK) */
	bool     udp;            /* datagrams: to be cut */
	uint32_t seg;            /* payload bytes of a frame, of several that came as one; 0: it is one */
};
/* Into *v; false: header and frame do not agree, or the header asks for what nobody has offered. m is as the
 * device gave it, its headers wherever they lie. */
bool xk_vnet_read(const uint8_t h[XK_VNET_LEN], const struct xk_msg *m, uint32_t link, struct xk_vnet *v);
/* Makes the checksum of m, one frame that xk_vnet_read has taken, where its sender left that to us: for
 * who looks at frames. */
void xk_vnet_complete(const uint8_t h[XK_VNET_LEN], struct xk_msg *m);

#endif
