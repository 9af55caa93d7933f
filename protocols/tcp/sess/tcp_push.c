/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_push.c - the operations push and write: into the queue, and out by what tcp_output allows; what a writer
 * copies into the queue by itself.
 *
 * Invariant: what was promised as room is taken whole.
 */
#include "protocols/tcp/core/tcp_sendq.h"
#include "protocols/tcp/sess/tcp_sess.h"
#include "runtime/upi/xk_inline.h"

/* There was no room, so bytes are missing from the stream: it ends here. */
static XK_NOINLINE void overrun(struct tcp_sess *ts, struct xk_msg *m)
{
	xk_drop(ts->s.rep, TCP_DROP_OVERRUN, m);
	if (tcp_cb(ts)->state > TCP_S_SYN_SENT)
		tcp_send_rst(ts);
	tcp_finish(ts, XK_E_CONNABORTED);
}

static XK_NOINLINE void no_room(struct tcp_sess *ts, struct xk_msg *m)
{
	struct tcp_cb *cb = tcp_cb(ts);

	if (cb->sq.bytes < cb->snd_buf || (cb->flags & TCP_F_FIN_QUEUED))
		xk_drop(ts->s.rep, TCP_DROP_CLOSED, m);
	else
		overrun(ts, m);
}

static void push_awake(struct tcp_sess *ts, struct xk_msg *m)
{
	struct tcp_cb *cb = tcp_cb(ts);
	uint32_t before = cb->sq.unsent_bytes;

	if (XK_UNLIKELY(tcp_room(cb) == 0)) {
		no_room(ts, m);
		return;
	}
	tcp_sendq_put(cb, m);
	if (XK_LIKELY(cb->state >= TCP_S_ESTABLISHED && !tcp_waits_on(cb, before)))
		tcp_output(ts);
}

void tcp_push(struct xk_sess *s, struct xk_msg *m)
{
	struct tcp_sess *ts = tcp_sess(s);

	if (XK_UNLIKELY(tcp_is_compressed(ts)) && !tcp_wake_or_end(ts))
		xk_drop(s->rep, XK_DROP_NOMEM, m);
	else
		push_awake(ts, m);
}

uint32_t tcp_write_put(struct tcp_sess *ts, const void *p, uint32_t n)
{
	bool train = tcp_is_train(tcp_cb(ts), n);
	uint32_t limit, room = tcp_room_now(ts, &limit), done = 0, k;

	n = min32(n, room);
	while (done < n && tcp_room_now(ts, &limit) != 0) {
		struct tcp_cb *cb = tcp_cb(ts);
		const uint8_t *from = (const uint8_t *)p + done;
		uint32_t before = cb->sq.unsent_bytes;

		k = train ? tcp_sendq_write(cb, from, n - done) : tcp_sendq_add(cb, from, n - done, tcp_sq_at_end(cb));
		done += k;
		if ((k == 0 || done == n || cb->sq.unsent_bytes >= cb->mss) && done != 0 &&
		    cb->state >= TCP_S_ESTABLISHED && !tcp_waits_on(cb, before))
			tcp_output(ts);
		if (XK_UNLIKELY(k == 0))
			break;
	}
	return done;
}

uint32_t tcp_write(struct xk_sess *s, const void *p, uint32_t n)
{
	struct tcp_sess *ts = tcp_sess(s);

	return XK_UNLIKELY(tcp_is_compressed(ts)) && !tcp_wake(ts) ? 0 : tcp_write_put(ts, p, n);
}

/* ---- what a writer does by itself --------------------------------------------------------- */

/* How many bytes join what waits before it is full.  The byte that makes a full segment is written: with it
 * the segment goes. */
static inline uint32_t joining(const struct tcp_cb *cb)
{
	uint32_t with = cb->sq.unsent_bytes + 1;

	return with >= cb->mss ? 0 : min32(cb->mss - with, tcp_sendq_tailroom(cb->sq.last));
}

static inline uint32_t left_of(const struct tcp_cb *cb)
{
	return cb->snd_buf - min32(cb->snd_buf, cb->sq.bytes);
}

static inline uint32_t room_of(const struct tcp_sess *ts, const struct tcp_cb *cb)
{
	uint32_t limit;

	return XK_LIKELY(cb->state == TCP_S_ESTABLISHED && !tcp_memory_is_short(ts->s.rep)) ? left_of(cb) :
											      tcp_room_now(ts, &limit);
}

/* Where bytes may be copied that a write would only add to what waits for company. */
static inline void span(const struct tcp_sess *ts, struct xk_stream_span *x)
{
	const struct tcp_cb *cb = tcp_cb(ts);

	if (cb->sq.unsent == NULL || cb->state < TCP_S_ESTABLISHED || !tcp_waits_on(cb, 0))
		return;
	x->at = cb->sq.last->data + cb->sq.last->len;
	x->room = min32(joining(cb), room_of(ts, cb));
}

/* They are there.  The room that was promised is there still, whatever became of memory, and what waited goes on
 * waiting: nothing else was asked of the VP.  False: so many there may not be. */
static inline bool spanned(struct tcp_sess *ts, const struct xk_stream_span *x)
{
	struct tcp_cb *cb = tcp_cb(ts);
	uint32_t n = x->put;
	struct xk_msg *m;

	if (cb->sq.unsent == NULL || n > joining(cb) || n > left_of(cb) || (cb->flags & TCP_F_FIN_QUEUED))
		return false;
	m = cb->sq.last;
	if (!x->summed)
		m->flags &= (uint8_t)~XK_MSG_CSUM;
	else if (m->flags & XK_MSG_CSUM)
		m->csum = tcp_sum_join(m->csum, m->tot, x->sum);
	tcp_sendq_longer(cb, m, n, tcp_sq_at_end(cb));
	tcp_sendq_check(cb);
	return true;
}

uint32_t tcp_write_on(struct xk_sess *s, const void *p, uint32_t n, struct xk_stream_span *x)
{
	struct tcp_sess *ts = tcp_sess(s);
	uint32_t took;

	x->room = 0;
	if (x->put != 0 && XK_UNLIKELY(tcp_is_compressed(ts) || !spanned(ts, x)))
		return 0;
	if (n == 0 && x->put != 0)
		return 0;
	took = n != 0 ? s->rep->ops->write(s, p, n) : 0;
	if (XK_LIKELY(took == n && !tcp_is_compressed(ts)))
		span(ts, x);
	return took;
}
