/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs_in_place.c - calls of programs that write a message where its connection has it to send, or read it where it
 * came to.
 *
 * A commit is a send, and a take a receive of any length, whose request names what is held instead of a buffer.
 * Invariant: a VP's message is made and freed inside that VP.
 */
#include "protocols/ncs/ncs_call.h"

#include "runtime/mem/xk_alloc.h"
#include "runtime/upi/xk_inline.h"

static struct xk_ncs_held *held_new(struct xk_node *n, struct xk_ncs_conn *c)
{
	struct xk_ncs_held *h = xk_alloc(sizeof *h);

	if (h != NULL)
		*h = (struct xk_ncs_held){ .n = n, .c = c };
	return h;
}

struct reserving { struct xk_ncs_held *h; int err; };

static void reserve_op(struct xk_vp *vp, void *arg)
{
	struct reserving *v = arg;
	struct xk_ncs_held *h = v->h;
	struct ncs_end *e = h->c->end;
	struct ncs_room room;

	v->err = XK_E_NOTCONN;
	if (e == NULL || xk_sess_control(e->s.down, NCS_CTL_ROOM, &room, sizeof room) != (int)sizeof room)
		return;
	v->err = XK_E_MSGSIZE;
	if (!ncs_head_fits(room.longest, h->len))
		return;
	h->vp = vp;
	h->before = ncs_head_len(&room, h->len);
	h->m = xk_msg_new((uint32_t)h->len + h->before);
	v->err = h->m != NULL ? XK_OK : XK_E_NOMEM;
}

static void free_op(struct xk_vp *vp, void *arg)
{
	struct xk_ncs_held *h = arg;

	(void)vp;
	xk_msg_free(h->m);
	h->m = NULL;
}

/* ---- calls --------------------------------------------------------------------------------------------- */

/* h has its length, and is of a connection that the call holds. */
static int reserve(struct xk_ncs_held *h)
{
	struct reserving v = { h, XK_OK };
	struct xk_ncs_conn *c = h->c;

	proc_lock(h->n);
	v.err = ncs_conn_standing(c);
	if (v.err == XK_OK && !ncs_held_may_reserve(h->n, h->len + sizeof *h->m))
		v.err = XK_E_NOSPC;
	if (v.err == XK_OK)
		ncs_held_counts(h, h->len + sizeof *h->m);
	proc_unlock(h->n);
	if (v.err == XK_OK)
		ncs_vp_do(h->n, c->vp, reserve_op, &v);
	return v.err;
}

int xk_ncs_reserve(struct xk_ncs_conn *c, size_t n, struct xk_ncs_held **h)
{
	struct xk_ncs_held *new;
	uint32_t most;
	int err = ncs_proc_enter(NULL, c);

	*h = NULL;
	if (err != XK_OK)
		return err;
	if (xk_control(c->n->rep[0]->down[0], XK_CTL_GETMAXPACKET, &most, sizeof most) != (int)sizeof most ||
	    !ncs_head_fits(most, n)) {
		ncs_proc_leave(NULL, c);
		return XK_E_MSGSIZE;
	}
	new = held_new(c->n, c);
	err = XK_E_NOMEM;
	if (new != NULL) {
		new->len = n;
		proc_lock(c->n);
		c->refs++;
		proc_unlock(c->n);
		err = reserve(new);
	}
	if (err == XK_OK)
		*h = new;
	else
		xk_ncs_give(new);
	ncs_proc_leave(NULL, c);
	return err;
}

/* Is it to be sent? */
static int fit(const struct xk_ncs_held *h) { return h->c != NULL && h->m != NULL ? XK_OK : XK_E_INVAL; }

int xk_ncs_icommit(struct xk_ncs_held *h, int tag, struct xk_ncs_req *r)
{
	int err = fit(h);

	ncs_req_never(r, XK_E_INVAL);
	r->held = h;
	if (err == XK_OK)
		err = ncs_proc_enter(NULL, h->c);
	if (err == XK_OK) {
		err = ncs_send_begin(h->c, tag, h->len, r);
		ncs_proc_leave(NULL, h->c);
	}
	if (err != XK_OK)
		r->err = err;
	return err;
}

int xk_ncs_commit(struct xk_ncs_held *h, int tag, uint64_t timeout)
{
	struct xk_ncs_req r = { .held = h };
	int err = fit(h);

	if (err == XK_OK)
		err = ncs_proc_enter(NULL, h->c);
	if (err != XK_OK)
		return err;
	err = ncs_req_run(&r, ncs_send_begin(h->c, tag, h->len, &r), timeout);
	ncs_proc_leave(NULL, h->c);
	return err;
}

static void takes(struct xk_ncs_req *r, int rank, int tag, struct xk_ncs_held *h)
{
	ncs_req_never(r, XK_E_INVAL);
	r->rank = rank;
	r->tag = tag;
	r->held = h;
	r->room = SIZE_MAX;
}

int xk_ncs_itake(struct xk_ncs_conn *c, int tag, struct xk_ncs_held **h, struct xk_ncs_req *r)
{
	*h = held_new(c->n, NULL);
	takes(r, 0, tag, *h);
	if (*h == NULL)
		return r->err = XK_E_NOMEM;
	return ncs_recv_begin(NULL, c, r);
}

static int take(struct xk_node *n, struct xk_ncs_thread *t, struct xk_ncs_conn *c, struct xk_ncs_req *r,
		struct xk_ncs_held **h, struct xk_ncs_status *st, uint64_t timeout)
{
	struct xk_ncs_held *new = held_new(n, NULL);
	int err = XK_E_NOMEM;

	*h = NULL;
	if (new != NULL) {
		takes(r, r->rank, r->tag, new);
		err = ncs_recv_now(t, c, r, st, timeout);
	}
	if (err == XK_OK)
		*h = new;
	else
		xk_ncs_give(new);
	return err;
}

int xk_ncs_take(struct xk_ncs_conn *c, int tag, struct xk_ncs_held **h, struct xk_ncs_status *st, uint64_t timeout)
{
	struct xk_ncs_req r = { .tag = tag };

	return take(c->n, NULL, c, &r, h, st, timeout);
}

int xk_ncs_take_any(struct xk_ncs_thread *t, int rank, int tag, struct xk_ncs_held **h, struct xk_ncs_status *st,
		    uint64_t timeout)
{
	struct xk_ncs_req r = { .rank = rank, .tag = tag };

	return take(t->n, t, NULL, &r, h, st, timeout);
}

/* Of a chain: behind what stands in front of the message. */
static bool next_of(const struct xk_ncs_held *h, struct xk_ncs_piece *p)
{
	const struct xk_msg *s = p->seg != NULL ? ((const struct xk_msg *)p->seg)->next : h->m;
	uint32_t skip = p->seg == NULL ? h->before : 0;

	while (s != NULL && s->len <= skip) {
		skip -= s->len;
		s = s->next;
	}
	if (s == NULL)
		return false;
	*p = (struct xk_ncs_piece){ s->data + skip, s->len - skip, s };
	return true;
}

bool xk_ncs_next(const struct xk_ncs_held *h, struct xk_ncs_piece *p)
{
	uint8_t *at = h->box != NULL ? h->box->bytes : h->own;

	if (h->m != NULL)
		return next_of(h, p);
	if (at == NULL || p->at != NULL || h->len == 0)
		return false;
	*p = (struct xk_ncs_piece){ at, h->len, NULL };
	return true;
}

void xk_ncs_give(struct xk_ncs_held *h)
{
	struct xk_node *n;

	if (h == NULL)
		return;
	n = h->n;
	if (h->m != NULL) {
		(void)ncs_wait_fit();            /* to enter VPs */
		ncs_vp_do(n, h->vp, free_op, h);
	}
	proc_lock(n);
	ncs_held_counts(h, 0);
	if (h->box != NULL)
		ncs_box_free(h->box);
	if (h->c != NULL)
		ncs_conn_put(h->c);
	proc_unlock(n);
	xk_free(h->own);
	xk_free(h);
}
