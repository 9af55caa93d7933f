/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpr_live.c - one line on a terminal that says how the run goes, written over and over.
 *
 * Where standard error is no terminal nothing is written: a log keeps what was written over.
 * Invariant: what is printed after the run, or in between, begins on an empty line.
 */
#include "tools/vp-run/vpr.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/xk_clock.h"

#define LEAST (200 * XK_MS)      /* of the host's time between two lines: virtual time may fly */

/* What has passed since the line that is shown; one run in a process. */
static struct { xk_ns at, len; uint64_t messages, bytes; bool drawn; } line;

bool vpr_live_can(void)
{
	const char *term = getenv("TERM");

	return isatty(STDERR_FILENO) && term != NULL && strcmp(term, "dumb") != 0;
}

void vpr_live(void *arg, const struct xk_run_sample *s)
{
	xk_ns now = xk_clock_host();

	(void)arg;
	line.len += s->len;
	line.messages += s->messages;
	line.bytes += s->bytes;
	if ((line.drawn && now - line.at < LEAST) || line.len == 0)
		return;
	fprintf(stderr, "\r%.0f s  %.0f messages/s", (double)(s->at + s->len) / 1e9,
		(double)line.messages * 1e9 / (double)line.len);
	vpr_bits(stderr, line.bytes, (double)line.len / 1e9);
	fputs("\033[K", stderr);
	fflush(stderr);
	line.at = now;
	line.drawn = true;
	line.len = line.messages = line.bytes = 0;
}

void vpr_live_clear(void)
{
	if (!line.drawn)
		return;
	fputs("\r\033[K", stderr);
	fflush(stderr);
	line.drawn = false;
}
