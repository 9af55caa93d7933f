/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ip_reass.c - datagrams being put together from their fragments (RFC 791,
 * RFC 815, RFC 1858, RFC 5722's rule about overlaps).
 *
 * A datagram keeps one bit for every eight bytes that it has, so whether a
 * fragment overlaps is seen in at most 128 words; its fragments hang in a
 * digital search tree by offset, at most 13 deep, so a duplicate is found and
 * the pieces are joined in order without sorting anything.  Buffers are joined,
 * never copied.  Any overlap that is not an exact duplicate condemns the whole
 * datagram: it keeps its place without its fragments, so that latecomers are
 * recognised, until its time is over.
 *
 * Memory is counted in buffers and records held, not in offsets.  The graph's
 * cap is a credit from which VPs take shares of 16 KiB; a VP that gets none
 * gives up its own oldest datagram first.
 *
 *   node's credit:   taken and returned by any VP with one locked addition
 *   everything else: the owner VP only
 *
 * Invariant: held <= credit of this VP; sum of credits <= reass_bytes; the list
 * is in order of deadline.
 */
#include "protocols/ip/ip_priv.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/base/xk_siphash.h"
#include "runtime/upi/xk_secret.h"
#include "runtime/upi/xk_vps.h"
#include "runtime/vp/xk_task.h"

#define CREDIT_STEP  (16 * 1024)
#define UNITS        8192u                /* of 8 bytes */
#define MIN_PER_VP   4u

struct frag {
	struct frag   *kid[2];
	struct xk_msg *m;                 /* payload; the first one's header too */
	uint16_t       unit;              /* offset / 8 */
	uint16_t       len;               /* payload bytes */
	uint32_t       cost;
};

struct ip_dgram {
	struct xk_mapnode map;
	struct xk_listed  age;
	struct frag      *root;
	xk_ns             deadline;
	uint32_t          got;            /* payload bytes */
	uint32_t          end;            /* payload length, 0: not known yet */
	uint32_t          top;            /* end of the farthest fragment */
	uint32_t          cost;           /* bytes charged, this record included */
	uint8_t           hlen;           /* of the first fragment, 0: not here yet */
	uint8_t           source;         /* slot in the table of sources */
	bool              dead;
	uint64_t          have[UNITS / 64];
};

/* ---- memory ---------------------------------------------------------------------- */

static bool credit_take(struct ip_reass *ra, struct ip_node *in, int64_t n)
{
	int64_t want = (n + CREDIT_STEP - 1) / CREDIT_STEP * CREDIT_STEP, left;

	if (ra->held + n <= ra->credit)
		return true;
	left = xk_load_relaxed(&in->credit);
	if (want > left)
		want = ra->held + n - ra->credit;     /* the last crumbs */
	do {
		if (left < want)
			return false;
	} while (!xk_atomic_cas(&in->credit, &left, left - want));
	ra->credit += want;
	return true;
}

/* Keeps a step at hand, so that a steady stream of fragments does not return
 * and take it again for each datagram; nothing when nothing is held. */
static void credit_trim(struct ip_reass *ra, struct ip_node *in)
{
	int64_t spare = ra->credit - ra->held - (ra->n != 0 ? CREDIT_STEP : 0);

	if (spare <= 0 || (ra->n != 0 && spare < CREDIT_STEP))
		return;
	ra->credit -= spare;
	(void)xk_atomic_add(&in->credit, spare);
}

static uint32_t msg_cost(const struct xk_msg *m)
{
	uint32_t cost = (uint32_t)((sizeof(struct frag) + XK_CACHELINE - 1) & ~(size_t)(XK_CACHELINE - 1));

	for (; m != NULL; m = (m->flags & XK_MSG_CHAIN) ? m->next : NULL)
		cost += xk_mem_size[m->cls];
	return cost;
}

/* ---- fragments of a datagram ------------------------------------------------------- */

/* Where the fragment at `unit` hangs, or would. */
static struct frag **frag_slot(struct ip_dgram *d, uint32_t unit)
{
	struct frag **at = &d->root;

	for (int bit = 12; *at != NULL && (*at)->unit != unit; bit--)
		at = &(*at)->kid[unit >> bit & 1];
	return at;
}

static uint64_t span(uint32_t from, uint32_t to)     /* bits [from, to) of a word */
{
	return (to == 64 ? ~(uint64_t)0 : ((uint64_t)1 << to) - 1) & ~(uint64_t)0 << from;
}

/* Any of the units [a, b) there already?  Sets them when none is. */
static bool overlaps(struct ip_dgram *d, uint32_t a, uint32_t b)
{
	for (uint32_t w = a / 64; w <= (b - 1) / 64; w++)
		if (d->have[w] & span(w == a / 64 ? a % 64 : 0, w == (b - 1) / 64 ? (b - 1) % 64 + 1 : 64))
			return true;
	for (uint32_t w = a / 64; w <= (b - 1) / 64; w++)
		d->have[w] |= span(w == a / 64 ? a % 64 : 0, w == (b - 1) / 64 ? (b - 1) % 64 + 1 : 64);
	return false;
}

/* Same offset, same length, same bytes. */
static bool is_duplicate(struct ip_dgram *d, uint32_t unit, const struct xk_msg *m, uint32_t skip)
{
	struct frag *f = *frag_slot(d, unit);
	uint8_t a[256], b[256];
	uint32_t len = m->tot - skip, fskip;

	if (f == NULL || f->len != len)
		return false;
	fskip = f->m->tot - f->len;
	for (uint32_t at = 0; at < len;) {
		uint32_t n = len - at < sizeof a ? len - at : (uint32_t)sizeof a;

		xk_msg_copy_out(m, skip + at, a, n);
		xk_msg_copy_out(f->m, fskip + at, b, n);
		if (memcmp(a, b, n) != 0)
			return false;
		at += n;
	}
	return true;
}

/* ---- datagrams ------------------------------------------------------------------------ */

/* NULL: there is none. */
static struct ip_dgram *oldest(const struct ip_reass *ra)
{
	struct xk_listed *i = xk_list_first(&ra->age);

	return i != NULL ? xk_container_of(i, struct ip_dgram, age) : NULL;
}

/* Frees the fragments below f, messages counted as dropped; f's subtree is at
 * most 13 deep. */
static void frags_free(struct xk_rep *r, struct frag *f, unsigned reason)
{
	if (f == NULL)
		return;
	frags_free(r, f->kid[0], reason);
	frags_free(r, f->kid[1], reason);
	if (f->m != NULL)
		xk_drop(r, reason, f->m);
	xk_slab_put(&ip_state(r)->reass.frags, f);
}

/* Takes the fragments away; the record stays. */
static void dgram_empty(struct xk_rep *r, struct ip_dgram *d, unsigned reason)
{
	struct ip_reass *ra = &ip_state(r)->reass;

	frags_free(r, d->root, reason);
	d->root = NULL;
	ra->held -= d->cost - sizeof *d;
	d->cost = sizeof *d;
	credit_trim(ra, r->node->state);
}

static void dgram_free(struct xk_rep *r, struct ip_dgram *d, unsigned reason)
{
	struct ip_reass *ra = &ip_state(r)->reass;

	frags_free(r, d->root, reason);
	xk_map_unbind(&ra->map, &d->map);
	xk_list_take(&d->age);
	ra->source[d->source]--;
	ra->n--;
	ra->held -= d->cost;
	xk_slab_put(&ra->dgrams, d);
	credit_trim(ra, r->node->state);
}

static void dgram_evict(struct xk_rep *r)
{
	xk_count(r->count[IP_COUNT_REASS_EVICTIONS]);
	dgram_free(r, oldest(&ip_state(r)->reass), IP_DROP_REASS_EVICTED);
}

/* Makes room for n bytes, at the cost of older datagrams, never of `not`. */
static bool make_room(struct xk_rep *r, int64_t n, const struct ip_dgram *not)
{
	struct ip_reass *ra = &ip_state(r)->reass;

	while (!credit_take(ra, r->node->state, n)) {
		if (oldest(ra) == NULL || oldest(ra) == not)
			return false;
		dgram_evict(r);
	}
	return true;
}

static uint8_t source_slot(const struct ip_reass *ra, uint32_t source)
{
	const uint64_t key[2] = { ra->salt, 0 };

	return (uint8_t)xk_siphash(key, source, 0);
}

static void dgram_key(const struct xk_msg *m, struct xk_key *k)
{
	k->w[0] = ip_net_pair(m->data);
	k->w[1] = (uint64_t)m->data[9] << 16 | xk_raw16(m->data + 4);
}

/* A new record for the datagram of fragment m, or NULL with the reason. */
static struct ip_dgram *dgram_new(struct xk_rep *r, const struct xk_key *k, uint32_t source,
				  unsigned *reason)
{
	struct ip_reass *ra = &ip_state(r)->reass;
	uint8_t slot = source_slot(ra, source);
	struct ip_dgram *d;

	*reason = IP_DROP_REASS_SOURCE;
	if (ra->source[slot] >= ra->per_source)
		return NULL;
	if (ra->n >= ra->max)
		dgram_evict(r);
	*reason = IP_DROP_REASS_FULL;
	if (!make_room(r, sizeof *d, NULL))
		return NULL;
	*reason = XK_DROP_NOMEM;
	d = xk_slab_get(&ra->dgrams);
	if (d == NULL)
		return NULL;
	d->map.key = *k;
	if (xk_map_bind(&ra->map, &d->map) != XK_OK) {
		xk_slab_put(&ra->dgrams, d);
		return NULL;
	}
	d->source = slot;
	d->deadline = xk_vp_now() + ((struct ip_conf *)r->conf)->reass_timeout;
	d->cost = sizeof *d;
	xk_list_put(&ra->age, &d->age);
	ra->source[slot]++;
	ra->n++;
	ra->held += sizeof *d;
	if (ra->n == 1)
		xk_timer_set(r->wheel, &ra->timer, d->deadline);
	return d;
}

/* RFC 1122 3.3.2: the sender hears of it only if the first fragment was here. */
static void dgram_expire(struct xk_rep *r, struct ip_dgram *d)
{
	struct frag *first = d->root != NULL ? *frag_slot(d, 0) : NULL;

	xk_count(r->count[IP_COUNT_REASS_TIMEOUTS]);
	if (first != NULL) {
		xk_msg_set_net(first->m, first->m->data);
		xk_msg_pop(first->m, d->hlen);
		ip_icmp_error(r, first->m, 11, 1, 0);
	}
	dgram_free(r, d, IP_DROP_REASS_TIMEOUT);
}

static void reass_timer(struct xk_timer *t)
{
	struct ip_reass *ra = xk_container_of(t, struct ip_reass, timer);
	struct xk_rep *r = ra->rep;

	while (oldest(ra) != NULL && oldest(ra)->deadline <= xk_vp_now())
		dgram_expire(r, oldest(ra));
	if (oldest(ra) != NULL)
		xk_timer_set(r->wheel, t, oldest(ra)->deadline);
}

/* ---- one fragment ------------------------------------------------------------------------ */

/* What can be said against a fragment before its datagram is known. */
static int frag_check(const struct ip_hdr *h, uint32_t at, uint32_t len)
{
	if (len == 0)
		return IP_DROP_FRAG_EMPTY;
	if ((h->fragment & IP_FLAG_MF) && len % 8 != 0)
		return IP_DROP_FRAG_UNEVEN;
	return at + len + h->hlen > IP_MAX_DATAGRAM ? IP_DROP_FRAG_LONG : IP_PASS;
}

/* Two ends, or bytes beyond the end: 0 when it agrees with what is known. */
static bool end_disagrees(struct ip_dgram *d, uint32_t to, bool last)
{
	if (last && ((d->end != 0 && d->end != to) || d->top > to))
		return true;
	if (d->end != 0 && to > d->end)
		return true;
	if (last)
		d->end = to;
	if (to > d->top)
		d->top = to;
	return false;
}

static void condemn(struct xk_rep *r, struct ip_dgram *d, struct xk_msg *m, unsigned reason)
{
	d->dead = true;
	xk_drop(r, reason, m);
	dgram_empty(r, d, reason);
}

/* Hangs m into d; true when it was taken in. */
static bool frag_add(struct xk_rep *r, struct ip_dgram *d, struct xk_msg *m, const struct ip_hdr *h)
{
	struct ip_reass *ra = &ip_state(r)->reass;
	uint32_t unit = h->fragment & IP_OFFSET_MASK, len = m->tot - h->hlen;
	uint32_t cost = msg_cost(m);
	struct frag *f;

	if (!make_room(r, cost, d)) {
		condemn(r, d, m, IP_DROP_REASS_FULL);
		return false;
	}
	f = xk_slab_get(&ra->frags);
	if (f == NULL) {
		condemn(r, d, m, XK_DROP_NOMEM);
		return false;
	}
	f->m = m;
	f->unit = (uint16_t)unit;
	f->len = (uint16_t)len;
	f->cost = cost;
	*frag_slot(d, unit) = f;
	d->cost += cost;
	ra->held += cost;
	d->got += len;
	if (unit == 0)
		d->hlen = h->hlen;
	else
		xk_msg_pop(m, h->hlen);
	return true;
}

/* ---- the whole ------------------------------------------------------------------------------ */

/* The pieces in order, last one first, linked: joined from the end, so that
 * no chain is walked more than once. */
static struct xk_msg *join(struct ip_dgram *d)
{
	struct xk_msg *stack = NULL, *m;

	for (uint32_t at = 0; at < d->end;) {
		struct frag *f = *frag_slot(d, at / 8);

		f->m->link = stack;
		stack = f->m;
		f->m = NULL;
		at += f->len;
	}
	m = stack;
	stack = m->link;
	while (stack != NULL) {
		struct xk_msg *before = stack;

		stack = before->link;
		xk_msg_join(before, m);
		m = before;
	}
	m->link = NULL;
	return m;
}

/* A header that says so; lent buffers are not written to. */
static struct xk_msg *whole_header(struct xk_rep *r, struct xk_msg *m, uint32_t hlen)
{
	uint8_t copy[IP_HDR_MAX], *p;

	memcpy(copy, m->data, hlen);
	xk_msg_pop(m, hlen);
	p = xk_msg_push(&m, hlen);
	if (p == NULL) {
		xk_drop(r, XK_DROP_NOMEM, m);
		return NULL;
	}
	memcpy(p, copy, hlen);
	ip_hdr_whole(p, hlen, m->tot);
	return m;
}

static struct xk_msg *finish(struct xk_rep *r, struct ip_dgram *d)
{
	uint32_t hlen = d->hlen;
	struct xk_msg *m;

	if (d->end + hlen > IP_MAX_DATAGRAM) {
		dgram_empty(r, d, IP_DROP_FRAG_LONG);
		d->dead = true;
		return NULL;
	}
	m = join(d);
	dgram_free(r, d, XK_DROP_NOMEM);
	m->flags &= (uint8_t)~XK_MSG_CSUM_OK;
	m = whole_header(r, m, hlen);
	if (m != NULL)
		xk_count(r->count[IP_COUNT_REASSEMBLED]);
	return m;
}

static struct ip_dgram *dgram_of(struct xk_rep *r, const struct xk_msg *m, const struct ip_hdr *h,
				 unsigned *reason)
{
	struct xk_mapnode *node;
	struct xk_key k;

	dgram_key(m, &k);
	node = xk_map_resolve(&ip_state(r)->reass.map, &k);
	if (node != NULL)
		return xk_container_of(node, struct ip_dgram, map);
	return dgram_new(r, &k, h->source, reason);
}

struct xk_msg *ip_reass_input(struct xk_rep *r, struct xk_msg *m, const struct ip_hdr *h)
{
	uint32_t at = (h->fragment & IP_OFFSET_MASK) * 8u, len = m->tot - h->hlen;
	struct ip_dgram *d;
	unsigned reason;
	int bad = frag_check(h, at, len);

	xk_count(r->count[IP_COUNT_FRAGMENTS_IN]);
	if (bad == IP_DROP_FRAG_EMPTY) {
		xk_drop(r, IP_DROP_FRAG_EMPTY, m);
		return NULL;
	}
	d = dgram_of(r, m, h, &reason);
	if (d == NULL)
		xk_drop(r, reason, m);
	else if (d->dead)
		xk_drop(r, IP_DROP_FRAG_DEAD, m);
	else if (bad != IP_PASS)
		condemn(r, d, m, (unsigned)bad);
	else if (is_duplicate(d, at / 8, m, h->hlen))
		xk_drop(r, IP_DROP_FRAG_DUP, m);
	else if (end_disagrees(d, at + len, !(h->fragment & IP_FLAG_MF)))
		condemn(r, d, m, IP_DROP_FRAG_END);
	else if (overlaps(d, at / 8, (at + len + 7) / 8))
		condemn(r, d, m, IP_DROP_FRAG_OVERLAP);
	else if (frag_add(r, d, m, h) && d->got == d->end)
		return finish(r, d);
	return NULL;
}

/* ---- life --------------------------------------------------------------------------------------- */

void ip_reass_init(struct xk_rep *r)
{
	struct ip_reass *ra = &ip_state(r)->reass;
	const struct ip_conf *c = r->conf;
	uint64_t share = c->reass_datagrams / xk_node_nvps(r->node);

	xk_map_init(&ra->map, offsetof(struct ip_dgram, map));
	xk_slab_init(&ra->dgrams, sizeof(struct ip_dgram));
	xk_slab_init(&ra->frags, sizeof(struct frag));
	ra->max = (uint32_t)(share > MIN_PER_VP ? share : MIN_PER_VP);
	ra->per_source = (uint32_t)c->reass_per_source;
	ra->salt = xk_vp_secret(r->vp);
	ra->rep = r;
	xk_timer_init(&ra->timer, reass_timer);
}

void ip_reass_stop(struct xk_rep *r)
{
	struct ip_reass *ra = &ip_state(r)->reass;

	while (oldest(ra) != NULL)
		dgram_free(r, oldest(ra), IP_DROP_REASS_TIMEOUT);
	xk_timer_cancel(r->wheel, &ra->timer);
}

void ip_reass_fini(struct xk_rep *r)
{
	struct ip_reass *ra = &ip_state(r)->reass;

	ip_reass_stop(r);
	xk_map_fini(&ra->map);
	xk_slab_fini(&ra->dgrams);
	xk_slab_fini(&ra->frags);
}
