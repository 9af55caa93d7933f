/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xdr_data.c - messages through the presentation layer: encoded on their way down, decoded on
 * their way up.
 *
 * Over datagrams a message is an array, and one that makes no sense is dropped.  Over a stream a
 * push becomes records, given to the stream at once, because it has promised to take one push
 * whole; what comes up is read record by record, and one that makes no sense ends the session:
 * where the next would begin nobody knows.  Those above are told as a stream tells of its end.
 * What is received counts as consumed below when those above have taken what was made of it;
 * the part of a record that is not whole counts at once, since nobody can take it yet.
 * Invariant: after `gone` nothing is passed up or down.
 */
#include "protocols/xdr/xdr_priv.h"
#include "runtime/upi/xk_inline.h"

/* ---- the end of a stream's session -------------------------------------------------- */

void xdr_fail(struct xdr_sess *xs, int err)
{
	struct xk_stream_event ev = { &xs->s, XK_STREAM_FAILED, err };

	if (xs->gone)
		return;
	xs->gone = true;
	xdr_rec_free(&xs->rec);
	if (xs->s.rcnt > 1)                      /* not only by our caller */
		xk_control(xs->s.up->rep, XK_CTL_STREAM_EVENT, &ev, sizeof ev);
}

void xdr_abort(struct xdr_sess *xs)
{
	if (xs->gone)
		return;
	xk_count(xs->s.rep->count[XDR_N_ABORTED]);
	stream_tell(xs->s.down, XK_STREAM_ABORT, 0);
	xdr_fail(xs, XK_E_CONNABORTED);
}

/* ---- down ------------------------------------------------------------------------------ */

/* What the encoded bytes inherit. */
static inline void down(struct xk_sess *s, struct xk_msg *m, struct xk_msg *w)
{
	xk_count_add(s->rep->count[XDR_N_SAMPLES_OUT], m->tot / XDR_SAMPLE);
	w->flags |= m->flags & XK_MSG_ECT;
	xk_msg_free(m);
	xk_push(s->down, w);
}

static void push_datagram(struct xk_sess *s, struct xk_msg *m)
{
	struct xk_msg *w;

	if (XK_UNLIKELY(m->tot % XDR_SAMPLE != 0 || m->tot / XDR_SAMPLE > xdr_rep(s->rep)->most)) {
		xk_drop(s->rep, m->tot % XDR_SAMPLE != 0 ? XDR_DROP_NOT_SAMPLES : XDR_DROP_TOO_LONG, m);
		return;
	}
	w = xdr_out_array(m);
	if (XK_UNLIKELY(w == NULL)) {
		xk_drop(s->rep, XK_DROP_NOMEM, m);
		return;
	}
	down(s, m, w);
}

/* What is not sent leaves a hole in the stream. */
static XK_NOINLINE void push_nothing(struct xdr_sess *xs, unsigned reason, struct xk_msg *m)
{
	xk_drop(xs->s.rep, reason, m);
	xk_dup(&xs->s);
	xdr_abort(xs);
	xk_close(&xs->s);
}

static void push_stream(struct xk_sess *s, struct xk_msg *m)
{
	const struct xdr_rep *xr = xdr_rep(s->rep);
	uint32_t n = m->tot / XDR_SAMPLE;
	struct xk_msg *w;

	if (XK_UNLIKELY(xdr_sess(s)->gone)) {
		xk_drop(s->rep, XDR_DROP_GONE, m);
		return;
	}
	if (XK_UNLIKELY(m->tot == 0)) {          /* no bytes of a stream */
		xk_msg_free(m);
		return;
	}
	if (XK_UNLIKELY(m->tot % XDR_SAMPLE != 0)) {
		push_nothing(xdr_sess(s), XDR_DROP_NOT_SAMPLES, m);
		return;
	}
	w = xdr_out_records(m, xr->most, xr->fragment);
	if (XK_UNLIKELY(w == NULL)) {
		push_nothing(xdr_sess(s), XK_DROP_NOMEM, m);
		return;
	}
	xk_count_add(s->rep->count[XDR_N_RECORDS_OUT], n <= xr->most ? 1 : (n + xr->most - 1) / xr->most);
	down(s, m, w);
}

void xdr_push(struct xk_sess *s, struct xk_msg *m)
{
	if (xdr_rep(s->rep)->stream)
		push_stream(s, m);
	else
		push_datagram(s, m);
}

/* ---- up ---------------------------------------------------------------------------------- */

/* What was received of the message goes with what was made of it. */
static inline void inherit(struct xk_msg *up, const struct xk_msg *m)
{
	up->u = m->u;
	up->hash = m->hash;
	up->vp = m->vp;
	up->node = m->node;
	up->aux = m->aux;
	up->flags |= m->flags & XK_MSG_LINK_BCAST;
}

void xdr_self_datagram(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	struct xk_sess *s = xk_container_of(up, struct xk_sess, self);
	struct xk_rep *r = up->rep;
	uint32_t most = xdr_rep(r)->most;
	struct xk_msg *x = NULL;
	int what;

	(void)lls;
	if (XK_LIKELY(!(m->flags & XK_MSG_CHAIN)))
		what = xdr_in_array(m->data, m->len, most, &x);
	else
		what = xdr_in_chain(m, most, &x);
	if (XK_UNLIKELY(what != XDR_WHOLE)) {
		xk_drop(r, (unsigned)what, m);
		return;
	}
	xk_count_add(r->count[XDR_N_SAMPLES_IN], x->tot / XDR_SAMPLE);
	inherit(x, m);
	xk_msg_free(m);
	xk_pass(s, x);
}

static void pass_record(struct xdr_sess *xs, const struct xk_msg *m, struct xk_msg *x)
{
	struct xk_rep *r = xs->s.rep;

	xk_count(r->count[XDR_N_RECORDS_IN]);
	if (x->tot == 0) {
		xk_msg_free(x);                  /* an array of none: no bytes of a stream */
		return;
	}
	xk_count_add(r->count[XDR_N_SAMPLES_IN], x->tot / XDR_SAMPLE);
	xs->unread += xs->manual ? x->tot : 0;
	inherit(x, m);
	xk_demux(&xs->s, x);
}

/* Bytes of one segment; false: the session is over. */
static bool read_segment(struct xdr_sess *xs, const struct xk_msg *m, const struct xk_msg *seg, int *what)
{
	const uint8_t *p = seg->data;
	uint32_t n = seg->len, most = xdr_rep(xs->s.rep)->most;
	struct xk_msg *x;

	while (n != 0) {
		*what = xdr_rec_bytes(&xs->rec, &p, &n, most, &x);
		if (*what != XDR_WHOLE)
			return *what == XDR_MORE;
		pass_record(xs, m, x);
		/* 1: only our own caller holds it still.  What was not read then is refused. */
		if (xs->gone || xs->s.rcnt == 1) {
			if (n != 0 || seg->next != NULL)
				*what = XDR_DROP_GONE;
			return false;
		}
	}
	return true;
}

/* Nothing waits above: what is received is consumed. */
static void settle(struct xdr_sess *xs)
{
	uint32_t n = (uint32_t)xs->held;

	if (xs->unread != 0 || n == 0 || xs->gone)
		return;
	xs->held = 0;
	stream_tell(xs->s.down, XK_STREAM_TAKEN, n);
}

void xdr_pop(struct xk_sess *s, struct xk_sess *lls, struct xk_msg *m, void *hdr)
{
	struct xdr_sess *xs = xdr_sess(s);
	int what = XDR_MORE;

	(void)lls;
	(void)hdr;
	if (XK_UNLIKELY(xs->gone)) {
		xk_drop(s->rep, XDR_DROP_GONE, m);
		return;
	}
	xs->held += xs->manual ? m->tot : 0;
	for (const struct xk_msg *seg = m; seg != NULL && read_segment(xs, m, seg, &what); seg = seg->next)
		;
	if (XK_LIKELY(what < 0)) {
		xk_msg_free(m);
		settle(xs);
		return;
	}
	xk_drop(s->rep, (unsigned)what, m);
	xdr_abort(xs);
}

void xdr_self_stream(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	xk_pop(xk_container_of(up, struct xk_sess, self), lls, m, NULL);
}

/* To the replica: over datagrams the first of a peer, over a stream what nobody keeps. */
void xdr_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	if (xdr_rep(up->rep)->stream)
		xk_drop(up->rep, XDR_DROP_STRAY, m);
	else
		virt_demux(up, lls, m);
}
