/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_affinity.h - what the files of `vp-bench affinity` share.
 *
 * One message is worked on by the calling thread, which is pinned to a processor, in a graph whose workers
 * never start; another thread, pinned to another processor, does before it what shall have been done there
 * (Salehi and others 1995, figure 7: lock step).  A value is the median of a round's samples, with the cost
 * of the clock taken away; affinity.lua says what the values of all rounds mean.
 * Invariant: at any time one of the two threads is inside the graphs.
 */
#ifndef BENCH_AFFINITY_H
#define BENCH_AFFINITY_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/compose/xk_compose.h"
#include "runtime/sync/xk_fiber.h"
#include "runtime/vp/xk_vp.h"

#define AFF_ROUNDS  100u         /* at most */
#define AFF_LEAST   6u           /* rounds that an interval needs */
#define AFF_TEXT    400u
#define AFF_VARIANTS 3u

/* ---- the clock (bench_affinity_cache.c) ------------------------------------------------- */

/* Ticks of the processor's counter, what is before it done and what is after it not begun; nanoseconds where
 * there is none. */
uint64_t aff_ticks(void);
double   aff_ticks_of_ns(void);  /* how many make a nanosecond */
extern const char *const aff_ticks_are;

/* ---- caches (bench_affinity_cache.c) ------------------------------------------------------ */

struct aff_caches {
	size_t l1d, l1i, l2, last;   /* bytes; 0: the system does not say */
	size_t line;
	size_t walk_l1, walk_all;    /* bytes of data that are walked */
	size_t pieces;               /* of code, KiB */
	char  *data;                 /* walk_all bytes */
	size_t at;                   /* where other work goes on */
	/* References of other work, of both kinds, and the ticks that they took: all, and where nobody else had the
	 * processor meanwhile. */
	struct aff_rate { uint64_t references, ticks; } all, alone;
};
/* References in a nanosecond, by those that were alone, where there were any; 0: there were none. */
double aff_references(const struct aff_caches *c);
/* walk: bytes that are to displace everything, 0: twice the last level, at most AFF_WALK_MOST.  False: no memory. */
#define AFF_WALK_MOST ((size_t)64 << 20)
bool aff_caches_init(struct aff_caches *c, size_t walk);
void aff_caches_fini(struct aff_caches *c);
/* The sizes alone, from the kernel's description of a processor's caches; what it does not say is 0. */
void aff_caches_sizes(struct aff_caches *c, const char *dir);
/* Is there code to walk on this kind of processor?  It is here, so many bytes, of which twice the first cache is
 * walked. */
extern const bool aff_walks_code;
#define AFF_CODE ((size_t)256 << 10)
void aff_code(void);
/* Out of the first level; out of all that walk_all displaces. */
void aff_flush_l1(struct aff_caches *c);
void aff_flush_all(struct aff_caches *c);
/* Other work for so long, of which a share v of the time references code and data, lines in turn. */
void aff_other_work(struct aff_caches *c, double ns, double v);

/* ---- two processors in lock step (bench_affinity_pair.c) ------------------------------------ */

struct aff_pair;
/* The caller's thread is pinned to the first processor that it may use, until the end, the other one's to the second.
 * *p NULL: there is one processor only, or no thread; why says which. */
void aff_pair_open(struct aff_pair **p, int cpu[2], char *why);
/* Runs fn on the other processor and waits; no pair: nothing. */
void aff_pair_do(struct aff_pair *p, void (*fn)(void *arg), void *arg);
void aff_pair_close(struct aff_pair *p);

/* ---- stacks (bench_affinity_rig.c) ------------------------------------------------------------ */

enum aff_side { AFF_RECEIVE, AFF_SEND, AFF_LOCKING, AFF_SIDES };
extern const char *const aff_side_name[];
/* Independent stacks of a graph: the one that is timed; of the other processor alone; of this one alone. */
enum aff_stack { AFF_TIMED, AFF_THEIRS, AFF_OURS, AFF_STACKS };
/* Graphs of a side: one stream; two in turn; of the stack with locks, one on each processor. */
enum aff_variant { AFF_ONE, AFF_TURN, AFF_APART };

struct aff_rig {
	struct { struct xk_spec *spec; struct xk_graph *g; } graph[AFF_SIDES][AFF_VARIANTS];
	struct aff_caches caches;
	struct aff_pair  *pair;
	int               cpu[2];               /* the pair's */
	char             why_one[AFF_TEXT];     /* pair NULL: why */
	struct { struct xk_fiber fiber XK_ALIGNED, *here; struct xk_vp *vp; void *mem; } thread;
	bool              threads XK_ALIGNED;   /* a stack can be switched to */
	uint64_t          misfits;              /* units that were not one message */
	struct xk_lock    lock XK_ALIGNED;
};
/* False, and why; aff_rig_close in every case. */
bool aff_rig_open(struct aff_rig *r, size_t size, size_t walk, char *why);
void aff_rig_close(struct aff_rig *r);
static inline struct xk_vp *aff_vp(const struct aff_rig *r, enum aff_side s, enum aff_variant v, enum aff_stack k)
{
	return r->graph[s][v].g->vps->vp[k];
}
/* The I/O thread of device `no`, of the stack with locks. */
static inline struct xk_vp *aff_io(const struct aff_rig *r, enum aff_variant v, unsigned no)
{
	const struct xk_vpset *set = r->graph[AFF_LOCKING][v].g->vps;

	return set->vp[set->nconn + no];
}
/* One message of vp, as a worker has it: the lock, a unit, the lock. */
void aff_message(struct aff_rig *r, struct xk_vp *vp);
/* The same on the thread stack that both processors may use. */
void aff_message_on_thread(struct aff_rig *r, struct xk_vp *vp);

/* ---- what is measured (bench_affinity_cells.c, bench_affinity_probes.c, bench_affinity_curve.c) -- */

struct aff_series { double v[AFF_ROUNDS]; unsigned n; };

/* Adds one round to each, rounds beside each other belong together; lists of {id, ..., v: [ns], why}. */
struct aff_part {
	const char *name;
	unsigned    n;
	bool      (*here)(struct aff_rig *r, unsigned i, char *why);   /* false: not measured, and why */
	double    (*sample)(struct aff_rig *r, unsigned i);            /* ticks, the clock's in it */
	unsigned  (*samples)(unsigned i);                              /* of a round */
	json_t   *(*head)(unsigned i);                                 /* what it is */
};
extern const struct aff_part aff_cells, aff_probes, aff_curve;
#define AFF_MOST 64u             /* entries of a part */

struct aff_run { struct aff_rig *rig; const struct aff_part *part; struct aff_series series[AFF_MOST]; double clock; };
/* A round of all of part. */
void aff_round(struct aff_run *u);
/* Borrowed by nobody: a new list. */
json_t *aff_run_json(const struct aff_run *u);

#endif
