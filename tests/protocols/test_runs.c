/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_runs.c - nothing but speed tells a run of messages from its messages one
 * by one: two equal graphs get the same frames, one in bursts, one singly; every
 * counter of every node must agree, and every byte that a watched node sees.
 *
 * Frames are of a few connections, most of them good, some damaged in one or
 * two bytes, cut or padded, in one segment, in several, shared or lent; over
 * Ethernet and over FDDI, into a sink, an echo that answers, through hops and
 * past nodes that are captured.
 */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <string.h>

#include "runtime/base/xk_bytes.h"
#include "runtime/compose/xk_compose.h"
#include "runtime/upi/xk_capture.h"
#include "runtime/upi/xk_input.h"
#include "tests/support/xk_test.h"

#define BURST 32u
#define MAX_FRAME 256u
#define OPEN_PORTS 3u

/* What stands over UDP, and which node is watched. */
struct plan { bool fddi; const char *apps; const char *watch; };
static const char *of_udp = "";  /* its parameters, of both sides */

/* Both ways apart: what comes up in a burst is seen before its answers.
 * noted: the hop below has noted the first byte of each message. */
struct watch { struct xk_capture c; bool noted; uint64_t seen, sums, hash[2]; };
struct side { struct xk_spec *spec; struct xk_graph *g; struct xk_node *drv; struct watch watch; };
struct frame { uint8_t b[MAX_FRAME]; uint32_t n, net; unsigned form; uint8_t flags; };

/* Content, and the network header where a layer above looks for it. */
static void watch_fn(struct xk_capture *c, xk_ns now, const struct xk_msg *m, bool down)
{
	struct watch *w = xk_container_of(c, struct watch, c);
	uint8_t b[2 * MAX_FRAME];
	uint32_t n = xk_msg_copy_out(m, 0, b, sizeof b);
	const uint8_t *net = xk_msg_net(m);

	(void)now;
	w->seen++;
	w->sums += !down && (m->flags & XK_MSG_CSUM);
	w->hash[down] = (w->hash[down] ^ n) * 0x9e3779b97f4a7c15u;
	for (uint32_t i = 0; i < n; i++)
		w->hash[down] = (w->hash[down] ^ b[i]) * 0x100000001b3u;
	if (w->noted && !down && m->len != 0)
		CU_ASSERT_EQUAL(m->aux, m->data[0]);
	if (net != NULL && !down)
		w->hash[down] = (w->hash[down] ^ xk_raw64(net + 12)) * 0x100000001b3u;
}

static void side_up(struct side *s, const struct plan *p)
{
	char text[1024];
	struct xk_errs *e = xk_errs_new();
	struct xk_compose_opts o = { 0 };

	snprintf(text, sizeof text,
		 "local d = %s { name = 'drv', mac = '02:00:00:00:00:01', over = peer_sink {} }\n"
		 "local r = arp { over = %s { name = 'link', over = d }, neighbours = { ['10.0.0.2'] = '02:00:00:00:00:02' } }\n"
		 "local i = ip { addr = '10.0.0.1/8', over = r }\n"
		 "icmp { over = i }\n"
		 "local u = udp { %s over = i }\n"
		 "%s\n"
		 "return graph 'runs' { threading = up {}, clock = 'virtual', seed = 1 }\n",
		 p->fddi ? "fddi_mem" : "eth_mem", p->fddi ? "fddi" : "eth", of_udp, p->apps);
	CU_ASSERT_EQUAL_FATAL(xk_spec_load_text(&s->spec, "runs.lua", text, strlen(text), &o, e), XK_OK);
	CU_ASSERT_EQUAL_FATAL(xk_spec_check(s->spec, e, NULL), XK_OK);
	CU_ASSERT_EQUAL_FATAL(xk_spec_build(s->spec, &s->g, e), XK_OK);
	s->watch = (struct watch){ .c.fn = watch_fn, .noted = p->watch != NULL && strcmp(p->watch, "app") == 0 };
	if (p->watch != NULL)
		xk_capture_attach(xk_graph_find(s->g, p->watch), &s->watch.c);
	CU_ASSERT_EQUAL_FATAL(xk_graph_up(s->g, e), XK_OK);
	s->drv = xk_graph_find(s->g, "drv");
	xk_errs_free(e);
}

static void side_down(struct side *s)
{
	CU_ASSERT_EQUAL(xk_graph_free(s->g), 0);
	xk_spec_free(s->spec);
}

/* ---- frames ------------------------------------------------------------------- */

static uint32_t link_header(uint8_t *b, bool fddi)
{
	static const uint8_t macs[12] = { 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2 };
	static const uint8_t llc[8] = { 0xaa, 0xaa, 3, 0, 0, 0, 8, 0 };

	if (!fddi) {
		memcpy(b, macs, 12);
		memcpy(b + 12, llc + 6, 2);
		return 14;
	}
	b[0] = 0x50;
	memcpy(b + 1, macs, 12);
	memcpy(b + 13, llc, 8);
	return 21;
}

/* The fields that may differ between datagrams of one connection; in half of
 * the bursts they do not. */
static void ip_fields(uint8_t *ip, struct xk_rand *r, bool equal)
{
	ip[8] = 64;
	if (equal)
		return;
	if (xk_rand_below(r, 3) == 0)
		xk_put_be16(ip + 4, (uint16_t)xk_rand_u64(r));
	if (xk_rand_below(r, 8) == 0)
		ip[1] = (uint8_t)xk_rand_u64(r);
	if (xk_rand_below(r, 8) == 0)
		ip[8] = (uint8_t)xk_rand_below(r, 4);
	if (xk_rand_below(r, 8) == 0)
		xk_put_be16(ip + 6, 0x4000);
}

/* No checksum, on a datagram whose bytes sum up as if it had a right one. */
static void checksum_none(uint8_t *udp, uint32_t len)
{
	uint32_t sum = (uint32_t)xk_raw16(udp + 6) + xk_raw16(udp + 8);

	if (len >= 2)
		xk_put_raw16(udp + 8, xk_csum_fold(sum));
	xk_put_raw16(udp + 6, 0);
}

/* What the frames of a burst have in common: fields that may differ do not; no datagram has a checksum. */
struct common { bool equal, plain; };

/* A good datagram to one of five ports, three of them open. */
static void frame_make(struct frame *f, struct xk_rand *r, bool fddi, unsigned flow, uint32_t len,
		       const struct common *c)
{
	uint32_t l2 = link_header(f->b, fddi), sum;
	uint8_t *ip = f->b + l2, *udp = ip + 20;

	memset(ip, 0, 28);
	ip[0] = 0x45;
	xk_put_be16(ip + 2, (uint16_t)(28 + len));
	ip_fields(ip, r, c->equal);
	ip[9] = 17;
	xk_put_be32(ip + 12, 0x0a000002);
	xk_put_be32(ip + 16, 0x0a000001);
	xk_put_raw16(ip + 10, (uint16_t)~xk_csum_fold(xk_csum(ip, 20, 0)));
	xk_put_be16(udp, (uint16_t)(5000 + flow));
	xk_put_be16(udp + 2, (uint16_t)(7000 + flow % 5));
	xk_put_be16(udp + 4, (uint16_t)(8 + len));
	for (uint32_t i = 0; i < len; i++)
		udp[8 + i] = (uint8_t)xk_rand_u64(r);
	sum = xk_csum(ip + 12, 8, htobe16(17));
	sum = xk_csum(udp, 8 + len, xk_csum_add(sum, htobe16((uint16_t)(8 + len))));
	xk_put_raw16(udp + 6, (uint16_t)~xk_csum_fold(sum));
	if (c->plain || xk_rand_below(r, 16) == 0)
		checksum_none(udp, len);
	f->n = l2 + 28 + len;
	f->net = l2;
	f->form = 0;
	f->flags = 0;
}

static void frame_damage(struct frame *f, struct xk_rand *r)
{
	uint32_t head = f->n < 60 ? f->n : 60;

	switch (xk_rand_below(r, 9)) {
	case 0:
		f->b[xk_rand_below(r, f->n)] ^= (uint8_t)(1u << xk_rand_below(r, 8));
		break;
	case 1:
		f->b[xk_rand_below(r, head)] = (uint8_t)xk_rand_u64(r);
		f->b[xk_rand_below(r, head)] = (uint8_t)xk_rand_u64(r);
		break;
	case 2:
		f->n = (uint32_t)xk_rand_below(r, f->n);
		break;
	case 3:
		f->form = 1 + (unsigned)xk_rand_below(r, 3);
		break;
	case 4:
		f->b[xk_rand_below(r, f->n)] ^= (uint8_t)(1u << xk_rand_below(r, 8));
		f->flags = XK_MSG_CSUM_IGNORE;
		break;
	case 5:
	case 6:
	case 7:                          /* one bit of the headers */
		f->b[xk_rand_below(r, head < 50 ? head : 50)] ^= (uint8_t)(1u << xk_rand_below(r, 8));
		break;
	default:                         /* padding behind the datagram */
		memset(f->b + f->n, 0, 16);
		f->n += 16;
	}
}

/* Bytes that a driver lends; where they went does not matter here. */
static struct xk_msg *frame_lent(const struct frame *f)
{
	static uint8_t store[64][MAX_FRAME];
	static unsigned next;
	uint8_t *b = store[next++ % 64];

	memcpy(b, f->b, f->n);
	return xk_msg_new_extern(b, f->n, NULL, NULL);
}

/* In two segments, or with its bytes in another's buffer. */
static struct xk_msg *frame_parts(const struct frame *f, struct xk_msg *m)
{
	struct xk_msg *tail;

	if (f->form == 1) {
		tail = xk_msg_split(m, f->n / 2);
		CU_ASSERT_PTR_NOT_NULL_FATAL(tail);
		xk_msg_join(m, tail);
		return m;
	}
	tail = xk_msg_share(m);
	CU_ASSERT_PTR_NOT_NULL_FATAL(tail);
	xk_msg_free(m);
	return tail;
}

static struct xk_msg *frame_msg(const struct frame *f)
{
	struct xk_msg *m = f->form == 3 && f->n != 0 ? frame_lent(f) : xk_msg_new(f->n);

	CU_ASSERT_PTR_NOT_NULL_FATAL(m);
	if (!(m->flags & XK_MSG_EXTERN))
		memcpy(m->data, f->b, f->n);
	if (f->form == 1 || f->form == 2)
		m = frame_parts(f, m);
	m->flags |= f->flags;
	if (f->flags & XK_MSG_CSUM)
		m->csum = xk_csum(f->b + f->net + 20, f->n - f->net - 20, 0);
	return m;
}

static void feed(struct side *s, const struct frame *f, unsigned n, unsigned at_once)
{
	struct xk_rep *r = s->drv->rep[0];
	struct xk_msg *m[BURST];

	xk_vp_enter_idle(r->vp);
	for (unsigned i = 0; i < n; i += at_once) {
		unsigned k = n - i < at_once ? n - i : at_once;

		for (unsigned j = 0; j < k; j++)
			m[j] = frame_msg(&f[i + j]);
		xk_input(r, m, k);
	}
	xk_vp_leave_idle(r->vp);
	while (xk_vpset_step(s->g->vps) != 0)
		;
}

/* ---- the same? -------------------------------------------------------------------- */

static unsigned differences(const struct side *a, const struct side *b)
{
	unsigned n = memcmp(&a->watch.seen, &b->watch.seen, sizeof a->watch - offsetof(struct watch, seen)) != 0;

	for (unsigned i = 0; i < a->g->nnodes; i++) {
		const struct xk_rep *x = a->g->node[i]->rep[0], *y = b->g->node[i]->rep[0];

		n += x->npush != y->npush || x->npop != y->npop ||
		     memcmp(x->drop, y->drop, sizeof x->drop) != 0 ||
		     memcmp(x->count, y->count, sizeof x->count) != 0 ||
		     x->nsess_made != y->nsess_made;
	}
	return n;
}

/* Connections and lengths change now and then, so that most bursts have runs of
 * equals.  One round in four is all good; with half of those comes the sum of each frame, or that it is right.
 * In one of five no datagram has a checksum. */
static unsigned burst_make(struct frame *f, struct xk_rand *r, bool fddi)
{
	unsigned n = 1 + (unsigned)xk_rand_below(r, BURST), flow = (unsigned)xk_rand_below(r, 12);
	uint32_t len = (uint32_t)xk_rand_below(r, 140);
	bool good = xk_rand_below(r, 4) == 0;
	const struct common c = { .equal = xk_rand_below(r, 2) == 0, .plain = xk_rand_below(r, 5) == 0 };
	uint8_t sums = !good || xk_rand_below(r, 2) == 0 ? 0 : xk_rand_below(r, 4) == 0 ? XK_MSG_CSUM_OK : XK_MSG_CSUM;

	for (unsigned i = 0; i < n; i++) {
		if (!good && xk_rand_below(r, 8) == 0)
			flow = (unsigned)xk_rand_below(r, 12);
		if (xk_rand_below(r, c.equal ? 16 : 4) == 0)
			len = (uint32_t)xk_rand_below(r, 140);
		frame_make(&f[i], r, fddi, flow, len, &c);
		f[i].flags = sums;
		if (!good && xk_rand_below(r, 10) == 0)
			frame_damage(&f[i], r);
	}
	return n;
}

/* Returns how many messages the watched node saw with a sum beside them. */
static uint64_t compare(const struct plan *p)
{
	struct side burst, single;
	struct frame f[BURST];
	struct xk_rand r;
	unsigned rounds = (unsigned)xk_test_rounds(3000);

	side_up(&burst, p);
	side_up(&single, p);
	xk_rand_init(&r, 2026, p->fddi);
	for (unsigned round = 0; round < rounds; round++) {
		unsigned n = burst_make(f, &r, p->fddi);

		feed(&burst, f, n, n);
		feed(&single, f, n, 1);
		CU_ASSERT_EQUAL_FATAL(differences(&burst, &single), 0);
	}
	CU_ASSERT_TRUE(xk_graph_find(burst.g, "app")->rep[0]->npop > rounds * 3 || p->watch != NULL);
	CU_ASSERT_TRUE((burst.watch.seen > rounds * 3) == (p->watch != NULL));
	side_down(&burst);
	side_down(&single);
	return burst.watch.sums;
}

#define SINK(touch) "sink { name = 'app', port = 7000, ports = 3, touch = '" touch "', over = u }"
#define HOPS "u = hop { name = 'h1', over = u } u = hop { name = 'h2', look = true, over = u } "
/* More than are climbed at once; one of them costs time. */
#define TOWER "for i = 1, 70 do u = hop { name = 't' .. i, look = i % 3 == 0, burn = i == 50 and 1 or 0, over = u } end "
#define LOOKS "for i = 1, 3 do u = hop { name = 'l' .. i, look = true, over = u } end "
#define ECHOES "echo { name = 'app', port = 7000, over = u } echo { port = 7001, over = u } echo { port = 7002, over = u }"

static void bursts_over_ethernet_do_what_single_frames_do(void)
{
	compare(&(struct plan){ false, SINK("none"), NULL });
	compare(&(struct plan){ false, SINK("copy"), NULL });
}

static void bursts_without_checksums_are_dropped_as_single_frames_are(void)
{
	of_udp = "require_checksum = true,";
	compare(&(struct plan){ false, SINK("none"), NULL });
	of_udp = "";
}

static void bursts_over_fddi_do_what_single_frames_do(void)
{
	compare(&(struct plan){ true, SINK("none"), NULL });
	compare(&(struct plan){ true, SINK("line"), NULL });
}

static void bursts_through_virtual_protocols_do_what_single_frames_do(void)
{
	compare(&(struct plan){ false, HOPS SINK("none"), NULL });
	compare(&(struct plan){ true, HOPS SINK("copy"), NULL });
	compare(&(struct plan){ false, TOWER SINK("none"), NULL });
	compare(&(struct plan){ false, TOWER ECHOES, "t40" });
}

/* All that leaves is seen: payload, order, lengths. */
static void bursts_are_answered_byte_for_byte_as_single_frames_are(void)
{
	compare(&(struct plan){ false, ECHOES, "drv" });
	compare(&(struct plan){ true, HOPS ECHOES, "drv" });
}

/* A sum beside the bytes is not theirs any more where a header has gone. */
static void no_sum_of_an_edge_reaches_what_stands_over_a_transport(void)
{
	static const char *const node[] = { "h1", "h2" };
	struct plan p = { false, HOPS ECHOES, NULL };

	for (unsigned i = 0; i < XK_ARRAY_LEN(node); i++) {
		p.watch = node[i];
		CU_ASSERT_EQUAL(compare(&p), 0);
	}
	p.watch = "ip";
	CU_ASSERT(compare(&p) > 0);
}

static void a_watched_node_sees_each_message_of_a_burst_as_it_is_there(void)
{
	static const char *const node[] = { "link", "ip", "udp", "h1", "h2" };

	for (unsigned i = 0; i < XK_ARRAY_LEN(node); i++) {
		compare(&(struct plan){ false, HOPS SINK("none"), node[i] });
		compare(&(struct plan){ true, HOPS ECHOES, node[i] });
	}
}

static void each_of_many_hops_notes_the_first_byte_of_each_message(void)
{
	compare(&(struct plan){ false, LOOKS ECHOES, "app" });
	compare(&(struct plan){ false, LOOKS SINK("none"), "app" });
}

static CU_TestInfo tests[] = {
	{ "bursts over Ethernet do what single frames do", bursts_over_ethernet_do_what_single_frames_do },
	{ "bursts without checksums are dropped as single frames are",
	  bursts_without_checksums_are_dropped_as_single_frames_are },
	{ "bursts over FDDI do what single frames do", bursts_over_fddi_do_what_single_frames_do },
	{ "bursts through virtual protocols do what single frames do",
	  bursts_through_virtual_protocols_do_what_single_frames_do },
	{ "bursts are answered byte for byte as single frames are",
	  bursts_are_answered_byte_for_byte_as_single_frames_are },
	{ "no sum of an edge reaches what stands over a transport",
	  no_sum_of_an_edge_reaches_what_stands_over_a_transport },
	{ "each of many hops notes the first byte of each message", each_of_many_hops_notes_the_first_byte_of_each_message },
	{ "a watched node sees each message of a burst as it is there",
	  a_watched_node_sees_each_message_of_a_burst_as_it_is_there },
	CU_TEST_INFO_NULL
};

static CU_SuiteInfo suites[] = {
	{ "runs", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	xk_rcu_register();
	return xk_test_main(suites);
}
