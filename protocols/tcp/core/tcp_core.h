/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_core.h - what a control block may be asked: the lowest floor of TCP, which knows
 * neither sessions nor the layers around them.
 *
 *   tcp_cb.c        a block at its beginning, segment size, buffers
 *   tcp_options.c   options of a segment: parse, build
 *   tcp_fsm.c       states: their names, where they lead
 *   tcp_input.c     state + segment -> actions
 *   tcp_window.c    the window we offer
 *   tcp_sendq.c     what was pushed and is not acknowledged yet
 *   tcp_recovery.c  what an ACK means, timeouts: RFC 5681, 6298, 6582, 6675, 6937
 *   tcp_sack.c      the scoreboard on the queue
 *   tcp_rack.c      RACK and TLP (RFC 8985)
 *   tcp_undo.c      spurious recoveries
 *   tcp_cc.c        congestion control as const policies: reno, cubic, none
 *   tcp_cubic.c     CUBIC (RFC 9438)
 *   tcp_hystart.c   leaving slow start before a loss (RFC 9406)
 */
#ifndef TCP_CORE_H
#define TCP_CORE_H

#include "protocols/tcp/core/tcp_cb.h"

/* ---- tcp_cb.c ----------------------------------------------------------------- */

/* Of a zeroed block, what the node's parameters say. */
void tcp_cb_init(struct tcp_cb *cb, const struct tcp_tune *t);
/* Shift that we announce. */
uint8_t tcp_own_wscale(const struct tcp_tune *t);
/* mss from path_mss, peer_mss, options. */
void tcp_set_mss(struct tcp_cb *cb);
/* What is written is cut to pieces of so much: a segment, or what one will be when the peer,
 * which has not answered yet, has no other wish. */
uint32_t tcp_hoped_mss(const struct tcp_cb *cb);
static inline uint32_t tcp_write_unit(const struct tcp_cb *cb)
{
	return XK_LIKELY(cb->state >= TCP_S_ESTABLISHED) ? cb->mss : tcp_hoped_mss(cb);
}
/* Both buffers up to whole segments (tune.whole_buffers). */
void tcp_round_buffers(struct tcp_cb *cb);
/* Room in the send buffer: a push of so much is taken. */
uint32_t tcp_room(const struct tcp_cb *cb);

/* ---- tcp_options.c ------------------------------------------------------------------------------ */

/* Parses hlen - 20 bytes; false: malformed (what was read before stands, bounded time). */
bool tcp_opts_parse(struct tcp_opts *o, const uint8_t *p, uint32_t len);
/* Options of a SYN or SYN-ACK; returns their length, a multiple of 4, at most 40. */
uint32_t tcp_opts_syn(uint8_t *p, const struct tcp_opts *o, enum tcp_synopts order);
/* Of any later segment: timestamps, then as many SACK blocks as fit. */
uint32_t tcp_opts_store(uint8_t *p, const struct tcp_opts *o);
/* Bytes that options take from every data segment of this connection: a product with the flag as
 * 0 or 1, since gcc repeats a choice wherever its result is used. */
static inline uint32_t tcp_opts_usual(const struct tcp_cb *cb)
{
	return 12u * (cb->flags / TCP_F_TS % 2);
}

/* Header of a segment that has no others. */
static inline uint32_t tcp_hlen_usual(const struct tcp_cb *cb) { return TCP_HDR_LEN + tcp_opts_usual(cb); }

/* ---- tcp_input.c --------------------------------------------------------------------------------- */

/* Any state but LISTEN and CLOSED.  Changes cb and says in *a what is left to
 * do; payload is not looked at.  rcv_nxt is advanced over [skip, take) and the FIN by
 * tcp_act after delivery, not here. */
void tcp_input(struct tcp_cb *cb, const struct tcp_env *e, const struct tcp_seg *g, struct tcp_acts *a);
/* What CLOSED answers (RFC 9293 3.10.7.1): RESET or nothing. */
void tcp_input_closed(const struct tcp_seg *g, struct tcp_acts *a);
/* The peer's FIN has been reached (in order): state and flags; TIME_WAIT and so on in *a. */
void tcp_input_fin(struct tcp_cb *cb, struct tcp_acts *a);
/* True when the limit of challenge ACKs lets one more out (counted). */
bool tcp_challenge(struct tcp_cb *cb, const struct tcp_env *e);
/* What moving snd_una to ack means for all but the congestion window. */
void tcp_input_advance(struct tcp_cb *cb, const struct tcp_env *e, uint32_t ack, struct tcp_acts *a);
/* Handshake options of the peer's SYN are applied: scale, timestamps, SACK, mss.
 * rcv_wscale holds what we offered. */
void tcp_negotiate(struct tcp_cb *cb, const struct tcp_env *e, const struct tcp_seg *g);

/* ---- tcp_fsm.c ---------------------------------------------------------------- */

enum tcp_event {
	TCP_E_CLOSE,                     /* the application ends its side */
	TCP_E_FIN,                       /* the peer's FIN is reached, in order */
	TCP_E_ACK_OF_FIN,                /* our FIN is acknowledged */
	TCP_E_COUNT
};
/* Where a state leads: enum tcp_state. */
extern const uint8_t tcp_next[TCP_S_COUNT][TCP_E_COUNT];

#define TCP_IN(s) (1u << TCP_S_##s)
/* Does the state take the peer's bytes, nothing of its end having come? */
static inline bool tcp_takes_data(const struct tcp_cb *cb)
{
	return (1u << cb->state & (TCP_IN(ESTABLISHED) | TCP_IN(FIN_WAIT_1) | TCP_IN(FIN_WAIT_2))) != 0;
}
/* Have both sides ended?  A reset is no error then. */
static inline bool tcp_both_ended(const struct tcp_cb *cb)
{
	return (1u << cb->state & (TCP_IN(CLOSING) | TCP_IN(LAST_ACK) | TCP_IN(TIME_WAIT))) != 0;
}

/* ---- tcp_window.c ------------------------------------------------------------- */

/* Window to announce now, bytes (never shrinks: RFC 9293 3.8.6.2.2), where the receive
 * buffer may have `limit` bytes; updates rcv_adv when `commit`. */
uint32_t tcp_rcv_window(struct tcp_cb *cb, uint32_t limit, bool commit);
/* Is it worth a segment of its own that the edge of the window may move by `gain`? */
bool tcp_window_worth(const struct tcp_cb *cb, uint32_t gain);

/* ---- tcp_sendq.c ----------------------------------------------------------------------------------- */

/* Both advance snd_end.  A message is taken as it is; bytes are copied, to where they will be
 * sent from, and summed.  Returns how many: fewer than n when memory is out. */
void tcp_sendq_put(struct tcp_cb *cb, struct xk_msg *m);
uint32_t tcp_sendq_write(struct tcp_cb *cb, const void *p, uint32_t n);
/* The next piece of a write alone: what one buffer takes, at most up to a segment's end.
 * end: tcp_sq_at_end. */
uint32_t tcp_sendq_add(struct tcp_cb *cb, const void *p, uint32_t n, uint16_t end);
/* Makes the first unsent message exactly one segment of at most len bytes, and of
 * exactly that when there is as much: splits, joins.  NULL: nothing unsent, or no
 * memory (as before, then). */
struct xk_msg *tcp_sendq_cut(struct tcp_cb *cb, uint32_t len);
/* It has been sent for the first time with sequence number seq. */
void tcp_sendq_sent(struct tcp_cb *cb, struct xk_msg *m, uint32_t seq, uint32_t now_us);
/* Frees what lies before una, the part of a segment included. */
void tcp_sendq_acked(struct tcp_cb *cb, uint32_t una);
/* Cuts a sent segment after len bytes; both halves keep its record.  False: no memory. */
bool tcp_sendq_recut(struct tcp_cb *cb, struct xk_msg *m, uint32_t len);
void tcp_sendq_free(struct tcp_cb *cb);

/* Sum of all of m's bytes; kept with it when `keep`. */
uint32_t tcp_sendq_sum(struct xk_msg *m, bool keep);
/* Takes m's flags out of the scoreboard's sums, n of its bytes; m keeps its flags. */
void tcp_sendq_forget(struct tcp_cb *cb, struct xk_msg *m, uint32_t n, bool whole);
#ifdef XK_DEBUG
void tcp_sendq_check(const struct tcp_cb *cb);
#else
static inline void tcp_sendq_check(const struct tcp_cb *cb) { (void)cb; }
#endif

/* The window that a segment of these numbers offers (RFC 9293 3.10.7.4). */
static inline void tcp_set_window(struct tcp_cb *cb, uint32_t seq, uint32_t ack, uint32_t wnd)
{
	cb->snd_wnd = wnd;
	cb->snd_wl1 = seq;
	cb->snd_wl2 = ack;
	if (wnd > cb->max_wnd)
		cb->max_wnd = wnd;
}

/* PSH where the record has it, and the other way. */
static inline uint16_t tcp_sq_psh(const struct xk_msg *m) { return m->kept.flags & TCP_SQ_PUSH ? TCP_PSH : 0; }
/* Of the message in which a push or a write ends. */
static inline uint16_t tcp_sq_at_end(const struct tcp_cb *cb) { return cb->flags & TCP_F_MORE ? 0 : TCP_SQ_PUSH; }
static inline uint32_t tcp_sq_end(const struct xk_msg *m) { return m->kept.seq + m->tot; }

/* ---- deadlines ------------------------------------------------------------------ */

static inline void tcp_timer_at(struct tcp_cb *cb, enum tcp_timer_no t, uint32_t at)
{
	cb->at[t] = at;
	if (cb->due == 0 || (int32_t)(at - cb->due) < 0)
		cb->due = at;
}
static inline void tcp_timer_arm(struct tcp_cb *cb, const struct tcp_env *e, enum tcp_timer_no t, uint32_t ms)
{
	tcp_timer_at(cb, t, tcp_deadline(e->now, ms));
}
static inline void tcp_timer_off(struct tcp_cb *cb, enum tcp_timer_no t) { cb->at[t] = 0; }
/* Full segments that len bytes count for: one, or as many as a device has put together. */
static inline uint32_t tcp_segments(const struct tcp_cb *cb, uint32_t len)
{
	if (XK_LIKELY(len <= cb->mss))
		return 1;
	return len < 3u * cb->mss ? 2 : len / cb->mss;
}
/* len bytes came in order: an acknowledgement is owed, now or when DELACK fires
 * (RFC 1122 4.2.3.2, RFC 5681 4.2); the first few at once, for slow start. */
static inline void tcp_owe_ack(struct tcp_cb *cb, const struct tcp_env *e, uint32_t len, bool push)
{
	const struct tcp_tune *t = cb->tune;
	unsigned n = cb->unacked_full + tcp_segments(cb, len);

	cb->unacked_full = (uint8_t)(n < 255 ? n : 255);
	/* tcp_emit counts cb->quick down. */
	if (cb->quick != 0 || n >= t->ack_every || (push && t->ack_push) || t->delack == 0) {
		cb->flags |= TCP_F_ACK_NOW;
	} else if (!(cb->flags & TCP_F_ACK_LATER)) {
		cb->flags |= TCP_F_ACK_LATER;
		tcp_timer_arm(cb, e, TCP_T_DELACK, t->delack);
	}
}
/* rto << backoff, within the bounds. */
static inline uint32_t tcp_rto_now(const struct tcp_cb *cb)
{
	uint64_t ms = (uint64_t)cb->rto << cb->backoff;

	return ms < cb->tune->rto_max ? (uint32_t)ms : cb->tune->rto_max;
}

/* ---- tcp_recovery.c ------------------------------------------------------------------------------------ */

void tcp_rec_init(struct tcp_cb *cb);            /* cwnd, ssthresh, rto */
/* The handshake is over; again: our SYN went out more than once. */
void tcp_rec_open(struct tcp_cb *cb, bool again);
void tcp_rtt_sample(struct tcp_cb *cb, uint32_t us);
uint32_t tcp_rto_of(const struct tcp_cb *cb);    /* what RFC 6298 makes of srtt and rttvar, ms */
/* An acceptable ACK came; called by tcp_input before snd_una moves and before the
 * queue is trimmed.  Marks, measures, adjusts cwnd; asks for OUTPUT in *a. */
void tcp_rec_ack(struct tcp_cb *cb, const struct tcp_env *e, const struct tcp_seg *g, bool window_changed,
		 struct tcp_acts *a);
/* The next segment to retransmit that the window allows, or NULL. */
struct xk_msg *tcp_rec_next(struct tcp_cb *cb, const struct tcp_env *e);
/* Bytes of new data that may be in flight besides what is: min(cwnd, snd_wnd) - flight. */
uint32_t tcp_rec_allow(const struct tcp_cb *cb);
void tcp_rec_sent(struct tcp_cb *cb, const struct tcp_env *e, struct xk_msg *m, bool again);
/* Timers that fired. */
void tcp_rec_timeout(struct tcp_cb *cb, const struct tcp_env *e);
void tcp_rec_reorder(struct tcp_cb *cb, const struct tcp_env *e);
void tcp_rec_arm(struct tcp_cb *cb, const struct tcp_env *e);  /* REXMT or PROBE for what is in flight */
void tcp_rec_ecn(struct tcp_cb *cb, const struct tcp_env *e);  /* the peer echoed congestion */
/* Congestion without a loss to repair: ssthresh and cwnd are reduced, once in a window. */
void tcp_rec_reduce(struct tcp_cb *cb, const struct tcp_env *e);

/* ---- tcp_cc.c -------------------------------------------------------------------------------------------- */

struct tcp_cc_ops {
	const char *name;
	bool       unlimited;            /* cwnd is TCP_CWND_MAX but for many timeouts in a row: the two windows alone limit */
	void     (*init)(struct tcp_cb *cb);
	/* acked new bytes, no recovery going on; may raise cwnd. */
	void     (*acked)(struct tcp_cb *cb, const struct tcp_env *e, uint32_t acked);
	/* ssthresh after a loss or an ECN echo, bytes. */
	uint32_t (*reduced)(struct tcp_cb *cb, const struct tcp_env *e);
	void     (*timeout)(struct tcp_cb *cb, const struct tcp_env *e);
	void     (*undo)(struct tcp_cb *cb);
	/* What of its own an idle connection keeps: all 0 at first. */
	uint32_t (*keep)(const struct tcp_cb *cb);
	void     (*wake)(struct tcp_cb *cb, uint32_t kept);
};
extern const struct tcp_cc_ops tcp_cc_table[TCP_CC_COUNT];

/* ---- what an ACK says about segments ------------------------------------------- */

struct tcp_delivery {
	uint32_t bytes;                  /* delivered by this ACK: cumulative and SACKed */
	uint32_t sacked;                 /* of them newly SACKed */
	uint32_t rtt_us;                 /* of the oldest; 0: none */
	uint32_t high;                   /* highest delivered before this ACK */
	uint32_t again_us;               /* since what was sent twice went out last; of several the longest */
	bool     again;                  /* some that was sent twice: Karn's rule */
	bool     orig;                   /* some of before the timeout that was never sent twice */
	bool     dsack;
	uint32_t dsack_l, dsack_r;
};

/* One segment has been delivered. */
void tcp_rec_delivered(struct tcp_cb *cb, const struct tcp_env *e, const struct tcp_seg *g,
		       struct xk_msg *m, struct tcp_delivery *d);
/* Segments in flight as the sender sees it (RFC 6675 pipe), bytes; una: where the ACK moves it.
 * A FIN's number is no byte: counted, it would keep the last full segment out of a
 * window of one segment for ever. */
static inline uint32_t tcp_pipe_at(const struct tcp_cb *cb, uint32_t una)
{
	uint32_t fin = (cb->flags & TCP_F_FIN_SENT) && una != cb->snd_max;
	uint32_t gone = cb->sacked_out + cb->lost_out + fin, all = cb->snd_max - una + cb->retrans_out;

	return all > gone ? all - gone : 0;
}
static inline uint32_t tcp_pipe(const struct tcp_cb *cb) { return tcp_pipe_at(cb, cb->snd_una); }
/* Is selective acknowledgement what tells us of losses?  Else RFC 6582. */
static inline bool tcp_by_sack(const struct tcp_cb *cb) { return (cb->flags & TCP_F_SACK) != 0; }
static inline bool tcp_by_rack(const struct tcp_cb *cb) { return tcp_by_sack(cb) && cb->tune->rack; }

/*
 * When a segment goes out now, for RACK.  The clock stands still during a burst, and
 * numbers tell the order of what is sent for the first time but not of what goes again: so
 * each repetition is dated a microsecond after all before it, and what follows is not
 * dated before it.
 */
#define TCP_STAMPS_AHEAD 1000u           /* repetitions of one moment that are kept in order */
static inline uint32_t tcp_stamp(const struct tcp_cb *cb, const struct tcp_env *e)
{
	return cb->again_us - e->now_us < TCP_STAMPS_AHEAD ? cb->again_us : e->now_us;
}

/* Microseconds from a stamp until now, at least 1. */
static inline uint32_t tcp_since(const struct tcp_env *e, uint32_t stamp)
{
	uint32_t us = e->now_us - stamp;

	return (int32_t)us > 0 ? us : 1;
}

void tcp_mark_lost(struct tcp_cb *cb, struct xk_msg *m);
/* Something new went out: the probe waits anew (RFC 8985 7.2). */
void tcp_rec_arm_probe(struct tcp_cb *cb, const struct tcp_env *e);
void tcp_rec_enter(struct tcp_cb *cb, const struct tcp_env *e, uint32_t una);

/* cwnd grows only when it was what held us back (RFC 7661's concern). */
static inline void tcp_rec_grow(struct tcp_cb *cb, const struct tcp_env *e, uint32_t acked)
{
	uint32_t flight = cb->snd_max - cb->snd_una;

	if (cb->cwnd < cb->ssthresh ? cb->cwnd <= 2 * flight : cb->cwnd < flight + cb->mss)
		cb->cc->acked(cb, e, acked);
}

/* tcp_sack.c: takes the blocks of g over; bounded work. */
void tcp_sack_update(struct tcp_cb *cb, const struct tcp_env *e, const struct tcp_seg *g,
		     struct tcp_delivery *d);
/* RFC 6675 IsLost over the queue, for connections without RACK; true: something new. */
bool tcp_sack_detect(struct tcp_cb *cb, uint32_t una);
void tcp_sack_reneged(struct tcp_cb *cb);

/* tcp_rack.c */
/* high: RACK.fack before this ACK. */
void tcp_rack_delivered(struct tcp_cb *cb, const struct tcp_env *e, const struct tcp_seg *g, struct xk_msg *m,
			uint32_t high);
void tcp_rack_dsack(struct tcp_cb *cb, uint32_t una);
/* Marks what is lost by time; arms TCP_T_REORDER; true: something new. */
bool tcp_rack_detect(struct tcp_cb *cb, const struct tcp_env *e, uint32_t una);
void tcp_tlp_ack(struct tcp_cb *cb, const struct tcp_env *e, const struct tcp_seg *g,
		 const struct tcp_delivery *d);
/* PTO, ms; 0: no probe now. */
uint32_t tcp_tlp_pto(const struct tcp_cb *cb, const struct tcp_env *e, uint32_t una);
/* PTO is over; false: no probe is due. */
bool tcp_tlp_begin(struct tcp_cb *cb);
/* May it be a new segment? */
bool tcp_tlp_new(const struct tcp_cb *cb);
/* It has gone out, or nothing could: REXMT takes over. */
void tcp_tlp_sent(struct tcp_cb *cb, const struct tcp_env *e);

/* tcp_undo.c */
void tcp_undo_begin(struct tcp_cb *cb);
void tcp_undo_dsack(struct tcp_cb *cb, const struct tcp_delivery *d);
bool tcp_undo_try(struct tcp_cb *cb, const struct tcp_env *e, const struct tcp_seg *g,
		  const struct tcp_delivery *d);

/* tcp_cc.c: cwnd that RFC 5681 / 6928 allow at the start. */
uint32_t tcp_cc_initial(const struct tcp_cb *cb);
#define TCP_CWND_MAX (1u << 30)

/* ---- what a segment with ACK pays ----------------------------------- */

/* Whatever acknowledgement was owed goes with this segment. */
static inline void tcp_ack_paid(struct tcp_cb *cb)
{
	cb->rcv_acked = cb->rcv_nxt;
	cb->flags &= ~(TCP_F_ACK_NOW | TCP_F_ACK_LATER);
	cb->unacked_full = 0;
	if (cb->quick != 0)
		cb->quick--;
	tcp_timer_off(cb, TCP_T_DELACK);
}

#endif
