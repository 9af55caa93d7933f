/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_move.h - what a node is asked when a graph changes around it while messages pass.
 *
 * Six control operations of a replica (xk_ops.control); docs/internals/apply.md says who is asked what, and when.
 * Each names the replica that it is asked of: one that passes on what it does not know would have another answer for
 * it.  Around one that knows it not (XK_E_NOTSUP) that change cannot be made, and is refused before anything is
 * touched.  All but XK_CTL_ADOPT and XK_CTL_HANDED come inside the VP, between two units: nobody is inside a session.
 */
#ifndef XK_MOVE_H
#define XK_MOVE_H

#include "runtime/upi/xk_proto.h"

struct xk_enable;

/* At the beginning of each.  could: whether it could be is all that is asked, from anywhere. */
struct xk_asked { const struct xk_rep *of; bool could; };
/* 1: do it; else the answer. */
static inline int xk_asked(const struct xk_rep *r, const void *buf)
{
	const struct xk_asked *a = buf;

	return a->of != r ? XK_E_NOTSUP : a->could ? XK_OK : 1;
}

/* XK_CTL_MOVE, of who lies above: hold `now` wherever `old`, a session below, is held: as many references (xk_dup),
 * those to `old` given back (xk_close).  now->up is right already.  now NULL: is it held?  XK_E_NOENT: it is not.
 * XK_E_NOMEM: all is as it was.  Who has threads of its own or of a program binds for them by xk_binding_begin. */
struct xk_move { struct xk_asked a; struct xk_sess *old, *now; };

/* XK_CTL_STAND, of a layer that is put in: a session of its own over `below`, which others hold, as if `up` had opened
 * it with `type`: below->up is the layer's then, and the session has a reference of its own to it.  own: the session,
 * its count untouched.  XK_E_NOMEM, XK_E_BUSY: all is as it was. */
struct xk_stand { struct xk_asked a; struct xk_sess *below; struct xk_up *up; struct xk_node *type; struct xk_sess *own; };

/* XK_CTL_ADOPT, of a layer that is put in, outside all VPs: e, an enable of the node below, will name the layer as its
 * receiver; what comes of it goes to rcv, whose enable is e's type.  Bound by xk_enable_bind, so that
 * xk_enable_unbind_all(layer, rcv) undoes it.  Whoever has no enables answers that it is done. */
struct xk_adopt { struct xk_asked a; struct xk_node *rcv; const struct xk_enable *e; };

/* XK_CTL_LEAVE, of a layer that is about to be taken out: it passes on what messages it keeps, in their order, and
 * keeps none from now on.  Who keeps none need not know it. */
struct xk_leave { struct xk_asked a; };

/* XK_CTL_ORPHANS, of who lies below: sessions that are held by nobody but itself and for which xk_sess_is_orphan holds
 * are given up: whoever received by them is no more. */
struct xk_orphans { struct xk_asked a; };
bool xk_sess_is_orphan(struct xk_sess *s);

/* XK_CTL_HANDED, of a layer that stays and hands on what is enabled above it, outside all VPs, while nobody enables by it:
 * now: what it has noted for rcv it has noted for `now`, by whom its enables are held already.  type: what it has noted
 * for rcv of this type, and has enabled below for it, is given up, as when rcv had disabled it.  Either cannot fail. */
struct xk_handed { struct xk_asked a; struct xk_node *rcv, *now, *type; };

#endif
