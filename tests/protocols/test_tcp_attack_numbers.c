/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_tcp_attack_numbers.c - the numbers that TCP chooses and counts with: sequence
 * numbers and ports that nobody guesses, sequence numbers and timestamps that wrap, ports
 * that run out.
 *
 * The host is driven from outside, segment by segment, but where a million samples of a
 * function are taken.  A number is chosen by waiting for it: the clock is part of it.
 * Invariant: every test ends with no session left.
 */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/protocols/tcp_fixture.h"
#include "tests/support/xk_test_graph.h"
#include "runtime/upi/xk_inline.h"

static struct pf f;

static void send(uint16_t sport, uint16_t flags, uint32_t seq, uint32_t ack, const void *data, uint32_t n)
{
	tf_in(&f, &(struct tf_seg){ .sport = sport, .seq = seq, .ack = ack, .flags = flags, .data = data, .len = n });
}

static void over(struct xk_sess *s)
{
	uint32_t on = 1;

	tf_control(&f, s, TCP_CTL_LINGER, &on, sizeof on);
	tf_close(&f, s);
	CU_ASSERT_EQUAL(pf_sessions(&f, "tcp"), 0);
	tf_down(&f);
}

/* ---- numbers that nobody guesses --------------------------------------------- */

static int cmp32(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* A million samples of each of three kinds: one tuple, a thousand tuples, all different. */
static void a_million_sequence_numbers_grow_and_do_not_repeat(void)
{
	unsigned long n = xk_test_rounds(1000000);
	static uint32_t v[1000000];
	struct xk_key k;
	struct xk_rep *r;
	unsigned same = 0;

	tf_up1(&f, NULL);
	r = pf_rep(&f, "tcp", 0);
	pf_enter(&f, 0);
	tcp_key(&k, ip_pair(NF_PEER, NF_US), tcp_ports(1, 2));
	for (unsigned long i = 0; i < n; i++) {
		/* As fast as the clock of RFC 9293 3.4.1 ticks, at the least. */
		r->vp->now += 4 * XK_US + i % 3 * 400;
		v[i] = tcp_isn(r, &k);
		CU_ASSERT_FATAL(i == 0 || (tcp_gt(v[i], v[i - 1]) && v[i] - v[i - 1] <= 2));
	}
	/* None comes again before the clock has gone round: monotone and less than 2^31 apart. */
	CU_ASSERT(v[n - 1] - v[0] < 0x7fffffff);
	for (unsigned long i = 0; i < n; i++) {
		tcp_key(&k, ip_pair(NF_PEER + (uint32_t)(i % 1000), NF_US), tcp_ports(1, (uint16_t)(i % 1000 + 1)));
		r->vp->now += 4 * XK_US;
		v[i] = tcp_isn(r, &k);
		CU_ASSERT_FATAL(i < 1000 || v[i] - v[i - 1000] == 1000);
	}
	/* Different tuples at one moment: as random numbers of 32 bits, which have
	 * n^2 / 2^33 pairs in the mean: 116 of a million, 6 deviations are 65. */
	for (unsigned long i = 0; i < n; i++) {
		tcp_key(&k, ip_pair(NF_PEER + (uint32_t)(i >> 16), NF_US), tcp_ports((uint16_t)i, 80));
		v[i] = tcp_isn(r, &k);
	}
	pf_leave(&f, 0);
	qsort(v, n, sizeof v[0], cmp32);
	for (unsigned long i = 1; i < n; i++)
		same += v[i] == v[i - 1];
	CU_ASSERT(same <= (unsigned)((double)n * (double)n / 8589934592.0 + 65));
	tf_down(&f);
}

/* Two graphs in one process under the real clock have secrets of their own (test_tcp_open);
 * here: other secrets, other numbers, for every tuple. */
static void another_secret_gives_other_numbers(void)
{
	struct tcp_node *n;
	unsigned same = 0;

	tf_up1(&f, NULL);
	n = pf_node(&f, "tcp")->state;
	pf_enter(&f, 0);
	for (unsigned i = 0; i < 10000; i++) {
		uint32_t a, b;
		struct xk_key k;

		tcp_key(&k, ip_pair(NF_PEER, NF_US), tcp_ports((uint16_t)(i + 1), 80));
		a = tcp_isn(pf_rep(&f, "tcp", 0), &k);
		n->secret[i % 2] ^= UINT64_C(1) << (i % 64);
		b = tcp_isn(pf_rep(&f, "tcp", 0), &k);
		n->secret[i % 2] ^= UINT64_C(1) << (i % 64);
		same += a == b;
	}
	pf_leave(&f, 0);
	CU_ASSERT(same <= 1);
	tf_down(&f);
}

/* Chi-square over 256 classes, 255 degrees of freedom: p = 0.01 at 310.5. */
static void a_million_ports_are_spread_evenly(void)
{
	unsigned long n = xk_test_rounds(1000000);
	static uint32_t class[256];
	double chi = 0, mean = (double)n / 256;
	int err = 0;

	memset(class, 0, sizeof class);
	tf_up1(&f, NULL);
	for (unsigned long i = 0; i < n; i++) {
		struct xk_sess *s;

		/* A hundred destinations, as a client of many servers has. */
		s = nf_open(&f, "app", 0, NF_PEER + (uint32_t)(i % 100), (uint16_t)(80 + i % 7), 0, 0, &err);
		CU_ASSERT_PTR_NOT_NULL_FATAL(s);
		class[(tcp_lport(tcp_sess(s)) - 1024u) * 256 / 64512]++;
		pf_close(&f, 0, s);
		if (i % 64 == 0)
			tf_forget(&f);
	}
	for (unsigned i = 0; i < 256; i++)
		chi += (class[i] - mean) * (class[i] - mean) / mean;
	printf("# chi-square %.1f of %lu ports\n", chi, n);
	CU_ASSERT(chi < 310.5);
	tf_down(&f);
}

/* ---- wrap ------------------------------------------------------------------------------------------- */

/* Time passes until the next number for that key is `want`. */
static void wait_for_isn(uint16_t rport, uint16_t lport, uint32_t want)
{
	struct xk_key k;
	uint32_t now;

	tcp_key(&k, ip_pair(NF_PEER, NF_US), tcp_ports(rport, lport));
	pf_run(&f, 4 * XK_US);
	now = tcp_isn(pf_rep(&f, "tcp", 0), &k);
	pf_run(&f, (xk_ns)(want - now) * 4 * XK_US);
	CU_ASSERT_EQUAL(tcp_isn(pf_rep(&f, "tcp", 0), &k), want);
}

static uint32_t sack_opts(uint8_t *p, unsigned n, const uint32_t *lr)
{
	p[0] = p[1] = 1;
	p[2] = 5;
	p[3] = (uint8_t)(2 + 8 * n);
	for (unsigned i = 0; i < 2 * n; i++)
		xk_put_be32(p + 4 + 4 * i, lr[i]);
	return 4 + 8 * n;
}

/* Our numbers wrap within the first segments; of ten the third, on the wrap, is lost. */
static void a_loss_at_the_wrap_is_repaired_alone(void)
{
	static uint8_t bytes[14000], opt[40];
	struct xk_sess *s;
	uint32_t iss = 0xffffff00u - 2000, first, lr[2];
	unsigned again = 0;

	nf_fill(bytes, sizeof bytes, 1);
	tf_up1(&f, "timestamps=false; initial_window=10; nagle=false");
	tf_listen(&f);
	wait_for_isn(TF_PEER_PORT, TF_PORT, iss);
	tf_in(&f, &(struct tf_seg){ .seq = 1000, .flags = TCP_SYN, .opt = opt,
				    .nopt = tf_syn_opts(opt, 1400, true, NULL, -1) });
	CU_ASSERT_EQUAL(tf_out(&f, -1).seq, iss);
	send(TF_PEER_PORT, TCP_ACK, 1001, iss + 1, NULL, 0);
	CU_ASSERT_EQUAL_FATAL(tf_app.nkept, 1);
	s = tf_app.kept[0];
	tf_forget(&f);
	tf_push(&f, s, bytes, sizeof bytes);
	CU_ASSERT_EQUAL(tf_nout(&f), 10);
	first = iss + 1;
	/* Bytes 1400..2800 of the stream, which hold number 0, are missing. */
	CU_ASSERT(tcp_lt(first + 1400, 0) && tcp_gt(first + 2800, 0));
	tf_forget(&f);
	for (unsigned i = 3; i <= 10; i++) {
		lr[0] = first + 2800;
		lr[1] = first + 1400 * i;
		tf_in(&f, &(struct tf_seg){ .seq = 1001, .ack = first + 1400, .flags = TCP_ACK, .opt = opt,
					    .nopt = sack_opts(opt, 1, lr) });
		pf_run(&f, XK_MS);
	}
	for (unsigned i = 0; i < tf_nout(&f); i++) {
		struct tf_out o = tf_out(&f, (int)i);

		again += o.len != 0;
		CU_ASSERT(o.seq == first + 1400 && o.len == 1400 && memcmp(o.data, bytes + 1400, 1400) == 0);
	}
	CU_ASSERT_EQUAL(again, 1);
	CU_ASSERT_EQUAL(tf_control(&f, s, XK_STREAM_DRAIN, NULL, 0), 0);
	send(TF_PEER_PORT, TCP_ACK, 1001, first + 14000, NULL, 0);
	CU_ASSERT_EQUAL(tf_events(XK_STREAM_DRAINED), 1);
	over(s);
}

/* The same with a peer that has no SACK, by duplicates and by time. */
static void a_repetition_on_the_wrap_is_exact(void)
{
	static uint8_t bytes[7000];

	nf_fill(bytes, sizeof bytes, 2);
	for (unsigned lost = 0; lost < 5; lost++)
		for (unsigned fast = 0; fast < 2; fast++) {
			uint32_t iss = 0xffffff00u - 1400 * lost, first = iss + 1;
			uint8_t opt[40];
			struct xk_sess *s;
			unsigned n;

			tf_up1(&f, "timestamps=false; sack=false; initial_window=10; nagle=false");
			tf_listen(&f);
			wait_for_isn(TF_PEER_PORT, TF_PORT, iss);
			tf_in(&f, &(struct tf_seg){ .seq = 1000, .flags = TCP_SYN, .opt = opt,
						    .nopt = tf_syn_opts(opt, 1400, false, NULL, -1) });
			send(TF_PEER_PORT, TCP_ACK, 1001, first, NULL, 0);
			s = tf_app.kept[0];
			tf_push(&f, s, bytes, sizeof bytes);
			tf_forget(&f);
			send(TF_PEER_PORT, TCP_ACK, 1001, first + 1400 * lost, NULL, 0);
			for (unsigned i = 0; fast && i < 3; i++)
				send(TF_PEER_PORT, TCP_ACK, 1001, first + 1400 * lost, NULL, 0);
			if (!fast)
				pf_run(&f, 3 * XK_SEC);
			n = tf_nout(&f);
			/* Three duplicates need something behind the hole. */
			if (fast && lost == 4) {
				pf_run(&f, 3 * XK_SEC);
				n = tf_nout(&f);
			}
			CU_ASSERT_FATAL(n >= 1);
			CU_ASSERT(tf_out(&f, 0).seq == first + 1400 * lost && tf_out(&f, 0).len == 1400);
			CU_ASSERT(memcmp(tf_out(&f, 0).data, bytes + 1400 * lost, 1400) == 0);
			CU_ASSERT_EQUAL(tf_control(&f, s, XK_STREAM_DRAIN, NULL, 0), 0);
			send(TF_PEER_PORT, TCP_ACK, 1001, first + 7000, NULL, 0);
			CU_ASSERT_EQUAL(tf_events(XK_STREAM_DRAINED), 1);
			over(s);
		}
}

/* Theirs wrap: pieces in any order, told of in blocks across the wrap. */
static void pieces_on_the_wrap_come_up_in_order(void)
{
	static uint8_t bytes[4000];
	static const unsigned order[] = { 3, 1, 5, 7, 6, 4, 2, 0 };
	uint32_t irs = 0xffffff00u - 1000;

	nf_fill(bytes, sizeof bytes, 3);
	tf_up1(&f, NULL);
	tf_listen(&f);
	{
		uint8_t opt[40];
		uint32_t tsval = 0xfffffff0u, tsecr;
		struct xk_sess *s;
		struct tf_out o;

		tf_in(&f, &(struct tf_seg){ .seq = irs, .flags = TCP_SYN, .opt = opt,
					    .nopt = tf_syn_opts(opt, 1460, true, &tsval, 7) });
		o = tf_out(&f, -1);
		CU_ASSERT_EQUAL(o.ack, irs + 1);
		tsecr = o.tsval;
		tf_in(&f, &(struct tf_seg){ .seq = irs + 1, .ack = o.seq + 1, .flags = TCP_ACK, .opt = opt,
					    .nopt = tf_ts_opts(opt, tsval, tsecr) });
		s = tf_app.kept[0];
		for (unsigned i = 0; i < XK_ARRAY_LEN(order); i++) {
			/* Their timestamps wrap, too. */
			tf_in(&f, &(struct tf_seg){ .seq = irs + 1 + 500 * order[i], .ack = o.seq + 1, .flags = TCP_ACK,
						    .opt = opt, .nopt = tf_ts_opts(opt, tsval + 4 * i, tsecr),
						    .data = bytes + 500 * order[i], .len = 500 });
			pf_run(&f, 4 * XK_MS);
		}
		CU_ASSERT_EQUAL(tf_app.ngot, sizeof bytes);
		CU_ASSERT(memcmp(tf_app.got, bytes, sizeof bytes) == 0);
		CU_ASSERT_EQUAL(tf_out(&f, -1).ack, irs + 1 + (uint32_t)sizeof bytes);
		/* Older than the newest by the wrap's arithmetic: dropped (PAWS). */
		tf_in(&f, &(struct tf_seg){ .seq = irs + 1 + sizeof bytes, .ack = o.seq + 1, .flags = TCP_ACK, .opt = opt,
					    .nopt = tf_ts_opts(opt, tsval - 1, tsecr), .data = "old", .len = 3 });
		CU_ASSERT_EQUAL(tf_app.ngot, sizeof bytes);
		CU_ASSERT_EQUAL(pf_drops(&f, "tcp", "paws"), 1);
		over(s);
	}
}

/* ---- no port is free --------------------------------------------------------------------------------- */

static void established_and_closed(uint16_t rport, struct xk_sess *s)
{
	struct tf_out o = tf_out(&f, -1);

	tf_in(&f, &(struct tf_seg){ .sport = rport, .dport = o.sport, .seq = 5000, .ack = o.seq + 1,
				    .flags = TCP_SYN | TCP_ACK });
	tf_close(&f, s);
	tf_in(&f, &(struct tf_seg){ .sport = rport, .dport = o.sport, .seq = 5001, .ack = o.seq + 2,
				    .flags = TCP_FIN | TCP_ACK });
}

static void a_client_that_has_used_every_port_waits_for_2_msl(void)
{
	unsigned n = 0;
	int err = 0;

	tf_up1(&f, "msl=500s; time_wait=70000");
	for (struct xk_sess *s; (s = tf_open(&f, 443, 0, &err)) != NULL; n++) {
		pf_settle(&f);
		established_and_closed(443, s);
		tf_forget(&f);
	}
	CU_ASSERT_EQUAL(n, 64512);
	CU_ASSERT_EQUAL(err, XK_E_ADDRNOTAVAIL);
	CU_ASSERT_EQUAL(tf_states(&f, TCP_S_TIME_WAIT), 64512);
	pf_run(&f, 990 * XK_SEC);
	CU_ASSERT_PTR_NULL(tf_open(&f, 443, 0, &err));
	CU_ASSERT_EQUAL(err, XK_E_ADDRNOTAVAIL);
	pf_run(&f, 20 * XK_SEC);
	CU_ASSERT_EQUAL(pf_sessions(&f, "tcp"), 0);
	{
		struct xk_sess *s = tf_open(&f, 443, 0, &err);

		CU_ASSERT_PTR_NOT_NULL_FATAL(s);
		tf_close(&f, s);
	}
	tf_down(&f);
}

#define T(fn) { #fn, fn }
static CU_TestInfo tests[] = {
	T(a_million_sequence_numbers_grow_and_do_not_repeat), T(another_secret_gives_other_numbers),
	T(a_million_ports_are_spread_evenly), T(a_loss_at_the_wrap_is_repaired_alone),
	T(a_repetition_on_the_wrap_is_exact), T(pieces_on_the_wrap_come_up_in_order),
	T(a_client_that_has_used_every_port_waits_for_2_msl), CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "tcp attack, numbers", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void) { return xk_test_main_rcu(suites); }
