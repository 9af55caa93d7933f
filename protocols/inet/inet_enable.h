/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inet_enable.h - who waits for messages of peers, under a number at one of our
 * addresses or at any: a port above UDP and TCP, a protocol above IP.
 */
#ifndef INET_ENABLE_H
#define INET_ENABLE_H

#include "runtime/upi/xk_enable.h"

/* Who waits for number at local: exactly there before anywhere; NULL: nobody. */
struct xk_enable *inet_enable_find(struct xk_node *n, uint32_t number, uint32_t local);
/* The key of an enable: the number at the host of ours that stands first in ps, NULL or without
 * one at any.  XK_E_INVAL: it stands there and is none. */
int  inet_enable_key(struct xk_parts *ps, uint32_t number, struct xk_key *k);

/* The operations of a protocol with ports: first in ps stand a port and perhaps a host of ours. */
int  inet_open_enable(struct xk_node *n, struct xk_node *rcv, struct xk_node *type, struct xk_parts *ps);
int  inet_open_disable(struct xk_node *n, struct xk_node *rcv, struct xk_node *type, struct xk_parts *ps);

#endif
