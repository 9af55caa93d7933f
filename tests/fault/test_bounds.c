/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_bounds.c - floods against a host that has honest clients: memory stays within what
 * the caps allow, clients hardly notice, and a minute later nothing is left of it.
 *
 * Each ordeal measures the honest clients' bytes in ten seconds of virtual time before it,
 * while it lasts, and after a minute's rest.  Memory is what all allocators have handed out,
 * highest during the flood, against what it was before it.  The processor's time is not
 * in it: what a frame costs is test_bounds_cost's business.
 * Invariant: every graph is freed with nothing leaked.
 */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <string.h>

#include "tests/fault/storm.h"
#include "tests/protocols/tcp_fixture.h"
#include "tests/support/xk_test_graph.h"
#include "runtime/upi/xk_inline.h"

static uint8_t d[2048], opt[40];

/* ---- an ordeal -------------------------------------------------------------------------- */

struct ordeal {
	const char *name;
	void      (*one)(unsigned long i);   /* throws frame i */
	unsigned long n, ms;                 /* frames, spread over so much time */
	uint64_t    most;                    /* bytes above what there was before */
	void      (*rest)(void);             /* each second of the rest after it; NULL: nothing */
	bool        stays;                   /* what it holds may outlast the rest */
};

/* How often the client asks. */
static const char *pace(void)
{
	return xk_test_rounds(20) == 20 ? "every = '10ms'" : "every = '100ms'";
}

static uint64_t done_in(xk_ns dt)
{
	uint64_t had = storm_stats("client").done;

	storm_run(dt);
	return storm_stats("client").done - had;
}

/* What is only waiting for readers to leave is nobody's: virtual time does not wait for them. */
static void look_at_memory(uint64_t *peak)
{
	if (storm_memory() <= *peak)
		return;
	xk_rcu_barrier();
	if (storm_memory() > *peak)
		*peak = storm_memory();
}

/* The flood; exchanges done in ten seconds of it. */
static uint64_t flood(const struct ordeal *o, uint64_t *peak)
{
	uint64_t had = storm_stats("client").done;
	xk_ns from = storm_now();

	for (unsigned long t = 1, i = 0; t <= o->ms; t++) {
		while (i < o->n * t / o->ms)
			o->one(i++);
		storm_run(XK_MS);
		if (storm_now() / XK_MS % 50 == 0)
			look_at_memory(peak);
	}
	return (storm_stats("client").done - had) * 10 * XK_SEC / (storm_now() - from);
}

static void endure(const struct ordeal *o)
{
	uint64_t before, during, after, base, peak, buffers, lost;
	struct storm_stats st, was;

	storm_run(5 * XK_SEC);
	before = done_in(10 * XK_SEC);
	xk_rcu_barrier();
	base = peak = storm_memory();
	buffers = storm_buffers();
	was = storm_stats("client");
	during = flood(o, &peak);
	st = storm_stats("client");
	lost = st.failed + st.refused - was.failed - was.refused;
	for (unsigned i = 0; i < 60; i++) {
		if (o->rest != NULL)
			o->rest();
		storm_run(XK_SEC);
	}
	after = done_in(10 * XK_SEC);
	printf("# %s: %lu frames; exchanges in 10 s %llu, during %llu, after %llu; memory %llu KiB, at most %llu KiB more; %llu failed\n",
	       o->name, o->n, (unsigned long long)before, (unsigned long long)during, (unsigned long long)after,
	       (unsigned long long)base >> 10, (unsigned long long)(peak - base) >> 10, (unsigned long long)lost);
	CU_ASSERT(before >= 80);
	CU_ASSERT(during * 10 >= before * 8);
	CU_ASSERT(after * 10 >= before * 9);
	CU_ASSERT(peak - base <= o->most);
	CU_ASSERT(lost * 100 <= st.done - was.done);
	CU_ASSERT_EQUAL(storm_stats("client").wrong + storm_stats("server").wrong, 0);
	/* What the flood held has been given back, but for what honest clients use. */
	CU_ASSERT(o->stays || storm_buffers() <= buffers + 64);
}

/* ---- a million SYNs from nowhere ----------------------------------------------------------- */

static void one_syn(unsigned long i)
{
	storm_datagram(d, tf_datagram(d, &(struct tf_seg){ .src = 0x0b000000u + (uint32_t)i, .dst = STORM_SERVER,
							   .sport = (uint16_t)(1024 + i % 60000), .dport = STORM_PORT,
							   .seq = (uint32_t)i * 7919, .flags = TCP_SYN, .opt = opt,
							   .nopt = tf_syn_opts(opt, 1460, true, NULL, 7) }));
}

/* The cache, the sessions of IP that linger; slabs grow by doubling, tables, too. */
static void a_flood_of_syns(void)
{
	struct ordeal o = { "SYN flood", one_syn, xk_test_rounds(1000000), 10000,
			    2 * (16384 * 256 + 16384 * 192) + (4u << 20), NULL, false };

	storm_up(&(struct storm_conf){ .client = pace() });
	endure(&o);
	CU_ASSERT(storm_count("tcp2", "cookies_sent") > 0);
	storm_down();
}

/* ---- fragments ------------------------------------------------------------------ */

/* Honest datagrams in fragments, too. */
static const char *pings(void)
{
	return xk_test_rounds(20) == 20
		? "ping { name = 'ping', to = '10.0.0.2', size = 4000, interval = '10ms', count = 0, over = hosts[1].icmp }"
		: "ping { name = 'ping', to = '10.0.0.2', size = 4000, interval = '200ms', count = 0, over = hosts[1].icmp }";
}

static void endure_with_pings(const struct ordeal *o)
{
	uint64_t received;

	storm_up(&(struct storm_conf){ .client = pace(), .more = pings() });
	endure(o);
	received = storm_count("ping", "received");
	printf("# %s: %llu pings of %llu answered\n", o->name, (unsigned long long)received,
	       (unsigned long long)storm_count("ping", "sent"));
	CU_ASSERT(received * 10 >= storm_count("ping", "sent") * 8);
	CU_ASSERT_EQUAL(storm_count("ping", "damaged"), 0);
	storm_down();
}

static uint32_t fragment(uint32_t src, uint16_t id, uint16_t frag, uint32_t n)
{
	return nf_ip(d, &(struct nf_ip){ .src = src, .dst = STORM_SERVER, .proto = 17, .id = id, .frag = frag }, d + 1000, n);
}

static void one_first_fragment(unsigned long i)
{
	storm_datagram(d, fragment(0x0b000000u + (uint32_t)(i >> 16), (uint16_t)i, 0x2000, 32));
}

static void one_new_dawn(unsigned long i)
{
	storm_datagram(d, fragment(0x0b000001u, (uint16_t)(i / 2), i % 2 ? 8100 : 0x2000, 32));
}

/* Eight bytes anywhere, of a few datagrams that are never whole. */
static void one_fragment_smack(unsigned long i)
{
	uint32_t at = (uint32_t)(i * 2654435761u >> 7) % 8000;

	storm_datagram(d, fragment(0x0b000000u + (uint32_t)(i % 64), (uint16_t)(i / 60000), (uint16_t)(0x2000 | at), 8));
}

#define REASS_MOST (2 * (256u << 10) + (6u << 20))

static void a_flood_of_first_fragments(void)
{
	endure_with_pings(&(struct ordeal){ "a million ids", one_first_fragment, xk_test_rounds(1000000), 10000, REASS_MOST,
					 NULL, false });
}

static void new_dawn(void)
{
	endure_with_pings(&(struct ordeal){ "New Dawn", one_new_dawn, xk_test_rounds(131072), 13000, REASS_MOST,
					 NULL, false });
}

static void fragment_smack(void)
{
	endure_with_pings(&(struct ordeal){ "FragmentSmack", one_fragment_smack, xk_test_rounds(200000), 10000, REASS_MOST,
					 NULL, false });
}

/* ---- addresses ----------------------------------------------------------------------------------- */

static void one_arp(unsigned long i)
{
	uint8_t f[60] = { 2, 0, 0, 0, 0, 2, 2, 1, 0, 0, (uint8_t)(i >> 8), (uint8_t)i, 8, 6, 0, 1, 8, 0, 6, 4, 0, 1 };

	memcpy(f + 22, f + 6, 6);
	xk_put_be32(f + 28, 0x0a010000u + (uint32_t)i);
	xk_put_be32(f + 38, STORM_SERVER);
	storm_frame(f, sizeof f);
}

static void a_flood_of_arp_senders(void)
{
	/* Entries with what their sessions hold. */
	struct ordeal o = { "ARP flood", one_arp, xk_test_rounds(65536), 6500, 2 * 1024 * 512 + (5u << 20), NULL,
			    false };

	storm_up(&(struct storm_conf){ .client = pace(), .ask_arp = true });
	endure(&o);
	CU_ASSERT(storm_count("arp2", "learned") >= o.n);
	storm_down();
}

/* ---- peers that shake hands -------------------------------------------------------------- */

/* What the server sends to our 11.x.y.z, to be answered from outside. */
#define HEARD 65536u
static struct heard { uint32_t peer, seq, ack, len; uint16_t port, flags; } heard[HEARD];
static unsigned nheard;

static void hear(const uint8_t *p, uint32_t n)
{
	const uint8_t *t = p + 20;

	if (p[9] != 6 || p[16] != 0x0b || nheard == HEARD)
		return;
	heard[nheard++] = (struct heard){ xk_be32(p + 16), xk_be32(t + 4), xk_be32(t + 8),
					  xk_be16(p + 2) - 20u - (t[12] >> 4) * 4u, xk_be16(t + 2), xk_be16(t + 12) & 0x1ff };
	(void)n;
}

static void throw_segment(const struct heard *h, uint16_t flags, uint32_t seq, uint32_t ack, uint16_t wnd, const void *data,
			  uint32_t len)
{
	uint32_t n = tf_datagram(d, &(struct tf_seg){ .src = h->peer, .dst = STORM_SERVER, .sport = h->port,
						      .dport = STORM_PORT, .seq = seq, .ack = ack, .flags = flags,
						      .data = data, .len = len });

	/* The fixture takes no window for the usual one. */
	xk_put_be16(d + 34, wnd);
	xk_put_be16(d + 36, 0);
	xk_put_be16(d + 36, nf_sum(d + 20, n - 20, nf_pseudo(h->peer, STORM_SERVER, 6, n - 20)));
	storm_datagram(d, n);
}

static void one_connection(uint32_t i)
{
	struct heard h = { .peer = 0x0b000000u + i, .port = (uint16_t)(2000 + i % 60000) };

	throw_segment(&h, TCP_SYN, 999, 0, 8000, NULL, 0);
}

/* Its question, and no room for the answer, whatever is asked. */
static void answer_with_no_window(void)
{
	unsigned n = nheard;
	uint8_t ask[100];

	for (unsigned i = 0; i < sizeof ask; i++)
		ask[i] = storm_byte(i);
	nheard = 0;
	for (unsigned i = 0; i < n; i++) {
		struct heard h = heard[i];

		if (h.flags & TCP_RST)
			continue;
		if (h.flags & TCP_SYN)
			throw_segment(&h, TCP_ACK | TCP_PSH, 1000, h.seq + 1, 0, ask, sizeof ask);
		else
			throw_segment(&h, TCP_ACK, 1100, h.ack == 1100 && h.len != 0 ? h.seq : h.seq + 1, 0, NULL, 0);
	}
}

static void one_stalled(unsigned long i)
{
	answer_with_no_window();
	if (i % 4 == 0)
		one_connection((uint32_t)i / 4);
}

static void begin_stall(const struct storm_conf *c)
{
	storm_up(c);
	nheard = 0;
	storm_sent = hear;
}

/* Peers that answer until `dt` has passed. */
static void stall_on(xk_ns dt)
{
	for (xk_ns t = 0; t < dt; t += XK_SEC) {
		answer_with_no_window();
		storm_run(XK_SEC);
	}
}

/* An answer that nobody takes costs its buffers and the session. */
#define STALLED_COST (3 * 4928u + 2048u)

/* Nobody owns them: the probes back off and end, though each is answered. */
static void ten_thousand_zero_windows_that_nobody_owns(void)
{
	unsigned long n = xk_test_rounds(10000);
	struct ordeal o = { "zero windows", one_stalled, 4 * n, 10000, n * STALLED_COST + (8u << 20), answer_with_no_window, true };
	uint64_t probes;

	begin_stall(&(struct storm_conf){ .client = pace(), .tcp2 = "quirks = { msl = '1s' }" });
	endure(&o);
	probes = storm_count("tcp2", "window_probes");
	storm_pace(0);
	stall_on(120 * XK_SEC);
	printf("# %llu probes of %lu windows, %llu given up\n", (unsigned long long)storm_count("tcp2", "window_probes"), n,
	       (unsigned long long)storm_count("tcp2", "timed_out"));
	CU_ASSERT(probes <= 10 * n);
	CU_ASSERT_EQUAL(storm_count("tcp2", "timed_out"), n);
	CU_ASSERT_EQUAL(storm_live("tcp2") + storm_buffers(), 0);
	storm_down();
}

/* Their application waits, and the limit of sessions is reached: the one that has stood
 * still for the longest makes room. */
static void zero_windows_give_way_at_the_cap(void)
{
	unsigned long n = xk_test_rounds(4000);
	struct ordeal o = { "zero windows at the cap", one_stalled, 4 * n, 8000, n / 2 * STALLED_COST + (8u << 20),
			    answer_with_no_window, true };
	char tcp2[80];

	snprintf(tcp2, sizeof tcp2, "quirks = { msl = '1s' }, sessions = %lu", n / 2);
	begin_stall(&(struct storm_conf){ .client = pace(), .tcp2 = tcp2, .server = "most = 100000, keep = true" });
	endure(&o);
	CU_ASSERT(storm_live("tcp2") <= n / 2);
	CU_ASSERT(storm_count("tcp2", "timed_out") >= n / 2 - 100);
	storm_down();
}

/* Their application waits, but not for ever. */
static void a_user_timeout_ends_zero_windows(void)
{
	unsigned long n = xk_test_rounds(2000);
	struct ordeal o = { "zero windows, user timeout", one_stalled, 4 * n, 4000, n * STALLED_COST + (8u << 20),
			    answer_with_no_window, false };

	begin_stall(&(struct storm_conf){ .client = pace(), .tcp2 = "quirks = { msl = '1s' }, user_timeout = '20s'",
					  .server = "most = 100000, keep = true" });
	endure(&o);
	CU_ASSERT_EQUAL(storm_count("tcp2", "timed_out"), n);
	storm_down();
}

/* ---- out of order ----------------------------------------------------------------------------------- */

#define MUD 600u                         /* connections */
static struct heard mud[MUD];

static void one_out_of_order(unsigned long i)
{
	struct heard *h = &mud[i % MUD];

	if (i < MUD) {
		one_connection((uint32_t)i);
		return;
	}
	for (unsigned k = 0; k < nheard; k++)
		if (heard[k].flags & TCP_SYN) {
			mud[(heard[k].peer - 0x0b000000u) % MUD] = heard[k];
			throw_segment(&heard[k], TCP_ACK, 1000, heard[k].seq + 1, 8000, NULL, 0);
		}
	nheard = 0;
	/* Every other byte, never the first. */
	throw_segment(h, TCP_ACK, 1001 + (uint32_t)(i / MUD) * 2, h->seq + 1, 8000, "x", 1);
}

static void no_answer(void)
{
	nheard = 0;
}

/* Honest clients whose link loses one in a hundred need the store that the flood fills. */
static void a_flood_of_segments_out_of_order(void)
{
	struct ordeal o = { "out of order", one_out_of_order, xk_test_rounds(200000), 10000, 16u << 20, no_answer, true };

	begin_stall(&(struct storm_conf){ .client = "every = '50ms', ask = '100KiB', size = '1KiB'",
					  .server = "ask = '100KiB', size = '1KiB'", .tcp2 = "quirks = { ooo_total = '8MiB' }",
					  .fault = "{ loss = '1%', delay = '5ms', queue = 65536 }" });
	endure(&o);
	printf("# full: %llu\n", (unsigned long long)storm_dropped("tcp2", "reassembly_full"));
	storm_down();
}

#define T(fn) { #fn, fn }
static CU_TestInfo tests[] = {
	T(a_flood_of_syns), T(a_flood_of_first_fragments), T(new_dawn), T(fragment_smack), T(a_flood_of_arp_senders),
	T(ten_thousand_zero_windows_that_nobody_owns), T(zero_windows_give_way_at_the_cap),
	T(a_user_timeout_ends_zero_windows), T(a_flood_of_segments_out_of_order), CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "bounds", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void) { return xk_test_main_rcu(suites); }
