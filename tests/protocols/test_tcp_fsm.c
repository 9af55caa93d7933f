/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_tcp_fsm.c - the state table is the diagram of RFC 9293 3.3.2 edge by edge,
 * no more and no fewer.
 */
#include "protocols/tcp/core/tcp_core.h"
#include "tests/support/xk_test.h"

struct edge { uint8_t from, event, to; };

/* Of figure 5 what the end of a side leads to; the rest is told by what segments do (test_tcp_input). */
static const struct edge edges[] = {
	{ TCP_S_ESTABLISHED, TCP_E_CLOSE, TCP_S_FIN_WAIT_1 },
	{ TCP_S_ESTABLISHED, TCP_E_FIN, TCP_S_CLOSE_WAIT },
	{ TCP_S_FIN_WAIT_1, TCP_E_FIN, TCP_S_CLOSING },
	{ TCP_S_FIN_WAIT_1, TCP_E_ACK_OF_FIN, TCP_S_FIN_WAIT_2 },
	{ TCP_S_FIN_WAIT_2, TCP_E_FIN, TCP_S_TIME_WAIT },
	{ TCP_S_CLOSE_WAIT, TCP_E_CLOSE, TCP_S_LAST_ACK },
	{ TCP_S_CLOSING, TCP_E_ACK_OF_FIN, TCP_S_TIME_WAIT },
	{ TCP_S_LAST_ACK, TCP_E_ACK_OF_FIN, TCP_S_CLOSED },
};

/* 0 where there is none. */
static unsigned leads_to(unsigned from, unsigned event)
{
	for (unsigned i = 0; i < XK_ARRAY_LEN(edges); i++)
		if (edges[i].from == from && edges[i].event == event)
			return edges[i].to;
	return 0;
}

static void transitions_are_those_of_the_diagram(void)
{
	for (unsigned s = 0; s < TCP_S_COUNT; s++)
		for (unsigned e = 0; e < TCP_E_COUNT; e++)
			CU_ASSERT_EQUAL(tcp_next[s][e], leads_to(s, e));
}

static void text_is_taken_exactly_before_the_peers_fin(void)
{
	for (unsigned s = 0; s < TCP_S_COUNT; s++) {
		struct tcp_cb cb = { .state = (uint8_t)s };
		bool takes = s == TCP_S_ESTABLISHED || s == TCP_S_FIN_WAIT_1 || s == TCP_S_FIN_WAIT_2;

		CU_ASSERT_EQUAL(tcp_takes_data(&cb), takes);
		CU_ASSERT_EQUAL(tcp_both_ended(&cb), s == TCP_S_CLOSING || s == TCP_S_LAST_ACK || s == TCP_S_TIME_WAIT);
	}
}

static void states_have_their_names(void)
{
	CU_ASSERT_STRING_EQUAL(tcp_state_name(TCP_S_CLOSED), "CLOSED");
	CU_ASSERT_STRING_EQUAL(tcp_state_name(TCP_S_TIME_WAIT), "TIME-WAIT");
	CU_ASSERT_STRING_EQUAL(tcp_state_name(TCP_S_COUNT), "?");
	for (unsigned a = 0; a < TCP_S_COUNT; a++)
		for (unsigned b = 0; b < a; b++)
			CU_ASSERT_STRING_NOT_EQUAL(tcp_state_name(a), tcp_state_name(b));
}

static CU_TestInfo tests[] = {
	{ "transitions are those of the diagram", transitions_are_those_of_the_diagram },
	{ "text is taken exactly before the peers fin", text_is_taken_exactly_before_the_peers_fin },
	{ "states have their names", states_have_their_names },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "tcp state table", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}
