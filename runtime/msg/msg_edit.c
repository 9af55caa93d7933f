/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * msg_edit.c - operations that change a message's shape, not its bytes.
 *
 * Whatever can fail allocates first and changes its operands afterwards, so
 * that failure leaves them as they were.
 * Invariant: payload is copied only by pullup, and only the bytes asked for.
 */
#include "runtime/msg/xk_msg_inline.h"
#include "runtime/msg/xk_msg_part.h"
#include "runtime/msg/msg_priv.h"

#include <string.h>

struct xk_msg *xk_msg_prepend(struct xk_msg *m, uint32_t len)
{
	struct xk_msg *h;

	xk_assert(len <= XK_MSG_MAX_SEG);
	h = xk_msg_new_cls(xk_msg_class(len), len);
	if (h == NULL)
		return NULL;
	msg_copy_attrs(h, m);
	msg_drop_csum(m);
	h->link = m->link;
	h->tot = len + m->tot;
	msg_chain(h, m);
	return h;
}

/* ---- pullup ------------------------------------------------------------------- */

void msg_keep_net(struct xk_msg *dst, const struct xk_msg *src)
{
	const uint8_t *h = xk_msg_net(src);
	ptrdiff_t back;

	dst->net = 0;
	if (h == NULL)
		return;
	back = src->data - h;
	if (back < -(ptrdiff_t)dst->len || back > (ptrdiff_t)xk_msg_headroom(dst))
		return;
	if (back > 0)
		memcpy(dst->data - back, h, (size_t)back);
	xk_msg_set_net(dst, dst->data - back);
}

/* Moves past the first n bytes of the chain m; returns the segment where the
 * rest begins, NULL when nothing is left.  Frees what is emptied. */
static struct xk_msg *eat(struct xk_msg *m, uint32_t n)
{
	while (m != NULL && m->len <= n) {
		n -= m->len;
		m = msg_free_seg(m);
	}
	if (m != NULL) {
		m->data += n;
		m->len -= n;
	}
	return m;
}

bool xk_msg_pullup(struct xk_msg **mp, uint32_t n)
{
	struct xk_msg *m = *mp, *h;
	uint32_t more;

	if (n <= m->len)
		return true;
	if (n > m->tot || n > XK_MSG_MAX_SEG)
		return false;
	more = n - m->len;
	if (more <= msg_tailroom(m)) {
		xk_msg_copy_out(m, m->len, m->data + m->len, more);
		msg_chain(m, eat(m->next, more));
		m->len = n;
		return true;
	}
	h = xk_msg_new_cls(xk_msg_class(n), n);
	if (h == NULL)
		return false;
	xk_msg_copy_out(m, 0, h->data, n);
	msg_copy_attrs(h, m);
	msg_keep_net(h, m);
	h->link = m->link;
	h->tot = m->tot;
	msg_chain(h, eat(m, n));
	*mp = h;
	return true;
}

/* ---- share, split, join, trim ------------------------------------------------------ */

static struct xk_msg *tail_of(struct xk_msg *m)
{
	while (m->next != NULL)
		m = m->next;
	return m;
}

struct xk_msg *xk_msg_share(struct xk_msg *m)
{
	struct xk_msg *first = NULL, *last = NULL, *s;

	for (s = m; s != NULL; s = s->next) {
		struct xk_msg *r;

		if (s->len == 0 && s != m)
			continue;
		r = msg_ref(s, 0, s->len);
		if (r == NULL) {
			if (first != NULL)
				xk_msg_free(first);
			return NULL;
		}
		if (first == NULL)
			first = r;
		else
			msg_chain(last, r);
		while (r->next != NULL)      /* a copied segment may be a chain */
			r = r->next;
		last = r;
	}
	first->tot = m->tot;
	msg_copy_attrs(first, m);
	if ((m->flags & XK_MSG_CSUM) && !(first->flags & XK_MSG_CHAIN)) {
		first->flags |= XK_MSG_CSUM;
		first->csum = m->csum;
	}
	return first;
}

struct xk_msg *xk_msg_part(struct xk_msg *m, uint32_t off, uint32_t n)
{
	struct xk_msg *first = NULL, *last = NULL, *r;
	uint32_t left = n;

	for (; first == NULL || left != 0; m = m->next) {
		uint32_t k;

		xk_assert(m != NULL);
		if (off >= m->len && n != 0) {
			off -= m->len;
			continue;
		}
		k = m->len - off < left ? m->len - off : left;
		r = msg_ref(m, off, k);
		if (r == NULL) {
			if (first != NULL)
				xk_msg_free(first);
			return NULL;
		}
		off = 0;
		left -= k;
		if (first == NULL)
			first = r;
		else
			msg_chain(last, r);
		last = tail_of(r);           /* a copied segment may be a chain */
	}
	first->tot = n;
	return first;
}

/* The segment of m that holds byte n; *off is n's place in it.  At a boundary
 * it is the later segment's byte 0, at the end the last segment's len. */
static struct xk_msg *locate(struct xk_msg *m, uint32_t n, struct xk_msg **prev, uint32_t *off)
{
	*prev = NULL;
	while (n >= m->len && m->next != NULL) {
		n -= m->len;
		*prev = m;
		m = m->next;
	}
	*off = n;
	return m;
}

struct xk_msg *xk_msg_split(struct xk_msg *m, uint32_t n)
{
	struct xk_msg *s, *prev, *rest;
	uint32_t off;

	xk_assert(n <= m->tot);
	s = locate(m, n, &prev, &off);
	if (off == 0 && prev != NULL) {      /* between two segments: nothing to share */
		rest = s;
		msg_chain(prev, NULL);
	} else {
		rest = off == s->len ? xk_msg_new_cls(XK_MEM_SMALL, 0) : msg_ref(s, off, s->len - off);
		if (rest == NULL)
			return NULL;
		msg_chain(tail_of(rest), s->next);
		msg_chain(s, NULL);
		s->len = off;
	}
	rest->tot = m->tot - n;
	rest->net = 0;
	rest->link = NULL;
	m->tot = n;
	msg_copy_attrs(rest, m);
	msg_drop_csum(rest);
	msg_drop_csum(m);
	return rest;
}

void xk_msg_join(struct xk_msg *a, struct xk_msg *b)
{
	xk_assert(a != b);
	msg_drop_csum(a);
	msg_drop_csum(b);
	a->tot += b->tot;
	if (b->tot == 0)
		xk_msg_free(b);
	else
		msg_chain(tail_of(a), b);
}

void xk_msg_trim_slow(struct xk_msg *m, uint32_t n)
{
	struct xk_msg *s = m, *gone;
	uint32_t keep;

	xk_assert(n <= m->tot);
	if (n == 0)
		return;
	keep = m->tot -= n;
	msg_drop_csum(m);
	while (keep > s->len) {
		keep -= s->len;
		s = s->next;
	}
	gone = s->next;
	msg_chain(s, NULL);
	s->len = keep;
	while (gone != NULL)
		gone = msg_free_seg(gone);
}
