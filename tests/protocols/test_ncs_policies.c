/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_ncs_policies.c - holds the controls of ncs to their numbers: the rate, the efficiency of
 * go-back-N, how little selective repeat repeats, how credit grows; and to what they may do
 * with nonsense: nothing.
 *
 * A line carries a packet a slot, each way with the same delay, and loses some by chance.
 */
#include "protocols/ncs/ncs_half.h"
#include "runtime/base/xk_rand.h"
#include "runtime/mem/xk_alloc.h"
#include "tests/support/xk_test.h"

#include <stdio.h>
#include <string.h>

#define START (UINT32_MAX - 100)

/* ---- the rate ----------------------------------------------------------------------------------- */

/* Sends as early as it may for about `packets` packets; bits a second. */
static double paced(uint64_t rate, uint32_t bytes, unsigned packets)
{
	struct ncs_agreed a = { .rate = rate, .sdu = bytes };
	struct ncs_rtt rtt;
	uint64_t st[8], bits = 0;
	xk_ns now = 1000;

	ncs_rtt_init(&rtt, XK_MS, XK_US);
	ncs_fc_rate.tx_init(st, &a, now);
	for (unsigned i = 0; i < packets; i++) {
		if (!ncs_fc_rate.may(st, now))
			now = ncs_fc_rate.when(st, &rtt);
		CU_ASSERT_TRUE_FATAL(ncs_fc_rate.may(st, now));
		ncs_fc_rate.sent(st, bytes - i % 3, now);
		bits += (bytes - i % 3) * 8u;
	}
	return (double)bits * 1e9 / (double)(now - 1000);
}

static void a_rate_is_kept_within_half_a_percent(void)
{
	static const uint64_t rates[] = { 1000000, 20000000, 155520000, 999999937, 5000000000u };

	for (unsigned i = 0; i < XK_ARRAY_LEN(rates); i++) {
		CU_ASSERT_DOUBLE_EQUAL(paced(rates[i], 64, 100000) / (double)rates[i], 1, 0.0005);
		CU_ASSERT_DOUBLE_EQUAL(paced(rates[i], 16384, 100000) / (double)rates[i], 1, 0.0005);
	}
}

static void at_most_two_leave_at_once_however_long_it_was_silent(void)
{
	struct ncs_agreed a = { .rate = 8000000, .sdu = 1000 };
	uint64_t st[8];
	unsigned n;

	ncs_fc_rate.tx_init(st, &a, 0);
	for (unsigned k = 0; k < 3; k++) {
		xk_ns now = k * 3600 * XK_SEC;

		for (n = 0; n < 5 && ncs_fc_rate.may(st, now); n++)
			ncs_fc_rate.sent(st, 1000, now);
		CU_ASSERT_EQUAL(n, 2);
		CU_ASSERT_FALSE(ncs_fc_rate.may(st, now + XK_MS - 1));
		CU_ASSERT_TRUE(ncs_fc_rate.may(st, now + XK_MS));
	}
}

/* Woken each millisecond only: the rate is the same, and so is what a silence gains. */
static void a_rate_is_kept_by_who_is_woken_late(void)
{
	struct ncs_agreed a = { .rate = 100000000, .sdu = 1000, .grain = XK_MS };
	uint64_t st[8], sent = 0;

	ncs_fc_rate.tx_init(st, &a, 0);
	for (xk_ns now = XK_MS; now <= XK_SEC; now += XK_MS)
		for (; ncs_fc_rate.may(st, now); sent += 8000)
			ncs_fc_rate.sent(st, 1000, now);
	CU_ASSERT_DOUBLE_EQUAL((double)sent / 1e8, 1, 0.005);
	for (sent = 0; ncs_fc_rate.may(st, 3600 * XK_SEC); sent += 8000)
		ncs_fc_rate.sent(st, 1000, 3600 * XK_SEC);
	CU_ASSERT(sent <= 100000 + 3 * 8000);
}

/* ---- a line ---------------------------------------------------------------------------------------- */

#define SLOT XK_US
#define DELAY_MOST 64u

struct line {
	struct ncs_choice choice;
	struct ncs_tx *tx;
	struct ncs_rx *rx;
	struct xk_rand rand;
	double   loss;
	unsigned delay;                  /* slots each way, at least 1 */
	struct { struct ncs_pkt p; bool any; } data[DELAY_MOST];
	struct { struct ncs_ack a; bool any; } back[DELAY_MOST];
	struct { uint32_t limit, query; bool credit, ask; } note[2 * DELAY_MOST];
	uint64_t sent, taken, beyond;
};

static void line_open(struct line *l, const struct ncs_flow_ops *flow, const struct ncs_error_ops *error,
		      uint32_t window, unsigned delay, double loss)
{
	memset(l, 0, sizeof *l);
	l->choice = (struct ncs_choice){ flow, error, {
		.start = START, .flow_window = window, .first = 4, .most = window, .error_window = window, .sdu = 1000 } };
	l->loss = loss;
	l->delay = delay;
	l->tx = xk_alloc(ncs_tx_size(&l->choice));
	l->rx = xk_alloc(ncs_rx_size(&l->choice));
	CU_ASSERT_TRUE_FATAL(l->tx != NULL && l->rx != NULL);
	ncs_tx_init(l->tx, &l->choice, 2 * delay * SLOT, 2 * SLOT, 0);
	ncs_rx_init(l->rx, &l->choice);
	xk_rand_init(&l->rand, 7, 0);
}

static void line_close(struct line *l)
{
	xk_free(l->tx);
	xk_free(l->rx);
}

static bool lost(struct line *l)
{
	return l->loss > 0 && (double)xk_rand_below(&l->rand, 1000000) < l->loss * 1e6;
}

static void line_receive(struct line *l, unsigned t)
{
	unsigned i = t % l->delay, k = t % (2 * l->delay);

	if (l->note[k].ask)
		ncs_rx_queried(l->rx, l->note[k].query);
	if (l->data[i].any && ncs_rx_arrived(l->rx, &l->data[i].p) == NCS_NEW) {
		l->taken++;
		ncs_rx_freed(l->rx, 1);
	}
	l->data[i].any = false;
	l->note[k].ask = false;
	l->back[i].any = ncs_rx_ack(l->rx, &l->back[i].a) && !lost(l);
	k = (t + l->delay) % (2 * l->delay);
	l->note[k].credit = ncs_rx_credit(l->rx, &l->note[k].limit) && !lost(l);
}

static void line_send(struct line *l, unsigned t)
{
	unsigned i = t % l->delay, k = (t + l->delay) % (2 * l->delay);
	xk_ns now = t * SLOT;
	uint32_t no, value;

	if (now >= ncs_tx_when(l->tx, now) && ncs_tx_time(l->tx, now, &value) && !lost(l)) {
		l->note[k].ask = true;
		l->note[k].query = value;
	}
	if (!ncs_tx_next(l->tx, now, &no))
		return;
	struct ncs_mark m = ncs_tx_sent(l->tx, no, 1000, now);

	l->sent++;
	l->data[i].any = !lost(l);
	l->data[i].p = (struct ncs_pkt){ m.tx, no, 0, 0, m.flags };
}

/* A slot: what left `delay` slots ago arrives at the receiver, and what it said then at the sender. */
static void line_slot(struct line *l, unsigned t)
{
	unsigned i = t % l->delay, k = t % (2 * l->delay);
	struct ncs_ack a = l->back[i].a;
	bool any = l->back[i].any;

	if (l->note[k].credit)
		ncs_tx_credit(l->tx, l->note[k].limit, t * SLOT);
	l->note[k].credit = false;
	line_receive(l, t);
	if (any && !ncs_tx_ack(l->tx, &a, t * SLOT))
		l->beyond++;
	line_send(l, t);
}

/* SDUs without end; slots, and what was acknowledged by then. */
static uint32_t line_run(struct line *l, unsigned slots)
{
	ncs_tx_add(l->tx, 1u << 30);
	for (unsigned t = 1; t <= slots; t++)
		line_slot(l, t);
	CU_ASSERT_EQUAL(l->beyond, 0);
	return ncs_tx_done(l->tx) - START;
}

/* ---- what a line carries ----------------------------------------------------------------------------- */

/* (1 - p) / (1 + (W - 1) p), where W slots pass from an SDU until it is sent again. */
static void go_back_n_is_as_efficient_as_it_can_be(void)
{
	static const double losses[] = { 0, 0.01, 0.03, 0.05, 0.1 };

	for (unsigned i = 0; i < XK_ARRAY_LEN(losses); i++) {
		for (unsigned delay = 2; delay <= 8; delay *= 2) {
			struct line l;
			double p = losses[i], w = 2 * delay + 1, got;

			line_open(&l, &ncs_fc_none, &ncs_ec_gbn, 256, delay, 0);
			l.loss = p;
			got = line_run(&l, 200000) / 200000.;
			CU_ASSERT_DOUBLE_EQUAL(got / ((1 - p) / (1 + (w - 1) * p)), 1, 0.05);
			line_close(&l);
		}
	}
}

static void selective_repeat_repeats_little_more_than_was_lost(void)
{
	static const double losses[] = { 0, 0.01, 0.05, 0.1, 0.3 };

	for (unsigned i = 0; i < XK_ARRAY_LEN(losses); i++) {
		struct line l;
		double p = losses[i], done;

		line_open(&l, &ncs_fc_none, &ncs_ec_sr, 256, 16, p);
		done = line_run(&l, 200000);
		CU_ASSERT((double)l.sent <= done * 1.02 / (1 - p) + 256);
		CU_ASSERT(done >= 200000 * (1 - p) * 0.97);
		CU_ASSERT(l.taken - done <= 256);
		line_close(&l);
	}
}

/* Ten round trips' worth of buffers: what was lost and reports that were hold up neither credit nor the line. */
static void what_is_lost_holds_no_credit(void)
{
	static const struct { double loss, least; } lines[] = {
		{ 0, 0.99 }, { 0.01, 0.97 }, { 0.05, 0.92 }, { 0.1, 0.85 }, { 0.3, 0.6 },
	};

	for (unsigned i = 0; i < XK_ARRAY_LEN(lines); i++) {
		struct line l;
		double done;

		line_open(&l, &ncs_fc_credit, &ncs_ec_sr, 128, 6, lines[i].loss);
		done = line_run(&l, 100000);
		printf("# loss %g: %.3f of the line, sent %.3f times\n", lines[i].loss, done / 100000, (double)l.sent / done);
		CU_ASSERT(done >= 100000 * lines[i].least);
		CU_ASSERT((double)l.sent <= done * 1.02 / (1 - lines[i].loss) + 128);
		line_close(&l);
	}
}

/* What was overtaken is given up, unless others came that were overtaken by as many. */
static void credit_learns_how_far_the_network_exchanges(void)
{
	struct ncs_agreed a = { .first = 64, .most = 64 };
	uint64_t st[32];

	ncs_fc_credit.rx_init(st, &a);
	for (uint32_t tx = 1; tx <= 6; tx++)
		CU_ASSERT_EQUAL(ncs_fc_credit.arrived(st, tx, 0), NCS_NEW);
	CU_ASSERT_EQUAL(ncs_fc_credit.arrived(st, 0, 0), NCS_DOUBLE);    /* by six */
	for (uint32_t tx = 8; tx <= 13; tx++)
		CU_ASSERT_EQUAL(ncs_fc_credit.arrived(st, tx, 0), NCS_NEW);
	CU_ASSERT_EQUAL(ncs_fc_credit.arrived(st, 7, 0), NCS_NEW);
}

/* ---- a line with a queue ----------------------------------------------------------------------------- */

/* Rounds over a line that holds `holds` SDUs in a round trip of that many slots, of all that the pipe lets go.  An
 * answer is of what left a round before. */
static void rounds(struct ncs_pipe *p, unsigned n, uint32_t holds)
{
	uint32_t sent = p->limit, was = sent;

	for (unsigned i = 0; i < n; i++) {
		ncs_pipe_sample(p, (xk_ns)(was > holds ? was : holds) * SLOT, p->limit, p->round, p->round + 1000);
		was = sent;
		sent = p->limit;
	}
}

static void a_queue_stays_short(void)
{
	struct ncs_agreed a = { .most = 0 };
	struct ncs_pipe p;

	ncs_pipe_init(&p, &a, 512);
	CU_ASSERT_TRUE(ncs_pipe_may(&p, 512, 511));      /* nothing was lost */
	ncs_pipe_sample(&p, 40 * SLOT, 1, 0, 1);
	ncs_pipe_begin(&p, 500, 2);
	rounds(&p, 60, 40);
	CU_ASSERT(p.limit >= 40 && p.limit <= 60);
	CU_ASSERT_FALSE(ncs_pipe_may(&p, 100, p.limit));
	rounds(&p, 600, 90);                     /* a longer way */
	CU_ASSERT(p.limit >= 80 && p.limit <= 110);
	rounds(&p, 1500, 20);                   /* a shorter one: found by and by, a full queue looks as a long way does */
	CU_ASSERT(p.limit >= 20 && p.limit <= 40);
	a.newreno = true;
	ncs_pipe_init(&p, &a, 512);
	ncs_pipe_begin(&p, 5, 2);
	CU_ASSERT_TRUE(ncs_pipe_may(&p, 512, 511));      /* others fill the line */
}

static void every_pair_gets_through_a_bad_line(void)
{
	static const struct ncs_flow_ops *const flows[] = { &ncs_fc_none, &ncs_fc_window, &ncs_fc_credit };
	static const struct ncs_error_ops *const errors[] = { &ncs_ec_none, &ncs_ec_gbn, &ncs_ec_sr };

	for (unsigned i = 0; i < XK_ARRAY_LEN(flows) * XK_ARRAY_LEN(errors); i++) {
		struct line l;

		line_open(&l, flows[i / 3], errors[i % 3], 64, 8, 0.3);
		CU_ASSERT(line_run(&l, 100000) > 100000 / 50);
		line_close(&l);
	}
}

static void credit_grows_where_it_is_used(void)
{
	struct line l;

	line_open(&l, &ncs_fc_credit, &ncs_ec_sr, 64, 16, 0);
	line_run(&l, 5 * 64);
	uint64_t before = l.sent;

	for (unsigned t = 321; t <= 1320; t++)
		line_slot(&l, t);
	CU_ASSERT(l.sent - before >= 950);       /* four buffers would carry 125 */
	line_close(&l);
}

static void credit_stays_small_where_it_is_not(void)
{
	struct ncs_agreed a = { .first = 4, .most = 64 };
	uint64_t st[32];
	uint32_t value, limit = 4;

	CU_ASSERT_FATAL(sizeof st >= ncs_fc_credit.rx_size);
	ncs_fc_credit.rx_init(st, &a);
	for (uint32_t tx = 0; tx < 100; tx++) {
		CU_ASSERT_EQUAL(ncs_fc_credit.arrived(st, tx, NCS_ASK), NCS_NEW);
		ncs_fc_credit.freed(st, 1);
		if (ncs_fc_credit.report(st, &value))
			limit = value;
		CU_ASSERT(limit - tx - 1 <= 4);
	}
}

/* ---- nonsense ------------------------------------------------------------------------------------------ */

static uint32_t any_number(struct xk_rand *r, uint32_t near)
{
	return xk_rand_below(r, 4) == 0 ? (uint32_t)xk_rand_u64(r) : near + (uint32_t)xk_rand_below(r, 400) - 200;
}

static void any_ack(struct xk_rand *r, struct ncs_ack *a, uint32_t near)
{
	a->base = any_number(r, near);
	a->echo_no = any_number(r, near);
	a->echo_tx = any_number(r, near);
	a->depth = (uint16_t)xk_rand_u64(r);
	a->nbits = (uint16_t)(xk_rand_below(r, 20) * 64);
	a->gap = xk_rand_below(r, 2);
	for (unsigned i = 0; i < XK_ARRAY_LEN(a->bit); i++)
		a->bit[i] = xk_rand_u64(r) & xk_rand_u64(r);
}

/* Who says at random what it likes moves nothing beyond what was sent. */
static void a_sender_believes_no_nonsense(void)
{
	static const struct ncs_flow_ops *const flows[] = { &ncs_fc_none, &ncs_fc_window, &ncs_fc_credit };
	static const struct ncs_error_ops *const errors[] = { &ncs_ec_none, &ncs_ec_gbn, &ncs_ec_sr };

	for (unsigned i = 0; i < XK_ARRAY_LEN(flows) * XK_ARRAY_LEN(errors); i++) {
		struct line l;
		struct ncs_ack a;
		uint32_t no, high = START;

		line_open(&l, flows[i / 3], errors[i % 3], 64, 8, 0);
		ncs_tx_add(l.tx, 1u << 20);
		for (xk_ns t = 0; t < 20000; t++) {
			for (unsigned n = 0; n < 3 && ncs_tx_next(l.tx, t, &no); n++) {
				CU_ASSERT_FATAL(ncs_leq(no, high));
				high += no == high;
				ncs_tx_sent(l.tx, no, 1000, t);
			}
			any_ack(&l.rand, &a, high);
			ncs_tx_ack(l.tx, &a, t);
			ncs_tx_credit(l.tx, any_number(&l.rand, l.tx->tx), t);
			if (t % 7 == 0)
				ncs_tx_time(l.tx, t, &no);
			CU_ASSERT_FATAL(ncs_leq(ncs_tx_done(l.tx), high));
		}
		line_close(&l);
	}
}

static void a_receiver_believes_no_nonsense(void)
{
	static const struct ncs_flow_ops *const flows[] = { &ncs_fc_none, &ncs_fc_window, &ncs_fc_credit };
	static const struct ncs_error_ops *const errors[] = { &ncs_ec_none, &ncs_ec_gbn, &ncs_ec_sr };

	for (unsigned i = 0; i < XK_ARRAY_LEN(flows) * XK_ARRAY_LEN(errors); i++) {
		struct line l;
		struct ncs_ack a = { 0 };
		uint32_t value, held = 0;

		line_open(&l, flows[i / 3], errors[i % 3], 64, 8, 0);
		for (unsigned t = 0; t < 20000; t++) {
			uint32_t base = ncs_rx_base(l.rx);
			struct ncs_pkt p = { any_number(&l.rand, base), any_number(&l.rand, base), 0, 0, 0 };

			p.last = (uint32_t)xk_rand_below(&l.rand, 8);
			p.sdu = (uint32_t)xk_rand_below(&l.rand, p.last + 1);
			held += ncs_rx_arrived(l.rx, &p) == NCS_NEW;
			CU_ASSERT_FATAL(i / 3 != 2 || held <= 64);
			if (xk_rand_below(&l.rand, 3) == 0 && held != 0)
				ncs_rx_freed(l.rx, held), held = 0;
			ncs_rx_queried(l.rx, any_number(&l.rand, base));
			ncs_rx_credit(l.rx, &value);
			if (ncs_rx_ack(l.rx, &a))
				CU_ASSERT_FATAL(a.nbits <= NCS_BITS_MAX && a.base == ncs_rx_base(l.rx));
		}
		line_close(&l);
	}
}

static CU_TestInfo numbers[] = {
	{ "a_rate_is_kept_within_half_a_percent", a_rate_is_kept_within_half_a_percent },
	{ "at_most_two_leave_at_once_however_long_it_was_silent", at_most_two_leave_at_once_however_long_it_was_silent },
	{ "a_rate_is_kept_by_who_is_woken_late", a_rate_is_kept_by_who_is_woken_late },
	{ "go_back_n_is_as_efficient_as_it_can_be", go_back_n_is_as_efficient_as_it_can_be },
	{ "selective_repeat_repeats_little_more_than_was_lost", selective_repeat_repeats_little_more_than_was_lost },
	{ "what_is_lost_holds_no_credit", what_is_lost_holds_no_credit },
	{ "credit_learns_how_far_the_network_exchanges", credit_learns_how_far_the_network_exchanges },
	{ "a_queue_stays_short", a_queue_stays_short },
	{ "every_pair_gets_through_a_bad_line", every_pair_gets_through_a_bad_line },
	{ "credit_grows_where_it_is_used", credit_grows_where_it_is_used },
	{ "credit_stays_small_where_it_is_not", credit_stays_small_where_it_is_not },
	{ "a_sender_believes_no_nonsense", a_sender_believes_no_nonsense },
	{ "a_receiver_believes_no_nonsense", a_receiver_believes_no_nonsense },
	CU_TEST_INFO_NULL
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{ .pName = "ncs: policies", .pTests = numbers }, CU_SUITE_INFO_NULL
	};

	return xk_test_main(suites);
}
