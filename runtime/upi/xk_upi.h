/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_upi.h - the uniform protocol interface: protocol objects, their replicas,
 * sessions, and the operations between them.
 *
 * A *node* is a protocol object of the graph.  A *replica* (struct xk_rep) is
 * that object as one VP sees it: its active map, counters, freelist of
 * sessions and protocol state.  A *session* is one end of one conversation; it
 * is born on a VP, lives and dies there.  A protocol is given its replica or
 * session and never names a lock, a thread or a VP number.
 *
 * Messages: push and demux consume the message on every path; a dropped one is
 * counted by xk_drop with a reason.  Nothing on the data path returns an error.
 *
 * Reference counts (x-kernel): a session pointer received as an argument is
 * valid for the call; xk_dup keeps it, xk_close gives it back.  xk_open's
 * result is already counted.  A protocol's own map does not count.
 */
#ifndef XK_UPI_H
#define XK_UPI_H

#include "runtime/base/xk_base.h"
#include "runtime/base/xk_errs.h"
#include "runtime/base/xk_log.h"
#include "runtime/base/xk_param.h"
#include "runtime/classify/xk_classify.h"
#include "runtime/classify/xk_demux.h"
#include "runtime/map/xk_passive.h"
#include "runtime/msg/xk_msg_inline.h"
#include "runtime/upi/xk_part.h"
#include "runtime/vp/xk_vp.h"

struct xk_graph;
struct xk_node;
struct xk_rep;
struct xk_sess;
struct xk_up;
struct xk_frames;
struct xk_view;
struct xk_review;

/* Who receives what a session passes up: a replica, or the session of a
 * virtual protocol. */
typedef void (*xk_demux_fn)(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m);
typedef void (*xk_push_fn)(struct xk_sess *s, struct xk_msg *m);
typedef void (*xk_pop_fn)(struct xk_sess *s, struct xk_sess *lls, struct xk_msg *m, void *hdr);
struct xk_up { xk_demux_fn demux; struct xk_rep *rep; };

/*
 * A run of frames of one exact connection on its way up, in order, 1 to 32, in
 * one segment of their own each (but see below), which has at least XK_FRAME_MIN bytes.  Their
 * descriptors still say what the edge said, but that a tail may have been cut:
 * this layer's bytes begin `off` behind data.  So a layer that only looks
 * at its header writes nothing, and a header's end is one addition for all.
 * Whoever needs a descriptor as demux would get it settles it first.
 *
 * A message whose payload a driver has placed elsewhere (xk_deposit.h) has it in a
 * second segment; until it is settled, len of the first counts both.  So a layer
 * reads its own header at data + off, a wide word of XK_WIDE bytes if it likes, and settles
 * before it reads behind those of the transport.  Such messages are longer than 128 bytes
 * from the transport's header on.
 */
struct xk_frames {
	struct xk_msg   **m;
	unsigned          n;
	uint32_t          off;            /* headers below */
	int32_t           net;            /* where the network header begins, -1: not known yet */
	uint32_t          hash;           /* of the flow */
	struct xk_sess  **hint;           /* at this layer */
	uint16_t          vp;
};

#define XK_DOWN_MAX    8
#define XK_DROPS_MAX   40
#define XK_COUNTS_MAX  32

/* ---- operations of a protocol ------------------------------------------------ */

/*
 * Unset operations: open*, push, pop, demux fail (drop, counted); open_done,
 * close_done, open_disable_all, start, stop, run, halt, rep_* succeed silently; control is
 * forwarded to the first node below.
 */
struct xk_ops {
	/* Once per node, bottom-up, configuration parsed, before any VP exists. */
	int  (*init)(struct xk_node *n, struct xk_errs *e);
	void (*fini)(struct xk_node *n);
	/* Once per node and VP, bottom-up, inside the VP: protocol state. */
	int  (*rep_init)(struct xk_rep *r);
	void (*rep_fini)(struct xk_rep *r);
	/* Once per node, bottom-up, after every replica is there: enables. */
	int  (*start)(struct xk_node *n, struct xk_errs *e);
	void (*stop)(struct xk_node *n);           /* top-down */
	/* Once per VP, bottom-up, inside it, after every start: applications open
	 * their connections, drivers ready their queues. */
	int  (*rep_start)(struct xk_rep *r, struct xk_errs *e);
	/* Top-down, inside the VP: close what is held, cancel timers, park tasks. */
	void (*rep_stop)(struct xk_rep *r);
	/* Once per node, bottom-up, outside all VPs, when the workers run (in virtual time there
	 * are none): starts threads of its own (xk_outside).  halt: top-down, before the workers stop,
	 * of those whose run succeeded: returns when none of these threads is left. */
	int  (*run)(struct xk_node *n, struct xk_errs *e);
	void (*halt)(struct xk_node *n);

	/* Active open, inside the VP of r.  rcv gets the messages, type names
	 * the number in headers (differs under a virtual protocol).  Returns the
	 * session or NULL with *err set; does not touch rcnt. */
	struct xk_sess *(*open)(struct xk_rep *r, struct xk_rep *rcv, struct xk_node *type,
				struct xk_parts *ps, int *err);
	/* Passive opens are per node, from start/stop: all VPs see them. */
	int  (*open_enable)(struct xk_node *n, struct xk_node *rcv, struct xk_node *type, struct xk_parts *ps);
	int  (*open_disable)(struct xk_node *n, struct xk_node *rcv, struct xk_node *type, struct xk_parts *ps);
	void (*open_disable_all)(struct xk_node *n, struct xk_node *rcv);
	/* A passive session lls was made for us below; negative refuses it.  Keep
	 * it with xk_dup. */
	int  (*open_done)(struct xk_rep *r, struct xk_sess *lls, struct xk_node *type);
	void (*close_done)(struct xk_rep *r, struct xk_sess *lls);

	xk_demux_fn demux;                         /* up path, up->rep is the replica */
	/* Optional: a run of messages that the classifier found to be of one exact
	 * connection, in order, whose descriptors have not moved since the edge.
	 * Passes on with xk_frames_on, or xk_pass_frames.  Returns how many it consumed;
	 * the caller gives the others, which are as they were, to up->demux.  Nothing
	 * but speed may tell it from demux of each. */
	unsigned (*demux_frames)(struct xk_up *up, struct xk_sess *lls, const struct xk_frames *f);
	/* demux_frames also serves sessions' self, and refuses (returns 0) where
	 * up->demux is a function that must see every message. */
	bool frames_self;
	/* Takes a message from the VP's inbox that some other VP (or a deferral)
	 * posted with m->node = this node. */
	void (*enter)(struct xk_rep *r, struct xk_msg *m);
	/* Result: bytes written to buf, or negative.  Check len before writing. */
	int  (*control)(struct xk_rep *r, unsigned op, void *buf, unsigned len);

	/* Sessions. */
	xk_push_fn push;
	xk_pop_fn  pop;
	void (*close)(struct xk_sess *s);          /* at rcnt 0: unbind, xk_close below, xk_sess_destroy */
	int  (*sess_control)(struct xk_sess *s, unsigned op, void *buf, unsigned len);

	/* Optional.  A parameter with XK_PF_LIVE is about to change, inside the VP of r: conf
	 * passed every check and has p's new value, r->conf, which is this replica's own while
	 * the graph may be changed, gets it next.  A negative result refuses, with a reason in
	 * why[n]; the replica is then what it was. */
	int  (*rep_set)(struct xk_rep *r, const struct xk_param *p, const void *conf, char *why, size_t n);

	/* Optional, inside the VP of r: adds what a kernel or a device has counted for it until now to its
	 * counters.  Called before a run's are read. */
	void (*rep_tally)(struct xk_rep *r);
};

/* ---- the descriptor that a protocol or driver exports -------------------------- */

#define XK_ABI 8u

struct xk_number { const char *realm; uint32_t number; };

/* May messages of one peer come up on several VPs at a time, in any order, each VP with a session
 * of its own for the peer?  An application that keeps nothing of a peer but counts may say so; who
 * passes messages through can when all above can. */
enum xk_anywhere { XK_ANYWHERE_NEVER, XK_ANYWHERE, XK_ANYWHERE_AS_ABOVE };

struct xk_proto {
	uint32_t abi;                 /* XK_ABI; checked before anything else is read */
	uint32_t size;                /* sizeof(struct xk_proto) */
	const char *name;             /* the word in graph files */
	const char *doc;              /* one line */
	bool        is_driver;
	const struct xk_ops *ops;
	/* What a node may sit over and what it offers: words such as "frame",
	 * "link", "hostlink", "host", "port", "stream"; alternatives with '|'.
	 * needs[i] is for down[i]; the last one repeats when max_down is larger. */
	const char *offers;           /* NULL: nothing may sit above */
	/* Of those words a node offers only what the node below it (down[0]) does: it
	 * stands in between and changes what passes, not what it is. */
	bool        as_below;
	const char *needs[XK_DOWN_MAX]; /* NULL-terminated; empty: bottom */
	unsigned    min_down, max_down;
	/* Its number in the header of what lies below, by offered realm:
	 * { "link", 0x0800 }.  NULL-terminated. */
	const struct xk_number *numbers;
	const struct xk_param  *params;   /* XK_PARAM_END last, or NULL */
	size_t conf_size;             /* structure that params' offsets refer to */
	size_t node_size;             /* protocol state shared by all VPs, read-only after start */
	size_t rep_size;              /* protocol state per VP */
	size_t sess_size;             /* whole session structure, struct xk_sess first; 0: none */
	/* Rules between parameters: a sentence in why[n].  Asked only of a conf whose every value
	 * is right alone, so what is needed is set; other texts may be NULL. */
	int  (*check)(const void *conf, char *why, size_t n);
	/* Gives every unset parameter of conf (which check let pass) the value that will
	 * hold, for those who ask what it is; NULL: unset says it all. */
	void (*fill)(void *conf);
	const char *const *drops;     /* reasons, NULL-terminated, index = number */
	const char *const *counts;    /* own counters, NULL-terminated */
	/* What its header says of who is above and of the conversation (xk_demux.h); NULL:
	 * nothing, then no device decides about its messages. */
	const struct xk_demux *demux;
	/* Drivers: does a call of it wait for its device with this conf, and why?  Then all
	 * user-level threads of its virtual processor would wait, too; NULL: never. */
	bool (*waits)(const void *conf, char *why, size_t n);
	/* Before a graph is made (xk_review.h): complains of what v would fail at, claims what it
	 * will take; answers what nodes above ask of v.  NULL: nothing to say. */
	void (*review)(const struct xk_view *v, struct xk_review *r);
	int  (*ask)(const struct xk_view *v, unsigned op, void *buf, unsigned len);
	enum xk_anywhere anywhere;
};

/* Every protocol and driver of the build, NULL last; generated from the lists
 * in protocols/ and drivers/. */
extern const struct xk_proto *const xk_proto_table[];
const struct xk_proto *xk_proto_find(const char *name);
/* What the lists name and this build was made without, NULL last: the Debian packages
 * to install before it is configured again. */
struct xk_absent { const char *name, *packages; };
extern const struct xk_absent xk_proto_absent[];
const struct xk_absent *xk_proto_find_absent(const char *name);

/* ---- objects ------------------------------------------------------------------- */

struct xk_node {
	const struct xk_proto *proto;
	const char      *name;            /* unique in the graph */
	struct xk_graph *graph;
	void            *conf;            /* proto->conf_size bytes, parsed */
	void            *state;           /* proto->node_size bytes, zeroed */
	struct xk_node  *down[XK_DOWN_MAX];
	unsigned         ndown;
	struct xk_rep  **rep;             /* [nvps] */
	uint16_t         no;              /* index in the graph, bottom-up order */
	struct xk_passive passive;        /* enables */
	struct xk_slab   enables;         /* guarded by the graph's structure lock */
	struct xk_log    log;
	struct xk_pattern *pattern;       /* drivers at the bottom: what is above, as a packet filter */
	struct xk_classifier *classifier; /* drivers at the bottom with XK_CTL_LINK_TYPE */
	uint32_t         link;            /* enum xk_link of those */
	struct upi_edge *edge;            /* who stands between it and its neighbours (upi_hook.h) */
	bool             hooked[3];       /* below, above it, around its calls: does anybody? */
	const char      *file;            /* where the graph file made it */
	int              line;
	uint8_t          layer;           /* domain layers: 0 at the device */
	const char      *failure;         /* see xk_node_failed; NULL: none */
};

/* For a protocol that gives sessions a demux of its own (xk_sess.self): fn, or what stands before it. */
xk_demux_fn xk_self_demux(const struct xk_node *n, xk_demux_fn fn);

/*
 * Locks of the layer of n where each layer's objects have their own (object_locks = "layer"): the one
 * of its map and those of its sessions, over all VPs.  Legal beside the workers; zeros where a node has none:
 * then, and where it tells no sessions apart by a header of its own.
 */
struct xk_object_locks { unsigned maps, sessions; struct xk_lock_counts map, session; };
void xk_objects_read(const struct xk_node *n, struct xk_object_locks *out);

/* Inside the VP of r: r takes over p's value in conf, or says why not.  XK_E_NOTSUP: the graph
 * was made to be left as it is (struct xk_mem_conf, shared). */
int  xk_rep_set(struct xk_rep *r, const struct xk_param *p, const void *conf, char *why, size_t n);

/* Standard drop reasons that the infrastructure counts. */
enum { XK_DROP_NOMEM = 0, XK_DROP_UNSUPPORTED = 1, XK_DROP_FIRST = 2 };

struct xk_rep {
	struct xk_up     up;              /* first: demux finds its replica */
	struct xk_node  *node;
	struct xk_vp    *vp;
	void            *state;           /* proto->rep_size bytes, zeroed */
	void            *conf;            /* the node's, or a copy where it has live parameters */
	struct xk_sess  *drv_sess;        /* drivers: the session that input passes up through */
	struct xk_rep   *down[XK_DOWN_MAX];
	xk_counter       npush, npop;
	struct xk_map    active;
	struct xk_slab   slab;            /* sessions, type-stable */
	xk_counter       nsess_made, nsess_gone;
	xk_counter       drop[XK_DROPS_MAX];  /* 0 nomem, 1 unsupported, 2.. proto->drops */
	xk_counter       count[XK_COUNTS_MAX];
	struct xk_slab   home;            /* where this replica itself came from */
} XK_ALIGNED;

#define XK_SESS_IDLE    1u    /* cached with rcnt 0 */
#define XK_SESS_CLOSING 2u
#define XK_SESS_PASSIVE 4u
#define XK_SESS_END     8u    /* no session: ends a hint list */
#define XK_SESS_HOOKED  16u   /* somebody stands around what is done with it; stays while it lives */

/*
 * The head of every session.  Line 0 is all that the up path touches here.
 * Protocol fields follow in the protocol's own structure.
 */
struct xk_sess {
	/* line 0 */
	struct xk_mapnode map;            /* active key */
	struct xk_rep    *rep;            /* of its own protocol; NULL when free */
	struct xk_up     *up;             /* who receives */
	xk_pop_fn         pop;
	int32_t           rcnt;
	uint32_t          flags;
	uint64_t          hot;            /* the protocol's own, for its up path */
	/* line 1 */
	xk_push_fn        push;
	struct xk_sess   *down;           /* lls, holds a reference */
	struct xk_node   *type;           /* whose number is in headers */
	union {
		struct xk_up self;        /* for virtual protocols: be someone's up */
		uint64_t     own[2];      /* where a session is nobody's up: the protocol's own */
	};
	struct xk_flow   *flow;           /* exact classifier entry, or NULL */
	xk_push_fn        push_own;       /* the protocol's; push may be the entrance to hooks */
	uint32_t          idle_mark;      /* collector pass that found it idle */
	uint32_t          aux;            /* the protocol's own */
#ifdef XK_DEBUG
	void             *born[14];       /* stack that made it */
	uint64_t          nborn;
#endif
} XK_ALIGNED;
_Static_assert(offsetof(struct xk_sess, push) == XK_CACHELINE, "line 0 is the up path");

/*
 * In the debug build every touch of a session, a replica or its map from another
 * VP than its own aborts, with the stack that touched and, for a session, the
 * stack that made it.  Nothing in other builds.
 */
#ifdef XK_DEBUG
void xk_sess_foreign(const struct xk_sess *s) __attribute__((noreturn, cold));
void xk_rep_foreign(const struct xk_rep *r) __attribute__((noreturn, cold));
#define xk_sess_check(s) \
	(XK_LIKELY((s)->rep != NULL && (s)->rep->vp->no == xk_vp_no) ? (void)0 : xk_sess_foreign(s))
#define xk_rep_check(r) (XK_LIKELY((r)->vp->no == xk_vp_no) ? (void)0 : xk_rep_foreign(r))
#else
#define xk_sess_check(s) ((void)0)
#define xk_rep_check(r) ((void)0)
#endif

/* A dummy that never verifies; hint lists are filled with it. */
extern struct xk_sess xk_sess_none;

/* ---- sessions: made and destroyed by their own protocol ------------------------- */

/* From the replica's slab, rcnt 0, up = rcv, not bound; consumes nothing.  lls
 * becomes s->down as is (hand over a reference you own).  NULL: no memory. */
struct xk_sess *xk_sess_create(struct xk_rep *r, struct xk_up *rcv, struct xk_node *type,
			       struct xk_sess *lls);
/* Changes what xk_push(s) calls; protocols never write s->push themselves,
 * because a capture or a lock may stand before it. */
void xk_sess_set_push(struct xk_sess *s, xk_push_fn fn);
/* Binds s under k in its replica's active map. */
int  xk_sess_bind(struct xk_sess *s, const struct xk_key *k);
void xk_sess_unbind(struct xk_sess *s);
/* Unbinds if bound, withdraws its flow, gives the memory back.  s->down must
 * have been closed by the protocol (xk_close(s->down)). */
void xk_sess_destroy(struct xk_sess *s);
/* Makes the graph's classifiers send this connection's frames here, with a hint.
 * Transports call it after binding, before the first message can come.  Domain NONE: no
 * connection lives on an I/O thread's VP; there it is XK_E_NOTSUP, in a debug build an
 * assertion (open it where connections live: a VP below xk_vpset.nconn). */
int  xk_sess_announce(struct xk_sess *s, const struct xk_flowkey *k);
/*
 * Inside an I/O thread (xk_anywhere_here), of a connection k that its VP has no session for: may the
 * session be made here, beside those of other I/O threads, and announced to nobody?  So where the
 * architecture says `datagrams = "anywhere"`, rcv can, and no VP has the connection.  Else xk_reroute.
 */
bool xk_anywhere(const struct xk_rep *r, const struct xk_flowkey *k, const struct xk_node *rcv);
static inline bool xk_anywhere_here(const struct xk_rep *r)
{
	return r->vp->set->arch.datagrams == XK_DATAGRAMS_ANYWHERE && xk_vp_is_io(r->vp);
}
/* The same of all of rcv's peers: then no connection may be opened under what it waits on. */
bool xk_anywhere_waits(const struct xk_graph *g, const struct xk_node *rcv);
/* Where the hash of a connection says which VP it lives on, XK_E_ELSEWHERE unless that is r's.
 * Who chooses a port asks before binding it, and so does who was asked to (xk_parts.at_home);
 * one that the peer opens is where its frames go. */
int  xk_rep_home(const struct xk_rep *r, const struct xk_flowkey *k);
/*
 * The key of a connection of n, a protocol that declares its header: the bytes of every REMOTE
 * field from the device up to n, in that order and as they lie in frames, and the same for
 * LOCAL.  XK_E_NOENT: no device decides about n; XK_E_INVAL: not so many bytes; XK_E_NOTSUP:
 * devices below n lay keys out differently.
 */
int  xk_node_flowkey(const struct xk_node *n, const void *remote, unsigned nremote, const void *local, unsigned nlocal,
		     struct xk_flowkey *k);
/* Would a reply come here?  Makes one up for every device below s's protocol and has it
 * classified.  The debug build asserts it of every session that is announced. */
bool xk_sess_reply_comes_home(const struct xk_sess *s);

/* ---- the operations, as callers use them ------------------------------------------ */

/* The result is counted (rcnt + 1) and its up is rcv; a virtual protocol then
 * sets lls->up = &own_session->self, and back before closing it. */
struct xk_sess *xk_open(struct xk_rep *rcv, struct xk_node *type, struct xk_rep *llp,
			struct xk_parts *ps, int *err);
int  xk_open_enable(struct xk_node *rcv, struct xk_node *type, struct xk_node *llp, struct xk_parts *ps);
int  xk_open_disable(struct xk_node *rcv, struct xk_node *type, struct xk_node *llp, struct xk_parts *ps);
void xk_open_disable_all(struct xk_node *rcv, struct xk_node *llp);
/* Tells the object above about passive session s (sets s->up first); negative:
 * refused, the caller undoes. */
int  xk_open_done(struct xk_node *rcv, struct xk_sess *s, struct xk_node *type);
void xk_close(struct xk_sess *s);
/* Tells the holder above that the peer closed. */
void xk_close_done(struct xk_sess *s);
int  xk_control(struct xk_rep *r, unsigned op, void *buf, unsigned len);
int  xk_sess_control(struct xk_sess *s, unsigned op, void *buf, unsigned len);

void xk_dup_hooked(struct xk_sess *s);

static inline struct xk_sess *xk_dup(struct xk_sess *s)
{
	if (XK_UNLIKELY(s->flags & XK_SESS_HOOKED))
		xk_dup_hooked(s);
	s->rcnt++;
	return s;
}

/* Number of `type` in the headers of realm, or 0 when it declares none. */
uint32_t xk_proto_number(const struct xk_node *type, const char *realm);

/* ---- enables: the passive side that most protocols share -------------------------- */

struct xk_enable {
	struct xk_mapnode  map;
	struct xk_node    *rcv, *type;
	uint32_t           rcnt;
	struct xk_rcu_head rcu;
	struct xk_node    *node;
};
/* Same key and receivers: counted again; different receivers: XK_E_ADDRINUSE. */
int  xk_enable_bind(struct xk_node *n, const struct xk_key *k, struct xk_node *rcv, struct xk_node *type);
int  xk_enable_unbind(struct xk_node *n, const struct xk_key *k, struct xk_node *rcv, struct xk_node *type);
void xk_enable_unbind_all(struct xk_node *n, struct xk_node *rcv);
/* Valid until the end of the unit of work (an RCU read section). */
struct xk_enable *xk_enable_find(struct xk_node *n, const struct xk_key *k);

/* ---- idle sessions ----------------------------------------------------------------- */

/* Destroys sessions of r that have been idle (rcnt 0, XK_SESS_IDLE) through one
 * whole earlier pass: call every n ns, age at destruction is n..2n.  destroy is
 * the protocol's own. */
unsigned xk_sess_collect(struct xk_rep *r, void (*destroy)(struct xk_sess *));

/* ---- the edges ---------------------------------------------------------------------- */

/* A burst from a device at driver replica r (n <= 32): classified, then passed
 * up through r->drv_sess for messages of this VP, handed over for the others.
 * Drivers make drv_sess in their open (one per replica; a second opener gets
 * XK_E_BUSY); frames that come while it is NULL are dropped, counted. */
void xk_input(struct xk_rep *r, struct xk_msg **m, unsigned n);
/* A driver's whole enter operation: passes m, posted by another VP, up. */
void xk_input_enter(struct xk_rep *r, struct xk_msg *m);
/* A message whose owner shows only now (reassembled): continues at r->node's
 * enter on the owner's VP, or returns false: the owner is here. */
bool xk_reroute(struct xk_rep *r, const struct xk_flowkey *k, struct xk_msg *m);
/* Defers m to this VP's next unit: r's enter takes it.  Breaks recursion. */
void xk_defer(struct xk_rep *r, struct xk_msg *m);

/* ---- drops --------------------------------------------------------------------------- */

/* Frees m and counts: reason is XK_DROP_* or XK_DROP_FIRST + the protocol's own. */
void xk_drop(struct xk_rep *r, unsigned reason, struct xk_msg *m);
/* What a reason is called: "no memory", ..., NULL where p has none of that number. */
const char *xk_drop_name(const struct xk_proto *p, unsigned reason);

/* ---- standard control operations ------------------------------------------------------- */

enum {
	XK_CTL_GETMAXPACKET = 1,   /* uint32_t: largest message that can be pushed */
	XK_CTL_GETOPTPACKET,       /* uint32_t: largest that needs no fragmentation */
	XK_CTL_GETMYHOST,          /* uint32_t IPv4, host order */
	XK_CTL_GETPEERHOST,        /* uint32_t IPv4 */
	XK_CTL_GETMYMAC,           /* 6 bytes */
	XK_CTL_GETPEERMAC,         /* 6 bytes */
	XK_CTL_GETMYPORT,          /* uint16_t, host order */
	XK_CTL_GETPEERPORT,        /* uint16_t */
	XK_CTL_GETMYPROTO,         /* uint32_t: number in the header below */
	XK_CTL_GETPARTICIPANTS,    /* struct xk_parts */
	XK_CTL_ISLOCAL,            /* in: uint32_t IPv4; result 1 when it is ours */
	XK_CTL_LINK_TYPE,          /* uint32_t: enum xk_link of a driver's frames */
	XK_CTL_HEADER_SUM,         /* uint32_t: partial pseudo-header sum without length (session) */
	XK_CTL_REACHED,            /* nothing: what this session sends has lately been seen to arrive, by
	                            * progress above (RFC 4861 7.3.1).  0, or XK_E_NOTSUP: nobody wants to know */
	XK_CTL_PRIVATE = 1000,     /* class * 1000 + n from here */
};

/* ---- the graph ---------------------------------------------------------------------------- */

struct xk_graph {
	const char       *name;
	struct xk_vpset  *vps;
	struct xk_node  **node;          /* bottom-up */
	unsigned          nnodes;
	struct xk_flowtab *flows;
	struct xk_mutex   structure;     /* opens and enables that change shared state */
	uint64_t          seed;
	uint32_t          napps;         /* applications that said they will finish */
	uint32_t          ndone;
	uint32_t          nlost;         /* devices that are gone */
	/* connection number -> VP: nmap entries, repeated; NULL: round robin */
	const uint16_t   *conn_map;
	unsigned          nconn_map;
	struct xk_event   done;          /* woken when ndone reaches napps, and when every device is gone */
	unsigned          stage;         /* how far bring-up got; stop undoes exactly that */
	unsigned          ninit, nstarted, nrun; /* nodes whose init, whose start, whose run succeeded */
	/* Domain layers: names of the nodes of each layer, from the device up; none: by what they offer. */
	char            **layers;
	unsigned          nlayers;
	struct upi_meter *meter;         /* see xk_capture.h; NULL: none */
};

/* A node to be added; name and conf are copied or taken over as said. */
struct xk_graph_conf {
	const char        *name;
	struct xk_arch     arch;
	struct xk_mem_conf mem;
	const uint16_t    *conn_map; unsigned nconn_map;
	const char *const *layers; unsigned nlayers;   /* [arch.layers], or none */
};
int  xk_graph_new(struct xk_graph **g, const struct xk_graph_conf *c, struct xk_errs *e);
/* Takes over conf (from xk_param_*).  down nodes must have been added before. */
int  xk_graph_add(struct xk_graph *g, const struct xk_proto *p, const char *name, void *conf,
		  struct xk_node *const *down, unsigned ndown, const char *file, int line,
		  struct xk_node **out);
/* Composes the packet filter of every device (n->pattern), once; xk_graph_up does it first of
 * all.  Declarations that contradict each other are errors at their node's place. */
int  xk_graph_filter(struct xk_graph *g, struct xk_errs *e);
/* What a driver's parameter "classifier" says; where that is "auto" or there is none, the
 * environment's VP_CLASSIFIER, then "auto". */
const char *xk_node_classifier(const struct xk_node *n);
/* Makes n->classifier of n->pattern, of the best kind that works where the one that was asked
 * for refuses (logged). */
int  xk_node_classify(struct xk_node *n, char *why, size_t len);
/* The parameter, for a driver's schema: an unsigned in its configuration. */
#define XK_CLASSIFIER_PARAM(conf, field) \
	{ .name = "classifier", .type = XK_P_ENUM, .def = "auto", .choices = xk_classifier_kinds, \
	  .doc = "flow classifier; none: late demultiplexing", \
	  .offset = offsetof(conf, field) }
/* init, VPs, replicas, start: all or nothing, errors collected. */
int  xk_graph_up(struct xk_graph *g, struct xk_errs *e);
/* Starts the workers, then the nodes' own threads.  Under the virtual schedule use xk_vpset_run_virtual. */
int  xk_graph_run(struct xk_graph *g, struct xk_errs *e);
/* Stops the nodes' own threads and the workers, drains, stops and frees everything; returns leaked buffers +
 * sessions + messages that came to a wrong VP (0 on a healthy graph). */
uint64_t xk_graph_free(struct xk_graph *g);
struct xk_node *xk_graph_find(const struct xk_graph *g, const char *name);
/* Does n, where it lies, offer this word? */
bool xk_node_offers(const struct xk_node *n, const char *word);
/* VP of application connection i. */
struct xk_vp *xk_graph_vp_of(const struct xk_graph *g, uint64_t conn);
/* The VP that reads device n where one alone does: an I/O thread, or the first; of the stages of a
 * pipeline, the one in which n's replica lives. */
struct xk_vp *xk_node_reader(const struct xk_node *n);
/* An application that ends by itself: will_finish once from init, finished once. */
void xk_graph_will_finish(struct xk_graph *g);
void xk_graph_finished(struct xk_graph *g);
/* What n is there for cannot be had any more, for good: its device is gone, none of its
 * connections came to anything.  `why`, a text that stays, says it; the first one counts.  From
 * any thread.  Who runs the graph is to tell of it and not to call the run good. */
void xk_node_failed(struct xk_node *n, const char *why);
const char *xk_node_failure(const struct xk_node *n);
/* Have all devices failed?  Nothing comes in or goes out any more: a run ends then. */
bool xk_graph_cut_off(const struct xk_graph *g);

static inline void *xk_node_conf(const struct xk_node *n) { return n->conf; }

#endif
