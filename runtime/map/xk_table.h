/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_table.h - the tagged hash table beneath active maps and flow tables.
 *
 * An entry lives in its home bucket, chosen by the high bits of its hash; when
 * that is full, in one alternate bucket, which home and tag alone determine;
 * when neither can take it, in the stash.  A bucket counts how many of its own
 * live elsewhere (`over`), so a key that is not there costs one line unless
 * something overflowed.  Entries are only ever moved from home to alternate:
 * a reader that looks at home first can not miss one on its way.  Buckets keep
 * 23 low hash bits of each entry and their own number tells the high ones, so
 * that growing reads no node.
 *
 * There are 2^k or 3 * 2^k buckets, any number would do: bucket i is home to the
 * hashes of the i-th part of all (Lemire, "Fast random integer generation in an
 * interval", 2019).  So a table grows by a half or a third, and is never less
 * than half full: from 10 to 15 bytes an entry.
 *
 * Handles name nodes in type-stable memory; a match of tags proves nothing,
 * the key in the node does.
 *
 *                     find     put, del, grow
 *   find                -         -            (writers publish; see below)
 *   put, del, grow      -         X
 * Readers on other threads need `shared`, an RCU read section, and a table that
 * is replaced, not changed, when it grows.
 * Invariant: an entry of bucket b that is not marked away has home b.
 */
#ifndef XK_TABLE_H
#define XK_TABLE_H

#include "runtime/base/xk_base.h"
#include "runtime/map/xk_map.h"
#include "runtime/mem/xk_mem.h"
#include "runtime/sync/xk_sync.h"

#if defined(__SSE4_2__) && defined(__x86_64__)
#include <nmmintrin.h>
#define XK_HASH_INLINE 1         /* the compiler may take the instruction for granted */
#elif defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#define XK_WAYS 8u

struct xk_bucket {
	uint16_t tag[XK_WAYS];   /* 0: the slot is free */
	uint32_t h[XK_WAYS];     /* slab handle of the object with the node */
	uint8_t  ext[XK_WAYS];   /* hash bits 15..22 */
	uint32_t over;           /* entries with this home that live elsewhere */
	uint8_t  away;           /* bit i: slot i's home is its other bucket */
	uint8_t  spare[3];
} XK_ALIGNED;
_Static_assert(sizeof(struct xk_bucket) == XK_CACHELINE, "a bucket is one line");

struct xk_stash {
	struct xk_rcu_head rcu;
	uint32_t cap, used;      /* slots; slots ever filled.  Handle 0: free */
	struct { uint32_t hash, h; } e[];
};

/* ---- hashing -------------------------------------------------------------- */

#define XK_HASH_SEED 0x9e3779b9u
/* CRC-32C step without the instruction, same result. */
uint32_t xk_crc32c_soft(uint32_t crc, uint64_t v);
/* xk_hash_pair by whatever the running processor has. */
uint32_t xk_hash_pair_any(uint64_t a, uint64_t b);
/* n steps, over the words at p however they lie, by the same. */
uint32_t xk_crc32c_any(uint32_t crc, const void *p, size_t n);
/* "table", "sse4.2" or "crc" (arm64): what hashes are made by here; set_ as xk_csum_set_variant, for
 * the two above, which is all where the instruction is not inline. */
const char *xk_hash_variant(void);
int         xk_hash_set_variant(const char *name);

/* CRC-32C of 16 bytes. */
static inline uint32_t xk_hash_pair(uint64_t a, uint64_t b)
{
#ifdef XK_HASH_INLINE
	return (uint32_t)_mm_crc32_u64(_mm_crc32_u64(XK_HASH_SEED, a), b);
#else
	return xk_hash_pair_any(a, b);
#endif
}
static inline uint32_t xk_hash_key(const struct xk_key *k)
{
	return xk_hash_pair(k->w[0], k->w[1]);
}
/* Hash bits 0..14; never 0. */
static inline uint16_t xk_table_tag(uint32_t hash)
{
	return (uint16_t)(hash | 0x8000u);
}

/* ---- looking into a bucket -------------------------------------------------- */

/* Bit i: slot i has the tag.  xk_bucket_match(b, 0) is the free slots. */
static inline unsigned xk_bucket_match(const struct xk_bucket *b, uint16_t tag)
{
#if defined(__SSE2__) && !defined(XK_TSAN)
	__m128i t = _mm_load_si128((const __m128i *)(const void *)b->tag);
	__m128i eq = _mm_cmpeq_epi16(t, _mm_set1_epi16((short)tag));

	/* What the tags lead to is loaded after them: pairs with the release
	 * of a tag in map_table.c.  The processor keeps the order by itself. */
	__atomic_signal_fence(__ATOMIC_ACQUIRE);
	return (unsigned)_mm_movemask_epi8(_mm_packs_epi16(eq, _mm_setzero_si128()));
#elif defined(__aarch64__) && !defined(XK_TSAN)
	static const uint16_t bit[XK_WAYS] = { 1, 2, 4, 8, 16, 32, 64, 128 };
	uint16x8_t eq = vceqq_u16(vld1q_u16(b->tag), vdupq_n_u16(tag));

	/* As above, by a fence: this processor loads in any order, each tag whole. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return vaddvq_u16(vandq_u16(eq, vld1q_u16(bit)));
#else
	unsigned m = 0;

	for (unsigned i = 0; i < XK_WAYS; i++)
		m |= (unsigned)(xk_load_acquire(&b->tag[i]) == tag) << i;
	return m;
#endif
}

/* The object in the first slot that has the tag, base being xk_slab_ptr(0), or NULL: a slot that has a tag has
 * a handle. */
static inline void *xk_bucket_aim(const struct xk_bucket *b, uint16_t tag, char *base)
{
#if defined(__SSE2__) && !defined(XK_TSAN)
	__m128i t = _mm_load_si128((const __m128i *)(const void *)b->tag);
	unsigned m = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi16(t, _mm_set1_epi16((short)tag)));

	__atomic_signal_fence(__ATOMIC_ACQUIRE);         /* as above */
	if (XK_UNLIKELY(m == 0))
		return NULL;
	/* Two bits for a slot, whose handle has four bytes. */
	return base + (uint64_t)xk_load_acquire((const uint32_t *)(const void *)((const char *)b->h +
										 2 * (size_t)(unsigned)__builtin_ctz(m))) *
			      XK_CACHELINE;
#else
	unsigned m = xk_bucket_match(b, tag);

	return m != 0 ? base + (uint64_t)xk_load_acquire(&b->h[__builtin_ctz(m)]) * XK_CACHELINE : NULL;
#endif
}

static inline struct xk_mapnode *xk_table_node(const struct xk_table *t, uint32_t h)
{
	return (struct xk_mapnode *)(void *)((char *)xk_slab_ptr(h) + t->off);
}

/* xk_key_eq, the key's words in registers, for a node whose memory another thread may be reusing. */
static inline bool xk_node_has(const struct xk_mapnode *n, uint64_t w0, uint64_t w1)
{
	return ((xk_load_relaxed(&n->key.w[0]) ^ w0) | (xk_load_relaxed(&n->key.w[1]) ^ w1)) == 0;
}
static inline bool xk_node_is(const struct xk_mapnode *n, const struct xk_key *k)
{
	return xk_node_has(n, k->w[0], k->w[1]);
}

/* The part of n equal ones that hash is in. */
static inline uint32_t xk_hash_part(uint32_t hash, uint32_t n)
{
	return (uint32_t)((uint64_t)hash * n >> 32);
}
static inline struct xk_bucket *xk_table_home(const struct xk_table *t, uint32_t hash)
{
	return &t->bucket[xk_hash_part(hash, t->buckets)];
}

/* The other bucket of an entry in bucket b; its own inverse.  By chance it is b itself. */
static inline uint32_t xk_table_other(const struct xk_table *t, uint32_t b, uint16_t tag)
{
	uint32_t sum = xk_hash_part(tag * UINT32_C(0x9e3779b1), t->buckets);

	return sum >= b ? sum - b : sum - b + t->buckets;
}

/*
 * Asks for a line that many others are asked for along with.  Into the second-
 * level cache: what the first can await at once is fewer than a burst needs, and
 * a line that has come so far is a dozen cycles away.
 */
static inline void xk_table_fetch(const void *line)
{
	__builtin_prefetch(line, 0, 2);
}

/* The node with the key among the slots of mask m, or NULL. */
static inline struct xk_mapnode *xk_bucket_find(const struct xk_table *t, const struct xk_bucket *b,
						unsigned m, const struct xk_key *k)
{
	for (; m != 0; m &= m - 1) {
		struct xk_mapnode *n = xk_table_node(t, xk_load_acquire(&b->h[__builtin_ctz(m)]));

		if (XK_LIKELY(xk_node_is(n, k)))
			return n;
	}
	return NULL;
}

/* The rest of a find: alternate bucket, then stash. */
struct xk_mapnode *xk_table_find_over(const struct xk_table *t, uint32_t hash, const struct xk_key *k);

/* The node bound under k, whose hash is given, or NULL.  t->bucket must exist. */
static inline struct xk_mapnode *xk_table_find(const struct xk_table *t, uint32_t hash, const struct xk_key *k)
{
	const struct xk_bucket *b = xk_table_home(t, hash);
	struct xk_mapnode *n = xk_bucket_find(t, b, xk_bucket_match(b, xk_table_tag(hash)), k);

	if (XK_LIKELY(n != NULL || xk_load_acquire(&b->over) == 0))
		return n;
	return xk_table_find_over(t, hash, k);
}

/* ---- changing the table: one writer at a time --------------------------------- */

/* A table of so many buckets without entries; XK_E_NOMEM. */
int  xk_table_init(struct xk_table *t, uint32_t buckets, int32_t off, bool shared);
void xk_table_fini(struct xk_table *t);      /* legal on zeroed memory */
/* Entries that so many buckets hold before it is time to grow: 81 %. */
static inline uint64_t xk_table_limit(uint64_t buckets)
{
	return buckets * 6 + buckets / 2;
}
/* Should the table grow before it takes another entry? */
static inline bool xk_table_full(const struct xk_table *t)
{
	return t->n >= xk_table_limit(t->buckets);
}
/* Adds an entry that must not be there: node->hash says where.  Published when
 * this returns.  XK_E_NOMEM: no place was found, nothing has changed. */
int  xk_table_put(struct xk_table *t, const struct xk_mapnode *node);
/* Removes an entry that must be there. */
void xk_table_del(struct xk_table *t, const struct xk_mapnode *node);
/* A table of the next size (or more, when the stash is large) with the same
 * entries; `from` is only read.  XK_E_NOMEM: `to` is untouched. */
int  xk_table_grow(const struct xk_table *from, struct xk_table *to);
/* Calls fn for every node until it returns XK_MAP_STOP; the visitor removes
 * nodes by itself (xk_table_del). */
typedef int (*xk_table_fn)(struct xk_mapnode *node, void *arg);
void xk_table_walk(struct xk_table *t, xk_table_fn fn, void *arg);
/* Bytes of the table's own memory. */
uint64_t xk_table_bytes(const struct xk_table *t);

/* n <= 32 keys at once: hash all, prefetch all, probe all; out[i] or NULL. */
void xk_map_resolve_bulk(struct xk_map *m, const struct xk_key *k, unsigned n, struct xk_mapnode **out);

#endif
