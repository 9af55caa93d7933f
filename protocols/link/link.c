/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * link.c - sessions, enables and address checks of links with 48-bit
 * addresses; see link.h.
 *
 * Each replica opens the driver once, at start; every session holds a reference
 * to that one driver session.  A passive session lingers, held by the link
 * itself, since receivers mostly do not keep it.
 * Invariant: a lingering session's enable existed when it was made; when an
 * enable goes, every VP is told to give up the sessions made under it.
 */
#include "protocols/link/link.h"
#include "runtime/base/xk_errs.h"
#include "runtime/upi/xk_enable.h"
#include "runtime/upi/xk_move.h"
#include "runtime/upi/xk_part.h"
#include "runtime/upi/xk_vps.h"

/* ---- keys ------------------------------------------------------------------------ */

static bool is_group(const uint8_t mac[6])
{
	return (mac[0] & 1) != 0;
}

static bool is_zero(const uint8_t mac[6])
{
	static const uint8_t zero[6];

	return memcmp(mac, zero, 6) == 0;
}

/* Where a session is bound: what a frame from `peer` shows, or, for a group,
 * where no frame looks. */
static struct xk_key sess_key(const uint8_t peer[6], uint16_t number)
{
	uint8_t b[8];

	memcpy(b, peer, 6);
	xk_put_be16(b + 6, number);
	return (struct xk_key){ { xk_raw64(b), is_group(peer) } };
}

/* The fields of a single station's key. */
static void key_fields(const struct xk_key *k, uint8_t peer[6], uint16_t *number)
{
	uint8_t b[8];

	xk_put_raw64(b, k->w[0]);
	memcpy(peer, b, 6);
	*number = xk_be16(b + 6);
}

static struct xk_key enable_key(uint32_t number)
{
	return (struct xk_key){ { number, 0 } };
}

/* The type number of `type`, 0 when it has none that a frame can carry. */
static uint32_t type_number(const struct xk_node *type)
{
	uint32_t number = xk_proto_number(type, "link");

	return number >= 0x600 && number <= 0xffff ? number : 0;
}

/* ---- sessions ---------------------------------------------------------------------- */

/* Bound and ready, rcnt 0; NULL: no memory, nothing changed. */
static struct xk_sess *link_new(struct xk_rep *r, struct xk_up *up, struct xk_node *type,
				const uint8_t peer[6], uint16_t number)
{
	struct link_rep *st = link_state(r);
	struct xk_key k = sess_key(peer, number);
	struct xk_sess *s = xk_sess_create(r, up, type, st->drv);
	struct link_sess *l = (struct link_sess *)s;

	if (s == NULL)
		return NULL;
	memcpy(l->peer, peer, 6);
	l->number = number;
	st->frame->store(l->hdr, peer, st->mac, number);
	if (xk_sess_bind(s, &k) < 0) {
		xk_sess_destroy(s);
		return NULL;
	}
	xk_dup(st->drv);
	return s;
}

void link_close(struct xk_sess *s)
{
	struct xk_sess *down = s->down;

	xk_sess_unbind(s);
	xk_sess_destroy(s);
	xk_close(down);
}

/* ---- active open ---------------------------------------------------------------------- */

/* Takes our pieces off the list: the remote station, perhaps the local one. */
static int pop_parts(struct link_rep *st, struct xk_parts *ps, uint8_t peer[6])
{
	uint8_t local[6];
	int any;

	if (ps == NULL || ps->n < 1 || xk_part_pop_mac(&ps->p[XK_REMOTE], peer) != 0)
		return XK_E_INVAL;
	if (is_zero(peer) || memcmp(peer, st->mac, 6) == 0)
		return XK_E_INVAL;
	if (ps->n < 2 || ps->p[XK_LOCAL].depth == 0)
		return XK_OK;
	any = xk_part_pop_mac(&ps->p[XK_LOCAL], local);
	if (any < 0)
		return XK_E_INVAL;
	return any || memcmp(local, st->mac, 6) == 0 ? XK_OK : XK_E_ADDRNOTAVAIL;
}

/* Sessions are shared by openers whose messages go to the same place. */
static struct xk_sess *find_or_new(struct xk_rep *r, struct xk_rep *rcv, struct xk_node *type,
				   const uint8_t peer[6], uint16_t number, int *err)
{
	struct xk_key k = sess_key(peer, number);
	struct xk_mapnode *node = xk_map_resolve(&r->active, &k);
	struct xk_sess *s;

	if (node == NULL) {
		s = link_new(r, &rcv->up, type, peer, number);
		if (s == NULL)
			*err = XK_E_NOMEM;
		return s;
	}
	s = xk_container_of(node, struct xk_sess, map);
	if (s->up->rep == rcv && xk_sess_type(s) == type)
		return s;
	*err = XK_E_BUSY;
	return NULL;
}

struct xk_sess *link_open(struct xk_rep *r, struct xk_rep *rcv, struct xk_node *type,
			  struct xk_parts *ps, int *err)
{
	struct link_rep *st = link_state(r);
	uint32_t number = type_number(type);
	uint8_t peer[6];

	*err = st->drv == NULL ? XK_E_NODEV : number == 0 ? XK_E_INVAL : pop_parts(st, ps, peer);
	if (*err != XK_OK)
		return NULL;
	return find_or_new(r, rcv, type, peer, (uint16_t)number, err);
}

/* ---- passive open --------------------------------------------------------------------- */

int link_open_enable(struct xk_node *n, struct xk_node *rcv, struct xk_node *type, struct xk_parts *ps)
{
	uint32_t number = type_number(type);
	struct xk_key k = enable_key(number);

	(void)ps;
	return number == 0 ? XK_E_INVAL : xk_enable_bind(n, &k, rcv, type);
}

/* Is the enable that s was made under gone? */
static bool enable_gone(struct xk_sess *s)
{
	struct xk_key k = enable_key(((struct link_sess *)s)->number);
	struct xk_enable *e = xk_enable_find(s->rep->node, &k);

	return e == NULL || xk_enable_type(e) != xk_sess_type(s) || xk_enable_rcv(e) != s->up->rep->node;
}

static void purge_here(struct xk_vp *vp, void *arg)
{
	struct link_rep *st = link_state(arg);

	(void)vp;
	xk_store_release(&st->purge_posted, 0);   /* before the walk: a later request posts again */
	linger_purge(&st->linger, enable_gone);
}

static void purge_everywhere(struct xk_node *n)
{
	for (unsigned i = 0; i < xk_node_nvps(n); i++) {
		struct link_rep *st = link_state(n->rep[i]);

		if (xk_atomic_xchg(&st->purge_posted, 1u) == 0)
			xk_vp_call_async(n->rep[i]->vp, &st->purge);
	}
}

int link_open_disable(struct xk_node *n, struct xk_node *rcv, struct xk_node *type, struct xk_parts *ps)
{
	struct xk_key k = enable_key(type_number(type));
	int err = xk_enable_unbind(n, &k, rcv, type);

	(void)ps;
	if (err == XK_OK)
		purge_everywhere(n);
	return err;
}

void link_open_disable_all(struct xk_node *n, struct xk_node *rcv)
{
	xk_enable_unbind_all(n, rcv);
	purge_everywhere(n);
}

/* The passive session for key k under enable e; NULL with *reason. */
static struct xk_sess *passive_open(struct xk_rep *r, struct xk_enable *e, const uint8_t peer[6],
				    uint16_t number, unsigned *reason)
{
	struct link_rep *st = link_state(r);
	struct xk_sess *s;

	*reason = LINK_DROP_SESSION_CAP;
	if (!linger_room(&st->linger))
		return NULL;
	*reason = XK_DROP_NOMEM;
	s = link_new(r, &xk_rep_here(xk_enable_rcv(e), r)->up, xk_enable_type(e), peer, number);
	if (s == NULL)
		return NULL;
	xk_count(r->count[LINK_COUNT_PASSIVE]);
	/* Our own reference first: the receiver may dup and close at once. */
	xk_dup(s);
	*reason = LINK_DROP_REFUSED;
	if (xk_open_done(xk_enable_rcv(e), s, xk_enable_type(e)) < 0) {
		xk_close(s);
		return NULL;
	}
	linger_add(&st->linger, &((struct link_sess *)s)->linger, s);
	return s;
}

struct xk_sess *link_miss(struct xk_rep *r, struct xk_sess *lls, const struct xk_key *k, unsigned *reason)
{
	struct link_rep *st = link_state(r);
	struct xk_enable *e;
	struct xk_key ek;
	uint8_t peer[6];
	uint16_t number;

	(void)lls;
	key_fields(k, peer, &number);
	*reason = LINK_DROP_BAD_SOURCE;
	if (is_group(peer) || is_zero(peer))
		return NULL;
	*reason = LINK_DROP_OWN_SOURCE;
	if (memcmp(peer, st->mac, 6) == 0)
		return NULL;
	ek = enable_key(number);
	e = xk_enable_find(r->node, &ek);
	*reason = LINK_DROP_UNKNOWN_TYPE;
	return e == NULL ? NULL : passive_open(r, e, peer, number, reason);
}

/* ---- the rare verdicts of demux -------------------------------------------------------- */

bool link_accepts(struct xk_rep *r, const uint8_t *dst, struct xk_msg *m)
{
	const struct link_conf *c = r->conf;

	if (!is_group(dst) && !c->promiscuous)
		return false;
	m->flags |= XK_MSG_LINK_BCAST;
	return true;
}

void link_drop_short(struct xk_rep *r, struct xk_msg *m, uint32_t hdr_len)
{
	xk_drop(r, m->tot < hdr_len ? LINK_DROP_SHORT : XK_DROP_NOMEM, m);
}

/* ---- control ------------------------------------------------------------------------------ */

/* What fits above our header. */
static int max_packet(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	const struct link_frame *f = link_state(r)->frame;
	uint32_t v;
	int res = xk_control(r->down[0], op, &v, sizeof(v));

	if (res < 0)
		return res;
	v = v > f->hdr_len ? v - f->hdr_len : 0;
	if (v > f->max_payload)
		v = f->max_payload;
	return xk_answer32(buf, len, v);
}

/* The longest that may be cut below. */
static int max_super(struct xk_rep *r, void *buf, unsigned len)
{
	uint32_t v, hdr = link_state(r)->frame->hdr_len;
	int res = xk_control(r->down[0], XK_CTL_GETMAXSUPER, &v, sizeof(v));

	return res < 0 ? res : xk_answer32(buf, len, v > hdr ? v - hdr : 0);
}

static int exchange_visit(struct xk_mapnode *node, void *arg)
{
	struct xk_sess *s = xk_container_of(node, struct xk_sess, map);
	const struct xk_move *m = arg;

	if (s->down == m->old) {
		s->down = xk_dup(m->now);
		xk_close(m->old);
	}
	return XK_MAP_KEEP;
}

/* Another session of the driver, or of a link that is put before it: every session has a reference, and the replica one. */
static int exchange(struct xk_rep *r, struct xk_move *m)
{
	struct link_rep *st = link_state(r);
	int res = xk_asked(r, m);

	if (res <= 0)
		return res;
	if (m->old != st->drv)
		return XK_E_NOENT;
	if (m->now == NULL)
		return XK_OK;
	xk_map_foreach(&r->active, exchange_visit, m);
	st->drv = xk_dup(m->now);
	xk_close(m->old);
	return XK_OK;
}

int link_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	switch (op) {
	case XK_CTL_MOVE:
		return exchange(r, buf);
	case XK_CTL_GETMAXSUPER:
		return max_super(r, buf, len);
	case XK_CTL_GETMAXPACKET:
	case XK_CTL_GETOPTPACKET:
		return max_packet(r, op, buf, len);
	case XK_CTL_GETMYMAC:
		return link_state(r)->drv ? xk_answer(buf, len, link_state(r)->mac, 6) : XK_E_NOTSUP;
	default:
		return XK_E_NOTSUP;
	}
}

static int participants(struct xk_sess *s, void *buf, unsigned len)
{
	struct xk_parts ps;

	xk_parts_init(&ps, 2);
	(void)xk_part_push_mac(&ps.p[XK_REMOTE], ((struct link_sess *)s)->peer);
	(void)xk_part_push_mac(&ps.p[XK_LOCAL], link_state(s->rep)->mac);
	return xk_answer(buf, len, &ps, sizeof(ps));
}

int link_sess_control(struct xk_sess *s, unsigned op, void *buf, unsigned len)
{
	struct link_sess *l = (struct link_sess *)s;

	switch (op) {
	case XK_CTL_GETPEERMAC:
		return xk_answer(buf, len, l->peer, 6);
	case XK_CTL_GETMYPROTO:
		return xk_answer32(buf, len, l->number);
	case XK_CTL_GETPARTICIPANTS:
		return participants(s, buf, len);
	default:
		return link_control(s->rep, op, buf, len);
	}
}

/* ---- life of a replica ------------------------------------------------------------------------ */

int link_rep_init(struct xk_rep *r, const struct link_frame *f)
{
	const struct link_conf *c = r->conf;
	struct link_rep *st = link_state(r);

	st->frame = f;
	st->purge.fn = purge_here;
	st->purge.arg = r;
	linger_init(&st->linger, r->wheel, c->linger, c->sessions, &r->count[LINK_COUNT_LINGERED]);
	return XK_OK;
}

int link_rep_start(struct xk_rep *r, struct xk_errs *e)
{
	struct link_rep *st = link_state(r);
	struct xk_node *n = r->node;
	uint8_t mac[8] = { 0 };
	struct xk_parts ps;
	int err;

	if (xk_control(r->down[0], XK_CTL_GETMYMAC, mac, 6) != 6 || is_group(mac) || is_zero(mac)) {
		xk_errs_add(e, n->file, n->line, 0, "%s: %s below has no usable station address",
			    n->name, n->down[0]->name);
		return XK_E_NODEV;
	}
	memcpy(st->mac, mac, 6);
	st->own = link_addr(mac);
	xk_parts_init(&ps, 0);
	st->drv = xk_open(r, n, r->down[0], &ps, &err);
	if (st->drv == NULL)
		xk_errs_add(e, n->file, n->line, 0, "%s: cannot open %s below: %s",
			    n->name, n->down[0]->name, xk_strerror(err));
	return st->drv ? XK_OK : err;
}

void link_rep_stop(struct xk_rep *r)
{
	struct link_rep *st = link_state(r);
	struct xk_sess *drv = st->drv;

	linger_drain(&st->linger);
	st->drv = NULL;
	if (drv != NULL)
		xk_close(drv);
}
