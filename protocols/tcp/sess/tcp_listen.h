/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_listen.h - what the passive side of TCP shares within itself.
 *
 *   tcp_listen.c    LISTEN and CLOSED
 *   tcp_accept.c    the session at the end of a handshake
 *   tcp_port.c      what a listening port has of its own
 *   tcp_syncache.c  handshakes that wait for their last step
 *   tcp_cookie.c    handshakes that wait in the network (RFC 4987)
 */
#ifndef TCP_LISTEN_H
#define TCP_LISTEN_H

#include "protocols/tcp/sess/tcp_sess.h"

/* A segment for no session: m has its header in front. */
struct tcp_arrival {
	struct xk_rep        *r;
	struct xk_sess       *lls;       /* NULL: by way of another VP */
	const struct tcp_seg *g;
	const struct xk_key  *k;
	struct xk_msg        *m;
};

/* What both sides have said in a handshake that lacks its last step. */
struct tcp_half {
	uint32_t iss, irs;
	uint32_t ts_off;                 /* of our timestamps */
	uint32_t window;                 /* offered with the SYN-ACK */
	uint32_t sent_us;                /* when the SYN-ACK went out; 0: not known */
	bool     sent_again, ecn;
	struct tcp_opts peer;            /* of its SYN, but for what is switched off here */
};

/* What we offer in a SYN-ACK to peer's options. */
uint32_t tcp_synack_options(struct xk_rep *r, const struct tcp_half *h, uint16_t mss, uint32_t tsval, uint8_t *p);
uint32_t tcp_synack_window(const struct tcp_arrival *a);
/* How long a connection to this port waits for its first bytes, ms (TCP_CTL_DEFER). */
uint32_t tcp_defer_of(const struct xk_rep *r, uint16_t port);
/* The largest segment that we announce in answer to a SYN. */
uint16_t tcp_listen_mss(const struct tcp_arrival *a);
/* The receive buffer of connections to its port. */
uint32_t tcp_listen_rcvbuf(const struct tcp_arrival *a);

/* Makes the session, tells e's holder, runs the segment through it; consumes a->m.
 * XK_E_AGAIN: not now, the handshake may be kept. */
int  tcp_accept(const struct tcp_arrival *a, const struct xk_enable *e, const struct tcp_half *h);
/* Is there more in it than the acknowledgement that has made the session? */
static inline bool tcp_says_more(const struct tcp_seg *g)
{
	return g->len != 0 || (g->flags & (TCP_FIN | TCP_URG));
}
/* Answers as CLOSED does, drops a->m for that reason. */
void tcp_refuse(const struct tcp_arrival *a, unsigned why);

/* True: the cache knew the connection; a->m is consumed. */
bool tcp_syncache_input(const struct tcp_arrival *a);
/* A SYN to a listener: an entry or a cookie; a->m is consumed. */
void tcp_syncache_syn(const struct tcp_arrival *a);

/* SYN-ACK whose numbers hold all that we must know; a->m is consumed. */
void tcp_cookie_send(const struct tcp_arrival *a);
/* Does this ACK bring back a cookie of ours?  *h is what it held. */
bool tcp_cookie_check(const struct tcp_arrival *a, struct tcp_half *h);

#endif
