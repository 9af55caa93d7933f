/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_batch.h - a batch: frames of known connections, passed up a layer at a time.
 *
 * demux_batch gets a batch of messages in the order in which they came, whose descriptors have not
 * moved since the edge.  It passes on as many as it can prove to be for sessions of its own, from
 * the first one on (xk_batch_finish, xk_batch_pass), and returns how many it consumed; the caller
 * gives the first of the others, which are as they were, to up->demux, and may offer what is behind
 * it once more.  Nothing but speed may tell it from demux of each.  It refuses (returns 0)
 * where up->demux is a function that must see every message.
 */
#ifndef XK_BATCH_H
#define XK_BATCH_H

#include "runtime/classify/xk_classify.h"
#include "runtime/upi/xk_proto.h"

#define XK_BATCH_MAX 32u

/*
 * Frames of exact connections on their way up, in order, 1 to 32, in
 * one segment of their own each (but see below), which has at least XK_FRAME_MIN bytes.  Their
 * descriptors still say what the edge said, but that a tail may have been cut:
 * this layer's bytes begin `off` behind data.  So a layer that only looks
 * at its header writes nothing, and a header's end is one addition for all.
 * Whoever needs a descriptor as demux would get it materialises it first.
 * A sum beside the bytes (XK_MSG_CSUM) is left by a device, so of two frames alike in length and
 * headers both have one or neither.
 *
 * The frames are runs, each of one connection: the first run->n, and so on; n ends the last one,
 * perhaps early.  All of them are here at one depth.  Where their sessions below are not all one
 * and the same, sess[i] is that of run i, and `up` of demux_batch is the first one's: only who sets
 * `batch_many` gets such batches, for one replica each.
 */
struct xk_batch {
	struct xk_msg       **m;
	const struct xk_run  *run;
	struct xk_sess      **sess;       /* NULL: all came through lls */
	unsigned              n;
	uint32_t              off;        /* headers below */
	int32_t               net;        /* where the network header begins, -1: not known yet */
	uint32_t              depth;      /* layers below that have sessions */
	bool                  apart;      /* each run is one frame: message i is run i */
};

/* The session at this layer that run r has been seen to be for, perhaps another by now. */
static inline struct xk_sess *xk_batch_hint(const struct xk_batch *f, const struct xk_run *r)
{
	return r->flow->sess[f->depth];
}
/* Of run i of f the session below it. */
static inline struct xk_sess *xk_batch_below(const struct xk_batch *f, struct xk_sess *lls, unsigned i)
{
	return f->sess == NULL ? lls : f->sess[i];
}
/* Are all frames of one connection? */
static inline bool xk_batch_is_run(const struct xk_batch *f) { return f->run->n >= f->n; }
/* How many of run r there are, when `left` messages from its first on are. */
static inline unsigned xk_run_left(const struct xk_run *r, unsigned left) { return r->n < left ? r->n : left; }

#endif
