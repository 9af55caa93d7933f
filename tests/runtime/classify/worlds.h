/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * worlds.h - patterns to classify by, frames that fit them, and connections in a flow table.
 *
 * A world is one pattern: the internet's over three links, parts of it, and protocols of an
 * invented kind that use everything a declaration can say.
 */
#ifndef WORLDS_H
#define WORLDS_H

#include "runtime/base/xk_rand.h"
#include "runtime/classify/xk_classify.h"

#define WORLDS_FRAME 256u

struct world {
	const char *name;
	struct xk_pattern pat;
};

/* ORDER in worlds.c: the first three are Ethernet, FDDI and bare datagrams, with ARP or
 * without, ICMP, TCP and UDP. */
enum { WORLD_ETH, WORLD_FDDI, WORLD_RAWIP, WORLD_ETH_UDP, WORLD_ETH_ODD, WORLD_STRANGE, WORLD_FEW, WORLD_MANY, WORLD_NOTHING,
	WORLDS };
extern struct world world[WORLDS];

/* Makes them all; NULL, or the sentence of a pattern that was refused. */
const char *worlds_make(void);

/* A frame that goes up through p as far as chance lets it: few values in every key, so that
 * connections meet again.  f has WORLDS_FRAME bytes; returns how many it uses. */
unsigned worlds_frame(const struct xk_pattern *p, struct xk_rand *dice, uint8_t *f);

/* 0 to 3 bits and now and then a byte changed. */
void worlds_mutate(struct xk_rand *dice, uint8_t *f, unsigned len);

#endif
