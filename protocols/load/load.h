/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * load.h - senders of load, over datagrams or streams: where their connections go, what
 * their messages are copied from, how fast or when, what is counted of each, and when the graph is done.
 *
 * A sender embeds these structures first in its own: its configuration, its node's state, its
 * replica's.  How a message is sent and a connection ends is its own.
 * Invariant: slot i < n of a replica is the connection no[i] of the graph, and lives here.
 */
#ifndef LOAD_H
#define LOAD_H

#include <string.h>

#include "runtime/base/xk_hist.h"
#include "runtime/base/xk_rand.h"
#include "runtime/base/xk_stamp.h"
#include "runtime/upi/xk_app.h"
#include "runtime/upi/xk_proto.h"
#include "runtime/upi/xk_review.h"
#include "runtime/upi/xk_traffic.h"
#include "runtime/vp/xk_due.h"

enum { LOAD_COPY, LOAD_LINE, LOAD_NONE };           /* ORDER load_touches */
extern const char *const load_touches[];

struct load_conf {
	uint64_t conns, size, count, burst, rate, ports, window;
	uint32_t to;
	uint16_t port, lport;
	unsigned touch;
	bool     again;                 /* over a stream: a connection that is done is opened anew */
	struct xk_traffic arrivals;
};

/* Connections of the node; shared, counted atomically. */
struct load_node {
	uint64_t unfinished, lost;
	struct xk_trace trace;          /* that all of them play */
};

struct load_rep {
	struct xk_rep  *r;
	xk_counter     *messages, *bytes;
	uint64_t       *no;               /* connection numbers in the graph */
	uint32_t        n;
	uint8_t        *page;             /* page-aligned, `size` bytes */
	struct xk_hist *rtt;              /* with a window, else NULL */
	void           *page_block;
	struct load_times *times;         /* arrivals, else NULL */
};

static inline const struct load_conf *load_conf(const struct xk_rep *r) { return r->conf; }

/* ---- pacing, and the end ----------------------------------------------------------- */

/* Messages that `rate` allows in t. */
static inline uint64_t load_due(const struct load_conf *c, xk_ns t)
{
	return t / XK_SEC * c->rate + t % XK_SEC * c->rate / XK_SEC;
}
/* Does a connection end, and may the graph, too? */
static inline bool load_ends(const struct load_conf *c)
{
	return (c->count != 0 || c->arrivals.model == XK_TRAFFIC_TRACE) && !c->again;
}
/* Writes m through one cache line at a time. */
void load_touch(struct xk_msg *m);
/* A connection has nothing more to do; the last ends a graph that may end. */
void load_done(struct load_rep *l);
/* One ended before its messages were sent: with the last the node has failed, for `why`. */
void load_lost(struct load_rep *l, const char *why);

/* ---- messages that are due at times of their own, load_times.c ----------------------- */

/*
 * Each connection is a stream of these (xk_traffic.h).  One that has nothing due parks its task and waits
 * in a queue; a task of the replica's gives it a turn at the nanosecond at which its next message is due.
 * A message that is made late, because the processor was busy, or a window or the stream had no room, has
 * waited since it was due: it carries both times (xk_stamp.h).
 */
struct load_times {
	struct xk_traffic_queue queue;   /* who waits; slots of the replica */
	struct xk_task task;             /* gives turns */
	struct xk_due  due;
	struct load_rep *l;
	struct xk_task *(*task_of)(struct xk_rep *r, uint32_t slot);
};
static inline bool load_timed(const struct load_conf *c) { return c->arrivals.model != XK_TRAFFIC_NONE; }
/* When the next message of a connection is due; XK_NS_NEVER: it has no more. */
static inline xk_ns load_when(const struct load_rep *l, uint32_t slot) { return xk_traffic_due(&l->times->queue, slot); }
/* Is none due?  Then the connection, which parks its task, has its turn when one is. */
bool load_rests(struct load_rep *l, uint32_t slot);
/* It has work of another kind, or has ended. */
void load_rises(struct load_rep *l, uint32_t slot);
/* The message that is due has been made; false: that was its last. */
static inline bool load_made(struct load_rep *l, uint32_t slot)
{
	xk_traffic_next(&l->times->queue, slot);
	return load_when(l, slot) != XK_NS_NEVER;
}
/* The page begins with what the next message says of itself: when it was due, and that work on it began at `start`. */
static inline void load_stamp(struct load_rep *l, uint32_t slot, xk_ns start)
{
	xk_stamp_put(l->page, load_when(l, slot), start);
}
/* So does m, which was not copied from the page. */
static inline void load_stamp_copy(const struct load_rep *l, struct xk_msg *m) { memcpy(m->data, l->page, XK_STAMP_SIZE); }
/* From load_open_all and rep_stop.  task_of: of the connection in a slot. */
int  load_times_start(struct load_rep *l, uint32_t n, struct xk_task *(*task_of)(struct xk_rep *r, uint32_t slot));
void load_times_stop(struct load_rep *l);
void load_times_free(struct load_rep *l);

/* ---- life ------------------------------------------------------------------------------ */

int  load_init(struct xk_node *n, struct xk_errs *e);
void load_fini(struct xk_node *n);
int  load_rep_init(struct xk_rep *r);
void load_rep_fini(struct xk_rep *r);
/* Opens this replica's connections: `alloc` makes place for the sender's own of them, `open`
 * opens number i, in the next slot; task_of: of the one in a slot.  An error is told. */
struct load_opens {
	int (*alloc)(struct xk_rep *r, uint64_t n);
	int (*open)(struct xk_rep *r, uint64_t i);
	struct xk_task *(*task_of)(struct xk_rep *r, uint32_t slot);
};
int  load_open_all(struct xk_rep *r, struct xk_errs *e, const struct load_opens *o);
/* What lies below of connection i; NULL with *err. */
struct xk_sess *load_connect(struct xk_rep *r, uint64_t i, int *err);
int  load_control(struct xk_rep *r, unsigned op, void *buf, unsigned len);

/* ---- the descriptor ----------------------------------------------------------------------- */

int  load_check(const void *conf, char *why, size_t n);
void load_review(const struct xk_view *v, struct xk_review *r);

#define LOAD_P(field, t, d, text, ...) \
	{ .name = #field, .type = t, .def = d, .doc = text, \
	  .offset = offsetof(struct load_conf, field), ##__VA_ARGS__ }
#define LOAD_PARAMS_WHERE \
	LOAD_P(to, XK_P_IPV4, NULL, "address to send to", .flags = XK_PF_REQUIRED), \
	LOAD_P(port, XK_P_PORT, "9", "first port to send to", .min = "1", .max = "65535"), \
	LOAD_P(ports, XK_P_UINT, "1", "consecutive ports, used in turn", .min = "1", .max = "65535"), \
	LOAD_P(lport, XK_P_PORT, "0", "own port of the first connection, the next has the next; 0: any"), \
	LOAD_P(conns, XK_P_UINT, "1", "connections, shared out over the virtual processors", \
	       .min = "1", .max = "1048576")
/* live: XK_PF_LIVE where it may change while the graph runs, else 0. */
#define LOAD_PARAMS_PACE(live) \
	LOAD_P(burst, XK_P_UINT, "0", \
	       "messages of one connection in a unit of work; 0: the graph's burst", \
	       .max = "1024", .flags = live), \
	LOAD_P(rate, XK_P_UINT, "0", "messages per second of each connection; 0: as fast as it can", \
	       .max = "100000000", .flags = live)
#define LOAD_PARAMS_TOUCH \
	LOAD_P(touch, XK_P_ENUM, "copy", \
	       "copy a page into each message, write it through one cache line, or leave it", \
	       .choices = load_touches)

#endif
