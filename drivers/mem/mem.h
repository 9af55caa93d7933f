/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mem.h - the in-memory drivers.
 */
#ifndef XK_MEM_DRIVER_H
#define XK_MEM_DRIVER_H

#include "runtime/upi/xk_proto.h"

extern const struct xk_proto xk_proto_eth_mem, xk_proto_fddi_mem;

#endif
