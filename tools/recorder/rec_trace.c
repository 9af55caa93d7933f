/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rec_trace.c - a recording in Chrome's trace format, which Perfetto and chrome://tracing open.
 *
 * Two groups of rows.  Workers: a slice for each round that did something and for each sleep.  Virtual processors: a slice
 * for each turn, as long as the round of the worker that it was in (several turns in one round share its time, they are
 * not timed apart), or a mark where no round is known; marks for all else.
 * Invariant: the same recording gives the same bytes.
 */
#include "tools/recorder/rec.h"

#include <inttypes.h>
#include <stdlib.h>

#include "tools/recorder/chrome.h"

enum { WORKERS, VPS };

struct trace {
	FILE             *f;
	const struct rec *r;
	const struct rec_row **round;    /* rounds of workers, by worker, then by time */
	size_t            nrounds;
	uint64_t         *until;         /* of each row that is a sleep: when its ring has the next one */
	bool              any;           /* something stands before */
};

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

static void begin(struct trace *t, char ph, unsigned pid, uint32_t tid, const char *name)
{
	fprintf(t->f, "%s{\"ph\":\"%c\",\"pid\":%u,\"tid\":%u,\"name\":", t->any ? ",\n" : "", ph, pid, tid);
	put_string(t->f, name);
	t->any = true;
}

static void end(struct trace *t, const struct rec_row *x)
{
	char text[512];

	rec_say(t->r, x, text, sizeof text);
	fputs(",\"args\":{\"what\":", t->f);
	put_string(t->f, text);
	fputs("}}", t->f);
}

/* ---- what lasts -------------------------------------------------------------------------------- */

static void slice(struct trace *t, unsigned pid, uint32_t tid, const char *name, const struct rec_row *x, uint64_t until)
{
	begin(t, 'X', pid, tid, name);
	chrome_put_us(t->f, "ts", x->r.when);
	chrome_put_us(t->f, "dur", until > x->r.when ? until - x->r.when : 0);
	end(t, x);
}

static void mark(struct trace *t, const struct rec_row *x)
{
	begin(t, 'i', rec_is_worker(x->ring) ? WORKERS : VPS, rec_ring_no(x->ring), rec_kind(x));
	chrome_put_us(t->f, "ts", x->r.when);
	fputs(",\"s\":\"t\"", t->f);
	end(t, x);
}

static bool is_round(const struct rec_row *x) { return rec_is_worker(x->ring) && xk_rec_kind(x->r.what) == XK_REC_ROUND; }

static int by_ring(const void *a, const void *b)
{
	const struct rec_row *x = *(const struct rec_row *const *)a, *y = *(const struct rec_row *const *)b;

	return x->ring != y->ring ? (x->ring < y->ring ? -1 : 1) : x < y ? -1 : x > y;
}

static bool find_rounds(struct trace *t)
{
	t->round = malloc((t->r->nrows + 1) * sizeof *t->round);
	if (t->round == NULL)
		return false;
	for (size_t i = 0; i < t->r->nrows; i++)
		if (is_round(&t->r->row[i]))
			t->round[t->nrounds++] = &t->r->row[i];
	qsort(t->round, t->nrounds, sizeof *t->round, by_ring);
	return true;
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

static void turn(struct trace *t, const struct rec_row *x)
{
	uint32_t by = xk_rec_n(x->r.what);
	const struct rec_row *in = by != 0 ? round_of(t, (by - 1) | XK_RECORDING_WORKER, x->r.when) : NULL;
	char name[32];

	if (in == NULL || in->r.b < x->r.when) {
		mark(t, x);
		return;
	}
	snprintf(name, sizeof name, "worker %u", by - 1);
	slice(t, VPS, rec_ring_no(x->ring), name, x, in->r.b);
}

/* A worker sleeps until its next record, which is that it is awake; or until the recording was made. */
static bool find_wakes(struct trace *t)
{
	size_t n = t->r->nrows;
	const struct rec_row **at = malloc((n + 1) * sizeof *at);

	t->until = malloc((n + 1) * sizeof *t->until);
	for (size_t i = 0; at != NULL && i < n; i++)
		at[i] = &t->r->row[i];
	if (at != NULL && t->until != NULL) {
		qsort(at, n, sizeof *at, by_ring);
		for (size_t i = 0; i < n; i++)
			t->until[at[i] - t->r->row] = i + 1 < n && at[i + 1]->ring == at[i]->ring ? at[i + 1]->r.when : t->r->head.now;
	}
	free(at);
	return at != NULL && t->until != NULL;
}

/* A worker's round, and of its only virtual processor the turn. */
static void turn_of_only(struct trace *t, const struct rec_row *x)
{
	char name[32];

	slice(t, WORKERS, rec_ring_no(x->ring), "round", x, x->r.b);
	if (xk_rec_n(x->r.what) == 0)
		return;
	snprintf(name, sizeof name, "worker %u", rec_ring_no(x->ring));
	slice(t, VPS, xk_rec_n(x->r.what) - 1, name, x, x->r.b);
}

static void put_row(struct trace *t, size_t i)
{
	const struct rec_row *x = &t->r->row[i];

	switch (xk_rec_kind(x->r.what)) {
	case XK_REC_ROUND: turn_of_only(t, x); break;
	case XK_REC_SLEEP: slice(t, WORKERS, rec_ring_no(x->ring), "sleep", x, t->until[i]); break;
	case XK_REC_WAKE: break;
	case XK_REC_TURN: turn(t, x); break;
	default: mark(t, x);
	}
}

static void put_groups(struct trace *t)
{
	begin(t, 'M', WORKERS, 0, "process_name");
	fputs(",\"args\":{\"name\":\"workers\"}},\n", t->f);
	t->any = false;
	begin(t, 'M', VPS, 0, "process_name");
	fputs(",\"args\":{\"name\":\"virtual processors\"}}", t->f);
}

static void put_all(struct trace *t)
{
	const struct rec *r = t->r;
	uint64_t gone = r->gone < INT64_MAX ? r->gone : INT64_MAX;       /* as large as readers' integers are */

	fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", t->f);
	put_groups(t);
	for (size_t i = 0; i < r->nrows; i++)
		put_row(t, i);
	fprintf(t->f, "],\n\"otherData\":{\"records\":%zu,\"written_over\":%" PRIu64 ",\"whole\":%s,\"graph\":", r->nrows, gone,
		r->whole ? "true" : "false");
	put_string(t->f, r->graph);
	fputs("}}\n", t->f);
}

bool rec_trace(FILE *f, const struct rec *r)
{
	struct trace t = { .f = f, .r = r };
	bool good = find_rounds(&t) && find_wakes(&t);

	if (good)
		put_all(&t);
	free(t.round);
	free(t.until);
	return good;
}
