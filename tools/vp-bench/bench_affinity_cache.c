/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_affinity_cache.c - the processor's counter, walks that put things out of its caches, and other work
 * that does so by and by (Salehi and others 1995, 3.1: code and data of a cache's size are walked).
 *
 * The code that is walked is jumps from line to line, 64 pieces of 16 lines.  Data are read, a line at a time and
 * one behind the other.
 * Invariant: a walk's data are its own; nothing of a graph is read or written here.
 */
#include "tools/vp-bench/bench_affinity.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/base/xk_clock.h"

/* ---- the clock --------------------------------------------------------------------------- */

#if defined(__x86_64__)
const char *const aff_ticks_are = "tsc";

uint64_t aff_ticks(void)
{
	uint64_t t;

	__builtin_ia32_lfence();
	t = __builtin_ia32_rdtsc();
	__builtin_ia32_lfence();
	return t;
}

double aff_ticks_of_ns(void)
{
	static double per_ns;
	xk_ns from = xk_clock_host();
	uint64_t ticks = aff_ticks();

	if (per_ns > 0)
		return per_ns;
	while (xk_clock_host() - from < 20 * XK_MS)
		xk_cpu_relax();
	ticks = aff_ticks() - ticks;
	per_ns = (double)ticks / (double)(xk_clock_host() - from);
	return per_ns;
}
#else
const char *const aff_ticks_are = "clock";
uint64_t aff_ticks(void) { return xk_clock_host(); }
double aff_ticks_of_ns(void) { return 1; }
#endif

/* ---- code ---------------------------------------------------------------------------------- */

#define PIECES 64u
#define PIECE  1024u             /* bytes: 16 lines of 64 */

#if defined(__x86_64__)
#define JUMP "jmp"
#elif defined(__aarch64__)
#define JUMP "b"
#endif

#ifdef JUMP
const bool aff_walks_code = true;
void aff_code(void);
__asm__(".text\n.balign 4096\n.globl aff_code\n.type aff_code, %function\naff_code:\n"
	".rept 64\n .rept 15\n " JUMP " 1f\n .balign 64\n1:\n .endr\n ret\n .balign 64\n.endr\n"
	".size aff_code, .-aff_code\n");

static void walk_code(unsigned piece)
{
	void (*fn)(void) = (void (*)(void))((uintptr_t)aff_code + (piece % PIECES) * PIECE);

	fn();
}
#else
const bool aff_walks_code = false;
static void walk_code(unsigned piece) { (void)piece; }
#endif

/* ---- data ---------------------------------------------------------------------------------- */

static uint64_t read_lines(const struct aff_caches *c, size_t from, size_t to)
{
	uint64_t sum = 0;

	for (size_t i = from; i < to; i += c->line)
		sum += *(const volatile unsigned char *)(c->data + i);
	return sum;
}

static size_t size_of(int name, size_t otherwise)
{
	long n = sysconf(name);

	return n > 0 ? (size_t)n : otherwise;
}

bool aff_caches_init(struct aff_caches *c, size_t walk)
{
	*c = (struct aff_caches){ .l1d = size_of(_SC_LEVEL1_DCACHE_SIZE, 0), .l1i = size_of(_SC_LEVEL1_ICACHE_SIZE, 0),
		.l2 = size_of(_SC_LEVEL2_CACHE_SIZE, 0), .last = size_of(_SC_LEVEL3_CACHE_SIZE, 0),
		.line = size_of(_SC_LEVEL1_DCACHE_LINESIZE, XK_CACHELINE) };
	c->last = c->last != 0 ? c->last : c->l2;
	c->walk_l1 = 2 * (c->l1d != 0 ? c->l1d : (size_t)64 << 10);
	c->walk_all = walk != 0 ? walk : 2 * (c->last != 0 ? c->last : (size_t)16 << 20);
	if (walk == 0 && c->walk_all > AFF_WALK_MOST)
		c->walk_all = AFF_WALK_MOST;
	c->walk_all = c->walk_all < 2 * c->walk_l1 ? 2 * c->walk_l1 : c->walk_all;
	c->data = mmap(NULL, c->walk_all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (c->data == MAP_FAILED) {
		c->data = NULL;
		return false;
	}
	memset(c->data, 1, c->walk_all);         /* pages of their own */
	return true;
}

void aff_caches_fini(struct aff_caches *c)
{
	if (c->data != NULL)
		munmap(c->data, c->walk_all);
	c->data = NULL;
}

void aff_flush_l1(struct aff_caches *c)
{
	(void)read_lines(c, 0, c->walk_l1);
	for (unsigned i = 0; i < PIECES; i++)
		walk_code(i);
}

void aff_flush_all(struct aff_caches *c)
{
	(void)read_lines(c, 0, c->walk_all);
	aff_flush_l1(c);
}

/* ---- other work ------------------------------------------------------------------------------- */

#define SLICE_NS 2000.0
#define AT_ONCE  16u             /* lines of data, and as many of code */
#define LINES    (AT_ONCE * (aff_walks_code ? 2u : 1u))

/* Some lines of both. */
static void reference(struct aff_caches *c)
{
	size_t to = c->at + AT_ONCE * c->line;

	if (to > c->walk_all) {
		c->at = 0;
		to = AT_ONCE * c->line;
	}
	(void)read_lines(c, c->at, to);
	walk_code((unsigned)(c->at / (AT_ONCE * c->line)));
	c->at = to;
}

static void add(struct aff_rate *r, uint64_t n, uint64_t ticks)
{
	r->references += n;
	r->ticks += ticks;
}

double aff_references(const struct aff_caches *c)
{
	const struct aff_rate *r = c->alone.ticks != 0 ? &c->alone : &c->all;

	return r->ticks != 0 ? (double)r->references / (double)r->ticks * aff_ticks_of_ns() : 0;
}

/* From `now` until then; the time then.  A stretch that took much longer was somebody else's, too. */
static uint64_t references(struct aff_caches *c, uint64_t now, uint64_t until)
{
	uint64_t begun = now, n = 0;

	while (now < until) {
		reference(c);
		n += LINES;
		now = aff_ticks();
	}
	add(&c->all, n, now - begun);
	if (now - begun <= 2 * (until - begun))
		add(&c->alone, n, now - begun);
	return now;
}

void aff_other_work(struct aff_caches *c, double ns, double v)
{
	double per_ns = aff_ticks_of_ns();
	uint64_t now = aff_ticks(), end = now + (uint64_t)(ns * per_ns);

	while (now < end) {
		uint64_t slice = now + (uint64_t)(SLICE_NS * per_ns);

		slice = slice < end ? slice : end;
		now = references(c, now, now + (uint64_t)((double)(slice - now) * v));
		while (now < slice)
			now = aff_ticks();
	}
}
