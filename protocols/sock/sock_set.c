/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sock_set.c - many sockets that one thread waits for, without looking at each of them.
 *
 * A member is a waiter that stays linked to its socket.  What makes the socket ready adds to the
 * member's `fired` inside the socket's VP; whoever finds nothing there puts the member into the
 * set's queue and wakes the set's owner.  The owner takes the queue, and each member's events with
 * one exchange: no VP is entered to wait.
 *
 * A member ends in one of two ways.  The owner removes it: once inside its VP it is unlinked, and
 * fires no more; where it stands in the queue still, it is freed as it is taken from there.  Or the
 * socket ends: it lets the member go, which comes to the queue for the last time.
 * Invariant: a member is freed by the owner, once, when no VP will touch it any more.
 */
#include "protocols/sock/sock_priv.h"

#include "runtime/base/xk_clock.h"
#include "runtime/sync/xk_sync.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"
#include "runtime/upi/xk_vps.h"

#define GONE (1u << 16)          /* in `fired`, beside poll's events: the socket has let go */

struct sock_member {
	struct sock_waiter  w;
	struct xk_sock_set *set;
	uint64_t            data;
	int                 fd;
	uint32_t            fired;       /* atomically; not 0: in the set's queue, or on its way there */
	uint32_t            gone;        /* the socket's VP is through with it */
	struct sock_member *behind;      /* in the queue */
	/* The owner's. */
	struct xk_listed    link;        /* of the set */
	bool                removed;
};

struct xk_sock_set {
	struct xk_event     event;
	struct sock_member *ready;       /* newest first; atomically */
	struct xk_node     *node;
	uint32_t            inside;      /* its owner waits */
	struct xk_listed    link;        /* of the node; under its lock */
	/* The owner's. */
	struct sock_member *first, **last;  /* what was taken of `ready`, oldest first */
	struct xk_list      members;
};

static struct sock_member *member_of(struct sock_waiter *w)
{
	return xk_container_of(w, struct sock_member, w);
}

/* ---- inside the VP ---------------------------------------------------------------------- */

void sock_set_fire(struct sock_waiter *w, uint32_t events)
{
	struct sock_member *m = member_of(w), *head;
	struct xk_sock_set *set = m->set;

	/* Told and not taken yet: who takes it looks at the socket after that, when we have left. */
	if ((xk_load_relaxed(&m->fired) & events) == events || xk_atomic_or(&m->fired, events) != 0)
		return;
	head = xk_load_relaxed(&set->ready);
	do
		m->behind = head;
	while (!xk_atomic_cas(&set->ready, &head, m));
	xk_event_wake(&set->event);
}

void sock_set_leave(struct sock *sk)
{
	for (struct xk_listed *i = xk_list_first(&sk->waiters), *next; i != NULL; i = next) {
		struct sock_waiter *w = sock_waiter_of(i);

		next = xk_list_next(&sk->waiters, i);
		if (w->event != NULL)
			continue;
		sock_waiter_unlink(w);
		sock_set_fire(w, GONE);
		xk_store_release(&member_of(w)->gone, 1u);
	}
}

static struct sock_member *find(const struct sock *sk, const struct xk_sock_set *set)
{
	for (struct xk_listed *i = xk_list_first(&sk->waiters); i != NULL; i = xk_list_next(&sk->waiters, i)) {
		struct sock_waiter *w = sock_waiter_of(i);

		if (w->event == NULL && member_of(w)->set == set)
			return member_of(w);
	}
	return NULL;
}

static int64_t add_op(struct sock *sk, void *arg)
{
	struct sock_member *m = arg;
	uint32_t events;

	if (sk->closed)
		return XK_E_BADF;
	if (find(sk, m->set) != NULL)
		return XK_E_EXIST;
	sock_waiter_link(sk, &m->w);
	events = (uint16_t)(sock_ready(sk) & (m->w.events | SOCK_ALWAYS));
	if (events != 0)
		sock_set_fire(&m->w, events);
	return XK_OK;
}

struct removal { const struct xk_sock_set *set; struct sock_member *m; };

static int64_t remove_op(struct sock *sk, void *arg)
{
	struct removal *r = arg;

	r->m = find(sk, r->set);
	if (r->m == NULL)
		return sk->closed ? XK_E_BADF : XK_E_NOENT;
	sock_waiter_unlink(&r->m->w);
	return XK_OK;
}

/* ---- the owner's ------------------------------------------------------------------------- */

static void member_free(struct sock_member *m)
{
	xk_list_take(&m->link);
	xk_free(m);
}

int xk_sock_set_new(struct xk_node *n, struct xk_sock_set **set)
{
	struct sock_node *sn = sock_node(n);
	struct xk_sock_set *s;
	int err;

	*set = NULL;
	if (!sock_is_sock(n))
		return XK_E_INVAL;
	s = xk_alloc(sizeof *s);
	if (s == NULL)
		return XK_E_NOMEM;
	err = xk_event_init(&s->event);
	if (err != XK_OK) {
		xk_free(s);
		return err;
	}
	s->node = n;
	s->last = &s->first;
	xk_mutex_lock(&sn->lock);
	xk_list_put_first(&sn->sets, &s->link);
	xk_mutex_unlock(&sn->lock);
	*set = s;
	return XK_OK;
}

int xk_sock_set_add(struct xk_sock_set *set, int fd, short events, uint64_t data)
{
	struct sock_member *m;
	struct sock *sk;
	int err = sock_hold(fd, &sk);

	if (err != XK_OK)
		return err;
	m = sk->node == set->node ? xk_alloc(sizeof *m) : NULL;
	if (m != NULL) {
		*m = (struct sock_member){ .w.events = events, .set = set, .data = data, .fd = fd };
		err = (int)sock_do(sk, add_op, m);
	} else {
		err = sk->node == set->node ? XK_E_NOMEM : XK_E_INVAL;
	}
	sock_put(sk);
	if (err != XK_OK) {
		xk_free(m);
		return err;
	}
	xk_list_put_first(&set->members, &m->link);
	return XK_OK;
}

int xk_sock_set_remove(struct xk_sock_set *set, int fd)
{
	struct removal r = { .set = set };
	struct sock *sk;
	int err = sock_hold_longer(fd, &sk);

	if (err != XK_OK)
		return err;
	err = (int)sock_do(sk, remove_op, &r);
	sock_put(sk);
	if (err != XK_OK)
		return err;
	if (xk_load_acquire(&r.m->fired) == 0)
		member_free(r.m);
	else
		r.m->removed = true;
	return XK_OK;
}

/* What has come to the queue goes behind what was taken of it before. */
static void collect(struct xk_sock_set *set)
{
	struct sock_member *newest, *oldest = NULL;

	if (xk_load_relaxed(&set->ready) == NULL)
		return;
	newest = xk_atomic_xchg(&set->ready, NULL);
	for (struct sock_member *m = newest, *behind; m != NULL; m = behind) {
		behind = m->behind;
		m->behind = oldest;
		oldest = m;
	}
	*set->last = oldest;
	set->last = &newest->behind;
}

/* The oldest; its events, 0: it is none of the owner's any more. */
static uint32_t take_one(struct xk_sock_set *set, struct sock_member **member)
{
	struct sock_member *m = *member = set->first;
	uint32_t fired;

	set->first = m->behind;
	if (set->first == NULL)
		set->last = &set->first;
	fired = xk_atomic_xchg(&m->fired, 0u);   /* from here on it may stand in the queue again */
	if (XK_LIKELY(!m->removed && (fired & GONE) == 0))
		return fired;
	while ((fired & GONE) != 0 && xk_load_acquire(&m->gone) == 0)
		xk_thread_yield();
	member_free(m);
	return 0;
}

static unsigned take(struct xk_sock_set *set, struct xk_sock_ready *ready, unsigned max)
{
	unsigned n = 0;

	collect(set);
	while (n < max && set->first != NULL) {
		struct sock_member *m;
		uint32_t events = take_one(set, &m);

		if (events != 0)
			ready[n++] = (struct xk_sock_ready){ m->data, m->fd, (short)events };
	}
	return n;
}

/* Asleep until there is something; 0: the time is over, or the sockets were stopped. */
static unsigned sleep_and_take(struct xk_sock_set *set, struct xk_sock_ready *ready, unsigned max, uint64_t timeout)
{
	uint64_t begin = xk_clock_host(), left = timeout;
	unsigned n;

	for (;;) {
		xk_event_prepare(&set->event);
		n = take(set, ready, max);
		if (timeout != XK_NS_NEVER) {
			uint64_t past = xk_clock_host() - begin;

			left = timeout > past ? timeout - past : 0;
		}
		if (n != 0 || left == 0 || sock_stopping(set->node)) {
			xk_event_cancel(&set->event);
			return n;
		}
		xk_vp_wait(xk_node_only_vp(set->node), &set->event, left);
	}
}

int xk_sock_set_wait(struct xk_sock_set *set, struct xk_sock_ready *ready, unsigned max, uint64_t timeout_ns)
{
	bool runs = xk_node_running(set->node);
	int n;

	xk_store_release(&set->inside, 1u);
	n = (int)(timeout_ns == 0 || !runs ? take(set, ready, max) : sleep_and_take(set, ready, max, timeout_ns));
	if (n == 0 && sock_stopping(set->node))
		n = XK_E_SHUTDOWN;
	xk_store_release(&set->inside, 0u);
	return n;
}

/*
 * What woke the event before is forgotten first: whoever fires after that either finds it armed and writes, or has
 * put its member into the queue, where it is seen below.
 */
int xk_sock_set_arm(struct xk_sock_set *set)
{
	int fd = xk_event_arm(&set->event);

	return set->first != NULL || xk_load_acquire(&set->ready) != NULL ? XK_E_AGAIN : fd;
}

/* It fires no more: it is unlinked, or its socket is through with it. */
static void member_end(struct xk_sock_set *set, struct sock_member *m)
{
	struct sock *sk = m->removed ? NULL : sock_get(m->fd);
	struct removal r = { .set = set };

	if (sk != NULL) {
		(void)sock_do(sk, remove_op, &r);
		sock_put(sk);
	}
	while (!m->removed && r.m == NULL && xk_load_acquire(&m->gone) == 0)
		xk_thread_yield();
	member_free(m);
}

void xk_sock_set_free(struct xk_sock_set *set)
{
	struct sock_node *sn;

	if (set == NULL)
		return;
	sn = sock_node(set->node);
	xk_guest_event();
	while (!xk_list_empty(&set->members))
		member_end(set, xk_container_of(xk_list_first(&set->members), struct sock_member, link));
	xk_mutex_lock(&sn->lock);
	xk_list_take(&set->link);
	xk_mutex_unlock(&sn->lock);
	xk_event_fini(&set->event);
	xk_free(set);
}

void sock_sets_stop(struct xk_node *n)
{
	struct sock_node *sn = sock_node(n);

	xk_mutex_lock(&sn->lock);
	for (struct xk_listed *i = xk_list_first(&sn->sets); i != NULL; i = xk_list_next(&sn->sets, i)) {
		struct xk_sock_set *s = xk_container_of(i, struct xk_sock_set, link);

		xk_event_wake(&s->event);
		while (xk_load_acquire(&s->inside) != 0)
			xk_thread_yield();
	}
	xk_mutex_unlock(&sn->lock);
}
