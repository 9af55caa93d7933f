/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_sendq.c - what was pushed and is not acknowledged yet.
 *
 * A list of messages in order.  Bytes that are written are copied once, with their sum, into
 * buffers that will be segments: behind the last one's until it is full, then into the next.
 * What was pushed stays where it is and is shaped into segments only when one is wanted:
 * long messages are split without copying, short ones joined.  A small one is written, so
 * that neither memory nor a segment's chain grows with the number of pushes.
 * Sums that came with the bytes are kept through all of this: of two parts, one
 * is read and the other is what is left.  Here XK_MSG_CSUM may stand on a chain
 * as well, for the whole of it; room msg drops it where it would be wrong.
 * Invariant: bytes and unsent_bytes are what the list holds; sent messages
 * follow each other in sequence space without a hole.
 */
#include "protocols/tcp/core/tcp_sendq.h"

#define SMALL_PUSH  512u         /* is written behind what waits */
#define CHAIN_MAX   4u           /* segments of a joined message; more are copied together */

/* ---- sums ------------------------------------------------------------------------ */

uint32_t tcp_sendq_sum(struct xk_msg *m, bool keep)
{
	uint32_t sum;

	if (m->flags & XK_MSG_CSUM)
		return m->csum;
	sum = m->flags & XK_MSG_CHAIN ? xk_msg_csum(m, 0, 0) : xk_csum_quick(m->data, m->len, 0);
	if (keep) {
		m->csum = sum;
		m->flags |= XK_MSG_CSUM;
	}
	return sum;
}

/* Sum of the bytes behind the first alen: all - a. */
static uint32_t sum_rest(uint32_t all, uint32_t a, uint32_t alen)
{
	uint32_t s = xk_csum_add(all, ~a);

	return alen & 1 ? xk_csum_swap(s) : s;
}

static void set_sum(struct xk_msg *m, uint32_t sum)
{
	m->csum = sum;
	m->flags |= XK_MSG_CSUM;
}

/* xk_msg_split that keeps the sums of both when there was one: the shorter part
 * is read, the longer one is what is left. */
static struct xk_msg *split(struct xk_msg *m, uint32_t n)
{
	bool had = (m->flags & XK_MSG_CSUM) != 0;
	uint32_t all = m->csum, s;
	struct xk_msg *rest = xk_msg_split(m, n);

	if (rest == NULL || !had)
		return rest;
	if (m->tot <= rest->tot) {
		s = tcp_sendq_sum(m, true);
		set_sum(rest, sum_rest(all, s, n));
	} else {
		s = tcp_sendq_sum(rest, true);
		set_sum(m, xk_csum_add(all, ~(n & 1 ? xk_csum_swap(s) : s)));
	}
	return rest;
}

/* xk_msg_join that keeps the sum. */
static void join(struct xk_msg *a, struct xk_msg *b)
{
	bool had = (a->flags & b->flags & XK_MSG_CSUM) != 0;
	uint32_t sum = had ? tcp_sum_join(a->csum, a->tot, b->csum) : 0;

	xk_msg_join(a, b);
	if (had)
		set_sum(a, sum);
}

/* ---- the list ------------------------------------------------------------------------ */

static void link_last(struct tcp_sendq *q, struct xk_msg *m)
{
	tcp_sendq_link(q, m);
	if (q->unsent == NULL)
		q->unsent = m;
}

/* c takes the place of m, the first unsent message, which is freed. */
static struct xk_msg *replace(struct tcp_sendq *q, struct xk_msg *m, struct xk_msg *c)
{
	c->kept.flags = m->kept.flags;
	c->kept.count = 0;
	c->link = m->link;
	if (q->unsent_prev != NULL)
		q->unsent_prev->link = c;
	else
		q->first = c;
	if (q->last == m)
		q->last = c;
	q->unsent = c;
	xk_msg_free(m);
	return c;
}

/* ---- writing --------------------------------------------------------------------------- */

/* Will what is written now be followed by more before it goes? */
static bool waits(const struct tcp_cb *cb)
{
	return cb->sq.unsent != NULL || (cb->flags & (TCP_F_CORK | TCP_F_MORE)) ||
	       (cb->sq.bytes != 0 && !(cb->flags & TCP_F_NODELAY));
}

/* A buffer that begins with n bytes of p, all that is left of a segment or what is written; with
 * room for all `left` where more will come.  Returns how many it took, 0: no memory. */
static uint32_t begin(struct tcp_cb *cb, const uint8_t *p, uint32_t n, uint32_t left, uint16_t end)
{
	uint32_t want = n < left && waits(cb) ? left : n;
	struct xk_msg *m;

	if (XK_UNLIKELY(n > XK_MSG_MAX_SEG)) {
		n = XK_MSG_MAX_SEG;
		end = 0;
	}
	m = xk_msg_new_cls(xk_msg_class(want), n);
	if (XK_UNLIKELY(m == NULL))
		return 0;
	set_sum(m, xk_csum_copy_quick(m->data, p, n, 0));
	m->kept.count = 0;
	m->kept.flags = end;
	link_last(&cb->sq, m);
	cb->snd_end += n;
	cb->sq.bytes += n;
	cb->sq.unsent_bytes += n;
	return n;
}

/* The last message has no more room, but the segment has: its few bytes move to a buffer that
 * holds all of that.  NULL: it stays, and the segment becomes a chain. */
static struct xk_msg *grow(struct tcp_sendq *q, uint32_t left)
{
	struct xk_msg *m = q->last, *c;

	if (m != q->unsent || (m->flags & XK_MSG_SLOW) || m->cls != XK_MEM_SMALL || m->tot + left > XK_MSG_MAX_SEG)
		return NULL;
	c = xk_msg_new_cls(xk_msg_class(m->tot + left), m->tot);
	if (c == NULL)
		return NULL;
	memcpy(c->data, m->data, m->tot);
	if (m->flags & XK_MSG_CSUM)
		set_sum(c, m->csum);
	return replace(q, m, c);
}

/* What the segment that what waits ends with lacks; all of it, where that is whole or there is
 * nothing. */
static inline uint32_t segment_left(const struct tcp_cb *cb, uint32_t unit)
{
	uint32_t have = cb->sq.unsent_bytes;

	return unit - (XK_LIKELY(have < unit) ? have : have % unit);
}

/* The last message, where it has room for more of the segment that it is in; else NULL. */
static inline struct xk_msg *open_end(struct tcp_sendq *q, uint32_t left)
{
	return XK_LIKELY(tcp_sendq_tailroom(q->last) != 0) ? q->last : grow(q, left);
}

uint32_t tcp_sendq_add(struct tcp_cb *cb, const void *p, uint32_t n, uint16_t end)
{
	uint32_t unit = tcp_write_unit(cb), left = segment_left(cb, unit), k = min32(n, left);
	struct xk_msg *m = left != unit ? open_end(&cb->sq, left) : NULL;

	if (m != NULL) {
		k = min32(k, tcp_sendq_tailroom(m));
		tcp_sendq_extend(cb, m, p, k, k == n ? end : 0);
	} else {
		k = begin(cb, p, k, left, k == n ? end : 0);
	}
	tcp_sendq_check(cb);
	return k;
}

uint32_t tcp_sendq_write(struct tcp_cb *cb, const void *p, uint32_t n)
{
	uint32_t done = 0, k = 1;

	for (; done < n && k != 0; done += k)
		k = tcp_sendq_add(cb, (const uint8_t *)p + done, n - done, tcp_sq_at_end(cb));
	return done;
}

/* ---- putting ----------------------------------------------------------------------- */

/* A small message is written behind what waits; NULL: all of it, else m is what is left. */
static struct xk_msg *written(struct tcp_cb *cb, struct xk_msg *m)
{
	uint32_t n;

	if (cb->sq.unsent == NULL || m->tot > SMALL_PUSH || (m->flags & XK_MSG_CHAIN))
		return m;
	n = tcp_sendq_write(cb, m->data, m->tot);
	if (XK_UNLIKELY(n < m->tot)) {
		xk_msg_pop(m, n);
		m->flags &= (uint8_t)~XK_MSG_CSUM;
		return m;
	}
	xk_msg_free(m);
	return NULL;
}

void tcp_sendq_put(struct tcp_cb *cb, struct xk_msg *m)
{
	struct tcp_sendq *q = &cb->sq;

	if (m->tot == 0) {
		xk_msg_free(m);
		return;
	}
	m = written(cb, m);
	if (m == NULL)
		return;
	cb->snd_end += m->tot;
	q->bytes += m->tot;
	q->unsent_bytes += m->tot;
	link_last(q, m);
	m->kept.flags = tcp_sq_at_end(cb);
	m->kept.count = 0;
	tcp_sendq_check(cb);
}

/* ---- cutting ----------------------------------------------------------------------- */

/* Splits m after n bytes in its place of the list; the record is copied, the
 * rest keeps the PSH. */
static struct xk_msg *split_in_list(struct tcp_sendq *q, struct xk_msg *m, uint32_t n)
{
	uint16_t flags = m->kept.flags;
	struct xk_msg *rest = split(m, n);

	if (rest == NULL)
		return NULL;
	rest->link = m->link;
	m->link = rest;
	if (q->last == m)
		q->last = rest;
	rest->kept.flags = flags;
	rest->kept.count = m->kept.count;
	rest->kept.when = m->kept.when;
	rest->kept.seq = m->kept.seq + n;
	m->kept.flags = flags & (uint16_t)~TCP_SQ_PUSH;
	return rest;
}

/* Moves the message after m into m. */
static void take_next(struct tcp_sendq *q, struct xk_msg *m)
{
	struct xk_msg *n = m->link;

	m->link = n->link;
	if (q->last == n)
		q->last = m;
	m->kept.flags = n->kept.flags;
	join(m, n);
}

static unsigned chain_length(const struct xk_msg *m)
{
	unsigned n = 1;

	for (; m->next != NULL; m = m->next)
		n++;
	return n;
}

/* The first unsent message in one buffer, when memory allows and it fits. */
static struct xk_msg *linear(struct tcp_sendq *q, struct xk_msg *m)
{
	struct xk_msg *c;
	uint32_t sum = 0;

	if (m->tot > XK_MSG_MAX_SEG || chain_length(m) <= CHAIN_MAX || (c = xk_msg_new(m->tot)) == NULL)
		return m;
	xk_msg_copy_out_csum(m, 0, c->data, m->tot, &sum);
	set_sum(c, sum);
	return replace(q, m, c);
}

static XK_NOINLINE struct xk_msg *fill(struct tcp_sendq *q, struct xk_msg *m, uint32_t len)
{
	while (m->tot < len && m->link != NULL) {
		uint32_t want = len - m->tot;

		if (m->link->tot > want && split_in_list(q, m->link, want) == NULL)
			return NULL;
		take_next(q, m);
	}
	return linear(q, m);
}

struct xk_msg *tcp_sendq_cut(struct tcp_cb *cb, uint32_t len)
{
	struct tcp_sendq *q = &cb->sq;
	struct xk_msg *m = q->unsent;

	if (m == NULL || m->tot == len)
		return m;
	if (m->tot > len)
		return split_in_list(q, m, len) != NULL ? m : NULL;
	if (m->link == NULL && !(m->flags & XK_MSG_CHAIN))
		return m;
	m = fill(q, m, len);
	tcp_sendq_check(cb);
	return m;
}

void tcp_sendq_sent(struct tcp_cb *cb, struct xk_msg *m, uint32_t seq, uint32_t now_us)
{
	struct tcp_sendq *q = &cb->sq;

	xk_dassert(m == q->unsent);
	m->kept.seq = seq;
	m->kept.when = now_us;
	m->kept.flags &= TCP_SQ_PUSH;
	m->kept.count = 1;
	q->unsent_prev = m;
	q->unsent = m->link;
	q->unsent_bytes -= m->tot;
}

bool tcp_sendq_recut(struct tcp_cb *cb, struct xk_msg *m, uint32_t len)
{
	struct tcp_sendq *q = &cb->sq;
	struct xk_msg *rest;

	xk_dassert(m != q->unsent && len != 0);
	if (m->tot <= len)
		return true;
	rest = split_in_list(q, m, len);
	if (rest == NULL)
		return false;
	if (m->kept.flags & TCP_SQ_SACKED)
		cb->sacked_segs++;
	if (q->unsent_prev == m)
		q->unsent_prev = rest;
	tcp_sendq_check(cb);
	return true;
}

/* ---- acknowledged --------------------------------------------------------------------- */

static void less(uint32_t *sum, uint32_t n)
{
	xk_dassert(*sum >= n);
	*sum -= n < *sum ? n : *sum;
}

void tcp_sendq_forget(struct tcp_cb *cb, struct xk_msg *m, uint32_t n, bool whole)
{
	uint16_t f = m->kept.flags;

	if (f & TCP_SQ_SACKED) {
		less(&cb->sacked_out, n);
		if (whole)
			less(&cb->sacked_segs, 1);
	}
	if (f & TCP_SQ_LOST)
		less(&cb->lost_out, n);
	if (f & TCP_SQ_RETRANS)
		less(&cb->retrans_out, n);
}

/* Drops the first n bytes of m, fewer than all: segments of the chain that are
 * emptied stay in it, so that no memory is needed. */
static void trim_front(struct xk_msg *m, uint32_t n)
{
	struct xk_msg *s;

	m->flags &= (uint8_t)~XK_MSG_CSUM;
	m->tot -= n;
	for (s = m; n != 0; s = s->next) {
		uint32_t k = n < s->len ? n : s->len;

		s->data += k;
		s->len -= k;
		n -= k;
	}
}

static void acked_part(struct tcp_cb *cb, struct xk_msg *m, uint32_t n)
{
	tcp_sendq_forget(cb, m, n, false);
	trim_front(m, n);
	m->kept.seq += n;
	cb->sq.bytes -= n;
}

void tcp_sendq_acked(struct tcp_cb *cb, uint32_t una)
{
	struct tcp_sendq *q = &cb->sq;
	struct xk_msg *m;

	while ((m = q->first) != q->unsent && tcp_leq(tcp_sq_end(m), una)) {
		if (XK_UNLIKELY(m->kept.flags & (TCP_SQ_SACKED | TCP_SQ_LOST | TCP_SQ_RETRANS)))
			tcp_sendq_forget(cb, m, m->tot, true);
		q->first = m->link;
		q->bytes -= m->tot;
		xk_msg_free(m);
	}
	if (m != q->unsent && tcp_lt(m->kept.seq, una))
		acked_part(cb, m, una - m->kept.seq);
	if (m == q->unsent) {
		q->unsent_prev = NULL;
		if (m == NULL)
			q->last = NULL;
	}
	tcp_sendq_check(cb);
}

void tcp_sendq_free(struct tcp_cb *cb)
{
	struct tcp_sendq *q = &cb->sq;

	while (q->first != NULL) {
		struct xk_msg *m = q->first;

		q->first = m->link;
		xk_msg_free(m);
	}
	*q = (struct tcp_sendq){ 0 };
	cb->walk = (struct tcp_sqwalk){ 0 };
	cb->sacked_out = cb->lost_out = cb->retrans_out = cb->sacked_segs = 0;
}

#ifdef XK_DEBUG
void tcp_sendq_check(const struct tcp_cb *cb)
{
	const struct tcp_sendq *q = &cb->sq;
	struct xk_msg *m, *prev = NULL;
	uint32_t bytes = 0, unsent = 0;
	bool sent = true;

	for (m = q->first; m != NULL; prev = m, m = m->link) {
		if (m == q->unsent) {
			xk_assert(prev == q->unsent_prev);
			sent = false;
		}
		xk_assert(m->tot != 0);
		bytes += m->tot;
		if (!sent)
			unsent += m->tot;
		else if (prev != NULL)
			xk_assert(tcp_sq_end(prev) == m->kept.seq);
	}
	xk_assert(prev == q->last && bytes == q->bytes && unsent == q->unsent_bytes);
	xk_assert(q->unsent != NULL || q->unsent_prev == q->last);
}
#endif
