/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sched_priv.h - what the files of the scheduling module share.
 *
 * Free processors stand in a list, the one released last in front, and have a bit each.  Queues
 * that more runs wait in than `depth` stand in a list too, the one that has done so longest in
 * front.  Lists link processors by number; their heads are entry nprocs of the array.
 */
#ifndef SCHED_PRIV_H
#define SCHED_PRIV_H

#include "runtime/base/xk_rand.h"
#include "runtime/vp/xk_sched.h"

#define SCHED_WORDS (XK_SCHED_PROCS_MAX / 64)

enum sched_state { SCHED_FREE, SCHED_STARTING, SCHED_BUSY };

struct sched_queue {
	struct xk_sched_run *first, *last;
	uint32_t waiting;            /* of them, with something to do */
};
struct sched_link { uint16_t next, prev; };

struct sched_proc {
	struct sched_queue   queue;  /* XK_QUEUE_PER */
	struct sched_link    free, deep;
	bool                 is_deep;
	uint8_t              state;  /* enum sched_state */
	xk_ns                since;  /* released at */
	xk_ns                away;
	struct xk_sched_run *run;    /* that it goes on with */
};

/* A kind of queue.  put: r, which waits or polls, to the end of its queue.  take: what p runs next.
 * has: is there something to do for p?  start: who could run what was put last. */
struct sched_ops {
	void (*put)(struct xk_sched *s, struct xk_sched_run *r);
	void (*woken)(struct xk_sched *s, struct xk_sched_run *r);   /* it polled, and now waits */
	struct xk_sched_run *(*take)(struct xk_sched *s, unsigned p);
	bool (*has)(const struct xk_sched *s, unsigned p);
	unsigned (*start)(struct xk_sched *s, const struct xk_sched_run *r);
	struct xk_sched_run *(*drain)(struct xk_sched *s);
};

struct xk_sched {
	struct xk_sched_conf    conf;
	const struct sched_ops *ops;
	unsigned                nfree, waiting;
	struct sched_queue      one;        /* XK_QUEUE_ONE */
	struct xk_rand          rand;
	uint64_t                bits[SCHED_WORDS];   /* free ones */
	struct sched_proc       proc[];     /* nprocs, and the lists' heads */
};

extern const struct sched_ops sched_one, sched_per;

/* sched_pick.c */
void     sched_pick_free(struct xk_sched *s, unsigned p);
void     sched_pick_take(struct xk_sched *s, unsigned p);
unsigned sched_pick(struct xk_sched *s);    /* one of the free ones, XK_SCHED_NONE; it stays free */

static inline void sched_put(struct sched_queue *q, struct xk_sched_run *r)
{
	r->behind = NULL;
	if (q->last != NULL)
		q->last->behind = r;
	else
		q->first = r;
	q->last = r;
	q->waiting += r->place == XK_PLACE_QUEUED;
}

static inline struct xk_sched_run *sched_get(struct sched_queue *q)
{
	struct xk_sched_run *r = q->first;

	if (r == NULL)
		return NULL;
	q->first = r->behind;
	if (q->first == NULL)
		q->last = NULL;
	q->waiting -= r->place == XK_PLACE_QUEUED;
	return r;
}

#endif
