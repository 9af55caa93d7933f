/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs_call.h - what the files of `process` share: a program's threads over ncs (xk_ncs.h).
 *
 *   ncs_process.c    the node: descriptor, start and stop, what comes from below
 *   ncs_call.c       requests: begun, waited for, cancelled, done; ncs_wait.c: by threads of either kind
 *   ncs_call_conn.c  threads and connections: attach, open, accept, close
 *   ncs_match.c      messages: sent from requests, matched with receives
 *   ncs_group.c      barrier, broadcast, reduce over connections of a group; ncs_tree.c and ncs_fold.c are pure
 *
 * A connection (struct xk_ncs_conn) is the program's object; a session (struct ncs_end) is what stands on
 * the session of ncs, and is its VP's.  All else of a process is guarded by one lock, which is held
 * for a few lines and within which nothing is called but lists, memory and waking: handlers take it
 * inside VPs, so who has it enters none.  Bytes are copied outside of it.
 *
 * Whoever points at a thread or a connection counts: the program until it closes, a session, a
 * request under way, a call.  The last one frees.
 */
#ifndef NCS_CALL_H
#define NCS_CALL_H

#include "protocols/ncs/ncs.h"
#include "protocols/ncs/ncs_wait.h"
#include "protocols/ncs/xk_ncs.h"
#include "runtime/base/xk_param.h"
#include "runtime/sync/xk_sync.h"
#include "runtime/upi/xk_node.h"
#include "runtime/vp/xk_call.h"

#define PROC_HDR 8u                      /* in front of each message: tag 32, 0 32 */
#define PROC_GROUP 0x80000000u           /* sessions that groups use */

#define PROC_DROPS(X) X(SHORT, "short") X(TAG, "bad_tag") X(CLOSED, "closed") X(UNEXPECTED, "unexpected_full")
#define PROC_DROP_ENUM(n, s) PROC_DROP_##n,
enum { PROC_DROP_BASE = XK_DROP_FIRST - 1, PROC_DROPS(PROC_DROP_ENUM) };

#define PROC_COUNTS(X) \
	X(OUT, "messages_out")  X(IN, "messages_in")   X(DIRECT, "to_posted_receives") \
	X(OPENED, "opened")     X(ACCEPTED, "accepted") X(REFUSED, "refused")  X(ENDED, "ended_by_peer")
#define PROC_COUNT_ENUM(n, s) PROC_COUNT_##n,
enum { PROC_COUNTS(PROC_COUNT_ENUM) };

struct proc_conf { uint64_t rank, unexpected, backlog; uint16_t service; struct xk_plist ranks; };

struct proc {                            /* struct xk_node.state */
	struct xk_mutex lock;
	struct xk_list  threads;
	bool     stopping;
	uint32_t inside;                 /* calls */
	uint64_t opened;                 /* numbers given to connections */
	uint64_t kept;                   /* bytes of messages that nobody has asked for, with what keeps them */
};
static inline struct proc *proc_of(const struct xk_node *n) { return n->state; }
static inline const struct proc_conf *proc_conf(const struct xk_node *n) { return n->conf; }

struct proc_rep { struct xk_list ends; };
static inline struct proc_rep *proc_rep(const struct xk_rep *r) { return r->state; }

/* Our session on one of ncs. */
struct ncs_end {
	struct xk_sess s;
	struct xk_ncs_conn *c;
	struct xk_listed link;           /* of its VP */
	bool pumping;
};

struct xk_ncs_thread {
	struct xk_listed link;
	struct xk_node  *n;
	unsigned number, refs;
	bool     gone;
	uint32_t nwaiting;
	struct xk_list conns;
	struct xk_list waiting, accepts; /* connections to be accepted; requests */
	struct xk_list posted, came;     /* receives and probes; messages (struct ncs_box), each in order */
};

enum conn_state { CONN_OPENING, CONN_OPEN, CONN_ENDED };
struct xk_ncs_conn {
	struct xk_listed link, waits;    /* of its thread */
	struct xk_ncs_thread *t;
	struct xk_node *n;
	struct xk_vp   *vp;
	unsigned refs;
	struct xk_ncs_addr peer;
	enum conn_state state;
	bool     closed;
	int      err;                    /* ended: why */
	struct xk_ncs_req *opener;
	struct xk_list sends, flushes;
	struct ncs_end *end;             /* the VP's; NULL: there is none (any more) */
};

/* A message that nobody has asked for yet. */
struct ncs_box {
	struct xk_listed link;
	struct xk_ncs_conn *c;
	int      tag;
	size_t   len;
	uint8_t  bytes[];
};

enum req_kind { REQ_OPEN, REQ_ACCEPT, REQ_SEND, REQ_FLUSH, REQ_RECV, REQ_PROBE };
static inline struct xk_ncs_req *req_of(struct xk_listed *i) { return xk_container_of(i, struct xk_ncs_req, link); }

static inline void proc_lock(const struct xk_node *n) { xk_mutex_lock(&proc_of(n)->lock); }
static inline void proc_unlock(const struct xk_node *n) { xk_mutex_unlock(&proc_of(n)->lock); }

/* ---- ncs_call.c; with the lock, but for those that wait -------------------------------------------- */

/* A call begins with t, or with c: XK_OK, then it is held until ncs_proc_leave. */
int  ncs_proc_enter(struct xk_ncs_thread *t, struct xk_ncs_conn *c);     /* without the lock, as the next */
void ncs_proc_leave(struct xk_ncs_thread *t, struct xk_ncs_conn *c);
void ncs_thread_put(struct xk_ncs_thread *t);
void ncs_conn_put(struct xk_ncs_conn *c);
/* A request of t, and of c unless NULL, under way; it is put somewhere or done next. */
void ncs_req_begin(struct xk_ncs_req *r, enum req_kind kind, struct xk_ncs_thread *t, struct xk_ncs_conn *c);
/* Its status: what is known of the connection. */
void ncs_req_says(struct xk_ncs_req *r, struct xk_ncs_conn *c, int tag, size_t len);
void ncs_req_done(struct xk_ncs_req *r, int err);
void ncs_reqs_fail(struct xk_list *l, const struct xk_ncs_conn *c, int err);    /* c NULL: all of them */
/* Without the lock.  A blocking call of what began with err: waits, and cancels when time is over. */
int  ncs_req_run(struct xk_ncs_req *r, int err, uint64_t timeout);
/* begun: nobody may wait on it (any more). */
void ncs_req_never(struct xk_ncs_req *r, int err);

/* ---- ncs_call_conn.c ---------------------------------------------------------------------------------- */

/* Inside the VP, without the lock. */
int  ncs_conn_come(struct xk_rep *r, struct xk_sess *lls);
void ncs_conn_opened(struct xk_ncs_conn *c);
void ncs_conn_ended(struct xk_ncs_conn *c, int err, const char *why);
void ncs_end_free(struct ncs_end *e);
/* With the lock: all that waits for c hears err. */
void ncs_conn_fail(struct xk_ncs_conn *c, int err);
/* Without: frees all that is left when no VP has anything of it. */
void ncs_proc_free_all(struct xk_node *n);

/* Of a group's connection: from this rank with this session.  r is the caller's until it is done. */
int  ncs_conn_iaccept(struct xk_ncs_thread *t, int rank, unsigned session, struct xk_ncs_req *r);
/* Opens as xk_ncs_iopen does, with a session of a group's. */
int  ncs_conn_iopen(struct xk_ncs_thread *t, const struct xk_ncs_addr *to, const struct xk_ncs_choice *choice,
		struct xk_ncs_conn **c, struct xk_ncs_req *r);

/* ---- ncs_match.c ---------------------------------------------------------------------------------------- */

/* Inside the VP, without the lock. */
void ncs_conn_message(struct ncs_end *e, struct xk_msg *m);
void ncs_conn_pump(struct ncs_end *e);
/* With the lock. */
void ncs_boxes_free(struct xk_ncs_thread *t, const struct xk_ncs_conn *c);      /* c NULL: all of them */

#endif
