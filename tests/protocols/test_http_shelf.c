/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_http_shelf.c - small files that the HTTP server keeps: an answer from memory is the
 * answer from the file, byte for byte; what changes is seen after `fresh`, and what is
 * under way is not torn; memory stays within `kept`.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "protocols/http/http_priv.h"
#include "runtime/mem/xk_alloc.h"
#include "tests/protocols/stream_fixture.h"
#include "tests/support/xk_test.h"

extern const struct xk_proto xk_proto_http;

static struct pf f;
static char root[100];
static char big[HTTP_SMALL + 1];

static void put(const char *name, const char *bytes, size_t n)
{
	char path[200];
	FILE *o;

	snprintf(path, sizeof path, "%s/%s", root, name);
	o = fopen(path, "w");
	xk_assert(o != NULL && fwrite(bytes, 1, n, o) == n && fclose(o) == 0);
}

static void command(const char *what)
{
	char cmd[300];

	snprintf(cmd, sizeof cmd, "cd '%s' && %s", root, what);
	xk_assert(system(cmd) == 0);
}

static void up(const char *stream, const char *more)
{
	char params[300];
	struct pf_spec g[] = {
		{ &sf_stream, "stream", NULL, stream }, { &xk_proto_http, "http", "stream", params },
		{ &sf_peer, "client", "stream", NULL }, { NULL, NULL, NULL, NULL } };

	snprintf(params, sizeof params, "root=%s; %s", root, more);
	pf_up(&f, 1, g);
}

static void down(void)
{
	CU_ASSERT_EQUAL(sf_state(&f, "stream")->broken, 0);
	pf_run(&f, XK_MS);
	CU_ASSERT_EQUAL(pf_sessions(&f, "http"), 0);
	pf_down(&f);
}

/* The answer to one request on a connection of its own, as text. */
static const char *ask(const char *request)
{
	static char t[40000];
	struct sf_conn *c = sf_open(&f, "client", 0, 80, false);

	xk_assert(c != NULL && c->opened == 1);
	sf_say(&f, c, request);
	xk_assert(c->n < sizeof t);
	if (c->n != 0)
		memcpy(t, c->got, c->n);
	t[c->n] = 0;
	sf_close(&f, c);
	return t;
}

static const char *get(const char *path)
{
	char r[500];

	snprintf(r, sizeof r, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path);
	return ask(r);
}

/* Does the answer's body say that? */
static bool is(const char *answer, const char *what)
{
	const char *b = strstr(answer, "\r\n\r\n");

	return b != NULL && strcmp(b + 4, what) == 0;
}

static void from_memory_it_is_the_same(void)
{
	static const char *const requests[] = {
		"GET /one.txt HTTP/1.1\r\nHost: x\r\n\r\n", "HEAD /one.txt HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /one.txt HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "GET /one.txt HTTP/1.0\r\n\r\n",
		"GET /one.txt HTTP/1.1\r\nHost: x\r\nRange: bytes=2-5\r\n\r\n",
		"GET /one.txt HTTP/1.1\r\nHost: x\r\nRange: bytes=99-\r\n\r\n",
		"GET /one.txt HTTP/1.1\r\nHost: x\r\nIf-None-Match: *\r\n\r\n",
		"GET /one.txt HTTP/1.1\r\nHost: x\r\nIf-Match: \"no\"\r\n\r\n",
		"GET /one.txt/ HTTP/1.1\r\nHost: x\r\n\r\n", "GET /sub HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /sub/ HTTP/1.1\r\nHost: x\r\n\r\n", "GET /sub/index.html HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /none HTTP/1.1\r\nHost: x\r\n\r\n", "GET /empty HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /small HTTP/1.1\r\nHost: x\r\n\r\n", "GET /large HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /one.txt HTTP/1.1\r\nHost: x\r\n\r\nGET /small HTTP/1.1\r\nHost: x\r\n\r\nGET /one.txt HTTP/1.1\r\nHost: x\r\n\r\n",
	};
	static char want[XK_ARRAY_LEN(requests)][40000];

	up(NULL, "kept=0");
	for (unsigned i = 0; i < XK_ARRAY_LEN(requests); i++)
		snprintf(want[i], sizeof want[i], "%s", ask(requests[i]));
	down();
	/* The same second, or Date differs. */
	for (unsigned round = 0; round < 3; round++) {
		up(round == 2 ? "room=700; window=900; chunk=3" : NULL, "fresh=1h");
		for (unsigned twice = 0; twice < 2; twice++)
			for (unsigned i = 0; i < XK_ARRAY_LEN(requests); i++) {
				const char *got = ask(requests[i]), *a = strstr(got, "\r\nDate: "), *b = strstr(want[i], "\r\nDate: ");

				CU_ASSERT(strncmp(got, want[i], a != NULL ? (size_t)(a - got) : 0) == 0);
				/* Behind the first date; those sent ahead have others. */
				if (a != NULL && b != NULL && i != XK_ARRAY_LEN(requests) - 1)
					CU_ASSERT_STRING_EQUAL(a + 8 + 29, b + 8 + 29);
			}
		CU_ASSERT_EQUAL(strlen(ask(requests[16])), strlen(want[16]));
		down();
	}
}

static void a_change_is_seen_when_it_is_looked_at_again(void)
{
	up(NULL, "fresh=100ms");
	CU_ASSERT(is(get("/one.txt"), "one, two\n"));
	put("one.txt", "three", 5);
	CU_ASSERT(is(get("/one.txt"), "one, two\n"));
	pf_run(&f, 99 * XK_MS);
	CU_ASSERT(is(get("/one.txt"), "one, two\n"));
	pf_run(&f, 2 * XK_MS);
	CU_ASSERT(is(get("/one.txt"), "three"));
	command("rm one.txt");
	CU_ASSERT(is(get("/one.txt"), "three"));
	pf_run(&f, 101 * XK_MS);
	CU_ASSERT(strncmp(get("/one.txt"), "HTTP/1.1 404 ", 13) == 0);
	put("one.txt", "one, two\n", 9);
	CU_ASSERT(is(get("/one.txt"), "one, two\n"));    /* that it was not there is not kept */
	down();
}

static void without_memory_or_time_every_change_is_seen(void)
{
	static const char *const how[] = { "kept=0", "fresh=0s", "kept=100" };

	for (unsigned i = 0; i < XK_ARRAY_LEN(how); i++) {
		up(NULL, how[i]);
		CU_ASSERT(is(get("/one.txt"), "one, two\n"));
		put("one.txt", "three", 5);
		CU_ASSERT(is(get("/one.txt"), "three"));
		put("one.txt", "one, two\n", 9);
		down();
	}
}

/* The place is another's before the last byte has gone. */
static void what_is_under_way_is_not_torn(void)
{
	struct sf_conn *c;

	up("window=500; room=1000", "fresh=10ms");
	c = sf_open(&f, "client", 0, 80, true);
	sf_say(&f, c, "GET /small HTTP/1.1\r\nHost: x\r\n\r\n");
	put("small", "short", 5);
	pf_run(&f, 20 * XK_MS);
	CU_ASSERT(is(get("/small"), "short"));
	for (uint32_t taken = 0; taken < c->n; ) {
		uint32_t n = c->n - taken;

		taken += n;
		sf_take(&f, c, n);
	}
	CU_ASSERT(c->n > HTTP_SMALL && memcmp(c->got + c->n - HTTP_SMALL, big, HTTP_SMALL) == 0);
	CU_ASSERT_EQUAL(c->failed, 0);
	CU_ASSERT_EQUAL(pf_count(&f, "http", "file_errors"), 0);
	sf_close(&f, c);
	put("small", big, HTTP_SMALL);
	down();
}

/* Of 200 files some want each other's places; none gets another's bytes, nor is a file found as a directory. */
static void memory_stays_within_what_was_given(void)
{
	uint64_t before;
	struct sf_conn *c;
	char name[80];

	for (unsigned i = 0; i < 200; i++) {
		snprintf(name, sizeof name, "f%u", i);
		put(name, big, 1000 + i);
	}
	up(NULL, "kept=40KiB; fresh=1h");
	c = sf_open(&f, "client", 0, 80, false);
	before = xk_alloc_bytes();
	for (unsigned round = 0; round < 2; round++)
		for (unsigned i = 0; i < 200; i++) {
			snprintf(name, sizeof name, "GET /f%u HTTP/1.1\r\nHost: x\r\n\r\n", i);
			sf_say(&f, c, name);
			CU_ASSERT(c->n > 1000 + i && memcmp(c->got + c->n - 1004 - i, "\r\n\r\n", 4) == 0);   /* its own length */
			sf_forget(c);
			snprintf(name, sizeof name, "GET /f%u/ HTTP/1.1\r\nHost: x\r\n\r\n", i);
			sf_say(&f, c, name);
			CU_ASSERT(c->n > 12 && memcmp(c->got, "HTTP/1.1 404", 12) == 0);
			sf_forget(c);
		}
	CU_ASSERT(xk_alloc_bytes() > before + 10000);    /* they are kept */
	CU_ASSERT(xk_alloc_bytes() <= before + 40 * 1024 + 20000);
	sf_close(&f, c);
	down();
	command("rm f*");
}

#define T(f) { #f, f }
static CU_TestInfo tests[] = {
	T(from_memory_it_is_the_same), T(a_change_is_seen_when_it_is_looked_at_again),
	T(without_memory_or_time_every_change_is_seen), T(what_is_under_way_is_not_torn),
	T(memory_stays_within_what_was_given), CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = { { .pName = "small files", .pTests = tests }, CU_SUITE_INFO_NULL };

int main(void)
{
	int rc;

	strcpy(root, "/tmp/xk-shelf-XXXXXX");
	xk_assert(mkdtemp(root) != NULL);
	for (unsigned i = 0; i < sizeof big; i++)
		big[i] = (char)('a' + i * 7 % 26);
	command("mkdir sub");
	put("one.txt", "one, two\n", 9);
	put("sub/index.html", "<p>sub", 6);
	put("empty", "", 0);
	put("small", big, HTTP_SMALL);
	put("large", big, HTTP_SMALL + 1);
	rc = xk_test_main(suites);
	command("rm -r ./*");
	rmdir(root);
	return rc;
}
