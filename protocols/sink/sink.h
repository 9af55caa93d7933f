/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sink.h - receivers of load, of datagrams or streams: a place for each connection where
 * its messages are counted, the page that bytes are copied to, memory that is posted at a
 * connection, and the end of a graph that waits for a number of messages.
 *
 * A receiver embeds these structures first in its configuration and in its replica's state, and
 * its first two counters are SINK_MESSAGES and SINK_BYTES.  Counts are per VP and nobody shares
 * a line; whether `count` is reached is looked at by a timer.
 * Places and the page are had with a replica's first connection: of a graph's thousands of
 * receivers most may never have one.
 * Invariant: a place is of one kept connection, or among those to spare.
 */
#ifndef SINK_H
#define SINK_H

#include "runtime/base/xk_hist.h"
#include "runtime/base/xk_stamp.h"
#include "runtime/upi/xk_app.h"
#include "runtime/upi/xk_ddp.h"
#include "runtime/upi/xk_proto.h"
#include "runtime/upi/xk_review.h"
#include "runtime/vp/xk_timer.h"

#define SINK_BIGGEST 65536u      /* of one message: the page it is copied to */

enum { SINK_MESSAGES, SINK_BYTES, SINK_OWN };

struct sink_conf {
	uint64_t ports, count, sessions, post, post_least;
	uint16_t port;
	unsigned touch;
	bool     times;
};

/* What stamps said of the messages consumed on one VP (xk_stamp.h). */
struct sink_times {
	struct xk_hist hist[XK_TIMES];
	xk_counter     sum[XK_TIMES];
	xk_ns          late;                /* of the last one */
};

struct sink {
	struct xk_rep   *r;
	xk_counter      *messages, *bytes;  /* [cap] */
	uint64_t        *no;                /* [cap] connection numbers */
	uint32_t        *spare;             /* places given back */
	uint32_t         nspare, n, cap;    /* n: places ever used */
	uint8_t         *page;              /* page-aligned; NULL: no connection yet, and no memory */
	uint64_t         page_size;
	void            *page_block;
	struct xk_timer  timer;             /* first VP, count != 0 */
	struct sink_times *times;           /* NULL: nobody asked */
	bool             looks;             /* what comes is touched, or timed */
};

static inline bool sink_place_left(const struct sink *l)
{
	return l->nspare != 0 || l->n != l->cap;
}
/* Memory for places and the page; XK_OK, too, when it is there.  Before any place is taken. */
int sink_get(struct sink *l);
/* A place for connection no of the graph; there is one left. */
uint32_t sink_place_take(struct sink *l, uint64_t no);
static inline void sink_place_give(struct sink *l, uint32_t place)
{
	l->spare[l->nspare++] = place;
}

/* Memory for what comes by lls, where the graph wants it posted; without it bytes are copied to
 * the page.  count: the first of XK_DDP_COUNTS, and behind them the failures'. */
void sink_post(struct sink *l, struct xk_ddp **post, struct xk_sess *lls, bool stream,
	       unsigned count);

/* ---- life ------------------------------------------------------------------------------ */

int  sink_init(struct xk_node *n, struct xk_errs *e);
int  sink_size(struct xk_rep *r, uint64_t cap, uint64_t page);
void sink_fini(struct xk_rep *r);
/* From start: waits on every port, or on none. */
int  sink_wait(struct xk_node *n, struct xk_errs *e);
/* The timer that looks for the end. */
void sink_watch(struct xk_rep *r);
void sink_unwatch(struct xk_rep *r);
/* A message that begins with n bytes as at p has been consumed: what its stamp says is counted. */
void sink_time(struct sink *l, const void *p, uint32_t n);
/* Answers XK_CTL_APP_TIMES. */
int  sink_answer_times(const struct sink *l, void *buf, unsigned len);
/* What XK_CTL_APP_COUNTS is told. */
struct xk_app_counts sink_counts(const struct sink *l, const xk_counter *accepted);

/* ---- the descriptor ----------------------------------------------------------------------- */

/* copied: bytes go to the page, or to posted memory; copies: the words for it in *why. */
int  sink_check(const struct sink_conf *c, bool copied, const char *copies,
		     char *why, size_t n);

#define SINK_P(field, t, d, text, ...) \
	{ .name = #field, .type = t, .def = d, .doc = text, \
	  .offset = offsetof(struct sink_conf, field), ##__VA_ARGS__ }
#define SINK_PARAMS_WHERE \
	SINK_P(port, XK_P_PORT, "9", "first port to wait on", .min = "1", .max = "65535"), \
	SINK_P(ports, XK_P_UINT, "1", "consecutive ports", .min = "1", .max = "65535")
#define SINK_PARAMS_TIMES \
	SINK_P(times, XK_P_BOOL, "false", \
	       "of messages that say when they were due (arrivals of peer_source and load), how long they waited and " \
	       "were worked on")
#define SINK_PARAMS_POST XK_DDP_PARAMS(struct sink_conf, post, post_least)

#endif
