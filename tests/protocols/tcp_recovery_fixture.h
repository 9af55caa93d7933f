/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_recovery_fixture.h - a sender that is a control block, a queue and a clock, and the
 * acknowledgements that come in, for the tests of loss recovery.
 */
#ifndef TCP_RECOVERY_FIXTURE_H
#define TCP_RECOVERY_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/tcp/core/tcp_core.h"
#include "tests/protocols/proto_fixture.h"
#include "tests/support/xk_test.h"

#define MSS 1000u
#define ISS 0xffffc000u                  /* the wrap lies 16 segments on */

static struct pf f;
static struct tcp_cb cb;
static struct tcp_tune tune;
static xk_counter count[TCP_COUNT_N];
static struct tcp_env e;
static uint32_t first;                   /* number of segment 0 */

/* What went out: segment number, and was it again? */
static struct { uint32_t no; bool again; } sent[4096];
static unsigned nsent;

static inline void later(uint32_t ms)
{
	e.now_ns += (xk_ns)ms * XK_MS;
	e.now += ms;
	e.now_us += ms * 1000;
}

static inline void up(uint32_t flags)
{
	static const struct pf_spec specs[] = {
		{ &pf_hostlink, "hl", NULL, NULL }, { &pf_upper, "up", "hl", "enable=false" }, { 0 },
	};

	pf_up(&f, 1, specs);
	pf_enter(&f, 0);
	memset(&cb, 0, sizeof cb);
	memset(count, 0, sizeof count);
	tune = (struct tcp_tune){
		.cc = TCP_CC_RENO, .abc = true, .abc_limit = 2, .initial_window = 10, .rto_init = 1000,
		.rto_min = 200, .rto_max = 60000, .newreno = true, .limited_transmit = true, .retries = 15,
	};
	e = (struct tcp_env){ .now_ns = 5 * XK_SEC, .now = 5000, .now_us = 5000000, .count = count };
	cb.tune = &tune;
	cb.state = TCP_S_ESTABLISHED;
	cb.flags = flags;
	cb.mss = MSS;
	cb.iss = cb.recover = ISS;
	cb.snd_una = cb.snd_nxt = cb.snd_max = cb.snd_end = first = ISS + 1;
	cb.snd_wnd = cb.max_wnd = 1u << 28;
	tcp_rec_init(&cb);
	nsent = 0;
}

static inline void down(void)
{
	tcp_sendq_free(&cb);
	pf_leave(&f, 0);
	pf_down(&f);
}

static inline void put(unsigned segments)
{
	for (unsigned i = 0; i < segments; i++)
		tcp_sendq_put(&cb, xk_msg_new(MSS));
}

static inline void note(struct xk_msg *m, bool again)
{
	if (nsent < XK_ARRAY_LEN(sent)) {
		sent[nsent].no = (m->kept.seq - first) / MSS;
		sent[nsent].again = again;
	}
	nsent++;
}

/* What tcp_output does, without a network. */
static inline unsigned output(void)
{
	unsigned before = nsent;
	struct xk_msg *m;

	while ((m = tcp_rec_next(&cb, &e)) != NULL) {
		note(m, true);
		tcp_rec_sent(&cb, &e, m, true);
	}
	while (cb.sq.unsent != NULL && tcp_rec_allow(&cb) >= MSS) {
		m = tcp_sendq_cut(&cb, MSS);
		tcp_sendq_sent(&cb, m, cb.snd_max, tcp_stamp(&cb, &e));
		note(m, false);
		cb.snd_max = cb.snd_nxt = cb.snd_max + m->tot;
		tcp_rec_sent(&cb, &e, m, false);
	}
	return nsent - before;
}

static inline uint32_t seq(unsigned segment) { return first + segment * MSS; }

/* Sums of the scoreboard are what the queue says. */
static inline void check(void)
{
	uint32_t sacked = 0, lost = 0, again = 0, segs = 0;

	for (struct xk_msg *m = cb.sq.first; m != cb.sq.unsent; m = m->link) {
		unsigned fl = m->kept.flags;

		sacked += fl & TCP_SQ_SACKED ? m->tot : 0;
		segs += !!(fl & TCP_SQ_SACKED);
		lost += fl & TCP_SQ_LOST ? m->tot : 0;
		again += fl & TCP_SQ_RETRANS ? m->tot : 0;
		CU_ASSERT(!(fl & TCP_SQ_SACKED) || !(fl & (TCP_SQ_LOST | TCP_SQ_RETRANS)));
		CU_ASSERT(!(fl & TCP_SQ_RETRANS) || (fl & TCP_SQ_LOST));
	}
	if (cb.flags & TCP_F_SACK)
		CU_ASSERT_EQUAL(cb.sacked_out, sacked);
	CU_ASSERT_EQUAL(cb.sacked_segs, segs);
	CU_ASSERT_EQUAL(cb.lost_out, lost);
	CU_ASSERT_EQUAL(cb.retrans_out, again);
	CU_ASSERT(cb.cwnd >= cb.mss && cb.cwnd <= TCP_CWND_MAX);
}

static inline void ack_seg(struct tcp_seg *g)
{
	struct tcp_acts a = { 0 };

	g->flags = TCP_ACK;
	tcp_rec_ack(&cb, &e, g, false, &a);
	if (tcp_gt(g->ack, cb.snd_una))
		tcp_input_advance(&cb, &e, g->ack, &a);
	check();
}

/* ACK of all before segment n; then blocks of segments [l, r) in pairs, {0, 0} last. */
static inline void ack(unsigned n, const unsigned (*b)[2])
{
	struct tcp_seg g = { .ack = seq(n) };

	for (; b != NULL && (*b)[1] != 0; b++, g.o.nsack++) {
		g.o.have |= TCP_O_SACK;
		g.o.sack[g.o.nsack].l = seq((*b)[0]);
		g.o.sack[g.o.nsack].r = seq((*b)[1]);
	}
	ack_seg(&g);
}
#define B(...) (const unsigned[][2]){ __VA_ARGS__, { 0, 0 } }

static inline void ack_ts(unsigned n, uint32_t tsecr)
{
	struct tcp_seg g = { .ack = seq(n), .o = { .have = TCP_O_TS, .tsecr = tsecr } };

	ack_seg(&g);
}

#endif
