/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_ncs_choice.c - connections of one node of ncs, each opened with what it names.
 *
 * Promises: a path is found by its name, a control and an interface by theirs or by their kind's;
 * both ends do what the opener named; a name that is not there is said; a peer that lacks a
 * control refuses by its name; control connections are one for each interface and peer.
 */
#include "protocols/ncs/ncs.h"
#include "protocols/ncs/ncs_half.h"

#include "runtime/mem/xk_alloc.h"
#include "runtime/upi/xk_part.h"
#include "tests/protocols/proto_fixture.h"
#include "tests/support/xk_test.h"

#include <string.h>

extern const struct xk_proto xk_proto_eth_mem, xk_proto_eth, xk_proto_arp, xk_proto_ip, xk_proto_udp,
	xk_proto_ncs, xk_proto_window, xk_proto_credit, xk_proto_pace, xk_proto_go_back_n, xk_proto_selective_repeat;

#define SERVER 0x0a000002u
#define OTHER  0x0a010002u               /* the same process by the other wire */

/* Wire w, end x. */
#define STACK(w, x, addr) \
	{ &xk_proto_eth_mem, "d" w x, NULL, "wire=" w "; queue=4096" }, { &xk_proto_eth, "l" w x, "d" w x, NULL }, \
	{ &xk_proto_arp, "r" w x, "l" w x, NULL }, { &xk_proto_ip, "i" w x, "r" w x, "addr=" addr "/24" }, \
	{ &xk_proto_udp, "u" w x, "i" w x, NULL }

static struct pf f;

/* The server lies over what `over` says, with these parameters. */
static void up(const char *over, const char *params)
{
	const struct pf_spec g[] = {
		STACK("1", "a", "10.0.0.1"), STACK("1", "b", "10.0.0.2"),
		STACK("2", "a", "10.1.0.1"), STACK("2", "b", "10.1.0.2"),
		{ &xk_proto_credit, "ka", "u1a", "first=2; most=16" },
		{ &xk_proto_selective_repeat, "data", "ka", "window=64" },
		{ &xk_proto_pace, "video", "u1a", "rate=20Mbit/s" },
		{ &xk_proto_window, "wa", "u2a", "window=8" },
		{ &xk_proto_go_back_n, "far", "wa", "window=16" },
		{ &xk_proto_ncs, "na", "data,video,u1a,far,u2a", "sdu=1000" },
		{ &xk_proto_window, "kb", "u1b", NULL }, { &xk_proto_go_back_n, "gb", "kb", NULL },
		{ &xk_proto_ncs, "nb", over, params },
		{ &pf_upper, "client", "na", "enable=false" }, { &pf_upper, "server", "nb", "enable=false" },
		{ NULL, NULL, NULL, NULL },
	};
	struct xk_parts ps;

	pf_up(&f, 2, g);
	pf_upper_of(&f, "server")->keep = true;
	xk_parts_init(&ps, 1);
	xk_part_push_port(&ps.p[0], 7);
	CU_ASSERT_EQUAL(xk_open_enable(pf_node(&f, "server"), pf_node(&f, "server"), pf_node(&f, "nb"), &ps), XK_OK);
}

static void down(void)
{
	xk_open_disable_all(pf_node(&f, "server"), pf_node(&f, "nb"));
	pf_down(&f);
}

static int pick(struct ncs_names *w)
{
	int err;

	pf_enter(&f, 0);
	err = xk_control(pf_rep(&f, "na", 0), NCS_CTL_PICK, w, sizeof *w);
	pf_leave(&f, 0);
	return err;
}

static struct xk_sess *open_as(const struct ncs_pick *p, uint32_t host, int *err)
{
	struct xk_parts ps;

	xk_parts_init(&ps, 2);
	xk_part_push_host(&ps.p[XK_REMOTE], host);
	xk_part_push_port(&ps.p[XK_REMOTE], 7);
	xk_part_push_any(&ps.p[XK_LOCAL]);
	if (p != NULL)
		xk_part_push(&ps.p[XK_LOCAL], p, sizeof *p);
	return pf_open(&f, "client", 0, &ps, err);
}

static struct ncs_choice agreed(struct xk_sess *s)
{
	struct ncs_choice c;

	CU_ASSERT_EQUAL(xk_sess_control(s, NCS_CTL_AGREED, &c, sizeof c), (int)sizeof c);
	return c;
}

static const struct named {
	struct ncs_names names;
	uint32_t    host;
	const char *flow, *error;
	uint32_t    flow_window, error_window, most;
} cases[] = {
	{ { 0 }, SERVER, "credit", "selective_repeat", 1, 64, 16 },
	{ { .path = "data" }, SERVER, "credit", "selective_repeat", 1, 64, 16 },
	{ { .path = "video" }, SERVER, "rate", "none", 1, 1, 1 },
	{ { .path = "u1a" }, SERVER, "none", "none", 1, 1, 1 },
	{ { .path = "far" }, OTHER, "window", "go_back_n", 8, 16, 1 },
	{ { .path = "u2a" }, OTHER, "none", "none", 1, 1, 1 },
	{ { .path = "u1a", .flow = "wa" }, SERVER, "window", "none", 8, 1, 1 },
	{ { .path = "u1a", .flow = "pace", .error = "go_back_n" }, SERVER, "rate", "go_back_n", 1, 16, 1 },
	{ { .path = "data", .over = "u2a" }, OTHER, "credit", "selective_repeat", 1, 64, 16 },
	{ { .path = "far", .flow = "none" }, OTHER, "none", "go_back_n", 1, 16, 1 },
	{ { .path = "data", .error = "none" }, SERVER, "credit", "none", 1, 1, 16 },
	{ { .flow = "window", .error = "selective_repeat", .over = "udp" }, SERVER, "window", "selective_repeat", 8, 64, 1 },
};

/* Each carries messages under what it named, at both ends, over the wire that it named. */
static void each_connection_has_what_its_opener_named(void)
{
	static uint8_t b[5000];

	up("u1b,u2b", NULL);
	for (unsigned i = 0; i < XK_ARRAY_LEN(cases); i++) {
		const struct named *c = &cases[i];
		struct ncs_names w = c->names;
		struct xk_sess *s;

		CU_ASSERT_EQUAL(pick(&w), XK_OK);
		CU_ASSERT_PTR_NULL(w.wrong);
		s = open_as(i == 0 ? NULL : &w.pick, c->host, NULL);
		CU_ASSERT_PTR_NOT_NULL_FATAL(s);
		pf_push(&f, 0, s, b, sizeof b);
		pf_run(&f, 100 * XK_MS);
		CU_ASSERT_EQUAL_FATAL(pf_upper_of(&f, "server")->nkept, i + 1);
		CU_ASSERT_EQUAL(pf_ngot(&f, "server"), i + 1);
		for (unsigned end = 0; end < 2; end++) {
			struct ncs_choice got = agreed(end ? pf_upper_of(&f, "server")->kept[i] : s);

			CU_ASSERT_STRING_EQUAL(got.flow->name, c->flow);
			CU_ASSERT_STRING_EQUAL(got.error->name, c->error);
			CU_ASSERT_EQUAL(got.agreed.flow_window, c->flow_window);
			CU_ASSERT_EQUAL(got.agreed.error_window, c->error_window);
			CU_ASSERT_EQUAL(got.agreed.most, c->most);
		}
		pf_close(&f, 0, s);
		pf_run(&f, XK_SEC);
	}
	CU_ASSERT_EQUAL(pf_sessions(&f, "na"), 2);       /* a control connection by each wire */
	CU_ASSERT_EQUAL(pf_sessions(&f, "u1a"), 1);
	CU_ASSERT_EQUAL(pf_sessions(&f, "u2a"), 1);
	down();
}

static void what_is_not_there_is_said_by_its_name(void)
{
	struct ncs_names w[] = {
		{ .path = "audio" }, { .path = "ka" }, { .flow = "data" }, { .flow = "arp" }, { .error = "credit" },
		{ .over = "i1a" }, { .path = "data", .over = "tcp" },
	};
	const char *const wrong[] = { "audio", "ka", "data", "arp", "credit", "i1a", "tcp" };
	const struct ncs_pick beyond[] = { { 5, 0, 0 }, { 0, 5, 0 }, { 0, 0, 5 }, { 0, 0, NCS_PICK_NONE } };
	int err;

	up("u1b", NULL);
	for (unsigned i = 0; i < XK_ARRAY_LEN(w); i++) {
		CU_ASSERT_EQUAL(pick(&w[i]), XK_E_NOENT);
		CU_ASSERT_PTR_NOT_NULL_FATAL(w[i].wrong);
		CU_ASSERT_STRING_EQUAL(w[i].wrong, wrong[i]);
	}
	for (unsigned i = 0; i < XK_ARRAY_LEN(beyond); i++) {
		CU_ASSERT_PTR_NULL(open_as(&beyond[i], SERVER, &err));
		CU_ASSERT_EQUAL(err, XK_E_INVAL);
	}
	CU_ASSERT_EQUAL(pf_sessions(&f, "na"), 0);
	down();
}

/* Opens by names and says how it ended. */
static struct ncs_ended refusal(struct ncs_names w)
{
	struct ncs_ended e = { 0 };
	struct xk_sess *s;

	CU_ASSERT_EQUAL(pick(&w), XK_OK);
	s = open_as(&w.pick, SERVER, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	pf_run(&f, 100 * XK_MS);
	CU_ASSERT_EQUAL(xk_sess_control(s, NCS_CTL_ENDED, &e, sizeof e), (int)sizeof e);
	pf_close(&f, 0, s);
	pf_run(&f, XK_SEC);
	return e;
}

static void who_lacks_a_control_refuses_by_its_name(void)
{
	struct ncs_ended e;

	up("gb,u1b", "accept=own");              /* window and go_back_n, or either alone, or neither */
	e = refusal((struct ncs_names){ .path = "data" });
	CU_ASSERT_EQUAL(e.err, XK_E_NOTSUP);
	CU_ASSERT_STRING_EQUAL(e.why, "no flow control 'credit' here");
	e = refusal((struct ncs_names){ .path = "data", .flow = "window" });
	CU_ASSERT_EQUAL(e.err, XK_E_NOTSUP);
	CU_ASSERT_STRING_EQUAL(e.why, "no error control 'selective_repeat' here");
	CU_ASSERT_EQUAL(pf_count(&f, "nb", "accepted"), 0);
	CU_ASSERT_EQUAL(pf_count(&f, "na", "refused"), 2);
	e = refusal((struct ncs_names){ .path = "u1a", .flow = "window", .error = "go_back_n" });
	CU_ASSERT_EQUAL(e.err, 0);
	CU_ASSERT_EQUAL(pf_count(&f, "nb", "accepted"), 1);
	down();
}

static CU_TestInfo choice[] = {
	{ "each_connection_has_what_its_opener_named", each_connection_has_what_its_opener_named },
	{ "what_is_not_there_is_said_by_its_name", what_is_not_there_is_said_by_its_name },
	{ "who_lacks_a_control_refuses_by_its_name", who_lacks_a_control_refuses_by_its_name },
	CU_TEST_INFO_NULL
};

int main(void)
{
	static const CU_SuiteInfo suites[] = { { .pName = "ncs choice", .pTests = choice }, CU_SUITE_INFO_NULL };

	return xk_test_main(suites);
}
