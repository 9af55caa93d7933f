/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stream_app.c - what applications over a stream share.
 *
 * See stream_app.h.  Sessions are bound in their replica's active map under the
 * address of the connection below: the map is never asked for one, it is the list
 * that rep_stop walks.
 * Invariant: stream_q.bytes is the sum over the messages less `dropped`.
 */
#include "protocols/stream/stream_app.h"
#include "runtime/base/xk_csum_inline.h"
#include "runtime/upi/xk_inline.h"

#include <string.h>

/* ---- connections -------------------------------------------------------------- */

struct xk_sess *stream_keep(struct xk_rep *r, struct xk_sess *lls)
{
	struct xk_key k = { { (uintptr_t)lls, 0 } };
	struct xk_sess *s = xk_sess_create(r, NULL, r->node, lls);

	if (s == NULL)
		return NULL;
	if (xk_sess_bind(s, &k) != XK_OK) {
		xk_sess_destroy(s);
		return NULL;
	}
	lls->up = &s->self;
	return s;
}

struct xk_sess *stream_accept(struct xk_rep *r, struct xk_sess *lls, uint64_t most)
{
	struct xk_sess *s = xk_map_count(&r->active) < most ? stream_keep(r, lls) : NULL;

	if (s != NULL)
		xk_dup(lls);
	return s;
}

void stream_forget(struct xk_sess *s)
{
	struct xk_sess *lls = s->down;

	lls->up = &s->rep->up;
	xk_sess_destroy(s);
	xk_close(lls);
}

static int forget_visit(struct xk_mapnode *node, void *arg)
{
	void (**forget)(struct xk_sess *) = arg;

	(*forget)(xk_container_of(node, struct xk_sess, map));
	return XK_MAP_KEEP;              /* it is unbound already */
}

void stream_forget_all(struct xk_rep *r, void (*forget)(struct xk_sess *))
{
	xk_map_foreach(&r->active, forget_visit, &forget);
}

static int release_visit(struct xk_mapnode *node, void *arg)
{
	struct xk_sess *s = xk_container_of(node, struct xk_sess, map);
	const struct xk_rep *r = arg;

	if (s->up == &r->up && s->rcnt > 0) {
		stream_tell(s, XK_STREAM_ABORT, 0);
		xk_close(s);
	}
	return XK_MAP_KEEP;              /* it is unbound already */
}

void stream_release_all(struct xk_rep *r)
{
	xk_map_foreach(&r->down[0]->active, release_visit, r);
}

uint32_t stream_ask(struct xk_sess *lls, unsigned op)
{
	uint32_t v = 0;

	return xk_sess_control(lls, op, &v, sizeof v) == (int)sizeof v ? v : 0;
}

int stream_app_control(struct xk_rep *r, unsigned op, void *buf, unsigned len, const struct xk_app_counts *c,
		       void (*event)(struct xk_rep *r, const struct xk_stream_event *ev))
{
	const struct xk_stream_event *ev = stream_event(op, buf, len);

	if (ev != NULL) {
		event(r, ev);
		return 0;
	}
	return xk_app_answer(op, c, buf, len);
}

/* ---- bytes held back -------------------------------------------------------------- */

#define SMALL 512u               /* worth a copy to save a buffer */

static uint32_t spare_room(const struct xk_msg *m)
{
	if (m->flags & XK_MSG_SLOW)
		return 0;
	return (uint32_t)((const uint8_t *)m + xk_mem_size[m->cls] - (m->data + m->len));
}

void stream_q_put(struct stream_q *q, struct xk_msg *m)
{
	struct xk_msg *last = q->last;

	q->bytes += m->tot;
	if (m->tot <= SMALL && q->first != NULL && m->tot <= spare_room(last)) {
		xk_msg_copy_out(m, 0, last->data + last->len, m->tot);
		last->len += m->tot;
		last->tot += m->tot;
		xk_msg_free(m);
		return;
	}
	/* A small piece of a large or shared buffer would hold all of it. */
	if (m->tot <= SMALL && (m->flags & XK_MSG_SLOW)) {
		struct xk_msg *own = xk_msg_clone(m);

		if (own != NULL) {
			xk_msg_free(m);
			m = own;
		}
	}
	m->flags &= XK_MSG_SLOW;
	m->link = NULL;
	if (q->first == NULL)
		q->first = m;
	else
		last->link = m;
	q->last = m;
}

struct xk_msg *stream_q_get(struct stream_q *q)
{
	struct xk_msg *m = q->first;

	if (m != NULL) {
		q->first = m->link;
		q->bytes -= m->tot;
		m->link = NULL;
	}
	return m;
}

uint32_t stream_q_copy(const struct stream_q *q, uint32_t off, void *dst, uint32_t n)
{
	uint32_t got = 0;

	off += q->dropped;
	for (const struct xk_msg *m = q->first; m != NULL && got < n; m = m->link) {
		if (off >= m->tot) {
			off -= m->tot;
			continue;
		}
		got += xk_msg_copy_out(m, off, (uint8_t *)dst + got, n - got);
		off = 0;
	}
	return got;
}

void stream_q_drop(struct stream_q *q, uint32_t n)
{
	struct xk_msg *m;

	xk_assert(n <= q->bytes);
	q->bytes -= n;
	q->dropped += n;
	while ((m = q->first) != NULL && q->dropped >= m->tot) {
		q->dropped -= m->tot;
		q->first = m->link;
		xk_msg_free(m);
	}
}

void stream_q_free(struct stream_q *q)
{
	stream_q_drop(q, q->bytes);
}

/* ---- bytes made --------------------------------------------------------------------- */

struct xk_msg *stream_copy(const void *p, uint32_t n)
{
	struct xk_msg *m = xk_msg_new(n);

	if (XK_UNLIKELY(m == NULL))
		return NULL;
	if (XK_UNLIKELY(m->flags & XK_MSG_CHAIN)) {
		xk_msg_copy_in(m, 0, p, n);
	} else {
		m->csum = xk_csum_copy_quick(m->data, p, n, 0);
		m->flags |= XK_MSG_CSUM;
	}
	return m;
}

uint32_t stream_push_copy(struct xk_sess *lls, const void *p, uint32_t n)
{
	uint32_t room = stream_room(lls);
	struct xk_msg *m;

	n = n < room ? n : room;
	m = n != 0 ? stream_copy(p, n) : NULL;
	if (XK_UNLIKELY(m == NULL))
		return 0;
	xk_push(lls, m);
	return n;
}

#define WRITER_SHORT 256u        /* always */
#define WRITER_MANY  6u          /* longer ones, of which a segment has so many */

bool stream_writer_pays(struct xk_sess *lls, uint32_t n)
{
	return n <= WRITER_SHORT || (uint64_t)WRITER_MANY * n <= stream_ask(lls, XK_CTL_GETOPTPACKET);
}

void stream_writer_tell(struct xk_sess *lls, uint32_t n, uint32_t writes, uint32_t sum, bool summed)
{
	struct xk_stream_span x = { .put = n, .sum = sum, .summed = summed };

	xk_count_add(lls->rep->npush, writes);
	(void)lls->rep->ops->write_on(lls, NULL, 0, &x);
}

/* After a span that is full the next write sends, or begins a buffer. */
uint32_t stream_writer_other(struct stream_writer *w, const void *p, uint32_t n)
{
	uint32_t put = (uint32_t)(w->at - w->told);
	struct xk_stream_span x = { .put = put, .sum = w->sum, .summed = w->summed == put };
	struct xk_sess *lls = w->lls;

	/* Who stands before push sees messages. */
	if (XK_UNLIKELY(lls->rep->ops->write_on == NULL || lls->push != xk_sess_own_push(lls))) {
		stream_writer_end(w);
		return stream_write_some(lls, p, n);
	}
	xk_count_add(lls->rep->npush, w->writes + 1);
	n = lls->rep->ops->write_on(lls, p, n, &x);
	w->at = w->told = x.at;
	w->end = x.at + x.room;
	w->writes = w->sum = w->summed = 0;
	return n;
}

void stream_pattern(uint8_t *p, uint64_t n)
{
	uint64_t x = 88172645463325252u;

	for (uint64_t i = 0; i < n; i++) {       /* xorshift: no short period to hide a misplaced piece */
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		p[i] = (uint8_t)(x >> 32);
	}
}
