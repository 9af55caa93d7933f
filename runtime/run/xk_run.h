/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_run.h - runs a graph for a while and says what it did.
 *
 * The runner starts the workers, lets the warm-up pass, reads every counter,
 * waits, reads them again; the result is the difference, so no rate contains
 * the warm-up.  Without a warm-up counters count from the graph's birth, so that
 * what starting it has sent and lost is there.  Applications that say so (XK_CTL_APP_GATE) have
 * all their connections before the warm-up begins, or the run fails and tells how many they
 * had.  It reads while the graph runs: each counter has one writer and
 * is loaded whole.  Under the virtual schedule it moves the clock instead of
 * waiting, and the same seed gives the same result.
 * Invariant: a run measures without touching a cache line that a VP writes,
 * except by reading it.
 */
#ifndef XK_RUN_H
#define XK_RUN_H

#include "runtime/upi/xk_app.h"
#include "runtime/upi/xk_capture.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/vp/xk_heat.h"
#include "runtime/vp/xk_stage.h"
#include "runtime/vp/xk_ult.h"

struct xk_run_counts {
	uint64_t push, pop;
	uint64_t sess_made, sess_gone;   /* in the measured time */
	uint64_t sess_live;              /* at its end */
	uint64_t drop[XK_DROPS_MAX];     /* index as in struct xk_rep */
	uint64_t count[XK_COUNTS_MAX];
};

/* One node, all VPs together and each alone. */
struct xk_run_node {
	const struct xk_node  *node;
	struct xk_run_counts   all;
	uint64_t               dropped_before[XK_DROPS_MAX];  /* before measuring began: in the warm-up or before */
	struct xk_run_counts  *vp;       /* [nvps] */
	bool                   is_app;   /* answered XK_CTL_APP_COUNTS */
	bool                   times;    /* waits for answers and times some */
	uint64_t               messages, bytes;  /* of its connections */
	uint64_t               nconns;   /* that it has had since the start */
	bool                   together; /* its messages are not counted by connection */
	struct xk_meter_counts time;     /* of a metered graph (xk_graph_meter), else 0 */
	struct xk_object_locks objects;  /* object_locks = "layer"; else 0.  How many there are: at the end */
};

struct xk_run_vp {
	uint64_t units, messages, handed_over, posted_out, borrowed, inbox_drops, carried;
	struct xk_lock_counts lock;      /* entry `lock`; else 0 */
	struct xk_ult_stats ult;         /* user-level threads; live and stacks as at the end */
	struct xk_lock_counts table;     /* the table of connections, by who was inside */
	uint64_t order_stalls;           /* messages an I/O thread had that waited for their turn */
	uint64_t reordered;              /* messages that came in after one that came later */
	uint64_t wrong_vp;               /* messages of a connection of another VP's; never, but for a bug */
	struct xk_stage_stats stage;       /* domain layers; `most` since the start */
	xk_ns    busy_ns;
};

/* One connection of an application node. */
struct xk_run_conn { uint16_t node, vp; uint64_t no, messages, bytes; };

/* What passed in one window: totals of the application node with most messages. */
struct xk_run_sample {
	xk_ns    at, len;                /* from the start of the measured time */
	uint64_t messages, bytes;
	uint32_t       *conn;            /* [nold of the result], messages of each; or NULL */
};

/* What the kernel's scheduler says of all threads of the process. */
struct xk_run_sched { bool known; uint64_t run_ns, delay_ns, slices; };
/* Of the caches, in user mode; why: where they are not known. */
struct xk_run_misses { bool known; uint64_t n; const char *why; };

/* Round trips that applications have timed, of some of their messages; nanoseconds. */
struct xk_run_rtt { bool known; uint64_t n; double p50, p90, p99, p999; };

/* How long messages waited since they were due, were worked on, and both (XK_CTL_APP_TIMES); nanoseconds.
 * grows: they came faster than they were taken, and the last ones had waited longer and longer: there is no
 * steady state, so the times of this run say how long it was, and nothing else; by: so much longer. */
struct xk_run_dist { double mean, p50, p90, p99, p999; };
struct xk_run_times { bool known, grows; uint64_t n; xk_ns by; struct xk_run_dist of[XK_TIMES]; };

/* Who ran what, and for how long those that started had been idle, nanoseconds.  known: hits and moves are counted;
 * chosen: who starts is, and all else is counted, too. */
struct xk_run_affinity { bool known, chosen; struct xk_affinity_counts counts; struct xk_run_dist away; };

/* How many messages of each virtual processor each runner ran (xk_heat.h), where that was asked for before the graph
 * came up; else cell is NULL.  A row's sum is what its VPs have in xk_run_vp.messages: exactly in virtual time, or
 * where each VP has one runner; else but for what was under way while the counters were read. */
struct xk_run_heat { struct xk_heat_shape shape; uint64_t *cell; };
/* All cells; and of each row the largest, of how many rows that are not empty that is all of it. */
struct xk_run_heat_sum { uint64_t all, most; unsigned rows, alone; };
void xk_run_heat_sum(const struct xk_run_heat *h, struct xk_run_heat_sum *out);

enum xk_run_end { XK_RUN_DURATION, XK_RUN_FINISHED, XK_RUN_STOPPED, XK_RUN_MESSAGES, XK_RUN_IDLE, XK_RUN_CUT_OFF,
		  XK_RUN_GAVE_UP,          /* a node did, see xk_graph_gave_up */
		  XK_RUN_DRY,              /* memory is out, and so no application goes on; told in the errors */
		  XK_RUN_GOES_ON };

struct xk_run_result;
struct xk_run_opts {
	xk_ns    duration;               /* measured time; 0: until applications finish or stop */
	xk_ns    warmup;
	uint64_t warmup_messages;        /* the warm-up lasts until the busiest application had so many, too; 0: no */
	xk_ns    interval;               /* between calls of stats; 0: never */
	/* Called on the runner's thread.  s->at and len as above. */
	void   (*stats)(void *arg, const struct xk_run_sample *s);
	void    *arg;
	xk_ns    window;                 /* length of samples kept in the result; 0: none */
	bool     window_conns;           /* keep each connection's messages per window, too */
	uint64_t max_messages;           /* stop when it has had so many measured ones; a few more are; 0: no */
	int      stop_fd;                /* readable: stop now; negative: none */
	/* Above 0: when applications have finished "f" is written to it, "n" at once where none can, and the
	 * run goes on for others' sake until stop_fd is readable.  In virtual time it ends all the same. */
	int      finished_fd;
	/* Readable while measured, and so_far not NULL: so_far makes it unreadable again and gets what has
	 * been measured until now, on the runner's thread; the run goes on. */
	int      ask_fd;
	void   (*so_far)(void *arg, const struct xk_run_result *r);
	/* Readable while measured, an eventfd or 0 for none: it is read, and measuring begins anew, windows, intervals and
	 * duration too, as if all before had been the warm-up. */
	int      anew_fd;
	/* Who looks on, or NULL.  started: the workers run, or, in virtual time, will be stood in
	 * for by the caller's thread.  Then that thread says when it steps VPs (true) and when it
	 * does not, which is when others may enter them. */
	void   (*started)(void *arg);
	void   (*stepping)(void *arg, bool on);
	void    *watch;                  /* the two's arg */
};

struct xk_run_result {
	const struct xk_graph    *graph;
	enum xk_run_end           end;
	bool                      is_virtual;
	xk_ns                     warmup_ns;    /* what really passed */
	xk_ns                     measured_ns;  /* in the graph's clock */
	xk_ns                     wall_ns;      /* host time of the measured part */
	unsigned                  nnodes, nvps, nworkers;  /* threads of applications are workers, too: ... */
	unsigned                  noutside;     /* ... the last ones of them */
	unsigned                  nall;       /* nvps; domain layers: times layers */
	struct xk_run_node       *node;         /* [nnodes], bottom-up */
	struct xk_run_vp         *vp;           /* [nall] */
	struct xk_worker_stats   *worker;       /* [nworkers], differences (cpu as it is) */
	struct xk_lock_counts     queue;        /* the queue that I/O threads share */
	uint64_t                  nconns;
	uint64_t                  nold;         /* of them, there when measuring began: they come first */
	struct xk_run_conn       *conn;         /* by node, then VP, as the replicas list them */
	int                       busiest;      /* application node with most messages, of equals a client, or -1 */
	uint64_t                  messages, bytes; /* of it; without applications: messages of the VPs, 0 */
	uint64_t                  nsamples;
	struct xk_run_sample     *sample;
	struct xk_run_sched       sched;        /* of the measured time */
	struct xk_run_misses      misses;
	struct xk_run_rtt         rtt;
	struct xk_run_times       times;
	struct xk_run_affinity    affinity;
	struct xk_freelist_counts freelist;     /* of pools of memory with a lock; all zero where VPs have their own */
	struct xk_stack_counts    stacks;       /* of pools of thread stacks; all zero where there are none */
	struct xk_background_counts background; /* all zero where there is none */
	struct xk_run_heat        heat;
};

/* Runs g, which is up.  The workers still run when it returns: xk_graph_free
 * stops them.  XK_E_NOMEM, or what xk_graph_run said (in e). */
int  xk_run(struct xk_graph *g, const struct xk_run_opts *o, struct xk_run_result *r, struct xk_errs *e);
void xk_run_fini(struct xk_run_result *r);
const char *xk_run_end_text(enum xk_run_end e);
/* Locks of the data path by class: those of the VPs of connections, of I/O threads, of the table of
 * connections, of layers' maps and their sessions, of the I/O threads' queue, of pools of memory, of pools of thread stacks; classes
 * that the architecture has.  Returns how many. */
#define XK_RUN_LOCKS 8u
struct xk_run_locks { const char *name, *policy; unsigned n; struct xk_lock_counts sum; };
unsigned xk_run_locks(const struct xk_run_result *r, struct xk_run_locks *out);
/* Nanoseconds of processor time that all workers took. */
double xk_run_processor_ns(const struct xk_run_result *r);
/* Nanoseconds of processor time that reading the clock for the locks' times took; share: of all
 * that the workers took, 0 when that is not known. */
double xk_run_lock_measuring(const struct xk_run_result *r, double *share);
/* Warnings: what makes the figures weak, a sentence each; returns how many. */
#define XK_RUN_WARNINGS    8u
#define XK_RUN_WARNING_LEN 320u
unsigned xk_run_warnings(const struct xk_run_result *r, char text[XK_RUN_WARNINGS][XK_RUN_WARNING_LEN]);
/* The share of the processors' time in which workers were ready and others ran; 0 where the system
 * does not say. */
double xk_run_starved(const struct xk_run_result *r);
/* Name of drop reason i of a node ("no memory", ...), NULL past the last. */
const char *xk_run_drop_name(const struct xk_node *n, unsigned i);

/* Simulated processors: shares of the time since the start that they were busy; false: there are none. */
struct xk_machine;
struct xk_run_busy {
	unsigned processors;
	const struct xk_machine *machine;
	double   mean, least, most, bus;
	uint64_t switches;
};
bool xk_run_busy(const struct xk_run_result *r, struct xk_run_busy *out);

/* The result as JSON (jansson); the caller's reference; NULL: no memory for all of it (xk_json.h).
 * `per_vp` and `per_conn` add those arrays. */
struct json_t;
struct json_t *xk_run_json(const struct xk_run_result *r, bool per_vp, bool per_conn);

#endif
