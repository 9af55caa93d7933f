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

static struct { pthread_mutex_t lock; pthread_key_t key; bool made; } goodbye = { .lock = PTHREAD_MUTEX_INITIALIZER };
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

/* A process has so many keys, and may have none left. */
static bool has_key(void)
{
	bool made;

	pthread_mutex_lock(&goodbye.lock);
	if (!goodbye.made)
		goodbye.made = pthread_key_create(&goodbye.key, guest_ends) == 0;
	made = goodbye.made;
	pthread_mutex_unlock(&goodbye.lock);
	return made;
}

static XK_NOINLINE bool guest_begins(void)
{
	if (xk_event_init(&mine.event) != XK_OK)
		return false;
	/* Any value but NULL: it is what makes the destructor run. */
	if (!has_key() || pthread_setspecific(goodbye.key, &mine) != 0) {
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
