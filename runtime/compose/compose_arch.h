/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * compose_arch.h - the axes of a threading table, as written and as they are meant.
 *
 * A table is a preset and what was said of it: values, and which of them stand in
 * the file, because what is not said follows from what is.  Four files share this:
 * the reading (compose_arch.c), the meaning (compose_axes.c), what cannot run (compose_axes_fault.c) and the search for
 * the nearest table that can run (compose_suggest.c).
 * Invariant: what is refused and what is proposed is judged by one function, axes_fault.
 */
#ifndef COMPOSE_ARCH_H
#define COMPOSE_ARCH_H

#include "runtime/compose/compose_priv.h"

struct arch_conf {
	unsigned domain, entry, schedule, handover, waiters, lock, inbound, order, datagrams, table, object_locks, threads, spread;
	uint64_t vps, workers, io_threads, burst, quantum, cpus, inbox, spin, seed, stack;
	bool     wired, hold, lock_times;
	struct xk_plist map;
	unsigned affinity, pick, queue, freelist, stacks;
	uint64_t depth;
	bool     steal;
	uint64_t pipelines, high, low;
	struct xk_plist layers;
	double   bg_v;
	uint64_t bg_data, bg_code;
};

/* Rows of xk_arch_params. */
enum axis {
	AX_DOMAIN, AX_VPS, AX_WORKERS, AX_ENTRY, AX_HANDOVER, AX_WAITERS, AX_LOCK, AX_IO_THREADS, AX_INBOUND, AX_ORDER, AX_DATAGRAMS, AX_TABLE,
	AX_OBJECT_LOCKS, AX_HOLD, AX_SCHEDULE, AX_SPREAD, AX_BURST, AX_QUANTUM, AX_WIRED, AX_CPUS, AX_INBOX, AX_SPIN, AX_SEED,
	AX_THREADS, AX_STACK, AX_MAP, AX_PIPELINES, AX_LAYERS, AX_HIGH, AX_LOW, AX_LOCK_TIMES,
	AX_AFFINITY, AX_PICK, AX_QUEUE, AX_STEAL, AX_DEPTH, AX_FREELIST, AX_STACKS, AX_BG_V, AX_BG_DATA, AX_BG_CODE, AX_N
};

struct axes {
	const struct xk_arch *base;
	struct arch_conf conf;
	uint64_t said;               /* bit of each axis that stands in the table */
	int      vps_word;           /* vps is said by a word: XK_VPS_*; 0: it is not */
};
_Static_assert(AX_N <= 64, "a bit for each axis");

static inline bool axes_said(const struct axes *x, enum axis a)
{
	return x->said >> a & 1;
}

/* Is there other work for idle workers? */
static inline bool axes_background(const struct axes *x)
{
	return axes_said(x, AX_BG_V) || axes_said(x, AX_BG_DATA) || axes_said(x, AX_BG_CODE);
}

/* The base alone, nothing said. */
struct axes axes_of(const struct xk_arch *base);
/* What the graph says that threading has to fit. */
struct axes_graph {
	bool     is_virtual;         /* clock = "virtual" */
	bool     waits;              /* a driver of it waits in a call */
	uint64_t memory;             /* limit of message buffers */
	unsigned conns;              /* most connections that one of its nodes makes; 0: none says */
};
/* What it means, whether it can run or not: the runtime's axes. */
struct xk_arch axes_arch(const struct axes *x, const struct axes_graph *g);
/* Why it cannot run (NULL: it can), and which axis of the table that is about (AX_N: all of it). */
const char *axes_fault(const struct axes *x, const struct axes_graph *g, char *why, size_t n, enum axis *about);

/* compose_suggest.c: the nearest table to x that can run, as a line of Lua, in the arena; NULL: none was found. */
const char *axes_nearest(struct xk_spec *s, const struct axes *x, const struct axes_graph *g);

#endif
