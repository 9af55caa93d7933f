/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sched_pick.c - which of the free processors starts: the one released last or first, the lowest
 * number, or any.
 *
 * Most recently used first keeps the code in few caches and lets the others be others'; least
 * recently used first shows what that is worth (Salehi and others 1995, 2.1).
 * Invariant: a processor is in the list, has its bit, and is in the state FREE, or none of these.
 */
#include "runtime/vp/sched_priv.h"

/* In front: the most recently used. */
void sched_pick_free(struct xk_sched *s, unsigned p)
{
	uint16_t head = (uint16_t)s->conf.nprocs, next = s->proc[head].free.next;

	s->proc[p].free = (struct sched_link){ .next = next, .prev = head };
	s->proc[next].free.prev = s->proc[head].free.next = (uint16_t)p;
	s->bits[p / 64] |= 1ull << p % 64;
	s->proc[p].state = SCHED_FREE;
	s->nfree++;
}

void sched_pick_take(struct xk_sched *s, unsigned p)
{
	struct sched_link l = s->proc[p].free;

	s->proc[l.prev].free.next = l.next;
	s->proc[l.next].free.prev = l.prev;
	s->bits[p / 64] &= ~(1ull << p % 64);
	s->nfree--;
}

/* The k-th of the free ones by number; there are more than k. */
static unsigned pick_kth(const struct xk_sched *s, unsigned k)
{
	unsigned w = 0, n;
	uint64_t bits;

	while (k >= (n = (unsigned)__builtin_popcountll(s->bits[w]))) {
		k -= n;
		w++;
	}
	for (bits = s->bits[w]; k != 0; k--)
		bits &= bits - 1;
	return w * 64 + (unsigned)__builtin_ctzll(bits);
}

unsigned sched_pick(struct xk_sched *s)
{
	const struct sched_link *head = &s->proc[s->conf.nprocs].free;

	if (s->nfree == 0)
		return XK_SCHED_NONE;
	switch (s->conf.pick) {
	case XK_PICK_MRU:    return head->next;
	case XK_PICK_LRU:    return head->prev;
	case XK_PICK_LOW:    return pick_kth(s, 0);
	case XK_PICK_RANDOM: break;
	}
	return pick_kth(s, (unsigned)xk_rand_below(&s->rand, s->nfree));
}
