/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs_pipe.c - how many SDUs under way fill a line that loses, and no more.
 *
 * What a sender has under way beyond that waits in the line's queue, and so does what it repeats: a hole is then
 * closed late, and the receiver's buffers fill behind it.  So once something was lost the rule of FAST TCP holds (Wei,
 * Jin, Low, Hegde 2006, eq. 1): as many SDUs as a round trip without a queue takes, and PIPE_QUEUE more, so that the
 * line is never idle; half of the way there in a round.  Chance delays single SDUs, a queue all of them: the round
 * trip with it is the least one of a round.  Every PIPE_ROUNDS rounds the queue is left to run dry, and the round trip
 * without one is measured anew, since routes change.  A part of the window is then kept free, for repeats to have
 * credit while all other buffers are occupied behind a hole.
 * Invariant: limit is 1 to NCS_WINDOW_MAX, and that while it is off; now is the least round trip since `round` began.
 */
#include "protocols/ncs/ncs_policy.h"

#define PIPE_QUEUE  6u
#define PIPE_ROUNDS 128u

void ncs_pipe_init(struct ncs_pipe *p, const struct ncs_agreed *a, uint32_t window)
{
	uint32_t buffers = a->most - a->most / 8;

	*p = (struct ncs_pipe){ .limit = NCS_WINDOW_MAX, .least = XK_NS_NEVER, .now = XK_NS_NEVER, .shared = a->newreno,
				.window = a->most == 0 || window < buffers ? window : buffers };
}

void ncs_pipe_begin(struct ncs_pipe *p, uint32_t under_way, uint32_t tx)
{
	if (p->on || p->shared)
		return;
	p->on = true;
	p->limit = under_way != 0 ? under_way : 1;
	p->round = tx;
	p->now = XK_NS_NEVER;
}

bool ncs_pipe_may(const struct ncs_pipe *p, uint32_t unfinished, uint32_t under_way)
{
	return !p->on || (unfinished < p->window && under_way < p->limit);
}

bool ncs_pipe_asks(const struct ncs_pipe *p, uint32_t tx)
{
	return p->on && tx % (p->limit / 8 + 1) == 0;
}

/* A round is over.  What is sent in one is answered in the next, or at its end: after one in which the queue ran dry
 * the least of both counts. */
static void over(struct ncs_pipe *p)
{
	uint32_t n;

	if (p->now < p->least || p->rounds == PIPE_ROUNDS)
		p->least = p->now;
	if (p->rounds > PIPE_ROUNDS)
		p->rounds = 0;
	n = (uint32_t)((double)p->limit * (double)p->least / (double)p->now);
	p->rounds++;
	if (p->rounds == PIPE_ROUNDS) {
		p->before = p->limit;
		n -= n / 4;
	} else if (p->rounds == PIPE_ROUNDS + 1) {
		n = p->before;
	} else if (n + PIPE_QUEUE <= p->limit || p->high >= p->limit) {
		n = (p->limit + n + PIPE_QUEUE + 1) / 2;  /* more than before only if that was used */
	} else {
		n = p->limit;
	}
	p->limit = n < 1 ? 1 : n < NCS_WINDOW_MAX ? n : NCS_WINDOW_MAX;
}

void ncs_pipe_sample(struct ncs_pipe *p, xk_ns t, uint32_t under_way, uint32_t answered, uint32_t tx)
{
	t = t > 0 ? t : 1;
	p->now = t < p->now ? t : p->now;
	p->high = under_way > p->high ? under_way : p->high;
	if (!p->on)
		p->least = p->now;
	if (!p->on || ncs_lt(answered, p->round))
		return;
	over(p);
	p->round = tx;
	p->high = 0;
	p->now = XK_NS_NEVER;
}
