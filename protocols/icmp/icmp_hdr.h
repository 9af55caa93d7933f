/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * icmp_hdr.h - the ICMP header (RFC 792): the only code of this protocol that
 * knows byte order and alignment.
 *
 * Eight bytes: type, code, checksum, and a word that each type uses its own
 * way.  The checksum of an answer is the request's, corrected for the type
 * alone (RFC 1624), so a long echo is summed once and not twice.
 */
#ifndef ICMP_HDR_H
#define ICMP_HDR_H

#include "protocols/icmp/icmp.h"
#include "runtime/base/xk_bytes.h"
#include "runtime/base/xk_csum.h"

#define ICMP_HDR_LEN 8u
#define ICMP_PROTO   1u

struct icmp_hdr {
	uint8_t  type, code;
	uint16_t checksum;       /* as it lies */
	uint32_t rest;           /* host order */
};

static inline void icmp_hdr_load(const uint8_t *p, struct icmp_hdr *h)
{
	h->type = p[0];
	h->code = p[1];
	h->checksum = xk_raw16(p + 2);
	h->rest = xk_be32(p + 4);
}

static inline uint16_t icmp_echo_id(const struct icmp_hdr *h) { return (uint16_t)(h->rest >> 16); }
static inline uint16_t icmp_echo_seq(const struct icmp_hdr *h) { return (uint16_t)h->rest; }

/* sum: the partial sum of what follows the header. */
static inline void icmp_hdr_store(uint8_t *p, uint8_t type, uint8_t code, uint32_t rest, uint32_t sum)
{
	p[0] = type;
	p[1] = code;
	xk_put_raw16(p + 2, 0);
	xk_put_be32(p + 4, rest);
	sum = xk_csum_add(xk_csum_add(sum, xk_raw32(p)), xk_raw32(p + 4));
	xk_put_raw16(p + 2, (uint16_t)~xk_csum_fold(sum));
}

/* The header of the reply to the echo request h: ~new = ~old + ~change.  Where
 * that gives 0, its other form is written: a reply of nothing but zeros would
 * not check otherwise, and every other checks with both. */
static inline void icmp_hdr_store_reply(uint8_t *p, const struct icmp_hdr *h)
{
	uint32_t old = htobe16((uint16_t)(h->type << 8 | h->code));
	uint32_t sum = (uint16_t)~h->checksum + (uint32_t)(uint16_t)~old;
	uint16_t c = (uint16_t)~xk_csum_fold(sum);

	p[0] = ICMP_ECHO_REPLY;
	p[1] = 0;
	xk_put_raw16(p + 2, c != 0 ? c : 0xffff);
	xk_put_be32(p + 4, h->rest);
}

/* Says that something went wrong with a datagram, and so is never answered. */
static inline bool icmp_is_error(uint8_t type)
{
	return type == ICMP_UNREACHABLE || type == ICMP_SOURCE_QUENCH || type == ICMP_REDIRECT ||
	       type == ICMP_TIME_EXCEEDED || type == ICMP_PARAMETER_PROBLEM;
}
/* One of those of which we know for sure that they are not errors. */
static inline bool icmp_is_query(uint8_t type)
{
	return type == ICMP_ECHO || type == ICMP_ECHO_REPLY ||
	       (type >= ICMP_TIMESTAMP && type <= ICMP_MASK_REPLY);
}

#endif
