/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_sim.c - TCP between two hosts over bad links, in virtual time.
 *
 * Promises: every stream arrives byte for byte whatever the link does, no
 * stack falls silent while it has work, every session goes by itself, and a case
 * gives the same frames at the same times again.  What a link that loses
 * frames still carries is in test_sim_goodput.  Cases that once failed are run for ever.
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

static void failed(const struct sim_case *c, const struct sim_result *r, void *arg)
{
	(void)arg;
	fails(c, r);
}

static void run_all(void (*make)(struct sim_case *, uint64_t, void *), uint64_t n, void *arg, bool twice)
{
	struct sim_batch b = { .make = make, .failed = failed, .arg = arg, .twice = twice };

	CU_ASSERT_EQUAL(sim_many(&b, n), 0);
	CU_ASSERT(b.frames > n);
}

/* Each value of each field, with everything else mild, both ways. */
static void alone(struct sim_case *c, uint64_t i, void *arg)
{
	unsigned f = 0;

	(void)arg;
	for (; i >= sim_fields[f].n; f++)
		i -= sim_fields[f].n;
	sim_case_mild(c, 7 + f);
	c->ba = 20000;
	*sim_field_of(c, f) = sim_fields[f].value[i];
	if (c->depth != 1)
		c->reorder = 1000;
}

static void each_fault_alone_costs_no_byte(void)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < sim_nfields; i++)
		n += sim_fields[i].n;
	run_all(alone, n, NULL, false);
}

static void together(struct sim_case *c, uint64_t i, void *arg)
{
	sim_case_random(c, *(const unsigned long long *)arg + i);
}

static void faults_together_cost_no_byte(void)
{
	const char *more = getenv("SIM_SEEDS");
	unsigned long long first = 1, last;

	run_all(together, xk_test_rounds(200), &first, false);
	if (more != NULL && sscanf(more, "%llu-%llu", &first, &last) == 2 && last >= first)
		run_all(together, last - first + 1, &first, false);
}

static void the_same_case_gives_the_same_frames_at_the_same_times(void)
{
	unsigned long long first = 100000;

	run_all(together, xk_test_rounds(60), &first, true);
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

/* ---- the end of slow start ---------------------------------------------------------------- */

/* 4 MB over a link of 10 Mbit/s and 100 ms, 83 full frames, whose queue takes some more. */
static void bulk(struct sim_case *c, uint32_t cc, uint32_t queue)
{
	sim_case_mild(c, 1);
	c->rate = 10;
	c->rtt = 100;
	c->buf = 2048;
	c->ab = 4000000;
	c->cc = cc;
	c->queue = queue;
}

static void slow_start_ends_before_the_queue_is_full(void)
{
	for (uint32_t cc = 1; cc <= 2; cc++) {
		struct sim_result with, without;
		struct sim_case c;

		bulk(&c, cc, 800);
		passes(&c, &with);
		c.plain = 1;
		passes(&c, &without);
		printf("# %s: %llu sent again, %.2f s; without HyStart++ %llu, %.2f s\n", cc == 1 ? "cubic" : "reno",
		       (unsigned long long)with.retransmits, (double)with.took / 1e9,
		       (unsigned long long)without.retransmits, (double)without.took / 1e9);
		CU_ASSERT_EQUAL(with.retransmits, 0);
		CU_ASSERT(without.retransmits > 100);
		CU_ASSERT(with.took <= without.took);
	}
}

/* Both ways together it is below the threshold of each path, so every frame is the same. */
static void jitter_does_not_end_slow_start(void)
{
	static const struct { uint32_t rtt, jitter; } paths[] = { { 100, 5 }, { 600, 7 }, { 1, 1 } };

	for (unsigned i = 0; i < XK_ARRAY_LEN(paths); i++) {
		struct sim_result with, without;
		struct sim_case c;

		bulk(&c, 1, 65536);
		c.rate = 0;
		c.rtt = paths[i].rtt;
		c.jitter = paths[i].jitter;
		passes(&c, &with);
		c.plain = 1;
		passes(&c, &without);
		CU_ASSERT_EQUAL(with.hash, without.hash);
	}
}

/* ---- cases that failed once ------------------------------------------------------------- */

/* One line each, what the simulation printed, with what had been wrong. */
static const char *const once[] = {
	/* A FIN counted as a byte in flight kept the last segment from being repeated. */
	"seed=14 loss=2000 reorder=100 ab=13125 fddi=1",
	"seed=38 loss=100 reorder=100 ab=17500 profile=3",
	"seed=7 loss=2000 corrupt=1 rate=10 ba=20000 slow=1 profile=2 vps=3",
	"seed=26 loss=500 ab=525000 profile=2",
	"seed=10 loss=2000 dup=100 reorder=1000 depth=10 rtt=600 ba=20000 chunk=1000 profile=3 peer=3",
	/* A probe of what had gone again already counted twice as in flight, for ever. */
	"seed=29032 loss=3000 corrupt=1 ba=20000 conns=2",
	/* Timeouts that were spurious were forgotten at once; nothing limited what each sent again. */
	"seed=13 rate=1 ab=131250 profile=2 vps=3 cc=3",
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
	static CU_TestInfo start[] = {
		{ "slow start ends before the queue is full", slow_start_ends_before_the_queue_is_full },
		{ "jitter does not end slow start", jitter_does_not_end_slow_start },
		CU_TEST_INFO_NULL
	};
	static const CU_SuiteInfo suites[] = {
		{ "cases", NULL, NULL, NULL, NULL, cases },
		{ "matrix", NULL, NULL, NULL, NULL, matrix },
		{ "slow start", NULL, NULL, NULL, NULL, start },   /* after those that fork */
		CU_SUITE_INFO_NULL
	};

	return xk_test_main(suites);
}
