/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_recorder.h - a flight recorder: the last few thousand things that happened in one place, in a ring.
 *
 * A record has 32 bytes and costs its writer a dozen plain stores and loads: no lock, no read-modify-write, no call, no
 * reading of a clock.  A ring has one writer at a time (the thread inside its virtual processor, or a worker), and any
 * readers beside it.  Old records are written over by new ones.
 * What is written in a recording: docs/recorder.md; who reads it: tools/recorder.
 *
 *   call                    from where
 *   xk_recorder_put, again  the writer
 *   xk_recorder_read        any thread, beside the writer, and a handler of signals
 */
#ifndef XK_RECORDER_H
#define XK_RECORDER_H

#include "runtime/base/xk_base.h"

/* What happened; the numbers stand in files.  node: of the graph; n, a and b in this order. */
enum xk_rec_kind {
	XK_REC_NONE,
	XK_REC_TURN,             /* a virtual processor was run: by worker n (0: none), messages, frames that came in singly */
	XK_REC_TIMERS,           /* timers ran: how many; those that are armed yet */
	XK_REC_HANDOFF,          /* messages for another one: its number; how many; enum xk_rec_handoff */
	XK_REC_LOCK,             /* a virtual processor's lock was not free: 0; times until now; ns, where they were measured */
	/* A worker has been around: 0, or, of its only one, number + 1 of the virtual processor, which then has no TURN;
	 * messages, and from bit 32 on frames that came in singly; when it was. */
	XK_REC_ROUND,
	XK_REC_SLEEP,            /* a worker falls asleep: descriptors it waits for; at most so many ns */
	XK_REC_WAKE,             /* and is awake */
	XK_REC_IN,               /* frames came in at a node, more than one: how many; bytes of the first; connections of them */
	XK_REC_DROP,             /* dropped at a node: the reason; how many in a row; bytes of the first, 0: not known */
	XK_REC_EVENT,            /* a protocol's own (xk_record): which; two words */
	XK_REC_FAILED,           /* a node can no more do what it is there for, as a driver whose device is gone */
	XK_REC_KINDS
};
enum xk_rec_handoff { XK_REC_POSTED, XK_REC_BROUGHT, XK_REC_FULL, XK_REC_NOMEM };

struct xk_rec {
	uint64_t when;           /* ns, of the graph's clock: when the round began that it happened in */
	uint64_t what;           /* kind; from bit 16 on the node; from bit 32 on n */
	uint64_t a, b;
};
_Static_assert(sizeof(struct xk_rec) == 32, "so it stands in files");

static inline uint64_t xk_rec_what(enum xk_rec_kind kind, unsigned node, uint32_t n)
{
	return (uint64_t)kind | (uint64_t)(node & 0xffff) << 16 | (uint64_t)n << 32;
}
static inline unsigned xk_rec_kind(uint64_t what) { return (unsigned)(what & 0xffff); }
static inline unsigned xk_rec_node(uint64_t what) { return (unsigned)(what >> 16 & 0xffff); }
static inline uint32_t xk_rec_n(uint64_t what) { return (uint32_t)(what >> 32); }

/* The ring's memory is the caller's: mask + 1 records, a power of two; head: how many have been written, ever. */
struct xk_recorder { struct xk_rec *ring; uint64_t head, mask; };

/*
 * Each word is released: a reader that has seen one of a record sees the head that stood before it, too, and so
 * that the record which lay there before is no more (pairs with xk_recorder_read).
 */
static inline void xk_recorder_put(struct xk_recorder *r, uint64_t when, uint64_t what, uint64_t a, uint64_t b)
{
	struct xk_rec *e = &r->ring[r->head & r->mask];

	__atomic_store_n(&e->when, when, __ATOMIC_RELEASE);
	__atomic_store_n(&e->what, what, __ATOMIC_RELEASE);
	__atomic_store_n(&e->a, a, __ATOMIC_RELEASE);
	__atomic_store_n(&e->b, b, __ATOMIC_RELEASE);
	__atomic_store_n(&r->head, r->head + 1, __ATOMIC_RELEASE);
}

/* The last record says just this: its a is n more, and a flood leaves what came before it in the ring.  False: it
 * does not. */
static inline bool xk_recorder_again(struct xk_recorder *r, uint64_t what, uint64_t n)
{
	struct xk_rec *e = &r->ring[(r->head - 1) & r->mask];

	if (r->head == 0 || e->what != what)
		return false;
	__atomic_store_n(&e->a, e->a + n, __ATOMIC_RELEASE);
	return true;
}

/*
 * At most n of the records *from to until - 1, oldest first, into out; *from becomes the number of the first of them, which
 * is higher where older ones were written over.  Returns how many; 0: there are no more.  A writer that laps the reader
 * costs it records, never a torn one, and as until was the head once, it ends.
 */
unsigned xk_recorder_read(const struct xk_recorder *r, uint64_t *from, uint64_t until, struct xk_rec *out, unsigned n);
static inline uint64_t xk_recorder_head(const struct xk_recorder *r) { return __atomic_load_n(&r->head, __ATOMIC_ACQUIRE); }

#endif
