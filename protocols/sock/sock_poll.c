/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sock_poll.c - what a socket is ready for, who waits for it, and poll.
 *
 * Waiters hang on the socket and are touched inside its VP only, so a wake is a
 * walk over a short list and costs a load when nobody waits.  poll links one waiter
 * to each socket it looks at, all with the calling thread's event.
 * Invariant: whatever makes sock_ready answer more calls sock_wake.
 */
#include "protocols/sock/sock_priv.h"

#include "runtime/base/xk_clock.h"
#include "runtime/sync/xk_sync.h"
#include "runtime/upi/xk_inline.h"

/* ---- inside the VP ---------------------------------------------------------------- */

static short ready_in(const struct sock *sk)
{
	if (sk->type == XK_SOCK_DGRAM)
		return sk->rx.n != 0 || sk->shut_rd ? POLLIN : 0;
	if (sk->state == SOCK_LISTENING)
		return sk->acc_first != NULL ? POLLIN : 0;
	return sk->rx_bytes >= sk->opts.rcvlowat || sk->eof || sk->shut_rd || sk->state == SOCK_DEAD ? POLLIN : 0;
}

static short ready_out(struct sock *sk)
{
	if (sk->type == XK_SOCK_DGRAM)
		return POLLOUT;
	if (sk->state == SOCK_CONNECTED && !sk->shut_wr)
		return sock_stream_room(sk) > 0 ? POLLOUT : 0;
	return sk->state == SOCK_CONNECTING || sk->state == SOCK_LISTENING ? 0 : POLLOUT;
}

static bool hung_up(const struct sock *sk)
{
	return sk->type == XK_SOCK_STREAM &&
	       (sk->state == SOCK_IDLE || sk->state == SOCK_DEAD || (sk->eof && sk->shut_wr));
}

short sock_ready(struct sock *sk)
{
	int r = ready_in(sk) | ready_out(sk);

	if (sk->err != 0)
		r |= POLLERR | POLLIN | POLLOUT;
	if (hung_up(sk))
		r |= POLLHUP;
	if (sk->eof || sk->shut_rd)
		r |= POLLRDHUP;
	if (sk->urgent)
		r |= POLLPRI;
	if (sk->closed || sock_stopping(sk->node))
		r |= POLLNVAL;
	return (short)r;
}

void sock_wake(struct sock *sk, short events)
{
	for (struct xk_listed *i = xk_list_first(&sk->waiters); i != NULL; i = xk_list_next(&sk->waiters, i)) {
		struct sock_waiter *w = sock_waiter_of(i);
		uint32_t wanted = (uint16_t)((w->events | SOCK_ALWAYS) & events);

		if (wanted != 0 && w->event != NULL)
			xk_event_wake(w->event);
		else if (wanted != 0)
			sock_set_fire(w, wanted);
	}
}

void sock_waiter_link(struct sock *sk, struct sock_waiter *w)
{
	if (!xk_is_listed(&w->link))
		xk_list_put_first(&sk->waiters, &w->link);
}

void sock_waiter_unlink(struct sock_waiter *w)
{
	xk_list_take(&w->link);
}

/* ---- poll --------------------------------------------------------------------------- */

#define FEW 32u
/* linked: written for this thread only; the waiter itself is its neighbours', too. */
struct one { struct sock *sk; struct sock_waiter w; short found; bool link, linked; };

static int64_t look(struct sock *sk, void *arg)
{
	struct one *o = arg;

	o->found = (short)(sock_ready(sk) & (o->w.events | SOCK_ALWAYS));
	if (o->found == 0 && o->link && !o->linked) {
		sock_waiter_link(sk, &o->w);
		o->linked = true;
	}
	return XK_OK;
}

static int64_t leave(struct sock *sk, void *arg)
{
	(void)sk;
	sock_waiter_unlink(&((struct one *)arg)->w);
	return XK_OK;
}

/* Looks at all; waiters are linked until one is found that is ready. */
static int look_at_all(struct one *o, struct pollfd *p, unsigned n, bool wait)
{
	int count = 0;

	for (unsigned i = 0; i < n; i++) {
		p[i].revents = o[i].sk == NULL && p[i].fd >= 0 ? POLLNVAL : 0;
		if (o[i].sk != NULL) {
			o[i].link = wait && count == 0;
			sock_do(o[i].sk, look, &o[i]);
			p[i].revents = o[i].found;
		}
		count += p[i].revents != 0;
	}
	return count;
}

/* Of several sockets only one's VP can be run while they are waited for. */
static struct xk_vp *vp_of(const struct one *o, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (o[i].sk != NULL)
			return xk_load_acquire(&o[i].sk->vp);
	return NULL;
}

static int poll_held(struct one *o, struct pollfd *p, unsigned n, bool wait, uint64_t timeout)
{
	struct xk_event *event = xk_guest_event();
	uint64_t begin = xk_clock_host(), left = timeout, now;

	for (;;) {
		int count;

		if (wait)
			xk_event_prepare(event);
		count = look_at_all(o, p, n, wait);
		if (timeout != XK_NS_NEVER) {
			now = xk_clock_host() - begin;
			left = timeout > now ? timeout - now : 0;
		}
		if (wait && (count != 0 || left == 0))
			xk_event_cancel(event);
		if (!wait || count != 0 || left == 0)
			return count;
		xk_vp_wait(vp_of(o, n), event, left);
	}
}

static int poll_with(struct one *o, struct pollfd *p, unsigned n, uint64_t timeout)
{
	bool wait = timeout != 0, any = false;
	int res;

	for (unsigned i = 0; i < n; i++) {
		o[i] = (struct one){ .w = { .event = xk_guest_event(), .events = p[i].events } };
		if (sock_hold(p[i].fd, &o[i].sk) != XK_OK)
			o[i].sk = NULL;
		any = any || o[i].sk != NULL;
		if (o[i].sk != NULL && !sock_has_workers(o[i].sk))
			wait = false;
	}
	res = poll_held(o, p, n, wait && (any || n == 0), timeout);
	for (unsigned i = 0; i < n; i++) {
		if (o[i].sk == NULL)
			continue;
		if (o[i].linked)
			sock_do(o[i].sk, leave, &o[i]);
		sock_put(o[i].sk);
	}
	return res;
}

int xk_sock_poll(struct pollfd *p, unsigned n, uint64_t timeout_ns)
{
	struct one few[FEW], *o = few;
	int res;

	if (xk_guest_event() == NULL)
		return XK_E_MFILE;
	if (n > FEW)
		o = xk_alloc(n * sizeof *o);
	if (o == NULL)
		return XK_E_NOMEM;
	res = poll_with(o, p, n, timeout_ns);
	if (o != few)
		xk_free(o);
	return res;
}
