/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_list.h - a list of structures that have a link in them, both ways.
 *
 * A link knows its neighbours alone, so it is taken out without its list; zeroed memory is an
 * empty list and a link that is in none.  Whoever shares a list guards it.
 *
 *   operation                    cost   legal when
 *   xk_list_first, last, empty   O(1)   always
 *   xk_list_put, put_first       O(1)   the link is in no list
 *   xk_list_take                 O(1)   always: nothing happens to a link in none
 *   xk_list_next                 O(1)   the link is in this list
 *
 * Invariant: a list that was ever used is a ring through its head; next and prev of a link are
 * NULL together, when it is in no list.
 */
#ifndef XK_LIST_H
#define XK_LIST_H

#include "runtime/base/xk_base.h"

static inline bool xk_is_listed(const struct xk_listed *i)
{
	return i->next != NULL;
}

static inline bool xk_list_empty(const struct xk_list *l)
{
	return l->head.next == NULL || l->head.next == &l->head;
}

/* The link behind i, NULL: i is the last. */
static inline struct xk_listed *xk_list_next(const struct xk_list *l, const struct xk_listed *i)
{
	return i->next != &l->head ? i->next : NULL;
}

static inline struct xk_listed *xk_list_first(const struct xk_list *l)
{
	return xk_list_next(l, &l->head);
}

static inline struct xk_listed *xk_list_last(const struct xk_list *l)
{
	return l->head.prev != &l->head ? l->head.prev : NULL;
}

/* Between two that are neighbours. */
static inline void xk_list_between(struct xk_listed *i, struct xk_listed *before, struct xk_listed *behind)
{
	i->prev = before;
	i->next = behind;
	before->next = i;
	behind->prev = i;
}

static inline void xk_list_ring(struct xk_list *l)
{
	if (l->head.next == NULL)
		l->head.next = l->head.prev = &l->head;
}

static inline void xk_list_put(struct xk_list *l, struct xk_listed *i)
{
	xk_list_ring(l);
	xk_list_between(i, l->head.prev, &l->head);
}

static inline void xk_list_put_first(struct xk_list *l, struct xk_listed *i)
{
	xk_list_ring(l);
	xk_list_between(i, &l->head, l->head.next);
}

static inline void xk_list_take(struct xk_listed *i)
{
	if (!xk_is_listed(i))
		return;
	i->next->prev = i->prev;
	i->prev->next = i->next;
	i->next = i->prev = NULL;
}

#endif
