/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_vp.c - promises of virtual processors: one thread inside at a time, run
 * to completion, fair turns, borrowed threads, presets that make sense.
 */
#include "tests/runtime/vp/vp_fixture.h"
#include "tests/support/xk_test.h"

#include <pthread.h>

/* ---- round robin -------------------------------------------------------------- */

static void connections_of_a_vp_differ_by_at_most_one_unit(void)
{
	struct conn c[7];
	struct xk_arch a = arch_of("vppc", 1, 1);

	a.schedule = XK_SCHED_VIRTUAL;
	a.burst = 3;
	make(a);
	xk_vp_enter_idle(fx.set->vp[0]);
	for (unsigned i = 0; i < 7; i++)
		conn_start(&c[i], fx.set->vp[0], 0);
	xk_vp_leave_idle(fx.set->vp[0]);
	for (unsigned step = 0; step < 1000; step++) {
		uint64_t lo = UINT64_MAX, hi = 0;

		xk_vpset_step(fx.set);
		for (unsigned i = 0; i < 7; i++) {
			lo = c[i].done < lo ? c[i].done : lo;
			hi = c[i].done > hi ? c[i].done : hi;
		}
		CU_ASSERT_FATAL(hi - lo <= a.burst);
	}
	unmake();
}

static void park_from(struct conn *c)
{
	if (c->done == 2)
		xk_task_park(&c->task);
}

static void a_task_may_park_itself_and_come_back_last_in_turn(void)
{
	struct conn c[3];
	struct xk_vp *vp;
	struct xk_arch a = arch_of("vppc", 1, 1);

	a.schedule = XK_SCHED_VIRTUAL;
	a.burst = 1;
	make(a);
	vp = fx.set->vp[0];
	xk_vp_enter_idle(vp);
	for (unsigned i = 0; i < 3; i++)
		conn_start(&c[i], vp, 0);
	c[1].hook = park_from;
	xk_vp_leave_idle(vp);
	for (unsigned i = 0; i < 30; i++)
		xk_vpset_step(fx.set);
	CU_ASSERT_EQUAL(c[1].done, 2);
	CU_ASSERT_EQUAL(c[0].done + c[2].done, 28);
	CU_ASSERT_FALSE(xk_task_is_ready(&c[1].task));
	xk_vp_enter_idle(vp);
	xk_task_ready(&c[1].task);
	xk_task_ready(&c[1].task);
	CU_ASSERT_EQUAL(vp->ring[0]->prev, &c[1].task);
	xk_task_park(&c[0].task);
	xk_task_park(&c[1].task);
	xk_task_park(&c[2].task);
	xk_task_park(&c[2].task);
	CU_ASSERT_PTR_NULL(vp->ring[0]);
	xk_vp_leave_idle(vp);
	unmake();
}

/* ---- borrowed threads ------------------------------------------------------------- */

static void add_one(struct xk_vp *vp, void *arg)
{
	uint64_t *n = arg;

	if (xk_atomic_add(&fx.inside[vp->no], 1u) != 0)
		xk_atomic_add(&fx.overlap, 1u);
	++*n;
	xk_atomic_add(&fx.inside[vp->no], (uint32_t)-1);
}

static void *ends_at_once(void *n)
{
	xk_vp_do(fx.set->vp[0], add_one, n);
	return NULL;
}

/* Whoever answers a call may still be waking a caller that has gone on, and is no more. */
static void a_caller_may_end_as_soon_as_it_has_its_answer(void)
{
	struct xk_arch a = arch_of("vppc", 1, 1);
	struct xk_errs *e = xk_errs_new();
	uint64_t n = 0;
	pthread_t t;

	make(a);
	CU_ASSERT_EQUAL_FATAL(xk_vpset_start(fx.set, e), XK_OK);
	for (unsigned i = 0; i < xk_test_rounds(300); i++) {
		CU_ASSERT_EQUAL_FATAL(pthread_create(&t, NULL, ends_at_once, &n), 0);
		pthread_join(t, NULL);
		CU_ASSERT_EQUAL(n, i + 1);
	}
	xk_vpset_stop(fx.set);
	unmake();
	xk_errs_free(e);
}

struct caller { struct xk_vpset *set; uint64_t *n; };

static void call_often(void *arg)
{
	struct caller *c = arg;

	for (unsigned i = 0; i < 200; i++)
		xk_vp_do(c->set->vp[i % c->set->nconn], add_one, &c->n[i % c->set->nconn]);
}

/* Plain counters written only inside their VP: exact if exclusion holds. */
static void calls_from_threads(struct xk_arch a)
{
	uint64_t n[4] = { 0 };
	struct xk_thread *t[3];
	struct caller c;
	struct xk_errs *e = xk_errs_new();

	make(a);
	c = (struct caller){ fx.set, n };
	CU_ASSERT_EQUAL_FATAL(xk_vpset_start(fx.set, e), XK_OK);
	for (unsigned i = 0; i < 3; i++)
		CU_ASSERT_EQUAL_FATAL(xk_thread_new(&t[i], "app", -1, call_often, &c), XK_OK);
	for (unsigned i = 0; i < 3; i++)
		xk_thread_join(t[i]);
	xk_vpset_stop(fx.set);
	CU_ASSERT_EQUAL(n[0] + n[1] + n[2] + n[3], 600);
	CU_ASSERT_EQUAL(fx.overlap, 0);
	CU_ASSERT_EQUAL(fx.set->vp[0]->borrowed != 0, a.entry == XK_ENTRY_LOCK);
	unmake();
	xk_errs_free(e);
}

static void application_threads_are_borrowed_under_lock_entry(void)
{
	struct xk_arch a = arch_of("vppc", 4, 2);

	a.entry = XK_ENTRY_LOCK;
	calls_from_threads(a);
}

/* In MsgP the caller's thread does the connection's work, beside the I/O threads. */
static void application_threads_are_borrowed_by_msgp(void)
{
	calls_from_threads(arch_of("msgp", 4, 2));
}

static void application_threads_post_and_wait_under_own_entry(void)
{
	calls_from_threads(arch_of("vppc", 4, 2));
}

/* ---- one queue of VPs for all workers ------------------------------------------------- */

static struct { struct conn busy; uint64_t posted_at, met_at; } line;

static void line_deliver(struct xk_vp *vp, struct xk_msg *m)
{
	CU_ASSERT_EQUAL(vp->no, 1);
	line.met_at = xk_load_relaxed(&line.busy.done);
	xk_msg_free(m);
	xk_store_release(&fx.total, 1u);
}

/* An endless task that leaves one message for the other VP, and goes on until it was run. */
static void line_hook(struct conn *c)
{
	struct xk_msg *m;

	if (line.posted_at == 0) {
		m = xk_msg_new(64);
		CU_ASSERT_PTR_NOT_NULL_FATAL(m);
		line.posted_at = c->done;
		xk_vp_post(fx.set->vp[1], m);
	}
	if (xk_load_acquire(&fx.total) != 0)
		xk_task_park(&c->task);
}

/* Messages of one stack that were run while another's waited for the only worker. */
static uint64_t waited_for(unsigned quantum)
{
	struct xk_arch a = arch_of("ips_conn", 2, 1);
	struct xk_errs *e = xk_errs_new();

	a.quantum = quantum;
	make(a);
	fx.set->deliver = line_deliver;
	memset(&line, 0, sizeof line);
	xk_vp_enter_idle(fx.set->vp[0]);
	conn_start(&line.busy, fx.set->vp[0], 0);
	line.busy.hook = line_hook;
	xk_vp_leave_idle(fx.set->vp[0]);
	CU_ASSERT_EQUAL_FATAL(xk_vpset_start(fx.set, e), XK_OK);
	while (xk_load_acquire(&fx.total) == 0)
		xk_thread_yield();
	xk_vpset_stop(fx.set);
	unmake();
	xk_errs_free(e);
	return line.met_at - line.posted_at;
}

static void a_stack_has_a_batch_and_then_the_next_ones_turn_comes(void)
{
	CU_ASSERT(waited_for(64) <= 64 + 16);
	CU_ASSERT(waited_for(1000000) >= 1000000 - 2 * 16);
}

static void application_threads_enter_stacks_in_one_queue(void)
{
	calls_from_threads(arch_of("ips", 4, 3));
}

static void application_threads_wait_for_the_bound_thread_of_their_group(void)
{
	struct xk_arch a = arch_of("connp_t", 4, 0);

	a.io_threads = 0;
	calls_from_threads(a);
}

#define STACKS 8u
static struct conn held[STACKS];
static uint32_t held_done;       /* stacks that have had all of their units */
static bool held_late;

/* Stays inside its VP until all the others have had what they wanted. */
static void hold(struct conn *c)
{
	xk_ns until = xk_clock_host() + 300 * XK_SEC;

	(void)c;
	while (xk_load_acquire(&held_done) != STACKS - 1 && !xk_load_relaxed(&held_late)) {
		xk_thread_yield();
		xk_store_release(&held_late, xk_clock_host() > until);
	}
}

static void note_end(struct conn *c)
{
	if (c->done >= c->limit)
		xk_atomic_add(&held_done, 1u);
}

/* One of two workers is kept inside a stack: the stacks that were dealt to it do not wait for
 * it, for the other one is not idle while anything waits that nobody is inside of. */
static void one_of_two_workers_is_held(const char *preset)
{
	struct xk_errs *e = xk_errs_new();

	make(arch_of(preset, STACKS, 2));
	held_done = 0;
	held_late = false;
	for (unsigned i = 0; i < STACKS; i++) {
		xk_vp_enter_idle(fx.set->vp[i]);
		conn_start(&held[i], fx.set->vp[i], i == 0 ? 1 : 1000);
		held[i].hook = i == 0 ? hold : note_end;
		xk_vp_leave_idle(fx.set->vp[i]);
	}
	CU_ASSERT_EQUAL_FATAL(xk_vpset_start(fx.set, e), XK_OK);
	while (xk_load_acquire(&held_done) != STACKS - 1 && !xk_load_acquire(&held_late))
		xk_thread_yield();
	xk_vpset_stop(fx.set);
	CU_ASSERT_FALSE(held_late);
	xk_errs_free(e);
	unmake();
}

static void no_worker_is_idle_while_a_stack_waits_that_nobody_is_in(void)
{
	one_of_two_workers_is_held("ips_conn");
	one_of_two_workers_is_held("ips");
}

/* Connection-scaled stacks, as many as processors, are the processor-scaled ones: no axis differs. */
static void as_many_stacks_as_processors_are_processor_scaled(void)
{
	for (unsigned n = 1; n <= 4; n++) {
		struct xk_arch conn = arch_of("ips_conn", (int)n, n), proc = arch_of("ips", XK_VPS_PER_WORKER, n);
		unsigned stacks;

		make(proc);
		stacks = fx.set->nvps;
		unmake();
		CU_ASSERT_EQUAL(stacks, n);
		proc.vps = (int)n;
		proc.name = conn.name;
		proc.doc = conn.doc;
		CU_ASSERT_EQUAL(memcmp(&conn, &proc, sizeof conn), 0);
	}
}

/* ---- fairness between VPs --------------------------------------------------------------- */

static uint64_t greedy[MAX_VPS];
static uint32_t stop_at_reached;

static unsigned greedy_run(struct xk_task *t, unsigned budget)
{
	uint64_t n;

	/* VP 0 overshoots its budget threefold: the deficit must level it out. */
	n = t->vp->no == 0 ? 3 * budget : budget;
	greedy[t->vp->no] += n;
	if (t->vp->no == 5 && greedy[5] >= 200000)
		xk_store_release(&stop_at_reached, 1);
	return (unsigned)n;
}

static void drr_gives_every_vp_the_same_number_of_messages(void)
{
	struct xk_task t[6];
	struct xk_arch a = arch_of("vppc", 6, 1);
	struct xk_errs *e = xk_errs_new();

	make(a);
	memset(greedy, 0, sizeof greedy);
	stop_at_reached = 0;
	for (unsigned i = 0; i < 6; i++) {
		xk_vp_enter_idle(fx.set->vp[i]);
		xk_task_init(&t[i], fx.set->vp[i], greedy_run);
		xk_task_ready(&t[i]);
		xk_vp_leave_idle(fx.set->vp[i]);
	}
	CU_ASSERT_EQUAL_FATAL(xk_vpset_start(fx.set, e), XK_OK);
	while (!xk_load_acquire(&stop_at_reached))
		xk_thread_yield();
	xk_vpset_stop(fx.set);
	for (unsigned i = 0; i < 6; i++)
		for (unsigned k = 0; k < 6; k++)
			CU_ASSERT_FATAL(greedy[i] <= greedy[k] + 2 * a.quantum + 3 * a.burst);
	unmake();
	xk_errs_free(e);
}

/* ---- architectures ------------------------------------------------------------------------ */

static void every_preset_is_a_row_that_makes_sense(void)
{
	char why[200];

	for (const struct xk_arch *a = xk_arch_presets; a->name != NULL; a++) {
		CU_ASSERT_EQUAL(xk_arch_check(a, why, sizeof why), XK_OK);
		CU_ASSERT_PTR_EQUAL(xk_arch_find(a->name), a);
		CU_ASSERT_TRUE(a->doc != NULL && a->doc[0] != '\0');
	}
	CU_ASSERT_PTR_NULL(xk_arch_find("nonsense"));
}

static void impossible_architectures_are_refused_with_a_reason(void)
{
	struct { struct xk_arch a; const char *word; } bad[] = {
		{ arch_of("vppc", 0, 1), "at least 1" },
		{ arch_of("vppc", 9000, 1), "8192" },
		{ arch_of("vppc", 4, 9), "more workers" },
		{ arch_of("tpc", 8, 3), "one thread per" },
		{ arch_of("vppc", 4, 1), "burst" },
		{ arch_of("vppc", 4, 1), "quantum" },
		{ arch_of("vppc", 4, 1), "inbox" },
		{ arch_of("vppc", 4, 1), "thread of its own" },
		{ arch_of("vppc", 4, 1), "domain" },
		{ arch_of("vppc", 4, 1), "handover" },
		{ arch_of("vppc", 4, 1), "lock needs entry" },
		{ arch_of("connp_l", 4, 1), "must be one of" },
	};
	char why[200];

	bad[4].a.burst = 0;
	bad[5].a.quantum = 0;
	bad[6].a.inbox = 0;
	bad[7].a.entry = XK_ENTRY_THREAD;
	bad[8].a.domain = XK_DOMAIN_LAYER;
	bad[9].a.handover = XK_HANDOVER_TRY;
	bad[10].a.lock = &xk_lock_mcs;
	bad[11].a.lock = &xk_lock_none;
	for (unsigned i = 0; i < XK_ARRAY_LEN(bad); i++) {
		CU_ASSERT_EQUAL(xk_arch_check(&bad[i].a, why, sizeof why), XK_E_INVAL);
		CU_ASSERT_PTR_NOT_NULL(strstr(why, bad[i].word));
	}
}

/* As many VPs as connections is TPC; as many as processors, pinned, is PPC. */
static void vppc_with_the_right_numbers_is_tpc_and_ppc(void)
{
	uint64_t done[2][4];

	for (unsigned k = 0; k < 2; k++) {
		struct conn c[4];
		struct xk_arch a = arch_of(k ? "vppc" : "ppc", 4, k ? 1 : 4);

		a.schedule = XK_SCHED_VIRTUAL;
		make(a);
		for (unsigned i = 0; i < 4; i++) {
			xk_vp_enter_idle(fx.set->vp[i]);
			conn_start(&c[i], fx.set->vp[i], 0);
			xk_vp_leave_idle(fx.set->vp[i]);
		}
		xk_vpset_run_virtual(fx.set, 3 * XK_MS);
		for (unsigned i = 0; i < 4; i++)
			done[k][i] = c[i].done;
		unmake();
	}
	CU_ASSERT_EQUAL(memcmp(done[0], done[1], sizeof done[0]), 0);
}

static void running_out_of_memory_while_making_vps_leaves_nothing(void)
{
	struct xk_arch a = arch_of("vppc", 8, 2);
	struct xk_mem_conf mem = { .limit = 8u << 20 };
	uint64_t base = xk_alloc_live();
	unsigned k;

	for (k = 1; k < 10000; k++) {
		struct xk_vpset *set = NULL;
		int err;

		xk_mem_fail_after(k);
		err = xk_vpset_new(&set, &a, &mem, NULL);
		xk_mem_fail_after(0);
		if (err == XK_OK) {
			CU_ASSERT_EQUAL(xk_vpset_free(set), 0);
			CU_ASSERT_EQUAL(xk_alloc_live(), base);
			break;
		}
		CU_ASSERT_EQUAL(xk_alloc_live(), base);
	}
	CU_ASSERT_TRUE(k > 8 && k < 10000);
}

/* A worker enters with the time of its round, after a borrowed thread that read the clock later. */
static CU_TestInfo tests[] = {
	{ "a stack has a batch, and then the next one's turn comes", a_stack_has_a_batch_and_then_the_next_ones_turn_comes },
	{ "no worker is idle while a stack waits that nobody is in", no_worker_is_idle_while_a_stack_waits_that_nobody_is_in },
	{ "as many stacks as processors are processor-scaled", as_many_stacks_as_processors_are_processor_scaled },
	{ "application threads enter stacks in one queue", application_threads_enter_stacks_in_one_queue },
	{ "application threads wait for the bound thread of their group",
	  application_threads_wait_for_the_bound_thread_of_their_group },
	{ "connections of a VP differ by at most one unit", connections_of_a_vp_differ_by_at_most_one_unit },
	{ "a task may park itself and come back last in turn", a_task_may_park_itself_and_come_back_last_in_turn },
	{ "application threads are borrowed under lock entry", application_threads_are_borrowed_under_lock_entry },
	{ "application threads are borrowed by MsgP", application_threads_are_borrowed_by_msgp },
	{ "application threads post and wait under own entry", application_threads_post_and_wait_under_own_entry },
	{ "a caller may end as soon as it has its answer", a_caller_may_end_as_soon_as_it_has_its_answer },
	{ "deficit round robin gives every VP the same number of messages", drr_gives_every_vp_the_same_number_of_messages },
	{ "every preset is a row that makes sense", every_preset_is_a_row_that_makes_sense },
	{ "impossible architectures are refused with a reason", impossible_architectures_are_refused_with_a_reason },
	{ "VPPC with the right numbers is TPC and PPC", vppc_with_the_right_numbers_is_tpc_and_ppc },
	{ "running out of memory while making VPs leaves nothing", running_out_of_memory_while_making_vps_leaves_nothing },
	CU_TEST_INFO_NULL
};

static CU_SuiteInfo suites[] = {
	{ "vp", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	xk_rcu_register();
	return xk_test_main(suites);
}
