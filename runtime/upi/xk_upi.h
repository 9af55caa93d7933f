/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_upi.h - all headers of the uniform protocol interface, for who has not chosen among them yet.
 */
#ifndef XK_UPI_H
#define XK_UPI_H

#include "runtime/classify/xk_demux.h"
#include "runtime/msg/xk_msg_inline.h"
#include "runtime/upi/xk_input.h"
#include "runtime/upi/xk_enable.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/base/xk_clock.h"
#include "runtime/base/xk_errs.h"
#include "runtime/base/xk_param_value.h"
#include "runtime/upi/xk_part.h"

#endif
