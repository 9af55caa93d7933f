/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs_half.h - the two ends of one direction of a connection: error control over flow control.
 *
 * A sender and a receiver, each one block of memory: the state of both controls behind a few fields
 * of their own.  Pure as they are (ncs_policy.h): the caller brings packets, records and the time,
 * and does what it is told.  A sender is asked for what to send until it says no, then again when
 * a record was heard or ncs_tx_when has come.
 */
#ifndef NCS_HALF_H
#define NCS_HALF_H

#include "protocols/ncs/xk_ncs_control.h"

/* The congestion window (ncs_cc.c), in SDUs. */
struct ncs_cc {
	uint32_t window, threshold, part;        /* part: acknowledged since it last grew by one */
	uint32_t recover;                /* behind the last SDU sent when it was last made smaller */
	uint32_t extra;                  /* under way, and taken to be lost */
	unsigned vain;
	bool     on, recovering;
	xk_ns    since;
};
void  ncs_cc_init(struct ncs_cc *cc, const struct ncs_agreed *a, xk_ns now);
bool  ncs_cc_may(const struct ncs_cc *cc, uint32_t under_way);
/* under_way: without this one; high: behind the last SDU that was ever sent. */
void  ncs_cc_sent(struct ncs_cc *cc, bool repeated, uint32_t under_way, uint32_t high, xk_ns now);
/* n SDUs more, all below done. */
void  ncs_cc_acked(struct ncs_cc *cc, uint32_t n, uint32_t done, xk_ns now);
/* For who is held up by it alone: when to call ncs_cc_time. */
xk_ns ncs_cc_when(const struct ncs_cc *cc, const struct ncs_rtt *rtt);
void  ncs_cc_time(struct ncs_cc *cc, const struct ncs_rtt *rtt, uint32_t under_way, uint32_t high, xk_ns now);

struct ncs_tx {
	const struct ncs_flow_ops  *flow;
	const struct ncs_error_ops *error;
	struct ncs_rtt rtt;
	struct ncs_cc  cc;
	uint32_t       high;             /* behind the last SDU that was ever sent */
	uint32_t       tx;               /* the next transmission's number */
	uint32_t       error_at;         /* in state[] */
	uint64_t       state[];
};

struct ncs_rx {
	const struct ncs_flow_ops  *flow;
	const struct ncs_error_ops *error;
	uint32_t error_at;
	uint64_t state[];
};

/* Bytes of the whole block, and a block made ready.  guess: of the round trip; least: of timers. */
size_t ncs_tx_size(const struct ncs_choice *c);
void   ncs_tx_init(struct ncs_tx *t, const struct ncs_choice *c, xk_ns guess, xk_ns least, xk_ns now);
size_t ncs_rx_size(const struct ncs_choice *c);
void   ncs_rx_init(struct ncs_rx *r, const struct ncs_choice *c);

/* ---- the sender -------------------------------------------------------------------------- */

/* n SDUs more are there. */
void ncs_tx_add(struct ncs_tx *t, uint32_t n);
/* May one leave now?  Its number. */
bool ncs_tx_next(const struct ncs_tx *t, xk_ns now, uint32_t *no);
/* It leaves, with so many bytes: what stands in its header. */
struct ncs_mark { uint32_t tx; uint8_t flags; };
struct ncs_mark ncs_tx_sent(struct ncs_tx *t, uint32_t no, uint32_t bytes, xk_ns now);
/* SDUs below that are needed no more. */
uint32_t ncs_tx_done(const struct ncs_tx *t);
/* Records of the receiver; false: refused. */
void ncs_tx_credit(struct ncs_tx *t, uint32_t value, xk_ns now);
bool ncs_tx_ack(struct ncs_tx *t, const struct ncs_ack *a, xk_ns now);
/* When to call ncs_tx_time, which may open the way for more.  true: *value is to be asked. */
xk_ns ncs_tx_when(const struct ncs_tx *t, xk_ns now);
bool  ncs_tx_time(struct ncs_tx *t, xk_ns now, uint32_t *value);

/* ---- the receiver ------------------------------------------------------------------------- */

/* NCS_NEW: its bytes are to be kept; the buffer is occupied until ncs_rx_freed. */
enum ncs_verdict ncs_rx_arrived(struct ncs_rx *r, const struct ncs_pkt *p);
/* The same in two steps: NCS_NEW of the first, of flow control, leads to the second, of error control. */
enum ncs_verdict ncs_rx_passes(struct ncs_rx *r, const struct ncs_pkt *p);
enum ncs_verdict ncs_rx_wanted(struct ncs_rx *r, const struct ncs_pkt *p);
void ncs_rx_freed(struct ncs_rx *r, uint32_t n);
void ncs_rx_queried(struct ncs_rx *r, uint32_t value);
/* Messages that end below are over: deliver those that are whole, drop the others. */
uint32_t ncs_rx_base(const struct ncs_rx *r);
/* false: it has no buffers of its own. */
bool ncs_rx_buffers(const struct ncs_rx *r, struct ncs_buffers *b);
void ncs_rx_allow(struct ncs_rx *r, uint32_t buffers);
/* Records to be said now, after arrivals, frees and queries. */
bool ncs_rx_credit(struct ncs_rx *r, uint32_t *value);
bool ncs_rx_ack(struct ncs_rx *r, struct ncs_ack *a);

#endif
