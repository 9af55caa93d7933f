/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_tcp_push.c - the short ways of full segments down and of an acknowledgement up
 * are told from the long ones by nothing: two equal worlds are driven by the same
 * script, in one of them output is held while bytes are pushed or written and go the long
 * way afterwards, and acknowledgements carry options that nobody predicts.
 *
 * Scripts are made by a generator: pushes and writes of all kinds, acknowledgements of some or
 * all, duplicates, windows, data, silence.  Every header that leaves and the whole
 * control block at the end must agree.
 */
#include <stdlib.h>
#include <string.h>

#include "protocols/stream/stream_app.h"
#include "tests/protocols/tcp_fixture.h"
#include "tests/support/xk_test.h"
#include "runtime/upi/xk_inline.h"

#define STEPS 60u
#define OUTS  512u

struct world {
	struct tf_out out[OUTS];
	uint32_t      sum[OUTS];         /* of the payload */
	unsigned      n;
	uint64_t      took;
	struct tcp_cb cb;
};
static struct world one, two;
static struct pf f;
static struct xk_sess *s;
static uint8_t bytes[1 << 14];
static bool held;                        /* the world of long ways */
static uint64_t took;                    /* bytes written */

static struct tcp_cb *cb(void) { return tcp_cb(tcp_sess(s)); }

/* ---- one step ------------------------------------------------------------------------- */

static void send(uint32_t n, bool writes)
{
	struct xk_msg *m;

	pf_enter(&f, 0);
	if (tcp_is_compressed(tcp_sess(s)))
		CU_ASSERT_FATAL(tcp_wake(tcp_sess(s)));
	if (tcp_room(cb()) != 0) {
		cb()->flags |= held ? TCP_F_OUTPUT : 0;
		if (writes) {
			took += stream_write_some(s, bytes, n);
		} else {
			m = xk_msg_new(n);
			memcpy(m->data, bytes, n);
			xk_push(s, m);
		}
		cb()->flags &= ~TCP_F_OUTPUT;
		if (held)
			tcp_output(tcp_sess(s));
	}
	pf_leave(&f, 0);
	pf_settle(&f);
}

static void push(uint32_t n) { send(n, false); }

static void in(uint32_t ack, uint16_t wnd, uint32_t n)
{
	uint8_t opt[16];                 /* the last four: NOPs */
	uint32_t len = cb()->flags & TCP_F_TS ? tf_ts_opts(opt, cb()->ts_recent, (uint32_t)(pf_now(&f) / XK_MS) + cb()->ts_off) : 0;

	memset(opt + len, 1, 4);
	len += held && n == 0 ? 4 : 0;
	tf_in(&f, &(struct tf_seg){ .sport = TF_PEER_PORT, .seq = cb()->rcv_nxt, .ack = ack, .flags = TCP_ACK,
				    .wnd = wnd, .opt = opt, .nopt = len, .data = bytes, .len = n });
}

static void more(uint32_t v)
{
	CU_ASSERT_EQUAL(tf_control(&f, s, XK_STREAM_MORE, &v, sizeof v), 0);
}

/* One piece of bytes in three messages. */
static void push_in_parts(struct xk_rand *r)
{
	more(XK_STREAM_MORE_FOLLOW);
	push(cb()->mss);
	push(1 + (uint32_t)xk_rand_below(r, 2u * cb()->mss));
	more(XK_STREAM_MORE_LAST);
	push(1 + (uint32_t)xk_rand_below(r, cb()->mss));
}

static void step(struct xk_rand *r)
{
	unsigned what = (unsigned)xk_rand_below(r, 21);
	uint32_t flight = cb()->snd_max - cb()->snd_una;

	if (what < 7)
		push(cb()->mss);
	else if (what < 8)
		push(1 + (uint32_t)xk_rand_below(r, 3u * cb()->mss));
	else if (what < 11)
		in(cb()->snd_max, 60000, 0);
	else if (what < 13)
		in(cb()->snd_una + flight / 2, (uint16_t)(2000 + xk_rand_below(r, 60000)), 0);
	else if (what < 14)
		in(cb()->snd_una, 60000, 1 + (uint32_t)xk_rand_below(r, 700));
	else if (what < 15)
		in(cb()->snd_una, 60000, 0);
	else if (what < 16)
		push_in_parts(r);
	else if (what < 20)
		send(1 + (uint32_t)xk_rand_below(r, (what & 1 ? 100 : 9u * cb()->mss)), true);
	else
		pf_run(&f, (xk_ns)(1 + xk_rand_below(r, 300)) * XK_MS);
}

/* ---- one world -------------------------------------------------------------------------- */

static void begin(const char *tcp, bool stamps, bool ecn)
{
	uint32_t tsval = 77, n;
	uint8_t opt[40];
	struct tf_out o;

	tf_up1(&f, tcp);
	tf_listen(&f);
	n = tf_syn_opts(opt, 600, true, stamps ? &tsval : NULL, -1);
	tf_in(&f, &(struct tf_seg){ .sport = TF_PEER_PORT, .seq = 1000, .opt = opt, .nopt = n, .wnd = 60000,
				    .flags = TCP_SYN | (ecn ? TCP_ECE | TCP_CWR : 0) });
	o = tf_out(&f, -1);
	n = stamps ? tf_ts_opts(opt, tsval, o.tsval) : 0;
	tf_in(&f, &(struct tf_seg){ .sport = TF_PEER_PORT, .seq = 1001, .ack = o.seq + 1, .flags = TCP_ACK, .wnd = 60000,
				    .opt = opt, .nopt = n });
	CU_ASSERT_EQUAL_FATAL(tf_app.nkept, 1);
	s = tf_app.kept[0];
	push(1);                         /* awake */
	tf_forget(&f);
}

static void record(struct world *w)
{
	for (unsigned i = 0; i < tf_nout(&f) && w->n < OUTS; i++, w->n++) {
		w->out[w->n] = tf_out(&f, (int)i);
		w->sum[w->n] = xk_csum_fold(xk_csum(w->out[w->n].data, w->out[w->n].len, 0));
		w->out[w->n].data = NULL;
	}
	tf_forget(&f);
}

static void run(struct world *w, const char *tcp, bool stamps, bool ecn, uint64_t seed)
{
	struct xk_rand r;

	memset(w, 0, sizeof *w);
	took = 0;
	xk_rand_init(&r, seed, 1);
	begin(tcp, stamps, ecn);
	for (unsigned i = 0; i < STEPS; i++) {
		if (tcp_is_compressed(tcp_sess(s)))
			push(1);
		if (cb()->state != TCP_S_ESTABLISHED)
			break;
		step(&r);
		record(w);
	}
	if (!tcp_is_compressed(tcp_sess(s)))
		memcpy(&w->cb, cb(), sizeof w->cb);
	w->took = took;
	memset(&w->cb.sq, 0, offsetof(struct tcp_sendq, bytes)); /* pointers */
	memset(&w->cb.walk, 0, sizeof w->cb.walk);
	w->cb.train = 0;                 /* asked when it is needed */
	w->cb.train_whole = false;
	w->cb.tune = NULL;
	w->cb.cc = NULL;
	w->cb.reass = NULL;
	/* Begins anew with each recovery. */
	if (w->cb.ca_state != TCP_CA_RECOVERY)
		w->cb.prr_out = 0;
	tf_control(&f, s, XK_STREAM_ABORT, NULL, 0);
	tf_close(&f, s);
	tf_down(&f);
}

static bool same(const struct tf_out *a, const struct tf_out *b)
{
	return a->seq == b->seq && a->ack == b->ack && a->len == b->len && a->flags == b->flags && a->wnd == b->wnd &&
	       a->ts == b->ts && a->tsval == b->tsval && a->tsecr == b->tsecr && a->nopt == b->nopt;
}

static void compare(const char *tcp, bool stamps, bool ecn)
{
	unsigned long rounds = xk_test_rounds(30);

	for (uint32_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (uint8_t)(i * 7 + i / 256);
	for (unsigned long seed = 1; seed <= rounds; seed++) {
		held = false;
		run(&one, tcp, stamps, ecn, seed);
		held = true;
		run(&two, tcp, stamps, ecn, seed);
		CU_ASSERT_EQUAL_FATAL(one.n, two.n);
		CU_ASSERT_EQUAL(one.took, two.took);
		for (unsigned i = 0; i < one.n; i++)
			CU_ASSERT_FATAL(same(&one.out[i], &two.out[i]));
		CU_ASSERT_FATAL(memcmp(one.sum, two.sum, one.n * sizeof one.sum[0]) == 0);
		CU_ASSERT_FATAL(memcmp(&one.cb, &two.cb, sizeof one.cb) == 0);
	}
}

/* ---- tests ------------------------------------------------------------------------------ */

static void without_options_nothing_tells_the_short_ways(void)
{
	compare("timestamps=false; sack=false; use_wscale=false; ecn=false", false, false);
}

static void with_timestamps_nothing_tells_the_short_ways(void)
{
	compare("ecn=false", true, false);
}

static void with_ecn_and_probes_nothing_tells_the_short_ways(void)
{
	compare("tlp=true; rack=true", true, true);
}

static void with_small_buffers_nothing_tells_the_short_ways(void)
{
	compare("snd_buf=2KiB; rcv_buf=2KiB; cc=none", true, false);
}

static void without_nagle_or_checksum_nothing_tells_the_short_ways(void)
{
	compare("nagle=false; cc=reno; user_timeout=20s", false, true);
}

int main(void)
{
	CU_TestInfo tests[] = {
#define T(t) { #t, t }
		T(without_options_nothing_tells_the_short_ways),
		T(with_timestamps_nothing_tells_the_short_ways),
		T(with_ecn_and_probes_nothing_tells_the_short_ways),
		T(with_small_buffers_nothing_tells_the_short_ways),
		T(without_nagle_or_checksum_nothing_tells_the_short_ways),
		CU_TEST_INFO_NULL,
	};
	CU_SuiteInfo suites[] = { { "tcp push", NULL, NULL, NULL, NULL, tests }, CU_SUITE_INFO_NULL };

	return xk_test_main(suites);
}
