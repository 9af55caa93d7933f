/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_sack.c - the scoreboard: selective acknowledgement on the queue's messages
 * (RFC 2018, 2883, 6675).
 *
 * Blocks are advice.  Those that make no sense are ignored, those marked already
 * are not walked again, and one ACK takes at most WALK_MAX steps along the
 * queue: where it stopped, the next one goes on.  So the worst ACK costs a
 * bounded multiple of the usual one however many segments are in flight, and
 * what is skipped is only ever said again by the peer or recovered by timeout.
 * Invariant: sacked_out and sacked_segs count exactly the messages with
 * TCP_SQ_SACKED.
 */
#include "protocols/tcp/core/tcp_core.h"

#define WALK_MAX 256u
#define DUP_THRESH 3u

struct walk { uint32_t left; };

/* ---- one segment ------------------------------------------------------------------- */

void tcp_mark_lost(struct tcp_cb *cb, struct xk_msg *m)
{
	uint16_t *f = &m->kept.flags;

	if (*f & TCP_SQ_SACKED)
		return;
	if (*f & TCP_SQ_RETRANS) {
		cb->retrans_out -= m->tot;
		*f &= (uint16_t)~TCP_SQ_RETRANS;
	}
	if (!(*f & TCP_SQ_LOST)) {
		cb->lost_out += m->tot;
		*f |= TCP_SQ_LOST;
	}
	if (cb->walk.rexmt_at != NULL && tcp_lt(m->kept.seq, cb->walk.rexmt_seq))
		cb->walk.rexmt_at = NULL;
}

static void mark_sacked(struct tcp_cb *cb, const struct tcp_env *e, const struct tcp_seg *g, struct xk_msg *m,
			struct tcp_delivery *d)
{
	uint16_t *f = &m->kept.flags;

	if (*f & TCP_SQ_SACKED)
		return;
	tcp_rec_delivered(cb, e, g, m, d);
	tcp_sendq_forget(cb, m, m->tot, false);
	*f = (*f & (uint16_t)~(TCP_SQ_LOST | TCP_SQ_RETRANS)) | TCP_SQ_SACKED;
	cb->sacked_out += m->tot;
	cb->sacked_segs++;
	d->sacked += m->tot;
}

/* ---- blocks --------------------------------------------------------------------------- */

static struct xk_msg *start_at(const struct tcp_cb *cb, uint32_t l)
{
	const struct tcp_sqwalk *w = &cb->walk;

	if (w->sack_at != NULL && tcp_geq(w->sack_seq, cb->snd_una) && tcp_leq(w->sack_seq, l))
		return w->sack_at;
	return cb->sq.first;
}

/* Marks what lies whole in [l, r); false when the steps ran out before its end. */
static bool mark_block(struct tcp_cb *cb, const struct tcp_env *e, const struct tcp_seg *g, uint32_t l,
		       uint32_t r, struct walk *w, struct tcp_delivery *d)
{
	struct tcp_sendq *q = &cb->sq;
	struct xk_msg *m;

	for (m = start_at(cb, l); m != q->unsent && tcp_lt(m->kept.seq, r); m = m->link) {
		if (w->left == 0)
			return false;
		w->left--;
		cb->walk.sack_at = m;
		cb->walk.sack_seq = m->kept.seq;
		if (tcp_geq(m->kept.seq, l) && tcp_leq(tcp_sq_end(m), r))
			mark_sacked(cb, e, g, m, d);
	}
	return true;
}

/* Moves l past what the last ACK's blocks covered; false: nothing is left. */
static bool unseen(const struct tcp_cb *cb, uint32_t *l, uint32_t r)
{
	for (unsigned i = 0; i < TCP_SACK_MAX; i++) {
		uint32_t sl = cb->sack_seen[i].l, sr = cb->sack_seen[i].r;

		if (sl != sr && tcp_leq(sl, *l) && tcp_lt(*l, sr)) {
			if (tcp_leq(r, sr))
				return false;
			*l = sr;
		}
	}
	return true;
}

/* RFC 2883 4: the first block is below the ACK or inside the second. */
static bool is_dsack(const struct tcp_seg *g)
{
	uint32_t l = g->o.sack[0].l, r = g->o.sack[0].r;

	if (!tcp_lt(l, r))
		return false;
	if (tcp_leq(r, g->ack))
		return true;
	return g->o.nsack > 1 && tcp_geq(l, g->o.sack[1].l) && tcp_leq(r, g->o.sack[1].r);
}

/* Row by row: reversed, beyond what was sent, below what is acknowledged. */
static bool valid(const struct tcp_cb *cb, uint32_t ack, uint32_t l, uint32_t r)
{
	return tcp_lt(l, r) && tcp_leq(r, cb->snd_max) && tcp_gt(r, ack) && tcp_geq(l, cb->snd_una);
}

/* A duplicate report is believed only about what we may have sent in this window
 * or the one before. */
static void note_dsack(const struct tcp_cb *cb, const struct tcp_seg *g, struct tcp_delivery *d)
{
	uint32_t l = g->o.sack[0].l, r = g->o.sack[0].r;

	if (tcp_gt(r, cb->snd_max) || cb->snd_una - l > 2 * (cb->max_wnd + 65536u))
		return;
	d->dsack = true;
	d->dsack_l = l;
	d->dsack_r = r;
}

void tcp_sack_update(struct tcp_cb *cb, const struct tcp_env *e, const struct tcp_seg *g,
		     struct tcp_delivery *d)
{
	struct { uint32_t l, r; } seen[TCP_SACK_MAX] = { { 0, 0 } };
	struct walk w = { WALK_MAX };
	unsigned i = 0, n = 0, max = g->o.nsack < TCP_SACK_MAX ? g->o.nsack : TCP_SACK_MAX;

	if (max != 0 && is_dsack(g)) {
		note_dsack(cb, g, d);
		i = 1;
	}
	for (; i < max; i++) {
		uint32_t l = g->o.sack[i].l, r = g->o.sack[i].r;

		if (!valid(cb, g->ack, l, r))
			continue;
		if (tcp_gt(r, cb->high_sacked))
			cb->high_sacked = r;
		if (!unseen(cb, &l, r) || mark_block(cb, e, g, l, r, &w, d)) {
			seen[n].l = g->o.sack[i].l;
			seen[n++].r = r;
		}
	}
	memcpy(cb->sack_seen, seen, sizeof cb->sack_seen);
}

/* The peer has thrown away what it had acknowledged selectively (RFC 2018 8). */
void tcp_sack_reneged(struct tcp_cb *cb)
{
	struct xk_msg *m;

	for (m = cb->sq.first; m != cb->sq.unsent; m = m->link)
		m->kept.flags &= (uint16_t)~TCP_SQ_SACKED;
	cb->sacked_out = cb->sacked_segs = 0;
	memset(cb->sack_seen, 0, sizeof cb->sack_seen);
	cb->walk.sack_at = NULL;
}

/* ---- IsLost (RFC 6675 4) ------------------------------------------------------------------ */

bool tcp_sack_detect(struct tcp_cb *cb, uint32_t una)
{
	uint32_t segs = cb->sacked_segs, bytes = cb->sacked_out, steps = WALK_MAX;
	struct xk_msg *m;
	bool lost = false;

	for (m = cb->sq.first; m != cb->sq.unsent && steps-- != 0; m = m->link) {
		uint16_t f = m->kept.flags;

		if (tcp_leq(tcp_sq_end(m), una))
			continue;
		if (f & TCP_SQ_SACKED) {
			segs--;
			bytes -= m->tot;
			continue;
		}
		if (segs < DUP_THRESH && bytes <= (DUP_THRESH - 1) * cb->mss)
			break;
		if (!(f & TCP_SQ_LOST)) {
			tcp_mark_lost(cb, m);
			lost = true;
		}
	}
	return lost;
}
