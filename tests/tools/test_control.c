/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_control.c - the live view's answers with little memory: whole, or said not to be.
 */
#include "tests/runtime/compose/toys.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/run/xk_json.h"
#include "runtime/mem/xk_mem.h"
#include "tests/support/xk_test_graph.h"
#include "tools/control/ctl_priv.h"

struct fixture {
	struct toy_load l;
	struct xk_graph *g;
	struct ctl *c;
	char dir[64], path[80];
};

/* A server without its thread: requests are handed to it by the test. */
static void up(struct fixture *f)
{
	f->l = toy_load("stack { app { conns = 3 }, ports {}, host { addr = \"10.0.0.1/8\" }, link {}, wire {} }\n"
			"return graph \"g\" { clock = \"virtual\", seed = 1, threading = vppc { vps = 2 } }\n", NULL);
	CU_ASSERT_EQUAL_FATAL(f->l.check, XK_OK);
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
		"{\"id\":1,\"cmd\":\"metrics\"}", "{\"id\":1,\"cmd\":\"sessions\",\"node\":\"app\"}",
	};
	struct fixture f;

	up(&f);
	for (unsigned i = 0; i < XK_ARRAY_LEN(lines); i++) {
		check_line(&f, lines[i], xk_mem_fail_after);
		check_line(&f, lines[i], xk_mem_fail_from);
	}
	down(&f);
}

static CU_TestInfo tests[] = {
	{ "an answer is whole, or said not to be", an_answer_is_whole_or_said_not_to_be },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "control", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void) { return xk_test_main_rcu(suites); }
