/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * linger.h - passive sessions that outlive their first message.
 *
 * A session that a peer's message made is seldom kept by whoever is above, yet
 * making one for every message would cost more than the message.  So its own
 * protocol, a link or one above, keeps the reference it made the session with, for a
 * while: the list holds one reference of each session in it, oldest first, and one timer
 * gives them back.  No message pays for it.  The list has a cap of its own, far below that of
 * sessions: peers that send one message and a forged address fill nothing else.  A protocol
 * at its cap of sessions takes back what nobody else holds.  Owner VP only.
 * Invariant: the list is in order of `since`, and never longer than `most`.
 */
#ifndef LINGER_H
#define LINGER_H

#include "runtime/upi/xk_proto.h"
#include "runtime/vp/xk_timer.h"

/* Embedded in a protocol's session structure. */
struct linger_entry {
	struct xk_listed link;
	struct xk_sess *s;
	xk_ns           since;
};

struct linger_list {
	struct xk_list     list;
	struct xk_timer    timer;
	struct xk_wheel   *wheel;
	xk_ns              timeout;      /* 0: nothing lingers */
	uint32_t           n, most;
	xk_counter        *swept;        /* references given back, or NULL */
};

void linger_init(struct linger_list *l, struct xk_wheel *w, xk_ns timeout, uint64_t most,
		 xk_counter *swept);
/* Gives everything back and takes nothing more; the timer is off afterwards.
 * Legal twice, and on zeroed memory. */
void linger_drain(struct linger_list *l);
/* Hands over the caller's reference to s; at the cap the oldest is given back. */
void linger_add(struct linger_list *l, struct linger_entry *i, struct xk_sess *s);
/* Gives back those for which gone(s) holds. */
void linger_purge(struct linger_list *l, bool (*gone)(struct xk_sess *s));
/* Takes s out for a new owner, as if it were new: drops the reference without closing. */
void linger_adopt(struct linger_list *l, struct linger_entry *i, struct xk_rep *rcv, struct xk_node *type);
/* True when only the list holds s. */
bool linger_alone(const struct linger_entry *i);
/* True when one more fits: at the cap, the oldest that nobody else holds goes. */
bool linger_room(struct linger_list *l);
/* Closes the oldest session that nobody else holds; looks at a few only, and those that are held
 * stay another while. */
bool linger_reclaim(struct linger_list *l);

#endif
