/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_record.c - what a connection tells the flight recorder: each state that it comes to, each timeout.
 *
 * Invariant: a state is told once when it is entered, with the ports and the peer's address.
 */
#include "protocols/tcp/sess/tcp_sess.h"
#include "runtime/base/xk_bytes.h"
#include "runtime/upi/xk_record.h"

/* ORDER TCP_EV: states by their numbers, then the others. */
#define WHERE ", ports {p} with {i}"
const char *const tcp_events[] = {
	[TCP_S_CLOSED] = "CLOSED" WHERE, [TCP_S_LISTEN] = "LISTEN" WHERE, [TCP_S_SYN_SENT] = "SYN-SENT" WHERE,
	[TCP_S_SYN_RCVD] = "SYN-RECEIVED" WHERE, [TCP_S_ESTABLISHED] = "ESTABLISHED" WHERE,
	[TCP_S_CLOSE_WAIT] = "CLOSE-WAIT" WHERE, [TCP_S_FIN_WAIT_1] = "FIN-WAIT-1" WHERE, [TCP_S_CLOSING] = "CLOSING" WHERE,
	[TCP_S_LAST_ACK] = "LAST-ACK" WHERE, [TCP_S_FIN_WAIT_2] = "FIN-WAIT-2" WHERE, [TCP_S_TIME_WAIT] = "TIME-WAIT" WHERE,
	[TCP_EV_TIMEOUT] = "retransmission timeout, ports {p}, try {n}",
	[TCP_EV_PROBE] = "window closed, probe, ports {p}, try {n}",
	[TCP_EV_GIVE_UP] = "gave up, ports {p}, after {n} tries",
	NULL
};

static uint64_t ports(const struct tcp_sess *ts) { return (uint64_t)tcp_lport(ts) << 16 | tcp_rport(ts); }

void tcp_record_state(struct tcp_sess *ts, unsigned was)
{
	unsigned now = tcp_cb(ts)->state;

	if (now != was)
		xk_record(ts->s.rep, now, ports(ts), xk_be32(&ts->s.map.key.w[0]));
}

void tcp_record(struct tcp_sess *ts, enum tcp_ev ev)
{
	xk_record(ts->s.rep, ev, ports(ts), tcp_cb(ts)->retries);
}
