/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hop_news.c - what a transport below tells of a session goes on to whoever is above.
 *
 * A stream's events every layer passes on (virt_control); that a datagram did not arrive is UDP's word.
 */
#include "protocols/hop/hop_priv.h"
#include "protocols/udp/udp.h"

int hop_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	return op == UDP_CTL_ERROR ? virt_news(r, op, buf, len) : virt_control(r, op, buf, len);
}
