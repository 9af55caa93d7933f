/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_app.h - what an application node tells a runner: messages and bytes of
 * each of its connections.
 *
 * A source, sink, echo or ping answers XK_CTL_APP_COUNTS on each of its
 * replicas with pointers to the counters of the connections that live on that
 * VP.  The runner reads them while the graph runs (one writer, whole loads),
 * so a fairness or percentile figure needs nothing else from the application.
 * Invariant: the arrays neither move nor shrink until the graph is freed.
 */
#ifndef XK_APP_H
#define XK_APP_H

#include "runtime/base/xk_hist.h"
#include "runtime/base/xk_rand.h"
#include "runtime/upi/xk_upi.h"

/* A standard operation, answered by application nodes only.  In: nothing; out:
 * struct xk_app_counts, result its size.  Legal from another thread while the
 * graph runs: the answer is pointers, and nothing of the VP is touched. */
#define XK_CTL_APP_COUNTS 900u

struct xk_app_counts {
	uint64_t          n;         /* connections of this replica; 0 is legal */
	const xk_counter *messages;  /* [n] finished: received, sent or echoed, as the node counts */
	const xk_counter *bytes;     /* [n] payload bytes of those messages */
	const uint64_t   *conn;      /* [n] connection number in the graph; NULL: 0..n-1.  One
	                              * changes when a closed connection's place is taken again. */
	const struct xk_hist *rtt;   /* of some of the messages: time from sending to the answer; NULL: not asked for */
};

/* Messages between two that are timed: 32 on average, by chance, so that nothing periodic is met in step. */
static inline uint32_t xk_app_probe_gap(struct xk_rand *r)
{
	return 16 + (uint32_t)xk_rand_below(r, 32);
}

#endif
