/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_hop.c - one graph hop, and many of them, change nothing.
 *
 * Promises: a layer without a header adds no byte and gives back what it changed;
 * reference counts balance; a session is announced before its first message, and a
 * refused one leaves no binding; a close during a pop waits for its end; controls
 * that are unknown here reach the driver; a failing allocation leaks nothing.  The
 * test host link plays the transport below.
 */
#include "protocols/hop/hop.h"

#include <string.h>

#include "runtime/upi/xk_inline.h"
#include "tests/protocols/proto_fixture.h"
#include "tests/support/xk_test.h"

#define PEER 0x0a000002u
#define IP 0x0800
#define END { NULL, NULL, NULL, NULL }

static const struct pf_spec graph_one[] = {
	{ &pf_hostlink, "low", NULL, NULL }, { &xk_proto_hop, "h1", "low", NULL },
	{ &pf_upper, "up", "h1", NULL }, END
};
static const struct pf_spec graph_mute[] = {
	{ &pf_hostlink, "low", NULL, NULL }, { &xk_proto_hop, "h1", "low", NULL },
	{ &pf_upper, "up", "h1", "enable=false" }, END
};
static const struct pf_spec graph_four[] = {
	{ &pf_hostlink, "low", NULL, NULL }, { &xk_proto_hop, "h1", "low", NULL },
	{ &xk_proto_hop, "h2", "h1", NULL }, { &xk_proto_hop, "h3", "h2", NULL },
	{ &xk_proto_hop, "h4", "h3", NULL }, { &pf_upper, "up", "h4", NULL }, END
};

static const struct pf_spec graph_burn[] = {
	{ &pf_hostlink, "low", NULL, NULL }, { &xk_proto_hop, "h1", "low", "burn=3; look=true" },
	{ &pf_upper, "up", "h1", NULL }, END
};

static struct pf f;

static uint64_t hop_sessions(void)
{
	return pf_sessions(&f, "h1") + pf_sessions(&f, "h2") + pf_sessions(&f, "h3") + pf_sessions(&f, "h4");
}

static void passes_messages_through_untouched(void)
{
	struct xk_sess *s;

	pf_up(&f, 1, graph_four);
	s = pf_open_host(&f, "up", 0, PEER, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	pf_push(&f, 0, s, "down", 4);
	CU_ASSERT_EQUAL_FATAL(pf_npushed(&f, "low"), 1);
	CU_ASSERT_EQUAL(pf_pushed(&f, "low", 0)->len, 4);
	CU_ASSERT_EQUAL(memcmp(pf_pushed(&f, "low", 0)->bytes, "down", 4), 0);
	pf_inject_host(&f, "low", 0, PEER, IP, "upward", 6);
	CU_ASSERT_EQUAL_FATAL(pf_ngot(&f, "up"), 1);
	CU_ASSERT_EQUAL(pf_got(&f, "up", 0)->len, 6);
	CU_ASSERT_PTR_EQUAL(pf_got(&f, "up", 0)->lls, s);
	pf_close(&f, 0, s);
	CU_ASSERT_EQUAL(hop_sessions(), 0);
	pf_down(&f);
}

static void a_hop_that_burns_time_changes_nothing_else(void)
{
	struct xk_sess *s;

	pf_up(&f, 1, graph_burn);
	s = pf_open_host(&f, "up", 0, PEER, NULL);
	pf_inject_host(&f, "low", 0, PEER, IP, "upward", 6);
	CU_ASSERT_EQUAL_FATAL(pf_ngot(&f, "up"), 1);
	CU_ASSERT_EQUAL(memcmp(pf_got(&f, "up", 0)->bytes, "upward", 6), 0);
	CU_ASSERT_EQUAL(pf_rep(&f, "h1", 0)->npop, 1);
	pf_close(&f, 0, s);
	pf_down(&f);
}

static void every_hop_is_counted_once_each_way(void)
{
	struct xk_sess *s;

	pf_up(&f, 1, graph_four);
	s = pf_open_host(&f, "up", 0, PEER, NULL);
	for (int i = 0; i < 5; i++)
		pf_push(&f, 0, s, "x", 1);
	for (int i = 0; i < 7; i++)
		pf_inject_host(&f, "low", 0, PEER, IP, "y", 1);
	CU_ASSERT_EQUAL(pf_rep(&f, "h1", 0)->npush, 5);
	CU_ASSERT_EQUAL(pf_rep(&f, "h4", 0)->npush, 5);
	CU_ASSERT_EQUAL(pf_rep(&f, "h1", 0)->npop, 7);
	CU_ASSERT_EQUAL(pf_rep(&f, "h4", 0)->npop, 7);
	pf_close(&f, 0, s);
	pf_down(&f);
}

static void passive_opens_rise_through_all_hops_before_the_message(void)
{
	struct pf_upper_state *up;

	pf_up(&f, 4, graph_four);
	up = pf_upper_of(&f, "up");
	up->keep = true;
	for (unsigned vp = 0; vp < 4; vp++)
		pf_inject_host(&f, "low", vp, PEER, IP, "x", 1);
	CU_ASSERT_EQUAL(up->open_dones, 4);
	CU_ASSERT_EQUAL(up->got_at_open_done, 3);
	CU_ASSERT_EQUAL(pf_ngot(&f, "up"), 4);
	CU_ASSERT_EQUAL(hop_sessions(), 16);
	pf_inject_host(&f, "low", 2, PEER, IP, "x", 1);
	CU_ASSERT_EQUAL(up->open_dones, 4);
	pf_push(&f, 2, up->kept[2], "re", 2);
	CU_ASSERT_EQUAL(pf_npushed(&f, "low"), 1);
	pf_down(&f);
}

static void passive_sessions_linger_then_all_go(void)
{
	pf_up(&f, 1, graph_four);
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 1000; i++)
			pf_inject_host(&f, "low", 0, PEER + (uint32_t)i, IP, "x", 1);
		CU_ASSERT_EQUAL(pf_upper_of(&f, "up")->open_dones, 1000);
	}
	CU_ASSERT_EQUAL(pf_ngot(&f, "up"), 2000);
	CU_ASSERT_EQUAL(hop_sessions(), 4000);
	pf_run(&f, 600 * XK_SEC);
	CU_ASSERT_EQUAL(hop_sessions(), 0);
	CU_ASSERT_EQUAL(pf_sessions(&f, "low"), 0);
	pf_down(&f);
}

static void a_refusal_goes_all_the_way_down(void)
{
	pf_up(&f, 1, graph_four);
	pf_upper_of(&f, "up")->refuse = true;
	pf_inject_host(&f, "low", 0, PEER, IP, "x", 1);
	CU_ASSERT_EQUAL(pf_ngot(&f, "up"), 0);
	CU_ASSERT_EQUAL(hop_sessions() + pf_sessions(&f, "low"), 0);
	pf_down(&f);
}

static void the_session_below_gets_its_up_back(void)
{
	struct xk_sess *s, *lls;

	pf_up(&f, 1, graph_mute);
	s = pf_open_host(&f, "up", 0, PEER, NULL);
	lls = s->down;
	CU_ASSERT_PTR_EQUAL(lls->up, &s->self);
	CU_ASSERT_PTR_EQUAL(xk_sess_type(lls), pf_node(&f, "up"));
	pf_enter(&f, 0);
	xk_dup(lls);
	xk_close(s);
	CU_ASSERT_PTR_EQUAL(lls->up, &pf_rep(&f, "h1", 0)->up);
	xk_close(lls);
	pf_leave(&f, 0);
	pf_down(&f);
}

static void opening_a_shared_session_twice_shares_the_hop_too(void)
{
	struct xk_sess *a, *b;

	pf_up(&f, 1, graph_one);
	a = pf_open_host(&f, "up", 0, PEER, NULL);
	b = pf_open_host(&f, "up", 0, PEER, NULL);
	CU_ASSERT_PTR_EQUAL(a, b);
	CU_ASSERT_EQUAL(a->down->rcnt, 1);
	CU_ASSERT_PTR_EQUAL(a->down->up, &a->self);
	pf_close(&f, 0, a);
	pf_close(&f, 0, b);
	CU_ASSERT_EQUAL(pf_sessions(&f, "h1") + pf_sessions(&f, "low"), 0);
	pf_down(&f);
}

static void a_message_without_an_enable_is_dropped_with_a_reason(void)
{
	struct xk_sess *s, *lls;

	pf_up(&f, 1, graph_mute);
	s = pf_open_host(&f, "up", 0, PEER, NULL);
	lls = s->down;
	pf_enter(&f, 0);
	xk_dup(lls);
	xk_close(s);
	pf_leave(&f, 0);
	pf_inject_host(&f, "low", 0, PEER, IP, "x", 1);
	CU_ASSERT_EQUAL(pf_ngot(&f, "up"), 0);
	CU_ASSERT_EQUAL(pf_drops(&f, "h1", "no_enable"), 1);
	pf_close(&f, 0, lls);
	pf_down(&f);
}

static void close_it(struct xk_rep *r, struct xk_sess *lls, struct xk_msg *m)
{
	(void)r;
	(void)m;
	xk_close(lls);      /* the last reference: nothing may touch it afterwards */
}

static void closing_inside_the_pop_is_safe(void)
{
	pf_up(&f, 1, graph_four);
	pf_open_host(&f, "up", 0, PEER, NULL);
	pf_upper_of(&f, "up")->on_msg = close_it;
	pf_inject_host(&f, "low", 0, PEER, IP, "x", 1);
	CU_ASSERT_EQUAL(pf_ngot(&f, "up"), 1);
	CU_ASSERT_EQUAL(hop_sessions() + pf_sessions(&f, "low"), 0);
	pf_down(&f);
}

static void a_close_by_the_peer_is_told_to_the_top(void)
{
	struct xk_sess *s;

	pf_up(&f, 1, graph_one);
	s = pf_open_host(&f, "up", 0, PEER, NULL);
	pf_enter(&f, 0);
	xk_close_done(s->down);
	pf_leave(&f, 0);
	CU_ASSERT_EQUAL(pf_upper_of(&f, "up")->close_dones, 1);
	pf_close(&f, 0, s);
	pf_down(&f);
}

static void controls_pass_through(void)
{
	struct xk_sess *s;
	uint32_t v = 0;

	pf_up(&f, 1, graph_four);
	s = pf_open_host(&f, "up", 0, PEER, NULL);
	pf_enter(&f, 0);
	CU_ASSERT_EQUAL(xk_sess_control(s, XK_CTL_GETPEERHOST, &v, 4), 4);
	CU_ASSERT_EQUAL(v, PEER);
	CU_ASSERT_EQUAL(xk_control(pf_rep(&f, "h4", 0), XK_CTL_GETMAXPACKET, &v, 4), 4);
	CU_ASSERT_EQUAL(v, 1500);
	CU_ASSERT_EQUAL(xk_sess_control(s, 4711, &v, 4), XK_E_NOTSUP);
	pf_leave(&f, 0);
	pf_close(&f, 0, s);
	pf_down(&f);
}

static void running_out_of_memory_anywhere_leaves_nothing(void)
{
	bool up = false;

	for (uint64_t k = 1; !up && k < 500; k++) {
		xk_mem_fail_after(k);
		up = pf_up_try(&f, 2, graph_four);
		xk_mem_fail_after(0);
		pf_down(&f);
	}
	CU_ASSERT(up);
	for (uint64_t k = 1; k < 20; k++) {
		struct xk_sess *s;

		pf_up(&f, 1, graph_four);
		xk_mem_fail_after(k);
		s = pf_open_host(&f, "up", 0, PEER, NULL);
		pf_inject_host(&f, "low", 0, PEER + 1, IP, "x", 1);
		xk_mem_fail_after(0);
		if (s != NULL)
			pf_close(&f, 0, s);
		pf_down(&f);
	}
}

#define T(name) { #name, name }
static CU_TestInfo tests[] = {
	T(passes_messages_through_untouched),
	T(a_hop_that_burns_time_changes_nothing_else),
	T(every_hop_is_counted_once_each_way),
	T(passive_opens_rise_through_all_hops_before_the_message),
	T(passive_sessions_linger_then_all_go),
	T(a_refusal_goes_all_the_way_down),
	T(the_session_below_gets_its_up_back),
	T(opening_a_shared_session_twice_shares_the_hop_too),
	T(a_message_without_an_enable_is_dropped_with_a_reason),
	T(closing_inside_the_pop_is_safe),
	T(a_close_by_the_peer_is_told_to_the_top),
	T(controls_pass_through),
	T(running_out_of_memory_anywhere_leaves_nothing),
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "hop", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}
