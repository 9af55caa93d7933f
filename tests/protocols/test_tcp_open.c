/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_tcp_open.c - TCP: opening, ports, sequence numbers, parameters.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/protocols/tcp_fixture.h"
#include "tests/support/xk_test.h"
#include "runtime/base/xk_param_value.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_inline.h"

static struct pf f;
extern const struct xk_proto xk_proto_ip, xk_proto_tcp;

/* ---- the keyed hash --------------------------------------------------------------- */

/* The published vectors have a byte string as input; here is the one of 24 bytes. */
static void siphash_agrees_with_its_reference(void)
{
	/* Key 00..0f, input 00..17: vector 24 of SipHash-2-4's 64-bit reference. */
	CU_ASSERT_EQUAL(tcp_siphash(0x0706050403020100u, 0x0f0e0d0c0b0a0908u, 0x0706050403020100u,
				    0x0f0e0d0c0b0a0908u, 0x1716151413121110u), 0xb8ad50c6f649af94u);
}

/* A tuple and its use are 13 bytes: the vector of 00..0c. */
static void the_hash_of_a_tuple_is_siphash(void)
{
	const struct tcp_node n = { .secret = { 0x0706050403020100u, 0x0f0e0d0c0b0a0908u } };

	CU_ASSERT_EQUAL(tcp_hash(&n, 0x0706050403020100u, 0x0b0a0908u, (enum tcp_hash_use)0x0c), 0x14ea5627c0843d90u);
}

/* ---- active open ---------------------------------------------------------------------- */

/* The last step of the handshake, all bytes and our end: one segment. */
static void what_is_said_when_it_stands_goes_with_the_handshake(void)
{
	struct xk_sess *s;
	struct tf_out o;

	tf_up1(&f, NULL);
	tf_app.greet = "hello";
	tf_app.greet_all = true;
	s = tf_open(&f, TF_PEER_PORT, 0, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	pf_settle(&f);
	o = tf_out(&f, -1);
	tf_forget(&f);
	tf_in(&f, &(struct tf_seg){ .dport = o.sport, .sport = TF_PEER_PORT, .seq = 5000, .ack = o.seq + 1,
				    .flags = TCP_SYN | TCP_ACK });
	CU_ASSERT_EQUAL(tf_nout(&f), 1);
	o = tf_out(&f, 0);
	CU_ASSERT(o.flags == (TCP_ACK | TCP_PSH | TCP_FIN) && o.len == 5 && o.ack == 5001);
	CU_ASSERT_EQUAL(tf_state(s), TCP_S_FIN_WAIT_1);
	/* Nobody answers: it is repeated as a whole. */
	pf_run(&f, 2 * XK_SEC);
	CU_ASSERT(tf_nout(&f) > 1 && tf_out(&f, -1).len == 5 && (tf_out(&f, -1).flags & TCP_FIN));
	tf_close(&f, s);
	tf_down(&f);
}

static void an_open_sends_a_syn_and_is_told_when_it_is_answered(void)
{
	struct tf_out o;
	struct xk_sess *s;
	int err = 0;

	tf_up1(&f, NULL);
	s = tf_open(&f, 80, 0, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	CU_ASSERT_EQUAL(s->rcnt, 1);
	CU_ASSERT_EQUAL(tf_state(s), TCP_S_SYN_SENT);
	o = tf_out(&f, 0);
	CU_ASSERT_EQUAL(tf_nout(&f), 1);
	CU_ASSERT_EQUAL(o.flags & ~(TCP_ECE | TCP_CWR), TCP_SYN);
	CU_ASSERT_EQUAL(o.dport, 80);
	CU_ASSERT(o.sport >= 1024);
	CU_ASSERT_EQUAL(o.mss, 1460);
	CU_ASSERT(o.sackok && o.ts && o.wscale >= 0);
	CU_ASSERT_EQUAL(tf_app.nevents, 0);
	tf_in(&f, &(struct tf_seg){ .sport = 80, .dport = o.sport, .seq = 5000, .ack = o.seq + 1,
				    .flags = TCP_SYN | TCP_ACK });
	CU_ASSERT_EQUAL(tf_state(s), TCP_S_ESTABLISHED);
	CU_ASSERT_EQUAL(tf_events(XK_STREAM_OPENED), 1);
	CU_ASSERT_PTR_EQUAL(tf_app.event[0].s, s);
	o = tf_out(&f, -1);
	CU_ASSERT_EQUAL(o.flags, TCP_ACK);
	CU_ASSERT_EQUAL(o.ack, 5001);
	CU_ASSERT_EQUAL(tf_app.open_dones, 0);
	tf_close(&f, s);
	tf_down(&f);
}

static void parts_of_every_kind_open_or_are_refused(void)
{
	struct xk_sess *s, *t;
	uint16_t port = 0;
	int err = 0;

	tf_up1(&f, NULL);
	s = nf_open(&f, "app", 0, NF_PEER, 80, NF_US, 5555, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	CU_ASSERT_EQUAL(tf_control(&f, s, XK_CTL_GETMYPORT, &port, sizeof port), 2);
	CU_ASSERT_EQUAL(port, 5555);
	CU_ASSERT_PTR_NULL(nf_open(&f, "app", 0, NF_PEER, 80, NF_US, 5555, &err));
	CU_ASSERT_EQUAL(err, XK_E_ADDRINUSE);
	t = nf_open(&f, "app", 0, NF_PEER, 81, 0, 5555, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(t);
	tf_close(&f, t);
	t = nf_open(&f, "app", 0, NF_PEER, 80, NF_US, 0, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(t);
	tf_close(&f, t);
	CU_ASSERT_PTR_NULL(nf_open(&f, "app", 0, NF_PEER, 0, 0, 0, &err));
	CU_ASSERT_EQUAL(err, XK_E_INVAL);
	CU_ASSERT_PTR_NULL(nf_open(&f, "app", 0, 0xe0000001u, 80, 0, 0, &err));
	CU_ASSERT(err < 0);
	CU_ASSERT_PTR_NULL(nf_open(&f, "app", 0, 0xffffffffu, 80, 0, 0, &err));
	CU_ASSERT(err < 0);
	CU_ASSERT_PTR_NULL(nf_open(&f, "app", 0, NF_PEER, 80, 0x0b000001u, 0, &err));
	CU_ASSERT(err < 0);
	tf_close(&f, s);
	CU_ASSERT_EQUAL(pf_sessions(&f, "tcp"), 0);
	tf_down(&f);
}

static void a_refusal_fails_the_open(void)
{
	struct xk_sess *s;
	struct tf_out o;
	int32_t e = 0;
	int err = 0;

	tf_up1(&f, NULL);
	s = tf_open(&f, 80, 0, &err);
	o = tf_out(&f, 0);
	tf_in(&f, &(struct tf_seg){ .sport = 80, .dport = o.sport, .ack = o.seq + 1, .flags = TCP_RST | TCP_ACK });
	CU_ASSERT_EQUAL(tf_events(XK_STREAM_FAILED), 1);
	CU_ASSERT_EQUAL(tf_app.event[0].err, XK_E_CONNREFUSED);
	CU_ASSERT_EQUAL(tf_state(s), TCP_S_CLOSED);
	CU_ASSERT_EQUAL(tf_control(&f, s, XK_STREAM_ERRNO, &e, sizeof e), 4);
	CU_ASSERT_EQUAL(e, XK_E_CONNREFUSED);
	tf_close(&f, s);
	CU_ASSERT_EQUAL(pf_sessions(&f, "tcp"), 0);
	tf_down(&f);
}

static void syns_are_repeated_and_then_given_up(void)
{
	static const unsigned at_s[] = { 0, 1, 3, 7, 15, 31, 63 };
	struct xk_sess *s;
	int err = 0;

	tf_up1(&f, NULL);
	s = tf_open(&f, 80, 0, &err);
	for (unsigned i = 0; i < XK_ARRAY_LEN(at_s); i++) {
		CU_ASSERT_EQUAL(tf_nout(&f), i + 1);
		if (i + 1 < XK_ARRAY_LEN(at_s)) {
			pf_run(&f, (at_s[i + 1] - at_s[i]) * XK_SEC - 10 * XK_MS);
			CU_ASSERT_EQUAL(tf_nout(&f), i + 1);
			pf_run(&f, 12 * XK_MS);
			CU_ASSERT_EQUAL(tf_out(&f, -1).seq, tf_out(&f, 0).seq);
		}
	}
	CU_ASSERT_EQUAL(tf_events(XK_STREAM_FAILED), 0);
	pf_run(&f, 70 * XK_SEC);
	CU_ASSERT_EQUAL(tf_nout(&f), 7);
	CU_ASSERT_EQUAL(tf_events(XK_STREAM_FAILED), 1);
	CU_ASSERT_EQUAL(tf_app.event[0].err, XK_E_TIMEDOUT);
	tf_close(&f, s);
	tf_down(&f);
}

static void the_times_of_syns_can_be_given(void)
{
	struct xk_sess *s;
	int err = 0;

	tf_up1(&f, "syn_times=100ms,300ms; syn_retries=3");
	s = tf_open(&f, 80, 0, &err);
	pf_run(&f, 95 * XK_MS);
	CU_ASSERT_EQUAL(tf_nout(&f), 1);
	pf_run(&f, 10 * XK_MS);
	CU_ASSERT_EQUAL(tf_nout(&f), 2);
	pf_run(&f, 305 * XK_MS);
	CU_ASSERT_EQUAL(tf_nout(&f), 3);
	pf_run(&f, 305 * XK_MS);
	CU_ASSERT_EQUAL(tf_nout(&f), 4);
	pf_run(&f, 305 * XK_MS);
	CU_ASSERT_EQUAL(tf_nout(&f), 4);
	CU_ASSERT_EQUAL(tf_events(XK_STREAM_FAILED), 1);
	tf_close(&f, s);
	tf_down(&f);
}

static void two_syns_that_cross_make_one_connection(void)
{
	struct xk_sess *s;
	struct tf_out o;
	int err = 0;

	tf_up1(&f, NULL);
	s = tf_open(&f, 80, 0, &err);
	o = tf_out(&f, 0);
	tf_in(&f, &(struct tf_seg){ .sport = 80, .dport = o.sport, .seq = 7000, .flags = TCP_SYN });
	CU_ASSERT_EQUAL(tf_state(s), TCP_S_SYN_RCVD);
	CU_ASSERT_EQUAL(tf_out(&f, -1).flags & (TCP_SYN | TCP_ACK), TCP_SYN | TCP_ACK);
	CU_ASSERT_EQUAL(tf_out(&f, -1).seq, o.seq);
	CU_ASSERT_EQUAL(tf_out(&f, -1).ack, 7001);
	CU_ASSERT_EQUAL(tf_events(XK_STREAM_OPENED), 0);
	tf_in(&f, &(struct tf_seg){ .sport = 80, .dport = o.sport, .seq = 7000, .ack = o.seq + 1,
				    .flags = TCP_SYN | TCP_ACK });
	CU_ASSERT_EQUAL(tf_state(s), TCP_S_ESTABLISHED);
	CU_ASSERT_EQUAL(tf_events(XK_STREAM_OPENED), 1);
	tf_close(&f, s);
	tf_down(&f);
}

static void what_is_pushed_before_the_handshake_ends_is_sent_after_it(void)
{
	struct xk_sess *s;
	struct tf_out o;
	int err = 0;

	tf_up1(&f, NULL);
	s = tf_open(&f, 80, 0, &err);
	o = tf_out(&f, 0);
	tf_push(&f, s, "hello", 5);
	CU_ASSERT_EQUAL(tf_nout(&f), 1);
	tf_in(&f, &(struct tf_seg){ .sport = 80, .dport = o.sport, .seq = 5000, .ack = o.seq + 1,
				    .flags = TCP_SYN | TCP_ACK });
	CU_ASSERT_EQUAL(tf_out(&f, -1).len, 5);
	CU_ASSERT(memcmp(tf_out(&f, -1).data, "hello", 5) == 0);
	CU_ASSERT_EQUAL(tf_out(&f, -1).seq, o.seq + 1);
	tf_close(&f, s);
	tf_down(&f);
}

static void a_close_before_the_handshake_ends_still_sends_what_was_pushed(void)
{
	struct xk_sess *s;
	struct tf_out o;
	int err = 0;

	tf_up1(&f, NULL);
	s = tf_open(&f, 80, 0, &err);
	o = tf_out(&f, 0);
	tf_push(&f, s, "hello", 5);
	tf_close(&f, s);
	CU_ASSERT_EQUAL(pf_sessions(&f, "tcp"), 1);
	tf_in(&f, &(struct tf_seg){ .sport = 80, .dport = o.sport, .seq = 5000, .ack = o.seq + 1,
				    .flags = TCP_SYN | TCP_ACK });
	CU_ASSERT_EQUAL(tf_out(&f, -1).len, 5);
	CU_ASSERT(tf_out(&f, -1).flags & TCP_FIN);
	tf_in(&f, &(struct tf_seg){ .sport = 80, .dport = o.sport, .seq = 5001, .ack = o.seq + 7,
				    .flags = TCP_FIN | TCP_ACK });
	CU_ASSERT_EQUAL(tf_states(&f, TCP_S_TIME_WAIT), 1);
	CU_ASSERT_EQUAL(tf_app.nevents, 0);
	pf_run(&f, 61 * XK_SEC);
	CU_ASSERT_EQUAL(pf_sessions(&f, "tcp"), 0);
	/* With nothing to say it is just forgotten (RFC 9293 3.10.4). */
	s = tf_open(&f, 80, 0, &err);
	tf_close(&f, s);
	CU_ASSERT_EQUAL(pf_sessions(&f, "tcp"), 0);
	tf_down(&f);
}

/* ---- sequence numbers (RFC 6528) -------------------------------------------------------- */

static uint32_t isn_of(uint32_t raddr, uint16_t rport, uint16_t lport)
{
	struct xk_key k;

	tcp_key(&k, ip_pair(raddr, NF_US), tcp_ports(rport, lport));
	return tcp_isn(pf_rep(&f, "tcp", 0), &k);
}

static int cmp32(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static void sequence_numbers_differ_by_tuple_and_grow_with_time(void)
{
	static uint32_t v[10000];
	unsigned same = 0, ones[32] = { 0 };
	uint32_t a, b;

	tf_up1(&f, NULL);
	for (unsigned i = 0; i < 10000; i++) {
		v[i] = isn_of(NF_PEER + i / 5000, (uint16_t)(1000 + i % 5000), 80);
		for (unsigned bit = 0; bit < 32; bit++)
			ones[bit] += v[i] >> bit & 1;
	}
	qsort(v, 10000, sizeof v[0], cmp32);
	for (unsigned i = 1; i < 10000; i++)
		same += v[i] == v[i - 1];
	/* 10^4 random numbers of 32 bits have 0.012 pairs in the mean. */
	CU_ASSERT(same <= 1);
	/* Every bit is a coin: 5000 +- 50; 6 deviations is a chance of 10^-9. */
	for (unsigned bit = 0; bit < 32; bit++)
		CU_ASSERT(ones[bit] > 4700 && ones[bit] < 5300);
	/* One tuple: monotone, 250 for a millisecond. */
	a = isn_of(NF_PEER, 1, 2);
	for (unsigned i = 0; i < 1000; i++) {
		pf_run(&f, XK_MS);
		b = isn_of(NF_PEER, 1, 2);
		CU_ASSERT(tcp_gt(b, a) && b - a < 1000);
		a = b;
	}
	tf_down(&f);
}

static void another_graph_has_other_numbers(void)
{
	uint64_t old[4];
	struct tcp_node *n;

	tf_up1(&f, NULL);
	n = pf_node(&f, "tcp")->state;
	memcpy(old, n->secret, sizeof old);
	tf_down(&f);
	/* The same seed under the virtual clock: the same run. */
	tf_up1(&f, NULL);
	n = pf_node(&f, "tcp")->state;
	CU_ASSERT(memcmp(old, n->secret, sizeof old) == 0);
	for (unsigned i = 0; i < 4; i++)
		CU_ASSERT(n->secret[i] != 0);
	tf_down(&f);
	/* The real clock: the system's, even with the same seed. */
	for (unsigned i = 0; i < 2; i++) {
		const struct pf_spec specs[] = {
			{ &pf_hostlink, "hl", NULL, NULL },
			{ &xk_proto_ip, "ip", "hl", "addr=10.0.0.1/8" },
			{ &xk_proto_tcp, "tcp", "ip", NULL },
			{ NULL, NULL, NULL, NULL },
		};

		pf_up_threads(&f, 1, 1, specs);
		n = pf_node(&f, "tcp")->state;
		CU_ASSERT(memcmp(old, n->secret, sizeof old) != 0);
		memcpy(old, n->secret, sizeof old);
		pf_down(&f);
	}
}

/* ---- ports (RFC 6056) ------------------------------------------------------ */

/* Sum of squared deviations over 64 classes; 63 degrees of freedom: p = 0.01 at 92.0. */
static void ports_are_spread_and_do_not_repeat(void)
{
	static uint8_t used[65536];
	unsigned class[64] = { 0 }, next = 0;
	double chi = 0;
	uint16_t last = 0;
	int err = 0;

	memset(used, 0, sizeof used);
	tf_up(&f, &(struct tf_conf){ .hl = NULL, .tcp = NULL });
	for (unsigned i = 0; i < 10000; i++) {
		struct xk_sess *s = tf_open(&f, 80, 0, &err);
		uint16_t port = tcp_lport(tcp_sess(s));

		CU_ASSERT_FATAL(port >= 1024);
		class[(port - 1024u) * 64 / 64512]++;
		next += port == (uint16_t)(last + 1);
		last = port;
		used[port] = 1;
		tf_close(&f, s);
		if (i % 64 == 0)
			tf_forget(&f);
	}
	for (unsigned i = 0; i < 64; i++)
		chi += (class[i] - 156.25) * (class[i] - 156.25) / 156.25;
	CU_ASSERT(chi < 92.0);
	/* The next one is not simply the next one. */
	CU_ASSERT(next < 400);
	tf_down(&f);
}

static void destinations_do_not_share_their_ports(void)
{
	unsigned same = 0;
	int err = 0;

	tf_up1(&f, NULL);
	for (unsigned i = 0; i < 200; i++) {
		struct xk_sess *a = tf_open(&f, 80, 0, &err), *b = tf_open(&f, 81, 0, &err);
		int d = tcp_lport(tcp_sess(a)) - tcp_lport(tcp_sess(b));

		same += abs(d) < 64;
		tf_close(&f, a);
		tf_close(&f, b);
	}
	CU_ASSERT(same < 20);
	tf_down(&f);
}

static void ports_run_out_and_come_back(void)
{
	static struct xk_sess *s[65536];
	unsigned n = 0;
	int err = 0;

	tf_up(&f, &(struct tf_conf){ .tcp = "syn_times=1h" });
	tf_listen(&f);
	while (n < 65536 && (s[n] = tf_open(&f, 443, 0, &err)) != NULL) {
		n++;
		if (n % 256 == 0)
			tf_forget(&f);
	}
	tf_forget(&f);
	/* All from 1024 up are in use. */
	CU_ASSERT_EQUAL(n, 64512);
	CU_ASSERT_EQUAL(err, XK_E_ADDRNOTAVAIL);
	/* Towards another port they are all free. */
	s[n] = tf_open(&f, 444, 0, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s[n]);
	tf_close(&f, s[n]);
	/* One goes to TIME-WAIT; 2 MSL later its port is free again. */
	pf_enter(&f, 0);
	tcp_cb(tcp_sess(s[7]))->state = TCP_S_TIME_WAIT;
	tcp_timewait_enter((struct tcp_sess *)(void *)s[7]);
	pf_leave(&f, 0);
	CU_ASSERT_PTR_NULL(tf_open(&f, 443, 0, &err));
	CU_ASSERT_EQUAL(err, XK_E_ADDRNOTAVAIL);
	pf_run(&f, 61 * XK_SEC);
	s[n] = tf_open(&f, 443, 0, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s[n]);
	for (unsigned i = 0; i <= n; i++)
		pf_close(&f, 0, s[i]);
	CU_ASSERT_EQUAL(pf_sessions(&f, "tcp"), 0);
	tf_down(&f);
}

/* ---- balance ----------------------------------------------------------------------------------- */

static void ten_thousand_opens_leave_nothing(void)
{
	int err = 0;

	tf_up1(&f, NULL);
	for (unsigned i = 0; i < 10000; i++) {
		struct xk_sess *s = tf_open(&f, 80, 0, &err);

		CU_ASSERT_PTR_NOT_NULL_FATAL(s);
		CU_ASSERT_EQUAL(s->rcnt, 1);
		tf_close(&f, s);
		if (i % 64 == 0)
			tf_forget(&f);
	}
	CU_ASSERT_EQUAL(pf_sessions(&f, "tcp"), 0);
	CU_ASSERT_EQUAL(xk_flowtab_count(f.g->flows), 0);
	tf_down(&f);
}

/* Whatever allocation fails: an open that fails says so, nothing is left. */
static void an_open_that_may_fail(void)
{
	struct xk_sess *s;
	struct tf_out o;
	int err = 0;

	if (!tf_up_try(&f, &(struct tf_conf){ .tcp = NULL })) {
		tf_down(&f);
		return;
	}
	s = tf_open(&f, 80, 0, &err);
	if (s == NULL) {
		CU_ASSERT(err < 0);
	} else {
		if (tf_nout(&f) != 0) {
			o = tf_out(&f, 0);
			tf_in(&f, &(struct tf_seg){ .sport = 80, .dport = o.sport, .seq = 5000, .ack = o.seq + 1,
						    .flags = TCP_SYN | TCP_ACK });
			tf_push(&f, s, "abc", 3);
			tf_in(&f, &(struct tf_seg){ .sport = 80, .dport = o.sport, .seq = 5001, .ack = o.seq + 1,
						    .flags = TCP_ACK, .data = "defg", .len = 4 });
		}
		tf_close(&f, s);
	}
	tf_down(&f);
}

static void every_allocation_of_an_open_may_fail(void)
{
	nf_torture(an_open_that_may_fail);
}

/* ---- parameters ---------------------------------------------------------------------------------- */

static const char *check(const char *params)
{
	static char why[256];
	char conf[TCP_CONF_SIZE] __attribute__((aligned(8))), text[256], *save = NULL, *w;

	memset(conf, 0, sizeof conf);
	xk_assert(xk_param_defaults(tcp_params, conf, why, sizeof why) == XK_OK);
	snprintf(text, sizeof text, "%s", params);
	for (w = strtok_r(text, "; ", &save); w != NULL; w = strtok_r(NULL, "; ", &save)) {
		char *eq = strchr(w, '=');
		const struct xk_param *p;

		*eq = '\0';
		p = xk_param_find(tcp_params, w);
		xk_assert(p != NULL);
		if (xk_param_set(p, conf, eq + 1, eq[1] >= '0' && eq[1] <= '9', why, sizeof why) != XK_OK) {
			xk_param_release(tcp_params, conf);
			return why;
		}
	}
	why[0] = '\0';
	tcp_profile_check(conf, why, sizeof why);
	xk_param_release(tcp_params, conf);
	return why;
}

static void nonsense_is_refused_with_a_sentence(void)
{
	static const struct { const char *params, *says; } bad[] = {
		{ "wscale=15", "'wscale' is a shift of 0 to 14" },
		{ "mss=100; min_mss=200", "'mss' (100) is below 'min_mss' (200)" },
		{ "rto_min=10s; rto_max=5s", "'rto_min' (10000ms) is above 'rto_max' (5000ms)" },
		{ "rto_init=50s; rto_max=40s", "'rto_init'" },
		{ "sack=false; dsack=true", "'dsack' needs 'sack'" },
		{ "sack=false; rack=true", "'rack' needs 'sack'" },
		{ "syncache=10; backlog=20", "'backlog' (20) is above 'syncache' (10)" },
		{ "mem_pressure=60; mem_high=50", "'mem_pressure' (60) is above 'mem_high' (50)" },
		{ "delack=1500us", "'delack' needs whole milliseconds" },
		{ "syn_times=1us", "'syn_times'" },
		{ "rcv_buf=1", "1KiB" },
		{ "profile=solaris", "one of" },
	};

	for (unsigned i = 0; i < XK_ARRAY_LEN(bad); i++) {
		const char *why = check(bad[i].params);

		if (strstr(why, bad[i].says) == NULL) {
			printf("# '%s' says: %s\n", bad[i].params, why);
			CU_FAIL("another sentence");
		}
	}
	CU_ASSERT_STRING_EQUAL(check("sack=false"), "");
	CU_ASSERT_STRING_EQUAL(check("syncache=10"), "");
	CU_ASSERT_STRING_EQUAL(check("rto_max=1s; profile=reno43"), "");
	CU_ASSERT_STRING_EQUAL(check("profile=freebsd; wscale=255; delack=0s"), "");
}

static struct tf_out syn_of(const char *params)
{
	struct xk_sess *s;
	struct tf_out o;
	int err = 0;

	tf_up1(&f, params);
	s = tf_open(&f, 80, 0, &err);
	o = tf_out(&f, 0);
	tf_close(&f, s);
	tf_down(&f);
	return o;
}

/* 4.4BSD-Lite without RFC 1323, and Net/2. */
static void a_profile_shows_in_the_first_segment(void)
{
	struct tf_out o = syn_of("profile=reno43");

	CU_ASSERT(o.nopt == 4 && o.mss == 1460 && o.wnd == 16384 && o.flags == TCP_SYN);
	o = syn_of("profile=lite44");
	CU_ASSERT(o.nopt == 4 && o.mss == 1460 && !o.ts && o.wscale < 0 && o.wnd == 57344 && o.flags == TCP_SYN);
	o = syn_of("profile=freebsd");
	CU_ASSERT(o.wscale == 6 && o.ts && o.sackok && o.wnd == 65535 && o.nopt == 20);
	o = syn_of("profile=linux");
	CU_ASSERT(o.wscale == 8 && o.ts && o.sackok && o.nopt == 20 && o.flags == TCP_SYN);
	o = syn_of("profile=linux; timestamps=false; wscale=3; mss=1000");
	CU_ASSERT(o.wscale == 3 && !o.ts && o.mss == 1000);
	o = syn_of("use_wscale=false; sack=false; ecn=false");
	CU_ASSERT(o.wscale < 0 && !o.sackok && o.ts && o.flags == TCP_SYN);
	o = syn_of(NULL);
	CU_ASSERT_EQUAL(o.flags, TCP_SYN | TCP_ECE | TCP_CWR);
}

static CU_TestInfo tests[] = {
	{ "siphash_agrees_with_its_reference", siphash_agrees_with_its_reference },
	{ "the_hash_of_a_tuple_is_siphash", the_hash_of_a_tuple_is_siphash },
	{ "what_is_said_when_it_stands_goes_with_the_handshake", what_is_said_when_it_stands_goes_with_the_handshake },
	{ "an_open_sends_a_syn_and_is_told_when_it_is_answered", an_open_sends_a_syn_and_is_told_when_it_is_answered },
	{ "parts_of_every_kind_open_or_are_refused", parts_of_every_kind_open_or_are_refused },
	{ "a_refusal_fails_the_open", a_refusal_fails_the_open },
	{ "syns_are_repeated_and_then_given_up", syns_are_repeated_and_then_given_up },
	{ "the_times_of_syns_can_be_given", the_times_of_syns_can_be_given },
	{ "two_syns_that_cross_make_one_connection", two_syns_that_cross_make_one_connection },
	{ "what_is_pushed_before_the_handshake_ends_is_sent_after_it",
	  what_is_pushed_before_the_handshake_ends_is_sent_after_it },
	{ "a_close_before_the_handshake_ends_still_sends_what_was_pushed",
	  a_close_before_the_handshake_ends_still_sends_what_was_pushed },
	{ "sequence_numbers_differ_by_tuple_and_grow_with_time", sequence_numbers_differ_by_tuple_and_grow_with_time },
	{ "another_graph_has_other_numbers", another_graph_has_other_numbers },
	{ "ports_are_spread_and_do_not_repeat", ports_are_spread_and_do_not_repeat },
	{ "destinations_do_not_share_their_ports", destinations_do_not_share_their_ports },
	{ "ports_run_out_and_come_back", ports_run_out_and_come_back },
	{ "ten_thousand_opens_leave_nothing", ten_thousand_opens_leave_nothing },
	{ "every_allocation_of_an_open_may_fail", every_allocation_of_an_open_may_fail },
	{ "nonsense_is_refused_with_a_sentence", nonsense_is_refused_with_a_sentence },
	{ "a_profile_shows_in_the_first_segment", a_profile_shows_in_the_first_segment },
	CU_TEST_INFO_NULL
};

static CU_SuiteInfo suites[] = {
	{ "tcp open", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}
