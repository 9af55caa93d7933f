/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_goals.h - what the files of `vp-bench goals` share.
 *
 * A goal is a row of a table: two sides, how the ratio is made of their values,
 * a target and a stretch.  A side is a function and its data; measuring one gives
 * one value.  Sides are measured in turn (ours, reference, ours, ...), so that
 * what happens to the machine happens to both.
 * A row over a range has points, each a goal of its own; its worst point is its result.
 * Invariant: a ratio is never printed without its reference measured in the
 * same run.
 */
#ifndef BENCH_GOALS_H
#define BENCH_GOALS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/xk_clock.h"

#define GOAL_PAIRS 1000u
#define GOAL_ARGS  8u
#define GOAL_TEXT  512u

enum goal_peer { PEER_LWIP, PEER_KERNEL, PEER_DPDK, PEER_LWIP_TCP, PEER_LWIP_MANY, PEER_LWIP_TCP_1500,
		 PEER_LWIP_MANY_1500, PEER_SMOLTCP, PEER_KERNEL_TCP,
		 PEER_KERNEL_MEM, PEER_DPDK_HASH, PEER_URCU_HASH, PEER_ACE, PEER_WIRE,
		 PEER_RANKS_NCS, PEER_RANKS_OPENMPI, PEER_PROGRAMS_EXEC, PEER_PROGRAMS_KERNEL };

/* What was asked for, and where things are. */
struct goals {
	uint64_t    pairs, point_pairs;   /* point_...: of each point of a row over a range */
	xk_ns       time, point_time;     /* of one side of one pair */
	const char *vp_run, *counting;    /* counting: vp-run of a counting build, or NULL */
	const char *peers;                /* folder of the harnesses, NULL: search */
	char        graphs[GOAL_TEXT];    /* folder of the graphs */
	int         cpu[2];               /* the first two processors allowed, -1: none */
	bool        interrupted;
	struct bench_progress *progress;  /* or NULL */
};

enum goal_fault { SIDE_OK, SIDE_FAILED, SIDE_NOISE };   /* noise: measure this pair again */

struct goal_side;
/* One value, or a fault and why (GOAL_TEXT bytes). */
typedef enum goal_fault goal_probe_fn(struct goals *g, const struct goal_side *s, double *v, char *why);
/* Why a side cannot be measured here, a sentence; NULL: it can. */
typedef const char *goal_lacks_fn(struct goals *g, const struct goal_side *s);

struct goal_side {
	goal_probe_fn *measure;
	goal_lacks_fn *lacks;             /* NULL: nothing can be missing */
	const char *lacks_text;           /* what is missing everywhere, or NULL */
	const char *graph;                /* of vp-run */
	const char *arg[GOAL_ARGS];       /* of vp-run; of a harness behind its time */
	enum goal_peer peer, other;       /* other: the better of the two counts (side_best) */
	const char *peer_arg;
	unsigned    workers;              /* 0: as the graph says */
	double      warmup;               /* seconds; 0: a quarter of the time */
	unsigned    idle;                 /* silent connections that stand when measuring begins (side_idle, side_rest) */
	unsigned    few, many;            /* side_hop: hops whose times are compared; 0: 2 and 10 */
	unsigned    per;                  /* side_time: bytes of a message, whose time is told for 4 KiB; 0: for a message */
	unsigned    beside;               /* side_wall_rate, side_peer_rate: busy loops that run meanwhile, at most GOAL_BESIDE */
	unsigned    flows;                /* side_native: connections whose frames come in turn; 0: one */
};

/* How the ratio is made. */
enum goal_sense {
	GOAL_TIME,                        /* reference / ours: times */
	GOAL_RATE,                        /* ours / reference: rates */
	GOAL_VALUE,                       /* ours itself; smaller is better */
};

struct goal {
	const char *id, *what, *unit;
	enum goal_sense  sense;
	double      target, stretch;
	struct goal_side ours, reference;
	bool        two_cores;
	const char *note;                 /* what a reader should know, or NULL */
	const char *range;                /* what its points are, or NULL */
	const struct goal *point;         /* a row over a range has points instead of sides; else NULL */
	unsigned    npoints;
};
#define GOAL_ROWS   96u
#define GOAL_POINTS 192u                /* of all rows */
/* The table (goal_rows.lua), NULL id last, for as long as the program runs; NULL, and why. */
const struct goal *goal_rows(char *why, size_t n);

/* As goals.lua says it. */
enum goal_verdict { GOAL_UNMEASURED, GOAL_HOLDS, GOAL_HOLDS_STRETCH, GOAL_MISSES, GOAL_CANNOT_SAY };
extern const char *const goal_verdicts[];   /* "holds", ... */

struct goal_result {
	const struct goal *row;
	double   ours, reference;         /* medians */
	double   ratio, lo, hi, spread;   /* spread: between the quartiles, as a share of the median */
	unsigned pairs, discarded;
	double   probe_lo, probe_hi;      /* round trip of a cache line, ns; two cores only */
	bool     have_ours, have_ratio;
	enum goal_verdict verdict;
	char     note[2 * GOAL_TEXT];
	struct goal_result *points;       /* of a row over a range: npoints of them, the row's own; else NULL */
	unsigned worst;                   /* of them, whose values these are */
};

/* bench_goals_measure.c */
void goal_measure(struct goals *g, const struct goal *row, struct goal_result *r);

/* bench_goals_range.c: a row, over its range when it has one, and what remains of it. */
void goal_measure_row(struct goals *g, const struct goal *row, struct goal_result *r);
void goal_result_end(struct goal_result *r);

/* bench_goals_sides.c */
enum goal_fault side_time(struct goals *g, const struct goal_side *s, double *v, char *why);
enum goal_fault side_rate(struct goals *g, const struct goal_side *s, double *v, char *why);
enum goal_fault side_hop(struct goals *g, const struct goal_side *s, double *v, char *why);
enum goal_fault side_fair(struct goals *g, const struct goal_side *s, double *v, char *why);
enum goal_fault side_locked(struct goals *g, const struct goal_side *s, double *v, char *why);
/* side_time of a run in which all connections are opened before the time that is measured. */
enum goal_fault side_active(struct goals *g, const struct goal_side *s, double *v, char *why);
/* Time of a message beside silent connections; bytes that one of these takes. */
enum goal_fault side_idle(struct goals *g, const struct goal_side *s, double *v, char *why);
enum goal_fault side_rest(struct goals *g, const struct goal_side *s, double *v, char *why);
/* The same of a peer. */
enum goal_fault side_peer_bytes(struct goals *g, const struct goal_side *s, double *v, char *why);
enum goal_fault side_peer(struct goals *g, const struct goal_side *s, double *v, char *why);
/* Messages a second by the wall clock, on the two processors. */
enum goal_fault side_wall_rate(struct goals *g, const struct goal_side *s, double *v, char *why);
enum goal_fault side_peer_rate(struct goals *g, const struct goal_side *s, double *v, char *why);
/* The faster of two peers, each in its own run. */
enum goal_fault side_best(struct goals *g, const struct goal_side *s, double *v, char *why);
enum goal_fault side_one(struct goals *g, const struct goal_side *s, double *v, char *why);
/* A run of vp-run with the side's graph and arguments and `more`: its JSON, or NULL and why. */
json_t *goal_run(struct goals *g, const struct goal_side *s, xk_ns time, const char *more, char *why);
/* Of a run, of node `name`: number `key` of its "counters" or "drops"; 0: there is none. */
double goal_node_number(const json_t *j, const char *name, const char *table, const char *key);
/* The harness, or NULL. */
const char *goal_peer_path(const struct goals *g, enum goal_peer peer);
const char *goal_peer_hint(enum goal_peer peer);
/* By the name of its program. */
bool goal_peer_of(const char *program, enum goal_peer *peer);

/* bench_goals_copy.c */
enum goal_fault side_csum_copy(struct goals *g, const struct goal_side *s, double *v, char *why);
enum goal_fault side_memcpy(struct goals *g, const struct goal_side *s, double *v, char *why);
/* From places that are in no cache. */
enum goal_fault side_memcpy_cold(struct goals *g, const struct goal_side *s, double *v, char *why);
enum goal_fault side_csum_copy_cold(struct goals *g, const struct goal_side *s, double *v, char *why);

/* bench_goals_demux.c: a key of a burst to its session, among a million. */
enum goal_fault side_demux(struct goals *g, const struct goal_side *s, double *v, char *why);

/* bench_goals_load.c: processor time of a message that arrives at four times the load that saturates, and at the
 * peak; peer_arg: the reason under which the device counts what is lost, NULL: it is lost in inboxes.  A million
 * timers, in per cent of a processor. */
enum goal_fault side_overload(struct goals *g, const struct goal_side *s, double *v, char *why);
enum goal_fault side_peak(struct goals *g, const struct goal_side *s, double *v, char *why);
enum goal_fault side_timers(struct goals *g, const struct goal_side *s, double *v, char *why);

/* bench_goals_filter.c: ns for a verdict on a frame. */
enum goal_fault side_bpf_filter(struct goals *g, const struct goal_side *s, double *v, char *why);
enum goal_fault side_cbpf(struct goals *g, const struct goal_side *s, double *v, char *why);
enum goal_fault side_one_filter(struct goals *g, const struct goal_side *s, double *v, char *why);
enum goal_fault side_many_filters(struct goals *g, const struct goal_side *s, double *v, char *why);

/* bench_goals_native.c: ns from a frame to its flow, frames of `flows` connections in turn. */
enum goal_fault side_native(struct goals *g, const struct goal_side *s, double *v, char *why);

/* bench_goals_arena.c: ns for a verdict of a program in the kernel, on a frame of a batch and on
 * one alone; why there is no arena, a sentence, or NULL. */
enum goal_fault side_arena(struct goals *g, const struct goal_side *s, double *v, char *why);
enum goal_fault side_xdp_run(struct goals *g, const struct goal_side *s, double *v, char *why);
const char *goal_lacks_arena(struct goals *g, const struct goal_side *s);

/* bench_goals_wire.c: on the kernel's wires, peer_arg: WHAT/SIDE of tools/peers/wire; its rate, its processor time, and
 * why it cannot be measured here, a sentence, or NULL. */
enum goal_fault side_wire_rate(struct goals *g, const struct goal_side *s, double *v, char *why);
enum goal_fault side_wire_cost(struct goals *g, const struct goal_side *s, double *v, char *why);
const char *goal_lacks_wire(struct goals *g, const struct goal_side *s);

/* bench_goals_ncs.c: under the virtual clock bits of payload a second that the node `sink` had, and by how many per cent
 * they are off the Mbit/s of peer_arg; ns that flow and error control, the last two arguments, add to a packet of an
 * echo. */
enum goal_fault side_goodput(struct goals *g, const struct goal_side *s, double *v, char *why);
enum goal_fault side_off_rate(struct goals *g, const struct goal_side *s, double *v, char *why);
enum goal_fault side_choice(struct goals *g, const struct goal_side *s, double *v, char *why);

/* bench_goals_probe.c: the median round trip of a cache line between two
 * processors in ns, 0 when it could not be measured. */
#define PROBE_FAR 200.0
double goal_probe(int a, int b);

/* What others took of two processors from begin to now, as a share of both; our own children count as ours. */
struct goal_busy { int cpu[2]; double busy, own, wall; };
void   goal_busy_begin(struct goal_busy *b, int x, int y);
double goal_busy_others(const struct goal_busy *b);
/* Programs that do nothing but take processor time, from begin to end; they count as our own. */
#define GOAL_BESIDE 4u
struct goal_beside { int pid[GOAL_BESIDE]; unsigned n; };
void goal_beside_begin(struct goal_beside *b, unsigned n);
void goal_beside_end(struct goal_beside *b);
/* Seconds of processor x and y that were not idle, of a text like /proc/stat. */
double goal_busy_of(FILE *stat, int x, int y);

/* bench_goals_show.c */
json_t *goal_json(const struct goal_result *r);
json_t *goals_json(const struct goal_result *r, unsigned n);

#endif
