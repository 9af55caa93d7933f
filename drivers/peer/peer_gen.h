/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peer_gen.h - the generator of peer_source: connections' templates, and frames made of them.
 */
#ifndef XK_PEER_GEN_H
#define XK_PEER_GEN_H

#include "drivers/peer/peer_priv.h"
#include "runtime/upi/xk_traffic.h"

struct peer_gen_conf {
	uint64_t conns, size, burst, count, rate, ring, rxcold, ports;
	uint32_t from, to;
	uint16_t from_port, port;
	uint8_t  mac[6];
	unsigned checksum, rxbuf, place;
	char    *lead;
	bool     mix;
	struct xk_traffic arrivals;
};

/* Node state: the trace that all replicas play. */
struct peer_gen_node { struct xk_trace trace; };

/* A template: the line that a frame begins with. */
struct peer_gen_conn { uint8_t hdr[XK_CACHELINE]; } XK_ALIGNED;

/* Replica state. */
struct peer_gen {
	struct mem_rep *mr;               /* the wire */
	struct xk_rep  *rep;
	struct peer_gen_conn *conn;       /* [nconn], the templates */
	xk_counter *made, *bytes;         /* [nconn], for XK_CTL_PEER_COUNTS */
	uint64_t   *left, *no;            /* [nconn]: frames to make; number in the graph */
	uint32_t  nconn, live;            /* live: connections with frames left */
	uint32_t  stride, ahead;          /* to the next connection; to the one to fetch */
	uint32_t  turn;                   /* whose unit it is ... */
	uint32_t  unit_left;              /* ... and what is left of it */
	uint32_t  frame;                  /* bytes of each */
	uint32_t  hdr_len;
	uint8_t   flags;
	struct peer_cold cold;
	/* open loop */
	uint64_t  rate;                   /* frames per second of this replica, 0: no limit */
	xk_ns     start;
	uint64_t  produced;
	struct xk_timer timer;
	void     *block;                  /* what conn was cut from */
	/* arrivals */
	struct xk_traffic_queue times;    /* of those that have a frame left */
	struct xk_due due;
};

static inline const struct peer_gen_conf *peer_gen_conf(const struct peer_gen *g) { return g->rep->conf; }

/* From rep_init, and when the templates are made. */
void peer_gen_init(struct xk_rep *r);
void peer_gen_strides(struct peer_gen *g, bool mix);
/* A frame of slot j's, or NULL, counted; n of its frames have been made. */
struct xk_msg *peer_gen_frame(struct peer_gen *g, uint32_t j);
void peer_gen_made(struct peer_gen *g, uint32_t j, unsigned n);
/* peer_due.c: frames that come at times of their own.  Memory for the streams, and their first times. */
int  peer_due_start(struct peer_gen *g);
void peer_due_stop(struct peer_gen *g);
unsigned peer_due_run(struct xk_task *t, unsigned budget);
unsigned peer_due_run_carried(struct xk_task *t, unsigned budget);
/* The wire's task; the second where I/O threads read the devices. */
unsigned peer_gen_run(struct xk_task *t, unsigned budget);
unsigned peer_gen_run_carried(struct xk_task *t, unsigned budget);

#endif
