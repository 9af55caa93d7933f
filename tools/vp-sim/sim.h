/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim.h - what the files of vp-sim share.
 *
 * A bench file's `model` becomes a struct sim_model, a machine file a struct sim_ledger; the
 * engine makes a struct sim_result of both.  Times in files are microseconds, here nanoseconds.
 * Invariant: the same model, ledger and seed give the same result, bit for bit.
 */
#ifndef XK_SIM_H
#define XK_SIM_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "runtime/base/xk_hist.h"
#include "runtime/compose/xk_compose.h"
#include "runtime/vp/xk_cache.h"
#include "runtime/vp/xk_sched.h"

enum { SIM_OK = 0, SIM_FAILED = 1, SIM_USAGE = 2, SIM_FILE_ERRORS = 3 };

/* ---- a real run's decisions (sim_replay.c) ------------------------------------------------ */

/* Asks again what `vp-run --decisions` wrote to file.  The program's exit code, all said: SIM_FAILED: an answer differs. */
int sim_replay(const char *file);

#define SIM_BATCHES     20u
#define SIM_STREAMS_MAX 65536u
#define SIM_FRAMES      32u

/* ---- what things cost (sim_ledger.c) --------------------------------------------------- */

/* How protocol work is made parallel (Salehi and others 1995, 2.2 and 6). */
enum sim_parallel { SIM_LOCKING, SIM_IPS, SIM_SEND, SIM_PARALLELS };
/* What a packet's time is made of, us; one list for each way of being parallel. */
enum sim_cost {
	SIM_HOT,            /* everything cached */
	SIM_L1_COLD,        /* more, with the footprint out of the first level */
	SIM_MEMORY_COLD,    /* more, with it out of both */
	SIM_MAP_MISS,       /* more, with another stream than the stack's last */
	SIM_SESSION_MOVED,  /* more, with the stream's state written last by another processor */
	SIM_PROTOCOL_MOVED, /* more, with the stack's state written last by another processor */
	SIM_THREAD_MOVED,   /* more, with a thread stack that another processor wrote last */
	SIM_THREAD_COLD,    /* the same while the first level is cold */
	SIM_ACQUIRE,        /* memory from a pool that another processor used last */
	SIM_RELEASE,        /* and back */
	SIM_COSTS
};
/* The machine itself. */
enum sim_property {
	SIM_PROCESSORS, SIM_REFERENCES, SIM_COPY,
	SIM_L1_LINES, SIM_L1_LINE, SIM_L1_SHARE, SIM_L2_LINES, SIM_L2_LINE, SIM_L2_SHARE,
	SIM_FOOTPRINT_W, SIM_FOOTPRINT_A, SIM_FOOTPRINT_B, SIM_FOOTPRINT_D,
	SIM_PROPERTIES
};
extern const char *const sim_parallel_name[], *const sim_cost_name[], *const sim_property_name[];

struct sim_value { double v; const char *source; };    /* source: of the file, which is kept */
struct sim_ledger {
	const char      *file, *name, *doc;
	bool             has[SIM_PARALLELS];
	struct sim_value property[SIM_PROPERTIES], cost[SIM_PARALLELS][SIM_COSTS];
	struct xk_spec  *spec;
	struct xk_errs  *e;
	bool             graphs;         /* it says nothing of models, but what graphs cost */
};
/* No machine of that name, nor a path: true and a sentence. */
bool sim_ledger_is_missing(const char *name, char *why, size_t room);
/* name: of a file in the machines' folder, or a path; NULL stands for none.  Errors are printed.  SIM_OK or an
 * exit code; sim_ledger_free in every case. */
int  sim_ledger_load(struct sim_ledger *l, const char *name);
void sim_ledger_free(struct sim_ledger *l);
/* Prints each machine of the folder. */
int  sim_ledger_list(void);

/* ---- the model (sim_model.c) ------------------------------------------------------------- */

enum sim_service {
	SIM_SERVICE_CACHE,        /* the ledger's, by the state of the caches */
	SIM_SERVICE_EXPONENTIAL, SIM_SERVICE_CONSTANT,
	SIM_SERVICE_FRAMES,       /* the copy of the frame alone */
};
struct sim_frame { double bytes, share; };      /* share: of all, up to and with this one */

/* A packet that a processor begins to run, in simulated time. */
struct sim_ran { unsigned stream, processor; xk_ns arrived, from, until; };
/* Told of each in the measured time, in their order. */
struct sim_watch { void (*ran)(void *to, const struct sim_ran *r); void *to; };

struct sim_model {
	const char       *machine;       /* that the file wants; NULL */
	enum sim_parallel parallel;
	unsigned          processors;    /* 0: the ledger's */
	unsigned          stacks;        /* IPS; SIM_STACKS_* or a number */
	enum xk_pick      pick;
	enum xk_queue     queue;
	uint32_t          depth, quantum;
	bool              threads_global, memory_global, copy, closed;
	unsigned          streams, burst;
	double            rate;          /* packets a second and stream */
	double            inner;         /* ns between packets of a train */
	double            displace;      /* share of what the other work references */
	enum sim_service  service;
	double            mean;          /* ns, of a service that is not the caches' */
	struct sim_frame  frame[SIM_FRAMES];
	unsigned          nframes;
	xk_ns             duration, warmup, limit;
	uint64_t          seed;
	bool              find_streams;  /* the most whose mean delay is below limit */
	const struct sim_watch *watch;   /* NULL: nobody */
	const struct sim_ledger *ledger;
};
#define SIM_STACKS_PROCESSORS 0u
#define SIM_STACKS_STREAMS    UINT32_MAX

void sim_model_defaults(struct sim_model *m);
/* Reads `model` of a bench file; complaints go to e. */
void sim_model_read(struct sim_model *m, const struct xk_spec *s, struct xk_errs *e);
/* A complaint about `machine`. */
void sim_model_no_machine(const struct xk_spec *s, struct xk_errs *e, const char *why);
/* What depends on both; complaints are the file's. */
void sim_model_check(const struct sim_model *m, const struct xk_spec *s, struct xk_errs *e);
/* ns between the trains of a stream. */
double sim_model_between(const struct sim_model *m);
double sim_model_bytes(const struct sim_model *m);      /* mean of a frame */

/* ---- the caches (sim_cache.c) --------------------------------------------------------------- */

/* What the ledger says of the machine's caches. */
struct xk_cache_machine sim_cache_of(const struct sim_ledger *l);
/* us of a packet in one of Table 3's cells: level 0 hot, 1 first level cold, 2 both; and the mean
 * over what may have moved. */
double sim_cache_cell(const struct sim_ledger *l, enum sim_parallel how, unsigned level, bool thread_moved);

/* ---- a run (sim_engine.c) -------------------------------------------------------------------- */

struct sim_batch { uint64_t n; double delay, queueing, execution; };   /* sums, ns */

struct sim_result {
	uint64_t events, arrived, served, waiting;    /* in the measured time; waiting: at its end */
	uint64_t waited;                              /* at its beginning */
	uint64_t delay, queueing, execution;          /* sums, ns */
	uint64_t area;                                /* packets in the system, times ns */
	uint64_t residue;                             /* ns that those at the end have been there */
	uint64_t firsts;                              /* after a release */
	uint64_t map_hits, sessions_moved, protocol_moved, threads_moved, memory_moved, helped;
	uint64_t away;                                /* sum, ns */
	struct sim_batch batch[SIM_BATCHES];
	xk_ns    time;                                /* that was measured */
	bool     steady;                              /* or: the queue grew */
	uint64_t places[XK_HIST_PLACES];              /* of delays */
};
/* False: out of memory. */
bool sim_run(const struct sim_model *m, struct sim_result *r);
/* The most streams whose mean delay is below m->limit, with the same seed each time; 0: none has, and
 * *at is of none.  *above: of one more. */
bool sim_find_streams(const struct sim_model *m, unsigned *most, struct sim_result *at, struct sim_result *above);

/* ---- what it means (sim_stats.c) --------------------------------------------------------------- */

/* half: of the 95 % interval; NAN: none is quoted. */
struct sim_estimate { double mean, half, lag1; };
struct sim_estimate sim_estimate_of(const double *v, unsigned n, bool batches);
enum sim_what { SIM_DELAY, SIM_QUEUEING, SIM_EXECUTION };
/* us, from the batches of one run or the means of several. */
struct sim_estimate sim_estimate(const struct sim_result *r, unsigned nruns, enum sim_what what);
double sim_mean(const struct sim_result *r, enum sim_what what);
double sim_utilisation(const struct sim_model *m, const struct sim_result *r);

/* ---- the program --------------------------------------------------------------------------- */

struct sim_outcome {
	const char *file, *name;
	const struct sim_model *m;
	const struct sim_result *r;      /* nruns */
	unsigned    nruns;
	bool        found;               /* streams were looked for: */
	unsigned    most;
	const struct sim_result *above;
	json_t     *at;                  /* of a sweep: the point, values by axis; NULL */
};
json_t *sim_out_json(const struct sim_outcome *o);
/* All that a run depends on but for its code. */
json_t *sim_out_asks(const struct sim_model *m);
int  sim_out_text(const struct sim_outcome *o);
/* One of several; head: with the names of the columns first. */
int  sim_out_csv(const struct sim_outcome *o, bool head);
int  sim_out_row(const struct sim_outcome *o, bool head);
void sim_out_sources(const struct sim_ledger *l);
/* Closed forms against runs; how: scale of their lengths.  SIM_OK or SIM_FAILED. */
int  sim_selftest(double how);

#endif
