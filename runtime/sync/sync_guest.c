/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sync_guest.c - threads that the runtime did not make, and that come to call it.
 *
 * A program's own thread cannot be asked to say good-bye to a library, so a
 * destructor of thread storage does it when the thread ends.  It runs after the
 * thread's last call and before its storage goes.
 * Who answers a call wakes the caller from inside a VP, that is as a reader, and may do so
 * when the caller has seen the answer and gone on: so the event outlives all readers.
 * Invariant: `mine.fit` is true exactly while the thread counts as registered here.
 */
#include "runtime/sync/xk_sync.h"

#include <pthread.h>

static struct { pthread_key_t key; pthread_once_t once; } goodbye = { .once = PTHREAD_ONCE_INIT };
static _Thread_local struct { struct xk_event event, call; bool fit, calls; } mine;

static void guest_ends(void *arg)
{
	(void)arg;
	if (mine.calls) {
		xk_rcu_synchronize();
		xk_event_fini(&mine.call);
	}
	xk_event_fini(&mine.event);
	mine.fit = mine.calls = false;
	xk_rcu_unregister();
}

static void make_key(void)
{
	int err = pthread_key_create(&goodbye.key, guest_ends);

	xk_assert(err == 0);
}

static XK_NOINLINE bool guest_begins(void)
{
	if (xk_event_init(&mine.event) != XK_OK)
		return false;
	(void)pthread_once(&goodbye.once, make_key);
	/* Any value but NULL: it is what makes the destructor run. */
	if (pthread_setspecific(goodbye.key, &mine) != 0) {
		xk_event_fini(&mine.event);
		return false;
	}
	xk_rcu_register();
	return mine.fit = true;
}

struct xk_event *xk_guest_event(void)
{
	if (XK_UNLIKELY(!mine.fit) && !guest_begins())
		return NULL;
	return &mine.event;
}

struct xk_event *xk_guest_call_event(void)
{
	if (XK_UNLIKELY(!mine.calls) && (xk_guest_event() == NULL || xk_event_init(&mine.call) != XK_OK))
		return NULL;
	mine.calls = true;
	return &mine.call;
}
