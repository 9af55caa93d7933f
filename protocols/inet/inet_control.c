/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inet_control.c - answers to control operations, whole or refused.
 */
#include "protocols/inet/inet_control.h"

#include <string.h>

int inet_answer(void *buf, unsigned len, const void *v, unsigned n)
{
	if (len < n)
		return XK_E_INVAL;
	memcpy(buf, v, n);
	return (int)n;
}

int inet_take(void *v, unsigned n, const void *buf, unsigned len)
{
	if (len < n)
		return XK_E_INVAL;
	memcpy(v, buf, n);
	return XK_OK;
}

int inet_less_header(int res, void *buf, uint32_t hdr_len)
{
	uint32_t v;

	if (res != (int)sizeof v)
		return res;
	memcpy(&v, buf, sizeof v);
	return inet_answer32(buf, sizeof v, v > hdr_len ? v - hdr_len : 0);
}
