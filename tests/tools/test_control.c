/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_control.c - the live view's answers with little memory: whole, or said not to be; what histograms become; which
 * counters a view is of; and which bytes are the same message.
 */
#include "tests/runtime/compose/toys.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/xk_hist.h"
#include "runtime/run/xk_json.h"
#include "runtime/mem/xk_mem.h"
#include "tests/support/xk_test_graph.h"
#include "tools/control/ctl_priv.h"
#include "tools/control/ctl_stamp.h"

struct fixture {
	struct toy_load l;
	struct xk_graph *g;
	struct ctl *c;
	char dir[64], path[80];
};

static bool shared;              /* are counters, in what is brought up? */

/* A server without its thread: requests are handed to it by the test. */
static void up(struct fixture *f)
{
	f->l = toy_load("stack { app { conns = 3 }, ports {}, host { addr = \"10.0.0.1/8\" }, link {}, wire {} }\n"
			"return graph \"g\" { clock = \"virtual\", seed = 1, threading = vppc { vps = 2 } }\n", NULL);
	CU_ASSERT_EQUAL_FATAL(f->l.check, XK_OK);
	xk_spec_plan(f->l.s)->mem.shared = shared;
	CU_ASSERT_EQUAL_FATAL(xk_spec_build(f->l.s, &f->g, f->l.e), XK_OK);
	CU_ASSERT_EQUAL_FATAL(xk_graph_up(f->g, f->l.e), XK_OK);
	strcpy(f->dir, "/tmp/test_control.XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(f->dir));
	snprintf(f->path, sizeof f->path, "%s/s", f->dir);
	CU_ASSERT_EQUAL_FATAL(ctl_new(&f->c, f->g, f->path, NULL, f->l.e), XK_OK);
	xk_json_start(NULL, 0);
	f->c->lost = xk_json_lost();
}

static void down(struct fixture *f)
{
	ctl_free(f->c);
	CU_ASSERT_EQUAL(xk_graph_free(f->g), 0);
	toy_unload(&f->l);
	CU_ASSERT_EQUAL(rmdir(f->dir), 0);
}

/* How long it has run is no part of what is compared: this machine may stand still for a second. */
static void without_its_age(char *answer)
{
	char *at = strstr(answer, "\"seconds\":");

	for (at = at != NULL ? at + strlen("\"seconds\":") : NULL; at != NULL && *at >= '0' && *at <= '9';)
		memmove(at, at + 1, strlen(at));
}

/* What a new client gets for one line when fail(k) has been said, to be freed; *failed: something did. */
static char *ask(struct fixture *f, const char *line, void (*fail)(uint64_t), uint64_t k, bool *failed)
{
	struct ctl_client *cl = ctl_client_new(open("/dev/null", O_RDWR));
	char *text;

	CU_ASSERT_PTR_NOT_NULL_FATAL(cl);
	fail(k);
	ctl_request(f->c, cl, line, strlen(line));
	*failed = k != 0 && xk_mem_tries() >= k;
	xk_mem_fail_after(0);
	CU_ASSERT_FALSE(cl->dead);
	text = strndup(cl->out, ctl_client_unread(cl));
	CU_ASSERT_PTR_NOT_NULL_FATAL(text);
	without_its_age(text);
	ctl_client_free(cl);
	return text;
}

/* Each place where memory may be missing. */
static void check_line(struct fixture *f, const char *line, void (*fail)(uint64_t))
{
	bool failed;
	char *want = ask(f, line, xk_mem_fail_after, 0, &failed), *got;
	uint64_t k = 0, less = 0;

	do {
		got = ask(f, line, fail, ++k, &failed);
		if (strcmp(got, want) != 0) {
			CU_ASSERT(failed);
			CU_ASSERT_PTR_NOT_NULL(strstr(got, "\"code\":\"no-memory\""));
			less++;
		}
		free(got);
	} while (failed);
	CU_ASSERT(less > 20);
	free(want);
}

static void an_answer_is_whole_or_said_not_to_be(void)
{
	static const char *const lines[] = {
		"{\"id\":1,\"cmd\":\"describe\"}", "{\"id\":1,\"cmd\":\"show\",\"what\":\"graph\"}",
		"{\"id\":1,\"cmd\":\"show\",\"what\":\"runtime\"}", "{\"id\":1,\"cmd\":\"get\"}",
		"{\"id\":1,\"cmd\":\"metrics\"}", "{\"id\":1,\"cmd\":\"show\",\"what\":\"sessions\",\"node\":\"app\"}",
	};
	struct fixture f;

	up(&f);
	for (unsigned i = 0; i < XK_ARRAY_LEN(lines); i++) {
		check_line(&f, lines[i], xk_mem_fail_after);
		check_line(&f, lines[i], xk_mem_fail_from);
	}
	down(&f);
}

/* A sentence that is too long ends with a whole character, whatever it was cut at. */
static void a_long_refusal_is_cut_between_characters(void)
{
	static const char *const signs[] = { "x", "\u00e4", "\u20ac", "\U0001f600" };
	static struct ctl_call k;
	static char text[2 * sizeof k.why];

	for (unsigned i = 0; i < XK_ARRAY_LEN(signs); i++)
		for (unsigned before = 0; before < 4; before++) {
			size_t len = strlen(signs[i]), n = before;
			json_t *j;

			memset(text, 'a', before);
			while (n + len < sizeof text) {
				memcpy(text + n, signs[i], len);
				n += len;
			}
			text[n] = '\0';
			CU_ASSERT(ctl_fail(&k, "refused", "%s", text) < 0);
			CU_ASSERT(strlen(k.why) + len >= sizeof k.why && strncmp(k.why, text, strlen(k.why)) == 0);
			j = json_string(k.why);
			CU_ASSERT_PTR_NOT_NULL(j);
			json_decref(j);
		}
}

/* Whoever has the counters says nothing while it reads them, and is sent away last. */
static void who_reads_counters_goes_last(void)
{
	struct ctl_job job = { .step = NULL };
	struct ctl_client other = { .moved = 5 * XK_SEC }, busy = { .next = &other, .job = &job };
	struct ctl_client late = { .next = &busy, .moved = 2 * XK_SEC, .looks = true };
	struct ctl_client early = { .next = &late, .moved = XK_SEC, .looks = true };
	struct ctl c = { .clients = &early };

	CU_ASSERT_PTR_NULL(ctl_client_to_go(&c, XK_SEC + CTL_SILENT - 1));
	CU_ASSERT_PTR_EQUAL(ctl_client_to_go(&c, 3 * XK_SEC + CTL_SILENT), &early);
	CU_ASSERT_PTR_EQUAL(ctl_client_to_go(&c, 5 * XK_SEC + CTL_SILENT), &other);
	late.looks = false;
	CU_ASSERT_PTR_EQUAL(ctl_client_to_go(&c, 5 * XK_SEC + CTL_SILENT), &late);
	CU_ASSERT_PTR_EQUAL(ctl_client_to_go(&c, 2 * XK_SEC + CTL_SILENT), &late);
}

/* What was opened before says that it does not hold, and one that is opened anew is of the nodes of now. */
static void a_view_holds_until_there_is_another_directory(void)
{
	struct ctl_view *old, *now;
	struct fixture f;
	char why[128];

	shared = true;
	up(&f);
	shared = false;
	if (f.g->vps->shared == NULL) {
		printf("# this system has no memory to share\n");
		down(&f);
		return;
	}
	old = ctl_view_open(xk_shared_reader(f.g->vps->shared), why, sizeof why);
	CU_ASSERT_PTR_NOT_NULL_FATAL(old);
	CU_ASSERT(ctl_view_holds(old));
	CU_ASSERT_EQUAL(ctl_dir_make(f.c), XK_OK);
	CU_ASSERT(!ctl_view_holds(old));
	now = ctl_view_anew(old, why, sizeof why);
	CU_ASSERT_PTR_NOT_NULL_FATAL(now);
	CU_ASSERT(ctl_view_holds(now));
	CU_ASSERT_EQUAL(now->nnodes, old->nnodes);
	for (unsigned i = 0; i < old->nnodes; i++)
		CU_ASSERT_PTR_EQUAL(ctl_view_find(now, &old->node[i]), &now->node[i]);
	old->node[1].came = 1;                   /* of the same name, and another */
	CU_ASSERT_PTR_NULL(ctl_view_find(now, &old->node[1]));
	ctl_view_free(now);
	ctl_view_free(old);
	down(&f);
}

/* ---- stamps ------------------------------------------------------------------------------- */

/* Of n bytes as they would be in a message. */
static struct ctl_stamp stamp(const uint8_t *p, uint32_t n)
{
	struct ctl_stamp s = { .tot = n };
	uint32_t end = n < sizeof s.tail ? n : (uint32_t)sizeof s.tail;

	memcpy(s.head, p, n < sizeof s.head ? n : sizeof s.head);
	memcpy(s.tail, p + n - end, end);
	return s;
}

static enum ctl_meets meets(const uint8_t *lower, uint32_t n, const uint8_t *upper, uint32_t k)
{
	struct ctl_stamp a = stamp(lower, n), b = stamp(upper, k);

	return ctl_stamp_meets(&a, &b);
}

#define BODY 4000u

/* `at` bytes of headers before a message that no other one is like. */
static void write_message(uint8_t *p, uint32_t at)
{
	memset(p, 0xee, at);
	for (uint32_t i = 0; i < BODY; i++)
		p[at + i] = (uint8_t)(i * 7 + i / 251 + 1);
}

static void a_message_behind_headers_is_the_same(void)
{
	static uint8_t lower[CTL_STAMP_HEADER + BODY + 100], upper[BODY + 100];
	static const uint32_t sizes[] = { 1, 17, 63, 64, 65, 200, BODY };

	write_message(lower, 20);
	write_message(upper, 0);
	for (unsigned i = 0; i < XK_ARRAY_LEN(sizes); i++) {
		uint32_t n = sizes[i];

		CU_ASSERT_EQUAL(meets(lower, 20 + n, upper, n), CTL_MEETS_WHOLE);
		CU_ASSERT_EQUAL(meets(upper, n, upper, n), CTL_MEETS_WHOLE);
		upper[n - 1] ^= 1;               /* the last byte is another one */
		CU_ASSERT_EQUAL(meets(lower, 20 + n, upper, n), CTL_MEETS_NOT);
		upper[n - 1] ^= 1;
		upper[0] ^= 1;
		CU_ASSERT_EQUAL(meets(lower, 20 + n, upper, n), CTL_MEETS_NOT);
		upper[0] ^= 1;
	}
	write_message(lower, CTL_STAMP_HEADER);
	CU_ASSERT_EQUAL(meets(lower, CTL_STAMP_HEADER + BODY, upper, BODY), CTL_MEETS_WHOLE);
}

static void a_piece_is_the_message_that_it_begins(void)
{
	static uint8_t lower[20 + BODY + 100], upper[BODY + 100];

	write_message(lower, 20);
	write_message(upper, 0);
	CU_ASSERT_EQUAL(meets(lower, 1500, upper, BODY), CTL_MEETS_PART);          /* its first fragment */
	CU_ASSERT_EQUAL(meets(lower + 20, 20 + 64, upper, BODY), CTL_MEETS_PART);
	memset(lower + 20 + 40, 0, 20);
	CU_ASSERT_EQUAL(meets(lower, 60, upper, 40), CTL_MEETS_WHOLE);
	CU_ASSERT_EQUAL(meets(lower, 80, upper, 40), CTL_MEETS_PART);              /* padded */
	CU_ASSERT_EQUAL(meets(lower, 60, upper, 15), CTL_MEETS_NOT);               /* too little to tell */
	memcpy(lower + 20, upper + 1480, 1480);
	CU_ASSERT_EQUAL(meets(lower, 1500, upper, BODY), CTL_MEETS_NOT);           /* the second */
}

/* Lengths, identification, sums and flags are others in a frame that was cut off. */
static void a_cut_frame_is_told_by_what_is_left_of_its_headers(void)
{
	static uint8_t whole[54 + BODY], frame[54 + BODY];
	static const uint8_t changes[] = { 16, 17, 18, 19, 24, 25, 47, 50, 51 };
	struct ctl_stamp a, b;

	write_message(whole, 54);
	memcpy(frame, whole, sizeof whole);
	for (unsigned i = 0; i < sizeof changes; i++)
		frame[changes[i]] ^= 0x55;
	a = stamp(whole, sizeof whole);
	b = stamp(frame, 1514);
	CU_ASSERT_EQUAL(ctl_stamp_cut(&a, &b), sizeof changes);
	CU_ASSERT_EQUAL(ctl_stamp_cut(&b, &a), UINT32_MAX);              /* the other way round */
	b = stamp(frame, sizeof frame);
	CU_ASSERT_EQUAL(ctl_stamp_cut(&a, &b), UINT32_MAX);              /* nothing has been cut */
	memcpy(frame + 54, whole + 54 + 1460, 1460);
	b = stamp(frame, 1514);
	CU_ASSERT_EQUAL(ctl_stamp_cut(&a, &b), UINT32_MAX);              /* the second frame */
}

/* What a metrics reader gets of a replica's histogram, to be freed. */
static char *histogram(const struct xk_hist *h, const xk_counter *sum)
{
	uint64_t vp = 0, at = (uintptr_t)h, sums = (uintptr_t)sum;
	struct ctl_view_times t = { .no = 1, .nvps = 1, .nhists = 1, .nsums = sum != NULL, .vp = &vp, .hist = &at, .sum = &sums };
	struct ctl_view_node n = { .name = "a", .protocol = "b", .ntimes = 1, .times = &t };
	struct ctl_view v = { .nnodes = 1, .nvps = 1, .node = &n };
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	ctl_histograms(&v, f, false);
	CU_ASSERT_EQUAL(fclose(f), 0);
	return text;
}

static void check_has(const char *text, const char *line)
{
	CU_ASSERT_PTR_NOT_NULL(strstr(text, line));
	if (strstr(text, line) == NULL)
		printf("# no %s# in %s", line, text);
}

#define OF(end) "xkvp_node_queue_seconds" end "{node=\"a\",protocol=\"b\""

static void buckets_have_what_was_at_most_so_long(void)
{
	static const xk_ns times[] = { 0, 127, 128, 255, 256, XK_SEC, 100 * XK_SEC };
	static struct xk_hist h;
	const xk_counter sum = 7 * XK_SEC;
	char *text;

	memset(&h, 0, sizeof h);
	for (unsigned i = 0; i < XK_ARRAY_LEN(times); i++)
		xk_hist_add(&h, times[i]);
	text = histogram(&h, &sum);
	check_has(text, "# TYPE xkvp_node_queue_seconds histogram\n");
	check_has(text, OF("_bucket") ",le=\"1.27e-07\"} 2\n");
	check_has(text, OF("_bucket") ",le=\"2.55e-07\"} 4\n");
	check_has(text, OF("_bucket") ",le=\"5.11e-07\"} 5\n");
	check_has(text, OF("_bucket") ",le=\"0.536870911\"} 5\n");
	check_has(text, OF("_bucket") ",le=\"1.073741823\"} 6\n");
	check_has(text, OF("_bucket") ",le=\"17.179869183\"} 6\n");
	check_has(text, OF("_bucket") ",le=\"+Inf\"} 7\n");
	check_has(text, OF("_count") "} 7\n");
	check_has(text, OF("_sum") "} 7.000000000\n");
	free(text);
}

/* Within a 32nd of what it was. */
static void a_sum_that_nobody_kept_is_that_of_the_places(void)
{
	static struct xk_hist h;
	const char *at;
	char *text;
	double s;

	memset(&h, 0, sizeof h);
	for (unsigned i = 0; i < 1000; i++)
		xk_hist_add(&h, 1000000 + 1000 * i);
	text = histogram(&h, NULL);
	at = strstr(text, OF("_sum") "} ");
	CU_ASSERT_PTR_NOT_NULL_FATAL(at);
	s = strtod(at + strlen(OF("_sum") "} "), NULL);
	CU_ASSERT_DOUBLE_EQUAL(s, 1.4995, 1.4995 / 32);
	free(text);
}

static CU_TestInfo tests[] = {
	{ "buckets have what was at most so long", buckets_have_what_was_at_most_so_long },
	{ "a sum that nobody kept is that of the places", a_sum_that_nobody_kept_is_that_of_the_places },
	{ "who reads counters goes last", who_reads_counters_goes_last },
	{ "a message behind headers is the same", a_message_behind_headers_is_the_same },
	{ "a piece is the message that it begins", a_piece_is_the_message_that_it_begins },
	{ "a cut frame is told by what is left of its headers", a_cut_frame_is_told_by_what_is_left_of_its_headers },
	{ "a view holds until there is another directory", a_view_holds_until_there_is_another_directory },
	{ "a long refusal is cut between characters", a_long_refusal_is_cut_between_characters },
	{ "an answer is whole, or said not to be", an_answer_is_whole_or_said_not_to_be },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "control", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void) { return xk_test_main_rcu(suites); }
