/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run_priv.h - the runner's parts: reading counters (run_read.c), letting time
 * pass (run.c), waiting for connections (run_gate.c), noticing that memory is out (run_dry.c).
 */
#ifndef RUN_PRIV_H
#define RUN_PRIV_H

#include "runtime/base/xk_hist.h"
#include "runtime/run/xk_run.h"

/* An application replica and what its connections had when measuring began. */
struct run_app {
	struct xk_rep *rep;
	uint64_t       n;                /* connections then */
	uint64_t      *messages, *bytes; /* [n] */
	uint64_t      *last;             /* [n] messages at the end of the last window */
};

/* Everything there is to count, at one moment. */
struct run_snap {
	struct xk_run_counts   *counts;  /* [nnodes * nvps] */
	struct xk_run_vp       *vp;
	struct xk_worker_stats *worker;
	struct xk_lock_counts   queue;
	struct xk_affinity_counts affinity;
	struct xk_background_counts background;
	struct xk_freelist_counts freelist;
	struct xk_stack_counts stacks;
	struct xk_meter_counts *time;    /* [nnodes] */
	struct xk_object_locks *objects; /* [nnodes] */
	uint64_t               *heat;    /* xk_heat_cells(); NULL: nobody has asked */
};

/* Counters of cache misses, one of each thread there was. */
#define RUN_COUNTERS 512u
struct run_misses { int fd[RUN_COUNTERS]; unsigned n; int err; };

/* Of all applications that read stamps. */
struct run_times {
	uint64_t hist[XK_TIMES][XK_HIST_PLACES], sum[XK_TIMES];
	xk_ns    late;                   /* the longest delay of a last message when measuring began */
	bool     known;
};

/* What was there when it was looked at last, and how often in a row nothing had moved but refusals. */
struct run_dry { xk_ns looked, at; uint64_t refused, done; unsigned times; };

struct run {
	struct xk_graph          *g;
	const struct xk_run_opts *o;
	struct xk_run_result     *r;
	struct run_snap           first;
	struct xk_run_sched       sched;
	struct run_misses         misses;
	struct run_dry            dry;
	struct run_app           *app;   /* in the order of nodes, then VPs */
	unsigned                  napps;
	struct { uint64_t messages, bytes; } *total, *seen;  /* [nnodes]: since the beginning; at the last window */
	xk_ns                     t0;    /* graph clock when measuring began */
	xk_ns                     wall0;
	xk_ns                     until;  /* graph clock, of a virtual run: time passes up to then */
	unsigned                  steps;  /* of simulated processors */
	xk_ns                     looked; /* host's time when it last looked at descriptors; 0: never */
	bool                      begun; /* the two are known */
	bool                      told;  /* others_decide */
	uint64_t                  room_samples;
	uint64_t                  rtt[XK_HIST_PLACES]; /* of all applications that measure it */
	struct run_times          times;
};

/* Finds the applications; before the graph runs. */
int  run_find_apps(struct run *u);
/* The state when measuring begins; birth: the graph has not run, and what bringing it up has
 * sent and lost is measured, too. */
int  run_begin(struct run *u, bool birth);
/* The same once more: what was measured until now is forgotten. */
int  run_begin_anew(struct run *u);
/* The differences, into the result. */
int  run_end(struct run *u);
/* The same of a run that goes on, into another result. */
int  run_so_far(const struct run *u, struct xk_run_result *out);
/* Totals of the applications since the beginning; the node with most messages, or -1. */
int  run_totals(struct run *u);
/* Messages each old connection had since the last window, when asked for. */
int  run_window_conns(struct run *u, struct xk_run_sample *s);
void run_fini(struct run *u);

/* run_gate.c: is there an application that says when its connections are established?  Have
 * all: *open; an error, told in e, when one of them will not, or has not after so long.  They
 * may send. */
bool run_gated(const struct run *u);
int  run_gate_look(const struct run *u, xk_ns waited, bool *open, struct xk_errs *e);
void run_gate_go(const struct run *u);

/* run_dry.c: has memory run out, so that the applications, which are to finish, go on no more?  Looks once in
 * RUN_DRY_LOOK, however often it is asked. */
#define RUN_DRY_LOOK XK_SEC
bool run_dry(struct run *u);
/* Nothing is left to happen: were buffers refused, of a graph whose applications are to finish? */
bool run_dried_up(const struct run *u);

/* run_times.c: what rep's application has now, taken away (measuring begins) or added (it ends). */
void run_times_begin(struct run_times *t, struct xk_rep *rep);
void run_times_end(struct run_times *t, struct xk_rep *rep, xk_ns *late);
/* A histogram's words; sum: of all its times. */
void run_dist(const uint64_t *hist, uint64_t sum, struct xk_run_dist *out);
void run_times_read(const struct run_times *t, xk_ns late, xk_ns measured, struct xk_run_times *out);

/* Had it threads that waited, real ones or simulated? */
static inline bool run_threads(const struct xk_run_result *r) { return !r->is_virtual || r->graph->vps->sim != NULL; }

/* run_heat.c: what was counted until now, into s; XK_OK or XK_E_NOMEM.  What there is more of than at the beginning,
 * and in r's virtual processors, into r, whose the cells of `last` are then; as JSON, NULL: nobody has asked. */
int  run_heat_snap(const struct xk_vpset *set, struct run_snap *s);
void run_heat_end(struct xk_run_result *r, const struct run_snap *first, struct run_snap *last);
struct json_t *run_heat_json(const struct xk_run_heat *h);

/* run_machine.c */
void run_sched_read(struct xk_run_sched *s);
void run_misses_open(struct run_misses *m);
void run_misses_close(struct run_misses *m, struct xk_run_misses *out);
/* run_record.c: the caller's reference. */
struct json_t *run_record_json(const struct xk_run_result *x);
/* run_simulated.c: the same; null where processors are not simulated. */
struct json_t *run_simulated_json(const struct xk_run_result *r);

#endif
