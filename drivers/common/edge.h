/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * edge.h - what drivers of one interface say to the protocol above them.
 *
 * Each replica has one session, the way up for its frames; a second opener is refused.  All
 * of this runs inside the replica's VP.
 * Invariant: r->drv_sess is the session that is open, or NULL.
 */
#ifndef XK_EDGE_H
#define XK_EDGE_H

#include "runtime/upi/xk_proto.h"

/* A driver's whole open and close operations. */
struct xk_sess *xk_edge_open(struct xk_rep *r, struct xk_rep *rcv, struct xk_node *type, struct xk_parts *ps, int *err);
void xk_edge_close(struct xk_sess *s);

/* What the standard control operations say of an interface; mac has 6 bytes. */
struct xk_edge { uint32_t frame_max, link; const uint8_t *mac; };
/* Bytes written to buf, XK_E_INVAL, or XK_E_NOTSUP. */
int xk_edge_control(struct xk_edge e, unsigned op, void *buf, unsigned len);

/* Is mac an address that no station may have?  Then `why` says so. */
bool xk_edge_mac_fault(const uint8_t mac[6], char *why, size_t n);

/* A driver's whole `gives`: of a cable in memory, or a file, that is nobody else's; of an interface that
 * leads to a network. */
uint32_t xk_edge_gives_own(const void *conf, uint32_t below);
uint32_t xk_edge_gives_net(const void *conf, uint32_t below);

/* Is the interface, of sock's network namespace, known to be one whose frames have no CRC: a veth, a TAP, a
 * bridge, a driver that guests alone have?  Then `why` says so.  The kernel does not tell what hardware
 * checks, only what is none. */
bool xk_edge_crc_fault(int sock, const char *ifname, char *why, size_t n);

/* A driver's whole `ask`: its frames are Ethernet's. */
struct xk_view;
int xk_edge_ask_eth(const struct xk_view *v, unsigned op, void *buf, unsigned len);

#endif
