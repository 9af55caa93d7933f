/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_ncs_group.c - groups of processes in virtual time: barrier, broadcast, reduce, allreduce.
 *
 * Promises: every member of every size of group gets what the root had, by each shape, in pieces or
 * whole, also over a line that loses; reductions are those of a plain loop; the root of a binomial tree
 * sends as often as the logarithm says; nobody passes a barrier that somebody has not reached; a member
 * that is lost fails the operation at all others, which know its rank.
 */
#include "protocols/ncs/ncs_fold.h"
#include "runtime/compose/xk_compose.h"
#include "tests/protocols/ncs_job.h"

#include <math.h>

#define N    JOB_MOST
#define MOST 200001u

static struct xk_ncs_group *group[N];
static uint8_t data[N][MOST];

static void make(unsigned n, enum xk_ncs_shape shape, unsigned k)
{
	int ranks[N];

	for (unsigned i = 0; i < n; i++)         /* places are not ranks */
		ranks[i] = (int)((i * 2 + 1) % n);
	if (n % 2 == 0)
		for (unsigned i = 0; i < n; i++)
			ranks[i] = (int)(n - 1 - i);
	for (unsigned i = 0; i < n; i++)
		CU_ASSERT_EQUAL_FATAL(xk_ncs_group_new(thr[ranks[i]], ranks, n, 3, NULL, shape, k, &group[i]), XK_OK);
}

/* Lets all that is under way end; at each place: how. */
static void finish(unsigned n, int *res)
{
	bool busy = true;

	for (unsigned round = 0; round < 3000 && busy; round++) {
		busy = false;
		for (unsigned i = 0; i < n; i++) {
			res[i] = group[i] != NULL ? xk_ncs_group_test(group[i]) : XK_OK;
			busy = busy || res[i] == XK_E_INPROGRESS;
		}
		job_run(10 * XK_MS);
	}
	CU_ASSERT_FALSE(busy);
}

static bool all_well(unsigned n)
{
	int res[N];
	bool well = true;

	finish(n, res);
	for (unsigned i = 0; i < n; i++)
		well = well && res[i] == XK_OK;
	return well;
}

static void leave(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		xk_ncs_group_free(group[i]);
	job_down(n);
}

/* ---- broadcasts ----------------------------------------------------------------------------------- */

static void bcast(unsigned n, unsigned root, size_t bytes)
{
	for (unsigned i = 0; i < n; i++)
		memset(data[i], (int)i + 1, MOST);
	for (uint32_t k = 0; k < bytes; k++)
		data[root][k] = (uint8_t)(k * 7 + k / 256 + root);
	for (unsigned i = 0; i < n; i++)
		CU_ASSERT_EQUAL(xk_ncs_ibcast(group[i], root, data[i], bytes), XK_OK);
	CU_ASSERT(all_well(n));
	for (unsigned i = 0; i < n; i++) {
		CU_ASSERT_EQUAL(memcmp(data[i], data[root], bytes), 0);
		CU_ASSERT_EQUAL(data[i][bytes], i == root && bytes != 0 ? root + 1 : i + 1);    /* and no more */
	}
}

static void everybody_gets_what_the_root_has(void)
{
	static const struct { enum xk_ncs_shape shape; unsigned k; } shapes[] = {
		{ XK_NCS_REPETITIVE, 0 }, { XK_NCS_BINOMIAL, 0 }, { XK_NCS_KARY, 3 }, { XK_NCS_CHAIN, 0 }, { XK_NCS_AUTO, 0 },
	};
	static const unsigned sizes[] = { 1, 2, 3, 5, 8 };

	for (unsigned s = 0; s < XK_ARRAY_LEN(shapes); s++)
		for (unsigned j = 0; j < XK_ARRAY_LEN(sizes); j++) {
			unsigned n = sizes[j];

			job_virtual(n == 1 ? 2 : n, "", s == 1 ? "loss = 0.05, reorder = 0.1, seed = 3" : "");
			make(n, shapes[s].shape, shapes[s].k);
			CU_ASSERT(all_well(n));
			bcast(n, 0, 0);
			bcast(n, n - 1, 1000);
			bcast(n, n / 2, MOST - 1);       /* in pieces */
			for (unsigned i = 0; i < n; i++)
				xk_ncs_group_free(group[i]);
			job_down(n == 1 ? 2 : n);
		}
}

static void a_binomial_root_sends_three_times_for_eight(void)
{
	static const struct { enum xk_ncs_shape shape; unsigned sends; } w[] = { { XK_NCS_BINOMIAL, 3 }, { XK_NCS_REPETITIVE, 7 } };

	for (unsigned i = 0; i < 2; i++) {
		uint64_t before;

		job_virtual(8, "", "");
		make(8, w[i].shape, 0);
		CU_ASSERT(all_well(8));
		before = job_count("p7", "messages_out");        /* place 0 is rank 7 */
		bcast(8, 0, 1000);
		CU_ASSERT_EQUAL(job_count("p7", "messages_out") - before, w[i].sends);
		leave(8);
	}
}

/* ---- reductions ------------------------------------------------------------------------------------- */

#define NUMBERS 20001u
static union numbers { int32_t i[NUMBERS]; int64_t l[NUMBERS]; double d[NUMBERS]; } v[N], want;

static void number(unsigned i, enum xk_ncs_type ty)
{
	for (uint32_t k = 0; k < NUMBERS; k++) {
		int64_t x = (int64_t)((k * 2654435761u + i * 40503u) % 1000003) - 500000;

		if (ty == XK_NCS_I32)
			v[i].i[k] = (int32_t)(x * 4001);         /* sums wrap */
		else if (ty == XK_NCS_I64)
			v[i].l[k] = x * 1000000007;
		else
			v[i].d[k] = (double)x / 8;               /* sums are exact in any order */
	}
}

static double real_of(enum xk_ncs_fold f, double a, double b)
{
	return f == XK_NCS_SUM ? a + b : f == XK_NCS_MIN ? fmin(a, b) : fmax(a, b);
}

static int64_t int_of(enum xk_ncs_fold f, int64_t a, int64_t b)
{
	return f == XK_NCS_SUM ? (int64_t)((uint64_t)a + (uint64_t)b) : f == XK_NCS_MIN ? (a < b ? a : b) : (a > b ? a : b);
}

static void expect(unsigned n, enum xk_ncs_type ty, enum xk_ncs_fold f)
{
	want = v[0];
	for (unsigned i = 1; i < n; i++)
		for (uint32_t k = 0; k < NUMBERS; k++)
			if (ty == XK_NCS_I32)
				want.i[k] = (int32_t)(uint32_t)int_of(f, want.i[k], v[i].i[k]);
			else if (ty == XK_NCS_I64)
				want.l[k] = int_of(f, want.l[k], v[i].l[k]);
			else
				want.d[k] = real_of(f, want.d[k], v[i].d[k]);
}

static void reductions_are_those_of_a_plain_loop(void)
{
	for (unsigned n = 1; n <= 6; n += n == 1 ? 2 : 3) {
		job_virtual(n == 1 ? 2 : n, "", "");
		make(n, n == 3 ? XK_NCS_KARY : XK_NCS_AUTO, 2);
		CU_ASSERT(all_well(n));
		for (unsigned ty = 0; ty <= XK_NCS_F64; ty++)
			for (unsigned f = 0; f <= XK_NCS_MAX; f++)
				for (unsigned all = 0; all < 2; all++) {
					size_t bytes = NUMBERS * ncs_fold_size((enum xk_ncs_type)ty);

					for (unsigned i = 0; i < n; i++)
						number(i, (enum xk_ncs_type)ty);
					expect(n, (enum xk_ncs_type)ty, (enum xk_ncs_fold)f);
					for (unsigned i = 0; i < n; i++)
						CU_ASSERT_EQUAL(all ? xk_ncs_iallreduce(group[i], f, ty, &v[i], NUMBERS) :
								xk_ncs_ireduce(group[i], n - 1, f, ty, &v[i], NUMBERS), XK_OK);
					CU_ASSERT(all_well(n));
					for (unsigned i = all ? 0 : n - 1; i < n; i++)
						CU_ASSERT_EQUAL(memcmp(&v[i], &want, bytes), 0);
				}
		for (unsigned i = 0; i < n; i++)
			xk_ncs_group_free(group[i]);
		job_down(n == 1 ? 2 : n);
	}
}

static void numbers_travel_big_endian_and_pass_over_what_is_none(void)
{
	static const uint8_t two[] = { 0, 0, 0, 2, 0xff, 0xff, 0xff, 0xfe };
	double d[2] = { NAN, 1 }, e[2] = { 3, NAN };
	int32_t i[2] = { 2, -2 };
	uint8_t b[16];

	ncs_fold_store(b, i, 2, XK_NCS_I32);
	CU_ASSERT_EQUAL(memcmp(b, two, sizeof two), 0);
	ncs_fold(i, two, 2, XK_NCS_I32, XK_NCS_MAX);
	CU_ASSERT(i[0] == 2 && i[1] == -2);
	ncs_fold_store(b, e, 2, XK_NCS_F64);
	ncs_fold(d, b, 2, XK_NCS_F64, XK_NCS_MIN);
	CU_ASSERT(d[0] == 3 && d[1] == 1);
}

/* ---- barriers ------------------------------------------------------------------------------------------ */

static void nobody_passes_before_all_have_come(void)
{
	for (unsigned n = 2; n <= 7; n++) {
		int res[N];

		job_virtual(n, "", "");
		make(n, XK_NCS_AUTO, 0);
		CU_ASSERT(all_well(n));
		for (unsigned late = 0; late < n; late++) {
			for (unsigned i = 0; i < n; i++)
				if (i != late)
					CU_ASSERT_EQUAL(xk_ncs_ibarrier(group[i]), XK_OK);
			for (unsigned round = 0; round < 50; round++) {
				job_run(10 * XK_MS);
				for (unsigned i = 0; i < n; i++)
					res[i] = xk_ncs_group_test(group[i]);
			}
			for (unsigned i = 0; i < n; i++)
				CU_ASSERT_EQUAL(res[i], i == late ? XK_OK : XK_E_INPROGRESS);
			CU_ASSERT_EQUAL(xk_ncs_ibarrier(group[(late + 1) % n]), XK_E_BUSY);
			CU_ASSERT_EQUAL(xk_ncs_ibarrier(group[late]), XK_OK);
			CU_ASSERT(all_well(n));
		}
		leave(n);
	}
}

/* Who has done its share leaves, and the operation ends well where the others have yet to look. */
static void who_leaves_behind_an_operation_fails_nobody_at_it(void)
{
	int res[N];

	job_virtual(4, "", "");
	make(4, XK_NCS_BINOMIAL, 0);
	CU_ASSERT(all_well(4));
	for (unsigned i = 0; i < 4; i++)
		CU_ASSERT_EQUAL(xk_ncs_ibcast(group[i], 0, data[i], 1000), XK_OK);
	CU_ASSERT_EQUAL(xk_ncs_group_test(group[0]), XK_OK);     /* the root has sent */
	xk_ncs_group_free(group[0]);
	group[0] = NULL;
	job_run(XK_SEC);
	finish(4, res);
	for (unsigned i = 1; i < 4; i++) {
		CU_ASSERT_EQUAL(res[i], XK_OK);
		CU_ASSERT_EQUAL(xk_ncs_ibarrier(group[i]), XK_E_CONNRESET);
		CU_ASSERT_EQUAL(xk_ncs_group_lost(group[i]), 3);
	}
	leave(4);
}

/* ---- ends -------------------------------------------------------------------------------------------------- */

static void a_lost_member_fails_the_operation_and_is_named(void)
{
	for (unsigned dead = 0; dead < 5; dead++) {
		int res[N], rank;

		job_virtual(5, "", "");
		make(5, XK_NCS_BINOMIAL, 0);
		CU_ASSERT(all_well(5));
		rank = (int)((dead * 2 + 1) % 5);
		for (unsigned i = 0; i < 5; i++)
			if (i != dead)
				CU_ASSERT_EQUAL(xk_ncs_iallreduce(group[i], XK_NCS_SUM, XK_NCS_I64, v[i].l, 100), XK_OK);
		job_run(100 * XK_MS);
		xk_ncs_group_free(group[dead]);
		group[dead] = NULL;
		finish(5, res);
		for (unsigned i = 0; i < 5; i++) {
			if (i == dead)
				continue;
			CU_ASSERT_EQUAL(res[i], XK_E_CONNRESET);
			CU_ASSERT_EQUAL(xk_ncs_group_lost(group[i]), rank);
			CU_ASSERT_EQUAL(xk_ncs_ibarrier(group[i]), XK_E_CONNRESET);
		}
		leave(5);
	}
}

static void what_makes_no_group_is_refused(void)
{
	static const int good[] = { 0, 1 }, twice[] = { 0, 0 }, without[] = { 1 }, beyond[] = { 0, 2 };
	struct xk_ncs_group *g;
	struct xk_ncs_conn *c;
	struct xk_ncs_req r;

	job_virtual(2, "", "");
	CU_ASSERT_EQUAL(xk_ncs_group_new(thr[0], good, 0, 1, NULL, XK_NCS_AUTO, 0, &g), XK_E_INVAL);
	CU_ASSERT_EQUAL(xk_ncs_group_new(thr[0], twice, 2, 1, NULL, XK_NCS_AUTO, 0, &g), XK_E_INVAL);
	CU_ASSERT_EQUAL(xk_ncs_group_new(thr[0], without, 1, 1, NULL, XK_NCS_AUTO, 0, &g), XK_E_INVAL);
	CU_ASSERT_EQUAL(xk_ncs_group_new(thr[0], beyond, 2, 1, NULL, XK_NCS_AUTO, 0, &g), XK_E_INVAL);
	CU_ASSERT_EQUAL(xk_ncs_group_new(thr[0], good, 2, 0x80000000u, NULL, XK_NCS_AUTO, 0, &g), XK_E_INVAL);
	CU_ASSERT_EQUAL(xk_ncs_group_new(thr[0], good, 2, 1, NULL, XK_NCS_KARY, 0, &g), XK_E_INVAL);
	CU_ASSERT_PTR_NULL(g);
	CU_ASSERT_EQUAL(xk_ncs_iopen(thr[0], &(struct xk_ncs_addr){ 1, 0, 0x80000001u, 0 }, NULL, &c, &r), XK_E_INVAL);
	/* One that is never made: the other has not come.  And what it opened is not accepted as a program's. */
	CU_ASSERT_EQUAL(xk_ncs_group_new(thr[0], good, 2, 1, NULL, XK_NCS_AUTO, 0, &g), XK_OK);
	CU_ASSERT_EQUAL(xk_ncs_ibarrier(g), XK_E_BUSY);
	job_run(XK_SEC);
	CU_ASSERT_EQUAL(xk_ncs_accept(thr[1], &c, NULL, 0), XK_E_AGAIN);
	xk_ncs_group_free(g);
	job_run(XK_SEC);
	CU_ASSERT_EQUAL(xk_ncs_group_new(thr[1], good, 2, 1, NULL, XK_NCS_AUTO, 0, &g), XK_OK);
	CU_ASSERT_EQUAL(xk_ncs_group_test(g), XK_OK);
	CU_ASSERT_EQUAL(xk_ncs_ibarrier(g), XK_E_CONNRESET);
	CU_ASSERT_EQUAL(xk_ncs_group_lost(g), 0);
	xk_ncs_group_free(g);
	CU_ASSERT_EQUAL(xk_ncs_group_new(thr[1], good, 2, 2, NULL, XK_NCS_AUTO, 0, &g), XK_OK);
	CU_ASSERT_EQUAL(xk_ncs_group_wait(g, 0), XK_E_AGAIN);
	xk_ncs_group_free(g);
	/* A name that is not in the graph. */
	CU_ASSERT_EQUAL(xk_ncs_group_new(thr[0], good, 2, 3, &(struct xk_ncs_choice){ .path = "x" }, XK_NCS_AUTO, 0, &g), XK_OK);
	CU_ASSERT_EQUAL(xk_ncs_group_test(g), XK_E_NOENT);
	xk_ncs_group_free(g);
	job_down(2);
}

#define T(x) { #x, x }
static CU_TestInfo groups[] = {
	T(everybody_gets_what_the_root_has), T(a_binomial_root_sends_three_times_for_eight),
	T(reductions_are_those_of_a_plain_loop), T(numbers_travel_big_endian_and_pass_over_what_is_none),
	T(nobody_passes_before_all_have_come), T(who_leaves_behind_an_operation_fails_nobody_at_it),
	T(a_lost_member_fails_the_operation_and_is_named),
	T(what_makes_no_group_is_refused), CU_TEST_INFO_NULL
};

int main(void)
{
	static const CU_SuiteInfo suites[] = { { .pName = "ncs groups", .pTests = groups }, CU_SUITE_INFO_NULL };

	return xk_test_main_rcu(suites);
}
