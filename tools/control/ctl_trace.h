/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ctl_trace.h - what the files share that look at messages on their way.
 */
#ifndef CTL_TRACE_H
#define CTL_TRACE_H

#include "runtime/upi/xk_capture.h"
#include "tools/control/ctl_priv.h"

/* The headers that bytes, seen below n, begin with: n's own, or, asked for all, those above, too. */
json_t *ctl_decode(const struct xk_node *n, const uint8_t *bytes, size_t len, bool all);
/* Wakes the server's thread: something is to be looked at. */
void ctl_wake(struct ctl *c);
/* Is path a file that can be opened without waiting?  Else failed. */
bool ctl_plain_file(struct ctl_call *k, const char *path, bool must_be);
void ctl_job_end(struct ctl_job *j);     /* what every job's free ends with */

#endif
