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

#define CALIBRATE_QUEUES 2u

/* The machine file's text, to be freed, or NULL and why. */
typedef char *calibrate_text(void *arg, char *why, size_t n);

/* ns that a run's workers had of their processors. */
double calibrate_cpu_of(const json_t *run);
/* {key = {preset, measured, us, why}} of each queue: ns of a message here, and no cost yet. */
json_t *calibrate_queues_run(struct calibrate *c, char *why, size_t n);
/* The costs, us, of which text(arg) makes use; without, ns of a simulated message that pays nothing for it. */
void calibrate_queues_fit(struct calibrate *c, json_t *of, calibrate_text *text, void *arg);

/* Writes the machine file; an exit code. */
int calibrate_affinity(struct calibrate *c);

#endif
