/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sync_adaptive.c - the adaptive lock: spins while that is likely to be enough,
 * then sleeps.
 *
 * The adaptive mutex of Solaris spins while the owner runs and sleeps when it does
 * not; a Linux process cannot ask whether another of its threads has a processor.
 * So a waiter spins up to twice as long as those before it had to (the kernel's
 * and the C library's rule), and sleeps in the kernel after that; on a single
 * processor, where nobody can release what is spun on, it sleeps at once.  The
 * word is 0 free, 1 held, 2 held and somebody may sleep, as in Drepper,
 * "Futexes Are Tricky".
 * Invariant: a sleeper leaves the word at 2 until it is woken, so that no release
 * that it must hear of goes without a wake.
 */
#include "runtime/sync/xk_sync.h"

#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SPIN_MOST  1000
#define SPIN_LEAST 10

struct adaptive {
	uint32_t word;
	int32_t  usual;                  /* spins that were enough, eighths decay; written by the holder */
	uint64_t spun, slept;            /* acquisitions by spinning, by sleeping; written by the holder */
};
_Static_assert(sizeof(struct adaptive) <= sizeof(struct xk_lock), "it fits");

static struct adaptive *adaptive_of(struct xk_lock *l) { return (struct adaptive *)l->opaque; }

/* 0: not asked yet. */
static long processors;

static bool may_spin(void)
{
	long n = xk_load_relaxed(&processors);

	if (XK_UNLIKELY(n == 0)) {
		n = sysconf(_SC_NPROCESSORS_ONLN);
		xk_store_relaxed(&processors, n);
	}
	return n > 1;
}

static void adaptive_sleep(uint32_t *word, uint32_t while_it_is)
{
	if (syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, while_it_is, NULL, NULL, 0) != 0)
		xk_assert(errno == EAGAIN || errno == EINTR);
}

static void adaptive_init(struct xk_lock *l)
{
	memset(l, 0, sizeof *l);
}

static void adaptive_fini(struct xk_lock *l)
{
	xk_assert(xk_load_relaxed(&adaptive_of(l)->word) == 0);
}

static bool adaptive_try(struct xk_lock *l)
{
	struct adaptive *a = adaptive_of(l);
	uint32_t free = 0;

	return xk_load_relaxed(&a->word) == 0 && xk_atomic_cas(&a->word, &free, 1u);
}

/* Spins; how often, negative when it did not help. */
static int32_t adaptive_spin(struct xk_lock *l)
{
	int32_t most = 2 * xk_load_relaxed(&adaptive_of(l)->usual) + SPIN_LEAST;

	if (most > SPIN_MOST)
		most = SPIN_MOST;
	for (int32_t n = 0; n < most; n++) {
		if (adaptive_try(l))
			return n;
		xk_cpu_relax();
	}
	return -1 - most;
}

static XK_NOINLINE void adaptive_contend(struct xk_lock *l)
{
	struct adaptive *a = adaptive_of(l);
	int32_t n = may_spin() ? adaptive_spin(l) : -1, spins = n < 0 ? -1 - n : n;

	if (n < 0)
		while (xk_atomic_xchg(&a->word, 2u) != 0)
			adaptive_sleep(&a->word, 2);
	xk_store_relaxed(&a->usual, a->usual + (spins - a->usual) / 8);
	xk_store_relaxed(&a->spun, a->spun + (n >= 0));
	xk_store_relaxed(&a->slept, a->slept + (n < 0));
}

static void adaptive_lock(struct xk_lock *l)
{
	uint32_t free = 0;

	if (XK_UNLIKELY(!xk_atomic_cas(&adaptive_of(l)->word, &free, 1u)))
		adaptive_contend(l);
}

static void adaptive_unlock(struct xk_lock *l)
{
	uint32_t *word = &adaptive_of(l)->word, was = xk_atomic_xchg(word, 0u);

	xk_assert(was != 0);
	if (was == 2)
		(void)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

const struct xk_lock_ops xk_lock_adaptive = {
	"adaptive", adaptive_init, adaptive_fini, adaptive_lock, adaptive_try, adaptive_unlock,
	adaptive_lock, adaptive_unlock, adaptive_try,
};

void xk_lock_adaptive_ways(const struct xk_lock *l, uint64_t *spun, uint64_t *slept)
{
	const struct adaptive *a = (const struct adaptive *)l->opaque;

	*spun = xk_load_relaxed(&a->spun);
	*slept = xk_load_relaxed(&a->slept);
}
