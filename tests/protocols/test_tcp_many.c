/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_tcp_many.c - thousands of connections that were made and are silent: what they
 * take by the allocator's own accounts, that all can be woken and rest again, and
 * that nothing is left.
 *
 * The bound is 256 bytes, a fourteenth of what a Linux kernel takes for one end (3584 at
 * least).  Everything that grows with connections is counted: objects of slabs by their
 * sizes, and all that was allocated since the graph came up, tables included.
 * Fewer than FULL share the tables among too few: then it is printed, not asked.
 * Invariant: the peers' memory is none, so what grows is ours.
 */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <string.h>

#include "protocols/tcp/sess/tcp_sess.h"
#include "runtime/compose/xk_compose.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"
#include "tests/support/xk_test.h"

#define BOUND 256.0
#define FULL  20000

/* With owner checks each session has lines of their own. */
#ifdef XK_DEBUG
#define OWNERS true
#else
#define OWNERS false
#endif

static struct xk_graph *g;
static struct xk_spec *spec;
static struct xk_errs *errs;
static uint64_t base, grown;             /* before the graph; when it was up */

static void up(unsigned n)
{
	struct xk_compose_opts o = { .table = xk_proto_table };
	char text[1024];
	int len = snprintf(text, sizeof text,
		"local t = stack { tcp { timestamps = false, sessions = %u, backlog = 100000, quirks = { syncache = 100000 } },\n"
		"  ip { addr = '10.0.0.1/8' }, arp {}, eth {},\n"
		"  eth_mem { queue = 65536 }, peer_tcp_sink { to = '10.0.0.1', idle = %u, idle_port = 9 } }\n"
		"discard { port = 9, sessions = %u, over = t }\n"
		"return graph 'many' { clock = 'virtual', threading = up {} }\n", n + 16, n, n);

	base = xk_alloc_live();
	errs = xk_errs_new();
	CU_ASSERT_FATAL(errs != NULL);
	if (xk_spec_load_text(&spec, "many.lua", text, (size_t)len, &o, errs) != XK_OK ||
	    xk_spec_check(spec, errs, NULL) != XK_OK || xk_spec_build(spec, &g, errs) != XK_OK ||
	    xk_graph_up(g, errs) != XK_OK) {
		xk_spec_print_errors(stdout, spec, errs, NULL);
		xk_panic(__FILE__, __LINE__, "the graph does not come up");
	}
	grown = xk_alloc_bytes();
}

static void down(void)
{
	CU_ASSERT_EQUAL(xk_graph_free(g), 0);
	xk_spec_free(spec);
	xk_errs_free(errs);
	xk_rcu_barrier();
	CU_ASSERT_EQUAL(xk_alloc_live(), base);
}

static void run(xk_ns dt)
{
	xk_ns until = xk_clock_read(&g->vps->clock) + dt;

	if (!xk_vpset_run_virtual(g->vps, until) && xk_clock_read(&g->vps->clock) < until)
		xk_clock_advance(&g->vps->clock, until);
}

static struct xk_rep *rep(const char *name) { return xk_graph_find(g, name)->rep[0]; }
static uint64_t objects(const struct xk_slab *s) { return (uint64_t)s->live * s->size; }

/* Of one of n, once the tables that were replaced are gone. */
static double bytes(unsigned n)
{
	uint64_t sum;

	xk_rcu_barrier();
	sum = objects(xk_rep_slab(rep("discard"))) + objects(xk_rep_slab(rep("tcp"))) + objects(xk_rep_slab(rep("ip"))) +
	      objects(&tcp_rep(rep("tcp"))->live_slab) + objects(&tcp_rep(rep("tcp"))->idle_slab) +
	      objects(&tcp_rep(rep("tcp"))->rest_slab) + (uint64_t)xk_flowtab_count(g->flows) * sizeof(struct xk_flow);

	return (double)(sum + xk_alloc_bytes() - grown) / n;
}

static int wake(struct xk_mapnode *node, void *arg)
{
	struct tcp_sess *ts = tcp_sess(xk_container_of(node, struct xk_sess, map));
	unsigned *n = arg;

	*n += tcp_is_compressed(ts) && tcp_wake(ts);
	return XK_MAP_KEEP;
}

static void idle_connections_take_a_quarter_of_a_kilobyte(void)
{
	unsigned n = (unsigned)xk_test_rounds(FULL), awake = 0;
	struct tcp_rep *tr;
	double each;

	up(n);
	tr = tcp_rep(rep("tcp"));
	/* Some of the first wait for an address to be resolved, and come again. */
	for (unsigned i = 0; i < 20 && xk_rep_sessions(rep("tcp")) < n; i++)
		run(XK_SEC);
	CU_ASSERT_EQUAL_FATAL(xk_rep_sessions(rep("tcp")), n);
	run(5 * XK_SEC);
	each = bytes(n);
	printf("# %.1f bytes for each of %u connections\n", each, n);
	CU_ASSERT_EQUAL(tr->live_slab.live, 1);
	CU_ASSERT_EQUAL(rep("discard")->count[2], n);
	CU_ASSERT(each <= BOUND || n < FULL || OWNERS);

	/* Awake they take more; a second later they are where they were. */
	xk_vp_enter_idle(g->vps->vp[0]);
	xk_map_foreach(&rep("tcp")->active, wake, &awake);
	xk_vp_leave_idle(g->vps->vp[0]);
	CU_ASSERT_EQUAL(awake, n);
	CU_ASSERT_EQUAL(tr->live_slab.live, n + 1);
	run(2500 * XK_MS);
	CU_ASSERT_EQUAL(tr->live_slab.live, 1);
	CU_ASSERT(bytes(n) <= each + 1);
	down();
}

int main(void)
{
	static CU_TestInfo tests[] = {
		{ "idle_connections_take_a_quarter_of_a_kilobyte", idle_connections_take_a_quarter_of_a_kilobyte },
		CU_TEST_INFO_NULL,
	};
	CU_SuiteInfo suites[] = { { "tcp many", NULL, NULL, NULL, NULL, tests }, CU_SUITE_INFO_NULL };
	int res;

	xk_rcu_register();
	res = xk_test_main(suites);
	xk_rcu_unregister();
	return res;
}
