/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sync_fiber.c - fibers on Boost.Context's two C entry points.
 *
 * Only they are used, so only they are declared: the library's header is C++.  What
 * is switched to learns who stopped, and where, from a note on the other's stack
 * (struct hop), so that a fiber's place is written by whoever runs after it.
 * Around each switch the address sanitizer is told which stack comes next and the
 * thread sanitizer which fiber; valgrind knows the stacks.
 * Invariant: a fiber's `at` is its place while it is stopped and NULL while it runs.
 */
#include "runtime/sync/xk_fiber.h"
#include "runtime/sync/xk_sync.h"

const char xk_fiber_missing[] = "libboost-context-dev";

#ifdef XK_HAVE_FCONTEXT

#if defined(__SANITIZE_ADDRESS__)
#define FIBER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FIBER_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define FIBER_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FIBER_TSAN 1
#endif
#endif

#ifdef FIBER_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef FIBER_TSAN
#include <sanitizer/tsan_interface.h>
#endif
#if defined(__has_include)
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#endif
#endif
#ifndef VALGRIND_STACK_REGISTER
#define VALGRIND_STACK_REGISTER(from, to) 0u
#define VALGRIND_STACK_DEREGISTER(id) ((void)(id))
#endif

struct transfer { void *at, *data; };
struct transfer jump_fcontext(void *to, void *data);
void *make_fcontext(void *top, size_t size, void (*fn)(struct transfer));

struct hop { struct xk_fiber *from, *to; };

/* The running fiber is `to` of the hop that brought us here. */
static void arrived(struct transfer t, void *fake)
{
	struct hop *h = t.data;

	h->from->at = t.at;
	h->to->at = NULL;
#ifdef FIBER_ASAN
	__sanitizer_finish_switch_fiber(fake, &h->from->low, &h->from->size);
#else
	(void)fake;
#endif
}

static void begin(struct transfer t)
{
	struct xk_fiber *f = ((struct hop *)t.data)->to;

	arrived(t, NULL);
	f->fn(f->arg);
	xk_panic(__FILE__, __LINE__, "a fiber has returned");
}

bool xk_fiber_available(void) { return true; }

void xk_fiber_init(struct xk_fiber *f, void *low, size_t size, void (*fn)(void *), void *arg)
{
	*f = (struct xk_fiber){ .low = low, .size = size, .fn = fn, .arg = arg };
	f->at = make_fcontext((char *)low + size, size, begin);
	f->stack_id = VALGRIND_STACK_REGISTER(low, (char *)low + size);
#ifdef FIBER_TSAN
	f->tsan = __tsan_create_fiber(0);
#endif
}

void xk_fiber_fini(struct xk_fiber *f)
{
	VALGRIND_STACK_DEREGISTER(f->stack_id);
#ifdef FIBER_TSAN
	__tsan_destroy_fiber(f->tsan);
#endif
#ifdef FIBER_ASAN
	__asan_unpoison_memory_region(f->low, f->size);
#endif
	f->at = NULL;
}

void xk_fiber_switch(struct xk_fiber *from, struct xk_fiber *to)
{
	struct hop h = { from, to };
	struct transfer t;

	XK_STALL();
#ifdef FIBER_ASAN
	__sanitizer_start_switch_fiber(&from->fake, to->low, to->size);
#endif
#ifdef FIBER_TSAN
	from->tsan = __tsan_get_current_fiber();         /* a thread's own, or where it has gone from one */
	__tsan_switch_to_fiber(to->tsan, 0);
#endif
	t = jump_fcontext(to->at, &h);
	arrived(t, from->fake);
}

#else

bool xk_fiber_available(void) { return false; }
void xk_fiber_fini(struct xk_fiber *f) { (void)f; }

void xk_fiber_init(struct xk_fiber *f, void *low, size_t size, void (*fn)(void *), void *arg)
{
	(void)f;
	(void)low;
	(void)size;
	(void)fn;
	(void)arg;
	xk_panic(__FILE__, __LINE__, "fibers need %s", xk_fiber_missing);
}

void xk_fiber_switch(struct xk_fiber *from, struct xk_fiber *to)
{
	(void)from;
	(void)to;
	xk_panic(__FILE__, __LINE__, "fibers need %s", xk_fiber_missing);
}

#endif
