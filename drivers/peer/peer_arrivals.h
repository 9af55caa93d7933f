/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peer_arrivals.h - when the packets of a stream arrive: the models, and traces.
 *
 * A stream is one connection's packets.  What is drawn depends on the seed and the number of the
 * stream alone, so the same packets are due under every threading and on any number of processors.
 * Times are nanoseconds from when the graph started.  Models:
 *
 *   constant  one packet every 1/rate, from a time in the first of these that differs by stream
 *   poisson   exponential times between packets
 *   train     Jain and Routhier 1986, as in Salehi and others 1995, 7: `burst` packets at exponential
 *             times of mean `inner`, then an exponential time of mean burst/rate - (burst - 1) * inner
 *   onoff     exponential times of sending (mean `on`), as a Poisson process, and of silence (mean `off`)
 *   trace     times from a file: its first packet is due at once, the others as long after it as there
 *
 * `rate` is a stream's mean over all of its time.  No lock, no clock, no allocation but for a trace.
 */
#ifndef XK_PEER_ARRIVALS_H
#define XK_PEER_ARRIVALS_H

#include "runtime/base/xk_rand.h"

enum peer_model { PEER_MODEL_NONE, PEER_CONSTANT, PEER_POISSON, PEER_TRAIN, PEER_ONOFF, PEER_TRACE };
extern const char *const peer_models[];

struct peer_arrivals {
	unsigned model;
	uint64_t rate;                   /* packets per second of each stream */
	uint64_t burst;                  /* train: packets */
	uint64_t inner;                  /* train: ns */
	uint64_t on, off;                /* onoff: ns */
	char    *file;                   /* trace */
};

/* Why these do not go together; false: they do. */
bool peer_arrivals_fault(const struct peer_arrivals *a, char *why, size_t n);

/* ---- traces ------------------------------------------------------------------------------ */

/* at[i] ns after the start, of stream[i]; next[i]: the stream's next one, n: none. */
struct peer_trace { uint64_t *at; uint32_t *stream, *next, *first; uint32_t n, nstreams; };

/*
 * Reads a file of times (a line each: seconds, and the number of a stream, else it is the next one's in
 * turn), or a capture, whose flows are the streams in the order in which they first appear.  Numbers
 * beyond nstreams begin anew.  Freed by peer_trace_free.  An error: a sentence in why[n], with
 * the line.
 */
int  peer_trace_read(struct peer_trace *t, const char *file, uint32_t nstreams, char *why, size_t n);
void peer_trace_free(struct peer_trace *t);     /* legal when zeroed */

/* ---- streams ------------------------------------------------------------------------------- */

struct peer_stream {
	xk_ns          due;              /* of the next packet; XK_NS_NEVER: there is none */
	struct xk_rand rand;
	uint64_t       left;             /* of the train; trace: the packet's place */
	xk_ns          until;            /* onoff: silent from then on */
};

/* t: a trace's, else NULL. */
void peer_stream_init(struct peer_stream *s, const struct peer_arrivals *a, const struct peer_trace *t, uint64_t seed,
		      uint64_t stream);
/* The packet that was due has been taken: the one after it. */
void peer_stream_next(struct peer_stream *s, const struct peer_arrivals *a, const struct peer_trace *t);

#endif
