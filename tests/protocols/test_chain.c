/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_chain.c - the chain of sessions from application to device: UDP, IP, VNET,
 * ARP, FDDI.
 *
 * Promises: a send goes through one session of each layer and looks nothing up; a
 * receive without a hint looks up once in each layer that has connections, and with
 * one not at all; every virtual processor has a chain of its own, and what is one's
 * own shares no cache line with another's; each layer says what can be counted on above it.
 */
#include <string.h>

#include "runtime/classify/xk_classify.h"
#include "runtime/upi/xk_gives.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"
#include "tests/protocols/net_fixture.h"
#include "tests/support/xk_test.h"

extern const struct xk_proto xk_proto_arp, xk_proto_fddi, xk_proto_ip, xk_proto_udp, xk_proto_vnet;

#define VPS   4u
#define PORT  4000
#define LAYER_NAMES "udp", "ip", "vnet", "arp", "fddi", "drv"
#define NLAYERS 6u

static const char *const layer[NLAYERS] = { LAYER_NAMES };

/* link: "fddi" has a classifier, which gives hints; "none" has not. */
#define HOST_OVER(link) \
	{ &pf_driver, "drv", NULL, "link=" link "; mtu=4373" }, \
	{ &xk_proto_fddi, "fddi", "drv", NULL }, \
	{ &xk_proto_arp, "arp", "fddi", "neighbours=10.0.0.2=02:00:00:00:00:02" }, \
	{ &xk_proto_vnet, "vnet", "arp", NULL }, \
	{ &xk_proto_ip, "ip", "vnet", "addr=10.0.0.1/8" }, \
	{ &xk_proto_udp, "udp", "ip", NULL }, \
	{ &pf_upper, "app", "udp", "enable=false" }, \
	{ NULL, NULL, NULL, NULL }
static const struct pf_spec hinted[] = { HOST_OVER("fddi") }, plain[] = { HOST_OVER("none") };

static struct pf f;
static struct xk_sess *conn[VPS];       /* of VP i, to port PORT + i of the peer */

static void up(const struct pf_spec *graph)
{
	pf_up(&f, VPS, graph);
	for (unsigned vp = 0; vp < VPS; vp++) {
		int err = 0;

		conn[vp] = nf_open(&f, "app", vp, NF_PEER, (uint16_t)(PORT + vp), NF_US, (uint16_t)(PORT + vp), &err);
		CU_ASSERT_PTR_NOT_NULL_FATAL(conn[vp]);
	}
}

static void down(void)
{
	for (unsigned vp = 0; vp < VPS; vp++)
		pf_close(&f, vp, conn[vp]);
	for (unsigned i = 0; i < NLAYERS; i++)
		CU_ASSERT_EQUAL(pf_drops(&f, layer[i], NULL), 0);
	pf_down(&f);
}

/* A datagram for the connection of VP `to` arrives on VP `at`. */
static void arrives(unsigned at, unsigned to)
{
	static const uint8_t link[21] = { 0x50, 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0xaa, 0xaa, 3, 0, 0, 0, 8, 0 };
	uint8_t frame[128];
	uint16_t port = (uint16_t)(PORT + to);
	uint32_t n = nf_udp(frame + sizeof link, NF_PEER, port, NF_US, port, "hello", 5);

	memcpy(frame, link, sizeof link);
	pf_inject(&f, "drv", at, frame, (uint32_t)sizeof link + n);
}

static uint64_t lookups(const char *name, unsigned vp) { return pf_rep(&f, name, vp)->active.lookup; }

static uint64_t all_lookups(void)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < NLAYERS; i++)
		for (unsigned vp = 0; vp < VPS; vp++)
			n += lookups(layer[i], vp);
	return n;
}

/* The pushes of each layer on one VP, and of all on all others. */
static void pushes(unsigned vp, uint64_t mine[NLAYERS], uint64_t *others)
{
	*others = 0;
	for (unsigned i = 0; i < NLAYERS; i++) {
		mine[i] = pf_rep(&f, layer[i], vp)->npush;
		for (unsigned v = 0; v < VPS; v++)
			*others += v == vp ? 0 : pf_rep(&f, layer[i], v)->npush;
	}
}

static void a_send_visits_the_chain_and_looks_nothing_up(void)
{
	uint64_t before[NLAYERS], after[NLAYERS], away[2], looked;
	const struct xk_sess *s;
	unsigned n = 0;

	up(plain);
	for (s = conn[2]; s != NULL && n < NLAYERS; s = s->down)
		CU_ASSERT_STRING_EQUAL(s->rep->node->name, layer[n++]);
	CU_ASSERT_EQUAL(n, NLAYERS);
	CU_ASSERT_PTR_NULL(s);
	looked = all_lookups();
	pushes(2, before, &away[0]);
	for (unsigned i = 0; i < 10; i++)
		pf_push(&f, 2, conn[2], "hello", 5);
	pushes(2, after, &away[1]);
	for (unsigned i = 0; i < NLAYERS; i++)
		CU_ASSERT_EQUAL(after[i] - before[i], 10);
	CU_ASSERT_EQUAL(away[0], away[1]);
	CU_ASSERT_EQUAL(all_lookups(), looked);
	CU_ASSERT_EQUAL(pf_npushed(&f, "drv"), 10);
	down();
}

/* Three tables lie on the way up: the link's, the network's and the transport's. */
static void a_receive_without_a_hint_looks_up_in_each_layer(void)
{
	static const char *const table[] = { "fddi", "ip", "udp" };
	uint64_t before[3], all;

	up(plain);
	arrives(1, 1);
	all = all_lookups();
	for (unsigned i = 0; i < 3; i++)
		before[i] = lookups(table[i], 1);
	for (unsigned i = 0; i < 10; i++)
		arrives(1, 1);
	for (unsigned i = 0; i < 3; i++)
		CU_ASSERT_EQUAL(lookups(table[i], 1) - before[i], 10);
	CU_ASSERT_EQUAL(all_lookups() - all, 30);
	CU_ASSERT_EQUAL(pf_ngot(&f, "app"), 11);
	down();
}

static void a_receive_with_a_hint_looks_nothing_up(void)
{
	uint64_t all;

	up(hinted);
	if (strcmp(pf_node(&f, "drv")->classifier->ops->name, "none") != 0) {
		arrives(1, 1);
		all = all_lookups();
		for (unsigned i = 0; i < 10; i++)
			arrives(i % VPS, 1);
		CU_ASSERT_EQUAL(all_lookups(), all);
		CU_ASSERT_EQUAL(pf_ngot(&f, "app"), 11);
		for (unsigned i = 0; i < 11; i++)
			CU_ASSERT_EQUAL(pf_got(&f, "app", i)->vp, 1);
	}
	down();
}

/* The part of the graph that a VP is in: a replica of each layer and a chain of sessions
 * in them, down to the device's; the nodes are all that two VPs have in common. */
static void each_vp_has_its_own_part_of_the_graph(void)
{
	up(plain);
	for (unsigned vp = 0; vp < VPS; vp++) {
		const struct xk_sess *s = conn[vp], *o = conn[(vp + 1) % VPS];

		for (unsigned i = 0; i < NLAYERS; i++, s = s->down, o = o->down) {
			CU_ASSERT_PTR_NOT_NULL_FATAL(s);
			CU_ASSERT_EQUAL(s->rep->vp->no, vp);
			CU_ASSERT_PTR_EQUAL(s->rep, pf_rep(&f, layer[i], vp));
			CU_ASSERT_PTR_NOT_EQUAL(s, o);
			CU_ASSERT_PTR_NOT_EQUAL(s->rep, o->rep);
			CU_ASSERT_PTR_EQUAL(s->rep->node, o->rep->node);
		}
		for (unsigned i = 0; i + 1 < NLAYERS; i++)
			CU_ASSERT_PTR_EQUAL(pf_rep(&f, layer[i], vp)->down[0], pf_rep(&f, layer[i + 1], vp));
	}
	down();
}

static bool apart(const void *a, size_t na, const void *b, size_t nb)
{
	uintptr_t x = (uintptr_t)a / XK_CACHELINE, x_end = ((uintptr_t)a + na - 1) / XK_CACHELINE;
	uintptr_t y = (uintptr_t)b / XK_CACHELINE, y_end = ((uintptr_t)b + nb - 1) / XK_CACHELINE;

	return x_end < y || y_end < x;
}

static void what_vps_have_of_their_own_shares_no_line(void)
{
	unsigned together = 0;

	CU_ASSERT(XK_CACHELINE >= 64);
	up(plain);
	for (unsigned i = 0; i < NLAYERS; i++)
		for (unsigned v = 0; v < VPS; v++)
			for (unsigned w = 0; w < v; w++) {
				const struct xk_rep *a = pf_rep(&f, layer[i], v), *b = pf_rep(&f, layer[i], w);
				size_t n = a->node->proto->rep_size;

				together += !apart(a, sizeof *a, b, sizeof *b);
				together += n != 0 && !apart(a->state, n, b->state, n);
			}
	for (unsigned v = 0; v < VPS; v++)
		for (unsigned w = 0; w < v; w++) {
			together += !apart(f.g->vps->vp[v], sizeof(struct xk_vp), f.g->vps->vp[w], sizeof(struct xk_vp));
			together += !apart(conn[v], sizeof(struct xk_sess), conn[w], sizeof(struct xk_sess));
		}
	CU_ASSERT_EQUAL(together, 0);
	down();
}

#define T(name) { #name, name }
/* ---- what is given ------------------------------------------------------------------ */

static void gives(const char *who, uint32_t want)
{
	uint32_t got = ~0u;

	CU_ASSERT_EQUAL(xk_control(pf_rep(&f, who, 1), XK_CTL_GIVES, &got, sizeof got), (int)sizeof got);
	CU_ASSERT_EQUAL(got, want);
}

static void each_layer_says_what_can_be_counted_on_above_it(void)
{
	const uint32_t datagrams = XK_GIVES_BOUNDARIES | XK_GIVES_SHARED;
	uint32_t got = 0;

	up(plain);
	pf_enter(&f, 1);
	gives("drv", XK_GIVES_ALL);
	gives("fddi", XK_GIVES_ALL);
	gives("arp", XK_GIVES_ALL & ~XK_GIVES_RELIABLE);
	gives("vnet", XK_GIVES_ALL & ~XK_GIVES_RELIABLE);
	gives("ip", datagrams);
	gives("udp", datagrams | XK_GIVES_SUM);
	CU_ASSERT_EQUAL(xk_sess_control(conn[1], XK_CTL_GIVES, &got, sizeof got), (int)sizeof got);
	CU_ASSERT_EQUAL(got, datagrams | XK_GIVES_SUM);
	CU_ASSERT_EQUAL(xk_sess_control(conn[1]->down, XK_CTL_GIVES, &got, sizeof got), (int)sizeof got);
	CU_ASSERT_EQUAL(got, datagrams);
	CU_ASSERT_EQUAL(xk_sess_control(conn[1], XK_CTL_GIVES, &got, 3), XK_E_INVAL);
	CU_ASSERT_EQUAL(xk_control(pf_rep(&f, "ip", 1), XK_CTL_GIVES, &got, 3), XK_E_INVAL);
	pf_leave(&f, 1);
	down();
}

static void the_names_of_what_is_given(void)
{
	char buf[64];

	CU_ASSERT_STRING_EQUAL(xk_gives_text(0, buf, sizeof buf), "nothing");
	CU_ASSERT_STRING_EQUAL(xk_gives_text(XK_GIVES_ORDER | XK_GIVES_SHARED, buf, sizeof buf), "order, shared");
	CU_ASSERT_STRING_EQUAL(xk_gives_text(XK_GIVES_ALL, buf, sizeof buf), "boundaries, order, reliable, sum, shared, crc");
	CU_ASSERT_STRING_EQUAL(xk_gives_text(XK_GIVES_ALL, buf, 12), "boundaries,");
}

static CU_TestInfo tests[] = {
	T(a_send_visits_the_chain_and_looks_nothing_up), T(a_receive_without_a_hint_looks_up_in_each_layer),
	T(a_receive_with_a_hint_looks_nothing_up), T(each_vp_has_its_own_part_of_the_graph),
	T(what_vps_have_of_their_own_shares_no_line), T(each_layer_says_what_can_be_counted_on_above_it),
	T(the_names_of_what_is_given), CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "chain", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}
