/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_cache_walk.c - what vp-bench affinity walks to put a stack out of the caches: of code and of data each
 * line, as many as the kernel says that the caches hold.
 *
 * Every access is seen (mem_trap.h), so this depends on no clock and no counter of a processor.
 */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/support/mem_trap.h"
#include "tests/support/xk_test.h"
#include "tools/vp-bench/bench_affinity.h"

static struct { unsigned char data[2 << 20], code[AFF_CODE]; size_t line; } touched;

static void seen(const char *what, size_t at)
{
	unsigned char *n = what[0] == 'd' ? &touched.data[at / touched.line] : &touched.code[at / 64];

	*n = (unsigned char)(*n + (*n < 255));
}

/* Lines of n bytes that were touched once; more says how many were otherwise. */
static size_t once(const unsigned char *n, size_t bytes, size_t line, size_t *more)
{
	size_t sum = 0;

	*more = 0;
	for (size_t i = 0; i < bytes / line; i++)
		if (n[i] == 1)
			sum++;
		else
			++*more;
	return sum;
}

static void walked(struct aff_caches *c, void (*walk)(struct aff_caches *c))
{
	memset(&touched, 0, sizeof touched);
	touched.line = c->line;
	mt_watch(c->data, c->walk_all, "data", NULL);
	mt_watch_code((const void *)(uintptr_t)aff_code, AFF_CODE, "code");
	mt_begin_all(seen);
	walk(c);
	(void)mt_end((char[MT_TEXT]){ 0 });
	mt_forget();
}

/* Twice the first caches, of code and of data, each line once; nothing of what is behind. */
static void a_walk_touches_each_line_of_code_and_data(void)
{
	struct aff_caches c;
	size_t code, more;

	if (!mt_steps() || !aff_walks_code) {
		xk_test_skip("a program cannot step itself here");
		return;
	}
	CU_ASSERT_FATAL(aff_caches_init(&c, (size_t)1 << 20));
	CU_ASSERT_FATAL(c.walk_all <= sizeof touched.data);
	code = c.pieces * 1024;
	CU_ASSERT(c.walk_l1 >= 2 * c.l1d && (code >= 2 * c.l1i || code == AFF_CODE) && code <= AFF_CODE);
	walked(&c, aff_flush_l1);
	CU_ASSERT_EQUAL(once(touched.data, c.walk_l1, c.line, &more), c.walk_l1 / c.line);
	CU_ASSERT_EQUAL(once(touched.data, c.walk_all, c.line, &more), c.walk_l1 / c.line);
	CU_ASSERT_EQUAL(once(touched.code, code, 64, &more), code / 64);
	CU_ASSERT_EQUAL(once(touched.code, AFF_CODE, 64, &more), code / 64);
	walked(&c, aff_flush_all);
	CU_ASSERT_EQUAL(once(touched.data + c.walk_l1 / c.line, c.walk_all - c.walk_l1, c.line, &more),
			(c.walk_all - c.walk_l1) / c.line);
	CU_ASSERT_EQUAL(more, 0);
	for (size_t i = 0; i < c.walk_l1 / c.line; i++)
		CU_ASSERT_FATAL(touched.data[i] == 2);   /* first with all, then for the first level */
	CU_ASSERT_EQUAL(once(touched.code, code, 64, &more), code / 64);
	aff_caches_fini(&c);
}

static void put(const char *dir, unsigned i, const char *name, const char *word)
{
	char path[200];
	FILE *f;

	snprintf(path, sizeof path, "%s/index%u", dir, i);
	(void)mkdir(path, 0700);
	snprintf(path, sizeof path, "%s/index%u/%s", dir, i, name);
	f = fopen(path, "w");
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	fprintf(f, "%s\n", word);
	fclose(f);
}

/* As the kernel describes caches; what it leaves out is 0. */
static void sizes_are_the_kernels(void)
{
	static const struct { const char *level, *type, *size; } caches[] = {
		{ "1", "Data", "32K" }, { "1", "Instruction", "64K" }, { "3", "Unified", "3M" }, { "2", "Unified", "1024K" } };
	char dir[] = "/tmp/xk_caches.XXXXXX", command[64];
	struct aff_caches c;

	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(dir));
	aff_caches_sizes(&c, dir);
	CU_ASSERT_EQUAL(c.l1d + c.l1i + c.l2 + c.last + c.line, 0);
	for (unsigned i = 0; i < XK_ARRAY_LEN(caches); i++) {
		put(dir, i, "level", caches[i].level);
		put(dir, i, "type", caches[i].type);
		put(dir, i, "size", caches[i].size);
		put(dir, i, "coherency_line_size", i == 0 ? "128" : "64");
		if (i == 2) {
			aff_caches_sizes(&c, dir);
			CU_ASSERT_EQUAL(c.l2, 0);
		}
	}
	aff_caches_sizes(&c, dir);
	CU_ASSERT_EQUAL(c.l1d, (size_t)32 << 10);
	CU_ASSERT_EQUAL(c.l1i, (size_t)64 << 10);
	CU_ASSERT_EQUAL(c.pieces, 128);
	CU_ASSERT_EQUAL(c.l2, (size_t)1 << 20);
	CU_ASSERT_EQUAL(c.last, (size_t)3 << 20);
	CU_ASSERT_EQUAL(c.line, 128);
	snprintf(command, sizeof command, "rm -r %s", dir);
	CU_ASSERT_EQUAL(system(command), 0);
}

static CU_TestInfo tests[] = {
	{ "a walk touches each line of code and data", a_walk_touches_each_line_of_code_and_data },
	{ "sizes are the kernel's", sizes_are_the_kernels },
	CU_TEST_INFO_NULL
};

static const CU_SuiteInfo suites[] = {
	{ "walks out of caches", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}
