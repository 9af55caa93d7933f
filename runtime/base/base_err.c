/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * base_err.c - texts of the result codes, and the end of a broken program.
 *
 * A panic writes with write(2) into storage of its own, because the heap or
 * stdio may be what is broken.  Invariant: xk_strerror never returns NULL and
 * its texts live as long as the calling thread.
 */
#include "runtime/base/xk_base.h"

#include <execinfo.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct { int err; const char *text; } texts[] = {
	{ XK_OK, "success" },
	{ XK_E_PERM, "not allowed" },
	{ XK_E_NOENT, "no such thing" },
	{ XK_E_IO, "input/output error" },
	{ XK_E_BADF, "not a descriptor in use" },
	{ XK_E_AGAIN, "would block" },
	{ XK_E_NOMEM, "out of memory" },
	{ XK_E_BUSY, "in use" },
	{ XK_E_EXIST, "already there" },
	{ XK_E_NODEV, "no such device" },
	{ XK_E_INVAL, "bad argument" },
	{ XK_E_MFILE, "no descriptor left" },
	{ XK_E_NOSPC, "no space left" },
	{ XK_E_RANGE, "value out of range" },
	{ XK_E_DESTADDRREQ, "nobody to send to" },
	{ XK_E_MSGSIZE, "message too long" },
	{ XK_E_NOPROTOOPT, "no such option here" },
	{ XK_E_NOTSUP, "operation not supported" },
	{ XK_E_ADDRINUSE, "local address in use" },
	{ XK_E_ADDRNOTAVAIL, "no local address or port left" },
	{ XK_E_UNREACH, "no route to its address" },
	{ XK_E_PIPE, "the stream has been ended by this side" },
	{ XK_E_CONNABORTED, "connection aborted by this side" },
	{ XK_E_CONNRESET, "connection reset by the peer" },
	{ XK_E_ISCONN, "connected already" },
	{ XK_E_ELSEWHERE, "belongs to another virtual processor" },
	{ XK_E_NOTCONN, "not connected" },
	{ XK_E_SHUTDOWN, "being taken down" },
	{ XK_E_TIMEDOUT, "the peer does not answer" },
	{ XK_E_CONNREFUSED, "connection refused" },
	{ XK_E_ALREADY, "under way already" },
	{ XK_E_INPROGRESS, "under way now" },
};

const char *xk_strerror(int err)
{
	static _Thread_local char buf[96];
	size_t i;

	for (i = 0; i < XK_ARRAY_LEN(texts); i++)
		if (texts[i].err == err)
			return texts[i].text;
	/* GNU strerror_r: may return its own text instead of filling buf. */
	return strerror_r(err < 0 && err > -4096 ? -err : err, buf, sizeof buf);
}

static void say(const char *s, size_t n)
{
	ssize_t w;

	while (n > 0 && (w = write(STDERR_FILENO, s, n)) > 0) {
		s += w;
		n -= (size_t)w;
	}
}

void xk_panic(const char *file, int line, const char *fmt, ...)
{
	char buf[1024];
	void *frame[64];
	va_list ap;
	int n, m;

	n = snprintf(buf, sizeof buf, "%.256s:%d: panic: ", file, line);
	va_start(ap, fmt);
	m = vsnprintf(buf + n, sizeof buf - (size_t)n, fmt, ap);
	va_end(ap);
	n += m < 0 ? 0 : m;
	if ((size_t)n > sizeof buf - 2)
		n = (int)sizeof buf - 2;
	buf[n++] = '\n';
	say(buf, (size_t)n);
	backtrace_symbols_fd(frame, backtrace(frame, XK_ARRAY_LEN(frame)), STDERR_FILENO);
	abort();
}
