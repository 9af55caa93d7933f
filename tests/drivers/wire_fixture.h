/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wire_fixture.h - sessions above the two ends of a wire in memory, one on each virtual processor,
 * and a frame for it, for the tests of wires and peers.
 */
#ifndef WIRE_FIXTURE_H
#define WIRE_FIXTURE_H

#include <string.h>

#include "runtime/base/xk_bytes.h"
#include "runtime/base/xk_csum.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_part.h"
#include "tests/protocols/proto_fixture.h"
#include "tests/support/xk_test.h"

static struct pf f;

static inline void open_all(const char *upper, struct xk_sess **s)
{
	for (unsigned vp = 0; vp < f.g->vps->nvps; vp++) {
		struct xk_parts ps;

		xk_parts_init(&ps, 0);
		s[vp] = pf_open(&f, upper, vp, &ps, NULL);
		CU_ASSERT_PTR_NOT_NULL_FATAL(s[vp]);
	}
}

static inline void close_all(struct xk_sess **s)
{
	for (unsigned vp = 0; vp < f.g->vps->nvps; vp++)
		pf_close(&f, vp, s[vp]);
}

/* An Ethernet frame with a UDP datagram; port tells them apart. */
static inline void udp_frame(uint8_t *b, uint32_t len, uint16_t port)
{
	memset(b, 0, len);
	memcpy(b, ((uint8_t[]){ 2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0, 0x45, 0 }), 16);
	xk_put_be16(b + 16, (uint16_t)(len - 14));
	b[22] = 64;
	b[23] = 17;
	xk_put_be32(b + 26, 0x0a000001);
	xk_put_be32(b + 30, 0x0a000002);
	xk_put_raw16(b + 24, (uint16_t)~xk_csum_fold(xk_csum(b + 14, 20, 0)));
	xk_put_be16(b + 34, port);
	xk_put_be16(b + 36, 7);
	xk_put_be16(b + 38, (uint16_t)(len - 34));
	for (uint32_t i = 42; i < len; i++)
		b[i] = (uint8_t)(i * 3);
}

#endif
