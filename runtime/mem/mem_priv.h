/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mem_priv.h - what the files of room mem share: chunks, the stock, the hook.
 *
 * Buffers of one class are carved from 2 MiB chunks aligned to their size, so
 * the chunk of any buffer is found by masking its address.  A free buffer
 * that is in no VP's array carries a struct mem_dead in its first 16 bytes.
 * Invariant: a buffer is in exactly one place: out, a cache, the stock, or on
 * its way home.
 */
#ifndef MEM_PRIV_H
#define MEM_PRIV_H

#include "runtime/mem/xk_mem.h"

/* The first bytes of a buffer that lies in the stock or travels home. */
struct mem_dead {
	struct xk_qlink link;    /* first, for the hand-off queue */
	uint16_t        home;
	uint8_t         cls;
};
_Static_assert(sizeof(struct mem_dead) <= 16, "xk_mem_put_foreign promises 16 bytes");

/* Head of a chunk; buffers follow at MEM_CHUNK_HEAD. */
struct mem_chunk {
	struct mem_chunk  *next;
	struct xk_mempool *pool;
	uint32_t           cls;
	bool               huge;
#ifdef XK_DEBUG
	uint16_t           owner[];      /* by buffer: 0 free, else VP number + 1 */
#endif
};
#ifdef XK_DEBUG
#define MEM_CHUNK_HEAD 7424u             /* 116 lines: room for 3640 owners */
#else
#define MEM_CHUNK_HEAD 64u
#endif

/* The shared stock of one class, guarded by the pool's lock. */
struct mem_stock {
	struct mem_dead  *free;          /* LIFO */
	uint64_t          nfree, carved;
	struct mem_chunk *chunks;        /* newest first; the newest is being carved */
	struct mem_chunk *given;         /* to be carved next, see xk_mempool_give */
	uint32_t          next;          /* offset in it of the next buffer to carve */
	bool              scarce;        /* the last carving was refused, by the limit or by the system */
	bool              refused;       /* so it was, and little has come back since */
	uint64_t          idle;          /* bytes that caches may keep */
	uint64_t          calm;          /* bytes handed out below which fill is 0 */
};

struct mem_shelf;

struct xk_mempool {
	struct xk_mutex   lock;          /* guards stock[], bytes and trips; innermost */
	struct mem_stock  stock[XK_MEM_CLASSES];
	uint64_t          bytes, limit;  /* carved so far; most allowed */
	uint64_t          trips;         /* how often the lock was taken for buffers */
	bool              huge;          /* asked for */
	bool              no_hugetlb;    /* refused once: not asked again */
	unsigned          nvps;
	/* Written under the lock, read by everybody: on a line that nothing else is on. */
	char              before[XK_CACHELINE - sizeof(uint32_t)];
	uint32_t          fill;
	char              behind[XK_CACHELINE - sizeof(uint32_t)];
	/* Pools that threads share, where VPs keep no buffers; nshelves 0: they keep them. */
	unsigned          nshelves;
	struct mem_shelf *shelf;
	void             *shelf_block;   /* what shelf was cut from */
	const struct xk_lock_ops *shelf_lock;
	struct xk_memvp  *vp[];          /* by number; NULL: not there (any more) */
};

static inline struct mem_chunk *mem_chunk_of(const void *b)
{
	return (struct mem_chunk *)((uintptr_t)b & ~(uintptr_t)(XK_MEM_CHUNK - 1));
}

/* Up to n buffers from the stock, carving as needed; the one to use first
 * comes last.  Returns how many. */
uint32_t mem_stock_take(struct xk_mempool *p, enum xk_memclass c, void **out, uint32_t n);
void     mem_stock_give(struct xk_mempool *p, enum xk_memclass c, void *const *b, uint32_t n);
/* Most buffers a VP of this pool keeps of class c. */
uint32_t mem_cache_cap(const struct xk_mempool *p, enum xk_memclass c);

/* mem_shelf.c: pools shared by threads.  One buffer, 1 or 0; gives one back. */
uint32_t mem_shelf_take(struct xk_mempool *p, enum xk_memclass c, void **out);
void     mem_shelf_give(struct xk_mempool *p, enum xk_memclass c, void *b);
/* With p's limit known; undone by free, also half-made. */
int      mem_shelves_make(struct xk_mempool *p, const struct xk_mem_conf *c);
void     mem_shelves_free(struct xk_mempool *p);
/* Buffers that lie there at most; now, while nothing runs. */
uint64_t mem_shelves_cap(const struct xk_mempool *p, enum xk_memclass c);
uint64_t mem_shelves_free_of(const struct xk_mempool *p, enum xk_memclass c);

#if defined(XK_DEBUG) || defined(XK_ASAN)
/* A buffer just carved, and a chunk about to be unmapped. */
void mem_check_carve(enum xk_memclass c, void *b);
void mem_check_unmap(struct mem_chunk *k);
#else
#define mem_check_carve(c, b) ((void)0)
#define mem_check_unmap(k) ((void)0)
#endif

#endif
