/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inet_linger.h - passive sessions that outlive their first message.
 *
 * A session that a peer's message made is seldom kept by whoever is above, yet
 * making one for every message would cost more than the message.  So its own
 * protocol keeps the reference it made the session with, for a while: the list
 * holds one reference of each session in it, oldest first, and one timer gives
 * them back.  No message pays for it.  The list has a cap of its own, far below that of
 * sessions: peers that send one message and a forged address fill nothing else.  A protocol
 * at its cap of sessions takes back what nobody else holds.  Owner VP only.
 * Invariant: the list is in order of `since`, and never longer than `most`.
 */
#ifndef INET_LINGER_H
#define INET_LINGER_H

#include "runtime/upi/xk_upi.h"

/* Embedded in a protocol's session structure. */
struct inet_linger {
	struct inet_linger *next, *prev; /* next NULL: not in a list */
	struct xk_sess     *s;
	xk_ns               since;
};

struct inet_linger_list {
	struct inet_linger head;
	struct xk_timer    timer;
	struct xk_wheel   *wheel;
	xk_ns              timeout;      /* 0: nothing lingers */
	uint32_t           n, most;
};

void inet_linger_init(struct inet_linger_list *l, struct xk_wheel *w, xk_ns timeout, uint64_t most);
/* Gives everything back and takes nothing more; the timer is off afterwards.
 * Legal twice, and on zeroed memory. */
void inet_linger_drain(struct inet_linger_list *l);
/* Hands over the caller's reference to s; at the cap the oldest is given back. */
void inet_linger_add(struct inet_linger_list *l, struct inet_linger *i, struct xk_sess *s);
/* Takes s out for a new owner: drops the reference without closing.  Legal when
 * it is not in the list. */
void inet_linger_take(struct inet_linger_list *l, struct inet_linger *i);
/* True when only the list holds s. */
static inline bool inet_linger_alone(const struct inet_linger *i)
{
	return i->next != NULL && i->s->rcnt == 1;
}
/* Closes the oldest session that nobody else holds; looks at a few only. */
bool inet_linger_reclaim(struct inet_linger_list *l);

#endif
