/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_tcp_fsm.c - the state table: complete, and the diagram of RFC 9293 3.3.2
 * edge by edge, no more and no fewer.
 */
#include <string.h>

#include "protocols/tcp/core/tcp_core.h"
#include "tests/support/xk_test.h"

struct edge { uint8_t from, event, to; };

/* Figure 5, with TIME-WAIT's end by a timer and LISTEN's by the SYN cache left out. */
static const struct edge edges[] = {
	{ TCP_S_LISTEN, TCP_E_SYN, TCP_S_SYN_RCVD },
	{ TCP_S_LISTEN, TCP_E_CLOSE, TCP_S_CLOSED },
	{ TCP_S_SYN_SENT, TCP_E_SYN, TCP_S_SYN_RCVD },
	{ TCP_S_SYN_SENT, TCP_E_ACK, TCP_S_ESTABLISHED },
	{ TCP_S_SYN_SENT, TCP_E_CLOSE, TCP_S_CLOSED },
	{ TCP_S_SYN_SENT, TCP_E_RST, TCP_S_CLOSED },
	{ TCP_S_SYN_RCVD, TCP_E_ACK, TCP_S_ESTABLISHED },
	{ TCP_S_SYN_RCVD, TCP_E_FIN, TCP_S_CLOSE_WAIT },
	{ TCP_S_SYN_RCVD, TCP_E_RST, TCP_S_CLOSED },
	{ TCP_S_ESTABLISHED, TCP_E_CLOSE, TCP_S_FIN_WAIT_1 },
	{ TCP_S_ESTABLISHED, TCP_E_FIN, TCP_S_CLOSE_WAIT },
	{ TCP_S_ESTABLISHED, TCP_E_RST, TCP_S_CLOSED },
	{ TCP_S_FIN_WAIT_1, TCP_E_FIN, TCP_S_CLOSING },
	{ TCP_S_FIN_WAIT_1, TCP_E_ACK_OF_FIN, TCP_S_FIN_WAIT_2 },
	{ TCP_S_FIN_WAIT_1, TCP_E_RST, TCP_S_CLOSED },
	{ TCP_S_FIN_WAIT_2, TCP_E_FIN, TCP_S_TIME_WAIT },
	{ TCP_S_FIN_WAIT_2, TCP_E_RST, TCP_S_CLOSED },
	{ TCP_S_CLOSE_WAIT, TCP_E_CLOSE, TCP_S_LAST_ACK },
	{ TCP_S_CLOSE_WAIT, TCP_E_RST, TCP_S_CLOSED },
	{ TCP_S_CLOSING, TCP_E_ACK_OF_FIN, TCP_S_TIME_WAIT },
	{ TCP_S_CLOSING, TCP_E_RST, TCP_S_CLOSED },
	{ TCP_S_LAST_ACK, TCP_E_ACK_OF_FIN, TCP_S_CLOSED },
	{ TCP_S_LAST_ACK, TCP_E_RST, TCP_S_CLOSED },
	{ TCP_S_TIME_WAIT, TCP_E_RST, TCP_S_CLOSED },
};

static const struct edge *edge(unsigned from, unsigned event)
{
	for (unsigned i = 0; i < XK_ARRAY_LEN(edges); i++)
		if (edges[i].from == from && edges[i].event == event)
			return &edges[i];
	return NULL;
}

static void every_cell_has_a_reason(void)
{
	for (unsigned s = 0; s < TCP_S_COUNT; s++)
		for (unsigned e = 0; e < TCP_E_COUNT; e++) {
			const struct tcp_fsm_cell *c = &tcp_fsm[s][e];

			CU_ASSERT_FATAL(c->why != NULL);
			CU_ASSERT(strlen(c->why) >= 6 && c->next < TCP_S_COUNT && c->act <= TCP_FSM_FAIL);
		}
}

static void transitions_are_those_of_the_diagram(void)
{
	for (unsigned s = 0; s < TCP_S_COUNT; s++)
		for (unsigned e = 0; e < TCP_E_COUNT; e++) {
			const struct edge *d = edge(s, e);

			CU_ASSERT_EQUAL(tcp_fsm[s][e].next, d != NULL ? d->to : s);
		}
}

static void what_is_ignored_or_challenged_or_answered_stays_where_it_is(void)
{
	for (unsigned s = 0; s < TCP_S_COUNT; s++)
		for (unsigned e = 0; e < TCP_E_COUNT; e++) {
			const struct tcp_fsm_cell *c = &tcp_fsm[s][e];

			if (c->act == TCP_FSM_IGNORE || c->act == TCP_FSM_CHALLENGE || c->act == TCP_FSM_RESET)
				CU_ASSERT_EQUAL(c->next, s);
			if (c->act == TCP_FSM_FINISH || c->act == TCP_FSM_FAIL)
				CU_ASSERT_EQUAL(c->next, TCP_S_CLOSED);
		}
}

static void text_is_taken_exactly_before_the_peers_fin(void)
{
	for (unsigned s = 0; s < TCP_S_COUNT; s++) {
		bool takes = s == TCP_S_SYN_RCVD || s == TCP_S_ESTABLISHED || s == TCP_S_FIN_WAIT_1 ||
			     s == TCP_S_FIN_WAIT_2;

		CU_ASSERT_EQUAL(tcp_fsm[s][TCP_E_DATA].act == TCP_FSM_TAKE, takes);
	}
}

static void a_syn_is_never_believed_once_states_are_synchronised(void)
{
	for (unsigned s = TCP_S_SYN_RCVD; s < TCP_S_COUNT; s++)
		CU_ASSERT_EQUAL(tcp_fsm[s][TCP_E_SYN].act, TCP_FSM_CHALLENGE);
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
	{ "every cell has a reason", every_cell_has_a_reason },
	{ "transitions are those of the diagram", transitions_are_those_of_the_diagram },
	{ "what is ignored or challenged or answered stays where it is",
	  what_is_ignored_or_challenged_or_answered_stays_where_it_is },
	{ "text is taken exactly before the peers fin", text_is_taken_exactly_before_the_peers_fin },
	{ "a syn is never believed once states are synchronised", a_syn_is_never_believed_once_states_are_synchronised },
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
