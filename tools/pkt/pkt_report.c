/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pkt_report.c - what a run says of an event: where, when, and what is wrong.
 *
 * Invariant: only the first difference is printed.
 */
#include <stdarg.h>

#include "tools/pkt/pkt_priv.h"

int64_t pkt_now(const struct pkt_run *u)
{
	return (int64_t)xk_clock_read(&u->g->vps->clock) - u->start;
}

static void say(struct pkt_run *u, const struct pkt_event *e, const char *kind, const char *fmt, va_list ap)
{
	fprintf(u->out, "%s:%d: %s", u->s->name, e->line, kind);
	vfprintf(u->out, fmt, ap);
	fprintf(u->out, "\n  script:   %s\n", e->text);
}

/* The first thing that is wrong ends the run; `which` it is, is noted. */
static void say_first(struct pkt_run *u, const struct pkt_event *e, bool *which, const char *fmt, va_list ap)
{
	if (u->differs || u->bad)
		return;
	*which = true;
	say(u, e, "", fmt, ap);
}

void pkt_differs(struct pkt_run *u, const struct pkt_event *e, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say_first(u, e, &u->differs, fmt, ap);
	va_end(ap);
}

void pkt_bad(struct pkt_run *u, const struct pkt_event *e, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say_first(u, e, &u->bad, fmt, ap);
	va_end(ap);
}

void pkt_note(struct pkt_run *u, const struct pkt_event *e, const char *fmt, ...)
{
	va_list ap;

	if (!u->o->notes)
		return;
	va_start(ap, fmt);
	say(u, e, "note: ", fmt, ap);
	va_end(ap);
}
