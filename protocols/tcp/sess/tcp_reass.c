/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_reass.c - what arrived out of order.
 *
 * Held bytes are blocks, maximal runs without a hole, in a skip list by their
 * first number; a block is a list of messages linked in order.  A segment meets
 * its neighbours in O(log n) steps, is cut to what is not held yet, and joins
 * them; blocks that it covers give way to it.  Nobody can choose where it is
 * slow: heights come from the VP's generator.
 *
 * Caps: segments and bytes of a connection, memory of all connections of a VP (as
 * buffers count, so that a segment of one byte is not held for a byte's price).
 * At a cap, or while the graph's memory is short (tcp_memory.c), the newest is refused: what
 * is missing first comes in order and never passes through here, so a full store cannot stop
 * a connection.  What was kept, and reported, stays (RFC 2018 8).
 *
 * SACK blocks are reported most recent first (RFC 2018 4): a short list keeps a
 * number of each block that grew last.  The first part of a segment that was
 * held already is reported as DSACK (RFC 2883).
 * Invariant: blocks neither touch nor overlap; cb->reass is NULL when nothing
 * is held and no FIN is known.
 */
#include "protocols/tcp/sess/tcp_sess.h"
#include "runtime/base/xk_rand.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/vp/xk_task.h"

#define LEVELS 8u
#define RECENT 8u

struct block {
	struct block  *next[LEVELS];
	struct xk_msg *first, *last;
	uint32_t       l, r;
	uint32_t       levels;
};

struct tcp_reass {
	struct block *head[LEVELS];
	uint32_t      bytes, segments;
	uint32_t      fin;               /* its number */
	bool          have_fin;
	uint8_t       nrecent;
	uint32_t      recent[RECENT];
};
_Static_assert(sizeof(struct block) + 8 <= TCP_REASS_OBJ && sizeof(struct tcp_reass) + 8 <= TCP_REASS_OBJ,
	       "objects of one slab");

void tcp_reass_init(struct xk_rep *r)
{
	xk_slab_init(&tcp_rep(r)->reass_slab, TCP_REASS_OBJ);
}

void tcp_reass_fini(struct xk_rep *r)
{
	xk_slab_fini(&tcp_rep(r)->reass_slab);
}

/* ---- the skip list ------------------------------------------------------------------ */

/* Where a search for `seq` passed: slot[i] is the pointer at level i that leads beyond
 * it; at is the last block that begins at or before seq. */
struct path { struct block **slot[LEVELS]; struct block *at; };

static void find(struct tcp_reass *q, uint32_t seq, struct path *p)
{
	struct block **next = q->head;

	p->at = NULL;
	for (unsigned i = LEVELS; i-- > 0;) {
		while (next[i] != NULL && tcp_leq(next[i]->l, seq)) {
			p->at = next[i];
			next = next[i]->next;
		}
		p->slot[i] = &next[i];
	}
}

static struct block *behind(const struct path *p)
{
	return *p->slot[0];
}

/* b is behind p. */
static void unlink_block(const struct path *p, const struct block *b)
{
	for (unsigned i = 0; i < b->levels; i++)
		*p->slot[i] = b->next[i];
}

static void link_block(const struct path *p, struct block *b, struct xk_rand *rand)
{
	uint64_t bits = xk_rand_u64(rand);

	for (b->levels = 1; b->levels < LEVELS && (bits & 3) == 0; bits >>= 2)
		b->levels++;
	for (unsigned i = 0; i < b->levels; i++) {
		b->next[i] = *p->slot[i];
		*p->slot[i] = b;
	}
}

/* ---- accounts -------------------------------------------------------------------------- */

static uint32_t price(const struct xk_msg *m)
{
	uint32_t n = 0;

	for (; m != NULL; m = m->next)
		n += xk_mem_size[m->cls];
	return n;
}

/* m is held from now on; its price goes with it. */
static void charge(struct tcp_sess *ts, struct xk_msg *m)
{
	struct tcp_reass *q = tcp_cb(ts)->reass;

	m->link = NULL;
	m->aux = price(m);
	tcp_rep(ts->s.rep)->ooo_bytes += m->aux;
	q->bytes += m->tot;
	q->segments++;
}

static void discharge(struct tcp_sess *ts, const struct xk_msg *m)
{
	struct tcp_reass *q = tcp_cb(ts)->reass;

	tcp_rep(ts->s.rep)->ooo_bytes -= m->aux;
	q->bytes -= m->tot;
	q->segments--;
}

static bool full(const struct tcp_sess *ts, const struct xk_msg *m)
{
	const struct tcp_reass *q = tcp_cb(ts)->reass;
	const struct tcp_tune *t = tcp_cb(ts)->tune;

	return q->segments >= t->ooo_segments || q->bytes + m->tot > t->ooo_bytes ||
	       tcp_rep(ts->s.rep)->ooo_bytes + price(m) > t->ooo_total || tcp_memory_refuses(ts, m->tot);
}

/* ---- blocks ------------------------------------------------------------------------------- */

static struct xk_msg *take_first(struct tcp_sess *ts, struct block *b)
{
	struct xk_msg *m = b->first;

	b->first = m->link;
	m->link = NULL;
	b->l += m->tot;
	discharge(ts, m);
	return m;
}

/* b is unlinked. */
static void free_block(struct tcp_sess *ts, struct block *b)
{
	while (b->first != NULL)
		xk_msg_free(take_first(ts, b));
	xk_slab_put(&tcp_rep(ts->s.rep)->reass_slab, b);
}

static void append(struct tcp_sess *ts, struct block *b, struct xk_msg *m)
{
	charge(ts, m);
	if (b->first == NULL)
		b->first = m;
	else
		b->last->link = m;
	b->last = m;
	b->r += m->tot;
}

static void prepend(struct tcp_sess *ts, struct block *b, struct xk_msg *m)
{
	charge(ts, m);
	m->link = b->first;
	b->first = m;
	b->l -= m->tot;
}

/* n, right behind b and touching it, becomes part of b. */
static void absorb(struct tcp_sess *ts, struct block *b, const struct path *p, struct block *n)
{
	unlink_block(p, n);
	b->last->link = n->first;
	b->last = n->last;
	b->r = n->r;
	xk_slab_put(&tcp_rep(ts->s.rep)->reass_slab, n);
}

/* seq is in the block that grew last. */
static void note_recent(struct tcp_cb *cb, uint32_t seq)
{
	struct tcp_reass *q = cb->reass;

	if (q->nrecent < RECENT)
		q->nrecent++;
	memmove(q->recent + 1, q->recent, (q->nrecent - 1u) * sizeof q->recent[0]);
	q->recent[0] = cb->ooo_recent = seq;
}

/* Only the first of a segment's duplicate parts is told of. */
static void note_dsack(struct tcp_cb *cb, uint32_t l, uint32_t r)
{
	if ((cb->flags & (TCP_F_SACK | TCP_F_DSACK)) != TCP_F_SACK || !cb->tune->dsack)
		return;
	cb->dsack_l = l;
	cb->dsack_r = r;
	cb->flags |= TCP_F_DSACK;
}

/* ---- putting -------------------------------------------------------------------------------- */

struct xk_msg *tcp_cut_front(struct xk_msg *m, uint32_t n)
{
	struct xk_msg *rest;

	if (XK_LIKELY(m->len >= n)) {
		xk_msg_pop(m, n);
		return m;
	}
	rest = xk_msg_split(m, n);
	xk_msg_free(m);
	return rest;
}

static bool ready(struct tcp_sess *ts)
{
	if (tcp_cb(ts)->reass == NULL)
		tcp_cb(ts)->reass = xk_slab_get(&tcp_rep(ts->s.rep)->reass_slab);
	return tcp_cb(ts)->reass != NULL;
}

static void release_when_empty(struct tcp_sess *ts)
{
	struct tcp_reass *q = tcp_cb(ts)->reass;

	if (q == NULL || q->head[0] != NULL || q->have_fin)
		return;
	tcp_cb(ts)->reass = NULL;
	xk_slab_put(&tcp_rep(ts->s.rep)->reass_slab, q);
}

/* A FIN that bytes already held go beyond is not believed. */
static void note_fin(struct tcp_cb *cb, uint32_t fin)
{
	struct tcp_reass *q = cb->reass;
	struct path p;

	find(q, fin, &p);
	if (q->have_fin || behind(&p) != NULL || (p.at != NULL && tcp_gt(p.at->r, fin)))
		return;
	q->fin = fin;
	q->have_fin = true;
}

/* Blocks inside [.., end) give way; what m has of the one that sticks out is cut off.
 * Returns where m ends now. */
static uint32_t clear_right(struct tcp_sess *ts, const struct path *p, struct xk_msg *m, uint32_t end)
{
	struct block *n;

	while ((n = behind(p)) != NULL && tcp_lt(n->l, end)) {
		if (tcp_gt(n->r, end)) {
			note_dsack(tcp_cb(ts), n->l, end);
			xk_msg_truncate(m, m->tot - (end - n->l));
			return n->l;
		}
		note_dsack(tcp_cb(ts), n->l, n->r);
		unlink_block(p, n);
		free_block(ts, n);
	}
	return end;
}

/* A block of its own for m at seq; NULL without memory. */
static struct block *new_block(struct tcp_sess *ts, const struct path *p, uint32_t seq)
{
	struct block *b = xk_slab_get(&tcp_rep(ts->s.rep)->reass_slab);

	if (b == NULL)
		return NULL;
	b->l = b->r = seq;
	link_block(p, b, xk_vp_rand(ts->s.rep->vp));
	return b;
}

/* m is [seq, end), cut to what is not held; left: the block that ends at seq, or NULL. */
static void join(struct tcp_sess *ts, struct path *p, struct block *left, struct xk_msg *m, uint32_t seq,
		 uint32_t end)
{
	struct block *n = behind(p);
	bool touches = n != NULL && n->l == end;

	if (left == NULL && touches) {
		prepend(ts, n, m);
		return;
	}
	if (left == NULL)
		left = new_block(ts, p, seq);
	if (left == NULL) {
		xk_drop(ts->s.rep, XK_DROP_NOMEM, m);
		return;
	}
	append(ts, left, m);
	if (touches)
		absorb(ts, left, p, n);
}

/* m, not empty, is [seq, seq + tot). */
static void put(struct tcp_sess *ts, struct xk_msg *m, uint32_t seq)
{
	uint32_t end = seq + m->tot, held;
	struct block *left;
	struct path p;

	find(tcp_cb(ts)->reass, seq, &p);
	left = p.at != NULL && tcp_leq(seq, p.at->r) ? p.at : NULL;
	if (left != NULL && tcp_leq(end, left->r)) {
		note_dsack(tcp_cb(ts), seq, end);
		note_recent(tcp_cb(ts), seq);
		xk_drop(ts->s.rep, TCP_DROP_DUP, m);
		return;
	}
	if (full(ts, m)) {
		xk_drop(ts->s.rep, TCP_DROP_OOO_FULL, m);
		return;
	}
	held = left != NULL ? left->r - seq : 0;
	if (held != 0) {
		note_dsack(tcp_cb(ts), seq, left->r);
		m = tcp_cut_front(m, held);
		seq += held;
	}
	if (m == NULL) {
		xk_dropped(ts->s.rep, XK_DROP_NOMEM, 1);
		return;
	}
	end = clear_right(ts, &p, m, end);
	note_recent(tcp_cb(ts), seq);
	join(ts, &p, left, m, seq, end);
}

void tcp_reass_put(struct tcp_sess *ts, struct xk_msg *m, uint32_t seq, bool fin)
{
	struct tcp_reass *q;

	if (!ready(ts)) {
		xk_drop(ts->s.rep, XK_DROP_NOMEM, m);
		return;
	}
	q = tcp_cb(ts)->reass;
	if (fin)
		note_fin(tcp_cb(ts), seq + m->tot);
	if (q->have_fin && tcp_gt(seq + m->tot, q->fin))
		xk_msg_truncate(m, tcp_lt(seq, q->fin) ? q->fin - seq : 0);
	if (m->tot != 0)
		put(ts, m, seq);
	else
		xk_msg_free(m);
	release_when_empty(ts);
}

/* ---- getting ----------------------------------------------------------------------------------- */

/* The first block is used up. */
static void pop_block(struct tcp_sess *ts, struct block *b)
{
	for (unsigned i = 0; i < b->levels; i++)
		tcp_cb(ts)->reass->head[i] = b->next[i];
	xk_slab_put(&tcp_rep(ts->s.rep)->reass_slab, b);
}

/* The first message of b that reaches beyond rcv_nxt, cut to begin there, or NULL.  What
 * lies before has come again in order. */
static struct xk_msg *next_piece(struct tcp_sess *ts, struct block *b)
{
	uint32_t nxt = tcp_cb(ts)->rcv_nxt, l;
	struct xk_msg *m = NULL;

	if (tcp_lt(b->l, nxt))
		note_dsack(tcp_cb(ts), b->l, tcp_lt(b->r, nxt) ? b->r : nxt);
	while (m == NULL && b->first != NULL) {
		l = b->l;
		m = take_first(ts, b);
		if (tcp_gt(b->l, nxt)) {
			m = tcp_cut_front(m, nxt - l);
			/* Without memory the peer sends it again; what is behind waits. */
			if (m == NULL)
				break;
			return m;
		}
		xk_msg_free(m);
		m = NULL;
	}
	return NULL;
}

struct xk_msg *tcp_reass_get(struct tcp_sess *ts, bool *fin)
{
	struct tcp_reass *q = tcp_cb(ts)->reass;
	struct xk_msg *m = NULL;
	struct block *b;
	uint32_t end;

	*fin = false;
	if (q == NULL)
		return NULL;
	while (m == NULL && (b = q->head[0]) != NULL && tcp_leq(b->l, tcp_cb(ts)->rcv_nxt)) {
		m = next_piece(ts, b);
		if (b->first == NULL)
			pop_block(ts, b);
	}
	end = tcp_cb(ts)->rcv_nxt + (m != NULL ? m->tot : 0);
	if (q->have_fin && q->fin == end) {
		*fin = true;
		q->have_fin = false;
	}
	release_when_empty(ts);
	return m;
}

void tcp_reass_drop(struct tcp_sess *ts)
{
	struct tcp_reass *q = tcp_cb(ts)->reass;
	struct block *b;

	while ((b = q->head[0]) != NULL) {
		while (b->first != NULL)
			xk_msg_free(take_first(ts, b));
		pop_block(ts, b);
	}
	q->have_fin = false;
	release_when_empty(ts);
}

/* ---- telling ------------------------------------------------------------------------------------ */

static bool told(const struct tcp_opts *o, unsigned n, const struct block *b)
{
	for (unsigned i = 0; i < n; i++)
		if (o->sack[i].l == b->l)
			return true;
	return false;
}

static unsigned tell(struct tcp_opts *o, unsigned n, const struct block *b)
{
	if (told(o, n, b))
		return n;
	o->sack[n].l = b->l;
	o->sack[n].r = b->r;
	return n + 1;
}

unsigned tcp_reass_blocks(const struct tcp_cb *cb, unsigned max, struct tcp_opts *o)
{
	struct tcp_reass *q = cb->reass;
	unsigned n = 0;
	struct path p;

	if (q == NULL)
		return 0;
	for (unsigned i = 0; i < q->nrecent && n < max; i++) {
		find(q, q->recent[i], &p);
		if (p.at != NULL && tcp_lt(q->recent[i], p.at->r))
			n = tell(o, n, p.at);
	}
	/* Blocks that have been quiet for long: the lowest are wanted first. */
	for (const struct block *b = q->head[0]; b != NULL && n < max; b = b->next[0])
		n = tell(o, n, b);
	return n;
}

uint32_t tcp_reass_bytes(const struct tcp_cb *cb, uint32_t *segments)
{
	if (segments != NULL)
		*segments = cb->reass != NULL ? cb->reass->segments : 0;
	return cb->reass != NULL ? cb->reass->bytes : 0;
}
