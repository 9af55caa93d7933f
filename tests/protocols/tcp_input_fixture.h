/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_input_fixture.h - a connection that is a control block and nothing else, and the
 * segments that come in, for the tests of TCP's input.
 *
 * Both sequence spaces begin shortly before their wrap.
 */
#ifndef TCP_INPUT_FIXTURE_H
#define TCP_INPUT_FIXTURE_H

#include <string.h>

#include "protocols/tcp/core/tcp_core.h"
#include "tests/support/xk_test.h"

#define RCV  0xffffffe0u         /* rcv_nxt */
#define SND  0xfffffff0u         /* snd_una */
#define WIN  1000u
#define NOW  100000u

static struct tcp_tune tune;
static struct tcp_cb cb;
static struct xk_rand rnd;
static xk_counter count[TCP_COUNT_N];
static struct tcp_env env;
static struct tcp_acts a;

static inline void at(uint32_t ms)
{
	env = (struct tcp_env){ (xk_ns)ms * XK_MS, ms, ms * 1000, &rnd, count };
}

/* A connection in `state` with 100 bytes in flight; a FIN behind them where the
 * state has one. */
static inline void fresh(unsigned state)
{
	bool fin = state == TCP_S_FIN_WAIT_1 || state == TCP_S_CLOSING || state == TCP_S_LAST_ACK ||
		   state == TCP_S_FIN_WAIT_2 || state == TCP_S_TIME_WAIT;

	memset(&cb, 0, sizeof cb);
	memset(count, 0, sizeof count);
	tune = (struct tcp_tune){ .rcv_buf = WIN, .snd_buf = 32768, .min_mss = 88, .use_wscale = true,
		.timestamps = true, .sack = true, .dsack = true, .nagle = true, .newreno = true, .initial_window = 10,
		.ack_every = 2, .delack = 40, .rto_init = 1000, .rto_min = 200, .rto_max = 60000, .retries = 15,
		.persist_min = 200, .persist_max = 60000, .challenge_limit = 100, .msl = 30000, .fin_wait2 = 60000,
		.rfc6191 = true, .cc = TCP_CC_RENO };
	xk_rand_init(&rnd, 7, state);
	at(NOW);
	cb.tune = &tune;
	cb.fin_wait2 = tune.fin_wait2;
	cb.cc = &tcp_cc_table[TCP_CC_RENO];
	cb.state = (uint8_t)state;
	cb.path_mss = cb.peer_mss = cb.mss = 1460;
	cb.snd_buf = tune.snd_buf;
	cb.rcv_buf = WIN;
	tcp_rec_init(&cb);
	cb.irs = RCV - 1;
	cb.iss = SND - 1;
	cb.rcv_nxt = cb.rcv_acked = cb.rcv_up = RCV;
	cb.rcv_adv = RCV + WIN;
	cb.snd_una = SND;
	cb.snd_wnd = cb.max_wnd = 5000;
	cb.snd_wl1 = RCV;
	cb.snd_wl2 = SND;
	cb.snd_end = SND + 100;
	cb.snd_nxt = cb.snd_max = SND + 100 + fin;
	cb.flags = fin ? TCP_F_FIN_QUEUED | TCP_F_FIN_SENT : 0;
	if (state == TCP_S_FIN_WAIT_2 || state == TCP_S_TIME_WAIT)
		cb.snd_una = cb.snd_wl2 = cb.snd_max;
	if (state == TCP_S_SYN_SENT || state == TCP_S_SYN_RCVD) {
		cb.snd_una = cb.iss;
		cb.snd_nxt = cb.snd_max = cb.snd_end = cb.iss + 1;
		cb.flags = 0;
	}
	if (state == TCP_S_CLOSE_WAIT || state == TCP_S_CLOSING || state == TCP_S_LAST_ACK || state == TCP_S_TIME_WAIT)
		cb.flags |= TCP_F_FIN_RCVD;
}

static inline struct tcp_seg seg(uint16_t flags, uint32_t seq, uint32_t ack, uint32_t len)
{
	return (struct tcp_seg){ .seq = seq, .ack = ack, .len = len, .wnd = 5000, .flags = flags, .hlen = 20 };
}

static inline void in(struct tcp_seg g)
{
	/* What was done so far, tcp_act would have sent. */
	if (cb.flags & TCP_F_ACK_NOW) {
		cb.flags &= ~(TCP_F_ACK_NOW | TCP_F_ACK_LATER);
		cb.unacked_full = 0;
		cb.rcv_acked = cb.rcv_nxt;
	}
	tcp_input(&cb, &env, &g, &a);
}

static inline bool dropped(unsigned reason)
{
	return (a.acts & TCP_A_DROP) && a.drop == reason;
}

/* An acknowledgement and nothing else; silence. */
static inline bool only_ack(void)   { return a.acts == (TCP_A_DROP | TCP_A_ACK); }
static inline bool silent(void)     { return a.acts == TCP_A_DROP; }
static inline bool is_reset(uint32_t seq)
{
	return (a.acts & TCP_A_RESET) && a.rst_seq == seq && a.rst_flags == TCP_RST;
}

/* Takes what tcp_act would: bytes in order and the FIN. */
static inline void take(void)
{
	if (a.acts & TCP_A_DATA)
		cb.rcv_nxt += a.take;
	if ((a.acts & TCP_A_FIN) && !(a.acts & TCP_A_OOO)) {
		cb.rcv_nxt++;
		tcp_input_fin(&cb, &a);
	}
}

static inline struct tcp_seg stamped(uint16_t flags, uint32_t seq, uint32_t len, uint32_t tsval)
{
	struct tcp_seg g = seg(flags, seq, SND, len);

	g.o.have = TCP_O_TS;
	g.o.tsval = tsval;
	return g;
}

#endif
