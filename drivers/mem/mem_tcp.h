/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mem_tcp.h - what the two simulated TCP peers share: a segment as the stack
 * pushed it, a connection, frames made from its template.
 *
 * Addresses and ports are named as the stack sees them: local is the stack's,
 * remote the peer's.  A peer offers a segment size and a window scale and no
 * other option.
 */
#ifndef XK_MEM_TCP_H
#define XK_MEM_TCP_H

#include "drivers/mem/mem_priv.h"

#define MEM_TCP_FIN 0x01u
#define MEM_TCP_SYN 0x02u
#define MEM_TCP_RST 0x04u
#define MEM_TCP_PSH 0x08u
#define MEM_TCP_ACK 0x10u

struct mem_tcp_seg {
	struct xk_key key;               /* of the connection: a struct xk_flowkey */
	uint32_t seq, ack, len;
	uint16_t wnd, mss;               /* mss: the option, 536 without it */
	uint8_t  flags, wscale;          /* wscale: the option, 255 without it */
};

enum mem_tcp_state { MEM_TCP_NEW, MEM_TCP_SYN_SENT, MEM_TCP_OPEN, MEM_TCP_FIN_SENT, MEM_TCP_DONE };

struct mem_tcp_conn {
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
	struct mem_tcp_conn *next;       /* of that list */
	uint8_t  hdr[XK_CACHELINE] XK_ALIGNED;   /* template: link, IP, TCP without options; of a bare ACK */
	uint32_t sum;                    /* of a bare ACK's pseudo-header and template */
} XK_ALIGNED;

#define MEM_TCP_RECENT 32u

struct mem_tcp {
	struct mem_rep  *mr;
	struct xk_map    map;
	struct xk_slab   slab;
	struct xk_timer  tick;
	struct mem_tcp_conn *first, *last;
	struct mem_tcp_conn *recent[MEM_TCP_RECENT]; /* sink: whose segments came last, by their ports; or NULL */
	uint32_t         depth;          /* answers that are under way up on this stack */
	uint16_t         window;         /* as it stands in headers */
	uint8_t          wscale, flags;  /* flags: of messages with data */
	uint16_t         hdr_len;        /* link, IP and TCP without options */
	uint8_t          nlead, lead[MEM_LEAD_MAX];  /* source: every segment with data begins so */
	/* source: */
	struct mem_tcp_conn **conn;      /* [nconn] */
	xk_counter *made, *bytes;        /* [nconn] */
	uint64_t   *no;                  /* [nconn] number in the graph */
	uint32_t    nconn, live;
	uint64_t    idle_next;           /* silent peers: the first that was not considered yet */
	struct mem_cold cold;            /* receive buffers, rxbuf = "cold" */
};

/* c->hdr by c's key. */
void mem_tcp_template(const struct mem_tcp *t, struct mem_tcp_conn *c);
/* A segment to nobody who is known: false when there are no silent peers. */
bool mem_tcp_idle_answer(struct mem_tcp *t, const struct mem_tcp_seg *g);
/* What the stack pushed, consumed: false when it is no TCP segment that goes out. */
bool mem_tcp_take(struct xk_sess *s, struct xk_msg *m, struct mem_tcp_seg *g);
int  mem_tcp_new(struct mem_rep *mr, void (*tick)(struct xk_timer *));
/* A connection, bound, its template made; NULL: no memory. */
struct mem_tcp_conn *mem_tcp_conn_new(struct mem_tcp *t, const struct xk_key *k);
void mem_tcp_conn_free(struct mem_tcp *t, struct mem_tcp_conn *c);
static inline struct mem_tcp_conn *mem_tcp_find(struct mem_tcp *t, const struct xk_key *k)
{
	struct xk_mapnode *n = xk_map_resolve(&t->map, k);

	return n != NULL ? xk_container_of(n, struct mem_tcp_conn, map) : NULL;
}
/* Where a connection stands in `recent`, by the low bytes of its ports. */
static inline unsigned mem_tcp_recent(const uint8_t *sport, const uint8_t *dport)
{
	return (sport[1] ^ dport[1]) % MEM_TCP_RECENT;
}
/* A frame of c's with sequence number seq, c's rcv_nxt, flags and len bytes of
 * whatever the buffer holds (zeros where checksums must be good); NULL, counted,
 * when memory is out.  SYNs carry the options. */
struct xk_msg *mem_tcp_frame(struct mem_tcp *t, const struct mem_tcp_conn *c, uint32_t seq, uint8_t flags, uint32_t len);
/* Behind what waits on the wire, in a later unit of work. */
static inline void mem_tcp_later(struct mem_tcp *t, struct xk_msg *m)
{
	if (m != NULL)
		xk_msgq_put(&t->mr->q, m);
	xk_task_ready(&t->mr->task);
}
static inline void mem_tcp_list(struct mem_tcp *t, struct mem_tcp_conn *c)
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
