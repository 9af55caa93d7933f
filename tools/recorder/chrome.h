/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * chrome.h - what all that write Chrome's trace format share: its times.
 *
 * Times there are microseconds; ours are nanoseconds, none of which is lost.
 */
#ifndef REC_CHROME_H
#define REC_CHROME_H

#include <inttypes.h>
#include <stdio.h>

#include "runtime/base/xk_clock.h"

/* A further member of an object: key, without quotes, and a time of ns. */
static inline void chrome_put_us(FILE *f, const char *key, xk_ns ns)
{
	fprintf(f, ",\"%s\":%" PRIu64 ".%03u", key, (uint64_t)(ns / XK_US), (unsigned)(ns % XK_US));
}

#endif
