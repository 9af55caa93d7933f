/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_stages.c - promises of the stages of a pipeline and of the queues between them: order,
 * growth and end of a queue; who stops at high and goes on at low; nothing lost or
 * counted twice when all of it stops, in whatever state it is.
 *
 * A pipeline of three stages: a source in the lowest, whose task passes numbered messages
 * up; a relay; a sink.  The middle and the top can be made slow or be kept from running.
 */
#include <string.h>

#include "runtime/vp/modes/vp_stage.h"
#include "runtime/vp/modes/vp_ring.h"
#include "tests/support/xk_test.h"
#include "tests/support/xk_test_graph.h"

/* ---- the queue ------------------------------------------------------------------------ */

static struct xk_hop hop_of(uintptr_t n) { return (struct xk_hop){ (struct xk_msg *)(n << 4 | 8), (void *)n }; }

static bool is_hop(const struct xk_hop *h, uintptr_t n)
{
	struct xk_hop want = hop_of(n);

	return h->m == want.m && h->s == want.s;
}

static unsigned blocks_of(const struct xk_ring *r)
{
	unsigned n = 0;

	for (const struct ring_block *b = r->out; b != NULL; b = b->next)
		n++;
	return n;
}

static void a_queue_gives_back_in_order_what_was_put_round_and_round(void)
{
	struct xk_ring *r = ring_new(32);
	uintptr_t in = 0, out = 0;
	struct xk_hop h;

	/* 64 places; 37 at a time pass the end at another place each time. */
	for (unsigned round = 0; round < 200; round++) {
		for (unsigned i = 0; i < 37; i++) {
			h = hop_of(++in);
			CU_ASSERT_FATAL(ring_put(r, h));
		}
		CU_ASSERT_FALSE(ring_take(r, &h));
		ring_publish(r);
		CU_ASSERT_EQUAL(ring_fill(r), 37);
		while (ring_take(r, &h))
			CU_ASSERT_FATAL(is_hop(&h, ++out));
		CU_ASSERT_EQUAL(ring_fill(r), 37);
		ring_took(r);
		CU_ASSERT_EQUAL(ring_fill(r), 0);
		CU_ASSERT_EQUAL_FATAL(in, out);
	}
	CU_ASSERT_EQUAL(blocks_of(r), 1);
	ring_free(r);
}

static void an_empty_queue_gives_nothing(void)
{
	struct xk_ring *r = ring_new(1);
	struct xk_hop h = hop_of(5);

	CU_ASSERT_FALSE(ring_take(r, &h));
	CU_ASSERT_TRUE(is_hop(&h, 5));
	CU_ASSERT_EQUAL(ring_fill(r), 0);
	CU_ASSERT_TRUE(ring_put(r, h));
	ring_publish(r);
	CU_ASSERT_TRUE(ring_take(r, &h));
	CU_ASSERT_FALSE(ring_take(r, &h));
	ring_free(r);
}

/* What one message turns into may be more than there is room for. */
static void a_full_queue_grows_by_a_block_and_gives_it_back(void)
{
	uint64_t before = xk_alloc_live();
	struct xk_ring *r = ring_new(8);
	uintptr_t out = 0;
	struct xk_hop h;

	for (uintptr_t n = 1; n <= 300; n++) {
		h = hop_of(n);
		CU_ASSERT_FATAL(ring_put(r, h));
	}
	ring_publish(r);
	CU_ASSERT_EQUAL(ring_fill(r), 300);
	CU_ASSERT_EQUAL(blocks_of(r), 5);
	while (ring_take(r, &h))
		CU_ASSERT_FATAL(is_hop(&h, ++out));
	CU_ASSERT_EQUAL(out, 300);
	CU_ASSERT_EQUAL(blocks_of(r), 1);
	ring_free(r);
	CU_ASSERT_EQUAL(xk_alloc_live(), before);
}

static void without_memory_a_full_queue_refuses_and_keeps_what_it_has(void)
{
	struct xk_ring *r = ring_new(8);
	uintptr_t out = 0, n;
	struct xk_hop h;

	for (n = 1; n <= 64; n++) {
		h = hop_of(n);
		CU_ASSERT_FATAL(ring_put(r, h));
	}
	h = hop_of(n);
	xk_mem_fail_after(1);
	CU_ASSERT_FALSE(ring_put(r, h));
	xk_mem_fail_after(0);
	CU_ASSERT_TRUE(ring_put(r, h));
	ring_publish(r);
	CU_ASSERT_EQUAL(ring_fill(r), 65);
	while (ring_take(r, &h))
		CU_ASSERT_FATAL(is_hop(&h, ++out));
	CU_ASSERT_EQUAL(out, 65);
	ring_free(r);
}

static void seek(struct xk_hop *h, void *arg)
{
	uintptr_t *n = arg;

	CU_ASSERT_TRUE(is_hop(h, ++*n));
}

static void all_that_waits_can_be_looked_at_over_blocks(void)
{
	struct xk_ring *r = ring_new(8);
	uintptr_t n = 10;
	struct xk_hop h;

	for (uintptr_t i = 1; i <= 150; i++) {
		h = hop_of(i);
		CU_ASSERT_FATAL(ring_put(r, h));
	}
	ring_publish(r);
	for (unsigned i = 0; i < 10; i++)
		CU_ASSERT_TRUE(ring_take(r, &h));
	ring_each(r, seek, &n);
	CU_ASSERT_EQUAL(n, 150);
	ring_free(r);
}

static struct { struct xk_ring *r; uintptr_t n; uint32_t wrong; } two;

static void put_all(void *arg)
{
	struct xk_hop h;

	(void)arg;
	for (uintptr_t n = 1; n <= two.n; n++) {
		h = hop_of(n);
		if (!ring_put(two.r, h))
			xk_atomic_add(&two.wrong, 1u);
		if (n % 7 == 0 || n == two.n)
			ring_publish(two.r);
		while (!ring_below(two.r, 200))      /* now and then more than a block */
			xk_thread_yield();
	}
}

static void take_all(void *arg)
{
	uintptr_t out = 0;
	struct xk_hop h;

	(void)arg;
	while (out < two.n) {
		if (!ring_take(two.r, &h)) {
			xk_thread_yield();
			continue;
		}
		if (!is_hop(&h, ++out))
			xk_atomic_add(&two.wrong, 1u);
		if (out % 5 == 0 || out == two.n)
			ring_took(two.r);
	}
}

static void two_threads_pass_everything_once_and_in_order(void)
{
	struct xk_thread *put, *take;

	two.r = ring_new(32);
	two.n = xk_test_rounds(100000);
	two.wrong = 0;
	CU_ASSERT_EQUAL_FATAL(xk_thread_new(&take, "take", -1, take_all, NULL), XK_OK);
	CU_ASSERT_EQUAL_FATAL(xk_thread_new(&put, "put", -1, put_all, NULL), XK_OK);
	xk_thread_join(put);
	xk_thread_join(take);
	CU_ASSERT_EQUAL(two.wrong, 0);
	CU_ASSERT_EQUAL(ring_fill(two.r), 0);
	ring_free(two.r);
}

/* ---- three stages ------------------------------------------------------------------------ */

#define HIGH  8u
#define LOW   2u

static struct {
	struct xk_vpset *set;
	uint64_t         before;
	struct xk_stage  *source, *relay, *sink;
	struct xk_task   task;
	uint32_t         made, limit, fan;       /* fan: messages the relay makes of one */
	uint32_t         relayed, sunk, answered, wrong;
	uint32_t         most;                   /* that were under way at a time */
	bool             answer;                 /* the sink answers each one */
	bool             holds;                  /* each end waits until the other is seen to wait */
	uint32_t         patience;               /* ms that were left when it was */
} fx;

static struct xk_msg *numbered(uint32_t n)
{
	struct xk_msg *m = xk_msg_new(sizeof n);

	if (m != NULL)
		memcpy(m->data, &n, sizeof n);
	return m;
}

static uint32_t number_of(const struct xk_msg *m)
{
	uint32_t n;

	memcpy(&n, m->data, sizeof n);
	return n;
}

/* Until a thread has counted that it waits. */
static void until_counted(xk_counter *ns)
{
	uint32_t left = 60000;

	while (xk_counter_read(*ns) == 0 && --left != 0)
		xk_thread_nap(XK_MS);
	if (fx.patience > left)
		xk_store_relaxed(&fx.patience, left);
}

static unsigned make_some(struct xk_task *t, unsigned budget)
{
	unsigned n = 0;

	if (fx.holds && fx.made == 0)
		until_counted(&fx.sink->vp->hops.empty_ns);
	while (n < budget && fx.made < fx.limit) {
		struct xk_msg *m = numbered(fx.made);

		if (m == NULL)
			break;
		xk_stage_put(fx.relay, m, NULL);
		fx.made++;
		n++;
	}
	if (fx.made == fx.limit)
		xk_task_park(t);
	return n;
}

static void relay(struct xk_msg *m)
{
	uint32_t n = number_of(m);

	if (n != fx.relayed++)
		xk_atomic_add(&fx.wrong, 1u);
	xk_stage_put(fx.sink, m, NULL);
	for (uint32_t i = 1; i < fx.fan; i++)
		xk_stage_put(fx.sink, numbered(n), NULL);
}

static void sink(struct xk_msg *m)
{
	if (number_of(m) != fx.sunk / fx.fan)
		xk_atomic_add(&fx.wrong, 1u);
	if (fx.holds && fx.sunk == 0)
		until_counted(&fx.source->vp->hops.full_ns);
	xk_store_release(&fx.sunk, fx.sunk + 1);
	if (fx.answer)
		xk_stage_put(fx.source, m, NULL);
	else
		xk_msg_free(m);
}

static void hop(struct xk_stage *l, struct xk_msg *m, void *s, bool up)
{
	(void)s;
	if (up != (l != fx.source))
		xk_atomic_add(&fx.wrong, 1u);
	if (l == fx.relay) {
		relay(m);
	} else if (l == fx.sink) {
		sink(m);
	} else {
		if (number_of(m) != fx.answered / fx.fan)
			xk_atomic_add(&fx.wrong, 1u);
		xk_store_release(&fx.answered, fx.answered + 1);
		xk_msg_free(m);
	}
}

static void make(enum xk_schedule schedule, uint32_t limit)
{
	struct xk_arch a = *xk_arch_find("lp");
	struct xk_mem_conf mem = { .limit = 64u << 20 };
	struct xk_errs *e;

	memset(&fx, 0, sizeof fx);
	fx.before = xk_alloc_live();
	e = xk_errs_new();
	a.schedule = schedule;
	a.layers = 3;
	a.vps = 1;
	a.high = HIGH;
	a.low = LOW;
	a.burst = 4;
	CU_ASSERT_EQUAL_FATAL(xk_vpset_new(&fx.set, &a, &mem, e), XK_OK);
	xk_errs_free(e);
	fx.set->hop = hop;
	fx.source = fx.set->all[0]->stage;
	fx.relay = fx.set->all[1]->stage;
	fx.sink = fx.set->all[2]->stage;
	fx.limit = limit;
	fx.fan = 1;
	xk_vp_enter_idle(fx.source->vp);
	xk_task_init(&fx.task, fx.source->vp, make_some);
	xk_task_ready(&fx.task);
	xk_vp_leave_idle(fx.source->vp);
}

static void unmake(void)
{
	CU_ASSERT_EQUAL(fx.wrong, 0);
	CU_ASSERT_EQUAL(xk_vpset_free(fx.set), 0);
	CU_ASSERT_EQUAL(xk_alloc_live(), fx.before);
}

/* One unit of a stage; the others stand still. */
static unsigned unit(struct xk_stage *l)
{
	unsigned done;

	xk_stage_enter(l);
	xk_vp_step_in(l->vp, 0);
	done = xk_stage_unit(l->vp, fx.set->arch.burst);
	xk_vp_step_out(l->vp);
	xk_stage_leave(l);
	return done;
}

static uint32_t fill(const struct xk_stage *to, const struct xk_stage *from) { return ring_fill(to->from[from->layer]); }

static void a_driver_is_stopped_at_high_and_goes_on_at_low(void)
{
	uint32_t made;

	make(XK_SCHED_VIRTUAL, 1000);
	for (unsigned i = 0; i < 20; i++)        /* nobody takes */
		unit(fx.source);
	made = fx.made;
	/* The look is before the unit, so a unit's messages may come on top. */
	CU_ASSERT_TRUE(made >= HIGH && made < HIGH + fx.set->arch.burst);
	CU_ASSERT_EQUAL(fill(fx.relay, fx.source), made);
	CU_ASSERT_EQUAL(xk_counter_read(fx.source->vp->hops.backpressure), 1);
	CU_ASSERT_TRUE(fx.source->vp->mode->blocked(fx.source->vp));
	/* Below high is not low yet. */
	while (fill(fx.relay, fx.source) > LOW + fx.set->arch.burst)
		unit(fx.relay);
	CU_ASSERT_TRUE_FATAL(fill(fx.relay, fx.source) > LOW && fill(fx.relay, fx.source) < HIGH);
	unit(fx.source);
	CU_ASSERT_EQUAL(fx.made, made);
	while (fill(fx.relay, fx.source) > LOW)
		unit(fx.relay);
	unit(fx.source);
	CU_ASSERT_EQUAL(fx.made, made + fx.set->arch.burst);
	unmake();
}

/* The sink stands still: the relay stops, then the source, and all they hold is two queues. */
static void a_slow_layer_stops_those_below_it_one_after_the_other(void)
{
	struct xk_stage_stats st;

	make(XK_SCHED_VIRTUAL, 1000);
	for (unsigned i = 0; i < 50; i++) {
		unit(fx.source);
		unit(fx.relay);
	}
	CU_ASSERT_EQUAL(fill(fx.sink, fx.relay), HIGH);
	CU_ASSERT_TRUE(fill(fx.relay, fx.source) >= HIGH && fill(fx.relay, fx.source) < HIGH + fx.set->arch.burst);
	CU_ASSERT_EQUAL(fx.made, fill(fx.sink, fx.relay) + fill(fx.relay, fx.source));
	for (unsigned i = 0; i < 2000 && fx.sunk < fx.limit; i++) {
		unit(fx.sink);
		unit(fx.relay);
		unit(fx.source);
	}
	CU_ASSERT_EQUAL(fx.sunk, 1000);
	xk_stage_stats(fx.relay->vp, &st);
	CU_ASSERT_EQUAL(st.layer, 1);
	CU_ASSERT_EQUAL(st.up, 1000);
	CU_ASSERT_EQUAL(st.forwarded, 1000);
	CU_ASSERT_TRUE(st.backpressure > 0);
	CU_ASSERT_TRUE(st.most >= HIGH && st.most < HIGH + fx.set->arch.burst);
	unmake();
}

static void deliver(struct xk_vp *vp, struct xk_msg *m)
{
	if (vp != fx.source->vp)
		xk_atomic_add(&fx.wrong, 1u);
	xk_stage_put(fx.relay, m, NULL);
}

/* What comes from another pipeline waits where it came in. */
static void what_others_send_waits_for_room_too(void)
{
	struct xk_vp *vp;

	make(XK_SCHED_VIRTUAL, 0);
	vp = fx.source->vp;
	fx.set->deliver = deliver;
	xk_vp_enter_idle(vp);
	for (uint32_t i = 0; i < 100; i++) {
		struct xk_msg *m = numbered(i);

		CU_ASSERT_FATAL(m != NULL && xk_vp_inbox_push(vp, m, m, 1));
	}
	xk_vp_leave_idle(vp);
	for (unsigned i = 0; i < 50; i++)        /* nobody takes */
		unit(fx.source);
	CU_ASSERT_TRUE(fill(fx.relay, fx.source) >= HIGH && fill(fx.relay, fx.source) < HIGH + fx.set->arch.burst);
	CU_ASSERT_EQUAL(xk_counter_read(vp->inbox_drops), 0);
	for (unsigned i = 0; i < 500 && fx.sunk < 100; i++) {
		unit(fx.source);
		CU_ASSERT_TRUE(fill(fx.relay, fx.source) < HIGH + fx.set->arch.burst);
		unit(fx.relay);
		unit(fx.sink);
	}
	CU_ASSERT_EQUAL(fx.sunk, 100);
	CU_ASSERT_EQUAL(fx.wrong, 0);
	unmake();
}

/* A message may become more than `high` allows: it goes through, and then its maker stops. */
static void what_one_message_becomes_is_never_cut(void)
{
	make(XK_SCHED_VIRTUAL, 40);
	fx.fan = 100;
	for (unsigned i = 0; i < 10; i++) {
		unit(fx.source);
		unit(fx.relay);
	}
	CU_ASSERT_EQUAL(fill(fx.sink, fx.relay), 100);
	for (unsigned i = 0; i < 5000 && fx.sunk < 4000; i++)
		(void)xk_vpset_step(fx.set);
	CU_ASSERT_EQUAL(fx.sunk, 4000);
	unmake();
}

/* Up and down at once: what goes down waits for what is below only, so no two wait for each other. */
static void full_queues_both_ways_do_not_block_each_other(void)
{
	make(XK_SCHED_VIRTUAL, 500);
	fx.answer = true;
	for (unsigned i = 0; i < 50; i++) {      /* the source takes no answer */
		xk_stage_enter(fx.source);
		xk_vp_step_in(fx.source->vp, 0);
		(void)make_some(&fx.task, fx.made < 60 ? 4 : 0);
		xk_vp_step_out(fx.source->vp);
		xk_stage_leave(fx.source);
		unit(fx.relay);
		unit(fx.sink);
	}
	CU_ASSERT_EQUAL(fill(fx.source, fx.sink), HIGH);
	for (unsigned i = 0; i < 5000 && fx.answered < 500; i++)
		(void)xk_vpset_step(fx.set);
	CU_ASSERT_EQUAL(fx.answered, 500);
	unmake();
}

static void await(const uint32_t *count, uint32_t n)
{
	while (xk_load_acquire(count) < n)
		xk_thread_yield();
}

static void start(void)
{
	struct xk_errs *e = xk_errs_new();

	CU_ASSERT_EQUAL_FATAL(xk_vpset_start(fx.set, e), XK_OK);
	xk_errs_free(e);
}

static void threads_pass_everything_once_and_in_order_through_small_queues(void)
{
	uint32_t n = (uint32_t)xk_test_rounds(20000);

	make(XK_SCHED_OS, n);
	fx.answer = true;
	start();
	await(&fx.answered, n);
	xk_vpset_stop(fx.set);
	CU_ASSERT_EQUAL(fx.made, n);
	CU_ASSERT_EQUAL(fx.sunk, n);
	CU_ASSERT_EQUAL(fx.answered, n);
	CU_ASSERT_EQUAL(xk_counter_read(fx.source->vp->hops.down), n);
	CU_ASSERT_EQUAL(xk_counter_read(fx.sink->vp->hops.up), n);
	CU_ASSERT_EQUAL(xk_stage_waiting(fx.source) + xk_stage_waiting(fx.relay) + xk_stage_waiting(fx.sink), 0);
	unmake();
}

/* Whatever was made has arrived, or waits in a queue; the end frees what waits, and a second
 * start goes on where the first one ended. */
static void a_stop_in_the_middle_loses_nothing_and_a_start_goes_on(void)
{
	uint32_t n = (uint32_t)xk_test_rounds(8000);

	make(XK_SCHED_OS, n);
	for (uint32_t part = 1; part <= 8; part++) {
		start();
		await(&fx.sunk, n / 8 * part);
		xk_vpset_stop(fx.set);
		CU_ASSERT_EQUAL(fx.made, fx.sunk + xk_stage_waiting(fx.relay) + xk_stage_waiting(fx.sink));
	}
	CU_ASSERT_EQUAL(fx.sunk, n);
	unmake();
}

/* The Condition objects of Schmidt and Suda: a thread that waits for room, and one that waits for messages. */
static void time_blocked_by_full_and_by_empty_queues_is_counted(void)
{
	struct xk_stage_stats source, sink;

	make(XK_SCHED_OS, 200);
	fx.holds = true;
	fx.patience = UINT32_MAX;
	start();
	await(&fx.sunk, 200);
	xk_vpset_stop(fx.set);
	CU_ASSERT_NOT_EQUAL(fx.patience, 0);
	xk_stage_stats(fx.source->vp, &source);
	xk_stage_stats(fx.sink->vp, &sink);
	CU_ASSERT(source.full_ns > 0);
	CU_ASSERT(sink.empty_ns > 0);
	/* The sink fills no queue. */
	CU_ASSERT_EQUAL(sink.full_ns, 0);
	unmake();
}

static struct xk_call control;
static uint32_t relayed_before;

static void note_order(struct xk_vp *vp, void *arg)
{
	(void)vp;
	(void)arg;
	relayed_before = fx.relayed;
}

/* What controls a layer is no message of its queue: a call overtakes what waits there, and who
 * asks for a drain first keeps the order. */
static void control_overtakes_data_or_keeps_the_order_as_is_asked(void)
{
	make(XK_SCHED_VIRTUAL, 4);
	unit(fx.source);
	CU_ASSERT_EQUAL(fill(fx.relay, fx.source), 4);
	control = (struct xk_call){ .fn = note_order };
	relayed_before = 99;
	xk_vp_call_async(fx.relay->vp, &control);
	unit(fx.relay);
	CU_ASSERT_EQUAL(relayed_before, 0);
	CU_ASSERT_EQUAL(fx.relayed, 4);
	unmake();

	make(XK_SCHED_VIRTUAL, 4);
	unit(fx.source);
	xk_stage_enter(fx.source);
	xk_vp_step_in(fx.source->vp, 0);
	xk_stage_exclusive();
	xk_stage_drain_up(fx.relay);
	CU_ASSERT_EQUAL(fx.relayed, 4);
	xk_vp_step_out(fx.source->vp);
	xk_stage_leave(fx.source);
	CU_ASSERT_EQUAL(fill(fx.sink, fx.relay), 4);
	unmake();
}

static void unit_at(struct xk_stage *l, xk_ns now)
{
	xk_stage_enter(l);
	xk_vp_step_in(l->vp, now);
	(void)xk_stage_unit(l->vp, 1);
	xk_vp_step_out(l->vp);
	xk_stage_leave(l);
}

static unsigned fired;
static void fires(struct xk_timer *t) { (void)t; fired++; }

/* The others go on while a layer's timer only waits. */
static void a_layer_is_alone_for_a_timer_that_is_due_and_no_other(void)
{
	static struct xk_timer timer;
	struct xk_stage_stats s;

	make(XK_SCHED_VIRTUAL, 0);
	fired = 0;
	xk_timer_init(&timer, fires);
	xk_stage_enter(fx.relay);
	xk_vp_step_in(fx.relay->vp, 0);
	xk_timer_set(&fx.relay->vp->wheel, &timer, 40 * XK_MS);
	xk_vp_step_out(fx.relay->vp);
	xk_stage_leave(fx.relay);
	for (xk_ns now = XK_MS; now < 40 * XK_MS; now += XK_MS)
		unit_at(fx.relay, now);
	xk_stage_stats(fx.relay->vp, &s);
	CU_ASSERT_EQUAL(s.exclusive, 0);
	CU_ASSERT_EQUAL(fired, 0);
	unit_at(fx.relay, 41 * XK_MS);
	xk_stage_stats(fx.relay->vp, &s);
	CU_ASSERT_EQUAL(s.exclusive, 1);
	CU_ASSERT_EQUAL(fired, 1);
	unmake();
}

static void an_end_with_full_queues_frees_what_waits(void)
{
	make(XK_SCHED_VIRTUAL, 1000);
	fx.fan = 70;                     /* more than one block of places */
	for (unsigned i = 0; i < 20; i++) {
		unit(fx.source);
		unit(fx.relay);
	}
	CU_ASSERT_EQUAL(xk_stage_waiting(fx.sink), 70);
	CU_ASSERT_TRUE(xk_stage_waiting(fx.relay) >= HIGH);
	unmake();                        /* counts buffers and memory */
}

#define T(f) { #f, f }
/* A neighbour has no more than its queue for a turn; a stranger takes a slice. */
static void who_gives_its_processor_to_a_stranger_sleeps_for_a_while(void)
{
	struct xk_crowd c = { 0 };
	xk_ns now = XK_SEC;

	CU_ASSERT(!xk_crowded(&c, now));
	xk_crowd_note(&c, now, now + 60 * XK_US);
	CU_ASSERT(!xk_crowded(&c, now + 60 * XK_US));
	xk_crowd_note(&c, now, now + 3 * XK_MS);
	now += 3 * XK_MS;
	CU_ASSERT(xk_crowded(&c, now));
	CU_ASSERT(xk_crowded(&c, now + XK_CROWD_FOR - 1));
	CU_ASSERT(!xk_crowded(&c, now + XK_CROWD_FOR));
	xk_crowd_note(&c, now, now + 60 * XK_US);
	CU_ASSERT(xk_crowded(&c, now + 60 * XK_US));
}

static CU_TestInfo ring_tests[] = {
	T(a_queue_gives_back_in_order_what_was_put_round_and_round),
	T(an_empty_queue_gives_nothing),
	T(a_full_queue_grows_by_a_block_and_gives_it_back),
	T(without_memory_a_full_queue_refuses_and_keeps_what_it_has),
	T(all_that_waits_can_be_looked_at_over_blocks),
	T(two_threads_pass_everything_once_and_in_order),
	CU_TEST_INFO_NULL
};

static CU_TestInfo stage_tests[] = {
	{ "who gives its processor to a stranger sleeps for a while", who_gives_its_processor_to_a_stranger_sleeps_for_a_while },
	T(a_driver_is_stopped_at_high_and_goes_on_at_low),
	T(a_slow_layer_stops_those_below_it_one_after_the_other),
	T(what_others_send_waits_for_room_too),
	T(what_one_message_becomes_is_never_cut),
	T(full_queues_both_ways_do_not_block_each_other),
	T(threads_pass_everything_once_and_in_order_through_small_queues),
	T(a_stop_in_the_middle_loses_nothing_and_a_start_goes_on),
	T(time_blocked_by_full_and_by_empty_queues_is_counted),
	T(control_overtakes_data_or_keeps_the_order_as_is_asked),
	T(a_layer_is_alone_for_a_timer_that_is_due_and_no_other),
	T(an_end_with_full_queues_frees_what_waits),
	CU_TEST_INFO_NULL
};

static CU_SuiteInfo suites[] = {
	{ "queues", NULL, NULL, NULL, NULL, ring_tests },
	{ "stages", NULL, NULL, NULL, NULL, stage_tests },
	CU_SUITE_INFO_NULL
};

int main(void) { return xk_test_main_rcu(suites); }
