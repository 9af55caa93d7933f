/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_hdr.h - the TCP header as bytes (RFC 9293 3.1): the only code that knows
 * its byte order.
 *
 * Ports are kept together, as they lie in the header, so that a key is built from
 * one load; everything else is host order.
 */
#ifndef TCP_HDR_H
#define TCP_HDR_H

#include "runtime/base/xk_bytes.h"
#include "runtime/base/xk_csum_inline.h"

#define TCP_PROTO    6u
#define TCP_HDR_LEN  20u
#define TCP_HDR_MAX  60u

#define TCP_FIN 0x001u
#define TCP_SYN 0x002u
#define TCP_RST 0x004u
#define TCP_PSH 0x008u
#define TCP_ACK 0x010u
#define TCP_URG 0x020u
#define TCP_ECE 0x040u
#define TCP_CWR 0x080u
#define TCP_AE  0x100u

/* Both ports as they lie in a received header: source first. */
static inline uint32_t tcp_hdr_ports(const uint8_t *p)     { return xk_raw32(p); }
static inline uint32_t tcp_hdr_seq(const uint8_t *p)       { return xk_be32(p + 4); }
static inline uint32_t tcp_hdr_ack(const uint8_t *p)       { return xk_be32(p + 8); }
static inline uint32_t tcp_hdr_len(const uint8_t *p)       { return (uint32_t)(p[12] >> 4) * 4; }
static inline uint16_t tcp_hdr_flags(const uint8_t *p)     { return xk_be16(p + 12) & 0x1ff; }
static inline uint16_t tcp_hdr_wnd(const uint8_t *p)       { return xk_be16(p + 14); }
static inline uint16_t tcp_hdr_urp(const uint8_t *p)       { return xk_be16(p + 18); }

static inline uint32_t tcp_ports(uint16_t source, uint16_t destination)
{
	return htobe32((uint32_t)source << 16 | destination);
}
static inline uint16_t tcp_ports_source(uint32_t ports) { return (uint16_t)(be32toh(ports) >> 16); }
static inline uint16_t tcp_ports_destination(uint32_t ports) { return (uint16_t)be32toh(ports); }

#endif
