/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_unit.c - one unit of work inside a virtual processor.
 *
 * A unit is: due timers (where time is real, after what had come in before
 * them), posted calls, some messages of the inbox, one turn of the next task,
 * then everything that was collected for other VPs is handed over in batches.
 * Between two units anybody else may be the thread inside.
 * Invariant: all of these run inside the VP, and leave nothing collected for others.
 */
#include "runtime/vp/vp_sim.h"

#include <limits.h>

#define CATCH_UP       1024u     /* messages that a due timer waits for */
#define CATCH_UP_TASKS 4u         /* devices that are read for it */
#define CATCH_UP_LOOK  256u      /* tasks among which these are looked for */

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

static inline bool holds_burst(const struct xk_task *input, unsigned budget)
{
	return input->queued != NULL && *input->queued >= budget;
}

/* Of one long message, or of few, is there as much as a burst already?  Of those that have input two are asked: whose
 * turn it is, and which became ready last. */
static inline bool input_presses(const struct xk_vp *vp, unsigned budget)
{
	const struct xk_task *input = vp->ring[1];

	return input != NULL && (holds_burst(input, budget) || holds_burst(input->prev, budget));
}

/* Frames come singly from units of one message, and a burst of them costs each a fraction: input waits until
 * others have made as many messages as a unit may, of short ones as many frames, or that many frames of long ones
 * wait: eight senders' windows of 256 KiB, of four writes each, are more than the second-level cache.  Not longer than
 * they make any, nor where all have parked, which wait for what comes in more often than not.  Then it has two turns
 * for each unit that it waited for, which made a message at least, and may have more. */
static inline unsigned input_turns(struct xk_vp *vp, unsigned done, unsigned several, unsigned budget)
{
	unsigned before = vp->others;

	vp->others += XK_LIKELY(several == 0) ? done : (done + (1u << several) - 1) >> several;
	if (XK_LIKELY(done != 0) && XK_LIKELY(vp->ring[0] != NULL) && vp->others < budget &&
	    !input_presses(vp, budget))
		return 0;
	vp->others = 0;
	vp->input_more = XK_INPUT_MOST;
	return 2 * vp->ninput * (1 + (before < budget ? before : budget));
}

/* A message of a long write is many frames, so what a unit made may be more than two turns take.  Left there it
 * would grow, with thousands of senders, until each frame has left all caches when its turn comes: after a turn
 * that took a whole budget there is another round. */
static inline unsigned run_input(struct xk_vp *vp, struct xk_task *input, unsigned budget)
{
	unsigned done;

	vp->others = 0;
	done = run_task(vp, input, budget);
	vp->input_full |= done >= budget;
	vp->input_more -= done < vp->input_more ? done : vp->input_more;
	vp->input_due -= vp->input_due != 0;
	if (vp->input_due == 0 && vp->input_full) {
		vp->input_full = false;
		vp->input_due = vp->input_more != 0 ? vp->ninput : 0;
	}
	return done;
}

/* One turn of the task whose turn it is.  It may park itself or free itself. */
static inline unsigned vp_run_task(struct xk_vp *vp, unsigned budget)
{
	struct xk_task *t = vp->ring[0], *input = vp->ring[1];
	unsigned done, several;

	if (input != NULL && (vp->input_due != 0 || t == NULL))
		return run_input(vp, input, budget);
	if (t == NULL)
		return 0;
	several = t->several;
	done = run_task(vp, t, budget);
	vp->input_due = input_turns(vp, done, several, budget);
	return done;
}

/* ---- its parts ------------------------------------------------------------------- */

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
	done += vp_run_local(vp, budget);
	vp->others += done;
	return done;
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
		xk_vp_flush(vp);
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
	unsigned done = 0, ran;

	if (!xk_wheel_wants(&vp->wheel, vp->now))
		return 0;
	/* A tick in which none is due only moves the wheel. */
	if (!vp->set->clock.is_virtual && (vp->npolling != 0 || vp_has_waiting(vp)) && xk_wheel_next(&vp->wheel) <= vp->now)
		done = vp_catch_up(vp, budget);
	ran = xk_wheel_run(&vp->wheel, vp->now, 64);
	if (ran != 0)
		xk_vp_record(vp, XK_REC_TIMERS, 0, ran, vp->wheel.armed, 0);
	return done + ran;
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
	unsigned done = vp_run_local(vp, UINT_MAX), who;

	if (XK_UNLIKELY(vp->set->sim != NULL))
		xk_vpsim_brought(vp, done);
	who = xk_mem_here();             /* while it hands over another one may take a simulated thread up */
	xk_vp_flush(vp);
	xk_count(vp->units);
	xk_count_add(vp->messages, done);
	vp_record_turn(vp, done, who);
	if (XK_UNLIKELY(vp->set->heat != NULL))
		vp_heat_add(vp, done, who);
}

unsigned xk_vp_unit(struct xk_vp *vp, unsigned budget)
{
	unsigned done = vp_run_timers(vp, budget);

	done += vp_unit_now(vp, budget);
	xk_count(vp->units);
	xk_count_add(vp->messages, done);
	vp_record_turn(vp, done, xk_mem_processor);
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
	       xk_load_relaxed(&vp->calls) != NULL || (vp->mode->waiting != NULL && vp->mode->waiting(vp));
}

bool xk_vp_timers_due(const struct xk_vp *vp)
{
	return xk_wheel_wants(&vp->wheel, vp->now);
}

unsigned xk_vp_run_left(struct xk_vp *vp, unsigned budget)
{
	return vp_has_waiting(vp) ? vp_run_waiting(vp, budget) : 0;
}

unsigned xk_vp_run_one(struct xk_vp *vp, unsigned budget)
{
	return vp_run_task(vp, budget);
}
