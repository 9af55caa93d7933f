/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upi_app.c - what applications answer, and how often they time a message.
 */
#include "runtime/upi/xk_app.h"

#include <string.h>

#include "runtime/base/xk_rand.h"

int xk_app_answer(unsigned op, const struct xk_app_counts *c, void *buf, unsigned len)
{
	if (op != XK_CTL_APP_COUNTS)
		return XK_E_NOTSUP;
	if (len < sizeof *c)
		return XK_E_NOSPC;
	memcpy(buf, c, sizeof *c);
	return sizeof *c;
}

uint32_t xk_app_probe_gap(struct xk_rand *r)
{
	return 16 + (uint32_t)xk_rand_below(r, 32);
}
