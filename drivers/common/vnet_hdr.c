/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vnet_hdr.c - the header of virtio-net, written and judged.
 *
 * Invariant: what xk_vnet_read vouches for is a whole datagram of TCP or UDP over IPv4 whose checksum the
 * header names at its place.
 */
#include "drivers/common/vnet_hdr.h"

#include <string.h>

#include "drivers/common/cut.h"
#include "runtime/base/xk_bytes.h"
#include "runtime/base/xk_csum_inline.h"
#include "runtime/msg/xk_msg_inline.h"

/* linux/virtio_net.h, of which not all is in every version. */
#define F_NEEDS_CSUM 1u
#define F_DATA_VALID 2u
#define GSO_NONE     0u
#define GSO_TCPV4    1u
#define GSO_UDP_L4   5u
#define GSO_ECN      0x80u

#define TCP_URG 0x20u
#define TCP_CWR 0x80u
enum { AT_FLAGS, AT_TYPE, AT_HDR_LEN = 2, AT_SEG = 4, AT_START = 6, AT_OFFSET = 8 };

bool xk_vnet_super(uint8_t h[XK_VNET_LEN], const struct xk_msg *m, uint32_t link, uint32_t frame_max, bool *udp)
{
	struct xk_cut c;

	/* Kernels have the same urgent pointer in each. */
	if (!xk_cut_super(&c, m, link, frame_max) || !c.sums || (c.tcp && (c.word & TCP_URG) != 0))
		return false;
	*udp = !c.tcp;
	h[AT_FLAGS] = F_NEEDS_CSUM;
	h[AT_TYPE] = (uint8_t)(c.tcp ? GSO_TCPV4 | (c.word & TCP_CWR ? GSO_ECN : 0) : GSO_UDP_L4);
	xk_put_raw16(h + AT_HDR_LEN, (uint16_t)c.hlen);
	xk_put_raw16(h + AT_SEG, (uint16_t)c.seg);
	xk_put_raw16(h + AT_START, (uint16_t)c.tp);
	xk_put_raw16(h + AT_OFFSET, c.tcp ? 16 : 6);
	return true;
}

/* Of a frame: is it a datagram of TCP or UDP over IPv4, no fragment?  Then where its transport begins and
 * where in it the checksum lies. */
static bool transport(const struct xk_msg *m, uint32_t link, uint32_t *start, uint32_t *offset)
{
	uint8_t p[64];
	const uint8_t *ip = p + link;

	if (link < 2 || link > 24 || xk_msg_copy_out(m, 0, p, link + 20) != link + 20)
		return false;
	if (xk_be16(ip - 2) != 0x0800 || ip[0] >> 4 != 4 || (ip[0] & 15) < 5 || (xk_be16(ip + 6) & 0x3fff) != 0)
		return false;
	*start = link + (ip[0] & 15u) * 4;
	*offset = ip[9] == 6 ? 16 : 6;
	return ip[9] == 6 || ip[9] == 17;
}

/* Several that came as one; their checksum is ours to make, so the kernel must have vouched for it. */
static bool read_super(uint32_t type, uint32_t seg, const struct xk_msg *m, uint32_t link, struct xk_vnet *v)
{
	struct xk_cut c;

	if (!v->vouched || !xk_cut_begin(&c, m, link, seg, UINT32_MAX, true) || c.tcp != (type == GSO_TCPV4))
		return false;
	v->udp = !c.tcp;
	v->seg = seg;
	return true;
}

bool xk_vnet_read(const uint8_t h[XK_VNET_LEN], const struct xk_msg *m, uint32_t link, struct xk_vnet *v)
{
	uint32_t type = h[AT_TYPE] & ~GSO_ECN, start = 0, offset = 0;
	bool known = h[AT_FLAGS] != 0 && transport(m, link, &start, &offset);

	*v = (struct xk_vnet){ 0 };
	if (h[AT_FLAGS] & F_NEEDS_CSUM) {
		uint32_t at = xk_raw16(h + AT_START), in = xk_raw16(h + AT_OFFSET);

		if (at + in + 2 > m->tot || (known && (at != start || in != offset)))
			return false;
	}
	v->vouched = known;
	if (type == GSO_NONE)
		return true;
	return (type == GSO_TCPV4 || type == GSO_UDP_L4) && read_super(type, xk_raw16(h + AT_SEG), m, link, v);
}

/* The field holds the sum of the pseudo-header; UDP's 0 would mean that there is none (RFC 768). */
void xk_vnet_complete(const uint8_t h[XK_VNET_LEN], struct xk_msg *m)
{
	uint32_t at = xk_raw16(h + AT_START);
	uint16_t sum;

	if (!(h[AT_FLAGS] & F_NEEDS_CSUM))
		return;
	sum = (uint16_t)~xk_csum_fold(xk_msg_csum(m, at, 0));
	if (sum == 0)
		sum = 0xffff;
	xk_msg_copy_in(m, at + xk_raw16(h + AT_OFFSET), &sum, sizeof sum);
}
