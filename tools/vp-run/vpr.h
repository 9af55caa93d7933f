/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpr.h - what the files of vp-run share: its options, its captures, its table.
 */
#ifndef VPR_H
#define VPR_H

#include <stdio.h>

#include "runtime/compose/xk_compose.h"
#include "runtime/run/xk_run.h"
#include "runtime/upi/xk_capture.h"

enum {
	VPR_OK = 0, VPR_FAILED = 1, VPR_USAGE = 2, VPR_GRAPH_ERRORS = 3, VPR_NO_PRIVILEGE = 4, VPR_LEAK = 5,
	VPR_CUT_OFF = 6,                 /* every device of the graph is gone */
	VPR_GAVE_UP = 7                  /* another station has an address of the graph */
};

#define VPR_CAPTURES 16u
#define VPR_ARGS     256u
#define VPR_RANKS_MAX 1024u
#define VPR_JOB_MAX  60u
#define VPR_KEY      32u                 /* bytes of a job's key, at most */
#define VPR_TOLD     4u                  /* arguments more that a rank has (vpr_tell.c) */
#define VPR_RANK     (-1)                /* of vpr_ranks: this process is one */

struct vpr_capture {
	struct xk_capture  outer;        /* what the node calls; of the first of its captures */
	char              *node;
	const char        *path, *filter;        /* filter: an expression, NULL for all */
	struct xk_node    *at;
	struct xk_capture *c;            /* the file; opened when its link type is known */
	struct xk_errs    *e;
	int                opened;       /* 1: it and the others of its node are; an error: why not */
	struct vpr_capture *next;        /* at the same node */
	struct vpr_pick   *pick;         /* which of them take a frame, NULL: the only one, all */
};

struct vpr {
	const char *file;
	const char *arg[VPR_ARGS];
	unsigned    narg;
	bool        json, json_vps, json_conns, check_only, is_virtual, unsafe, layer_times;
	const char *control;             /* of the live view; NULL: the default path */
	bool        has_control;
	const char *duration, *warmup, *messages, *warmup_messages;
	const char *stats, *fairness, *log, *cpus, *seed, *path;
	const char *processors, *machine, *decisions, *timeline, *heat;
	const char *recording, *record_on;
	const char *untrusted;           /* the file is: drivers that it may use all the same, commas between */
	const char *user;                /* who runs the graph when it is up */
	FILE       *decided;             /* the open file of decisions */
	struct vpr_timeline *drawn;      /* the open timeline */
	struct xk_ledger *ledger;        /* of the machine; the graph is charged by it */
	struct vpr_capture capture[VPR_CAPTURES];
	unsigned    ncapture;
	unsigned    ranks, offered;      /* -n; arguments that the file need not declare, the first ones */
	bool        join, keep;
	const char *hosts;              /* where ranks are; NULL: here */
	char       *agent;               /* what an agent is told (vpr_agent.c), or NULL */
	char       *join_at;             /* of --join: where rank 0 is, or NULL */
	const char *within;              /* how long ranks may take to come */
	int64_t     within_ms;
	int         argc;
	char      **argv;
	char       *peers;               /* the argument, of malloc */
	int         finished_fd;         /* of a rank, to its starter and back; 0: none */
	char        rank_arg[3][VPR_JOB_MAX + 8], rank_cpus[64 * 3];
	int         stop_fd, ask_fd;     /* SIGINT and SIGTERM arrive here; SIGUSR1 */
};

/* Fills o from the command line; does not return on wrong usage. */
void vpr_options(struct vpr *o, int argc, char **argv);
/* Applies the options to the plan; errors as from the command line. */
int  vpr_apply(const struct vpr *o, struct xk_plan *p, struct xk_errs *e);
/* vpr_machine.c: reads the machine that is named on the command line or else by the graph, or none.  VPR_OK, or
 * the program's exit code, all said. */
int  vpr_machine(struct vpr *o, const struct xk_spec *s, struct xk_errs *e);
/* Parses one option's time; 0 when text is NULL. */
int  vpr_time(const char *name, const char *text, xk_ns *out, struct xk_errs *e);
/* The same of a number of messages, which is not 0. */
int  vpr_messages(const char *name, const char *text, uint64_t *out, struct xk_errs *e);
/* Levels of messages, by node name or protocol. */
int  vpr_log(const struct vpr *o, struct xk_graph *g, struct xk_errs *e);

/* vpr_ranks.c: runs o->ranks of this program until all have ended: the exit code, or, in each of them, VPR_RANK. */
int  vpr_ranks(struct vpr *o);
/* vpr_agent.c: starts one rank for a vp-run on another host: as vpr_ranks. */
int  vpr_agent(struct vpr *o);
/* vpr_start.c: until the graphs of all ranks are up, or this is to stop. */
void vpr_wait_for_all(const struct vpr *o);
/* vpr_join.c: this is one of those that mpirun or srun started: as vpr_ranks. */
int  vpr_join(struct vpr *o);

/* Attaches the captures to a graph that is not up yet. */
int  vpr_capture_attach(struct vpr *o, struct xk_graph *g, struct xk_errs *e);
/* Opens the files, when it is up and before workers run; XK_E_INVAL: an expression is none. */
int  vpr_capture_open(struct vpr *o);
/* Which captures of a node take a frame: their filters, merged.  NULL with an error in e. */
struct vpr_pick *vpr_pick_new(const struct vpr_capture *first, int link, struct xk_errs *e);
void vpr_pick_free(struct vpr_pick *p);
/* Their numbers from the first on, rising; returns how many. */
unsigned vpr_pick(struct vpr_pick *p, const struct xk_msg *m, uint16_t taker[VPR_CAPTURES]);

/* Closes them and says what was written; false when a file is short. */
bool vpr_capture_close(struct vpr *o);

/* ", 26.2 Gbit/s" of so many bytes of payload in s seconds; nothing of none. */
void vpr_bits(FILE *f, uint64_t bytes, double s);
/* vpr_live.c: is standard error a terminal that shows a line again and again?  The line, as xk_run_opts.stats; it goes. */
bool vpr_live_can(void);
void vpr_live(void *arg, const struct xk_run_sample *s);
void vpr_live_clear(void);

/* vpr_trust.c: what --user and --untrusted say, of a graph that is up and before workers run.  control: the live view's
 * socket, NULL: none.  VPR_OK, or the program's exit code, all said. */
int  vpr_confine(const struct vpr *o, const char *control, struct xk_errs *e);
/* vpr_decisions.c: opens the file of what the scheduling module is asked, before workers run; VPR_OK, or the program's
 * exit code.  Closes it after the workers; false, said: it is short. */
int  vpr_decisions_open(struct vpr *o, const struct xk_graph *g, struct xk_errs *e);
bool vpr_decisions_close(struct vpr *o);
/* vpr_timeline.c: the same of who ran what, of a graph that is built; real ones are looked at from start, when the graph is
 * up, to end, before it goes; both are legal always. */
int  vpr_timeline_open(struct vpr *o, const struct xk_graph *g, struct xk_errs *e);
int  vpr_timeline_start(struct vpr *o, struct xk_errs *e);
void vpr_timeline_end(const struct vpr *o, const struct xk_graph *g);
bool vpr_timeline_close(struct vpr *o);
/* vp_run.c: the calling thread, which sleeps and has hundreds of busy ones beside it, is to run soon after it wakes. */
void vpr_be_prompt(void);

/* vpr_record.c: what happened last is written when a fault ends the process, or at a drop: from now on, with a graph that
 * is up and before files are forbidden; VPR_OK, or the program's exit code.  No more, before the graph goes; legal always. */
int  vpr_record_open(const struct vpr *o, struct xk_graph *g, struct xk_errs *e);
void vpr_record_close(struct xk_graph *g);

/* vpr_heat.c: where a file of this path is, of malloc; NULL: no memory. */
char *vpr_folder(const char *path);
/* vpr_heat.c: asks for who runs what, before the graph is up; VPR_OK, or the program's exit code.  Draws it, if it
 * was asked for: VPR_OK, or VPR_FAILED after a sentence on stderr.  A line of the table. */
int  vpr_heat_ask(const struct vpr *o, const struct xk_graph *g, struct xk_errs *e);
int  vpr_heat_draw(const struct vpr *o, const struct xk_run_result *r);
void vpr_heat_line(FILE *f, const struct xk_run_heat *h);

/* How evenly connections shared each window, ten and a hundred of them: an array. */
struct json_t *vpr_fairness(const struct xk_run_result *r, xk_ns window);

void vpr_table(FILE *f, const struct xk_run_result *r);
void vpr_interval(void *arg, const struct xk_run_sample *s);

#endif
