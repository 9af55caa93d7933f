/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ip_hdr.c - loads, stores and checks of the IPv4 header that are not in the
 * path of every message.
 *
 * The walk over options is bounded by the header's end at every step: an
 * option whose length is 0 or 1, or reaches past the end, ends it (RFC 1122
 * 3.2.1.8).
 */
#include "protocols/ip/ip_hdr.h"

void ip_hdr_load(const uint8_t *p, struct ip_hdr *h)
{
	h->version = p[0] >> 4;
	h->hlen = (uint8_t)((p[0] & 15) * 4);
	h->tos = p[1];
	h->total_length = xk_be16(p + 2);
	h->identification = xk_be16(p + 4);
	h->fragment = xk_be16(p + 6);
	h->ttl = p[8];
	h->protocol = p[9];
	h->source = xk_be32(p + 12);
	h->destination = xk_be32(p + 16);
}

static void hdr_seal(uint8_t *p, uint32_t hlen)
{
	xk_put_raw16(p + 10, 0);
	xk_put_raw16(p + 10, (uint16_t)~xk_csum_fold(xk_csum(p, hlen, 0)));
}

void ip_hdr_store(uint8_t *p, const struct ip_hdr *h)
{
	p[0] = 0x45;
	p[1] = h->tos;
	xk_put_be16(p + 2, h->total_length);
	xk_put_be16(p + 4, h->identification);
	xk_put_be16(p + 6, h->fragment);
	p[8] = h->ttl;
	p[9] = h->protocol;
	xk_put_be32(p + 12, h->source);
	xk_put_be32(p + 16, h->destination);
	hdr_seal(p, IP_HDR_LEN);
}

void ip_hdr_whole(uint8_t *p, uint32_t hlen, uint32_t total_length)
{
	xk_put_be16(p + 2, (uint16_t)total_length);
	xk_put_be16(p + 6, 0);
	hdr_seal(p, hlen);
}

bool ip_hdr_sum_ok(const uint8_t *p, uint32_t hlen)
{
	return xk_csum_fold(xk_csum(p, hlen, 0)) == 0xffff;
}

void ip_template_make(struct ip_template *t, const struct ip_hdr *h)
{
	uint8_t p[IP_HDR_LEN];

	ip_hdr_store(p, h);
	xk_put_raw16(p + 2, 0);
	xk_put_raw16(p + 4, 0);
	xk_put_raw16(p + 10, 0);
	t->w0 = xk_raw64(p);
	t->w1 = xk_raw64(p + 8);
	t->w2 = xk_raw32(p + 16);
	t->sum = xk_csum_fold(xk_csum(p, IP_HDR_LEN, 0));
}

/* Option types of RFC 791 that have rules of their own. */
enum { OPT_EOL = 0, OPT_NOP = 1, OPT_RR = 7, OPT_TS = 68, OPT_LSRR = 131, OPT_SSRR = 137 };

/* The smallest legal pointer of a recording option, 0 for the others. */
static uint32_t option_first(uint8_t type)
{
	return type == OPT_RR || type == OPT_LSRR || type == OPT_SSRR ? 4 : type == OPT_TS ? 5 : 0;
}

enum ip_options ip_hdr_options(const uint8_t *p, uint32_t hlen, uint32_t *pointer)
{
	enum ip_options verdict = IP_OPT_OK;
	uint32_t at = IP_HDR_LEN;

	while (at < hlen) {
		uint32_t len, first;

		*pointer = at;
		if (p[at] == OPT_EOL)
			break;
		if (p[at] == OPT_NOP) {
			at++;
			continue;
		}
		len = at + 1 < hlen ? p[at + 1] : 0;
		if (len < 2 || len > hlen - at)
			return IP_OPT_BAD;
		if (p[at] == OPT_LSRR || p[at] == OPT_SSRR)
			verdict = IP_OPT_ROUTE;
		first = option_first(p[at]);
		if (first != 0 && (len + 1 < first || p[at + 2] < first))
			return IP_OPT_BAD;
		at += len;
	}
	return verdict;
}
