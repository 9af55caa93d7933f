/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * storm.h - two hosts of one graph under the virtual clock, clients that ask and servers
 * that answer, and somebody who throws frames at the server.
 *
 *     client      server      stormapp
 *       |           |
 *      tcp1 icmp1  tcp2 icmp2
 *         \ /         \ /
 *         ip1         ip2     10.0.0.1/24, 10.0.0.2/24; the rest of the world is
 *         arp1        arp2    behind 10.0.0.254, which takes what comes and says nothing
 *        link1       link2
 *      (impair)       d2      storm_frame comes in here
 *         d1 --------/
 *
 * A client opens a connection now and then, asks, reads the answer to its end; every byte
 * is compared.  Memory is what the allocators have handed out: blocks, runs of slabs,
 * buffers ever carved.
 *   storm.c      the graph, frames, accounts
 *   storm_app.c  both applications
 * Invariant: storm_down leaves nothing allocated, or fails the test.
 */
#ifndef TESTS_STORM_H
#define TESTS_STORM_H

#include "runtime/base/xk_clock.h"
#include "runtime/upi/xk_proto.h"

#define STORM_CLIENT 0x0a000001u
#define STORM_SERVER 0x0a000002u
#define STORM_PORT   80

/* Pieces of Lua, NULL: nothing: fields of a node ("cap = 16"), a table for impair, more
 * nodes (over hosts[1].ip and so on). */
struct storm_conf {
	const char *arp2, *ip2, *tcp1, *tcp2, *fault, *client, *server, *more, *graph;
	bool        ask_arp;             /* no static neighbours */
};

struct storm_stats {
	uint64_t opened, stood, done, failed, refused;  /* connections */
	uint64_t bytes, wrong;           /* of answers */
	xk_ns    slowest;                /* from open to the end of the answer */
};

/* Applications' own account; both of one node's VPs together. */
struct storm_stats storm_stats(const char *node);
/* The client's interval from now on; 0: no more connections. */
void storm_pace(xk_ns every);
/* The client asks once, from that port. */
void storm_open(uint16_t lport);
/* Byte i of every question and every answer. */
uint8_t storm_byte(uint64_t i);
extern const struct xk_proto xk_proto_stormapp;

void storm_up(const struct storm_conf *c);
/* False where memory is out: everything is gone again. */
bool storm_up_try(const struct storm_conf *c);
void storm_down(void);
void storm_run(xk_ns dt);
xk_ns storm_now(void);
extern struct xk_graph *storm_graph;
struct xk_rep *storm_rep(const char *node);

/* A frame arrives at d2; storm_datagram puts the header of a link in front. */
void storm_frame(const void *bytes, uint32_t n);
void storm_datagram(const void *bytes, uint32_t n);
/* Is told of every datagram that the server sends, NULL: nobody is. */
extern void (*storm_sent)(const uint8_t *datagram, uint32_t n);

/* From now on the k-th frame that either host puts on the wire is refused; 0: none. */
void storm_fail_push(uint64_t k);
uint64_t storm_pushes(void);             /* since then */

uint64_t storm_count(const char *node, const char *counter);
uint64_t storm_dropped(const char *node, const char *reason);   /* NULL: all */
uint64_t storm_live(const char *node);                          /* sessions */
/* Bytes from all allocators. */
uint64_t storm_memory(void);
uint64_t storm_buffer_bytes(void);              /* of these, message buffers */
/* Buffers that are somewhere in the graph now. */
uint64_t storm_buffers(void);

#endif
