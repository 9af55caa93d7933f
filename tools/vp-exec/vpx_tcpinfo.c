/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpx_tcpinfo.c - TCP_INFO: what a connection of the graph is like, in the kernel's layout.
 *
 * What the graph's TCP does not count is 0.  Windows are in segments, as the kernel has them; bytes that are on their
 * way through the supervisor count as not sent.
 */
#include "tools/vp-exec/vpx.h"

#include "protocols/tcp/tcp.h"

#include <linux/tcp.h>
#include <string.h>
#include <sys/ioctl.h>

/* Numbers of the kernel's states, which are those of BSD less one. */
static const uint8_t state_of[TCP_S_COUNT] = {
	[TCP_S_CLOSED] = 7, [TCP_S_LISTEN] = 10, [TCP_S_SYN_SENT] = 2, [TCP_S_SYN_RCVD] = 3, [TCP_S_ESTABLISHED] = 1,
	[TCP_S_CLOSE_WAIT] = 8, [TCP_S_FIN_WAIT_1] = 4, [TCP_S_CLOSING] = 11, [TCP_S_LAST_ACK] = 9,
	[TCP_S_FIN_WAIT_2] = 5, [TCP_S_TIME_WAIT] = 6,
};

static uint8_t options_of(const struct tcp_snapshot *i)
{
	return (uint8_t)((i->timestamps ? TCPI_OPT_TIMESTAMPS : 0) | (i->sack ? TCPI_OPT_SACK : 0) |
			 (i->wscale ? TCPI_OPT_WSCALE : 0) | (i->ecn ? TCPI_OPT_ECN : 0));
}

static uint32_t segments(uint32_t bytes, uint32_t mss) { return mss != 0 ? (bytes + mss - 1) / mss : 0; }

/* Written by the program and not yet sent by the graph. */
static uint32_t not_sent(const struct vpx_sock *v, const struct tcp_snapshot *i)
{
	uint32_t sent = i->snd_nxt - i->snd_una;
	int waits = 0;

	if (v->end < 0 || ioctl(v->end, FIONREAD, &waits) < 0 || waits < v->marked)
		waits = v->marked;
	return (i->queued > sent ? i->queued - sent : 0) + (uint32_t)v->up.n + (uint32_t)waits - v->marked;
}

static void connection(const struct vpx_sock *v, const struct tcp_snapshot *i, struct tcp_info *k)
{
	k->tcpi_state = i->state < TCP_S_COUNT ? state_of[i->state] : state_of[TCP_S_CLOSED];
	k->tcpi_ca_state = i->ca_state;
	k->tcpi_retransmits = k->tcpi_backoff = (uint8_t)i->backoff;
	k->tcpi_options = options_of(i);
	k->tcpi_snd_wscale = i->snd_wscale & 15u;
	k->tcpi_rcv_wscale = i->rcv_wscale & 15u;
	k->tcpi_rto = i->rto_ms * 1000;
	k->tcpi_snd_mss = i->mss;
	k->tcpi_unacked = i->unacked;
	k->tcpi_sacked = i->sacked;
	k->tcpi_lost = i->lost;
	k->tcpi_retrans = i->retrans;
	k->tcpi_rcv_ssthresh = k->tcpi_rcv_space = i->rcv_wnd;
	k->tcpi_rtt = i->srtt_us;
	k->tcpi_rttvar = i->rttvar_us;
	k->tcpi_snd_ssthresh = i->ssthresh == UINT32_MAX ? INT32_MAX : segments(i->ssthresh, i->mss);
	k->tcpi_snd_cwnd = segments(i->cwnd, i->mss);
	k->tcpi_total_retrans = (uint32_t)i->retransmits;
	k->tcpi_bytes_acked = i->bytes_acked;
	k->tcpi_bytes_received = i->bytes_received;
	k->tcpi_segs_out = (uint32_t)i->segs_out;
	k->tcpi_segs_in = (uint32_t)i->segs_in;
	k->tcpi_notsent_bytes = not_sent(v, i);
	k->tcpi_rcv_ooopack = i->ooo_segments;
	k->tcpi_snd_wnd = i->snd_wnd;
}

int64_t vpx_tcp_info(const struct vpx_sock *v, const struct vpx_call *c)
{
	struct tcp_info k;
	struct tcp_snapshot i;
	size_t n = sizeof i;

	memset(&k, 0, sizeof k);
	k.tcpi_state = state_of[v->state == VPX_LISTENING ? TCP_S_LISTEN : v->state == VPX_CONNECTING ? TCP_S_SYN_SENT :
				TCP_S_CLOSED];
	if (v->state == VPX_LISTENING) {
		k.tcpi_unacked = v->naccepted;   /* of a listener: the queue, and how long it may be */
		k.tcpi_sacked = v->backlog;
	} else if (v->graph >= 0 && xk_sock_getopt(v->graph, XK_TCP_INFO, &i, &n) == XK_OK) {
		connection(v, &i, &k);
	}
	return vpx_put_value(c, &k, sizeof k);
}
