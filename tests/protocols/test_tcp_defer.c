/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_tcp_defer.c - connections that stand when they speak (TCP_CTL_DEFER): a bare
 * ACK makes none, its first bytes do, or anything once the time is over.
 */
#include "tests/protocols/tcp_fixture.h"
#include "tests/support/xk_test.h"
#include "runtime/upi/xk_inline.h"

static struct pf f;

static int defer(uint16_t port, uint32_t ms)
{
	struct tcp_defer d = { port, ms };
	int res;

	pf_enter(&f, 0);
	res = xk_control(pf_rep(&f, "tcp", 0), TCP_CTL_DEFER, &d, sizeof d);
	pf_leave(&f, 0);
	return res;
}

static void up(uint32_t ms)
{
	tf_up1(&f, NULL);
	tf_listen(&f);
	CU_ASSERT_EQUAL(defer(TF_PORT, ms), 0);
}

/* The handshake's first two steps; our number. */
static uint32_t half(void)
{
	tf_in(&f, &(struct tf_seg){ .seq = 1000, .flags = TCP_SYN });
	return tf_out(&f, -1).seq;
}

static void ack(uint32_t iss, const char *text, uint32_t n)
{
	tf_in(&f, &(struct tf_seg){ .seq = 1001, .ack = iss + 1, .flags = TCP_ACK, .data = text, .len = n });
}

static void down(void)
{
	while (tf_app.nkept != 0)
		tf_close(&f, tf_app.kept[0]);
	tf_down(&f);
}

static void a_silent_connection_does_not_stand_until_it_speaks(void)
{
	uint32_t iss;

	up(5000);
	iss = half();
	ack(iss, NULL, 0);
	CU_ASSERT_EQUAL(tf_app.nkept, 0);
	tf_only_drop(&f, "not_a_syn");
	ack(iss, "hello", 5);
	CU_ASSERT_EQUAL(tf_app.nkept, 1);
	CU_ASSERT_EQUAL(tf_app.ngot, 5);
	down();
}

static void an_acknowledgement_counts_when_the_time_is_over(void)
{
	uint32_t iss;

	up(2000);
	iss = half();
	ack(iss, NULL, 0);
	pf_run(&f, 2500 * XK_MS);
	CU_ASSERT_EQUAL(tf_app.nkept, 0);
	ack(iss, NULL, 0);
	CU_ASSERT_EQUAL(tf_app.nkept, 1);
	down();
}

static void it_ends_when_it_is_said_so(void)
{
	up(5000);
	CU_ASSERT_EQUAL(defer(TF_PORT, 0), 0);
	ack(half(), NULL, 0);
	CU_ASSERT_EQUAL(tf_app.nkept, 1);
	down();
}

static void there_is_room_for_so_many_ports(void)
{
	uint32_t shorter = 80;

	up(5000);
	for (uint16_t p = 1; p < TCP_DEFERS; p++)
		CU_ASSERT_EQUAL(defer((uint16_t)(1000 + p), 10), 0);
	CU_ASSERT_EQUAL(defer(2000, 10), XK_E_NOSPC);
	CU_ASSERT_EQUAL(defer(2000, 0), 0);
	CU_ASSERT_EQUAL(defer(1001, 0), 0);
	CU_ASSERT_EQUAL(defer(2000, 10), 0);
	pf_enter(&f, 0);
	CU_ASSERT_EQUAL(xk_control(pf_rep(&f, "tcp", 0), TCP_CTL_DEFER, &shorter, sizeof shorter), XK_E_INVAL);
	pf_leave(&f, 0);
	down();
}

static CU_TestInfo tests[] = {
	{ "a silent connection does not stand until it speaks", a_silent_connection_does_not_stand_until_it_speaks },
	{ "an acknowledgement counts when the time is over", an_acknowledgement_counts_when_the_time_is_over },
	{ "it ends when it is said so", it_ends_when_it_is_said_so },
	{ "there is room for so many ports", there_is_room_for_so_many_ports },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "tcp deferred accept", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	xk_rcu_register();
	return xk_test_main(suites);
}
