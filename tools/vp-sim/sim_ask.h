/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim_ask.h - what a command line of vp-sim asks for, and how a file is loaded and run for it.
 */
#ifndef XK_SIM_ASK_H
#define XK_SIM_ASK_H

#include "tools/vp-bench/bench_shard.h"
#include "tools/vp-sim/sim.h"

#define SIM_ARGS 64u

struct sim_ask {
	const char *file, *arg[SIM_ARGS], *machine, *svg, *out, *trace, *replay;
	const struct sim_watch *watch;   /* of the first run; NULL */
	json_t     *points;          /* of the figure */
	unsigned    narg, nprocessors, replications;
	unsigned    processors[XK_SCHED_PROCS_MAX];
	xk_ns       duration, warmup, limit;
	bool        has_warmup, has_seed, find, json, csv, machines, sweep;
	uint64_t    seed;
	double      self_test;
	struct bench_shard shard;
};

/* A file with its arguments, and the machine. */
struct sim_loaded { struct xk_spec *spec; struct xk_errs *e; struct sim_model m; struct sim_ledger ledger; };

/* SIM_OK or an exit code after what is wrong was printed; sim_unload in every case. */
int  sim_load(struct sim_loaded *l, const struct sim_ask *o, const char *const *arg, unsigned narg);
void sim_unload(struct sim_loaded *l);

/* The runs of one model on l->m.processors; use gets what came out.  SIM_FAILED: out of memory, or use said so. */
typedef int sim_use(const struct sim_outcome *o, void *to);
int  sim_run_all(const struct sim_loaded *l, const struct sim_ask *p, sim_use *use, void *to);

/* --sweep: each point of the file on each number of processors, or the part of them that --shard names (sim_sweep.c). */
int  sim_sweep(const struct sim_ask *p);

#endif
