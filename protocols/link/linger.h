/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * linger.h - passive sessions that outlive their first message.
 *
 * A link's receiver seldom keeps the sessions it is told about, yet making one
 * for every message would cost more than the message.  So the protocol that
 * made a passive session holds one reference itself and gives it back after one
 * to two periods, when the enable goes, when its table is full, or at stop; who
 * else holds the session is not disturbed.  No message pays for it.
 * Owner VP only.  Invariant: n is the number of sessions marked as lingering.
 */
#ifndef LINGER_H
#define LINGER_H

#include "runtime/upi/xk_upi.h"

struct linger {
	struct xk_rep  *rep;
	struct xk_timer timer;
	xk_ns           period;
	uint32_t        n, cap, pass;
	xk_counter     *swept;            /* counts references given back, or NULL */
};

void linger_init(struct linger *l, struct xk_rep *r, xk_ns period, uint32_t cap, xk_counter *swept);
/* True when one more fits: at the cap, what nobody else holds goes first. */
bool linger_room(struct linger *l);
/* Takes the reference and starts the clock.  s must be bound. */
void linger_add(struct linger *l, struct xk_sess *s);
/* Gives the reference back early (a refused session); legal when there is none. */
void linger_end(struct linger *l, struct xk_sess *s);
/* Gives back those for which gone(s) holds. */
void linger_purge(struct linger *l, bool (*gone)(struct xk_sess *s));
/* Gives all back and stops the clock.  Legal on zeroed memory. */
void linger_stop(struct linger *l);

#endif
