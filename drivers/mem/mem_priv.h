/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mem_priv.h - what the files of the in-memory driver share.
 *
 * One implementation stands behind eth_mem and fddi_mem; the link type is a
 * row of a table.  Everything per frame is the replica's own: no lock, no
 * atomic, no clock.
 */
#ifndef XK_MEM_DRIVER_PRIV_H
#define XK_MEM_DRIVER_PRIV_H

#include "drivers/mem/mem.h"
#include "runtime/classify/xk_classify.h"
#include "runtime/upi/xk_node.h"
#include "runtime/vp/xk_vp.h"

#define MEM_BURST 32u            /* most frames xk_input takes at once */

enum mem_peer { MEM_LOOP, MEM_SINK, MEM_SOURCE, MEM_ECHO, MEM_TCP_SINK, MEM_TCP_SOURCE };
enum mem_rxbuf { MEM_LIFO, MEM_COLD };
enum mem_csum { MEM_CSUM_IGNORE, MEM_CSUM_NONE, MEM_CSUM_GOOD };
enum mem_place { MEM_PLACE_MAP, MEM_PLACE_HASH };

/* How frames of a link type look. */
struct mem_link {
	enum xk_link type;
	uint32_t     header;      /* bytes before the network header */
	uint32_t     mac;         /* offset of the destination address */
};

struct mem_conf {
	unsigned peer, classifier;
	uint64_t mtu;
	uint8_t  mac[6], peer_mac[6];
	char    *wire;
	bool     copy, mix;
	uint64_t queue;
	/* peer = "source" */
	uint64_t conns, size, burst, count, rate, ring, rxcold, ports;
	uint32_t from, to;
	uint16_t from_port, port;
	unsigned checksum, rxbuf, place;
	char    *lead;
	/* peer = "tcp_sink", "tcp_source" */
	uint64_t window, ack_every, idle;
	uint16_t idle_port;
};

#define MEM_LEAD_MAX 8u
/* Bytes of `lead`, into out unless NULL; -1: it is no such text. */
int mem_lead(const char *text, uint8_t *out);

#define MEM_DROPS(X) \
	X(QUEUE_FULL, "queue_full")       /* the other end's receive queue is at its cap */ \
	X(NOBODY, "nobody_there")         /* no station on the wire has that address */ \
	X(TOO_LONG, "too_long")           /* longer than the link's largest frame */ \
	X(STOPPED, "stopped")             /* the other end has stopped */ \
	X(NOT_REFLECTED, "not_reflected") /* the reflector does not know what to answer */ \
	X(MISSED, "missed")               /* came while the receive ring was full; there was no frame yet */

enum {
	MEM_DROP_BASE = XK_DROP_FIRST - 1,
#define X(id, text) MEM_DROP_##id,
	MEM_DROPS(X)
#undef X
};

enum { MEM_N_SUNK, MEM_N_SUNK_BYTES, MEM_N_MADE, MEM_N_COPIES, MEM_N_ACKS, MEM_N_OPENED, MEM_N_CLOSED };

/* Node state, written by init only. */
struct mem_state {
	const struct mem_link *link;
	struct xk_node        *peer;      /* the other end of the wire, itself, or NULL */
	struct xk_vp          *reader;    /* the device's I/O thread, or NULL: each VP reads it */
	uint32_t               frame_max;
	uint8_t                mac[6];
};

struct mem_gen;
struct mem_tcp;

/* Replica state. */
struct mem_rep {
	struct xk_task   task;            /* passes `q` up, or makes frames */
	struct xk_rep   *rep;
	struct mem_rep  *peer;            /* the other end on this VP */
	struct xk_msgq   q;               /* frames on the wire towards this end */
	uint32_t         cap;
	uint32_t         frame_max;
	bool             open;            /* between rep_init and rep_stop */
	struct mem_gen  *gen;
	struct mem_tcp  *tcp;
};

static inline const struct mem_conf *mem_conf(const struct xk_rep *r) { return r->conf; }
static inline struct mem_state *mem_state(const struct xk_rep *r) { return r->node->state; }

/* mem_wire.c: the receive queue and the two ends of a wire. */
void mem_rx_put(struct mem_rep *to, struct xk_msg *m);   /* takes m */
unsigned mem_rx_run(struct xk_task *t, unsigned budget);
void mem_loop_push(struct xk_sess *s, struct xk_msg *m);
/* Finds the other end; called from init, so earlier nodes are complete. */
int  mem_wire_join(struct xk_node *n, struct xk_errs *e);

/* For mem_carry.c: is there a station for *m?  m as the other end sees it, copied or not;
 * NULL, counted, when memory is out. */
bool mem_wire_reaches(const struct mem_rep *mr, struct xk_msg **m);
struct xk_msg *mem_wire_cross(struct mem_rep *from, struct xk_msg *m);

/* mem_carry.c: what stands for the others where there are I/O threads. */
void mem_carried_loop_push(struct xk_sess *s, struct xk_msg *m);
void mem_carried_echo_push(struct xk_sess *s, struct xk_msg *m);
void mem_carried_peer_push(struct xk_sess *s, struct xk_msg *m);
void mem_carried_enter(struct xk_rep *r, struct xk_msg *m);
unsigned mem_carried_rx_run(struct xk_task *t, unsigned budget);
unsigned mem_carried_gen_run(struct xk_task *t, unsigned budget);
/* Does what a generator or a simulated peer of r does for a connection whose home is
 * `home` happen on r's VP? */
static inline bool mem_is_here(const struct xk_rep *r, const struct xk_vp *home)
{
	const struct xk_vp *reader = mem_state(r)->reader;

	/* By number: in the domain layers another stage of the same pipeline is asked for. */
	return (reader != NULL ? reader : home)->no == r->vp->no;
}

/* mem_echo.c */
/* The answer to m, or NULL: m is gone, and counted. */
struct xk_msg *mem_echo_reflect(struct xk_sess *s, struct xk_msg *m);
void mem_echo_push(struct xk_sess *s, struct xk_msg *m);
/* Answers an ARP request, drops anything else. */
void mem_echo_arp(struct xk_sess *s, struct xk_msg *m);

/* mem_source.c: templates of this replica's connections. */
int  mem_gen_new(struct mem_rep *mr);
void mem_gen_free(struct mem_rep *mr);
/* Gives back the buffers, cancels the timer: from rep_stop. */
void mem_gen_stop(struct mem_rep *mr);
unsigned mem_gen_run(struct xk_task *t, unsigned budget);
int  mem_gen_check(const struct mem_conf *c, char *why, size_t n);
/* Answers XK_CTL_MEM_COUNTS. */
int  mem_gen_counts(const struct mem_rep *mr, void *buf, unsigned len);

/* Parts of a template, from the peer to the stack; the first returns its length. */
uint32_t mem_link_header(const struct mem_state *st, const struct mem_conf *c, uint8_t *h);
/* total 0: length and checksum are left for later. */
void mem_ip_header(uint8_t *p, const struct xk_flowkey *k, uint32_t total);

/* mem_tcp_sink.c, mem_tcp_source.c, mem_tcp.c */
int  mem_tcp_sink_new(struct mem_rep *mr);
void mem_tcp_sink_push(struct xk_sess *s, struct xk_msg *m);
int  mem_tcp_source_new(struct mem_rep *mr);
void mem_tcp_source_push(struct xk_sess *s, struct xk_msg *m);
unsigned mem_tcp_source_run(struct xk_task *task, unsigned budget);
int  mem_tcp_source_check(const struct mem_conf *c, char *why, size_t n);

/* mem_tcp_idle.c: instead of the task's own, where there are silent peers. */
unsigned mem_tcp_idle_run(struct xk_task *task, unsigned budget);
int  mem_tcp_source_counts(const struct mem_rep *mr, void *buf, unsigned len);
void mem_tcp_stop(struct mem_rep *mr);
void mem_tcp_free(struct mem_rep *mr);

/* mem_cold.c: receive buffers that come from memory, not from cache. */
struct mem_cold { struct xk_msg **slot; uint32_t n, pos; };
int  mem_cold_fill(struct mem_cold *c, uint64_t bytes, uint32_t frame);
void mem_cold_empty(struct mem_cold *c);
uint64_t mem_l2_size(void);

/* The buffer freed longest ago, the newest one takes its place. */
static inline struct xk_msg *mem_cold_swap(struct mem_cold *c, struct xk_msg *fresh)
{
	struct xk_msg *old = c->slot[c->pos];

	c->slot[c->pos] = fresh;
	if (++c->pos == c->n)
		c->pos = 0;
	return old;
}

#endif
