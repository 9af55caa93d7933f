/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_ring.h - the queue from one stage to another: one producer, one consumer, no locked
 * operation, and no line that changes hands for a single message.
 *
 * Messages are numbered as they are put.  Either side has numbers of its own (how far it has
 * come, and what it last saw of the other) and tells the other with one store for many
 * messages: ring_publish() at the end of the producer's unit, ring_took() after a batch.
 * Places are in a block that is used round and round until it is full once; then the producer
 * goes on to a new one, and the consumer frees the old one when it has taken its last.  The
 * producer stops *beginning* work when the queue is high, so one block is all there ever is,
 * but for what one message may turn into (fragments, the window of a connection).
 * Invariant: head <= posted <= tail; each number has one writer, and whoever is exclusive in the
 * pipeline may stand in for both sides.
 */
#ifndef XK_VP_RING_H
#define XK_VP_RING_H

#include "runtime/vp/xk_stage.h"

/* A message on its way to another layer: to, or from, session s. */
struct xk_hop { struct xk_msg *m; void *s; };

struct ring_block {
	struct ring_block *next;         /* written once, by the producer, who is done with this one */
	uint32_t           first, end;   /* numbers of its first message and, with `next`, of the first that is not in it */
	uint32_t           mask;
	struct xk_hop      at[];
};

struct xk_ring {
	struct ring_block *out;          /* consumer's */
	uint32_t           head, seen;   /* it takes this one next; posted, when it last looked */
	char               apart[XK_CACHELINE];
	struct ring_block *in;           /* producer's */
	uint32_t           tail, known;  /* it puts this one next; taken, when it last looked */
	uint32_t           oldest;       /* the first message that may still be in block `in` */
	char               apart2[XK_CACHELINE];
	uint32_t           posted;       /* messages below this one may be taken */
	char               apart3[XK_CACHELINE];
	uint32_t           taken;        /* those below this one have been, and their places are free */
	char               apart4[XK_CACHELINE];
	uint32_t           awaited;      /* the producer has stopped for this queue */
};

struct xk_ring *ring_new(uint32_t high);
void ring_free(struct xk_ring *r);
/* The producer's.  ring_put: false: no memory for another block. */
bool ring_put(struct xk_ring *r, struct xk_hop h);
/* The consumer's.  False: nothing has been published that it has not taken. */
bool ring_take(struct xk_ring *r, struct xk_hop *h);
/* Exclusive: calls fn for every message that waits, published or not. */
void ring_each(const struct xk_ring *r, void (*fn)(struct xk_hop *h, void *arg), void *arg);

/* The producer's: the consumer may take what has been put. */
static inline void ring_publish(struct xk_ring *r)
{
	xk_store_release(&r->posted, r->tail);
}

/* The consumer's: the places of what it has taken are free. */
static inline void ring_took(struct xk_ring *r)
{
	xk_store_release(&r->taken, r->head);
}

/* The consumer's: the message that it takes after n others, when it has seen one. */
static inline struct xk_msg *ring_ahead(const struct xk_ring *r, uint32_t n)
{
	const struct ring_block *b = r->out;
	uint32_t at = r->head + n;

	return r->seen - r->head > n && (xk_load_acquire(&b->next) == NULL || (int32_t)(at - b->end) < 0) ?
	       b->at[(at - b->first) & b->mask].m : NULL;
}

/* What has been published and not been taken; the consumer's own count. */
static inline uint32_t ring_look(struct xk_ring *r)
{
	r->seen = xk_load_acquire(&r->posted);
	return r->seen - r->head;
}

/* Are fewer than limit on their way?  The producer's; it looks at the consumer's number only
 * when by what it knew there are not. */
static inline bool ring_below(struct xk_ring *r, uint32_t limit)
{
	if (r->tail - r->known < limit)
		return true;
	r->known = xk_load_acquire(&r->taken);
	return r->tail - r->known < limit;
}

/* Anybody's: messages that wait, as both sides have told. */
static inline uint32_t ring_fill(const struct xk_ring *r)
{
	return xk_load_acquire(&r->posted) - xk_load_acquire(&r->taken);
}

#endif
