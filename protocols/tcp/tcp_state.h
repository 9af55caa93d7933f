/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_state.h - the states of a connection.
 */
#ifndef TCP_STATE_H
#define TCP_STATE_H

/* RFC 9293 3.3.2. */
enum tcp_state {
	TCP_S_CLOSED, TCP_S_LISTEN, TCP_S_SYN_SENT, TCP_S_SYN_RCVD, TCP_S_ESTABLISHED,
	TCP_S_CLOSE_WAIT, TCP_S_FIN_WAIT_1, TCP_S_CLOSING, TCP_S_LAST_ACK,
	TCP_S_FIN_WAIT_2, TCP_S_TIME_WAIT, TCP_S_COUNT
};
const char *tcp_state_name(unsigned state);

#endif
