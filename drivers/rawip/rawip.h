/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rawip.h - the bare end of a graph: datagrams handed in and out by a C program.
 *
 * Everything here is called inside a VP (xk_vp_enter_idle while no worker runs, or
 * xk_vp_do); the callback runs inside the VP that sends.
 */
#ifndef RAWIP_H
#define RAWIP_H

#include "runtime/upi/xk_proto.h"

extern const struct xk_proto xk_proto_rawip;

/* One datagram on its way out, network header first; m is only read. */
typedef void (*rawip_sent_fn)(void *arg, xk_ns now, const struct xk_msg *m);

/* Who is told of what node n sends, from now on; fn NULL: nobody.  Before the
 * graph runs, or while no worker runs. */
void rawip_on_sent(struct xk_node *n, rawip_sent_fn fn, void *arg);
/* A datagram arrives on the VP we are in.  XK_E_NOMEM, XK_E_RANGE (longer than
 * 65535) or 0; what the graph thinks of it shows in its counters. */
int  rawip_inject(struct xk_node *n, const void *bytes, uint32_t len);

#endif
