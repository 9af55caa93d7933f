/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_advise.h - what advise.lua cannot find out: facts of the graph file and of this machine.
 */
#ifndef XK_BENCH_ADVISE_H
#define XK_BENCH_ADVISE_H

#include "tools/vp-bench/bench.h"

struct advise_file {
	bool copies;             /* payload, in some node */
	bool has_preset;         /* an argument that chooses one */
};

int advise_processors(void);
/* BENCH_OK, or BENCH_FILE_ERRORS after complaints. */
int advise_from_file(const char *file, const char *const *args, unsigned nargs, struct advise_file *f);

#endif
