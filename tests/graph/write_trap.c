/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * write_trap.c - see write_trap.h.
 *
 * Invariant: while armed, a page of something watched is writable only between a trap and the end of the
 * instruction that met it.
 */
#include "tests/graph/write_trap.h"

#include "runtime/sync/xk_sync.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#include <urcu/urcu-memb.h>

#define RANGES_MAX 4096
#define OPEN_MAX   8             /* pages that one instruction may write to */
#define STEP_FLAG  0x100         /* EFLAGS.TF */

struct range { uintptr_t at; size_t n; const char *what; const void *owner; uint8_t *copy; };

static struct {
	struct range  range[RANGES_MAX];
	unsigned      n;
	uintptr_t    *page;              /* sorted, each once */
	size_t        npages, size;
	const void *(*self)(void);
	struct sigaction segv, trap;     /* as they were */
	unsigned      hits, traps;
	char          first[WT_TEXT];
	bool          armed;
} wt;
static _Thread_local struct { uintptr_t page[OPEN_MAX]; unsigned n; } opened;

bool wt_steps(void)
{
#if defined(__x86_64__) && !defined(XK_TSAN)
	const char *preload = getenv("LD_PRELOAD");

	return preload == NULL || strstr(preload, "vgpreload") == NULL;
#else
	return false;
#endif
}

void wt_watch(const void *p, size_t n, const char *what, const void *owner)
{
	xk_assert(!wt.armed && wt.n < RANGES_MAX);
	if (n != 0)
		wt.range[wt.n++] = (struct range){ (uintptr_t)p, n, what, owner, NULL };
}

static int by_value(const void *a, const void *b)
{
	const uintptr_t x = *(const uintptr_t *)a, y = *(const uintptr_t *)b;

	return (x > y) - (x < y);
}

/* ---- pages ----------------------------------------------------------------------------- */

static void list_pages(void)
{
	size_t room = 0, n = 0;

	wt.size = (size_t)sysconf(_SC_PAGESIZE);
	for (unsigned i = 0; i < wt.n; i++)
		room += wt.range[i].n / wt.size + 2;
	wt.page = malloc(room * sizeof *wt.page);
	xk_assert(wt.page != NULL);
	for (unsigned i = 0; i < wt.n; i++) {
		const struct range *r = &wt.range[i];

		for (uintptr_t p = r->at & ~(wt.size - 1); p < r->at + r->n; p += wt.size)
			wt.page[n++] = p;
	}
	qsort(wt.page, n, sizeof *wt.page, by_value);
	wt.npages = 0;
	for (size_t i = 0; i < n; i++)
		if (wt.npages == 0 || wt.page[wt.npages - 1] != wt.page[i])
			wt.page[wt.npages++] = wt.page[i];
}

static void protect(uintptr_t page, int how)
{
	if (mprotect((void *)page, wt.size, how) != 0)
		abort();
}

static void protect_all(int how)
{
	for (size_t i = 0; wt_steps() && i < wt.npages; i++)
		protect(wt.page[i], how);
}

/* ---- traps: of two signals, for the store and for the step behind it --------------------- */

static void hit(const struct range *r, uintptr_t at, const char *how)
{
	if (wt.hits++ == 0)
		snprintf(wt.first, sizeof wt.first, "%s, byte %zu, %s", r->what, (size_t)(at - r->at), how);
}

#if defined(__x86_64__)
static void judge(uintptr_t at)
{
	for (unsigned i = 0; i < wt.n; i++) {
		const struct range *r = &wt.range[i];

		if (at - r->at < r->n && (r->owner == NULL || r->owner != wt.self()))
			hit(r, at, "is stored to");
	}
}

static void on_segv(int sig, siginfo_t *info, void *ctx)
{
	uintptr_t at = (uintptr_t)info->si_addr, page = at & ~(wt.size - 1);

	if (!wt.armed || opened.n == OPEN_MAX || bsearch(&page, wt.page, wt.npages, sizeof page, by_value) == NULL) {
		signal(sig, SIG_DFL);            /* a fault of its own: it comes again */
		return;
	}
	wt.traps++;
	judge(at);
	opened.page[opened.n++] = page;
	protect(page, PROT_READ | PROT_WRITE);
	((ucontext_t *)ctx)->uc_mcontext.gregs[REG_EFL] |= STEP_FLAG;
}

static void on_trap(int sig, siginfo_t *info, void *ctx)
{
	(void)sig;
	(void)info;
	while (opened.n != 0)
		protect(opened.page[--opened.n], wt.armed ? PROT_READ : PROT_READ | PROT_WRITE);
	((ucontext_t *)ctx)->uc_mcontext.gregs[REG_EFL] &= ~STEP_FLAG;
}

static void catch(void)
{
	struct sigaction a = { .sa_flags = SA_SIGINFO, .sa_sigaction = on_segv };

	sigemptyset(&a.sa_mask);
	sigaction(SIGSEGV, &a, &wt.segv);
	a.sa_sigaction = on_trap;
	sigaction(SIGTRAP, &a, &wt.trap);
}

static void catch_no_more(void)
{
	sigaction(SIGSEGV, &wt.segv, NULL);
	sigaction(SIGTRAP, &wt.trap, NULL);
}
#else
static void catch(void) { }
static void catch_no_more(void) { }
#endif

/* ---- what has changed ------------------------------------------------------------------------ */

/* Of bytes that nobody has written yet, too: tests/support/valgrind.supp. */
static XK_NOINLINE size_t wt_same(const uint8_t *a, const uint8_t *b, size_t n)
{
	size_t i = 0;

	while (i < n && a[i] == b[i])
		i++;
	return i;
}

static void compare(struct range *r)
{
	size_t same = r->copy != NULL ? wt_same((const uint8_t *)r->at, r->copy, r->n) : r->n;

	if (same < r->n)
		hit(r, r->at + same, "has changed");
	free(r->copy);
	r->copy = NULL;
}

void wt_begin(const void *(*self)(void))
{
	list_pages();
	for (unsigned i = 0; i < wt.n; i++) {
		struct range *r = &wt.range[i];

		if (r->owner == NULL && (r->copy = malloc(r->n)) != NULL)
			memcpy(r->copy, (const void *)r->at, r->n);
	}
	/* The thread of call_rcu blocks signals, so a trap would end it: it waits, as for a fork. */
	xk_rcu_barrier();
	urcu_memb_call_rcu_before_fork();
	wt.self = self;
	wt.hits = wt.traps = 0;
	wt.first[0] = '\0';
	if (wt_steps())
		catch();
	wt.armed = true;
	protect_all(PROT_READ);
}

unsigned wt_end(char first[WT_TEXT])
{
	protect_all(PROT_READ | PROT_WRITE);
	wt.armed = false;
	if (wt_steps())
		catch_no_more();
	urcu_memb_call_rcu_after_fork_parent();
	for (unsigned i = 0; i < wt.n; i++)
		compare(&wt.range[i]);
	free(wt.page);
	wt.page = NULL;
	memcpy(first, wt.first, WT_TEXT);
	return wt.hits;
}

unsigned wt_traps(void) { return wt.traps; }
void wt_forget(void) { wt.n = 0; }
