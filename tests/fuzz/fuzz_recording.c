/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_recording.c - fuzz target of the reader of recordings: a file is shown, or refused in a sentence.
 *
 * Held to: records are in the order of time and as many as the file has bytes for; their text is lines of characters that
 * can be printed, one for each record and two or three before them; as a trace it is one object of JSON with an event for
 * each record but a worker's waking, two for a round of a worker with one VP, one for each gap and each track, and slices
 * of a track that do not overlap; the same file says the same twice.
 * Invariant: nothing is kept from one input to the next.
 */
#include <jansson.h>
#include <string.h>

#include "tests/fuzz/fuzz_in.h"
#include "tools/recorder/rec.h"

#define GROUPS 2u                        /* events that name groups */

static char *shown(const struct rec *r, bool as_trace)
{
	char *text;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	if (f == NULL)
		abort();
	if (as_trace)
		fuzz_must(rec_trace(f, r) ? NULL : "there is no memory for a trace");
	else
		rec_text(f, r);
	if (fclose(f) != 0)
		abort();
	return text;
}

static void lines(const struct rec *r, const char *text)
{
	size_t n = 0;

	for (; *text != '\0'; text++) {
		n += *text == '\n';
		if (*text != '\n' && (*text < ' ' || *text > '~'))
			fuzz_must("what a terminal may obey is shown");
	}
	if (n != r->nrows + 2 + !r->whole)
		fuzz_must("lines are not records");
}

static double number(const json_t *e, const char *key) { return json_number_value(json_object_get(e, key)); }

/* They stand track by track, each after its name. */
static size_t tracks(const json_t *events)
{
	double until = 0;
	const json_t *e;
	size_t i, n = 0;

	json_array_foreach(events, i, e) {
		const char *name = json_string_value(json_object_get(e, "name"));

		if (*json_string_value(json_object_get(e, "ph")) == 'M') {
			until = 0;
			n += name != NULL && strcmp(name, "thread_name") == 0;
		} else if (json_object_get(e, "dur") != NULL) {
			/* A double has 53 bits for times of 64. */
			fuzz_must(number(e, "ts") >= until * (1 - 1e-12) ? NULL : "slices of a track overlap");
			until = number(e, "ts") + number(e, "dur");
		}
	}
	return n;
}

static void trace(const struct rec *r, const char *text)
{
	json_t *doc = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	size_t want = r->nrows + GROUPS + tracks(json_object_get(doc, "traceEvents"));

	for (size_t i = 0; i < r->nrows; i++) {
		uint64_t what = r->row[i].r.what;

		want -= xk_rec_kind(what) == XK_REC_WAKE;
		want += xk_rec_kind(what) == XK_REC_ROUND && xk_rec_n(what) != 0;
		want += r->row[i].gone != 0;
	}
	if (!json_is_object(doc))
		fuzz_must("a trace is no object of JSON");
	if (json_array_size(json_object_get(doc, "traceEvents")) != want)
		fuzz_must("events are not records");
	json_decref(doc);
}

static void ordered(const struct rec *r, size_t size)
{
	if (r->nrows > size / sizeof(struct xk_rec))
		fuzz_must("more records than the file has bytes for");
	for (size_t i = 1; i < r->nrows; i++)
		if (r->row[i].r.when < r->row[i - 1].r.when)
			fuzz_must("records are out of order");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size + !size);    /* of its own length: the sanitizer sees a byte read too far */
	char why[128] = "", *text, *again;
	struct rec r;

	if (copy == NULL)
		abort();
	memcpy(copy, data, size);
	if (!rec_read(&r, copy, size, why, sizeof why)) {
		fuzz_must(*why != '\0' ? NULL : "a refusal without a sentence");
		free(copy);
		return 0;
	}
	free(copy);
	ordered(&r, size);
	text = shown(&r, false);
	lines(&r, text);
	again = shown(&r, false);
	fuzz_must(strcmp(text, again) == 0 ? NULL : "the same file says two things");
	free(text);
	free(again);
	text = shown(&r, true);
	trace(&r, text);
	free(text);
	rec_free(&r);
	return 0;
}
