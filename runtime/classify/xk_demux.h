/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_demux.h - how a protocol says what in its header decides who is above and which
 * conversation a message belongs to.
 *
 * A declaration is data in the protocol's descriptor (xk_proto.demux).  The graph composes
 * those of its nodes into a pattern (xk_pattern.h), from which every packet filter is made:
 * a protocol that declares its header is demultiplexed eagerly without a line more.
 *
 * A field is `width` bytes at `off` from the header's first byte, most significant byte
 * first unless XK_DX_LITTLE is set, seen through `mask` (0: all of it).
 *
 *   XK_DX_GUARD     equals value, or the message is not of this protocol
 *   XK_DX_REMOTE    names the sender: source address, source port   \ their bytes are the key,
 *   XK_DX_LOCAL     names the receiver                              / in order, 6 for each end
 *   XK_DX_HLEN      times value is the header's length; without it `need` is
 *   XK_DX_SELECT    number of the protocol above, in the realm that this one offers
 *   XK_DX_POSTPONE  not 0: only identity says which conversation (a fragment)
 *   XK_DX_IDENT     that identity, with REMOTE and LOCAL so far; 4 bytes
 *
 * Example (RFC 768):
 *   static const struct xk_demux_field fields[] = {
 *           { XK_DX_REMOTE, 2, 0 }, { XK_DX_LOCAL, 2, 2 }, { XK_DX_END }
 *   };
 *   static const struct xk_demux udp_demux = { .need = 8, .field = fields };
 */
#ifndef XK_DEMUX_H
#define XK_DEMUX_H

#include "runtime/base/xk_base.h"

enum xk_dx {
	XK_DX_END,
	XK_DX_GUARD,
	XK_DX_REMOTE,
	XK_DX_LOCAL,
	XK_DX_HLEN,
	XK_DX_SELECT,
	XK_DX_POSTPONE,
	XK_DX_IDENT,
	XK_DX_LITTLE = 0x80,     /* added to one of these */
};

struct xk_demux_field {
	uint8_t  role;           /* enum xk_dx */
	uint8_t  width;          /* 1 to 4; REMOTE and LOCAL without a mask: 1 to 6 */
	uint16_t off;
	uint32_t mask;
	uint32_t value;
};

struct xk_demux {
	/* Bytes of header that must be there before any field is read. */
	uint16_t need;
	/* What passes through bears no header of this protocol: who is above it has its own
	 * number in the header below (VNET; IP over ARP).  The protocol may still have a number,
	 * and then the fields are those of its own messages. */
	bool through;
	/* NULL, or why nothing behind this header can be decided at a device (encrypted, of a
	 * shape that only the session knows): the message goes where what is known so far sends
	 * it, and is demultiplexed there. */
	const char *elsewhere;
	const struct xk_demux_field *field;      /* XK_DX_END last; NULL: none */
};

#endif
