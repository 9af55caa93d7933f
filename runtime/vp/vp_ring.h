/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_ring.h - the queue from one lane to another: one producer, one consumer, no locked
 * operation.
 *
 * Blocks of places, each used round and round until it is full once; then the producer goes
 * on to a new one, and the consumer frees the old one when it is empty.  The producer stops
 * *beginning* work when the queue is high, so one block is all there ever is, but for what
 * one message may turn into (fragments, the window of a connection).
 * Invariant: posted - taken messages wait; either number has one writer, and whoever is
 * alone in the cluster may stand in for both sides.
 */
#ifndef XK_VP_RING_H
#define XK_VP_RING_H

#include "runtime/vp/xk_lane.h"

struct ring_block {
	struct ring_block *next;         /* written once, by the producer, who is done with this one */
	uint32_t           mask;
	char               apart[XK_CACHELINE];
	uint32_t           head;         /* consumer's */
	char               apart2[XK_CACHELINE];
	uint32_t           tail;         /* producer's */
	char               apart3[XK_CACHELINE];
	struct xk_hop      at[];
};

struct xk_ring {
	struct ring_block *out;          /* consumer's side */
	uint32_t           taken;
	char               apart[XK_CACHELINE];
	struct ring_block *in;           /* producer's side */
	uint32_t           posted;
	char               apart2[XK_CACHELINE];
	uint32_t           awaited;      /* the producer has stopped for this queue */
};

struct xk_ring *ring_new(uint32_t high);
void ring_free(struct xk_ring *r);
/* False: no memory for another block. */
bool ring_put(struct xk_ring *r, const struct xk_hop *h);
bool ring_take(struct xk_ring *r, struct xk_hop *h);
/* Calls fn for every message that waits. */
void ring_each(const struct xk_ring *r, void (*fn)(struct xk_hop *h, void *arg), void *arg);

static inline uint32_t ring_fill(const struct xk_ring *r)
{
	return xk_load_acquire(&r->posted) - xk_load_acquire(&r->taken);
}

#endif
