/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_base.h - the words every room shares: result codes, assertions, alignment.
 *
 * Any thread may use everything here; nothing blocks or allocates.
 */
#ifndef XK_BASE_H
#define XK_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/xk_err.h"

#define XK_CACHELINE 64
#define XK_ALIGNED __attribute__((aligned(XK_CACHELINE)))
#define XK_LIKELY(x) __builtin_expect(!!(x), 1)
#define XK_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define XK_NOINLINE __attribute__((noinline, cold))  /* what is rare: it, and the way to it, is made small */
#define XK_APART __attribute__((noinline))           /* what is not */
/* In a descriptor: a function of <p>_fast.c, which configure's --disable-fastpath leaves out of the
 * build, and what does the same without it; NULL where nothing is needed in its place. */
#ifdef XK_NO_FASTPATH
#define XK_FAST(fast, plain) plain
#else
#define XK_FAST(fast, plain) fast
#endif
#define XK_PLAIN XK_FAST(XK_NOINLINE, )  /* a function before which a fast one stands, if any: rare then */
#define XK_PRINTF(f, a) __attribute__((format(printf, f, a)))
#define XK_UNUSED __attribute__((unused))
#define XK_ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* A link in a structure, and a list of such (xk_list.h); zeroed, in no list and empty. */
struct xk_listed { struct xk_listed *next, *prev; };
struct xk_list { struct xk_listed head; };

/* Times of a graph (xk_clock.h). */
typedef uint64_t xk_ns;          /* nanoseconds since the graph started */
#define XK_US ((xk_ns)1000)
#define XK_MS ((xk_ns)1000000)
#define XK_SEC ((xk_ns)1000000000)
#define XK_NS_NEVER UINT64_MAX

#define xk_container_of(p, type, field) \
	((type *)(void *)((char *)(p) - offsetof(type, field)))

/* Prints the failed condition with its place and a backtrace, then aborts. */
void xk_panic(const char *file, int line, const char *fmt, ...)
	__attribute__((noreturn, cold)) XK_PRINTF(3, 4);

/* A caller's bug, checked in every build. */
#define xk_assert(c) \
	(XK_LIKELY(c) ? (void)0 : xk_panic(__FILE__, __LINE__, "assertion failed: %s", #c))

/* Checked only in the debug build (--enable-debug): may cost on the fast path. */
#ifdef XK_DEBUG
#define xk_dassert(c) xk_assert(c)
#else
#define xk_dassert(c) ((void)sizeof(!(c)))
#endif

/*
 * A counter has one writer (the thread inside its VP) and any readers.  The
 * writer's increment is one plain instruction; readers load it whole.  The
 * thread sanitizer wants the store spelled as an atomic, so it gets it.
 */
typedef uint64_t xk_counter;

#if defined(__SANITIZE_THREAD__)
#define XK_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define XK_TSAN 1
#endif
#endif

#ifdef XK_TSAN
#define xk_count_add(c, n) __atomic_store_n(&(c), (c) + (n), __ATOMIC_RELAXED)
#else
#define xk_count_add(c, n) ((void)((c) += (n)))
#endif
#define xk_count(c) xk_count_add(c, 1)
#define xk_counter_read(c) __atomic_load_n(&(c), __ATOMIC_RELAXED)

#endif
