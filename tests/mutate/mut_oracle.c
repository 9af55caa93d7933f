/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mut_oracle.c - what a segment means, after the text of RFC 9293 section 3.10.7.
 *
 * Written paragraph by paragraph from the text, with RFC 5961's checks where the text
 * refers to them, and from nothing else: no table, no function of the protocol under
 * test is used.  The connection has nothing queued and all that it waits for in
 * order is rcv_nxt; what is beyond it is held, not judged.
 */
#include "tests/mutate/mut.h"
#include "runtime/upi/xk_inline.h"

#define BIT(f) ((g->flags & (f)) != 0)

static uint32_t seg_len(const struct mut_event *g)
{
	return g->len + BIT(TCP_SYN) + BIT(TCP_FIN);
}

/* a < b, numbers that wrap. */
static bool before(uint32_t a, uint32_t b)
{
	return a - b > 0x7fffffff;
}

static void acknowledge(struct mut_verdict *v, uint32_t snd_nxt, uint32_t rcv_nxt)
{
	v->answer = MUT_ACKS;
	v->seq = snd_nxt;
	v->ack = rcv_nxt;
}

static void reset_for_ack(struct mut_verdict *v, const struct mut_event *g)
{
	v->answer = MUT_RESETS;
	v->seq = g->ack;
	v->ack = 0;
}

/* 3.10.7.1 */
static void closed(const struct mut_event *g, struct mut_verdict *v)
{
	if (BIT(TCP_RST))
		return;
	if (BIT(TCP_ACK)) {
		reset_for_ack(v, g);
		return;
	}
	v->answer = MUT_RESETS;
	v->seq = 0;
	v->ack = g->seq + seg_len(g);
}

/* 3.10.7.2 */
static void listening(const struct mut_event *g, struct mut_verdict *v)
{
	if (BIT(TCP_RST))
		return;
	if (BIT(TCP_ACK)) {
		reset_for_ack(v, g);
		return;
	}
	if (!BIT(TCP_SYN))
		return;
	v->answer = MUT_SYN_ACKS;
	v->ack = g->seq + 1;
	v->state = TCP_S_SYN_RCVD;
}

/* 3.10.7.4, seventh and eighth: text from rcv_nxt on, FIN behind it.  m is as the
 * steps before left it. */
static void text_and_fin(const struct mut_model *m, const struct mut_event *g, struct mut_verdict *v, bool fin_acked)
{
	uint32_t first = g->seq + BIT(TCP_SYN), old = before(first, m->rcv_nxt) ? m->rcv_nxt - first : 0, nxt = m->rcv_nxt;
	bool takes = m->state == TCP_S_ESTABLISHED || m->state == TCP_S_FIN_WAIT_1 || m->state == TCP_S_FIN_WAIT_2;
	bool hole = before(m->rcv_nxt, first);

	if (g->len + BIT(TCP_FIN) == 0)
		return;
	/* "Ignore the segment text"; TIME-WAIT, fifth: "acknowledge it". */
	if (!takes && !BIT(TCP_FIN) && m->state != TCP_S_TIME_WAIT)
		return;
	if (takes && !hole) {
		v->text = g->len > old ? g->len - old : 0;
		nxt += v->text;
	}
	acknowledge(v, m->snd_nxt, nxt);
	/* RFC 1122 4.2.3.2: the acknowledgement of text may wait, not that of a hole. */
	v->later = takes && !hole && !BIT(TCP_FIN) && old == 0;
	if (!BIT(TCP_FIN) || hole)
		return;
	switch (m->state) {
	case TCP_S_ESTABLISHED: v->state = TCP_S_CLOSE_WAIT; break;
	case TCP_S_FIN_WAIT_1:  v->state = fin_acked ? TCP_S_TIME_WAIT : TCP_S_CLOSING; break;
	case TCP_S_FIN_WAIT_2:  v->state = TCP_S_TIME_WAIT; break;
	default: return;
	}
	v->ack++;
}

/* 3.10.7.3 */
static void syn_sent(const struct mut_model *m, const struct mut_event *g, struct mut_verdict *v)
{
	struct mut_model after = *m;

	if (BIT(TCP_ACK) && (!before(m->iss, g->ack) || before(m->snd_nxt, g->ack))) {
		if (!BIT(TCP_RST))
			reset_for_ack(v, g);
		return;
	}
	if (BIT(TCP_RST)) {
		v->told = BIT(TCP_ACK);
		v->state = v->told ? TCP_S_CLOSED : TCP_S_SYN_SENT;
		return;
	}
	if (!BIT(TCP_SYN))
		return;
	after.rcv_nxt = g->seq + 1;
	if (!BIT(TCP_ACK)) {
		v->answer = MUT_SYN_ACKS;
		v->seq = m->iss;
		v->ack = after.rcv_nxt;
		v->state = TCP_S_SYN_RCVD;
		return;
	}
	after.state = v->state = TCP_S_ESTABLISHED;
	text_and_fin(&after, g, v, false);
	if (v->answer == MUT_SILENCE)
		acknowledge(v, m->snd_nxt, after.rcv_nxt);
	v->later = false;
}

/* 3.10.7.4, first: the table of four cases; a closed window still lets a reset in. */
static bool acceptable(const struct mut_model *m, const struct mut_event *g)
{
	uint32_t len = seg_len(g);

	if (m->rcv_wnd == 0)
		return g->seq == m->rcv_nxt && (len == 0 || BIT(TCP_RST));
	return g->seq - m->rcv_nxt < m->rcv_wnd || (len != 0 && g->seq + len - 1 - m->rcv_nxt < m->rcv_wnd);
}

/* Second (RFC 5961 3). */
static void reset_bit(const struct mut_model *m, const struct mut_event *g, struct mut_verdict *v)
{
	if (g->seq != m->rcv_nxt) {
		if (g->seq - m->rcv_nxt < m->rcv_wnd)
			acknowledge(v, m->snd_nxt, m->rcv_nxt);
		return;
	}
	v->state = m->state == TCP_S_SYN_RCVD && m->passive ? TCP_S_LISTEN : TCP_S_CLOSED;
	v->told = m->state == TCP_S_ESTABLISHED || m->state == TCP_S_FIN_WAIT_1 || m->state == TCP_S_FIN_WAIT_2 ||
		  m->state == TCP_S_CLOSE_WAIT || (m->state == TCP_S_SYN_RCVD && !m->passive);
}

/* Fourth. */
static void syn_bit(const struct mut_model *m, struct mut_verdict *v)
{
	if (m->state == TCP_S_SYN_RCVD && m->passive)
		v->state = TCP_S_LISTEN;
	else
		acknowledge(v, m->snd_nxt, m->rcv_nxt);      /* RFC 5961 4 */
}

/* Fifth; false: the segment goes no further.  *after: the model behind it. */
static bool ack_field(struct mut_model *after, const struct mut_event *g, struct mut_verdict *v, bool *fin_acked)
{
	/* Nothing but SYN or FIN is under way: an acknowledgement of something new is of that. */
	bool fresh = before(after->snd_una, g->ack) && !before(after->snd_nxt, g->ack);

	*fin_acked = false;
	if (after->state == TCP_S_SYN_RCVD) {
		if (!fresh) {
			reset_for_ack(v, g);
			return false;
		}
		v->state = after->state = TCP_S_ESTABLISHED;
		return true;
	}
	if (before(g->ack, after->snd_una - after->max_snd_wnd) || before(after->snd_nxt, g->ack)) {
		acknowledge(v, after->snd_nxt, after->rcv_nxt);      /* RFC 5961 5 */
		return false;
	}
	switch (after->state) {
	case TCP_S_FIN_WAIT_1:
		*fin_acked = fresh;
		if (fresh)
			v->state = after->state = TCP_S_FIN_WAIT_2;
		return true;
	case TCP_S_CLOSING:
		if (fresh)
			v->state = after->state = TCP_S_TIME_WAIT;
		return fresh;
	case TCP_S_LAST_ACK:
		if (fresh)
			v->state = TCP_S_CLOSED;
		return !fresh;
	default:
		return true;
	}
}

/* 3.5, figure 7, line 6: where both have opened, the other's SYN-ACK has the number of
 * its SYN and establishes; "first" alone would never let it in. */
static bool simultaneous(const struct mut_model *m, const struct mut_event *g)
{
	return m->state == TCP_S_SYN_RCVD && !m->passive && g->seq == m->irs && BIT(TCP_SYN) && BIT(TCP_ACK) && !BIT(TCP_RST);
}

/* 3.10.7.4 */
static void otherwise(const struct mut_model *m, const struct mut_event *g, struct mut_verdict *v)
{
	struct mut_event less_syn = *g;
	struct mut_model after = *m;
	bool fin_acked;

	if (simultaneous(m, g)) {
		less_syn.seq++;
		less_syn.flags &= (uint16_t)~TCP_SYN;
		g = &less_syn;
	}
	if (!acceptable(m, g)) {
		if (!BIT(TCP_RST))
			acknowledge(v, m->snd_nxt, m->rcv_nxt);
	} else if (BIT(TCP_RST)) {
		reset_bit(m, g, v);
	} else if (BIT(TCP_SYN)) {
		syn_bit(m, v);
	} else if (BIT(TCP_ACK) && ack_field(&after, g, v, &fin_acked)) {
		text_and_fin(&after, g, v, fin_acked);
	}
}

void mut_oracle(const struct mut_model *m, const struct mut_event *g, struct mut_verdict *v)
{
	*v = (struct mut_verdict){ .state = m->state };
	switch (m->state) {
	case TCP_S_CLOSED:   closed(g, v); break;
	case TCP_S_LISTEN:   listening(g, v); break;
	case TCP_S_SYN_SENT: syn_sent(m, g, v); break;
	default:             otherwise(m, g, v); break;
	}
}
