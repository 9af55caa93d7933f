/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_io_threads.c - promises of I/O threads: connections are not mapped to them, each
 * has a worker; a pool shares one queue, its threads are made before the first message
 * and see a connection's messages in turn; each takes its message through the lock of
 * its connection; the order of arrival is kept where that is asked for, and what
 * overtakes is counted else; the table's lock is held or given back first.
 */
#include <CUnit/CUnit.h>
#include <dirent.h>
#include <string.h>
#include <unistd.h>

#include "runtime/vp/modes/vp_pool.h"
#include "tests/support/xk_test.h"
#include "tests/support/xk_test_graph.h"

#define CONNS 4u
#define MAX_IO_THREADS 8u

/* Virtual processors, and so locks, of the connections together. */
static unsigned nlocks = CONNS;

/* A message's first bytes: its sender's number and its number there. */
struct word { uint32_t from, no; };

static struct {
	struct xk_vpset *set;
	uint64_t  before;
	uint32_t  arrived;                       /* atomically */
	uint32_t  busy[CONNS + MAX_IO_THREADS];    /* threads inside; atomically */
	uint32_t  overlap;                       /* atomically */
	/* By connection, under the lock of its VP: */
	uint32_t  seen[CONNS], misplaced[CONNS], next[CONNS];
	uint64_t  io_threads[CONNS];               /* who brought them, a bit each */
	bool      drop_odd;                      /* an I/O thread finds no owner for these */
} fx;

static struct word word_of(const struct xk_msg *m)
{
	struct word w;

	memcpy(&w, m->data, sizeof w);
	return w;
}

/* On a connection's VP. */
static void arrive(struct xk_vp *vp, struct xk_msg *m, uint64_t io_thread)
{
	struct word w = word_of(m);

	CU_ASSERT_EQUAL(vp->no, w.from % nlocks);
	fx.misplaced[w.from] += w.no < fx.next[w.from];
	fx.next[w.from] = w.no;
	fx.seen[w.from]++;
	fx.io_threads[w.from] |= io_thread;
	xk_msg_free(m);
	xk_atomic_add(&fx.arrived, 1u);
}

static _Thread_local uint64_t io_thread_bit;

/* Message numbers of one owner rise in the queue: its one sender is VP 0's task. */
static void carry(struct xk_vp *vp, struct xk_msg *m)
{
	struct word w = word_of(m);

	io_thread_bit = 1ull << (vp->no - nlocks);
	if (fx.drop_odd && w.no % 2 != 0) {
		xk_msg_free(m);
		xk_atomic_add(&fx.arrived, 1u);
		return;
	}
	xk_vp_order_find(vp);
	xk_vp_table_read(vp);
	if (!vp->set->arch.hold)
		xk_vp_table_unread(vp);
	xk_vp_handoff(vp->set->vp[w.from % nlocks], m, vp->set->arch.hold);
	CU_ASSERT_EQUAL_FATAL(xk_vp_self, vp);
	io_thread_bit = 0;
}

static void deliver(struct xk_vp *vp, struct xk_msg *m)
{
	if (xk_atomic_add(&fx.busy[vp->no], 1u) != 0)
		xk_atomic_add(&fx.overlap, 1u);
	CU_ASSERT_EQUAL_FATAL(xk_vp_self, vp);
	if (xk_vp_is_io(vp))
		carry(vp, m);
	else
		arrive(vp, m, io_thread_bit);
	xk_atomic_add(&fx.busy[vp->no], (uint32_t)-1);
}

static void make(struct xk_arch a)
{
	struct xk_mem_conf mem = { .limit = 64u << 20 };
	struct xk_errs *e;

	memset(&fx, 0, sizeof fx);
	fx.before = xk_alloc_live();
	e = xk_errs_new();
	a.vps = (int)nlocks;
	a.seed = 7;
	CU_ASSERT_EQUAL_FATAL(xk_vpset_new(&fx.set, &a, &mem, e), XK_OK);
	fx.set->deliver = deliver;
	xk_errs_free(e);
}

static void unmake(void)
{
	CU_ASSERT_EQUAL(fx.overlap, 0);
	CU_ASSERT_EQUAL(xk_vpset_free(fx.set), 0);
	CU_ASSERT_EQUAL(xk_alloc_live(), fx.before);
}

static struct xk_msg *message(uint32_t from, uint32_t no)
{
	struct xk_msg *m = xk_msg_new(64);
	struct word w = { from, no };

	CU_ASSERT_PTR_NOT_NULL_FATAL(m);
	memcpy(m->data, &w, sizeof w);
	return m;
}

/* ---- a sender ------------------------------------------------------------------------ */

struct sender { struct xk_task task; uint32_t no, limit; };

/* One message for each connection. */
static unsigned send_run(struct xk_task *t, unsigned budget)
{
	struct sender *s = xk_container_of(t, struct sender, task);
	struct xk_vpset *set = t->vp->set;
	struct xk_vp *to = xk_vpset_pools(set) ? set->vp[set->nvps] : xk_vpset_io(set, 0);

	(void)budget;
	for (uint32_t i = 0; i < CONNS; i++)
		xk_vp_post(to, message(i, s->no));
	if (++s->no == s->limit)
		xk_task_park(t);
	return CONNS;
}

static void send_all(struct xk_arch a, uint32_t limit)
{
	struct sender s = { .limit = limit };
	struct xk_errs *e = xk_errs_new();

	make(a);
	xk_vp_enter_idle(fx.set->vp[0]);
	xk_task_init(&s.task, fx.set->vp[0], send_run);
	xk_task_ready(&s.task);
	xk_vp_leave_idle(fx.set->vp[0]);
	if (a.schedule == XK_SCHED_VIRTUAL) {
		xk_vpset_run_virtual(fx.set, XK_SEC);
	} else {
		CU_ASSERT_EQUAL_FATAL(xk_vpset_start(fx.set, e), XK_OK);
		while (xk_load_acquire(&fx.arrived) != limit * CONNS)
			xk_thread_yield();
		xk_vpset_stop(fx.set);
	}
	CU_ASSERT_EQUAL(fx.arrived, limit * CONNS);
	for (unsigned i = 0; i < fx.set->nvps; i++)
		CU_ASSERT_EQUAL(xk_counter_read(fx.set->vp[i]->inbox_drops), 0);
	xk_errs_free(e);
}

static uint64_t reordered(void)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < nlocks; i++)
		n += xk_counter_read(fx.set->vp[i]->reordered);
	return n;
}

static uint32_t misplaced(void)
{
	uint32_t n = 0;

	for (unsigned i = 0; i < CONNS; i++)
		n += fx.misplaced[i];
	return n;
}

/* ---- tests ------------------------------------------------------------------------------ */

static void an_io_thread_has_a_worker_and_no_connection(void)
{
	struct xk_arch a = *xk_arch_find("connp_l");

	a.io_threads = 3;
	a.workers = 2;
	make(a);
	CU_ASSERT_EQUAL(fx.set->nconn, CONNS);
	CU_ASSERT_EQUAL(fx.set->nvps, CONNS + 3);
	CU_ASSERT_EQUAL(fx.set->nworkers, 5);
	CU_ASSERT_FALSE(xk_vp_is_io(fx.set->vp[CONNS - 1]));
	for (unsigned i = 0; i < 3; i++) {
		const struct xk_vp *c = fx.set->vp[CONNS + i];

		CU_ASSERT(xk_vp_is_io(c));
		CU_ASSERT_PTR_EQUAL(c->worker, fx.set->worker[2 + i]);
		CU_ASSERT_PTR_EQUAL(xk_vpset_io(fx.set, i + 3), c);
	}
	unmake();
	a.io_threads = 1;                  /* one thread for all devices */
	make(a);
	CU_ASSERT_PTR_EQUAL(xk_vpset_io(fx.set, 0), xk_vpset_io(fx.set, 1));
	unmake();
	a.io_threads = 0;
	make(a);
	CU_ASSERT_PTR_NULL(xk_vpset_io(fx.set, 0));
	unmake();
}

static const struct xk_lock_ops *const kinds[] = {
	&xk_lock_mutex, &xk_lock_adaptive, &xk_lock_spin, &xk_lock_ticket, &xk_lock_mcs, &xk_lock_rw, NULL,
};

static void every_message_reaches_its_connection_once_under_every_table_lock(void)
{
	static const char *const presets[] = { "mp", "msgp", "locking" };

	for (unsigned p = 0; p < 3; p++)
		for (unsigned i = 0; i < XK_ARRAY_LEN(kinds); i++) {
			struct xk_arch a = *xk_arch_find(presets[p]);

			a.table = kinds[i];
			a.hold = a.hold && a.table != NULL;
			a.lock = kinds[i % 5];
			a.handover = i % 2 ? XK_HANDOVER_TRY : XK_HANDOVER_ENTER;
			a.io_threads = 3;
			send_all(a, 100);
			for (unsigned k = 0; k < CONNS; k++)
				CU_ASSERT_EQUAL(fx.seen[k], 100);
			unmake();
		}
}

/* A device has one I/O thread, so what it brings enters each connection in its order. */
static void msgp_keeps_the_order_of_each_connection(void)
{
	for (unsigned i = 0; i < XK_ARRAY_LEN(kinds); i++) {
		struct xk_arch a = *xk_arch_find("msgp");

		a.table = kinds[i];
		a.hold = a.hold && a.table != NULL;
		a.io_threads = 2 + i % 3;
		send_all(a, xk_test_rounds(500));
		CU_ASSERT_EQUAL(misplaced(), 0);
		unmake();
	}
}

static void a_pool_asked_for_the_order_of_arrival_keeps_it(void)
{
	for (unsigned i = 0; i < 4; i++) {
		struct xk_arch a = *xk_arch_find("mp");

		a.order = XK_ORDER_ARRIVAL;
		a.io_threads = 4;
		a.burst = i % 2 ? 5 : 1;
		a.handover = i < 2 ? XK_HANDOVER_ENTER : XK_HANDOVER_TRY;
		send_all(a, xk_test_rounds(500));
		CU_ASSERT_EQUAL(misplaced(), 0);
		CU_ASSERT_EQUAL(reordered(), 0);
		unmake();
	}
}

static void a_message_without_an_owner_does_not_stop_those_behind_it(void)
{
	struct sender s = { .limit = 200 };
	struct xk_arch a = *xk_arch_find("mp");
	struct xk_errs *e = xk_errs_new();

	a.io_threads = 3;
	a.order = XK_ORDER_ARRIVAL;
	make(a);
	fx.drop_odd = true;
	xk_vp_enter_idle(fx.set->vp[0]);
	xk_task_init(&s.task, fx.set->vp[0], send_run);
	xk_task_ready(&s.task);
	xk_vp_leave_idle(fx.set->vp[0]);
	CU_ASSERT_EQUAL_FATAL(xk_vpset_start(fx.set, e), XK_OK);
	while (xk_load_acquire(&fx.arrived) != 200 * CONNS)
		xk_thread_yield();
	xk_vpset_stop(fx.set);
	for (unsigned k = 0; k < CONNS; k++)
		CU_ASSERT_EQUAL(fx.seen[k], 100);
	CU_ASSERT_EQUAL(misplaced(), 0);
	unmake();
	xk_errs_free(e);
}

/* Two tickets, entered in the wrong order by hand: the later one first. */
static void a_message_that_is_overtaken_is_counted(void)
{
	struct xk_arch a = *xk_arch_find("locking");
	struct xk_vp *c;

	make(a);
	c = fx.set->vp[CONNS];
	xk_vp_enter_idle(c);
	c->ticket = 9;
	xk_vp_handoff(fx.set->vp[1], message(1, 1), false);
	CU_ASSERT_EQUAL(c->ticket, 0);
	CU_ASSERT_EQUAL(reordered(), 0);
	c->ticket = 8;
	xk_vp_handoff(fx.set->vp[1], message(1, 0), false);
	CU_ASSERT_EQUAL(reordered(), 1);
	CU_ASSERT_EQUAL(fx.misplaced[1], 1);
	c->ticket = 10;
	xk_vp_handoff(fx.set->vp[1], message(1, 2), false);
	CU_ASSERT_EQUAL(reordered(), 1);
	/* One that was kept back on its way has none. */
	xk_vp_handoff(fx.set->vp[1], message(1, 3), false);
	CU_ASSERT_EQUAL(reordered(), 1);
	xk_vp_leave_idle(c);
	unmake();
}

/* The table's lock, which tells when an I/O thread that held it has its connection's. */
static struct { struct xk_lock_ops ops; void (*then)(void); } told;

static void tell(struct xk_lock *l)
{
	xk_lock_mutex.rdunlock(l);
	if (told.then != NULL)
		told.then();
}

static void carry_second(void *arg)
{
	struct xk_vp *c = arg;

	xk_vp_enter_idle(c);
	c->ticket = 2;
	xk_vp_order_find(c);
	xk_vp_handoff(fx.set->vp[1], message(1, 1), false);
	xk_vp_leave_idle(c);
}

/* Another I/O thread with the next message of the connection, which finds it busy. */
static void second_comes(void)
{
	struct xk_thread *t;

	told.then = NULL;
	CU_ASSERT_EQUAL_FATAL(xk_thread_new(&t, "second", -1, carry_second, fx.set->vp[CONNS + 1]), XK_OK);
	xk_thread_join(t);
}

static void a_message_left_for_whoever_is_inside_does_not_overtake_his(void)
{
	struct xk_arch a = *xk_arch_find("mp");
	struct xk_vp *c;

	told.ops = xk_lock_mutex;
	told.ops.rdunlock = tell;
	told.then = second_comes;
	a.order = XK_ORDER_ARRIVAL;
	a.handover = XK_HANDOVER_TRY;
	a.table = &told.ops;
	a.hold = true;
	a.io_threads = 2;
	make(a);
	c = fx.set->vp[CONNS];
	xk_vp_enter_idle(c);
	c->ticket = 1;
	xk_vp_order_find(c);
	xk_vp_table_read(c);
	xk_vp_handoff(fx.set->vp[1], message(1, 0), true);
	CU_ASSERT_PTR_NULL(told.then);
	xk_vp_handoff(fx.set->vp[1], message(1, 2), false);
	CU_ASSERT_EQUAL(fx.seen[1], 3);
	CU_ASSERT_EQUAL(misplaced() + reordered(), 0);
	xk_vp_leave_idle(c);
	unmake();
}

/* Under the simulated clock each I/O thread has its turn: consecutive messages of one
 * connection are had by different ones. */
static void consecutive_messages_of_a_connection_have_different_io_threads(void)
{
	struct xk_arch a = *xk_arch_find("mp");

	a.schedule = XK_SCHED_VIRTUAL;
	a.io_threads = 3;
	a.order = XK_ORDER_ARRIVAL;
	send_all(a, 60);
	for (unsigned k = 0; k < CONNS; k++)
		CU_ASSERT(__builtin_popcountll(fx.io_threads[k]) > 1);
	CU_ASSERT_EQUAL(misplaced(), 0);
	unmake();
}

static unsigned threads(void)
{
	DIR *d = opendir("/proc/self/task");
	unsigned n = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(d);
	while (readdir(d) != NULL)
		n++;
	closedir(d);
	return n;
}

static void begin_sending(struct xk_vp *vp, void *arg)
{
	(void)vp;
	xk_task_ready(arg);
}

static void the_threads_of_a_pool_are_there_before_the_first_message(void)
{
	struct sender s = { .limit = 300 };
	struct xk_arch a = *xk_arch_find("mp");
	struct xk_errs *e = xk_errs_new();
	unsigned before;

	a.io_threads = 4;
	make(a);
	xk_task_init(&s.task, fx.set->vp[0], send_run);
	CU_ASSERT_EQUAL_FATAL(xk_vpset_start(fx.set, e), XK_OK);
	before = threads();
	xk_vp_do(fx.set->vp[0], begin_sending, &s.task);
	while (xk_load_acquire(&fx.arrived) != 300 * CONNS)
		xk_thread_yield();
	CU_ASSERT_EQUAL(threads(), before);
	xk_vpset_stop(fx.set);
	unmake();
	xk_errs_free(e);
}

/* Inside connection 1's VP: one message for it, whose I/O thread then waits for us. */
static void send_and_stay(struct xk_vp *vp, void *arg)
{
	struct xk_vpset *set = vp->set;
	struct xk_vp *io_thread = xk_vpset_io(set, 0);
	struct xk_lockstat own = { 0 };
	bool hold = *(bool *)arg, had = false;
	struct xk_msg *m = message(1, 0);

	/* Left at once, not when the unit ends. */
	m->link = NULL;
	CU_ASSERT_FATAL(xk_vp_inbox_push(io_thread, m, m, 1));
	while (xk_counter_read(io_thread->tablestat.taken) == 0)
		xk_thread_yield();
	/* It has had the lock once, and wants ours: does it have it still? */
	for (unsigned i = 0; !had && (!hold || i < 200); i++) {
		had = xk_lock_try(set->arch.table, &set->table, &own);
		xk_thread_yield();
	}
	CU_ASSERT_EQUAL(had, !hold);
	if (had)
		xk_lock_drop(set->arch.table, &set->table, &own);
}

static void the_table_is_held_while_a_connection_is_waited_for_or_not(void)
{
	for (unsigned i = 0; i < 2; i++) {
		struct xk_arch a = *xk_arch_find("msgp");
		struct xk_errs *e = xk_errs_new();
		bool hold = i != 0;

		a.io_threads = 1;
		a.hold = hold;
		make(a);
		CU_ASSERT_EQUAL_FATAL(xk_vpset_start(fx.set, e), XK_OK);
		xk_vp_do(fx.set->vp[1], send_and_stay, &hold);
		while (xk_load_acquire(&fx.arrived) != 1)
			xk_thread_yield();
		xk_vpset_stop(fx.set);
		unmake();
		xk_errs_free(e);
	}
}

/* ---- application threads ------------------------------------------------------------------ */

static struct { struct xk_vpset *set; bool inside; uint32_t got; } guest;

static void note_inside(struct xk_vp *vp, void *arg)
{
	(void)arg;
	guest.inside = xk_vp_self == vp;
}

static void enter_as_guest(void *arg)
{
	xk_vp_do(guest.set->vp[*(unsigned *)arg], note_inside, NULL);
	xk_store_release(&guest.got, 1u);
}

static bool guest_waits(unsigned i)
{
	xk_thread_yield();
	return i < 200;
}

static bool guest_gets_in(unsigned i)
{
	if (xk_load_acquire(&guest.got))
		return false;
	xk_thread_nap(XK_MS);
	return i < 20000;
}

/* Somebody has the table's lock, and a thread of an application wants to enter a VP, in so far as `goes_on`
 * lets it; how often the VP's table was taken in the end. */
static uint64_t enters(struct xk_arch a, unsigned vp, bool (*goes_on)(unsigned i), uint32_t got)
{
	struct xk_errs *e = xk_errs_new();
	struct xk_lockstat own = { 0 };
	struct xk_lock_counts c;
	struct xk_thread *t;

	make(a);
	guest.set = fx.set;
	guest.inside = false;
	guest.got = 0;
	CU_ASSERT_EQUAL_FATAL(xk_vpset_start(fx.set, e), XK_OK);
	xk_lock_take(a.table, &fx.set->table, &own);
	CU_ASSERT_EQUAL_FATAL(xk_thread_new(&t, "guest", -1, enter_as_guest, &vp), XK_OK);
	for (unsigned i = 0; goes_on(i); i++)
		;
	CU_ASSERT_EQUAL(xk_load_acquire(&guest.got), got);
	xk_lock_drop(a.table, &fx.set->table, &own);
	xk_thread_join(t);
	CU_ASSERT(guest.inside);
	xk_vpset_stop(fx.set);
	xk_lockstat_read(&fx.set->vp[vp]->tablestat, &c);
	unmake();
	xk_errs_free(e);
	return c.taken;
}

/* Does it wait for the table's lock (as in Willmann and others: who sends finds its connection in the table)? */
static void enters_by_table(bool hold)
{
	struct xk_arch a = *xk_arch_find("msgp");

	a.hold = hold;
	CU_ASSERT_EQUAL(enters(a, 2, hold ? guest_waits : guest_gets_in, hold ? 0 : 1), hold ? 1 : 0);
}

/* An I/O thread's lock comes before the table's: who enters one, to close what is there, takes no table. */
static void who_enters_an_io_thread_takes_no_table(void)
{
	CU_ASSERT_EQUAL(enters(*xk_arch_find("msgp"), CONNS, guest_gets_in, 1), 0);
}

static void an_application_thread_takes_the_table_where_it_is_held(void) { enters_by_table(true); }
static void and_not_where_io_threads_give_it_back_first(void) { enters_by_table(false); }

/* Nothing but what it holds is lost when a set goes with its queue full. */
static void what_waits_in_the_queue_is_freed_with_it(void)
{
	struct xk_arch a = *xk_arch_find("mp");

	a.inbox = 8;
	make(a);
	xk_vp_enter_idle(fx.set->vp[0]);
	for (uint32_t i = 0; i < 8; i++)
		xk_vp_post(fx.set->vp[fx.set->nvps], message(0, i));
	xk_vp_leave_idle(fx.set->vp[0]);
	CU_ASSERT_EQUAL(xk_vpset_backlog(fx.set), 8);
	CU_ASSERT_EQUAL(xk_counter_read(fx.set->vp[0]->inbox_drops), 0);
	xk_vp_enter_idle(fx.set->vp[1]);
	xk_vp_post(fx.set->vp[fx.set->nvps], message(0, 8));
	xk_vp_leave_idle(fx.set->vp[1]);
	CU_ASSERT_EQUAL(xk_vpset_backlog(fx.set), 8);
	CU_ASSERT_EQUAL(xk_counter_read(fx.set->vp[1]->inbox_drops), 1);
	unmake();
}

/* Two per message, and one for each time the queue is asked. */
static void locks_are_counted_by_what_they_guard(void)
{
	struct xk_arch a = *xk_arch_find("mp");
	struct xk_lock_counts c, sum = { 0 }, table = { 0 }, queue;

	a.schedule = XK_SCHED_VIRTUAL;
	a.io_threads = 2;
	send_all(a, 50);
	for (unsigned i = 0; i < fx.set->nvps; i++) {
		xk_lockstat_read(&fx.set->vp[i]->lockstat, &c);
		xk_lock_counts_add(&sum, &c, 1);
		xk_lockstat_read(&fx.set->vp[i]->tablestat, &c);
		xk_lock_counts_add(&table, &c, 1);
	}
	xk_vpset_queue_locks(fx.set, &queue);
	CU_ASSERT_EQUAL(sum.taken, 50 * CONNS);
	CU_ASSERT_EQUAL(table.taken, 50 * CONNS);
	CU_ASSERT(queue.taken >= 50 * CONNS);
	CU_ASSERT_EQUAL(sum.contended + table.contended + queue.contended, 0);
	unmake();
}

static uint64_t locks_of_connections(void)
{
	struct xk_lock_counts c;
	uint64_t taken = 0;

	for (unsigned i = 0; i < nlocks; i++) {
		xk_lockstat_read(&fx.set->vp[i]->lockstat, &c);
		taken += c.taken;
	}
	return taken;
}

/* Finer locks cost a message no more, and coarser ones no order. */
static void one_few_or_many_locks_keep_each_connections_order(void)
{
	for (nlocks = 1; nlocks <= CONNS; nlocks *= 2)
		for (unsigned i = 0; i < 6; i++) {
			struct xk_arch a = *xk_arch_find("mp");

			a.order = XK_ORDER_ARRIVAL;
			a.burst = i % 2 ? 5 : 1;
			a.handover = i % 4 < 2 ? XK_HANDOVER_ENTER : XK_HANDOVER_TRY;
			a.schedule = i < 4 ? a.schedule : XK_SCHED_VIRTUAL;
			send_all(a, xk_test_rounds(300));
			for (unsigned k = 0; k < CONNS; k++)
				CU_ASSERT_EQUAL(fx.seen[k], xk_test_rounds(300));
			CU_ASSERT_EQUAL(misplaced(), 0);
			CU_ASSERT_EQUAL(reordered(), 0);
			if (a.schedule == XK_SCHED_VIRTUAL)
				CU_ASSERT_EQUAL(locks_of_connections(), xk_test_rounds(300) * CONNS);
			unmake();
		}
	nlocks = CONNS;
}

/* The same function, its lock another word. */
static uint64_t atomics_of_a_message(const struct xk_lock_ops *table)
{
	struct xk_arch a = *xk_arch_find("msgp");
	uint64_t before;
	struct xk_vp *c;

	a.table = table;
	a.hold = false;
	make(a);
	c = fx.set->vp[CONNS];
	xk_vp_enter_idle(c);
	before = xk_atomics_count();
	xk_vp_table_read(c);
	xk_vp_table_unread(c);
	before = xk_atomics_count() - before;
	xk_vp_leave_idle(c);
	unmake();
	return before;
}

static void without_a_table_lock_no_locked_operation_is_made_for_it(void)
{
	CU_ASSERT_EQUAL(atomics_of_a_message(NULL), 0);
	if (!xk_atomics_counted())
		return;
	CU_ASSERT_EQUAL(atomics_of_a_message(&xk_lock_mutex), 2);
	CU_ASSERT_EQUAL(atomics_of_a_message(&xk_lock_rw), 2);
	CU_ASSERT_EQUAL(atomics_of_a_message(&xk_lock_spin), 1);
}

static void refuses(struct xk_arch a, const char *word)
{
	char why[256] = "";

	CU_ASSERT_EQUAL(xk_arch_check(&a, why, sizeof why), XK_E_INVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, word));
}

static void what_cannot_be_shared_is_refused_with_the_reason(void)
{
	const struct xk_arch *mp = xk_arch_find("mp"), *conn = xk_arch_find("connp_l");
	struct xk_arch a;

	a = *mp, a.entry = XK_ENTRY_OWN, a.handover = XK_HANDOVER_POST, refuses(a, "entry");
	a = *mp, a.io_threads = 0, refuses(a, "io_threads");
	a = *mp, a.io_threads = 65, refuses(a, "64");
	a = *mp, a.handover = XK_HANDOVER_POST, refuses(a, "handover");
	a = *mp, a.table = NULL, a.hold = true, refuses(a, "hold");
	a = *mp, a.inbound = XK_INBOUND_DEVICE, a.order = XK_ORDER_ARRIVAL, refuses(a, "order");
	a = *conn, a.datagrams = XK_DATAGRAMS_ANYWHERE, refuses(a, "datagrams");
	a = *conn, a.objects = XK_OBJECTS_LAYER, refuses(a, "object_locks");
	a = *conn, a.inbound = XK_INBOUND_POOL, refuses(a, "pool");
	a = *conn, a.table = &xk_lock_mutex, refuses(a, "table");
}

/* ---- who starts ------------------------------------------------------------------------- */

/* I/O threads that had a message, of 40 that each came when all of four were free. */
static unsigned started(enum xk_affinity affinity, enum xk_pick pick)
{
	struct xk_arch a = *xk_arch_find("mp");
	struct xk_affinity_counts c;
	uint64_t bits, same;

	a.io_threads = 4;
	a.affinity = affinity;
	a.pick = pick;
	make(a);
	for (uint32_t i = 0; i < 40; i++) {
		xk_vp_enter_idle(fx.set->vp[0]);
		xk_vp_post(fx.set->vp[fx.set->nvps], message(0, i));
		xk_vp_leave_idle(fx.set->vp[0]);
		while (xk_vpset_step(fx.set) != 0)
			;
		CU_ASSERT_EQUAL(fx.set->pool_queue->nspare, 4);
	}
	CU_ASSERT_EQUAL(fx.seen[0], 40);
	bits = fx.io_threads[0];
	/* Whoever starts again was the last to run, and carried the connection's message before. */
	same = __builtin_popcountll(bits) == 1 ? 39 : 0;
	xk_vpset_affinity(fx.set, &c);
	CU_ASSERT_EQUAL(c.hits, same);
	CU_ASSERT_EQUAL(c.moves, 39 - same);
	CU_ASSERT_EQUAL(c.starts, 40);
	CU_ASSERT_EQUAL(c.code_hits, same);
	CU_ASSERT_EQUAL(c.code_moves, 40 - same);
	CU_ASSERT_EQUAL(xk_hist_count(c.away), 40);
	CU_ASSERT(c.away_ns > 0);
	unmake();
	return (unsigned)__builtin_popcountll(bits);
}

static void who_starts_is_what_the_affinity_says(void)
{
	CU_ASSERT_EQUAL(started(XK_AFFINITY_ANY, XK_PICK_MRU), 4);       /* each in its turn */
	CU_ASSERT_EQUAL(started(XK_AFFINITY_CODE, XK_PICK_MRU), 1);
	CU_ASSERT_EQUAL(started(XK_AFFINITY_CODE, XK_PICK_LOW), 1);
	CU_ASSERT_EQUAL(started(XK_AFFINITY_NONE, XK_PICK_LRU), 4);
}

static CU_TestInfo tests[] = {
	{ "an I/O thread has a worker and no connection", an_io_thread_has_a_worker_and_no_connection },
	{ "every message reaches its connection once under every table lock", every_message_reaches_its_connection_once_under_every_table_lock },
	{ "msgp keeps the order of each connection", msgp_keeps_the_order_of_each_connection },
	{ "a pool asked for the order of arrival keeps it", a_pool_asked_for_the_order_of_arrival_keeps_it },
	{ "a message without an owner does not stop those behind it", a_message_without_an_owner_does_not_stop_those_behind_it },
	{ "a message that is reordered is counted", a_message_that_is_overtaken_is_counted },
	{ "a message left for whoever is inside does not overtake his", a_message_left_for_whoever_is_inside_does_not_overtake_his },
	{ "consecutive messages of a connection have different I/O threads", consecutive_messages_of_a_connection_have_different_io_threads },
	{ "the threads of a pool are there before the first message", the_threads_of_a_pool_are_there_before_the_first_message },
	{ "the table is held while a connection is waited for or not", the_table_is_held_while_a_connection_is_waited_for_or_not },
	{ "an application thread takes the table where it is held", an_application_thread_takes_the_table_where_it_is_held },
	{ "who enters an I/O thread takes no table", who_enters_an_io_thread_takes_no_table },
	{ "and not where I/O threads give it back first", and_not_where_io_threads_give_it_back_first },
	{ "what waits in the queue is freed with it", what_waits_in_the_queue_is_freed_with_it },
	{ "locks are counted by what they guard", locks_are_counted_by_what_they_guard },
	{ "one, few or many locks keep each connection's order", one_few_or_many_locks_keep_each_connections_order },
	{ "without a table lock no locked operation is made for it", without_a_table_lock_no_locked_operation_is_made_for_it },
	{ "what cannot be shared is refused with the reason", what_cannot_be_shared_is_refused_with_the_reason },
	{ "who starts is what the affinity says", who_starts_is_what_the_affinity_says },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = { { .pName = "io_threads", .pTests = tests }, CU_SUITE_INFO_NULL };

int main(void) { return xk_test_main_rcu(suites); }
