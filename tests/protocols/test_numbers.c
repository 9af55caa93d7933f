/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_numbers.c - numbers that nobody shall guess: a million of each, as the protocols draw them.
 *
 * Ports, sequence numbers, timestamps, cookies, identifications, identifiers, times of ARP, keys: drawn by
 * opens, pushes and segments of hosts that are started again and again, on several virtual processors, and
 * judged by xk_judge.h.  In virtual time they are those of the seed: the same seed gives the same numbers, the
 * next one gives others, and this test always says the same.
 *
 * usage: test_numbers [--raw KIND N FILE]     4 N bytes of numbers of KIND, for other judges
 */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/arp/arp_priv.h"
#include "protocols/eth/eth.h"
#include "protocols/icmp/icmp_priv.h"
#include "protocols/inet/inet_ports.h"
#include "protocols/ip/ip_priv.h"
#include "protocols/udp/udp_priv.h"
#include "runtime/base/xk_rand.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_secret.h"
#include "runtime/upi/xk_vps.h"
#include "tests/protocols/tcp_fixture.h"
#include "tests/support/xk_judge.h"
#include "tests/support/xk_test_graph.h"

#define MILLION 1000000u
#define STARTS  8u                               /* of the graph */
#define VPS     4u

static struct pf f;
static uint32_t v[MILLION];

/* One kind: how a graph is made that draws them, one number, and what they are uniform in. */
struct kind {
	const char *name;
	void      (*up)(void);
	void      (*down)(struct pf *f);
	uint32_t  (*draw)(uint32_t i);
	uint64_t    range;
	bool        alike;                       /* they repeat as random ones do */
};

/* ---- TCP ------------------------------------------------------------------------------ */

static void up_tcp(void)
{
	tf_up(&f, &(struct tf_conf){ .nvps = VPS, .tcp = "cookies=always" });
	tf_listen(&f);
}

/* Of another pair of ends each time, as near to the last as can be. */
static struct tcp_hidden of_ends(uint32_t i)
{
	struct tcp_hidden h;
	struct xk_key k;

	tcp_key(&k, ip_pair(NF_PEER + (i >> 14), NF_US), tcp_ports((uint16_t)(1024 + (i & 0x3fff)), 80));
	pf_enter(&f, i % VPS);
	h = tcp_hidden(pf_rep(&f, "tcp", i % VPS), &k);
	pf_leave(&f, i % VPS);
	return h;
}

static uint32_t isn(uint32_t i) { return of_ends(i).isn; }
static uint32_t timestamp(uint32_t i) { return of_ends(i).ts_off; }

static uint32_t opened(const char *who, uint32_t i, uint16_t rport)
{
	int err;
	struct xk_sess *s = nf_open(&f, who, i % VPS, NF_PEER + i, rport, 0, 0, &err);
	uint16_t port = 0;

	xk_assert(s != NULL);
	pf_enter(&f, i % VPS);
	xk_assert(xk_sess_control(s, XK_CTL_GETMYPORT, &port, sizeof port) == (int)sizeof port);
	pf_leave(&f, i % VPS);
	pf_close(&f, i % VPS, s);
	return port - INET_PORT_FIRST;
}

static uint32_t tcp_port(uint32_t i)
{
	uint32_t port = opened("app", i, 80);

	if (i % 64 == 0)
		tf_forget(&f);
	return port;
}

static uint32_t cookie(uint32_t i)
{
	uint32_t seq;

	tf_in_vp(&f, i % VPS, &(struct tf_seg){ .src = NF_PEER + (i >> 14), .sport = (uint16_t)(1024 + (i & 0x3fff)),
					      .seq = 1000, .flags = TCP_SYN });
	xk_assert(tf_nout(&f) == 1);
	seq = tf_out(&f, 0).seq;
	tf_forget(&f);
	return seq;
}

/* ---- UDP, ICMP, IP ------------------------------------------------------------------------ */

static void up_net(void) { nf_up(&f, &(struct nf_conf){ .nvps = VPS, .ip = "df=never" }); }
static uint32_t udp_port(uint32_t i) { return opened("app", i, 53); }

static uint32_t echo_id(uint32_t i)
{
	int err;
	struct xk_sess *s = nf_open(&f, "echoer", i % VPS, NF_PEER + i, 0, 0, 0, &err);
	uint32_t id;

	xk_assert(s != NULL);
	id = icmp_sess(s)->id;
	pf_close(&f, i % VPS, s);
	return id;
}

/* To twenty destinations in turn. */
static uint32_t identification(uint32_t i)
{
	int err;
	struct xk_sess *s = pf_open_host(&f, "raw", i / 20 % VPS, NF_PEER + i % 20, &err);
	uint32_t id;

	xk_assert(s != NULL);
	pf_push(&f, i / 20 % VPS, s, "x", 1);
	id = xk_be16(pf_pushed(&f, "hl", 0)->bytes + 4);
	pf_forget(&f, "hl");
	pf_close(&f, i / 20 % VPS, s);
	return id;
}

/* ---- ARP ---------------------------------------------------------------------------------------- */

static void up_arp(void)
{
	static const struct pf_spec specs[] = {
		{ &pf_driver, "drv", NULL, "record=false" }, { &xk_proto_eth, "eth", "drv", NULL },
		{ &xk_proto_arp, "arp", "eth", "addresses=10.0.0.1/8; cap=64; reachable=4294967295ns" },
		{ &pf_upper, "up", "arp", NULL }, { NULL, NULL, NULL, NULL }
	};

	pf_up(&f, VPS, specs);
}

/* How long what a neighbour said holds. */
static uint32_t reachable(uint32_t i)
{
	static const uint8_t mac[6] = { 2, 0, 0, 0, 0, 2 };
	struct xk_rep *r = pf_rep(&f, "arp", i % VPS);
	struct arp_view view = { .until = 0 };

	pf_enter(&f, i % VPS);
	arp_learn(r, NF_PEER, mac, true);
	xk_assert(arp_lookup(r, NF_PEER, &view) == ARP_KNOWN);
	view.until -= xk_vp_now() + 4294967295u / 2;
	pf_leave(&f, i % VPS);
	return (uint32_t)view.until;
}

/* ---- keys ----------------------------------------------------------------------------------------- */

/* A graph starts anew for every four. */
static uint32_t secret(uint32_t i)
{
	static uint64_t word[4];

	if (i % 4 == 0) {
		f.g->seed = pf_seed << 32 | i;
		xk_node_secrets(pf_node(&f, "ip"), 0, word, 4);
	}
	return (uint32_t)(i & 8 ? word[i % 4] >> 32 : word[i % 4]);
}

static uint32_t entropy(uint32_t i) { return (uint32_t)(xk_rand_entropy() >> (i % 2 * 32)); }

static const struct kind kinds[] = {
	{ "tcp-isn", up_tcp, tf_down, isn, UINT64_C(1) << 32, true },
	{ "tcp-timestamp", up_tcp, tf_down, timestamp, UINT64_C(1) << 32, true },
	{ "tcp-cookie", up_tcp, tf_down, cookie, UINT64_C(1) << 32, true },
	{ "tcp-port", up_tcp, tf_down, tcp_port, INET_PORTS, true },
	{ "udp-port", up_net, nf_down, udp_port, INET_PORTS, true },
	{ "icmp-id", up_net, nf_down, echo_id, 65536, true },
	{ "ip-id", up_net, nf_down, identification, 65536, false },
	{ "arp-reachable", up_arp, pf_down, reachable, UINT64_C(1) << 32, true },
	{ "secret", up_net, nf_down, secret, UINT64_C(1) << 32, true },
	{ "entropy", up_net, nf_down, entropy, UINT64_C(1) << 32, true },
};

/* ---- what a judge is for ---------------------------------------------------------------- */

/* Ways to choose numbers that somebody could tell who has seen some. */
static uint32_t guessable(unsigned how, struct xk_rand *r, uint32_t i)
{
	uint32_t x = (uint32_t)xk_rand_u64(r);
	static uint32_t last;

	switch (how) {
	case 0: return i;                                        /* a counter */
	case 1: return last = last + 1 + x % 512;                /* steps that are not known, but short */
	case 2: return last = last * 1664525u + 1013904223u;     /* the bits of a linear generator */
	case 3: return x & ~1u;                                  /* one bit is missing */
	case 4: return x % 64 == 0 ? last : (last = x);          /* now and then the same again */
	case 5: return x - (x >> 28 == 0xf && x % 8 == 0 ? 0x80000000u : 0);   /* some a little too often */
	default: return i % 2 != 0 ? last ^ 0x80000000u : (last = x);          /* one tells the next */
	}
}

static void what_can_be_told_is_found(void)
{
	for (unsigned how = 0; how < 7; how++) {
		struct xk_rand r;

		xk_rand_init(&r, 1, how);
		for (uint32_t i = 0; i < MILLION; i++)
			v[i] = guessable(how, &r, i);
		CU_ASSERT(!judge(NULL, v, MILLION, UINT64_C(1) << 32, true));
	}
}

/* ---- drawing ------------------------------------------------------------------------------------------ */

static void draw(const struct kind *k, uint64_t seed, uint32_t *out, uint32_t n)
{
	pf_seed = seed;
	k->up();
	for (uint32_t i = 0; i < n; i++)
		out[i] = k->draw(i);
	k->down(&f);
	pf_seed = PF_SEED;
}

static void are_good(const char *name)
{
	uint32_t n = (uint32_t)xk_test_rounds(MILLION) / STARTS;

	for (unsigned i = 0; i < XK_ARRAY_LEN(kinds); i++) {
		const struct kind *k = &kinds[i];

		if (strcmp(k->name, name) != 0)
			continue;
		for (uint32_t s = 0; s < STARTS; s++)
			draw(k, 100 + s, v + s * n, n);
		CU_ASSERT(judge(k->name, v, STARTS * n, k->range, k->alike));
	}
}

static void sequence_numbers_of_tcp(void) { are_good("tcp-isn"); }
static void timestamps_of_tcp(void) { are_good("tcp-timestamp"); }
static void cookies_of_tcp(void) { are_good("tcp-cookie"); }
static void ports_of_tcp(void) { are_good("tcp-port"); }
static void ports_of_udp(void) { are_good("udp-port"); }
static void identifiers_of_icmp(void) { are_good("icmp-id"); }
static void identifications_of_ip(void) { are_good("ip-id"); }
static void times_of_arp(void) { are_good("arp-reachable"); }
static void keys(void) { are_good("secret"); }
static void entropy_of_the_system(void) { are_good("entropy"); }

/* ---- seeds ----------------------------------------------------------------------------------------------- */

static uint32_t same(const uint32_t *a, const uint32_t *b, uint32_t n)
{
	uint32_t alike = 0;

	for (uint32_t i = 0; i < n; i++)
		alike += a[i] == b[i];
	return alike;
}

/* Numbers of 16 bits: 0.5 of 30 000 in the mean, 20 have a chance below 1e-20. */
static void a_seed_gives_its_numbers_again_and_another_gives_others(void)
{
	const uint32_t n = 30000;

	for (unsigned i = 0; i < XK_ARRAY_LEN(kinds) - 1; i++) {
		draw(&kinds[i], 7, v, n);
		draw(&kinds[i], 7, v + n, n);
		draw(&kinds[i], 8, v + 2 * n, n);
		CU_ASSERT_EQUAL(same(v, v + n, n), n);
		CU_ASSERT(same(v, v + 2 * n, n) < 20);
		if (same(v, v + n, n) != n || same(v, v + 2 * n, n) >= 20)
			printf("# %s\n", kinds[i].name);
	}
}

/* Two destinations that share a counter, each for all of its 65536 counts: what is sent to one says nothing of
 * what is sent to the other at the same count. */
static void identifications_to_one_tell_nothing_of_those_to_another(void)
{
	uint32_t same_slot = 0, a = NF_PEER, b = NF_PEER;
	struct xk_sess *s;
	uint8_t slot;
	int err;

	nf_up(&f, &(struct nf_conf){ .nvps = 1, .ip = "df=never" });
	s = pf_open_host(&f, "raw", 0, a, &err);
	slot = ip_sess(s)->id_no;
	pf_close(&f, 0, s);
	do {
		s = pf_open_host(&f, "raw", 0, ++b, &err);
		same_slot = ip_sess(s)->id_no == slot;
		pf_close(&f, 0, s);
	} while (!same_slot && b < a + 4000);
	CU_ASSERT_FATAL(same_slot);
	for (uint32_t i = 0; i < 2 * 65536; i++) {
		s = pf_open_host(&f, "raw", 0, i < 65536 ? a : b, &err);
		pf_push(&f, 0, s, "x", 1);
		v[i] = xk_be16(pf_pushed(&f, "hl", 0)->bytes + 4);
		pf_forget(&f, "hl");
		pf_close(&f, 0, s);
	}
	CU_ASSERT(same(v, v + 65536, 65536) < 30);       /* 1 in the mean */
	nf_down(&f);
}

/* Two hosts that share a part of reassembly's memory under one key do not under others: nobody can look for an
 * address with which he pushes another's fragments out. */
static int slot_of(uint32_t source)
{
	const struct ip_reass *ra = &ip_state(pf_rep(&f, "ip", 0))->reass;
	static const uint8_t bytes[64];
	uint8_t d[128];
	uint16_t was[256];

	memcpy(was, ra->source, sizeof was);
	nf_in(&f, 0, d, nf_ip(d, &(struct nf_ip){ .src = source, .id = (uint16_t)source, .frag = 0x2000 }, bytes, sizeof bytes));
	for (int i = 0; i < 256; i++)
		if (ra->source[i] == was[i] + 1)
			return i;
	return -1;
}

static void hosts_that_share_memory_once_do_not_always(void)
{
	uint32_t other = NF_PEER;
	unsigned shared = 0;
	int slot;

	nf_up(&f, &(struct nf_conf){ .nvps = 1 });
	slot = slot_of(NF_PEER);
	CU_ASSERT_FATAL(slot >= 0);
	do
		other++;
	while (other < NF_PEER + 250 * 16 && slot_of(other) != slot);
	CU_ASSERT_FATAL(other < NF_PEER + 250 * 16);
	nf_down(&f);
	for (pf_seed = 1; pf_seed <= 64; pf_seed++) {
		nf_up(&f, &(struct nf_conf){ .nvps = 1 });
		shared += slot_of(NF_PEER) == slot_of(other);
		nf_down(&f);
	}
	pf_seed = PF_SEED;
	CU_ASSERT(shared < 10);                          /* 0.25 in the mean */
}

/* The graph as in a real run: its clock is not virtual, so keys are of the system, whatever the seed. */
static void a_real_run_has_others_each_time_although_the_seed_is_given(void)
{
	for (unsigned i = 0; i < XK_ARRAY_LEN(kinds); i++) {
		uint64_t word[2][64];

		for (unsigned start = 0; start < 2; start++) {
			pf_up_threads(&f, 2, 2, (const struct pf_spec[]){
				{ &pf_driver, "drv", NULL, "record=false" }, { &xk_proto_eth, "eth", "drv", NULL },
				{ NULL, NULL, NULL, NULL } });
			CU_ASSERT(!xk_node_simulated(pf_node(&f, "eth")));
			xk_node_secrets(pf_node(&f, "eth"), i, word[start], 64);
			pf_down(&f);
		}
		for (unsigned a = 0; a < 64; a++)
			for (unsigned b = 0; b < 64; b++)
				CU_ASSERT_NOT_EQUAL(word[0][a], word[1][b]);
	}
}

#define T(fn) { #fn, fn }
static CU_TestInfo tests[] = {
	T(what_can_be_told_is_found), T(sequence_numbers_of_tcp), T(timestamps_of_tcp), T(cookies_of_tcp), T(ports_of_tcp), T(ports_of_udp),
	T(identifiers_of_icmp), T(identifications_of_ip), T(times_of_arp), T(keys), T(entropy_of_the_system),
	T(a_seed_gives_its_numbers_again_and_another_gives_others), T(hosts_that_share_memory_once_do_not_always),
	T(identifications_to_one_tell_nothing_of_those_to_another),
	T(a_real_run_has_others_each_time_although_the_seed_is_given), CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "numbers", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

/* The bits of v that are all alike likely: of 32, of 16, or, of so many ports that they are no power of two, 8. */
static size_t bytes_of(const struct kind *k)
{
	return k->range > 65536 ? 4 : k->range == 65536 ? 2 : 1;
}

static bool put(const struct kind *k, uint32_t x, FILE *to)
{
	size_t n = bytes_of(k);
	uint8_t b[4] = { (uint8_t)x, (uint8_t)(x >> 8), (uint8_t)(x >> 16), (uint8_t)(x >> 24) };

	return fwrite(b, 1, n, to) == n;
}

/* A graph of another seed for each part of n; the fixtures assert, so that it is a test. */
static char *const *raw_args;
static void raw(void)
{
	unsigned long n = strtoul(raw_args[1], NULL, 10);
	FILE *to = fopen(raw_args[2], "wb");
	const struct kind *k = kinds;

	while (k < kinds + XK_ARRAY_LEN(kinds) && strcmp(k->name, raw_args[0]) != 0)
		k++;
	CU_ASSERT_FATAL(k < kinds + XK_ARRAY_LEN(kinds));
	CU_ASSERT_PTR_NOT_NULL_FATAL(to);
	n = n * 4 / bytes_of(k);
	for (uint64_t seed = 1; n != 0; seed++) {
		uint32_t some = n < MILLION / STARTS ? (uint32_t)n : MILLION / STARTS;

		draw(k, seed, v, some);
		for (uint32_t i = 0; i < some; i++)
			CU_ASSERT_FATAL(put(k, v[i], to));
		n -= some;
	}
	CU_ASSERT_EQUAL(fclose(to), 0);
}

static CU_TestInfo raw_tests[] = { T(raw), CU_TEST_INFO_NULL };
static CU_SuiteInfo raw_suites[] = {
	{ "numbers", NULL, NULL, NULL, NULL, raw_tests },
	CU_SUITE_INFO_NULL
};

int main(int argc, char **argv)
{
	if (argc == 5 && strcmp(argv[1], "--raw") == 0) {
		raw_args = argv + 2;
		return xk_test_main_rcu(raw_suites);
	}
	return xk_test_main_rcu(suites);
}
