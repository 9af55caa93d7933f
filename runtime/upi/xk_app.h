/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_app.h - what an application node tells a runner: messages and bytes of
 * each of its connections, and whether these are established.
 *
 * A source, sink, echo or ping answers XK_CTL_APP_COUNTS on each of its
 * replicas with pointers to the counters of the connections that live on that
 * VP.  The runner reads them while the graph runs (one writer, whole loads),
 * so a fairness or percentile figure needs nothing else from the application.
 * Invariant: the arrays neither move nor shrink until the graph is freed.
 */
#ifndef XK_APP_H
#define XK_APP_H

#include "runtime/upi/xk_proto.h"

struct xk_hist;
struct xk_rand;

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
	const xk_counter *accepted;  /* connections it has had since the start, of which n says nothing: places are
	                              * taken again, or (conn NULL) one place counts for all; NULL: they are n */
};

/*
 * A standard operation, answered by application nodes that read the stamps (xk_stamp.h) of what they
 * consume; XK_E_NOTSUP: it does not.  Out: struct xk_app_times, result its size; legal as
 * XK_CTL_APP_COUNTS is, and so is what is said there of the pointers.
 */
#define XK_CTL_APP_TIMES 902u

/* A message waits from when it is due until work on it begins, and is worked on until it is consumed; the
 * delay is both. */
enum { XK_TIME_QUEUE, XK_TIME_EXEC, XK_TIME_DELAY, XK_TIMES };
struct xk_app_times {
	const struct xk_hist *hist;  /* [XK_TIMES], nanoseconds */
	const xk_counter *sum;       /* [XK_TIMES], nanoseconds of all of them */
	const xk_ns *late;           /* the delay of the message that was consumed last */
};

/* What a control operation answers that has these counts; others are asked of the node below next. */
int xk_app_answer(unsigned op, const struct xk_app_counts *c, void *buf, unsigned len);

/*
 * A standard operation, answered by application nodes that open all their connections before
 * they send anything, on any of their replicas, for the whole node; XK_E_NOTSUP: not gated.
 * Result: the size.  Legal from another thread while the graph runs.  Measuring begins when
 * every such node is ready; then it is asked with `go`, and not before that it sends.
 */
#define XK_CTL_APP_GATE 901u

struct xk_app_gate {
	bool     go;                 /* in: all are ready; the first time counts */
	uint64_t ready, failed, of;  /* connections: established so far, come to nothing, wanted */
	uint64_t within;             /* ns that they may take */
};

/* Zeroed memory for counters and histograms of r's, n bytes: where others may look at them, if anywhere (xk_shared.h);
 * from r's inits and starts only.  NULL: out of memory.  free: what they say stays until who looks knows; NULL is legal. */
void *xk_app_counters(const struct xk_rep *r, size_t n);
void xk_app_counters_free(const struct xk_rep *r, void *p);
/* Messages between two that are timed: 32 on average, by chance, so that nothing periodic is met in step. */
uint32_t xk_app_probe_gap(struct xk_rand *r);

/* Waits for connections to a port, at any of our addresses: for start.  An error is told. */
int xk_app_listen(struct xk_node *n, uint16_t port, struct xk_errs *e);
/* An application that ends by itself: will_finish once from init, finished once. */
void xk_app_will_finish(struct xk_node *n);
void xk_app_finished(struct xk_node *n);
/* Does connection number conn of the graph live on r's VP? */
bool xk_app_is_here(const struct xk_rep *r, uint64_t conn);

/* The answer to XK_CTL_MOVE of who has a session of its own over each that it keeps, bound under key(lower session),
 * with one reference to it. */
struct xk_move;
int  xk_app_move(struct xk_rep *r, const struct xk_move *m, struct xk_key (*key)(const struct xk_sess *lls));

#endif
