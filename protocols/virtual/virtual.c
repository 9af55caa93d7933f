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

#include "runtime/classify/xk_demux.h"
#include "runtime/upi/xk_app.h"
#include "runtime/upi/xk_enable.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_move.h"
#include "runtime/upi/xk_part.h"

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

/* ---- enables ---------------------------------------------------------------------------- */

struct virt_enable {
	struct virt_enable *next;
	struct xk_node     *rcv, *type;
	struct xk_parts     ps;
	bool                adopted;     /* the enable below was another's, and ps says nothing */
};

static struct xk_key type_key(const struct xk_node *type)
{
	return (struct xk_key){ { type->no, 0 } };
}

static bool same_parts(const struct xk_parts *a, const struct xk_parts *b)
{
	uint8_t x[256], y[256];
	int n = xk_parts_externalize(a, x, sizeof(x));

	return n > 0 && n == xk_parts_externalize(b, y, sizeof(y)) && memcmp(x, y, (size_t)n) == 0;
}

/* The callee may consume its list. */
static int enable_below(struct xk_node *n, unsigned i, struct xk_node *type, const struct xk_parts *ps)
{
	struct xk_parts copy = *ps;

	return xk_open_enable(n, type, n->down[i], &copy);
}

static void disable_below(struct xk_node *n, unsigned i, struct xk_node *type, const struct xk_parts *ps)
{
	struct xk_parts copy = *ps;

	(void)xk_open_disable(n, type, n->down[i], &copy);
}

/* All or none. */
static int enable_all_below(struct xk_node *n, struct xk_node *type, const struct xk_parts *ps)
{
	for (unsigned i = 0; i < n->ndown; i++) {
		int err = enable_below(n, i, type, ps);

		if (err >= 0)
			continue;
		while (i-- > 0)
			disable_below(n, i, type, ps);
		return err;
	}
	return XK_OK;
}

static void list_in(struct xk_node *n, struct virt_enable *v)
{
	struct virt_node *st = n->state;

	xk_structure_lock(n);
	v->next = st->enables;
	st->enables = v;
	xk_structure_unlock(n);
}

/* What is looked for: type NULL, whatever it is; ps NULL, whatever its parts; adopted, one whose parts are not known. */
struct virt_wanted { const struct xk_node *rcv, *type; const struct xk_parts *ps; bool adopted; };

static bool is_wanted(const struct virt_enable *v, const struct virt_wanted *w)
{
	if (v->rcv != w->rcv || (w->type != NULL && v->type != w->type))
		return false;
	return w->adopted ? v->adopted : w->ps == NULL || (!v->adopted && same_parts(&v->ps, w->ps));
}

/* One off the list; NULL: there is none. */
static struct virt_enable *list_out(struct xk_node *n, const struct virt_wanted *w)
{
	struct virt_node *st = n->state;
	struct virt_enable **pv = &st->enables, *v;

	xk_structure_lock(n);
	while ((v = *pv) != NULL && !is_wanted(v, w))
		pv = &v->next;
	if (v != NULL)
		*pv = v->next;
	xk_structure_unlock(n);
	return v;
}

int virt_open_enable(struct xk_node *n, struct xk_node *rcv, struct xk_node *type, struct xk_parts *ps)
{
	struct virt_enable *v = xk_alloc(sizeof(*v));
	struct xk_key k = type_key(type);
	int err;

	if (v == NULL)
		return XK_E_NOMEM;
	v->rcv = rcv;
	v->type = type;
	xk_parts_init(&v->ps, 0);
	if (ps != NULL)
		v->ps = *ps;
	err = xk_enable_bind(n, &k, rcv, type);
	if (err == XK_OK) {
		err = enable_all_below(n, type, &v->ps);
		if (err < 0)
			(void)xk_enable_unbind(n, &k, rcv, type);
	}
	if (err < 0) {
		xk_free(v);
		return err;
	}
	list_in(n, v);
	return XK_OK;
}

/* What others had enabled below: a layer there has noted it for n, others have nothing but the enable itself. */
static void adopted_undo(struct xk_node *n, struct virt_enable *v)
{
	struct xk_rep *below = n->down[0]->rep[0];
	struct xk_handed h = { .a = { .of = below }, .rcv = n, .type = v->type };

	if (xk_control(below, XK_CTL_HANDED, &h, sizeof h) != XK_OK)
		(void)xk_enable_unbind_type(n->down[0], n, v->type);
}

/* Undoes v, which is off the list, everywhere. */
static void enable_undo(struct xk_node *n, struct virt_enable *v)
{
	struct xk_key k = type_key(v->type);

	if (v->adopted)
		adopted_undo(n, v);
	for (unsigned i = 0; !v->adopted && i < n->ndown; i++)
		disable_below(n, i, v->type, &v->ps);
	(void)xk_enable_unbind(n, &k, v->rcv, v->type);
	xk_free(v);
}

int virt_open_disable(struct xk_node *n, struct xk_node *rcv, struct xk_node *type, struct xk_parts *ps)
{
	struct virt_wanted w = { .rcv = rcv, .type = type, .ps = ps };
	struct virt_enable *v;
	struct xk_parts none;

	xk_parts_init(&none, 0);
	if (ps == NULL)
		w.ps = &none;
	v = list_out(n, &w);
	/* A layer above gives up what it had enabled before this one came between. */
	w.adopted = v == NULL && rcv->proto->offers != NULL;
	if (w.adopted)
		v = list_out(n, &w);
	if (v == NULL)
		return XK_E_NOENT;
	enable_undo(n, v);
	return XK_OK;
}

void virt_open_disable_all(struct xk_node *n, struct xk_node *rcv)
{
	const struct virt_wanted w = { .rcv = rcv };
	struct virt_enable *v;

	while ((v = list_out(n, &w)) != NULL)
		enable_undo(n, v);
}

void virt_fini(struct xk_node *n)
{
	struct virt_node *st = n->state;

	while (st->enables != NULL) {
		struct virt_enable *v = st->enables;

		st->enables = v->next;
		xk_free(v);
	}
}

/* ---- passive open ------------------------------------------------------------------------ */

int virt_rep_init(struct xk_rep *r)
{
	const struct virt_conf *c = r->conf;
	struct virt_rep *v = r->state;

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

/* An own session over lls, told to the protocol above; XK_OK: lls->up is its
 * self, and it lingers. */
int virt_open_done(struct xk_rep *r, struct xk_sess *lls, struct xk_node *type)
{
	struct virt_rep *st = r->state;
	struct xk_key ek = type_key(type), k = virt_key(lls);
	struct xk_enable *e = xk_enable_find(r->node, &ek);
	struct xk_sess *s;
	int err;

	if (e == NULL)
		return XK_E_NOENT;
	if (!linger_room(&st->linger))
		return XK_E_NOSPC;
	s = virt_new(r, xk_rep_here(xk_enable_rcv(e), r), xk_enable_type(e), xk_dup(lls), &k);
	if (s == NULL)
		return XK_E_NOMEM;
	xk_dup(s);
	err = xk_open_done(s->up->rep->node, s, xk_sess_type(s));
	if (err < 0)
		xk_close(s);
	else
		linger_add(&st->linger, &((struct virt_sess *)s)->linger, s);
	return err;
}

int virt_open_done_held(struct xk_rep *r, struct xk_sess *lls, struct xk_node *type)
{
	struct xk_key ek = type_key(type), k = virt_key(lls);
	struct xk_enable *e = xk_enable_find(r->node, &ek);
	struct xk_sess *s;
	int err;

	if (e == NULL)
		return XK_E_NOENT;
	s = virt_new(r, xk_rep_here(xk_enable_rcv(e), r), xk_enable_type(e), xk_dup(lls), &k);
	if (s == NULL)
		return XK_E_NOMEM;
	xk_dup(s);
	err = xk_open_done(s->up->rep->node, s, xk_sess_type(s));
	xk_close(s);
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
		err = virt_open_done(r, lls, xk_sess_type(lls));
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

static int virt_adopt(struct xk_node *n, const struct xk_adopt *a)
{
	struct virt_enable *v = xk_alloc(sizeof *v);
	struct xk_key k = type_key(a->e->type);
	int err;

	if (v == NULL)
		return XK_E_NOMEM;
	err = xk_enable_bind(n, &k, a->rcv, a->e->type);
	if (err != XK_OK) {
		xk_free(v);
		return err;
	}
	*v = (struct virt_enable){ .rcv = a->rcv, .type = a->e->type, .adopted = true };
	list_in(n, v);
	return XK_OK;
}

/* Nobody enables by it meanwhile: what it notes is locked for those who look at other lists. */
static int virt_handed(struct xk_node *n, const struct xk_handed *h)
{
	const struct virt_wanted w = { .rcv = h->rcv, .type = h->type };
	struct virt_node *st = n->state;
	struct virt_enable *v;

	if (h->now == NULL) {
		while ((v = list_out(n, &w)) != NULL)
			enable_undo(n, v);
		return XK_OK;
	}
	xk_structure_lock(n);
	for (v = st->enables; v != NULL; v = v->next)
		v->rcv = v->rcv == h->rcv ? h->now : v->rcv;
	xk_structure_unlock(n);
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
