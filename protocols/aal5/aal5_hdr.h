/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * aal5_hdr.h - the trailer of a frame (ITU-T I.363.5, 9.2.1.1): the only code that knows its byte order.
 *
 * User-to-user 8, common part indicator 8, length of the payload 16, CRC-32 of all before it 32.  Before it
 * are up to 47 bytes of padding, so that the whole is of whole cells.
 */
#ifndef AAL5_HDR_H
#define AAL5_HDR_H

#include "runtime/base/xk_bytes.h"
#include "runtime/base/xk_cell.h"

#define AAL5_TRAILER 8u
#define AAL5_MOST    65535u
/* The most that comes before a payload's end in cells. */
#define AAL5_TAIL    (XK_CELL_PAYLOAD - 1 + AAL5_TRAILER)

struct aal5_trailer { uint8_t uu, cpi; uint16_t length; uint32_t crc; };

static inline void aal5_trailer_load(const uint8_t *b, struct aal5_trailer *t)
{
	*t = (struct aal5_trailer){ b[0], b[1], xk_be16(b + 2), xk_be32(b + 4) };
}

/* All but the CRC, which is of these four bytes, too. */
static inline void aal5_trailer_store(uint8_t *b, uint8_t uu, uint16_t length)
{
	b[0] = uu;
	b[1] = 0;
	xk_put_be16(b + 2, length);
}

/* Bytes of the frame round a payload of n. */
static inline uint32_t aal5_frame_len(uint32_t n)
{
	return (n + AAL5_TRAILER + XK_CELL_PAYLOAD - 1) / XK_CELL_PAYLOAD * XK_CELL_PAYLOAD;
}

#endif
