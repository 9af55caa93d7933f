/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_quick.c - what is read of a VP without a call, as functions for all others.
 */
#include "runtime/vp/xk_vp.h"

#undef xk_vp_now
#undef xk_vp_clock
#undef xk_vp_rand

xk_ns xk_vp_now(void)
{
	return xk_vp_now_inline();
}

xk_ns xk_vp_clock(const struct xk_vp *vp)
{
	return xk_vp_clock_inline(vp);
}

struct xk_rand *xk_vp_rand(struct xk_vp *vp)
{
	return xk_vp_rand_inline(vp);
}

uint16_t xk_vp_number(const struct xk_vp *vp)
{
	return vp->no;
}
