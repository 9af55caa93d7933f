/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_heat.c - who has run how much of each virtual processor (xk_heat.h).
 *
 * Promises: cells are bounded, and each VP and runner has one; where any worker may run a VP the cells of a VP are
 * what its own counter has, those of a worker what the worker's has; wired streams have one cell each; a thread that
 * is no worker has the column behind the last; where a VP has one worker nothing is counted; without memory there is
 * none, and nothing is left.
 */
#include "runtime/vp/xk_heat.h"

#include <stdlib.h>

#include "runtime/vp/vp_priv.h"
#include "tests/runtime/vp/vp_fixture.h"
#include "tests/support/xk_test.h"

/* ---- shapes ------------------------------------------------------------------------------ */

static void cells_are_bounded(void)
{
	static const unsigned vps[] = { 1, 2, 63, 1000, 8191, 8192, 65535, 65536 };
	static const unsigned runners[] = { 1, 2, 15, 16, 127, 1024, 1025, 8192, 65536 };
	struct xk_heat_shape s;

	for (unsigned i = 0; i < XK_ARRAY_LEN(vps); i++)
		for (unsigned k = 0; k < XK_ARRAY_LEN(runners); k++) {
			xk_heat_shape_of(vps[i], runners[k], &s);
			CU_ASSERT(xk_heat_cells(&s) <= XK_HEAT_CELLS);
			CU_ASSERT(s.columns <= XK_HEAT_COLUMNS);
			CU_ASSERT_EQUAL((vps[i] - 1) / s.per_row, s.rows - 1);
			CU_ASSERT_EQUAL((runners[k] - 1) / s.per_column, s.columns - 1);
			if ((uint64_t)vps[i] * (runners[k] + 1) <= XK_HEAT_CELLS && runners[k] <= XK_HEAT_COLUMNS)
				CU_ASSERT(s.per_row == 1 && s.per_column == 1);
		}
}

#define ROUNDS 200u

/* ---- cells ------------------------------------------------------------------------------------- */

static struct xk_heat_shape shape;
static uint64_t cell[MAX_VPS * (MAX_VPS + 1)];

static void read_cells(void)
{
	CU_ASSERT_TRUE_FATAL(xk_vpset_heat_shape(fx.set, &shape));
	CU_ASSERT_FATAL(xk_heat_cells(&shape) <= XK_ARRAY_LEN(cell));
	xk_vpset_heat_read(fx.set, cell);
}

static uint64_t at(unsigned row, unsigned column) { return cell[row * (shape.columns + 1) + column]; }

static uint64_t row_sum(unsigned row)
{
	uint64_t n = 0;

	for (unsigned c = 0; c <= shape.columns; c++)
		n += at(row, c);
	return n;
}

static uint64_t column_sum(unsigned column)
{
	uint64_t n = 0;

	for (unsigned r = 0; r < shape.rows; r++)
		n += at(r, column);
	return n;
}

/* What VPs and workers have counted themselves. */
static void sums_are_those_of_others(void)
{
	for (unsigned v = 0; v < fx.set->nvps; v++) {
		CU_ASSERT(row_sum(v) > 0);
		CU_ASSERT_EQUAL(row_sum(v), xk_counter_read(fx.set->vp[v]->messages));
	}
	for (unsigned i = 0; i < fx.set->nworkers; i++)
		CU_ASSERT_EQUAL(column_sum(i), xk_counter_read(xk_worker_counters(fx.set, i)->messages));
	CU_ASSERT_EQUAL(column_sum(shape.columns), 0);
}

static void wired_streams_have_one_cell(void)
{
	make(affine(9, 4, XK_AFFINITY_STREAM));
	CU_ASSERT_EQUAL_FATAL(xk_vpset_heat(fx.set), XK_OK);
	calls_go_round(ROUNDS);
	read_cells();
	CU_ASSERT_TRUE(shape.counted);
	sums_are_those_of_others();
	for (unsigned v = 0; v < 9; v++)
		CU_ASSERT_EQUAL(at(v, v % 4), row_sum(v));
	unmake();
}

/* VPs that more than one worker has run. */
static unsigned shared(void)
{
	unsigned n = 0;

	for (unsigned v = 0; v < shape.rows; v++) {
		unsigned ran = 0;

		for (unsigned c = 0; c < shape.columns; c++)
			ran += at(v, c) != 0;
		n += ran > 1;
	}
	return n;
}

static void what_any_worker_may_run_several_do(void)
{
	unsigned most = 0;

	for (unsigned tries = 0; tries < 1000 && most == 0; tries++) {
		make(affine(9, 4, XK_AFFINITY_NONE));
		CU_ASSERT_EQUAL_FATAL(xk_vpset_heat(fx.set), XK_OK);
		calls_go_round(ROUNDS);
		read_cells();
		sums_are_those_of_others();
		most = shared();
		unmake();
	}
	CU_ASSERT(most > 0);
}

/* ---- threads that are no workers ------------------------------------------------------------------ */

/* Makes a task ready, which the calling thread runs before it leaves (waiters `run`). */
static void start_conn(struct xk_vp *vp, void *arg)
{
	conn_start(arg, vp, 4);
}

static void threads_that_are_no_workers_have_the_last_column(void)
{
	struct xk_arch a = arch_of("caller", 1, 1);
	struct xk_errs *e = xk_errs_new();
	struct conn c;

	make(a);
	CU_ASSERT_EQUAL_FATAL(xk_vpset_heat(fx.set), XK_OK);
	CU_ASSERT_EQUAL_FATAL(xk_vpset_start(fx.set, e), XK_OK);
	xk_vp_do(fx.set->vp[0], start_conn, &c);
	xk_vpset_stop(fx.set);
	read_cells();
	CU_ASSERT(at(0, 1) >= 4);
	CU_ASSERT_EQUAL(row_sum(0), xk_counter_read(fx.set->vp[0]->messages));
	unmake();
	xk_errs_free(e);
}

/* ---- one worker ------------------------------------------------------------------------------------- */

static void a_vp_with_one_worker_is_not_counted(void)
{
	make(arch_of("vppc", 9, 4));
	CU_ASSERT_EQUAL_FATAL(xk_vpset_heat(fx.set), XK_OK);
	calls_go_round(ROUNDS);
	read_cells();
	CU_ASSERT_FALSE(shape.counted);
	for (unsigned v = 0; v < 9; v++) {
		CU_ASSERT_EQUAL(row_sum(v), 0);
		CU_ASSERT_EQUAL(xk_vpset_heat_column(fx.set, v), v % 4);
	}
	unmake();
}

static void without_memory_there_is_none(void)
{
	for (int k = 1; k <= 2; k++) {
		uint64_t live;

		make(affine(9, 4, XK_AFFINITY_CODE));
		live = xk_alloc_live();
		xk_mem_fail_after(k);
		CU_ASSERT_EQUAL(xk_vpset_heat(fx.set), XK_E_NOMEM);
		xk_mem_fail_after(0);
		CU_ASSERT_EQUAL(xk_alloc_live(), live);
		CU_ASSERT_FALSE(xk_vpset_heat_shape(fx.set, &shape));
		unmake();
	}
}

static CU_TestInfo tests[] = {
	{ "cells are bounded", cells_are_bounded },
	{ "wired streams have one cell", wired_streams_have_one_cell },
	{ "what any worker may run, several do", what_any_worker_may_run_several_do },
	{ "threads that are no workers have the last column", threads_that_are_no_workers_have_the_last_column },
	{ "a VP with one worker is not counted", a_vp_with_one_worker_is_not_counted },
	{ "without memory there is none", without_memory_there_is_none },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = { { "heat", NULL, NULL, NULL, NULL, tests }, CU_SUITE_INFO_NULL };

int main(void)
{
	xk_rcu_register();
	return xk_test_main(suites);
}
