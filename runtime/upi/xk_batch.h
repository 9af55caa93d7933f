/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_batch.h - a batch: frames of one connection, passed up a layer at a time.
 *
 * demux_batch gets a batch of messages that the classifier found to be of one exact connection, in
 * order, whose descriptors have not moved since the edge.  It passes them on with xk_batch_finish,
 * or xk_pass_batch, and returns how many it consumed; the caller gives the others, which are as
 * they were, to up->demux.  Nothing but speed may tell it from demux of each.  It refuses
 * (returns 0) where up->demux is a function that must see every message.
 */
#ifndef XK_BATCH_H
#define XK_BATCH_H

#include "runtime/upi/xk_proto.h"

/*
 * Frames of one exact connection on its way up, in order, 1 to 32, in
 * one segment of their own each (but see below), which has at least XK_FRAME_MIN bytes.  Their
 * descriptors still say what the edge said, but that a tail may have been cut:
 * this layer's bytes begin `off` behind data.  So a layer that only looks
 * at its header writes nothing, and a header's end is one addition for all.
 * Whoever needs a descriptor as demux would get it materialises it first.
 * A sum beside the bytes (XK_MSG_CSUM) is left by a device, so of two frames alike in length and
 * headers both have one or neither.
 */
struct xk_batch {
	struct xk_msg   **m;
	unsigned          n;
	uint32_t          off;            /* headers below */
	int32_t           net;            /* where the network header begins, -1: not known yet */
	uint32_t          hash;           /* of the flow */
	struct xk_sess  **hint;           /* at this layer */
	uint16_t          vp;
};


#endif
