/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_mutate.c - every field of every header with every value that may be special,
 * in every state of TCP, and pairs of them: nothing crashes, hangs, leaks or is lost
 * from the accounts, and the host goes on as before.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/mutate/mut.h"
#include "tests/support/xk_test.h"
#include "runtime/upi/xk_inline.h"

static struct mut_tally tally;

#define STATE_TEST(name, state, tcp) \
	static void messages_in_##name(void) { CU_ASSERT(mut_run_setup(MUT_##name, false, &tally)); }
MUT_SETUPS(STATE_TEST)

static void messages_in_established_over_fddi(void)
{
	CU_ASSERT(mut_run_setup(MUT_established, true, &tally));
}

static void fifty_thousand_were_tried(void)
{
	printf("# %llu messages: %llu dropped, %llu taken; %llu transfers of 64 KiB\n", (unsigned long long)tally.messages,
	       (unsigned long long)tally.dropped, (unsigned long long)tally.taken, (unsigned long long)tally.transfers);
	CU_ASSERT(getenv("XK_MUTATE") != NULL || tally.messages >= xk_test_rounds(50000));
}

static CU_TestInfo tests[] = {
#define STATE_ROW(name, state, tcp) { "messages in " #name, messages_in_##name },
	MUT_SETUPS(STATE_ROW)
	{ "messages in established over fddi", messages_in_established_over_fddi },
	{ "fifty thousand were tried", fifty_thousand_were_tried },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "mutated messages", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	xk_rcu_register();
	return xk_test_main(suites);
}
