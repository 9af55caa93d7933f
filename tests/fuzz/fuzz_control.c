/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_control.c - fuzz target of the control socket: whatever lines a client sends, each is answered in JSON.
 *
 * An input is lines, as a client sends them to a graph in virtual time that is up; they go through ctl_request, one by
 * one, and what a client would read is looked at.
 * Held to: what comes back is whole lines, each one object of JSON with "ok", and a request that was good JSON with an
 * "id" is answered with that "id", exactly once, unless its answer comes later; an empty line asks nothing; a refusal
 * has a code and a sentence; what the client held is given back when it goes.
 * Invariant: a client, and a server that holds nothing of it, are made for each input; the graph stays.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "runtime/mem/xk_mem.h"
#include "runtime/run/xk_json.h"
#include "tests/fuzz/fuzz_in.h"
#include "tests/runtime/compose/toys.h"
#include "tools/control/ctl_priv.h"

static struct toy_load load;
static struct xk_graph *g;
static struct ctl *c;
static char dir[] = "/tmp/xk-fuzz-ctl-XXXXXX";

/* ---- answers ------------------------------------------------------------------------------------- */

static void refusal(const json_t *a)
{
	const json_t *error = json_object_get(a, "error");
	const char *code = json_string_value(json_object_get(error, "code"));
	const char *why = json_string_value(json_object_get(error, "message"));

	if (code == NULL || *code == 0 || why == NULL || *why == 0)
		fuzz_must("a refusal without a code or a sentence");
}

/* True: an answer, not an event. */
static bool answer(const char *line, size_t n, const json_t *id)
{
	json_t *a = json_loadb(line, n, JSON_REJECT_DUPLICATES, NULL);
	bool is_answer;

	if (!json_is_object(a))
		fuzz_must("an answer is no object of JSON");
	is_answer = json_object_get(a, "event") == NULL;
	if (is_answer && !json_is_boolean(json_object_get(a, "ok")))
		fuzz_must("an answer without ok");
	if (is_answer && json_is_false(json_object_get(a, "ok")))
		refusal(a);
	if (id != NULL && !json_equal(json_object_get(a, "id"), id))
		fuzz_must("an answer without its id");
	json_decref(a);
	return is_answer;
}

static void answers(struct ctl_client *cl, const json_t *id, bool asked)
{
	const char *p = cl->out != NULL ? cl->out + cl->out_at : "", *end = p + ctl_client_unread(cl), *nl;
	unsigned n = 0;

	for (; p != end && (nl = memchr(p, '\n', (size_t)(end - p))) != NULL; p = nl + 1)
		n += answer(p, (size_t)(nl - p), id);
	if (p != end)
		fuzz_must("an answer's line has no end");
	if (n != (asked && cl->job == NULL))
		fuzz_must(n == 0 ? "a request without an answer" : "an answer too many");
	cl->out_at = cl->out_end = 0;
}

/* Ids that are legal; others are refused without one. */
static json_t *id_of(const char *line, size_t n)
{
	json_t *req = json_loadb(line, n, JSON_REJECT_DUPLICATES, NULL), *id = json_object_get(req, "id");

	id = json_is_string(id) || json_is_integer(id) ? json_incref(id) : NULL;
	json_decref(req);
	return id;
}

/* Requests that would write files of their choice are not made. */
static bool writes(const char *line, size_t n)
{
	return memmem(line, n, "capture", 7) != NULL || memmem(line, n, "\\u", 2) != NULL;
}

static void request(struct ctl_client *cl, const char *line, size_t n)
{
	char *copy = malloc(n + 1);
	bool empty = true;
	json_t *id;

	if (copy == NULL)
		abort();
	memcpy(copy, line, n);
	copy[n] = '\n';                          /* as in the client's buffer */
	for (size_t i = 0; i < n; i++)
		empty &= copy[i] == ' ' || copy[i] == '\t' || copy[i] == '\r';
	id = id_of(copy, n);
	ctl_request(c, cl, copy, n);
	free(copy);
	answers(cl, id, !empty);
	json_decref(id);
}

/* ---- inputs ---------------------------------------------------------------------------------------- */

static void down(void)
{
	ctl_free(c);
	if (xk_graph_free(g) != 0)
		abort();
	toy_unload(&load);
	rmdir(dir);
}

static void up(void)
{
	char path[80];

	xk_rcu_register();
	load = toy_load("stack { app { conns = 3 }, ports {}, host { addr = \"10.0.0.1/8\" }, link {}, wire {} }\n"
			"return graph \"g\" { clock = \"virtual\", seed = 1, threading = vppc { vps = 2 } }\n", NULL);
	if (load.check != XK_OK || xk_spec_build(load.s, &g, load.e) != XK_OK || xk_graph_up(g, load.e) != XK_OK ||
	    mkdtemp(dir) == NULL)
		abort();
	snprintf(path, sizeof path, "%s/s", dir);
	if (ctl_new(&c, g, path, NULL, load.e) != XK_OK)
		abort();
	xk_json_start(NULL, 0);
	c->lost = xk_json_lost();
	if (atexit(down) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *p = (const char *)data, *end = p + size;
	struct ctl_client *cl;
	int fd;

	if (c == NULL)
		up();
	if (writes(p, size))
		return 0;
	fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	cl = fd >= 0 ? ctl_client_new(fd) : NULL;
	if (cl == NULL)
		abort();
	while (p < end && cl->job == NULL && !cl->dead && !cl->closing) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		size_t n = (size_t)((nl != NULL ? nl : end) - p);

		request(cl, p, n);
		p += n + 1;
	}
	ctl_client_free(cl);
	return 0;
}
