/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_bytes.h - loads and stores of network-order fields at any alignment.
 *
 * Only header load/store functions of protocols should need these: above them
 * everything is host order.
 */
#ifndef XK_BYTES_H
#define XK_BYTES_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

/* xk_raw*: the bytes as they lie, host-endian, unaligned. */
static inline uint16_t xk_raw16(const void *p) { uint16_t v; memcpy(&v, p, 2); return v; }
static inline uint32_t xk_raw32(const void *p) { uint32_t v; memcpy(&v, p, 4); return v; }
static inline uint64_t xk_raw64(const void *p) { uint64_t v; memcpy(&v, p, 8); return v; }
static inline void xk_put_raw16(void *p, uint16_t v) { memcpy(p, &v, 2); }
static inline void xk_put_raw32(void *p, uint32_t v) { memcpy(p, &v, 4); }
static inline void xk_put_raw64(void *p, uint64_t v) { memcpy(p, &v, 8); }

/* xk_be*: network order in memory, host order in the register. */
static inline uint16_t xk_be16(const void *p) { return be16toh(xk_raw16(p)); }
static inline uint32_t xk_be32(const void *p) { return be32toh(xk_raw32(p)); }
static inline uint64_t xk_be64(const void *p) { return be64toh(xk_raw64(p)); }
static inline void xk_put_be16(void *p, uint16_t v) { xk_put_raw16(p, htobe16(v)); }
static inline void xk_put_be32(void *p, uint32_t v) { xk_put_raw32(p, htobe32(v)); }
static inline void xk_put_be64(void *p, uint64_t v) { xk_put_raw64(p, htobe64(v)); }

#endif
