/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpx_dns.c - answers what programs ask a server of names, from the table of vpx_hosts.c (RFC 1035).
 *
 * One question, of class IN: addresses of a name (A) and the name of an address (PTR).  A known name has no records of
 * other types, an unknown one does not exist.  Nothing is asked of anybody else.
 * Invariant: nothing is read behind the question's end, and no answer is longer than 512 bytes (4.2.1).
 */
#include "tools/vp-exec/vpx.h"

#include "runtime/base/xk_bytes.h"

#include <string.h>

enum { HEADER = 12, LONGEST_NAME = 255, LABEL = 63 };
enum { TYPE_A = 1, TYPE_PTR = 12, TYPE_ANY = 255, CLASS_IN = 1 };
enum { NO_ERROR = 0, FORMAT = 1, NO_NAME = 3, NOT_IMPLEMENTED = 4, REFUSED = 5 };
enum { RESPONSE = 0x8000, AUTHORITY = 0x0400, DESIRED = 0x0100, AVAILABLE = 0x0080, OPCODE = 0x7800 };

struct question { char name[LONGEST_NAME + 1]; uint16_t type, class; size_t end; };

/* The name as one writes it; its end in the message, or 0. */
static size_t name_of(const uint8_t *m, size_t n, size_t at, char *out)
{
	size_t len = 0;

	while (at < n && m[at] != 0) {
		size_t k = m[at++];

		if (k > LABEL || at + k > n || len + k + 1 > LONGEST_NAME || memchr(m + at, 0, k) != NULL)
			return 0;
		if (len != 0)
			out[len++] = '.';
		memcpy(out + len, m + at, k);
		len += k;
		at += k;
	}
	out[len] = '\0';
	return at < n ? at + 1 : 0;
}

static bool question_of(const uint8_t *m, size_t n, struct question *q)
{
	size_t at = name_of(m, n, HEADER, q->name);

	if (xk_be16(m + 4) != 1 || at == 0 || at + 4 > n)
		return false;
	q->type = xk_be16(m + at);
	q->class = xk_be16(m + at + 2);
	q->end = at + 4;
	return true;
}

/* A record of the question's name; false: no room. */
static bool record(uint8_t *out, size_t *len, uint16_t type, const void *data, size_t n)
{
	uint8_t *p = out + *len;

	if (*len + HEADER + n > VPX_DNS_MOST)
		return false;
	xk_put_be16(p, 0xc000 | HEADER);         /* the name is there */
	xk_put_be16(p + 2, type);
	xk_put_be16(p + 4, CLASS_IN);
	xk_put_be32(p + 6, 0);                   /* good for this once */
	xk_put_be16(p + 10, (uint16_t)n);
	memcpy(p + HEADER, data, n);
	*len += HEADER + n;
	xk_put_be16(out + 6, (uint16_t)(xk_be16(out + 6) + 1));
	return true;
}

/* ---- what is known ----------------------------------------------------------------------------------------- */

static unsigned addresses(const struct question *q, uint8_t *out, size_t *len)
{
	uint8_t bytes[4];
	bool known = false;
	uint32_t addr;
	size_t i = 0;

	while (vpx_hosts_addr(q->name, &i, &addr)) {
		known = true;
		xk_put_be32(bytes, addr);
		if ((q->type == TYPE_A || q->type == TYPE_ANY) && !record(out, len, TYPE_A, bytes, sizeof bytes))
			break;
	}
	return known ? NO_ERROR : NO_NAME;
}

/* 4.3.2.1.in-addr.arpa (3.5); false: it is no such name. */
static bool reverse_of(const char *name, uint32_t *addr)
{
	unsigned b[4];
	int end = 0;

	if (sscanf(name, "%3u.%3u.%3u.%3u.in-addr.arpa%n", &b[0], &b[1], &b[2], &b[3], &end) != 4 || end == 0 ||
	    name[end] != '\0' || (b[0] | b[1] | b[2] | b[3]) > 255)
		return false;
	*addr = b[3] << 24 | b[2] << 16 | b[1] << 8 | b[0];
	return true;
}

static unsigned its_name(const struct question *q, uint32_t addr, uint8_t *out, size_t *len)
{
	const char *name = vpx_hosts_name(addr);
	uint8_t bytes[LONGEST_NAME + 2];
	size_t n = 0;

	if (name == NULL || strlen(name) > LONGEST_NAME - 1)
		return NO_NAME;
	for (size_t k; *name != '\0'; name += k + (name[k] == '.')) {
		k = strcspn(name, ".");
		if (k == 0 || k > LABEL)
			return NO_NAME;
		bytes[n++] = (uint8_t)k;
		memcpy(bytes + n, name, k);
		n += k;
	}
	bytes[n++] = 0;
	if (q->type == TYPE_PTR || q->type == TYPE_ANY)
		(void)record(out, len, TYPE_PTR, bytes, n);
	return NO_ERROR;
}

/* ---- the answer ----------------------------------------------------------------------------------------------- */

size_t vpx_dns_answer(const uint8_t *m, size_t n, uint8_t out[VPX_DNS_MOST])
{
	uint16_t flags = n >= HEADER ? xk_be16(m + 2) : RESPONSE;
	unsigned code = FORMAT;
	size_t len = HEADER;
	struct question q;
	uint32_t addr;

	if ((flags & RESPONSE) != 0)
		return 0;
	memset(out, 0, HEADER);
	memcpy(out, m, 2);
	if ((flags & OPCODE) != 0) {
		code = NOT_IMPLEMENTED;
	} else if (question_of(m, n, &q) && q.end <= VPX_DNS_MOST) {
		memcpy(out + HEADER, m + HEADER, q.end - HEADER);
		xk_put_be16(out + 4, 1);
		len = q.end;
		code = q.class != CLASS_IN ? REFUSED : reverse_of(q.name, &addr) ? its_name(&q, addr, out, &len) :
		       addresses(&q, out, &len);
	}
	xk_put_be16(out + 2, (uint16_t)(RESPONSE | AUTHORITY | AVAILABLE | (flags & DESIRED) | (flags & OPCODE) | code));
	return len;
}
