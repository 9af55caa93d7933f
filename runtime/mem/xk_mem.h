/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_mem.h - message buffers: per-VP LIFO freelists over shared slabs in huge pages.
 *
 * A buffer belongs to the VP whose freelist it came from.  Taking and giving
 * back on that VP is a plain array push or pop; elsewhere it goes home in
 * batches.  Strides are an odd number of cache lines, so that headers of
 * neighbouring buffers never collide in L1 (colouring by construction).
 * Invariant, checked at graph stop: carved = free in caches + free in the
 * shared stock + travelling home.
 */
#ifndef XK_MEM_H
#define XK_MEM_H

#include "runtime/base/xk_base.h"
#include "runtime/base/xk_tls.h"
#include "runtime/mem/xk_alloc.h"
#include "runtime/mem/xk_slab.h"
#include "runtime/sync/xk_sync.h"

#include <string.h>

enum xk_memclass { XK_MEM_SMALL, XK_MEM_MEDIUM, XK_MEM_LARGE, XK_MEM_CLASSES };
/* Whole buffer, descriptor line included. */
#define XK_MEM_SMALL_SIZE  576u
#define XK_MEM_MEDIUM_SIZE 2112u
#define XK_MEM_LARGE_SIZE  4928u
extern const uint32_t xk_mem_size[XK_MEM_CLASSES];

/* n bytes, up to the end of a cache line. */
#define XK_WHOLE_LINES(n) (((n) + XK_CACHELINE - 1) / XK_CACHELINE * XK_CACHELINE)
#define XK_MEM_CACHE 1024u   /* most buffers a VP keeps per class */
#define XK_MEM_BATCH 32u     /* moved between a VP and the shared stock */
#define XK_MEM_CHUNK ((size_t)2 << 20) /* memory from which buffers of one class are carved */

/* `stamp` is what runtime/msg stores at once into each fresh descriptor of this VP
 * and class: { 0, 1, the VP's number } in 16 bits each, the class, 0. */
struct xk_memcache { uint32_t n; uint32_t cap; void **slot; uint64_t stamp; };

struct xk_mempool;           /* the graph's shared stock */

/*
 * Free buffers on their way from one VP to the next that the same thread runs: those
 * that were used last, so still in its cache.  Where hundreds of VPs take turns, each
 * would otherwise write into buffers of its own that left the cache since its last turn.
 * What was written in an earlier turn and is freed in this one must not lie above them.
 */
#define XK_MEM_HOT  16u
#define XK_MEM_COLD 16u
struct xk_memhot { uint32_t n[XK_MEM_CLASSES]; void *slot[XK_MEM_CLASSES][XK_MEM_HOT]; };

/* One VP's view; embedded in struct xk_vp, touched only by who is inside it. */
struct xk_memvp {
	struct xk_memcache cache[XK_MEM_CLASSES];
	struct xk_mempool *pool;
	const uint32_t    *fill;         /* the pool's, see xk_mem_fill */
	uint16_t           no;           /* the VP's number */
	bool               starved;      /* see xk_memvp_starve */
	bool               passes;       /* has what others passed on, see struct xk_memhot */
	uint32_t           nforeign;     /* waiting in `foreign` */
	uint32_t           ncold[XK_MEM_CLASSES];
	void              *foreign[XK_MEM_BATCH];  /* buffers of other VPs, to send home */
	xk_counter         refills, misses; /* trips to the shared stock; failures */
	void              *cold[XK_MEM_CLASSES][XK_MEM_COLD]; /* free, for when a cache is empty or the next turn */
	/* Written by others: buffers they sent home, and how many. */
	struct xk_mpsc     returned XK_ALIGNED;
	uint32_t           nreturned;
};

/* The current VP's; NULL outside any VP. */
extern _Thread_local struct xk_memvp *xk_mem_self __attribute__((tls_model("initial-exec")));

/* Whose the free buffers are: each VP's own, without a lock; the processor's that freed them, or everybody's, in pools
 * with a lock each.  Salehi and others 1995, 2.1: free-memory affinity, and its lower bound. */
enum xk_freelist { XK_FREELIST_VP, XK_FREELIST_PROCESSOR, XK_FREELIST_GLOBAL };

struct xk_mem_conf {
	/* Bytes of all buffers ever carved together; 0 = 1 GiB.  An eighth of it
	 * is kept for each class, so one class alone gets three quarters. */
	uint64_t limit;
	bool     huge;       /* try 2 MiB pages: hugetlb, then madvise */
	bool     shared;     /* counters lie where another process may look (xk_shared.h) */
	enum xk_freelist freelist;
	unsigned processors; /* not of VP: threads number themselves 1 to so many, see xk_mem_processor */
	const struct xk_lock_ops *lock; /* of those pools; NULL: adaptive */
	bool     lock_untimed;          /* no clock is read for it */
};

int  xk_mempool_new(struct xk_mempool **p, const struct xk_mem_conf *c, unsigned nvps);
/* Every buffer must be back; returns the number that are not (leaks). */
uint64_t xk_mempool_free(struct xk_mempool *p);
/* n bytes of the system's, whole pages, that begin at a multiple of XK_MEM_CHUNK, zero; NULL: there are none.  The
 * caller's to unmap.  Control path. */
void *xk_mem_map(size_t n);
/* Adjacent chunks that lie where a device reads them, aligned to their size: buffers of class c are carved from
 * them before any others.  They are the pool's, which unmaps them when it is freed.  Control path. */
void xk_mempool_give(struct xk_mempool *p, enum xk_memclass c, void *chunks, size_t n);
int  xk_memvp_init(struct xk_memvp *v, struct xk_mempool *p, uint16_t no);
/* Gives everything to the shared stock.  Control path, like init: while it runs
 * no VP of the pool may send buffers home. */
void xk_memvp_fini(struct xk_memvp *v);
/* Sends the pending foreign buffers home; called between units of work. */
void xk_memvp_flush(struct xk_memvp *v);
/* Inside the VP, which rests: while nothing is left in the stock (xk_mem_fill), what it keeps is for whoever needs it. */
void xk_memvp_share(struct xk_memvp *v);
/* The thread that is inside v begins its turn, ends it: v has h's buffers meanwhile. */
void xk_memvp_take_hot(struct xk_memvp *v, struct xk_memhot *h);
void xk_memvp_leave_hot(struct xk_memvp *v, struct xk_memhot *h);
/* What h still has goes to the shared stock. */
void xk_memhot_fini(struct xk_memhot *h, struct xk_mempool *p);
/* For tests: keeps no buffers, so that every taking is a trip to the stock and
 * counts for xk_mem_fail_after. */
void xk_memvp_starve(struct xk_memvp *v, bool on);

/* Buffers, but `bytes` (of everything carved).  free counts caches, the shared
 * stock and what is travelling home; huge: large pages were asked for and granted. */
struct xk_mem_stats { uint64_t carved, free, outstanding, bytes; bool huge; };
/* Exact only while nothing runs. */
void xk_mempool_stats(const struct xk_mempool *p, struct xk_mem_stats out[XK_MEM_CLASSES]);
/* How often buffers were taken from the shared stock or given to it, each time under its lock. */
uint64_t xk_mempool_trips(const struct xk_mempool *p);

/* Of the threads of a set of VPs, from 1: whose pool they use where each processor has one.  0: none of them; all of
 * those share one.  A simulated thread's is its processor's. */
extern _Thread_local uint16_t xk_mem_processor __attribute__((tls_model("initial-exec")));
/* The processor that the calling thread runs on, as pools are told apart: that number, or a simulated one's. */
uint16_t xk_mem_here(void);

/* What pools with a lock have counted, all zero where VPs have their own: buffers that were taken by the processor that
 * had freed them (hits), or by another one (moves).  Any thread. */
struct xk_freelist_counts { unsigned shelves; uint64_t hits, moves; struct xk_lock_counts lock; };
void xk_mempool_freelist(const struct xk_mempool *p, struct xk_freelist_counts *out);
/* sum += sign * c; sign: 1 or -1. */
void xk_freelist_counts_add(struct xk_freelist_counts *sum, const struct xk_freelist_counts *c, int sign);

/*
 * How full the pool is, in 1/256 of what its fullest class may ever hand out; 255: nothing
 * is left.  While little is out it is said to be 0.  What caches may keep for themselves counts
 * as empty, so that idle buffers are never taken for a shortage; a cache may be empty, and
 * then the truth is less.  Who gives buffers to those that may keep them (a queue towards a
 * peer) asks first and stops early: the rest is for what comes in.  Any VP of the pool, or
 * nobody's thread; a word that is written only when it changes.
 */
#define XK_MEM_FULL 255u
static inline uint32_t xk_mem_fill(const struct xk_memvp *v) { return xk_load_relaxed(v->fill); }

/* Slow paths of the two inlines below. */
void *xk_mem_refill(struct xk_memvp *v, enum xk_memclass c);
void  xk_mem_spill(struct xk_memvp *v, enum xk_memclass c, void *b);
/* b's first 16 bytes are overwritten; home is the owning VP's number. */
void  xk_mem_put_foreign(struct xk_memvp *v, enum xk_memclass c, uint16_t home, void *b);

/*
 * The debug build knows the owner of every buffer, poisons what lies free
 * beyond its first line and checks the poison when it is taken again; a second
 * free, a write after free or a put on a VP that is not the owner aborts and
 * names the owner.  Under the address sanitizer free buffers are poisoned too.
 */
#if defined(__SANITIZE_ADDRESS__)
#define XK_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define XK_ASAN 1
#endif
#endif
#if defined(XK_DEBUG) || defined(XK_ASAN)
void xk_mem_check_get(const struct xk_memvp *v, enum xk_memclass c, void *b);
void xk_mem_check_put(const struct xk_memvp *v, enum xk_memclass c, uint16_t owner, void *b);
#else
#define xk_mem_check_get(v, c, b) ((void)0)
#define xk_mem_check_put(v, c, owner, b) ((void)0)
#endif

/* NULL when the limit is reached (counted in misses). */
static inline void *xk_mem_get(struct xk_memvp *v, enum xk_memclass c)
{
	struct xk_memcache *k = &v->cache[c];

	xk_dassert(v == xk_mem_self);
	if (XK_LIKELY(k->n != 0)) {
		void *b = k->slot[--k->n];

		xk_mem_check_get(v, c, b);
		return b;
	}
	return xk_mem_refill(v, c);
}

static inline void xk_mem_put(struct xk_memvp *v, enum xk_memclass c, void *b)
{
	struct xk_memcache *k = &v->cache[c];

	xk_dassert(v == xk_mem_self);
	xk_mem_check_put(v, c, v->no, b);
	if (XK_LIKELY(k->n < k->cap))
		k->slot[k->n++] = b;
	else
		xk_mem_spill(v, c, b);
}

/* The same for one whose bytes were written in an earlier turn, so have left the cache. */
static inline void xk_mem_put_cold(struct xk_memvp *v, enum xk_memclass c, void *b)
{
	if (!v->passes || v->ncold[c] == XK_MEM_COLD) {
		xk_mem_put(v, c, b);
		return;
	}
	xk_dassert(v->no == xk_vp_no);
	xk_mem_check_put(v, c, v->no, b);
	v->cold[c][v->ncold[c]++] = b;
}

/* n of this VP's at once, the last one on top. */
static inline void xk_mem_put_many(struct xk_memvp *v, enum xk_memclass c, void *const *b, unsigned n)
{
#if !defined(XK_DEBUG) && !defined(XK_ASAN)
	struct xk_memcache *k = &v->cache[c];

	if (XK_LIKELY(k->n + n <= k->cap)) {
		memcpy(k->slot + k->n, b, n * sizeof(*b));
		k->n += n;
		return;
	}
#endif
	for (unsigned i = 0; i < n; i++)
		xk_mem_put(v, c, b[i]);
}

#endif
