/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mpi_priv.h - what the files of the shim share: one process of a job that talks MPI over ncs (xk_ncs.h).
 *
 *   mpi_shim.c   the functions of MPI
 *   mpi_job.c    which rank this is, the graph, connections to all others, the end
 *   mpi_wait.c   waiting, and what synchronous sends want to know meanwhile
 *
 * Messages travel on connections between threads 0 of the processes, notes and gathered parts on others, so that no
 * receive of a program meets them.  A program of MPI has one thread that calls: nothing here is locked.  Errors are
 * MPI_ERRORS_ARE_FATAL, as MPI has it unless told otherwise: a sentence on stderr, then exit.
 * Invariant: whoever waits hears notes, so a send that waits for its receive depends on no later call.
 */
#ifndef MPI_PRIV_H
#define MPI_PRIV_H

#include "protocols/ncs/xk_ncs.h"
#include "runtime/compose/xk_compose.h"

#include <stdint.h>

/* A send or receive of MPI's, from its beginning until it was waited for. */
struct mpi_req {
	struct xk_ncs_req r;             /* first */
	struct mpi_req *next;            /* receives under way */
	bool receives, counted;
};

/* Of one peer and tag: messages sent to it, and received from it. */
struct mpi_tally { int tag; uint64_t sent, got; };

struct mpi_note { uint32_t kind; uint32_t tag; uint64_t number; };     /* big-endian on its way */
enum { NOTE_ASK = 1, NOTE_TAKEN, NOTE_BYE };

/* A thread of the process, and a connection to each other rank, for each. */
enum { MPI_DATA, MPI_NOTES, MPI_PARTS, MPI_WAYS };

struct mpi_peer {
	struct xk_ncs_conn *way[MPI_WAYS];
	struct mpi_tally *tally;
	unsigned ntally;
	struct xk_ncs_req heard;         /* the next note */
	struct mpi_note   note, ask;     /* ask.kind 0: it asks nothing; one send of it waits at most */
	bool bye, gone;
};

struct mpi {
	struct xk_errs  *e;
	struct xk_spec  *s;
	struct xk_graph *g;
	struct xk_node  *n;
	struct xk_ncs_thread *thread[MPI_WAYS];
	struct xk_ncs_group  *all;
	struct mpi_peer *peer;           /* [size]; of this rank: nothing */
	struct xk_ncs_req **waits;       /* room for waitany */
	unsigned nwaits;
	struct mpi_req  *receives;       /* under way */
	unsigned rank, size, nreceives;
	bool taken;                      /* the synchronous send has met its receive */
	uint64_t live;
};
extern struct mpi mpi;

/* Says it and ends the process. */
_Noreturn void mpi_die(const char *fmt, ...) XK_PRINTF(1, 2);

void mpi_job_begin(void);
void mpi_job_end(void);

void mpi_hear_from(struct mpi_peer *p);                  /* the first note */
struct mpi_tally *mpi_tally(struct mpi_peer *p, int tag);
void mpi_note(unsigned to, uint32_t kind, int tag, uint64_t number);
/* A receive that has come is counted; who asked for it is told. */
bool mpi_done(struct mpi_req *q);
/* Hears and answers what has come. */
void mpi_progress(void);
void mpi_wait_for(struct mpi_req *q);
void mpi_wait_taken(void);
void mpi_wait_group(void);
void mpi_wait_byes(void);
void mpi_receive_begun(struct mpi_req *q);
void mpi_receive_over(struct mpi_req *q);

#endif
