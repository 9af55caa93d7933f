/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_http.c - fuzz target of the HTTP server: what a client sends is answered the same however it is cut.
 *
 * An input is four lengths and then the bytes of a connection.  One client sends all of them at once, another one the
 * same in pieces of those lengths; the first request is parsed by itself, too, in a block of the size that http_parse
 * asks for.
 * Held to: both clients get the same bytes, and answers that begin as answers do; a path that is good has no way out
 * of the root; what the parser points at lies in its buffer; the server keeps the promises of a stream, and no session
 * is left.
 * Invariant: nothing is kept from one input to the next but the graph and the files; time stands still between clients.
 */
#include <string.h>
#include <unistd.h>

#include "protocols/http/http_priv.h"
#include "tests/fuzz/fuzz_in.h"
#include "tests/protocols/stream_fixture.h"

#define CUTS 4u
#define MOST 4096u

extern const struct xk_proto xk_proto_http;

static struct pf f;
static char root[] = "/tmp/xk-fuzz-http-XXXXXX";
static const struct { const char *name, *text; } files[] = {
	{ "index.html", "<p>index" }, { "a.txt", "0123456789abcdef" }, { "zero", "" },
};

/* ---- the parser by itself ----------------------------------------------------------------------- */

static bool leads_out(const char *path)
{
	for (const char *p = path; p != NULL; p = strchr(p, '/')) {
		p += *p == '/';
		if (strncmp(p, "..", 2) == 0 && (p[2] == 0 || p[2] == '/'))
			return true;
	}
	return *path == '/';
}

static void inside(const char *at, const char *buf, size_t n)
{
	if (at != NULL && *at != 0 && (at < buf || at + strlen(at) >= buf + n))
		fuzz_must("what a request says lies outside of its buffer");
}

static void parse(const uint8_t *bytes, uint32_t n)
{
	const char *end = n >= 4 ? memmem(bytes, n, "\r\n\r\n", 4) : NULL;
	uint32_t head = end != NULL ? (uint32_t)(end + 4 - (const char *)bytes) : n;
	size_t room = 2 * (size_t)head + 2;
	char *buf = malloc(room);
	struct http_req q;
	unsigned status;

	if (buf == NULL)
		abort();
	memcpy(buf, bytes, head);
	status = http_parse(buf, head, &q);
	if (status == 0) {
		const char *const said[] = { q.path, q.raw, q.query, q.host, q.range, q.if_range, q.if_match,
					     q.if_none_match, q.if_modified, q.if_unmodified };

		for (unsigned i = 0; i < XK_ARRAY_LEN(said); i++)
			inside(said[i], buf, room);
		fuzz_must(leads_out(q.path) ? "a path leads out of the root" : NULL);
		fuzz_must(q.http11 && q.host == NULL ? "a request of HTTP/1.1 without a host is good" : NULL);
	} else if (status < 400 || status > 505) {
		fuzz_must("a status that refuses nothing");
	}
	free(buf);
}

/* ---- two clients ---------------------------------------------------------------------------------- */

static void in_pieces(struct sf_conn *c, const uint8_t *bytes, uint32_t n, const uint8_t cut[CUTS])
{
	for (uint32_t at = 0, i = 0; at < n; i++) {
		uint32_t len = cut[i % CUTS] + 1u < n - at ? cut[i % CUTS] + 1u : n - at;

		if (c->s == NULL || c->failed)
			return;
		sf_send(&f, c, bytes + at, len);
		at += len;
	}
}

static void compare(const struct sf_conn *one, const struct sf_conn *other)
{
	if (one->n != other->n || (one->n != 0 && memcmp(one->got, other->got, one->n) != 0))
		fuzz_must("the answer depends on how the request is cut");
	if (one->ended != other->ended || one->failed != other->failed)
		fuzz_must("the end depends on how the request is cut");
	if (one->n != 0 && (one->n < 12 || memcmp(one->got, "HTTP/1.1 ", 9) != 0))
		fuzz_must("an answer does not begin as one");
}

static void talk(const uint8_t *bytes, uint32_t n, const uint8_t cut[CUTS])
{
	static const uint8_t whole[CUTS] = { 255, 255, 255, 255 };
	struct sf_conn *one = sf_open(&f, "client", 0, 80, false), *other = sf_open(&f, "client", 0, 80, false);

	if (one == NULL || other == NULL)
		fuzz_must("a client is refused");
	sf_send(&f, one, bytes, n);
	in_pieces(other, bytes, n, cut);
	compare(one, other);
	in_pieces(one, (const uint8_t *)"\r\n\r\n", 4, whole);
	sf_close(&f, one);
	sf_close(&f, other);
	pf_run(&f, 120 * XK_SEC);
	if (sf_state(&f, "stream")->broken != 0)
		fuzz_must("the server breaks a promise of its stream");
	if (pf_sessions(&f, "http") != 0 || sf_ends(&f, "stream", 0) != 0)
		fuzz_must("a session is left");
	sf_forget_all(&f, "client");
}

/* ---- inputs ------------------------------------------------------------------------------------------ */

static void down(void)
{
	char path[100];

	pf_down(&f);
	for (unsigned i = 0; i < XK_ARRAY_LEN(files); i++) {
		snprintf(path, sizeof path, "%s/%s", root, files[i].name);
		unlink(path);
	}
	rmdir(root);
}

static void make(void)
{
	static char params[200];
	const struct pf_spec g[] = {
		{ &sf_stream, "stream", NULL, "chunk=65536" }, { &xk_proto_http, "http", "stream", params },
		{ &sf_peer, "client", "stream", NULL }, { NULL, NULL, NULL, NULL } };

	if (mkdtemp(root) == NULL)
		abort();
	for (unsigned i = 0; i < XK_ARRAY_LEN(files); i++) {
		FILE *o;

		snprintf(params, sizeof params, "%s/%s", root, files[i].name);
		o = fopen(params, "w");
		if (o == NULL || fputs(files[i].text, o) < 0 || fclose(o) != 0)
			abort();
	}
	snprintf(params, sizeof params, "root=%s", root);
	pf_up(&f, 1, g);
	if (atexit(down) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (f.g == NULL)
		make();
	if (size <= CUTS || size > MOST)
		return 0;
	parse(data + CUTS, (uint32_t)size - CUTS);
	talk(data + CUTS, (uint32_t)size - CUTS, data);
	return 0;
}
