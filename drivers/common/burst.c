/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * burst.c - received frames are passed up together, those that stand for several whole or cut.
 */
#include "drivers/common/burst.h"
#include "drivers/common/cut.h"
#include "runtime/upi/xk_input.h"
#include "runtime/upi/xk_node.h"

#define ETH_HEADER 14u

void xk_burst_up(struct xk_burst *b)
{
	if (b->n != 0)
		xk_input(b->rep, b->m, b->n);
	b->n = 0;
}

void xk_burst_cut(struct xk_burst *b, struct xk_msg *m, uint32_t seg, uint32_t frame_max, unsigned drop)
{
	struct xk_cut c;

	if (!xk_cut_begin(&c, m, ETH_HEADER, seg, frame_max, true)) {
		xk_drop(b->rep, drop, m);
		return;
	}
	while (xk_cut_next(&c) != 0) {
		struct xk_msg *x = xk_cut_msg(&c);

		if (x == NULL) {
			xk_dropped(b->rep, XK_DROP_NOMEM, 1);
			break;
		}
		xk_burst_add(b, x);
	}
	xk_msg_free(m);
}

bool xk_burst_takes_long(const struct xk_rep *r)
{
	uint32_t most = 0;

	return xk_control(r->drv_sess->up->rep, XK_CTL_GETMAXSUPER, &most, sizeof most) > 0 && most != 0;
}
