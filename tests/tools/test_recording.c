/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_recording.c - recordings are read (tools/recorder): what a file says, and what it may not make us believe.
 *
 * Promises: records come in the order of time with the words of their nodes; a text's places get its words; records that
 * were written over are counted, wherever they are missing; a file that ends anywhere is shown as far as it goes and called short; one that is none is
 * refused in a sentence; lies about numbers get no memory; what can be shown as a trace is JSON, in which slices of a
 * track do not overlap.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/xk_test.h"
#include "tools/recorder/rec.h"

#define US 1000u

static char file[4096];
static size_t len;
static struct rec r;
static char why[128];

static void add(const void *p, size_t n)
{
	CU_ASSERT_FATAL(len + n <= sizeof file);
	memcpy(file + len, p, n);
	len += n;
}

static void add_text(const char *s) { add(s, strlen(s)); }

static void head(void)
{
	const struct xk_recording_head h = { .magic = XK_RECORDING_MAGIC, .version = XK_RECORDING_VERSION, .order = XK_RECORDING_ORDER,
					     .size = sizeof(struct xk_rec), .cause = XK_RECORDING_SIGNAL, .cause_no = 11, .now = 900 * US };

	len = 0;
	add(&h, sizeof h);
}

static void chunk(uint32_t ring, uint64_t first, uint32_t n)
{
	const struct xk_recording_chunk c = { .ring = ring, .first = first, .n = n };

	add(&c, sizeof c);
}

static void row(uint64_t when, uint64_t what, uint64_t a, uint64_t b)
{
	const struct xk_rec x = { when, what, a, b };

	add(&x, sizeof x);
}

/* Two virtual processors and a worker. */
static void good_file(void)
{
	head();
	chunk(0, 0, 2);
	row(100 * US, xk_rec_what(XK_REC_TURN, 0, 1), 32, 2);
	row(300 * US, xk_rec_what(XK_REC_EVENT, 4, 1), 0x00501f90, 0x0a000001);
	chunk(1, 5, 1);
	row(200 * US, xk_rec_what(XK_REC_DROP, 4, 2), 3, 60);
	chunk(XK_RECORDING_WORKER | 0, 0, 3);
	row(100 * US, xk_rec_what(XK_REC_ROUND, 0, 0), 32, 150 * US);
	row(350 * US, xk_rec_what(XK_REC_ROUND, 0, 3), 7 | (uint64_t)5 << 32, 380 * US);
	row(400 * US, xk_rec_what(XK_REC_SLEEP, 0, 2), 5000 * US, 0);
	chunk(0, 0, 0);
	add_text("graph g\nthreading vppc\nnode 4 tcp my tcp\ndrop 4 2 bad sum\nevent 4 0 nothing\nevent 4 1 ESTABLISHED {p} of {i}{n}\nend\n");
}

static bool read_file(void) { return rec_read(&r, file, len, why, sizeof why); }

static char *text_of(void)
{
	char *text;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	rec_text(f, &r);
	fclose(f);
	return text;
}

static void says(const char *words)
{
	char *text = text_of();

	if (strstr(text, words) == NULL)
		fprintf(stderr, "# not there: %s\n%s", words, text);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, words));
	free(text);
}

/* ---- what a file says ------------------------------------------------------------------------- */

static void in_the_order_of_time(void)
{
	good_file();
	CU_ASSERT_TRUE_FATAL(read_file());
	CU_ASSERT_EQUAL(r.nrows, 6);
	for (size_t i = 1; i < r.nrows; i++)
		CU_ASSERT(r.row[i - 1].r.when <= r.row[i].r.when);
	CU_ASSERT_EQUAL(r.gone, 5);
	CU_ASSERT_TRUE(r.whole);
	rec_free(&r);
}

/* As who reads while they are written has them. */
static void chunks_in_any_order(void)
{
	head();
	chunk(1, 3, 1);
	row(400 * US, xk_rec_what(XK_REC_TIMERS, 0, 1), 1, 0);
	chunk(0, 0, 1);
	row(100 * US, xk_rec_what(XK_REC_TIMERS, 0, 1), 1, 0);
	chunk(1, 7, 1);
	row(300 * US, xk_rec_what(XK_REC_TIMERS, 0, 1), 1, 0);
	chunk(0, 1, 1);
	row(200 * US, xk_rec_what(XK_REC_TIMERS, 0, 1), 1, 0);
	CU_ASSERT_TRUE_FATAL(read_file());
	CU_ASSERT_EQUAL_FATAL(r.nrows, 4);
	CU_ASSERT_EQUAL(r.gone, 6);
	CU_ASSERT(r.row[0].gone == 0 && r.row[1].gone == 0 && r.row[2].gone == 3 && r.row[3].gone == 3);
	rec_free(&r);
}

static void in_words(void)
{
	good_file();
	CU_ASSERT_TRUE_FATAL(read_file());
	says("# graph g, threading vppc; signal 11 at      0.000900000 s\n# 6 records; 5 older ones were written over\n");
	says("0.000100000  vp     0     ran      32 messages, by worker 0; frames that came in singly: 2\n");
	says("0.000300000  vp     0     event    my tcp: ESTABLISHED 80-8080 of 10.0.0.1{n}\n");
	says("0.000200000  vp     1     drop     my tcp: bad sum, 3 messages, the first of 60 bytes\n");
	says("0.000100000  worker 0     round    32 messages in 50.0 us\n");
	says("0.000350000  worker 0     round    vp 2: 7 messages in 30.0 us; frames that came in singly: 5\n");
	says("0.000400000  worker 0     sleep    at most 5.0 ms, waits for 2 descriptors\n");
	rec_free(&r);
}

static void numbers_where_there_are_no_names(void)
{
	head();
	chunk(0, 0, 3);
	row(1, xk_rec_what(XK_REC_DROP, 9, 8), 1, 60);
	row(2, xk_rec_what(XK_REC_EVENT, 9, 1), 5, 6);
	row(3, 4242, 5, 6);
	chunk(0, 0, 0);
	add_text("node 9\ndrop 9 8\nevent 9 x 1 nothing\nnode 99999999999 a b\nnode 9 x\n\n \nend\n");
	CU_ASSERT_TRUE_FATAL(read_file());
	says("drop     node 9: reason 8, 1 message of 60 bytes\n");
	says("event    node 9: event 1: 5 6\n");
	says("unknown");
	rec_free(&r);
}

static void nothing_that_a_terminal_obeys(void)
{
	head();
	chunk(0, 0, 1);
	row(1, xk_rec_what(XK_REC_DROP, 1, 2), 1, 60);
	chunk(0, 0, 0);
	add_text("node 1 udp \033[2J\xc3\xa4\nend\n");
	CU_ASSERT_TRUE_FATAL(read_file());
	says("?[2J??: ");
	rec_free(&r);
}

/* ---- what is not to be believed ------------------------------------------------------------------ */

static void short_ones_as_far_as_they_go(void)
{
	size_t all, before = 0;

	good_file();
	all = len;
	for (len = sizeof(struct xk_recording_head); len < all; len++) {
		CU_ASSERT_TRUE_FATAL(read_file());
		CU_ASSERT_FALSE(r.whole);
		CU_ASSERT(r.nrows >= before && r.nrows <= 6);
		before = r.nrows;
		rec_free(&r);
	}
	CU_ASSERT_EQUAL(before, 6);
	for (len = 0; len < sizeof(struct xk_recording_head); len++)
		CU_ASSERT_FALSE(read_file());
}

static void not_one_of_ours(void)
{
	static const size_t at[] = { 0, 8, 12, 16 };

	for (unsigned i = 0; i < XK_ARRAY_LEN(at); i++) {
		good_file();
		file[at[i]] ^= 1;
		why[0] = '\0';
		CU_ASSERT_FALSE(read_file());
		CU_ASSERT(strlen(why) > 10);
		CU_ASSERT_PTR_NULL(r.row);
	}
}

static void lies_get_nothing(void)
{
	head();
	chunk(0, UINT64_MAX, UINT32_MAX);
	row(1, xk_rec_what(XK_REC_TURN, 0, 0), 1, 0);
	CU_ASSERT_TRUE_FATAL(read_file());
	CU_ASSERT_EQUAL(r.nrows, 1);
	CU_ASSERT_FALSE(r.whole);
	rec_free(&r);
}

/* ---- for Perfetto ------------------------------------------------------------------------------------ */

static const json_t *event_of(const json_t *doc, const char *ph, const char *name)
{
	const json_t *e;
	size_t i;

	json_array_foreach(json_object_get(doc, "traceEvents"), i, e)
		if (strcmp(json_string_value(json_object_get(e, "ph")), ph) == 0 &&
		    strcmp(json_string_value(json_object_get(e, "name")), name) == 0)
			return e;
	CU_FAIL_FATAL("an event is missing");
	return NULL;
}

static double value(const json_t *e, const char *key) { return json_number_value(json_object_get(e, key)); }

static void a_trace_is_json(void)
{
	char *text;
	size_t n;
	FILE *f = open_memstream(&text, &n);
	const json_t *e;
	json_t *doc;

	good_file();
	len -= strlen("end\n");
	add_text("drop 4 2 a \"quoted\\ word\nend\n");
	CU_ASSERT_TRUE_FATAL(f != NULL && read_file());
	CU_ASSERT_TRUE(rec_trace(f, &r));
	fclose(f);
	doc = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(doc);
	e = event_of(doc, "X", "round");
	CU_ASSERT(value(e, "ts") == 100 && value(e, "dur") == 50 && value(e, "pid") == 1);
	e = event_of(doc, "X", "worker 0");      /* vp 0, as long as the round */
	CU_ASSERT(value(e, "ts") == 100 && value(e, "dur") == 50 && value(e, "pid") == 2);
	/* Groups; records and the turn of an only one; a gap; tracks. */
	CU_ASSERT_EQUAL(json_array_size(json_object_get(doc, "traceEvents")), 2 + 6 + 1 + 1 + 4);
	e = event_of(doc, "i", "gap");
	CU_ASSERT(value(e, "ts") == 200 && value(e, "pid") == 2 && value(e, "tid") == 1);
	e = event_of(doc, "X", "sleep");         /* until the end: nobody woke it */
	CU_ASSERT(value(e, "ts") == 400 && value(e, "dur") == 500);
	(void)event_of(doc, "i", "drop");
	(void)event_of(doc, "i", "event");
	json_decref(doc);
	free(text);
	rec_free(&r);
}

/* The slice of vp 0 that begins at ts. */
static double length_of(const json_t *doc, double ts)
{
	const json_t *e;
	size_t i;

	json_array_foreach(json_object_get(doc, "traceEvents"), i, e)
		if (json_object_get(e, "dur") != NULL && value(e, "pid") == 2 && value(e, "tid") == 0 && value(e, "ts") == ts)
			return value(e, "dur");
	return -1;
}

/* Two workers had it, one within the round of the other. */
static void slices_end_before_others_begin(void)
{
	char *text;
	size_t n;
	FILE *f = open_memstream(&text, &n);
	json_t *doc;

	head();
	chunk(0, 0, 3);
	row(100 * US, xk_rec_what(XK_REC_TURN, 0, 1), 1, 0);
	row(130 * US, xk_rec_what(XK_REC_TURN, 0, 2), 1, 0);
	row(200 * US, xk_rec_what(XK_REC_TURN, 0, 1), 1, 0);
	chunk(XK_RECORDING_WORKER | 0, 0, 2);
	row(100 * US, xk_rec_what(XK_REC_ROUND, 0, 0), 1, 190 * US);
	row(200 * US, xk_rec_what(XK_REC_ROUND, 0, 0), 1, 210 * US);
	chunk(XK_RECORDING_WORKER | 1, 0, 1);
	row(130 * US, xk_rec_what(XK_REC_ROUND, 0, 0), 1, 150 * US);
	chunk(0, 0, 0);
	CU_ASSERT_TRUE_FATAL(f != NULL && read_file());
	CU_ASSERT_TRUE(rec_trace(f, &r));
	fclose(f);
	doc = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	CU_ASSERT(length_of(doc, 100) == 30 && length_of(doc, 130) == 20 && length_of(doc, 200) == 10);
	json_decref(doc);
	free(text);
	rec_free(&r);
}

static CU_TestInfo tests[] = {
	{ "in the order of time", in_the_order_of_time },
	{ "chunks in any order", chunks_in_any_order },
	{ "slices end before others begin", slices_end_before_others_begin },
	{ "in words", in_words },
	{ "numbers where there are no names", numbers_where_there_are_no_names },
	{ "nothing that a terminal obeys", nothing_that_a_terminal_obeys },
	{ "short ones as far as they go", short_ones_as_far_as_they_go },
	{ "not one of ours", not_one_of_ours },
	{ "lies get nothing", lies_get_nothing },
	{ "a trace is JSON", a_trace_is_json },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "recording", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void) { return xk_test_main(suites); }
