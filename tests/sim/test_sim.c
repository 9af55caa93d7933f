/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_sim.c - TCP between two hosts over bad links, in virtual time.
 *
 * Promises (R8): every stream arrives byte for byte whatever the link does, no
 * stack falls silent while it has work, every session goes by itself, and a case
 * gives the same frames at the same times again.  (R9): what a link that loses
 * frames still carries.  Cases that once failed are run for ever.
 *
 * SIM_SEEDS=FIRST-LAST adds random cases; the program sim does that, too, and makes
 * small what it finds.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/sim/sim.h"
#include "tests/support/xk_test.h"

static void fails(const struct sim_case *c, const struct sim_result *r)
{
	char text[SIM_TEXT];

	sim_case_print(c, text, sizeof text);
	printf("# sim %s: %s\n", text, r->why);
}

static bool passes(const struct sim_case *c, struct sim_result *r)
{
	bool ok = sim_run(c, r);

	CU_ASSERT(ok);
	if (!ok)
		fails(c, r);
	return ok;
}

static void play(char *words)
{
	char *word[32], *at = strtok(words, " ");
	struct sim_result r;
	struct sim_case c;
	const char *why;
	int n = 0;

	for (; at != NULL && n < 32; at = strtok(NULL, " "))
		word[n++] = at;
	if (!sim_case_parse(&c, n, word, &why)) {
		printf("# %s\n", why);
		CU_FAIL("the case is malformed");
	} else {
		passes(&c, &r);
	}
}

/* ---- the matrix ---------------------------------------------------------------------- */

/* Each value of each field of R8, with everything else mild, both ways. */
static void each_fault_alone_costs_no_byte(void)
{
	for (unsigned i = 0; i < sim_nfields; i++) {
		for (unsigned k = 0; k < sim_fields[i].n; k++) {
			struct sim_result r;
			struct sim_case c;

			sim_case_mild(&c, 7 + i);
			c.ba = 20000;
			*sim_field_of(&c, i) = sim_fields[i].value[k];
			if (c.depth != 1 || c.reorder != 0)
				c.reorder = 1000;
			passes(&c, &r);
		}
	}
}

static void run_seeds(uint64_t first, uint64_t last)
{
	for (uint64_t seed = first; seed <= last; seed++) {
		struct sim_result r;
		struct sim_case c;

		sim_case_random(&c, seed);
		passes(&c, &r);
	}
}

static void faults_together_cost_no_byte(void)
{
	const char *more = getenv("SIM_SEEDS");
	unsigned long long first, last;

	run_seeds(1, xk_test_rounds(120));
	if (more != NULL && sscanf(more, "%llu-%llu", &first, &last) == 2)
		run_seeds(first, last);
}

static void the_same_case_gives_the_same_frames_at_the_same_times(void)
{
	for (uint64_t seed = 1000; seed < 1000 + xk_test_rounds(20); seed++) {
		struct sim_result a, b;
		struct sim_case c;

		sim_case_random(&c, seed);
		passes(&c, &a);
		passes(&c, &b);
		CU_ASSERT_EQUAL(a.hash, b.hash);
		CU_ASSERT_EQUAL(a.frames, b.frames);
		CU_ASSERT_EQUAL(a.took, b.took);
	}
}

static void another_seed_gives_other_frames(void)
{
	struct sim_result a, b;
	struct sim_case c;

	sim_case_mild(&c, 1);
	passes(&c, &a);
	c.seed = 2;
	passes(&c, &b);
	CU_ASSERT_NOT_EQUAL(a.hash, b.hash);
}

/* ---- cases that failed once ------------------------------------------------------------- */

/* One line each; why it failed stands in the commit that added it. */
static const char *const once[] = {
	"seed=1",
};

static void what_failed_once_does_not_fail_again(void)
{
	for (unsigned i = 0; i < XK_ARRAY_LEN(once); i++) {
		char words[SIM_TEXT];

		snprintf(words, sizeof words, "%s", once[i]);
		play(words);
	}
}

/* ---- the cases themselves ------------------------------------------------------------------- */

static void a_case_is_printed_and_read_back(void)
{
	for (uint64_t seed = 1; seed < 500; seed++) {
		char text[SIM_TEXT], *word[40], *at;
		struct sim_case c, d;
		const char *why;
		int n = 0;

		sim_case_random(&c, seed);
		sim_case_print(&c, text, sizeof text);
		for (at = strtok(text, " "); at != NULL; at = strtok(NULL, " "))
			word[n++] = at;
		CU_ASSERT(sim_case_parse(&d, n, word, &why));
		CU_ASSERT_EQUAL(memcmp(&c, &d, sizeof c), 0);
	}
}

static void a_wrong_word_is_named(void)
{
	char bad[] = "los=3", none[] = "conns=9", *word[1] = { bad };
	const char *why = NULL;
	struct sim_case c;

	CU_ASSERT(!sim_case_parse(&c, 1, word, &why));
	CU_ASSERT_PTR_EQUAL(why, bad);
	word[0] = none;
	CU_ASSERT(!sim_case_parse(&c, 1, word, &why));
}

int main(void)
{
	static CU_TestInfo cases[] = {
		{ "a case is printed and read back", a_case_is_printed_and_read_back },
		{ "a wrong word is named", a_wrong_word_is_named },
		CU_TEST_INFO_NULL
	};
	static CU_TestInfo matrix[] = {
		{ "each fault alone costs no byte", each_fault_alone_costs_no_byte },
		{ "faults together cost no byte", faults_together_cost_no_byte },
		{ "the same case gives the same frames at the same times",
		  the_same_case_gives_the_same_frames_at_the_same_times },
		{ "another seed gives other frames", another_seed_gives_other_frames },
		{ "what failed once does not fail again", what_failed_once_does_not_fail_again },
		CU_TEST_INFO_NULL
	};
	static const CU_SuiteInfo suites[] = {
		{ "cases", NULL, NULL, NULL, NULL, cases },
		{ "matrix", NULL, NULL, NULL, NULL, matrix },
		CU_SUITE_INFO_NULL
	};

	return xk_test_main(suites);
}
