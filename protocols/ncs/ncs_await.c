/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs_await.c - messages that were announced: called for, awaited, withdrawn, lost; what the peer says of its own.
 *
 * An announcement is a message without bytes: it has its place in the order in which messages come, and is
 * matched there.  It is called for when a receive has found it, or when there is room to keep it; its bytes come
 * as a message under its number, whenever they do.
 * Notes and messages come on different ways, and either may overtake the other.  Each message counts the notes, each
 * note the messages that were before it; what is early is held, with all behind it of its kind, so the order is
 * that of sending.
 * Without error control a message may be lost that was called for.  BEGUN says that it was sent, and is
 * counted, too; messages come in their order, so one that counts it and is here says that it does not come.
 * Invariant: a box that is not here is in its connection's `boxes`; `announced` of the process has those that
 * nobody has found and that fit half of what may be kept.
 */
#include "protocols/ncs/ncs_call.h"

#include "runtime/base/xk_bytes.h"
#include "runtime/mem/xk_alloc.h"
#include "runtime/upi/xk_inline.h"

#include <limits.h>

static struct ncs_box *mine_at(struct xk_listed *i) { return xk_container_of(i, struct ncs_box, mine); }
static struct ncs_box *calls_at(struct xk_listed *i) { return xk_container_of(i, struct ncs_box, calls); }

static struct ncs_box *box_of(const struct xk_ncs_conn *c, uint32_t no)
{
	for (struct xk_listed *i = xk_list_first(&c->boxes); i != NULL; i = xk_list_next(&c->boxes, i))
		if (mine_at(i)->no == no)
			return mine_at(i);
	return NULL;
}

/* ---- calling: with the lock ----------------------------------------------------------------------- */

static void call(struct ncs_box *b)
{
	b->is = BOX_CALLED;
	xk_list_take(&b->calls);
	xk_list_put(&b->c->calls, &b->calls);
	ncs_conn_poke(b->c);
}

/* Announced ones leave half of the room to others. */
static uint64_t most(const struct xk_node *n) { return proc_conf(n)->unexpected / 2; }

void ncs_await_room(struct xk_node *n)
{
	struct proc *p = proc_of(n);
	struct xk_listed *i;

	while ((i = xk_list_first(&p->announced)) != NULL) {
		struct ncs_box *b = calls_at(i);

		if (p->kept + b->len > most(n))
			break;
		ncs_box_keeps(b, sizeof *b + b->len, 0);
		call(b);
	}
}

void ncs_await_for(struct ncs_box *b, struct xk_ncs_req *r)
{
	b->r = r;
	r->box = b;
	if (!xk_is_listed(&r->link))
		xk_list_put(&b->c->t->posted, &r->link);
	ncs_box_keeps(b, sizeof *b, 0);
	if (b->is == BOX_ANNOUNCED)
		call(b);
	ncs_await_room(b->c->n);
}

/* ---- what does not come: with the lock, which these may leave -------------------------------------- */

void ncs_await_passed(struct xk_ncs_conn *c, uint32_t count)
{
	struct xk_listed *i;
	bool any = false;

	if (c->sure)
		return;
	if ((int32_t)(count - c->passed) > 0)
		c->passed = count;
	while ((i = xk_list_first(&c->begun)) != NULL && (int32_t)(c->passed - calls_at(i)->begun_at) >= 0) {
		xk_count(c->end->s.rep->count[PROC_COUNT_MISSED]);
		ncs_box_free(calls_at(i));
		any = true;
	}
	if (any) {
		ncs_settle(c->t);
		ncs_await_room(c->n);
	}
}

static void withdraw(struct xk_ncs_conn *c, uint32_t no)
{
	struct ncs_box *b = box_of(c, no);

	if (b == NULL)
		return;
	xk_count(c->end->s.rep->count[PROC_COUNT_WITHDRAWN]);
	ncs_box_free(b);
	ncs_settle(c->t);
	ncs_await_room(c->n);
}

void ncs_await_ended(struct xk_ncs_conn *c)
{
	struct xk_listed *i;

	while ((i = xk_list_first(&c->held)) != NULL) {
		xk_list_take(i);
		ncs_box_offer(box_at(i));
	}
	while ((i = xk_list_first(&c->boxes)) != NULL)
		ncs_box_free(mine_at(i));
}

/* ---- notes: inside the VP --------------------------------------------------------------------------- */

/* It is matched, and called for where there is room.  With the lock. */
static void enters(struct ncs_box *b)
{
	struct xk_ncs_conn *c = b->c;

	c->refs++;
	ncs_box_keeps(b, sizeof *b, 0);
	xk_list_put(&c->boxes, &b->mine);
	c->nboxes++;
	ncs_box_offer(b);
	if (b->is == BOX_ANNOUNCED && b->len <= most(c->n))
		xk_list_put(&proc_of(c->n)->announced, &b->calls);
	c->placed = b->no;
	c->placed_due = !c->sure;
	ncs_await_room(c->n);
}

/* All are looked through for one.  A peer that is like us announces half of that, and never gets there. */
static bool too_many(const struct xk_ncs_conn *c) { return c->nboxes >= 2 * PROC_OFFERS; }

/* An error: the connection cannot go on. */
static int announced(struct ncs_end *e, const struct proc_note *n)
{
	struct xk_ncs_conn *c = e->c;
	struct ncs_box *b;
	int err;

	if (n->tag > INT_MAX || n->no > PROC_NUMBERS || !ncs_head_fits(ncs_end_longest(e), n->len)) {
		xk_dropped(e->s.rep, PROC_DROP_NOTE, 1);
		return XK_E_MSGSIZE;
	}
	b = ncs_box_new(c, (int)n->tag, n->len, 0);
	if (b == NULL)
		return XK_E_NOMEM;
	b->is = BOX_ANNOUNCED;
	b->no = n->no;
	xk_count(e->s.rep->count[PROC_COUNT_ANNOUNCED_IN]);
	proc_lock(c->n);
	err = c->closed ? XK_E_BADF : too_many(c) || ncs_full(c->n, sizeof *b) ? XK_E_NOSPC : XK_OK;
	if (err == XK_OK)
		enters(b);
	proc_unlock(c->n);
	if (err != XK_OK)
		xk_free(b);
	if (err == XK_E_NOSPC)
		xk_dropped(e->s.rep, PROC_DROP_UNEXPECTED, 1);
	return err != XK_E_BADF ? err : XK_OK;
}

static void begun(struct xk_ncs_conn *c, uint32_t no)
{
	struct ncs_box *b = box_of(c, no);

	if (b == NULL || b->is != BOX_CALLED)
		return;
	b->begun_at = c->notes_in;
	xk_list_take(&b->calls);
	xk_list_put(&c->begun, &b->calls);
	ncs_await_passed(c, c->passed);
}

/* It is in its place.  An error: the connection cannot go on. */
static int placed(struct ncs_end *e, const struct proc_note *n)
{
	struct xk_ncs_conn *c = e->c;
	int err = n->kind == NOTE_ANNOUNCE ? announced(e, n) : XK_OK;

	proc_lock(c->n);
	c->notes_in++;
	if (n->kind == NOTE_WITHDRAW)
		withdraw(c, n->no);
	else if (n->kind == NOTE_BEGUN)
		begun(c, n->no);
	proc_unlock(c->n);
	return err;
}

/* ---- one stream of two: inside the VP ---------------------------------------------------------------- */

static struct ncs_held *held_at(struct xk_listed *i) { return xk_container_of(i, struct ncs_held, link); }

bool ncs_await_holds(const struct xk_ncs_conn *c, uint32_t count)
{
	return !xk_list_empty(&c->held) || (int32_t)(count - c->notes_in) > 0;
}

static void held_free(struct xk_ncs_conn *c, struct ncs_held *h)
{
	xk_list_take(&h->link);
	proc_lock(c->n);
	proc_of(c->n)->kept -= sizeof *h;
	ncs_await_room(c->n);
	proc_unlock(c->n);
	xk_free(h);
}

void ncs_await_notes_free(struct xk_ncs_conn *c)
{
	while (!xk_list_empty(&c->notes))
		held_free(c, held_at(xk_list_first(&c->notes)));
}

static int hold(struct xk_ncs_conn *c, const struct proc_note *n)
{
	struct ncs_held *h = xk_alloc(sizeof *h);
	bool full;

	if (h == NULL)
		return XK_E_NOMEM;
	*h = (struct ncs_held){ .n = *n };
	proc_lock(c->n);
	full = ncs_full(c->n, sizeof *h);
	proc_of(c->n)->kept += full ? 0 : sizeof *h;
	proc_unlock(c->n);
	if (full) {
		xk_free(h);
		return XK_E_NOSPC;
	}
	xk_list_put(&c->notes, &h->link);
	return XK_OK;
}

/* The next message that is held, if no note is before it; with the lock. */
static bool next_message(struct xk_ncs_conn *c)
{
	struct xk_listed *i = xk_list_first(&c->held);

	if (i == NULL || (int32_t)(box_at(i)->count - c->notes_in) > 0)
		return false;
	xk_list_take(i);
	ncs_box_offer(box_at(i));
	return true;
}

/* The next note, if no message is before it. */
static struct ncs_held *next_note(struct xk_ncs_conn *c)
{
	struct xk_listed *i = xk_list_first(&c->notes), *m;
	struct ncs_held *h = i != NULL ? held_at(i) : NULL;

	if (h == NULL || (int32_t)(h->n.before - c->arrived) > 0)
		return NULL;
	proc_lock(c->n);
	m = xk_list_first(&c->held);
	if (m != NULL && (int32_t)(box_at(m)->place - h->n.before) < 0)
		h = NULL;
	proc_unlock(c->n);
	return h;
}

/* Both go on as far as they can. */
static int merge(struct ncs_end *e)
{
	struct xk_ncs_conn *c = e->c;
	struct ncs_held *h;
	struct proc_note n;
	int err = XK_OK;
	bool more = true;

	while (err == XK_OK && more) {
		h = next_note(c);
		if (h != NULL) {
			n = h->n;
			held_free(c, h);
			err = placed(e, &n);
			continue;
		}
		proc_lock(c->n);
		more = next_message(c);
		proc_unlock(c->n);
	}
	return err;
}

static int go_on(struct ncs_end *e, int err)
{
	if (err == XK_OK)
		err = merge(e);
	if (err != XK_OK)
		return err;
	return ncs_conn_pump(e) ? XK_OK : CONN_IS_OVER;
}

int ncs_await_place(struct ncs_end *e, uint32_t place)
{
	struct xk_ncs_conn *c = e->c;

	if ((int32_t)(place - c->arrived) > 0)
		c->arrived = place;
	return xk_list_empty(&c->notes) ? XK_OK : go_on(e, XK_OK);
}

int ncs_await_note(struct ncs_end *e, const uint8_t *v)
{
	const struct proc_note n = { xk_be32(v), xk_be32(v + 4), xk_be32(v + 8), xk_be32(v + 12), xk_be32(v + 16) };
	struct xk_ncs_conn *c = e->c;
	int err = XK_OK;

	if (n.kind < NOTE_ANNOUNCE || n.kind > NOTE_PLACED) {
		xk_dropped(e->s.rep, PROC_DROP_NOTE, 1);
		return XK_OK;
	}
	proc_lock(c->n);
	if (n.kind == NOTE_READY)
		ncs_offer_called(c, n.no);
	else if (n.kind == NOTE_PLACED)
		c->placed_there = n.no + 1;
	proc_unlock(c->n);
	if (note_is_placed(&n))
		err = hold(c, &n);
	return go_on(e, err);
}

/* ---- bytes: inside the VP ----------------------------------------------------------------------------- */

struct ncs_box *ncs_await_box(const struct xk_ncs_conn *c, uint32_t no, size_t len)
{
	struct ncs_box *b = box_of(c, no);

	return b != NULL && b->is == BOX_CALLED && !b->broke && b->len == len ? b : NULL;
}

void ncs_await_here(struct ncs_box *b)
{
	struct xk_ncs_conn *c = b->c;
	struct xk_ncs_req *r = b->r;

	b->is = BOX_HERE;
	c->nboxes -= xk_is_listed(&b->mine);
	xk_list_take(&b->mine);
	xk_list_take(&b->calls);
	if (r == NULL)
		return;
	b->r = NULL;                             /* who has asked for it: it may be another's now */
	r->box = NULL;
	ncs_box_keeps(b, sizeof *b, b->len);
	c->t->unsettled = true;
	ncs_settle(c->t);
}

/* ---- messages that are placed as they come: with the lock ------------------------------------------------- */

static bool has_own(const struct ncs_box *b) { return b->bytes != b->own; }

/* All of it is in its place.  May leave the lock. */
static void finish(struct ncs_box *b)
{
	struct xk_ncs_req *r;

	if (has_own(b)) {
		ncs_await_here(b);
		return;
	}
	r = ncs_await_taken(b);
	if (r != NULL)
		ncs_req_done(r, XK_OK);
	else
		ncs_box_free(b);                 /* its receive has failed with all others */
}

void ncs_await_left(struct ncs_box *b)
{
	struct xk_ncs_thread *t = b->c->t;
	int after = b->into ? b->after : 0;

	proc_of(b->c->n)->inside--;
	b->into = false;
	b->after = 0;
	if (after != 0)
		ncs_req_done(b->r, after);
	if (--b->busy != 0)
		return;
	if (b->dead) {
		ncs_box_free(b);
		ncs_settle(t);
	} else if (b->whole) {
		finish(b);
	}
}

void ncs_await_moves(struct xk_ncs_req *r, uint8_t *own)
{
	struct ncs_box *b = r->box;
	struct xk_ncs_thread *t = r->t;
	struct xk_node *n = r->n;
	size_t have = b->have;

	t->refs++;
	xk_list_take(&r->link);
	r->box = NULL;
	b->r = NULL;
	b->bytes = own;                          /* what comes now goes there */
	b->busy++;
	proc_of(n)->inside++;
	ncs_box_keeps(b, sizeof *b, b->len);
	proc_unlock(n);
	memcpy(own, r->buf, have);
	proc_lock(n);
	ncs_req_done(r, XK_E_CONNABORTED);
	ncs_await_left(b);
	t->unsettled = true;
	ncs_settle(t);
	ncs_thread_put(t);
}

uint8_t *ncs_await_place_of(struct ncs_box *b)
{
	uint8_t *to = has_own(b) ? b->bytes : b->r != NULL ? b->r->buf : NULL;

	if (to == NULL)
		return NULL;
	b->busy++;
	b->into = !has_own(b);
	proc_of(b->c->n)->inside++;
	return to + b->have;
}

/* ---- bytes that come whole: inside the VP --------------------------------------------------------------------- */

/* Nobody waited for them.  0, or why they are not kept. */
static unsigned keep(struct xk_ncs_conn *c, const struct xk_msg *m, uint32_t no)
{
	uint32_t len = m->tot;
	uint8_t *bytes = xk_alloc(len != 0 ? len : 1);
	struct ncs_box *b;

	if (bytes == NULL)
		return XK_DROP_NOMEM;
	xk_msg_copy_out(m, 0, bytes, len);
	proc_lock(c->n);
	b = ncs_await_box(c, no, len);
	if (b == NULL) {                         /* somebody has closed meanwhile */
		proc_unlock(c->n);
		xk_free(bytes);
		return PROC_DROP_CLOSED;
	}
	b->bytes = bytes;
	ncs_await_here(b);
	proc_unlock(c->n);
	return 0;
}

int ncs_await_refuse(struct ncs_end *e, struct xk_msg *m, unsigned why)
{
	xk_drop(e->s.rep, why, m);
	if (why == PROC_DROP_CLOSED)
		return XK_OK;
	return why == XK_DROP_NOMEM ? XK_E_NOMEM : XK_E_CONNRESET;
}

struct xk_ncs_req *ncs_await_taken(struct ncs_box *b)
{
	struct xk_ncs_req *r = b->r;
	struct xk_node *n = b->c->n;

	if (r == NULL)
		return NULL;
	xk_list_take(&r->link);
	b->r = NULL;
	r->box = NULL;
	ncs_box_free(b);
	ncs_await_room(n);
	return r;
}

int ncs_await_body(struct ncs_end *e, struct xk_msg *m, uint32_t no)
{
	struct xk_ncs_conn *c = e->c;
	struct xk_ncs_req *r = NULL;
	unsigned why = 0;
	struct ncs_box *b;

	proc_lock(c->n);
	b = ncs_await_box(c, no, m->tot);
	if (b == NULL)
		why = c->closed ? PROC_DROP_CLOSED : PROC_DROP_BODY;
	else
		r = ncs_await_taken(b);
	proc_unlock(c->n);
	if (r != NULL) {
		ncs_give(e, r, m);
		return XK_OK;
	}
	if (why == 0)
		why = keep(c, m, no);
	if (why != 0)
		return ncs_await_refuse(e, m, why);
	xk_msg_free(m);
	return XK_OK;
}
