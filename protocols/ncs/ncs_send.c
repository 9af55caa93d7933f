/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs_send.c - messages: announced and pushed from requests, and what is said of them.
 *
 * A send waits in its connection until there is room below, and is pushed by its VP.  A long one is announced
 * when its turn comes and steps aside, so that others pass it; the peer calls for it, in an order of its own, and it
 * leaves before those that were not announced.  An offer says what the peer was told; it outlives its request
 * where that is cancelled, in `withdrawn`, until the peer is told that, too.
 * Invariant: the offers in `offers` and `called` are those of the requests in `announced`.
 */
#include "protocols/ncs/ncs_call.h"

#include "runtime/base/xk_bytes.h"
#include "runtime/mem/xk_alloc.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/vp/xk_task.h"
#include "runtime/vp/xk_wheel.h"

static struct ncs_offer *offer_at(struct xk_listed *i) { return xk_container_of(i, struct ncs_offer, link); }

/* One that is withdrawn. */
static void offer_free(struct xk_ncs_conn *c, struct ncs_offer *o)
{
	xk_list_take(&o->link);
	c->noffers--;
	xk_free(o);
}

void ncs_offers_free(struct xk_ncs_conn *c)
{
	while (!xk_list_empty(&c->withdrawn))
		offer_free(c, offer_at(xk_list_first(&c->withdrawn)));
}

void ncs_offer_called(struct xk_ncs_conn *c, uint32_t no)
{
	for (struct xk_listed *i = xk_list_first(&c->offers); i != NULL; i = xk_list_next(&c->offers, i))
		if (offer_at(i)->no == no) {
			xk_list_take(i);
			xk_list_put(&c->called, i);
			return;
		}
}

/* ---- saying: inside the VP ------------------------------------------------------------------------ */

/* What is to be said next; false: nothing.  Of a connection that is open, with the lock. */
static bool next_note(struct xk_ncs_conn *c, struct proc_note *n)
{
	struct ncs_offer *o;
	struct ncs_box *b;

	if (!xk_list_empty(&c->withdrawn)) {
		o = offer_at(xk_list_first(&c->withdrawn));
		*n = (struct proc_note){ .kind = NOTE_WITHDRAW, .no = o->no };
		offer_free(c, o);
	} else if (!xk_list_empty(&c->calls)) {
		b = xk_container_of(xk_list_first(&c->calls), struct ncs_box, calls);
		xk_list_take(&b->calls);
		*n = (struct proc_note){ .kind = NOTE_READY, .no = b->no };
	} else if (c->placed_due) {
		c->placed_due = false;
		*n = (struct proc_note){ .kind = NOTE_PLACED, .no = c->placed };
	} else {
		return false;
	}
	return true;
}

/* false: there is no connection any more. */
static bool say(struct ncs_end *e, const struct proc_note *n)
{
	struct xk_ncs_conn *c = e->c;
	uint8_t b[NCS_NOTE_LEN];
	int err;

	xk_put_be32(b, n->kind);
	xk_put_be32(b + 4, n->no);
	xk_put_be32(b + 8, n->len);
	xk_put_be32(b + 12, n->tag);
	xk_put_be32(b + 16, c->sent);
	c->notes_out += note_is_placed(n);
	if (n->kind == NOTE_READY)
		xk_count(e->s.rep->count[PROC_COUNT_CALLED]);
	err = xk_sess_control(e->s.down, NCS_CTL_NOTE, b, sizeof b);
	return err == XK_OK && c->end == e;
}

/* ---- pushing: inside the VP ----------------------------------------------------------------------- */

/* What to do next: push r, or announce it; o: it was announced; part: of what was begun. */
struct step { struct xk_ncs_req *r; struct ncs_offer *o; bool announce, part; };

static bool fits(const struct ncs_room *room, const struct xk_ncs_req *r)
{
	return room->bytes + r->room + PROC_LONG <= room->most;
}

/* What the program has written in place leaves as it lies. */
static bool in_parts(const struct ncs_room *room, const struct xk_ncs_req *r)
{
	return r->held == NULL && ncs_part_is_for(room, r->room + PROC_LONG);
}

static bool fits_called(const struct ncs_room *room, const struct xk_ncs_req *r)
{
	return in_parts(room, r) ? ncs_part_fits(room) : fits(room, r);
}

/* What the peer takes is known since the connection is open; what it does not take waits for no room. */
static bool too_long(const struct ncs_room *room, const struct xk_ncs_req *r)
{
	return !ncs_head_fits(room->longest, r->room);
}

/* Of a connection that is open and has nothing to say, with the lock; what is pushed leaves its list. */
static struct step next_step(struct xk_ncs_conn *c, const struct ncs_room *room)
{
	struct step s = { .r = NULL };
	struct xk_listed *i;

	if (c->part.size != 0) {
		s.part = ncs_part_fits(room);
	} else if ((i = xk_list_first(&c->called)) != NULL) {
		s.o = offer_at(i);
		s.r = too_long(room, s.o->r) || fits_called(room, s.o->r) ? s.o->r : NULL;
	} else if ((i = xk_list_first(&c->sends)) != NULL) {
		s.announce = req_of(i)->room > proc_conf(c->n)->eager;
		s.r = too_long(room, req_of(i)) || (s.announce ? c->noffers < PROC_OFFERS : fits(room, req_of(i))) ?
		      req_of(i) : NULL;
	} else if (xk_list_empty(&c->offers) && room->messages == 0) {
		ncs_reqs_fail(&c->flushes, NULL, XK_OK);
	}
	if (s.r != NULL)
		xk_list_take(&s.r->link);
	if (s.r != NULL && s.o != NULL) {
		xk_list_take(&s.o->link);
		c->noffers--;
		s.r->offer = NULL;
	}
	return s;
}

/* ---- marks: inside the VP ------------------------------------------------------------------------- */

/*
 * Without error control the last messages before an announcement may be lost, and the peer, which cannot know, waits
 * for them.  A message that is nothing but its place says that none comes any more; it is sent when all
 * others have left, until the peer has put what was announced in its place.
 */
#define MARK_FIRST (100 * XK_MS)
#define MARK_MOST  4u                    /* doublings */

static void mark_later(struct ncs_end *e)
{
	struct xk_wheel *w = e->s.rep->wheel;

	if (!xk_timer_armed(&e->marker))
		xk_timer_set(w, &e->marker, xk_vp_now() + (MARK_FIRST << (e->marks < MARK_MOST ? e->marks : MARK_MOST)));
}

/* Is there an announcement that the peer has not put in its place?  They are in order; with the lock. */
static bool mark_due(const struct xk_ncs_conn *c)
{
	struct xk_listed *last = xk_list_last(&c->offers);

	return last != NULL && ((c->placed_there - 1 - offer_at(last)->no) & PROC_NUMBERS) > PROC_NUMBERS / 2;
}

void ncs_mark(struct xk_timer *t)
{
	struct ncs_end *e = xk_container_of(t, struct ncs_end, marker);
	struct xk_ncs_conn *c = e->c;
	struct ncs_room room;
	struct xk_msg *m;
	bool waits;

	proc_lock(c->n);
	waits = mark_due(c);
	proc_unlock(c->n);
	e->marks = waits ? e->marks + 1 : 0;
	if (!waits)
		return;
	mark_later(e);
	if (xk_sess_control(e->s.down, NCS_CTL_ROOM, &room, sizeof room) != (int)sizeof room || room.messages != 0 ||
	    c->part.size != 0)
		return;
	m = xk_msg_new(PROC_HDR);
	if (m == NULL)
		return;
	ncs_head_put(c, m, PROC_MARK, 0, PROC_HDR);
	xk_push(e->s.down, m);
}

/* ---- steps: inside the VP ------------------------------------------------------------------------- */

/* It steps aside. */
static int announce(struct ncs_end *e, struct xk_ncs_req *r)
{
	struct ncs_offer *o = xk_alloc(sizeof *o);
	struct xk_ncs_conn *c = e->c;
	struct proc_note n = { NOTE_ANNOUNCE, c->offered & PROC_NUMBERS, (uint32_t)r->room, (uint32_t)r->tag, 0 };
	int err;

	if (o == NULL)
		return XK_E_NOMEM;
	*o = (struct ncs_offer){ .r = r, .no = n.no };
	proc_lock(c->n);
	err = ncs_conn_standing(c);              /* r was in no list: an end has not found it */
	if (err == XK_OK) {
		r->offer = o;
		xk_list_put(&c->offers, &o->link);
		xk_list_put(&c->announced, &r->link);
		c->noffers++;
	}
	proc_unlock(c->n);
	if (err != XK_OK) {
		xk_free(o);
		return err;
	}
	c->offered++;
	xk_count(e->s.rep->count[PROC_COUNT_ANNOUNCED_OUT]);
	if (say(e, &n) && !c->sure)
		mark_later(e);
	return XK_E_INPROGRESS;
}

static int push(struct ncs_end *e, const struct xk_ncs_req *r, uint32_t tag, const struct ncs_room *room)
{
	uint32_t len = (uint32_t)r->room, n = ncs_head_len(room, len);
	struct xk_msg *m = r->held != NULL ? ncs_held_leaves(r->held) : xk_msg_new(len + n);

	if (m == NULL)
		return XK_E_NOMEM;
	ncs_head_put(e->c, m, tag, len, n);
	if (len != 0 && r->held == NULL)
		xk_msg_copy_in(m, n, r->buf, len);
	xk_count(e->s.rep->count[PROC_COUNT_OUT]);
	xk_count_add(e->s.rep->count[PROC_COUNT_RESERVED], r->held != NULL);
	xk_push(e->s.down, m);
	return XK_OK;
}

/* What was announced, and called for. */
static int push_called(struct ncs_end *e, struct xk_ncs_req *r, const struct ncs_offer *o, const struct ncs_room *room)
{
	struct proc_note begun = { NOTE_BEGUN, o->no, 0, 0, 0 };
	struct xk_ncs_conn *c = e->c;

	if (!c->sure && !say(e, &begun))         /* and there may be no e */
		return c->err != XK_OK ? c->err : XK_E_BADF;
	return in_parts(room, r) ? ncs_part_begin(e, r, room, PROC_BODY | o->no) :
	       push(e, r, PROC_BODY | o->no, room);
}

static int go(struct ncs_end *e, const struct step *s, const struct ncs_room *room)
{
	if (too_long(room, s->r))
		return XK_E_MSGSIZE;
	if (s->announce)
		return announce(e, s->r);
	return s->o != NULL ? push_called(e, s->r, s->o, room) : push(e, s->r, (uint32_t)s->r->tag, room);
}

static void step(struct ncs_end *e, const struct step *s, const struct ncs_room *room)
{
	struct xk_ncs_conn *c = e->c;
	int err = go(e, s, room);

	if (err != XK_E_INPROGRESS) {
		proc_lock(c->n);
		ncs_req_done(s->r, err);
		proc_unlock(c->n);
	}
	if (s->o != NULL && (err == XK_E_NOMEM || err == XK_E_MSGSIZE) && c->end == e)
		say(e, &(struct proc_note){ .kind = NOTE_WITHDRAW, .no = s->o->no });
	xk_free(s->o);
}

/* The next thing that is said or sent; false: there is none, or the peer has not heard enough of what was said. */
static bool goes_on(struct ncs_end *e)
{
	struct step s = { .r = NULL };
	struct xk_ncs_conn *c = e->c;
	struct proc_note note;
	struct ncs_room room;
	bool says = false;

	if (xk_sess_control(e->s.down, NCS_CTL_ROOM, &room, sizeof room) != (int)sizeof room ||
	    room.notes >= NCS_NOTES_MOST)
		return false;
	proc_lock(c->n);
	if (c->state == CONN_OPEN) {
		says = next_note(c, &note);
		s = says ? s : next_step(c, &room);
	}
	proc_unlock(c->n);
	if (says)
		return say(e, &note);
	if (s.part)
		return ncs_part_next(e, &room);
	if (s.r != NULL)
		step(e, &s, &room);
	return s.r != NULL;
}

/* Of a connection that somebody holds. */
static bool pump(struct ncs_end *e)
{
	struct xk_ncs_conn *c = e->c;

	if (e->pumping)
		return true;
	e->pumping = true;
	while (c->end == e && goes_on(e))
		;
	if (c->end != e)
		return false;
	e->pumping = false;
	return true;
}

bool ncs_conn_pump(struct ncs_end *e)
{
	struct xk_ncs_conn *c = e->c;
	struct xk_node *n = c->n;
	bool stands;

	if (e->pumping)
		return true;
	proc_lock(n);
	c->refs++;
	proc_unlock(n);
	stands = pump(e);
	proc_lock(n);
	ncs_conn_put(c);
	proc_unlock(n);
	return stands;
}

void ncs_pump_again(struct xk_timer *t)
{
	ncs_conn_pump(xk_container_of(t, struct ncs_end, again));
}

/* ---- by the VP, later -------------------------------------------------------------------------------- */

void ncs_poked(struct xk_vp *vp, void *rep)
{
	struct xk_rep *r = rep;
	struct proc_rep *pr = proc_rep(r);
	struct xk_listed *i;

	(void)vp;
	proc_lock(r->node);
	pr->posted = false;
	while ((i = xk_list_first(&pr->pokes)) != NULL) {
		struct xk_ncs_conn *c = xk_container_of(i, struct xk_ncs_conn, poke);

		xk_list_take(i);
		proc_unlock(r->node);
		if (c->end != NULL)
			ncs_conn_pump(c->end);
		proc_lock(r->node);
		ncs_conn_put(c);
	}
	proc_unlock(r->node);
}

static void pump_op(struct xk_vp *vp, void *arg)
{
	struct xk_ncs_conn *c = arg;

	(void)vp;
	if (c->end != NULL)
		pump(c->end);                    /* who calls holds c */
}

/* ---- cancelling -------------------------------------------------------------------------------------- */

/* What it had found, or announced, is not its any more. */
static void cancel(struct xk_ncs_req *r)
{
	struct xk_ncs_thread *t = r->t;
	struct ncs_box *b = r->box;

	t->refs++;
	ncs_req_done(r, XK_E_CONNABORTED);
	if (b != NULL) {
		ncs_box_keeps(b, sizeof *b, b->len);
		t->unsettled = true;
		ncs_settle(t);
	}
	ncs_thread_put(t);
}

/* Does its message lie in its buffer, as far as it has come? */
static bool is_filled(const struct xk_ncs_req *r)
{
	const struct ncs_box *b = r->box;

	return b != NULL && b == b->c->filling && b->bytes == b->own;
}

/* Memory for the message that fills r's buffer and goes on without r, *n bytes.  Leaves the lock; later all may be
 * different. */
static uint8_t *other_place(const struct xk_ncs_req *r, uint8_t *old, size_t *n)
{
	bool into = r->box->into;

	*n = r->box->len;
	proc_unlock(r->n);
	xk_free(old);
	if (into)
		xk_ncs_yield();                  /* one SDU is copied at a time */
	old = xk_alloc(*n);
	proc_lock(r->n);
	return old;
}

int xk_ncs_cancel(struct xk_ncs_req *r)
{
	uint8_t *own = NULL;
	size_t n = 0;
	int err = XK_OK;

	if (r->n == NULL)
		return XK_E_BUSY;
	proc_lock(r->n);
	while (err == XK_OK && xk_is_listed(&r->link) && r->box != NULL && (r->box->into || is_filled(r)) &&
	       (r->box->into || own == NULL || n != r->box->len)) {
		own = other_place(r, own, &n);
		err = own == NULL ? XK_E_BUSY : XK_OK;   /* no memory: it is done when its message is */
	}
	if (err == XK_OK && (!xk_is_listed(&r->link) || r->kind == REQ_OPEN)) {
		err = XK_E_BUSY;
	} else if (err == XK_OK && is_filled(r)) {
		ncs_await_moves(r, own);
		own = NULL;
	} else if (err == XK_OK) {
		cancel(r);
	}
	proc_unlock(r->n);
	xk_free(own);
	return err;
}

int ncs_req_run(struct xk_ncs_req *r, int err, uint64_t timeout)
{
	if (err != XK_OK)
		return err;
	err = xk_ncs_wait(r, timeout);
	if (err != XK_E_AGAIN || xk_ncs_cancel(r) == XK_OK)
		return err;
	return xk_ncs_wait(r, XK_NCS_FOREVER);
}

/* ---- sending ----------------------------------------------------------------------------------------- */

static int begin_send(struct xk_ncs_conn *c, enum req_kind kind, struct xk_list *l, struct xk_ncs_req *r)
{
	int err;

	proc_lock(c->n);
	err = ncs_conn_standing(c);
	if (err == XK_OK) {
		ncs_req_begin(r, kind, c->t, c);
		ncs_req_says(r, c, r->tag, r->room);
		xk_list_put(l, &r->link);
	}
	proc_unlock(c->n);
	if (err == XK_OK)
		ncs_vp_do(c->n, c->vp, pump_op, c);
	return err;
}

int ncs_send_begin(struct xk_ncs_conn *c, int tag, size_t n, struct xk_ncs_req *r)
{
	uint32_t most;

	if (tag < 0)
		return XK_E_INVAL;
	if (xk_control(c->n->rep[0]->down[0], XK_CTL_GETMAXPACKET, &most, sizeof most) != (int)sizeof most ||
	    !ncs_head_fits(most, n))
		return XK_E_MSGSIZE;
	r->tag = tag;
	r->room = n;
	return begin_send(c, REQ_SEND, &c->sends, r);
}

int xk_ncs_isend(struct xk_ncs_conn *c, int tag, const void *buf, size_t n, struct xk_ncs_req *r)
{
	int err;

	ncs_req_never(r, XK_E_INVAL);
	r->buf = (void *)(uintptr_t)buf;
	err = ncs_proc_enter(NULL, c);
	if (err == XK_OK) {
		err = ncs_send_begin(c, tag, n, r);
		ncs_proc_leave(NULL, c);
	}
	if (err != XK_OK)
		r->err = err;
	return err;
}

int xk_ncs_send(struct xk_ncs_conn *c, int tag, const void *buf, size_t n, uint64_t timeout)
{
	struct xk_ncs_req r = { .buf = (void *)(uintptr_t)buf };
	int err = ncs_proc_enter(NULL, c);

	if (err != XK_OK)
		return err;
	err = ncs_req_run(&r, ncs_send_begin(c, tag, n, &r), timeout);
	ncs_proc_leave(NULL, c);
	return err;
}

int xk_ncs_flush(struct xk_ncs_conn *c, uint64_t timeout)
{
	struct xk_ncs_req r = { .err = 0 };
	int err = ncs_proc_enter(NULL, c);

	if (err != XK_OK)
		return err;
	err = ncs_req_run(&r, begin_send(c, REQ_FLUSH, &c->flushes, &r), timeout);
	ncs_proc_leave(NULL, c);
	return err;
}
