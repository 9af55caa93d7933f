/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * aal5_frame.c - frames to trains of cells, trains to frames (ITU-T I.363.5).
 *
 * A frame most often comes as one train; where it does not its pieces wait, `memory` bytes of all at most
 * and `timeout` long.  What is wrong with a frame is found at its end, and is one drop.
 * Invariant: a session is listed exactly while it has a part, and `bytes` is the sum of these.
 */
#include "protocols/aal5/aal5_priv.h"

#include "protocols/aal5/aal5_crc.h"
#include "runtime/msg/xk_msg_inline.h"
#include "runtime/upi/xk_inline.h"

#include <string.h>

/* ---- down --------------------------------------------------------------------------------- */

/* The CRC of the first n bytes of m. */
static uint32_t crc_of(const struct xk_msg *m, uint32_t n)
{
	uint32_t crc = AAL5_CRC_NONE;

	for (; n != 0; m = m->next) {
		uint32_t k = m->len < n ? m->len : n;

		crc = aal5_crc(crc, m->data, k);
		n -= k;
	}
	return crc;
}

/* Padding and trailer behind m; NULL: no memory. */
static struct xk_msg *tail_of(const struct aal5_sess *as, const struct xk_msg *m)
{
	uint32_t n = aal5_frame_len(m->tot) - m->tot;
	struct xk_msg *t = xk_msg_new(n);
	uint8_t *b;

	if (t == NULL)
		return NULL;
	memset(t->data, 0, n - AAL5_TRAILER);
	b = t->data + n - AAL5_TRAILER;
	aal5_trailer_store(b, as->uu_out, (uint16_t)m->tot);
	xk_put_be32(b + 4, aal5_crc(crc_of(m, m->tot), t->data, n - 4));
	return t;
}

void aal5_push(struct xk_sess *s, struct xk_msg *m)
{
	struct aal5_sess *as = aal5_sess(s);
	struct xk_rep *r = s->rep;
	struct xk_msg *t;
	uint8_t *b;

	if (XK_UNLIKELY(m->tot == 0 || m->tot > aal5_conf(r)->max)) {
		xk_drop(r, m->tot == 0 ? AAL5_DROP_EMPTY : AAL5_DROP_TOO_LONG, m);
		return;
	}
	t = tail_of(as, m);
	if (XK_UNLIKELY(t == NULL)) {
		xk_drop(r, XK_DROP_NOMEM, m);
		return;
	}
	xk_msg_reset_rx(m);
	xk_msg_join(m, t);
	b = xk_msg_push(&m, XK_CELL_HDR);
	if (XK_UNLIKELY(b == NULL)) {
		xk_drop(r, XK_DROP_NOMEM, m);
		return;
	}
	xk_put_be32(b, as->vc | XK_CELL_LAST | (aal5_conf(r)->clp ? XK_CELL_CLP : 0));
	xk_count(r->count[AAL5_N_OUT]);
	xk_push(s->down, m);
}

/* ---- frames that are not whole ---------------------------------------------------------------- */

static void later(struct aal5_rep *ar)
{
	const struct xk_listed *i = xk_list_first(&ar->partial);

	if (i == NULL)
		xk_timer_cancel(ar->rep->wheel, &ar->timer);
	else
		xk_timer_set(ar->rep->wheel, &ar->timer,
			     xk_container_of(i, struct aal5_sess, listed)->since + aal5_conf(ar->rep)->timeout);
}

/* It is nobody's any more. */
static struct xk_msg *part_take(struct aal5_sess *as)
{
	struct aal5_rep *ar = aal5_rep(as->s.rep);
	struct xk_msg *m = as->part;

	if (m == NULL)
		return NULL;
	as->part = NULL;
	ar->bytes -= m->tot;
	xk_list_take(&as->listed);
	return m;
}

void aal5_forget(struct aal5_sess *as)
{
	struct xk_msg *m = part_take(as);

	if (m != NULL)
		xk_msg_free(m);
}

static void give_up(struct aal5_sess *as, unsigned reason, bool skip)
{
	as->skip = skip;
	xk_drop(as->s.rep, reason, part_take(as));
}

void aal5_late(struct xk_timer *t)
{
	struct aal5_rep *ar = xk_container_of(t, struct aal5_rep, timer);
	xk_ns now = xk_vp_now(), timeout = aal5_conf(ar->rep)->timeout;
	struct xk_listed *i;

	while ((i = xk_list_first(&ar->partial)) != NULL) {
		struct aal5_sess *as = xk_container_of(i, struct aal5_sess, listed);

		if (as->since + timeout > now)
			break;
		give_up(as, AAL5_DROP_TIMEOUT, false);
	}
	later(ar);
}

/* Room for n bytes more of as: the oldest goes, be it as's own. */
static void make_room(struct aal5_rep *ar, uint32_t n)
{
	struct xk_listed *i;

	while (ar->bytes + n > aal5_conf(ar->rep)->memory && (i = xk_list_first(&ar->partial)) != NULL)
		give_up(xk_container_of(i, struct aal5_sess, listed), AAL5_DROP_ROOM, true);
}

/* A piece that does not end the frame. */
static void keep(struct aal5_sess *as, struct xk_msg *m)
{
	struct aal5_rep *ar = aal5_rep(as->s.rep);

	xk_count(as->s.rep->count[AAL5_N_PIECES]);
	make_room(ar, m->tot);
	if (as->skip) {                  /* its own beginning was the oldest */
		xk_msg_free(m);
		return;
	}
	ar->bytes += m->tot;
	if (as->part != NULL) {
		xk_msg_join(as->part, m);
		return;
	}
	as->part = m;
	as->since = xk_vp_now();
	xk_list_put(&ar->partial, &as->listed);
	if (!xk_timer_armed(&ar->timer))
		later(ar);
}

/* ---- up ------------------------------------------------------------------------------------------ */

/* What is wrong with a whole frame, a drop; 0: nothing.  *length: of its payload. */
static unsigned examine(struct aal5_sess *as, const struct xk_msg *m, uint32_t *length)
{
	uint8_t b[AAL5_TRAILER];
	struct aal5_trailer t;

	xk_msg_copy_out(m, m->tot - AAL5_TRAILER, b, AAL5_TRAILER);
	aal5_trailer_load(b, &t);
	if (crc_of(m, m->tot - 4) != t.crc)
		return AAL5_DROP_CRC;
	if (t.cpi != 0)
		return AAL5_DROP_CPI;
	if (t.length == 0)
		return AAL5_DROP_ABORTED;
	if (aal5_frame_len(t.length) != m->tot)
		return AAL5_DROP_LENGTH;
	if (t.length > aal5_conf(as->s.rep)->max)
		return AAL5_DROP_OVERSIZE;
	as->uu_in = t.uu;
	*length = t.length;
	return 0;
}

static void frame_in(struct aal5_sess *as, struct xk_msg *m)
{
	struct xk_rep *r = as->s.rep;
	uint32_t length;
	unsigned reason = examine(as, m, &length);

	if (reason != 0) {
		xk_drop(r, reason, m);
		return;
	}
	if (!as->told && !aal5_tell(as)) {
		xk_drop(r, AAL5_DROP_REFUSED, m);
		return;
	}
	xk_msg_truncate(m, length);
	xk_count(r->count[AAL5_N_IN]);
	xk_pass(&as->s, m);
}

/* A train without its header; last: the frame ends with it. */
static void train_in(struct aal5_sess *as, struct xk_msg *m, bool last)
{
	uint32_t before = as->part != NULL ? as->part->tot : 0;
	struct xk_msg *part;

	if (XK_UNLIKELY(as->skip)) {
		as->skip = !last;
		xk_msg_free(m);
		return;
	}
	if (XK_UNLIKELY(before + m->tot > aal5_frame_len((uint32_t)aal5_conf(as->s.rep)->max))) {
		aal5_forget(as);
		as->skip = !last;
		xk_drop(as->s.rep, AAL5_DROP_OVERSIZE, m);
		return;
	}
	if (!last) {
		keep(as, m);
		return;
	}
	part = part_take(as);
	if (part != NULL)
		xk_msg_join(part, m);
	frame_in(as, part != NULL ? part : m);
}

void aal5_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	struct xk_rep *r = up->rep;
	struct xk_mapnode *node;
	unsigned reason = AAL5_DROP_TRAIN;
	struct aal5_sess *as;
	struct xk_key k;
	uint32_t header;

	if (XK_UNLIKELY(m->tot <= XK_CELL_HDR || (m->tot - XK_CELL_HDR) % XK_CELL_PAYLOAD != 0 ||
			xk_msg_peek(&m, XK_CELL_HDR) == NULL)) {
		xk_drop(r, reason, m);
		return;
	}
	header = xk_be32(m->data);
	if (XK_UNLIKELY(header & XK_CELL_NOUSER)) {
		xk_drop(r, AAL5_DROP_NOUSER, m);
		return;
	}
	k = (struct xk_key){ { header & XK_CELL_VC_MASK, (uintptr_t)lls } };
	node = xk_map_resolve(&r->active, &k);
	as = node != NULL ? xk_container_of(node, struct aal5_sess, s.map) : aal5_first(r, lls, header & XK_CELL_VC_MASK, &reason);
	if (XK_UNLIKELY(as == NULL)) {
		xk_drop(r, reason, m);
		return;
	}
	xk_msg_pop(m, XK_CELL_HDR);
	xk_dup(&as->s);
	train_in(as, m, header & XK_CELL_LAST);
	xk_close(&as->s);
}
