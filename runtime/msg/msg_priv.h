/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * msg_priv.h - what the files of room msg share: segments and attributes.
 *
 * Invariant: the base of a REF segment is never itself a REF segment.
 */
#ifndef MSG_PRIV_H
#define MSG_PRIV_H

#include "runtime/msg/xk_msg_inline.h"

#define MSG_UP_FLAGS (XK_MSG_CSUM_OK | XK_MSG_CSUM_IGNORE | XK_MSG_LINK_BCAST)
#define MSG_NOT_OURS (XK_MSG_REF | XK_MSG_SHARED)

static inline struct xk_msg *msg_base(struct xk_msg *m)
{
	return xk_msg_ref(m)->base;
}

static inline void msg_chain(struct xk_msg *m, struct xk_msg *next)
{
	m->next = next;
	if (next != NULL)
		m->flags |= XK_MSG_CHAIN;
	else
		m->flags &= (uint8_t)~XK_MSG_CHAIN;
}

/* What a message carries beside its bytes, from src's first segment to dst's. */
static inline void msg_copy_attrs(struct xk_msg *dst, const struct xk_msg *src)
{
	dst->u = src->u;
	dst->hash = src->hash;
	dst->vp = src->vp;
	dst->node = src->node;
	dst->aux = src->aux;
	dst->flags = (uint8_t)((dst->flags & ~MSG_UP_FLAGS) | (src->flags & MSG_UP_FLAGS));
}

static inline void msg_drop_csum(struct xk_msg *m)
{
	m->flags &= (uint8_t)~XK_MSG_CSUM;
}

/* Bytes that may be appended to this segment in place. */
static inline uint32_t msg_tailroom(const struct xk_msg *m)
{
	if (m->flags & (XK_MSG_REF | XK_MSG_SHARED | XK_MSG_EXTERN))
		return 0;
	return (uint32_t)((const uint8_t *)m + xk_mem_size[m->cls] - (m->data + m->len));
}

/* A REF segment that looks at len bytes from s->data + off; NULL when memory
 * is out (s unharmed). */
struct xk_msg *msg_ref(struct xk_msg *s, uint32_t off, uint32_t len);
/* Frees this one segment; returns the next. */
struct xk_msg *msg_free_seg(struct xk_msg *m);
/* Notes src's network header in dst, whose first bytes are those of src, if
 * it lies near enough; copies it into dst's headroom when it lies before. */
void msg_keep_net(struct xk_msg *dst, const struct xk_msg *src);

#endif
