/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs_stream.c - a stream as an interface: SDUs and records with their lengths before them; and what says how much it
 * takes, as some ports do, too.
 *
 * What keeps no boundaries (XK_GIVES_BOUNDARIES; tcp, hosttcp) has one connection of ncs on each of its
 * own.  Its control session and its data session stand over the same one: a passive stream comes up on
 * the virtual processor that was chosen below, so two of them would meet on two.  Before each SDU and
 * each gathering of records is a word of 32 bits: the length, and the highest bit for records.
 * Who says a length that nobody sends has lost its place in the stream: that ends.
 * Invariant: `part` holds `part_left` bytes less than what the last word announced; nothing is pushed
 * where there is no room.
 */
#include "protocols/ncs/ncs_priv.h"

#include "runtime/base/xk_bytes.h"
#include "runtime/msg/xk_msg_inline.h"
#include "runtime/upi/xk_gives.h"
#include "runtime/upi/xk_stream.h"

#define RECORDS 0x80000000u
#define SDU_MOST (65507u + 4)            /* header and sum, too: what a datagram carries at most */

static uint32_t ask(struct xk_sess *lls, unsigned op)
{
	uint32_t v = 0;

	return xk_sess_control(lls, op, &v, sizeof v) == (int)sizeof v ? v : 0;
}

bool ncs_is_shared(struct xk_rep *over)
{
	uint32_t gives;

	return xk_control(over, XK_CTL_GIVES, &gives, sizeof gives) == (int)sizeof gives && (gives & XK_GIVES_SHARED) != 0;
}

bool ncs_is_stream(struct xk_rep *over)
{
	uint32_t gives;

	return xk_control(over, XK_CTL_GIVES, &gives, sizeof gives) == (int)sizeof gives && !(gives & XK_GIVES_BOUNDARIES);
}

bool ncs_is_sure(struct xk_rep *over)
{
	const uint32_t wants = XK_GIVES_BOUNDARIES | XK_GIVES_ORDER | XK_GIVES_RELIABLE;
	uint32_t gives;

	return xk_control(over, XK_CTL_GIVES, &gives, sizeof gives) == (int)sizeof gives && (gives & wants) == wants;
}

bool ncs_room(const struct ncs_sess *p)
{
	return !p->peer.stream || (!p->peer.over && ask(p->s.down, XK_STREAM_ROOM) != 0);
}

bool ncs_may_leave(const struct ncs_conn *c) { return !c->stopped && ncs_room(c->peer); }

#define ASK_AFTER 65536u

/* An answer takes longer than a short SDU: it holds for some of them. */
void ncs_has_left(struct ncs_conn *c, uint32_t n)
{
	uint32_t room;

	c->unasked += n + NCS_HDR_LEN;
	if (!c->paced || c->unasked < ASK_AFTER)
		return;
	c->unasked = 0;
	room = 1;                                /* where it cannot say */
	(void)xk_sess_control(c->sess->s.down, XK_STREAM_ROOM, &room, sizeof room);
	c->stopped = room == 0;
}

void ncs_lower(struct ncs_sess *p, struct xk_msg *m, bool records)
{
	uint32_t n = m->tot;
	uint8_t *b = xk_msg_push(&m, NCS_WORD);

	if (b == NULL) {
		xk_drop(p->s.rep, XK_DROP_NOMEM, m);
		return;
	}
	xk_put_be32(b, n | (records ? RECORDS : 0));
	xk_push(p->s.down, m);
}

void ncs_append(struct xk_msg **first, struct xk_msg **last, struct xk_msg *m)
{
	if (*first != NULL) {
		(*last)->next = m;
		(*last)->flags |= XK_MSG_CHAIN;
		(*first)->tot += m->tot;
	} else {
		*first = m;
	}
	while (m->next != NULL)
		m = m->next;
	*last = m;
}

/* ---- up -------------------------------------------------------------------------------------------- */

/* m's first n bytes go to a chain that ends with p->peer.part_last; the rest, or NULL. */
static struct xk_msg *gather(struct ncs_peer *p, struct xk_msg *m, uint32_t n, bool *fine)
{
	struct xk_msg *rest = NULL;

	*fine = true;
	if (n < m->tot) {
		rest = xk_msg_split(m, n);
		*fine = rest != NULL;
	}
	p->part_left -= n < m->tot ? n : m->tot;
	ncs_append(&p->part, &p->part_last, m);
	return rest;
}

/* Bytes of the word that stands before each piece; false: no length. */
static bool word(struct ncs_peer *p, struct xk_msg *m)
{
	uint32_t n = NCS_WORD - p->nword < m->tot ? NCS_WORD - p->nword : m->tot, w;

	xk_msg_copy_out(m, 0, p->word + p->nword, n);
	p->nword = (uint8_t)(p->nword + n);
	if (p->nword < NCS_WORD)
		return true;
	w = xk_be32(p->word);
	p->records = (w & RECORDS) != 0;
	p->part_left = w & ~RECORDS;
	return p->part_left != 0 && p->part_left <= (p->records ? NCS_REC_LEN + NCS_SUM_LEN + NCS_CTL_MOST : SDU_MOST);
}

/* Drops the first n bytes of m; the rest, or NULL: nothing is left, or no memory. */
static struct xk_msg *behind(struct xk_msg *m, uint32_t n, bool *fine)
{
	struct xk_msg *rest = NULL;

	*fine = true;
	if (m->len > n) {
		xk_msg_pop(m, n);
		return m;
	}
	if (m->tot > n) {
		rest = xk_msg_split(m, n);
		*fine = rest != NULL;
	}
	xk_msg_free(m);
	return rest;
}

enum ncs_piece ncs_stream_piece(struct ncs_peer *p, struct xk_msg **m, struct xk_msg **piece)
{
	bool fine = true;

	while (*m != NULL && fine) {
		uint32_t had = p->nword;

		if (p->nword < NCS_WORD) {
			if (!word(p, *m))
				return NCS_PIECE_BAD;
			*m = behind(*m, p->nword - had, &fine);
			continue;
		}
		*m = gather(p, *m, p->part_left, &fine);
		if (fine && p->part_left == 0) {
			*piece = p->part;
			p->part = NULL;
			p->nword = 0;
			return NCS_PIECE_WHOLE;
		}
	}
	return fine ? NCS_PIECE_MORE : NCS_PIECE_NOMEM;
}
