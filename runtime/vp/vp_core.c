/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_core.c - what happens inside a virtual processor: tasks, the inbox, and
 * one unit of work.
 *
 * A unit is: due timers (where time is real, after what had come in before
 * them), posted calls, some messages of the inbox, one turn of the next task,
 * then everything that was collected for other VPs is handed over in batches.
 * Between two units anybody else may be the thread inside.
 * Being inside is an RCU read section.
 * Invariant: a message posted to a VP is run there, or dropped and counted.
 */
#include "runtime/vp/vp_lane.h"
#include "runtime/vp/vp_priv.h"
#include "runtime/vp/vp_ult.h"

#include <limits.h>
#include <sched.h>

#include "runtime/sync/xk_sync.h"

#define CATCH_UP       1024u     /* messages that a due timer waits for */
#define CATCH_UP_TASKS 4u         /* devices that are read for it */
#define CATCH_UP_LOOK  256u      /* tasks among which these are looked for */

_Thread_local struct xk_vp *xk_vp_self __attribute__((tls_model("initial-exec")));

/* ---- tasks ------------------------------------------------------------------ */

void xk_task_init(struct xk_task *t, struct xk_vp *vp, unsigned (*run)(struct xk_task *, unsigned))
{
	t->next = t->prev = NULL;
	t->vp = vp;
	t->run = run;
	t->fd = -1;
	t->input = false;
	t->ahead = t;
	t->beyond = NULL;
}

void xk_task_ready(struct xk_task *t)
{
	struct xk_vp *vp = t->vp;
	struct xk_task **ring = &vp->ring[t->input];

	xk_dassert(vp->no == xk_vp_no);
	if (t->next != NULL)
		return;
	if (*ring == NULL) {
		t->next = t->prev = t;
		*ring = t;
	} else {                         /* last in turn: just before the current one */
		t->next = *ring;
		t->prev = (*ring)->prev;
		t->prev->next = t->next->prev = t;
	}
	vp->npolling += t->fd >= 0;
	vp->nready++;
	vp->ninput += t->input;
}

void xk_task_park(struct xk_task *t)
{
	struct xk_vp *vp = t->vp;
	struct xk_task **ring = &vp->ring[t->input];

	xk_dassert(vp->no == xk_vp_no);
	if (t->next == NULL)
		return;
	if (t->next == t) {
		*ring = NULL;
	} else {
		t->prev->next = t->next;
		t->next->prev = t->prev;
		if (*ring == t)
			*ring = t->next;
	}
	t->next = t->prev = NULL;
	vp->npolling -= t->fd >= 0;
	vp->nready--;
	vp->ninput -= t->input;
}

/* With thousands of connections, each turn's are cold, and one line says where the
 * next one is: a task is fetched three turns before its own, what it says that
 * it needs two before, what that points at one before. */
static inline void fetch_ahead(const struct xk_task *next)
{
	const struct xk_task *second = next->next;

	vp_fetch_task(second->next);
	vp_fetch_first(second);
	vp_fetch_beyond(next);
}

static inline unsigned run_task(struct xk_vp *vp, struct xk_task *t, unsigned budget)
{
	vp->ring[t->input] = t->next;    /* before the run: parking then keeps the turn right */
	fetch_ahead(t->next);
	return t->run(t, budget);
}

/* One turn of the task whose turn it is.  It may park itself or free itself. */
static inline unsigned vp_run_task(struct xk_vp *vp, unsigned budget)
{
	struct xk_task *t = vp->ring[0], *input = vp->ring[1];
	unsigned done;

	if (input != NULL && (vp->input_due != 0 || t == NULL)) {
		vp->input_due -= vp->input_due != 0;
		return run_task(vp, input, budget);
	}
	if (t == NULL)
		return 0;
	done = run_task(vp, t, budget);
	vp->input_due = 2 * vp->ninput;
	return done;
}

/* ---- posting ------------------------------------------------------------------ */

static void msgs_free(struct xk_msg *m)
{
	while (m != NULL) {
		struct xk_msg *next = m->link;

		xk_msg_free(m);
		m = next;
	}
}

/*
 * Pushes a chain, newest first, onto a VP's inbox.  The cap may be passed by
 * one batch per sender: it bounds memory, it does not meter.  Returns false
 * when the inbox was full.
 */
bool xk_vp_inbox_push(struct xk_vp *to, struct xk_msg *newest, struct xk_msg *oldest, uint32_t n)
{
	struct xk_msg *head = xk_load_relaxed(&to->inbox);
	uint32_t posted = xk_load_acquire(&to->inbox_posted), taken = xk_load_relaxed(&to->inbox_taken);

	/* A thread that was held up between the two loads sees more taken than posted. */
	if ((int32_t)(posted - taken) >= 0 && posted - taken >= to->set->arch.inbox)
		return false;
	xk_atomic_add(&to->inbox_posted, n);
	do
		oldest->link = head;
	while (!xk_atomic_cas(&to->inbox, &head, newest));
	if (head == NULL)
		xk_vp_kick(to);
	return true;
}

static void vp_flush_one(struct xk_vp *vp, unsigned i)
{
	struct xk_vp *to = vp->set->lane[vp->out[i].to];
	uint32_t n = vp->out[i].n;

	/* Ours no more once pushed: count first. */
	if (xk_vp_brings(vp->set) && !xk_vp_is_carrier(to) && xk_vp_bring(to, vp->out[i].first, vp->out[i].last, n)) {
		xk_count_add(vp->posted_out, n);
	} else if (xk_vp_inbox_push(to, vp->out[i].first, vp->out[i].last, n)) {
		xk_count_add(vp->posted_out, n);
	} else {
		xk_count_add(vp->inbox_drops, n);
		vp->out[i].last->link = NULL;
		msgs_free(vp->out[i].first);
	}
}

static void vp_flush(struct xk_vp *vp)
{
	for (unsigned i = 0; i < vp->nout; i++)
		vp_flush_one(vp, i);
	vp->nout = 0;
	if (vp->mem.nforeign != 0)
		xk_memvp_flush(&vp->mem);
}

static void vp_collect(struct xk_vp *me, struct xk_vp *to, struct xk_msg *m)
{
	unsigned i;

	for (i = 0; i < me->nout; i++)
		if (me->out[i].to == to->at && me->out[i].n < UINT16_MAX)
			break;
	if (i == XK_OUTBOX) {         /* as many destinations as we keep apart */
		vp_flush(me);
		i = 0;
	}
	if (i == me->nout) {
		me->out[i].to = to->at;
		me->out[i].n = 0;
		me->out[i].first = NULL;
		me->out[i].last = m;
		me->nout++;
	}
	m->link = me->out[i].first;
	me->out[i].first = m;
	me->out[i].n++;
}

void xk_vp_post(struct xk_vp *to, struct xk_msg *m)
{
	struct xk_vp *me = xk_vp_self;

	if (me == to) {
		xk_msgq_put(&me->local, m);
		return;
	}
	xk_assert(me != NULL);
	/* Plain reference counts do not cross: what is shared is copied. */
	if (XK_UNLIKELY(m->flags & XK_MSG_SLOW)) {
		m = xk_msg_own(m);
		if (m == NULL) {
			xk_count(me->inbox_drops);
			return;
		}
	}
	vp_collect(me, to, m);
}

/* ---- one unit ------------------------------------------------------------------- */

/* Puts a chain, newest first, at the tail of the local queue in its order; returns how many. */
static uint32_t vp_take_chain(struct xk_vp *vp, struct xk_msg *m)
{
	uint32_t n = vp_put_in_order(&vp->local, m);

	xk_count_add(vp->handed_over, n);
	return n;
}

static void vp_take_inbox(struct xk_vp *vp)
{
	uint32_t n = vp_take_chain(vp, xk_atomic_xchg(&vp->inbox, NULL));

	xk_store_relaxed(&vp->inbox_taken, vp->inbox_taken + n);
}

static void vp_run_calls(struct xk_vp *vp)
{
	struct xk_call *c = xk_atomic_xchg(&vp->calls, NULL), *rev = NULL;

	while (c != NULL) {
		struct xk_call *next = c->next;

		c->next = rev;
		rev = c;
		c = next;
	}
	while (rev != NULL) {
		struct xk_event *done = rev->done;
		struct xk_call *next = rev->next;

		c = rev;
		c->fn(vp, c->arg);       /* without a waiter, c may be gone now */
		if (done != NULL) {
			/* c is the waiter's again; the event stays (xk_guest_call_event). */
			xk_store_release(&c->finished, 1);
			xk_event_wake(done);
		}
		rev = next;
	}
}

static unsigned vp_run_local(struct xk_vp *vp, unsigned budget)
{
	/* What arrives meanwhile waits for the next unit: a deferral must end. */
	unsigned n = vp->local.n < budget ? vp->local.n : budget;

	for (unsigned i = 0; i < n; i++)
		vp->set->deliver(vp, xk_msgq_get(&vp->local));
	return n;
}

/* What others left for us, and what waits since the last unit. */
static XK_NOINLINE unsigned vp_run_waiting(struct xk_vp *vp, unsigned budget)
{
	unsigned done = 0;

	if (xk_load_relaxed(&vp->calls) != NULL) {
		vp_run_calls(vp);
		done++;
	}
	if (xk_load_relaxed(&vp->inbox) != NULL)
		vp_take_inbox(vp);
	return done + vp_run_local(vp, budget);
}

/* Did others leave something, or did we?  One test: it is made for each unit,
 * and a unit may be one message. */
static inline bool vp_has_waiting(const struct xk_vp *vp)
{
	return ((uintptr_t)xk_load_relaxed(&vp->inbox) | (uintptr_t)xk_load_relaxed(&vp->calls) | vp->local.n) != 0;
}

/* A unit without its timers: the time has not changed since they were run. */
static inline unsigned vp_unit_now(struct xk_vp *vp, unsigned budget)
{
	unsigned done = 0;

	if (XK_UNLIKELY(vp_has_waiting(vp)))
		done = vp_run_waiting(vp, budget);
	done += vp_run_task(vp, budget);
	if (XK_UNLIKELY((vp->nout | vp->mem.nforeign) != 0))
		vp_flush(vp);
	return done;
}

/*
 * What came in while this worker slept or was not run may be just what a timer
 * waits for, so it is taken first: a retransmission because nobody looked at the
 * acknowledgement is our fault, not the network's.  Bounded, so that a flood does
 * not hold up the timers, and only where time is real: a simulated clock does not run on
 * while messages wait, and what comes in on a timer's tick comes after it under
 * every architecture.
 */
static XK_NOINLINE unsigned vp_catch_up(struct xk_vp *vp, unsigned budget)
{
	struct xk_task *dev[CATCH_UP_TASKS], *t = vp->ring[0];
	unsigned ndev = 0, done = 0, n;

	/* Bounded, too: a device may stand behind thousands of senders. */
	for (unsigned k = 0; ndev < vp->npolling && ndev < CATCH_UP_TASKS && k < CATCH_UP_LOOK; k++, t = t->next)
		if (t->fd >= 0)
			dev[ndev++] = t;
	for (unsigned i = 0; i < ndev; i++)
		/* A task without a place in the ring was parked meanwhile. */
		while (dev[i]->next != NULL && done < CATCH_UP && (n = dev[i]->run(dev[i], budget)) != 0)
			done += n;
	while (vp_has_waiting(vp) && done < 2 * CATCH_UP)
		done += vp_run_waiting(vp, budget);
	return done;
}

static inline unsigned vp_run_timers(struct xk_vp *vp, unsigned budget)
{
	unsigned done = 0;

	if (vp->wheel.armed == 0 ||
	    (vp->now / XK_WHEEL_TICK <= vp->wheel.tick && vp->wheel.due == NULL))
		return 0;
	if (!vp->set->clock.is_virtual && (vp->npolling != 0 || vp_has_waiting(vp)))
		done = vp_catch_up(vp, budget);
	return done + xk_wheel_run(&vp->wheel, vp->now, 64);
}

void xk_vp_take_brought(struct xk_vp *vp, struct xk_msg *newest)
{
	/* What was left here before comes first: order within a connection. */
	if (xk_load_relaxed(&vp->inbox) != NULL)
		vp_take_inbox(vp);
	xk_count_add(vp->carried, vp_take_chain(vp, newest));
}

void xk_vp_run_brought(struct xk_vp *vp)
{
	unsigned done = vp_run_local(vp, UINT_MAX);

	vp_flush(vp);
	xk_count(vp->units);
	xk_count_add(vp->messages, done);
}

unsigned xk_vp_unit(struct xk_vp *vp, unsigned budget)
{
	unsigned done = vp_run_timers(vp, budget);

	done += vp_unit_now(vp, budget);
	xk_count(vp->units);
	xk_count_add(vp->messages, done);
	return done;
}

unsigned xk_vp_turn(struct xk_vp *vp, unsigned budget, int32_t *deficit, bool *idle)
{
	int32_t had = *deficit, left = had - (int32_t)vp_run_timers(vp, budget);
	unsigned units = 0, total, n;

	do {
		n = vp_unit_now(vp, budget);
		left -= (int32_t)n;
		units++;
	} while (n != 0 && left > 0);
	total = (unsigned)(had - left);
	*deficit = left - (n == 0);      /* a unit without work costs its turn, too */
	*idle = n == 0;
	xk_count_add(vp->units, units);
	xk_count_add(vp->messages, total);
	return total;
}

bool xk_vp_busy(const struct xk_vp *vp)
{
	return vp->nready != 0 || vp->local.n != 0 || xk_load_relaxed(&vp->inbox) != NULL ||
	       xk_load_relaxed(&vp->calls) != NULL || (vp->lane != NULL && xk_lane_ready(vp->lane));
}

bool xk_vp_timers_due(const struct xk_vp *vp)
{
	return vp->wheel.armed != 0 && (vp->now / XK_WHEEL_TICK > vp->wheel.tick || vp->wheel.due != NULL);
}

unsigned xk_vp_run_left(struct xk_vp *vp, unsigned budget)
{
	return vp_has_waiting(vp) ? vp_run_waiting(vp, budget) : 0;
}

unsigned xk_vp_run_one(struct xk_vp *vp, unsigned budget)
{
	return vp_run_task(vp, budget);
}

void xk_vp_hand_over(struct xk_vp *vp)
{
	if ((vp->nout | vp->mem.nforeign) != 0)
		vp_flush(vp);
}

/* ---- who is inside ------------------------------------------------------------------ */

void xk_vp_step_in(struct xk_vp *vp, xk_ns now)
{
	xk_assert(!vp->inside && xk_vp_self == NULL);
	vp->inside = true;
	/* A worker's time is its round's; a borrowed thread may have brought a later one. */
	if (XK_LIKELY(now > vp->now))
		vp->now = now;
	xk_vp_self = vp;
	xk_mem_self = &vp->mem;
	xk_vp_no = vp->no;
	xk_rcu_read_lock();
}

void xk_vp_step_out(struct xk_vp *vp)
{
	xk_rcu_read_unlock();
	vp->inside = false;
	xk_vp_self = NULL;
	xk_mem_self = NULL;
	xk_vp_no = XK_VP_NONE;
}

void xk_vp_enter_idle(struct xk_vp *vp)
{
	xk_assert(!xk_load_acquire(&vp->set->running));
	xk_vp_step_in(vp, xk_vp_clock(vp));
}

void xk_vp_leave_idle(struct xk_vp *vp)
{
	vp_flush(vp);
	xk_vp_step_out(vp);
}

/* A borrowed thread: the caller's runs the VP (entry `lock`). */
static void vp_borrow(struct xk_vp *vp, void (*fn)(struct xk_vp *, void *), void *arg)
{
	xk_ns now = xk_vp_clock(vp);

	if (vp->set->arch.hold && !xk_vp_is_carrier(vp))
		xk_vp_lock_by_table(vp);
	else
		xk_vp_lock(vp);
	xk_vp_step_in(vp, now);
	fn(vp, arg);
	vp_flush(vp);
	xk_count(vp->borrowed);
	xk_vp_step_out(vp);
	xk_vp_unlock(vp);
	/* It may have left timers, ready tasks or deferred messages. */
	xk_vp_kick(vp);
	xk_vp_carry(vp->set, now);
}

void xk_vp_call_async(struct xk_vp *vp, struct xk_call *c)
{
	struct xk_call *head = xk_load_relaxed(&vp->calls);

	c->finished = 0;
	do
		c->next = head;
	while (!xk_atomic_cas(&vp->calls, &head, c));
	xk_vp_kick(vp);
}

/* Who runs the call is often on the processor that the waiter is woken on, and then stands still: nothing
 * is waited for but the answer. */
static void vp_call_wait(struct xk_vp *vp, void (*fn)(struct xk_vp *, void *), void *arg)
{
	static struct xk_event nobody = { .fd = -1 };    /* never prepared, so never written to */
	struct xk_event *done = xk_guest_call_event();
	struct xk_call c = { .fn = fn, .arg = arg, .done = done != NULL ? done : &nobody };

	xk_vp_call_async(vp, &c);
	while (!xk_load_acquire(&c.finished)) {
		if (done == NULL) {
			(void)sched_yield();
			continue;
		}
		xk_event_prepare(done);
		if (xk_load_acquire(&c.finished))
			xk_event_cancel(done);
		else
			xk_event_wait(done, XK_SEC, NULL, 0);
	}
}

void xk_vp_do(struct xk_vp *vp, void (*fn)(struct xk_vp *, void *), void *arg)
{
	if (xk_vp_self == vp) {
		fn(vp, arg);
		return;
	}
	xk_assert(xk_vp_self == NULL);
	if (!xk_load_acquire(&vp->set->running)) {
		xk_vp_enter_idle(vp);
		fn(vp, arg);
		xk_vp_leave_idle(vp);
	} else if (xk_vp_locks(vp)) {
		vp_borrow(vp, fn, arg);
	} else {
		vp_call_wait(vp, fn, arg);
	}
}

/* ---- life ------------------------------------------------------------------------------ */

int xk_vp_setup(struct xk_vp *vp, struct xk_vpset *set, uint16_t no, uint16_t at)
{
	vp->set = set;
	vp->no = no;
	vp->at = at;
	xk_msgq_init(&vp->local);
	set->arch.lock->init(&vp->lock);
	vp->lockstat.untimed = vp->tablestat.untimed = set->arch.lock_untimed;
	xk_rand_init(&vp->rand, set->arch.seed, at);
	xk_wheel_init(&vp->wheel, 0);
	return xk_memvp_init(&vp->mem, set->pool, at);
}

/* Nothing runs any more: what still waits is freed. */
void xk_vp_teardown(struct xk_vp *vp)
{
	xk_vp_step_in(vp, vp->now);
	xk_lane_teardown(vp);
	vp_take_inbox(vp);
	xk_msgq_free(&vp->local);
	for (unsigned i = 0; i < vp->nout; i++)
		msgs_free(vp->out[i].first);
	vp->nout = 0;
	xk_memvp_flush(&vp->mem);
	xk_vp_step_out(vp);
	xk_ults_free(vp->ults);
	vp->set->arch.lock->fini(&vp->lock);
}
