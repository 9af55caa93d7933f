/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vnet.h - the virtual network: several host links as one.
 *
 * Participants: the remote host, passed on to the link that is chosen.
 * Controls: standard ones; a session's go to its link; those of a replica that
 * ask for packet sizes answer what every link can take, ISLOCAL says yes when
 * any link does, and ARP_CTL_ADD_ADDR goes to all.
 */
#ifndef VNET_H
#define VNET_H

#include "runtime/upi/xk_proto.h"

extern const struct xk_proto xk_proto_vnet;

#endif
