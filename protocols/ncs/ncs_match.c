/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs_match.c - messages matched with receives as they come.
 *
 * The order is MPI's: a message goes to the first receive that was posted and fits it, a receive gets
 * the first message that has come and fits it.  What finds its receive is copied from where the
 * interface left it straight into the receiver's buffer; what does not is kept until somebody asks.
 * One that was announced is matched like others and comes later: until then both stay in their places, bound
 * to each other, and either is free again where the other goes.  So is one whose first SDU has found a receive.
 * Messages that nobody has received are in one list, in order, and those of one rank and tag in one of `alike`, in the
 * same order: a receive that names both looks through the latter, one with a wildcard through all.
 * Invariant: no message that is kept, and free, fits a receive that is posted, and free.
 */
#include "protocols/ncs/ncs_call.h"

#include "runtime/base/xk_bytes.h"
#include "runtime/mem/xk_alloc.h"
#include "runtime/upi/xk_inline.h"

#include <limits.h>
#include <string.h>

/* ---- boxes ---------------------------------------------------------------------------------------------- */

struct ncs_box *ncs_box_new(struct xk_ncs_conn *c, int tag, size_t len, size_t n)
{
	struct ncs_box *b = xk_alloc(sizeof *b + n);

	if (b == NULL)
		return NULL;
	memset(b, 0, sizeof *b);
	b->c = c;
	b->tag = tag;
	b->len = len;
	b->bytes = b->own;
	return b;
}

void ncs_box_keeps(struct ncs_box *b, uint64_t kept, uint64_t lent)
{
	struct proc *p = proc_of(b->c->n);

	p->kept += kept - b->kept;
	p->lent += lent - b->lent;
	b->kept = kept;
	b->lent = lent;
}

bool ncs_full(const struct xk_node *n, uint64_t more)
{
	return proc_of(n)->kept + more > proc_conf(n)->unexpected;
}

static struct xk_list *alike(struct xk_ncs_thread *t, int rank, int tag)
{
	return &t->alike[((uint32_t)rank * 31u + (uint32_t)tag) & (PROC_ALIKE - 1)];
}

static void enters(struct ncs_box *b)
{
	struct xk_ncs_thread *t = b->c->t;

	xk_list_put(&t->came, &b->link);
	xk_list_put(alike(t, b->c->peer.rank, b->tag), &b->alike);
}

void ncs_box_leaves(struct ncs_box *b)
{
	xk_list_take(&b->link);
	xk_list_take(&b->alike);
}

void ncs_box_free(struct ncs_box *b)
{
	ncs_box_keeps(b, 0, 0);
	b->c->nboxes -= xk_is_listed(&b->mine);
	ncs_box_leaves(b);
	xk_list_take(&b->mine);
	xk_list_take(&b->calls);
	if (b->c->filling == b)
		b->c->filling = NULL;
	if (b->r != NULL && !b->into) {
		b->r->box = NULL;
		b->r = NULL;
		b->c->t->unsettled = true;
	}
	b->dead = b->busy != 0;
	if (b->dead)                             /* by who is the last to leave it */
		return;
	ncs_conn_put(b->c);
	if (b->bytes != b->own)
		xk_free(b->bytes);
	xk_free(b);
}

static void free_those(struct xk_list *l, const struct xk_ncs_conn *c)
{
	for (struct xk_listed *i = xk_list_first(l), *next; i != NULL; i = next) {
		next = xk_list_next(l, i);
		if (c == NULL || box_at(i)->c == c)
			ncs_box_free(box_at(i));
	}
}

void ncs_boxes_free(struct xk_ncs_thread *t, struct xk_ncs_conn *c)
{
	free_those(&t->came, c);
	if (c != NULL)
		free_those(&c->held, c);
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

struct xk_ncs_req *ncs_receiver(struct xk_ncs_conn *c, int tag, size_t len)
{
	struct xk_list *l = &c->t->posted;

	for (struct xk_listed *i = xk_list_first(l), *next; i != NULL; i = next) {
		struct xk_ncs_req *r = req_of(i);

		next = xk_list_next(l, i);
		if (r->kind != REQ_RECV || r->box != NULL || !fits(r, c, tag))
			continue;
		ncs_req_says(r, c, tag, len);
		if (r->room >= len)
			return r;
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

static bool is_for(const struct ncs_box *b, const struct xk_ncs_req *r)
{
	return b->r == NULL && fits(r, b->c, b->tag);
}

static struct ncs_box *first_of_all(const struct xk_ncs_thread *t, const struct xk_ncs_req *r)
{
	struct xk_listed *i = xk_list_first(&t->came);

	while (i != NULL && !is_for(box_at(i), r))
		i = xk_list_next(&t->came, i);
	return i != NULL ? box_at(i) : NULL;
}

static struct ncs_box *alike_at(struct xk_listed *i) { return xk_container_of(i, struct ncs_box, alike); }

static struct ncs_box *first_box(struct xk_ncs_thread *t, const struct xk_ncs_req *r)
{
	int rank = r->c != NULL ? r->c->peer.rank : r->rank;
	const struct xk_list *l = alike(t, rank, r->tag);
	struct xk_listed *i = xk_list_first(l);

	if (rank == XK_NCS_ANY || r->tag == XK_NCS_ANY)
		return first_of_all(t, r);
	while (i != NULL && !is_for(alike_at(i), r))
		i = xk_list_next(l, i);
	return i != NULL ? alike_at(i) : NULL;
}

/* r has found b, and both are free; copying leaves the lock. */
static void found(struct ncs_box *b, struct xk_ncs_req *r)
{
	struct xk_node *n = b->c->n;

	ncs_req_says(r, b->c, b->tag, b->len);
	if (r->kind == REQ_PROBE || r->room < b->len) {
		ncs_req_done(r, r->kind == REQ_PROBE ? XK_OK : XK_E_MSGSIZE);
	} else if (b->is != BOX_HERE) {
		ncs_await_for(b, r);
	} else if (r->held != NULL) {
		ncs_box_leaves(b);
		ncs_box_keeps(b, 0, 0);
		ncs_held_has(r->held, b);
		ncs_req_done(r, XK_OK);
		ncs_await_room(n);
	} else {
		ncs_box_leaves(b);
		xk_list_take(&r->link);
		proc_unlock(n);
		if (b->len != 0)
			memcpy(r->buf, b->bytes, b->len);
		proc_lock(n);
		ncs_box_free(b);
		ncs_req_done(r, XK_OK);
		ncs_await_room(n);
	}
}

void ncs_box_join(struct ncs_box *b, struct xk_ncs_req *r)
{
	b->r = r;
	r->box = b;
	enters(b);
}

void ncs_box_offer(struct ncs_box *b)
{
	struct xk_ncs_req *r = ncs_receiver(b->c, b->tag, b->len);

	enters(b);
	if (r != NULL)
		found(b, r);
	else
		tell_probes(b->c, b->tag, b->len);
}

void ncs_settle(struct xk_ncs_thread *t)
{
	struct xk_listed *i = xk_list_first(&t->posted);

	if (!t->unsettled)
		return;
	t->unsettled = false;
	t->refs++;
	while (i != NULL) {
		struct xk_ncs_req *r = req_of(i);
		struct ncs_box *b = r->box == NULL ? first_box(t, r) : NULL;

		if (b != NULL)
			found(b, r);             /* the list may be another behind that */
		i = b != NULL ? xk_list_first(&t->posted) : xk_list_next(&t->posted, i);
	}
	ncs_thread_put(t);
}

/* ---- up: inside the VP ------------------------------------------------------------------------------------ */

void ncs_give(struct ncs_end *e, struct xk_ncs_req *r, struct xk_msg *m)
{
	if (r->held != NULL) {
		ncs_held_gets(e, r->held, m);
	} else {
		if (m->tot != 0)
			xk_msg_copy_out(m, 0, r->buf, m->tot);
		xk_msg_free(m);
	}
	xk_count(e->s.rep->count[PROC_COUNT_DIRECT]);
	proc_lock(e->c->n);
	ncs_req_done(r, XK_OK);
	proc_unlock(e->c->n);
}

/* Nobody had asked for it, or a note is missing before it; maybe somebody has while it was copied.  0, or why it is
 * not kept.  What keeping it takes is counted with its bytes: a message may be empty. */
static unsigned keep(struct xk_ncs_conn *c, struct ncs_box *b, bool held)
{
	uint64_t cost = sizeof *b + b->len;
	unsigned why = 0;

	proc_lock(c->n);
	if (c->closed)
		why = PROC_DROP_CLOSED;
	else if ((held || ncs_receiver(c, b->tag, b->len) == NULL) && ncs_full(c->n, cost))
		why = PROC_DROP_UNEXPECTED;
	if (why == 0) {
		c->refs++;
		ncs_box_keeps(b, cost, 0);
		if (held)
			xk_list_put(&c->held, &b->link);
		else
			ncs_box_offer(b);
	}
	proc_unlock(c->n);
	return why;
}

static int unexpected(struct ncs_end *e, struct xk_msg *m, const struct proc_head *h, bool held)
{
	size_t n = m->tot;
	struct xk_ncs_conn *c = e->c;
	struct ncs_box *b = ncs_box_new(c, (int)h->tag, n, n);
	unsigned why = XK_DROP_NOMEM;

	if (b != NULL) {
		b->count = h->count;
		b->place = h->place;
		if (n != 0)
			xk_msg_copy_out(m, 0, b->bytes, (uint32_t)n);
		why = keep(c, b, held);
	}
	if (why == 0) {
		xk_msg_free(m);
		return XK_OK;
	}
	xk_free(b);
	xk_drop(e->s.rep, why, m);
	return why == PROC_DROP_CLOSED ? XK_OK : XK_E_NOSPC;     /* no message of it may be missing */
}

/* The receive for it, taken from its list; NULL: there is none, or *held: it has to wait. */
static struct xk_ncs_req *receiver(struct xk_ncs_conn *c, size_t len, const struct proc_head *h, bool *held)
{
	struct xk_ncs_req *r = NULL;

	proc_lock(c->n);
	ncs_await_passed(c, h->tag & PROC_BODY && h->tag != PROC_MARK ? h->count - 1 : h->count);
	*held = !(h->tag & PROC_BODY) && ncs_await_holds(c, h->count);
	if (!c->closed && !*held && !(h->tag & PROC_BODY))
		r = ncs_receiver(c, (int)h->tag, len);
	if (r != NULL)
		xk_list_take(&r->link);
	proc_unlock(c->n);
	return r;
}

/* What it is for has it, or keeps it; m is used up. */
static int message(struct ncs_end *e, struct xk_msg *m, const struct proc_head *h)
{
	bool held;
	struct xk_ncs_req *r = receiver(e->c, m->tot, h, &held);

	if (h->tag == PROC_MARK) {
		xk_msg_free(m);
		return XK_OK;
	}
	xk_count(e->s.rep->count[PROC_COUNT_IN]);
	if (h->tag & PROC_BODY)
		return ncs_await_body(e, m, h->tag & ~PROC_BODY);
	if (r != NULL) {
		ncs_give(e, r, m);
		return XK_OK;
	}
	if (held)
		xk_count(e->s.rep->count[PROC_COUNT_HELD]);
	return unexpected(e, m, h, held);
}

/* Messages that are behind a note wait for it, and notes for messages before them: the two are as one stream. */
int ncs_conn_message(struct ncs_end *e, struct xk_msg *m, const struct proc_head *h)
{
	int err = ncs_await_place(e, h->place);

	if (err != XK_OK) {
		xk_msg_free(m);
		return err;
	}
	err = message(e, m, h);
	return err == XK_OK ? ncs_await_place(e, h->place + 1) : err;
}

/* ---- receiving ----------------------------------------------------------------------------------------------- */

/* Takes what has come, or posts r.  With the lock, which copying leaves. */
static void receive(struct xk_ncs_thread *t, struct xk_ncs_req *r)
{
	struct ncs_box *b = first_box(t, r);

	if (b != NULL)
		found(b, r);
	else if (r->c != NULL && ncs_conn_standing(r->c) != XK_OK)
		ncs_req_done(r, ncs_conn_standing(r->c));
	else
		xk_list_put(&t->posted, &r->link);
}

/* Of c, or of any that rank says. */
static int begin_recv(enum req_kind kind, struct xk_ncs_thread *t, struct xk_ncs_conn *c, struct xk_ncs_req *r)
{
	int err = XK_OK;

	if (r->tag < 0 && r->tag != XK_NCS_ANY)
		return XK_E_INVAL;
	if (c == NULL && r->rank != XK_NCS_ANY && (r->rank < 0 || (unsigned)r->rank >= proc_conf(t->n)->ranks.n))
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

int ncs_recv_begin(struct xk_ncs_thread *t, struct xk_ncs_conn *c, struct xk_ncs_req *r)
{
	return irecv(REQ_RECV, t, c, r);
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

int ncs_recv_now(struct xk_ncs_thread *t, struct xk_ncs_conn *c, struct xk_ncs_req *r, struct xk_ncs_status *st,
		 uint64_t timeout)
{
	return recv_now(REQ_RECV, t, c, r, st, timeout);
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
