/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * icmp.h - what an application above ICMP may know.
 *
 * ICMP offers "echo".  A session is {identifier, peer}: open with remote
 * { host }, and if wanted local { identifier } or { host, identifier } (a port
 * piece); ANY or absent chooses one.  Pushing a message sends it as an echo
 * request with the session's next sequence number, starting at 0.  Replies
 * come up without their header; m->aux is the sequence number, host order, and
 * xk_msg_net(m) the header they came with.
 */
#ifndef ICMP_H
#define ICMP_H

#include "runtime/upi/xk_proto.h"

/* Session: uint32_t, the sequence number that the next push will use. */
#define ICMP_CTL_NEXT_SEQ (792 * 1000 + 1)
/* ICMP -> the replica above: an error about an echo request of session s. */
#define ICMP_CTL_ERROR    (792 * 1000 + 2)
struct icmp_error { struct xk_sess *s; uint8_t type, code; uint16_t seq; uint32_t arg, from; };

enum icmp_type {
	ICMP_ECHO_REPLY = 0, ICMP_UNREACHABLE = 3, ICMP_SOURCE_QUENCH = 4, ICMP_REDIRECT = 5,
	ICMP_ECHO = 8, ICMP_TIME_EXCEEDED = 11, ICMP_PARAMETER_PROBLEM = 12,
	ICMP_TIMESTAMP = 13, ICMP_TIMESTAMP_REPLY = 14, ICMP_INFORMATION = 15,
	ICMP_INFORMATION_REPLY = 16, ICMP_MASK = 17, ICMP_MASK_REPLY = 18,
};
enum icmp_unreachable {
	ICMP_U_NET, ICMP_U_HOST, ICMP_U_PROTOCOL, ICMP_U_PORT, ICMP_U_FRAG_NEEDED, ICMP_U_SOURCE_ROUTE,
};

#endif
