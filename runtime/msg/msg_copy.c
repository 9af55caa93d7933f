/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * msg_copy.c - reading, writing and summing the bytes of a chain.
 *
 * A partial checksum counts bytes by their place in the range, so the sum of a
 * segment that starts at an odd place is swapped before it is added.
 * Invariant: no result depends on where the chain is cut.
 */
#include "runtime/msg/xk_msg_inline.h"
#include "runtime/msg/msg_priv.h"

#include <string.h>

/* A place in a message and what is left of the range from there. */
struct span { const struct xk_msg *seg; uint32_t off, left, done; };

static struct span span_at(const struct xk_msg *m, uint32_t off, uint32_t n)
{
	struct span s = { m, off, 0, 0 };

	if (off >= m->tot)
		return s;
	s.left = n < m->tot - off ? n : m->tot - off;
	return s;
}

/* The next contiguous piece, 0 at the end; `done` is its place in the range. */
static uint32_t span_next(struct span *s, uint8_t **p)
{
	uint32_t n;

	if (s->left == 0)
		return 0;
	while (s->off >= s->seg->len) {
		s->off -= s->seg->len;
		s->seg = s->seg->next;
	}
	n = s->seg->len - s->off;
	if (n > s->left)
		n = s->left;
	*p = s->seg->data + s->off;
	s->off += n;
	s->left -= n;
	s->done += n;
	return n;
}

static uint32_t place(uint32_t sum, uint32_t at, uint32_t part)
{
	return xk_csum_add(sum, at & 1 ? xk_csum_swap(part) : part);
}

uint32_t xk_msg_copy_out(const struct xk_msg *m, uint32_t off, void *dst, uint32_t n)
{
	struct span s = span_at(m, off, n);
	uint8_t *p;

	while ((n = span_next(&s, &p)) != 0)
		memcpy((uint8_t *)dst + s.done - n, p, n);
	return s.done;
}

uint32_t xk_msg_copy_out_csum(const struct xk_msg *m, uint32_t off, void *dst, uint32_t n, uint32_t *sum)
{
	struct span s = span_at(m, off, n);
	uint8_t *p;

	while ((n = span_next(&s, &p)) != 0) {
		uint32_t at = s.done - n;

		*sum = place(*sum, at, xk_csum_copy((uint8_t *)dst + at, p, n, 0));
	}
	return s.done;
}

void xk_msg_copy_in(struct xk_msg *m, uint32_t off, const void *src, uint32_t n)
{
	struct span s = span_at(m, off, n);
	uint8_t *p;

	xk_assert(s.left == n);
	msg_drop_csum(m);
	while ((n = span_next(&s, &p)) != 0) {
		xk_assert(!(s.seg->flags & MSG_NOT_OURS));
		memcpy(p, (const uint8_t *)src + s.done - n, n);
	}
}

uint32_t xk_msg_csum(const struct xk_msg *m, uint32_t off, uint32_t seed)
{
	struct span s = span_at(m, off, m->tot);
	uint8_t *p;
	uint32_t n;

	while ((n = span_next(&s, &p)) != 0)
		seed = place(seed, s.done - n, xk_csum(p, n, 0));
	return seed;
}

struct xk_msg *xk_msg_clone(const struct xk_msg *m)
{
	struct xk_msg *c = xk_msg_new(m->tot);
	uint32_t off = 0;

	if (c == NULL)
		return NULL;
	for (struct xk_msg *s = c; s != NULL; s = s->next)
		off += xk_msg_copy_out(m, off, s->data, s->len);
	msg_copy_attrs(c, m);
	msg_keep_net(c, m);
	if ((m->flags & XK_MSG_CSUM) && !(c->flags & XK_MSG_CHAIN)) {
		c->flags |= XK_MSG_CSUM;
		c->csum = m->csum;
	}
	return c;
}

struct xk_msg *xk_msg_own(struct xk_msg *m)
{
	const struct xk_msg *s;
	struct xk_msg *c;

	for (s = m; s != NULL; s = s->next)
		if (s->flags & MSG_NOT_OURS)
			break;
	if (s == NULL)
		return m;
	c = xk_msg_clone(m);
	if (c != NULL)
		xk_msg_free(m);
	return c;
}
