/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_push_quick.c - full segments down at once, pushed or written.
 *
 * A message that is a full segment by itself, with nothing waiting before it, room in the windows
 * and nothing else to be said, is common.  It goes down in one function, queue, timers and
 * header included, by what tcp_output and tcp_emit would have done in twenty.
 * Of a write each segment goes as soon as it is full, while its bytes are in the first-level cache.
 * Whatever else there is goes to tcp_push and tcp_write.
 * Invariant: no counter, header or state tells the short way from the long one.
 */
#include "protocols/tcp/fast/tcp_fast.h"
#include "protocols/tcp/core/tcp_sendq.h"
#include "runtime/base/xk_csum_inline.h"
#include "runtime/upi/xk_inline.h"

/* Twice in this file, with another constant. */
#define INLINE inline __attribute__((always_inline))

/* ---- a full segment's short way ------------------------------------------------------- */

/* Something else is to be said, or heeded. */
#define NOT_PLAIN (TCP_F_FIN_QUEUED | TCP_F_OUTPUT | TCP_F_URG_OUT | TCP_F_ECE | TCP_F_CWR | TCP_F_DSACK | TCP_F_WANT_ROOM)
/* The same and TCP_F_MORE, or it alone excused: in the middle of a long write (psh 0). */
#define NOT_SO(psh) ((psh) != 0 ? NOT_PLAIN | TCP_F_MORE : NOT_PLAIN)

/* Does a full segment of a connection in peace go, nothing before it, and is room for it in every
 * window?  odd: what is not as it must be for that, besides; what must be 0 is tested together.
 * After a pause the long way looks whether it was one of idleness. */
static INLINE bool goes_at_once(const struct tcp_cb *cb, uint64_t odd, uint32_t now, uint32_t psh)
{
	uint32_t flight = cb->snd_max - cb->snd_una, after = flight + cb->mss;
	uint64_t none = odd | (uintptr_t)cb->reass | cb->lost_out | (cb->flags & NOT_SO(psh));

	return XK_LIKELY(none == 0) && XK_LIKELY(cb->state == TCP_S_ESTABLISHED && cb->ca_state == TCP_CA_OPEN) &&
	       XK_LIKELY(cb->mss > TCP_COPY_MAX) && XK_LIKELY(after <= cb->cwnd) && XK_LIKELY(after <= cb->snd_wnd) &&
	       (flight != 0 || XK_LIKELY(cb->idle_since == now));
}

/* Of a message: it is one full segment, whose headers have room. */
static INLINE uint64_t odd_segment(const struct tcp_cb *cb, const struct xk_msg *m)
{
	return (uint64_t)((m->tot ^ cb->mss) | (m->flags & XK_MSG_SLOW));
}

/* Into the queue, as sent; queued: all that waited there was m.  psh: TCP_PSH or 0. */
static INLINE void enqueue_sent(struct tcp_cb *cb, struct xk_msg *m, uint32_t now_us, uint32_t psh, bool queued)
{
	struct tcp_sendq *q = &cb->sq;
	uint32_t n = m->tot;

	if (queued) {
		q->unsent = NULL;
		q->unsent_bytes = 0;
	} else {
		tcp_sendq_link(q, m);
		q->bytes += n;
		cb->snd_end += n;
	}
	q->unsent_prev = m;
	m->kept.seq = cb->snd_max;
	m->kept.when = cb->again_us - now_us < TCP_STAMPS_AHEAD ? cb->again_us : now_us;
	m->kept.flags = psh != 0 ? TCP_SQ_PUSH : 0;
	m->kept.count = 1;
	cb->snd_nxt = cb->snd_max += n;
	tcp_sendq_check(cb);
}

static XK_NOINLINE void probe_later(struct tcp_sess *ts)
{
	struct tcp_env e = tcp_env(ts->s.rep);

	tcp_rec_arm_probe(tcp_cb(ts), &e);
}

static XK_NOINLINE void arm_user_timeout(struct tcp_sess *ts)
{
	struct tcp_env e = tcp_env(ts->s.rep);

	if (tcp_cb(ts)->at[TCP_T_USER] == 0)
		tcp_timer_arm(tcp_cb(ts), &e, TCP_T_USER, tcp_cb(ts)->user_timeout);
}

/* What is in flight is watched: REXMT runs, and the probe's deadline is the one that
 * would come out again within a millisecond. */
static INLINE void watch(struct tcp_sess *ts, struct tcp_cb *cb, uint32_t now)
{
	bool first = cb->at[TCP_T_REXMT] == 0, later = cb->idle_since != now;

	cb->idle_since = now;
	if (first) {
		tcp_timer_at(cb, TCP_T_REXMT, tcp_deadline(now, tcp_rto_now(cb)));
		if (XK_UNLIKELY(cb->user_timeout != 0))
			arm_user_timeout(ts);
	}
	if ((cb->flags & TCP_F_SACK) && !cb->tlp_out &&
	    (first || later || cb->at[TCP_T_PROBE] == 0 || cb->snd_max - cb->snd_una <= 2u * cb->mss))
		probe_later(ts);
}

/* The sum of a length, as of two bytes in a header. */
static inline uint32_t length_sum(uint32_t n)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return n << 8;
#else
	return n;
#endif
}

/* The header at p, 20 bytes or 32; sum: of n bytes of payload; wnd: as it is sent. */
static INLINE void header(const struct tcp_cb *cb, uint8_t *p, uint32_t hlen, uint32_t n, uint32_t sum, uint32_t wnd,
			  uint32_t now, uint32_t psh)
{
	const struct tcp_live *l = xk_container_of(cb, struct tcp_live, cb);
	uint32_t seq = htobe32(cb->snd_max), ack = htobe32(cb->rcv_nxt);
	uint32_t word = htobe32(hlen << 26 | (psh | TCP_ACK) << 16 | wnd);
	uint64_t all = (uint64_t)sum + l->sum + seq + ack + word + length_sum(hlen + n);

	xk_put_raw32(p, l->ports);
	xk_put_raw32(p + 4, seq);
	xk_put_raw32(p + 8, ack);
	xk_put_raw32(p + 12, word);
	if (hlen != TCP_HDR_LEN) {
		uint32_t val = htobe32(now + cb->ts_off), ecr = htobe32(cb->ts_recent);

		xk_put_be32(p + 20, TCP_NOP_NOP_TS);
		xk_put_raw32(p + 24, val);
		xk_put_raw32(p + 28, ecr);
		all += (uint64_t)htobe32(TCP_NOP_NOP_TS) + val + ecr;
	}
	/* The urgent pointer behind it is 0. */
	xk_put_raw32(p + 16, 0);
	if (XK_LIKELY(cb->tune->checksum))
		xk_put_raw16(p + 16, (uint16_t)~xk_csum_fold(xk_csum_fold64(all)));
}

/* What a peer that answered inside our push has left to do. */
static XK_NOINLINE void answered(struct tcp_sess *ts)
{
	if (tcp_cb(ts)->state != TCP_S_CLOSED)
		tcp_output(ts);
}

/* The payload's sum: it came with the bytes, or they are read for it now. */
static inline uint32_t sum_of(struct xk_msg *m)
{
	if (XK_UNLIKELY(!(m->flags & XK_MSG_CSUM))) {
		m->csum = xk_csum_long(m->data, m->len, 0);
		m->flags |= XK_MSG_CSUM;
	}
	return m->csum;
}

/* False, and nothing has happened: memory is out. */
static INLINE bool send(struct tcp_sess *ts, struct xk_msg *m, xk_ns t, uint32_t psh, bool queued)
{
	struct tcp_cb *cb = tcp_cb(ts);
	uint32_t now = tcp_ms(t), wnd = tcp_advertise(ts, cb) >> cb->rcv_wscale;
	uint32_t sum = XK_LIKELY(cb->tune->checksum) ? sum_of(m) : 0, hlen = tcp_hlen_usual(cb);
	struct xk_msg *x = xk_msg_lend_push(m, hlen);

	if (XK_UNLIKELY(x == NULL))
		return false;
	header(cb, x->data, hlen, m->len, sum, wnd, now, psh);
	x->flags |= cb->flags & TCP_F_ECN ? XK_MSG_ECT : 0;
	enqueue_sent(cb, m, (uint32_t)(t / XK_US), psh, queued);
	tcp_ack_paid(cb);
	cb->flags |= TCP_F_OUTPUT;
	cb->segs_out++;
	watch(ts, cb, now);
	xk_push(ts->s.down, x);
	cb->flags &= ~TCP_F_OUTPUT;
	if (XK_UNLIKELY(cb->sq.unsent != NULL || (cb->flags & (TCP_F_ACK_NOW | TCP_F_WANT_ROOM | TCP_F_FIN_QUEUED)) ||
			cb->state == TCP_S_CLOSED))
		answered(ts);
	else
		tcp_timer_sync(ts);
	return true;
}

/* ---- a push ------------------------------------------------------------------------------- */

/* False, and nothing has happened: it is another case, or memory is out. */
static INLINE bool push_at_once(struct tcp_sess *ts, struct xk_msg *m, uint32_t psh)
{
	const struct tcp_cb *cb = tcp_cb(ts);
	xk_ns t = xk_vp_time(ts->s.rep->vp);

	return goes_at_once(cb, (uintptr_t)cb->sq.unsent | odd_segment(cb, m), tcp_ms(t), psh) &&
	       XK_LIKELY(cb->sq.bytes < cb->snd_buf) && send(ts, m, t, psh, false);
}

/* Of a long write, in the middle. */
static XK_NOINLINE bool push_more_at_once(struct tcp_sess *ts, struct xk_msg *m)
{
	return (tcp_cb(ts)->flags & TCP_F_MORE) && push_at_once(ts, m, 0);
}

void tcp_fast_push(struct xk_sess *s, struct xk_msg *m)
{
	struct tcp_sess *ts = tcp_sess(s);

	if (XK_UNLIKELY(tcp_is_compressed(ts)) || (!push_at_once(ts, m, TCP_PSH) && !push_more_at_once(ts, m)))
		tcp_push(s, m);
}

/* ---- a write ------------------------------------------------------------------------------ */

/* What waits, or the rest of a write, is for the long way. */
static XK_NOINLINE uint32_t write_rest(struct tcp_sess *ts, const uint8_t *p, uint32_t done, uint32_t n)
{
	if (done < n)
		done += tcp_write_put(ts, p + done, n - done);
	if (tcp_cb(ts)->state != TCP_S_CLOSED)
		tcp_output(ts);
	return done;
}

/* A full segment goes at once, nothing waiting before it; how many bytes were taken: none
 * where that is not so or memory is out. */
static INLINE uint32_t write_full(struct tcp_sess *ts, const uint8_t *p, uint16_t end)
{
	struct tcp_cb *cb = tcp_cb(ts);
	xk_ns t = xk_vp_time(ts->s.rep->vp);
	uint32_t psh = end != 0 ? TCP_PSH : 0, n = cb->mss;
	struct xk_msg *m;

	if (XK_UNLIKELY(!goes_at_once(cb, (uintptr_t)cb->sq.unsent, tcp_ms(t), psh)) ||
	    XK_UNLIKELY((uint64_t)cb->sq.bytes + n > cb->snd_buf || n > XK_MSG_MAX_SEG || tcp_memory_is_short(ts->s.rep)))
		return 0;
	m = xk_msg_new_cls(xk_msg_class(n), n);
	if (XK_UNLIKELY(m == NULL))
		return 0;
	m->csum = xk_csum_copy_long(m->data, p, n, 0);
	m->flags = XK_MSG_CSUM;
	if (XK_LIKELY(send(ts, m, t, psh, false)))
		return n;
	xk_msg_free(m);
	return 0;
}

/* The full segment that is all that waits. */
static INLINE bool push_queued(struct tcp_sess *ts)
{
	const struct tcp_cb *cb = tcp_cb(ts);
	struct xk_msg *m = cb->sq.unsent;
	uint32_t psh = tcp_sq_psh(m);
	xk_ns t = xk_vp_time(ts->s.rep->vp);

	return goes_at_once(cb, ((uintptr_t)m ^ (uintptr_t)cb->sq.last) | odd_segment(cb, m), tcp_ms(t), psh) &&
	       send(ts, m, t, psh, true);
}

/* Behind what waits, or as what waits from now on.  False: memory is out, or it is a segment and
 * does not go. */
static INLINE bool write_part(struct tcp_sess *ts, const uint8_t *p, uint32_t n, uint32_t *took)
{
	struct tcp_cb *cb = tcp_cb(ts);
	uint32_t have = cb->sq.unsent_bytes, k = min32(n, cb->mss - have);

	if (have == 0 || XK_UNLIKELY(tcp_sendq_tailroom(cb->sq.last) < k))
		k = tcp_sendq_add(cb, p, n, tcp_sq_at_end(cb));
	else
		tcp_sendq_extend(cb, cb->sq.last, p, k, k == n ? tcp_sq_at_end(cb) : 0);
	*took = k;
	return XK_LIKELY(k != 0) && (cb->sq.unsent_bytes != cb->mss || push_queued(ts));
}

/* Do n bytes fit, and does memory last for them? */
static INLINE bool takes(const struct tcp_sess *ts, const struct tcp_cb *cb, uint32_t n)
{
	return cb->sq.unsent_bytes < cb->mss && (uint64_t)cb->sq.bytes + n <= cb->snd_buf && cb->state == TCP_S_ESTABLISHED &&
	       !(cb->flags & TCP_F_FIN_QUEUED) && !tcp_memory_is_short(ts->s.rep);
}

static XK_APART uint32_t write_pieces(struct tcp_sess *ts, const uint8_t *p, uint32_t n)
{
	const struct tcp_cb *cb = tcp_cb(ts);
	uint32_t done = 0, k;
	bool on = true;

	/* Below may answer, and whoever hears of it may act. */
	while (on && done < n) {
		if (cb->sq.unsent_bytes == 0 && n - done >= cb->mss)
			on = (k = write_full(ts, p + done, n - done == cb->mss ? tcp_sq_at_end(cb) : 0)) != 0;
		else if (XK_LIKELY(takes(ts, cb, n - done)))
			on = write_part(ts, p + done, n - done, &k);
		else
			break;
		done += k;
		cb = tcp_cb(ts);
	}
	if (XK_LIKELY(on && done == n) && (cb->sq.unsent == NULL || tcp_waits_on(cb, 0)))
		return n;
	return done == 0 ? tcp_write(&ts->s, p, n) : write_rest(ts, p, done, n);
}

/* Something else is to be done than to wait for company when these are not as tcp_waits_on wants them. */
#define NAGLE (TCP_F_SMALL | TCP_F_NODELAY | TCP_F_DSACK | TCP_F_ACK_NOW | TCP_F_WANT_ROOM | TCP_F_FIN_QUEUED)

/* Do n bytes join what waits for company, in its buffer, and does it go on waiting? */
static INLINE bool joins(const struct tcp_cb *cb, uint32_t n)
{
	uint32_t have = cb->sq.unsent_bytes;
	uint64_t none = (uintptr_t)cb->reass | cb->lost_out | ((cb->flags & NAGLE) ^ TCP_F_SMALL);

	return have != 0 && n < cb->mss && have + n < cb->mss && none == 0 && cb->state == TCP_S_ESTABLISHED &&
	       cb->snd_una != cb->snd_max && cb->max_wnd >= 2u * cb->mss && cb->sq.bytes + n <= cb->snd_buf &&
	       tcp_sendq_tailroom(cb->sq.last) >= n;
}

static XK_APART uint32_t join(struct tcp_cb *cb, const void *p, uint32_t n)
{
	tcp_sendq_extend(cb, cb->sq.last, p, n, tcp_sq_at_end(cb));
	tcp_sendq_check(cb);
	return n;
}

/* No stack frame: every call is the last thing done. */
uint32_t tcp_fast_write(struct xk_sess *s, const void *p, uint32_t n)
{
	struct tcp_sess *ts = tcp_sess(s);

	if (XK_UNLIKELY(tcp_is_compressed(ts)) || tcp_is_train(tcp_cb(ts), n))
		return tcp_write(s, p, n);
	return joins(tcp_cb(ts), n) ? join(tcp_cb(ts), p, n) : write_pieces(ts, p, n);
}
