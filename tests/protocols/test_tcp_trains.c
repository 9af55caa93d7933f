/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_tcp_trains.c - what leaves as a super-segment is, cut, what would have left segment by segment.
 *
 * A story of pushes, acknowledgements, losses and an end is told twice, to a host whose link takes
 * super-segments and to one whose link does not; the double cuts them and keeps the frames.  All that may
 * differ is PSH where a train goes over the end of a push.
 */
#include <string.h>

#include "runtime/base/xk_rand.h"
#include "protocols/stream/stream_app.h"
#include "runtime/upi/xk_capture.h"
#include "runtime/upi/xk_inline.h"
#include "tests/protocols/tcp_fixture.h"
#include "tests/support/xk_test.h"

#define FRAMES 4096u

static struct pf f;
static uint8_t bytes[1 << 20];
static struct xk_sess *s;
static struct tf_out sa;                 /* our SYN-ACK */

/* A frame as it left; numbers counted from our first. */
struct frame { uint32_t seq, ack, len, sum; uint16_t flags, wnd, frag, id; uint8_t tos, nopt; };
struct story { struct frame v[FRAMES]; unsigned n; uint64_t trains; };
static struct story single, super;

static void up_over(const char *tcp, const char *hl)
{
	uint8_t opt[40];
	uint32_t tsval = 7;

	for (uint32_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (uint8_t)(i * 7 + i / 256);
	tf_up(&f, &(struct tf_conf){ .tcp = tcp, .hl = hl });
	tf_listen(&f);
	tf_in(&f, &(struct tf_seg){ .sport = TF_PEER_PORT, .seq = 1000, .flags = TCP_SYN | TCP_ECE | TCP_CWR, .wnd = 60000,
				    .opt = opt, .nopt = tf_syn_opts(opt, 1460, true, &tsval, 7) });
	sa = tf_out(&f, -1);
	tf_in(&f, &(struct tf_seg){ .sport = TF_PEER_PORT, .seq = 1001, .ack = sa.seq + 1, .flags = TCP_ACK, .wnd = 60000,
				    .opt = opt, .nopt = tf_ts_opts(opt, 8, sa.tsval) });
	CU_ASSERT_EQUAL_FATAL(tf_app.nkept, 1);
	s = tf_app.kept[0];
	tf_forget(&f);
}

static void up(const char *tcp, bool takes_super) { up_over(tcp, takes_super ? "super=65535" : NULL); }

/* The peer acknowledges all before the n-th byte, and with blocks what lies in [l, r). */
static void ack(uint32_t n, uint16_t wnd, uint16_t flags, uint32_t l, uint32_t r)
{
	uint8_t opt[40];
	uint32_t nopt = tf_ts_opts(opt, 9, sa.tsval);

	if (l < r) {
		opt[nopt] = opt[nopt + 1] = 1;
		opt[nopt + 2] = 5;
		opt[nopt + 3] = 10;
		xk_put_be32(opt + nopt + 4, sa.seq + 1 + l);
		xk_put_be32(opt + nopt + 8, sa.seq + 1 + r);
		nopt += 12;
	}
	tf_in(&f, &(struct tf_seg){ .sport = TF_PEER_PORT, .seq = 1001, .ack = sa.seq + 1 + n, .flags = TCP_ACK | flags,
				    .wnd = wnd, .opt = opt, .nopt = nopt });
}

/* What has left since the last of these. */
static void note(struct story *st)
{
	for (unsigned i = 0; i < tf_nout(&f); i++) {
		struct tf_out o = tf_out(&f, (int)i);
		const uint8_t *ip = o.data - o.nopt - 40;

		CU_ASSERT_FATAL(st->n < FRAMES);
		CU_ASSERT_TRUE(o.len <= 1448);
		st->v[st->n++] = (struct frame){ .seq = o.seq - sa.seq, .ack = o.ack, .len = o.len,
						 .sum = xk_csum(o.data, o.len, 0), .flags = o.flags, .wnd = o.wnd,
						 .frag = xk_be16(ip + 6), .id = xk_be16(ip + 4), .tos = ip[1],
						 .nopt = (uint8_t)o.nopt };
	}
	tf_forget(&f);
}

static void finish(struct story *st)
{
	note(st);
	st->trains = pf_count(&f, "tcp", "super_segments_out");
	tf_close(&f, s);
	tf_down(&f);
}

/* Equal, PSH aside where it says so. */
static void compare(bool psh)
{
	CU_ASSERT_EQUAL(single.trains, 0);
	CU_ASSERT_TRUE(super.trains > 0);
	CU_ASSERT_EQUAL_FATAL(single.n, super.n);
	for (unsigned i = 0; i < single.n; i++) {
		struct frame a = single.v[i], b = super.v[i];

		if (!psh)
			a.flags = (a.flags & (uint16_t)~TCP_PSH) | (b.flags & TCP_PSH);
		CU_ASSERT_EQUAL_FATAL(memcmp(&a, &b, sizeof a), 0);
	}
}

/* ---- stories ------------------------------------------------------------------------------- */

#define TUNE "snd_buf=1048576; quick_acks=0; "

static void one_long_push(struct story *st, bool takes_super)
{
	st->n = 0;
	up(TUNE, takes_super);
	tf_push(&f, s, bytes, 300000);
	for (uint32_t n = 0; n < 300000; n += 1448) {
		note(st);
		ack(n, 60000, 0, 0, 0);
	}
	ack(300000, 60000, 0, 0, 0);
	finish(st);
}

static void a_long_push_is_the_same_to_the_byte(void)
{
	one_long_push(&single, false);
	one_long_push(&super, true);
	compare(true);
}

static void a_close_behind(struct story *st, bool takes_super)
{
	st->n = 0;
	up(TUNE, takes_super);
	/* More than the window takes, so that the FIN waits with the last segments. */
	tf_push(&f, s, bytes, 1448 * 30);
	CU_ASSERT_EQUAL(tf_control(&f, s, XK_STREAM_SHUTDOWN, NULL, 0), 0);
	note(st);
	ack(1448 * 4, 60000, 0, 0, 0);
	note(st);
	ack(1448 * 9, 60000, 0, 0, 0);
	note(st);
	ack(1448 * 20, 60000, 0, 0, 0);
	note(st);
	CU_ASSERT_TRUE(st->v[st->n - 1].flags & TCP_FIN);
	ack(1448 * 30 + 1, 60000, 0, 0, 0);
	finish(st);
}

static void a_fin_goes_with_the_last(void)
{
	a_close_behind(&single, false);
	a_close_behind(&super, true);
	compare(true);
}

static void congestion(struct story *st, bool takes_super)
{
	st->n = 0;
	up(TUNE "ecn=true", takes_super);
	tf_push(&f, s, bytes, 200000);
	for (uint32_t n = 1448; n < 1448 * 40; n += 1448 * 2) {
		note(st);
		ack(n, 60000, n < 1448 * 10 ? TCP_ECE : 0, 0, 0);
	}
	finish(st);
}

static void cwr_is_the_first_ones_and_all_are_ect(void)
{
	unsigned cwr = 0, ect = 0;

	congestion(&single, false);
	congestion(&super, true);
	compare(true);
	for (unsigned i = 0; i < super.n; i++) {
		cwr += (super.v[i].flags & TCP_CWR) != 0;
		ect += super.v[i].tos == 2;
	}
	CU_ASSERT_EQUAL(cwr, 1);
	CU_ASSERT_EQUAL(ect, super.n);
}

static void losses(struct story *st, bool takes_super)
{
	st->n = 0;
	up(TUNE, takes_super);
	tf_push(&f, s, bytes, 500000);
	for (uint32_t n = 0; n < 1448 * 100; n += 1448 * 5)
		ack(n, 60000, 0, 0, 0);
	note(st);
	for (uint32_t k = 2; k < 12; k++) {
		ack(1448 * 100, 60000, 0, 1448 * 101, 1448 * (100 + k));
		note(st);
	}
	for (uint32_t n = 1448 * 112; n < 1448 * 250; n += 1448 * 3) {
		ack(n, 60000, 0, 0, 0);
		note(st);
	}
	finish(st);
}

static void what_is_lost_goes_again_alone(void)
{
	losses(&single, false);
	losses(&super, true);
	compare(true);
}

/* The peer's data has a hole: what we send says so, and has less room for payload. */
static void a_hole(struct story *st, bool takes_super)
{
	uint8_t opt[40];

	st->n = 0;
	up(TUNE, takes_super);
	tf_push(&f, s, bytes, 300000);
	note(st);
	tf_in(&f, &(struct tf_seg){ .sport = TF_PEER_PORT, .seq = 1001 + 5000, .ack = sa.seq + 1, .flags = TCP_ACK, .wnd = 60000,
				    .opt = opt, .nopt = tf_ts_opts(opt, 9, sa.tsval), .data = bytes, .len = 100 });
	for (uint32_t n = 1448 * 4; n < 1448 * 60; n += 1448 * 4) {
		ack(n, 60000, 0, 0, 0);
		note(st);
	}
	finish(st);
}

static void blocks_go_singly(void)
{
	a_hole(&single, false);
	a_hole(&super, true);
	compare(true);
	CU_ASSERT_TRUE(super.v[super.n - 1].nopt > 12);
}

/* Whatever comes, by a seed. */
static void noise(struct story *st, bool takes_super, uint64_t seed)
{
	uint32_t pushed = 0, acked = 0;
	struct xk_rand r;

	st->n = 0;
	xk_rand_init(&r, seed, 0);
	up(TUNE "hystart=false", takes_super);
	for (unsigned i = 0; i < 150; i++) {
		uint32_t k = (uint32_t)xk_rand_below(&r, xk_rand_below(&r, 4) ? 3000 : 70000), sent = 0;

		if (pushed + k <= acked + 200000 && xk_rand_below(&r, 2)) {
			tf_push(&f, s, bytes + pushed % (sizeof bytes / 2), k);
			pushed += k;
		}
		note(st);
		for (unsigned j = 0; j < st->n; j++)
			if (st->v[j].seq - 1 + st->v[j].len > sent)
				sent = st->v[j].seq - 1 + st->v[j].len;
		if (xk_rand_below(&r, 3) != 0)
			acked += (uint32_t)xk_rand_below(&r, sent - acked + 1);
		ack(acked, (uint16_t)(xk_rand_below(&r, 8) ? 400 + xk_rand_below(&r, 300) : 60000), 0, 0, 0);
	}
	finish(st);
}

static void any_story_is_the_same_but_for_psh(void)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		noise(&single, false, seed);
		noise(&super, true, seed);
		compare(false);
	}
}

/* ---- nothing stands still ---------------------------------------------------------------- */

/* How far what has left reaches; how many frames that was since it was asked last. */
static unsigned left(uint32_t *sent)
{
	unsigned n = tf_nout(&f);

	for (unsigned i = 0; i < n; i++) {
		struct tf_out o = tf_out(&f, (int)i);
		uint32_t end = o.seq - sa.seq - 1 + o.len;

		*sent = o.len != 0 && end > *sent ? end : *sent;
	}
	tf_forget(&f);
	return n;
}

static uint32_t write_more(uint32_t at, uint32_t n)
{
	uint32_t k;

	pf_enter(&f, 0);
	k = stream_write_some(s, bytes + at % (sizeof bytes / 2), n);
	pf_leave(&f, 0);
	pf_settle(&f);
	return k;
}

/* Long writes to a peer that acknowledges all, whose window closes, is too small for a segment, and opens. */
static void bulk_to_a_slow_reader(const char *hl, uint64_t seed)
{
	static const uint16_t wnd[] = { 0, 1, 5, 11, 12, 30, 400, 65535 };
	uint32_t written = 0, sent = 0, acked = 0;
	struct xk_rand r;

	xk_rand_init(&r, seed, 0);
	up_over(TUNE, hl);
	for (unsigned i = 0; i < 300; i++) {
		uint16_t w = wnd[xk_rand_below(&r, XK_ARRAY_LEN(wnd))];
		unsigned n;

		if (xk_rand_below(&r, 2))
			written += write_more(written, 1 + (uint32_t)xk_rand_below(&r, xk_rand_below(&r, 4) ? 65536 : 1447));
		(void)left(&sent);
		if (xk_rand_below(&r, 4) != 0)
			acked = sent;
		ack(acked, w, 0, 0, 0);
		n = left(&sent);
		if (acked != sent || n != 0 || written == sent)
			continue;
		/* All that went is acknowledged, more waits: only a window that is closed or small holds it, a while. */
		CU_ASSERT_TRUE(w < 12);
		for (unsigned t = 0; t < 100 && n == 0; t++) {
			pf_run(&f, 50 * XK_MS);
			n = left(&sent);
		}
		CU_ASSERT_TRUE(n != 0);
	}
	for (unsigned i = 0; i < 1000 && sent != written; i++) {
		(void)left(&sent);
		ack(sent, 65535, 0, 0, 0);
	}
	(void)left(&sent);
	CU_ASSERT_EQUAL(sent, written);
	CU_ASSERT_EQUAL(pf_count(&f, "tcp", "timeouts"), 0);
	tf_close(&f, s);
	tf_down(&f);
}

static void nothing_waits_for_a_train_that_never_fills(void)
{
	for (uint64_t seed = 0; seed < 30; seed++) {
		bulk_to_a_slow_reader("super=65535; whole=true", seed);
		bulk_to_a_slow_reader("super=65535", seed);
		bulk_to_a_slow_reader(NULL, seed);
	}
}

/* ---- where there are none -------------------------------------------------------------------- */

/* A router tells somebody else's connection that the path takes less: IP knows, ours does not.  One train is
 * lost; what goes on goes in segments that IP can make fragments of. */
static void a_narrower_path_costs_one_train(void)
{
	uint8_t d[200], quote[60], port[8] = { 0, 9, 0, 9 };
	uint32_t n = nf_ip(quote, &(struct nf_ip){ .src = NF_US, .dst = NF_PEER, .proto = 6, .frag = 0x4000 }, port, sizeof port);
	uint64_t trains;

	up(TUNE, true);
	tf_push(&f, s, bytes, 1448 * 4);
	ack(1448 * 4, 60000, 0, 0, 0);
	trains = pf_count(&f, "tcp", "super_segments_out");
	CU_ASSERT_EQUAL(trains, 1);
	nf_in(&f, 0, d, nf_icmp(d, NF_PEER, NF_US, 3, 4, 1000, quote, n));
	tf_push(&f, s, bytes, 1448 * 8);
	CU_ASSERT_EQUAL(pf_count(&f, "tcp", "super_segments_out"), ++trains);
	CU_ASSERT_EQUAL(pf_drops(&f, "ip", "needs_fragmentation"), 1);
	for (unsigned i = 0; i < 40 && pf_count(&f, "tcp", "timeouts") == 0; i++)
		pf_run(&f, 100 * XK_MS);
	CU_ASSERT_TRUE(pf_count(&f, "tcp", "timeouts") != 0);
	ack(1448 * 12, 60000, 0, 0, 0);
	tf_push(&f, s, bytes, 100000);
	for (uint32_t k = 13; k < 30; k++)
		ack(1448 * k, 60000, 0, 0, 0);
	CU_ASSERT_EQUAL(pf_count(&f, "tcp", "super_segments_out"), trains);
	CU_ASSERT_TRUE(pf_count(&f, "ip", "fragmented") > 8);
	tf_close(&f, s);
	tf_down(&f);
}

/* Are there trains, to a peer that offers no option? */
static bool any(const char *tcp, const char *hl, const char *ip)
{
	uint32_t n, iss;
	bool yes;

	tf_up(&f, &(struct tf_conf){ .tcp = tcp, .hl = hl, .ip = ip });
	tf_listen(&f);
	tf_in(&f, &(struct tf_seg){ .sport = TF_PEER_PORT, .seq = 1000, .flags = TCP_SYN, .wnd = 60000 });
	iss = xk_be32(nf_sent(&f, 0, &n) + 4);
	tf_in(&f, &(struct tf_seg){ .sport = TF_PEER_PORT, .seq = 1001, .ack = iss + 1, .flags = TCP_ACK, .wnd = 60000 });
	CU_ASSERT_EQUAL_FATAL(tf_app.nkept, 1);
	tf_push(&f, tf_app.kept[0], bytes, 100000);
	yes = pf_count(&f, "tcp", "super_segments_out") != 0;
	tf_close(&f, tf_app.kept[0]);
	tf_down(&f);
	return yes;
}

static void none_where_they_are_not_to_be(void)
{
	CU_ASSERT_TRUE(any(TUNE, "super=65535", NULL));
	CU_ASSERT_TRUE(any(TUNE, "super=1112", NULL));          /* two segments to the byte */
	CU_ASSERT_FALSE(any(TUNE, "super=1111", NULL));
	CU_ASSERT_FALSE(any(TUNE, NULL, NULL));
	CU_ASSERT_FALSE(any(TUNE "checksum=false", "super=65535", NULL));
	CU_ASSERT_FALSE(any(TUNE, "super=65535", "df=never"));
}

/* Trains of the second of two long writes, each into open windows: the first asks the way below. */
static uint64_t trains_of_a_write(const char *hl)
{
	uint64_t had;

	up_over(TUNE, hl);
	for (uint32_t at = 0; at < 8 * 1448; at += 4 * 1448) {
		had = pf_count(&f, "tcp", "super_segments_out");
		pf_enter(&f, 0);
		CU_ASSERT_EQUAL(stream_write_some(s, bytes + at, 4 * 1448), 4 * 1448);
		pf_leave(&f, 0);
		pf_settle(&f);
		CU_ASSERT_EQUAL(tf_nout(&f), 4);
		tf_forget(&f);
		ack(at + 4 * 1448, 60000, 0, 0, 0);
	}
	had = pf_count(&f, "tcp", "super_segments_out") - had;
	tf_close(&f, s);
	tf_down(&f);
	return had;
}

static void a_write_waits_for_company_where_the_device_sends_it_whole(void)
{
	CU_ASSERT_EQUAL(trains_of_a_write("super=65535; whole=true"), 1);
	CU_ASSERT_EQUAL(trains_of_a_write("super=65535"), 0);
	CU_ASSERT_EQUAL(trains_of_a_write(NULL), 0);
}

static void look_fn(struct xk_capture *c, xk_ns now, const struct xk_msg *m, bool goes_down)
{
	(void)c;
	(void)now;
	(void)goes_down;
	CU_ASSERT_FALSE(m->flags & XK_MSG_SUPER);
}

/* A capture comes and goes while the connection stands, which has asked the way below before. */
static void none_while_something_is_captured(void)
{
	struct xk_capture look = { .fn = look_fn };

	up(TUNE, true);
	for (uint32_t at = 0, k = 0; k < 3; k++, at += 4 * 1448) {
		uint64_t had = pf_count(&f, "tcp", "super_segments_out");

		if (k == 1)
			xk_capture_attach(pf_node(&f, "tcp"), &look);
		tf_push(&f, s, bytes + at, 4 * 1448);
		CU_ASSERT_EQUAL(pf_count(&f, "tcp", "super_segments_out") - had, k != 1);
		CU_ASSERT_EQUAL(tf_nout(&f), 4);
		tf_forget(&f);
		ack(at + 4 * 1448, 60000, 0, 0, 0);
		if (k == 1)
			xk_capture_detach(pf_node(&f, "tcp"), &look);
	}
	tf_close(&f, s);
	tf_down(&f);
}

static CU_TestInfo trains[] = {
	{ "a long push is the same to the byte", a_long_push_is_the_same_to_the_byte },
	{ "a FIN goes with the last", a_fin_goes_with_the_last },
	{ "CWR is the first one's, and all are ECT", cwr_is_the_first_ones_and_all_are_ect },
	{ "what is lost goes again alone", what_is_lost_goes_again_alone },
	{ "blocks go singly", blocks_go_singly },
	{ "any story is the same but for PSH", any_story_is_the_same_but_for_psh },
	{ "nothing waits for a train that never fills", nothing_waits_for_a_train_that_never_fills },
	{ "a narrower path costs one train", a_narrower_path_costs_one_train },
	{ "none where they are not to be", none_where_they_are_not_to_be },
	{ "none while something is captured", none_while_something_is_captured },
	{ "a write waits for company where the device sends it whole", a_write_waits_for_company_where_the_device_sends_it_whole },
	CU_TEST_INFO_NULL
};

static const CU_SuiteInfo suites[] = {
	{ "trains", NULL, NULL, NULL, NULL, trains },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}
