/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_vnet.c - the virtual network: which link, and nothing but the link.
 *
 * Promises, over two test links and over real arp and eth: it adds no byte and gives
 * back what it changed; reference counts balance; a session is announced before its
 * first message, and a refused one leaves no binding; enables count; a close during a
 * pop waits for its end; controls that are unknown here reach the driver; a failing
 * allocation leaks nothing.
 */
#include "protocols/vnet/vnet.h"

#include <string.h>

#include "protocols/arp/arp.h"
#include "protocols/eth/eth.h"
#include "runtime/base/xk_errs.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"
#include "tests/protocols/proto_fixture.h"
#include "tests/support/xk_test.h"

#define HOST(a, b, c, d) ((uint32_t)(a) << 24 | (b) << 16 | (c) << 8 | (d))
#define IP 0x0800

#define TWO_LINKS { &pf_hostlink, "a", NULL, "mtu=1500" }, { &pf_hostlink, "b", NULL, "mtu=4352" }
#define END { NULL, NULL, NULL, NULL }

static const struct pf_spec graph_two[] = {
	TWO_LINKS,
	{ &xk_proto_vnet, "vnet", "a,b", "links=10.0.0.0/8=1,10.2.0.0/16=2,10.2.3.0/24=1,10.2.3.4/32=2" },
	{ &pf_upper, "up", "vnet", NULL }, END
};
static const struct pf_spec graph_default_b[] = {
	TWO_LINKS,
	{ &xk_proto_vnet, "vnet", "a,b", "default=2; links=10.0.0.0/8=1,10.0.0.0/8=2; linger=1s; sessions=8" },
	{ &pf_upper, "up", "vnet", NULL }, END
};
static const struct pf_spec graph_mute[] = {
	TWO_LINKS,
	{ &xk_proto_vnet, "vnet", "a,b", NULL },
	{ &pf_upper, "up", "vnet", "enable=false" }, END
};
static const struct pf_spec graph_wrong_link[] = {
	TWO_LINKS,
	{ &xk_proto_vnet, "vnet", "a,b", "default=3; links=10.0.0.0/8=0" },
	{ &pf_upper, "up", "vnet", NULL }, END
};
static const struct pf_spec graph_arp[] = {
	{ &pf_driver, "drv", NULL, NULL },
	{ &xk_proto_eth, "eth", "drv", NULL },
	{ &xk_proto_arp, "arp", "eth", "addresses=10.0.0.1/8; neighbours=10.0.0.2=02:00:00:00:00:02" },
	{ &xk_proto_vnet, "vnet", "arp", NULL },
	{ &pf_upper, "up", "vnet", NULL }, END
};

static struct pf f;

static const char *link_of(uint32_t host)
{
	struct xk_sess *s = pf_open_host(&f, "up", 0, host, NULL);
	const char *name;

	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	name = s->down->rep->node->name;
	pf_close(&f, 0, s);
	return name;
}

/* ---- choosing ---------------------------------------------------------------------- */

static void the_longest_prefix_chooses_the_link(void)
{
	pf_up(&f, 1, graph_two);
	CU_ASSERT_STRING_EQUAL(link_of(HOST(10, 1, 1, 1)), "a");
	CU_ASSERT_STRING_EQUAL(link_of(HOST(10, 2, 1, 1)), "b");
	CU_ASSERT_STRING_EQUAL(link_of(HOST(10, 2, 3, 1)), "a");
	CU_ASSERT_STRING_EQUAL(link_of(HOST(10, 2, 3, 4)), "b");
	CU_ASSERT_STRING_EQUAL(link_of(HOST(192, 168, 0, 1)), "a");
	pf_down(&f);
}

static void the_first_of_equal_prefixes_and_the_default_apply(void)
{
	pf_up(&f, 1, graph_default_b);
	CU_ASSERT_STRING_EQUAL(link_of(HOST(10, 9, 9, 9)), "a");
	CU_ASSERT_STRING_EQUAL(link_of(HOST(11, 0, 0, 1)), "b");
	pf_down(&f);
}

static void links_that_are_not_there_are_refused_before_start(void)
{
	CU_ASSERT(!pf_up_try(&f, 1, graph_wrong_link));
	CU_ASSERT_EQUAL(xk_errs_count(f.errs), 2);
	pf_down(&f);
}

static void refuses_participants_without_a_host(void)
{
	struct xk_parts ps;
	int err = 0;

	pf_up(&f, 1, graph_two);
	xk_parts_init(&ps, 1);
	xk_part_push_any(&ps.p[0]);
	CU_ASSERT_PTR_NULL(pf_open(&f, "up", 0, &ps, &err));
	CU_ASSERT_EQUAL(err, XK_E_INVAL);
	xk_parts_init(&ps, 0);
	CU_ASSERT_PTR_NULL(pf_open(&f, "up", 0, &ps, &err));
	CU_ASSERT_EQUAL(err, XK_E_INVAL);
	pf_down(&f);
}

/* ---- transparency ------------------------------------------------------------------- */

static void adds_no_byte_either_way(void)
{
	struct xk_sess *s;

	pf_up(&f, 1, graph_two);
	s = pf_open_host(&f, "up", 0, HOST(10, 2, 0, 9), NULL);
	pf_push(&f, 0, s, "down", 4);
	CU_ASSERT_EQUAL_FATAL(pf_npushed(&f, "b"), 1);
	CU_ASSERT_EQUAL(pf_pushed(&f, "b", 0)->len, 4);
	CU_ASSERT_EQUAL(pf_pushed(&f, "b", 0)->host, HOST(10, 2, 0, 9));
	pf_inject_host(&f, "b", 0, HOST(10, 2, 0, 9), IP, "up", 2);
	CU_ASSERT_EQUAL_FATAL(pf_ngot(&f, "up"), 1);
	CU_ASSERT_EQUAL(pf_got(&f, "up", 0)->len, 2);
	CU_ASSERT_PTR_EQUAL(pf_got(&f, "up", 0)->lls, s);
	CU_ASSERT_PTR_EQUAL(pf_got(&f, "up", 0)->type, pf_node(&f, "up"));
	pf_close(&f, 0, s);
	pf_down(&f);
}

static void the_session_below_shows_the_true_type_and_gets_its_up_back(void)
{
	struct xk_sess *s, *lls;

	pf_up(&f, 1, graph_mute);
	s = pf_open_host(&f, "up", 0, HOST(10, 0, 0, 9), NULL);
	lls = s->down;
	CU_ASSERT_PTR_EQUAL(xk_sess_type(lls), pf_node(&f, "up"));
	CU_ASSERT_PTR_EQUAL(lls->up, &s->self);
	pf_enter(&f, 0);
	xk_dup(lls);
	xk_close(s);
	CU_ASSERT_PTR_EQUAL(lls->up, &pf_rep(&f, "vnet", 0)->up);
	CU_ASSERT_EQUAL(lls->rcnt, 1);
	xk_close(lls);
	pf_leave(&f, 0);
	CU_ASSERT_EQUAL(pf_sessions(&f, "a"), 0);
	pf_down(&f);
}

static void opening_twice_shares_and_ten_thousand_opens_leave_nothing(void)
{
	struct xk_sess *a, *b;

	pf_up(&f, 4, graph_two);
	a = pf_open_host(&f, "up", 1, HOST(10, 0, 0, 9), NULL);
	b = pf_open_host(&f, "up", 1, HOST(10, 0, 0, 9), NULL);
	CU_ASSERT_PTR_EQUAL(a, b);
	CU_ASSERT_EQUAL(a->down->rcnt, 1);
	pf_close(&f, 1, a);
	pf_close(&f, 1, b);
	for (unsigned i = 0; i < 10000; i++)
		pf_close(&f, i % 4, pf_open_host(&f, "up", i % 4, HOST(10, i & 3, i >> 8, i & 255), NULL));
	CU_ASSERT_EQUAL(pf_sessions(&f, "vnet"), 0);
	CU_ASSERT_EQUAL(pf_sessions(&f, "a") + pf_sessions(&f, "b"), 0);
	pf_down(&f);
}

/* ---- passive ---------------------------------------------------------------------------- */

static void first_messages_on_any_link_open_passively(void)
{
	struct pf_upper_state *up;

	pf_up(&f, 4, graph_two);
	up = pf_upper_of(&f, "up");
	pf_inject_host(&f, "a", 0, HOST(10, 0, 0, 9), IP, "1", 1);
	CU_ASSERT_EQUAL(up->open_dones, 1);
	CU_ASSERT_EQUAL(up->got_at_open_done, 0);
	pf_inject_host(&f, "b", 3, HOST(10, 0, 0, 9), IP, "2", 1);
	pf_inject_host(&f, "a", 0, HOST(10, 0, 0, 9), IP, "3", 1);
	CU_ASSERT_EQUAL(up->open_dones, 2);
	CU_ASSERT_EQUAL_FATAL(pf_ngot(&f, "up"), 3);
	CU_ASSERT_EQUAL(pf_got(&f, "up", 1)->vp, 3);
	CU_ASSERT_PTR_EQUAL(pf_got(&f, "up", 0)->lls, pf_got(&f, "up", 2)->lls);
	CU_ASSERT_EQUAL(pf_sessions(&f, "vnet"), 2);
	pf_down(&f);
}

static void a_refusal_goes_all_the_way_down(void)
{
	pf_up(&f, 1, graph_two);
	pf_upper_of(&f, "up")->refuse = true;
	for (int i = 0; i < 10; i++)
		pf_inject_host(&f, "a", 0, HOST(10, 0, 0, 9), IP, "x", 1);
	CU_ASSERT_EQUAL(pf_ngot(&f, "up"), 0);
	CU_ASSERT_EQUAL(pf_sessions(&f, "vnet"), 0);
	CU_ASSERT_EQUAL(pf_sessions(&f, "a"), 0);
	pf_down(&f);
}

static void passive_sessions_linger_then_go_and_come_again(void)
{
	pf_up(&f, 1, graph_default_b);
	pf_inject_host(&f, "a", 0, HOST(10, 0, 0, 9), IP, "x", 1);
	CU_ASSERT_EQUAL(pf_sessions(&f, "vnet"), 1);
	pf_run(&f, 3 * XK_SEC);
	CU_ASSERT_EQUAL(pf_sessions(&f, "vnet"), 0);
	CU_ASSERT_EQUAL(pf_sessions(&f, "a"), 0);
	pf_inject_host(&f, "a", 0, HOST(10, 0, 0, 9), IP, "y", 1);
	CU_ASSERT_EQUAL(pf_upper_of(&f, "up")->open_dones, 2);
	pf_down(&f);
}

static void strangers_cannot_grow_the_table_past_its_cap(void)
{
	pf_up(&f, 1, graph_default_b);
	for (unsigned i = 0; i < 2000; i++) {
		pf_inject_host(&f, "a", 0, HOST(10, 1, i >> 8, i & 255), IP, "x", 1);
		CU_ASSERT_FATAL(pf_sessions(&f, "vnet") <= 8);
	}
	CU_ASSERT_EQUAL(pf_ngot(&f, "up"), 2000);
	pf_down(&f);
}

static void an_active_and_a_passive_session_share_a_link_session(void)
{
	struct xk_sess *s, *passive;

	pf_up(&f, 1, graph_two);
	pf_upper_of(&f, "up")->keep = true;
	pf_inject_host(&f, "a", 0, HOST(10, 0, 0, 9), IP, "1", 1);
	passive = pf_upper_of(&f, "up")->kept[0];
	s = pf_open_host(&f, "up", 0, HOST(10, 0, 0, 9), NULL);
	CU_ASSERT_PTR_NOT_EQUAL(s, passive);
	CU_ASSERT_PTR_EQUAL(s->down, passive->down);
	pf_inject_host(&f, "a", 0, HOST(10, 0, 0, 9), IP, "2", 1);
	CU_ASSERT_PTR_EQUAL(pf_got(&f, "up", 1)->lls, s);
	pf_close(&f, 0, s);
	pf_inject_host(&f, "a", 0, HOST(10, 0, 0, 9), IP, "3", 1);
	CU_ASSERT_PTR_EQUAL(pf_got(&f, "up", 2)->lls, passive);
	CU_ASSERT_EQUAL(pf_upper_of(&f, "up")->open_dones, 1);
	pf_down(&f);
}

static void enables_reach_every_link_and_are_undone_word_for_word(void)
{
	struct xk_node *up, *vnet;
	struct xk_parts ps;

	pf_up(&f, 1, graph_mute);
	up = pf_node(&f, "up");
	vnet = pf_node(&f, "vnet");
	xk_parts_init(&ps, 1);
	CU_ASSERT_EQUAL(xk_open_enable(up, up, vnet, &ps), 0);
	CU_ASSERT_EQUAL(xk_open_enable(up, up, vnet, &ps), 0);
	CU_ASSERT_EQUAL(xk_open_disable(up, up, vnet, &ps), 0);
	CU_ASSERT_EQUAL(xk_passive_count(&pf_node(&f, "a")->passive), 1);
	CU_ASSERT_EQUAL(xk_passive_count(&pf_node(&f, "b")->passive), 1);
	CU_ASSERT_EQUAL(xk_open_disable(up, up, vnet, &ps), 0);
	CU_ASSERT_EQUAL(xk_open_disable(up, up, vnet, &ps), XK_E_NOENT);
	CU_ASSERT_EQUAL(xk_passive_count(&pf_node(&f, "a")->passive), 0);
	CU_ASSERT_EQUAL(xk_passive_count(&pf_node(&f, "b")->passive), 0);
	CU_ASSERT_EQUAL(xk_open_enable(up, up, vnet, &ps), 0);
	xk_open_disable_all(up, vnet);
	CU_ASSERT_EQUAL(xk_passive_count(&vnet->passive), 0);
	CU_ASSERT_EQUAL(xk_passive_count(&pf_node(&f, "b")->passive), 0);
	pf_down(&f);
}

static void an_enable_that_one_link_refuses_leaves_none(void)
{
	struct xk_node *up, *vnet, *b;
	struct xk_parts ps;

	pf_up(&f, 1, graph_mute);
	up = pf_node(&f, "up");
	vnet = pf_node(&f, "vnet");
	b = pf_node(&f, "b");
	xk_parts_init(&ps, 1);
	CU_ASSERT_EQUAL(xk_open_enable(up, up, b, &ps), 0);
	CU_ASSERT_EQUAL(xk_open_enable(up, up, vnet, &ps), XK_E_ADDRINUSE);
	CU_ASSERT_EQUAL(xk_passive_count(&pf_node(&f, "a")->passive), 0);
	CU_ASSERT_EQUAL(xk_passive_count(&vnet->passive), 0);
	xk_open_disable_all(up, b);
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
	pf_up(&f, 1, graph_mute);
	pf_open_host(&f, "up", 0, HOST(10, 0, 0, 9), NULL);
	pf_upper_of(&f, "up")->on_msg = close_it;
	pf_inject_host(&f, "a", 0, HOST(10, 0, 0, 9), IP, "x", 1);
	CU_ASSERT_EQUAL(pf_ngot(&f, "up"), 1);
	CU_ASSERT_EQUAL(pf_sessions(&f, "vnet") + pf_sessions(&f, "a"), 0);
	pf_down(&f);
}

/* ---- control ------------------------------------------------------------------------------ */

static void sizes_are_the_links_own_and_the_least_without_one(void)
{
	struct xk_sess *s;
	uint32_t v = 0;

	pf_up(&f, 1, graph_two);
	s = pf_open_host(&f, "up", 0, HOST(10, 2, 0, 9), NULL);
	pf_enter(&f, 0);
	CU_ASSERT_EQUAL(xk_sess_control(s, XK_CTL_GETMAXPACKET, &v, 4), 4);
	CU_ASSERT_EQUAL(v, 4352);
	CU_ASSERT_EQUAL(xk_control(pf_rep(&f, "vnet", 0), XK_CTL_GETMAXPACKET, &v, 4), 4);
	CU_ASSERT_EQUAL(v, 1500);
	CU_ASSERT_EQUAL(xk_control(pf_rep(&f, "vnet", 0), XK_CTL_GETMAXPACKET, &v, 3), XK_E_INVAL);
	CU_ASSERT_EQUAL(xk_sess_control(s, XK_CTL_GETPEERHOST, &v, 4), 4);
	CU_ASSERT_EQUAL(v, HOST(10, 2, 0, 9));
	CU_ASSERT_EQUAL(xk_sess_control(s, 4711, &v, 4), XK_E_NOTSUP);
	pf_leave(&f, 0);
	pf_close(&f, 0, s);
	pf_down(&f);
}

/* Longest super-segment, 0: none; to host, or without a session. */
static uint32_t longest(uint32_t host)
{
	struct xk_sess *s = host != 0 ? pf_open_host(&f, "up", 0, host, NULL) : NULL;
	uint32_t v = 0;
	int res;

	pf_enter(&f, 0);
	res = s != NULL ? xk_sess_control(s, XK_CTL_GETMAXSUPER, &v, sizeof v) :
			  xk_control(pf_rep(&f, "vnet", 0), XK_CTL_GETMAXSUPER, &v, sizeof v);
	pf_leave(&f, 0);
	if (s != NULL)
		pf_close(&f, 0, s);
	return res < 0 ? 0 : v;
}

static void super_segments_are_as_long_as_the_link_says(void)
{
	static const struct pf_spec one[] = {
		{ &pf_hostlink, "a", NULL, "super=65535" }, { &pf_hostlink, "b", NULL, "super=20000" },
		{ &xk_proto_vnet, "vnet", "a,b", "links=10.2.0.0/16=2" }, { &pf_upper, "up", "vnet", NULL }, END
	}, mixed[] = {
		{ &pf_hostlink, "a", NULL, "super=65535" }, { &pf_driver, "drv", NULL, NULL },
		{ &xk_proto_eth, "eth", "drv", NULL },
		{ &xk_proto_arp, "arp", "eth", "addresses=10.2.0.1/16; neighbours=10.2.0.2=02:00:00:00:00:02" },
		{ &xk_proto_vnet, "vnet", "a,arp", "links=10.2.0.0/16=2" }, { &pf_upper, "up", "vnet", NULL }, END
	};

	pf_up(&f, 1, one);
	CU_ASSERT_EQUAL(longest(HOST(10, 1, 0, 2)), 65535);
	CU_ASSERT_EQUAL(longest(HOST(10, 2, 0, 2)), 20000);
	CU_ASSERT_EQUAL(longest(0), 20000);
	pf_down(&f);
	pf_up(&f, 1, mixed);
	CU_ASSERT_EQUAL(longest(HOST(10, 1, 0, 2)), 65535);
	CU_ASSERT_EQUAL(longest(HOST(10, 2, 0, 2)), 0);
	CU_ASSERT_EQUAL(longest(0), 0);
	pf_down(&f);
}

/* ---- over arp and eth ------------------------------------------------------------------------ */

static void works_over_arp_both_ways_and_passes_addresses_on(void)
{
	static const uint8_t in[] = { 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 'i', 'n' };
	struct arp_addr a = { HOST(10, 0, 0, 7), 8 };
	struct xk_sess *s;
	uint32_t v = a.addr;

	pf_up(&f, 2, graph_arp);
	pf_enter(&f, 0);
	CU_ASSERT_EQUAL(xk_control(pf_rep(&f, "vnet", 0), XK_CTL_ISLOCAL, &v, 4), 0);
	CU_ASSERT_EQUAL(xk_control(pf_rep(&f, "vnet", 0), ARP_CTL_ADD_ADDR, &a, sizeof(a)), 0);
	CU_ASSERT_EQUAL(xk_control(pf_rep(&f, "vnet", 0), XK_CTL_ISLOCAL, &v, 4), 1);
	pf_leave(&f, 0);
	pf_inject(&f, "drv", 0, in, sizeof(in));
	s = pf_open_host(&f, "up", 0, HOST(10, 0, 0, 2), NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	pf_push(&f, 0, s, "out", 3);
	CU_ASSERT_EQUAL(pf_npushed(&f, "drv"), 1);
	for (int i = 0; i < 3; i++)
		pf_inject(&f, "drv", 0, in, sizeof(in));
	CU_ASSERT_EQUAL(pf_ngot(&f, "up"), 4);
	CU_ASSERT_EQUAL(pf_upper_of(&f, "up")->open_dones, 1);
	pf_close(&f, 0, s);
	pf_inject(&f, "drv", 0, in, sizeof(in));
	CU_ASSERT_EQUAL(pf_ngot(&f, "up"), 5);
	pf_run(&f, 300 * XK_SEC);
	CU_ASSERT_EQUAL(pf_sessions(&f, "vnet"), 0);
	pf_down(&f);
}

/* ---- memory ------------------------------------------------------------------------------------- */

static void running_out_of_memory_anywhere_leaves_nothing(void)
{
	bool up = false;

	for (uint64_t k = 1; !up && k < 500; k++) {
		xk_mem_fail_after(k);
		up = pf_up_try(&f, 2, graph_arp);
		xk_mem_fail_after(0);
		pf_down(&f);
	}
	CU_ASSERT(up);
	for (uint64_t k = 1; k < 16; k++) {
		struct xk_sess *s;

		pf_up(&f, 1, graph_two);
		xk_mem_fail_after(k);
		s = pf_open_host(&f, "up", 0, HOST(10, 0, 0, 2), NULL);
		pf_inject_host(&f, "a", 0, HOST(10, 0, 0, 9), IP, "x", 1);
		xk_mem_fail_after(0);
		if (s != NULL)
			pf_close(&f, 0, s);
		pf_inject_host(&f, "a", 0, HOST(10, 0, 0, 9), IP, "x", 1);
		CU_ASSERT(pf_ngot(&f, "up") >= 1);
		pf_down(&f);
	}
}

#define T(name) { #name, name }
static CU_TestInfo tests[] = {
	T(the_longest_prefix_chooses_the_link),
	T(the_first_of_equal_prefixes_and_the_default_apply),
	T(links_that_are_not_there_are_refused_before_start),
	T(refuses_participants_without_a_host),
	T(adds_no_byte_either_way),
	T(the_session_below_shows_the_true_type_and_gets_its_up_back),
	T(opening_twice_shares_and_ten_thousand_opens_leave_nothing),
	T(first_messages_on_any_link_open_passively),
	T(a_refusal_goes_all_the_way_down),
	T(passive_sessions_linger_then_go_and_come_again),
	T(strangers_cannot_grow_the_table_past_its_cap),
	T(an_active_and_a_passive_session_share_a_link_session),
	T(enables_reach_every_link_and_are_undone_word_for_word),
	T(an_enable_that_one_link_refuses_leaves_none),
	T(closing_inside_the_pop_is_safe),
	T(sizes_are_the_links_own_and_the_least_without_one),
	T(super_segments_are_as_long_as_the_link_says),
	T(works_over_arp_both_ways_and_passes_addresses_on),
	T(running_out_of_memory_anywhere_leaves_nothing),
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "vnet", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}
