/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs_match.c - messages: pushed from requests as there is room, matched with receives as they come.
 *
 * The order is MPI's: a message goes to the first receive that was posted and fits it, a receive gets
 * the first message that has come and fits it.  What finds its receive is copied from where the
 * interface left it straight into the receiver's buffer; what does not is kept until somebody asks.
 * Invariant: no message that is kept fits a receive that is posted.
 */
#include "protocols/ncs/ncs_call.h"

#include "runtime/base/xk_bytes.h"
#include "runtime/upi/xk_inline.h"

#include <limits.h>
#include <string.h>

/* ---- down: inside the VP ------------------------------------------------------------------------- */

/* The next to be pushed, taken from its list; NULL: none, or there is no room. */
static struct xk_ncs_req *next_send(struct ncs_end *e)
{
	struct xk_ncs_req *r = NULL;
	struct ncs_room room;
	struct xk_listed *i;

	if (xk_sess_control(e->s.down, NCS_CTL_ROOM, &room, sizeof room) != (int)sizeof room)
		return NULL;
	proc_lock(e->c->n);
	if (e->c->state == CONN_OPEN) {
		i = xk_list_first(&e->c->sends);
		if (i != NULL && room.bytes + req_of(i)->room + PROC_HDR <= room.most) {
			r = req_of(i);
			xk_list_take(i);
		}
		if (xk_list_empty(&e->c->sends) && r == NULL && room.messages == 0)
			ncs_reqs_fail(&e->c->flushes, NULL, XK_OK);
	}
	proc_unlock(e->c->n);
	return r;
}

static int push_one(struct ncs_end *e, const struct xk_ncs_req *r)
{
	struct xk_msg *m = xk_msg_new((uint32_t)r->room + PROC_HDR);
	uint8_t h[PROC_HDR] = { 0 };

	if (m == NULL)
		return XK_E_NOMEM;
	xk_put_be32(h, (uint32_t)r->tag);
	xk_msg_copy_in(m, 0, h, sizeof h);
	if (r->room != 0)
		xk_msg_copy_in(m, PROC_HDR, r->buf, (uint32_t)r->room);
	xk_count(e->s.rep->count[PROC_COUNT_OUT]);
	xk_push(e->s.down, m);
	return XK_OK;
}

/* What is pushed may end it. */
void ncs_conn_pump(struct ncs_end *e)
{
	struct xk_ncs_conn *c = e->c;
	struct xk_ncs_req *r;
	struct xk_node *n;
	int err;

	if (e->pumping)
		return;
	e->pumping = true;
	proc_lock(c->n);
	c->refs++;
	proc_unlock(c->n);
	while (c->end == e && (r = next_send(e)) != NULL) {
		err = push_one(e, r);
		proc_lock(c->n);
		ncs_req_done(r, err);
		proc_unlock(c->n);
	}
	if (c->end == e)
		e->pumping = false;
	n = c->n;
	proc_lock(n);
	ncs_conn_put(c);
	proc_unlock(n);
}

static void pump_op(struct xk_vp *vp, void *arg)
{
	struct xk_ncs_conn *c = arg;

	(void)vp;
	if (c->end != NULL)
		ncs_conn_pump(c->end);
}

/* ---- sending ----------------------------------------------------------------------------------------- */

/* What a call on c that needs it alive begins with; held. */
static int standing(const struct xk_ncs_conn *c)
{
	return proc_of(c->n)->stopping ? XK_E_SHUTDOWN : c->closed ? XK_E_BADF : c->state == CONN_ENDED ? c->err : XK_OK;
}

static int begin_send(struct xk_ncs_conn *c, enum req_kind kind, struct xk_list *l, struct xk_ncs_req *r)
{
	int err;

	proc_lock(c->n);
	err = standing(c);
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

static int send_held(struct xk_ncs_conn *c, int tag, const void *buf, size_t n, struct xk_ncs_req *r)
{
	uint32_t most;

	if (tag < 0)
		return XK_E_INVAL;
	if (xk_control(c->n->rep[0]->down[0], XK_CTL_GETMAXPACKET, &most, sizeof most) != (int)sizeof most ||
	    n > most - PROC_HDR)
		return XK_E_MSGSIZE;
	r->tag = tag;
	r->buf = (void *)(uintptr_t)buf;
	r->room = n;
	return begin_send(c, REQ_SEND, &c->sends, r);
}

int xk_ncs_isend(struct xk_ncs_conn *c, int tag, const void *buf, size_t n, struct xk_ncs_req *r)
{
	int err;

	ncs_req_never(r, XK_E_INVAL);
	err = ncs_proc_enter(NULL, c);
	if (err == XK_OK) {
		err = send_held(c, tag, buf, n, r);
		ncs_proc_leave(NULL, c);
	}
	if (err != XK_OK)
		r->err = err;
	return err;
}

int xk_ncs_send(struct xk_ncs_conn *c, int tag, const void *buf, size_t n, uint64_t timeout)
{
	struct xk_ncs_req r = { .err = 0 };
	int err = ncs_proc_enter(NULL, c);

	if (err != XK_OK)
		return err;
	err = ncs_req_run(&r, send_held(c, tag, buf, n, &r), timeout);
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

/* ---- matching: with the lock ---------------------------------------------------------------------------- */

static bool fits(const struct xk_ncs_req *r, const struct xk_ncs_conn *c, int tag)
{
	if (r->tag != XK_NCS_ANY && r->tag != tag)
		return false;
	if (r->c != NULL)
		return r->c == c;
	return !(c->peer.session & PROC_GROUP) && (r->rank == XK_NCS_ANY || r->rank == c->peer.rank);
}

/* The receive that gets it, taken from its list; those before it that are too short are told. */
static struct xk_ncs_req *receiver(struct xk_ncs_conn *c, int tag, size_t len)
{
	struct xk_list *l = &c->t->posted;

	for (struct xk_listed *i = xk_list_first(l), *next; i != NULL; i = next) {
		struct xk_ncs_req *r = req_of(i);

		next = xk_list_next(l, i);
		if (r->kind != REQ_RECV || !fits(r, c, tag))
			continue;
		ncs_req_says(r, c, tag, len);
		if (r->room >= len) {
			xk_list_take(i);
			return r;
		}
		ncs_req_done(r, XK_E_MSGSIZE);
	}
	return NULL;
}

static void tell_probes(struct xk_ncs_conn *c, int tag, size_t len)
{
	struct xk_list *l = &c->t->posted;

	for (struct xk_listed *i = xk_list_first(l), *next; i != NULL; i = next) {
		struct xk_ncs_req *r = req_of(i);

		next = xk_list_next(l, i);
		if (r->kind == REQ_PROBE && fits(r, c, tag)) {
			ncs_req_says(r, c, tag, len);
			ncs_req_done(r, XK_OK);
		}
	}
}

static struct ncs_box *box_of(struct xk_listed *i) { return xk_container_of(i, struct ncs_box, link); }

/* What keeping it takes: a message may be empty. */
static uint64_t cost(const struct ncs_box *b) { return sizeof *b + b->len; }

static void box_free(struct xk_node *n, struct ncs_box *b)
{
	xk_list_take(&b->link);
	proc_of(n)->kept -= cost(b);
	ncs_conn_put(b->c);
	xk_free(b);
}

void ncs_boxes_free(struct xk_ncs_thread *t, const struct xk_ncs_conn *c)
{
	for (struct xk_listed *i = xk_list_first(&t->came), *next; i != NULL; i = next) {
		next = xk_list_next(&t->came, i);
		if (c == NULL || box_of(i)->c == c)
			box_free(t->n, box_of(i));
	}
}

static struct ncs_box *first_box(const struct xk_ncs_thread *t, const struct xk_ncs_req *r)
{
	for (struct xk_listed *i = xk_list_first(&t->came); i != NULL; i = xk_list_next(&t->came, i))
		if (fits(r, box_of(i)->c, box_of(i)->tag))
			return box_of(i);
	return NULL;
}

/* ---- up: inside the VP ------------------------------------------------------------------------------------ */

static void give(struct ncs_end *e, struct xk_ncs_req *r, const struct xk_msg *m)
{
	if (m->tot > PROC_HDR)
		xk_msg_copy_out(m, PROC_HDR, r->buf, m->tot - PROC_HDR);
	xk_count(e->s.rep->count[PROC_COUNT_DIRECT]);
	proc_lock(e->c->n);
	ncs_req_done(r, XK_OK);
	proc_unlock(e->c->n);
}

/* Nobody had asked for it; maybe somebody has while it was copied.  NULL: it is kept, and b with it. */
static struct xk_ncs_req *keep(struct xk_ncs_conn *c, struct ncs_box *b, unsigned *why)
{
	struct xk_ncs_req *r = NULL;
	struct proc *p = proc_of(c->n);

	proc_lock(c->n);
	*why = 0;
	if (c->closed)
		*why = PROC_DROP_CLOSED;
	else if ((r = receiver(c, b->tag, b->len)) == NULL && p->kept + cost(b) > proc_conf(c->n)->unexpected)
		*why = PROC_DROP_UNEXPECTED;
	if (r == NULL && *why == 0) {
		p->kept += cost(b);
		c->refs++;
		xk_list_put(&c->t->came, &b->link);
		tell_probes(c, b->tag, b->len);
	}
	proc_unlock(c->n);
	return r;
}

static void unexpected(struct ncs_end *e, struct xk_msg *m, int tag)
{
	size_t n = m->tot - PROC_HDR;
	struct ncs_box *b = xk_alloc(sizeof *b + n);
	struct xk_ncs_conn *c = e->c;
	struct xk_ncs_req *r;
	unsigned why = XK_DROP_NOMEM;

	if (b != NULL) {
		b->c = c;
		b->tag = tag;
		b->len = n;
		if (n != 0)
			xk_msg_copy_out(m, PROC_HDR, b->bytes, (uint32_t)n);
		r = keep(c, b, &why);
		if (r == NULL && why == 0) {
			xk_msg_free(m);
			return;
		}
		xk_free(b);
		if (r != NULL) {
			give(e, r, m);
			xk_msg_free(m);
			return;
		}
	}
	xk_drop(e->s.rep, why, m);
	if (why != PROC_DROP_CLOSED)             /* no message of it may be missing */
		ncs_conn_ended(c, XK_E_NOSPC, "messages that nobody receives");
}

void ncs_conn_message(struct ncs_end *e, struct xk_msg *m)
{
	struct xk_ncs_req *r = NULL;
	uint8_t h[PROC_HDR];
	uint32_t tag;

	if (m->tot < PROC_HDR) {
		xk_drop(e->s.rep, PROC_DROP_SHORT, m);
		return;
	}
	xk_msg_copy_out(m, 0, h, sizeof h);
	tag = xk_be32(h);
	if (tag > INT_MAX || xk_be32(h + 4) != 0) {
		xk_drop(e->s.rep, PROC_DROP_TAG, m);
		return;
	}
	xk_count(e->s.rep->count[PROC_COUNT_IN]);
	proc_lock(e->c->n);
	if (!e->c->closed)
		r = receiver(e->c, (int)tag, m->tot - PROC_HDR);
	proc_unlock(e->c->n);
	if (r == NULL) {
		unexpected(e, m, (int)tag);
		return;
	}
	give(e, r, m);
	xk_msg_free(m);
}

/* ---- receiving ----------------------------------------------------------------------------------------------- */

/* Takes what has come, or posts r.  With the lock, which copying leaves. */
static void receive(struct xk_ncs_thread *t, struct xk_ncs_req *r)
{
	struct ncs_box *b = first_box(t, r);

	if (b == NULL) {
		if (r->c != NULL && standing(r->c) != XK_OK)
			ncs_req_done(r, standing(r->c));
		else
			xk_list_put(&t->posted, &r->link);
		return;
	}
	ncs_req_says(r, b->c, b->tag, b->len);
	if (r->kind == REQ_RECV && r->room >= b->len) {
		xk_list_take(&b->link);
		proc_unlock(t->n);
		if (b->len != 0)
			memcpy(r->buf, b->bytes, b->len);
		proc_lock(t->n);
		box_free(t->n, b);
		ncs_req_done(r, XK_OK);
	} else {
		ncs_req_done(r, r->kind == REQ_PROBE ? XK_OK : XK_E_MSGSIZE);
	}
}

/* Of c, or of any that rank says. */
static int begin_recv(enum req_kind kind, struct xk_ncs_thread *t, struct xk_ncs_conn *c, struct xk_ncs_req *r)
{
	int err = XK_OK;

	if (r->tag < 0 && r->tag != XK_NCS_ANY)
		return XK_E_INVAL;
	if (c == NULL && r->rank != XK_NCS_ANY && (r->rank < 0 || (unsigned)r->rank >= xk_ncs_size(t->n)))
		return XK_E_RANGE;
	proc_lock(t->n);
	if (proc_of(t->n)->stopping) {
		err = XK_E_SHUTDOWN;
	} else if (t->gone || (c != NULL && c->closed)) {
		err = XK_E_BADF;
	} else {
		ncs_req_begin(r, kind, t, c);
		receive(t, r);
	}
	proc_unlock(t->n);
	return err;
}

static int irecv(enum req_kind kind, struct xk_ncs_thread *t, struct xk_ncs_conn *c, struct xk_ncs_req *r)
{
	int err = ncs_proc_enter(t, c);

	if (err == XK_OK) {
		err = begin_recv(kind, c != NULL ? c->t : t, c, r);
		ncs_proc_leave(t, c);
	}
	if (err != XK_OK)
		r->err = err;
	return err;
}

static int recv_now(enum req_kind kind, struct xk_ncs_thread *t, struct xk_ncs_conn *c, struct xk_ncs_req *r,
		    struct xk_ncs_status *st, uint64_t timeout)
{
	int err = ncs_proc_enter(t, c);

	if (err != XK_OK)
		return err;
	err = ncs_req_run(r, begin_recv(kind, c != NULL ? c->t : t, c, r), timeout);
	if (st != NULL)
		*st = r->st;
	ncs_proc_leave(t, c);
	return err;
}

static void asks(struct xk_ncs_req *r, int rank, int tag, void *buf, size_t n)
{
	ncs_req_never(r, XK_E_INVAL);
	r->rank = rank;
	r->tag = tag;
	r->buf = buf;
	r->room = n;
}

int xk_ncs_irecv(struct xk_ncs_conn *c, int tag, void *buf, size_t n, struct xk_ncs_req *r)
{
	asks(r, 0, tag, buf, n);
	return irecv(REQ_RECV, NULL, c, r);
}

int xk_ncs_irecv_any(struct xk_ncs_thread *t, int rank, int tag, void *buf, size_t n, struct xk_ncs_req *r)
{
	asks(r, rank, tag, buf, n);
	return irecv(REQ_RECV, t, NULL, r);
}

int xk_ncs_recv(struct xk_ncs_conn *c, int tag, void *buf, size_t n, struct xk_ncs_status *st, uint64_t timeout)
{
	struct xk_ncs_req r;

	asks(&r, 0, tag, buf, n);
	return recv_now(REQ_RECV, NULL, c, &r, st, timeout);
}

int xk_ncs_recv_any(struct xk_ncs_thread *t, int rank, int tag, void *buf, size_t n, struct xk_ncs_status *st,
		    uint64_t timeout)
{
	struct xk_ncs_req r;

	asks(&r, rank, tag, buf, n);
	return recv_now(REQ_RECV, t, NULL, &r, st, timeout);
}

int xk_ncs_probe(struct xk_ncs_conn *c, int tag, struct xk_ncs_status *st, uint64_t timeout)
{
	struct xk_ncs_req r;

	asks(&r, 0, tag, NULL, 0);
	return recv_now(REQ_PROBE, NULL, c, &r, st, timeout);
}

int xk_ncs_probe_any(struct xk_ncs_thread *t, int rank, int tag, struct xk_ncs_status *st, uint64_t timeout)
{
	struct xk_ncs_req r;

	asks(&r, rank, tag, NULL, 0);
	return recv_now(REQ_PROBE, t, NULL, &r, st, timeout);
}
