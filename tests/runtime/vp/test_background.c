/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_background.c - other work of idle workers: what it walks, how much of the time, and when not.
 *
 * Promises: lines of data and of code are referred to one after the other, and counted; of any number
 * of slices the share v walks; an idle worker walks and never sleeps, and finds what others leave;
 * while there is protocol work it walks nothing; what cannot work is refused.
 */
#include "tests/runtime/vp/vp_fixture.h"

#include "runtime/vp/vp_background.h"
#include "tests/support/xk_test.h"

static struct xk_arch walking(const char *preset, int vps, unsigned workers)
{
	struct xk_arch a = arch_of(preset, vps, workers);

	a.background = (struct xk_background){ .on = true, .v = 1, .data = 64 << 10, .code = 4 << 10 };
	a.spin_us = 0;
	return a;
}

static struct xk_background_counts counts(void)
{
	struct xk_background_counts c;

	xk_vpset_background(fx.set, &c);
	return c;
}

/* ---- the walk --------------------------------------------------------------------------- */

static void every_line_has_its_turn(void)
{
	struct xk_background conf = { .on = true, .v = 1, .data = 10 * 64 - 5, .code = 3 * 64 };
	struct vp_background b;

	CU_ASSERT_EQUAL_FATAL(vp_background_init(&b, &conf), XK_OK);
	vp_background_walk(&b, 17);
	vp_background_walk(&b, 8);
	for (unsigned i = 0; i < 10; i++)
		CU_ASSERT_EQUAL(b.data[i * 64], 1 + (i < 5 ? 3 : 2));
	CU_ASSERT_EQUAL(b.at_data, 5);
	CU_ASSERT_EQUAL(b.at_code, 25 % 3);
	CU_ASSERT_EQUAL(xk_counter_read(b.data_refs), 25);
	CU_ASSERT_EQUAL(xk_counter_read(b.code_refs), 25);
	vp_background_fini(&b);
}

static void one_of_the_two_will_do(void)
{
	struct xk_background data = { .on = true, .v = 1, .data = 1 }, code = { .on = true, .v = 1, .code = 1 };
	struct vp_background b;

	CU_ASSERT_EQUAL_FATAL(vp_background_init(&b, &data), XK_OK);
	vp_background_walk(&b, 3);
	CU_ASSERT_EQUAL(b.data[0], 4);
	CU_ASSERT_EQUAL(xk_counter_read(b.code_refs), 0);
	vp_background_fini(&b);
	CU_ASSERT_EQUAL_FATAL(vp_background_init(&b, &code), XK_OK);
	vp_background_walk(&b, 3);
	CU_ASSERT_EQUAL(xk_counter_read(b.data_refs), 0);
	CU_ASSERT_EQUAL(xk_counter_read(b.code_refs), 3);
	vp_background_fini(&b);
}

static void a_share_of_the_slices_walks(void)
{
	static const double shares[] = { 0, .25, .5, 1.0 / 3, 1 };
	struct xk_clock clock;

	xk_clock_init(&clock, false);
	for (unsigned k = 0; k < XK_ARRAY_LEN(shares); k++) {
		struct xk_background conf = { .on = true, .v = shares[k], .data = 4096 };
		struct vp_background b;
		uint64_t walked;

		CU_ASSERT_EQUAL_FATAL(vp_background_init(&b, &conf), XK_OK);
		for (unsigned i = 1; i <= 600; i++) {
			vp_background_slice(&b, &clock);
			walked = xk_counter_read(b.slices);
			CU_ASSERT_EQUAL(walked + xk_counter_read(b.rests), i);
			CU_ASSERT((double)walked <= i * shares[k] + .01 && (double)walked > i * shares[k] - 1.01);
		}
		CU_ASSERT_EQUAL((xk_counter_read(b.data_refs) == 0), (shares[k] == 0));
		CU_ASSERT(xk_counter_read(b.data_refs) >= xk_counter_read(b.slices));
		vp_background_fini(&b);
	}
}

/* ---- workers ---------------------------------------------------------------------------- */

static struct xk_call call[20];
static uint32_t answered;

static void answer(struct xk_vp *vp, void *arg)
{
	(void)vp, (void)arg;
	xk_atomic_add(&answered, 1u);
}

static uint64_t sleeps(void)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < fx.set->nworkers; i++)
		n += xk_counter_read(xk_worker_counters(fx.set, i)->sleeps);
	return n;
}

/* Calls come while it walks, each after some slices. */
static void walks_and_answers(struct xk_arch a)
{
	struct xk_errs *e = xk_errs_new();
	char why[256];

	CU_ASSERT_EQUAL(xk_arch_check(&a, why, sizeof why), XK_OK);
	make(a);
	answered = 0;
	CU_ASSERT_EQUAL_FATAL(xk_vpset_start(fx.set, e), XK_OK);
	for (uint32_t i = 0; i < XK_ARRAY_LEN(call); i++) {
		uint64_t slices = counts().slices;

		while (counts().slices < slices + 3)
			xk_thread_yield();
		call[i] = (struct xk_call){ .fn = answer };
		xk_vp_call_async(fx.set->vp[i % fx.set->nconn], &call[i]);
		while (xk_load_acquire(&answered) != i + 1)
			xk_thread_yield();
	}
	xk_vpset_stop(fx.set);
	CU_ASSERT_EQUAL(sleeps(), 0);
	CU_ASSERT(counts().data != 0 && counts().code == counts().data);
	unmake();
	xk_errs_free(e);
}

static void an_idle_worker_walks_and_looks(void)
{
	walks_and_answers(walking("ppc", 1, 1));
	walks_and_answers(walking("vppc", 8, 1));
	walks_and_answers(walking("connp_l", 8, 1));
	walks_and_answers(walking("ips_conn", 8, 1));
}

static struct { bool began; uint64_t slices; unsigned seen; } before;

/* In each unit of a task that always has more to do. */
static void look(struct conn *c)
{
	uint64_t now = counts().slices;

	(void)c;
	before.seen += before.began && now != before.slices;
	before.began = true;
	before.slices = now;
}

static void protocol_work_goes_first(void)
{
	struct xk_errs *e = xk_errs_new();
	struct conn c;

	make(walking("ppc", 1, 1));
	memset(&before, 0, sizeof before);
	xk_vp_enter_idle(fx.set->vp[0]);
	conn_start(&c, fx.set->vp[0], 200000);
	c.hook = look;
	xk_vp_leave_idle(fx.set->vp[0]);
	CU_ASSERT_EQUAL_FATAL(xk_vpset_start(fx.set, e), XK_OK);
	while (counts().slices < 10)
		xk_thread_yield();
	xk_vpset_stop(fx.set);
	CU_ASSERT(c.done >= 200000);
	CU_ASSERT_EQUAL(before.seen, 0);
	unmake();
	xk_errs_free(e);
}

static void without_it_nothing_is_counted(void)
{
	struct xk_errs *e = xk_errs_new();
	struct xk_background_counts c;

	make(arch_of("ppc", 1, 1));
	CU_ASSERT_EQUAL_FATAL(xk_vpset_start(fx.set, e), XK_OK);
	while (sleeps() == 0)
		xk_thread_yield();
	xk_vpset_stop(fx.set);
	c = counts();
	CU_ASSERT_EQUAL(c.slices + c.rests + c.data + c.code, 0);
	unmake();
	xk_errs_free(e);
}

/* ---- what is refused ------------------------------------------------------------------------ */

static void refused(struct xk_arch a, const char *word)
{
	char why[256] = "";

	CU_ASSERT_EQUAL(xk_arch_check(&a, why, sizeof why), XK_E_INVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, word));
}

static void what_cannot_work_is_refused(void)
{
	struct xk_arch a = walking("vppc", 4, 1);

	a.schedule = XK_SCHED_VIRTUAL;
	refused(a, "real time");
	refused(walking("tpc", 4, 0), "schedule \"os\"");
	refused(walking("lp", 1, 0), "schedule \"os\"");
	a = walking("ppc", 1, 1);
	a.background.v = 1.5;
	refused(a, "between 0 and 1");
	a.background.v = 0;
	a.background.data = a.background.code = 0;
	refused(a, "data or code");
	a.background.data = XK_BACKGROUND_MAX + 1;
	refused(a, "1GiB");
}

static void workers_need_a_processor_each(void)
{
	struct xk_arch a = walking("vppc", 65, 65);
	struct xk_mem_conf mem = { .limit = 64u << 20 };
	struct xk_errs *e = xk_errs_new();
	struct xk_vpset *set = NULL;

	CU_ASSERT_EQUAL(xk_vpset_new(&set, &a, &mem, e), XK_E_INVAL);
	CU_ASSERT_EQUAL_FATAL(xk_errs_count(e), 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(xk_errs_text(e, 0, NULL, NULL, NULL), "a processor for each worker"));
	xk_errs_free(e);
}

static CU_TestInfo tests[] = {
	{ "every line has its turn", every_line_has_its_turn },
	{ "one of the two will do", one_of_the_two_will_do },
	{ "a share of the slices walks", a_share_of_the_slices_walks },
	{ "an idle worker walks and looks", an_idle_worker_walks_and_looks },
	{ "protocol work goes first", protocol_work_goes_first },
	{ "without it nothing is counted", without_it_nothing_is_counted },
	{ "what cannot work is refused", what_cannot_work_is_refused },
	{ "workers need a processor each", workers_need_a_processor_each },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = { { "background", NULL, NULL, NULL, NULL, tests }, CU_SUITE_INFO_NULL };

int main(void)
{
	xk_rcu_register();
	return xk_test_main(suites);
}
