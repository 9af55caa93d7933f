/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_ult.h - user-level threads: work of a virtual processor on stacks of its own.
 *
 * A thread belongs to one VP and has a stack from when it first runs.  Work comes to it
 * in two ways.  A unit (xk_ult_call) runs from its beginning to its end on the thread's
 * stack while the VP waits.  A body (xk_ult_begin) is a function that may stop in its
 * middle: xk_ult_wait gives the VP back, xk_ult_wake lets it go on at a turn of its own.
 * While a body waits units run above it on the same stack, so all work of a thread is
 * on one stack, and what a unit brings may be what the body waits for.
 * All calls are made inside the VP.
 * Invariant: between two units of a VP no thread of it runs.
 */
#ifndef XK_ULT_H
#define XK_ULT_H

#include "runtime/vp/xk_task.h"

struct xk_stack;
struct xk_ults;

struct xk_ult {
	struct xk_vp    *vp;
	struct xk_stack *stack;           /* NULL: has not run yet */
	unsigned       (*unit)(void *arg, unsigned n);  /* asked for, not begun */
	void            *arg;
	unsigned         n;               /* of the unit; then what it returned */
	unsigned       (*run)(struct xk_task *t, unsigned budget);  /* the adopted task's own */
	void           (*body)(void *arg);
	void            *body_arg;
	void           (*gone)(struct xk_ult *t);       /* nobody refers to it any more */
	uint32_t         refs;
	bool             on;              /* a unit, or the body, is running */
	bool             in_unit, woken;
	struct xk_task   task;            /* its turns are the body's */
};

/* One reference, the caller's. */
void xk_ult_init(struct xk_ult *t, struct xk_vp *vp, void (*gone)(struct xk_ult *t));
static inline struct xk_ult *xk_ult_ref(struct xk_ult *t)
{
	t->refs++;
	return t;
}
/* The last one gives the stack back and calls gone, at once or when t stops running. */
void xk_ult_put(struct xk_ult *t);

/* fn(arg, n) on t's stack; what it returns.  On the stack of who calls where that is a
 * thread's already, or where there is no memory for another (counted). */
unsigned xk_ult_call(struct xk_ult *t, unsigned (*fn)(void *arg, unsigned n), void *arg, unsigned n);

/* Between two units: the stack goes back to the VP's, which lends it to whoever runs next.  Nothing for a thread that
 * runs, or has a body. */
void xk_ult_rest(struct xk_ult *t);

/* From now on the turns of a task run on t, which is kept until the task leaves.  One task
 * of each thread; another is left as it was (false).  While it is adopted
 * what xk_task_fetch says is ours. */
bool xk_ult_adopt(struct xk_ult *t, struct xk_task *task);
/* Legal, and nothing, for a task that nobody has adopted. */
void xk_ult_leave(struct xk_task *task);

/* Runs body(arg) on t, from the VP's next turns on.  XK_E_NOMEM, XK_E_BUSY: it has one. */
int  xk_ult_begin(struct xk_ult *t, void (*body)(void *arg), void *arg);
/* Has it ended, or never begun? */
static inline bool xk_ult_idle(const struct xk_ult *t) { return t->body == NULL; }
/* From a body: stops until somebody wakes t; a wake since the last wait counts. */
void xk_ult_wait(struct xk_ult *t);
/* From a body: the others' turn. */
void xk_ult_yield(struct xk_ult *t);
void xk_ult_wake(struct xk_ult *t);
/* Lets a body go on at once, on the VP's stack's time; from no thread. */
void xk_ult_resume(struct xk_ult *t);

/* The thread that is running on this VP, or NULL. */
struct xk_ult *xk_ult_self(const struct xk_vp *vp);

/* Of one VP; may be read by any thread. */
struct xk_ult_stats {
	uint64_t live;                    /* threads */
	uint64_t stacks, stack_bytes;     /* made: they wait to be used again */
	uint64_t switches;                /* to a thread and back: two */
	uint64_t stackless;               /* units that found no memory for a stack */
};
void xk_ult_stats(const struct xk_vp *vp, struct xk_ult_stats *out);

/* Bytes of a stack, in this build, where the graph does not say. */
#define XK_STACK_MIN 8192u
#define XK_STACK_MIN_UNIT 65536u /* of a pool's, which have all of a unit */
#define XK_STACK_MAX (1u << 24)
size_t xk_ult_stack_default(void);

#endif
