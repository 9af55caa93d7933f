/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_ncs_worlds.c - every fate of the first packets of a connection, under each flow control with
 * each error control: nothing sticks, no buffer is overrun, no window is passed, and messages come
 * exactly once, or without error control whole and once or not at all.
 *
 * XK_NCS_FATES=n tries the fates of n packets, of both channels together.
 * Two flow controls that are known to be wrong are held to the same, and are found out: the
 * credit of the paper's figure 8 as printed, and a limit that counts from the highest number seen.
 */
#include "tests/protocols/ncs_world.h"
#include "tests/support/xk_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__) || defined(XK_TSAN)
#define FATES 6u                         /* the same steps, each many times as long */
#else
#define FATES 8u
#endif
#define FATES_WRONG 4u                   /* for those of which one bad end is enough */

static const struct ncs_flow_ops *const flows[] = { &ncs_fc_none, &ncs_fc_window, &ncs_fc_credit, &ncs_fc_rate };
static const struct ncs_error_ops *const errors[] = { &ncs_ec_none, &ncs_ec_gbn, &ncs_ec_sr };

/* Messages, in SDUs: 1 to 4 SDUs as one, each alone, and in two. */
static const uint8_t layouts[][WORLD_SDUS] = {
	{ 1 }, { 2 }, { 3 }, { 4 }, { 1, 1 }, { 1, 1, 1 }, { 1, 1, 1, 1 }, { 1, 2 }, { 2, 2 }, { 3, 1 },
};

static unsigned fates(void)
{
	const char *s = getenv("XK_NCS_FATES");
	unsigned n = s != NULL ? (unsigned)atoi(s) : 0;

	if (n > 0 && n < 40)
		return n;
	return xk_test_rounds(1000) < 1000 ? FATES_WRONG : FATES;
}

static struct world_case of(const struct ncs_flow_ops *flow, const struct ncs_error_ops *error, const uint8_t *layout)
{
	struct world_case c = { .choice = { flow, error, {
		.start = UINT32_MAX - 1, .flow_window = 2, .first = 2, .most = 2, .sdu = 1,
		.rate = 8 * XK_SEC / 7, .error_window = 4 } } };

	for (; c.messages < WORLD_SDUS && layout[c.messages] != 0; c.messages++)
		c.size[c.messages] = layout[c.messages];
	c.window = flow == &ncs_fc_window || flow == &ncs_fc_credit ? 2 : 0;
	c.depth = flow == &ncs_fc_credit ? 2 : 0;
	c.buffers = flow == &ncs_fc_credit ? 2 : 0;
	return c;
}

/* All layouts; packets late by less than timers take and by more; asked for at once, and late. */
static struct world_found all_of(const struct ncs_flow_ops *flow, const struct ncs_error_ops *error, uint32_t first,
				 unsigned packets)
{
	struct world_found f = { 0 };

	for (unsigned i = 0; i < XK_ARRAY_LEN(layouts); i++) {
		/* When the application asks matters to nobody who does not count buffers. */
		for (unsigned k = 0; k < (flow == &ncs_fc_credit ? 4 : 2); k++) {
			struct world_case c = of(flow, error, layouts[i]);

			c.late = k & 1 ? 15 : 70;
			c.posted = k & 2 ? 90 : 0;
			c.choice.agreed.first = first;
			c.fates = (uint8_t)packets;
			world_explore(&c, &f);
		}
	}
	printf("# %s, %s: %llu worlds, %llu ends, %llu stuck, %llu overruns, at most %llu steps\n", flow->name,
	       error->name, (unsigned long long)f.states, (unsigned long long)f.ends, (unsigned long long)f.stuck,
	       (unsigned long long)f.overruns, (unsigned long long)f.most_steps);
	return f;
}

static void hold(const struct ncs_flow_ops *flow, const struct ncs_error_ops *error, uint32_t first)
{
	struct world_found f = all_of(flow, error, first, fates());

	CU_ASSERT_EQUAL(f.stuck, 0);
	CU_ASSERT_EQUAL(f.overruns, 0);
	CU_ASSERT_EQUAL(f.beyond, 0);
	CU_ASSERT_EQUAL(f.wrong, 0);
	CU_ASSERT(f.ends != 0 && f.states > 1000);
}

static void every_error_control(const struct ncs_flow_ops *flow, uint32_t first)
{
	for (unsigned i = 0; i < XK_ARRAY_LEN(errors); i++)
		hold(flow, errors[i], first);
}

static void without_flow_control(void)
{
	every_error_control(flows[0], 2);
}

static void under_a_window(void)
{
	every_error_control(flows[1], 2);
}

static void under_credit(void)
{
	every_error_control(flows[2], 2);
}

static void under_credit_that_begins_with_less(void)
{
	every_error_control(flows[2], 1);
}

static void under_a_rate(void)
{
	every_error_control(flows[3], 2);
}

/* ---- those that are wrong ---------------------------------------------------------------------- */

struct wrong_tx { uint32_t sent, limit; };
struct wrong_rx { uint32_t owed, end, occupied, buffers, said; };

static void wrong_tx_init(void *st, const struct ncs_agreed *a, xk_ns now)
{
	(void)now;
	*(struct wrong_tx *)st = (struct wrong_tx){ a->start, a->start + a->first };
}

static bool wrong_may(const void *st, xk_ns now)
{
	const struct wrong_tx *w = st;

	(void)now;
	return ncs_lt(w->sent, w->limit);
}

static void wrong_sent(void *st, uint32_t bytes, xk_ns now)
{
	(void)bytes; (void)now;
	((struct wrong_tx *)st)->sent++;
}

/* Figure 8: "Update the credit buffer". */
static void printed_heard(void *st, uint32_t value, xk_ns now)
{
	(void)now;
	((struct wrong_tx *)st)->limit += value;
}

static void highest_heard(void *st, uint32_t value, xk_ns now)
{
	struct wrong_tx *w = st;

	(void)now;
	if (ncs_lt(w->limit, value))
		w->limit = value;
}

static xk_ns wrong_when(const void *st, const struct ncs_rtt *rtt) { (void)st; (void)rtt; return XK_NS_NEVER; }

static bool wrong_query(void *st, const struct ncs_rtt *rtt, xk_ns now, uint32_t *value)
{
	(void)st; (void)rtt; (void)now; (void)value;
	return false;
}

static void wrong_rx_init(void *st, const struct ncs_agreed *a)
{
	*(struct wrong_rx *)st = (struct wrong_rx){ .end = a->start, .buffers = a->first, .said = a->start + a->first };
}

static enum ncs_verdict wrong_arrived(void *st, uint32_t tx, uint8_t flags)
{
	struct wrong_rx *w = st;

	(void)flags;
	w->occupied++;
	if (ncs_lt(w->end, tx + 1))
		w->end = tx + 1;
	return NCS_NEW;
}

/* A buffer is free again: one credit more. */
static void wrong_freed(void *st, uint32_t n)
{
	struct wrong_rx *w = st;

	w->occupied -= n;
	w->owed += n;
}

static void wrong_queried(void *st, uint32_t value) { (void)st; (void)value; }

static bool printed_report(void *st, uint32_t *value)
{
	struct wrong_rx *w = st;

	*value = w->owed;
	w->owed = 0;
	return *value != 0;
}

static bool highest_report(void *st, uint32_t *value)
{
	struct wrong_rx *w = st;

	*value = w->end - w->occupied + w->buffers;
	if (!ncs_lt(w->said, *value))
		return false;
	w->said = *value;
	return true;
}

#define WRONG(title, h, r) { \
	.name = title, .tx_size = sizeof(struct wrong_tx), .rx_size = sizeof(struct wrong_rx), \
	.tx_init = wrong_tx_init, .may = wrong_may, .sent = wrong_sent, .heard = h, .when = wrong_when, \
	.query = wrong_query, .rx_init = wrong_rx_init, .arrived = wrong_arrived, .freed = wrong_freed, \
	.queried = wrong_queried, .report = r }

static void credit_as_printed_sticks(void)
{
	static const struct ncs_flow_ops printed = WRONG("credit as printed", printed_heard, printed_report);

	for (unsigned i = 0; i < XK_ARRAY_LEN(errors); i++)
		CU_ASSERT(all_of(&printed, errors[i], 2, FATES_WRONG).stuck > 0);
}

static void two_losses_are_enough_for_it(void)
{
	static const struct ncs_flow_ops printed = WRONG("credit as printed", printed_heard, printed_report);
	struct world_case c = of(&printed, &ncs_ec_none, (const uint8_t[WORLD_SDUS]){ 3 });
	struct world_found f = { 0 };

	c.fates = 1;
	world_explore(&c, &f);
	CU_ASSERT_EQUAL(f.stuck, 0);
	c.fates = 2;
	world_explore(&c, &f);
	CU_ASSERT_EQUAL(f.stuck, 1);
}

static void a_limit_from_the_highest_number_overruns(void)
{
	static const struct ncs_flow_ops highest = WRONG("limit from the highest", highest_heard, highest_report);
	struct world_found f = { 0 };

	for (unsigned i = 0; i < XK_ARRAY_LEN(layouts); i++) {
		struct world_case c = of(&highest, &ncs_ec_none, layouts[i]);

		c.buffers = 2;
		c.late = 45;
		c.posted = 90;
		c.fates = FATES_WRONG;
		world_explore(&c, &f);
	}
	CU_ASSERT(f.overruns > 0);
}

static CU_TestInfo worlds[] = {
	{ "without_flow_control", without_flow_control },
	{ "under_a_window", under_a_window },
	{ "under_credit", under_credit },
	{ "under_credit_that_begins_with_less", under_credit_that_begins_with_less },
	{ "under_a_rate", under_a_rate },
	{ "credit_as_printed_sticks", credit_as_printed_sticks },
	{ "two_losses_are_enough_for_it", two_losses_are_enough_for_it },
	{ "a_limit_from_the_highest_number_overruns", a_limit_from_the_highest_number_overruns },
	CU_TEST_INFO_NULL
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{ .pName = "ncs: every fate", .pTests = worlds }, CU_SUITE_INFO_NULL
	};

	return xk_test_main(suites);
}
