/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ddp_fixture.h - a host over a driver that swallows what it is sent, for the tests of direct
 * data placement.
 *
 * Frames are given to the driver here, as they lie in a device.  The application is ours: it
 * posts, takes, keeps, holds.
 */
#ifndef DDP_FIXTURE_H
#define DDP_FIXTURE_H

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <string.h>

#include "runtime/base/xk_bytes.h"
#include "runtime/compose/xk_compose.h"
#include "runtime/upi/xk_capture.h"
#include "runtime/upi/xk_arrivals.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_input.h"
#include "runtime/upi/xk_part.h"
#include "tests/support/xk_test_graph.h"

#define BURST 32u
#define MAX_FRAME 2048u
#define KEPT 300u

/* ---- the application --------------------------------------------------------------- */

static struct taker {
	struct xk_ddp_conf conf;     /* bytes 0: nothing is posted */
	bool        keep, hold;          /* messages; what was received */
	bool        echo;
	struct xk_ddp *d;
	struct xk_sess *lls;
	int         opened;              /* what xk_ddp_open said */
	uint8_t     got[1u << 19];
	uint32_t    n, messages;
	struct xk_msg *kept[KEPT];
	struct { uint8_t *at; uint32_t n; } held[KEPT];
	unsigned    nkept, nheld;
	uint64_t    inside;              /* bytes received in the ring */
} t;

static inline int taker_open_done(struct xk_rep *r, struct xk_sess *lls, struct xk_node *type)
{
	(void)type;
	t.lls = xk_dup(lls);
	t.conf.count = r->count;
	if (t.conf.bytes != 0)
		t.opened = xk_ddp_open(&t.d, lls, &t.conf);
	return XK_OK;
}

static inline void taker_note(const uint8_t *p, uint32_t n)
{
	CU_ASSERT_FATAL(t.n + n <= sizeof t.got);
	memcpy(t.got + t.n, p, n);
	t.n += n;
}

static inline void taker_piece(uint8_t *at, uint32_t n)
{
	taker_note(at, n);
	t.inside += n;
	if (t.hold) {
		t.held[t.nheld].at = at;
		t.held[t.nheld++].n = n;
	} else {
		xk_ddp_done(t.d, at, n);
	}
}

static inline void taker_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	uint32_t off = 0, n;
	uint8_t *at;

	(void)up;
	t.messages++;
	xk_msg_check(m);
	while (t.d != NULL && off < m->tot && (n = xk_ddp_receive(t.d, m, off, &at)) != 0) {
		taker_piece(at, n);
		off += n;
	}
	if (off < m->tot) {
		xk_msg_copy_out(m, off, t.got + t.n, m->tot - off);
		t.n += m->tot - off;
	}
	if (t.keep) {
		t.kept[t.nkept++] = m;
	} else if (t.echo) {
		m->flags &= XK_MSG_SLOW;
		xk_push(lls, m);
	} else {
		xk_msg_free(m);
	}
}

static inline void taker_end(void)
{
	xk_ddp_close(t.d);
	t.d = NULL;
	if (t.lls != NULL)
		xk_close(t.lls);
	t.lls = NULL;
}

static inline void taker_rep_stop(struct xk_rep *r)
{
	(void)r;
	if (t.lls != NULL && t.lls->rep->vp == r->vp)
		taker_end();
}

static inline int taker_start(struct xk_node *n, struct xk_errs *e)
{
	struct xk_parts ps;

	(void)e;
	xk_parts_init(&ps, 1);
	xk_part_push_any(&ps.p[0]);
	xk_part_push_port(&ps.p[0], 9);
	return xk_open_enable(n, n, n->down[0], &ps);
}

static inline void taker_stop(struct xk_node *n) { xk_open_disable_all(n, n->down[0]); }

static const struct xk_ops taker_ops = {
	.start = taker_start, .stop = taker_stop, .rep_stop = taker_rep_stop,
	.open_done = taker_open_done, .demux = taker_demux,
};
#define TEXT(id, text) text,
static const char *const taker_counts[] = { XK_DDP_COUNTS(TEXT) NULL };
static const struct xk_proto xk_proto_taker = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "taker", .doc = "posts and takes", .ops = &taker_ops,
	.needs = { "port" }, .min_down = 1, .max_down = 1, .counts = taker_counts,
};

/* ---- the host ------------------------------------------------------------------------ */

static struct host { struct xk_spec *spec; struct xk_graph *g; struct xk_rep *drv; struct xk_rep *app; } h;

static inline void host_up_as(const char *driver, const char *link, const char *between, const char *threading)
{
	struct xk_errs *e = xk_errs_new();
	char text[1024];

	snprintf(text, sizeof text,
		 "local d = %s { name = 'drv', mtu = 4000, mac = '02:00:00:00:00:01', over = peer_sink {} }\n"
		 "local r = arp { over = %s { over = d }, neighbours = { ['10.0.0.2'] = '02:00:00:00:00:02' } }\n"
		 "local u = udp { over = ip { addr = '10.0.0.1/8', over = r } }\n"
		 "%s taker { name = 'app', over = u }\n"
		 "return graph 'ddp' { threading = %s, clock = 'virtual', seed = 1 }\n", driver, link, between, threading);
	xk_test_build(&h.spec, &h.g, "ddp.lua", text, &xk_proto_taker);
	CU_ASSERT_EQUAL_FATAL(xk_graph_up(h.g, e), XK_OK);
	xk_errs_free(e);
	h.drv = xk_graph_find(h.g, "drv")->rep[0];
	h.app = xk_graph_find(h.g, "app")->rep[0];
}

static inline void host_up(void) { host_up_as("eth_mem", "eth", "", "up {}"); }

static inline void host_down(void)
{
	CU_ASSERT_EQUAL(xk_graph_free(h.g), 0);
	xk_spec_free(h.spec);
	CU_ASSERT_PTR_NULL(t.d);
}

static inline void inside(void (*fn)(void))
{
	xk_vp_enter_idle(h.drv->vp);
	fn();
	xk_vp_leave_idle(h.drv->vp);
	while (xk_vpset_step(h.g->vps) != 0)
		;
}

static inline uint64_t counted(unsigned what) { return h.app->count[what]; }
static inline uint64_t dropped(const char *node, const char *why)
{
	const struct xk_node *n = xk_graph_find(h.g, node);

	for (unsigned i = 0; n->proto->drops[i] != NULL; i++)
		if (strcmp(n->proto->drops[i], why) == 0)
			return n->rep[0]->drop[XK_DROP_FIRST + i];
	return UINT64_MAX;
}

/* ---- frames ---------------------------------------------------------------------------- */

struct frame { uint8_t b[MAX_FRAME]; uint32_t n, cut; uint8_t flags; };
static struct frame f[BURST];
static unsigned nf, ntaken, nplaced;
static uint8_t want[1u << 19];
static uint32_t nwant;
static uint32_t seed;

static inline void fix_ip(uint8_t *ip)
{
	xk_put_raw16(ip + 10, 0);
	xk_put_raw16(ip + 10, (uint16_t)~xk_csum_fold(xk_csum(ip, (ip[0] & 15u) * 4u, 0)));
}

static inline void fix_udp(uint8_t *ip, uint32_t len)
{
	uint8_t *udp = ip + 20;
	uint32_t sum = xk_csum(ip + 12, 8, htobe16(17));

	xk_put_raw16(udp + 6, 0);
	sum = xk_csum(udp, 8 + len, xk_csum_add(sum, htobe16((uint16_t)(8 + len))));
	xk_put_raw16(udp + 6, (uint16_t)~xk_csum_fold(sum));
}

static uint32_t link_len;

/* The next frame of the burst: a datagram of len bytes that nobody has seen before. */
static inline struct frame *datagram_to(uint32_t len, uint16_t port)
{
	static const uint8_t fddi[21] = { 0x50, 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0xaa, 0xaa, 3, 0, 0, 0, 8, 0 };
	struct frame *x = &f[nf++];
	uint8_t *ip = x->b + link_len;

	memset(x, 0, sizeof *x);
	memcpy(x->b, link_len == 21 ? fddi : fddi + 1, 12 + (link_len == 21));
	memcpy(x->b + (link_len == 21 ? 13 : 12), fddi + (link_len == 21 ? 13 : 19), link_len == 21 ? 8 : 2);
	ip[0] = 0x45;
	xk_put_be16(ip + 2, (uint16_t)(28 + len));
	ip[8] = 64;
	ip[9] = 17;
	xk_put_be32(ip + 12, 0x0a000002);
	xk_put_be32(ip + 16, 0x0a000001);
	xk_put_be16(ip + 20, port);
	xk_put_be16(ip + 22, 9);
	xk_put_be16(ip + 24, (uint16_t)(8 + len));
	for (uint32_t i = 0; i < len; i++)
		ip[28 + i] = (uint8_t)((seed = seed * 1664525u + 1013904223u) >> 24);
	fix_ip(ip);
	fix_udp(ip, len);
	x->n = link_len + 28 + len;
	return x;
}
static inline struct frame *datagram(uint32_t len) { return datagram_to(len, 5000); }

/* Its payload is expected. */
static inline void expect(const struct frame *x)
{
	uint32_t n = x->n - link_len - 28;

	memcpy(want + nwant, x->b + link_len + 28, n);
	nwant += n;
}

/* ---- the device ---------------------------------------------------------------------------- */

/* As a driver would: in a buffer; a frame in pieces stays in pieces. */
static inline struct xk_msg *dev_take(void *arg, unsigned i)
{
	struct xk_msg *m = xk_msg_new(f[i].n), *tail;

	(void)arg;
	ntaken++;
	CU_ASSERT_PTR_NOT_NULL_FATAL(m);
	memcpy(m->data, f[i].b, f[i].n);
	m->flags |= f[i].flags;
	if (f[i].cut != 0) {
		tail = xk_msg_split(m, f[i].cut);
		CU_ASSERT_PTR_NOT_NULL_FATAL(tail);
		xk_msg_join(m, tail);
	}
	return m;
}

static inline void dev_placed(void *arg, unsigned i)
{
	(void)arg;
	nplaced++;
	memset(f[i].b, 0xee, f[i].n);    /* the device has its memory back */
}

static inline void feed_at_once(void)
{
	static const struct xk_arrivals a = { dev_take, dev_placed, NULL };
	struct xk_msg frame[BURST], tail[BURST];

	for (unsigned i = 0; i < nf; i++) {
		bool cut = f[i].cut != 0;

		frame[i] = (struct xk_msg){ .data = f[i].b, .len = cut ? f[i].cut : f[i].n, .tot = f[i].n,
					    .next = cut ? &tail[i] : NULL,
					    .flags = (uint8_t)(f[i].flags | (cut ? XK_MSG_CHAIN : 0)) };
		tail[i] = (struct xk_msg){ .data = f[i].b + f[i].cut, .len = f[i].n - f[i].cut };
	}
	if (xk_posted(h.drv))
		xk_input_arrivals(h.drv, frame, nf, link_len, &a);
	else
		for (unsigned i = 0; i < nf; i++)
			xk_input(h.drv, (struct xk_msg *[]){ dev_take(NULL, i) }, 1);
	nf = 0;
}
static inline void feed(void) { inside(feed_at_once); }

static inline void same(void)
{
	CU_ASSERT_EQUAL(t.n, nwant);
	CU_ASSERT_EQUAL(memcmp(t.got, want, nwant), 0);
	t.n = nwant = 0;
}

/* A host whose taker has had one datagram: its connection stands, its ring is posted. */
static inline void begin_as(uint32_t bytes, bool stream)
{
	memset(&t, 0, sizeof t);
	t.conf = (struct xk_ddp_conf){ bytes, 0, stream, NULL };
	nf = ntaken = nplaced = nwant = 0;
	link_len = 14;
}

static inline void first(void)
{
	expect(datagram(200));
	feed();
	CU_ASSERT_EQUAL(t.opened, XK_OK);
	CU_ASSERT_PTR_NOT_NULL_FATAL(t.d);
	same();
	ntaken = nplaced = 0;
	memset(h.app->count, 0, sizeof h.app->count);
	t.inside = t.messages = 0;
}

static inline void begin(uint32_t bytes, bool stream)
{
	begin_as(bytes, stream);
	host_up();
	first();
}

static inline void drop_kept(void)
{
	for (unsigned i = 0; i < t.nkept; i++)
		xk_msg_free(t.kept[i]);
	t.nkept = 0;
}

static inline void drop_held(void)
{
	for (unsigned i = 0; i < t.nheld; i++)
		xk_ddp_done(t.d, t.held[i].at, t.held[i].n);
	t.nheld = 0;
}

static inline int ddp_main(CU_SuiteInfo *suites)
{
#ifdef XK_NO_FASTPATH
	xk_test_skip_all("no transport of this build tells a driver what it may place (--disable-fastpath)");
#endif
	return xk_test_main_rcu(suites);
}

#endif
