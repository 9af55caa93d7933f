/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_peer.c - a wire in memory and the peer at its far end: the sink, the reflector, and one
 * that only this file knows.
 */
#include "drivers/mem/mem.h"
#include "drivers/mem/mem_peer.h"
#include "drivers/peer/peer.h"

#include <string.h>

#include "runtime/base/xk_csum.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_input.h"
#include "runtime/upi/xk_part.h"
#include "tests/drivers/wire_fixture.h"

extern const struct xk_proto xk_proto_fddi, xk_proto_arp, xk_proto_ip, xk_proto_icmp, xk_proto_udp,
	xk_proto_load_port, xk_proto_ping, xk_proto_impair;

static struct xk_sess *sa[8];

/* ---- sink ---------------------------------------------------------------------------- */

static void the_sink_counts_and_forgets(void)
{
	static const struct pf_spec g[] = {
		{ &xk_proto_peer_sink, "p", NULL, NULL }, { &xk_proto_fddi_mem, "d", "p", NULL }, { &pf_upper, "u", "d", "enable=false" },
		{ NULL, NULL, NULL, NULL } };
	uint8_t b[4373] = { 0 };

	pf_up(&f, 2, g);
	open_all("u", sa);
	pf_push(&f, 0, sa[0], b, 4373);
	pf_push(&f, 1, sa[1], b, 100);
	pf_push(&f, 1, sa[1], b, 0);
	CU_ASSERT_EQUAL(pf_count(&f, "p", "sunk"), 3);
	CU_ASSERT_EQUAL(pf_count(&f, "p", "sunk_bytes"), 4473);
	CU_ASSERT_EQUAL(pf_ngot(&f, "u"), 0);
	close_all(sa);
	pf_down(&f);
}

static void the_wire_is_the_edge_and_its_peer_is_none(void)
{
	static const struct pf_spec g[] = {
		{ &xk_proto_peer_sink, "p", NULL, NULL }, { &xk_proto_eth_mem, "d", "p", NULL },
		{ &pf_upper, "u", "d", "enable=false" },
		{ &xk_proto_peer_echo, "q", NULL, NULL }, { &xk_proto_eth_mem, "e", "q", NULL },
		{ &xk_proto_impair, "i", "e", NULL }, { &pf_upper, "v", "i", "enable=false" }, { NULL, NULL, NULL, NULL } };
	uint8_t mac[6];

	pf_up(&f, 2, g);
	CU_ASSERT(xk_node_is_edge(pf_node(&f, "d")) && xk_node_is_edge(pf_node(&f, "e")));
	CU_ASSERT(!xk_node_is_edge(pf_node(&f, "p")) && !xk_node_is_edge(pf_node(&f, "q")) &&
		  !xk_node_is_edge(pf_node(&f, "i")));
	CU_ASSERT_PTR_NOT_NULL(pf_node(&f, "d")->classifier);
	CU_ASSERT_PTR_NULL(pf_node(&f, "p")->classifier);
	/* The second device, whatever lies between the two. */
	CU_ASSERT_EQUAL(xk_control(pf_rep(&f, "e", 0), XK_CTL_GETMYMAC, mac, sizeof mac), 6);
	CU_ASSERT_EQUAL(mac[5], 2);
	pf_down(&f);
}

/* ---- reflector ---------------------------------------------------------------------------- */

static void the_reflector_answers_arp_ping_and_datagrams(void)
{
	static const struct pf_spec g[] = {
		{ &xk_proto_peer_echo, "p", NULL, NULL }, { &xk_proto_fddi_mem, "d", "p", NULL }, { &xk_proto_fddi, "l", "d", NULL },
		{ &xk_proto_arp, "arp", "l", "queue=100" }, { &xk_proto_ip, "ip", "arp", "addr=10.0.0.1/8" },
		{ &xk_proto_icmp, "icmp", "ip", NULL }, { &xk_proto_udp, "udp", "ip", NULL },
		{ &xk_proto_load_port, "src", "udp", "to=10.0.0.77; conns=4; count=25; window=2; size=500" },
		{ &xk_proto_ping, "ping", "icmp", "to=10.0.0.9; count=5; interval=10ms; size=1000" },
		{ NULL, NULL, NULL, NULL } };

	pf_up(&f, 2, g);
	pf_run(&f, 5 * XK_SEC);
	CU_ASSERT_EQUAL(pf_count(&f, "src", "answers"), 100);
	CU_ASSERT_EQUAL(pf_count(&f, "src", "unanswered"), 0);
	CU_ASSERT_EQUAL(pf_count(&f, "ping", "received"), 5);
	CU_ASSERT_EQUAL(pf_drops(&f, "udp", NULL) + pf_drops(&f, "ip", NULL) + pf_drops(&f, "icmp", NULL), 0);
	pf_down(&f);
}

static void the_reflector_drops_what_it_does_not_know(void)
{
	static const struct pf_spec g[] = {
		{ &xk_proto_peer_echo, "p", NULL, NULL }, { &xk_proto_eth_mem, "d", "p", NULL }, { &pf_upper, "u", "d", "enable=false" },
		{ NULL, NULL, NULL, NULL } };
	uint8_t b[64];

	pf_up(&f, 1, g);
	open_all("u", sa);
	for (uint32_t len = 0; len < 42; len++) {         /* every cut of a datagram's headers */
		udp_frame(b, sizeof b, 5);
		pf_push(&f, 0, sa[0], b, len);
	}
	b[23] = 89;                                       /* OSPF */
	pf_push(&f, 0, sa[0], b, sizeof b);
	xk_put_be16(b + 12, 0x86dd);
	pf_push(&f, 0, sa[0], b, sizeof b);
	CU_ASSERT_EQUAL(pf_ngot(&f, "u") + pf_drops(&f, "p", "not_reflected"), 44);
	CU_ASSERT(pf_drops(&f, "p", "not_reflected") >= 40);
	close_all(sa);
	pf_down(&f);
}

/* ---- a peer of one's own: says three frames, then repeats what it hears -------------------- */

struct parrot { struct mem_rep *mr; unsigned heard, left; };

static void parrot_push(struct xk_sess *s, struct xk_msg *m)
{
	struct parrot *p = mem_far_state(s);

	p->heard++;
	mem_rx_answer(s, m);
}

static unsigned parrot_run(struct xk_task *t, unsigned budget)
{
	struct mem_rep *mr = xk_container_of(t, struct mem_rep, task);
	struct parrot *p = mr->far->state;
	uint8_t b[64];
	struct xk_msg *m;

	if (p->left == 0)
		return mem_rx_run(t, budget);
	udp_frame(b, sizeof b, (uint16_t)p->left--);
	m = pf_msg(b, sizeof b);
	xk_input(mr->rep, &m, 1);
	return 1;
}

static int parrot_start(struct xk_rep *r, struct xk_errs *e)
{
	struct parrot *p = r->state;

	(void)e;
	if (p->mr == NULL)
		return XK_OK;
	p->left = 3;
	p->mr->task.run = parrot_run;
	xk_task_ready(&p->mr->task);
	return XK_OK;
}

static int parrot_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	static const struct mem_peer parrot = { .push = parrot_push };
	const struct mem_peer *p = &parrot;

	(void)r;
	return op == XK_CTL_MEM_PEER ? xk_answer(buf, len, &p, sizeof p) : XK_E_NOTSUP;
}

static const struct xk_ops parrot_ops = { .rep_start = parrot_start, .control = parrot_control };
static const struct xk_proto parrot_proto = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "parrot", .doc = "repeats",
	.is_driver = true, .ops = &parrot_ops, .offers = "peer", .rep_size = sizeof(struct parrot),
};

static void a_peer_of_ones_own_hears_and_speaks(void)
{
	static const struct pf_spec g[] = {
		{ &parrot_proto, "alone", NULL, NULL },
		{ &parrot_proto, "p", NULL, NULL }, { &xk_proto_eth_mem, "d", "p", NULL },
		{ &pf_upper, "u", "d", "enable=false" }, { NULL, NULL, NULL, NULL } };
	uint8_t b[64];

	pf_up(&f, 1, g);
	open_all("u", sa);
	pf_run(&f, XK_MS);
	pf_forget(&f, "u");
	udp_frame(b, sizeof b, 7);
	pf_enter(&f, 0);
	xk_push(sa[0], pf_msg(b, sizeof b));
	CU_ASSERT_EQUAL(pf_ngot(&f, "u"), 0);        /* not on this stack */
	pf_leave(&f, 0);
	pf_settle(&f);
	CU_ASSERT_EQUAL_FATAL(pf_ngot(&f, "u"), 1);
	CU_ASSERT_EQUAL(memcmp(pf_got(&f, "u", 0)->bytes, b, sizeof b), 0);
	CU_ASSERT_EQUAL(((struct parrot *)pf_rep(&f, "p", 0)->state)->heard, 1);
	CU_ASSERT_EQUAL(((struct parrot *)pf_rep(&f, "p", 0)->state)->left, 0);
	CU_ASSERT_EQUAL(((struct parrot *)pf_rep(&f, "alone", 0)->state)->left, 0);
	close_all(sa);
	pf_down(&f);
}

static void what_is_no_peer_cannot_be_at_the_far_end(void)
{
	static const struct xk_ops no_ops = { .rep_start = parrot_start };
	static const struct xk_proto mute = {
		.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "mute", .doc = "no peer",
		.is_driver = true, .ops = &no_ops, .offers = "peer", .rep_size = sizeof(struct parrot) };
	static const struct pf_spec g[] = {
		{ &mute, "p", NULL, NULL }, { &xk_proto_eth_mem, "d", "p", NULL }, { NULL, NULL, NULL, NULL } };

	CU_ASSERT_FALSE(pf_up_try(&f, 1, g));
	pf_down(&f);
}

static CU_TestInfo peer_tests[] = {
	{ "the sink counts and forgets", the_sink_counts_and_forgets },
	{ "the wire is the edge and its peer is none", the_wire_is_the_edge_and_its_peer_is_none },
	{ "a peer of one's own hears and speaks", a_peer_of_ones_own_hears_and_speaks },
	{ "what is no peer cannot be at the far end", what_is_no_peer_cannot_be_at_the_far_end },
	CU_TEST_INFO_NULL
};
static CU_TestInfo echo_tests[] = {
	{ "the reflector answers ARP, ping and datagrams", the_reflector_answers_arp_ping_and_datagrams },
	{ "the reflector drops what it does not know", the_reflector_drops_what_it_does_not_know },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ .pName = "peers", .pTests = peer_tests },
	{ .pName = "reflector", .pTests = echo_tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}
