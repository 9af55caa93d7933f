/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sched_per.c - a queue for each processor: a run waits for its home, and where more wait than
 * `depth`, any processor with nothing of its own helps.
 *
 * Without help this is Wired-Streams (Salehi and others 1995, 2.1): what a stream writes stays in
 * one cache, and a processor may be free while packets wait.  With a depth of 0 others take what
 * the home cannot take at once, which is work stealing; between the two a home keeps what it can
 * run soon, and others help where a burst has come.
 * Invariant: a queue is in the list of deep ones while more wait in it than `depth`; while one is,
 * no processor is free that nobody has started for it.
 */
#include "runtime/vp/sched_priv.h"

static struct sched_link *deep_head(struct xk_sched *s) { return &s->proc[s->conf.nprocs].deep; }

static void deep_enter(struct xk_sched *s, unsigned p)
{
	struct sched_link *head = deep_head(s);

	s->proc[p].deep = (struct sched_link){ .next = (uint16_t)s->conf.nprocs, .prev = head->prev };
	s->proc[head->prev].deep.next = (uint16_t)p;
	head->prev = (uint16_t)p;
	s->proc[p].is_deep = true;
}

static void deep_leave(struct xk_sched *s, unsigned p)
{
	struct sched_link l = s->proc[p].deep;

	s->proc[l.prev].deep.next = l.next;
	s->proc[l.next].deep.prev = l.prev;
	s->proc[p].is_deep = false;
}

/* The queue that has been deep longest, NULL: none is. */
static struct sched_proc *deep_first(struct xk_sched *s)
{
	unsigned p = deep_head(s)->next;

	return p == s->conf.nprocs ? NULL : &s->proc[p];
}

/* p's queue has grown or shrunk. */
static void deep_look(struct xk_sched *s, unsigned p)
{
	bool deep = s->proc[p].queue.waiting > s->conf.depth;

	if (deep == s->proc[p].is_deep)
		return;
	if (deep)
		deep_enter(s, p);
	else
		deep_leave(s, p);
}

static void per_put(struct xk_sched *s, struct xk_sched_run *r)
{
	sched_put(&s->proc[r->home].queue, r);
	deep_look(s, r->home);
}

static void per_woken(struct xk_sched *s, struct xk_sched_run *r)
{
	s->proc[r->home].queue.waiting++;
	deep_look(s, r->home);
}

static struct xk_sched_run *per_take_of(struct xk_sched *s, unsigned p)
{
	struct xk_sched_run *r = sched_get(&s->proc[p].queue);

	if (r != NULL)
		deep_look(s, p);
	return r;
}

static struct xk_sched_run *per_take(struct xk_sched *s, unsigned p)
{
	struct xk_sched_run *r = per_take_of(s, p);
	struct sched_proc *deep;

	if (r != NULL || (deep = deep_first(s)) == NULL)
		return r;
	return per_take_of(s, (unsigned)(deep - s->proc));
}

static bool per_has(const struct xk_sched *s, unsigned p)
{
	return s->proc[p].queue.waiting != 0 || s->proc[s->conf.nprocs].deep.next != s->conf.nprocs;
}

static unsigned per_start(struct xk_sched *s, const struct xk_sched_run *r)
{
	if (s->proc[r->home].state == SCHED_FREE)
		return r->home;
	return s->proc[r->home].is_deep ? sched_pick(s) : XK_SCHED_NONE;
}

static struct xk_sched_run *per_drain(struct xk_sched *s)
{
	struct xk_sched_run *r = NULL;

	for (unsigned p = 0; r == NULL && p < s->conf.nprocs; p++)
		r = per_take_of(s, p);
	return r;
}

const struct sched_ops sched_per = {
	.put = per_put, .woken = per_woken, .take = per_take, .has = per_has, .start = per_start, .drain = per_drain,
};
