/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_fixture.h - a host with TCP in a test: segments in, segments out, byte by byte.
 *
 *      app       records what a stream tells its holder
 *       |
 *      tcp   icmp
 *        \   /
 *         ip     10.0.0.1/8
 *         |
 *         hl     pf_hostlink
 *
 * Segments are built and read here with code of our own, so that nothing is tested
 * against itself.
 * Invariant: tf_down leaves nothing allocated, or fails the test.
 */
#ifndef TCP_FIXTURE_H
#define TCP_FIXTURE_H

#include "protocols/tcp/sess/tcp_sess.h"
#include "tests/protocols/net_fixture.h"

#define TF_PORT 80               /* enabled by tf_listen */
#define TF_PEER_PORT 40000

/* NULL parameters: defaults. */
struct tf_conf { unsigned nvps; const char *hl, *ip, *tcp; };
void tf_up(struct pf *f, const struct tf_conf *c);
bool tf_up_try(struct pf *f, const struct tf_conf *c);
/* One VP, these parameters of tcp. */
void tf_up1(struct pf *f, const char *tcp);
void tf_down(struct pf *f);
void tf_listen(struct pf *f);

/* What app was told since tf_up; switches that a test may change. */
#define TF_EVENTS 16
struct tf_app {
	struct { uint32_t what; int32_t err; struct xk_sess *s; } event[TF_EVENTS];
	unsigned nevents, open_dones, close_dones;
	struct xk_sess *kept[80];        /* by open_done; the test closes them */
	unsigned nkept, keep_most;       /* keep_most: 4 (default) */
	int      answer;                 /* of open_done: 0, or a refusal */
	bool     keep;                   /* what open_done is told of (default) */
	bool     close_in_event;         /* xk_close from inside any event */
	bool     close_at_end;           /* xk_close from inside close_done */
	const char *greet;               /* pushed from inside open_done, and OPENED */
	bool     greet_all;              /* ... which is all there is to say */
	uint8_t  got[1 << 17];
	uint32_t ngot;
};
extern struct tf_app tf_app;
unsigned tf_events(uint32_t what);       /* how many of this kind */

/* A segment; addresses and ports 0: the usual ones. */
struct tf_seg {
	uint32_t src, dst;
	uint16_t sport, dport;
	uint32_t seq, ack;
	uint16_t flags, wnd, urp;
	const uint8_t *opt; uint32_t nopt;   /* a multiple of 4 */
	const void *data; uint32_t len;
};
uint32_t tf_datagram(uint8_t *out, const struct tf_seg *s);
/* It arrives at ip on VP 0 (or vp); settles. */
void tf_in(struct pf *f, const struct tf_seg *s);
void tf_in_vp(struct pf *f, unsigned vp, const struct tf_seg *s);

/* A segment that left, options as read. */
struct tf_out {
	uint32_t src, dst, seq, ack, len;
	uint16_t sport, dport, flags, wnd, urp;
	int      mss, wscale;                /* -1: none */
	bool     sackok, ts;
	uint32_t tsval, tsecr, nopt;
	const uint8_t *data;
};
unsigned tf_nout(struct pf *f);
/* The i-th since the last tf_forget; checksums are checked.  -1: the last. */
struct tf_out tf_out(struct pf *f, int i);
void tf_forget(struct pf *f);

/* Options of a SYN: mss, and as wanted sackOK, timestamps, wscale; returns the length. */
uint32_t tf_syn_opts(uint8_t *p, unsigned mss, bool sackok, const uint32_t *tsval, int wscale);
uint32_t tf_ts_opts(uint8_t *p, uint32_t tsval, uint32_t tsecr);

/* As app: opens towards NF_PEER:rport from lport (0: any). */
struct xk_sess *tf_open(struct pf *f, uint16_t rport, uint16_t lport, int *err);
/* The peer's SYN, the answer, its ACK: a session that app keeps.  isn of the peer: 1000. */
struct xk_sess *tf_accept(struct pf *f, uint16_t sport, struct tf_out *synack);
/* A graph, made by tf_up1, with such a session of TF_PEER_PORT and nothing noted; and its end with a reset. */
struct xk_sess *tf_up_accepted(struct pf *f, const char *tcp, struct tf_out *synack);
void tf_down_reset(struct pf *f, struct xk_sess *s);
/* An active open that the peer has accepted; its isn: 5000. */
struct xk_sess *tf_connect(struct pf *f, struct tf_out *syn);
void tf_push(struct pf *f, struct xk_sess *s, const void *bytes, uint32_t n);
int  tf_control(struct pf *f, struct xk_sess *s, unsigned op, void *buf, unsigned len);
void tf_close(struct pf *f, struct xk_sess *s);
unsigned tf_state(const struct xk_sess *s);
/* Sessions of VP 0 in that state, as the node says. */
uint32_t tf_states(struct pf *f, unsigned state);
/* Drops of tcp since the last of these: exactly one, for that reason. */
void tf_only_drop(struct pf *f, const char *reason);

#endif
