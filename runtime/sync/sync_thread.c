/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sync_thread.c - threads that are named, pinned and known to RCU.
 *
 * A thread starts on its processor: affinity is an attribute of the creation,
 * so a processor that does not exist is an error before anything runs.  All
 * signals but a thread's own faults are blocked in it, so that the main thread
 * handles the rest.  Invariant: a struct xk_thread lives from a successful new
 * to its join.
 */
#include "runtime/sync/xk_sim.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct xk_thread {
	pthread_t id;
	void    (*fn)(void *);
	void     *arg;
	char      name[16];
};

static void *thread_main(void *p)
{
	struct xk_thread *t = p;

	/* A name is for people; a kernel that refuses it changes nothing. */
	(void)pthread_setname_np(pthread_self(), t->name);
	xk_rcu_register();
	t->fn(t->arg);
	xk_rcu_unregister();
	return NULL;
}

static int one_cpu(cpu_set_t *set, int cpu)
{
	CPU_ZERO(set);
	if (cpu < 0 || cpu >= CPU_SETSIZE)
		return XK_E_INVAL;
	CPU_SET((size_t)cpu, set);
	return XK_OK;
}

/* Errno-aligned result of a pthread call. */
static int start(struct xk_thread *t, int cpu)
{
	pthread_attr_t attr;
	cpu_set_t set;
	int err = pthread_attr_init(&attr);

	if (err != 0)
		return -err;
	if (cpu >= 0) {
		err = -one_cpu(&set, cpu);
		if (err == 0)
			err = pthread_attr_setaffinity_np(&attr, sizeof set, &set);
	}
	if (err == 0)
		err = pthread_create(&t->id, &attr, thread_main, t);
	/* Also from here, so that it has its name as soon as it is known of. */
	if (err == 0)
		(void)pthread_setname_np(t->id, t->name);
	(void)pthread_attr_destroy(&attr);
	return -err;
}

/* The new thread inherits the mask of the old one. */
static int start_without_signals(struct xk_thread *t, int cpu)
{
	static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS, SIGPROF };
	sigset_t all, old;
	size_t i;
	int rc;

	sigfillset(&all);
	for (i = 0; i < XK_ARRAY_LEN(faults); i++)
		sigdelset(&all, faults[i]);
	rc = -pthread_sigmask(SIG_BLOCK, &all, &old);
	if (rc != 0)
		return rc;
	rc = start(t, cpu);
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	return rc;
}

int xk_thread_new(struct xk_thread **out, const char *name, int cpu, void (*fn)(void *), void *arg)
{
	struct xk_thread *t = calloc(1, sizeof *t);
	int rc;

	*out = NULL;
	if (t == NULL)
		return XK_E_NOMEM;
	t->fn = fn;
	t->arg = arg;
	strncpy(t->name, name, sizeof t->name - 1);
	/* The new thread may run, and be joined by nobody but us, before we
	 * return: *out is ours to set last. */
	rc = start_without_signals(t, cpu);
	if (rc != 0) {
		free(t);
		return rc;
	}
	*out = t;
	return XK_OK;
}

void xk_thread_join(struct xk_thread *t)
{
	int err = pthread_join(t->id, NULL);

	if (err != 0)
		xk_panic(__FILE__, __LINE__, "pthread_join: %s", strerror(err));
	free(t);
}

uint64_t xk_thread_cpu_ns(const struct xk_thread *t)
{
	struct timespec now;
	clockid_t clock;

	if (pthread_getcpuclockid(t->id, &clock) != 0 || clock_gettime(clock, &now) != 0)
		return 0;
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int xk_thread_affinity(uint64_t mask)
{
	cpu_set_t set;
	size_t cpu;

	CPU_ZERO(&set);
	for (cpu = 0; cpu < 64; cpu++)
		if (mask >> cpu & 1)
			CPU_SET(cpu, &set);
	/* The kernel refuses a mask without any processor that is there. */
	return sched_setaffinity(0, sizeof set, &set) == 0 ? XK_OK : -errno;
}

int xk_thread_pin(int cpu)
{
	cpu_set_t set;
	int rc = one_cpu(&set, cpu);

	if (rc != XK_OK)
		return rc;
	return sched_setaffinity(0, sizeof set, &set) == 0 ? XK_OK : -errno;
}

void xk_thread_yield(void)
{
	if (xk_sim_self != NULL)
		xk_sim_yield();
	else
		(void)sched_yield();
}

void xk_thread_nap(uint64_t ns)
{
	struct timespec ts = { (time_t)(ns / 1000000000u), (long)(ns % 1000000000u) };

	if (xk_sim_self != NULL)
		xk_sim_nap(ns);
	else
		(void)nanosleep(&ts, NULL);
}
