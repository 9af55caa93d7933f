/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_out_priv.h - what the sending half of TCP shares within itself.
 *
 *   tcp_sendq.c     the queue            tcp_sack.c   the scoreboard on it
 *   tcp_output.c    what to send now     tcp_rack.c   RACK and TLP (RFC 8985)
 *   tcp_emit.c      segments as bytes    tcp_undo.c   spurious recoveries
 *   tcp_window.c    the window we offer  tcp_recovery.c  ACKs, entering and leaving recovery
 *   tcp_timer.c     deadlines            tcp_resend.c    what goes again, and when all is lost
 */
#ifndef TCP_OUT_PRIV_H
#define TCP_OUT_PRIV_H

#include "protocols/tcp/tcp_priv.h"

/* ---- the queue --------------------------------------------------------------- */

/* Sum of all of m's bytes; kept with it when `keep`. */
uint32_t tcp_sendq_sum(struct xk_msg *m, bool keep);
/* Takes m's flags out of the scoreboard's sums, n of its bytes; m keeps its flags. */
void tcp_sendq_forget(struct tcp_cb *cb, struct xk_msg *m, uint32_t n, bool whole);
#ifdef XK_DEBUG
void tcp_sendq_check(const struct tcp_cb *cb);
#else
static inline void tcp_sendq_check(const struct tcp_cb *cb) { (void)cb; }
#endif

static inline uint32_t tcp_sq_end(struct xk_msg *m) { return *tcp_sq_seq(m) + m->tot; }

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

/* tcp_undo.c */
void tcp_undo_begin(struct tcp_cb *cb);
void tcp_undo_dsack(struct tcp_cb *cb, const struct tcp_delivery *d);
bool tcp_undo_try(struct tcp_cb *cb, const struct tcp_env *e, const struct tcp_seg *g,
		  const struct tcp_delivery *d);

/* tcp_cc.c: cwnd that RFC 5681 / 6928 allow at the start. */
uint32_t tcp_cc_initial(const struct tcp_cb *cb);
#define TCP_CWND_MAX (1u << 30)

/* tcp_output.c: what a persist timer forces out although it is small. */
void tcp_output_forced(struct tcp_sess *ts);
/* Sends sent segment m again. */
bool tcp_resend(struct tcp_sess *ts, const struct tcp_env *e, struct xk_msg *m);

/* tcp_timer.c: until the next SYN, ms. */
uint32_t tcp_syn_wait(const struct tcp_cb *cb);

/* ---- headers ----------------------------------------------------------------- */

#define TCP_COPY_MAX   256u              /* payload that is copied rather than lent */
#define TCP_NOP_NOP_TS 0x0101080au

/* The window, worked out again when what it is made of has changed. */
static inline uint32_t tcp_said(struct tcp_cb *cb)
{
	uint32_t room = cb->rcv_buf - cb->rcv_held;

	if (cb->rcv_nxt != cb->said_nxt || cb->rcv_adv != cb->said_adv || room != cb->said_room) {
		cb->said = tcp_rcv_window(cb, true);
		cb->said_nxt = cb->rcv_nxt;
		cb->said_adv = cb->rcv_adv;
		cb->said_room = room;
	}
	return cb->said;
}

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

/* tcp_emit.c: bytes that blocks of an acknowledgement will take from a segment now. */
uint32_t tcp_emit_sack_room(const struct tcp_cb *cb);

#endif
