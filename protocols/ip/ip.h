/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ip.h - what IP's neighbours may know: control operations, and the network
 * header as an attribute of a message on its way up.
 *
 * IP notes its header with xk_msg_set_net before passing a message up; the
 * header stays readable behind the data pointer for as long as the message is
 * being received.  The inlines below read what transports need from it.
 */
#ifndef IP_H
#define IP_H

#include "runtime/base/xk_bytes.h"
#include "runtime/base/xk_csum.h"
#include "runtime/upi/xk_proto.h"

/* ---- control operations of a replica ------------------------------------------ */

/* Transport -> IP: tell the sender of this datagram (struct ip_icmp_error).
 * The message is only read.  Result: 1 sent, 0 not (rule or rate limit). */
#define IP_CTL_ICMP_ERROR (791 * 1000 + 1)
/* IP -> ICMP: the same, once IP has found who speaks ICMP above it. */
#define IP_CTL_ICMP_SEND  (791 * 1000 + 2)
/* ICMP -> IP: an error came in, validated (struct ip_error_in). */
#define IP_CTL_ICMP_IN    (791 * 1000 + 3)
/* IP -> transport: the same, for the transport whose datagram is quoted. */
#define IP_CTL_ERROR_IN   (791 * 1000 + 4)

/* Transport -> IP, of a session: const uint32_t *, where the next hop is the destination host and the
 * interface gives XK_GIVES_CRC: the most payload that leaves in one piece, as long as the session is
 * held, to be read with xk_load_relaxed.  XK_E_AGAIN: the session has no way down yet, XK_E_UNREACH: the
 * destination is behind a gateway, a group or a broadcast, or there is no CRC. */
#define IP_CTL_NEAR       (791 * 1000 + 5)

/* Transport -> IP, of a session: 1, both its ends are this host and nothing of it came by a link. */
#define IP_CTL_SELF       (791 * 1000 + 6)

struct ip_icmp_error {
	struct xk_msg *m;        /* with its network header noted */
	uint8_t        type, code;
	uint32_t       arg;      /* second word of the ICMP header, host order */
};

struct ip_error_in {
	uint8_t        type, code;
	uint32_t       arg;      /* second word of the ICMP header: MTU or pointer */
	uint32_t       from;     /* who says so */
	const uint8_t *quote;    /* our IP header as it came back ... */
	unsigned       len;      /* ... and all that follows it; header + 8 at least */
};

/* ---- the noted network header ---------------------------------------------------- */

/* Source and destination, as the bytes lie: half of a transport's key. */
static inline uint64_t ip_net_pair(const void *net)
{
	return xk_raw64((const uint8_t *)net + 12);
}
static inline uint32_t ip_net_src(const void *net)
{
	return xk_be32((const uint8_t *)net + 12);
}
static inline uint32_t ip_net_dst(const void *net)
{
	return xk_be32((const uint8_t *)net + 16);
}
static inline uint32_t ip_net_hlen(const void *net)
{
	return (*(const uint8_t *)net & 15u) * 4;
}
static inline uint8_t ip_net_version(const void *net)
{
	return *(const uint8_t *)net >> 4;
}
static inline uint8_t ip_net_protocol(const void *net)
{
	return ((const uint8_t *)net)[9];
}
/* A fragment other than the first. */
static inline bool ip_net_is_tail(const void *net)
{
	return (xk_be16((const uint8_t *)net + 6) & 0x1fff) != 0;
}
/* A frame of len bytes behind the link's header: is it, to its end, a datagram of proto between
 * the addresses pair, without options and whole?  (Its checksum is IP's to judge.) */
static inline bool ip_net_plain(const void *net, uint32_t len, uint64_t pair, uint8_t proto)
{
	uint64_t w = be64toh(xk_raw64(net));

	return len >= 20 && (w & 0xff00000000003fffull) == 0x4500000000000000ull && (uint16_t)(w >> 32) == len &&
	       ip_net_protocol(net) == proto && ip_net_pair(net) == pair;
}
/* The same pair made from addresses in host order. */
static inline uint64_t ip_pair(uint32_t src, uint32_t dst)
{
	return htobe64((uint64_t)src << 32 | dst);
}
/* Partial sum of the pseudo-header without its length (RFC 768). */
static inline uint32_t ip_pseudo_sum(uint64_t pair, uint8_t proto)
{
	return xk_csum_add(xk_csum_add((uint32_t)pair, (uint32_t)(pair >> 32)),
			   htobe16(proto));
}
static inline bool ip_is_multicast(uint32_t addr)
{
	return addr >> 28 == 0xe;
}

#endif
