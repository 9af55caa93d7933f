/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp.h - what those above TCP may know beyond xk_stream.h.
 *
 * To open: remote { host, port }, and if wanted local { port } or
 * { host, port }; port ANY or absent chooses one.  To enable: { port } or
 * { host, port }.  Pieces are pushed in that order, as for UDP.
 */
#ifndef TCP_H
#define TCP_H

#include "protocols/tcp/tcp_state.h"
#include "runtime/upi/xk_stream.h"

#define TCP_CTL(n) (766 * 1000 + (n))
/* Session operations; values are host order. */
#define TCP_CTL_INFO       TCP_CTL(1)   /* out: struct tcp_snapshot */
#define TCP_CTL_NODELAY    TCP_CTL(2)   /* in uint32_t: 1 switches Nagle's algorithm off */
#define TCP_CTL_KEEPALIVE  TCP_CTL(3)   /* in: struct tcp_keepalive */
#define TCP_CTL_USER_TIMEOUT TCP_CTL(4) /* in uint32_t ms, 0: the node's (RFC 5482, local half) */
#define TCP_CTL_URGENT     TCP_CTL(5)   /* the last byte pushed so far is urgent (RFC 6093) */
#define TCP_CTL_LINGER     TCP_CTL(6)   /* in uint32_t: 1: xk_close resets instead of finishing */
#define TCP_CTL_RCVBUF     TCP_CTL(7)   /* in uint32_t: bytes; never takes back what was offered */
#define TCP_CTL_SNDBUF     TCP_CTL(8)   /* in uint32_t: bytes */
#define TCP_CTL_MAXSEG     TCP_CTL(9)   /* in uint32_t: a smaller segment than the path's */
#define TCP_CTL_FIN_WAIT2  TCP_CTL(11)  /* in uint32_t ms: how long FIN-WAIT-2 lasts when nobody holds it */
#define TCP_CTL_CORK       TCP_CTL(10)  /* in uint32_t: 1 sends full segments only, 0 the rest, too */
/* Node operation (any replica, inside its VP): sessions of this VP by state. */
#define TCP_CTL_STATES     TCP_CTL(20)  /* out: uint32_t[TCP_S_COUNT] */
/* The same: buffers of new sessions, to receive and to send. */
#define TCP_CTL_BUFFERS    TCP_CTL(21)  /* out: uint32_t[2], bytes */
/* Node operation, for new connections to a listening port: one stands when its first
 * bytes come, or anything after ms.  0 ends that.  XK_E_NOSPC: for too many ports. */
#define TCP_CTL_DEFER      TCP_CTL(22)  /* in: struct tcp_defer */
/* Of one replica, inside its VP: what the next xk_open there begins with, whose SYN shows it. */
#define TCP_CTL_OPEN_WITH  TCP_CTL(23)  /* in: struct tcp_open_with */
/* Node operation: largest segment that a listening port announces, below what the path takes; 0: that.
 * XK_E_NOSPC: for too many ports. */
#define TCP_CTL_LISTEN_MSS TCP_CTL(24)  /* in: struct tcp_listen_mss */
/* The same: receive buffer of the connections that come there, from the SYN-ACK on; 0: as the node has it. */
#define TCP_CTL_LISTEN_RCVBUF TCP_CTL(25) /* in: struct tcp_listen_rcvbuf */

struct tcp_defer { uint16_t port; uint32_t ms; };
struct tcp_open_with { uint32_t mss, rcv_buf, snd_buf; /* 0: as the node has it */ };
struct tcp_listen_mss { uint16_t port; uint32_t mss; };
struct tcp_listen_rcvbuf { uint16_t port; uint32_t bytes; };
struct tcp_keepalive { uint32_t on, idle_ms, interval_ms, count; /* 0: as the node has it */ };

/* A snapshot; names after RFC 9293 and tcp(7). */
struct tcp_snapshot {
	uint8_t  state, ca_state;            /* enum tcp_state; 0 open, 1 disorder, 2 cwr, 3 recovery, 4 loss */
	uint8_t  snd_wscale, rcv_wscale;
	bool     timestamps, sack, ecn, wscale;
	uint32_t mss, rmss;                  /* largest segment sent; the peer's option */
	uint32_t snd_una, snd_nxt, snd_wnd, rcv_nxt, rcv_wnd, iss, irs;
	uint32_t cwnd, ssthresh;             /* bytes */
	uint32_t srtt_us, rttvar_us, rto_ms, backoff;
	uint32_t unacked, sacked, lost, retrans; /* segments, as Linux counts them */
	uint32_t queued, ooo_bytes, ooo_segments;
	uint32_t rcv_buf, snd_buf;           /* bytes, as they are now */
	uint64_t retransmits, bytes_acked, bytes_received, segs_out, segs_in;
};

#endif
