/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sync_event.c - sleeping without lost wake-ups, waking without a system call
 * when nobody sleeps.
 *
 * The state says whether the waiter is about to sleep; only then does a waker
 * write the eventfd.  Both sides change the state by a read-modify-write, and
 * these are totally ordered: either the waker's comes first, and the waiter
 * sees SIGNALLED and with it the work published before; or the waiter's comes
 * first, and the waker sees ARMED and writes.  No fence is needed beyond that.
 *
 *	IDLE       nobody sleeps, nothing to tell
 *	ARMED      the waiter sleeps or is about to
 *	SIGNALLED  woken since the last wait; stays until a wait consumes it
 *
 * A waker may write the eventfd after its waiter has left by time-out or
 * cancel; the next wait then returns early, which the contract allows.
 */
#include "runtime/base/xk_clock.h"
#include "runtime/sync/xk_sim.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum { IDLE, ARMED, SIGNALLED };

int xk_event_init(struct xk_event *e)
{
	e->state = IDLE;
	e->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	return e->fd < 0 ? -errno : XK_OK;
}

void xk_event_fini(struct xk_event *e)
{
	if (e->fd >= 0)
		close(e->fd);
	e->fd = -1;
}

void xk_event_wake(struct xk_event *e)
{
	const uint64_t one = 1;

	if (xk_atomic_xchg(&e->state, (uint32_t)SIGNALLED) != ARMED)
		return;
	if (xk_sim_self != NULL && xk_sim_wake(e))
		return;
	/* EAGAIN: the counter is full, so the waiter is told already. */
	while (write(e->fd, &one, sizeof one) < 0 && errno != EAGAIN)
		if (errno != EINTR)
			xk_panic(__FILE__, __LINE__, "eventfd: %s", strerror(errno));
}

void xk_event_prepare(struct xk_event *e)
{
	uint32_t idle = IDLE;

	/* On SIGNALLED it fails, and the wait will return at once. */
	(void)xk_atomic_cas(&e->state, &idle, (uint32_t)ARMED);
}

void xk_event_cancel(struct xk_event *e)
{
	uint32_t armed = ARMED;

	/* A wake in between stays for the next wait. */
	(void)xk_atomic_cas(&e->state, &armed, (uint32_t)IDLE);
}

bool xk_event_is_woken(const struct xk_event *e)
{
	return xk_load_acquire(&e->state) == SIGNALLED;
}

static void drain(int fd)
{
	uint64_t n;

	while (read(fd, &n, sizeof n) < 0 && errno == EINTR)
		;
}

int xk_event_arm(struct xk_event *e)
{
	/* A wake before this is forgotten; a late write of its eventfd is a wake too many. */
	(void)xk_atomic_xchg(&e->state, (uint32_t)IDLE);
	drain(e->fd);
	xk_event_prepare(e);
	return e->fd;
}

/* A descriptor of the host's is looked at now and then. */
#define LOOK_AGAIN (50 * XK_US)

static void wait_simulated(struct xk_event *e, uint64_t timeout_ns, bool looks)
{
	if (xk_load_acquire(&e->state) == ARMED)
		xk_sim_wait(e, looks && timeout_ns > LOOK_AGAIN ? LOOK_AGAIN : timeout_ns);
	(void)xk_atomic_xchg(&e->state, (uint32_t)IDLE);
}

void xk_event_wait(struct xk_event *e, uint64_t timeout_ns, const int *fds, unsigned n)
{
	struct pollfd p[1 + XK_EVENT_FDS];
	struct timespec ts;
	unsigned i;

	xk_assert(n <= XK_EVENT_FDS);
	if (xk_sim_self != NULL) {
		wait_simulated(e, timeout_ns, n != 0);
		return;
	}
	if (xk_load_acquire(&e->state) == ARMED) {
		p[0] = (struct pollfd){ .fd = e->fd, .events = POLLIN };
		for (i = 0; i < n; i++)
			p[1 + i] = (struct pollfd){ .fd = fds[i], .events = POLLIN };
		ts.tv_sec = (time_t)(timeout_ns / XK_SEC);
		ts.tv_nsec = (long)(timeout_ns % XK_SEC);
		/* A signal ends the sleep as a wake would. */
		if (ppoll(p, 1 + n, timeout_ns == XK_NS_NEVER ? NULL : &ts, NULL) > 0 && p[0].revents != 0)
			drain(e->fd);
	}
	/* Acquire: pairs with the exchange in wake. */
	(void)xk_atomic_xchg(&e->state, (uint32_t)IDLE);
}
