/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_run.c - the runner under the virtual clock: rates exclude the warm-up,
 * parts add up to the whole, and each way to end ends.
 */
#include "tests/runtime/compose/toys.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/mem/xk_mem.h"
#include "runtime/run/xk_json.h"
#include "runtime/run/xk_run.h"
#include "runtime/sync/xk_fiber.h"
#include "runtime/upi/xk_part.h"
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

/* Against the rule; what they had before is not asked for again.  Of nine on three VPs, two each are gone, or all. */
static void an_application_that_forgets_connections_is_read_as_far_as_it_tells(void)
{
	for (unsigned fewer = 2; fewer <= 3; fewer++) {
		uint64_t told = 0;
		struct fixture f;
		char app[40];

		snprintf(app, sizeof app, "conns = 9, fewer = %u", fewer);
		up(&f, app, VIRTUAL);
		run(&f, (struct xk_run_opts){ .duration = 25 * XK_MS, .window = 10 * XK_MS, .window_conns = true });
		CU_ASSERT_EQUAL(f.r.nold, 9);
		CU_ASSERT_EQUAL_FATAL(f.r.nconns, 9);    /* the windows' arrays name them by place */
		CU_ASSERT_EQUAL(f.r.nsamples, 2);
		for (unsigned i = 0; i < 9; i++) {
			CU_ASSERT_EQUAL(f.r.conn[i].messages != 0, i % 3 < 3 - fewer);
			CU_ASSERT_EQUAL(f.r.conn[i].bytes, 10 * f.r.conn[i].messages);
			told += f.r.conn[i].messages;
		}
		CU_ASSERT_EQUAL(f.r.node[4].messages, told);
		down(&f);
	}
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

/* Of three VPs in virtual time, in which nothing is sent once the run is over. */
static void messages_end_the_warm_up_and_the_run(void)
{
	struct fixture f;
	uint64_t whole = 0;

	up(&f, "", VIRTUAL);
	run(&f, (struct xk_run_opts){ .warmup_messages = 5000, .max_messages = 20000 });
	for (unsigned v = 0; v < 3; v++)
		whole += xk_counter_read(f.g->node[4]->rep[v]->npush);
	CU_ASSERT_EQUAL(f.r.end, XK_RUN_MESSAGES);
	CU_ASSERT(f.r.warmup_ns > 0 && whole - f.r.messages >= 5000);
	/* It looks again when they should be through, so few more are measured. */
	CU_ASSERT(f.r.messages >= 20000 && f.r.messages < 21000);
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

struct asks { int asked[2], stop[2]; };

/* Asked how it goes, once; the run is to end after that. */
static void asked_to_stop(void *arg, const struct xk_run_result *r)
{
	const struct asks *a = arg;
	char c;

	CU_ASSERT_EQUAL(r->end, XK_RUN_GOES_ON);
	CU_ASSERT_EQUAL(read(a->asked[0], &c, 1), 1);
	CU_ASSERT_EQUAL(write(a->stop[1], "x", 1), 1);
}

/* Simulated processors go on from step to step without the runner, which is to hear of it nevertheless. */
static void a_descriptor_that_becomes_readable_ends_a_simulation(void)
{
	struct fixture f;
	struct asks a;

	if (!xk_fiber_available()) {
		xk_test_skip("built without Boost.Context");
		return;
	}
	CU_ASSERT_EQUAL_FATAL(pipe(a.asked), 0);
	CU_ASSERT_EQUAL_FATAL(pipe(a.stop), 0);
	CU_ASSERT_EQUAL(write(a.asked[1], "x", 1), 1);
	up(&f, "conns = 7", "clock = virtual { processors = 2 }, seed = 1, threading = vppc { vps = 3 }");
	run(&f, (struct xk_run_opts){ .duration = 200 * XK_MS, .stop_fd = a.stop[0], .ask_fd = a.asked[0],
				      .so_far = asked_to_stop, .arg = &a });
	CU_ASSERT_EQUAL(f.r.end, XK_RUN_STOPPED);
	CU_ASSERT(f.r.measured_ns < 200 * XK_MS);
	down(&f);
	for (unsigned i = 0; i < 2; i++) {
		close(a.asked[i]);
		close(a.stop[i]);
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

struct anew { struct seen seen; int fd; unsigned asked; };

/* At 25 ms of 50 somebody asks, once. */
static void ask_anew(void *arg, const struct xk_run_sample *s)
{
	struct anew *a = arg;
	uint64_t one = 1;

	if (a->asked == 0 && s->at + s->len >= 25 * XK_MS) {
		CU_ASSERT_EQUAL(write(a->fd, &one, sizeof one), (ssize_t)sizeof one);
		a->asked = 1;
		a->seen = (struct seen){ 0 };
		return;
	}
	if (a->asked != 0)
		see(&a->seen, s);
}

/* All that is shown then is of the time since: a duration, intervals and windows of its own, and nothing twice. */
static void measuring_begins_anew_when_it_is_asked_for(void)
{
	struct anew a = { .fd = eventfd(0, EFD_NONBLOCK) };
	uint64_t messages = 0, whole;
	struct fixture f;

	up(&f, "", VIRTUAL);
	run(&f, (struct xk_run_opts){ .duration = 50 * XK_MS });
	whole = f.r.messages;
	down(&f);
	up(&f, "", VIRTUAL);
	run(&f, (struct xk_run_opts){ .duration = 50 * XK_MS, .interval = 5 * XK_MS, .window = 10 * XK_MS, .stats = ask_anew,
				      .arg = &a, .anew_fd = a.fd });
	CU_ASSERT_EQUAL(f.r.end, XK_RUN_DURATION);
	CU_ASSERT(f.r.measured_ns >= 50 * XK_MS && f.r.measured_ns < 60 * XK_MS);
	CU_ASSERT(f.r.messages != 0 && f.r.messages < whole * 5 / 4);
	CU_ASSERT_EQUAL(f.r.nsamples, 5);
	for (uint64_t i = 0; i < f.r.nsamples; i++)
		messages += f.r.sample[i].messages;
	CU_ASSERT_EQUAL(messages, f.r.messages);
	CU_ASSERT_EQUAL(f.r.sample[0].at, 0);
	CU_ASSERT_EQUAL(a.seen.n, 10);
	CU_ASSERT_EQUAL(a.seen.messages, f.r.messages);
	down(&f);
	close(a.fd);
}

static void the_json_has_names_and_numbers(void)
{
	struct fixture f;
	json_t *j, *node;

	up(&f, "conns = 3", VIRTUAL);
	run(&f, (struct xk_run_opts){ .duration = 5 * XK_MS });
	j = xk_run_json(&f.r, true, true);
	CU_ASSERT_PTR_NOT_NULL_FATAL(j);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(j, "schema")), 2);
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

/* Whole, or none: each place where memory may be missing. */
static void json_for_which_there_is_no_memory_is_none(void)
{
	struct fixture f;
	char *want, *got;
	uint64_t k = 0;
	json_t *j;

	up(&f, "conns = 3", VIRTUAL);
	run(&f, (struct xk_run_opts){ .duration = 5 * XK_MS, .window = XK_MS });
	xk_json_start(NULL, 0);
	j = xk_run_json(&f.r, true, true);
	want = json_dumps(j, JSON_SORT_KEYS);
	json_decref(j);
	for (unsigned i = 0; i < 2; i++) {
		for (k = 1; k < 100000; k++) {
			(i == 0 ? xk_mem_fail_after : xk_mem_fail_from)(k);
			j = xk_run_json(&f.r, true, true);
			if (j != NULL)
				break;
		}
		CU_ASSERT_EQUAL(xk_mem_tries(), k - 1);
		xk_mem_fail_after(0);
		CU_ASSERT(k > 500);
		got = json_dumps(j, JSON_SORT_KEYS);
		CU_ASSERT_STRING_EQUAL(got, want);
		free(got);
		json_decref(j);
	}
	free(want);
	down(&f);
}

/* In a process of its own. */
static void a_program_may_end_where_a_document_has_no_memory(void)
{
	int to[2], status = 0;
	char said[100] = "";
	pid_t pid;

	CU_ASSERT_EQUAL_FATAL(pipe(to), 0);
	pid = fork();
	CU_ASSERT_FATAL(pid >= 0);
	if (pid == 0) {
		dup2(to[1], STDERR_FILENO);
		xk_json_start("prog", 5);
		xk_mem_fail_after(2);
		json_decref(json_object());
		json_decref(json_array());
		_exit(0);
	}
	close(to[1]);
	CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
	CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 5);
	CU_ASSERT(read(to[0], said, sizeof said - 1) > 0);
	CU_ASSERT_STRING_EQUAL(said, "prog: out of memory\n");
	close(to[0]);
}

/* What the counters say of a run in which others had the processors. */
static void a_run_without_processors_is_warned_of(void)
{
	static const struct { unsigned workers, cpus; uint64_t run, delay, starved; } c[] = {
		{ 1, 1, 2, 58, 58 },             /* ready, and not run */
		{ 2, 2, 100, 20, 20 }, { 2, 2, 118, 2, 2 },
		{ 1, 1, 1, 0, 0 },               /* nothing to do */
		{ 4, 1, 60, 180, 0 },            /* they kept each other waiting: the processor was theirs */
		{ 4, 2, 60, 180, 60 },
		{ 1, 1, 1, 600, 59 },            /* no more than there was */
	};
	struct fixture f;

	up(&f, "conns = 3", VIRTUAL);
	run(&f, (struct xk_run_opts){ .duration = XK_MS });
	for (unsigned i = 0; i < XK_ARRAY_LEN(c); i++) {
		char text[XK_RUN_WARNINGS][XK_RUN_WARNING_LEN], want[80];
		double there = 60.0 * (c[i].workers < c[i].cpus ? c[i].workers : c[i].cpus);
		unsigned n;

		f.g->vps->arch.cpus = (1u << c[i].cpus) - 1;
		f.r.nworkers = c[i].workers;
		f.r.wall_ns = 60 * XK_MS;
		f.r.is_virtual = false;
		f.r.sched = (struct xk_run_sched){ true, c[i].run * XK_MS, c[i].delay * XK_MS, 1 };
		CU_ASSERT_DOUBLE_EQUAL(xk_run_starved(&f.r), (double)c[i].starved / there, 1e-9);
		n = xk_run_warnings(&f.r, text);
		CU_ASSERT_EQUAL_FATAL(n, (double)c[i].starved / there > 0.1);
		snprintf(want, sizeof want, "did not run for %.0f of 60 ms", (double)c[i].starved / there * 60);
		CU_ASSERT(n == 0 || strstr(text[0], want) != NULL);
		f.r.sched.known = false;
		CU_ASSERT_EQUAL(xk_run_warnings(&f.r, text), 0);
	}
	f.r.nworkers = 0;
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
	{ "an application that forgets connections is read as far as it tells",
	  an_application_that_forgets_connections_is_read_as_far_as_it_tells },
	{ "a graph that finishes ends the run", a_graph_that_finishes_ends_the_run },
	{ "enough messages end the run", enough_messages_end_the_run },
	{ "messages end the warm-up and the run", messages_end_the_warm_up_and_the_run },
	{ "a readable descriptor ends the run", a_readable_descriptor_ends_the_run },
	{ "a descriptor that becomes readable ends a simulation", a_descriptor_that_becomes_readable_ends_a_simulation },
	{ "intervals follow each other without gaps", intervals_follow_each_other_without_gaps },
	{ "measuring begins anew when it is asked for", measuring_begins_anew_when_it_is_asked_for },
	{ "the JSON has names and numbers", the_json_has_names_and_numbers },
	{ "JSON for which there is no memory is none", json_for_which_there_is_no_memory_is_none },
	{ "a program may end where a document has no memory", a_program_may_end_where_a_document_has_no_memory },
	{ "a run without processors is warned of", a_run_without_processors_is_warned_of },
	{ "drop reasons have names", drop_reasons_have_names },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "run", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void) { return xk_test_main_rcu(suites); }
