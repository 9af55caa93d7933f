/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_peer_source.c - the in-memory drivers as an infinite source.
 *
 * Promises: templates are valid datagrams; connections run where the map
 * puts them, and those of a VP differ by at most one burst; counts and
 * rates are exact; cold buffers come round in a circle; nothing leaks,
 * whatever fails.
 */
#include "drivers/mem/mem.h"
#include "drivers/mem/mem_peer.h"
#include "drivers/peer/peer.h"

#include <string.h>

#include "tests/drivers/wire_fixture.h"
#include "runtime/base/xk_param_value.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_part.h"
#include "runtime/upi/xk_review.h"

extern const struct xk_proto xk_proto_eth, xk_proto_fddi, xk_proto_arp, xk_proto_ip, xk_proto_udp, xk_proto_sink_port;

static struct xk_sess *sa[8];

/* ---- templates ----------------------------------------------------------------------- */

#define RECEIVER(drv, link, peer_params, sink_params) { \
	{ &xk_proto_peer_source, "p", NULL, peer_params }, { drv, "d", "p", NULL }, { link, "l", "d", NULL }, \
	{ &xk_proto_arp, "arp", "l", NULL }, { &xk_proto_ip, "ip", "arp", "addr=10.0.0.1/8" }, \
	{ &xk_proto_udp, "udp", "ip", NULL }, { &xk_proto_sink_port, "sink", "udp", sink_params }, \
	{ NULL, NULL, NULL, NULL } }

static void receives_all(const struct pf_spec *g, unsigned nvps, uint64_t n)
{
	pf_up(&f, nvps, g);
	pf_run(&f, XK_SEC);
	CU_ASSERT_EQUAL(pf_count(&f, "p", "made"), n);
	CU_ASSERT_EQUAL(pf_count(&f, "sink", "messages"), n);
	for (unsigned i = 0; i < f.g->nnodes; i++)
		CU_ASSERT_EQUAL(pf_drops(&f, f.g->node[i]->name, NULL), 0);
	pf_down(&f);
}

static void templates_are_datagrams_that_arrive(void)
{
	static const struct pf_spec eth[] = RECEIVER(&xk_proto_eth_mem, &xk_proto_eth,
		"to=10.0.0.1; conns=9; count=1000; size=1472; ports=3", "ports=3");
	static const struct pf_spec fddi[] = RECEIVER(&xk_proto_fddi_mem, &xk_proto_fddi,
		"to=10.0.0.1; conns=9; count=1000; size=4096", NULL);

	receives_all(eth, 1, 1000);
	receives_all(eth, 4, 1000);
	receives_all(fddi, 4, 1000);
}

static void every_payload_begins_as_it_is_told(void)
{
	static const uint8_t want[8] = { 0, 0, 0, 0x80, 0xde, 0xad, 0xbe, 0xef };
	static const struct pf_spec g[] = {
		{ &xk_proto_peer_source, "p", NULL, "to=10.0.0.1; count=9; rate=1000; size=100; lead=00000080deADbeef" },
		{ &xk_proto_fddi_mem, "d", "p", NULL },
		{ &pf_upper, "u", "d", "enable=false" }, { NULL, NULL, NULL, NULL } };

	pf_up(&f, 1, g);
	open_all("u", sa);
	pf_run(&f, 20 * XK_MS);
	CU_ASSERT_EQUAL_FATAL(pf_ngot(&f, "u"), 9);
	for (unsigned i = 0; i < 9; i++)
		CU_ASSERT_EQUAL(memcmp(pf_got(&f, "u", i)->bytes + 21 + 28, want, sizeof want), 0);
	close_all(sa);
	pf_down(&f);
}

static void a_good_checksum_is_good_and_a_dummy_is_ignored(void)
{
	static const struct pf_spec good[] = RECEIVER(&xk_proto_eth_mem, &xk_proto_eth,
		"to=10.0.0.1; conns=70; count=700; size=333; checksum=good", NULL);
	static const struct pf_spec none[] = RECEIVER(&xk_proto_eth_mem, &xk_proto_eth,
		"to=10.0.0.1; conns=2; count=70; size=0; checksum=none", NULL);
	static const struct pf_spec raw[] = {
		{ &xk_proto_peer_source, "p", NULL, "to=10.0.0.1; count=3; rate=1000; size=100" },
		{ &xk_proto_eth_mem, "d", "p", NULL },
		{ &pf_upper, "u", "d", "enable=false" }, { NULL, NULL, NULL, NULL } };

	receives_all(good, 2, 700);
	receives_all(none, 2, 70);
	pf_up(&f, 1, raw);
	open_all("u", sa);
	pf_run(&f, 10 * XK_MS);
	CU_ASSERT_EQUAL_FATAL(pf_ngot(&f, "u"), 3);
	CU_ASSERT(pf_got(&f, "u", 0)->flags & XK_MSG_CSUM_IGNORE);
	close_all(sa);
	pf_down(&f);
}

static void connections_are_received_where_the_map_puts_them(void)
{
	static const struct pf_spec g[] = RECEIVER(&xk_proto_eth_mem, &xk_proto_eth,
		"to=10.0.0.1; conns=10; count=500; rate=100000", "conns=10; from=10.0.0.2");
	struct xk_app_counts c;

	pf_up(&f, 4, g);
	pf_run(&f, XK_SEC);
	for (unsigned vp = 0; vp < 4; vp++) {
		CU_ASSERT_EQUAL(xk_control(pf_rep(&f, "sink", vp), XK_CTL_APP_COUNTS, &c, sizeof c), (int)sizeof c);
		CU_ASSERT_EQUAL_FATAL(c.n, vp < 2 ? 3 : 2);
		for (unsigned i = 0; i < c.n; i++) {
			CU_ASSERT_EQUAL(c.conn[i] % 4, vp);
			CU_ASSERT_EQUAL(c.messages[i], 50);
		}
		CU_ASSERT_EQUAL(f.g->vps->vp[vp]->handed_over, 0);
	}
	pf_down(&f);
}

static void a_passive_receiver_gets_its_frames_without_hand_over(void)
{
	static const struct pf_spec g[] = RECEIVER(&xk_proto_eth_mem, &xk_proto_eth,
		"to=10.0.0.1; conns=40; count=400; rate=100000; place=hash", NULL);

	pf_up(&f, 4, g);
	pf_run(&f, XK_SEC);
	CU_ASSERT_EQUAL(pf_count(&f, "sink", "messages"), 400);
	for (unsigned vp = 0; vp < 4; vp++)
		CU_ASSERT_EQUAL(f.g->vps->vp[vp]->handed_over, 0);
	pf_down(&f);
}

/* The spread of frames made over the connections of a VP. */
static uint64_t spread(unsigned vp)
{
	uint64_t lo = UINT64_MAX, hi = 0;
	struct xk_app_counts c;

	CU_ASSERT_EQUAL(xk_control(pf_rep(&f, "p", vp), XK_CTL_PEER_COUNTS, &c, sizeof c), (int)sizeof c);
	for (unsigned i = 0; i < c.n; i++) {
		lo = c.messages[i] < lo ? c.messages[i] : lo;
		hi = c.messages[i] > hi ? c.messages[i] : hi;
	}
	return c.n ? hi - lo : 0;
}

static void fair(const struct pf_spec *g, uint64_t burst)
{
	uint64_t worst = 0;

	pf_up(&f, 3, g);
	for (unsigned i = 0; i < 300; i++) {
		pf_run(&f, XK_MS);
		for (unsigned vp = 0; vp < 3; vp++)
			worst = spread(vp) > worst ? spread(vp) : worst;
	}
	CU_ASSERT(worst <= burst);
	CU_ASSERT(worst > 0);
	CU_ASSERT(pf_count(&f, "p", "made") > 3000);
	pf_down(&f);
}

static void connections_of_a_vp_differ_by_at_most_one_burst(void)
{
	static const struct pf_spec b1[] = RECEIVER(&xk_proto_eth_mem, &xk_proto_eth,
		"to=10.0.0.1; conns=20; rate=11111; burst=1", NULL);
	static const struct pf_spec b7[] = RECEIVER(&xk_proto_eth_mem, &xk_proto_eth,
		"to=10.0.0.1; conns=20; rate=13000; burst=7", NULL);

	fair(b1, 1);
	fair(b7, 7);
}

static void mixed_connections_differ_by_at_most_one_frame(void)
{
	static const struct pf_spec one[] = RECEIVER(&xk_proto_eth_mem, &xk_proto_eth,
		"to=10.0.0.1; conns=3; rate=11111; mix=true", NULL);
	static const struct pf_spec many[] = RECEIVER(&xk_proto_eth_mem, &xk_proto_eth,
		"to=10.0.0.1; conns=100; rate=111111; burst=7; mix=true", NULL);

	pf_up(&f, 3, one);
	pf_run(&f, 10 * XK_MS);
	for (unsigned vp = 0; vp < 3; vp++)
		CU_ASSERT_EQUAL(spread(vp), 0);
	pf_down(&f);
	fair(many, 1);
}

static void mixed_connections_share_the_count_out_evenly(void)
{
	static const struct pf_spec g[] = RECEIVER(&xk_proto_eth_mem, &xk_proto_eth,
		"to=10.0.0.1; conns=7; count=1000; burst=5; mix=true", NULL);
	struct xk_app_counts c;

	pf_up(&f, 2, g);
	pf_run(&f, XK_SEC);
	for (unsigned vp = 0; vp < 2; vp++) {
		xk_control(pf_rep(&f, "p", vp), XK_CTL_PEER_COUNTS, &c, sizeof c);
		for (unsigned i = 0; i < c.n; i++) {
			CU_ASSERT_EQUAL(c.messages[i], 1000 / 7 + (c.conn[i] < 1000 % 7));
			CU_ASSERT_EQUAL(c.bytes[i], c.messages[i] * 64);
		}
	}
	CU_ASSERT_EQUAL(pf_count(&f, "p", "made"), 1000);
	CU_ASSERT_EQUAL(pf_count(&f, "sink", "messages"), 1000);
	pf_down(&f);
}

static void makes_exactly_the_count_shared_out_evenly(void)
{
	static const struct pf_spec g[] = RECEIVER(&xk_proto_eth_mem, &xk_proto_eth,
		"to=10.0.0.1; conns=7; count=1000; burst=5", NULL);
	struct xk_app_counts c;
	uint64_t sum = 0;

	pf_up(&f, 2, g);
	pf_run(&f, XK_SEC);
	for (unsigned vp = 0; vp < 2; vp++) {
		xk_control(pf_rep(&f, "p", vp), XK_CTL_PEER_COUNTS, &c, sizeof c);
		for (unsigned i = 0; i < c.n; i++) {
			CU_ASSERT_EQUAL(c.messages[i], 1000 / 7 + (c.conn[i] < 1000 % 7));
			CU_ASSERT_EQUAL(c.bytes[i], c.messages[i] * 64);
			sum += c.messages[i];
		}
	}
	CU_ASSERT_EQUAL(sum, 1000);
	pf_down(&f);
}

static void keeps_to_the_rate(void)
{
	static const struct pf_spec g[] = RECEIVER(&xk_proto_eth_mem, &xk_proto_eth,
		"to=10.0.0.1; conns=4; rate=20000", NULL);
	uint64_t before;

	pf_up(&f, 4, g);
	pf_run(&f, 100 * XK_MS);
	before = pf_count(&f, "p", "made");
	pf_run(&f, XK_SEC);
	CU_ASSERT_EQUAL(pf_count(&f, "p", "made") - before, 20000);
	pf_down(&f);
}

/* Units of 16 and a tick of 1 ms: a rate of 20000 leaves 20 frames for each tick, the ring has room for 12. */
static void what_comes_while_the_ring_is_full_is_missed(void)
{
	static const struct pf_spec g[] = RECEIVER(&xk_proto_eth_mem, &xk_proto_eth,
		"to=10.0.0.1; conns=4; rate=20000; ring=12", NULL);
	uint64_t made, missed;

	pf_up(&f, 1, g);
	pf_run(&f, XK_SEC);
	made = pf_count(&f, "p", "made");
	missed = pf_drops(&f, "p", "missed");
	CU_ASSERT_EQUAL(pf_count(&f, "sink", "messages"), made);
	CU_ASSERT(made > 11000 && made <= 12012);
	CU_ASSERT(made + missed <= 20000 && made + missed >= 20000 - 20);
	pf_down(&f);
}

/* ---- receive buffers ------------------------------------------------------------------ */

#define SEEN 4096
static const void *seen[SEEN];
static unsigned nseen;

static void note_buffer(struct xk_rep *r, struct xk_sess *lls, struct xk_msg *m)
{
	(void)r;
	(void)lls;
	if (nseen < SEEN)
		seen[nseen++] = m;
}

/* Frames until the first buffer comes again. */
static unsigned circle(const char *params)
{
	struct pf_spec g[] = {
		{ &xk_proto_peer_source, "p", NULL, params }, { &xk_proto_eth_mem, "d", "p", NULL }, { &pf_upper, "u", "d", "enable=false" },
		{ NULL, NULL, NULL, NULL } };
	unsigned n;

	nseen = 0;
	pf_up(&f, 1, g);
	open_all("u", sa);
	pf_upper_of(&f, "u")->on_msg = note_buffer;
	pf_run(&f, XK_SEC);
	close_all(sa);
	pf_down(&f);
	CU_ASSERT_EQUAL_FATAL(nseen, 2000);
	for (n = 1; n < nseen && seen[n] != seen[0]; n++)
		;
	return n;
}

static void cold_buffers_come_round_in_a_circle_of_the_given_size(void)
{
	/* 1042-byte frames, one at a time. */
	unsigned n = circle("to=10.0.0.1; size=1000; count=2000; rate=2000; rxbuf=cold; rxcold=512KiB");

	CU_ASSERT(n >= 512 * 1024 / 1042);
	CU_ASSERT(n <= 512 * 1024 / 1042 + 40);
}

static void lifo_buffers_come_again_at_once(void)
{
	CU_ASSERT(circle("to=10.0.0.1; size=1000; count=2000; rate=2000") <= 16);
}

static void survives_the_failure_of_every_allocation(void)
{
	static const struct pf_spec g[] = RECEIVER(&xk_proto_eth_mem, &xk_proto_eth,
		"to=10.0.0.1; conns=5; count=50; rxbuf=cold; rxcold=64KiB", NULL);

	for (uint64_t k = 1; k < 3000; k++) {
		bool up;

		xk_mem_fail_after(k);
		up = pf_up_try(&f, 2, g);
		xk_mem_fail_after(0);
		if (up)
			pf_run(&f, 10 * XK_MS);
		pf_down(&f);
		if (up)
			return;
	}
	CU_FAIL("never came up");
}

/* ---- rules between parameters ---------------------------------------------------------------- */

static bool conf_ok(const struct xk_proto *p, const char *name, const char *value, const char *word)
{
	unsigned char conf[1024] = { 0 };
	char why[256] = "";
	int err;

	CU_ASSERT_FATAL(p->conf_size <= sizeof conf);
	CU_ASSERT_EQUAL(xk_param_defaults(p->params, conf, why, sizeof why), XK_OK);
	err = xk_param_set(xk_param_find(p->params, name), conf, value, false, why, sizeof why);
	CU_ASSERT_EQUAL(err, XK_OK);
	why[0] = '\0';
	err = p->check(conf, why, sizeof why);
	if (word != NULL)
		CU_ASSERT_PTR_NOT_NULL(strstr(why, word));
	xk_param_release(p->params, conf);
	return err == XK_OK;
}

/* Does a payload of this size fit a wire whose MTU is 1500? */
static bool fits(const struct xk_proto *p, const char *size)
{
	struct mem_fits fits = { .mtu = 1500 };
	unsigned char conf[1024] = { 0 };
	struct xk_view v = { .proto = p, .conf = conf };
	char why[256];
	int res;

	CU_ASSERT_EQUAL(xk_param_defaults(p->params, conf, why, sizeof why), XK_OK);
	CU_ASSERT_EQUAL(xk_param_set(xk_param_find(p->params, "size"), conf, size, false, why, sizeof why), XK_OK);
	res = p->ask(&v, MEM_ASK_FITS, &fits, sizeof fits);
	if (res != 0)
		CU_ASSERT_PTR_NOT_NULL(strstr(fits.why, "mtu 1500"));
	xk_param_release(p->params, conf);
	return res == 0;
}

static void checks_rules_between_parameters(void)
{
	CU_ASSERT_TRUE(fits(&xk_proto_peer_source, "1472"));
	CU_ASSERT_FALSE(fits(&xk_proto_peer_source, "1473"));
	CU_ASSERT_TRUE(fits(&xk_proto_peer_tcp_source, "1460"));
	CU_ASSERT_FALSE(fits(&xk_proto_peer_tcp_source, "1461"));
	CU_ASSERT_FALSE(conf_ok(&xk_proto_peer_source, "ports", "65535", "65535"));
	CU_ASSERT_TRUE(conf_ok(&xk_proto_peer_source, "lead", "0123456789abcdef", NULL));
	CU_ASSERT_FALSE(conf_ok(&xk_proto_peer_source, "lead", "0123456789abcdef01", "hexadecimal"));
	CU_ASSERT_FALSE(conf_ok(&xk_proto_peer_source, "lead", "012", "hexadecimal"));
	CU_ASSERT_FALSE(conf_ok(&xk_proto_peer_source, "lead", "no", "hexadecimal"));
	CU_ASSERT_FALSE(conf_ok(&xk_proto_peer_source, "ring", "64", "needs 'rate'"));
	CU_ASSERT_FALSE(conf_ok(&xk_proto_eth_mem, "mac", "01:00:5e:00:00:01", "group"));
}

static CU_TestInfo source_tests[] = {
	{ "templates are datagrams that arrive", templates_are_datagrams_that_arrive },
	{ "every payload begins as it is told", every_payload_begins_as_it_is_told },
	{ "a good checksum is good and a dummy is ignored", a_good_checksum_is_good_and_a_dummy_is_ignored },
	{ "connections are received where the map puts them", connections_are_received_where_the_map_puts_them },
	{ "a passive receiver gets its frames without hand-over", a_passive_receiver_gets_its_frames_without_hand_over },
	{ "connections of a VP differ by at most one burst", connections_of_a_vp_differ_by_at_most_one_burst },
	{ "mixed connections differ by at most one frame", mixed_connections_differ_by_at_most_one_frame },
	{ "mixed connections share the count out evenly", mixed_connections_share_the_count_out_evenly },
	{ "makes exactly the count, shared out evenly", makes_exactly_the_count_shared_out_evenly },
	{ "keeps to the rate", keeps_to_the_rate },
	{ "what comes while the ring is full is missed", what_comes_while_the_ring_is_full_is_missed },
	{ "cold buffers come round in a circle of the given size", cold_buffers_come_round_in_a_circle_of_the_given_size },
	{ "lifo buffers come again at once", lifo_buffers_come_again_at_once },
	{ "survives the failure of every allocation", survives_the_failure_of_every_allocation },
	{ "checks rules between parameters", checks_rules_between_parameters },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = { { .pName = "source", .pTests = source_tests }, CU_SUITE_INFO_NULL };

int main(void)
{
	return xk_test_main(suites);
}
