/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_progress.c - how far a sweep is, on stderr.
 *
 * On a terminal a bar that redraws itself, with the time left; elsewhere a line
 * now and then.  Notes stay: the bar is wiped before one and drawn again after.
 */
#include "tools/vp-bench/bench.h"

#include <stdarg.h>
#include <unistd.h>

#define BAR 24u

static double seconds(void)
{
	return (double)xk_clock_host() / 1e9;
}

void bench_progress_begin(struct bench_progress *p, const char *name, unsigned total, double expected)
{
	*p = (struct bench_progress){ .name = name, .total = total, .started = seconds(), .expected = expected,
				      .tty = isatty(2) };
	if (expected > 0)
		fprintf(stderr, "%s: %u runs, about %.0f s\n", name, total, expected);
	else
		fprintf(stderr, "%s: %u runs\n", name, total);
}

static void wipe(const struct bench_progress *p)
{
	if (p->tty)
		fputs("\r\033[K", stderr);
}

static void draw(const struct bench_progress *p, const char *what)
{
	double passed = seconds() - p->started;
	unsigned filled = p->total ? p->done * BAR / p->total : 0;
	double left = p->done ? passed / p->done * (p->total - p->done) : p->expected;

	wipe(p);
	fputc('[', stderr);
	for (unsigned i = 0; i < BAR; i++)
		fputc(i < filled ? '#' : '.', stderr);
	fprintf(stderr, "] %u/%u  %.0f s left  %.40s", p->done, p->total, left, what);
	fflush(stderr);
}

void bench_progress_step(struct bench_progress *p, const char *what)
{
	p->done++;
	if (p->done > p->total)
		p->total = p->done;
	if (p->tty)
		draw(p, what);
	else if (p->done == p->total || p->done % (p->total / 10 + 1) == 0)
		fprintf(stderr, "%s: %u of %u runs, %.0f s\n", p->name, p->done, p->total, seconds() - p->started);
}

void bench_progress_note(struct bench_progress *p, const char *fmt, ...)
{
	va_list ap;

	wipe(p);
	fprintf(stderr, "%s: ", p->name);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

void bench_progress_end(struct bench_progress *p)
{
	wipe(p);
	fprintf(stderr, "%s: %u runs in %.1f s\n", p->name, p->done, seconds() - p->started);
}
