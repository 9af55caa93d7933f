/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_calibrate.h - what the files of `vp-bench calibrate` share.
 */
#ifndef BENCH_CALIBRATE_H
#define BENCH_CALIBRATE_H

#include <stdbool.h>

#include "tools/vp-bench/bench.h"

struct calibrate {
	const char *out, *vp_run;
	unsigned    runs;
	xk_ns       duration;
	bool        interrupted;
	bool        is_affinity;         /* a machine file instead of JSON */
	const char *needs_it;            /* an option that only this has, or NULL */
	struct bench_affinity_opts affinity;
	char        command[400];        /* as it was called */
};

/* Writes the machine file; an exit code. */
int calibrate_affinity(struct calibrate *c);

#endif
