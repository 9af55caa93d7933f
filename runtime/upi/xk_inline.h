/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_inline.h - the per-message half of xk_proto.h without calls, for protocols that count instructions.
 *
 * An upcall is a load and an indirect jump; a session is found by comparing
 * the hint that came with the message, and looked up only when that fails.
 * Include it in protocol bodies, not in headers.
 */
#ifndef XK_INLINE_H
#define XK_INLINE_H

#include "runtime/base/xk_tls.h"
#include "runtime/msg/xk_msg_inline.h"
#include "runtime/upi/xk_batch.h"
#include "runtime/upi/xk_node.h"
#include "runtime/vp/xk_now.h"

/*
 * In the debug build every touch of a session, a replica or its map from another
 * VP than its own aborts, with the stack that touched and, for a session, the
 * stack that made it.  Nothing in other builds.
 */
#ifdef XK_DEBUG
void xk_sess_foreign(const struct xk_sess *s) __attribute__((noreturn, cold));
void xk_rep_foreign(const struct xk_rep *r) __attribute__((noreturn, cold));
#define xk_sess_check(s) \
	(XK_LIKELY((s)->rep != NULL && (s)->rep->no == xk_vp_no) ? (void)0 : xk_sess_foreign(s))
#define xk_rep_check(r) (XK_LIKELY((r)->no == xk_vp_no) ? (void)0 : xk_rep_foreign(r))
#else
#define xk_sess_check(s) ((void)0)
#define xk_rep_check(r) ((void)0)
#endif

/* A dummy that never verifies; hint lists are filled with it. */
extern struct xk_sess xk_sess_none;

/* Down: consumes m.  The caller holds a reference to s. */
static inline void xk_push_inline(struct xk_sess *s, struct xk_msg *m)
{
	xk_sess_check(s);
	xk_count(s->rep->npush);
	s->push(s, m);
}

/* Up, from a session to whoever receives: consumes m. */
static inline void xk_demux_inline(struct xk_sess *s, struct xk_msg *m)
{
	struct xk_up *up = s->up;

	xk_sess_check(s);
	up->demux(up, s, m);
}

void xk_sess_idle_slow(struct xk_sess *s);

/* Up, from a protocol's demux to its own session: counts the pop in progress,
 * so that a close during it waits for its end.  Consumes m. */
static inline void xk_pop_inline(struct xk_sess *s, struct xk_sess *lls, struct xk_msg *m, void *hdr)
{
	xk_sess_check(s);
	xk_count(s->rep->npop);
	s->rcnt++;
	s->pop(s, lls, m, hdr);
	if (XK_UNLIKELY(--s->rcnt == 0))
		xk_sess_idle_slow(s);
}

/* The guarded xk_pop of a session that nobody holds; consumes m. */
void xk_pass_idle(struct xk_sess *s, struct xk_msg *m);

/*
 * What xk_pop comes to for a protocol whose pop has nothing to do but pass m
 * up and touches nothing afterwards: no reference is needed to survive it, so
 * the whole up path of such layers is one chain of jumps.  A session that
 * nobody holds (rcnt 0) is closed after it, as after any pop.
 */
static inline void xk_pass_inline(struct xk_sess *s, struct xk_msg *m)
{
	struct xk_up *up = s->up;

	xk_sess_check(s);
	if (XK_UNLIKELY(s->rcnt == 0)) {
		xk_pass_idle(s, m);
		return;
	}
	xk_count(s->rep->npop);
	up->demux(up, s, m);
}

struct xk_sess *xk_find_slow(struct xk_rep *r, struct xk_msg *m, const struct xk_key *k);

/*
 * The session of replica r under key k for message m, or NULL.  One compare in
 * the hinted session's first line when the hint is right; else the active
 * map, and the hint learns.  Session memory is type-stable, so a stale hint
 * points at some session of this VP or at a free one (rep NULL): comparing
 * (rep, key) is proof.
 */
static inline struct xk_sess *xk_find_inline(struct xk_rep *r, struct xk_msg *m, const struct xk_key *k)
{
	struct xk_sess *s = *m->u.hint;

	if (XK_LIKELY(s->rep == r && xk_key_eq(&s->map.key, k))) {
		m->u.hint++;
		return s;
	}
	return xk_find_slow(r, m, k);
}

/*
 * The quick half of xk_find alone: the hinted session, or NULL when the hint
 * is wrong (m is as it was).  For demuxes that leave everything else to a
 * function of their own, called last, so that this one needs no stack.
 */
static inline struct xk_sess *xk_find_hinted(const struct xk_rep *r, struct xk_msg *m, uint64_t k0, uint64_t k1)
{
	struct xk_sess *s = *m->u.hint;

	if (XK_UNLIKELY(s->rep != r || ((s->map.key.w[0] ^ k0) | (s->map.key.w[1] ^ k1)) != 0))
		return NULL;
	m->u.hint++;
	return s;
}

void xk_dup_hooked(struct xk_sess *s);

static inline struct xk_sess *xk_dup_inline(struct xk_sess *s)
{
	if (XK_UNLIKELY(s->flags & XK_SESS_HOOKED))
		xk_dup_hooked(s);
	s->rcnt++;
	return s;
}


/* ---- batches: frames of one connection, a layer at a time ---- */

/* Gives the messages of f from the one numbered `from` to up, one by one, for as
 * long as lls, a session of r, is held: the one before may have ended what is
 * above, and so lls.  Returns how many of f were consumed. */
unsigned xk_batch_demux_each(struct xk_up *up, struct xk_sess *lls, const struct xk_rep *r,
			     const struct xk_batch *f, unsigned from);
/* xk_pass_batch to whoever takes no batches. */
unsigned xk_batch_pass_each(struct xk_sess *s, const struct xk_batch *f);

/*
 * x leaves its batch: its descriptor becomes what one message's would be here.
 *
 * A message whose payload a driver has placed elsewhere (xk_ddp.h) has it in a
 * second segment; until it is materialised, len of the first counts both.  So a layer
 * reads its own header at data + off, a wide word of XK_WIDE bytes if it likes, and
 * materialises the descriptor before it reads behind those of the transport.  Such messages are longer than 128 bytes
 * from the transport's header on.
 */
static inline void xk_batch_materialise(const struct xk_batch *f, struct xk_msg *x)
{
	uint8_t *p = x->data;

	x->data = p + f->off;
	x->len = x->tot = x->len - f->off;
	if (XK_UNLIKELY(x->flags & XK_MSG_CHAIN))       /* its payload is in the next segment */
		x->len -= x->next->len;
	if (f->net >= 0)
		xk_msg_set_net(x, p + f->net);
	x->hash = f->hash;
	x->vp = f->vp;
	x->u.hint = f->hint;
}

static inline bool xk_takes_batches(const struct xk_up *up)
{
	const struct xk_ops *ops = up->rep->ops;

	return ops->demux_batch != NULL && (up->demux == ops->demux || ops->batch_self);
}

/*
 * Passes frames up through s, which all of them are proven to be for.  Returns
 * how many were consumed: fewer than f->n when what is above has closed or
 * changed s on the way (the rest is as it was given).  The caller has seen that
 * s is held.  A hook, or a demux of its own, sees every message.
 */
static inline unsigned xk_pass_batch(struct xk_sess *s, const struct xk_batch *f)
{
	struct xk_up *up = s->up;
	struct xk_rep *r = s->rep;
	unsigned done;

	xk_sess_check(s);
	if (XK_UNLIKELY(!xk_takes_batches(up)))
		return xk_batch_pass_each(s, f);
	done = up->rep->ops->demux_batch(up, s, f);
	xk_count_add(r->npop, done);
	return done != 0 ? done : xk_batch_pass_each(s, f);
}

/*
 * The end of a demux_batch: the first n of f, whose headers of hdr bytes are
 * proven to be those of s, go up through s, all others one by one to up.  Returns
 * how many were consumed: fewer than f->n when lls was closed on the way.
 */
static inline unsigned xk_batch_finish(struct xk_up *up, struct xk_sess *lls, const struct xk_batch *f,
				       struct xk_sess *s, unsigned n, uint32_t hdr, int32_t net)
{
	struct xk_batch on = { f->m, n, f->off + hdr, net, f->hash, f->hint + 1, f->vp };
	const struct xk_rep *r = lls->rep;
	unsigned done = n != 0 ? xk_pass_batch(s, &on) : 0;

	if (XK_UNLIKELY(done < f->n))
		done = xk_batch_demux_each(up, lls, r, f, done);
	return done;
}

/* Who includes this header calls these by their ordinary names. */
#define xk_push(s, m)           xk_push_inline(s, m)
#define xk_demux(s, m)          xk_demux_inline(s, m)
#define xk_pop(s, lls, m, hdr)  xk_pop_inline(s, lls, m, hdr)
#define xk_pass(s, m)           xk_pass_inline(s, m)
#define xk_find(r, m, k)        xk_find_inline(r, m, k)
#define xk_dup(s)               xk_dup_inline(s)

#endif
