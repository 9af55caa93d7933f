/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_advise.h - what advise.lua cannot find out: facts of the graph file and of this machine.
 */
#ifndef XK_BENCH_ADVISE_H
#define XK_BENCH_ADVISE_H

#include "tools/vp-bench/bench.h"

struct advise_file {
	bool copies;             /* payload, in some node */
	json_t *presets;         /* the words of an argument that chooses one, to be released; NULL: there is none */
};

/* A machine that is not here. */
struct advise_simulation {
	const char *goal, *machine, *duration;
	unsigned    processors;  /* 0: nothing is simulated */
	bool        check;       /* simulate what is here, too, and measure it */
};

int advise_processors(void);
/* BENCH_OK, or BENCH_FILE_ERRORS after complaints. */
int advise_from_file(const char *file, const char *const *args, unsigned nargs, struct advise_file *f);
/* Runs the file with each of the presets; *doc is what simulate.lua makes of it.  BENCH_OK, or a code after complaints. */
int advise_simulate(const struct bench_options *o, const struct advise_simulation *s, json_t *presets, json_t **doc);

#endif
