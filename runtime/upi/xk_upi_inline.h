/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_upi_inline.h - xk_inline.h beside xk_upi.h.
 */
#ifndef XK_UPI_INLINE_H
#define XK_UPI_INLINE_H

#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_upi.h"

#endif
