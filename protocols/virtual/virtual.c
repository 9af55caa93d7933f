/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * virtual.c - sessions without headers; see virtual.h.
 *
 * A lower session may be shared by several openers of this replica, and opening
 * it again sets its `up` back to the replica.  So a message that comes to the
 * replica itself first looks for the own session over that lower session and
 * mends the pointer; only when there is none it is the first message.
 * Invariant: closing an own session leaves the lower session's `up` at the
 * replica, or at another own session that has taken it since.
 */
#include "protocols/virtual/virtual.h"

#include <string.h>

#include "protocols/virtual/virtual_priv.h"
#include "runtime/classify/xk_demux.h"
#include "runtime/upi/xk_app.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_stream.h"

const struct xk_demux virt_through = { .through = true };

/* ---- data path --------------------------------------------------------------------- */

void virt_push(struct xk_sess *s, struct xk_msg *m)
{
	xk_push(s->down, m);
}

void virt_pop(struct xk_sess *s, struct xk_sess *lls, struct xk_msg *m, void *hdr)
{
	(void)lls;
	(void)hdr;
	xk_demux(s, m);
}

/* virt_pop does nothing but pass on, so the jumps need no stack frame. */
void virt_self_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	(void)lls;
	xk_pass(xk_container_of(up, struct xk_sess, self), m);
}

static void self_pop(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	xk_pop(xk_container_of(up, struct xk_sess, self), lls, m, NULL);
}

/* ---- sessions ------------------------------------------------------------------------ */

struct xk_key virt_key(const struct xk_sess *lls)
{
	return (struct xk_key){ { (uintptr_t)lls, UINT64_MAX } };
}

struct xk_sess *virt_new(struct xk_rep *r, struct xk_rep *rcv, struct xk_node *type,
			 struct xk_sess *lls, const struct xk_key *k)
{
	struct xk_sess *s = xk_sess_create(r, &rcv->up, type, lls);

	if (s != NULL && xk_sess_bind(s, k) < 0) {
		xk_sess_destroy(s);
		s = NULL;
	}
	if (s == NULL) {
		xk_close(lls);
		return NULL;
	}
	s->self.demux = xk_self_demux(r->node, ((const struct virt_rep *)r->state)->self);
	lls->up = &s->self;
	return s;
}

void virt_close(struct xk_sess *s)
{
	struct xk_sess *lls = s->down;

	if (lls->up == &s->self)
		lls->up = &s->rep->up;
	xk_sess_unbind(s);
	xk_sess_destroy(s);
	xk_close(lls);
}

/* The session below may be one that we stand over already. */
static struct xk_sess *virt_over(struct xk_rep *r, struct xk_rep *rcv, struct xk_node *type,
				 struct xk_sess *lls, int *err)
{
	struct xk_key k = virt_key(lls);
	struct xk_mapnode *node = xk_map_resolve(&r->active, &k);
	struct xk_sess *s;

	if (node == NULL) {
		s = virt_new(r, rcv, type, lls, &k);
		if (s == NULL)
			*err = XK_E_NOMEM;
		return s;
	}
	s = xk_container_of(node, struct xk_sess, map);
	lls->up = &s->self;
	xk_close(lls);
	if (s->up->rep == rcv && xk_sess_type(s) == type)
		return s;
	*err = XK_E_BUSY;
	return NULL;
}

struct xk_sess *virt_open(struct xk_rep *r, struct xk_rep *rcv, struct xk_node *type, struct xk_parts *ps, int *err)
{
	struct xk_sess *lls = xk_open(r, type, r->down[0], ps, err);

	return lls == NULL ? NULL : virt_over(r, rcv, type, lls, err);
}

/* ---- control ------------------------------------------------------------------------ */

int virt_shorter(int res, unsigned op, void *buf, uint32_t n)
{
	uint32_t v;

	if (res != (int)sizeof v || (op != XK_CTL_GETMAXPACKET && op != XK_CTL_GETOPTPACKET))
		return res;
	memcpy(&v, buf, sizeof v);
	v = v > n ? v - n : 0;
	memcpy(buf, &v, sizeof v);
	return res;
}

static uint32_t header_of(const struct xk_rep *r)
{
	return ((const struct virt_rep *)r->state)->header;
}

int virt_sess_control(struct xk_sess *s, unsigned op, void *buf, unsigned len)
{
	if (op != XK_CTL_GETMAXPACKET && op != XK_CTL_GETOPTPACKET)
		return XK_E_NOTSUP;
	return virt_shorter(xk_sess_control(s->down, op, buf, len), op, buf, header_of(s->rep));
}

/* ---- passive open ------------------------------------------------------------------------ */

int virt_rep_init(struct xk_rep *r)
{
	const struct virt_conf *c = r->conf;
	struct virt_rep *v = r->state;

	v->stream = xk_node_offers(r->node, "stream");
	if (v->self == NULL)
		v->self = r->node->proto->ops->pop == virt_pop ? virt_self_demux : self_pop;
	linger_init(&v->linger, r->wheel, c->linger, c->sessions, &r->count[VIRT_COUNT_LINGERED]);
	return XK_OK;
}

int virt_header_init(struct xk_rep *r, uint32_t n)
{
	((struct virt_rep *)r->state)->header = n;
	return virt_rep_init(r);
}

/* An own session over lls, told to the protocol above.  XK_OK: lls->up is its self, and it lingers; over a stream it is
 * there as long as somebody above holds it. */
int virt_open_done(struct xk_rep *r, struct xk_sess *lls, struct xk_node *type)
{
	struct virt_rep *st = r->state;
	struct xk_key ek = virt_type_key(type), k = virt_key(lls);
	struct xk_enable *e = xk_enable_find(r->node, &ek);
	struct xk_sess *s;
	int err;

	if (e == NULL)
		return XK_E_NOENT;
	if (!st->stream && !linger_room(&st->linger))
		return XK_E_NOSPC;
	s = virt_new(r, xk_rep_here(xk_enable_rcv(e), r), xk_enable_type(e), xk_dup(lls), &k);
	if (s == NULL)
		return XK_E_NOMEM;
	xk_dup(s);
	err = xk_open_done(s->up->rep->node, s, xk_sess_type(s));
	if (err < 0 || st->stream)
		xk_close(s);
	else
		linger_add(&st->linger, &((struct virt_sess *)s)->linger, s);
	return err;
}

void virt_close_done(struct xk_rep *r, struct xk_sess *lls)
{
	if (lls->up != &r->up)
		xk_close_done(xk_container_of(lls->up, struct xk_sess, self));
}

static unsigned drop_reason(int err)
{
	return err == XK_E_NOMEM ? XK_DROP_NOMEM : err == XK_E_NOENT ? VIRT_DROP_NO_ENABLE :
	       err == XK_E_NOSPC ? VIRT_DROP_SESSION_CAP : VIRT_DROP_REFUSED;
}

void virt_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	struct xk_rep *r = up->rep;
	struct xk_key k = virt_key(lls);
	struct xk_mapnode *node = xk_map_resolve(&r->active, &k);
	int err;

	if (node != NULL) {
		lls->up = &xk_container_of(node, struct xk_sess, map)->self;
	} else {
		/* What comes of a connection that nobody holds is for nobody. */
		err = ((const struct virt_rep *)r->state)->stream ? XK_E_NOENT : virt_open_done(r, lls, xk_sess_type(lls));
		if (err < 0) {
			xk_drop(r, drop_reason(err), m);
			return;
		}
	}
	lls->up->demux(lls->up, lls, m);
}

void virt_rep_stop(struct xk_rep *r)
{
	linger_drain(&((struct virt_rep *)r->state)->linger);
}

/* ---- news from below ------------------------------------------------------------------------ */

int virt_news(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	struct xk_sess **named = buf, *lls, *s;
	int res;

	if (len < sizeof *named)
		return XK_E_INVAL;
	lls = *named;
	if (lls->up == NULL || lls->up->rep != r || lls->up == &r->up)
		return XK_E_NOTSUP;
	s = xk_dup(xk_container_of(lls->up, struct xk_sess, self));
	*named = s;
	res = xk_control(s->up->rep, op, buf, len);
	*named = lls;
	xk_close(s);
	return res;
}

/* ---- while the graph changes ------------------------------------------------------------- */

static int virt_stand(struct xk_rep *r, struct xk_stand *st)
{
	struct xk_key k = virt_key(st->below);

	st->own = virt_new(r, st->up->rep, st->type, xk_dup(st->below), &k);
	if (st->own == NULL)
		return XK_E_NOMEM;
	st->own->up = st->up;
	return XK_OK;
}

static int virt_orphans(struct xk_rep *r)
{
	linger_purge(&((struct virt_rep *)r->state)->linger, xk_sess_is_orphan);
	return XK_OK;
}

int virt_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	uint32_t header = header_of(r);
	int res;

	if (op == XK_CTL_STREAM_EVENT)
		return virt_news(r, op, buf, len);
	if (header != 0)
		return op != XK_CTL_GETMAXPACKET && op != XK_CTL_GETOPTPACKET ? XK_E_NOTSUP :
		       virt_shorter(xk_control(r->down[0], op, buf, len), op, buf, header);
	if (op == XK_CTL_MOVE)
		return xk_app_move(r, buf, virt_key);
	if (op != XK_CTL_STAND && op != XK_CTL_ADOPT && op != XK_CTL_ORPHANS && op != XK_CTL_HANDED)
		return XK_E_NOTSUP;
	res = xk_asked(r, buf);
	if (res <= 0)
		return res;
	if (op == XK_CTL_HANDED)
		return virt_handed(r->node, buf);
	return op == XK_CTL_STAND ? virt_stand(r, buf) : op == XK_CTL_ADOPT ? virt_adopt(r->node, buf) : virt_orphans(r);
}
