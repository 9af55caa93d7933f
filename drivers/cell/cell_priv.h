/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cell_priv.h - what the files of the driver of cells share.
 *
 *   cell.c         links, control, the descriptor
 *   cell_line.c    trains out: what happens to cells on the way, the wire in memory
 *   cell_port.c    cells in messages of a port
 *   cell_take.c    cells in, one by one: judged, and put together as trains
 *   cell_hec.c     the check of a header
 *   cell_lists.c   fates and circuits as a graph says them
 *
 * A *link* is a session: the one of a replica over a wire, or one for each session of a port below.  All
 * of it belongs to one VP: the two ends of a wire are joined VP by VP.
 */
#ifndef CELL_PRIV_H
#define CELL_PRIV_H

#include "drivers/cell/cell_lists.h"
#include "runtime/base/xk_cell.h"
#include "runtime/base/xk_rand.h"
#include "runtime/msg/xk_msgq.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/vp/xk_task.h"

#define CELL_DROPS(X) \
	X(LOST, "lost")                  /* a cell, by chance or by its fate */ \
	X(HEC, "bad_header")             /* a cell whose header is wrong and is not corrected */ \
	X(NO_VC, "no_such_vc")           /* of a circuit that the graph does not name; trains out, cells in */ \
	X(FULL, "queue_full")            /* a train for which the wire has no room */ \
	X(NOBODY, "nobody_there")        /* the wire has no other end, or nobody above it waits */ \
	X(STOPPED, "stopped")            /* the other end has stopped */ \
	X(TRAIN, "bad_train")            /* pushed: no header, or no whole cells, or too many */ \
	X(TORN, "torn")                  /* a message of the port that is not of whole cells */
enum {
	CELL_DROP_BASE = XK_DROP_FIRST - 1,
#define X(id, text) CELL_DROP_##id,
	CELL_DROPS(X)
#undef X
};
#define CELL_COUNTS(X) \
	X(OUT, "cells_out") X(IN, "cells_in") X(DAMAGED, "damaged") X(CORRECTED, "corrected") X(IDLE, "idle") X(COPIES, "copies")
enum {
#define X(id, text) CELL_N_##id,
	CELL_COUNTS(X)
#undef X
};
enum { CELL_DETECT, CELL_CORRECT };

struct cell_conf {
	char    *wire;
	uint32_t to;
	uint16_t port;
	double   loss, errors;
	uint64_t seed, queue;
	unsigned hec;
	bool     trains;
	struct xk_plist fates, vcs;
};

/* Written by init only. */
struct cell_node { struct cell_lists lists; struct xk_node *other; };

/* Where cells arrive one by one. */
struct cell_take {
	struct cell_rep *at;             /* who counts, and whose queue gets the trains ... */
	struct xk_sess  *link;           /* ... or whose link passes them up; else NULL */
	struct xk_msg   *m;              /* the train that is being put together */
	uint32_t         header, n, room; /* of it, cells */
	bool             detecting;      /* see cell_hec.h */
};

struct cell_rep {
	struct xk_task   task;           /* passes `q` up */
	struct xk_rep   *rep;
	struct cell_rep *other;          /* the other end of the wire on this VP */
	struct xk_msgq   q;              /* trains on the wire towards this end */
	uint64_t         waiting;        /* cells of them */
	struct cell_take take;           /* from the wire */
	bool             open;           /* between rep_init and rep_stop */
	bool             rough;          /* something may happen to what is sent */
	struct xk_rand   rand;
	uint64_t         cells;          /* sent, where there are fates */
	unsigned         fate;           /* the cursor in them */
	uint64_t         next_lost, next_bad; /* so many cells pass unharmed before one that is not */
};

struct cell_sess { struct xk_sess s; struct cell_take take; uint32_t most; /* cells of a message below */ };

static inline struct cell_sess *cell_sess(struct xk_sess *s) { return (struct cell_sess *)(void *)s; }
static inline const struct cell_conf *cell_conf(const struct xk_rep *r) { return r->conf; }
static inline struct cell_rep *cell_rep(const struct xk_rep *r) { return r->state; }
static inline const struct cell_node *cell_node(const struct xk_rep *r) { return r->node->state; }

/* cell_link.c: a link over lls (NULL: the wire), whose reference it takes either way; NULL with *err. */
struct xk_sess *cell_link_new(struct xk_rep *r, struct xk_up *up, struct xk_node *type, struct xk_sess *lls, int *err);
void cell_link_free(struct xk_sess *s);
/* The link over lls, made for whoever waits above; NULL with *reason. */
struct xk_sess *cell_link_first(struct xk_rep *r, struct xk_sess *lls, unsigned *reason);

/* cell_line.c */
void cell_line_init(struct cell_rep *cr);
void cell_push(struct xk_sess *s, struct xk_msg *m);
unsigned cell_rx_run(struct xk_task *t, unsigned budget);
/* m, a train of n cells, waits at `to`. */
void cell_put(struct cell_rep *to, struct xk_msg *m, uint32_t n);
/* Each cell of train m that is not lost, whole, as it leaves; `left`: so many may come, it counted. */
typedef void (*cell_out_fn)(void *arg, uint8_t cell[XK_CELL_LEN], uint32_t left);
void cell_lay_out(struct cell_rep *cr, const struct xk_msg *m, uint32_t n, cell_out_fn out, void *arg);

/* cell_port.c */
void cell_port_push(struct xk_sess *s, struct xk_msg *m, uint32_t n);
void cell_port_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m);
struct xk_sess *cell_port_open(struct xk_rep *r, int *err);
int cell_port_start(struct xk_node *n, struct xk_errs *e);

/* cell_take.c: a cell arrives, which may be changed; `left` more at most will before cell_take_end, it counted. */
void cell_take(struct cell_take *t, uint8_t cell[XK_CELL_LEN], uint32_t left);
void cell_take_end(struct cell_take *t);

#endif
