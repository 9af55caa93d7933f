/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_tls.h - the number of the virtual processor this thread is inside.
 *
 * Set by runtime/vp on entering and leaving a VP, read everywhere.
 */
#ifndef XK_TLS_H
#define XK_TLS_H

#include "runtime/base/xk_base.h"

#define XK_VP_NONE 0xffffu
#define XK_VP_MAX  8192u        /* a VP number fits 16 bits with room to spare */

extern _Thread_local uint16_t xk_vp_no __attribute__((tls_model("initial-exec")));

#endif
