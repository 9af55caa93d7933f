/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upi_part.c - participants: bounded stacks of address pieces, copied in.
 *
 * Externalized form: count of stacks, then per stack its depth and, bottom to
 * top, (length, bytes); length 0 is ANY.
 */
#include "runtime/upi/xk_part.h"

#include <string.h>

void xk_parts_init(struct xk_parts *ps, unsigned n)
{
	memset(ps, 0, sizeof *ps);
	ps->n = n;
}

static int part_push(struct xk_part *p, const void *bytes, unsigned len)
{
	if (p->depth == XK_PART_DEPTH)
		return XK_E_NOSPC;
	p->item[p->depth].len = (uint8_t)len;
	if (len != 0)
		memcpy(p->item[p->depth].bytes, bytes, len);
	p->depth++;
	return XK_OK;
}

int xk_part_push(struct xk_part *p, const void *bytes, unsigned len)
{
	return len == 0 || len > XK_PART_BYTES ? XK_E_INVAL : part_push(p, bytes, len);
}

int xk_part_push_any(struct xk_part *p)
{
	return part_push(p, NULL, 0);
}

int xk_part_pop(struct xk_part *p, void *bytes, unsigned len)
{
	unsigned have;

	if (p->depth == 0)
		return XK_E_INVAL;
	have = p->item[p->depth - 1].len;
	if (have != 0 && have != len)
		return XK_E_INVAL;
	p->depth--;
	if (have == 0)
		return 1;
	memcpy(bytes, p->item[p->depth].bytes, len);
	return XK_OK;
}

static int put_byte(uint8_t *buf, unsigned n, unsigned *at, uint8_t v)
{
	if (*at >= n)
		return XK_E_NOSPC;
	buf[(*at)++] = v;
	return XK_OK;
}

static int part_externalize(const struct xk_part *p, uint8_t *buf, unsigned n, unsigned *at)
{
	if (put_byte(buf, n, at, p->depth) != XK_OK)
		return XK_E_NOSPC;
	for (unsigned i = 0; i < p->depth; i++) {
		unsigned len = p->item[i].len;

		if (put_byte(buf, n, at, (uint8_t)len) != XK_OK || n - *at < len)
			return XK_E_NOSPC;
		memcpy(buf + *at, p->item[i].bytes, len);
		*at += len;
	}
	return XK_OK;
}

int xk_parts_externalize(const struct xk_parts *ps, uint8_t *buf, unsigned n)
{
	unsigned at = 0;

	if (put_byte(buf, n, &at, (uint8_t)ps->n) != XK_OK)
		return XK_E_NOSPC;
	for (unsigned i = 0; i < ps->n; i++)
		if (part_externalize(&ps->p[i], buf, n, &at) != XK_OK)
			return XK_E_NOSPC;
	return (int)at;
}

static int part_internalize(struct xk_part *p, const uint8_t *buf, unsigned n, unsigned *at)
{
	unsigned depth;

	if (*at >= n || (depth = buf[(*at)++]) > XK_PART_DEPTH)
		return XK_E_INVAL;
	for (unsigned i = 0; i < depth; i++) {
		unsigned len;

		if (*at >= n || (len = buf[(*at)++]) > XK_PART_BYTES || n - *at < len)
			return XK_E_INVAL;
		if (part_push(p, buf + *at, len) != XK_OK)
			return XK_E_INVAL;
		*at += len;
	}
	return XK_OK;
}

int xk_parts_internalize(struct xk_parts *ps, const uint8_t *buf, unsigned n)
{
	unsigned at = 1;

	if (n == 0 || buf[0] > XK_ARRAY_LEN(ps->p))
		return XK_E_INVAL;
	xk_parts_init(ps, buf[0]);
	for (unsigned i = 0; i < ps->n; i++)
		if (part_internalize(&ps->p[i], buf, n, &at) != XK_OK)
			return XK_E_INVAL;
	return at == n ? XK_OK : XK_E_INVAL;
}

/* ---- this project's pieces ------------------------------------------------- */

int xk_part_push_port(struct xk_part *p, uint16_t port) { return xk_part_push(p, &port, sizeof port); }
int xk_part_pop_port(struct xk_part *p, uint16_t *port) { return xk_part_pop(p, port, sizeof *port); }
int xk_part_push_host(struct xk_part *p, uint32_t ipv4) { return xk_part_push(p, &ipv4, sizeof ipv4); }
int xk_part_pop_host(struct xk_part *p, uint32_t *ipv4) { return xk_part_pop(p, ipv4, sizeof *ipv4); }
int xk_part_push_mac(struct xk_part *p, const uint8_t mac[6]) { return xk_part_push(p, mac, 6); }
int xk_part_pop_mac(struct xk_part *p, uint8_t mac[6]) { return xk_part_pop(p, mac, 6); }
