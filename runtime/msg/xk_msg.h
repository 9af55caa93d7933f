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
 * Some segments look into the buffer of another one, or into a driver's memory: such a message
 * never leaves its VP (xk_msg_own first).
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
/*
 * Down path: a super-segment.  One TCP or UDP datagram with one set of headers, whose payload
 * shall leave in frames of u.cut.seg bytes each, the last of as many as are left; the device
 * sends it so, or drivers/common/cut.h makes the frames.  What is pushed so is no longer than
 * XK_CTL_GETMAXSUPER said.  XK_MSG_CSUM on a segment behind the first: csum is the sum of that
 * segment's bytes.
 */
#define XK_MSG_SUPER   XK_MSG_CSUM_IGNORE
/* Down path: the transport's checksum field holds the folded sum of the pseudo-header alone, its
 * length that of the whole; the device adds the rest and complements. */
#define XK_MSG_PARTIAL XK_MSG_CSUM_OK

struct xk_msg {
	uint8_t        *data;    /* first byte of this segment */
	uint32_t        len;     /* bytes in this segment */
	uint32_t        tot;     /* bytes in the message; first segment only */
	struct xk_msg  *next;    /* next segment of this message */
	struct xk_msg  *link;    /* next message of a queue or burst */
	union {
		/* Inside a VP: where to find the session that this message should
		 * meet at the next layer up (see xk_inline.h). */
		struct xk_sess **hint;
		/* Between the classifier and the VP: the flow, by slab handle. */
		struct { uint32_t flow; uint16_t gen; uint16_t pad; } v;
		uint64_t name;   /* the same as one word, pad 0 */
		/* Of a super-segment on its way down (XK_MSG_SUPER): payload bytes of a frame. */
		struct { uint32_t seg, pad; } cut;
	} u;
	uint32_t        csum;    /* partial sum, see XK_MSG_CSUM */
	union {
		/* A message under way. */
		struct {
			uint32_t hash;  /* flow hash, set by the classifier */
			uint16_t vp;    /* VP that shall run it, set by the classifier */
			uint16_t node;  /* graph node whose enter operation takes it from an inbox */
			uint32_t aux;   /* free for the current holder */
		};
		/* A message that a protocol keeps until its peer has answered for it, as TCP's send
		 * queue does: what is noted of it.  What goes down meanwhile is another message
		 * over the same bytes (xk_msg_lend), so neither is read as the other. */
		struct {
			uint32_t seq;   /* number of its first byte */
			uint16_t flags; /* of the protocol itself */
			uint16_t count; /* transmissions */
			uint32_t when;  /* time of the last of them, in the protocol's unit */
		} kept;
	};
	/* ORDER STAMP: net to flags, eight bytes, see xk_msg_inline.h. */
	uint16_t        net;     /* offset of the network header from this descriptor, 0 = none */
	uint16_t        refs;    /* REF segments that point into this buffer, plus 1 */
	uint16_t        home;    /* VP that owns the buffer */
	uint8_t         cls;     /* enum xk_memclass (xk_mem.h) */
	uint8_t         flags;
} XK_ALIGNED;
_Static_assert(offsetof(struct xk_msg, flags) == offsetof(struct xk_msg, net) + 7, "ORDER STAMP");
_Static_assert(sizeof(struct xk_msg) == XK_CACHELINE, "a descriptor is one line");

/* ---- a message's life ------------------------------------------------------------- */

/* A message of len undefined bytes with headroom, chained when it must be; NULL when memory
 * is out.  Quicker where xk_msg_inline.h is included, as are xk_msg_free and xk_msg_push. */
struct xk_msg *xk_msg_new(uint32_t len);
void xk_msg_free(struct xk_msg *m);
/* m was received and is to be sent: forgets what is true only of a received message. */
static inline void xk_msg_reset_rx(struct xk_msg *m) { m->flags &= XK_MSG_SLOW; }

/*
 * Room for a header of n bytes in front; writes it through the returned
 * pointer.  The message may become another one (*mp): a new segment was put
 * before it.  NULL when memory is out: the caller drops the message.
 */
void *xk_msg_push(struct xk_msg **mp, uint32_t n);
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
/* Bytes [off, off+n) to dst; returns bytes copied. */
uint32_t xk_msg_copy_out(const struct xk_msg *m, uint32_t off, void *dst, uint32_t n);
/* dst[off, off+n) = src; the range must exist and be writable: neither REF nor SHARED. */
void xk_msg_copy_in(struct xk_msg *m, uint32_t off, const void *src, uint32_t n);
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

/* Drops n bytes from the tail, n <= tot. */
void xk_msg_trim_slow(struct xk_msg *m, uint32_t n);
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

#endif
