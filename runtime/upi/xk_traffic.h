/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_traffic.h - when the messages of a stream are due: models, traces, and streams in the order of their next ones.
 *
 * For who makes messages at times of their own: peers below a wire, senders of load.  A stream is one
 * connection's messages.  What is drawn depends on the seed and the number of the stream alone, so the
 * same messages are due under every threading and on any number of processors.
 * Times are nanoseconds from when the graph started.  Models:
 *
 *   constant  one message every 1/rate, from a time in the first of these that differs by stream
 *   poisson   exponential times between messages
 *   train     Jain and Routhier 1986, as in Salehi and others 1995, 7: `burst` messages at exponential
 *             times of mean `inner`, then an exponential time of mean burst/rate - (burst - 1) * inner
 *   onoff     exponential times of sending (mean `on`), as a Poisson process, and of silence (mean `off`)
 *   trace     times from a file: its first message is due at once, the others as long after it as there
 *
 * `rate` is a stream's mean over all of its time.  No lock, no clock.  Memory is had when a trace is
 * read and a queue is opened, both on the control path.  A queue is one VP's.
 */
#ifndef XK_TRAFFIC_H
#define XK_TRAFFIC_H

#include "runtime/base/xk_heap.h"
#include "runtime/base/xk_param.h"
#include "runtime/base/xk_rand.h"

struct xk_errs; struct xk_node; struct xk_review; struct xk_view;

enum xk_traffic_model { XK_TRAFFIC_NONE, XK_TRAFFIC_CONSTANT, XK_TRAFFIC_POISSON, XK_TRAFFIC_TRAIN, XK_TRAFFIC_ONOFF, XK_TRAFFIC_TRACE };
extern const char *const xk_traffic_models[];

struct xk_traffic {
	unsigned model;
	uint64_t rate;                   /* messages per second of each stream */
	uint64_t burst;                  /* train: messages */
	uint64_t inner;                  /* train: ns */
	uint64_t on, off;                /* onoff: ns */
	uint64_t first;                  /* number of the source's first stream among all that are drawn: others' draw apart from it */
	char    *file;                   /* trace */
};

/* Rows of a protocol's parameters: a table `arrivals` of them, in the field `arrivals` of struct conf. */
#define XK_TRAFFIC_P(conf, field, t, d, text, ...) \
	{ .name = #field, .group = "arrivals", .type = t, .def = d, .doc = text, \
	  .offset = offsetof(struct conf, arrivals.field), ##__VA_ARGS__ }
#define XK_TRAFFIC_PARAMS(conf) \
	XK_TRAFFIC_P(conf, model, XK_P_ENUM, "none", \
		     "messages of each connection are due at times of their own, by this model; none: they are not", \
		     .choices = xk_traffic_models), \
	XK_TRAFFIC_P(conf, rate, XK_P_UINT, NULL, "messages per second of each connection, mean", \
		     .min = "1", .max = "1000000000"), \
	XK_TRAFFIC_P(conf, burst, XK_P_UINT, NULL, "train: messages of a train", .min = "1", .max = "1000000"), \
	XK_TRAFFIC_P(conf, inner, XK_P_TIME, NULL, "train: mean time between the messages of a train; unset: none", .max = "1h"), \
	XK_TRAFFIC_P(conf, on, XK_P_TIME, NULL, "onoff: mean time of sending", .min = "1us", .max = "1h"), \
	XK_TRAFFIC_P(conf, off, XK_P_TIME, NULL, "onoff: mean time of silence", .min = "1us", .max = "1h"), \
	XK_TRAFFIC_P(conf, first, XK_P_UINT, NULL, \
		     "the first connection draws its times as number so many; sources with the same numbers send at the same times", \
		     .max = "4294967295"), \
	XK_TRAFFIC_P(conf, file, XK_P_TEXT, NULL, \
		     "trace: times, a line each, in seconds, and perhaps the connection's number; or a capture", .flags = XK_PF_HOST)

/* Why these do not go together; false: they do. */
bool xk_traffic_fault(const struct xk_traffic *a, char *why, size_t n);

/* ---- traces ------------------------------------------------------------------------------ */

/* at[i] ns after the start, of stream[i]; next[i]: the stream's next one, n: none. */
struct xk_trace { uint64_t *at; uint32_t *stream, *next, *first; uint32_t n, nstreams; };

/*
 * Reads a file of times (a line each: seconds, and the number of a stream, else it is the next one's in
 * turn), or a capture, whose flows are the streams in the order in which they first appear.  Numbers
 * beyond nstreams begin anew.  Freed by xk_trace_free.  An error: a sentence in why[n], with
 * the line.
 */
int  xk_trace_read(struct xk_trace *t, const char *file, uint32_t nstreams, char *why, size_t n);
void xk_trace_free(struct xk_trace *t);     /* legal when zeroed */
/* From init: reads the trace of n's arrivals, if they are one; an error is told.  From review: the same, where an
 * error has a place in the graph's file; nothing is kept. */
int  xk_trace_load(struct xk_trace *t, const struct xk_traffic *a, uint64_t nstreams, const struct xk_node *n, struct xk_errs *e);
void xk_trace_review(const struct xk_traffic *a, uint64_t nstreams, const struct xk_view *v, struct xk_review *r);

/* ---- streams ------------------------------------------------------------------------------- */

struct xk_traffic_stream {
	xk_ns          due;              /* of the next message; XK_NS_NEVER: there is none */
	struct xk_rand rand;
	uint64_t       left;             /* of the train; trace: the message's place */
	xk_ns          until;            /* onoff: silent from then on */
};

/* t: a trace's, else NULL. */
void xk_traffic_stream_init(struct xk_traffic_stream *s, const struct xk_traffic *a, const struct xk_trace *t, uint64_t seed,
		      uint64_t stream);
/* The message that was due has been taken: the one after it. */
void xk_traffic_stream_next(struct xk_traffic_stream *s, const struct xk_traffic *a, const struct xk_trace *t);

/* ---- the one that is due first ----------------------------------------------------------------- */

/* Streams, and those of them that wait for their next message, the first one in front.  Of one time the lowest number
 * is first, so the order does not depend on where a stream lives. */
struct xk_traffic_queue {
	const struct xk_traffic  *model;
	const struct xk_trace    *trace;
	struct xk_traffic_stream *stream;
	struct xk_heap_item      *when;  /* [n] */
	struct xk_heap            order;
	xk_ns                     start; /* time 0 of all of them */
};

/* n streams of these numbers; none waits.  The arguments stay the caller's, and stay.  XK_E_NOMEM. */
int  xk_traffic_open(struct xk_traffic_queue *q, const struct xk_traffic *a, const struct xk_trace *t, uint64_t seed,
		     const uint64_t *no, uint32_t n, xk_ns start);
void xk_traffic_close(struct xk_traffic_queue *q);  /* legal when zeroed */

/* When stream i's next message is due; XK_NS_NEVER: it has no more. */
static inline xk_ns xk_traffic_due(const struct xk_traffic_queue *q, uint32_t i)
{
	return q->stream[i].due == XK_NS_NEVER ? XK_NS_NEVER : q->start + q->stream[i].due;
}
/* When the first of those that wait is due; XK_NS_NEVER: none waits. */
static inline xk_ns xk_traffic_first_due(const struct xk_traffic_queue *q)
{
	const struct xk_heap_item *x = xk_heap_first(&q->order);

	return x != NULL ? q->start + x->key : XK_NS_NEVER;
}
/* Its number; one waits. */
static inline uint32_t xk_traffic_first(const struct xk_traffic_queue *q)
{
	return (uint32_t)(xk_heap_first(&q->order) - q->when);
}
/* Stream i's message is made: the one after it. */
static inline void xk_traffic_next(struct xk_traffic_queue *q, uint32_t i)
{
	xk_traffic_stream_next(&q->stream[i], q->model, q->trace);
}
/* Stream i waits, if it has a message left; again: with a new time. */
void xk_traffic_wait(struct xk_traffic_queue *q, uint32_t i);
/* It does not, or no more. */
static inline void xk_traffic_leave(struct xk_traffic_queue *q, uint32_t i) { xk_heap_take(&q->order, &q->when[i]); }

#endif
