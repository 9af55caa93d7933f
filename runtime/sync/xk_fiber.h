/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_fiber.h - a flow of control with a stack of its own, switched to and from
 * by hand.
 *
 * The switch itself is Boost.Context's jump_fcontext: it saves the registers that a
 * call must keep and changes the stack, no system call (ucontext makes one for the
 * signal mask, twice a round trip).  The sanitizers and valgrind are told of every
 * stack and every switch.
 * A fiber may be resumed by another kernel thread than before only by code that
 * keeps no address of a thread-local variable across the switch (errno is one).
 * Invariant: of all fibers that one thread switches between exactly one runs.
 */
#ifndef XK_FIBER_H
#define XK_FIBER_H

#include "runtime/base/xk_base.h"

struct xk_fiber {
	void        *at;               /* where it is stopped; NULL: it runs, or never did */
	const void  *low;              /* its stack, grows down to here */
	size_t       size;
	void       (*fn)(void *arg);
	void        *arg;
	void        *tsan, *fake;      /* the sanitizers' own */
	unsigned     stack_id;         /* valgrind's */
};

/* Was this build made with a library that switches?  If not nothing below may be
 * called, and xk_fiber_missing names the Debian package. */
bool xk_fiber_available(void);
extern const char xk_fiber_missing[];

/* f is stopped before the first instruction of fn(arg), which never returns. */
void xk_fiber_init(struct xk_fiber *f, void *low, size_t size, void (*fn)(void *), void *arg);
/* f is stopped and never goes on. */
void xk_fiber_fini(struct xk_fiber *f);
/* Stops the running fiber, which is `from`, and lets `to` go on.  A thread's own stack is a fiber, too: zeroed at first,
 * it is what is switched away from, and back to. */
void xk_fiber_switch(struct xk_fiber *from, struct xk_fiber *to);

#endif
