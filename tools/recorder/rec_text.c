/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rec_text.c - a recording in words, a line for each record.
 *
 * Invariant: a line says what its record does, with a number where the file has no name.
 */
#include "tools/recorder/rec.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "runtime/base/xk_clock.h"

/* Text that grows in a buffer, and is cut at its end. */
struct say { char *at; size_t left; };

static void XK_PRINTF(2, 3) say(struct say *s, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(s->at, s->left, fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= s->left)
		n = s->left != 0 ? (int)s->left - 1 : 0;
	s->at += n;
	s->left -= (size_t)n;
}

static void say_ns(struct say *s, uint64_t ns)
{
	if (ns < XK_US)
		say(s, "%" PRIu64 " ns", ns);
	else if (ns < XK_MS)
		say(s, "%.1f us", (double)ns / (double)XK_US);
	else if (ns < XK_SEC)
		say(s, "%.1f ms", (double)ns / (double)XK_MS);
	else
		say(s, "%.1f s", (double)ns / (double)XK_SEC);
}

static void say_many(struct say *s, uint64_t n, const char *what) { say(s, "%" PRIu64 " %s%s", n, what, n == 1 ? "" : "s"); }

/* ---- nodes and their own words --------------------------------------------------------------- */

static void say_node(struct say *s, const struct rec *r, const struct rec_row *x)
{
	uint32_t node = xk_rec_node(x->r.what);
	const char *name = rec_name(r, REC_NODE, node, 0);

	if (name != NULL)
		say(s, "%s: ", name);
	else
		say(s, "node %u: ", node);
}

static void say_station(struct say *s, uint64_t v)
{
	for (unsigned i = 6; i-- > 0;)
		say(s, i != 0 ? "%02x:" : "%02x", (unsigned)(v >> 8 * i & 255));
}

static void say_word(struct say *s, char how, uint64_t v)
{
	switch (how) {
	case 'x': say(s, "0x%" PRIx64, v); break;
	case 't': say_ns(s, v); break;
	case 'i': say(s, "%u.%u.%u.%u", (unsigned)(v >> 24 & 255), (unsigned)(v >> 16 & 255), (unsigned)(v >> 8 & 255), (unsigned)(v & 255)); break;
	case 'm': say_station(s, v); break;
	case 'p': say(s, "%u-%u", (unsigned)(v >> 16 & 0xffff), (unsigned)(v & 0xffff)); break;
	default: say(s, "%" PRIu64, v); break;
	}
}

/* A protocol's text, its words put in. */
static void say_event(struct say *s, const char *text, uint64_t a, uint64_t b)
{
	const uint64_t word[] = { a, b };
	unsigned next = 0;

	while (*text != '\0') {
		size_t n = strcspn(text, "{");

		say(s, "%.*s", (int)(n < 4096 ? n : 4096), text);
		text += n;
		if (*text == '\0')
			return;
		if (text[1] != '\0' && text[2] == '}' && next < XK_ARRAY_LEN(word)) {
			say_word(s, text[1], word[next++]);
			text += 3;
		} else {
			say(s, "{");
			text++;
		}
	}
}

static void say_own(struct say *s, const struct rec *r, const struct rec_row *x)
{
	const char *text = rec_name(r, REC_EVENT, xk_rec_node(x->r.what), xk_rec_n(x->r.what));

	say_node(s, r, x);
	if (text != NULL)
		say_event(s, text, x->r.a, x->r.b);
	else
		say(s, "event %u: %" PRIu64 " %" PRIu64, xk_rec_n(x->r.what), x->r.a, x->r.b);
}

static void say_failed(struct say *s, const struct rec *r, const struct rec_row *x)
{
	const char *text = rec_name(r, REC_FAILED, xk_rec_node(x->r.what), 0);

	say_node(s, r, x);
	say(s, "%s", text != NULL ? text : "?");
}

static void say_drop(struct say *s, const struct rec *r, const struct rec_row *x)
{
	const char *text = rec_name(r, REC_DROP, xk_rec_node(x->r.what), xk_rec_n(x->r.what));

	say_node(s, r, x);
	if (text != NULL)
		say(s, "%s, ", text);
	else
		say(s, "reason %u, ", xk_rec_n(x->r.what));
	say_many(s, x->r.a, "message");
	if (x->r.b != 0)
		say(s, x->r.a == 1 ? " of %" PRIu64 " bytes" : ", the first of %" PRIu64 " bytes", x->r.b);
}

/* ---- the runtime's ----------------------------------------------------------------------------- */

static void say_singly(struct say *s, uint64_t n)
{
	if (n != 0)
		say(s, "; frames that came in singly: %" PRIu64, n);
}

static void say_turn(struct say *s, const struct rec_row *x)
{
	say_many(s, x->r.a, "message");
	if (xk_rec_n(x->r.what) != 0)
		say(s, ", by worker %u", xk_rec_n(x->r.what) - 1);
	say_singly(s, x->r.b);
}

static void say_handoff(struct say *s, const struct rec_row *x)
{
	static const char *const how[] = { "left in its inbox", "brought to it", "dropped, its inbox is full", "dropped, no memory" };

	say_many(s, x->r.a, "message");
	say(s, " for vp %u: %s", xk_rec_n(x->r.what), x->r.b < XK_ARRAY_LEN(how) ? how[x->r.b] : "?");
}

static void say_lock(struct say *s, const struct rec_row *x)
{
	say(s, "it was not free, as ");
	say_many(s, x->r.a, "time");
	say(s, " until now");
	if (x->r.b == 0)
		return;
	say(s, "; had after ");
	say_ns(s, x->r.b);
}

static void say_sleep(struct say *s, const struct rec_row *x)
{
	if (x->r.a == XK_NS_NEVER) {
		say(s, "until it is woken");
	} else {
		say(s, "at most ");
		say_ns(s, x->r.a);
	}
	if (xk_rec_n(x->r.what) != 0) {
		say(s, ", waits for ");
		say_many(s, xk_rec_n(x->r.what), "descriptor");
	}
}

static void say_in(struct say *s, const struct rec *r, const struct rec_row *x)
{
	say_node(s, r, x);
	say_many(s, xk_rec_n(x->r.what), "frame");
	say(s, " in ");
	say_many(s, x->r.b, "run");
	say(s, ", the first of %" PRIu64 " bytes", x->r.a);
}

static void say_round(struct say *s, const struct rec_row *x)
{
	if (xk_rec_n(x->r.what) != 0)
		say(s, "vp %u: ", xk_rec_n(x->r.what) - 1);
	say_many(s, x->r.a & UINT32_MAX, "message");
	say(s, " in ");
	say_ns(s, x->r.b > x->r.when ? x->r.b - x->r.when : 0);
	say_singly(s, x->r.a >> 32);
}

static void say_timers(struct say *s, const struct rec_row *x)
{
	say(s, "%u fired, %" PRIu64 " are armed", xk_rec_n(x->r.what), x->r.a);
}

const char *rec_kind(const struct rec_row *x)
{
	static const char *const kind[] = { "nothing", "ran", "timers", "handoff", "lock", "round", "sleep", "wake", "in", "drop", "event", "failed" };
	_Static_assert(XK_ARRAY_LEN(kind) == XK_REC_KINDS, "each has a word");
	unsigned k = xk_rec_kind(x->r.what);

	return k < XK_ARRAY_LEN(kind) ? kind[k] : "unknown";
}

void rec_say(const struct rec *r, const struct rec_row *x, char *text, size_t n)
{
	struct say s = { text, n };

	*text = '\0';
	switch ((enum xk_rec_kind)xk_rec_kind(x->r.what)) {
	case XK_REC_TURN: say_turn(&s, x); break;
	case XK_REC_TIMERS: say_timers(&s, x); break;
	case XK_REC_HANDOFF: say_handoff(&s, x); break;
	case XK_REC_LOCK: say_lock(&s, x); break;
	case XK_REC_ROUND: say_round(&s, x); break;
	case XK_REC_SLEEP: say_sleep(&s, x); break;
	case XK_REC_WAKE: break;
	case XK_REC_IN: say_in(&s, r, x); break;
	case XK_REC_DROP: say_drop(&s, r, x); break;
	case XK_REC_EVENT: say_own(&s, r, x); break;
	case XK_REC_FAILED: say_failed(&s, r, x); break;
	case XK_REC_NONE:
	case XK_REC_KINDS:
	default:
		say(&s, "0x%" PRIx64 " %" PRIu64 " %" PRIu64, x->r.what, x->r.a, x->r.b);
	}
}

/* ---- all of it ------------------------------------------------------------------------------------ */

static void put_time(FILE *f, uint64_t ns) { fprintf(f, "%6" PRIu64 ".%09u", ns / XK_SEC, (unsigned)(ns % XK_SEC)); }

static void put_cause(FILE *f, const struct rec *r)
{
	uint32_t node = r->head.cause_no & 0xffff, reason = r->head.cause_no >> 16;
	const char *name = rec_name(r, REC_NODE, node, 0), *drop = rec_name(r, REC_DROP, node, reason);

	switch (r->head.cause) {
	case XK_RECORDING_ASKED: fputs("asked for", f); break;
	case XK_RECORDING_SIGNAL: fprintf(f, "signal %u", r->head.cause_no); break;
	case XK_RECORDING_DROP: fprintf(f, "drop at %s: %s", name != NULL ? name : "?", drop != NULL ? drop : "?"); break;
	default: fputs("?", f);
	}
}

static void put_head(FILE *f, const struct rec *r)
{
	fprintf(f, "# graph %s, threading %s; ", r->graph, r->threading);
	put_cause(f, r);
	fputs(" at ", f);
	put_time(f, r->head.now);
	fprintf(f, " s\n# %zu records; %" PRIu64 " older ones were written over\n", r->nrows, r->gone);
	if (!r->whole)
		fputs("# the file is short: its writer did not get to the end\n", f);
}

void rec_text(FILE *f, const struct rec *r)
{
	char text[512];

	put_head(f, r);
	for (size_t i = 0; i < r->nrows; i++) {
		const struct rec_row *x = &r->row[i];

		put_time(f, x->r.when);
		fprintf(f, "  %-6s %-4u  %-7s", rec_is_worker(x->ring) ? "worker" : "vp", rec_ring_no(x->ring), rec_kind(x));
		rec_say(r, x, text, sizeof text);
		fprintf(f, *text != '\0' ? "  %s\n" : "%s\n", text);
	}
}
