/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * map_table.c - puts entries into tagged buckets, moves them aside, grows.
 *
 * A put tries the home bucket, then the alternate one, then looks breadth first
 * for a short chain of entries that can each step from home to alternate; the
 * stash takes what is left (many keys of one hash).  Every step stores the
 * entry at its new place, counts it at home, and only then frees the old slot:
 * release stores in that order, paired with the acquire loads of the finders,
 * which look at home, at the count, at the alternate bucket in that order.
 * Invariant: an entry's slot is the only one with its handle between puts.
 */
#include "runtime/map/xk_table.h"
#include <string.h>
#include <sys/mman.h>

#define HUGE_PAGE  (UINT64_C(2) << 20)
#define REACH      64u       /* buckets looked at for a chain of steps */
#define STASH_MIN  8u
#define BUCKET_MAX (UINT32_C(1) << 27)   /* 2^30 entries */

/* ---- memory ----------------------------------------------------------------- */

/* Zeroed and line-aligned; on huge pages when they are worth it.  The block's
 * own address lies in the word before. */
static struct xk_bucket *buckets_new(uint32_t n)
{
	uint64_t size = (uint64_t)n * sizeof(struct xk_bucket);
	uint64_t align = size >= HUGE_PAGE ? HUGE_PAGE : XK_CACHELINE;
	char *raw = xk_alloc(size + align + sizeof(raw)), *b;

	if (raw == NULL)
		return NULL;
	b = raw + sizeof(raw);
	b += -(uintptr_t)b & (align - 1);
	memcpy(b - sizeof(raw), &raw, sizeof(raw));
	if (align == HUGE_PAGE)
		(void)madvise(b, size, MADV_HUGEPAGE);
	return (struct xk_bucket *)(void *)b;
}

static void buckets_free(struct xk_bucket *b)
{
	char *raw;

	if (b == NULL)
		return;
	memcpy(&raw, (char *)b - sizeof(raw), sizeof(raw));
	xk_free(raw);
}

int xk_table_init(struct xk_table *t, uint32_t buckets, int32_t off, bool shared)
{
	xk_assert(buckets != 0);
	*t = (struct xk_table){ .buckets = buckets, .off = off, .shared = shared };
	t->bucket = buckets <= BUCKET_MAX ? buckets_new(buckets) : NULL;
	return t->bucket != NULL ? XK_OK : XK_E_NOMEM;
}

void xk_table_fini(struct xk_table *t)
{
	buckets_free(t->bucket);
	xk_free(t->stash);
	t->bucket = NULL;
	t->stash = NULL;
	t->n = 0;
}

uint64_t xk_table_bytes(const struct xk_table *t)
{
	uint64_t n = t->bucket != NULL ? (uint64_t)t->buckets * sizeof(*t->bucket) : 0;

	return t->stash != NULL ? n + t->stash->cap * sizeof(t->stash->e[0]) : n;
}

/* ---- places ------------------------------------------------------------------- */

static uint32_t node_handle(const struct xk_table *t, const struct xk_mapnode *node)
{
	return xk_slab_handle((const char *)node - t->off);
}

/* Into the last free slot: of two with one tag the younger is found first.  Where both ends of a connection
 * are in one graph, that is the one that was called, and most frames are for it. */
static inline bool bucket_put(struct xk_bucket *b, uint16_t tag, uint8_t ext, uint32_t h, bool away)
{
	unsigned room = xk_bucket_match(b, 0), s;

	if (room == 0)
		return false;
	s = 31u - (unsigned)__builtin_clz(room);
	b->ext[s] = ext;
	b->away = (uint8_t)((b->away & ~(1u << s)) | (unsigned)away << s);
	xk_store_release(&b->h[s], h);
	xk_store_release(&b->tag[s], tag);
	return true;
}

static void bucket_over(struct xk_bucket *b, int n)
{
	xk_store_release(&b->over, b->over + (uint32_t)n);
}

/* ---- making room ---------------------------------------------------------------- */

/* A bucket reached from bucket step[from] by moving its slot aside. */
struct step { uint32_t bucket; uint16_t from; uint16_t slot; };

/* Moves slot s of bucket b, which is at home there, to its other bucket. */
static void step_aside(struct xk_table *t, uint32_t b, unsigned s)
{
	struct xk_bucket *k = &t->bucket[b];
	bool ok = bucket_put(&t->bucket[xk_table_other(t, b, k->tag[s])], k->tag[s], k->ext[s], k->h[s], true);

	xk_assert(ok);
	bucket_over(k, 1);
	xk_store_release(&k->tag[s], 0);
}

static bool step_known(const struct step *q, unsigned n, uint32_t bucket)
{
	while (n-- > 0)
		if (q[n].bucket == bucket)
			return true;
	return false;
}

/* Every bucket is reached once, so a chain never crosses itself. */
static void step_chain(struct xk_table *t, const struct step *q, unsigned i, unsigned slot)
{
	step_aside(t, q[i].bucket, slot);
	while (q[i].from != i) {
		step_aside(t, q[q[i].from].bucket, q[i].slot);
		i = q[i].from;
	}
}

/* Frees a slot in bucket a or b (both full); false when none is near. */
static bool table_make_room(struct xk_table *t, uint32_t a, uint32_t b)
{
	struct step q[REACH];
	unsigned n = 0, i, s;

	q[n++] = (struct step){ a, 0, 0 };
	if (b != a)
		q[n++] = (struct step){ b, 1, 0 };
	for (i = 0; i < n; i++) {
		const struct xk_bucket *k = &t->bucket[q[i].bucket];

		for (s = 0; s < XK_WAYS; s++) {
			uint32_t other = xk_table_other(t, q[i].bucket, k->tag[s]);

			if (k->away >> s & 1)
				continue;
			if (xk_bucket_match(&t->bucket[other], 0) != 0) {
				step_chain(t, q, i, s);
				return true;
			}
			if (n < REACH && !step_known(q, n, other))
				q[n++] = (struct step){ other, (uint16_t)i, (uint16_t)s };
		}
	}
	return false;
}

/* ---- the stash -------------------------------------------------------------------- */

static bool stash_grow(struct xk_table *t)
{
	struct xk_stash *old = t->stash, *s;
	uint32_t cap = old == NULL ? STASH_MIN : old->cap * 2;

	s = xk_alloc(sizeof(*s) + cap * sizeof(s->e[0]));
	if (s == NULL)
		return false;
	s->cap = cap;
	if (old != NULL) {
		s->used = old->used;
		memcpy(s->e, old->e, old->used * sizeof(s->e[0]));
	}
	xk_rcu_assign(t->stash, s);
	if (old != NULL && t->shared)
		xk_rcu_free(&old->rcu, xk_free, old);
	else
		xk_free(old);
	return true;
}

static bool stash_put(struct xk_table *t, uint32_t hash, uint32_t h)
{
	uint32_t i = 0;

	while (t->stash != NULL && i < t->stash->used && t->stash->e[i].h != 0)
		i++;
	if ((t->stash == NULL || i == t->stash->cap) && !stash_grow(t))
		return false;
	xk_store_relaxed(&t->stash->e[i].hash, hash);
	xk_store_release(&t->stash->e[i].h, h);
	if (i == t->stash->used)
		xk_store_release(&t->stash->used, i + 1);
	return true;
}

static void stash_del(struct xk_table *t, uint32_t h)
{
	uint32_t i = 0;

	xk_assert(t->stash != NULL);
	while (i < t->stash->used && t->stash->e[i].h != h)
		i++;
	xk_assert(i < t->stash->used);
	xk_store_release(&t->stash->e[i].h, 0);
}

static struct xk_mapnode *stash_find(const struct xk_table *t, uint32_t hash, const struct xk_key *k)
{
	const struct xk_stash *s = xk_rcu_dereference(t->stash);
	uint32_t used = s != NULL ? xk_load_acquire(&s->used) : 0;

	for (uint32_t i = 0; i < used; i++) {
		uint32_t h = xk_load_acquire(&s->e[i].h);

		if (h != 0 && xk_load_relaxed(&s->e[i].hash) == hash && xk_node_is(xk_table_node(t, h), k))
			return xk_table_node(t, h);
	}
	return NULL;
}

struct xk_mapnode *xk_table_find_over(const struct xk_table *t, uint32_t hash, const struct xk_key *k)
{
	uint16_t tag = xk_table_tag(hash);
	const struct xk_bucket *b = &t->bucket[xk_table_other(t, xk_hash_part(hash, t->buckets), tag)];
	struct xk_mapnode *n = xk_bucket_find(t, b, xk_bucket_match(b, tag), k);

	return n != NULL ? n : stash_find(t, hash, k);
}

/* ---- put and del ---------------------------------------------------------------------- */

/*
 * The stash is for keys that no larger table would part.  A table that is
 * simply full (it could not grow) says so instead; while it is walked it may
 * not grow, so then the stash takes anything.
 */
static bool stash_may(const struct xk_table *t)
{
	return t->visiting != 0 || t->n < (uint64_t)t->buckets * (XK_WAYS - 1);
}

/* Its home is full. */
static XK_NOINLINE bool table_put_away(struct xk_table *t, uint32_t hash, uint32_t h)
{
	uint32_t home = xk_hash_part(hash, t->buckets);
	uint16_t tag = xk_table_tag(hash);
	uint32_t other = xk_table_other(t, home, tag);
	uint8_t ext = (uint8_t)(hash >> 15);

	for (unsigned turn = 0; turn < 2; turn++) {
		if (turn == 1 && bucket_put(&t->bucket[home], tag, ext, h, false))
			return true;
		if (other != home && bucket_put(&t->bucket[other], tag, ext, h, true)) {
			bucket_over(&t->bucket[home], 1);
			return true;
		}
		if (turn == 1 || t->visiting != 0 || !table_make_room(t, home, other))
			break;
	}
	if (!stash_may(t) || !stash_put(t, hash, h))
		return false;
	bucket_over(&t->bucket[home], 1);
	return true;
}

static inline bool table_put(struct xk_table *t, uint32_t hash, uint32_t h)
{
	return XK_LIKELY(bucket_put(xk_table_home(t, hash), xk_table_tag(hash), (uint8_t)(hash >> 15), h, false)) ||
	       table_put_away(t, hash, h);
}

int xk_table_put(struct xk_table *t, const struct xk_mapnode *node)
{
	if (!table_put(t, node->hash, node_handle(t, node)))
		return XK_E_NOMEM;
	xk_store_relaxed(&t->n, t->n + 1);
	return XK_OK;
}

/* Frees the slot with tag and handle; false when it is not in this bucket. */
static bool bucket_del(struct xk_bucket *b, uint16_t tag, uint32_t h)
{
	for (unsigned m = xk_bucket_match(b, tag); m != 0; m &= m - 1) {
		unsigned s = (unsigned)__builtin_ctz(m);

		if (b->h[s] != h)
			continue;
		xk_store_release(&b->tag[s], 0);
		return true;
	}
	return false;
}

void xk_table_del(struct xk_table *t, const struct xk_mapnode *node)
{
	uint32_t home = xk_hash_part(node->hash, t->buckets), h = node_handle(t, node);
	uint16_t tag = xk_table_tag(node->hash);

	xk_store_relaxed(&t->n, t->n - 1);
	if (bucket_del(&t->bucket[home], tag, h))
		return;
	if (!bucket_del(&t->bucket[xk_table_other(t, home, tag)], tag, h))
		stash_del(t, h);
	bucket_over(&t->bucket[home], -1);
}

/* ---- growing ------------------------------------------------------------------------------- */

#define KEPT     23u                     /* low bits of the hash that a slot has */
#define TELLING  (UINT32_C(1) << (32 - KEPT))  /* so many buckets' numbers tell the others */

/*
 * The hash of slot s of bucket b, from the node only while buckets are so few
 * that a bucket is home to more than 2^KEPT hashes.  Else the one with these low
 * bits that its home is home to.
 */
static uint32_t slot_hash(const struct xk_table *t, uint32_t b, unsigned s)
{
	const struct xk_bucket *k = &t->bucket[b];
	uint32_t low = (k->tag[s] & 0x7fffu) | (uint32_t)k->ext[s] << 15, least;

	if (t->buckets < TELLING)
		return xk_table_node(t, k->h[s])->hash;
	if (k->away >> s & 1)
		b = xk_table_other(t, b, k->tag[s]);
	least = (uint32_t)((((uint64_t)b << 32) + t->buckets - 1) / t->buckets);
	return least + ((low - least) & ((UINT32_C(1) << KEPT) - 1));
}

static bool table_copy_bucket(const struct xk_table *from, struct xk_table *to, uint32_t b, bool away)
{
	const struct xk_bucket *k = &from->bucket[b];
	unsigned m = 0xffu & ~xk_bucket_match(k, 0) & (away ? k->away : ~(unsigned)k->away);

	/* The eldest first. */
	while (m != 0) {
		unsigned s = 31u - (unsigned)__builtin_clz(m);

		m ^= 1u << s;
		if (!table_put(to, slot_hash(from, b, s), k->h[s]))
			return false;
		to->n++;
	}
	return true;
}

/* What is at home goes from one part of the smaller table to one part of the larger, so first. */
static bool table_copy(const struct xk_table *from, struct xk_table *to)
{
	for (uint32_t b = 0; b < from->buckets; b++)
		if (!table_copy_bucket(from, to, b, false))
			return false;
	for (uint32_t b = 0; b < from->buckets; b++)
		if (from->bucket[b].away != 0 && !table_copy_bucket(from, to, b, true))
			return false;
	for (uint32_t i = 0; from->stash != NULL && i < from->stash->used; i++) {
		if (from->stash->e[i].h == 0)
			continue;
		if (!table_put(to, from->stash->e[i].hash, from->stash->e[i].h))
			return false;
		to->n++;
	}
	return true;
}

/* 1, 2, 3, 4, 6, 8, 12, 16 ... */
static uint32_t size_after(uint32_t buckets)
{
	return (buckets & (buckets - 1)) != 0 ? buckets / 3 * 4 : buckets == 1 ? 2 : buckets / 2 * 3;
}

int xk_table_grow(const struct xk_table *from, struct xk_table *to)
{
	struct xk_table t;
	uint32_t buckets = size_after(from->buckets);
	int err;

	while (from->n >= xk_table_limit(buckets) && buckets <= BUCKET_MAX)
		buckets = size_after(buckets);
	err = xk_table_init(&t, buckets, from->off, from->shared);
	if (err != XK_OK)
		return err;
	if (!table_copy(from, &t)) {
		xk_table_fini(&t);
		return XK_E_NOMEM;
	}
	*to = t;
	return XK_OK;
}

/* ---- walking ----------------------------------------------------------------------------------- */

static bool walk_buckets(struct xk_table *t, xk_table_fn fn, void *arg)
{
	for (uint32_t b = 0; b < t->buckets; b++)
		for (unsigned s = 0; s < XK_WAYS; s++)
			if (t->bucket[b].tag[s] != 0 &&
			    fn(xk_table_node(t, t->bucket[b].h[s]), arg) == XK_MAP_STOP)
				return false;
	return true;
}

void xk_table_walk(struct xk_table *t, xk_table_fn fn, void *arg)
{
	if (t->bucket == NULL)
		return;
	t->visiting++;
	if (walk_buckets(t, fn, arg))
		for (uint32_t i = 0; t->stash != NULL && i < t->stash->used; i++)
			if (t->stash->e[i].h != 0 &&
			    fn(xk_table_node(t, t->stash->e[i].h), arg) == XK_MAP_STOP)
				break;
	t->visiting--;
}
