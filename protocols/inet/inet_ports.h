/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inet_ports.h - the ports that a transport chooses from for a connection of ours.
 *
 * RFC 6056 3.2: as many as there are, so that they are hard to guess; those below are for services.
 */
#ifndef INET_PORTS_H
#define INET_PORTS_H

#include "runtime/upi/xk_review.h"

#define INET_PORT_FIRST 1024u
#define INET_PORTS      (65536u - INET_PORT_FIRST)

/* `ask` of such a transport. */
static inline int inet_ports_ask(const struct xk_view *v, unsigned op, void *buf, unsigned len)
{
	(void)v;
	(void)buf;
	(void)len;
	return op == XK_ASK_PORTS ? (int)INET_PORTS : XK_E_NOTSUP;
}

#endif
