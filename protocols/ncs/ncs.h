/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs.h - what those above and below ncs may know.
 *
 * To open: remote { host, port }, local nothing or ANY; the port is a service's at the peer.  To enable:
 * { port }.  A push is a message, of at most what XK_CTL_GETMAXPACKET says; it may be pushed at
 * once, and leaves when the peer has accepted.  Pieces are pushed in that order.
 */
#ifndef NCS_H
#define NCS_H

#include "runtime/upi/xk_proto.h"

/* ncs -> the node below: struct ncs_choice, with none and none; each control that lies there puts
 * itself in and asks on.  Result: how many there were; what they stand on answers nothing. */
#define NCS_CTL_CHOICE (7700 * 1000 + 1)

#endif
