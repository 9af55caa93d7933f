/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * udp.h - what those above UDP may know.
 *
 * To open: remote { host, port }, and if wanted local { port } or
 * { host, port }; port ANY or absent chooses one.  To enable: { port } or
 * { host, port }.  Pieces are pushed in that order.
 */
#ifndef UDP_H
#define UDP_H

#include "runtime/upi/xk_proto.h"

/* UDP -> the replica above: ICMP says that a datagram of session s did not
 * arrive (RFC 1122 4.1.3.3).  s is valid for the call. */
#define UDP_CTL_ERROR (768 * 1000 + 1)
struct udp_error { struct xk_sess *s; uint8_t type, code; uint32_t arg; };

/* Session, in: uint32_t n, 0 (as at first) to UDP_MAX_PAYLOAD.  What is pushed from now on leaves in
 * datagrams of n bytes each, the last of as many as are left (Linux: UDP_SEGMENT), as super-segments where
 * the way below takes them; 0: each push is one datagram. */
#define UDP_CTL_SEGMENT (768 * 1000 + 2)

/* The largest payload of a datagram. */
#define UDP_MAX_PAYLOAD 65507u

#endif
