/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sockload_priv.h - what the files of sockload share.
 *
 *   sockload.c         the node: parameters, counters, what a runner asks, start and stop
 *   sockload_thread.c  a thread: its event loop over sockets
 *   sockload_conn.c    one connection: opened, accepted, written to, read, ended
 *
 * Connection i belongs to thread i modulo their number and to nobody else.  What a thread
 * counts it counts at one replica: that of the virtual processor whose number is the
 * thread's, modulo theirs.  So the runner finds the connections of a thread together, and
 * a counter of a replica may have several writers, which add atomically.
 * Invariant: after halt no thread is left, and none was inside a call on a socket.
 */
#ifndef SOCKLOAD_PRIV_H
#define SOCKLOAD_PRIV_H

#include "protocols/sock/xk_sock.h"
#include "runtime/sync/xk_sync.h"
#include "runtime/upi/xk_proto.h"
#include "runtime/vp/xk_outside.h"

struct load_conf {
	uint64_t conns, threads, size, count, burst, within;
	uint32_t to;                     /* 0: waits for connections */
	uint16_t port;
	bool     verify;
};

/* ORDER load_counts */
enum { N_MESSAGES, N_BYTES, N_RECEIVED, N_OPENED, N_ENDED, N_REFUSED, N_RESET, N_FAILED, N_WRONG, N_NO_MEMORY, N_POLLS };

struct load_conn {
	int      fd;                     /* 0: there is none (no socket has that number) */
	bool     up;                     /* established */
	bool     active;                 /* among what its thread serves */
	bool     ending;                 /* our side is ended, the peer's end is waited for */
	uint32_t part;                   /* bytes of the message that is not whole yet */
	uint64_t left;                   /* messages still to send */
};

struct load_node;
struct load_thread {
	struct xk_outside  outside;
	struct xk_event    event;        /* sleeps on it until the runner says go */
	struct load_node  *ln;
	unsigned           no;
	uint64_t           n;            /* connections it has, or will have accepted */
	struct load_conn  *conn;         /* [n] */
	xk_counter        *messages, *bytes;  /* [n], in the node's arrays */
	xk_counter        *count;        /* the replica's */
	uint8_t           *buf;          /* what is read goes here */
	struct xk_sock_set *set;         /* of what it waits for */
	uint32_t          *act;          /* [n]: connections that it serves now, */
	uint64_t           nact;         /* so many */
	uint64_t           nopen, naccepted;  /* not over yet; ever accepted */
	bool               coming;       /* the listener may have one */
	bool               over;         /* the sockets were stopped */
};

struct load_node {                       /* struct xk_node.state */
	struct xk_node     *node;
	const struct load_conf *c;
	struct xk_node     *sock;
	struct load_thread *thread;      /* [nthreads] */
	unsigned            nthreads, nmade;  /* nmade: with an event */
	struct load_conn   *conn;        /* [nslots], by replica, then thread; so are the next three */
	xk_counter         *messages, *bytes;
	uint64_t           *no;          /* numbers of the connections */
	uint64_t            nslots;
	uint8_t            *page;        /* `size` bytes that are sent, or compared with */
	int                 listener;    /* 0: there is none */
	/* Counted atomically. */
	uint64_t            up, lost;    /* connections that were established, that never were */
	uint64_t            unfinished, dead;  /* not ended yet; ended by an error */
	uint32_t            go, halt;
};

static inline bool load_sends(const struct load_node *ln) { return ln->c->to != 0; }
static inline bool load_halted(const struct load_thread *t) { return t->over || xk_load_acquire(&t->ln->halt) != 0; }
static inline void load_count(struct load_thread *t, unsigned i, uint64_t n) { (void)xk_atomic_add(&t->count[i], n); }

/* ---- sockload_thread.c -------------------------------------------------------------- */

#define LOAD_BUF 65536u
void load_main(void *thread);

/* ---- sockload_conn.c ----------------------------------------------------------------- */

/* Begins to connect; false: it came to nothing. */
bool load_open(struct load_thread *t, uint64_t k);
/* The set told of one that is on its way; true: it is not any more. */
bool load_opened(struct load_thread *t, uint64_t k);
/* A new one, which fd names. */
void load_accepted(struct load_thread *t, int fd);
/* A burst; false: nothing more can be done at once, or the connection is over. */
bool load_serve(struct load_thread *t, uint64_t k);

#endif
