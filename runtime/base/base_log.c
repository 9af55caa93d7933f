/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * base_log.c - trace lines and the levels given on a command line.
 *
 * A line is put together on the stack and written by one write(2), so that
 * lines of different threads do not mix.  Invariant: a call writes one line,
 * cut rather than split when it is too long.
 */
#include "runtime/base/xk_log.h"
#include "runtime/base/xk_tls.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LEVEL_MAX 5

void xk_log_set(struct xk_log *l, int level)
{
	__atomic_store_n(&l->level, level, __ATOMIC_RELAXED);
}

static int prefix(const struct xk_log *l, int level, char *buf, size_t n)
{
	const char *word = level <= 1 ? "error: " : level == 2 ? "warning: " : "";

	if (xk_vp_no == XK_VP_NONE)
		return snprintf(buf, n, "%.64s: %s", l->name, word);
	return snprintf(buf, n, "%.64s vp%u: %s", l->name, (unsigned)xk_vp_no, word);
}

void xk_log_print(const struct xk_log *l, int level, const char *fmt, ...)
{
	char buf[1024];
	size_t n = (size_t)prefix(l, level, buf, sizeof buf);
	va_list ap;
	int m;

	va_start(ap, fmt);
	m = vsnprintf(buf + n, sizeof buf - n, fmt, ap);
	va_end(ap);
	n += m < 0 ? 0 : (size_t)m;
	if (n > sizeof buf - 1)
		n = sizeof buf - 1;
	/* One line: a caller's own newline at the end is not doubled. */
	if (buf[n - 1] != '\n')
		buf[n++] = '\n';
	/* Nobody can be told when stderr itself fails. */
	if (write(STDERR_FILENO, buf, n) < 0)
		return;
}

/* One "name:level" of length n; true when well-formed. */
static bool parse_item(const char *s, size_t n, size_t *name_len, int *level)
{
	const char *colon = memchr(s, ':', n);

	if (colon == NULL || colon == s || s + n - colon != 2)
		return false;
	if (colon[1] < '0' || colon[1] > '0' + LEVEL_MAX)
		return false;
	*name_len = (size_t)(colon - s);
	*level = colon[1] - '0';
	return true;
}

int xk_log_parse(const char *list, const char *name, int *level, const char **bad)
{
	size_t n, len;
	int lev;

	*level = XK_LOG_DEFAULT;
	if (*list == '\0')
		return XK_OK;
	for (;; list += n + 1) {
		n = strcspn(list, ",");
		if (!parse_item(list, n, &len, &lev)) {
			if (bad != NULL)
				*bad = list;
			return XK_E_INVAL;
		}
		if ((len == 1 && *list == '*') ||
		    (len == strlen(name) && memcmp(list, name, len) == 0))
			*level = lev;
		if (list[n] == '\0')
			return XK_OK;
	}
}
