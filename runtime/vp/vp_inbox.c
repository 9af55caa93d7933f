/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_inbox.c - what threads leave for virtual processors that they are not inside of.
 *
 * Messages for others are collected while a unit runs and handed over in batches at its end: a
 * chain goes into the inbox by one exchange, whoever put the first one tells the worker.  Under a
 * handover that enters, the batch is remembered by the thread instead and brought by
 * xk_vp_carry.  Calls go into a list of their own.
 * Invariant: a message posted to a VP is run there, or dropped and counted.
 */
#include "runtime/vp/vp_priv.h"

static _Thread_local struct xk_handoffs handoffs __attribute__((tls_model("initial-exec")));

struct xk_handoffs *xk_vp_handoffs(void)
{
	return &handoffs;
}

static void msgs_free(struct xk_msg *m)
{
	while (m != NULL) {
		struct xk_msg *next = m->link;

		xk_msg_free(m);
		m = next;
	}
}

/*
 * Pushes a chain, newest first, onto a VP's inbox.  The cap may be passed by
 * one batch per sender: it bounds memory, it does not meter.  Returns false
 * when the inbox was full.
 */
bool xk_vp_inbox_push(struct xk_vp *to, struct xk_msg *newest, struct xk_msg *oldest, uint32_t n)
{
	struct xk_msg *head = xk_load_relaxed(&to->inbox);
	uint32_t posted = xk_load_acquire(&to->inbox_posted), taken = xk_load_relaxed(&to->inbox_taken);

	/* A thread that was held up between the two loads sees more taken than posted. */
	if ((int32_t)(posted - taken) >= 0 && posted - taken >= to->set->arch.inbox)
		return false;
	xk_atomic_add(&to->inbox_posted, n);
	do
		oldest->link = head;
	while (!xk_atomic_cas(&to->inbox, &head, newest));
	if (head == NULL)
		xk_vp_kick(to);
	return true;
}

/* Does the thread that is inside a VP take others their messages itself? */
static bool brings(const struct xk_vpset *set)
{
	return set->arch.handover != XK_HANDOVER_POST && xk_load_relaxed(&set->running) != 0;
}

/* For xk_vp_carry, when the thread has left; false: it has too many. */
static bool bring(struct xk_vp *to, struct xk_msg *newest, struct xk_msg *oldest, uint32_t n)
{
	struct xk_handoffs *b = &handoffs;

	if (b->n == XK_HANDOFFS)
		return false;
	b->of[(b->first + b->n++) % XK_HANDOFFS] = (struct xk_handoff){ to, newest, oldest, n };
	return true;
}

static void vp_flush_one(struct xk_vp *vp, unsigned i)
{
	struct xk_vp *to = vp->set->all[vp->out[i].to];
	enum xk_rec_handoff how = XK_REC_POSTED;
	uint32_t n = vp->out[i].n;

	/* Ours no more once pushed: count first. */
	if (brings(vp->set) && !xk_vp_is_io(to) && bring(to, vp->out[i].first, vp->out[i].last, n)) {
		xk_count_add(vp->posted_out, n);
		how = XK_REC_BROUGHT;
	} else if (xk_vp_inbox_push(to, vp->out[i].first, vp->out[i].last, n)) {
		xk_count_add(vp->posted_out, n);
	} else {
		how = XK_REC_FULL;
		xk_count_add(vp->inbox_drops, n);
		vp->out[i].last->link = NULL;
		msgs_free(vp->out[i].first);
	}
	xk_vp_record(vp, XK_REC_HANDOFF, 0, vp->out[i].to, n, how);
}

void xk_vp_flush(struct xk_vp *vp)
{
	for (unsigned i = 0; i < vp->nout; i++)
		vp_flush_one(vp, i);
	vp->nout = 0;
	if (vp->mem.nforeign != 0)
		xk_memvp_flush(&vp->mem);
}

static void vp_collect(struct xk_vp *me, struct xk_vp *to, struct xk_msg *m)
{
	unsigned i;

	for (i = 0; i < me->nout; i++)
		if (me->out[i].to == to->at && me->out[i].n < UINT16_MAX)
			break;
	if (i == XK_OUTBOX) {         /* as many destinations as we keep apart */
		xk_vp_flush(me);
		i = 0;
	}
	if (i == me->nout) {
		me->out[i].to = to->at;
		me->out[i].n = 0;
		me->out[i].first = NULL;
		me->out[i].last = m;
		me->nout++;
	}
	m->link = me->out[i].first;
	me->out[i].first = m;
	me->out[i].n++;
}

void xk_vp_post(struct xk_vp *to, struct xk_msg *m)
{
	struct xk_vp *me = xk_vp_self;

	if (me == to) {
		xk_msgq_put(&me->local, m);
		return;
	}
	xk_assert(me != NULL);
	/* Plain reference counts do not cross: what is shared is copied. */
	if (XK_UNLIKELY(m->flags & XK_MSG_SLOW)) {
		m = xk_msg_own(m);
		if (m == NULL) {
			xk_vp_lost(me, to->at, XK_REC_NOMEM);
			return;
		}
	}
	vp_collect(me, to, m);
}

/* Nothing runs any more. */
void xk_vp_inbox_empty(struct xk_vp *vp)
{
	vp_take_inbox(vp);
	xk_msgq_free(&vp->local);
	for (unsigned i = 0; i < vp->nout; i++)
		msgs_free(vp->out[i].first);
	vp->nout = 0;
	xk_memvp_flush(&vp->mem);
}

/* ---- calls ------------------------------------------------------------------------ */

void xk_vp_call_async(struct xk_vp *vp, struct xk_call *c)
{
	struct xk_call *head = xk_load_relaxed(&vp->calls);

	c->finished = 0;
	do
		c->next = head;
	while (!xk_atomic_cas(&vp->calls, &head, c));
	xk_vp_kick(vp);
}
