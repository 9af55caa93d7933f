/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mut_check.c - what holds of a connection after every message, whatever it said.
 *
 * Numbers are in order, the queue holds what was pushed and not acknowledged, the
 * application has got exactly what the numbers say, caps are kept, and as long as
 * something is to be done some timer will see to it: a connection that waits for
 * nothing is a hang that nobody notices.
 */
#include "tests/mutate/mut.h"
#include "runtime/upi/xk_inline.h"

#define ANSWERS 80u                      /* frames that one message may cause */

static bool synchronised(const struct tcp_cb *cb)
{
	return cb->state > TCP_S_SYN_RCVD && cb->state < TCP_S_COUNT;
}

static const char *numbers(const struct tcp_cb *cb)
{
	if (!tcp_leq(cb->snd_una, cb->snd_nxt) || !tcp_leq(cb->snd_nxt, cb->snd_max))
		return "snd_una, snd_nxt and snd_max are out of order";
	if (tcp_gt(cb->snd_max, cb->snd_end + 1))
		return "more was sent than there is";
	if (cb->snd_wscale > 14 || cb->rcv_wscale > 14)
		return "a window scale above 14";
	if (cb->peer_mss < TCP_MSS_LEAST || cb->mss == 0 || cb->cwnd == 0)
		return "no room for a segment";
	if (cb->sacked_out + cb->lost_out > cb->snd_max - cb->snd_una)
		return "more is received or lost than is under way";
	return cb->ca_state <= TCP_CA_LOSS ? NULL : "an unknown state of congestion";
}

static const char *queue(const struct tcp_cb *cb)
{
	uint32_t bytes = 0, unsent = 0;
	bool sent = true;

	for (const struct xk_msg *m = cb->sq.first; m != NULL; m = m->link) {
		sent = sent && m != cb->sq.unsent;
		bytes += m->tot;
		unsent += sent ? 0 : m->tot;
	}
	if (bytes != cb->sq.bytes || unsent != cb->sq.unsent_bytes)
		return "the send queue's sums are wrong";
	if (!synchronised(cb))
		return NULL;
	return bytes == (tcp_gt(cb->snd_una, cb->snd_end) ? 0 : cb->snd_end - cb->snd_una)
	       ? NULL : "the send queue does not hold what is not acknowledged";
}

/* All that was in order has gone up, once, and was right. */
static const char *stream(const struct mut_end *e, const struct tcp_cb *cb)
{
	uint32_t fin = (cb->flags & TCP_F_FIN_RCVD) != 0;

	if (e->wrong)
		return "a wrong byte was delivered";
	if (e->late)
		return "news after the end";
	if (cb->irs == 0 && cb->rcv_nxt == 0)
		return NULL;             /* SYN-SENT */
	return (uint32_t)e->got == cb->rcv_nxt - cb->irs - 1 - fin ? NULL : "bytes are missing or were invented";
}

static const char *caps(const struct tcp_cb *cb)
{
	uint32_t segments, bytes = tcp_reass_bytes(cb, &segments);

	if (bytes > cb->tune->ooo_bytes || segments > cb->tune->ooo_segments)
		return "more is held out of order than allowed";
	return NULL;
}

/* What is owed has a deadline, and the wheel knows of it. */
static const char *deadlines(const struct tcp_sess *ts)
{
	const struct tcp_cb *cb = tcp_cb(ts);
	bool any = false, owes = cb->snd_una != cb->snd_max || cb->sq.unsent != NULL;

	for (unsigned t = 0; t < TCP_T_COUNT; t++)
		any |= cb->at[t] != 0;
	if (owes && !any)
		return "something is to be sent, and no timer runs";
	if (any && !xk_timer_armed(&tcp_live(ts)->timer))
		return "a deadline that the wheel does not know";
	if (cb->state == TCP_S_TIME_WAIT && cb->at[TCP_T_2MSL] == 0)
		return "TIME-WAIT without an end";
	return NULL;
}

static const char *check_one(struct mut_end *e)
{
	const struct tcp_sess *ts = tcp_sess(e->s);
	const struct tcp_cb *cb = tcp_cb(ts);
	struct tcp_live l;
	const char *why;

	if (tcp_is_compressed(ts)) {             /* what it would be */
		tcp_idle_copy(ts, &l);
		cb = &l.cb;
	}
	if (cb->state == TCP_S_LISTEN || cb->state >= TCP_S_COUNT)
		return "a state that no session has";
	why = stream(e, cb);
	if (why != NULL || cb->state == TCP_S_CLOSED)
		return why;
	why = numbers(cb);
	if (why == NULL)
		why = queue(cb);
	if (why == NULL)
		why = caps(cb);
	return why != NULL || tcp_is_compressed(ts) ? why : deadlines(ts);
}

const char *mut_check(void)
{
	for (unsigned i = 0; i < MUT_ENDS; i++) {
		const char *why = mut_end[i].s != NULL ? check_one(&mut_end[i]) : NULL;

		if (why != NULL)
			return why;
	}
	return NULL;
}

bool mut_is_fragment(const struct mut_frame *f)
{
	return f->kind != MUT_ARP && (xk_be16(f->b + f->l3 + 6) & 0x3fff) != 0;
}

const char *mut_accounts(const struct mut_counts *was, const struct mut_counts *is, const struct mut_frame *f)
{
	uint64_t drops = is->drops - was->drops;

	if (drops == 0 && is->taken == was->taken && is->half == was->half)
		return "a frame has vanished: nobody took it, nobody dropped it";
	if (drops > 1 && !mut_is_fragment(f))
		return "one frame, several drops";
	return mut_nout() > ANSWERS ? "too many answers to one frame" : NULL;
}
