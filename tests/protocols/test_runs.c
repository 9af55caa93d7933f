/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_runs.c - nothing but speed tells a run of messages from its messages one
 * by one: two equal graphs get the same frames, one in bursts, one singly, and
 * every counter of every node must agree.
 *
 * Frames are of a few connections, most of them good, some damaged in one or
 * two bytes, cut or padded, over Ethernet and over FDDI.
 */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <string.h>

#include "runtime/base/xk_bytes.h"
#include "runtime/compose/xk_compose.h"
#include "tests/support/xk_test.h"

#define BURST 32u
#define MAX_FRAME 256u

struct side { struct xk_spec *spec; struct xk_graph *g; struct xk_node *drv; };
struct frame { uint8_t b[MAX_FRAME]; uint32_t n; };

static void side_up(struct side *s, bool fddi)
{
	char text[1024];
	struct xk_errs *e = xk_errs_new();
	struct xk_compose_opts o = { 0 };

	snprintf(text, sizeof text,
		 "local d = %s { name = 'drv', peer = 'sink', mac = '02:00:00:00:00:01' }\n"
		 "local r = arp { over = %s { over = d }, neighbours = { ['10.0.0.2'] = '02:00:00:00:00:02' } }\n"
		 "local i = ip { addr = '10.0.0.1/8', over = r }\n"
		 "icmp { over = i }\n"
		 "sink { port = 7000, ports = 3, touch = 'none', over = udp { over = i } }\n"
		 "return graph 'runs' { threading = up {}, clock = 'virtual', seed = 1 }\n",
		 fddi ? "fddi_mem" : "eth_mem", fddi ? "fddi" : "eth");
	CU_ASSERT_EQUAL_FATAL(xk_spec_load_text(&s->spec, "runs.lua", text, strlen(text), &o, e), XK_OK);
	CU_ASSERT_EQUAL_FATAL(xk_spec_check(s->spec, e, NULL), XK_OK);
	CU_ASSERT_EQUAL_FATAL(xk_spec_build(s->spec, &s->g, e), XK_OK);
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

/* A good datagram to one of five ports, three of them open. */
static void frame_make(struct frame *f, struct xk_rand *r, bool fddi, unsigned flow)
{
	uint32_t l2 = link_header(f->b, fddi), len = (uint32_t)xk_rand_below(r, 140), sum;
	uint8_t *ip = f->b + l2, *udp = ip + 20;

	memset(ip, 0, 28);
	ip[0] = 0x45;
	xk_put_be16(ip + 2, (uint16_t)(28 + len));
	ip[8] = 64;
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
	f->n = l2 + 28 + len;
}

static void frame_damage(struct frame *f, struct xk_rand *r)
{
	uint32_t head = f->n < 60 ? f->n : 60;

	switch (xk_rand_below(r, 4)) {
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
	default:                         /* padding behind the datagram */
		memset(f->b + f->n, 0, 16);
		f->n += 16;
	}
}

static struct xk_msg *frame_msg(const struct frame *f)
{
	struct xk_msg *m = xk_msg_new(f->n);

	CU_ASSERT_PTR_NOT_NULL_FATAL(m);
	memcpy(m->data, f->b, f->n);
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
	unsigned n = 0;

	for (unsigned i = 0; i < a->g->nnodes; i++) {
		const struct xk_rep *x = a->g->node[i]->rep[0], *y = b->g->node[i]->rep[0];

		n += x->npush != y->npush || x->npop != y->npop ||
		     memcmp(x->drop, y->drop, sizeof x->drop) != 0 ||
		     memcmp(x->count, y->count, sizeof x->count) != 0 ||
		     x->nsess_made != y->nsess_made;
	}
	return n;
}

static void compare(bool fddi)
{
	struct side burst, single;
	struct frame f[BURST];
	struct xk_rand r;

	side_up(&burst, fddi);
	side_up(&single, fddi);
	xk_rand_init(&r, 2026, fddi);
	for (unsigned round = 0; round < 3000; round++) {
		unsigned n = 1 + (unsigned)xk_rand_below(&r, BURST), flow = (unsigned)xk_rand_below(&r, 12);

		for (unsigned i = 0; i < n; i++) {
			if (xk_rand_below(&r, 6) == 0)
				flow = (unsigned)xk_rand_below(&r, 12);
			frame_make(&f[i], &r, fddi, flow);
			if (xk_rand_below(&r, 8) == 0)
				frame_damage(&f[i], &r);
		}
		feed(&burst, f, n, n);
		feed(&single, f, n, 1);
		CU_ASSERT_EQUAL_FATAL(differences(&burst, &single), 0);
	}
	CU_ASSERT_TRUE(xk_graph_find(burst.g, "sink")->rep[0]->npop > 15000);
	side_down(&burst);
	side_down(&single);
}

static void bursts_over_ethernet_do_what_single_frames_do(void) { compare(false); }
static void bursts_over_fddi_do_what_single_frames_do(void) { compare(true); }

static CU_TestInfo tests[] = {
	{ "bursts over Ethernet do what single frames do", bursts_over_ethernet_do_what_single_frames_do },
	{ "bursts over FDDI do what single frames do", bursts_over_fddi_do_what_single_frames_do },
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
