/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mem_trap.c - see mem_trap.h.
 *
 * Invariant: while armed, a page of something watched is open only between a trap and the end of the instruction
 * that met it.
 */
#include "tests/support/mem_trap.h"

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

struct range { uintptr_t at; size_t n; const char *what; const void *owner; uint8_t *copy; bool code; };

static struct {
	struct range  range[RANGES_MAX];
	unsigned      n;
	uintptr_t    *page;              /* sorted, each once */
	size_t        npages, size;
	const void *(*self)(void);
	void        (*seen)(const char *what, size_t at);    /* NULL: stores are judged */
	struct sigaction segv, trap;     /* as they were */
	unsigned      hits, traps;
	char          first[MT_TEXT];
	bool          armed;
} mt;
static _Thread_local struct { uintptr_t page[OPEN_MAX]; unsigned n; } opened;

bool mt_steps(void)
{
#if defined(__x86_64__) && !defined(XK_TSAN)
	const char *preload = getenv("LD_PRELOAD");

	return preload == NULL || strstr(preload, "vgpreload") == NULL;
#else
	return false;
#endif
}

void mt_watch(const void *p, size_t n, const char *what, const void *owner)
{
	xk_assert(!mt.armed && mt.n < RANGES_MAX);
	if (n != 0)
		mt.range[mt.n++] = (struct range){ .at = (uintptr_t)p, .n = n, .what = what, .owner = owner };
}

void mt_watch_code(const void *p, size_t n, const char *what)
{
	mt_watch(p, n, what, NULL);
	mt.range[mt.n - 1].code = true;
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

	mt.size = (size_t)sysconf(_SC_PAGESIZE);
	for (unsigned i = 0; i < mt.n; i++)
		room += mt.range[i].n / mt.size + 2;
	mt.page = malloc(room * sizeof *mt.page);
	xk_assert(mt.page != NULL);
	for (unsigned i = 0; i < mt.n; i++) {
		const struct range *r = &mt.range[i];

		for (uintptr_t p = r->at & ~(mt.size - 1); p < r->at + r->n; p += mt.size)
			mt.page[n++] = p;
	}
	qsort(mt.page, n, sizeof *mt.page, by_value);
	mt.npages = 0;
	for (size_t i = 0; i < n; i++)
		if (mt.npages == 0 || mt.page[mt.npages - 1] != mt.page[i])
			mt.page[mt.npages++] = mt.page[i];
}

static bool is_code(uintptr_t page)
{
	for (unsigned i = 0; i < mt.n; i++)
		if (mt.range[i].code && page < mt.range[i].at + mt.range[i].n && page + mt.size > mt.range[i].at)
			return true;
	return false;
}

static void protect(uintptr_t page, bool closed)
{
	int open = PROT_READ | (is_code(page) ? PROT_EXEC : PROT_WRITE);

	if (mprotect((void *)page, mt.size, !closed ? open : mt.seen != NULL ? PROT_NONE : PROT_READ) != 0)
		abort();
}

static void protect_all(bool closed)
{
	for (size_t i = 0; mt_steps() && i < mt.npages; i++)
		protect(mt.page[i], closed);
}

/* ---- traps: of two signals, for the store and for the step behind it --------------------- */

static void hit(const struct range *r, uintptr_t at, const char *how)
{
	if (mt.hits++ == 0)
		snprintf(mt.first, sizeof mt.first, "%s, byte %zu, %s", r->what, (size_t)(at - r->at), how);
}

#if defined(__x86_64__)
static void judge(uintptr_t at)
{
	for (unsigned i = 0; i < mt.n; i++) {
		const struct range *r = &mt.range[i];

		if (at - r->at >= r->n)
			continue;
		if (mt.seen != NULL)
			mt.seen(r->what, at - r->at);
		else if (r->owner == NULL || r->owner != mt.self())
			hit(r, at, "is stored to");
	}
}

static void on_segv(int sig, siginfo_t *info, void *ctx)
{
	uintptr_t at = (uintptr_t)info->si_addr, page = at & ~(mt.size - 1);

	if (!mt.armed || opened.n == OPEN_MAX || bsearch(&page, mt.page, mt.npages, sizeof page, by_value) == NULL) {
		signal(sig, SIG_DFL);            /* a fault of its own: it comes again */
		return;
	}
	mt.traps++;
	judge(at);
	opened.page[opened.n++] = page;
	protect(page, false);
	((ucontext_t *)ctx)->uc_mcontext.gregs[REG_EFL] |= STEP_FLAG;
}

static void on_trap(int sig, siginfo_t *info, void *ctx)
{
	(void)sig;
	(void)info;
	while (opened.n != 0)
		protect(opened.page[--opened.n], mt.armed);
	((ucontext_t *)ctx)->uc_mcontext.gregs[REG_EFL] &= ~STEP_FLAG;
}

static void catch(void)
{
	struct sigaction a = { .sa_flags = SA_SIGINFO, .sa_sigaction = on_segv };

	sigemptyset(&a.sa_mask);
	sigaction(SIGSEGV, &a, &mt.segv);
	a.sa_sigaction = on_trap;
	sigaction(SIGTRAP, &a, &mt.trap);
}

static void catch_no_more(void)
{
	sigaction(SIGSEGV, &mt.segv, NULL);
	sigaction(SIGTRAP, &mt.trap, NULL);
}
#else
static void catch(void) { }
static void catch_no_more(void) { }
#endif

/* ---- what has changed ------------------------------------------------------------------------ */

/* Of bytes that nobody has written yet, too: tests/support/valgrind.supp. */
static XK_NOINLINE size_t mt_same(const uint8_t *a, const uint8_t *b, size_t n)
{
	size_t i = 0;

	while (i < n && a[i] == b[i])
		i++;
	return i;
}

static void compare(struct range *r)
{
	size_t same = r->copy != NULL ? mt_same((const uint8_t *)r->at, r->copy, r->n) : r->n;

	if (same < r->n)
		hit(r, r->at + same, "has changed");
	free(r->copy);
	r->copy = NULL;
}

static void arm(void)
{
	list_pages();
	/* The thread of call_rcu blocks signals, so a trap would end it: it waits, as for a fork. */
	urcu_memb_call_rcu_before_fork();
	mt.hits = mt.traps = 0;
	mt.first[0] = '\0';
	if (mt_steps())
		catch();
	mt.armed = true;
	protect_all(true);
}

void mt_begin(const void *(*self)(void))
{
	xk_rcu_barrier();
	for (unsigned i = 0; i < mt.n; i++) {
		struct range *r = &mt.range[i];

		if (r->owner != NULL)
			continue;
		r->copy = malloc(r->n);
		xk_assert(r->copy != NULL);
		memcpy(r->copy, (const void *)r->at, r->n);
	}
	mt.self = self;
	mt.seen = NULL;
	arm();
}

void mt_begin_all(void (*seen)(const char *what, size_t at))
{
	xk_assert(mt_steps());
	mt.seen = seen;
	arm();
}

unsigned mt_end(char first[MT_TEXT])
{
	protect_all(false);
	mt.armed = false;
	if (mt_steps())
		catch_no_more();
	urcu_memb_call_rcu_after_fork_parent();
	for (unsigned i = 0; i < mt.n; i++)
		compare(&mt.range[i]);
	free(mt.page);
	mt.page = NULL;
	memcpy(first, mt.first, MT_TEXT);
	return mt.hits;
}

unsigned mt_traps(void) { return mt.traps; }
void mt_forget(void) { mt.n = 0; }
