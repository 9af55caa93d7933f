/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_sendq.h - messages and bytes behind the last of a send queue, without a call.
 *
 * For tcp_sendq.c, and for who counts instructions.
 */
#ifndef TCP_SENDQ_H
#define TCP_SENDQ_H

#include "protocols/tcp/core/tcp_core.h"
#include "runtime/base/xk_csum_inline.h"
#include "runtime/msg/xk_msg_inline.h"

/* Sum of a's bytes followed by b's. */
static inline uint32_t tcp_sum_join(uint32_t a, uint32_t alen, uint32_t b)
{
	return xk_csum_add(a, alen & 1 ? xk_csum_swap(b) : b);
}

/* m becomes the last message of the list. */
static inline void tcp_sendq_link(struct tcp_sendq *q, struct xk_msg *m)
{
	m->link = NULL;
	if (q->last != NULL)
		q->last->link = m;
	else
		q->first = m;
	q->last = m;
}

/* Bytes that may be written behind m's own, which nobody else looks at. */
static inline uint32_t tcp_sendq_tailroom(const struct xk_msg *m)
{
	if (XK_UNLIKELY(m->flags & XK_MSG_SLOW))
		return 0;
	return (uint32_t)((const uint8_t *)m + xk_mem_size[m->cls] - (m->data + m->len));
}

/* Shorter pieces are summed all at once when the segment goes, while they are in the cache: in
 * vectors, that costs each of them a tenth. */
#define TCP_SUM_PIECE 512u

/* The copy, with its sum or without one from now on. */
static inline void tcp_sendq_copy(struct xk_msg *m, const void *p, uint32_t n)
{
	uint8_t *to = m->data + m->len;

	if ((n | m->len) < TCP_SUM_PIECE || !(m->flags & XK_MSG_CSUM)) {
		m->flags &= (uint8_t)~XK_MSG_CSUM;
		xk_copy_quick(to, p, n);
	} else {
		m->csum = tcp_sum_join(m->csum, m->tot, xk_csum_copy_quick(to, p, n, 0));
	}
}

/* The last message, unsent, has n bytes more.  end: its flags from now on. */
static inline void tcp_sendq_longer(struct tcp_cb *cb, struct xk_msg *m, uint32_t n, uint16_t end)
{
	m->len = m->tot = m->len + n;
	m->kept.flags = end;
	cb->snd_end += n;
	cb->sq.bytes += n;
	cb->sq.unsent_bytes += n;
	/* Where the next write will go: with many connections it has left the cache. */
	__builtin_prefetch(m->data + m->len, 1);
	__builtin_prefetch(m->data + m->len + XK_CACHELINE, 1);
}

/* The same, which has room for them; copies them there. */
static inline void tcp_sendq_extend(struct tcp_cb *cb, struct xk_msg *m, const void *p, uint32_t n, uint16_t end)
{
	tcp_sendq_copy(m, p, n);
	tcp_sendq_longer(cb, m, n, end);
}

#endif
