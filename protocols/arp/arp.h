/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arp.h - what others may ask of the address resolution protocol.
 *
 * The protocol above tells each of its lower nodes at start which addresses it
 * answers for; a node that chooses between links (vnet) passes the word on to
 * all of them, and what resolves nothing answers XK_E_NOTSUP, which is no error.
 */
#ifndef ARP_H
#define ARP_H

#include "runtime/upi/xk_proto.h"

#define ARP_CTL_CLASS 2000u

struct arp_addr { uint32_t addr; uint8_t len; };   /* host order; prefix of its network */

enum {
	/* In: struct arp_addr.  On a replica, from start or later.  0, or
	 * XK_E_INVAL (not a host address), XK_E_NOSPC (too many).  An address
	 * that is there already gets the new prefix length. */
	ARP_CTL_ADD_ADDR = ARP_CTL_CLASS + 1,
};

extern const struct xk_proto xk_proto_arp;

#endif
