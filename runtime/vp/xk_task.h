/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_task.h - what a protocol uses of the virtual processor that it runs on: tasks, which send
 * without being asked, and the time.
 *
 * Inside that VP only.  A VP's timers are in xk_timer.h.
 */
#ifndef XK_TASK_H
#define XK_TASK_H

#include "runtime/base/xk_base.h"

struct xk_rand;
struct xk_vp;

/* The VP that the calling thread is inside, NULL: none. */
extern _Thread_local struct xk_vp *xk_vp_self __attribute__((tls_model("initial-exec")));
/* The time of this unit of work; no clock is read. */
xk_ns xk_vp_now(void);
/* The clock as it is. */
xk_ns xk_vp_clock(const struct xk_vp *vp);
/* Random numbers of this VP alone, of the graph's seed. */
struct xk_rand *xk_vp_rand(struct xk_vp *vp);

/*
 * A producer of units of work on one VP: a sending connection, a driver queue.
 * Ready tasks of a VP are run round robin, one unit each, so their counts of
 * units differ by at most one.  Input tasks have a ring of their own: for
 * each unit of another task every ready one gets two turns, so that what a sender has
 * begun is finished, and still in the cache, before the next of thousands begins.
 * With one each their queues would never shrink: a unit makes as much as they take.
 * Where it makes more, as of long writes, one of them uses its whole budget: then all have another
 * round, until they have taken XK_INPUT_MOST messages, so that what they make themselves starves nobody.
 * Units of fewer messages than their budget are gathered, that a burst comes in at once: input
 * waits until they have made as many, all have parked or one had nothing to do.  Of a task whose messages are
 * so short that several make a frame (`several`), as many count as one, and each unit as one at least.
 * Messages so long that each makes many frames show in the queue: input that holds a budget of them waits for no more.
 */
/* The frames that a window of 256 KiB fills where they are shortest, and their acknowledgements. */
#define XK_INPUT_MOST 1024u
struct xk_task {
	struct xk_task *next, *prev;      /* ring of ready tasks; next NULL: parked */
	struct xk_vp   *vp;
	/* One unit: at most `budget` messages; returns how many.  0 means there
	 * was nothing to do; the task stays ready (it polls) unless it parks. */
	unsigned      (*run)(struct xk_task *t, unsigned budget);
	int             fd;               /* readable when there is work, or -1 */
	bool            input;            /* passes on what is queued already, without fd: set by xk_task_input */
	uint8_t         several;          /* 2^this of its messages make a frame, or less than one; 0 */
	uint16_t        nap;              /* private: see xk_task_nap */
	union {
		bool          (*sleeps)(struct xk_task *t);  /* private: see xk_task_on_sleep */
		const uint32_t *queued;   /* private, of input: see xk_task_input */
	};
	/* ---- private: set by xk_task_fetch ---- */
	const void     *ahead;
	const uint64_t *beyond;
};
void xk_task_init(struct xk_task *t, struct xk_vp *vp, unsigned (*run)(struct xk_task *, unsigned));
/* t, parked, is an input task from now on: *queued, which lives as long as t, is how many messages it has to
 * pass on, NULL: nobody knows.  xk_task_no_input: and from now on it is none. */
void xk_task_input(struct xk_task *t, const uint32_t *queued);
void xk_task_no_input(struct xk_task *t);
void xk_task_ready(struct xk_task *t);   /* legal when ready already */
void xk_task_park(struct xk_task *t);    /* legal when parked; also from its own run */
/*
 * Where work comes often and little at a time, being woken for each costs more than the work.  While us is
 * not 0, a worker with nothing to do neither spins nor is woken by the task's descriptor: it sleeps for
 * about so many microseconds, and what has come meanwhile is done at once.  Legal when so already.
 */
#define XK_TASK_NAP_MAX 50000u
void xk_task_nap(struct xk_task *t, unsigned us);
/*
 * Where whoever makes work has to be asked to make the descriptor readable: of a ready task, before a worker
 * sleeps, or one that shares the VP with a sleeper runs another VP, fn asks for it, and then says false where there
 * is work already.  It is called with the VP held, by a thread that is not inside; the task's next run may come
 * with nobody having slept.
 */
void xk_task_on_sleep(struct xk_task *t, bool (*fn)(struct xk_task *t));
/*
 * What a run touches first (a session, say; the task itself unless set): three lines of it are
 * fetched two runs before it.  NULL or a word of it that holds the address of what is touched next,
 * and may be 0: then two lines are, and the line before that and five from there on during the run
 * before.
 */
static inline void xk_task_fetch(struct xk_task *t, const void *ahead, const uint64_t *beyond)
{
	t->ahead = ahead;
	t->beyond = beyond;
}
static inline bool xk_task_is_ready(const struct xk_task *t) { return t->next != NULL; }

#endif
