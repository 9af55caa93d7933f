/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_apps.c - load and sink: the applications of the experiments.
 *
 * Promises: connections run on the VPs of the graph's map and share a VP fairly;
 * exactly one copy with the checksum fused into it; rates and silences are kept; a
 * window closes and opens; counts are exact and end the graph when asked; nothing
 * leaks, whatever fails.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/xk_param_value.h"
#include "runtime/upi/xk_app.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"
#include "tests/protocols/proto_fixture.h"
#include "tests/support/xk_test.h"

extern const struct xk_proto xk_proto_eth_mem, xk_proto_eth, xk_proto_arp, xk_proto_ip, xk_proto_udp,
	xk_proto_echo, xk_proto_load_port, xk_proto_sink_port, xk_proto_impair, xk_proto_fddi_mem, xk_proto_fddi, xk_proto_peer_sink;

#define HOST(x, addr) \
	{ &xk_proto_eth_mem, "d" x, NULL, "wire=w; queue=100000" }, { &xk_proto_eth, "l" x, "d" x, NULL }, \
	{ &xk_proto_arp, "r" x, "l" x, "queue=1024" }, { &xk_proto_ip, "i" x, "r" x, "addr=" addr "/24" }, \
	{ &xk_proto_udp, "u" x, "i" x, NULL }

static struct pf f;

/* Two hosts: a source on one, something else on the other. */
static void up(unsigned nvps, const char *source, const struct xk_proto *other, const char *params)
{
	const struct pf_spec g[] = {
		HOST("a", "10.0.0.1"), { &xk_proto_load_port, "load", "ua", source },
		HOST("b", "10.0.0.2"), { other, "other", "ub", params },
		{ NULL, NULL, NULL, NULL } };

	pf_up(&f, nvps, g);
}

static struct xk_app_counts counts(const char *node, unsigned vp)
{
	struct xk_app_counts c;

	CU_ASSERT_EQUAL_FATAL(xk_control(pf_rep(&f, node, vp), XK_CTL_APP_COUNTS, &c, sizeof c), (int)sizeof c);
	return c;
}

/* Largest difference between connections of one VP. */
static uint64_t spread(const char *node)
{
	uint64_t worst = 0;

	for (unsigned vp = 0; vp < f.g->vps->nvps; vp++) {
		struct xk_app_counts c = counts(node, vp);
		uint64_t lo = UINT64_MAX, hi = 0;

		for (uint64_t i = 0; i < c.n; i++) {
			lo = c.messages[i] < lo ? c.messages[i] : lo;
			hi = c.messages[i] > hi ? c.messages[i] : hi;
		}
		if (c.n != 0 && hi - lo > worst)
			worst = hi - lo;
	}
	return worst;
}

/* ---- what arrives --------------------------------------------------------------------- */

static void every_message_arrives_once(void)
{
	up(4, "to=10.0.0.2; conns=10; count=100; size=700", &xk_proto_sink_port, NULL);
	pf_run(&f, XK_SEC);
	CU_ASSERT_EQUAL(pf_count(&f, "load", "messages"), 1000);
	CU_ASSERT_EQUAL(pf_count(&f, "load", "bytes"), 700000);
	CU_ASSERT_EQUAL(pf_count(&f, "other", "messages"), 1000);
	CU_ASSERT_EQUAL(pf_count(&f, "other", "bytes"), 700000);
	CU_ASSERT_EQUAL(pf_sessions(&f, "other"), 10);
	CU_ASSERT_EQUAL(spread("other"), 0);
	pf_down(&f);
}

static void every_way_of_touching_sends_good_datagrams(void)
{
	static const char *const touch[] = { "copy", "line", "none" };
	static const uint32_t sizes[] = { 0, 1, 64, 1472, 4000, 65507 };
	char params[128];

	for (unsigned t = 0; t < 3; t++)
		for (unsigned k = 0; k < XK_ARRAY_LEN(sizes); k++) {
			snprintf(params, sizeof params, "to=10.0.0.2; count=20; size=%u; touch=%s", sizes[k], touch[t]);
			up(1, params, &xk_proto_sink_port, t ? "touch=line" : "touch=copy");
			pf_run(&f, XK_SEC);
			CU_ASSERT_EQUAL(pf_count(&f, "other", "messages"), 20);
			CU_ASSERT_EQUAL(pf_count(&f, "other", "bytes"), 20ull * sizes[k]);
			CU_ASSERT_EQUAL(pf_drops(&f, "ub", NULL), 0);    /* checksums were good */
			pf_down(&f);
		}
}

/* One push each; sizes that divide and that do not, and one that a datagram holds. */
static void a_message_may_leave_in_several_datagrams(void)
{
	static const uint32_t size[] = { 14000, 14001, 65507, 1400, 3 };
	char params[128];

	for (unsigned k = 0; k < XK_ARRAY_LEN(size); k++) {
		snprintf(params, sizeof params, "to=10.0.0.2; count=20; segment=1400; size=%u", size[k]);
		up(1, params, &xk_proto_sink_port, "touch=copy");
		pf_run(&f, XK_SEC);
		CU_ASSERT_EQUAL(pf_count(&f, "load", "messages"), 20);
		CU_ASSERT_EQUAL(pf_count(&f, "ua", "super_segments_out"), size[k] > 1400 ? 20 : 0);
		CU_ASSERT_EQUAL(pf_count(&f, "other", "messages"), 20 * ((size[k] + 1399) / 1400));
		CU_ASSERT_EQUAL(pf_count(&f, "other", "bytes"), 20ull * size[k]);
		CU_ASSERT_EQUAL(pf_drops(&f, "ub", NULL), 0);
		pf_down(&f);
	}
}

/* Without an end, a rate and answers, a unit has ways of its own. */
static void units_of_one_send_good_datagrams_without_end(void)
{
	static const uint32_t sizes[] = { 0, 1, 7, 8, 64, 127, 128, 129, 300, 1472, 4000 };
	char params[128];

	for (unsigned k = 0; k < XK_ARRAY_LEN(sizes); k++) {
		const struct pf_spec g[] = {
			HOST("a", "10.0.0.1"), { &xk_proto_load_port, "load", "ua", params },
			HOST("b", "10.0.0.2"), { &xk_proto_sink_port, "other", "ub", "touch=copy" }, { NULL, NULL, NULL, NULL } };
		uint64_t sent, got;

		snprintf(params, sizeof params, "to=10.0.0.2; conns=3; burst=1; size=%u", sizes[k]);
		CU_ASSERT_TRUE_FATAL(pf_up_try(&f, 1, g));
		for (unsigned i = 0; i < 500; i++)
			xk_vpset_step(f.g->vps);
		sent = pf_count(&f, "load", "messages");
		got = pf_count(&f, "other", "messages");
		CU_ASSERT(sent >= 100 && got <= sent && got >= sent - 40);
		CU_ASSERT(spread("load") <= 1);
		CU_ASSERT_EQUAL(pf_count(&f, "load", "bytes"), sent * sizes[k]);
		CU_ASSERT_EQUAL(pf_count(&f, "other", "bytes"), got * sizes[k]);
		CU_ASSERT_EQUAL(pf_drops(&f, "ub", NULL), 0);            /* checksums were good */
		pf_down(&f);
	}
}

/* The reason why the paper's link is FDDI. */
static void four_kilobytes_are_one_frame_on_fddi_and_three_on_ethernet(void)
{
	static const struct { const struct xk_proto *drv, *link; unsigned frames; } k[] = {
		{ &xk_proto_fddi_mem, &xk_proto_fddi, 1 }, { &xk_proto_eth_mem, &xk_proto_eth, 3 } };

	for (unsigned i = 0; i < 2; i++) {
		const struct pf_spec g[] = {
			{ &xk_proto_peer_sink, "p", NULL, NULL }, { k[i].drv, "d", "p", NULL }, { k[i].link, "l", "d", NULL },
			{ &xk_proto_arp, "r", "l", "neighbours=10.0.0.2=02:00:00:00:00:02" },
			{ &xk_proto_ip, "ip", "r", "addr=10.0.0.1/24" }, { &xk_proto_udp, "udp", "ip", NULL },
			{ &xk_proto_load_port, "load", "udp", "to=10.0.0.2; size=4096; count=100" },
			{ NULL, NULL, NULL, NULL } };

		pf_up(&f, 1, g);
		pf_run(&f, XK_MS);
		CU_ASSERT_EQUAL(pf_count(&f, "load", "messages"), 100);
		CU_ASSERT_EQUAL(pf_count(&f, "p", "sunk"), 100 * k[i].frames);
		pf_down(&f);
	}
}

static void ports_and_own_ports_are_used_in_turn(void)
{
	uint64_t seen = 0;

	up(2, "to=10.0.0.2; conns=6; count=1; port=100; ports=3; lport=5000", &xk_proto_sink_port, "port=100; ports=3");
	pf_run(&f, XK_MS);
	CU_ASSERT_EQUAL(pf_count(&f, "other", "messages"), 6);
	for (unsigned vp = 0; vp < 2; vp++)
		for (uint64_t i = 0; i < counts("other", vp).n; i++)
			seen += counts("other", vp).messages[i];
	CU_ASSERT_EQUAL(seen, 6);
	CU_ASSERT_EQUAL(pf_sessions(&f, "other"), 6);
	pf_down(&f);
}

/* ---- fairness and places ---------------------------------------------------------------- */

static void connections_live_where_the_map_puts_them(void)
{
	up(3, "to=10.0.0.2; conns=8; count=5", &xk_proto_sink_port, NULL);
	pf_run(&f, XK_MS);
	for (unsigned vp = 0; vp < 3; vp++) {
		struct xk_app_counts c = counts("load", vp);

		CU_ASSERT_EQUAL_FATAL(c.n, vp < 2 ? 3 : 2);
		for (uint64_t i = 0; i < c.n; i++) {
			CU_ASSERT_EQUAL(c.conn[i] % 3, vp);
			CU_ASSERT_EQUAL(c.messages[i], 5);
		}
	}
	pf_down(&f);
}

static void connections_of_a_vp_differ_by_at_most_one_unit(void)
{
	static const struct { const char *params; uint64_t burst; } k[] = {
		{ "to=10.0.0.2; conns=9; count=3000; burst=1", 1 },
		{ "to=10.0.0.2; conns=9; count=3000; burst=5", 5 },
		{ "to=10.0.0.2; conns=9; count=3000", 16 } };     /* the graph's burst */

	for (unsigned i = 0; i < 3; i++) {
		const struct pf_spec g[] = {
			HOST("a", "10.0.0.1"), { &xk_proto_load_port, "load", "ua", k[i].params },
			HOST("b", "10.0.0.2"), { &xk_proto_sink_port, "other", "ub", NULL }, { NULL, NULL, NULL, NULL } };
		uint64_t worst = 0;

		CU_ASSERT_TRUE_FATAL(pf_up_try(&f, 2, g));
		while (xk_vpset_step(f.g->vps) != 0)
			worst = spread("load") > worst ? spread("load") : worst;
		CU_ASSERT_EQUAL(worst, k[i].burst);
		CU_ASSERT_EQUAL(pf_count(&f, "load", "messages"), 27000);
		pf_down(&f);
	}
}

/* ---- time ------------------------------------------------------------------------------------ */

static void keeps_each_connection_to_its_rate(void)
{
	uint64_t before;

	up(2, "to=10.0.0.2; conns=4; rate=1000", &xk_proto_sink_port, NULL);
	pf_run(&f, 100 * XK_MS);
	before = pf_count(&f, "load", "messages");
	pf_run(&f, 10 * XK_SEC);
	CU_ASSERT(llabs((long long)(pf_count(&f, "load", "messages") - before) - 40000) <= 8);
	CU_ASSERT(spread("load") <= 2);
	pf_down(&f);
}

struct setting { struct xk_rep *r; const struct xk_param *p; unsigned char conf[1024]; };

/* What xk_rep_set does, in a graph whose replicas share the node's configuration. */
static void set_inside(struct setting *s, const char *value)
{
	const struct xk_proto *proto = s->r->node->proto;
	char why[100];

	CU_ASSERT_FATAL(proto->conf_size <= sizeof s->conf);
	memcpy(s->conf, s->r->conf, proto->conf_size);
	CU_ASSERT_EQUAL_FATAL(xk_param_set(s->p, s->conf, value, true, why, sizeof why), XK_OK);
	pf_enter(&f, s->r->vp->no);
	CU_ASSERT_EQUAL(proto->ops->rep_set(s->r, s->p, s->conf, why, sizeof why), XK_OK);
	xk_param_copy(s->p, s->r->node->conf, s->conf);
	pf_leave(&f, s->r->vp->no);
}

static void connections_do_not_fall_into_step_when_their_rate_changes(void)
{
	struct setting s = { .p = xk_param_find(xk_proto_load_port.params, "rate") };
	uint64_t most = 0, all = 0;

	up(1, "to=10.0.0.2; conns=400; rate=1000", &xk_proto_sink_port, NULL);
	pf_run(&f, 10 * XK_MS);
	s.r = pf_rep(&f, "load", 0);
	set_inside(&s, "100");
	pf_run(&f, 30 * XK_MS);
	for (unsigned i = 0; i < 20; i++) {
		uint64_t before = pf_count(&f, "load", "messages"), n;

		pf_run(&f, XK_MS);
		n = pf_count(&f, "load", "messages") - before;
		most = n > most ? n : most;
		all += n;
	}
	CU_ASSERT(llabs((long long)all - 800) <= 100);
	CU_ASSERT(most <= 120);                  /* 40 is even; in step it were 400 */
	pf_down(&f);
}

static void is_silent_as_long_as_it_was_told(void)
{
	uint64_t sent[100], busy = 0;

	/* 30 ms of sending, 70 ms of silence, at 10 000 a second while sending. */
	up(1, "to=10.0.0.2; rate=10000; on=30ms; off=70ms", &xk_proto_sink_port, NULL);
	pf_run(&f, 200 * XK_MS);
	for (unsigned i = 0; i < 100; i++) {
		uint64_t before = pf_count(&f, "load", "messages");

		pf_run(&f, 10 * XK_MS);
		sent[i] = pf_count(&f, "load", "messages") - before;
		busy += sent[i] != 0;
	}
	CU_ASSERT(busy >= 30 && busy <= 45);
	pf_down(&f);
	up(1, "to=10.0.0.2; conns=50; rate=1000; on=20ms; off=60ms; random=true", &xk_proto_sink_port, NULL);
	pf_run(&f, 20 * XK_SEC);
	/* A quarter of 50 * 1000 * 20 s, give or take. */
	CU_ASSERT(pf_count(&f, "load", "messages") > 200000 && pf_count(&f, "load", "messages") < 300000);
	pf_down(&f);
}

/* ---- the window ---------------------------------------------------------------------------------- */

static void a_window_lets_so_many_messages_out_and_waits(void)
{
	up(1, "to=10.0.0.2; conns=2; window=3; timeout=100ms", &xk_proto_sink_port, NULL);
	pf_run(&f, 50 * XK_MS);
	CU_ASSERT_EQUAL(pf_count(&f, "load", "messages"), 6);      /* nobody answers */
	pf_run(&f, 100 * XK_MS);
	CU_ASSERT_EQUAL(pf_count(&f, "load", "messages"), 12);     /* patience ended once */
	CU_ASSERT_EQUAL(pf_count(&f, "load", "unanswered"), 6);
	pf_down(&f);
}

static void answers_open_the_window_and_the_last_one_ends_the_run(void)
{
	up(2, "to=10.0.0.2; port=7; conns=5; window=4; count=333", &xk_proto_echo, NULL);
	pf_run(&f, XK_SEC);
	CU_ASSERT_EQUAL(pf_count(&f, "load", "messages"), 5 * 333);
	CU_ASSERT_EQUAL(pf_count(&f, "load", "answers"), 5 * 333);
	CU_ASSERT_EQUAL(pf_count(&f, "load", "unanswered"), 0);
	CU_ASSERT_EQUAL(f.g->napps, 1);
	CU_ASSERT_EQUAL(f.g->ndone, 1);
	pf_down(&f);
}

static void a_window_survives_losses(void)
{
	const struct pf_spec g[] = {
		HOST("a", "10.0.0.1"), { &xk_proto_load_port, "load", "ua",
		"to=10.0.0.2; port=7; conns=5; window=4; count=200; timeout=20ms" },
		{ &xk_proto_eth_mem, "db", NULL, "wire=w" }, { &xk_proto_impair, "bad", "db", "loss=10%; dup=5%" },
		{ &xk_proto_eth, "lb", "bad", NULL }, { &xk_proto_arp, "rb", "lb", NULL },
		{ &xk_proto_ip, "ib", "rb", "addr=10.0.0.2/24" }, { &xk_proto_udp, "ub", "ib", NULL },
		{ &xk_proto_echo, "other", "ub", NULL }, { NULL, NULL, NULL, NULL } };

	pf_up(&f, 2, g);
	pf_run(&f, 60 * XK_SEC);
	CU_ASSERT_EQUAL(pf_count(&f, "load", "messages"), 1000);
	CU_ASSERT(pf_count(&f, "load", "unanswered") > 50);
	CU_ASSERT_EQUAL(f.g->ndone, 1);
	pf_down(&f);
}

/* ---- the end ------------------------------------------------------------------------------------------ */

static void a_sink_ends_the_graph_at_its_count(void)
{
	up(3, "to=10.0.0.2; conns=6; rate=1000", &xk_proto_sink_port, "count=600");
	CU_ASSERT_EQUAL(f.g->napps, 1);
	pf_run(&f, 90 * XK_MS);
	CU_ASSERT_EQUAL(f.g->ndone, 0);
	pf_run(&f, 20 * XK_MS);
	CU_ASSERT_EQUAL(f.g->ndone, 1);
	pf_down(&f);
}

static void an_endless_source_promises_no_end(void)
{
	up(1, "to=10.0.0.2; rate=10", &xk_proto_sink_port, NULL);
	CU_ASSERT_EQUAL(f.g->napps, 0);
	pf_down(&f);
}

/* ---- the sink's memory ------------------------------------------------------------------------------------ */

static void receives_peers_beyond_its_cap_without_remembering_them(void)
{
	up(1, "to=10.0.0.2; conns=10; count=4", &xk_proto_sink_port, "sessions=3");
	pf_run(&f, XK_MS);
	CU_ASSERT_EQUAL(pf_count(&f, "other", "messages"), 40);
	CU_ASSERT_EQUAL(pf_sessions(&f, "other"), 3);
	CU_ASSERT(pf_count(&f, "other", "not_kept") >= 7);
	CU_ASSERT_EQUAL(counts("other", 0).n, 3);
	pf_down(&f);
}

static void two_sinks_cannot_wait_on_one_port(void)
{
	const struct pf_spec g[] = {
		HOST("b", "10.0.0.2"), { &xk_proto_sink_port, "one", "ub", "port=10; ports=5" },
		{ &xk_proto_sink_port, "two", "ub", "port=8; ports=3" }, { NULL, NULL, NULL, NULL } };
	const char *file, *text;
	int line, col;

	CU_ASSERT_FALSE_FATAL(pf_up_try(&f, 2, g));
	CU_ASSERT_EQUAL_FATAL(xk_errs_count(f.errs), 1);
	text = xk_errs_text(f.errs, 0, &file, &line, &col);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "two: cannot wait on port 10"));
	pf_down(&f);
}

static void a_source_without_a_route_says_which_connection_failed(void)
{
	const struct pf_spec g[] = {
		HOST("a", "10.0.0.1"), { &xk_proto_load_port, "load", "ua", "to=192.0.2.1; conns=3" },
		{ NULL, NULL, NULL, NULL } };
	const char *file, *text;
	int line, col;

	CU_ASSERT_FALSE_FATAL(pf_up_try(&f, 2, g));
	CU_ASSERT_EQUAL_FATAL(xk_errs_count(f.errs), 1);
	text = xk_errs_text(f.errs, 0, &file, &line, &col);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "load: cannot open connection 1 of 3"));
	pf_down(&f);
}

static void survives_the_failure_of_every_allocation(void)
{
	const struct pf_spec g[] = {
		HOST("a", "10.0.0.1"), { &xk_proto_load_port, "load", "ua", "to=10.0.0.2; conns=3; count=5; window=2" },
		HOST("b", "10.0.0.2"), { &xk_proto_sink_port, "other", "ub", NULL }, { NULL, NULL, NULL, NULL } };

	CU_ASSERT(pf_survives(&f, g, 5000));
}

/* ---- rules between parameters -------------------------------------------------------------------------------- */

static bool conf_ok(const struct xk_proto *p, const char *const (*set)[2], const char *word)
{
	unsigned char conf[512] = { 0 };
	char why[256] = "";
	int err;

	CU_ASSERT_FATAL(p->conf_size <= sizeof conf);
	CU_ASSERT_EQUAL(xk_param_defaults(p->params, conf, why, sizeof why), XK_OK);
	for (; (*set)[0] != NULL; set++)
		CU_ASSERT_EQUAL(xk_param_set(xk_param_find(p->params, (*set)[0]), conf, (*set)[1], true, why, sizeof why), XK_OK);
	why[0] = '\0';
	err = p->check(conf, why, sizeof why);
	if (word != NULL)
		CU_ASSERT_PTR_NOT_NULL(strstr(why, word));
	xk_param_release(p->params, conf);
	return err == XK_OK;
}
#define SET(...) (const char *const[][2]){ __VA_ARGS__, { NULL, NULL } }

static void checks_rules_between_parameters(void)
{
	CU_ASSERT_TRUE(conf_ok(&xk_proto_load_port, SET({ "to", "10.0.0.2" }), NULL));
	CU_ASSERT_FALSE(conf_ok(&xk_proto_load_port, SET({ "conns", "2" }), "'to'"));
	CU_ASSERT_FALSE(conf_ok(&xk_proto_load_port, SET({ "to", "10.0.0.2" }, { "port", "65000" }, { "ports", "600" }), "65535"));
	CU_ASSERT_FALSE(conf_ok(&xk_proto_load_port, SET({ "to", "10.0.0.2" }, { "lport", "65000" }, { "conns", "600" }), "lport"));
	CU_ASSERT_FALSE(conf_ok(&xk_proto_load_port, SET({ "to", "10.0.0.2" }, { "segment", "9" }, { "window", "1" }), "'window'"));
	CU_ASSERT_TRUE(conf_ok(&xk_proto_sink_port, SET({ "port", "65000" }, { "ports", "536" }), NULL));
	CU_ASSERT_FALSE(conf_ok(&xk_proto_sink_port, SET({ "port", "65000" }, { "ports", "537" }), "65535"));
	CU_ASSERT_FALSE(conf_ok(&xk_proto_sink_port, SET({ "conns", "5" }), "'from'"));
}

static CU_TestInfo tests[] = {
	{ "every message arrives once", every_message_arrives_once },
	{ "every way of touching sends good datagrams", every_way_of_touching_sends_good_datagrams },
	{ "a message may leave in several datagrams", a_message_may_leave_in_several_datagrams },
	{ "units of one send good datagrams without end", units_of_one_send_good_datagrams_without_end },
	{ "4 KB are one frame on FDDI and three on Ethernet", four_kilobytes_are_one_frame_on_fddi_and_three_on_ethernet },
	{ "ports and own ports are used in turn", ports_and_own_ports_are_used_in_turn },
	{ "connections live where the map puts them", connections_live_where_the_map_puts_them },
	{ "connections of a VP differ by at most one unit", connections_of_a_vp_differ_by_at_most_one_unit },
	{ "keeps each connection to its rate", keeps_each_connection_to_its_rate },
	{ "connections do not fall into step when their rate changes",
	  connections_do_not_fall_into_step_when_their_rate_changes },
	{ "is silent as long as it was told", is_silent_as_long_as_it_was_told },
	{ "a window lets so many messages out and waits", a_window_lets_so_many_messages_out_and_waits },
	{ "answers open the window and the last one ends the run", answers_open_the_window_and_the_last_one_ends_the_run },
	{ "a window survives losses", a_window_survives_losses },
	{ "a sink ends the graph at its count", a_sink_ends_the_graph_at_its_count },
	{ "an endless source promises no end", an_endless_source_promises_no_end },
	{ "receives peers beyond its cap without remembering them", receives_peers_beyond_its_cap_without_remembering_them },
	{ "two sinks cannot wait on one port", two_sinks_cannot_wait_on_one_port },
	{ "a source without a route says which connection failed", a_source_without_a_route_says_which_connection_failed },
	{ "survives the failure of every allocation", survives_the_failure_of_every_allocation },
	{ "checks rules between parameters", checks_rules_between_parameters },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = { { .pName = "load and sink", .pTests = tests }, CU_SUITE_INFO_NULL };

int main(void)
{
	return xk_test_main(suites);
}
