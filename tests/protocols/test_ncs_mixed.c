/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_ncs_mixed.c - connections of ncs over AAL5 over ATM cells, and over every interface at once.
 *
 * Promises: over AAL5 messages of every size come back as they were under each flow control with each error
 * control, with SDUs up to what a frame takes; where cells are lost or damaged, exactly once and in order, or
 * without error control whole and once or not at all; and so it is with 36 connections, one for each interface
 * (UDP, AAL5, TCP) and each pair of controls, in one process at a time, whatever their lines lose.
 */
#include "runtime/base/xk_bytes.h"
#include "runtime/upi/xk_part.h"
#include "tests/protocols/proto_fixture.h"
#include "tests/support/xk_test.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct xk_proto xk_proto_eth_mem, xk_proto_eth, xk_proto_arp, xk_proto_ip, xk_proto_udp, xk_proto_tcp, xk_proto_impair,
	xk_proto_cell, xk_proto_aal5, xk_proto_echo, xk_proto_ncs, xk_proto_window, xk_proto_credit, xk_proto_pace,
	xk_proto_go_back_n, xk_proto_selective_repeat;

#define PEER  0x0a000002u
#define MOST  300000u
#define NODES 400u

static struct pf f;
static uint8_t bytes[MOST];

static const struct control { const struct xk_proto *proto; const char *params; } flows[] = {
	{ NULL, NULL }, { &xk_proto_window, "window=8" }, { &xk_proto_credit, "first=2; most=16" },
	{ &xk_proto_pace, "rate=100Mbit/s" },
};
static const struct control errors[] = {
	{ NULL, NULL }, { &xk_proto_go_back_n, "window=16" }, { &xk_proto_selective_repeat, "window=64" },
};
#define PAIRS    (XK_ARRAY_LEN(flows) * XK_ARRAY_LEN(errors))
#define IS_SURE(pair) ((pair) % XK_ARRAY_LEN(errors) != 0)

/* ---- the process -------------------------------------------------------------------------------- */

/* The interfaces are nodes u<letter>a and u<letter>b. */
enum { UDP, ATM, TCP, INTERFACES };
static const char letter[INTERFACES] = { 'i', 'c', 't' };

static struct pf_spec spec[NODES];
static char text[NODES][3][160];         /* names, what is below, parameters */
static unsigned nodes;

static const char *put(unsigned field, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static const char *put(unsigned field, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text[nodes][field], sizeof text[0][0], fmt, ap);
	va_end(ap);
	return text[nodes][field];
}

static void add(const struct xk_proto *p, const char *name, const char *over, const char *params)
{
	spec[nodes] = (struct pf_spec){ p, put(0, "%s", name), over != NULL ? put(1, "%s", over) : NULL,
					params != NULL ? put(2, "%s", params) : NULL };
	nodes++;
}

/* faults: of frames; cells: of cells, each way. */
static void add_interfaces(const char *faults, const char *cells)
{
	char params[160];

	for (unsigned end = 0; end < 2; end++) {
		const char *x = end == 0 ? "a" : "b";
		char name[8][16];

		for (unsigned i = 0; i < 8; i++)
			snprintf(name[i], sizeof name[0], "%c%s", "dflrqgch"[i], x);
		add(&xk_proto_eth_mem, name[0], NULL, "wire=w; queue=65536");
		add(&xk_proto_impair, name[1], name[0], end == 0 ? faults : "");
		add(&xk_proto_eth, name[2], name[1], NULL);
		add(&xk_proto_arp, name[3], name[2], "queue=100");
		add(&xk_proto_ip, name[4], name[3], end == 0 ? "addr=10.0.0.1/24" : "addr=10.0.0.2/24");
		snprintf(params, sizeof params, "ui%s", x);
		add(&xk_proto_udp, params, name[4], NULL);
		snprintf(params, sizeof params, "ut%s", x);
		add(&xk_proto_tcp, params, name[4], NULL);
		snprintf(params, sizeof params, "wire=c; seed=%u; %s", end + 1, cells);
		add(&xk_proto_cell, name[6], NULL, params);
		snprintf(params, sizeof params, "addr=10.0.0.%u; peer=10.0.0.%u", end + 1, 2 - end);
		snprintf(name[7], sizeof name[7], "uc%s", x);
		add(&xk_proto_aal5, name[7], name[6], params);
	}
}

/* Controls of one end of connection `no`, and ncs over them. */
static void add_ncs(unsigned no, unsigned interface, unsigned pair, const char *x, const char *params)
{
	const struct control *c[2] = { &flows[pair / XK_ARRAY_LEN(errors)], &errors[pair % XK_ARRAY_LEN(errors)] };
	char below[16], name[16], all[160];

	snprintf(below, sizeof below, "u%c%s", letter[interface], x);
	for (unsigned i = 0; i < 2; i++) {
		if (c[i]->proto == NULL)
			continue;
		snprintf(name, sizeof name, "%c%s%u", "ke"[i], x, no);
		add(c[i]->proto, name, below, c[i]->params);
		memcpy(below, name, sizeof below);
	}
	snprintf(name, sizeof name, "n%s%u", x, no);
	snprintf(all, sizeof all, "port=%u; %s", 7700 + 2 * no, params);
	add(&xk_proto_ncs, name, below, all);
	memcpy(below, name, sizeof below);
	snprintf(name, sizeof name, "%s%u", x[0] == 'a' ? "client" : "echo", no);
	if (x[0] == 'a')
		add(&pf_upper, name, below, "enable=false");
	else
		add(&xk_proto_echo, name, below, "port=7");
}

static void start(void)
{
	for (uint32_t i = 0; i < MOST; i++)
		bytes[i] = (uint8_t)(i * 11 + i / 256 + i / 65536 * 3);
	spec[nodes] = (struct pf_spec){ NULL, NULL, NULL, NULL };
	pf_up(&f, 1, spec);
}

static struct xk_sess *open_no(unsigned no)
{
	struct xk_parts ps;
	char name[16];

	xk_parts_init(&ps, 2);
	xk_part_push_host(&ps.p[XK_REMOTE], PEER);
	xk_part_push_port(&ps.p[XK_REMOTE], 7);
	xk_part_push_any(&ps.p[XK_LOCAL]);
	xk_part_push_any(&ps.p[XK_LOCAL]);
	snprintf(name, sizeof name, "client%u", no);
	return pf_open(&f, name, 0, &ps, NULL);
}

/* ---- messages that say what they are ----------------------------------------------------------------- */

/* Message i of connection `no`. */
static uint32_t make(uint8_t *b, unsigned no, uint32_t i)
{
	uint32_t n = 8 + (i * 977 + no * 131) % 6000;

	xk_put_be32(b, no);
	xk_put_be32(b + 4, i);
	for (uint32_t k = 8; k < n; k++)
		b[k] = (uint8_t)(k * 7 + i * 3 + no);
	return n;
}

/* How many of n came back to connection `no`, each as it was, in order; more than n: not so. */
static uint32_t judged(unsigned no, uint32_t n)
{
	static uint8_t want[8192];
	char name[16];
	uint32_t next = 0;

	snprintf(name, sizeof name, "client%u", no);
	for (unsigned k = 0; k < pf_ngot(&f, name); k++) {
		const struct pf_rec *r = pf_got(&f, name, k);
		uint32_t i = r->len >= 8 ? xk_be32(r->bytes + 4) : n;

		if (i < next || i >= n || make(want, no, i) != r->len || memcmp(want, r->bytes, r->len) != 0)
			return n + 1;
		next = i + 1;
	}
	return pf_ngot(&f, name);
}

/* ---- over AAL5 ------------------------------------------------------------------------------------------ */

static void up_atm(unsigned pair, const char *params, const char *cells)
{
	nodes = 0;
	add_interfaces("", cells);
	add_ncs(0, ATM, pair, "a", params);
	add_ncs(0, ATM, pair, "b", params);
	start();
}

static void every_size_comes_back_under_every_pair(void)
{
	static const uint32_t sizes[] = { 0, 1, 999, 1000, 1001, 16384, 65536, MOST };

	for (unsigned pair = 0; pair < PAIRS; pair++) {
		struct xk_sess *s;

		up_atm(pair, pair % 2 ? "sdu=1000" : "", "");
		s = open_no(0);
		CU_ASSERT_PTR_NOT_NULL_FATAL(s);
		for (unsigned i = 0; i < XK_ARRAY_LEN(sizes); i++) {
			pf_push(&f, 0, s, bytes, sizes[i]);
			pf_run(&f, 100 * XK_MS);
			CU_ASSERT_EQUAL_FATAL(pf_ngot(&f, "client0"), 1);
			CU_ASSERT_EQUAL(pf_got(&f, "client0", 0)->len, sizes[i]);
			CU_ASSERT_EQUAL(memcmp(pf_got(&f, "client0", 0)->bytes, bytes, sizes[i]), 0);
			pf_forget(&f, "client0");
		}
		CU_ASSERT_EQUAL(pf_drops(&f, "na0", NULL) + pf_drops(&f, "nb0", NULL) + pf_drops(&f, "uca", NULL) +
				pf_drops(&f, "ucb", NULL), 0);
		CU_ASSERT_EQUAL(pf_count(&f, "na0", "sdus_repeated"), 0);
		pf_close(&f, 0, s);
		pf_down(&f);
	}
}

static void an_sdu_fills_a_frame(void)
{
	struct xk_sess *s;

	up_atm(PAIRS - 1, "sdu=65483", "");
	s = open_no(0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	pf_push(&f, 0, s, bytes, 65483);
	pf_push(&f, 0, s, bytes, 65484);
	pf_run(&f, 100 * XK_MS);
	CU_ASSERT_EQUAL_FATAL(pf_ngot(&f, "client0"), 2);
	CU_ASSERT_EQUAL(memcmp(pf_got(&f, "client0", 1)->bytes, bytes, 65484), 0);
	CU_ASSERT_EQUAL(pf_count(&f, "na0", "sdus_out"), 3);
	pf_close(&f, 0, s);
	pf_down(&f);
}

/* Each connection has a circuit of its own, and control has one. */
static void each_connection_has_its_circuit(void)
{
	struct xk_sess *s[5];

	up_atm(PAIRS - 1, "", "");
	for (unsigned i = 0; i < 5; i++) {
		s[i] = open_no(0);
		CU_ASSERT_PTR_NOT_NULL_FATAL(s[i]);
		pf_push(&f, 0, s[i], bytes, 5000);
	}
	pf_run(&f, 100 * XK_MS);
	CU_ASSERT_EQUAL(pf_ngot(&f, "client0"), 5);
	CU_ASSERT_EQUAL(pf_sessions(&f, "uca"), 6);
	CU_ASSERT_EQUAL(pf_sessions(&f, "ucb"), 6);
	for (unsigned i = 0; i < 5; i++)
		pf_close(&f, 0, s[i]);
	pf_run(&f, XK_SEC);
	CU_ASSERT_EQUAL(pf_sessions(&f, "uca"), 1);
	CU_ASSERT_EQUAL(pf_sessions(&f, "ucb"), 1);
	pf_down(&f);
}

/* ---- a line that is bad ------------------------------------------------------------------------------------ */

static void bad_cells_change_nothing(void)
{
	static const char *const lines[] = { "loss=0.001", "loss=0.01", "errors=0.01; loss=0.002" };
	static uint8_t b[8192];

	for (unsigned long round = 0; round < xk_test_rounds(XK_ARRAY_LEN(lines) * PAIRS); round++) {
		unsigned pair = (unsigned)(round % PAIRS), line = (unsigned)(round / PAIRS);
		uint32_t n = 40, got;
		struct xk_sess *s;

		up_atm(pair, "sdu=1000", lines[line]);
		s = open_no(0);
		CU_ASSERT_PTR_NOT_NULL_FATAL(s);
		for (uint32_t i = 0; i < n; i++) {
			pf_push(&f, 0, s, b, make(b, 0, i));
			pf_run(&f, XK_MS);
		}
		pf_run(&f, 9 * XK_SEC);
		got = judged(0, n);
		if (IS_SURE(pair))
			CU_ASSERT_EQUAL(got, n);
		CU_ASSERT(got <= n && got > 0);
		CU_ASSERT(line == 0 || pf_drops(&f, "uca", "bad_crc") + pf_drops(&f, "ucb", "bad_crc") > 0);
		pf_close(&f, 0, s);
		pf_down(&f);
	}
}

/* ---- every interface with every pair, in one process ---------------------------------------------------------- */

#define ALL (INTERFACES * PAIRS)

static void all_at_once(const char *faults, const char *cells, bool lossy)
{
	static uint8_t b[8192];
	struct xk_sess *s[ALL];
	uint32_t n = 15;

	nodes = 0;
	add_interfaces(faults, cells);
	for (unsigned no = 0; no < ALL; no++) {
		add_ncs(no, no / PAIRS, no % PAIRS, "a", "sdu=512; give_up=60s");
		add_ncs(no, no / PAIRS, no % PAIRS, "b", "sdu=512; give_up=60s");
	}
	start();
	for (unsigned no = 0; no < ALL; no++) {
		s[no] = open_no(no);
		CU_ASSERT_PTR_NOT_NULL_FATAL(s[no]);
	}
	for (uint32_t i = 0; i < n; i++) {
		for (unsigned no = 0; no < ALL; no++)
			pf_push(&f, 0, s[no], b, make(b, no, i));
		pf_run(&f, XK_MS);
	}
	pf_run(&f, 300 * XK_SEC);
	for (unsigned no = 0; no < ALL; no++) {
		uint32_t got = judged(no, n);

		CU_ASSERT(got <= n);
		if (IS_SURE(no % PAIRS) || no / PAIRS == TCP || !lossy)  /* a stream loses nothing */
			CU_ASSERT_EQUAL(got, n);
		pf_close(&f, 0, s[no]);
	}
	pf_down(&f);
}

static void all_interfaces_and_pairs_in_one_process(void) { all_at_once("", "", false); }
static void the_same_where_1_percent_is_lost(void) { all_at_once("loss=0.01; seed=3", "loss=0.01", true); }
static void the_same_where_10_percent_are_lost(void) { all_at_once("loss=0.1; seed=3", "loss=0.1", true); }

static CU_TestInfo atm_tests[] = {
	{ "every size comes back under every pair", every_size_comes_back_under_every_pair },
	{ "an SDU fills a frame", an_sdu_fills_a_frame },
	{ "each connection has its circuit", each_connection_has_its_circuit },
	{ "bad cells change nothing", bad_cells_change_nothing },
	CU_TEST_INFO_NULL,
};
static CU_TestInfo mixed_tests[] = {
	{ "all interfaces and pairs in one process", all_interfaces_and_pairs_in_one_process },
	{ "the same where 1 % is lost", the_same_where_1_percent_is_lost },
	{ "the same where 10 % are lost", the_same_where_10_percent_are_lost },
	CU_TEST_INFO_NULL,
};
static CU_SuiteInfo suites[] = {
	{ "atm", NULL, NULL, NULL, NULL, atm_tests }, { "mixed", NULL, NULL, NULL, NULL, mixed_tests }, CU_SUITE_INFO_NULL,
};

int main(void)
{
	return xk_test_main(suites);
}
