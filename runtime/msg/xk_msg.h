/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_msg.h - messages: bytes moving through the graph.
 *
 * A message is one 64-byte descriptor line at the head of its own buffer, with
 * headroom before the bytes, so that pushing and popping a header moves one
 * pointer and payload is never copied by a layer.  A longer or shared message
 * is a chain of segments.  Everything here runs on the VP that holds the
 * message (xk_mem_self); a message is given to another VP whole, by the VP's
 * inbox, and its buffers find their way home when freed there.
 *
 * After the descriptor of a REF segment lies a struct xk_msg_ref: the segment
 * whose buffer it looks into (its base), and how far before its bytes it may
 * write there (not at all, but for what xk_msg_lend has made); after that of an
 * EXTERN segment lies a struct xk_msg_extern.  A base freed before its REF segments keeps its buffer
 * until the last of them goes.  Such reference counts are plain integers, so
 * a message with REF or SHARED segments never leaves its VP: xk_msg_own first.
 *
 * Where an operation makes another first segment, it carries over u, hash, vp,
 * node, aux and the flags of the up path; XK_MSG_CSUM and csum only where
 * the bytes are the same.  "m unharmed" means that content, length and
 * attributes are as before the call.
 * Invariant: tot of the first segment is the sum of len over the chain; a
 * segment has XK_MSG_CHAIN exactly when next is set; zero-length segments are
 * legal.
 */
#ifndef XK_MSG_H
#define XK_MSG_H

#include "runtime/base/xk_base.h"
#include "runtime/base/xk_csum.h"
#include "runtime/base/xk_wide.h"
#include "runtime/mem/xk_mem.h"

#define XK_MSG_HEADROOM 128u
struct xk_sess;

/* Flags.  SLOW ones keep a message off the one-compare free path. */
#define XK_MSG_CHAIN   0x01u  /* next is set */
#define XK_MSG_REF     0x02u  /* data lies in another segment's buffer */
#define XK_MSG_SHARED  0x04u  /* refs > 1: some REF segment points here */
#define XK_MSG_EXTERN  0x08u  /* data lies in memory lent by a driver */
#define XK_MSG_SLOW    0x0fu
/* Down path: csum is the partial sum of data..len (whole, unchained).  Up path, until
 * the transport has judged it: of all that lies behind the network header. */
#define XK_MSG_CSUM    0x10u
#define XK_MSG_CSUM_OK 0x20u  /* up path: the edge vouches for the transport checksum */
#define XK_MSG_CSUM_IGNORE 0x40u /* up path: compute the checksum but ignore the verdict */
#define XK_MSG_LINK_BCAST 0x80u /* up path: the link destination was not our own address */
#define XK_MSG_ECT XK_MSG_LINK_BCAST /* down path: the network header shall say that the sender heeds ECN, ECT(0) */

struct xk_msg {
	uint8_t        *data;    /* first byte of this segment */
	uint32_t        len;     /* bytes in this segment */
	uint32_t        tot;     /* bytes in the message; first segment only */
	struct xk_msg  *next;    /* next segment of this message */
	struct xk_msg  *link;    /* next message of a queue or burst */
	union {
		/* Inside a VP: where to find the session that this message should
		 * meet at the next layer up (see xk_upi_inline.h). */
		struct xk_sess **hint;
		/* Between the classifier and the VP: the flow, by slab handle. */
		struct { uint32_t flow; uint16_t gen; uint16_t pad; } v;
		uint64_t name;   /* the same as one word, pad 0 */
	} u;
	/* A protocol that keeps its own copy of a message (TCP's send queue does) may use hash,
	 * vp, node and aux of it as it likes. */
	uint32_t        hash;    /* flow hash, set by the classifier */
	uint32_t        csum;    /* partial sum, see XK_MSG_CSUM */
	uint16_t        vp;      /* VP that shall run it, set by the classifier */
	uint16_t        node;    /* graph node whose enter operation takes it from an inbox */
	/* ORDER STAMP: net to flags, eight bytes, see struct xk_memcache. */
	uint16_t        net;     /* offset of the network header from this descriptor, 0 = none */
	uint16_t        refs;    /* REF segments that point into this buffer, plus 1 */
	uint16_t        home;    /* VP that owns the buffer */
	uint8_t         cls;     /* enum xk_memclass */
	uint8_t         flags;
	uint32_t        aux;     /* free for the current holder */
} XK_ALIGNED;
_Static_assert(offsetof(struct xk_msg, flags) == offsetof(struct xk_msg, net) + 7, "ORDER STAMP");
_Static_assert(sizeof(struct xk_msg) == XK_CACHELINE, "a descriptor is one line");

/* Most payload bytes that fit one segment with full headroom. */
#define XK_MSG_ROOM(cls_size) ((cls_size) - (uint32_t)sizeof(struct xk_msg) - XK_MSG_HEADROOM)
#define XK_MSG_MAX_SEG XK_MSG_ROOM(XK_MEM_LARGE_SIZE)

/* Lies after the descriptor of an EXTERN segment.  release is called once,
 * when the last segment that looks at the bytes is freed, on whatever VP that
 * happens; it must not allocate messages.  NULL: nothing to release. */
struct xk_msg_extern { void (*release)(void *arg); void *arg; };

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

/* ---- slow paths and rare operations (msg_*.c) ---------------------------- */

/* A message round len bytes lent by a driver.  NULL when memory is out (the
 * bytes stay the caller's). */
struct xk_msg *xk_msg_new_extern(void *data, uint32_t len, void (*release)(void *), void *arg);
/* Makes m fit to be handed to another VP: m itself when every segment is
 * exclusively ours, else a copy, and m is freed.  NULL when memory is out (m
 * unharmed, still the caller's).  An EXTERN segment that nobody shares travels
 * as it is. */
struct xk_msg *xk_msg_own(struct xk_msg *m);
/* Aborts unless the invariants of the chain hold.  For tests and debugging. */
void xk_msg_check(const struct xk_msg *m);

void xk_msg_free_slow(struct xk_msg *m);
struct xk_msg *xk_msg_new_slow(enum xk_memclass c, uint32_t len);
/* A message of len bytes, chained over large segments when it must be; NULL
 * when memory is out.  Bytes are undefined. */
struct xk_msg *xk_msg_new_chain(uint32_t len);
/* A segment before m's, for a header that does not fit its headroom or whose
 * segment is shared; len <= XK_MSG_MAX_SEG.  NULL when memory is out (m unharmed). */
struct xk_msg *xk_msg_prepend(struct xk_msg *m, uint32_t len);
/* Copies the first n bytes together so that data[0..n) is contiguous; false
 * (m unharmed) when the message is shorter, n > XK_MSG_MAX_SEG or memory is
 * out.  *m may become another message; the network header stays noted where it
 * lies within XK_MSG_HEADROOM bytes before the data. */
bool xk_msg_pullup(struct xk_msg **m, uint32_t n);
/* A second message over the same bytes (xk_msg_lend is quicker): shares buffers, VP-local.
 * Neither may write payload in place afterwards.  NULL when memory is out. */
struct xk_msg *xk_msg_share(struct xk_msg *m);
/* Cuts m after n bytes: m keeps [0,n), the rest is returned (shares the
 * segment that is cut).  n <= tot.  NULL when memory is out (m unharmed). */
struct xk_msg *xk_msg_split(struct xk_msg *m, uint32_t n);
/* a followed by b, as a; b is consumed.  They must differ. */
void xk_msg_join(struct xk_msg *a, struct xk_msg *b);
/* Drops n bytes from the tail, n <= tot. */
void xk_msg_trim_slow(struct xk_msg *m, uint32_t n);
/* Bytes [off, off+n) to dst; returns bytes copied. */
uint32_t xk_msg_copy_out(const struct xk_msg *m, uint32_t off, void *dst, uint32_t n);
/* Same, with the partial checksum of what was copied added to *sum. */
uint32_t xk_msg_copy_out_csum(const struct xk_msg *m, uint32_t off, void *dst, uint32_t n, uint32_t *sum);
/* dst[off, off+n) = src; the range must exist and be writable: neither REF nor SHARED. */
void xk_msg_copy_in(struct xk_msg *m, uint32_t off, const void *src, uint32_t n);
/* A fresh single- or multi-segment copy with full headroom; NULL when out. */
struct xk_msg *xk_msg_clone(const struct xk_msg *m);
/* Partial checksum of bytes [off, tot). */
uint32_t xk_msg_csum(const struct xk_msg *m, uint32_t off, uint32_t seed);

/* ---- the fast path ------------------------------------------------------- */

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

/* A message of len undefined bytes, of the smallest class (or chain) that fits. */
static inline struct xk_msg *xk_msg_new(uint32_t len)
{
	if (XK_UNLIKELY(len > XK_MSG_MAX_SEG))
		return xk_msg_new_chain(len);
	return xk_msg_new_cls(xk_msg_class(len), len);
}

static inline void xk_msg_free(struct xk_msg *m)
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
			xk_msg_free(m[i]);
	}
	return bytes;
}

static inline uint32_t xk_msg_headroom(const struct xk_msg *m)
{
	return (m->flags & (XK_MSG_REF | XK_MSG_SHARED | XK_MSG_EXTERN)) ? 0 :
	       (uint32_t)(m->data - (const uint8_t *)(m + 1));
}

/*
 * Room for a header of n bytes in front; writes it through the returned
 * pointer.  The message may become another one (*mp): a new segment was put
 * before it.  NULL when memory is out: the caller drops the message.
 */
static inline void *xk_msg_push(struct xk_msg **mp, uint32_t n)
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
 * The same for the common message alone: one segment of its own, or a lent one,
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

/* Are the first n bytes contiguous?  (Short messages and split headers: no.) */
static inline bool xk_msg_has(const struct xk_msg *m, uint32_t n)
{
	return XK_LIKELY(m->len >= n);
}

/* Contiguous view of the first n bytes, NULL when the message is too short
 * (or memory is out).  Does not move. */
static inline void *xk_msg_peek(struct xk_msg **mp, uint32_t n)
{
	if (XK_UNLIKELY((*mp)->len < n) && !xk_msg_pullup(mp, n))
		return NULL;
	return (*mp)->data;
}

/* Moves past n bytes that xk_msg_peek has shown. */
static inline void xk_msg_pop(struct xk_msg *m, uint32_t n)
{
	xk_dassert(m->len >= n);
	m->data += n;
	m->len -= n;
	m->tot -= n;
}

/* Keeps the first n bytes (n <= tot): padding and trailers go. */
static inline void xk_msg_truncate(struct xk_msg *m, uint32_t n)
{
	if (XK_LIKELY(m->tot == n))
		return;
	if (XK_LIKELY(!(m->flags & XK_MSG_CHAIN)))
		m->len = m->tot = n;
	else
		xk_msg_trim_slow(m, m->tot - n);
}

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

/* A list of messages linked by link. */
struct xk_msgq { struct xk_msg *first, *last; uint32_t n; };
static inline void xk_msgq_init(struct xk_msgq *q) { q->first = q->last = NULL; q->n = 0; }
static inline void xk_msgq_put(struct xk_msgq *q, struct xk_msg *m)
{
	m->link = NULL;
	if (q->first == NULL)
		q->first = m;
	else
		q->last->link = m;
	q->last = m;
	q->n++;
}
static inline struct xk_msg *xk_msgq_get(struct xk_msgq *q)
{
	struct xk_msg *m = q->first;

	if (m != NULL) {
		q->first = m->link;
		q->n--;
	}
	return m;
}
void xk_msgq_free(struct xk_msgq *q);   /* frees every message */

#endif
