/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_fsm.c - the states of a connection: their names, and where each leads once both SYNs
 * are acknowledged (RFC 9293 3.3.2, 3.10).
 *
 * A segment is examined in the RFC's order by tcp_input, which decides what it is worth; the
 * table says what an end of a side leads to.  Before the handshake is over a close waits for it
 * (establish in tcp_input.c).  A cell that is not written is never read: the peer's FIN
 * counts in a state that takes data alone, ours is acknowledged once.
 * Invariant: a state leads to CLOSED by the table only when both sides have ended.
 */
#include "protocols/tcp/core/tcp_core.h"

static const char *const names[TCP_S_COUNT] = {
	[TCP_S_CLOSED] = "CLOSED", [TCP_S_LISTEN] = "LISTEN", [TCP_S_SYN_SENT] = "SYN-SENT",
	[TCP_S_SYN_RCVD] = "SYN-RECEIVED", [TCP_S_ESTABLISHED] = "ESTABLISHED",
	[TCP_S_CLOSE_WAIT] = "CLOSE-WAIT", [TCP_S_FIN_WAIT_1] = "FIN-WAIT-1", [TCP_S_CLOSING] = "CLOSING",
	[TCP_S_LAST_ACK] = "LAST-ACK", [TCP_S_FIN_WAIT_2] = "FIN-WAIT-2", [TCP_S_TIME_WAIT] = "TIME-WAIT",
};

const char *tcp_state_name(unsigned state)
{
	return state < TCP_S_COUNT ? names[state] : "?";
}

const uint8_t tcp_next[TCP_S_COUNT][TCP_E_COUNT] = {
	[TCP_S_ESTABLISHED] = { [TCP_E_CLOSE] = TCP_S_FIN_WAIT_1, [TCP_E_FIN] = TCP_S_CLOSE_WAIT },
	[TCP_S_CLOSE_WAIT]  = { [TCP_E_CLOSE] = TCP_S_LAST_ACK },
	[TCP_S_FIN_WAIT_1]  = { [TCP_E_FIN] = TCP_S_CLOSING, [TCP_E_ACK_OF_FIN] = TCP_S_FIN_WAIT_2 },
	[TCP_S_FIN_WAIT_2]  = { [TCP_E_FIN] = TCP_S_TIME_WAIT },
	[TCP_S_CLOSING]     = { [TCP_E_ACK_OF_FIN] = TCP_S_TIME_WAIT },
	[TCP_S_LAST_ACK]    = { [TCP_E_ACK_OF_FIN] = TCP_S_CLOSED },
};
