/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peer_priv.h - what simulated peers share: parts of frames, receive buffers, their parameters'
 * words.
 *
 * A peer is a node below a wire in memory (mem_peer.h).  What it keeps is its replica's own: no
 * lock, no atomic, no clock.
 */
#ifndef XK_PEER_PRIV_H
#define XK_PEER_PRIV_H

#include "drivers/mem/mem_peer.h"
#include "drivers/peer/peer.h"

enum peer_rxbuf { PEER_LIFO, PEER_COLD };
enum peer_csum { PEER_CSUM_IGNORE, PEER_CSUM_NONE, PEER_CSUM_GOOD };
enum peer_place { PEER_PLACE_MAP, PEER_PLACE_HASH };
extern const char *const peer_rxbufs[], *const peer_csums[], *const peer_places[];

/* What both sources have; P(field, type, default, text, ...) makes a row of a schema. */
#define PEER_SOURCE_PARAMS(P) \
	P(to, XK_P_IPV4, NULL, "address that is sent to", .flags = XK_PF_REQUIRED), \
	P(port, XK_P_PORT, "9", "first port that is sent to"), \
	P(ports, XK_P_UINT, "1", "consecutive ports, used in turn", .min = "1", .max = "65535"), \
	P(conns, XK_P_UINT, "1", "connections", .min = "1", .max = "1048576"), \
	P(from_port, XK_P_PORT, "20000", "first port that connections of an address come from"), \
	P(mac, XK_P_MAC, NULL, "link address that frames come from"), \
	P(burst, XK_P_UINT, "0", \
	  "frames of one connection in a unit of work; 0: the graph's burst", .max = "1024"), \
	P(count, XK_P_UINT, "0", "end after so many of all connections together; 0: never"), \
	P(place, XK_P_ENUM, "map", \
	  "connections are on the virtual processor of the graph's map of them, or of the flow hash", \
	  .choices = peer_places), \
	P(lead, XK_P_TEXT, NULL, \
	  "what every payload begins with, at most 8 bytes in hexadecimal; unset: whatever the " \
	  "buffer holds"), \
	P(rxbuf, XK_P_ENUM, "lifo", \
	  "receive buffers last freed first, or cold ones from a circular list", \
	  .choices = peer_rxbufs), \
	P(rxcold, XK_P_SIZE, "0", \
	  "bytes in the circular list of a virtual processor; 0: twice the second-level cache", \
	  .max = "1GiB")

/* ORDER of the names in each descriptor's counts: of datagrams, of TCP. */
enum { PEER_N_SUNK, PEER_N_SUNK_BYTES, PEER_N_MADE };
enum {
	PEER_TCP_N_OPENED, PEER_TCP_N_CLOSED, PEER_TCP_N_SUNK, PEER_TCP_N_SUNK_BYTES, PEER_TCP_N_ACKS,
	PEER_TCP_N_MADE = PEER_TCP_N_SUNK
};
/* Who reflects, and who makes frames at a rate, has one reason to drop. */
enum { PEER_DROP_NOT_REFLECTED = XK_DROP_FIRST, PEER_DROP_MISSED = XK_DROP_FIRST };

/* Answers XK_CTL_MEM_PEER. */
int peer_tell(const struct mem_peer *p, void *buf, unsigned len);

/* Bytes of `lead`, what payloads begin with, into out unless NULL; -1: it is no such text. */
#define PEER_LEAD_MAX 8u
int peer_lead(const char *text, uint8_t *out);
/* Why `lead` does not fit a payload of so many bytes or its checksum, why so many ports are not
 * there; false: all is well. */
bool peer_lead_fault(const char *lead, uint64_t size, unsigned checksum, char *why, size_t n);
bool peer_ports_fault(uint16_t port, uint64_t ports, char *why, size_t n);

/* Answers MEM_ASK_FITS for a payload of `size` bytes behind IP and transport headers. */
int peer_fits(struct mem_fits *f, uint64_t size, uint32_t headers);
/* From rep_start: there is no memory for what so many connections need. */
void peer_no_memory(const struct xk_rep *r, struct xk_errs *e, uint64_t conns);

/* Parts of a template, from the peer to the stack; the first returns its length.  mac: the peer's,
 * all zeros: the usual one. */
uint32_t peer_link_header(const struct mem_state *wire, const uint8_t mac[6], uint8_t *h);
/* total 0: length and checksum are left for later. */
void peer_ip_header(uint8_t *p, const struct xk_flowkey *k, uint32_t total);

/* peer_sink.c: counts a frame and forgets it. */
void peer_sink_push(struct xk_sess *s, struct xk_msg *m);

/* peer_echo.c: m with its ends exchanged, or NULL: it is gone, and counted.  mac as above. */
struct xk_msg *peer_reflect(struct xk_sess *s, struct xk_msg *m, const uint8_t mac[6]);
/* Answers an ARP request, inside the wire's VP; drops anything else. */
void peer_answer_arp(struct xk_sess *s, struct xk_msg *m, const uint8_t mac[6]);

/* peer_cold.c: receive buffers that come from memory, not from cache. */
struct peer_cold { struct xk_msg **slot; uint32_t n, pos; };
/* bytes 0: twice the second-level cache. */
int  peer_cold_fill(struct peer_cold *c, uint64_t bytes, uint32_t frame);
void peer_cold_empty(struct peer_cold *c);
/* Says so where lists of several VPs would share a cache. */
void peer_cold_warn(struct xk_node *n);

/* The buffer freed longest ago, the newest one takes its place. */
static inline struct xk_msg *peer_cold_swap(struct peer_cold *c, struct xk_msg *fresh)
{
	struct xk_msg *old = c->slot[c->pos];

	c->slot[c->pos] = fresh;
	if (++c->pos == c->n)
		c->pos = 0;
	return old;
}

#endif
