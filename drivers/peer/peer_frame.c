/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peer_frame.c - parts of the frames that simulated peers make, and the words of their parameters.
 */
#include "drivers/peer/peer_priv.h"

#include <stdio.h>
#include <string.h>

#include "runtime/base/xk_bytes.h"

#define IP_HEADER 20u

static const uint8_t usual_mac[6] = { 0x02, 0, 0, 0, 0x50, 0x0c };

const char *const peer_rxbufs[] = { "lifo", "cold", NULL };
const char *const peer_csums[] = { "compute-ignore", "none", "good", NULL };
const char *const peer_places[] = { "map", "hash", NULL };

int peer_tell(const struct mem_peer *p, void *buf, unsigned len)
{
	return xk_answer(buf, len, &p, sizeof p);
}

uint32_t peer_link_header(const struct mem_state *wire, const uint8_t mac[6], uint8_t *h)
{
	const uint8_t *src = mac[0] | mac[5] ? mac : usual_mac;
	uint32_t n = 0;

	if (wire->link->type == XK_LINK_FDDI)
		h[n++] = 0x50;                   /* asynchronous LLC frame */
	memcpy(h + n, wire->mac, 6);
	memcpy(h + n + 6, src, 6);
	n += 12;
	if (wire->link->type == XK_LINK_FDDI) {
		static const uint8_t snap[6] = { 0xaa, 0xaa, 0x03, 0, 0, 0 };

		memcpy(h + n, snap, 6);
		n += 6;
	}
	xk_put_be16(h + n, 0x0800);
	return n + 2;
}

void peer_ip_header(uint8_t *p, const struct xk_flowkey *k, uint32_t total)
{
	memset(p, 0, IP_HEADER);
	p[0] = 0x45;
	xk_put_be16(p + 2, (uint16_t)total);
	xk_put_be16(p + 6, 0x4000);              /* do not fragment: identifier unused */
	p[8] = 64;
	p[9] = k->proto;
	xk_put_raw32(p + 12, k->raddr);
	xk_put_raw32(p + 16, k->laddr);
	if (total != 0)
		xk_put_raw16(p + 10, (uint16_t)~xk_csum_fold(xk_csum(p, IP_HEADER, 0)));
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 :
	       c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

int peer_lead(const char *text, uint8_t *out)
{
	unsigned n = 0;

	for (; text != NULL && text[2 * n] != '\0'; n++) {
		int hi = hex_digit(text[2 * n]), lo = hi < 0 ? -1 : hex_digit(text[2 * n + 1]);

		if (lo < 0 || n == PEER_LEAD_MAX)
			return -1;
		if (out != NULL)
			out[n] = (uint8_t)(hi << 4 | lo);
	}
	return (int)n;
}

bool peer_lead_fault(const char *lead, uint64_t size, unsigned checksum, char *why, size_t n)
{
	int bytes = peer_lead(lead, NULL);

	if (bytes < 0)
		snprintf(why, n, "lead needs pairs of hexadecimal digits, at most %u of them, as in \"00000080\"",
			 PEER_LEAD_MAX);
	else if ((uint64_t)bytes > size)
		snprintf(why, n, "lead has more bytes than the payload, whose size is %llu",
			 (unsigned long long)size);
	else if (bytes != 0 && checksum == PEER_CSUM_GOOD)
		snprintf(why, n, "a good checksum is made for zeros: lead needs checksum = \"compute-ignore\"");
	else
		return false;
	return true;
}

bool peer_ports_fault(uint16_t port, uint64_t ports, char *why, size_t n)
{
	if (port + ports <= 65536)
		return false;
	snprintf(why, n, "port %u plus %llu ports passes 65535", port, (unsigned long long)ports);
	return true;
}

int peer_fits(struct mem_fits *f, uint64_t size, uint32_t headers)
{
	if (size + headers <= f->mtu)
		return 0;
	f->param = "size";
	snprintf(f->why, sizeof f->why, "size %llu does not fit one frame: mtu %llu leaves %llu bytes",
		 (unsigned long long)size, (unsigned long long)f->mtu, (unsigned long long)(f->mtu - headers));
	return 1;
}

void peer_no_memory(const struct xk_rep *r, struct xk_errs *e, uint64_t conns)
{
	xk_node_error(r->node, e, "not enough memory for the frames of %llu connections (fewer "
		      "connections, a smaller rxcold or a higher memory limit)", (unsigned long long)conns);
}
