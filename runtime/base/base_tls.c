/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * base_tls.c - storage of the number of the VP that the thread is inside.
 *
 * Invariant: XK_VP_NONE in every thread that has not entered a VP.
 */
#include "runtime/base/xk_tls.h"

_Thread_local uint16_t xk_vp_no __attribute__((tls_model("initial-exec"))) = XK_VP_NONE;
