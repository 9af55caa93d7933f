/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * udp_priv.h - what the files of UDP share.
 *
 *   udp.c         opening, closing, control, the descriptor
 *   udp_input.c   demux, and the sessions that datagrams make
 *   udp_output.c  push
 *   udp_fast.c    both again for the ordinary datagram, and for batches
 */
#ifndef UDP_PRIV_H
#define UDP_PRIV_H

#include "protocols/inet/inet_enable.h"
#include "protocols/inet/inet_sess.h"
#include "protocols/udp/udp.h"
#include "protocols/udp/udp_hdr.h"
#include "runtime/upi/xk_batch.h"
#include "runtime/upi/xk_ddp.h"

struct udp_conf {
	bool     checksum, require_checksum, trust_crc;
	uint64_t idle_timeout, idle_sessions, sessions;
};

#define UDP_DROPS(X) \
	X(SHORT, "short")           X(LENGTH, "bad_length") \
	X(CHECKSUM, "bad_checksum") X(NO_CHECKSUM, "no_checksum") \
	X(PORT_ZERO, "port_zero")   X(SOURCE, "bad_source") \
	X(PORT, "port_unreachable") X(REFUSED, "refused") \
	X(SESSIONS, "too_many_sessions") X(ELSEWHERE, "session_elsewhere") \
	X(TOO_LONG, "too_long")
#define UDP_DROP_ENUM(n, s) UDP_DROP_##n,
enum { UDP_DROP_BASE = XK_DROP_FIRST - 1, UDP_DROPS(UDP_DROP_ENUM) };
#define UDP_PASS (-1)

#define UDP_COUNTS(X) X(REROUTED, "rerouted") X(ERRORS_IN, "icmp_errors_in") X(UNCHECKED, "received_without_checksum") \
	X(TRAINS, "super_segments_out") X(TRUSTED, "checksums_left_out")
#define UDP_COUNT_ENUM(n, s) UDP_COUNT_##n,
enum { UDP_COUNTS(UDP_COUNT_ENUM) };

struct udp_state { struct linger_list linger; };
static inline struct udp_state *udp_state(const struct xk_rep *r) { return r->state; }

struct udp_sess {
	struct xk_sess     s;
	/* The down path's. */
	uint32_t           ports;        /* ours and the peer's, as sent */
	uint32_t           sum;          /* partial: pseudo-header without length, and ports */
	uint16_t           lport, rport; /* host order */
	uint16_t           seg, train;   /* payload of a datagram, 0: each push is one; datagrams that go down as one */
	/* With trust_crc: the most bytes of a datagram that needs no checksum; NULL: all need one, or `ask`: IP does
	 * not know yet. */
	const uint32_t    *whole;
	/* Rarely touched. */
	struct linger_entry linger;
	bool          ask;
};
static inline struct udp_sess *udp_sess(struct xk_sess *s) { return (struct udp_sess *)(void *)s; }

/* udp.c.  A session over lls, whose reference it takes either way; not bound.  NULL with
 * *err. */
struct udp_sess *udp_sess_new(struct xk_rep *r, struct xk_up *up, struct xk_node *type,
			      struct xk_sess *lls, int *err);
/* Binds, and announces unless it is one of several (xk_anywhere): XK_E_EXIST when another VP has
 * the connection. */
int  udp_sess_bind(struct udp_sess *us, const struct xk_key *k, bool announce);

/* udp_input.c */
XK_PLAIN void udp_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m);
void udp_pop(struct xk_sess *s, struct xk_sess *lls, struct xk_msg *m, void *hdr);
void udp_enter(struct xk_rep *r, struct xk_msg *m);

/* Flags that a message from above brings and that must not go down. */
#define UDP_NOT_DOWN (XK_MSG_CSUM | XK_MSG_SUPER | XK_MSG_PARTIAL)
/* udp_output.c */
XK_PLAIN void udp_push(struct xk_sess *s, struct xk_msg *m);
void udp_push_plain(struct xk_sess *s, struct xk_msg *m);
/* Does a CRC protect what us sends, from here to the host that it is for?  Sets whole and ask. */
void udp_ask_way(struct udp_sess *us);
void udp_push_near(struct xk_sess *s, struct xk_msg *m);
void udp_push_nowhere(struct xk_sess *s, struct xk_msg *m);
void udp_push_segments(struct xk_sess *s, struct xk_msg *m);

/* udp_fast.c, which is not in every build */
void udp_fast_push(struct xk_sess *s, struct xk_msg *m);
void udp_fast_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m);
unsigned udp_fast_batch(struct xk_up *up, struct xk_sess *lls, const struct xk_batch *f);
bool udp_fast_payload(const struct xk_sess *s, const uint8_t *frame, uint32_t len,
		      struct xk_payload *p);

#endif
