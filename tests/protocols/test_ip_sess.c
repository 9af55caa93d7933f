/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_ip_sess.c - how IP's sessions live: shared, passive, lingering, refused,
 * closed in the middle of a message, at their cap, and without memory.
 */
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"
#include "tests/protocols/net_fixture.h"
#include "tests/support/xk_test.h"

static struct pf f;
static uint8_t d[4096], pay[4096];

/* ---- sessions ---------------------------------------------------------------------------------- */

static void one_session_is_shared_by_its_openers(void)
{
	struct xk_sess *a, *b;
	int err = 0;

	nf_up1(&f, NULL);
	a = pf_open_host(&f, "raw", 0, NF_PEER, &err);
	b = nf_open(&f, "raw", 0, NF_PEER, 0, NF_US, 0, &err);
	CU_ASSERT_PTR_EQUAL(a, b);
	CU_ASSERT_EQUAL(a->rcnt, 2);
	CU_ASSERT_EQUAL(a->down->rcnt, 1);
	pf_close(&f, 0, a);
	CU_ASSERT_EQUAL(pf_sessions(&f, "ip"), 1);
	pf_close(&f, 0, b);
	CU_ASSERT_EQUAL(pf_sessions(&f, "ip"), 0);
	nf_down(&f);
}

static void counts_return_to_base_after_ten_thousand_opens(void)
{
	nf_up1(&f, NULL);
	for (unsigned i = 0; i < 10000; i++) {
		int err;
		struct xk_sess *s = pf_open_host(&f, "raw", 0, NF_PEER + i % 7, &err);

		pf_close(&f, 0, s);
	}
	CU_ASSERT_EQUAL(pf_sessions(&f, "ip"), 0);
	CU_ASSERT_EQUAL(pf_sessions(&f, "hl"), 0);
	nf_down(&f);
	nf_up1(&f, "idle_timeout=0s");
	for (unsigned i = 0; i < 10000; i++)
		nf_in(&f, 0, d, nf_ip(d, &(struct nf_ip){ .src = NF_PEER + i % 7 }, pay, 1));
	CU_ASSERT_EQUAL(pf_upper_of(&f, "raw")->open_dones, 10000);
	CU_ASSERT_EQUAL(pf_sessions(&f, "ip"), 0);
	nf_down(&f);
}

static void open_done_comes_before_the_first_message(void)
{
	nf_up1(&f, NULL);
	nf_in(&f, 0, d, nf_ip(d, &(struct nf_ip){ 0 }, pay, 1));
	CU_ASSERT_EQUAL(pf_upper_of(&f, "raw")->open_dones, 1);
	CU_ASSERT_EQUAL(pf_upper_of(&f, "raw")->got_at_open_done, 0);
	CU_ASSERT_EQUAL(nf_ngot(&f, "raw"), 1);
	nf_in(&f, 0, d, nf_ip(d, &(struct nf_ip){ 0 }, pay, 1));
	CU_ASSERT_EQUAL(pf_upper_of(&f, "raw")->open_dones, 1);
	nf_down(&f);
}

static void a_refused_session_leaves_nothing(void)
{
	nf_up1(&f, NULL);
	pf_upper_of(&f, "raw")->refuse = true;
	nf_in(&f, 0, d, nf_ip(d, &(struct nf_ip){ 0 }, pay, 1));
	nf_only_drop(&f, "ip", "refused");
	CU_ASSERT_EQUAL(pf_sessions(&f, "ip"), 0);
	CU_ASSERT_EQUAL(nf_ngot(&f, "raw"), 0);
	pf_upper_of(&f, "raw")->refuse = false;
	nf_in(&f, 0, d, nf_ip(d, &(struct nf_ip){ 0 }, pay, 1));
	CU_ASSERT_EQUAL(nf_ngot(&f, "raw"), 1);
	nf_down(&f);
}

static void a_passive_session_lingers_and_then_goes(void)
{
	nf_up1(&f, "idle_timeout=10s");
	nf_in(&f, 0, d, nf_ip(d, &(struct nf_ip){ 0 }, pay, 1));
	nf_in(&f, 0, d, nf_ip(d, &(struct nf_ip){ .src = NF_PEER + 1 }, pay, 1));
	CU_ASSERT_EQUAL(pf_sessions(&f, "ip"), 2);
	CU_ASSERT_EQUAL(pf_sessions(&f, "hl"), 0);   /* nothing resolved for listeners */
	pf_run(&f, 9 * XK_SEC);
	CU_ASSERT_EQUAL(pf_sessions(&f, "ip"), 2);
	pf_run(&f, 2 * XK_SEC);
	CU_ASSERT_EQUAL(pf_sessions(&f, "ip"), 0);
	nf_in(&f, 0, d, nf_ip(d, &(struct nf_ip){ 0 }, pay, 1));
	CU_ASSERT_EQUAL(pf_upper_of(&f, "raw")->open_dones, 3);
	nf_down(&f);
}

static void a_kept_session_outlives_the_lingering(void)
{
	nf_up1(&f, "idle_timeout=1s");
	pf_upper_of(&f, "raw")->keep = true;
	nf_in(&f, 0, d, nf_ip(d, &(struct nf_ip){ 0 }, pay, 1));
	pf_run(&f, 5 * XK_SEC);
	CU_ASSERT_EQUAL(pf_sessions(&f, "ip"), 1);
	CU_ASSERT_EQUAL(pf_upper_of(&f, "raw")->kept[0]->rcnt, 1);
	nf_down(&f);
}

static void a_lingering_session_is_taken_over_as_if_new(void)
{
	struct xk_sess *s;
	int err;

	nf_up1(&f, "idle_timeout=10s");
	nf_in(&f, 0, d, nf_ip(d, &(struct nf_ip){ 0 }, pay, 1));
	s = pf_open_host(&f, "raw", 0, NF_PEER, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	CU_ASSERT_EQUAL(s->rcnt, 1);
	CU_ASSERT_EQUAL(s->flags, 0);
	CU_ASSERT_EQUAL(pf_sessions(&f, "ip"), 1);
	pf_run(&f, 20 * XK_SEC);
	pf_push(&f, 0, s, pay, 5);
	CU_ASSERT_EQUAL(nf_nsent(&f), 1);
	pf_close(&f, 0, s);
	CU_ASSERT_EQUAL(pf_sessions(&f, "ip"), 0);
	nf_down(&f);
}

static void answer_now(struct xk_rep *r, struct xk_sess *lls, struct xk_msg *m)
{
	struct xk_msg *a = xk_msg_clone(m);

	(void)r;
	if (a != NULL)
		xk_push(lls, a);
}

static void an_answer_goes_by_route_and_from_our_address(void)
{
	nf_up1(&f, "routes=0.0.0.0/0=10.0.0.254");
	pf_upper_of(&f, "raw")->on_msg = answer_now;
	nf_in(&f, 0, d, nf_ip(d, &(struct nf_ip){ .src = 0x08080808 }, pay, 3));
	CU_ASSERT_EQUAL_FATAL(nf_nsent(&f), 1);
	CU_ASSERT_EQUAL(pf_pushed(&f, "hl", 0)->host, 0x0a0000fe);
	nf_in(&f, 0, d, nf_ip(d, &(struct nf_ip){ .dst = 0x0affffff }, pay, 3));
	CU_ASSERT_EQUAL_FATAL(nf_nsent(&f), 2);
	CU_ASSERT_EQUAL(xk_be32(pf_pushed(&f, "hl", 1)->bytes + 12), NF_US);
	CU_ASSERT_EQUAL(xk_be32(pf_pushed(&f, "hl", 1)->bytes + 16), NF_PEER);
	nf_down(&f);
	nf_up1(&f, NULL);
	pf_upper_of(&f, "raw")->on_msg = answer_now;
	nf_in(&f, 0, d, nf_ip(d, &(struct nf_ip){ .src = 0x08080808 }, pay, 3));
	nf_only_drop(&f, "ip", "no_route");
	nf_down(&f);
}

static void close_it(struct xk_rep *r, struct xk_sess *lls, struct xk_msg *m)
{
	struct pf_upper_state *st = r->node->state;

	(void)m;
	xk_close(lls);
	st->nkept = 0;
	CU_ASSERT_EQUAL(lls->rep != NULL, true);     /* still there */
}

static void a_close_during_pop_waits_for_its_end(void)
{
	nf_up1(&f, "idle_timeout=0s");
	pf_upper_of(&f, "raw")->keep = true;
	pf_upper_of(&f, "raw")->on_msg = close_it;
	nf_in(&f, 0, d, nf_ip(d, &(struct nf_ip){ 0 }, pay, 1));
	CU_ASSERT_EQUAL(nf_ngot(&f, "raw"), 1);
	CU_ASSERT_EQUAL(pf_sessions(&f, "ip"), 0);
	nf_down(&f);
}

static void the_oldest_unkept_session_makes_room_at_the_cap(void)
{
	nf_up1(&f, "sessions=4");
	for (uint32_t i = 0; i < 10; i++)
		nf_in(&f, 0, d, nf_ip(d, &(struct nf_ip){ .src = NF_PEER + i }, pay, 1));
	CU_ASSERT_EQUAL(nf_ngot(&f, "raw"), 10);
	CU_ASSERT_EQUAL(pf_sessions(&f, "ip"), 4);
	pf_upper_of(&f, "raw")->keep = true;
	for (uint32_t i = 10; i < 14; i++)
		nf_in(&f, 0, d, nf_ip(d, &(struct nf_ip){ .src = NF_PEER + i }, pay, 1));
	CU_ASSERT_EQUAL(nf_drops(&f), 0);
	nf_in(&f, 0, d, nf_ip(d, &(struct nf_ip){ .src = NF_PEER + 20 }, pay, 1));
	nf_only_drop(&f, "ip", "too_many_sessions");
	nf_down(&f);
}

static void the_third_disable_fails(void)
{
	struct xk_node *app, *ip;

	nf_up1(&f, NULL);
	app = pf_node(&f, "raw");
	ip = pf_node(&f, "ip");
	CU_ASSERT_EQUAL(nf_enable(&f, "raw", true, 0, 0), XK_OK);    /* the second: start was one */
	CU_ASSERT_EQUAL(nf_enable(&f, "raw", false, 0, 0), XK_OK);
	CU_ASSERT_EQUAL(nf_enable(&f, "raw", false, 0, 0), XK_OK);
	CU_ASSERT_EQUAL(nf_enable(&f, "raw", false, 0, 0), XK_E_NOENT);
	nf_in(&f, 0, d, nf_ip(d, &(struct nf_ip){ 0 }, pay, 1));
	nf_only_drop(&f, "ip", "unknown_protocol");
	CU_ASSERT_EQUAL(nf_enable(&f, "raw", true, 0, NF_US), XK_OK);
	CU_ASSERT_EQUAL(xk_open_enable(pf_node(&f, "udp"), app, ip, NULL), XK_OK);
	nf_in(&f, 0, d, nf_ip(d, &(struct nf_ip){ 0 }, pay, 1));
	CU_ASSERT_EQUAL(nf_ngot(&f, "raw"), 1);                      /* exact before any */
	xk_open_disable_all(pf_node(&f, "udp"), ip);
	nf_down(&f);
}

static void controls_answer_for_sessions_and_replicas(void)
{
	struct xk_sess *s;
	struct xk_parts ps;
	uint32_t v, ours = NF_US, other = NF_PEER;
	uint8_t mac[6];
	int err;

	nf_up1(&f, "mtu=1000");
	s = pf_open_host(&f, "raw", 0, NF_PEER, &err);
	pf_enter(&f, 0);
	CU_ASSERT(xk_sess_control(s, XK_CTL_GETMAXPACKET, &v, 4) == 4 && v == 65515);
	CU_ASSERT(xk_sess_control(s, XK_CTL_GETOPTPACKET, &v, 4) == 4 && v == 980);
	CU_ASSERT(xk_sess_control(s, XK_CTL_GETMYHOST, &v, 4) == 4 && v == NF_US);
	CU_ASSERT(xk_sess_control(s, XK_CTL_GETPEERHOST, &v, 4) == 4 && v == NF_PEER);
	CU_ASSERT(xk_sess_control(s, XK_CTL_GETMYPROTO, &v, 4) == 4 && v == 253);
	CU_ASSERT_EQUAL(xk_sess_control(s, XK_CTL_GETMYPROTO, &v, 3), XK_E_INVAL);
	CU_ASSERT_EQUAL(xk_sess_control(s, XK_CTL_GETPARTICIPANTS, &ps, sizeof ps), (int)sizeof ps);
	CU_ASSERT(xk_part_pop_host(&ps.p[XK_REMOTE], &v) == 0 && v == NF_PEER && ps.p[0].depth == 0);
	CU_ASSERT(xk_part_pop_host(&ps.p[XK_LOCAL], &v) == 0 && v == NF_US);
	CU_ASSERT_EQUAL(xk_control(s->rep, XK_CTL_ISLOCAL, &ours, 4), 1);
	CU_ASSERT_EQUAL(xk_control(s->rep, XK_CTL_ISLOCAL, &other, 4), 0);
	CU_ASSERT(xk_control(s->rep, XK_CTL_GETOPTPACKET, &v, 4) == 4 && v == 980);
	CU_ASSERT_EQUAL(xk_sess_control(s, XK_CTL_GETMYMAC, mac, 6), XK_E_NOTSUP);
	pf_leave(&f, 0);
	pf_close(&f, 0, s);
	nf_down(&f);
}

/* ---- memory ----------------------------------------------------------------------------------------- */

static void one_of_everything(void)
{
	struct xk_sess *s;
	int err;

	if (!nf_up_try(&f, &(struct nf_conf){ .nvps = 2, .hl = "mtu=576" })) {
		pf_down(&f);
		return;
	}
	nf_in(&f, 0, d, nf_ip(d, &(struct nf_ip){ 0 }, pay, 30));
	nf_in(&f, 1, d, nf_ip(d, &(struct nf_ip){ .proto = 99 }, pay, 30));
	nf_in(&f, 0, d, nf_ip(d, &(struct nf_ip){ .frag = 0x2000 }, pay, 16));
	nf_in(&f, 0, d, nf_ip(d, &(struct nf_ip){ .frag = 2 }, pay, 16));
	nf_in(&f, 0, d, nf_ip(d, &(struct nf_ip){ .id = 4, .frag = 0x2000 }, pay, 16));
	s = pf_open_host(&f, "raw", 1, NF_PEER, &err);
	if (s != NULL) {
		pf_push(&f, 1, s, pay, 3000);
		pf_close(&f, 1, s);
	}
	nf_down(&f);
}

static void no_failed_allocation_leaks(void)
{
	nf_torture(one_of_everything);
}

/* ---- table ---------------------------------------------------------------------------------- */

#define T(fn) { #fn, fn }
static CU_TestInfo sess_tests[] = {
	T(one_session_is_shared_by_its_openers), T(counts_return_to_base_after_ten_thousand_opens),
	T(open_done_comes_before_the_first_message), T(a_refused_session_leaves_nothing),
	T(a_passive_session_lingers_and_then_goes), T(a_kept_session_outlives_the_lingering),
	T(a_lingering_session_is_taken_over_as_if_new), T(an_answer_goes_by_route_and_from_our_address),
	T(a_close_during_pop_waits_for_its_end), T(the_oldest_unkept_session_makes_room_at_the_cap),
	T(the_third_disable_fails), T(controls_answer_for_sessions_and_replicas),
	T(no_failed_allocation_leaks), CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "ip sessions", NULL, NULL, NULL, NULL, sess_tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}
