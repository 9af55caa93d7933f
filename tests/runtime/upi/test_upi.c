/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_upi.c - the uniform protocol interface keeps the x-kernel's promises:
 * reference counts, order of open_done and pop, enables, idle sessions,
 * deferred destruction, controls, and undo at every stage.
 */
#include <CUnit/CUnit.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/upi/xk_capture.h"
#include "runtime/upi/xk_input.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"
#include "tests/runtime/upi/toy.h"
#include "tests/support/xk_test.h"

static uint64_t live_before;

static void up(unsigned nvps)
{
	live_before = xk_alloc_live();
	CU_ASSERT_EQUAL_FATAL(toy_up(nvps), XK_OK);
}

static void down(void)
{
	CU_ASSERT_EQUAL(toy_down(), 0);
	CU_ASSERT_EQUAL(xk_alloc_live(), live_before);
}

static int enable(uint8_t port)
{
	struct xk_parts ps;

	xk_parts_init(&ps, 1);
	xk_part_push(&ps.p[0], &port, 1);
	return xk_open_enable(toy.app, toy.app, toy.mux, &ps);
}

static int disable(uint8_t port)
{
	struct xk_parts ps;

	xk_parts_init(&ps, 1);
	xk_part_push(&ps.p[0], &port, 1);
	return xk_open_disable(toy.app, toy.app, toy.mux, &ps);
}

static void reference_counts_return_to_base_after_ten_thousand_opens(void)
{
	int32_t base;
	int err;

	up(1);
	toy_enter();
	base = toy.drv_r->drv_sess->rcnt;
	for (unsigned i = 0; i < 10000; i++) {
		struct xk_sess *s = toy_open((uint8_t)(i % 100), &err);

		CU_ASSERT_PTR_NOT_NULL_FATAL(s);
		CU_ASSERT_EQUAL_FATAL(s->rcnt, 1);
		xk_close(s);
	}
	CU_ASSERT_EQUAL(toy.drv_r->drv_sess->rcnt, base);
	CU_ASSERT_EQUAL(xk_rep_sessions(toy.mux_r), 0);
	toy_leave();
	CU_ASSERT_EQUAL(enable(7), XK_OK);
	for (unsigned i = 0; i < 10000; i++)
		toy_inject("\007x", 2);
	CU_ASSERT_EQUAL(toy.drv_r->drv_sess->rcnt, base);
	CU_ASSERT_EQUAL(xk_rep_sessions(toy.mux_r), 0);
	CU_ASSERT_EQUAL(disable(7), XK_OK);
	down();
}

static void open_done_precedes_the_first_pop(void)
{
	up(1);
	toy.keep = true;
	CU_ASSERT_EQUAL(enable(3), XK_OK);
	toy_inject("\003a", 2);
	toy_inject("\003b", 2);
	CU_ASSERT_STRING_EQUAL(toy.events, "OPP");
	toy_enter();
	xk_close(toy.kept);
	toy_leave();
	CU_ASSERT_EQUAL(disable(3), XK_OK);
	down();
}

static void enable_twice_disable_twice_and_the_third_fails(void)
{
	up(1);
	CU_ASSERT_EQUAL(enable(9), XK_OK);
	CU_ASSERT_EQUAL(enable(9), XK_OK);
	CU_ASSERT_EQUAL(disable(9), XK_OK);
	toy_inject("\011a", 2);
	CU_ASSERT_STRING_EQUAL(toy.events, "OP");
	CU_ASSERT_EQUAL(disable(9), XK_OK);
	CU_ASSERT_EQUAL(disable(9), XK_E_NOENT);
	toy_inject("\011a", 2);
	CU_ASSERT_STRING_EQUAL(toy.events, "OP");
	CU_ASSERT_EQUAL(toy.mux_r->drop[XK_DROP_FIRST + 1], 1);
	down();
}

/* Messages that the flight recorder of r's VP has as dropped there for a reason. */
static uint64_t recorded(const struct xk_rep *r, unsigned reason)
{
	const struct xk_recorder *ring = &r->vp->recorder;
	uint64_t from = 0, sum = 0;
	struct xk_rec rec[64];
	unsigned n = xk_recorder_read(ring, &from, xk_recorder_head(ring), rec, XK_ARRAY_LEN(rec));

	for (unsigned i = 0; i < n; i++)
		if (rec[i].what == xk_rec_what(XK_REC_DROP, r->node->no, reason))
			sum += rec[i].a;
	return sum;
}

static void a_drop_is_recorded_with_a_message_or_without(void)
{
	up(1);
	toy_inject("\011a", 2);
	toy_enter();
	xk_dropped(toy.mux_r, XK_DROP_FIRST + 1, 3);
	xk_dropped(toy.mux_r, XK_DROP_NOMEM, 5);
	xk_dropped(toy.mux_r, XK_DROP_FIRST, 0);
	toy_leave();
	CU_ASSERT_EQUAL(toy.mux_r->drop[XK_DROP_FIRST + 1], 4);
	CU_ASSERT_EQUAL(toy.mux_r->drop[XK_DROP_NOMEM], 5);
	CU_ASSERT_EQUAL(recorded(toy.mux_r, XK_DROP_FIRST + 1), 4);
	CU_ASSERT_EQUAL(recorded(toy.mux_r, XK_DROP_NOMEM), 5);
	CU_ASSERT_EQUAL(recorded(toy.mux_r, XK_DROP_FIRST), 0);
	down();
}

static void disable_all_takes_away_every_enable_of_the_receiver(void)
{
	up(1);
	for (uint8_t p = 1; p < 50; p++)
		CU_ASSERT_EQUAL(enable(p), XK_OK);
	CU_ASSERT_EQUAL(xk_passive_count(&toy.mux->passive), 49);
	xk_open_disable_all(toy.app, toy.mux);
	CU_ASSERT_EQUAL(xk_passive_count(&toy.mux->passive), 0);
	CU_ASSERT_EQUAL(disable(1), XK_E_NOENT);
	down();
}

static void an_enable_of_another_receiver_is_refused(void)
{
	struct xk_parts ps;
	uint8_t port = 5;

	up(1);
	CU_ASSERT_EQUAL(enable(5), XK_OK);
	xk_parts_init(&ps, 1);
	xk_part_push(&ps.p[0], &port, 1);
	CU_ASSERT_EQUAL(xk_open_enable(toy.drv, toy.drv, toy.mux, &ps), XK_E_ADDRINUSE);
	CU_ASSERT_EQUAL(disable(5), XK_OK);
	down();
}

static void a_refused_open_done_leaves_no_binding(void)
{
	up(1);
	toy.refuse = true;
	CU_ASSERT_EQUAL(enable(4), XK_OK);
	toy_inject("\004a", 2);
	CU_ASSERT_STRING_EQUAL(toy.events, "O");
	CU_ASSERT_EQUAL(xk_map_count(&toy.mux_r->active), 0);
	CU_ASSERT_EQUAL(xk_rep_sessions(toy.mux_r), 0);
	CU_ASSERT_EQUAL(toy.mux_r->drop[XK_DROP_FIRST + 1], 1);
	CU_ASSERT_EQUAL(disable(4), XK_OK);
	down();
}

static void an_idle_session_is_reused_like_a_new_one(void)
{
	struct xk_sess *a, *b;
	int err;

	up(1);
	toy_enter();
	a = toy_open(200, &err);
	xk_close(a);
	CU_ASSERT_TRUE(a->flags & XK_SESS_IDLE);
	CU_ASSERT_EQUAL(xk_sess_collect(toy.mux_r, NULL), 0);   /* marks it */
	b = toy_open(200, &err);
	CU_ASSERT_PTR_EQUAL(a, b);
	CU_ASSERT_EQUAL(b->rcnt, 1);
	CU_ASSERT_FALSE(b->flags & XK_SESS_IDLE);
	CU_ASSERT_EQUAL(b->idle_mark, 0);
	CU_ASSERT_PTR_NULL(toy_open(200, &err));
	CU_ASSERT_EQUAL(err, XK_E_ADDRINUSE);
	xk_close(b);
	toy_leave();
	down();
}

static unsigned destroyed;
static void destroy_idle(struct xk_sess *s)
{
	struct xk_sess *below = s->down;

	destroyed++;
	xk_sess_destroy(s);
	xk_close(below);
}

static void the_collector_frees_between_one_and_two_passes(void)
{
	int err;

	up(1);
	toy_enter();
	destroyed = 0;
	for (unsigned p = 200; p < 250; p++)
		xk_close(toy_open((uint8_t)p, &err));
	CU_ASSERT_EQUAL(xk_sess_collect(toy.mux_r, destroy_idle), 0);
	xk_close(toy_open(210, &err));                           /* used in between */
	CU_ASSERT_EQUAL(xk_sess_collect(toy.mux_r, destroy_idle), 49);
	CU_ASSERT_EQUAL(destroyed, 49);
	CU_ASSERT_EQUAL(xk_map_count(&toy.mux_r->active), 1);
	CU_ASSERT_EQUAL(xk_sess_collect(toy.mux_r, destroy_idle), 1);
	toy_leave();
	down();
}

static void close_during_a_pop_defers_destruction(void)
{
	up(1);
	toy.keep = toy.close_in_demux = true;
	CU_ASSERT_EQUAL(enable(6), XK_OK);
	toy_inject("\006a", 2);
	CU_ASSERT_STRING_EQUAL(toy.events, "OP");
	CU_ASSERT_EQUAL(xk_rep_sessions(toy.mux_r), 0);
	CU_ASSERT_EQUAL(disable(6), XK_OK);
	down();
}

static void an_unknown_control_reaches_the_driver(void)
{
	struct xk_sess *s;
	uint32_t v = 0;
	int err;

	up(1);
	toy_enter();
	CU_ASSERT_EQUAL(xk_control(toy.app_r, TOY_CTL_DRIVER, &v, sizeof v), 4);
	CU_ASSERT_EQUAL(v, 4711);
	s = toy_open(1, &err);
	v = 0;
	CU_ASSERT_EQUAL(xk_sess_control(s, TOY_CTL_DRIVER, &v, sizeof v), 4);
	CU_ASSERT_EQUAL(v, 4711);
	CU_ASSERT_EQUAL(xk_sess_control(s, 99999, &v, sizeof v), XK_E_NOTSUP);
	CU_ASSERT_EQUAL(xk_sess_control(s, TOY_CTL_DRIVER, &v, 1), XK_E_NOTSUP);
	xk_close(s);
	toy_leave();
	down();
}

static void running_out_of_memory_at_any_step_of_bring_up_leaks_nothing(void)
{
	unsigned k;

	for (k = 1; k < 5000; k++) {
		uint64_t live = xk_alloc_live();
		int err;

		xk_mem_fail_after(k);
		err = toy_up(3);
		xk_mem_fail_after(0);
		CU_ASSERT_EQUAL_FATAL(toy_down(), 0);
		CU_ASSERT_EQUAL_FATAL(xk_alloc_live(), live);
		if (err == XK_OK)
			break;
	}
	CU_ASSERT_TRUE(k > 20 && k < 5000);
}

static void running_out_of_memory_in_an_open_leaks_nothing(void)
{
	int err;

	up(1);
	toy_enter();
	for (unsigned k = 1; k < 50; k++) {
		struct xk_sess *s;
		int32_t base = toy.drv_r->drv_sess->rcnt;

		xk_mem_fail_after(k);
		s = toy_open(1, &err);
		xk_mem_fail_after(0);
		if (s != NULL) {
			xk_close(s);
			CU_ASSERT_TRUE(k > 1);
			break;
		}
		CU_ASSERT_EQUAL(err, XK_E_NOMEM);
		CU_ASSERT_EQUAL(xk_rep_sessions(toy.mux_r), 0);
		CU_ASSERT_EQUAL(toy.drv_r->drv_sess->rcnt, base);
	}
	toy_leave();
	down();
}

/* A push visits exactly the chain of sessions, without a lookup. */
static void a_push_needs_no_lookup(void)
{
	struct xk_sess *s;
	struct xk_msg *m;
	uint64_t lookups;
	int err;

	up(1);
	toy_enter();
	s = toy_open(17, &err);
	lookups = toy.mux_r->active.lookup;
	m = xk_msg_new(3);
	memcpy(m->data, "abc", 3);
	xk_push(s, m);
	CU_ASSERT_EQUAL(toy.mux_r->active.lookup, lookups);
	CU_ASSERT_EQUAL(toy.sent, 1);
	CU_ASSERT_EQUAL(memcmp(toy.last, "\021abc", 4), 0);
	CU_ASSERT_EQUAL(toy.mux_r->npush, 1);
	CU_ASSERT_EQUAL(toy.drv_r->npush, 1);
	xk_close(s);
	toy_leave();
	down();
}

static void a_message_meets_its_session_by_hint_after_the_first(void)
{
	uint64_t lookups;

	up(1);
	toy.keep = true;
	CU_ASSERT_EQUAL(enable(3), XK_OK);
	toy_inject("\003a", 2);
	toy_inject("\003a", 2);
	lookups = toy.mux_r->active.lookup;
	for (unsigned i = 0; i < 10; i++)
		toy_inject("\003a", 2);
	CU_ASSERT_EQUAL(toy.mux_r->active.lookup, lookups);
	/* A stale hint is only a hint. */
	toy_enter();
	xk_close(toy.kept);
	toy_leave();
	toy.keep = false;
	toy_inject("\003a", 2);
	CU_ASSERT_EQUAL(toy.events[toy.nevents - 2], 'O');
	CU_ASSERT_EQUAL(disable(3), XK_OK);
	down();
}

static struct { struct xk_capture c; unsigned ups, downs; } cap;
static void cap_fn(struct xk_capture *c, xk_ns now, const struct xk_msg *m, bool goes_down)
{
	(void)c;
	(void)now;
	(void)m;
	cap.ups += !goes_down;
	cap.downs += goes_down;
}

static void a_node_is_captured_in_both_directions(void)
{
	struct xk_sess *s;
	int err;

	up(1);
	memset(&cap, 0, sizeof cap);
	cap.c.fn = cap_fn;
	CU_ASSERT_FALSE(xk_captured(toy.drv));
	xk_capture_attach(toy.app, &cap.c);
	CU_ASSERT_TRUE(xk_captured(toy.drv));
	toy_enter();
	s = toy_open(2, &err);
	xk_push(s, xk_msg_new(4));
	CU_ASSERT_EQUAL(cap.downs, 1);
	CU_ASSERT_EQUAL(toy.sent, 1);
	xk_close(s);
	toy_leave();
	xk_capture_detach(toy.app, &cap.c);
	xk_capture_attach(toy.drv, &cap.c);
	toy_inject("\143a", 2);
	CU_ASSERT_EQUAL(cap.ups, 1);
	xk_capture_detach(toy.drv, &cap.c);
	CU_ASSERT_FALSE(xk_captured(toy.app));
	down();
}

/* ---- ownership (debug build) ------------------------------------------------- */

#ifdef XK_DEBUG
static void touch_from_vp_1(void)
{
	int err;
	struct xk_sess *s;

	toy_enter();
	s = toy_open(1, &err);
	toy_leave();
	xk_vp_enter_idle(toy.g->vps->vp[1]);
	xk_push(s, xk_msg_new(1));
}

/* What a child that calls fn says before it dies; its wait status. */
static int last_words(void (*fn)(void), char *buf, size_t n)
{
	int fd[2], status = 0;
	ssize_t got, all = 0;
	pid_t pid;

	CU_ASSERT_EQUAL_FATAL(pipe(fd), 0);
	pid = fork();
	if (pid == 0) {
		dup2(fd[1], STDERR_FILENO);
		fn();
		_exit(0);
	}
	close(fd[1]);
	while ((got = read(fd[0], buf + all, n - 1 - (size_t)all)) > 0)
		all += got;
	buf[all] = '\0';
	close(fd[0]);
	waitpid(pid, &status, 0);
	return status;
}
#endif

static void a_touch_from_another_vp_aborts_with_both_stacks(void)
{
#ifdef XK_DEBUG
	static char said[16384];
	int status;

	up(2);
	status = last_words(touch_from_vp_1, said, sizeof said);
	CU_ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	CU_ASSERT_PTR_NOT_NULL(strstr(said, "was made here:"));
	CU_ASSERT_PTR_NOT_NULL(strstr(said, "touched from virtual processor 1"));
	CU_ASSERT_PTR_NOT_NULL(strstr(said, "'mux' of virtual processor 0 touched from 1"));
	down();
#else
	xk_test_skip("ownership is checked in the debug build: configure --enable-debug");
#endif
}

static void words_meet_where_one_is_the_other_or_has_its_kind(void)
{
	static const struct { const char *a, *b; bool meet; } of[] = {
		{ "port|stream", "stream", true }, { "stream", "host|port", false }, { "frame/eth", "frame", true },
		{ "frame", "frame/fddi", true }, { "frame/eth", "frame/fddi", false }, { "frame/eth|frame/fddi", "frame/fddi", true },
		{ "link|frame/eth", "frame/eth", true }, { "frame", "frames", false }, { "frames", "frame", false },
		{ "link", "hostlink", false }, { "hostlink", "host", false }, { "a/b", "a/b/c", true }, { NULL, "a", false },
		{ "a", NULL, false }, { "", "a", false }, { "port", "port/", true },
	};

	for (unsigned i = 0; i < XK_ARRAY_LEN(of); i++) {
		CU_ASSERT_EQUAL(xk_words_meet(of[i].a, of[i].b), of[i].meet);
		CU_ASSERT_EQUAL(xk_words_meet(of[i].b, of[i].a), of[i].meet);
	}
}

static CU_TestInfo tests[] = {
	{ "words meet where one is the other or has its kind", words_meet_where_one_is_the_other_or_has_its_kind },
	{ "reference counts return to base after ten thousand opens", reference_counts_return_to_base_after_ten_thousand_opens },
	{ "open_done precedes the first pop", open_done_precedes_the_first_pop },
	{ "enable twice, disable twice, and the third fails", enable_twice_disable_twice_and_the_third_fails },
	{ "a drop is recorded, with a message or without", a_drop_is_recorded_with_a_message_or_without },
	{ "disable all takes away every enable of the receiver", disable_all_takes_away_every_enable_of_the_receiver },
	{ "an enable of another receiver is refused", an_enable_of_another_receiver_is_refused },
	{ "a refused open_done leaves no binding", a_refused_open_done_leaves_no_binding },
	{ "an idle session is reused like a new one", an_idle_session_is_reused_like_a_new_one },
	{ "the collector frees between one and two passes", the_collector_frees_between_one_and_two_passes },
	{ "close during a pop defers destruction", close_during_a_pop_defers_destruction },
	{ "an unknown control reaches the driver", an_unknown_control_reaches_the_driver },
	{ "running out of memory at any step of bring-up leaks nothing", running_out_of_memory_at_any_step_of_bring_up_leaks_nothing },
	{ "running out of memory in an open leaks nothing", running_out_of_memory_in_an_open_leaks_nothing },
	{ "a push needs no lookup", a_push_needs_no_lookup },
	{ "a message meets its session by hint after the first", a_message_meets_its_session_by_hint_after_the_first },
	{ "a node is captured in both directions", a_node_is_captured_in_both_directions },
	{ "a touch from another VP aborts with both stacks", a_touch_from_another_vp_aborts_with_both_stacks },
	CU_TEST_INFO_NULL
};

static CU_SuiteInfo suites[] = {
	{ "upi", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	xk_rcu_register();
	return xk_test_main(suites);
}
