/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs_place.c - messages of several SDUs: placed SDU by SDU into the buffer of the receive that they have found.
 *
 * ncs passes SDUs up in order.  A message is matched when its first one comes, or was when it was announced; with a
 * receive, each SDU is copied from where the interface left it to its place in the receive's buffer, and is
 * freed.  Without one all of it waits and is matched then, as messages of one SDU are.  Without error control a
 * message may break off, so only one that was announced, and whose receive is bound to it anyhow, is placed.
 * Copying is done without the lock: whoever ends the receive meanwhile, or frees the box, leaves word and the
 * VP does it.  A receive that is cancelled half-way takes its buffer along: what is in it is copied to memory
 * of the message's own, which goes on there.
 * Invariant: c->filling is a box that is not whole and has a place for its next byte, or whose connection ends.
 */
#include "protocols/ncs/ncs_call.h"

#include "runtime/mem/xk_alloc.h"
#include "runtime/upi/xk_inline.h"

/* ---- what its first SDU finds: with the lock ---------------------------------------------------------- */

/* Does the program get it as it lies when all of it is here?  Else SDUs are joined in memory of the message's own. */
static bool is_taken_whole(const struct xk_ncs_req *r, uint64_t len)
{
	return r->held != NULL && ncs_held_fits(r->n, len);
}

static bool gets_memory(struct ncs_box *b)
{
	uint8_t *own = xk_alloc(b->len != 0 ? b->len : 1);

	if (own != NULL)
		b->bytes = own;
	return own != NULL;
}

/* The receive for a message that was not announced, with a box that binds the two; NULL: there is none, or no
 * memory. */
static struct ncs_box *bound(struct xk_ncs_conn *c, const struct proc_head *h)
{
	struct xk_ncs_req *r = ncs_receiver(c, (int)h->tag, h->len);
	struct ncs_box *b = r != NULL && !is_taken_whole(r, h->len) ? ncs_box_new(c, (int)h->tag, h->len, 0) : NULL;

	if (b == NULL)
		return NULL;
	if (r->held != NULL && !gets_memory(b)) {
		xk_free(b);
		return NULL;
	}
	b->is = BOX_COMING;
	b->no = UINT32_MAX;                      /* of none that is announced */
	c->refs++;
	c->nboxes++;
	ncs_box_keeps(b, sizeof *b, 0);
	xk_list_put(&c->boxes, &b->mine);
	ncs_box_join(b, r);
	return b;
}

/* What a message's first SDU has found; NULL: it waits.  *why: it is refused. */
static struct ncs_box *find(struct xk_ncs_conn *c, const struct proc_head *h, unsigned *why)
{
	struct ncs_box *b;

	if (!(h->tag & PROC_BODY))
		return c->sure && !c->closed && !ncs_await_holds(c, h->count) ? bound(c, h) : NULL;
	ncs_await_passed(c, h->count - 1);
	b = ncs_await_box(c, h->tag & ~PROC_BODY, h->len);
	if (b == NULL)
		*why = c->closed ? PROC_DROP_CLOSED : PROC_DROP_BODY;
	if (b == NULL || b->r == NULL || is_taken_whole(b->r, b->len))
		return NULL;
	return b->r->held == NULL || gets_memory(b) ? b : NULL;
}

/* ---- SDUs: inside the VP --------------------------------------------------------------------------- */

void ncs_place_none(struct ncs_end *e)
{
	struct ncs_coming *g = &e->coming;
	struct xk_ncs_conn *c = e->c;
	struct ncs_box *b;

	if (g->how == COMING_NOT)
		return;
	g->how = COMING_NOT;
	if (g->first != NULL)
		xk_msg_free(g->first);
	g->first = NULL;
	proc_lock(c->n);
	b = c->filling;
	c->filling = NULL;
	if (b != NULL && b->is == BOX_COMING) {
		ncs_box_free(b);
		ncs_settle(c->t);
	} else if (b != NULL) {                  /* what was announced is given up in its turn */
		b->broke = true;
	}
	proc_unlock(c->n);
}

/* Copies m, which is used up, to where b's next bytes go. */
static void copy(struct ncs_end *e, struct ncs_box *b, uint8_t *to, struct xk_msg *m, bool last)
{
	struct xk_ncs_conn *c = e->c;
	uint32_t n = m->tot;

	xk_msg_copy_out(m, 0, to, n);
	xk_msg_free(m);
	proc_lock(c->n);
	b->have += n;
	b->whole = last;
	if (last && c->filling == b)
		c->filling = NULL;
	xk_count_add(e->s.rep->count[PROC_COUNT_DIRECT], last && b->into && b->after == 0 && !b->dead);
	xk_count_add(e->s.rep->count[PROC_COUNT_COPIED], last && b->r != NULL && b->r->held != NULL);
	ncs_await_left(b);
	proc_unlock(c->n);
}

/* Is m what is missing of len bytes, or, unless it is the last, less than that? */
static bool is_right(uint64_t len, uint64_t have, const struct xk_msg *m, bool last)
{
	return last ? have + m->tot == len : have + m->tot < len;
}

/* The peer says one length and sends another. */
static int wrong(struct ncs_end *e, struct xk_msg *m)
{
	e->coming.how = COMING_NOWHERE;
	xk_drop(e->s.rep, PROC_DROP_LENGTH, m);
	return XK_E_CONNRESET;
}

static int waits(struct ncs_end *e, struct xk_msg *m, bool last)
{
	struct ncs_coming *g = &e->coming;

	if (!is_right(g->h.len, g->first != NULL ? g->first->tot : 0, m, last))
		return wrong(e, m);
	ncs_append(&g->first, &g->last, m);
	if (!last)
		return XK_OK;
	m = g->first;
	g->first = NULL;
	g->how = COMING_NOT;
	return ncs_conn_message(e, m, &g->h);
}

/* The next SDU of one that is placed. */
static int placed(struct ncs_end *e, struct xk_msg *m, bool last)
{
	struct xk_ncs_conn *c = e->c;
	bool right = true;
	uint8_t *to = NULL;
	struct ncs_box *b;

	proc_lock(c->n);
	b = c->filling;
	if (b != NULL)
		right = is_right(b->len, b->have, m, last);
	if (b != NULL && right)
		to = ncs_await_place_of(b);
	proc_unlock(c->n);
	if (!right)
		return wrong(e, m);
	if (to == NULL) {                        /* somebody has closed meanwhile, or it was withdrawn */
		e->coming.how = last ? COMING_NOT : COMING_NOWHERE;
		xk_drop(e->s.rep, PROC_DROP_CLOSED, m);
		return XK_OK;
	}
	copy(e, b, to, m, last);
	if (!last)
		return XK_OK;
	e->coming.how = COMING_NOT;
	xk_count(e->s.rep->count[PROC_COUNT_IN]);
	return ncs_await_place(e, e->coming.h.place + 1);
}

/* Behind what stands in front of a message, the bytes of its first SDU. */
static int begins(struct ncs_end *e, struct xk_msg *m)
{
	struct ncs_coming *g = &e->coming;
	struct xk_ncs_conn *c = e->c;
	struct ncs_box *b = NULL;
	uint8_t *to = NULL;
	unsigned why = 0;

	if (!is_right(g->h.len, 0, m, false))
		return wrong(e, m);
	proc_lock(c->n);
	b = find(c, &g->h, &why);
	if (b != NULL)
		to = ncs_await_place_of(b);
	c->filling = to != NULL ? b : NULL;
	proc_unlock(c->n);
	g->how = why != 0 ? COMING_NOWHERE : to != NULL ? COMING_PLACED : COMING_WAITS;
	if (why != 0)
		return ncs_await_refuse(e, m, why);
	if (to == NULL)
		return waits(e, m, false);
	copy(e, b, to, m, false);
	return XK_OK;
}

/* Can a message of so many SDUs of `sdu` bytes have len bytes?  All but the last are full. */
static bool can_be(struct ncs_end *e, uint32_t len, uint32_t last, uint32_t sdu)
{
	return ((uint64_t)len + PROC_LONG - 1) / sdu == last && ncs_head_fits(ncs_end_longest(e), len);
}

static int first(struct ncs_end *e, struct xk_msg *m, uint32_t last)
{
	uint32_t sdu = m->tot;
	int err = ncs_head_take(&m, PROC_LONG, &e->coming.h);

	e->coming.how = COMING_NOWHERE;
	if (err != XK_OK) {
		xk_drop(e->s.rep, err == XK_E_NOMEM ? XK_DROP_NOMEM : PROC_DROP_SHORT, m);
		return err == XK_E_NOMEM ? err : XK_OK;
	}
	if (!can_be(e, e->coming.h.len, last, sdu))
		return wrong(e, m);
	err = ncs_await_place(e, e->coming.h.place);
	if (err == XK_OK)
		return begins(e, m);
	xk_msg_free(m);
	return err;
}

static int only(struct ncs_end *e, struct xk_msg *m)
{
	struct proc_head h;
	int err = ncs_head_take(&m, PROC_HDR, &h);

	if (err == XK_OK)
		return ncs_conn_message(e, m, &h);
	xk_drop(e->s.rep, err == XK_E_NOMEM ? XK_DROP_NOMEM : PROC_DROP_SHORT, m);
	return err == XK_E_NOMEM ? err : XK_OK;
}

int ncs_place_sdu(struct ncs_end *e, struct xk_msg *m)
{
	struct ncs_sdu p;

	ncs_sdu_load(m->data, &p);
	xk_msg_pop(m, e->before);
	if (p.sdu == 0)
		ncs_place_none(e);               /* what came before broke off */
	if (p.last == 0)
		return only(e, m);
	if (p.sdu == 0)
		return first(e, m, p.last);
	switch (e->coming.how) {
	case COMING_PLACED:
		return placed(e, m, p.sdu == p.last);
	case COMING_WAITS:
		return waits(e, m, p.sdu == p.last);
	default:
		xk_drop(e->s.rep, PROC_DROP_CLOSED, m);
		return XK_OK;
	}
}
