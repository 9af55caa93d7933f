/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs_world.c - runs all that can happen to the first packets of a connection; see ncs_world.h.
 *
 * Numbers begin shortly before they begin anew.  A world that was seen is known by 64 bits of a hash
 * of its bytes.
 * Invariant: packets under way are sorted by arrival, those of one moment as they left.
 */
#include "tests/protocols/ncs_world.h"

#include <stdlib.h>
#include <string.h>

#define WAY        (WORLD_RTT / 2)
#define AGAIN      60u                   /* the second copy comes that much later */
#define STEPS_MOST 600u
#define UNDER_WAY  48u
#define BLOCK      640u                  /* bytes of a half */
#define SENT_MOST  256u                  /* transmissions */

enum kind { DATA, ACK, CREDIT, QUERY };

struct packet {
	xk_ns    at;
	uint32_t tx, message, sdu, last;         /* ACK: base, echo_no, echo_tx, depth; else tx is the value */
	uint8_t  kind, flags, gap, bits, nbits;  /* bits: of the first eight SDUs from base on */
};

struct world {
	unsigned steps;
	uint64_t tx[BLOCK / 8], rx[BLOCK / 8];
	struct packet way[UNDER_WAY], out[UNDER_WAY];  /* out: about to leave */
	/* What is before: as much as there is of it is compared.  From here on: all. */
	xk_ns    now;
	uint8_t  nway, nout, left;       /* left: packets that have left, up to fates */
	uint8_t  kept;                   /* SDUs that were taken, by bit */
	uint8_t  held;                   /* of them, in buffers */
	uint8_t  next_message;           /* the first one that may still be delivered */
	uint8_t  delivered;              /* messages, by bit */
	/* What an observer knows: transmissions that have arrived or were given up, of those sent. */
	uint32_t sent;
	uint64_t over[SENT_MOST / 64];
};

static struct {
	uint64_t *key;
	size_t    size, n;
} seen;

static const struct world_case *the;
static struct world_found *found;

static struct ncs_tx *tx_of(struct world *w) { return (struct ncs_tx *)w->tx; }
static struct ncs_rx *rx_of(struct world *w) { return (struct ncs_rx *)w->rx; }

/* ---- worlds that were seen --------------------------------------------------------------- */

static uint64_t hash(uint64_t h, const void *p, size_t bytes)
{
	const uint64_t *v = p;

	for (size_t i = 0; i < bytes / 8; i++) {
		h = (h ^ v[i]) * 0xff51afd7ed558ccdu;
		h ^= h >> 32;
	}
	return h;
}

static uint64_t hash_of(const struct world *w)
{
	uint64_t h = hash(0x9e3779b97f4a7c15u, &w->now, sizeof *w - offsetof(struct world, now));

	h = hash(h, w->tx, ncs_tx_size(&the->choice));
	h = hash(h, w->rx, ncs_rx_size(&the->choice));
	h = hash(h, w->way, w->nway * sizeof w->way[0]);
	h = hash(h, w->out, w->nout * sizeof w->out[0]);
	return h != 0 ? h : 1;
}

static void put(uint64_t k)
{
	size_t i = k & (seen.size - 1);

	while (seen.key[i] != 0)
		i = (i + 1) & (seen.size - 1);
	seen.key[i] = k;
}

static void grow(void)
{
	uint64_t *old = seen.key;
	size_t n = seen.size;

	seen.size = n != 0 ? n * 2 : 1u << 14;
	seen.key = calloc(seen.size, sizeof *seen.key);
	if (seen.key == NULL)
		abort();
	for (size_t i = 0; i < n; i++)
		if (old[i] != 0)
			put(old[i]);
	free(old);
}

/* Is it one that was not seen?  It is now. */
static bool is_new(const struct world *w)
{
	uint64_t k = hash_of(w);

	if (seen.n * 2 >= seen.size)
		grow();
	for (size_t i = k & (seen.size - 1); seen.key[i] != 0; i = (i + 1) & (seen.size - 1))
		if (seen.key[i] == k)
			return false;
	put(k);
	seen.n++;
	return true;
}

/* ---- the channels --------------------------------------------------------------------------- */

static struct packet *leave(struct world *w, enum kind kind)
{
	struct packet *p = &w->out[w->nout++];

	if (w->nout > UNDER_WAY)
		abort();
	memset(p, 0, sizeof *p);
	p->kind = (uint8_t)kind;
	return p;
}

static void arrive_at(struct world *w, const struct packet *p, xk_ns at)
{
	unsigned i = w->nway++;

	if (w->nway > UNDER_WAY)
		abort();
	for (; i > 0 && w->way[i - 1].at > at; i--)
		w->way[i] = w->way[i - 1];
	w->way[i] = *p;
	w->way[i].at = at;
}

static void meet(struct world *w, const struct packet *p, unsigned fate)
{
	if (fate == WORLD_LATE)
		arrive_at(w, p, w->now + WAY + the->late);
	else if (fate != WORLD_LOSE)
		arrive_at(w, p, w->now + WAY);
	if (fate == WORLD_DOUBLE)
		arrive_at(w, p, w->now + WAY + AGAIN);
}

/* Takes the first of n away. */
static struct packet take(struct packet *list, uint8_t *n)
{
	struct packet p = list[0];

	memmove(list, list + 1, --*n * sizeof *list);
	memset(&list[*n], 0, sizeof *list);
	return p;
}

/* ---- the sender -------------------------------------------------------------------------- */

static uint32_t start(void) { return the->choice.agreed.start; }

static void place(uint32_t no, struct packet *p)
{
	uint32_t first = start();

	for (unsigned i = 0; i < the->messages; first += the->size[i++]) {
		if (no - first < the->size[i]) {
			p->message = first;
			p->sdu = no - first;
			p->last = the->size[i] - 1u;
			return;
		}
	}
	abort();                                 /* an SDU that is not there */
}

static void now_over(struct world *w, uint32_t n)
{
	if (n < SENT_MOST)
		w->over[n / 64] |= UINT64_C(1) << (n & 63);
}

/* Transmissions under way, as nobody but an observer can know. */
static void watch_window(struct world *w)
{
	uint32_t over = 0;

	for (unsigned i = 0; i < SENT_MOST / 64; i++)
		over += (uint32_t)__builtin_popcountll(w->over[i]);
	if (++w->sent - over > the->window && the->window != 0 && w->sent < SENT_MOST)
		found->beyond++;
}

static void send_all(struct world *w)
{
	uint32_t no;

	while (ncs_tx_next(tx_of(w), w->now, &no)) {
		struct packet *p = leave(w, DATA);
		struct ncs_mark m = ncs_tx_sent(tx_of(w), no, the->choice.agreed.sdu, w->now);

		place(no, p);
		p->tx = m.tx;
		p->flags = m.flags;
		watch_window(w);
	}
}

/* ---- the receiver ------------------------------------------------------------------------- */

static void say(struct world *w)
{
	struct ncs_ack a;
	uint32_t value;

	if (ncs_rx_credit(rx_of(w), &value))
		leave(w, CREDIT)->tx = value;
	if (ncs_rx_ack(rx_of(w), &a)) {
		struct packet *p = leave(w, ACK);

		p->tx = a.base;
		p->message = a.echo_no;
		p->sdu = a.echo_tx;
		p->last = a.depth;
		p->gap = a.gap;
		p->nbits = (uint8_t)(a.nbits != 0 ? 64 : 0);
		p->bits = a.nbits != 0 ? (uint8_t)a.bit[0] : 0;
	}
}

static uint8_t mask_of(uint32_t first, unsigned n)
{
	return (uint8_t)(((1u << n) - 1) << (first - start()));
}

static void give_back(struct world *w, uint8_t mask)
{
	unsigned n = (unsigned)__builtin_popcount(w->held & mask);

	if (n != 0)
		ncs_rx_freed(rx_of(w), n);
	w->held &= (uint8_t)~mask;
}

static void over(struct world *w, unsigned i, uint8_t mask)
{
	w->next_message = (uint8_t)(i + 1);
	if ((w->kept & mask) == mask) {
		w->delivered |= (uint8_t)(1u << i);
		return;
	}
	give_back(w, mask);
	if (the->choice.error->sure)
		found->wrong++;                  /* it is said to be over, and is not whole */
}

/* Messages that end below base are over.  From when the application asks on, nothing waits in buffers. */
static void deliver(struct world *w)
{
	uint32_t first = start(), base = ncs_rx_base(rx_of(w));

	for (unsigned i = 0; i < the->messages; first += the->size[i++])
		if (i >= w->next_message && ncs_leq(first + the->size[i], base))
			over(w, i, mask_of(first, the->size[i]));
	if (w->now >= the->posted)
		give_back(w, UINT8_MAX);
}

static void keep(struct world *w, uint32_t no)
{
	uint8_t bit = mask_of(no, 1);

	if (w->kept & bit)
		found->wrong++;                  /* it was taken before */
	w->kept |= bit;
	w->held |= bit;
	if (the->buffers != 0 && (unsigned)__builtin_popcount(w->held) > the->buffers)
		found->overruns++;
}

static void data(struct world *w, const struct packet *p)
{
	struct ncs_pkt k = { p->tx, p->message, p->sdu, p->last, p->flags };

	now_over(w, p->tx - start());
	for (uint32_t n = 0; the->depth != 0 && n + the->depth < p->tx - start(); n++)
		now_over(w, n);
	if (ncs_rx_arrived(rx_of(w), &k) == NCS_NEW)
		keep(w, ncs_pkt_no(&k));
	deliver(w);
	say(w);
}

static void queried(struct world *w, uint32_t value)
{
	for (uint32_t n = 0; n < value - start(); n++)
		now_over(w, n);
	ncs_rx_queried(rx_of(w), value);
	say(w);
}

/* ---- one step --------------------------------------------------------------------------------- */

static void ack(struct world *w, const struct packet *p)
{
	struct ncs_ack a = { .base = p->tx, .echo_no = p->message, .echo_tx = p->sdu, .depth = (uint16_t)p->last,
			     .gap = p->gap, .nbits = p->nbits, .bit = { p->bits } };

	if (!ncs_tx_ack(tx_of(w), &a, w->now))
		found->wrong++;                  /* an honest one is refused */
}

static void happen(struct world *w, const struct packet *p)
{
	switch ((enum kind)p->kind) {
	case DATA:   data(w, p); break;
	case ACK:    ack(w, p); break;
	case CREDIT: ncs_tx_credit(tx_of(w), p->tx, w->now); break;
	case QUERY:  queried(w, p->tx); break;
	}
}

static bool step(struct world *w)
{
	xk_ns t = ncs_tx_when(tx_of(w), w->now), post = w->now < the->posted ? the->posted : XK_NS_NEVER;
	uint32_t value;

	if (w->nway != 0 && w->way[0].at <= t && w->way[0].at < post) {
		struct packet p = take(w->way, &w->nway);

		w->now = p.at;
		happen(w, &p);
	} else if (post <= t && post != XK_NS_NEVER) {
		w->now = post;
		deliver(w);
		say(w);
	} else if (t != XK_NS_NEVER) {
		w->now = t > w->now ? t : w->now;
		if (ncs_tx_time(tx_of(w), w->now, &value))
			leave(w, QUERY)->tx = value;
	} else {
		return false;
	}
	send_all(w);
	return true;
}

/* ---- all of them ------------------------------------------------------------------------------- */

static void judge(struct world *w)
{
	uint32_t all = 0, no;

	for (unsigned i = 0; i < the->messages; all += the->size[i++]) {
		uint8_t mask = mask_of(start() + all, the->size[i]);

		if (i >= w->next_message && (w->kept & mask) == mask)
			found->wrong++;          /* it is whole, and nobody gets it */
	}
	found->ends++;
	if (ncs_tx_done(tx_of(w)) != start() + all || ncs_tx_next(tx_of(w), w->now, &no))
		found->stuck++;
	if (the->choice.error->sure && w->delivered != (1u << the->messages) - 1)
		found->wrong++;
}

static void explore(struct world *w);

/* The first of those about to leave does, with each fate. */
static void fork_off(struct world *w)
{
	struct packet p = take(w->out, &w->nout);

	w->left++;
	for (unsigned f = 0; f < WORLD_FATES; f++) {
		struct world next = *w;

		meet(&next, &p, f);
		explore(&next);
	}
}

static void explore(struct world *w)
{
	for (;;) {
		while (w->nout != 0 && w->left == the->fates) {
			struct packet p = take(w->out, &w->nout);

			meet(w, &p, WORLD_DELIVER);
		}
		if (!is_new(w))
			return;
		if (w->nout != 0) {
			fork_off(w);
			return;
		}
		if (++w->steps > found->most_steps)
			found->most_steps = w->steps;
		if (w->steps > STEPS_MOST) {
			found->stuck++;
			return;
		}
		if (!step(w)) {
			judge(w);
			return;
		}
	}
}

void world_explore(const struct world_case *c, struct world_found *f)
{
	static struct world w;
	uint32_t all = 0;

	the = c;
	found = f;
	memset(&w, 0, sizeof w);
	if (ncs_tx_size(&c->choice) > BLOCK || ncs_rx_size(&c->choice) > BLOCK)
		abort();
	ncs_tx_init(tx_of(&w), &c->choice, WORLD_RTT, 2, 0);
	ncs_rx_init(rx_of(&w), &c->choice);
	for (unsigned i = 0; i < c->messages; i++)
		all += c->size[i];
	ncs_tx_add(tx_of(&w), all);
	send_all(&w);
	explore(&w);
	f->states += seen.n;
	free(seen.key);
	memset(&seen, 0, sizeof seen);
}
