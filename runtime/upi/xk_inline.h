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

/* The protocol's push; s->push may be the entrance to hooks. */
static inline xk_push_fn xk_sess_own_push(const struct xk_sess *s) { return s->rep->pushes[s->push_no]; }
/* What the classifier has of its connection, exactly; NULL: nothing. */
static inline struct xk_flow *xk_sess_flow(const struct xk_sess *s)
{
	return s->flow != 0 ? xk_slab_ptr(s->flow) : NULL;
}

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


/* ---- batches: frames of known connections, a layer at a time ---- */

/* xk_pass_batch to whoever takes no batches. */
unsigned xk_batch_pass_each(struct xk_sess *s, const struct xk_batch *f);
/* Passes run i of f up through sess[i], for each of them.  Returns how many messages were consumed:
 * fewer than f->n when a session was closed or changed on the way. */
unsigned xk_batch_pass(struct xk_sess *const *sess, const struct xk_batch *f);

/*
 * x, of run r, leaves its batch: its descriptor becomes what one message's would be here.
 *
 * A message whose payload a driver has placed elsewhere (xk_ddp.h) has it in a
 * second segment; until it is materialised, len of the first counts both.  So a layer
 * reads its own header at data + off, a wide word of XK_WIDE bytes if it likes, and
 * materialises the descriptor before it reads behind those of the transport.  Such messages are longer than 128 bytes
 * from the transport's header on.
 */
static inline void xk_batch_materialise(const struct xk_batch *f, const struct xk_run *r, struct xk_msg *x)
{
	uint8_t *p = x->data;

	x->data = p + f->off;
	x->len = x->tot = x->len - f->off;
	if (XK_UNLIKELY(x->flags & XK_MSG_CHAIN))       /* its payload is in the next segment */
		x->len -= x->next->len;
	if (f->net >= 0)
		xk_msg_set_net(x, p + f->net);
	x->hash = r->hash;
	x->vp = r->vp;
	x->u.hint = &r->flow->sess[f->depth];
}

static inline bool xk_takes_batches(const struct xk_up *up)
{
	const struct xk_ops *ops = up->rep->ops;

	return ops->demux_batch != NULL && (up->demux == ops->demux || ops->batch_self);
}

/*
 * Passes frames up through s, which all of them are proven to be for.  Returns
 * how many were consumed: fewer than f->n when what is above has closed or
 * changed s on the way, or met one that is not plain (the rest is as it was given).
 * The caller has seen that s is held.  A hook, or a demux of its own, sees every message.
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
 * proven to be those of s, go up through s.  Returns how many were consumed.
 */
static inline unsigned xk_batch_finish(const struct xk_batch *f, struct xk_sess *s, unsigned n, uint32_t hdr,
				       int32_t net)
{
	const struct xk_batch on = { f->m, f->run, NULL, n, f->off + hdr, net, f->depth + 1, f->apart };

	return XK_LIKELY(n != 0) ? xk_pass_batch(s, &on) : 0;
}

/* The same where the sessions are several: of run i it is sess[i]. */
static inline unsigned xk_batch_finish_many(const struct xk_batch *f, struct xk_sess **sess, unsigned n, uint32_t hdr,
					    int32_t net)
{
	const struct xk_batch on = { f->m, f->run, NULL, n, f->off + hdr, net, f->depth + 1, f->apart };

	return XK_LIKELY(n != 0) ? xk_batch_pass(sess, &on) : 0;
}

/* How many of f, from the first one on, are plain messages of s, a session of r that is held; 0
 * where it is none. */
typedef unsigned (*xk_batch_of_fn)(const struct xk_rep *r, const struct xk_sess *s, const struct xk_batch *f);

/*
 * A demux_batch for layers at which frames of many connections have few sessions, each proven by
 * `of` for as many frames as may be.
 */
static inline __attribute__((always_inline))
unsigned xk_batch_through(const struct xk_rep *r, const struct xk_batch *f, xk_batch_of_fn of, uint32_t hdr,
			  int32_t net)
{
	struct xk_sess *s = xk_batch_hint(f, f->run), *sess[XK_BATCH_MAX], **at = sess;
	struct xk_batch rest = *f;
	unsigned n = of(r, s, f);

	if (XK_LIKELY(n == f->n) || n < f->run->n)
		return xk_batch_finish(f, s, n, hdr, net);
	for (; n != 0; s = xk_batch_hint(f, rest.run), n = of(r, s, &rest)) {
		unsigned left;

		for (; n != 0 && n >= (left = xk_run_left(rest.run, rest.n)); n -= left) {
			rest.n -= left;
			rest.m += left;
			rest.run++;
			*at++ = s;
		}
		if (n != 0 || rest.n == 0)
			break;           /* in the middle of a run, or at the end */
	}
	if (n != 0)
		*at = s;
	return xk_batch_finish_many(f, sess, f->n - rest.n + n, hdr, net);
}

/* Who includes this header calls these by their ordinary names. */
#define xk_push(s, m)           xk_push_inline(s, m)
#define xk_demux(s, m)          xk_demux_inline(s, m)
#define xk_pop(s, lls, m, hdr)  xk_pop_inline(s, lls, m, hdr)
#define xk_pass(s, m)           xk_pass_inline(s, m)
#define xk_find(r, m, k)        xk_find_inline(r, m, k)
#define xk_dup(s)               xk_dup_inline(s)

#endif
