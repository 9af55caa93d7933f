/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * virtual.h - the session of a protocol without a header.
 *
 * A virtual protocol opens what lies below with the caller's type, so that the header below names the
 * true upper protocol, and then stands in between: the lower session's `up` is set to the own session's
 * `self`, whose demux pops the own session without any search.  Before the lower session is closed its
 * `up` is set back.  A push is one jump further down.
 *
 * Passive opens: the enable is passed on to every node below with ourselves as
 * the receiver and remembered with its participants, so that it can be undone
 * word for word.  A session that comes from below gets an own one over it.
 * Invariant: an own session is bound under its lower session's identity or
 * under the key of its active opener, and holds one reference below.
 */
#ifndef VIRTUAL_H
#define VIRTUAL_H

#include "protocols/link/linger.h"
#include "runtime/upi/xk_proto.h"

/* In the node's state; embedded at its start. */
struct virt_node {
	struct virt_enable *enables;     /* under the graph's structure lock: VPs bind, too (sock) */
};

/* Of a batch that goes up by `up`; it leaves the messages where they are.  *filled: a layer below, of as many as
 * the batch passes in one go, has found that each message has a byte here; who finds out for those above says so. */
typedef void (*virt_batch_fn)(const struct xk_up *up, const struct xk_batch *f, bool *filled);

/* In the replica's state; embedded at its start. */
struct virt_rep {
	struct linger_list linger;
	xk_demux_fn        self;              /* what sessions receive by: set before virt_rep_init, or of .pop */
	virt_batch_fn      sees;              /* what self does with each message of a batch before it passes it; NULL: nothing */
	uint32_t           header;            /* bytes that push puts in front and pop takes off: see virt_header_init */
	bool               stream;            /* what lies below offers one */
};

/* At the start of a session. */
struct virt_sess {
	struct xk_sess s;
	struct linger_entry  linger;
};

/* At the start of the configuration. */
struct virt_conf { uint64_t sessions, linger; };
#define VIRT_PARAMS \
	{ .name = "sessions", .type = XK_P_UINT, .def = "4096", .min = "1", .max = "1048576", \
	  .doc = "most lingering passive sessions per virtual processor", \
	  .offset = offsetof(struct virt_conf, sessions) }, \
	{ .name = "linger", .type = XK_P_TIME, .def = "60s", .min = "10ms", .max = "1h", \
	  .doc = "how long a passive session that nobody holds lives", \
	  .offset = offsetof(struct virt_conf, linger) }, \
	XK_PARAM_END

/* ORDER VIRT_COUNT */
enum { VIRT_COUNT_LINGERED };
#define VIRT_COUNTS "lingered"

/* ORDER VIRT_DROP: the first reasons of a virtual protocol */
enum { VIRT_DROP_NO_ENABLE = XK_DROP_FIRST, VIRT_DROP_REFUSED, VIRT_DROP_SESSION_CAP, VIRT_DROP_END };
#define VIRT_DROPS "no_enable", "refused", "session_cap"

/* An own session over lls, bound under k, rcnt 0.  Takes the reference to lls in every case; NULL: no memory. */
struct xk_sess *virt_new(struct xk_rep *r, struct xk_rep *rcv, struct xk_node *type,
			 struct xk_sess *lls, const struct xk_key *k);
/* The key of a session that is known by what lies below it. */
struct xk_key virt_key(const struct xk_sess *lls);

/* What a layer without a map of its own need not say: its xk_ops are VIRT_OPS, rep_init (virt_rep_init, or what ends
 * with it or with virt_header_init), push and pop (its own, or virt_push and virt_pop), and, with a header,
 * virt_control and virt_sess_control.  One that opens or closes in its own way takes VIRT_ENABLES alone. */
#define VIRT_ENABLES .fini = virt_fini, .rep_stop = virt_rep_stop, .open_enable = virt_open_enable, \
	.open_disable = virt_open_disable, .open_disable_all = virt_open_disable_all
#define VIRT_OPS VIRT_ENABLES, .open = virt_open, .open_done = virt_open_done, .close_done = virt_close_done, \
	.demux = virt_demux, .close = virt_close
/* And in its descriptor, where it adds nothing to these. */
#define VIRT_SIZES \
	.node_size = sizeof(struct virt_node), .rep_size = sizeof(struct virt_rep), .sess_size = sizeof(struct virt_sess)

/* Where self is not set, sessions receive by virt_self_demux when .pop is virt_pop, else by .pop with hdr NULL. */
int  virt_rep_init(struct xk_rep *r);
/* The same of a layer that puts n bytes in front: what virt_control and virt_sess_control say of lengths is n less. */
int  virt_header_init(struct xk_rep *r, uint32_t n);
/* Below with the caller's type, and an own session over it, or the one that stands there. */
struct xk_sess *virt_open(struct xk_rep *r, struct xk_rep *rcv, struct xk_node *type, struct xk_parts *ps, int *err);
int  virt_open_enable(struct xk_node *n, struct xk_node *rcv, struct xk_node *type, struct xk_parts *ps);
int  virt_open_disable(struct xk_node *n, struct xk_node *rcv, struct xk_node *type, struct xk_parts *ps);
void virt_open_disable_all(struct xk_node *n, struct xk_node *rcv);
/* Over datagrams the session lingers when nobody holds it; over a stream it goes with the last of those above. */
int  virt_open_done(struct xk_rep *r, struct xk_sess *lls, struct xk_node *type);
void virt_close_done(struct xk_rep *r, struct xk_sess *lls);
/* First message of a lower session that has no own one over it (yet). */
void virt_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m);
/* What own sessions receive by: passes m through. */
void virt_self_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m);
/* Frames for an own session (batch_self) pass as they are; not in every build: XK_FAST(virt_fast_batch, NULL). */
unsigned virt_fast_batch(struct xk_up *up, struct xk_sess *lls, const struct xk_batch *f);
void virt_push(struct xk_sess *s, struct xk_msg *m);
void virt_pop(struct xk_sess *s, struct xk_sess *lls, struct xk_msg *m, void *hdr);
void virt_close(struct xk_sess *s);
/* Of who puts n bytes in front of each message: what control says below, `res` bytes in buf, as it is above. */
int  virt_shorter(int res, unsigned op, void *buf, uint32_t n);
/* Of a layer over one node: a stream's events; without a header what xk_move.h asks, with one lengths: it has to stay.
 * virt_news: of a session below, with whose address buf begins; whoever is above is told of the own one over it. */
int  virt_control(struct xk_rep *r, unsigned op, void *buf, unsigned len);
int  virt_news(struct xk_rep *r, unsigned op, void *buf, unsigned len);
int  virt_sess_control(struct xk_sess *s, unsigned op, void *buf, unsigned len);
void virt_rep_stop(struct xk_rep *r);
void virt_fini(struct xk_node *n);

/* Of a protocol that has no header. */
extern const struct xk_demux virt_through;

#endif
