/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peer_tcp.h - what the two simulated TCP peers share: a segment as the stack
 * pushed it, a connection, frames made from its template.
 *
 * Addresses and ports are named as the stack sees them: local is the stack's,
 * remote the peer's.  A peer offers a segment size and a window scale and no
 * other option.
 */
#ifndef XK_PEER_TCP_H
#define XK_PEER_TCP_H

#include "drivers/peer/peer_priv.h"

#define PEER_TCP_FIN 0x01u
#define PEER_TCP_SYN 0x02u
#define PEER_TCP_RST 0x04u
#define PEER_TCP_PSH 0x08u
#define PEER_TCP_ACK 0x10u

struct peer_tcp_seg {
	struct xk_key key;               /* of the connection: a struct xk_flowkey */
	uint32_t seq, ack, len;
	uint16_t wnd, mss;               /* mss: the option, 536 without it */
	uint8_t  flags, wscale;          /* wscale: the option, 255 without it */
};

enum peer_tcp_state { PEER_TCP_NEW, PEER_TCP_SYN_SENT, PEER_TCP_OPEN, PEER_TCP_FIN_SENT, PEER_TCP_DONE };

struct peer_tcp_conn {
	struct xk_mapnode map;           /* key, bound while the connection lives */
	uint32_t snd_una, snd_nxt;       /* the peer's own numbers */
	uint32_t rcv_nxt;
	uint32_t edge;                   /* source: right edge of the stack's window */
	uint32_t una_then;               /* source: snd_una at the last tick */
	uint8_t  state, wscale;          /* wscale: the stack's */
	uint8_t  unacked;                /* sink: segments not acknowledged yet */
	bool     listed;                 /* sink: awaits the tick; source: awaits its turn */
	uint32_t slot;                   /* source: in the arrays of counters */
	uint64_t left;                   /* source: segments to send, UINT64_MAX: endless */
	struct peer_tcp_conn *next;       /* of that list */
	uint8_t  hdr[XK_CACHELINE] XK_ALIGNED;   /* template: link, IP, TCP without options; of a bare ACK */
	uint32_t sum;                    /* of a bare ACK's pseudo-header and template */
} XK_ALIGNED;

#define PEER_TCP_RECENT 32u

/* Parameters; a receiver has not all of them. */
struct peer_tcp_conf {
	uint64_t conns, size, burst, count, rxcold, ports;
	uint32_t from, to;
	uint16_t from_port, port, idle_port;
	uint8_t  mac[6];
	unsigned checksum, rxbuf, place;
	char    *lead;
	uint64_t window, ack_every, idle;
};

#define PEER_TCP_PARAM(field, t, d, text, ...) \
	{ .name = #field, .type = t, .def = d, .doc = text, \
	  .offset = offsetof(struct peer_tcp_conf, field), ##__VA_ARGS__ }
#define PEER_TCP_IDLE_PARAMS \
	PEER_TCP_PARAM(idle, XK_P_UINT, "0", \
	  "peers besides, who connect to idle_port of 'to' and are silent", .max = "16777216"), \
	PEER_TCP_PARAM(idle_port, XK_P_PORT, "9", "where silent peers connect to", .min = "1")

/* Replica state. */
struct peer_tcp {
	struct mem_rep  *mr;             /* the wire */
	struct xk_rep   *rep;
	const struct peer_tcp_conf *conf;
	struct xk_map    map;
	struct xk_slab   slab;
	struct xk_timer  tick;
	struct peer_tcp_conn *first, *last;
	struct peer_tcp_conn *recent[PEER_TCP_RECENT]; /* sink: whose segments came last, by their ports; or NULL */
	uint32_t         depth;          /* answers that are under way up on this stack */
	uint16_t         window;         /* as it stands in headers */
	uint8_t          wscale, flags;  /* flags: of messages with data */
	uint16_t         hdr_len;        /* link, IP and TCP without options */
	uint8_t          nlead, lead[PEER_LEAD_MAX];  /* source: every segment with data begins so */
	/* source: */
	struct peer_tcp_conn **conn;      /* [nconn] */
	xk_counter *made, *bytes;        /* [nconn] */
	uint64_t   *no;                  /* [nconn] number in the graph */
	uint32_t    nconn, live;
	uint64_t    idle_next;           /* silent peers: the first that was not considered yet */
	struct peer_cold cold;            /* receive buffers, rxbuf = "cold" */
};

/* c->hdr by c's key. */
void peer_tcp_template(const struct peer_tcp *t, struct peer_tcp_conn *c);
/* The task's run where there are silent peers, before what it runs otherwise. */
unsigned peer_tcp_sink_idle_run(struct xk_task *task, unsigned budget);
unsigned peer_tcp_source_idle_run(struct xk_task *task, unsigned budget);
unsigned peer_tcp_source_run(struct xk_task *task, unsigned budget);
/* A segment to nobody who is known: false when there are no silent peers. */
bool peer_tcp_idle_answer(struct peer_tcp *t, const struct peer_tcp_seg *g);
/* What the stack pushed, consumed: false when it is no TCP segment that goes out. */
bool peer_tcp_take(struct xk_sess *s, struct xk_msg *m, struct peer_tcp_seg *g);
/* From rep_init. */
void peer_tcp_init(struct xk_rep *r, void (*tick)(struct xk_timer *));
/* From rep_start: what depends on the wire.  run: the task's, NULL: its own. */
void peer_tcp_start(struct peer_tcp *t, unsigned (*run)(struct xk_task *, unsigned));
void peer_tcp_rep_stop(struct xk_rep *r);
void peer_tcp_rep_fini(struct xk_rep *r);
/* A connection, bound, its template made; NULL: no memory. */
struct peer_tcp_conn *peer_tcp_conn_new(struct peer_tcp *t, const struct xk_key *k);
void peer_tcp_conn_free(struct peer_tcp *t, struct peer_tcp_conn *c);
static inline struct peer_tcp *peer_tcp_of(const struct xk_task *task)
{
	return xk_container_of(task, struct mem_rep, task)->far->state;
}
static inline struct peer_tcp_conn *peer_tcp_find(struct peer_tcp *t, const struct xk_key *k)
{
	struct xk_mapnode *n = xk_map_resolve(&t->map, k);

	return n != NULL ? xk_container_of(n, struct peer_tcp_conn, map) : NULL;
}
/* Where a connection stands in `recent`, by the low bytes of its ports. */
static inline unsigned peer_tcp_recent(const uint8_t *sport, const uint8_t *dport)
{
	return (sport[1] ^ dport[1]) % PEER_TCP_RECENT;
}
/* A frame of c's with sequence number seq, c's rcv_nxt, flags and len bytes of
 * whatever the buffer holds (zeros where checksums must be good); NULL, counted,
 * when memory is out.  SYNs carry the options. */
struct xk_msg *peer_tcp_frame(struct peer_tcp *t, const struct peer_tcp_conn *c, uint32_t seq, uint8_t flags, uint32_t len);
/* Behind what waits on the wire, in a later unit of work. */
static inline void peer_tcp_later(struct peer_tcp *t, struct xk_msg *m)
{
	if (m != NULL)
		xk_msgq_put(&t->mr->q, m);
	xk_task_ready(&t->mr->task);
}
static inline void peer_tcp_list(struct peer_tcp *t, struct peer_tcp_conn *c)
{
	if (c->listed)
		return;
	c->listed = true;
	c->next = NULL;
	if (t->first == NULL)
		t->first = c;
	else
		t->last->next = c;
	t->last = c;
}

#endif
