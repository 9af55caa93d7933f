/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * virtual_priv.h - what the files of virtual share.
 */
#ifndef VIRTUAL_PRIV_H
#define VIRTUAL_PRIV_H

#include "runtime/upi/xk_enable.h"
#include "runtime/upi/xk_move.h"
#include "runtime/upi/xk_node.h"

/* Enables are of a type, whatever the participants. */
static inline struct xk_key virt_type_key(const struct xk_node *type)
{
	return (struct xk_key){ { type->no, 0 } };
}

/* XK_CTL_ADOPT and XK_CTL_HANDED of n. */
int virt_adopt(struct xk_node *n, const struct xk_adopt *a);
int virt_handed(struct xk_node *n, const struct xk_handed *h);

#endif
