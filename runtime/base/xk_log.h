/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_log.h - trace levels, one per protocol, changeable while running.
 *
 * Level 0 is silence, 1 errors, 2 warnings, 3 events of a session's life, 4
 * control, 5 every message.  XK_TRACE costs one load and a branch; compiled
 * with XK_NO_TRACE it costs nothing.  Output goes to stderr, a line per call.
 */
#ifndef XK_LOG_H
#define XK_LOG_H

#include "runtime/base/xk_base.h"

struct xk_log {
	const char *name;        /* of the protocol, for the line's prefix */
	int         level;       /* read with relaxed loads, set by any thread */
};

#define XK_LOG_DEFAULT 2

void xk_log_set(struct xk_log *l, int level);
void xk_log_print(const struct xk_log *l, int level, const char *fmt, ...) XK_PRINTF(3, 4);
/* Level for `name` in a list like "udp:5,*:2"; the last match wins; the default
 * when none matches.  Returns XK_E_INVAL with *bad set to the faulty part. */
int  xk_log_parse(const char *list, const char *name, int *level, const char **bad);

#ifdef XK_NO_TRACE
/* Seen by the compiler, so that what only a message reads is no warning. */
#define XK_TRACE(l, lev, ...) do { if (0) xk_log_print((l), (lev), __VA_ARGS__); } while (0)
#else
#define XK_TRACE(l, lev, ...) do { \
	if (XK_UNLIKELY(__atomic_load_n(&(l)->level, __ATOMIC_RELAXED) >= (lev))) \
		xk_log_print((l), (lev), __VA_ARGS__); \
} while (0)
#endif

#endif
