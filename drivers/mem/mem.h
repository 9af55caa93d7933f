/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mem.h - what the in-memory drivers answer beyond the standard operations.
 */
#ifndef XK_MEM_DRIVER_H
#define XK_MEM_DRIVER_H

#include "runtime/upi/xk_app.h"

/* peer = "source": struct xk_app_counts of the template connections of this
 * replica (frames made; bytes of payload).  Not the standard operation: what
 * an edge makes is not yet what an application got. */
#define XK_CTL_MEM_COUNTS 20001u

extern const struct xk_proto xk_proto_eth_mem, xk_proto_fddi_mem;

#endif
