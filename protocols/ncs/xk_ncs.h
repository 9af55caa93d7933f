/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_ncs.h - messages between the processes of a job, for a program's own threads, on a node of the
 * protocol `process` (Park, Lee, Hariri 1998; matching as MPI 1.1 section 3.5 has it).
 *
 *	struct xk_node *n = xk_graph_find(g, "process");
 *	struct xk_ncs_thread *t;
 *	struct xk_ncs_conn *c;
 *	xk_ncs_attach(n, 0, &t);
 *	xk_ncs_open(t, &(struct xk_ncs_addr){ .rank = 1 }, NULL, &c, NULL, XK_NCS_FOREVER);
 *	xk_ncs_send(c, 7, "hello", 5, XK_NCS_FOREVER);
 *
 * Addresses.  A process has a rank, 0 to size - 1.  In it compute threads are attached, each under a
 * number; a connection joins two of them and has a session number of the opener's choice, below 2^31, so that two
 * threads may have several, each with its own flow control, error control and interface.
 * Who attaches is not bound to one thread of the machine: any may call with what attach gave.
 *
 * Who may call.  Any thread that is not inside a VP, also one that the runtime did not make, and
 * user-level threads that xk_ncs_spawn made.  Calls that wait hold up nobody else.  What is closed, or detached, ends the calls of others that are
 * inside with XK_E_BADF; no call may begin with it later.
 *
 * Without workers (the virtual schedule, or before xk_graph_run) the caller runs the graph, and no
 * call of it ever waits (those of user-level threads do): each does what can be done now and answers XK_E_AGAIN otherwise.  What takes more
 * than one step is begun by its i-form, and tested as time passes (xk_vpset_run_virtual).
 *
 * Messages.  A connection keeps their order and, with error control, delivers each once; without, each
 * once and whole or not at all.  0 bytes are legal.  A receive gets the first that has come and fits
 * it (source, connection, tag); a message goes to the first receive that is posted and fits it.
 * One that nobody has asked for yet is kept: more than `unexpected` bytes of them in a process
 * reset the connection that brings more.
 *
 * A message longer than `eager` is announced: its receiver knows length and tag at once (xk_ncs_probe), and its
 * bytes are called for, and leave, when a receive has found it, or when it fits half of what `unexpected` allows
 * with all that is kept.  Until then it takes no memory at either end: the send goes on, its buffer is the sender's
 * to keep, and it may be cancelled; who had it already waits for others then.  So a send of that kind takes a
 * round trip at least, and where nobody receives it may wait for ever, as in MPI.  At most 4096 of a connection are
 * announced at a time; what is sent behind them waits until one has left or was cancelled.  A receive that had found an
 * announced message and is cancelled leaves it to others; its bytes come and are kept, even beyond `unexpected`.
 * Without error control bytes may be lost where the announcement was not: the receive then waits for others.
 *
 * A message of several SDUs that has found its receive is placed into that one's buffer as it comes, so what is in the
 * buffer of a receive that is not done says nothing.  xk_ncs_cancel gives it back half-way, too: the message goes on
 * in memory of its own, for others.  A long send reads its buffer until it is done.
 *
 * Times are how long to wait, in ns: 0 not at all, XK_NCS_FOREVER.  When it is over: XK_E_AGAIN, and
 * nothing has happened.  Errors are XK_E_*:
 *	XK_E_CONNREFUSED, XK_E_NOTSUP, XK_E_NOENT   the peer refuses, and says why
 *	XK_E_CONNRESET, XK_E_TIMEDOUT               it has closed, or is lost; what came before can be received
 *	XK_E_MSGSIZE                                longer than the buffer (xk_ncs_status.len says), or than ncs takes, here or
 *	                                            at the peer, which is known when the connection is open
 *	XK_E_BADF, XK_E_SHUTDOWN                    closed by another thread; xk_ncs_stop
 *	XK_E_MFILE, XK_E_NOMEM                      the thread has nothing to wait on; no memory
 *
 * Before xk_graph_free: xk_ncs_stop; what is attached and open then is freed with the graph.
 */
#ifndef XK_NCS_H
#define XK_NCS_H

#include "runtime/base/xk_base.h"
#include "runtime/base/xk_list.h"

struct xk_node;
struct ncs_box;
struct ncs_offer;
struct ncs_waiter;
struct xk_ncs_thread;
struct xk_ncs_conn;
struct xk_ncs_held;

#define XK_NCS_FOREVER UINT64_MAX
#define XK_NCS_ANY     (-1)              /* any rank, any tag */

/* ---- processes and threads ---------------------------------------------------------------- */

unsigned xk_ncs_rank(const struct xk_node *n);
unsigned xk_ncs_size(const struct xk_node *n);

/* A compute thread of the process, number 0 to 65535.  XK_E_INVAL: n is no node of `process`; XK_E_EXIST: the
 * number is taken. */
int  xk_ncs_attach(struct xk_node *n, unsigned number, struct xk_ncs_thread **t);
/* Closes what it has open; messages that it has not received are gone.  NULL does nothing. */
void xk_ncs_detach(struct xk_ncs_thread *t);
/* Ends all use of n: calls that wait, and later ones, give XK_E_SHUTDOWN; returns when nobody is inside. */
void xk_ncs_stop(struct xk_node *n);
/* Bytes of messages that have come, or were called for, and that no receive has found, with what keeps them. */
uint64_t xk_ncs_unexpected(struct xk_node *n);

/* ---- compute threads of both kinds --------------------------------------------------------------------- */

/*
 * fn(arg) in a thread of its own: one of the machine, or a user-level one on a virtual processor of n's graph that
 * `number` chooses.  All calls of this header are the same in both; in a user-level one they give the VP to others
 * while they wait, also in virtual time, and it shall call nothing else that waits: xk_ncs_yield where it computes for long.
 * XK_E_NOTSUP: no user-level threads here (Boost.Context), or an architecture whose VPs are entered by any thread
 * (entry "lock").  Joined once by somebody, and before the graph goes.
 */
enum xk_ncs_kind { XK_NCS_KERNEL, XK_NCS_USER };
struct xk_ncs_task;
int  xk_ncs_spawn(struct xk_node *n, enum xk_ncs_kind kind, unsigned number, void (*fn)(void *arg), void *arg,
		  struct xk_ncs_task **t);
/* Waits for its end, and frees it.  XK_E_AGAIN: time is over, and it goes on. */
int  xk_ncs_join(struct xk_ncs_task *t, uint64_t timeout);
void xk_ncs_yield(void);

/* Between threads of any kind in this machine, of n's graph; the one who waits longest is the first.  Freed when
 * nobody is inside; NULL does nothing.  wait, lock: XK_E_AGAIN: time is over.  Unlock what you have locked. */
struct xk_ncs_sem;
struct xk_ncs_mutex;
int  xk_ncs_sem_new(struct xk_node *n, uint64_t value, struct xk_ncs_sem **s);
void xk_ncs_sem_free(struct xk_ncs_sem *s);
int  xk_ncs_sem_wait(struct xk_ncs_sem *s, uint64_t timeout);
void xk_ncs_sem_post(struct xk_ncs_sem *s);
int  xk_ncs_mutex_new(struct xk_node *n, struct xk_ncs_mutex **m);
void xk_ncs_mutex_free(struct xk_ncs_mutex *m);
int  xk_ncs_mutex_lock(struct xk_ncs_mutex *m, uint64_t timeout);
void xk_ncs_mutex_unlock(struct xk_ncs_mutex *m);

/* ---- requests --------------------------------------------------------------------------------- */

struct xk_ncs_status {
	int      rank, tag;
	unsigned thread, session;
	size_t   len;                      /* of the whole message, also where it did not fit */
	struct xk_ncs_conn *conn;
};

#define XK_NCS_WHY 48

/* What was begun: the caller's memory, which stays until it is done or cancelled, as the buffer does. */
struct xk_ncs_req {
	struct xk_ncs_status st;           /* when it is done */
	int      err;                      /* XK_E_INPROGRESS before */
	char     why[XK_NCS_WHY];          /* of an open that failed: what its peer says, or which name is not there */
	/* the calls' own */
	int      kind, rank, tag;
	uint32_t host;
	struct xk_listed link;
	struct xk_node *n;
	struct xk_ncs_thread *t;
	struct xk_ncs_conn *c;
	void    *buf;
	size_t   room;
	struct ncs_waiter *waiter;
	struct ncs_box   *box;             /* a receive: the message that it waits for */
	struct ncs_offer *offer;           /* a send: it was announced */
	struct xk_ncs_held *held;          /* instead of buf: what is sent from there, or taken */
};

/* XK_OK or an error of what was begun; XK_E_INPROGRESS: it goes on. */
int xk_ncs_test(struct xk_ncs_req *r);
/* The same, but waits; XK_E_AGAIN: time is over, and it goes on. */
int xk_ncs_wait(struct xk_ncs_req *r, uint64_t timeout);
/* The number of one of n that is done; NULL ones are passed over.  XK_E_INVAL: there is none. */
int xk_ncs_waitany(struct xk_ncs_req *const *r, unsigned n, uint64_t timeout);
/* XK_OK: it will not happen, and the request is the caller's again; XK_E_BUSY: it is done already, or about to be:
 * wait for it; so is a receive whose message has begun where there is no memory for that.  A send is cancelled before
 * its first byte leaves only, an announced one while it is not called for. */
int xk_ncs_cancel(struct xk_ncs_req *r);

/* ---- connections -------------------------------------------------------------------------------- */

/* host: where the rank is by the interface that is named; 0: as the graph says. */
struct xk_ncs_addr { int rank; unsigned thread, session; uint32_t host; };

/* Names in the graph; NULL: the first path's.  See docs/ncs.md, "Chosen for each connection". */
struct xk_ncs_choice { const char *path, *flow, *error, *over; };

/* Waits until the peer's process has accepted; its thread need not have called accept.  XK_E_NOENT: the graph has
 * not what choice names, or the peer no such thread; XK_E_NOSPC: too many wait there to be accepted; XK_E_RANGE: no such
 * rank.  On failure *c is NULL, and why, unless NULL, has the reason. */
int xk_ncs_open(struct xk_ncs_thread *t, const struct xk_ncs_addr *to, const struct xk_ncs_choice *choice,
		struct xk_ncs_conn **c, char why[XK_NCS_WHY], uint64_t timeout);
/* Begins; *c may be used at once, and is to be closed whatever becomes of it. */
int xk_ncs_iopen(struct xk_ncs_thread *t, const struct xk_ncs_addr *to, const struct xk_ncs_choice *choice,
		 struct xk_ncs_conn **c, struct xk_ncs_req *r);
/* The oldest that was opened to t and not accepted yet; *from, unless NULL, says by whom. */
int xk_ncs_accept(struct xk_ncs_thread *t, struct xk_ncs_conn **c, struct xk_ncs_addr *from, uint64_t timeout);
/* What was sent is delivered in the background, then the peer is told.  NULL does nothing. */
void xk_ncs_close(struct xk_ncs_conn *c);
/* Who is at the other end. */
void xk_ncs_peer(const struct xk_ncs_conn *c, struct xk_ncs_addr *a);

/* ---- messages ------------------------------------------------------------------------------------- */

/* Returns when the buffer is the caller's again: the bytes are ncs's.  Tags are 0 to INT_MAX. */
int xk_ncs_send(struct xk_ncs_conn *c, int tag, const void *buf, size_t n, uint64_t timeout);
int xk_ncs_isend(struct xk_ncs_conn *c, int tag, const void *buf, size_t n, struct xk_ncs_req *r);
/* Waits until the peer's process has all that was sent (without error control: until it has left). */
int xk_ncs_flush(struct xk_ncs_conn *c, uint64_t timeout);

/* One whole message with this tag or XK_NCS_ANY.  XK_E_MSGSIZE: it is longer, st->len says how long, and stays the
 * next one.  st may be NULL. */
int xk_ncs_recv(struct xk_ncs_conn *c, int tag, void *buf, size_t n, struct xk_ncs_status *st, uint64_t timeout);
int xk_ncs_irecv(struct xk_ncs_conn *c, int tag, void *buf, size_t n, struct xk_ncs_req *r);
/* From any connection of t to this rank or XK_NCS_ANY, except those that groups use. */
int xk_ncs_recv_any(struct xk_ncs_thread *t, int rank, int tag, void *buf, size_t n, struct xk_ncs_status *st,
		    uint64_t timeout);
int xk_ncs_irecv_any(struct xk_ncs_thread *t, int rank, int tag, void *buf, size_t n, struct xk_ncs_req *r);
/* What a receive would get, which stays. */
int xk_ncs_probe(struct xk_ncs_conn *c, int tag, struct xk_ncs_status *st, uint64_t timeout);
int xk_ncs_probe_any(struct xk_ncs_thread *t, int rank, int tag, struct xk_ncs_status *st, uint64_t timeout);

/* ---- messages in place ------------------------------------------------------------------------------ */

/*
 * Without a copy to, or from, a buffer of the program's: a message is written where the connection has it to send,
 * and read where it came to.  What is held is the caller's, one thread's at a time, and given back once, whatever has
 * become of it: also where it was sent, was taken in vain or its connection has ended; and before xk_graph_free.
 *
 * What is so held is missed by the connections' VPs.  So a process reserves `held` bytes (4 MiB) at most, or one
 * message, and more is refused (XK_E_NOSPC); and of what it takes it holds as much, and what is beyond is copied to
 * memory that nobody else needs, and counted as `taken_by_copy`.  Who keeps for ever what it took makes others' takes
 * cost a copy, and no more.
 */

/* Room for a message of n bytes.  XK_E_NOSPC: the process holds too much; XK_E_MSGSIZE: longer than ncs takes at both
 * ends. */
int xk_ncs_reserve(struct xk_ncs_conn *c, size_t n, struct xk_ncs_held **h);
/* Sends it, once, as xk_ncs_send does; its bytes are not the caller's any more then.  Else they still are, and it may be
 * tried again. */
int xk_ncs_commit(struct xk_ncs_held *h, int tag, uint64_t timeout);
int xk_ncs_icommit(struct xk_ncs_held *h, int tag, struct xk_ncs_req *r);
/* As xk_ncs_recv, of any length.  *h is NULL on failure. */
int xk_ncs_take(struct xk_ncs_conn *c, int tag, struct xk_ncs_held **h, struct xk_ncs_status *st, uint64_t timeout);
/* *h is to be given back whatever becomes of r, and has the message when r is done. */
int xk_ncs_itake(struct xk_ncs_conn *c, int tag, struct xk_ncs_held **h, struct xk_ncs_req *r);
int xk_ncs_take_any(struct xk_ncs_thread *t, int rank, int tag, struct xk_ncs_held **h, struct xk_ncs_status *st,
		    uint64_t timeout);
/* Its bytes, in order: *p is all 0 first, then the next piece; false: there is none.  What was taken is only read. */
struct xk_ncs_piece { uint8_t *at; size_t len; const void *seg; };
bool xk_ncs_next(const struct xk_ncs_held *h, struct xk_ncs_piece *p);
/* NULL does nothing. */
void xk_ncs_give(struct xk_ncs_held *h);

/* ---- groups ------------------------------------------------------------------------------------------ */

/*
 * Threads of several processes that talk together.  Each member is thread `number` of its process; all make the
 * group, and call its operations, in one order and with the same sizes, types and root.  Connections of groups are
 * their own: they are not accepted or received from by xk_ncs_accept and xk_ncs_recv_any.
 *
 * A member that is lost, or leaves, fails the operation that is under way at all others, and all later ones:
 * with XK_E_CONNRESET or what its connection said, and xk_ncs_group_lost names its rank.
 *
 * The i-forms begin an operation, one at a time, which moves on in xk_ncs_group_test and xk_ncs_group_wait.
 */
struct xk_ncs_group;
enum xk_ncs_shape { XK_NCS_AUTO, XK_NCS_REPETITIVE, XK_NCS_BINOMIAL, XK_NCS_KARY, XK_NCS_CHAIN };
enum xk_ncs_type { XK_NCS_I32, XK_NCS_I64, XK_NCS_F64 };
enum xk_ncs_fold { XK_NCS_SUM, XK_NCS_MIN, XK_NCS_MAX };

/* ranks[n]: the members, the caller's own among them, in the same order at all; number: of the group, below 2^31,
 * the same at all and no other's of these threads; choice: of its connections; k: of XK_NCS_KARY.  Free groups before
 * their thread is detached.  XK_E_INVAL: not so.  Connections are made by the first test or wait. */
int  xk_ncs_group_new(struct xk_ncs_thread *t, const int *ranks, unsigned n, unsigned number,
		      const struct xk_ncs_choice *choice, enum xk_ncs_shape shape, unsigned k, struct xk_ncs_group **g);
/* Leaves it.  NULL does nothing. */
void xk_ncs_group_free(struct xk_ncs_group *g);
/* The rank of the member that was lost first, as far as is known here; -1: none. */
int  xk_ncs_group_lost(const struct xk_ncs_group *g);

/* XK_E_BUSY: one is under way.  root: a place in ranks[].  Sums of integers wrap; minima and maxima pass over NaN where
 * they can; each member of an allreduce gets the same bits. */
int xk_ncs_ibarrier(struct xk_ncs_group *g);
int xk_ncs_ibcast(struct xk_ncs_group *g, unsigned root, void *buf, size_t bytes);
/* In v each one's own, then the root's is the result; the others' is used up. */
int xk_ncs_ireduce(struct xk_ncs_group *g, unsigned root, enum xk_ncs_fold f, enum xk_ncs_type ty, void *v, size_t n);
int xk_ncs_iallreduce(struct xk_ncs_group *g, enum xk_ncs_fold f, enum xk_ncs_type ty, void *v, size_t n);
/* XK_OK: nothing is under way; XK_E_INPROGRESS; an error. */
int xk_ncs_group_test(struct xk_ncs_group *g);
/* XK_E_AGAIN: time is over, and it goes on. */
int xk_ncs_group_wait(struct xk_ncs_group *g, uint64_t timeout);

/* Begun and waited for; XK_E_AGAIN: time is over, and it goes on. */
int xk_ncs_barrier(struct xk_ncs_group *g, uint64_t timeout);
int xk_ncs_bcast(struct xk_ncs_group *g, unsigned root, void *buf, size_t bytes, uint64_t timeout);
int xk_ncs_reduce(struct xk_ncs_group *g, unsigned root, enum xk_ncs_fold f, enum xk_ncs_type ty, void *v, size_t n,
		  uint64_t timeout);
int xk_ncs_allreduce(struct xk_ncs_group *g, enum xk_ncs_fold f, enum xk_ncs_type ty, void *v, size_t n, uint64_t timeout);

#endif
