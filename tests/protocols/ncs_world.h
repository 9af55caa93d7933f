/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs_world.h - a sender and a receiver of ncs between two channels, every fate of whose packets is tried.
 *
 * The world is one block of memory: the real policy objects, packets under way, what the receiver
 * holds and has delivered.  A run is cut at each packet of the first `fates` that leave, on
 * whichever channel, and goes on four times: it is delivered, lost, delivered twice (once more
 * after every timer), or late; the rest are delivered.  Every run goes on until nothing can happen
 * any more, so late copies find their way, too.  Worlds that were seen are not run again.
 */
#ifndef NCS_WORLD_H
#define NCS_WORLD_H

#include "protocols/ncs/ncs_half.h"

#define WORLD_SDUS 8u                    /* most SDUs of a case */

enum { WORLD_DELIVER, WORLD_LOSE, WORLD_DOUBLE, WORLD_LATE, WORLD_FATES };

struct world_case {
	struct ncs_choice choice;
	uint8_t  messages, size[WORLD_SDUS]; /* in SDUs */
	uint8_t  fates;                  /* packets whose fate is tried */
	xk_ns    late;                   /* how much a late packet is late; a round trip is WORLD_RTT */
	xk_ns    posted;                 /* when the application asks for messages: before, they occupy buffers */
	uint32_t buffers;                /* of the receiver; 0: not looked at */
	uint32_t window;                 /* most transmissions under way; 0: not looked at */
	uint32_t depth;                  /* one that is overtaken by more is given up; 0: none is */
};

#define WORLD_RTT 20u

struct world_found {
	uint64_t states;                 /* different worlds in which something was about to happen */
	uint64_t ends;                   /* of them, nothing was left to happen */
	uint64_t stuck;                  /* the sender has something to send, or waits, for good */
	uint64_t overruns;               /* an SDU came and there was no buffer */
	uint64_t beyond;                 /* more under way than the window */
	uint64_t wrong;                  /* delivered twice, in parts, out of order, or not at all though it was to be sure */
	uint64_t most_steps;             /* of a run */
};

/* Tries all; adds to *f.  Aborts where memory is short. */
void world_explore(const struct world_case *c, struct world_found *f);

#endif
