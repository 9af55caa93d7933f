/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arp_fixture.h - a host with ARP over Ethernet, and what a neighbour says to it, for the
 * tests of address resolution.
 */
#ifndef ARP_FIXTURE_H
#define ARP_FIXTURE_H

#include "protocols/arp/arp.h"

#include <string.h>

#include "protocols/eth/eth.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/base/xk_bytes.h"
#include "runtime/upi/xk_proto.h"
#include "tests/protocols/proto_fixture.h"
#include "tests/support/xk_test.h"

#define HOST(a, b, c, d) ((uint32_t)(a) << 24 | (uint32_t)(b) << 16 | (uint32_t)(c) << 8 | (uint32_t)(d))
#define US   HOST(10, 0, 0, 1)
#define THEM HOST(10, 0, 0, 2)
#define END  { NULL, NULL, NULL, NULL }
#define DRV  { &pf_driver, "drv", NULL, NULL }, { &xk_proto_eth, "eth", "drv", NULL }
#define UP   { &pf_upper, "up", "arp", NULL }

static const uint8_t me[6] = { 2, 0, 0, 0, 0, 1 }, peer[6] = { 2, 0, 0, 0, 0, 2 }, other[6] = { 2, 0, 0, 0, 0, 3 };
static const uint8_t everybody[6] = { 255, 255, 255, 255, 255, 255 };

static struct pf f;

/* ---- packets ------------------------------------------------------------------------ */

struct pkt { uint8_t b[60]; };

static inline struct pkt packet(const uint8_t dst[6], uint16_t op, const uint8_t sha[6], uint32_t spa,
			 const uint8_t tha[6], uint32_t tpa)
{
	struct pkt p = { { 0 } };

	memcpy(p.b, dst, 6);
	memcpy(p.b + 6, sha, 6);
	xk_put_be16(p.b + 12, 0x0806);
	xk_put_be16(p.b + 14, 1);
	xk_put_be16(p.b + 16, 0x0800);
	p.b[18] = 6;
	p.b[19] = 4;
	xk_put_be16(p.b + 20, op);
	memcpy(p.b + 22, sha, 6);
	xk_put_be32(p.b + 28, spa);
	memcpy(p.b + 32, tha, 6);
	xk_put_be32(p.b + 38, tpa);
	return p;
}

static inline void inject(unsigned vp, const struct pkt *p)
{
	pf_inject(&f, "drv", vp, p->b, sizeof(p->b));
}

/* From a frame's source that can be, whatever the packet says. */
static inline void inject_from(const uint8_t src[6], struct pkt p)
{
	memcpy(p.b + 6, src, 6);
	inject(0, &p);
}

static inline void says_reply(unsigned vp, const uint8_t mac[6], uint32_t host)
{
	struct pkt p = packet(me, 2, mac, host, me, US);

	inject(vp, &p);
}

static inline void says_request(unsigned vp, const uint8_t mac[6], uint32_t host, uint32_t target)
{
	static const uint8_t zero[6];
	struct pkt p = packet(everybody, 1, mac, host, zero, target);

	inject(vp, &p);
}

static inline unsigned pushed_of(uint16_t type, uint32_t tpa)
{
	unsigned n = 0;

	for (unsigned i = 0; i < pf_npushed(&f, "drv"); i++) {
		const struct pf_rec *r = pf_pushed(&f, "drv", i);

		n += xk_be16(r->bytes + 12) == type && (tpa == 0 || xk_be32(r->bytes + 38) == tpa);
	}
	return n;
}
static inline unsigned requests_for(uint32_t host) { return pushed_of(0x0806, host); }
static inline unsigned data_frames(void) { return pushed_of(0x0800, 0); }

static inline const struct pf_rec *last_data(void)
{
	for (unsigned i = pf_npushed(&f, "drv"); i-- > 0;)
		if (xk_be16(pf_pushed(&f, "drv", i)->bytes + 12) == 0x0800)
			return pf_pushed(&f, "drv", i);
	return NULL;
}

/* Is host resolved, as a new session sees it? */
static inline bool known(uint32_t host)
{
	struct xk_sess *s = pf_open_host(&f, "up", 0, host, NULL);
	bool yes;

	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	yes = s->down != NULL;
	pf_close(&f, 0, s);
	return yes;
}

#endif
