/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_goals.c - the scoreboard's list of goals: there are none.
 */
#include "tools/vp-bench/bench.h"

int bench_goals_main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	fprintf(stderr, "vp-bench goals: no goals\n");
	return BENCH_USAGE;
}
