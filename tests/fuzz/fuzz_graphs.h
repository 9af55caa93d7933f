/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_graphs.h - the graph of a fuzz target, which stays from one input to the next: made when it is first wanted, and anew
 * before its clock, which only goes forward, is near its end.
 */
#ifndef FUZZ_GRAPHS_H
#define FUZZ_GRAPHS_H

#include "tests/fuzz/fuzz_in.h"
#include "tests/protocols/proto_fixture.h"

/* down is called at the end of the program, too. */
static inline void fuzz_graph_up(struct pf *fixture, void (*up)(void), void (*down)(void))
{
	static bool registered;

	if (fixture->g != NULL && pf_now(fixture) > XK_NS_NEVER / 4)
		down();
	if (fixture->g == NULL)
		up();
	if (!registered && atexit(down) != 0)
		abort();
	registered = true;
}

#endif
