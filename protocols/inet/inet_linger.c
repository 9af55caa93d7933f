/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inet_linger.c - the list of lingering sessions and its timer.
 *
 * Invariant: the timer is armed whenever the list is not empty; it may fire
 * early (its oldest was taken since), never late.
 */
#include "protocols/inet/inet_linger.h"

/* Sessions given back in one firing: a timer must not hold its VP for long. */
#define LINGER_BATCH 64u
/* Sessions looked at when one has to go. */
#define LINGER_LOOK 8u

static void list_out(struct inet_linger_list *l, struct inet_linger *i)
{
	i->next->prev = i->prev;
	i->prev->next = i->next;
	i->next = i->prev = NULL;
	l->n--;
}

static void list_in(struct inet_linger_list *l, struct inet_linger *i)
{
	i->since = xk_vp_now();
	i->next = &l->head;
	i->prev = l->head.prev;
	i->prev->next = i;
	l->head.prev = i;
	l->n++;
}

static void give_back(struct inet_linger_list *l, struct inet_linger *i)
{
	list_out(l, i);
	xk_close(i->s);
}

static void linger_expire(struct xk_timer *t)
{
	struct inet_linger_list *l = xk_container_of(t, struct inet_linger_list, timer);
	xk_ns now = xk_vp_now();

	for (unsigned i = 0; i < LINGER_BATCH && l->n != 0; i++) {
		if (l->head.next->since + l->timeout > now)
			break;
		give_back(l, l->head.next);
	}
	if (l->n != 0)
		xk_timer_set(l->wheel, t, l->head.next->since + l->timeout);
}

void inet_linger_init(struct inet_linger_list *l, struct xk_wheel *w, xk_ns timeout, uint64_t most)
{
	l->head.next = l->head.prev = &l->head;
	l->wheel = w;
	l->timeout = timeout;
	l->most = (uint32_t)most;
	l->n = 0;
	xk_timer_init(&l->timer, linger_expire);
}

void inet_linger_drain(struct inet_linger_list *l)
{
	l->timeout = 0;
	while (l->n != 0)
		give_back(l, l->head.next);
	if (l->wheel != NULL)
		xk_timer_cancel(l->wheel, &l->timer);
}

void inet_linger_add(struct inet_linger_list *l, struct inet_linger *i, struct xk_sess *s)
{
	if (l->timeout == 0) {
		xk_close(s);
		return;
	}
	if (l->n >= l->most)
		give_back(l, l->head.next);
	i->s = s;
	list_in(l, i);
	if (l->n == 1)
		xk_timer_set(l->wheel, &l->timer, i->since + l->timeout);
}

void inet_linger_take(struct inet_linger_list *l, struct inet_linger *i)
{
	if (i->next == NULL)
		return;
	list_out(l, i);
	i->s->rcnt--;
}

bool inet_linger_reclaim(struct inet_linger_list *l)
{
	for (unsigned k = 0; k < LINGER_LOOK && l->n != 0; k++) {
		struct inet_linger *i = l->head.next;

		if (inet_linger_alone(i)) {
			give_back(l, i);
			return true;
		}
		/* Held by somebody: it may stay another while, and the next
		 * search need not meet it again. */
		list_out(l, i);
		list_in(l, i);
	}
	return false;
}
