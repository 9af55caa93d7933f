/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs_part.c - long messages pushed in parts, as those before them leave.
 *
 * A message that its receiver has called for is in its sender's buffer, which stays the sender's until the send is
 * done.  What ncs keeps of it, to be sent and to be repeated, is a copy: so it gets no more than the controls let
 * leave, and a little ahead of that.  Between two parts nothing else is pushed.
 * Invariant: as long as c->part.size is not 0 ncs waits for the next part; c->part.r is in no list.
 */
#include "protocols/ncs/ncs_call.h"

#include "runtime/upi/xk_inline.h"
#include "runtime/vp/xk_task.h"
#include "runtime/vp/xk_wheel.h"

#define PART  (256u << 10)               /* bytes, in whole SDUs */
#define AGAIN (10 * XK_MS)               /* where there was no memory */
#define AHEAD (1u << 20)                 /* that were pushed and never left; then the next part waits */

static uint32_t part_of(const struct ncs_room *room)
{
	uint64_t n = room->most / 4 < PART ? room->most / 4 : PART;

	n -= n % room->sdu;
	return n != 0 ? (uint32_t)n : room->sdu;
}

bool ncs_part_is_for(const struct ncs_room *room, uint64_t bytes)
{
	return bytes > part_of(room);
}

bool ncs_part_fits(const struct ncs_room *room)
{
	return room->messages == 0 || (room->unsent < AHEAD && room->bytes + part_of(room) <= room->most);
}

void ncs_part_fail(struct xk_ncs_conn *c, int err)
{
	struct ncs_part *p = &c->part;
	struct xk_ncs_req *r = p->r;

	if (p->reads) {
		p->err = err;
	} else if (r != NULL) {
		p->r = NULL;
		ncs_req_done(r, err);
	}
}

/* Its VP reads the send's buffer from now on.  With the lock. */
static void reads(struct xk_ncs_conn *c)
{
	c->part.reads = true;
	proc_of(c->n)->inside++;
}

/* It does not any more: the send is done with its last bytes, or hears what has ended it.  With the lock. */
static void has_read(struct xk_ncs_conn *c, uint32_t n)
{
	struct ncs_part *p = &c->part;
	struct xk_ncs_req *r = p->r;
	int err = p->err;

	proc_of(c->n)->inside--;
	p->reads = false;
	p->at += n;
	if (p->at == p->size)
		p->size = 0;
	if (err != XK_OK || p->size == 0) {
		p->r = NULL;
		ncs_req_done(r, err);
	}
}

/* Copies the next bytes to m, which takes them down. */
static bool push(struct ncs_end *e, struct xk_msg *m)
{
	struct xk_ncs_conn *c = e->c;
	const struct ncs_part *p = &c->part;
	const uint8_t *from = p->r->buf;
	uint32_t n = m->tot;

	if (p->at == 0) {
		ncs_head_put(c, m, p->tag, (uint32_t)p->r->room, PROC_LONG);
		xk_msg_copy_in(m, PROC_LONG, from, n - PROC_LONG);
	} else {
		xk_msg_copy_in(m, 0, from + (p->at - PROC_LONG), n);
	}
	proc_lock(c->n);
	has_read(c, n);
	proc_unlock(c->n);
	xk_push(e->s.down, m);
	return c->end == e;
}

int ncs_part_begin(struct ncs_end *e, struct xk_ncs_req *r, const struct ncs_room *room, uint32_t tag)
{
	uint32_t all = (uint32_t)r->room + PROC_LONG;
	struct xk_msg *m = xk_msg_new(part_of(room));
	struct xk_ncs_conn *c = e->c;
	int err;

	if (m == NULL)
		return XK_E_NOMEM;
	err = xk_sess_control(e->s.down, NCS_CTL_LONG, &all, sizeof all);
	if (err == XK_OK) {
		proc_lock(c->n);
		err = ncs_conn_standing(c);      /* r was in no list: an end has not found it */
		c->part = (struct ncs_part){ .r = err == XK_OK ? r : NULL, .size = all, .tag = tag };
		if (err == XK_OK)
			reads(c);
		proc_unlock(c->n);
	}
	if (err != XK_OK) {
		xk_msg_free(m);
		return err;
	}
	xk_count(e->s.rep->count[PROC_COUNT_OUT]);
	push(e, m);
	return XK_E_INPROGRESS;
}

bool ncs_part_next(struct ncs_end *e, const struct ncs_room *room)
{
	struct xk_ncs_conn *c = e->c;
	uint64_t left = c->part.size - c->part.at;
	struct xk_msg *m = xk_msg_new(left < part_of(room) ? (uint32_t)left : part_of(room));
	bool on;

	if (m == NULL) {                         /* nothing else can follow what has left */
		if (!xk_timer_armed(&e->again))
			xk_timer_set(e->s.rep->wheel, &e->again, xk_vp_now() + AGAIN);
		return false;
	}
	proc_lock(c->n);
	on = c->part.r != NULL;
	if (on)
		reads(c);
	proc_unlock(c->n);
	if (on)
		return push(e, m);
	xk_msg_free(m);
	return false;
}
