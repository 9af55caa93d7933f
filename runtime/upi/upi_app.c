/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upi_app.c - what applications answer, and how often they time a message.
 */
#include "runtime/upi/xk_app.h"

#include "runtime/base/xk_rand.h"

int xk_app_answer(unsigned op, const struct xk_app_counts *c, void *buf, unsigned len)
{
	return op == XK_CTL_APP_COUNTS ? xk_answer(buf, len, c, sizeof *c) : XK_E_NOTSUP;
}

uint32_t xk_app_probe_gap(struct xk_rand *r)
{
	return 16 + (uint32_t)xk_rand_below(r, 32);
}
