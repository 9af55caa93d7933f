/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs_sum.c - CRC-32C over SDUs and records, where the interface vouches for nothing (RFC 3720 appendix B.4's numbers).
 *
 * Eight bytes at a time by the instruction, where there is one, or by the table of runtime/map.
 */
#include "protocols/ncs/ncs_priv.h"

#include "runtime/map/xk_table.h"
#include "runtime/upi/xk_gives.h"

#include <string.h>

#define POLYNOMIAL 0x82f63b78u           /* 0x1edc6f41, lowest bit first */

/* n words of eight bytes. */
static inline uint32_t words(uint32_t crc, const uint8_t *b, uint32_t n)
{
#ifdef XK_HASH_INLINE
	uint64_t v;

	for (; n != 0; n--, b += sizeof v) {
		memcpy(&v, b, sizeof v);
		crc = (uint32_t)_mm_crc32_u64(crc, v);
	}
	return crc;
#else
	return xk_crc32c_any(crc, b, n);
#endif
}

uint32_t ncs_crc32c(uint32_t crc, const uint8_t *b, uint32_t n)
{
	crc = words(crc, b, n / 8);
	b += n & ~7u;
	n &= 7;
	for (; n != 0; n--) {
		crc ^= *b++;
		for (unsigned i = 0; i < 8; i++)
			crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
	}
	return crc;
}

uint32_t ncs_sdu_sum(const struct xk_msg *m)
{
	uint32_t crc = ncs_crc32c(UINT32_MAX, m->data, NCS_HDR_LEN), skip = NCS_HDR_LEN + NCS_SUM_LEN;

	for (; m != NULL; m = m->next, skip = 0)
		crc = ncs_crc32c(crc, m->data + skip, m->len - skip);
	return ~crc;
}

bool ncs_needs_sum(const struct xk_rep *r, struct xk_rep *over)
{
	uint32_t gives;

	return ncs_conf(r)->check == NCS_CHECK_CRC32C &&
	       !(xk_control(over, XK_CTL_GIVES, &gives, sizeof gives) == (int)sizeof gives && (gives & XK_GIVES_SUM));
}
