/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_rawip_flood.c - datagrams without end through the driver without a device: pings whole and in
 * fragments, UDP to an open and a closed port, TCP that opens and TCP that belongs to nothing.
 *
 * After each round minutes of virtual time pass; then buffers, sessions and memory are what they were
 * after the first.  A graph that is taken down with a queue full of them lets go of all.
 *
 *   XK_STORM_SECONDS=600   so much processor time, for the campaigns; otherwise a few rounds
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "drivers/rawip/rawip.h"
#include "tests/protocols/proto_fixture.h"
#include "tests/support/xk_test.h"
#include "runtime/compose/xk_compose.h"

#define ROUNDS 3u
#define FRAMES ((unsigned)xk_test_rounds(6000))         /* of a round */
#define FIRST  6000u                                     /* fills what is kept: sessions, the cache of SYNs */
#define KINDS  6u

extern const struct xk_proto xk_proto_ip, xk_proto_icmp, xk_proto_udp, xk_proto_tcp, xk_proto_echo, xk_proto_tcpecho;

static const struct pf_spec host[] = {
	{ &xk_proto_rawip, "raw", NULL, "mtu=1500" },
	{ &xk_proto_ip, "ip", "raw", "addr=10.0.0.1/8" },
	{ &xk_proto_icmp, "icmp", "ip", NULL },
	{ &xk_proto_udp, "udp", "ip", NULL },
	{ &xk_proto_tcp, "tcp", "ip", NULL },
	{ &xk_proto_echo, "echo", "udp", "port=7; sessions=16" },
	{ &xk_proto_tcpecho, "tcpecho", "tcp", "port=7" },
	{ NULL, NULL, NULL, NULL }
};

static uint32_t seed = 1;

static uint32_t any(void)
{
	seed = seed * 1664525u + 1013904223u;
	return seed >> 8;
}

static uint32_t sum_of(const uint8_t *p, unsigned n, uint32_t s)
{
	for (unsigned i = 0; i < n; i++)
		s += i & 1 ? p[i] : (uint32_t)p[i] << 8;
	return s;
}

static void put_sum(uint8_t *at, uint32_t s)
{
	s = (s & 0xffff) + (s >> 16);
	s = ~((s & 0xffff) + (s >> 16));
	at[0] = (uint8_t)(s >> 8);
	at[1] = (uint8_t)s;
}

/* The header before n bytes of d; returns the length of all. */
static uint32_t ip(uint8_t *d, uint8_t proto, unsigned n, unsigned id, unsigned frag)
{
	const uint8_t h[20] = { 0x45, 0, (uint8_t)((20 + n) >> 8), (uint8_t)(20 + n), (uint8_t)(id >> 8), (uint8_t)id,
				(uint8_t)(frag >> 8), (uint8_t)frag, 64, proto, 0, 0, 10, 0, 0, (uint8_t)(2 + any() % 16), 10, 0, 0, 1 };

	memcpy(d, h, 20);
	put_sum(d + 10, sum_of(d, 20, 0));
	return 20 + n;
}

static uint32_t tcp(uint8_t *d, unsigned port, uint8_t flags)
{
	uint8_t *t = d + 20;
	uint32_t n;

	memset(t, 0, 20);
	t[0] = (uint8_t)(4 + any() % 60);
	t[1] = (uint8_t)any();
	t[2] = (uint8_t)(port >> 8);
	t[3] = (uint8_t)port;
	for (unsigned i = 4; i < 12; i++)
		t[i] = (uint8_t)any();
	t[12] = 0x50;
	t[13] = flags;
	t[14] = 2;
	n = ip(d, 6, 20, any(), 0);
	put_sum(t + 16, sum_of(d + 12, 8, sum_of(t, 20, 6 + 20)));
	return n;
}

static uint32_t udp(uint8_t *d, unsigned port, unsigned n)
{
	const uint8_t h[8] = { (uint8_t)(4 + any() % 60), (uint8_t)any(), (uint8_t)(port >> 8), (uint8_t)port,
			       (uint8_t)((8 + n) >> 8), (uint8_t)(8 + n), 0, 0 };

	memcpy(d + 20, h, 8);
	return ip(d, 17, 8 + n, any(), 0);
}

static uint32_t ping(uint8_t *d, unsigned n)
{
	memset(d + 20, 0, 8 + n);
	d[20] = 8;
	put_sum(d + 22, sum_of(d + 20, 8 + n, 0));
	return ip(d, 1, 8 + n, any(), 0);
}

static uint32_t datagram(uint8_t *d, unsigned kind)
{
	switch (kind % KINDS) {
	case 0: return ping(d, any() % 1400);
	case 1: return udp(d, 7, any() % 1400);
	case 2: return udp(d, 9999, 22);
	case 3: return tcp(d, 7, 2);
	case 4: return tcp(d, 7, (uint8_t)any());
	default: return ip(d, 1, 80, any() % 4, 0x2000 | any() % 20);     /* a piece of something that never gets whole */
	}
}

static void flood(struct pf *f, unsigned n, unsigned each)
{
	uint8_t d[1500] = { 0 };

	for (unsigned i = 0; i < n; i++) {
		uint32_t len = datagram(d, i);

		pf_enter(f, i / each % 4);
		CU_ASSERT_EQUAL(rawip_inject(pf_node(f, "raw"), d, len), XK_OK);
		pf_leave(f, i / each % 4);
		if (each != n && i % each == each - 1)
			pf_run(f, XK_MS);
	}
}

struct rest { uint64_t sessions, buffers, memory; };

static struct rest at_rest(struct pf *f)
{
	struct xk_mem_stats s[XK_MEM_CLASSES];
	struct rest r;

	for (unsigned i = 0; i < 10; i++)
		pf_run(f, 30 * XK_SEC);
	xk_rcu_barrier();
	r = (struct rest){ pf_sessions(f, "tcp") + pf_sessions(f, "ip") + pf_sessions(f, "raw"), 0, xk_alloc_bytes() + xk_slab_bytes() };
	xk_mempool_stats(f->g->vps->pool, s);
	for (unsigned i = 0; i < XK_MEM_CLASSES; i++)
		r.buffers += s[i].outstanding;
	return r;
}

static void a_flood_leaves_nothing_behind(void)
{
	const char *seconds = getenv("XK_STORM_SECONDS");
	clock_t until = clock() + (clock_t)(seconds ? atoi(seconds) : 0) * CLOCKS_PER_SEC;
	struct rest first, r;
	unsigned rounds = 0;
	struct pf f;

	pf_up(&f, 4, host);
	flood(&f, FIRST, 32);
	/* What a flood of this length needs at once is had with the first. */
	flood(&f, FRAMES, 32);
	first = at_rest(&f);
	for (; rounds < ROUNDS || clock() < until; rounds++) {
		flood(&f, FRAMES, 32);
		r = at_rest(&f);
		CU_ASSERT_EQUAL(r.buffers, first.buffers);
		CU_ASSERT_EQUAL(r.sessions, first.sessions);
		CU_ASSERT(r.memory <= first.memory + first.memory / 8);
	}
	CU_ASSERT(pf_count(&f, "raw", "received") == FIRST + (uint64_t)(rounds + 1) * FRAMES);
	CU_ASSERT(pf_count(&f, "raw", "sent") > FIRST / 2);
	printf("# %u rounds: %llu sessions, %llu buffers, %llu bytes\n", rounds, (unsigned long long)first.sessions,
	       (unsigned long long)first.buffers, (unsigned long long)first.memory);
	pf_down(&f);
}

static void what_lies_in_queues_goes_with_the_graph(void)
{
	struct pf f;

	for (unsigned i = 0; i < 4; i++) {
		pf_up(&f, 4, host);
		flood(&f, FRAMES / 4, FRAMES / 4);
		pf_down(&f);
	}
}

#define T(f) { #f, f }
static CU_TestInfo all[] = {
	T(a_flood_leaves_nothing_behind), T(what_lies_in_queues_goes_with_the_graph), CU_TEST_INFO_NULL
};

static CU_SuiteInfo suites[] = { { "floods of rawip", NULL, NULL, NULL, NULL, all }, CU_SUITE_INFO_NULL };

int main(void)
{
	return xk_test_main(suites);
}
