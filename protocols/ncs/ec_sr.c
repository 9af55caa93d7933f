/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ec_sr.c - selective repeat: the receiver says by bits which SDUs have come, the sender repeats the others.
 *
 * The bits are of the paper's figure 5, for all messages under way at once.  An acknowledgement
 * names the transmission that made it be said.  What was sent before that and has not come is lost
 * once it was overtaken by more transmissions than the network has been seen to exchange, or by an
 * older one for longer than a round trip takes (RFC 8985's two rules).  Two round trips
 * of silence repeat the first missing SDU as a probe; its answer tells about all the others.  Once
 * something was lost no more is under way than fills the line (ncs_pipe.c).  The
 * transmission's number says which one is answered, so repeated SDUs give round trips, too.
 * Invariant: slots from base to next - 1 say for each SDU: under way, come, or lost and to be
 * repeated; `lost` counts the last kind.
 */
#include "protocols/ncs/ncs_policy.h"

#include <string.h>

enum { UNDER_WAY, COME, LOST };

#define DEPTH_LEAST 2u                   /* overtaken by three: lost */

struct sr_slot { xk_ns at; uint32_t tx; uint8_t is; };

struct sr_tx {
	uint32_t base, next, end;        /* not acknowledged, never sent, not there */
	uint32_t window;
	uint32_t lost, under_way;        /* SDUs of that kind */
	uint32_t high_tx;                /* the latest transmission that was answered */
	uint32_t depth;
	uint32_t vain;                   /* probes since something was acknowledged */
	bool     answered;               /* high_tx is one */
	struct ncs_pipe pipe;
	xk_ns    since;                  /* of the last thing that happened */
	struct sr_slot slot[];           /* window of them, by number modulo window */
};

struct sr_rx {
	struct ncs_seen seen;
	uint32_t        window, unsaid;
	uint32_t        echo_no, echo_tx;
	uint32_t        high_tx;         /* the highest that has arrived */
	uint32_t        depth;
	bool            any, due, gap;
};

/* ---- the sender -------------------------------------------------------------------------- */

/* Of a power of two; a division would take longer than all else. */
static uint32_t place(const struct sr_tx *s, uint32_t no) { return no & (s->window - 1); }
static struct sr_slot *slot_of(struct sr_tx *s, uint32_t no) { return &s->slot[place(s, no)]; }

/* The window divides 2^32, so that a number's slot stays where it is when numbers begin anew. */
static uint32_t power(uint32_t n)
{
	while (n & (n - 1))
		n &= n - 1;
	return n;
}

static void tx_init(void *st, const struct ncs_agreed *a)
{
	struct sr_tx *s = st;

	memset(s, 0, sizeof *s);
	s->window = power(a->error_window);
	s->depth = DEPTH_LEAST;
	ncs_pipe_init(&s->pipe, a, s->window);
	s->base = s->next = s->end = a->start;
	memset(s->slot, 0, s->window * sizeof s->slot[0]);
}

static void add(void *st, uint32_t n)
{
	((struct sr_tx *)st)->end += n;
}

static bool next(const void *st, uint32_t *no)
{
	const struct sr_tx *s = st;

	if (s->lost == 0) {
		*no = s->next;
		return s->next != s->end && s->next - s->base < s->window &&
		       ncs_pipe_may(&s->pipe, s->next - s->base, s->under_way);
	}
	for (*no = s->base; s->slot[place(s, *no)].is != LOST; ++*no)
		;
	return true;
}

static uint8_t sent(void *st, uint32_t no, uint32_t tx, xk_ns now)
{
	struct sr_tx *s = st;
	bool again = no != s->next;

	if (again)
		s->lost--;
	else
		s->next++;
	s->under_way++;
	*slot_of(s, no) = (struct sr_slot){ now, tx, UNDER_WAY };
	s->since = now;
	return (uint8_t)((again ? NCS_REPEAT : 0) | (ncs_pipe_asks(&s->pipe, tx) ? NCS_ASK : 0));
}

/* It has come; was that not known? */
static bool come(struct sr_tx *s, uint32_t no)
{
	struct sr_slot *k = slot_of(s, no);
	bool news = k->is != COME;

	s->lost -= k->is == LOST;
	s->under_way -= k->is == UNDER_WAY;
	k->is = COME;
	return news;
}

/* A round trip, and how far the answers are. */
static void echo(struct sr_tx *s, const struct ncs_ack *a, uint32_t tx, struct ncs_rtt *rtt, xk_ns now)
{
	const struct sr_slot *k = slot_of(s, a->echo_no);

	if (a->echo_no - s->base < s->next - s->base && k->is != COME && k->tx == a->echo_tx) {
		ncs_rtt_sample(rtt, now - k->at);
		ncs_pipe_sample(&s->pipe, now - k->at, s->under_way, a->echo_tx, tx);
	}
	if (!s->answered || ncs_lt(s->high_tx, a->echo_tx))
		s->high_tx = a->echo_tx;
	s->answered = true;
	if (a->depth > s->depth)
		s->depth = a->depth < s->window ? a->depth : s->window;
}

static bool bits(struct sr_tx *s, const struct ncs_ack *a)
{
	bool news = false;

	for (uint32_t i = 0; i < a->nbits; i++) {
		uint32_t no = a->base + i;

		if (no - s->base < s->next - s->base && (a->bit[i / 64] >> (i & 63) & 1) != 0)
			news |= come(s, no);
	}
	return news;
}

/* Something sent later was answered: how long this one may still take. */
static xk_ns patience(const struct ncs_rtt *rtt)
{
	return rtt->mean + rtt->mean / 4;
}

static void find_lost(struct sr_tx *s, const struct ncs_rtt *rtt, xk_ns now)
{
	for (uint32_t no = s->base; no != s->next; no++) {
		struct sr_slot *k = slot_of(s, no);

		if (k->is != UNDER_WAY || !ncs_lt(k->tx, s->high_tx))
			continue;
		if (s->high_tx - k->tx > s->depth || now - k->at >= patience(rtt)) {
			k->is = LOST;
			s->lost++;
			s->under_way--;
		}
	}
}

static bool heard(void *st, const struct ncs_ack *a, uint32_t tx, struct ncs_rtt *rtt, xk_ns now)
{
	struct sr_tx *s = st;
	bool news = false;

	if (!ncs_lt(a->echo_tx, tx) || ncs_lt(s->next, a->base) || a->nbits > NCS_BITS_MAX)
		return false;
	echo(s, a, tx, rtt, now);
	for (; ncs_lt(s->base, a->base); s->base++)
		news |= come(s, s->base);
	news |= bits(s, a);
	for (; s->base != s->next && slot_of(s, s->base)->is == COME; s->base++)
		;
	if (news) {
		s->vain = 0;
		s->since = now;
	}
	if (s->base != s->next)
		find_lost(s, rtt, now);
	if (s->lost != 0)
		ncs_pipe_begin(&s->pipe, s->under_way, tx);
	return true;
}

/* Nothing is under way that could be waited for: NEVER. */
static xk_ns when(const void *st, const struct ncs_rtt *rtt)
{
	const struct sr_tx *s = st;
	const struct sr_slot *k = &s->slot[place(s, s->base)];
	xk_ns t;

	if (s->base == s->next || k->is != UNDER_WAY)
		return XK_NS_NEVER;
	if (s->answered && ncs_lt(k->tx, s->high_tx))
		return k->at + patience(rtt);
	t = s->vain == 0 ? ncs_rtt_probe(rtt, 0) : ncs_rtt_timeout(rtt, s->vain - 1);
	return s->since + t;
}

static void at(void *st, const struct ncs_rtt *rtt, xk_ns now)
{
	struct sr_tx *s = st;

	if (now < when(st, rtt))
		return;
	find_lost(s, rtt, now);
	if (s->lost != 0)
		return;
	s->vain++;
	s->since = now;
	slot_of(s, s->base)->is = LOST;
	s->lost++;
	s->under_way--;
}

static uint32_t done(const void *st) { return ((const struct sr_tx *)st)->base; }
static uint32_t under_way(const void *st) { return ((const struct sr_tx *)st)->under_way; }

/* ---- the receiver ----------------------------------------------------------------------- */

static void rx_init(void *st, const struct ncs_agreed *a)
{
	struct sr_rx *s = st;

	memset(s, 0, sizeof *s);
	s->window = a->error_window;
	ncs_seen_init(&s->seen, a->start);
}

/* How many transmissions with higher numbers came before this one. */
static void overtaken(struct sr_rx *s, uint32_t tx)
{
	if (!s->any || ncs_lt(s->high_tx, tx))
		s->high_tx = tx;
	else if (s->high_tx - tx > s->depth)
		s->depth = s->high_tx - tx < NCS_WINDOW_MAX ? s->high_tx - tx : NCS_WINDOW_MAX;
	s->any = true;
}

static enum ncs_verdict arrived(void *st, const struct ncs_pkt *p)
{
	struct sr_rx *s = st;
	uint32_t no = ncs_pkt_no(p);
	enum ncs_verdict is = NCS_NEW;

	overtaken(s, p->tx);
	s->echo_no = no;
	s->echo_tx = p->tx;
	s->gap = ncs_lt(s->seen.base, no);
	if (ncs_seen_has(&s->seen, no))
		is = NCS_DOUBLE;
	else if (no - s->seen.base >= NCS_WINDOW_MAX)
		return NCS_BEYOND;
	else
		ncs_seen_add(&s->seen, no);
	s->unsaid += is == NCS_NEW;
	s->due |= is != NCS_NEW || s->seen.above != 0 || (p->flags & (NCS_ASK | NCS_REPEAT)) != 0 ||
		  s->unsaid >= (s->window + 3) / 4;
	return is;
}

static uint32_t base(const void *st) { return ((const struct sr_rx *)st)->seen.base; }

static bool report(void *st, struct ncs_ack *a)
{
	struct sr_rx *s = st;
	uint32_t n = s->seen.above != 0 ? s->seen.end - s->seen.base : 0;

	if (!s->due)
		return false;
	s->due = false;
	s->unsaid = 0;
	a->base = s->seen.base;
	a->echo_no = s->echo_no;
	a->echo_tx = s->echo_tx;
	a->gap = s->gap;
	a->depth = (uint16_t)s->depth;
	a->nbits = (uint16_t)((n + 63) / 64 * 64);
	memset(a->bit, 0, a->nbits / 8);
	for (uint32_t i = 0; i < n; i++)
		if (ncs_seen_has(&s->seen, a->base + i))
			a->bit[i / 64] |= UINT64_C(1) << (i & 63);
	return true;
}

const struct ncs_error_ops ncs_ec_sr = {
	.name = "selective_repeat", .sure = true, .tx_size = sizeof(struct sr_tx), .rx_size = sizeof(struct sr_rx),
	.tx_slot = sizeof(struct sr_slot),
	.tx_init = tx_init, .add = add, .next = next, .sent = sent, .heard = heard, .when = when,
	.time = at, .done = done, .under_way = under_way,
	.rx_init = rx_init, .arrived = arrived, .base = base, .report = report,
};
