/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_msg_inline.h - the per-message half of messages: taken, lent and given back without a call.
 *
 * After the descriptor of a REF segment lies a struct xk_msg_ref: the segment
 * whose buffer it looks into (its base), and how far before its bytes it may
 * write there (not at all, but for what xk_msg_lend has made); after that of an
 * EXTERN segment lies a struct xk_msg_extern.  A base freed before its REF segments keeps its buffer
 * until the last of them goes.  Such reference counts are plain integers, so
 * a message with REF or SHARED segments never leaves its VP: xk_msg_own first.
 *
 * For those who count instructions, and for the edges; all others call the same by xk_msg.h.
 */
#ifndef XK_MSG_INLINE_H
#define XK_MSG_INLINE_H

#include "runtime/base/xk_csum.h"
#include "runtime/base/xk_wide.h"
#include "runtime/mem/xk_mem.h"
#include "runtime/msg/xk_msg.h"
#include "runtime/msg/xk_msgq.h"

/* Most payload bytes that fit one segment with full headroom. */
#define XK_MSG_ROOM(cls_size) ((cls_size) - (uint32_t)sizeof(struct xk_msg) - XK_MSG_HEADROOM)
#define XK_MSG_MAX_SEG XK_MSG_ROOM(XK_MEM_LARGE_SIZE)

/* Lies after the descriptor of an EXTERN segment.  release is called once,
 * when the last segment that looks at the bytes is freed, on whatever VP that
 * happens; it must not allocate messages.  NULL: nothing to release. */
struct xk_msg_extern { void (*release)(void *arg); void *arg; };

static inline struct xk_msg_extern *xk_msg_extern(const struct xk_msg *m)
{
	return (struct xk_msg_extern *)(void *)((struct xk_msg *)(uintptr_t)m + 1);
}
/* arg of the last segment of a message, lent with that release, if nobody else looks at its bytes; else NULL. */
static inline void *xk_msg_extern_of(const struct xk_msg *m, void (*release)(void *))
{
	return (m->flags & XK_MSG_SLOW) == XK_MSG_EXTERN && xk_msg_extern(m)->release == release ? xk_msg_extern(m)->arg : NULL;
}

/* Lies after the descriptor of a REF segment.  Headers may be written into
 * [floor, ceiling), which is empty unless it was lent. */
struct xk_msg_ref { struct xk_msg *base; uint8_t *floor, *ceiling; };
static inline struct xk_msg_ref *xk_msg_ref(struct xk_msg *m) { return (struct xk_msg_ref *)(void *)(m + 1); }
/* Is there room for n bytes of header in front of a REF segment, alone in its message? */
static inline bool xk_msg_ref_room(struct xk_msg *m, uint32_t n)
{
	const struct xk_msg_ref *r = xk_msg_ref(m);

	return m->data - n >= r->floor && m->data <= r->ceiling;
}

/* ---- drivers, transports and the network layer --------------------------------------- */

/* A message round len bytes lent by a driver.  NULL when memory is out (the
 * bytes stay the caller's). */
struct xk_msg *xk_msg_new_extern(void *data, uint32_t len, void (*release)(void *), void *arg);
/* Same, with the partial checksum of what was copied added to *sum. */
uint32_t xk_msg_copy_out_csum(const struct xk_msg *m, uint32_t off, void *dst, uint32_t n, uint32_t *sum);
/* Partial checksum of bytes [off, tot). */
uint32_t xk_msg_csum(const struct xk_msg *m, uint32_t off, uint32_t seed);
/* The network header noted by the network layer on the way up; NULL if none.
 * Valid while the first segment is. */
static inline void *xk_msg_net(const struct xk_msg *m)
{
	return m->net ? (uint8_t *)(uintptr_t)m + m->net : NULL;
}
static inline void xk_msg_set_net(struct xk_msg *m, const void *h)
{
	uintptr_t d = (uintptr_t)h - (uintptr_t)m;

	/* A header in another buffer (a shared first segment) may be out of reach. */
	m->net = d <= UINT16_MAX ? (uint16_t)d : 0;
}
/* Makes m fit to be handed to another VP: m itself when every segment is
 * exclusively ours, else a copy, and m is freed.  NULL when memory is out (m
 * unharmed, still the caller's).  An EXTERN segment that nobody shares travels
 * as it is. */
struct xk_msg *xk_msg_own(struct xk_msg *m);
/* Are the first n bytes contiguous?  (Short messages and split headers: no.) */
static inline bool xk_msg_has(const struct xk_msg *m, uint32_t n)
{
	return XK_LIKELY(m->len >= n);
}
/* A fresh single- or multi-segment copy with full headroom; NULL when out. */
struct xk_msg *xk_msg_clone(const struct xk_msg *m);

/* ---- slow paths (msg_*.c) ------------------------------------------------------------ */

void xk_msg_free_slow(struct xk_msg *m);
struct xk_msg *xk_msg_new_slow(enum xk_memclass c, uint32_t len);
/* A message of len bytes, chained over large segments when it must be; NULL
 * when memory is out.  Bytes are undefined. */
struct xk_msg *xk_msg_new_chain(uint32_t len);
/* A segment before m's, for a header that does not fit its headroom or whose
 * segment is shared; len <= XK_MSG_MAX_SEG.  NULL when memory is out (m unharmed). */
struct xk_msg *xk_msg_prepend(struct xk_msg *m, uint32_t len);
/* Aborts unless the invariants of the chain hold.  For tests and debugging. */
void xk_msg_check(const struct xk_msg *m);

/* ---- the fast path ------------------------------------------------------------------- */

static inline enum xk_memclass xk_msg_class(uint32_t len)
{
	return len <= XK_MSG_ROOM(XK_MEM_SMALL_SIZE) ? XK_MEM_SMALL :
	       len <= XK_MSG_ROOM(XK_MEM_MEDIUM_SIZE) ? XK_MEM_MEDIUM : XK_MEM_LARGE;
}

/* The descriptor of a buffer just taken: one segment, full headroom. */
static inline struct xk_msg *xk_msg_init(const struct xk_memvp *v, enum xk_memclass c, void *b, uint32_t len)
{
	struct xk_msg *m = b;

	m->data = (uint8_t *)(m + 1) + XK_MSG_HEADROOM;
	m->len = m->tot = len;
	m->next = m->link = NULL;
	m->u.hint = NULL;
	memcpy((uint8_t *)m + offsetof(struct xk_msg, net), &v->cache[c].stamp, sizeof(uint64_t));
	return m;
}

/* One segment of class c holding len undefined bytes; NULL when memory is out.
 * The empty cache is left to a function called last: no stack frame here. */
static inline struct xk_msg *xk_msg_new_cls(enum xk_memclass c, uint32_t len)
{
	struct xk_memvp *v = xk_mem_self;

	if (XK_UNLIKELY(v->cache[c].n == 0))
		return xk_msg_new_slow(c, len);
	return xk_msg_init(v, c, xk_mem_get(v, c), len);
}

static inline struct xk_msg *xk_msg_new_inline(uint32_t len)
{
	if (XK_UNLIKELY(len > XK_MSG_MAX_SEG))
		return xk_msg_new_chain(len);
	return xk_msg_new_cls(xk_msg_class(len), len);
}

static inline void xk_msg_free_inline(struct xk_msg *m)
{
	struct xk_memvp *v = xk_mem_self;

	if (XK_LIKELY(!(m->flags & XK_MSG_SLOW) && m->home == v->no))
		xk_mem_put(v, (enum xk_memclass)m->cls, m);
	else
		xk_msg_free_slow(m);
}

/* The same for a message whose bytes nobody has touched for long. */
static inline void xk_msg_free_cold(struct xk_msg *m)
{
	struct xk_memvp *v = xk_mem_self;

	if (XK_LIKELY(!(m->flags & XK_MSG_SLOW) && m->home == v->no))
		xk_mem_put_cold(v, (enum xk_memclass)m->cls, m);
	else
		xk_msg_free_slow(m);
}

/* home, class and flags of ORDER STAMP as one word. */
static inline uint32_t xk_msg_stamp(const struct xk_msg *m)
{
	uint32_t w;

	memcpy(&w, &m->home, sizeof(w));
	return w;
}
_Static_assert(offsetof(struct xk_msg, flags) == offsetof(struct xk_msg, home) + 3, "ORDER STAMP");

/* Frees n > 0 messages; returns the sum of their tot.  Those of one class and
 * of this VP, all of one segment, go back in one piece. */
static inline uint64_t xk_msg_free_all(struct xk_msg *const *m, unsigned n)
{
	struct xk_memvp *v = xk_mem_self;
	struct xk_msg like = { .home = v->no, .cls = m[0]->cls }, mask = { .home = 0xffff, .cls = 0xff, .flags = XK_MSG_SLOW };
	uint32_t first = xk_msg_stamp(&like), differ = 0;
	uint64_t bytes = 0;

	XK_UNROLL
	for (unsigned i = 0; i < n; i++) {
		differ |= xk_msg_stamp(m[i]) ^ first;
		bytes += m[i]->tot;
	}
	if (XK_LIKELY((differ & xk_msg_stamp(&mask)) == 0)) {
		xk_mem_put_many(v, (enum xk_memclass)m[0]->cls, (void *const *)m, n);
	} else {
		for (unsigned i = 0; i < n; i++)
			xk_msg_free_inline(m[i]);
	}
	return bytes;
}

static inline uint32_t xk_msg_headroom(const struct xk_msg *m)
{
	return (m->flags & (XK_MSG_REF | XK_MSG_SHARED | XK_MSG_EXTERN)) ? 0 :
	       (uint32_t)(m->data - (const uint8_t *)(m + 1));
}

static inline void *xk_msg_push_inline(struct xk_msg **mp, uint32_t n)
{
	struct xk_msg *m = *mp;

	if (XK_UNLIKELY((m->flags & (XK_MSG_REF | XK_MSG_SHARED | XK_MSG_EXTERN)) ||
			(uint32_t)(m->data - (const uint8_t *)(m + 1)) < n) &&
	    ((m->flags & XK_MSG_SLOW) != XK_MSG_REF || !xk_msg_ref_room(m, n))) {
		m = xk_msg_prepend(m, n);
		if (m == NULL)
			return NULL;
		*mp = m;
		return m->data;
	}
	m->data -= n;
	m->len += n;
	m->tot += n;
	return m->data;
}

/*
 * xk_msg_push for the common message alone: one segment of its own, or a lent one,
 * with room in front.  NULL, and nothing changed, for any other: leave that to a function
 * called last, so that this one needs no stack frame.
 */
static inline uint8_t *xk_msg_push_quick(struct xk_msg *m, uint32_t n)
{
	uint8_t *p = m->data - n;

	if (m->flags & XK_MSG_SLOW) {
		if (XK_UNLIKELY((m->flags & XK_MSG_SLOW) != XK_MSG_REF || !xk_msg_ref_room(m, n)))
			return NULL;
	} else if (XK_UNLIKELY(p < (uint8_t *)(m + 1))) {
		return NULL;
	}
	m->data = p;
	m->len = m->tot = m->len + n;
	return p;
}

/*
 * A second message over the bytes of m, for one who keeps m: headers pushed onto
 * it go into the room before m's bytes, which is its own until it is freed, so m
 * is lent once at a time.  NULL, and nothing changed: m is no segment of its own
 * that nobody shares, or memory is out; xk_msg_share may do it then.
 */
static inline struct xk_msg *xk_msg_lend(struct xk_msg *m)
{
	struct xk_msg *r;

	if (XK_UNLIKELY(m->flags & XK_MSG_SLOW))
		return NULL;
	r = xk_msg_new_cls(XK_MEM_SMALL, m->len);
	if (XK_UNLIKELY(r == NULL))
		return NULL;
	r->data = m->data;
	r->flags = XK_MSG_REF;
	*xk_msg_ref(r) = (struct xk_msg_ref){ m, (uint8_t *)(m + 1), m->data };
	m->refs++;
	m->flags |= XK_MSG_SHARED;
	return r;
}

/* xk_msg_lend with n bytes of header before m's own, or NULL: there is no room either. */
static inline struct xk_msg *xk_msg_lend_push(struct xk_msg *m, uint32_t n)
{
	uint8_t *p = m->data - n;
	struct xk_msg *r;

	if (XK_UNLIKELY((m->flags & XK_MSG_SLOW) || p < (uint8_t *)(m + 1)))
		return NULL;
	r = xk_msg_new_cls(XK_MEM_SMALL, m->len + n);
	if (XK_UNLIKELY(r == NULL))
		return NULL;
	r->data = p;
	r->flags = XK_MSG_REF;
	*xk_msg_ref(r) = (struct xk_msg_ref){ m, (uint8_t *)(m + 1), m->data };
	m->refs++;
	m->flags |= XK_MSG_SHARED;
	return r;
}

/*
 * s, a whole message, behind `last`, the last segment of m; the new last segment.  Unlike
 * xk_msg_join it walks over s alone, and the sum noted of s stands for its bytes (XK_MSG_SUPER).
 */
static inline struct xk_msg *xk_msg_append(struct xk_msg *m, struct xk_msg *last, struct xk_msg *s)
{
	m->tot += s->tot;
	last->next = s;
	last->flags |= XK_MSG_CHAIN;
	while (XK_UNLIKELY(s->next != NULL))
		s = s->next;
	return s;
}

/* Who includes this header calls these by their ordinary names. */
#define xk_msg_new  xk_msg_new_inline
#define xk_msg_free xk_msg_free_inline
#define xk_msg_push xk_msg_push_inline

#endif
