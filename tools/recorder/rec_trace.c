/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rec_trace.c - a recording in Chrome's trace format, which Perfetto and chrome://tracing open.
 *
 * Two groups of tracks.  Workers: a slice for each round that did something and for each sleep.  Virtual processors: a
 * slice for each turn, as long as the round of the worker that it was in (several turns in one round share its time, they
 * are not timed apart), or a mark where no round is known.  Marks for all else, and where records are missing.
 * Invariants: the same recording gives the same bytes; a slice of a track ends before the next one begins.
 */
#include "tools/recorder/rec.h"

#include <inttypes.h>
#include <stdlib.h>

#include "tools/recorder/chrome.h"

enum { WORKERS = 1, VPS };               /* 0 is the idle process of some readers */
enum is { GAP, MARK, ROUND, SLEEP, TURN };       /* the last three are slices */
#define MOST 3u                          /* events of a record: a gap before it, a round, the turn that it was */

struct event {
	uint32_t group, track;
	enum is  is;
	uint32_t by;                     /* of a turn: the worker */
	uint64_t from, until;
	const struct rec_row *x;
};

struct trace {
	FILE             *f;
	const struct rec *r;
	const struct rec_row **at;       /* all records, by ring, then by time */
	const struct rec_row **round;    /* those that are rounds of workers */
	size_t            nrounds;
	struct event     *event;
	size_t            n;
	bool              any;           /* something stands before */
};

/* ---- what happened, when and to whom ---------------------------------------------------------- */

static bool is_round(const struct rec_row *x) { return rec_is_worker(x->ring) && xk_rec_kind(x->r.what) == XK_REC_ROUND; }

static int by_ring(const void *a, const void *b)
{
	const struct rec_row *x = *(const struct rec_row *const *)a, *y = *(const struct rec_row *const *)b;

	return x->ring != y->ring ? (x->ring < y->ring ? -1 : 1) : x < y ? -1 : x > y;
}

static void find_rounds(struct trace *t)
{
	for (size_t i = 0; i < t->r->nrows; i++)
		t->at[i] = &t->r->row[i];
	qsort(t->at, t->r->nrows, sizeof *t->at, by_ring);
	for (size_t i = 0; i < t->r->nrows; i++)
		if (is_round(t->at[i]))
			t->round[t->nrounds++] = t->at[i];
}

/* The last round of a worker that began at `when` or before; NULL: there is none. */
static const struct rec_row *round_of(const struct trace *t, uint32_t ring, uint64_t when)
{
	size_t lo = 0, hi = t->nrounds;
	const struct rec_row *x;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		x = t->round[mid];
		if (x->ring < ring || (x->ring == ring && x->r.when <= when))
			lo = mid + 1;
		else
			hi = mid;
	}
	x = lo != 0 ? t->round[lo - 1] : NULL;
	return x != NULL && x->ring == ring ? x : NULL;
}

static struct event *add(struct trace *t, const struct rec_row *x, enum is is, uint64_t until)
{
	struct event *e = &t->event[t->n++];

	*e = (struct event){ .group = rec_is_worker(x->ring) ? WORKERS : VPS, .track = rec_ring_no(x->ring), .is = is,
			     .from = x->r.when, .until = until > x->r.when ? until : x->r.when, .x = x };
	return e;
}

static void add_turn(struct trace *t, const struct rec_row *x)
{
	uint32_t by = xk_rec_n(x->r.what);
	const struct rec_row *in = by != 0 ? round_of(t, (by - 1) | XK_RECORDING_WORKER, x->r.when) : NULL;

	if (in == NULL || in->r.b < x->r.when)
		(void)add(t, x, MARK, 0);
	else
		add(t, x, TURN, in->r.b)->by = by - 1;
}

/* A worker's round, and of its only virtual processor the turn. */
static void add_round(struct trace *t, const struct rec_row *x)
{
	struct event *e;

	(void)add(t, x, ROUND, x->r.b);
	if (xk_rec_n(x->r.what) == 0)
		return;
	e = add(t, x, TURN, x->r.b);
	e->group = VPS;
	e->track = xk_rec_n(x->r.what) - 1;
	e->by = rec_ring_no(x->ring);
}

/* next: of its ring, NULL: it is the last.  A worker sleeps until then, when it is awake, or until the recording was made. */
static void add_row(struct trace *t, const struct rec_row *x, const struct rec_row *next)
{
	if (x->gone != 0)
		(void)add(t, x, GAP, 0);
	switch (xk_rec_kind(x->r.what)) {
	case XK_REC_ROUND: add_round(t, x); break;
	case XK_REC_SLEEP: (void)add(t, x, SLEEP, next != NULL ? next->r.when : t->r->head.now); break;
	case XK_REC_WAKE: break;
	case XK_REC_TURN: add_turn(t, x); break;
	default: (void)add(t, x, MARK, 0);
	}
}

static int by_track(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->x != y->x ? (x->x < y->x ? -1 : 1) : (int)x->is - (int)y->is;
}

static bool same_track(const struct event *a, const struct event *b)
{
	return a != NULL && a->group == b->group && a->track == b->track;
}

/* All of them, track by track; of two turns that a round has not told apart, the last one has its time. */
static void find_events(struct trace *t)
{
	size_t n = t->r->nrows;
	struct event *last = NULL;

	for (size_t i = 0; i < n; i++)
		add_row(t, t->at[i], i + 1 < n && t->at[i + 1]->ring == t->at[i]->ring ? t->at[i + 1] : NULL);
	qsort(t->event, t->n, sizeof *t->event, by_track);
	for (size_t i = 0; i < t->n; i++) {
		struct event *e = &t->event[i];

		if (e->is < ROUND)
			continue;
		if (same_track(last, e) && last->until > e->from)
			last->until = e->from;
		last = e;
	}
}

/* ---- text ---------------------------------------------------------------------------------- */

/* What rec_read leaves in names can be printed; these two mean something here. */
static void put_string(FILE *f, const char *s)
{
	putc('"', f);
	for (; *s != '\0'; s++) {
		if (*s == '"' || *s == '\\')
			putc('\\', f);
		putc(*s, f);
	}
	putc('"', f);
}

static void begin(struct trace *t, char ph, uint32_t group, uint32_t track, const char *name)
{
	fprintf(t->f, "%s{\"ph\":\"%c\",\"pid\":%u,\"tid\":%u,\"name\":", t->any ? ",\n" : "", ph, group, track);
	put_string(t->f, name);
	t->any = true;
}

static void put_name(struct trace *t, const char *what, uint32_t group, uint32_t track, const char *name)
{
	begin(t, 'M', group, track, what);
	fprintf(t->f, ",\"args\":{\"name\":\"%s\"}}", name);
}

static const char *name_of(const struct event *e, char text[32])
{
	switch (e->is) {
	case GAP: return "gap";
	case ROUND: return "round";
	case SLEEP: return "sleep";
	case MARK: return rec_kind(e->x);
	case TURN: break;
	}
	snprintf(text, 32, "worker %u", e->by);
	return text;
}

static void put_event(struct trace *t, const struct event *e)
{
	char name[32], text[512];

	begin(t, e->is < ROUND ? 'i' : 'X', e->group, e->track, name_of(e, name));
	chrome_put_us(t->f, "ts", e->from);
	if (e->is < ROUND)
		fputs(",\"s\":\"t\"", t->f);
	else
		chrome_put_us(t->f, "dur", e->until - e->from);
	if (e->is == GAP)
		snprintf(text, sizeof text, "records that are not here: %" PRIu64, e->x->gone);
	else
		rec_say(t->r, e->x, text, sizeof text);
	fputs(",\"args\":{\"what\":", t->f);
	put_string(t->f, text);
	fputs("}}", t->f);
}

static void put_events(struct trace *t)
{
	const struct event *last = NULL;
	char name[32];

	for (size_t i = 0; i < t->n; i++) {
		const struct event *e = &t->event[i];

		snprintf(name, sizeof name, "%s %u", e->group == WORKERS ? "worker" : "vp", e->track);
		if (!same_track(last, e))
			put_name(t, "thread_name", e->group, e->track, name);
		put_event(t, e);
		last = e;
	}
}

static void put_all(struct trace *t)
{
	const struct rec *r = t->r;
	uint64_t gone = r->gone < INT64_MAX ? r->gone : INT64_MAX;       /* as large as readers' integers are */

	fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", t->f);
	put_name(t, "process_name", WORKERS, 0, "workers");
	put_name(t, "process_name", VPS, 0, "virtual processors");
	put_events(t);
	fprintf(t->f, "],\n\"otherData\":{\"records\":%zu,\"written_over\":%" PRIu64 ",\"left_out\":%" PRIu64 ",\"whole\":%s,\"graph\":",
		r->nrows, gone, r->left_out, r->whole ? "true" : "false");
	put_string(t->f, r->graph);
	fputs("}}\n", t->f);
}

bool rec_trace(FILE *f, const struct rec *r)
{
	struct trace t = { .f = f, .r = r };
	bool good;

	t.at = malloc((r->nrows + 1) * sizeof *t.at);
	t.round = malloc((r->nrows + 1) * sizeof *t.round);
	t.event = malloc((MOST * r->nrows + 1) * sizeof *t.event);
	good = t.at != NULL && t.round != NULL && t.event != NULL;
	if (good) {
		find_rounds(&t);
		find_events(&t);
		put_all(&t);
	}
	free(t.at);
	free(t.round);
	free(t.event);
	return good;
}
