/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * linger.c - the list of lingering sessions and its timer.
 *
 * Invariant: the timer is armed whenever the list is not empty; it may fire
 * early (its oldest was taken since), never late.
 */
#include "protocols/link/linger.h"

#include "runtime/base/xk_list.h"
#include "runtime/vp/xk_task.h"

/* Sessions given back in one firing: a timer must not hold its VP for long. */
#define LINGER_BATCH 64u
/* Sessions looked at when one has to go. */
#define LINGER_LOOK 8u

static struct linger_entry *linger_of(struct xk_listed *l)
{
	return l != NULL ? xk_container_of(l, struct linger_entry, link) : NULL;
}

static struct linger_entry *oldest(const struct linger_list *l)
{
	return linger_of(xk_list_first(&l->list));
}

static void list_out(struct linger_list *l, struct linger_entry *i)
{
	xk_list_take(&i->link);
	l->n--;
}

static void list_in(struct linger_list *l, struct linger_entry *i)
{
	i->since = xk_vp_now();
	xk_list_put(&l->list, &i->link);
	l->n++;
}

static void give_back(struct linger_list *l, struct linger_entry *i)
{
	list_out(l, i);
	if (l->swept != NULL)
		xk_count(*l->swept);
	xk_close(i->s);
}

static void linger_expire(struct xk_timer *t)
{
	struct linger_list *l = xk_container_of(t, struct linger_list, timer);
	xk_ns now = xk_vp_now();

	for (unsigned i = 0; i < LINGER_BATCH && l->n != 0; i++) {
		if (oldest(l)->since + l->timeout > now)
			break;
		give_back(l, oldest(l));
	}
	if (l->n != 0)
		xk_timer_set(l->wheel, t, oldest(l)->since + l->timeout);
}

void linger_init(struct linger_list *l, struct xk_wheel *w, xk_ns timeout, uint64_t most,
		 xk_counter *swept)
{
	l->list = (struct xk_list){ 0 };
	l->wheel = w;
	l->timeout = timeout;
	l->most = (uint32_t)most;
	l->n = 0;
	l->swept = swept;
	xk_timer_init(&l->timer, linger_expire);
}

void linger_drain(struct linger_list *l)
{
	l->timeout = 0;
	l->most = 0;
	while (l->n != 0)
		give_back(l, oldest(l));
	if (l->wheel != NULL)
		xk_timer_cancel(l->wheel, &l->timer);
}

void linger_add(struct linger_list *l, struct linger_entry *i, struct xk_sess *s)
{
	if (l->timeout == 0) {
		xk_close(s);
		return;
	}
	if (l->n >= l->most)
		give_back(l, oldest(l));
	i->s = s;
	list_in(l, i);
	if (l->n == 1)
		xk_timer_set(l->wheel, &l->timer, i->since + l->timeout);
}

/* The end of a session takes no other out of its list. */
void linger_purge(struct linger_list *l, bool (*gone)(struct xk_sess *s))
{
	for (struct linger_entry *i = oldest(l), *next; i != NULL; i = next) {
		next = linger_of(xk_list_next(&l->list, &i->link));
		if (gone(i->s))
			give_back(l, i);
	}
}

void linger_adopt(struct linger_list *l, struct linger_entry *i, struct xk_rep *rcv, struct xk_node *type)
{
	list_out(l, i);
	i->s->rcnt--;
	i->s->up = &rcv->up;
	xk_sess_set_type(i->s, type);
	i->s->flags &= XK_SESS_HOOKED;
}

bool linger_alone(const struct linger_entry *i)
{
	return xk_is_listed(&i->link) && i->s->rcnt == 1;
}

bool linger_room(struct linger_list *l)
{
	if (XK_LIKELY(l->n < l->most))
		return true;
	for (struct linger_entry *i = oldest(l); i != NULL; i = linger_of(xk_list_next(&l->list, &i->link))) {
		if (!linger_alone(i))
			continue;
		give_back(l, i);
		return true;
	}
	return false;
}

bool linger_reclaim(struct linger_list *l)
{
	for (unsigned k = 0; k < LINGER_LOOK && l->n != 0; k++) {
		struct linger_entry *i = oldest(l);

		if (linger_alone(i)) {
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
