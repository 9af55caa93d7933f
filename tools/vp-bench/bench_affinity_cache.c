/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_affinity_cache.c - the processor's counter, walks that put things out of its caches, and other work
 * that does so by and by (Salehi and others 1995, 3.1: code and data of a cache's size are walked).
 *
 * The code that is walked is jumps from line to line, in pieces of 16 lines.  Data are read, a line at a time and
 * one behind the other.  Of both it is twice what the kernel says of the first cache (/sys/devices/system/cpu).
 * Invariant: a walk's data are its own; nothing of a graph is read or written here.
 */
#include "tools/vp-bench/bench_affinity.h"

#include <stdio.h>
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

#define PIECES_LEAST 64u
#define PIECE        1024u       /* bytes: 16 lines of 64 */

#if defined(__x86_64__)
#define JUMP "jmp"
#elif defined(__aarch64__)
#define JUMP "b"
#endif

#ifdef JUMP
const bool aff_walks_code = true;
__asm__(".text\n.balign 4096\n.globl aff_code\n.type aff_code, %function\naff_code:\n"
	".rept 256\n .rept 15\n " JUMP " 1f\n .balign 64\n1:\n .endr\n ret\n .balign 64\n.endr\n"
	".size aff_code, .-aff_code\n");

static void walk_code(const struct aff_caches *c, size_t piece)
{
	void (*fn)(void) = (void (*)(void))((uintptr_t)aff_code + piece % c->pieces * PIECE);

	fn();
}
#else
const bool aff_walks_code = false;
static void walk_code(const struct aff_caches *c, size_t piece) { (void)c, (void)piece; }
#endif

/* ---- data ---------------------------------------------------------------------------------- */

static uint64_t read_lines(const struct aff_caches *c, size_t from, size_t to)
{
	uint64_t sum = 0;

	for (size_t i = from; i < to; i += c->line)
		sum += *(const volatile unsigned char *)(c->data + i);
	return sum;
}

/* ---- sizes ------------------------------------------------------------------------------------ */

static bool word_of(const char *dir, unsigned index, const char *name, char word[32])
{
	char path[256];
	bool ok = false;
	FILE *f;

	snprintf(path, sizeof path, "%s/index%u/%s", dir, index, name);
	f = fopen(path, "r");
	if (f != NULL) {
		ok = fscanf(f, "%31s", word) == 1;
		fclose(f);
	}
	return ok;
}

/* "48K", "480M", "64". */
static size_t bytes_of(const char *dir, unsigned index, const char *name)
{
	char word[32], *end = word;
	size_t n;

	if (!word_of(dir, index, name, word))
		return 0;
	n = strtoul(word, &end, 10);
	return *end == 'K' ? n << 10 : *end == 'M' ? n << 20 : n;
}

static size_t pieces_of(size_t l1i)
{
	size_t n = 2 * l1i / PIECE;

	return n < PIECES_LEAST ? PIECES_LEAST : n > AFF_CODE / PIECE ? AFF_CODE / PIECE : n;
}

void aff_caches_sizes(struct aff_caches *c, const char *dir)
{
	char type[32];
	size_t last = 0;

	*c = (struct aff_caches){ .line = 0 };
	for (unsigned i = 0; word_of(dir, i, "type", type); i++) {
		size_t level = bytes_of(dir, i, "level"), size = bytes_of(dir, i, "size");
		bool code = strcmp(type, "Instruction") == 0, data = !code;

		if (level == 1 && code)
			c->l1i = size;
		else if (level == 1)
			c->l1d = size;
		else if (level == 2)
			c->l2 = size;
		if (level == 1 && data)
			c->line = bytes_of(dir, i, "coherency_line_size");
		if (level > last && level > 1) {
			last = level;
			c->last = size;
		}
	}
	c->pieces = pieces_of(c->l1i);
}

/* What the kernel does not say, the C library may. */
static void otherwise(size_t *size, int name, size_t dflt)
{
	long n = *size == 0 ? sysconf(name) : 0;

	if (*size == 0)
		*size = n > 0 ? (size_t)n : dflt;
}

bool aff_caches_init(struct aff_caches *c, size_t walk)
{
	aff_caches_sizes(c, "/sys/devices/system/cpu/cpu0/cache");
	otherwise(&c->l1d, _SC_LEVEL1_DCACHE_SIZE, 0);
	otherwise(&c->l1i, _SC_LEVEL1_ICACHE_SIZE, 0);
	otherwise(&c->l2, _SC_LEVEL2_CACHE_SIZE, 0);
	otherwise(&c->last, _SC_LEVEL3_CACHE_SIZE, 0);
	otherwise(&c->line, _SC_LEVEL1_DCACHE_LINESIZE, XK_CACHELINE);
	c->pieces = pieces_of(c->l1i);
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
	for (size_t i = 0; i < c->pieces; i++)
		walk_code(c, i);
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
	walk_code(c, c->at / (AT_ONCE * c->line));
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
