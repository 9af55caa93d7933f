/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * storm.c - builds the hosts, throws frames, keeps accounts.  See storm.h.
 *
 * Frames are thrown by the calling thread between two moments of virtual time, as if the
 * link's driver had taken them from the wire.
 * Invariant: there is one graph at a time.
 */
#include "tests/fault/storm.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <string.h>

#include "drivers/mem/mem_priv.h"
#include "runtime/compose/xk_compose.h"
#include "runtime/upi/xk_capture.h"
#include "runtime/upi/xk_input.h"
#include "runtime/upi/xk_part.h"

#define MAX_TABLE 128u
#define OR_EMPTY(s) ((s) != NULL ? (s) : "")

struct xk_graph *storm_graph;
void (*storm_sent)(const uint8_t *datagram, uint32_t n);

/* What leaves a link passes here on its way to the wire. */
struct tap { struct xk_capture c; const char *far; };
static struct {
	struct xk_errs *e;
	struct xk_spec *s;
	uint64_t        live;
	struct tap      tap[2];
	uint64_t        pushes, fail_push;
} run;

static const char text_fmt[] =
	"local macs = { ['10.0.0.1'] = '02:00:00:00:00:01', ['10.0.0.2'] = '02:00:00:00:00:02',\n"
	"  ['10.0.0.254'] = '02:00:00:00:00:fe' }\n"
	"local far = { ['10.0.0.254'] = macs['10.0.0.254'] }\n"
	"local hosts = {}\n"
	"local function host(n, fault, a, i, t)\n"
	"  local own = '10.0.0.' .. n\n"
	"  local d = eth_mem { name = 'd' .. n, wire = 'w', mac = macs[own], queue = 65536 }\n"
	"  if fault then fault.over = d; fault.name = 'bad'; d = impair(fault) end\n"
	"  a.name = 'arp' .. n; a.over = eth { name = 'link' .. n, over = d }\n"
	"  a.neighbours = %s\n"
	"  i.name = 'ip' .. n; i.addr = own .. '/24'; i.routes = { ['0.0.0.0/0'] = '10.0.0.254' }; i.over = arp(a)\n"
	"  local low = ip(i)\n"
	"  t.name = 'tcp' .. n; t.over = low\n"
	"  hosts[n] = { ip = low, icmp = icmp { name = 'icmp' .. n, over = low }, tcp = tcp(t) }\n"
	"  return hosts[n].tcp\n"
	"end\n"
	"stormapp { name = 'server', over = host(2, nil, { %s }, { %s }, { %s }), %s }\n"
	"stormapp { name = 'client', to = '10.0.0.2', over = host(1, %s, {}, {}, { %s }), %s }\n"
	"%s\n"
	"return graph 'storm' { clock = 'virtual', %s }\n";

/* ---- up and down ---------------------------------------------------------------- */

/* The frame that is to be refused meets a full queue. */
static void count_push(const struct tap *t)
{
	uint32_t cap = ++run.pushes == run.fail_push ? 0 : 65536;

	if (run.fail_push != 0)
		for (unsigned vp = 0; vp < storm_graph->vps->nvps; vp++)
			((struct mem_rep *)xk_graph_find(storm_graph, t->far)->rep[vp]->state)->cap = cap;
}

void storm_fail_push(uint64_t k)
{
	run.pushes = 0;
	run.fail_push = k;
}

uint64_t storm_pushes(void)
{
	return run.pushes;
}

static void see(struct xk_capture *c, xk_ns now, const struct xk_msg *m, bool down)
{
	const struct tap *t = xk_container_of(c, struct tap, c);
	static uint8_t frame[2048];
	uint32_t n;

	(void)now;
	if (!down)
		return;
	count_push(t);
	if (storm_sent == NULL || t != &run.tap[1])
		return;
	n = xk_msg_copy_out(m, 0, frame, m->tot < sizeof frame ? m->tot : (uint32_t)sizeof frame);
	if (n > 34 && frame[12] == 8 && frame[13] == 0)
		storm_sent(frame + 14, n - 14);
}

static bool build(const struct storm_conf *c)
{
	static const struct xk_proto *table[MAX_TABLE];
	struct xk_compose_opts o = { .table = table };
	static char text[8192];
	unsigned n = 0;
	int len;

	for (; xk_proto_table[n] != NULL && n < MAX_TABLE - 2; n++)
		table[n] = xk_proto_table[n];
	table[n] = &xk_proto_stormapp;
	table[n + 1] = NULL;
	len = snprintf(text, sizeof text, text_fmt, c->ask_arp ? "far" : "macs", OR_EMPTY(c->arp2), OR_EMPTY(c->ip2),
		       OR_EMPTY(c->tcp2), OR_EMPTY(c->server), c->fault != NULL ? c->fault : "nil", OR_EMPTY(c->tcp1),
		       OR_EMPTY(c->client), OR_EMPTY(c->more), c->graph != NULL ? c->graph : "threading = up {}");
	xk_assert(len > 0 && (size_t)len < sizeof text);
	if (xk_spec_load_text(&run.s, "storm.lua", text, (size_t)len, &o, run.e) != XK_OK ||
	    xk_spec_check(run.s, run.e, NULL) != XK_OK || xk_spec_build(run.s, &storm_graph, run.e) != XK_OK)
		return false;
	for (unsigned i = 0; i < 2; i++) {
		run.tap[i] = (struct tap){ { .fn = see }, i ? "d1" : "d2" };
		xk_capture_attach(xk_graph_find(storm_graph, i ? "link2" : "link1"), &run.tap[i].c);
	}
	return xk_graph_up(storm_graph, run.e) == XK_OK;
}

bool storm_up_try(const struct storm_conf *c)
{
	memset(&run, 0, sizeof run);
	storm_graph = NULL;
	storm_sent = NULL;
	run.live = xk_alloc_live();
	run.e = xk_errs_new();
	if (run.e != NULL && build(c))
		return true;
	storm_down();
	return false;
}

void storm_up(const struct storm_conf *c)
{
	memset(&run, 0, sizeof run);
	storm_graph = NULL;
	storm_sent = NULL;
	run.live = xk_alloc_live();
	run.e = xk_errs_new();
	if (build(c))
		return;
	xk_spec_print_errors(stdout, run.s, run.e, NULL);
	xk_panic(__FILE__, __LINE__, "the hosts do not come up");
}

void storm_down(void)
{
	CU_ASSERT_EQUAL(storm_graph != NULL ? xk_graph_free(storm_graph) : 0, 0);
	xk_spec_free(run.s);
	xk_errs_free(run.e);
	xk_rcu_barrier();
	CU_ASSERT_EQUAL(xk_alloc_live(), run.live);
	storm_graph = NULL;
}

/* ---- time and frames ------------------------------------------------------------- */

xk_ns storm_now(void)
{
	return xk_clock_read(&storm_graph->vps->clock);
}

void storm_run(xk_ns dt)
{
	xk_ns until = storm_now() + dt;

	if (!xk_vpset_run_virtual(storm_graph->vps, until) && storm_now() < until)
		xk_clock_advance(&storm_graph->vps->clock, until);
}

struct xk_rep *storm_rep(const char *node)
{
	struct xk_node *n = xk_graph_find(storm_graph, node);

	xk_assert(n != NULL);
	return n->rep[0];
}

void storm_frame(const void *bytes, uint32_t n)
{
	struct xk_rep *r = storm_rep("d2");
	struct xk_msg *m;

	xk_vp_enter_idle(r->vp);
	m = xk_msg_new(n);
	if (m != NULL) {
		xk_msg_copy_in(m, 0, bytes, n);
		xk_input(r, &m, 1);
	}
	xk_vp_leave_idle(r->vp);
}

void storm_datagram(const void *bytes, uint32_t n)
{
	static const uint8_t head[14] = { 2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 0xfe, 8, 0 };
	static uint8_t frame[2048];

	xk_assert(n + sizeof head <= sizeof frame);
	memcpy(frame, head, sizeof head);
	memcpy(frame + sizeof head, bytes, n);
	storm_frame(frame, n + (uint32_t)sizeof head);
}

/* ---- accounts ----------------------------------------------------------------------- */

static int index_of(const char *const *words, const char *w)
{
	for (int i = 0; words != NULL && words[i] != NULL; i++)
		if (strcmp(words[i], w) == 0)
			return i;
	xk_panic(__FILE__, __LINE__, "nothing is called %s", w);
}

uint64_t storm_count(const char *node, const char *counter)
{
	struct xk_node *n = xk_graph_find(storm_graph, node);
	int i = index_of(n->proto->counts, counter);
	uint64_t sum = 0;

	for (unsigned vp = 0; vp < storm_graph->vps->nvps; vp++)
		sum += n->rep[vp]->count[i];
	return sum;
}

uint64_t storm_dropped(const char *node, const char *reason)
{
	struct xk_node *n = xk_graph_find(storm_graph, node);
	int only = reason != NULL ? index_of(n->proto->drops, reason) + XK_DROP_FIRST : -1;
	uint64_t sum = 0;

	for (unsigned vp = 0; vp < storm_graph->vps->nvps; vp++)
		for (int i = 0; i < XK_DROPS_MAX; i++)
			if (only < 0 || i == only)
				sum += n->rep[vp]->drop[i];
	return sum;
}

uint64_t storm_live(const char *node)
{
	struct xk_node *n = xk_graph_find(storm_graph, node);
	uint64_t sum = 0;

	for (unsigned vp = 0; vp < storm_graph->vps->nvps; vp++)
		sum += xk_rep_sessions(n->rep[vp]);
	return sum;
}

uint64_t storm_buffer_bytes(void)
{
	struct xk_mem_stats s[XK_MEM_CLASSES];
	uint64_t sum = 0;

	xk_mempool_stats(storm_graph->vps->pool, s);
	for (unsigned i = 0; i < XK_MEM_CLASSES; i++)
		sum += s[i].bytes;
	return sum;
}

uint64_t storm_memory(void) { return xk_alloc_bytes() + xk_slab_bytes() + storm_buffer_bytes(); }

uint64_t storm_buffers(void)
{
	struct xk_mem_stats s[XK_MEM_CLASSES];
	uint64_t sum = 0;

	xk_mempool_stats(storm_graph->vps->pool, s);
	for (unsigned i = 0; i < XK_MEM_CLASSES; i++)
		sum += s[i].outstanding;
	return sum;
}
