/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ctl_stamp.h - is what is seen here the message that was seen there?  By its bytes, wherever they lie.
 *
 * Pure functions: any thread.
 */
#ifndef CTL_STAMP_H
#define CTL_STAMP_H

#include "runtime/base/xk_base.h"

struct xk_msg;

#define CTL_STAMP_HEADER  128u   /* bytes that one layer puts before a message, at most */
#define CTL_STAMP_BYTES   64u    /* that are compared at either end */
#define CTL_STAMP_CHANGED 12u    /* bytes of headers that cutting changes: lengths, identification, sums, flags */

struct ctl_stamp { uint32_t tot; uint8_t head[CTL_STAMP_HEADER + CTL_STAMP_BYTES], tail[CTL_STAMP_BYTES]; };

void ctl_stamp_of(const struct xk_msg *m, struct ctl_stamp *s);
/* Byte for byte, as far as a stamp goes. */
bool ctl_stamp_same(const struct ctl_stamp *a, const struct ctl_stamp *b);
/* What was seen further down has what was seen further up behind headers: WHOLE, to its end; or PART: what it begins
 * with, as far as the shorter one goes, as a first fragment has, or more, as a padded frame has. */
enum ctl_meets { CTL_MEETS_NOT, CTL_MEETS_PART, CTL_MEETS_WHOLE };
enum ctl_meets ctl_stamp_meets(const struct ctl_stamp *lower, const struct ctl_stamp *upper);
/* Is `first` what a super-segment was cut into first?  So many bytes of the headers differ; UINT32_MAX: it is not. */
unsigned ctl_stamp_cut(const struct ctl_stamp *whole, const struct ctl_stamp *first);

#endif
