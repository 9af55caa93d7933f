/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_replay.c - the corpus of a fuzz target as an ordinary test: every file, and inputs
 * made from each by changing bytes.  What is wrong aborts, which the test harness sees.
 * FUZZ_CORPUS is the folder of the corpus, FUZZ_ROUNDS how many are made of a file.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/xk_rand.h"
#include "tests/support/xk_test.h"

#define INPUT 4096u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct xk_rand dice;

static unsigned one_file(const char *dir, const char *name)
{
	static uint8_t in[INPUT], changed[INPUT];
	char path[1024];
	size_t n;
	FILE *f;

	snprintf(path, sizeof path, "%s/%s", dir, name);
	f = fopen(path, "rb");
	if (f == NULL)
		return 0;
	n = fread(in, 1, sizeof in, f);
	fclose(f);
	LLVMFuzzerTestOneInput(in, n);
	for (unsigned long i = 0; n != 0 && i < xk_test_rounds(FUZZ_ROUNDS); i++) {
		memcpy(changed, in, n);
		for (unsigned k = 0; k < 1 + i % 4; k++)
			changed[xk_rand_below(&dice, n)] ^= (uint8_t)(1u << xk_rand_below(&dice, 8));
		LLVMFuzzerTestOneInput(changed, n - xk_rand_below(&dice, n) % (1 + i % 7));
	}
	return 1;
}

static void no_input_makes_the_target_abort(void)
{
	char dir[768];
	unsigned files = 0;
	struct dirent *e;
	DIR *d;

	snprintf(dir, sizeof dir, "%s/tests/fuzz/%s", xk_test_srcdir(), FUZZ_CORPUS);
	d = opendir(dir);
	CU_ASSERT_PTR_NOT_NULL_FATAL(d);
	while ((e = readdir(d)) != NULL)
		if (e->d_name[0] != '.')
			files += one_file(dir, e->d_name);
	closedir(d);
	CU_ASSERT(files >= 6);
	printf("# %u files\n", files);
}

static CU_TestInfo tests[] = {
	{ FUZZ_CORPUS ": no input makes the target abort", no_input_makes_the_target_abort },
	CU_TEST_INFO_NULL,
};
static CU_SuiteInfo suites[] = { { "fuzz", NULL, NULL, NULL, NULL, tests }, CU_SUITE_INFO_NULL };

int main(void)
{
	xk_rand_init(&dice, 7, 7);
	return xk_test_main(suites);
}
