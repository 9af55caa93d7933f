/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_tcp_runs.c - nothing but speed tells a run of TCP's segments from its
 * segments one by one: two equal hosts get the same frames, one in bursts, one
 * singly; every counter of every node must agree, and every byte that leaves or
 * that a watched node sees.
 *
 * A run is acknowledged once; so that this is no difference, acknowledgements of
 * what comes in order wait for their timer here, which fires between bursts.
 *
 * Peers are simulated by hand: with and without timestamps and ECN, they send on
 * from where they are acknowledged, lose, repeat, overlap and reorder, change
 * window and length, set strange flags, and some of their frames are damaged, cut,
 * padded, chained, shared, lent or come with a sum of the device's.
 */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <string.h>

#include "protocols/tcp/core/tcp_hdr.h"
#include "runtime/compose/xk_compose.h"
#include "runtime/upi/xk_capture.h"
#include "runtime/upi/xk_input.h"
#include "tests/support/xk_test.h"

#define BURST 32u
#define PEERS 3u
#define MAX_FRAME 1600u
#define L2 14u
#define BAD_SUM 8u               /* form: the device's sum, a wrong one */
#define DEVICE_SUM 4u            /* the same, right */

struct plan { const char *app, *watch; };
struct peer { uint16_t port; uint32_t iss, ack, una, nxt, tsval; bool stamps, ecn; };

/* What the host says to each peer, and a hash of all that is seen, each way; judged: of what came up, so much
 * says something of its checksum. */
struct watch { struct xk_capture c; uint64_t judged, seen, hash[2]; };
struct side { struct xk_spec *spec; struct xk_graph *g; struct xk_node *drv; struct watch wire, node; };
struct frame { uint8_t b[MAX_FRAME]; uint32_t n; unsigned form; uint8_t flags; };

static struct peer peers[PEERS];
static uint16_t next_port = 20000;

static void watch_bytes(struct watch *w, const uint8_t *b, uint32_t n, bool down)
{
	w->seen++;
	w->hash[down] = (w->hash[down] ^ n) * 0x9e3779b97f4a7c15u;
	for (uint32_t i = 0; i < n; i++)
		w->hash[down] = (w->hash[down] ^ b[i]) * 0x100000001b3u;
}

static void watch_node(struct xk_capture *c, xk_ns now, const struct xk_msg *m, bool down)
{
	struct watch *w = xk_container_of(c, struct watch, c);
	uint8_t b[MAX_FRAME];

	(void)now;
	watch_bytes(w, b, xk_msg_copy_out(m, 0, b, sizeof b), down);
	w->judged += !down && (m->flags & (XK_MSG_CSUM | XK_MSG_CSUM_OK)) != 0;
}

/* A segment of the host's: its peer learns what has come. */
static void watch_wire(struct xk_capture *c, xk_ns now, const struct xk_msg *m, bool down)
{
	uint8_t b[MAX_FRAME];
	uint32_t n = xk_msg_copy_out(m, 0, b, sizeof b);
	const uint8_t *p = b + L2 + 20;

	(void)now;
	watch_bytes(xk_container_of(c, struct watch, c), b, n, down);
	if (!down || b[L2 + 9] != TCP_PROTO)
		return;
	for (struct peer *q = peers; q < peers + PEERS; q++) {
		if (q->port != tcp_ports_destination(tcp_hdr_ports(p)) || !(tcp_hdr_flags(p) & TCP_ACK))
			continue;
		if (tcp_hdr_flags(p) & TCP_SYN)
			q->ack = tcp_hdr_seq(p) + 1;
		q->una = tcp_hdr_ack(p);
	}
}

/* ---- two hosts --------------------------------------------------------------------- */

static void side_up(struct side *s, const struct plan *p)
{
	char text[1024];
	struct xk_errs *e = xk_errs_new();
	struct xk_compose_opts o = { 0 };

	snprintf(text, sizeof text,
		 "local d = eth_mem { name = 'drv', mac = '02:00:00:00:00:01', over = peer_sink {} }\n"
		 "local r = arp { over = eth { over = d }, neighbours = { ['10.0.0.2'] = '02:00:00:00:00:02' } }\n"
		 "local i = ip { addr = '10.0.0.1/8', over = r }\n"
		 "icmp { over = i }\n"
		 "local t = tcp { over = i, delack = '50ms', ecn = true, quirks = { ack_every = 64, quick_acks = 0, idle_compress = '0s' } }\n"
		 "%s\n"
		 "return graph 'runs' { threading = up {}, clock = 'virtual', seed = 1 }\n", p->app);
	CU_ASSERT_EQUAL_FATAL(xk_spec_load_text(&s->spec, "runs.lua", text, strlen(text), &o, e), XK_OK);
	CU_ASSERT_EQUAL_FATAL(xk_spec_check(s->spec, e, NULL), XK_OK);
	CU_ASSERT_EQUAL_FATAL(xk_spec_build(s->spec, &s->g, e), XK_OK);
	s->wire = (struct watch){ .c.fn = watch_wire };
	s->node = (struct watch){ .c.fn = watch_node };
	s->drv = xk_graph_find(s->g, "drv");
	xk_capture_attach(s->drv, &s->wire.c);
	if (p->watch != NULL)
		xk_capture_attach(xk_graph_find(s->g, p->watch), &s->node.c);
	CU_ASSERT_EQUAL_FATAL(xk_graph_up(s->g, e), XK_OK);
	xk_errs_free(e);
}

static void side_down(struct side *s)
{
	CU_ASSERT_EQUAL(xk_graph_free(s->g), 0);
	xk_spec_free(s->spec);
}

/* ---- frames --------------------------------------------------------------------------- */

struct seg { uint32_t seq, ack, len; uint16_t flags, wnd; uint8_t tos; };

/* The bytes of a stream: by their number. */
static void frame_text(uint8_t *p, uint32_t seq, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		p[i] = (uint8_t)((seq + i) * 167 >> 5);
}

static uint32_t frame_options(uint8_t *p, const struct peer *q, bool syn)
{
	if (!q->stamps)
		return 0;
	xk_put_be32(p, 0x0101080a);
	xk_put_be32(p + 4, q->tsval);
	xk_put_be32(p + 8, syn ? 0 : 1);
	return 12;
}

static void frame_make(struct frame *f, const struct peer *q, const struct seg *g)
{
	uint8_t *ip = f->b + L2, *p = ip + 20;
	uint32_t h = 20 + frame_options(p + 20, q, (g->flags & TCP_SYN) != 0), sum;

	memcpy(f->b, (const uint8_t[L2]){ 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0 }, L2);
	memset(ip, 0, 40);
	ip[0] = 0x45;
	ip[1] = g->tos;
	xk_put_be16(ip + 2, (uint16_t)(20 + h + g->len));
	ip[8] = 64;
	ip[9] = TCP_PROTO;
	xk_put_be32(ip + 12, 0x0a000002);
	xk_put_be32(ip + 16, 0x0a000001);
	xk_put_raw16(ip + 10, (uint16_t)~xk_csum_fold(xk_csum(ip, 20, 0)));
	xk_put_be16(p, q->port);
	xk_put_be16(p + 2, 80);
	xk_put_be32(p + 4, g->seq);
	xk_put_be32(p + 8, g->ack);
	xk_put_be16(p + 12, (uint16_t)(h / 4 << 12 | g->flags));
	xk_put_be16(p + 14, g->wnd);
	frame_text(p + h, g->seq, g->len);
	sum = xk_csum_add(xk_csum(ip + 12, 8, htobe16(TCP_PROTO)), htobe16((uint16_t)(h + g->len)));
	xk_put_raw16(p + 16, (uint16_t)~xk_csum_fold(xk_csum(p, h + g->len, sum)));
	f->n = L2 + 20 + h + g->len;
	f->form = 0;
	f->flags = 0;
}

static void frame_damage(struct frame *f, struct xk_rand *r)
{
	uint32_t head = f->n < 80 ? f->n : 80;

	switch (xk_rand_below(r, 6)) {
	case 0:
		f->b[xk_rand_below(r, f->n)] ^= (uint8_t)(1u << xk_rand_below(r, 8));
		break;
	case 1:
		f->b[xk_rand_below(r, head)] ^= (uint8_t)(1u << xk_rand_below(r, 8));
		if (xk_rand_below(r, 2) == 0)
			f->flags = XK_MSG_CSUM_IGNORE;
		break;
	case 2:
		f->n = 1 + (uint32_t)xk_rand_below(r, f->n - 1);
		break;
	case 3:
		f->form = 1 + (unsigned)xk_rand_below(r, 3);
		break;
	case 4:
		f->form = xk_rand_below(r, 4) == 0 ? BAD_SUM : DEVICE_SUM;
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
	struct xk_msg *tail = f->form == 1 ? xk_msg_split(m, f->n / 2) : xk_msg_share(m);

	CU_ASSERT_PTR_NOT_NULL_FATAL(tail);
	if (f->form == 1) {
		xk_msg_join(m, tail);
		return m;
	}
	xk_msg_free(m);
	return tail;
}

static struct xk_msg *frame_msg(const struct frame *f)
{
	struct xk_msg *m = f->form == 3 ? frame_lent(f) : xk_msg_new(f->n);

	CU_ASSERT_PTR_NOT_NULL_FATAL(m);
	if (f->form != 3)
		memcpy(m->data, f->b, f->n);
	if (f->form == 1 || f->form == 2)
		return frame_parts(f, m);
	m->flags |= f->flags;
	if (f->form >= DEVICE_SUM && f->n > L2 + 20) {
		m->flags |= XK_MSG_CSUM;
		m->csum = xk_csum(m->data + L2 + 20, f->n - L2 - 20, f->form == BAD_SUM);
	}
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
	/* Acknowledgements that were delayed go out. */
	xk_vpset_run_virtual(s->g->vps, r->vp->now + 100 * XK_MS);
}

/* ---- the same? ---------------------------------------------------------------------------- */

static unsigned differences(const struct side *a, const struct side *b)
{
	size_t from = offsetof(struct watch, seen), n = sizeof(struct watch) - from;
	unsigned d = memcmp(&a->wire.seen, &b->wire.seen, n) != 0 || memcmp(&a->node.seen, &b->node.seen, n) != 0;

	for (unsigned i = 0; i < a->g->nnodes; i++) {
		const struct xk_rep *x = a->g->node[i]->rep[0], *y = b->g->node[i]->rep[0];

		d += x->npush != y->npush || x->npop != y->npop || memcmp(x->drop, y->drop, sizeof x->drop) != 0 ||
		     memcmp(x->count, y->count, sizeof x->count) != 0 || x->nsess_made != y->nsess_made;
	}
	return d;
}

static void both(struct side *burst, struct side *single, const struct frame *f, unsigned n)
{
	struct peer before[PEERS], after[PEERS];

	memcpy(before, peers, sizeof peers);
	feed(burst, f, n, n);
	memcpy(after, peers, sizeof peers);
	memcpy(peers, before, sizeof peers);
	feed(single, f, n, 1);
	CU_ASSERT_FATAL(memcmp(after, peers, sizeof peers) == 0);
	CU_ASSERT_EQUAL_FATAL(differences(burst, single), 0);
}

/* ---- what peers do --------------------------------------------------------------------------- */

/* A new connection takes the place of the last, which is reset. */
static void peer_open(struct side *burst, struct side *single, struct peer *q, struct xk_rand *r)
{
	struct frame f;

	if (q->port != 0) {
		frame_make(&f, q, &(struct seg){ .seq = q->una, .flags = TCP_RST });
		both(burst, single, &f, 1);
	}
	*q = (struct peer){ .port = next_port++, .iss = (uint32_t)xk_rand_u64(r), .tsval = 1000,
			    .stamps = xk_rand_below(r, 2) == 0, .ecn = xk_rand_below(r, 3) == 0 };
	frame_make(&f, q, &(struct seg){ .seq = q->iss, .flags = TCP_SYN | (q->ecn ? TCP_ECE | TCP_CWR : 0), .wnd = 9000 });
	both(burst, single, &f, 1);
	CU_ASSERT_EQUAL_FATAL(q->una, q->iss + 1);
	frame_make(&f, q, &(struct seg){ .seq = q->una, .ack = q->ack, .flags = TCP_ACK, .wnd = 9000 });
	both(burst, single, &f, 1);
}

/* What is not the next data, or not only that. */
static void seg_odd(struct seg *g, struct peer *q, struct xk_rand *r)
{
	static const uint16_t odd[] = { TCP_URG, TCP_ECE, TCP_CWR, TCP_FIN, TCP_RST, TCP_SYN, TCP_ACK, TCP_AE };

	switch (xk_rand_below(r, 8)) {
	case 0:
		g->seq += (uint32_t)xk_rand_below(r, 300);
		break;
	case 1:
		g->seq -= (uint32_t)xk_rand_below(r, 300);
		break;
	case 2:
		if (xk_rand_below(r, 4) == 0)
			g->flags ^= odd[xk_rand_below(r, XK_ARRAY_LEN(odd))];
		break;
	case 3:
		g->wnd ^= 1;
		break;
	case 4:
		g->ack += (uint32_t)xk_rand_below(r, 3) - 1;
		break;
	case 5:
		q->tsval += (uint32_t)xk_rand_below(r, 3) - 1;
		break;
	case 6:
		g->len = 0;
		break;
	default:
		g->tos = 3;
	}
}

static uint32_t some_length(struct xk_rand *r)
{
	return xk_rand_below(r, 8) == 0 ? (uint32_t)xk_rand_below(r, 1400) : (uint32_t)xk_rand_below(r, 140);
}

/* Each peer goes on where it is acknowledged; one round in three is all good. */
static unsigned burst_make(struct frame *f, struct xk_rand *r)
{
	unsigned n = 1 + (unsigned)xk_rand_below(r, BURST), who = (unsigned)xk_rand_below(r, PEERS);
	bool good = xk_rand_below(r, 3) == 0;
	uint32_t len = some_length(r);

	for (unsigned k = 0; k < PEERS; k++) {
		peers[k].nxt = peers[k].una;
		peers[k].tsval += (uint32_t)xk_rand_below(r, 2);
	}
	for (unsigned i = 0; i < n; i++) {
		struct peer *q = &peers[who];
		struct seg g = { q->nxt, q->ack, len, TCP_ACK | (xk_rand_below(r, 5) == 0 ? TCP_PSH : 0), 9000,
				 q->ecn ? 2 : 0 };

		if (!good && xk_rand_below(r, 12) == 0)
			seg_odd(&g, q, r);
		frame_make(&f[i], q, &g);
		q->nxt = g.seq + g.len;
		if (!good && xk_rand_below(r, 20) == 0)
			frame_damage(&f[i], r);
		if (xk_rand_below(r, 12) == 0)
			who = (unsigned)xk_rand_below(r, PEERS);
		if (xk_rand_below(r, 6) == 0)
			len = some_length(r);
	}
	return n;
}

static void compare(const struct plan *p, unsigned seed)
{
	struct side burst, single;
	static struct frame f[BURST];
	const struct xk_rep *tcp;
	struct xk_rand r;

	memset(peers, 0, sizeof peers);
	side_up(&burst, p);
	side_up(&single, p);
	xk_rand_init(&r, 9293, seed);
	for (unsigned round = 0; round < xk_test_rounds(3000); round++) {
		unsigned n;

		if (round % 6 == 0)
			peer_open(&burst, &single, &peers[round / 6 % PEERS], &r);
		if (peers[PEERS - 1].port == 0)
			continue;
		n = burst_make(f, &r);
		both(&burst, &single, f, n);
	}
	tcp = xk_graph_find(burst.g, "tcp")->rep[0];
	CU_ASSERT(tcp->npop > 1000 && xk_graph_find(burst.g, "app")->rep[0]->npop > tcp->npop / 4);
	CU_ASSERT_EQUAL(burst.node.seen != 0, p->watch != NULL);
	if (p->watch != NULL && strcmp(p->watch, "app") == 0)
		CU_ASSERT(burst.node.judged == 0 && single.node.judged == 0);
	side_down(&burst);
	side_down(&single);
}

#define RECEIVER(touch) "sink { name = 'app', port = 80, size = 997, touch = '" touch "', over = t }"

static void bursts_are_received_as_single_segments_are(void)
{
	compare(&(struct plan){ RECEIVER("none"), NULL }, 1);
	compare(&(struct plan){ RECEIVER("copy"), NULL }, 2);
}

static void bursts_are_discarded_as_single_segments_are(void)
{
	compare(&(struct plan){ "discard { name = 'app', port = 80, over = t }", NULL }, 3);
}

static void a_watched_node_sees_each_segment_of_a_burst_as_it_is_there(void)
{
	compare(&(struct plan){ RECEIVER("none"), "tcp" }, 5);
	compare(&(struct plan){ RECEIVER("line"), "ip" }, 6);
	/* What was judged is nobody's above: the bit means something else on the way down. */
	compare(&(struct plan){ RECEIVER("none"), "app" }, 7);
}

static CU_TestInfo tests[] = {
	{ "bursts are received as single segments are", bursts_are_received_as_single_segments_are },
	{ "bursts are discarded as single segments are", bursts_are_discarded_as_single_segments_are },
	{ "a watched node sees each segment of a burst as it is there",
	  a_watched_node_sees_each_segment_of_a_burst_as_it_is_there },
	CU_TEST_INFO_NULL
};

static CU_SuiteInfo suites[] = {
	{ "tcp runs", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	xk_rcu_register();
	return xk_test_main(suites);
}
