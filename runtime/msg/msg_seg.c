/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * msg_seg.c - segments: making, sharing and freeing them one by one.
 *
 * refs of a base is 1 for its holder plus one for each REF segment.  When it
 * falls to 1 the SHARED flag goes: either the holder is alone again and may
 * write, or the holder is gone and nobody reads the flag any more.
 * Invariant: a buffer is put exactly when its refs reach 0.
 */
#include "runtime/msg/xk_msg_inline.h"
#include "runtime/msg/msg_priv.h"

#include <string.h>

static void put_buffer(struct xk_msg *m)
{
	struct xk_memvp *v = xk_mem_self;

	if (m->home == v->no)
		xk_mem_put(v, (enum xk_memclass)m->cls, m);
	else
		xk_mem_put_foreign(v, (enum xk_memclass)m->cls, m->home, m);
}

static void unref(struct xk_msg *m)
{
	xk_dassert(m->refs != 0);
	m->refs--;
	if (m->refs == 1)
		m->flags &= (uint8_t)~XK_MSG_SHARED;
	if (m->refs != 0)
		return;
	if ((m->flags & XK_MSG_EXTERN) && xk_msg_extern(m)->release != NULL)
		xk_msg_extern(m)->release(xk_msg_extern(m)->arg);
	put_buffer(m);
}

struct xk_msg *msg_free_seg(struct xk_msg *m)
{
	struct xk_msg *next = m->next;

	if (m->flags & XK_MSG_REF)
		unref(msg_base(m));
	unref(m);
	return next;
}

/* A header before bytes that were lent, nobody else looking at either. */
static inline bool free_lent(struct xk_memvp *v, struct xk_msg *m)
{
	struct xk_msg *x = m->next;

	if ((m->flags & XK_MSG_SLOW) != XK_MSG_CHAIN || (x->flags & XK_MSG_SLOW) != XK_MSG_EXTERN ||
	    m->home != v->no || x->home != v->no || xk_msg_extern(x)->release == NULL)
		return false;
	xk_msg_extern(x)->release(xk_msg_extern(x)->arg);
	xk_mem_put(v, (enum xk_memclass)x->cls, x);
	xk_mem_put(v, (enum xk_memclass)m->cls, m);
	return true;
}

static XK_APART void free_segs(struct xk_msg *m)
{
	if (free_lent(xk_mem_self, m))
		return;
	while (m != NULL)
		m = msg_free_seg(m);
}

/* No stack frame: every call is the last thing done. */
void xk_msg_free_slow(struct xk_msg *m)
{
	struct xk_memvp *v = xk_mem_self;
	struct xk_msg *base;

	/* A lent one, its base kept by who lent it. */
	if (XK_LIKELY((m->flags & XK_MSG_SLOW) == XK_MSG_REF && m->home == v->no)) {
		base = msg_base(m);
		if (XK_LIKELY(base->refs == 2)) {
			base->refs = 1;
			base->flags &= (uint8_t)~XK_MSG_SHARED;
			xk_mem_put(v, (enum xk_memclass)m->cls, m);
			return;
		}
	}
	free_segs(m);
}

void xk_msgq_free(struct xk_msgq *q)
{
	struct xk_msg *m;

	while ((m = xk_msgq_get(q)) != NULL)
		xk_msg_free(m);
	q->last = NULL;
}

/* The count is full (65534 REF segments): copy instead of sharing. */
static struct xk_msg *copy_seg(const struct xk_msg *s, uint32_t off, uint32_t len)
{
	struct xk_msg *m = xk_msg_new(len);

	if (m == NULL)
		return NULL;
	xk_msg_copy_in(m, 0, s->data + off, len);
	return m;
}

struct xk_msg *msg_ref(struct xk_msg *s, uint32_t off, uint32_t len)
{
	struct xk_msg *base = s->flags & XK_MSG_REF ? msg_base(s) : s;
	struct xk_msg *m;

	if (base->refs == UINT16_MAX)
		return copy_seg(s, off, len);
	m = xk_msg_new_cls(XK_MEM_SMALL, len);
	if (m == NULL)
		return NULL;
	m->data = s->data + off;
	m->flags = XK_MSG_REF;
	*xk_msg_ref(m) = (struct xk_msg_ref){ base, m->data, NULL };
	base->refs++;
	base->flags |= XK_MSG_SHARED;
	return m;
}

struct xk_msg *xk_msg_new_slow(enum xk_memclass c, uint32_t len)
{
	struct xk_memvp *v = xk_mem_self;
	void *b = xk_mem_refill(v, c);

	return b == NULL ? NULL : xk_msg_init(v, c, b, len);
}

struct xk_msg *xk_msg_new_extern(void *data, uint32_t len, void (*release)(void *), void *arg)
{
	struct xk_msg *m = xk_msg_new_cls(XK_MEM_SMALL, len);

	if (m == NULL)
		return NULL;
	m->data = data;
	m->flags = XK_MSG_EXTERN;
	xk_msg_extern(m)->release = release;
	xk_msg_extern(m)->arg = arg;
	return m;
}

struct xk_msg *xk_msg_new_chain(uint32_t len)
{
	struct xk_msg *first = NULL, *last = NULL;
	uint32_t left = len;

	do {
		uint32_t n = left > XK_MSG_MAX_SEG ? XK_MSG_MAX_SEG : left;
		struct xk_msg *m = xk_msg_new_cls(xk_msg_class(n), n);

		if (m == NULL) {
			if (first != NULL)
				xk_msg_free(first);
			return NULL;
		}
		if (first == NULL)
			first = m;
		else
			msg_chain(last, m);
		last = m;
		left -= n;
	} while (left != 0);
	first->tot = len;
	return first;
}

void xk_msg_check(const struct xk_msg *m)
{
	const struct xk_msg *s;
	uint64_t sum = 0;

	for (s = m; s != NULL; s = s->next) {
		const struct xk_msg *base = s;

		sum += s->len;
		xk_assert(((s->flags & XK_MSG_CHAIN) != 0) == (s->next != NULL));
		xk_assert(s->refs != 0 && s->cls < XK_MEM_CLASSES);
		xk_assert(((s->flags & XK_MSG_SHARED) != 0) == (s->refs > 1));
		if (s->flags & XK_MSG_REF) {
			base = msg_base((struct xk_msg *)(uintptr_t)s);
			xk_assert(base->refs != 0 && !(base->flags & XK_MSG_REF));
		}
		if (base->flags & XK_MSG_EXTERN)
			continue;
		xk_assert(s->data >= (const uint8_t *)(base + 1));
		xk_assert(s->data + s->len <= (const uint8_t *)base + xk_mem_size[base->cls]);
	}
	xk_assert(sum == m->tot);
}
