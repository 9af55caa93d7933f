/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_run.c - the runner under the virtual clock: rates exclude the warm-up,
 * parts add up to the whole, and each way to end ends.
 */
#include "tests/runtime/compose/toys.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "runtime/mem/xk_mem.h"
#include "tests/support/xk_test_graph.h"

struct fixture { struct toy_load l; struct xk_graph *g; struct xk_run_result r; uint64_t live; };

static void up(struct fixture *f, const char *app, const char *fields)
{
	char text[1024];

	f->live = xk_alloc_live();
	snprintf(text, sizeof text, "stack { app { %s }, ports {}, host { addr = \"10.0.0.1/8\" }, link {}, wire {} }\n"
		 "return graph \"g\" { %s }\n", app, fields);
	f->l = toy_load(text, NULL);
	CU_ASSERT_STRING_EQUAL(toy_error(&f->l, 0), "");
	CU_ASSERT_EQUAL_FATAL(f->l.check, XK_OK);
	CU_ASSERT_EQUAL_FATAL(xk_spec_build(f->l.s, &f->g, f->l.e), XK_OK);
	CU_ASSERT_EQUAL_FATAL(xk_graph_up(f->g, f->l.e), XK_OK);
}

static void run(struct fixture *f, struct xk_run_opts o)
{
	if (o.stop_fd == 0)
		o.stop_fd = -1;
	CU_ASSERT_EQUAL_FATAL(xk_run(f->g, &o, &f->r, f->l.e), XK_OK);
}

static void down(struct fixture *f)
{
	xk_run_fini(&f->r);
	CU_ASSERT_EQUAL(xk_graph_free(f->g), 0);
	toy_unload(&f->l);
	CU_ASSERT_EQUAL(xk_alloc_live(), f->live);
}

#define VIRTUAL "clock = \"virtual\", seed = 1, threading = vppc { vps = 3 }"

static void the_measured_part_excludes_the_warm_up(void)
{
	struct fixture f;
	uint64_t whole;

	up(&f, "conns = 7", VIRTUAL);
	run(&f, (struct xk_run_opts){ .duration = 30 * XK_MS, .warmup = 10 * XK_MS });
	CU_ASSERT_EQUAL(f.r.end, XK_RUN_DURATION);
	CU_ASSERT_EQUAL(f.r.warmup_ns, 10 * XK_MS);
	CU_ASSERT_EQUAL(f.r.measured_ns, 30 * XK_MS);
	whole = xk_counter_read(f.g->node[4]->rep[0]->npush) + xk_counter_read(f.g->node[4]->rep[1]->npush) +
		xk_counter_read(f.g->node[4]->rep[2]->npush);
	CU_ASSERT(f.r.messages > 0 && f.r.messages < whole);
	/* three of four parts of the time, within one burst of each VP and step */
	CU_ASSERT(f.r.messages * 4 < whole * 3 + 1000 && f.r.messages * 4 + 1000 > whole * 3);
	CU_ASSERT_EQUAL(f.r.bytes, f.r.messages * 10);
	down(&f);
}

static void parts_add_up_to_the_whole(void)
{
	struct fixture f;
	uint64_t by_conn = 0, by_vp = 0, by_sample = 0;
	const struct xk_run_node *app;

	up(&f, "conns = 7", VIRTUAL);
	run(&f, (struct xk_run_opts){ .duration = 25 * XK_MS, .warmup = XK_MS, .window = 10 * XK_MS,
				      .window_conns = true });
	CU_ASSERT_EQUAL_FATAL(f.r.busiest, 4);
	app = &f.r.node[4];
	CU_ASSERT_STRING_EQUAL(app->node->name, "app");
	CU_ASSERT_EQUAL(f.r.nconns, 7);
	CU_ASSERT_EQUAL(f.r.nold, 7);
	for (unsigned i = 0; i < 7; i++) {
		by_conn += f.r.conn[i].messages;
		CU_ASSERT_EQUAL(f.r.conn[i].vp, f.r.conn[i].no % 3);
	}
	for (unsigned v = 0; v < 3; v++)
		by_vp += app->vp[v].push;
	CU_ASSERT_EQUAL_FATAL(f.r.nsamples, 2);
	for (unsigned i = 0; i < 2; i++) {
		uint64_t sum = 0;

		for (unsigned k = 0; k < 7; k++)
			sum += f.r.sample[i].conn[k];
		CU_ASSERT_EQUAL(sum, f.r.sample[i].messages);
		CU_ASSERT_EQUAL(f.r.sample[i].len, 10 * XK_MS);
		by_sample += sum;
	}
	CU_ASSERT(by_sample > 0 && by_sample < app->messages);
	CU_ASSERT_EQUAL(by_conn, app->messages);
	CU_ASSERT_EQUAL(by_vp, app->messages);
	CU_ASSERT_EQUAL(app->all.push, app->messages);
	CU_ASSERT_EQUAL(app->all.count[0], app->messages);
	CU_ASSERT_EQUAL(f.r.messages, app->messages);
	down(&f);
}

static void the_same_seed_gives_the_same_result(void)
{
	uint64_t first = 0;

	for (int i = 0; i < 3; i++) {
		struct fixture f;

		up(&f, "conns = 5", VIRTUAL);
		run(&f, (struct xk_run_opts){ .duration = 20 * XK_MS });
		if (i == 0)
			first = f.r.messages;
		CU_ASSERT_EQUAL(f.r.messages, first);
		down(&f);
	}
}

static void a_graph_that_finishes_ends_the_run(void)
{
	struct fixture f;

	up(&f, "conns = 7, count = 11", VIRTUAL);
	run(&f, (struct xk_run_opts){ .duration = XK_SEC });
	CU_ASSERT_EQUAL(f.r.end, XK_RUN_FINISHED);
	CU_ASSERT_EQUAL(f.r.messages, 77);
	CU_ASSERT(f.r.measured_ns < XK_SEC);
	down(&f);
	up(&f, "conns = 7, count = 11", "threading = vppc { vps = 3, workers = 2 }");
	run(&f, (struct xk_run_opts){ 0 });
	CU_ASSERT_EQUAL(f.r.end, XK_RUN_FINISHED);
	CU_ASSERT_EQUAL(f.r.messages, 77);
	down(&f);
}

static void enough_messages_end_the_run(void)
{
	struct fixture f;

	up(&f, "", VIRTUAL);
	run(&f, (struct xk_run_opts){ .max_messages = 1000 });
	CU_ASSERT_EQUAL(f.r.end, XK_RUN_MESSAGES);
	CU_ASSERT(f.r.messages >= 1000);
	down(&f);
}

static void a_readable_descriptor_ends_the_run(void)
{
	for (int real = 0; real <= 1; real++) {
		struct fixture f;
		int p[2];

		CU_ASSERT_EQUAL_FATAL(pipe(p), 0);
		CU_ASSERT_EQUAL(write(p[1], "x", 1), 1);
		up(&f, "", real ? "threading = vppc { vps = 2, workers = 1 }" : VIRTUAL);
		run(&f, (struct xk_run_opts){ .duration = 3600 * XK_SEC, .stop_fd = p[0] });
		CU_ASSERT_EQUAL(f.r.end, XK_RUN_STOPPED);
		down(&f);
		close(p[0]);
		close(p[1]);
	}
}

struct seen { unsigned n; uint64_t messages; xk_ns until; };

static void see(void *arg, const struct xk_run_sample *s)
{
	struct seen *seen = arg;

	CU_ASSERT_EQUAL(s->at, seen->until);
	seen->until = s->at + s->len;
	seen->messages += s->messages;
	seen->n++;
}

static void intervals_follow_each_other_without_gaps(void)
{
	struct seen seen = { 0 };
	struct fixture f;

	up(&f, "", VIRTUAL);
	run(&f, (struct xk_run_opts){ .duration = 50 * XK_MS, .interval = 5 * XK_MS, .stats = see, .arg = &seen });
	CU_ASSERT_EQUAL(seen.n, 10);
	CU_ASSERT_EQUAL(seen.messages, f.r.messages);
	CU_ASSERT_EQUAL(seen.until, 50 * XK_MS);
	down(&f);
}

static void the_json_has_names_and_numbers(void)
{
	struct fixture f;
	json_t *j, *node;

	up(&f, "conns = 3", VIRTUAL);
	run(&f, (struct xk_run_opts){ .duration = 5 * XK_MS });
	j = xk_run_json(&f.r, true, true);
	CU_ASSERT_PTR_NOT_NULL_FATAL(j);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(j, "schema")), 1);
	CU_ASSERT_EQUAL((uint64_t)json_integer_value(json_object_get(j, "messages")), f.r.messages);
	CU_ASSERT_EQUAL(json_array_size(json_object_get(j, "connections")), 3);
	CU_ASSERT_EQUAL(json_array_size(json_object_get(j, "vps")), 3);
	node = json_array_get(json_object_get(j, "nodes"), 0);
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(node, "name")), "app");
	CU_ASSERT_EQUAL((uint64_t)json_integer_value(json_object_get(json_object_get(node, "counters"), "units")),
			f.r.messages);
	json_decref(j);
	down(&f);
}

static void drop_reasons_have_names(void)
{
	struct fixture f;

	up(&f, "", VIRTUAL);
	CU_ASSERT_STRING_EQUAL(xk_run_drop_name(f.g->node[4], XK_DROP_NOMEM), "no memory");
	CU_ASSERT_STRING_EQUAL(xk_run_drop_name(f.g->node[4], XK_DROP_FIRST), "too_tired");
	CU_ASSERT_PTR_NULL(xk_run_drop_name(f.g->node[4], XK_DROP_FIRST + 1));
	memset(&f.r, 0, sizeof f.r);
	down(&f);
}

static CU_TestInfo tests[] = {
	{ "the measured part excludes the warm-up", the_measured_part_excludes_the_warm_up },
	{ "parts add up to the whole", parts_add_up_to_the_whole },
	{ "the same seed gives the same result", the_same_seed_gives_the_same_result },
	{ "a graph that finishes ends the run", a_graph_that_finishes_ends_the_run },
	{ "enough messages end the run", enough_messages_end_the_run },
	{ "a readable descriptor ends the run", a_readable_descriptor_ends_the_run },
	{ "intervals follow each other without gaps", intervals_follow_each_other_without_gaps },
	{ "the JSON has names and numbers", the_json_has_names_and_numbers },
	{ "drop reasons have names", drop_reasons_have_names },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "run", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void) { return xk_test_main_rcu(suites); }
