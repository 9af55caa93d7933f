/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peer.h - what simulated peers answer beyond the standard operations.
 */
#ifndef XK_PEER_H
#define XK_PEER_H

#include "runtime/upi/xk_app.h"

/* peer_source, peer_tcp_source: struct xk_app_counts of the connections of this replica (frames
 * made; bytes of payload).  Not the standard operation: what an edge makes is not yet what an
 * application got. */
#define XK_CTL_PEER_COUNTS 21001u

extern const struct xk_proto xk_proto_peer_sink, xk_proto_peer_source, xk_proto_peer_echo,
	xk_proto_peer_tcp_sink, xk_proto_peer_tcp_source;

#endif
