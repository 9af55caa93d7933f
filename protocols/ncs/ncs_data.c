/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs_data.c - messages to SDUs on the way down, SDUs to messages on the way up.
 *
 * A message that was pushed, or a part of one, stays until all of its SDUs are needed no more; what goes down shares
 * its bytes, and is cut where the last one ended.  Of each is kept the number of its first SDU (kept.seq), of its
 * message's first one (kept.when), and the last one's in its message (kept.flags, kept.count: the halves).
 * SDUs that arrive wait with their headers before
 * them: those that error control has done with, one after the other, until their message is whole,
 * which is they as they lie; those that others are missing before, in order of their numbers.  Who lies above may
 * have said that it takes the former one by one: then none of these wait.
 * Invariant: `out` holds messages that end above ncs_tx_done; `in` SDUs below ncs_rx_base, the first so
 * many of one message; `ahead` others, each once.
 */
#include "protocols/ncs/ncs_priv.h"

#include "runtime/msg/xk_msg_inline.h"
#include "runtime/msg/xk_msg_part.h"
#include "runtime/vp/xk_task.h"

#include <string.h>

static struct xk_rep *rep_of(const struct ncs_conn *c) { return c->sess->s.rep; }
static const struct ncs_seams *seams_of(const struct ncs_conn *c) { return ncs_rep(rep_of(c))->seams; }
static uint32_t sdu_of(const struct ncs_conn *c) { return c->choice.agreed.sdu; }
static uint32_t head_of(const struct ncs_conn *c) { return NCS_HDR_LEN + (c->sums ? NCS_SUM_LEN : 0); }
static uint32_t sdus(const struct ncs_conn *c, uint32_t bytes)
{
	return XK_LIKELY(bytes <= sdu_of(c)) ? 1 : (bytes + sdu_of(c) - 1) / sdu_of(c);
}
static uint32_t last_of(const struct xk_msg *m) { return (uint32_t)m->kept.flags << 16 | m->kept.count; }

void ncs_queues_free(struct ncs_conn *c)
{
	struct xk_msg *m;

	xk_msgq_free(&c->out);
	xk_msgq_free(&c->in);
	while ((m = c->ahead) != NULL) {
		c->ahead = m->link;
		xk_msg_free(m);
	}
}

/* ---- down ---------------------------------------------------------------------------------------- */

/* Moves on to SDU `no`, which does not lie before. */
static void seek(const struct ncs_conn *c, struct ncs_place *p, uint32_t no)
{
	uint32_t off;

	while (no - p->m->kept.seq >= sdus(c, p->m->tot))
		*p = (struct ncs_place){ p->m->link, p->m->link, 0 };
	off = (no - p->m->kept.seq) * sdu_of(c);
	while (off - p->at >= p->seg->len && p->seg->next != NULL) {
		p->at += p->seg->len;
		p->seg = p->seg->next;
	}
}

/* Does SDU `no` lie before it? */
static bool passed(const struct ncs_conn *c, const struct ncs_place *p, uint32_t no)
{
	return ncs_lt(no, p->m->kept.seq) || (no - p->m->kept.seq < sdus(c, p->m->tot) &&
	       (no - p->m->kept.seq) * sdu_of(c) < p->at);
}

/* Where SDU `no` is: most are the next that was never sent; of others each lies behind the last, or not far
 * behind the first that is needed. */
static struct ncs_place *place_of(struct ncs_conn *c, uint32_t no)
{
	struct ncs_place *p = &c->first;

	if (no == c->fresh) {
		c->fresh++;
	} else {
		p = &c->again;
		if (passed(c, p, no))
			*p = c->base;
	}
	seek(c, p, no);
	return p;
}

/* n bytes from `off` of the message on, for a header to be pushed onto. */
static struct xk_msg *part(const struct ncs_place *p, uint32_t off, uint32_t n)
{
	struct xk_msg *a = n == p->m->tot ? xk_msg_lend(p->m) : NULL;

	return a != NULL ? a : xk_msg_part(p->seg, off - p->at, n);
}

void ncs_data_out(struct ncs_conn *c, struct xk_msg *m)
{
	NCS_STEP(c, 4, "the sender sends transmission %u", xk_be32(m->data + 8));
	if (c->peer->peer.stream)
		ncs_lower(c->peer, m, false);
	else
		xk_push(c->sess->s.down, m);
}

static void transmit(struct ncs_conn *c, uint32_t no)
{
	struct xk_rep *r = rep_of(c);
	bool fresh = no == c->fresh;
	const struct ncs_place *p = place_of(c, no);
	struct xk_msg *m = p->m, *a;
	uint32_t off = (no - m->kept.seq) * sdu_of(c);
	uint32_t n = m->tot - off < sdu_of(c) ? m->tot - off : sdu_of(c);
	xk_ns now = xk_vp_now();
	struct ncs_mark mark = ncs_tx_sent(c->tx, no, n, now);
	struct ncs_hdr h = { { mark.tx, m->kept.when, no - m->kept.when, last_of(m),
			       (uint8_t)(mark.flags | (c->fresh != c->end ? NCS_MORE : 0)) }, c->peer_id,
			     ncs_rep(r)->epoch, 0 };
	uint8_t *b;

	c->unsent -= fresh ? n : 0;
	if (c->stages != NULL)
		seams_of(c)->taken(c);
	xk_count(r->count[NCS_N_SDUS_OUT]);
	if (mark.flags & NCS_REPEAT)
		xk_count(r->count[NCS_N_REPEATED]);
	else
		c->progress = now;
	a = part(p, off, n);
	b = a != NULL ? xk_msg_push(&a, head_of(c)) : NULL;
	if (b == NULL) {                         /* as if it were lost on the way */
		xk_dropped(r, XK_DROP_NOMEM, 1);
		if (a != NULL)
			xk_msg_free(a);
		return;
	}
	h.along = c->owes && last_of(m) == 0 ? ncs_along_take(c) : 0;
	ncs_hdr_store(b, &h);
	if (c->sums)
		xk_put_be32(b + NCS_HDR_LEN, ncs_sdu_sum(a));
	a->hash = a->aux = 0;
	a->vp = a->node = 0;
	NCS_STEP(c, 3, "flow control lets SDU %u go, transmission %u", no, mark.tx);
	if (c->stages == NULL)
		ncs_data_out(c, a);
	else
		seams_of(c)->send(c, a);
	ncs_has_left(c, n);
}

static void leave(struct ncs_place *p, const struct xk_msg *m)
{
	if (p->m == m)
		*p = (struct ncs_place){ m->link, m->link, 0 };
}

/* Messages that are needed no more; were there any? */
static bool forget(struct ncs_conn *c)
{
	uint32_t done = ncs_tx_done(c->tx), n = c->out.n;
	struct xk_msg *m;

	while ((m = c->out.first) != NULL && ncs_leq(m->kept.seq + sdus(c, m->tot), done)) {
		leave(&c->base, m);
		leave(&c->again, m);
		leave(&c->first, m);
		xk_msgq_get(&c->out);
		c->queued -= m->tot;
		xk_msg_free(m);
	}
	if (c->base.m != NULL && !passed(c, &c->base, done))
		seek(c, &c->base, done);
	return c->out.n != n;
}

uint32_t ncs_let_go(struct ncs_conn *c, uint32_t most)
{
	uint32_t no, n = 0;
	bool less;

	if (!ncs_goes_on(c))
		return 0;
	for (; n < most && ncs_may_leave(c) && ncs_tx_next(c->tx, xk_vp_now(), &no); n++)
		transmit(c, no);
	less = forget(c);
	ncs_conn_arm(c);
	if (less)
		ncs_conn_tell(c, NCS_LESS);
	return n;
}

void ncs_turn(struct ncs_conn *c)
{
	if (c->stages != NULL) {
		seams_of(c)->turn(c);
		return;
	}
	if (!ncs_goes_along(c))                  /* else ncs_data_in sees to it */
		ncs_answer(c);
	ncs_let_go(c, UINT32_MAX);
}

void ncs_data_asked(struct ncs_conn *c, uint32_t n)
{
	NCS_STEP(c, 2, "error control has %u SDUs for flow control", n);
	ncs_tx_add(c->tx, n);
}

int ncs_data_long(struct ncs_conn *c, uint32_t bytes)
{
	if (c->coming != 0)
		return XK_E_BUSY;
	if (bytes > ncs_longest(c))
		return XK_E_MSGSIZE;
	c->coming = c->long_bytes = bytes;
	c->long_first = c->end;
	c->long_last = sdus(c, bytes) - 1;
	return XK_OK;
}

/* XK_DROP_FIRST and above: why it is not taken. */
static unsigned beyond(const struct ncs_conn *c, const struct xk_msg *m)
{
	const struct ncs_conf *conf = ncs_conf(rep_of(c));

	if (c->state >= NCS_DRAINING)
		return NCS_DROP_GONE;
	if (c->coming != 0)
		return m->tot == c->coming || (m->tot < c->coming && m->tot != 0 && m->tot % sdu_of(c) == 0) ? 0 :
		       NCS_DROP_TOO_LONG;
	if (m->tot > ncs_longest(c))
		return NCS_DROP_TOO_LONG;
	return c->queued + m->tot > conf->queue || c->end + sdus(c, m->tot) - ncs_tx_done(c->tx) > INT32_MAX ?
	       NCS_DROP_QUEUE : 0;
}

/* It is a message, or the next part of one. */
static void enqueue(struct ncs_conn *c, struct xk_msg *m, uint32_t n)
{
	uint32_t last = c->coming != 0 ? c->long_last : n - 1;

	if (c->coming == 0 || c->long_first == c->end)
		xk_count(rep_of(c)->count[NCS_N_MESSAGES_OUT]);
	m->flags &= XK_MSG_SLOW;
	m->kept.seq = c->end;
	m->kept.when = c->coming != 0 ? c->long_first : c->end;
	m->kept.flags = (uint16_t)(last >> 16);
	m->kept.count = (uint16_t)last;
	c->coming -= c->coming != 0 ? m->tot : 0;
	c->end += n;
	c->queued += m->tot;
	c->unsent += m->tot;
	NCS_STEP(c, 1, "a message of %u bytes, from SDU %u on, is error control's", m->tot, m->kept.seq);
	xk_msgq_put(&c->out, m);
	if (m == c->out.first)
		c->base = c->again = (struct ncs_place){ m, m, 0 };
	if (c->first.m == NULL)
		c->first = (struct ncs_place){ m, m, 0 };
}

void ncs_push(struct xk_sess *s, struct xk_msg *m)
{
	struct ncs_conn *c = &ncs_sess(s)->conn;
	struct ncs_sess *peer = c->peer;
	uint32_t n = sdus(c, m->tot);
	unsigned why;

	if (c->stages != NULL)
		seams_of(c)->asks(c);
	why = beyond(c, m);
	if (why != 0) {
		xk_drop(s->rep, why, m);
		return;
	}
	if (c->out.n == 0 && c->end == ncs_tx_done(c->tx))
		c->progress = xk_vp_now();
	enqueue(c, m, n);
	if (c->stages != NULL) {
		seams_of(c)->asked(c, n);
		return;
	}
	ncs_data_asked(c, n);
	if (c->receiving)                        /* ncs_data_in goes on to a turn */
		return;
	ncs_peer_enter(peer);
	ncs_conn_enter(c);
	ncs_turn(c);
	ncs_conn_leave(c);
	ncs_peer_leave(peer);
}

uint32_t ncs_queued_longest(const struct ncs_conn *c)
{
	uint32_t most = c->coming != 0 ? c->long_bytes : 0, bytes = 0, of = 0;

	for (const struct xk_msg *m = c->out.first; m != NULL; m = m->link) {
		bytes = (m != c->out.first && m->kept.when == of ? bytes : 0) + m->tot;
		of = m->kept.when;
		most = bytes > most ? bytes : most;
	}
	return most;
}

/* ---- up ------------------------------------------------------------------------------------------- */

static struct ncs_pkt pkt_of(const struct xk_msg *m)
{
	struct ncs_hdr h;

	ncs_hdr_load(m->data, &h);
	return h.p;
}

/* Among those ahead, in its place: most come last, or first. */
static void keep(struct ncs_conn *c, struct xk_msg *m, uint32_t no)
{
	struct xk_msg **at = &c->ahead;
	struct ncs_pkt p;

	if (*at != NULL) {
		p = pkt_of(c->ahead_last);
		if (ncs_lt(ncs_pkt_no(&p), no))
			at = &c->ahead_last->link;
	}
	for (; *at != NULL; at = &(*at)->link) {
		p = pkt_of(*at);
		if (ncs_lt(no, ncs_pkt_no(&p)))
			break;
	}
	m->link = *at;
	*at = m;
	if (m->link == NULL)
		c->ahead_last = m;
}

/* What is here of a message that will never be whole. */
static void give_up(struct ncs_conn *c)
{
	struct xk_msg *m;

	while ((m = xk_msgq_get(&c->in)) != NULL)
		xk_drop(rep_of(c), NCS_DROP_INCOMPLETE, m);
}

/* Who lies above takes what comes: it waits from the beginning, and again when it has had a message. */
void ncs_data_expect(struct ncs_conn *c)
{
	if (c->state != NCS_ESTABLISHED)
		return;
	NCS_STEP(c, 5, "who lies above waits for a message, SDU %u on", ncs_rx_base(c->rx));
	NCS_STEP(c, 6, "error control waits for SDU %u", ncs_rx_base(c->rx));
}

/* The message that has come: its SDUs, joined as they lie. */
static void deliver(struct ncs_conn *c)
{
	uint32_t first = pkt_of(c->in.first).message;
	struct xk_msg *whole = NULL, *last = NULL, *m;

	while ((m = xk_msgq_get(&c->in)) != NULL) {
		xk_msg_pop(m, head_of(c));
		m->flags &= XK_MSG_SLOW;
		ncs_append(&whole, &last, m);
	}
	xk_count(rep_of(c)->count[NCS_N_MESSAGES_IN]);
	if (c->state != NCS_ESTABLISHED) {
		xk_drop(rep_of(c), NCS_DROP_GONE, whole);
		return;
	}
	NCS_STEP(c, 10, "error control has joined the message from SDU %u on, %u bytes", first, whole->tot);
	xk_pop(&c->sess->s, c->sess->s.down, whole, NULL);
	ncs_data_expect(c);
}

/* Who lies above takes them one by one. */
static void pass(struct ncs_conn *c, struct xk_msg *m, const struct ncs_pkt *p)
{
	struct xk_rep *r = rep_of(c);
	bool on = c->within && p->message == c->had.message && p->last == c->had.last && p->sdu == c->had.sdu + 1;

	if (c->within && !on)
		xk_dropped(r, NCS_DROP_INCOMPLETE, c->had.sdu + 1);
	c->within = (on || p->sdu == 0) && p->sdu != p->last;
	c->had = *p;
	if (!on && p->sdu != 0) {
		xk_drop(r, NCS_DROP_INCOMPLETE, m);
		return;
	}
	xk_count_add(r->count[NCS_N_MESSAGES_IN], p->sdu == p->last);
	if (c->state != NCS_ESTABLISHED) {
		xk_drop(r, NCS_DROP_GONE, m);
		return;
	}
	xk_msg_pop(m, NCS_HDR_LEN - NCS_SDU_BEFORE);
	m->flags &= XK_MSG_SLOW;
	if (p->sdu == p->last)
		NCS_STEP(c, 10, "error control has passed on all of the message from SDU %u on", p->message);
	xk_pop(&c->sess->s, c->sess->s.down, m, NULL);
	if (p->sdu == p->last)
		ncs_data_expect(c);
}

/* The next one that error control has done with. */
static void take(struct ncs_conn *c, struct xk_msg *m)
{
	struct ncs_pkt p = pkt_of(m), had = p;

	if (c->pieces) {
		pass(c, m, &p);
		return;
	}
	if (c->in.n != 0)
		had = pkt_of(c->in.last);
	if (p.message != had.message || p.last != had.last || (c->in.n != 0 && p.sdu != had.sdu + 1))
		give_up(c);
	xk_msgq_put(&c->in, m);
	if (c->in.n == 1 && p.sdu != 0)
		give_up(c);
	else if (p.sdu == p.last)
		deliver(c);
}

/* Those that nothing is missing before, or never will be. */
static void advance(struct ncs_conn *c)
{
	while (c->ahead != NULL) {
		struct xk_msg *m = c->ahead;
		struct ncs_pkt p = pkt_of(m);

		if (!ncs_lt(ncs_pkt_no(&p), ncs_rx_base(c->rx)))
			break;
		c->ahead = m->link;
		take(c, m);
	}
}

void ncs_pop(struct xk_sess *s, struct xk_sess *lls, struct xk_msg *m, void *hdr)
{
	(void)lls;
	(void)hdr;
	xk_demux(s, m);
}

/* XK_DROP_FIRST and above: why not. */
static unsigned examine(const struct ncs_conn *c, const struct ncs_hdr *h, bool version, uint32_t bytes)
{
	uint64_t all = (uint64_t)h->p.last * sdu_of(c) + bytes;

	if (!version || bytes > sdu_of(c) || (bytes < sdu_of(c) && h->p.sdu != h->p.last) ||
	    (bytes == 0 && h->p.last != 0))
		return NCS_DROP_HEADER;
	if (h->conn != c->id || c->state == NCS_OPENING)
		return NCS_DROP_STRANGE;
	if (h->epoch != c->peer_epoch)
		return NCS_DROP_EPOCH;
	if (c->state >= NCS_CLOSING)
		return NCS_DROP_GONE;
	return h->p.sdu == h->p.last && all > ncs_conf(rep_of(c))->message ? NCS_DROP_TOO_LONG :
	       (uint64_t)h->p.last * sdu_of(c) > ncs_conf(rep_of(c))->message ? NCS_DROP_TOO_LONG : 0;
}

/* Header and all in one piece, or NULL: dropped. */
static struct xk_msg *good(struct ncs_conn *c, struct xk_msg *m, struct ncs_hdr *h)
{
	struct xk_rep *r = rep_of(c);
	unsigned why;

	if (m->tot < head_of(c) || xk_msg_peek(&m, head_of(c)) == NULL) {
		xk_drop(r, NCS_DROP_SHORT, m);
		return NULL;
	}
	why = c->sums && xk_be32(m->data + NCS_HDR_LEN) != ncs_sdu_sum(m) ? NCS_DROP_SUM :
	      examine(c, h, ncs_hdr_load(m->data, h), m->tot - head_of(c));
	if (why != 0) {
		xk_drop(r, why, m);
		return NULL;
	}
	NCS_STEP(c, 7, "the receiver has transmission %u", h->p.tx);
	c->heard = c->peer->peer.heard = xk_vp_now();
	c->confirmed = true;
	xk_count(r->count[NCS_N_SDUS_IN]);
	return m;
}

static struct xk_msg *refused(struct ncs_conn *c, enum ncs_verdict is, struct xk_msg *m)
{
	xk_drop(rep_of(c), is == NCS_DOUBLE ? NCS_DROP_DOUBLE : NCS_DROP_BEYOND, m);
	return NULL;
}

static struct xk_msg *passes(struct ncs_conn *c, struct xk_msg *m, const struct ncs_pkt *p)
{
	enum ncs_verdict is;

	NCS_STEP(c, 8, "flow control is told of transmission %u", p->tx);
	is = ncs_rx_passes(c->rx, p);
	if (is != NCS_NEW)
		return refused(c, is, m);
	NCS_STEP(c, 9, "flow control gives transmission %u to error control", p->tx);
	return m;
}

/* Of an SDU that both controls have let in. */
static void answered(struct ncs_conn *c, uint64_t along)
{
	struct ncs_ack a;
	uint32_t value = ncs_along_heard(c, along, &a);

	if (along & NCS_ALONG_ACK)
		ncs_conn_acked(c, &a);
	if (along & NCS_ALONG_VALUE)
		ncs_conn_credited(c, value);
}

/* along: an answer that came with it, 0: none. */
static void wanted(struct ncs_conn *c, struct xk_msg *m, const struct ncs_pkt *p, uint64_t along)
{
	enum ncs_verdict is = ncs_rx_wanted(c->rx, p);

	if (is == NCS_NEW && along != 0)
		answered(c, along);
	if (is == NCS_NEW) {
		keep(c, m, ncs_pkt_no(p));
		ncs_rx_freed(c->rx, 1);
	} else {
		refused(c, is, m);
	}
	advance(c);
	ncs_pool_turn(c);
}

struct xk_msg *ncs_data_good(struct ncs_conn *c, struct xk_msg *m)
{
	struct ncs_hdr h;

	return good(c, m, &h);
}

struct xk_msg *ncs_data_passes(struct ncs_conn *c, struct xk_msg *m)
{
	struct ncs_pkt p = pkt_of(m);

	return passes(c, m, &p);
}

void ncs_data_wanted(struct ncs_conn *c, struct xk_msg *m)
{
	struct ncs_pkt p = pkt_of(m);

	wanted(c, m, &p, 0);
}

void ncs_data_in(struct ncs_conn *c, struct xk_msg *m)
{
	struct ncs_sess *peer = c->peer;
	struct ncs_hdr h;

	if (c->stages != NULL) {
		seams_of(c)->receive(c, m);
		return;
	}
	m = good(c, m, &h);
	if (m == NULL)
		return;
	ncs_peer_enter(peer);
	ncs_conn_enter(c);
	c->owes = ncs_goes_along(c);
	if (c->owes)
		ncs_along_hold(c, h.p.flags);
	m = passes(c, m, &h.p);
	if (m != NULL) {
		c->last_tx = h.p.tx;
		c->receiving = true;
		wanted(c, m, &h.p, h.along);
		c->receiving = false;
	}
	ncs_turn(c);
	if (c->owes)
		ncs_along_later(c);
	ncs_conn_leave(c);
	ncs_peer_leave(peer);
}
