/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_handoff.c - messages from one virtual processor to another: batched, in order, bounded;
 * none is lost under any entry.
 */
#include "tests/runtime/vp/vp_fixture.h"
#include "tests/support/xk_test.h"

/* ---- hand-over ------------------------------------------------------------------ */

static void post_many(struct conn *c)
{
	struct xk_vpset *set = c->task.vp->set;

	for (unsigned i = 0; i < set->nvps; i++) {
		struct xk_msg *m = xk_msg_new(64);

		if (m != NULL)
			xk_vp_post(set->vp[i], m);
	}
}

static uint64_t sum_inbox_drops(void)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < fx.set->nvps; i++)
		n += fx.set->vp[i]->inbox_drops;
	return n;
}

/* Every VP posts `units` messages to every VP. */
static void hand_over_all(struct xk_arch a, unsigned units)
{
	struct conn c[MAX_VPS];
	struct xk_errs *e = xk_errs_new();
	uint32_t want;

	a.burst = 1;
	make(a);
	for (unsigned i = 0; i < fx.set->nvps; i++) {
		xk_vp_enter_idle(fx.set->vp[i]);
		conn_start(&c[i], fx.set->vp[i], units);
		c[i].hook = post_many;
		xk_vp_leave_idle(fx.set->vp[i]);
	}
	want = units * fx.set->nvps * fx.set->nvps;
	if (a.schedule == XK_SCHED_VIRTUAL) {
		CU_ASSERT_FALSE(xk_vpset_run_virtual(fx.set, XK_SEC));
	} else {
		CU_ASSERT_EQUAL_FATAL(xk_vpset_start(fx.set, e), XK_OK);
		while (xk_load_acquire(&fx.total) != want)
			xk_thread_yield();
		xk_vpset_stop(fx.set);
	}
	CU_ASSERT_EQUAL(fx.total, want);
	CU_ASSERT_EQUAL(fx.overlap, 0);
	CU_ASSERT_EQUAL(sum_inbox_drops(), 0);
	for (unsigned i = 0; i < fx.set->nvps; i++)
		CU_ASSERT_EQUAL(fx.delivered[i], units * fx.set->nvps);
	unmake();
	xk_errs_free(e);
}

static void messages_between_vps_all_arrive_under_the_virtual_schedule(void)
{
	struct xk_arch a = arch_of("vppc", 20, 1);

	a.schedule = XK_SCHED_VIRTUAL;
	hand_over_all(a, 50);
}

static void messages_between_vps_all_arrive_with_own_entry(void)
{
	hand_over_all(arch_of("vppc", 20, 2), 50);
}

static void messages_between_vps_all_arrive_with_lock_entry(void)
{
	struct xk_arch a = arch_of("vppc", 20, 2);

	a.entry = XK_ENTRY_LOCK;
	hand_over_all(a, 50);
}

static const struct xk_lock_ops *const lock_kinds[] = {
	&xk_lock_mutex, &xk_lock_adaptive, &xk_lock_spin, &xk_lock_ticket, &xk_lock_mcs,
};

static void messages_between_vps_all_arrive_by_those_who_bring_them(void)
{
	for (unsigned i = 0; i < 2 * XK_ARRAY_LEN(lock_kinds); i++) {
		struct xk_arch a = arch_of("connp_l", 20, 2);

		a.lock = lock_kinds[i / 2];
		a.handover = i % 2 ? XK_HANDOVER_TRY : XK_HANDOVER_ENTER;
		a.schedule = i == 3 ? XK_SCHED_OS : a.schedule;
		a.workers = i == 3 ? 0 : a.workers;
		hand_over_all(a, 20);
	}
}

static void messages_between_vps_all_arrive_with_a_thread_per_vp(void)
{
	hand_over_all(arch_of("tpc", 12, 0), 50);
}

static void an_inbox_over_its_cap_drops_and_counts(void)
{
	struct xk_arch a = arch_of("vppc", 2, 1);
	struct xk_vp *from, *to;

	a.schedule = XK_SCHED_VIRTUAL;
	a.inbox = 10;
	make(a);
	from = fx.set->vp[0];
	to = fx.set->vp[1];
	for (unsigned i = 0; i < 30; i++) {
		xk_vp_enter_idle(from);
		xk_vp_post(to, xk_msg_new(10));
		xk_vp_leave_idle(from);
	}
	CU_ASSERT_EQUAL(from->inbox_drops, 20);
	xk_vpset_step(fx.set);
	CU_ASSERT_EQUAL(fx.delivered[1], 10);
	unmake();
}

/* Whoever posts reads how many were posted, is held up, and then reads how many were
 * taken: those are more. */
static void a_poster_that_was_held_up_between_two_loads_drops_nothing(void)
{
	struct xk_arch a = arch_of("vppc", 2, 1);
	struct xk_vp *from, *to;

	a.schedule = XK_SCHED_VIRTUAL;
	a.inbox = 10;
	make(a);
	from = fx.set->vp[0];
	to = fx.set->vp[1];
	to->inbox_taken = to->inbox_posted + 3;
	xk_vp_enter_idle(from);
	xk_vp_post(to, xk_msg_new(10));
	xk_vp_leave_idle(from);
	CU_ASSERT_EQUAL(from->inbox_drops, 0);
	to->inbox_taken -= 3;
	while (xk_vpset_step(fx.set))
		;
	CU_ASSERT_EQUAL(fx.delivered[1], 1);
	unmake();
}

static uint32_t last_seen, out_of_order;

static void check_order(struct xk_vp *vp, struct xk_msg *m)
{
	(void)vp;
	out_of_order += m->aux != last_seen + 1;
	last_seen = m->aux;
	xk_msg_free(m);
}

static void order_from_one_vp_to_another_is_kept(void)
{
	struct xk_arch a = arch_of("vppc", 2, 1);
	uint32_t next = 1;

	a.schedule = XK_SCHED_VIRTUAL;
	make(a);
	fx.set->deliver = check_order;
	last_seen = out_of_order = 0;
	for (unsigned batch = 1; batch < 40; batch++) {
		xk_vp_enter_idle(fx.set->vp[0]);
		for (unsigned i = 0; i < batch; i++) {
			struct xk_msg *m = xk_msg_new(1);

			m->aux = next++;
			xk_vp_post(fx.set->vp[1], m);
		}
		xk_vp_leave_idle(fx.set->vp[0]);
		if (batch % 3 == 0)
			xk_vpset_step(fx.set);
	}
	while (xk_vpset_step(fx.set) != 0)
		;
	CU_ASSERT_EQUAL(last_seen, next - 1);
	CU_ASSERT_EQUAL(out_of_order, 0);
	unmake();
}

/* ---- bringing ------------------------------------------------------------------------- */

struct series { struct xk_vpset *set; unsigned from, rounds; };
#define SENDERS 3u
static uint32_t series_seen[SENDERS], series_wrong, series_total;

/* Runs in VP SENDERS only: what each sender's messages say must count up. */
static void check_series(struct xk_vp *vp, struct xk_msg *m)
{
	unsigned from = m->aux >> 24;

	if (vp->no != SENDERS || (m->aux & 0xffffff) != ++series_seen[from])
		xk_atomic_add(&series_wrong, 1u);
	xk_msg_free(m);
	xk_atomic_add(&series_total, 1u);
}

static void send_three(struct xk_vp *vp, void *arg)
{
	uint32_t *next = arg;

	for (unsigned i = 0; i < 3; i++) {
		struct xk_msg *m = xk_msg_new(8);

		if (m == NULL)
			xk_panic(__FILE__, __LINE__, "no memory");
		m->aux = (uint32_t)vp->no << 24 | ++*next;
		xk_vp_post(vp->set->vp[SENDERS], m);
	}
}

static void send_series(void *arg)
{
	struct series *s = arg;
	uint32_t next = 0;

	for (unsigned i = 0; i < s->rounds; i++)
		xk_vp_do(s->set->vp[s->from], send_three, &next);
}

/* Borrowed threads bring what they find; each one's come in its order, in one VP at a time. */
static void bring_series(enum xk_handover h, unsigned inbox)
{
	struct xk_arch a = arch_of("connp_l", SENDERS + 1, 2);
	struct series s[SENDERS];
	struct xk_thread *t[SENDERS];
	struct xk_errs *e = xk_errs_new();
	const struct xk_vp *to;

	a.handover = h;
	a.inbox = inbox;
	make(a);
	to = fx.set->vp[SENDERS];
	fx.set->deliver = check_series;
	memset(series_seen, 0, sizeof series_seen);
	series_wrong = series_total = 0;
	CU_ASSERT_EQUAL_FATAL(xk_vpset_start(fx.set, e), XK_OK);
	for (unsigned i = 0; i < SENDERS; i++) {
		s[i] = (struct series){ fx.set, i, 500 };
		CU_ASSERT_EQUAL_FATAL(xk_thread_new(&t[i], "app", -1, send_series, &s[i]), XK_OK);
	}
	for (unsigned i = 0; i < SENDERS; i++)
		xk_thread_join(t[i]);
	while (xk_load_acquire(&series_total) != SENDERS * 500 * 3)
		xk_thread_yield();
	xk_vpset_stop(fx.set);
	CU_ASSERT_EQUAL(series_wrong, 0);
	CU_ASSERT_EQUAL(sum_inbox_drops(), 0);
	CU_ASSERT_EQUAL(to->handed_over, SENDERS * 500 * 3);
	CU_ASSERT(h == XK_HANDOVER_TRY || to->carried == to->handed_over);
	CU_ASSERT(to->carried <= to->handed_over);
	CU_ASSERT_EQUAL(to->inbox_posted, to->handed_over - to->carried);
	unmake();
	xk_errs_free(e);
}

static void who_finds_messages_of_another_vp_brings_them_in_order(void)
{
	bring_series(XK_HANDOVER_ENTER, 65536);
	bring_series(XK_HANDOVER_TRY, 65536);
}

/* With room for one only, who finds the VP busy and its inbox full waits for it. */
static void a_full_inbox_makes_the_bringer_wait_and_drops_nothing(void)
{
	bring_series(XK_HANDOVER_TRY, 1);
}

static void messages_between_stacks_in_one_queue_all_arrive(void)
{
	hand_over_all(arch_of("ips", 3, 3), 50);
	hand_over_all(arch_of("ips_conn", 20, 3), 50);
}

static CU_TestInfo tests[] = {
	{ "messages between VPs all arrive under the virtual schedule", messages_between_vps_all_arrive_under_the_virtual_schedule },
	{ "messages between VPs all arrive with own entry", messages_between_vps_all_arrive_with_own_entry },
	{ "messages between VPs all arrive with lock entry", messages_between_vps_all_arrive_with_lock_entry },
	{ "messages between VPs all arrive by those who bring them", messages_between_vps_all_arrive_by_those_who_bring_them },
	{ "messages between VPs all arrive with a thread per VP", messages_between_vps_all_arrive_with_a_thread_per_vp },
	{ "an inbox over its cap drops and counts", an_inbox_over_its_cap_drops_and_counts },
	{ "a poster that was held up between two loads drops nothing", a_poster_that_was_held_up_between_two_loads_drops_nothing },
	{ "order from one VP to another is kept", order_from_one_vp_to_another_is_kept },
	{ "who finds messages of another VP brings them in order", who_finds_messages_of_another_vp_brings_them_in_order },
	{ "a full inbox makes the bringer wait and drops nothing", a_full_inbox_makes_the_bringer_wait_and_drops_nothing },
	{ "messages between stacks in one queue all arrive", messages_between_stacks_in_one_queue_all_arrive },
	CU_TEST_INFO_NULL
};

static CU_SuiteInfo suites[] = {
	{ "handoff", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	xk_rcu_register();
	return xk_test_main(suites);
}
