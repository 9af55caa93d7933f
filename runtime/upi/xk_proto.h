/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_proto.h - the contract between a protocol and the graph: all that an ordinary one includes.
 *
 * A *node* is a protocol object of the graph.  A *replica* (struct xk_rep) is that object as one
 * virtual processor (VP) sees it: its active map, counters and state.  A *session* is one end of
 * one conversation; it is born on a VP, lives and dies there.  A protocol is given its replica or
 * its session and never names a lock or a thread.
 *
 * Messages: push and demux consume the message on every path; a dropped one is counted by xk_drop
 * with a reason.  Nothing on the data path returns an error.
 * References: a session received as an argument is valid for the call; xk_dup keeps it, xk_close
 * gives it back.  xk_open's result is counted already.  A protocol's own map does not count.
 *
 * Beside it: xk_timer.h and xk_task.h (time, tasks), xk_part.h (for who opens), xk_enable.h,
 * xk_demux.h (what a header says), xk_app.h (applications), xk_batch.h and xk_inline.h (speed),
 * xk_input.h and xk_queued.h (drivers, transports), xk_record.h (flight recorder), xk_vps.h (other
 * VPs), xk_node.h and xk_graph.h (who has the graph).
 */
#ifndef XK_PROTO_H
#define XK_PROTO_H

#include "runtime/base/xk_base.h"
#include "runtime/base/xk_param.h"
#include "runtime/map/xk_map.h"
#include "runtime/msg/xk_msg.h"

/* Changes with the layout of anything in this header: tests/build/abi.txt has it on record. */
#define XK_ABI 20u
#define XK_DOWN_MAX    8
#define XK_DROPS_MAX   40
#define XK_COUNTS_MAX  32
#define XK_PUSHES_MAX  8  /* functions that are push of a protocol's sessions */

struct xk_demux; struct xk_errs; struct xk_flow; struct xk_batch; struct xk_stream_span; struct xk_log; struct xk_node;
struct xk_parts; struct xk_rep; struct xk_review; struct xk_sess; struct xk_up; struct xk_view; struct xk_vp; struct xk_wheel;

typedef void (*xk_demux_fn)(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m);
typedef void (*xk_push_fn)(struct xk_sess *s, struct xk_msg *m);
typedef void (*xk_pop_fn)(struct xk_sess *s, struct xk_sess *lls, struct xk_msg *m, void *hdr);
/* Who receives what a session passes up: a replica, or a virtual protocol's session. */
struct xk_up { xk_demux_fn demux; struct xk_rep *rep; };

/* ---- operations of a protocol ---------------------------------------------------------- */

/*
 * Unset: open*, push, pop and demux fail (a counted drop); control asks the first node below, sess_control the
 * session below or, of one with none, control; all others do nothing and succeed.
 */
struct xk_ops {
	/* Once per node, bottom-up, configuration parsed, before any VP exists. */
	int  (*init)(struct xk_node *n, struct xk_errs *e);
	void (*fini)(struct xk_node *n);
	/* Once per node and VP, bottom-up, inside the VP: protocol state. */
	int  (*rep_init)(struct xk_rep *r);
	void (*rep_fini)(struct xk_rep *r);
	/* Once per node, bottom-up, after every replica is there: enables.  stop: top-down. */
	int  (*start)(struct xk_node *n, struct xk_errs *e);
	void (*stop)(struct xk_node *n);
	/* Once per VP, bottom-up, inside it, after every start: applications open their connections,
	 * drivers ready their queues.  rep_stop, top-down: closes what is held, cancels timers, parks
	 * tasks. */
	int  (*rep_start)(struct xk_rep *r, struct xk_errs *e);
	void (*rep_stop)(struct xk_rep *r);
	/* Once per node, bottom-up, outside all VPs, when the workers run (in virtual time there are
	 * none): starts threads of its own.  halt, top-down, before the workers stop, where run
	 * succeeded or is NULL: returns when none of these threads, or of others that wait here, is left. */
	int  (*run)(struct xk_node *n, struct xk_errs *e);
	void (*halt)(struct xk_node *n);
	/* Active open, inside the VP of r.  rcv gets the messages, type names the number in headers
	 * (differs under a virtual protocol).  The session, its count untouched, or NULL and *err. */
	struct xk_sess *(*open)(struct xk_rep *r, struct xk_rep *rcv, struct xk_node *type,
				struct xk_parts *ps, int *err);
	/* Passive opens are per node, from start and stop: all VPs see them. */
	int  (*open_enable)(struct xk_node *n, struct xk_node *rcv, struct xk_node *type, struct xk_parts *ps);
	int  (*open_disable)(struct xk_node *n, struct xk_node *rcv, struct xk_node *type, struct xk_parts *ps);
	void (*open_disable_all)(struct xk_node *n, struct xk_node *rcv);
	/* A passive session lls was made for us below; negative refuses it, xk_dup keeps it. */
	int  (*open_done)(struct xk_rep *r, struct xk_sess *lls, struct xk_node *type);
	void (*close_done)(struct xk_rep *r, struct xk_sess *lls);
	xk_demux_fn demux;                /* up path, up->rep is the replica */
	/* Optional, for speed alone: demux of a batch of messages (xk_batch.h); with batch_self it serves
	 * sessions' self, with batch_many batches that came through several sessions. */
	unsigned (*demux_batch)(struct xk_up *up, struct xk_sess *lls, const struct xk_batch *f);
	bool batch_self, batch_many;
	/* Takes a message from the VP's inbox that another VP, or xk_defer, put there. */
	void (*enter)(struct xk_rep *r, struct xk_msg *m);
	/* Result: bytes written to buf, or negative.  Check len before writing. */
	int  (*control)(struct xk_rep *r, unsigned op, void *buf, unsigned len);
	/* Of sessions.  close, at rcnt 0: unbind, xk_close below, xk_sess_destroy. */
	xk_push_fn push;
	/* Optional, of streams: copies bytes at p behind those that were pushed (xk_stream.h). */
	uint32_t (*write)(struct xk_sess *s, const void *p, uint32_t n);
	uint32_t (*write_on)(struct xk_sess *s, const void *p, uint32_t n, struct xk_stream_span *span);
	xk_pop_fn  pop; void (*close)(struct xk_sess *s);
	int  (*sess_control)(struct xk_sess *s, unsigned op, void *buf, unsigned len);
	/* A parameter with XK_PF_LIVE is about to change, inside the VP of r: conf passed every check
	 * and has p's new value, r->conf gets it next.  Negative refuses, with a reason in why[n]. */
	int  (*rep_set)(struct xk_rep *r, const struct xk_param *p, const void *conf, char *why, size_t n);
	/* Inside the VP of r, before counters are read: adds what a kernel or device counted for it. */
	void (*rep_tally)(struct xk_rep *r);
};

/* ---- the descriptor that a protocol or driver exports ---------------------------------- */

struct xk_number { const char *realm; uint32_t number; };
/* May messages of one peer come up on several VPs at a time, in any order, each VP with a session
 * of its own for the peer?  Who keeps nothing of a peer but counts may say so; who passes
 * messages through can when all above can. */
enum xk_anywhere { XK_ANYWHERE_NEVER, XK_ANYWHERE, XK_ANYWHERE_AS_ABOVE };

struct xk_proto {
	uint32_t abi, size;               /* XK_ABI, sizeof(struct xk_proto): read before all else */
	const char *name, *doc;           /* the word in graph files; one line */
	bool        is_driver, is_host;   /* is_host: its other side is this machine's, network, files or processes */
	const struct xk_ops *ops;
	/* What a node may sit over and what it offers: words such as "link", "port", "frame/eth", a
	 * kind of "frame", alternatives with '|'; offers NULL: nothing may sit above.  as_below: only
	 * those of the words that the node below offers.  needs[i] is for down[i], NULL after the
	 * last, which repeats when max_down is larger. */
	const char *offers;
	bool        as_below;
	const char *needs[XK_DOWN_MAX];
	unsigned    min_down, max_down;
	const struct xk_number *numbers;  /* its numbers in headers below: { "link", 0x0800 }, { NULL } */
	const struct xk_param  *params;   /* XK_PARAM_END last, or NULL */
	/* Bytes: the structure that params' offsets refer to; state that all VPs share, read-only
	 * after start; state per VP; a session, struct xk_sess first (0: there are none). */
	size_t conf_size, node_size, rep_size, sess_size;
	/* Rules between parameters, each right alone: a sentence in why[n].  fill: sets what is unset
	 * in a conf that passed to what will hold, for who asks; NULL: unset says it all. */
	int  (*check)(const void *conf, char *why, size_t n);
	void (*fill)(void *conf);
	const char *const *drops, *const *counts, *const *events; /* names, NULL last, index = number; events: xk_record.h */
	const struct xk_demux *demux;     /* its header; NULL: no device decides about its messages */
	/* Drivers: does a call of it wait for its device with this conf, and why?  NULL: never. */
	bool (*waits)(const void *conf, char *why, size_t n);
	/* Before a graph is made (xk_review.h): complains of what v would fail at, claims what it
	 * will take; answers what nodes above ask of v.  NULL: nothing to say. */
	void (*review)(const struct xk_view *v, struct xk_review *r);
	int  (*ask)(const struct xk_view *v, unsigned op, void *buf, unsigned len);
	enum xk_anywhere anywhere;
	/* What is given above it (xk_gives.h) where `below` is given below; NULL: the same. */
	uint32_t (*gives)(const void *conf, uint32_t below);
};

/* ---- nodes and replicas ---------------------------------------------------------------- */

const char     *xk_node_name(const struct xk_node *n);
const void     *xk_node_conf(const struct xk_node *n);
void           *xk_node_state(const struct xk_node *n);
struct xk_node *xk_node_down(const struct xk_node *n, unsigned i);
unsigned        xk_node_ndown(const struct xk_node *n);
struct xk_log  *xk_node_log(struct xk_node *n);
/* Does n, where it lies, offer this word? */
bool            xk_node_offers(const struct xk_node *n, const char *word);
/* The replica of n on the VP of r. */
struct xk_rep  *xk_rep_here(const struct xk_node *n, const struct xk_rep *r);
/* From init, start or rep_start: what is wrong, at n's place in the graph file. */
void xk_node_error(const struct xk_node *n, struct xk_errs *e, const char *fmt, ...) XK_PRINTF(3, 4);
/* What n is there for cannot be had any more, for good: its device is gone, none of its
 * connections came to anything.  `why`, a text that stays, says it; the first one counts.  From
 * any thread.  Who runs the graph is to tell of it and not to call the run good. */
void xk_node_failed(struct xk_node *n, const char *why);
/* Number of type in the headers of realm, or 0 when it declares none. */
uint32_t xk_proto_number(const struct xk_node *type, const char *realm);

struct xk_rep {
	struct xk_up     up;              /* first: demux finds its replica */
	const struct xk_ops *ops;         /* its protocol's */
	struct xk_node  *node;
	struct xk_vp    *vp;
	void            *state;           /* proto->rep_size bytes, zeroed */
	void            *conf;            /* the node's, or a copy where it has live parameters */
	struct xk_sess  *drv_sess;        /* drivers: the session that input passes up through */
	struct xk_rep   *down[XK_DOWN_MAX];
	xk_counter       npush, npop;
	struct xk_map    active;          /* its sessions */
	struct xk_wheel *wheel;           /* timers of its VP: xk_timer_set(r->wheel, ...) */
	uint16_t         no, npushes;     /* no: of its VP */
	xk_push_fn       pushes[XK_PUSHES_MAX]; /* its sessions' own, see xk_sess_own_push */
	xk_counter       nsess_made, nsess_gone;
	xk_counter       drop[XK_DROPS_MAX];   /* see xk_drop */
	xk_counter       count[XK_COUNTS_MAX]; /* ORDER proto->counts */
} XK_ALIGNED;

/* ---- sessions: made and destroyed by their own protocol -------------------------------- */

#define XK_SESS_IDLE    1u    /* cached with rcnt 0 */
#define XK_SESS_CLOSING 2u
#define XK_SESS_PASSIVE 4u
#define XK_SESS_END     8u    /* no session: ends a list of hints */
#define XK_SESS_HOOKED  16u   /* somebody stands around what is done with it; stays while it lives */
#define XK_SESS_OWN     0xffff0000u /* the protocol's own */

/* The head of every session; the protocol's fields follow in its own structure. */
struct xk_sess {
	/* line 0: all that the up path touches here */
	struct xk_mapnode map;            /* active key */
	struct xk_rep    *rep;            /* of its own protocol; NULL when free */
	struct xk_up     *up;             /* who receives */
	xk_pop_fn         pop;
	int32_t           rcnt;
	uint32_t          flags;
	uint64_t          hot;            /* the protocol's own, for its up path */
	/* line 1 */
	xk_push_fn        push;           /* changed by xk_sess_set_push only */
	struct xk_sess   *down;           /* lls, holds a reference */
	union {
		struct xk_up self;        /* for virtual protocols: be someone's up */
		uint64_t     own[2];      /* where a session is nobody's up: the protocol's own */
	};
	uint32_t          flow;           /* exact classifier entry by its handle, 0: none; see xk_sess_flow */
	uint16_t          type;           /* see xk_sess_type */
	uint8_t           push_no, idle_mark; /* see xk_sess_own_push; collector pass that found it idle */
	uint32_t          aux[6];         /* the protocol's own */
#ifdef XK_DEBUG
	void             *born[14];       /* stack that made it */
	uint64_t          nborn;
#endif
} XK_ALIGNED;
_Static_assert(offsetof(struct xk_sess, push) == XK_CACHELINE, "line 0 is the up path");

/* rcnt 0, up = rcv, not bound.  lls becomes s->down as is: hand over a reference that you own.
 * NULL: no memory. */
struct xk_sess *xk_sess_create(struct xk_rep *r, struct xk_up *rcv, struct xk_node *type, struct xk_sess *lls);
void xk_sess_set_push(struct xk_sess *s, xk_push_fn fn);
struct xk_node *xk_sess_type(const struct xk_sess *s);   /* whose number is in headers, or NULL */
void xk_sess_set_type(struct xk_sess *s, const struct xk_node *type);
/* Under k in its replica's active map. */
int  xk_sess_bind(struct xk_sess *s, const struct xk_key *k);
void xk_sess_unbind(struct xk_sess *s);
/* Unbinds, withdraws its flow, gives the memory back.  First xk_close(s->down). */
void xk_sess_destroy(struct xk_sess *s);
/* Destroys the sessions of r that were idle (rcnt 0, XK_SESS_IDLE) all through the pass before. */
unsigned xk_sess_collect(struct xk_rep *r, void (*destroy)(struct xk_sess *));
/* How many there are that have not been destroyed. */
uint32_t xk_rep_sessions(const struct xk_rep *r);
/* For sessions with a demux of their own (self): fn, or what is to stand before it. */
xk_demux_fn xk_self_demux(const struct xk_node *n, xk_demux_fn fn);

/* ---- the operations, as callers use them ----------------------------------------------- */

/* The result is counted and its up is rcv; a virtual protocol then sets lls->up to its session's
 * self, and back before closing it. */
struct xk_sess *xk_open(struct xk_rep *rcv, struct xk_node *type, struct xk_rep *llp, struct xk_parts *ps, int *err);
int  xk_open_enable(struct xk_node *rcv, struct xk_node *type, struct xk_node *llp, struct xk_parts *ps);
int  xk_open_disable(struct xk_node *rcv, struct xk_node *type, struct xk_node *llp, struct xk_parts *ps);
void xk_open_disable_all(struct xk_node *rcv, struct xk_node *llp);
/* Tells the object above of passive session s (s->up is set first); negative: undo it. */
int  xk_open_done(struct xk_node *rcv, struct xk_sess *s, struct xk_node *type);
void xk_close_done(struct xk_sess *s);  /* tells the holder above that the peer closed */
struct xk_sess *xk_dup(struct xk_sess *s);
void xk_close(struct xk_sess *s);
int  xk_control(struct xk_rep *r, unsigned op, void *buf, unsigned len);
int  xk_sess_control(struct xk_sess *s, unsigned op, void *buf, unsigned len);
/* The buffer of a control operation: the n bytes at v as its answer, whose length is the result;
 * the n bytes that it brings, into v.  XK_E_INVAL: the buffer is shorter. */
int  xk_answer(void *buf, unsigned len, const void *v, unsigned n);
int  xk_answer32(void *buf, unsigned len, uint32_t v);
int  xk_take(void *v, unsigned n, const void *buf, unsigned len);

/* All of these consume m.  Down, by who holds a reference to s; up, from a session to whoever
 * receives; up, from a protocol's demux to its own session, which survives until pop returns. */
void xk_push(struct xk_sess *s, struct xk_msg *m);
void xk_demux(struct xk_sess *s, struct xk_msg *m);
void xk_pop(struct xk_sess *s, struct xk_sess *lls, struct xk_msg *m, void *hdr);
/* What xk_pop comes to where pop only passes m up: the same, for less. */
void xk_pass(struct xk_sess *s, struct xk_msg *m);
/* The session of r under k for message m, or NULL. */
struct xk_sess *xk_find(struct xk_rep *r, struct xk_msg *m, const struct xk_key *k);
/* Defers m to this VP's next unit of work: r's enter takes it.  Breaks recursion. */
void xk_defer(struct xk_rep *r, struct xk_msg *m);
/* Frees m, counts and records why: one of these, or XK_DROP_FIRST + the number in proto->drops.  n of which there is no m. */
enum { XK_DROP_NOMEM = 0, XK_DROP_UNSUPPORTED = 1, XK_DROP_FIRST = 2 };
void xk_drop(struct xk_rep *r, unsigned reason, struct xk_msg *m);
void xk_dropped(struct xk_rep *r, unsigned reason, uint64_t n);

/* ---- standard control operations ------------------------------------------------------- */

enum {
	XK_CTL_GETMAXPACKET = 1,   /* uint32_t: largest message that can be pushed */
	XK_CTL_GETOPTPACKET,       /* uint32_t: largest that needs no fragmentation */
	XK_CTL_GETMYHOST, XK_CTL_GETPEERHOST,  /* uint32_t IPv4, host order */
	XK_CTL_GETMYMAC, XK_CTL_GETPEERMAC,    /* 6 bytes */
	XK_CTL_GETMYPORT, XK_CTL_GETPEERPORT,  /* uint16_t, host order */
	XK_CTL_GETMYPROTO,         /* uint32_t: number in the header below */
	XK_CTL_GETPARTICIPANTS,    /* struct xk_parts */
	XK_CTL_ISLOCAL,            /* in: uint32_t IPv4; result 1 when it is ours */
	XK_CTL_LINK_TYPE,          /* uint32_t: enum xk_link of a driver's frames */
	XK_CTL_HEADER_SUM,         /* uint32_t: partial pseudo-header sum without length (session) */
	XK_CTL_REACHED, XK_CTL_DOUBT, /* nothing: what this session sends arrives, or does not (RFC 4861 7.3.1) */
	XK_CTL_GETMAXSUPER,        /* uint32_t: longest XK_MSG_SUPER; 0, NOTSUP: none; not passed on; see xk_captured */
	XK_CTL_SENDS_SUPER,        /* nothing: 1, the device sends a super-segment as one; 0 or NOTSUP, it cuts */
	XK_CTL_GIVES,              /* uint32_t: XK_GIVES_* (xk_gives.h); answered for all, by their descriptors */
	XK_CTL_MOVE, XK_CTL_STAND, XK_CTL_ADOPT, XK_CTL_LEAVE, XK_CTL_ORPHANS, XK_CTL_HANDED, /* a graph changes: xk_move.h */
	XK_CTL_PRIVATE = 1000,     /* class * 1000 + n from here */
};

#endif
