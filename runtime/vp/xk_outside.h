/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_outside.h - kernel threads of applications, outside all virtual processors.
 *
 * Such a thread enters them by xk_vp_do, as a program's own threads do.  It may run on the
 * processors of the workers and counts as one where processor time and context switches are told.
 * All calls but note are the control thread's.
 */
#ifndef XK_OUTSIDE_H
#define XK_OUTSIDE_H

#include "runtime/base/xk_base.h"

struct xk_thread;
struct xk_vpset;

/* Voluntary and involuntary switches, user and system time of one worker, which
 * notes them every few milliseconds; cpu_ns is their sum at the moment of asking
 * while the worker runs.  atomics: locked operations, in a build that counts them. */
struct xk_worker_stats {
	int cpu;
	uint64_t user_ns, sys_ns, cpu_ns, nvcsw, nivcsw, units, messages, sleeps, migrations, atomics;
	uint64_t locking_ns, meeting_ns; /* on simulated processors: see xk_sim_counts */
};

struct xk_outside {
	struct xk_vpset   *set;
	struct xk_thread  *thread;       /* NULL: not started, or joined */
	void             (*fn)(void *arg);
	void              *arg;
	struct xk_worker_stats stats;
	xk_ns              noted;        /* when they were written */
	struct xk_outside *next;
};
/* Processors that the workers have: more threads than these would only wait for each other. */
unsigned xk_outside_most(const struct xk_vpset *set);
/* So many will be started: said before the workers are. */
void xk_outside_plan(struct xk_vpset *set, unsigned n);
/* When the workers run; fn(arg) is the thread.  Negative errno: there is none. */
int  xk_outside_start(struct xk_outside *o, struct xk_vpset *set, const char *name, void (*fn)(void *), void *arg);
/* Waits for its end; nothing where it was not started.  Before the workers stop. */
void xk_outside_join(struct xk_outside *o);
/* By the thread itself, often: what it has used so far may be read. */
void xk_outside_note(struct xk_outside *o);
/* Of the i-th that was started; zeroes where there is none. */
void xk_outside_stats(const struct xk_vpset *set, unsigned i, struct xk_worker_stats *out);

#endif
