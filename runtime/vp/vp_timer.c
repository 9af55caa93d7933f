/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_timer.c - the hierarchical timer wheel of a virtual processor.
 *
 * A timer lies in the level of the highest byte in which its due tick differs
 * from the current one, so every used slot of a level lies ahead in the same
 * turn of the wheel and every slot of a finer level comes before any slot of a
 * coarser one: the next thing to do is the first bit of the first level that
 * has any.  Only the coarsest level wraps.  When a slot comes up its whole list
 * becomes the due list; each timer taken from it fires, moves to a finer slot,
 * or (re-armed lazily) to a later one.
 * The length of a tick is the graph's, so a time is divided by it as by any number that is
 * known long before: Granlund and Montgomery, "Division by invariant integers using
 * multiplication", PLDI 1994.  Whether a time lies behind the tick needs no division.
 * Invariant: the tick does not move while the due list holds a timer, and the
 * slots of the current index are empty in every level.
 */
#include "runtime/vp/xk_wheel.h"

#define SLOTS     (1u << XK_WHEEL_BITS)
#define TOP       (XK_WHEEL_LEVELS - 1u)
#define TOP_SHIFT (XK_WHEEL_BITS * TOP)
#define MOVES     64u            /* moves allowed for each handler of a run */
#define NO_TICK   UINT64_MAX

struct event { uint64_t tick; unsigned level, index; };

/* Exact below 2^63 ns; after that, in 292 years, perhaps one more. */
static inline uint64_t wheel_ticks(const struct xk_wheel *w, xk_ns t)
{
	return (uint64_t)((unsigned __int128)t * w->inverse >> 64) >> w->shift;
}

/* The first tick that begins at the deadline or after it. */
static inline uint64_t timer_tick(const struct xk_wheel *w, xk_ns deadline)
{
	uint64_t n = wheel_ticks(w, deadline);

	return n + (n * w->length != deadline);
}

static inline void wheel_move(struct xk_wheel *w, uint64_t tick)
{
	w->tick = tick;
	w->turns = (tick + 1) * w->length;
}

static void timer_link(struct xk_timer **head, struct xk_timer *t)
{
	t->next = *head;
	t->pprev = head;
	if (t->next != NULL)
		t->next->pprev = &t->next;
	*head = t;
}

static void timer_unlink(struct xk_timer *t)
{
	*t->pprev = t->next;
	if (t->next != NULL)
		t->next->pprev = t->pprev;
	t->pprev = NULL;
}

/*
 * Puts an unlinked timer where the wheel finds it in time.  What lies beyond
 * the coarsest level's turn goes to that level's last slot and is placed again
 * from there.
 */
static void wheel_place(struct xk_wheel *w, struct xk_timer *t)
{
	uint64_t due = timer_tick(w, t->deadline), base, turn;
	unsigned level, index;

	if (due <= w->tick)
		due = w->tick + 1;
	if ((due ^ w->tick) >> TOP_SHIFT != 0) {
		level = TOP;
		turn = (due >> TOP_SHIFT) - (w->tick >> TOP_SHIFT);
		if (turn >= SLOTS)
			turn = SLOTS - 1;
		base = ((w->tick >> TOP_SHIFT) + turn) << TOP_SHIFT;
	} else {
		level = (63u - (unsigned)__builtin_clzll(due ^ w->tick)) / XK_WHEEL_BITS;
		base = due >> (XK_WHEEL_BITS * level) << (XK_WHEEL_BITS * level);
	}
	index = (unsigned)(base >> (XK_WHEEL_BITS * level)) % SLOTS;
	/* Every deadline after the tick before base may wait for this slot. */
	t->slot_time = (base - 1) * w->length + 1;
	timer_link(&w->slot[level][index], t);
	w->used[level][index / 64] |= UINT64_C(1) << (index % 64);
}

/* First used slot of a level at or after `from`; SLOTS when there is none. */
static unsigned wheel_scan(const uint64_t *used, unsigned from)
{
	uint64_t mask = ~UINT64_C(0) << (from % 64);
	unsigned i;

	for (i = from / 64; i < SLOTS / 64; i++, mask = ~UINT64_C(0))
		if ((used[i] & mask) != 0)
			return i * 64 + (unsigned)__builtin_ctzll(used[i] & mask);
	return SLOTS;
}

/* The slot that comes up next. */
static struct event wheel_event(const struct xk_wheel *w)
{
	unsigned level, index, shift;

	for (level = 0, shift = 0; level <= TOP; level++, shift += XK_WHEEL_BITS) {
		uint64_t turn = w->tick >> shift;

		index = wheel_scan(w->used[level], (unsigned)(turn % SLOTS) + 1);
		if (index < SLOTS)
			return (struct event){ (turn / SLOTS * SLOTS + index) << shift, level, index };
		if (level < TOP)
			continue;
		index = wheel_scan(w->used[TOP], 0);
		if (index < SLOTS)
			return (struct event){ ((turn / SLOTS + 1) * SLOTS + index) << shift, TOP, index };
	}
	return (struct event){ NO_TICK, 0, 0 };
}

/* Time moves to e; what waited in its slot is due to be looked at. */
static void wheel_come_up(struct xk_wheel *w, const struct event *e)
{
	struct xk_timer **slot = &w->slot[e->level][e->index];

	wheel_move(w, e->tick);
	w->due = *slot;
	w->due->pprev = &w->due;
	*slot = NULL;
	w->used[e->level][e->index / 64] &= ~(UINT64_C(1) << (e->index % 64));
	xk_count(w->slots);
}

void xk_wheel_init(struct xk_wheel *w, xk_ns now, xk_ns length)
{
	xk_ns len = length != 0 ? length : XK_WHEEL_TICK;
	unsigned bits = 64u - (unsigned)__builtin_clzll(len - 1);  /* len <= 2^bits */

	xk_assert(len >= XK_WHEEL_TICK_MIN && len <= XK_WHEEL_TICK_MAX);
	*w = (struct xk_wheel){ .length = len, .shift = bits - 1 };
	w->inverse = (uint64_t)((((unsigned __int128)1 << (63 + bits)) + len - 1) / len);
	wheel_move(w, wheel_ticks(w, now));
}

void xk_timer_init(struct xk_timer *t, void (*fn)(struct xk_timer *))
{
	*t = (struct xk_timer){ .deadline = XK_NS_NEVER, .fn = fn };
}

void xk_timer_insert(struct xk_wheel *w, struct xk_timer *t, xk_ns deadline)
{
	if (t->pprev != NULL)
		xk_timer_remove(w, t);
	t->deadline = deadline;
	if (deadline == XK_NS_NEVER)
		return;
	wheel_place(w, t);
	w->armed++;
}

void xk_timer_remove(struct xk_wheel *w, struct xk_timer *t)
{
	struct xk_timer **head = t->pprev, **first = &w->slot[0][0];
	uintptr_t off = (uintptr_t)head - (uintptr_t)first;

	timer_unlink(t);
	w->armed--;
	/* Was it the only one of a slot?  Then the slot's bit goes too. */
	if (*head == NULL && off < sizeof(w->slot)) {
		unsigned n = (unsigned)(off / sizeof(*first));

		w->used[n / SLOTS][n % SLOTS / 64] &= ~(UINT64_C(1) << (n % 64));
	}
}

/*
 * Works off the due list; false when the budget ended before the list did.  A
 * handler may free its timer and cancel or free any other one, so nothing is
 * remembered across the call.
 */
static bool wheel_work(struct xk_wheel *w, unsigned max, unsigned *ran, uint64_t *moves)
{
	struct xk_timer *t;

	while ((t = w->due) != NULL) {
		if (*ran == max || *moves == 0)
			return false;
		timer_unlink(t);
		if (t->deadline != XK_NS_NEVER && t->deadline > w->turns - w->length) {
			wheel_place(w, t);
			xk_count(w->lazy);
			--*moves;
			continue;
		}
		w->armed--;
		if (t->deadline == XK_NS_NEVER)
			continue;
		xk_count(w->fired);
		++*ran;
		t->fn(t);
	}
	return true;
}

unsigned xk_wheel_run(struct xk_wheel *w, xk_ns now, unsigned max)
{
	uint64_t target = wheel_ticks(w, now), moves = (uint64_t)max * MOVES;
	unsigned ran = 0;

	while (wheel_work(w, max, &ran, &moves)) {
		struct event e = wheel_event(w);

		if (e.tick > target) {
			if (w->tick < target)
				wheel_move(w, target);
			break;
		}
		wheel_come_up(w, &e);
	}
	return ran;
}

xk_ns xk_wheel_next(const struct xk_wheel *w)
{
	struct event e;

	if (w->due != NULL)
		return w->turns - w->length;
	e = wheel_event(w);
	return e.tick == NO_TICK ? XK_NS_NEVER : e.tick * w->length;
}
