/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sync_lock.c - the lock policies none, spin, mutex and reader/writer, and all by
 * their names.
 *
 * A policy is a const table over the same storage, so that a graph chooses by
 * name and no caller knows which it got.  A failing lock call is a bug of the
 * caller (destroyed, not held, wrong thread) and ends the program.  Every
 * acquisition and every release is seen by the counter of atomics, also those
 * that pthread does inside.  Invariant: storage that a policy has initialised
 * is touched by that policy only, until fini.
 */
#include "runtime/sync/xk_sync.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#define must(call) do { \
	int err_ = (call); \
	if (XK_UNLIKELY(err_ != 0)) \
		xk_panic(__FILE__, __LINE__, "%s: %s", #call, strerror(err_)); \
} while (0)

/* ---- none: one thread, or exclusion by other means ------------------------ */

static void none_do(struct xk_lock *l)
{
	(void)l;
}

static bool none_try(struct xk_lock *l)
{
	(void)l;
	return true;
}

const struct xk_lock_ops xk_lock_none = {
	"none", none_do, none_do, none_do, none_try, none_do, none_do, none_do, none_try,
};

/* ---- spin: test, then test and set ------------------------------------------ */

/* Spins on a load, so that waiters share the line until it changes; after a
 * while it lends the processor to a holder that may have lost it. */
#define SPINS 1000

static uint32_t *spin_word(struct xk_lock *l)
{
	return (uint32_t *)&l->opaque[0];
}

static void spin_init(struct xk_lock *l)
{
	memset(l, 0, sizeof *l);
}

static void spin_fini(struct xk_lock *l)
{
	xk_assert(xk_load_relaxed(spin_word(l)) == 0);
}

static bool spin_try(struct xk_lock *l)
{
	uint32_t *w = spin_word(l);

	return xk_load_relaxed(w) == 0 && xk_atomic_xchg(w, 1u) == 0;
}

static void spin_lock(struct xk_lock *l)
{
	uint32_t *w = spin_word(l);
	unsigned n = 0;

	while (xk_atomic_xchg(w, 1u) != 0)
		while (xk_load_relaxed(w) != 0) {
			xk_cpu_relax();
			if (++n % SPINS == 0)
				xk_thread_yield();
		}
}

static void spin_unlock(struct xk_lock *l)
{
	xk_assert(xk_load_relaxed(spin_word(l)) == 1);
	/* Release: pairs with the exchange of the next holder. */
	xk_store_release(spin_word(l), 0u);
}

const struct xk_lock_ops xk_lock_spin = {
	"spin", spin_init, spin_fini, spin_lock, spin_try, spin_unlock, spin_lock, spin_unlock,
	spin_try,
};

/* ---- mutex ------------------------------------------------------------------- */

_Static_assert(sizeof(pthread_mutex_t) <= sizeof(struct xk_lock), "a mutex fits");
_Static_assert(sizeof(pthread_mutex_t) <= sizeof(struct xk_mutex), "a mutex fits");
_Static_assert(_Alignof(pthread_mutex_t) <= _Alignof(struct xk_lock), "a mutex is aligned");

static void mtx_init(void *m)
{
	pthread_mutexattr_t a;

	memset(m, 0, sizeof(struct xk_mutex));
	must(pthread_mutexattr_init(&a));
#ifdef XK_DEBUG
	/* Tells a second lock by the holder and an unlock by a stranger. */
	must(pthread_mutexattr_settype(&a, PTHREAD_MUTEX_ERRORCHECK));
#endif
	must(pthread_mutex_init(m, &a));
	must(pthread_mutexattr_destroy(&a));
}

static void mtx_lock(void *m)
{
	XK_HANDOFF();
	must(pthread_mutex_lock(m));
	XK_STALL();
}

static bool mtx_try(void *m)
{
	int err;

	XK_HANDOFF();
	err = pthread_mutex_trylock(m);
	if (err == EBUSY)
		return false;
	must(err);
	return true;
}

static void mtx_unlock(void *m)
{
	XK_HANDOFF();
	must(pthread_mutex_unlock(m));
	XK_STALL();
}

static void mutex_init(struct xk_lock *l) { mtx_init(l->opaque); }
static void mutex_fini(struct xk_lock *l) { must(pthread_mutex_destroy((void *)l->opaque)); }
static void mutex_lock(struct xk_lock *l) { mtx_lock(l->opaque); }
static bool mutex_try(struct xk_lock *l) { return mtx_try(l->opaque); }
static void mutex_unlock(struct xk_lock *l) { mtx_unlock(l->opaque); }

const struct xk_lock_ops xk_lock_mutex = {
	"mutex", mutex_init, mutex_fini, mutex_lock, mutex_try, mutex_unlock, mutex_lock, mutex_unlock,
	mutex_try,
};

void xk_mutex_init(struct xk_mutex *m) { mtx_init(m->opaque); }
void xk_mutex_fini(struct xk_mutex *m) { must(pthread_mutex_destroy((void *)m->opaque)); }
void xk_mutex_lock(struct xk_mutex *m) { mtx_lock(m->opaque); }
bool xk_mutex_trylock(struct xk_mutex *m) { return mtx_try(m->opaque); }
void xk_mutex_unlock(struct xk_mutex *m) { mtx_unlock(m->opaque); }

/* ---- reader/writer -------------------------------------------------------------- */

_Static_assert(sizeof(pthread_rwlock_t) <= sizeof(struct xk_lock), "a reader/writer lock fits");

static pthread_rwlock_t *rw_of(struct xk_lock *l)
{
	return (pthread_rwlock_t *)l->opaque;
}

static void rw_init(struct xk_lock *l)
{
	pthread_rwlockattr_t a;

	memset(l, 0, sizeof *l);
	must(pthread_rwlockattr_init(&a));
	/* Tables are read all the time: a writer must keep new readers out, or
	 * it would never come in. */
	must(pthread_rwlockattr_setkind_np(&a, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP));
	must(pthread_rwlock_init(rw_of(l), &a));
	must(pthread_rwlockattr_destroy(&a));
}

static void rw_fini(struct xk_lock *l)
{
	must(pthread_rwlock_destroy(rw_of(l)));
}

static bool rw_try(struct xk_lock *l)
{
	int err;

	XK_HANDOFF();
	err = pthread_rwlock_trywrlock(rw_of(l));
	if (err == EBUSY)
		return false;
	must(err);
	return true;
}

static void rw_lock(struct xk_lock *l)
{
	XK_HANDOFF();
	must(pthread_rwlock_wrlock(rw_of(l)));
}

static void rw_rdlock(struct xk_lock *l)
{
	XK_HANDOFF();
	must(pthread_rwlock_rdlock(rw_of(l)));
}

static bool rw_tryrd(struct xk_lock *l)
{
	int err;

	XK_HANDOFF();
	err = pthread_rwlock_tryrdlock(rw_of(l));
	if (err == EBUSY || err == EAGAIN)
		return false;
	must(err);
	return true;
}

static void rw_unlock(struct xk_lock *l)
{
	XK_HANDOFF();
	must(pthread_rwlock_unlock(rw_of(l)));
}

const struct xk_lock_ops xk_lock_rw = {
	"rw", rw_init, rw_fini, rw_lock, rw_try, rw_unlock, rw_rdlock, rw_unlock, rw_tryrd,
};

/* ---- by name ----------------------------------------------------------------------- */

const struct xk_lock_ops *xk_lock_find(const char *name)
{
	static const struct xk_lock_ops *const all[] = {
		&xk_lock_none, &xk_lock_spin, &xk_lock_ticket, &xk_lock_mcs, &xk_lock_adaptive, &xk_lock_mutex,
		&xk_lock_rw,
	};
	size_t i;

	for (i = 0; i < XK_ARRAY_LEN(all); i++)
		if (strcmp(all[i]->name, name) == 0)
			return all[i];
	return NULL;
}
