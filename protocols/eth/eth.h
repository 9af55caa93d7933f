/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * eth.h - Ethernet II: what the rest of the tree may know.
 *
 * Participants: the remote station (48 bits), never ANY; optionally the local
 * one.  Messages that were not addressed to our own station carry
 * XK_MSG_LINK_BCAST upwards.  Controls: the standard ones.
 */
#ifndef ETH_H
#define ETH_H

#include "runtime/upi/xk_proto.h"

#define ETH_HDR_LEN 14u
#define ETH_MAX_PAYLOAD 9600u   /* 1500 by the standard, more where the device says so */

extern const struct xk_proto xk_proto_eth;

#endif
