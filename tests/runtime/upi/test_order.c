/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_order.c - a stack of modules is built from below and taken down from above, and what
 * fails on the way up is undone in the mirror image of what was done.
 *
 * Four nodes of one protocol stand in a chain.  Each writes its level and the operation down;
 * one may be told to fail.
 */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <string.h>

#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"
#include "tests/support/xk_test.h"

#define LEVELS 4

static char steps[256];
static const char *fails;                /* as written down, "2s" */
static bool real;                        /* with workers */

/* init, fini, start and stop are told apart by a letter: i f s t; of replicas I F S T; run and halt: r h. */
static int step(const struct xk_node *n, char op)
{
	char s[3] = { n->name[0], op, 0 };

	strcat(steps, s);
	return fails != NULL && strcmp(fails, s) == 0 ? XK_E_PERM : XK_OK;
}

static int level_init(struct xk_node *n, struct xk_errs *e) { (void)e; return step(n, 'i'); }
static void level_fini(struct xk_node *n) { (void)step(n, 'f'); }
static int level_start(struct xk_node *n, struct xk_errs *e) { (void)e; return step(n, 's'); }
static void level_stop(struct xk_node *n) { (void)step(n, 't'); }
static int level_rep_init(struct xk_rep *r) { return step(r->node, 'I'); }
static void level_rep_fini(struct xk_rep *r) { (void)step(r->node, 'F'); }
static int level_rep_start(struct xk_rep *r, struct xk_errs *e) { (void)e; return step(r->node, 'S'); }
static void level_rep_stop(struct xk_rep *r) { (void)step(r->node, 'T'); }

/* What they do needs the workers. */
static int level_run(struct xk_node *n, struct xk_errs *e)
{
	(void)e;
	CU_ASSERT_EQUAL(xk_load_acquire(&n->graph->vps->running), 1);
	return step(n, 'r');
}

static void level_halt(struct xk_node *n)
{
	CU_ASSERT_EQUAL(xk_load_acquire(&n->graph->vps->running), 1);
	(void)step(n, 'h');
}

static const struct xk_ops level_ops = {
	.init = level_init, .fini = level_fini, .start = level_start, .stop = level_stop,
	.run = level_run, .halt = level_halt,
	.rep_init = level_rep_init, .rep_fini = level_rep_fini, .rep_start = level_rep_start, .rep_stop = level_rep_stop,
};
static const struct xk_proto level = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "level", .doc = "one level of a stack",
	.ops = &level_ops, .offers = "level", .needs = { "level" }, .max_down = 1,
};

/* The stack comes up, or does not; then it goes. */
static int up_and_down(void)
{
	struct xk_graph_conf c = { .name = "levels", .arch = *xk_arch_find("vppc"), .mem.limit = 16u << 20 };
	struct xk_node *below = NULL;
	struct xk_errs *e = xk_errs_new();
	struct xk_graph *g;
	int err;

	steps[0] = 0;
	c.arch.vps = 1;
	c.arch.workers = 1;
	if (!real)
		c.arch.schedule = XK_SCHED_VIRTUAL;
	CU_ASSERT_EQUAL_FATAL(xk_graph_new(&g, &c, e), XK_OK);
	for (unsigned i = 0; i < LEVELS; i++) {
		char name[2] = { (char)('0' + i), 0 };

		CU_ASSERT_EQUAL_FATAL(xk_graph_add(g, &level, name, NULL, &below, i > 0, "order", i + 1, &below), XK_OK);
	}
	err = xk_graph_up(g, e);
	if (err == XK_OK)
		err = xk_graph_run(g, e);
	strcat(steps, " ");
	CU_ASSERT_EQUAL(xk_graph_free(g), 0);
	xk_errs_free(e);
	return err;
}

static void a_stack_is_built_from_below_and_taken_down_from_above(void)
{
	fails = NULL;
	CU_ASSERT_EQUAL(up_and_down(), XK_OK);
	CU_ASSERT_STRING_EQUAL(steps, "0i1i2i3i0I1I2I3I0s1s2s3s0S1S2S3S 3T2T1T0T3t2t1t0t3F2F1F0F3f2f1f0f");
}

static void what_fails_on_the_way_up_is_undone_in_the_mirror_image(void)
{
	static const struct { const char *at, *steps; } way[] = {
		{ "0i", "0i " },
		{ "2i", "0i1i2i 1f0f" },
		{ "1I", "0i1i2i3i0I1I 0F3f2f1f0f" },
		{ "2s", "0i1i2i3i0I1I2I3I0s1s2s 1t0t3F2F1F0F3f2f1f0f" },
	};
	size_t live = xk_alloc_live();

	for (unsigned i = 0; i < XK_ARRAY_LEN(way); i++) {
		fails = way[i].at;
		CU_ASSERT_EQUAL(up_and_down(), XK_E_PERM);
		CU_ASSERT_STRING_EQUAL(steps, way[i].steps);
		if (strcmp(steps, way[i].steps) != 0)
			printf("# %s fails: %s\n", fails, steps);
		CU_ASSERT_EQUAL(xk_alloc_live(), live);
	}
}

/* In virtual time (above) there is nobody for them to wait for. */
static void threads_of_nodes_run_while_the_workers_do(void)
{
	real = true;
	fails = NULL;
	CU_ASSERT_EQUAL(up_and_down(), XK_OK);
	CU_ASSERT_STRING_EQUAL(steps, "0i1i2i3i0I1I2I3I0s1s2s3s0S1S2S3S0r1r2r3r 3h2h1h0h3T2T1T0T3t2t1t0t3F2F1F0F3f2f1f0f");
	fails = "2r";
	CU_ASSERT_EQUAL(up_and_down(), XK_E_PERM);
	CU_ASSERT_STRING_EQUAL(steps, "0i1i2i3i0I1I2I3I0s1s2s3s0S1S2S3S0r1r2r 1h0h3T2T1T0T3t2t1t0t3F2F1F0F3f2f1f0f");
	real = false;
}

static CU_TestInfo tests[] = {
	{ "a stack is built from below and taken down from above", a_stack_is_built_from_below_and_taken_down_from_above },
	{ "what fails on the way up is undone in the mirror image", what_fails_on_the_way_up_is_undone_in_the_mirror_image },
	{ "threads of nodes run while the workers do", threads_of_nodes_run_while_the_workers_do },
	CU_TEST_INFO_NULL
};

static CU_SuiteInfo suites[] = {
	{ "order", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	xk_rcu_register();
	return xk_test_main(suites);
}
