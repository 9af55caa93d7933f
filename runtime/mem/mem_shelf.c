/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mem_shelf.c - pools of free buffers that threads share: one of each processor, or one of all.
 *
 * Free-memory affinity of Salehi and others (1995, 2.1 and footnote 5): a pool is an array, an index and a
 * lock.  VPs then have no room for buffers of their own, each taking and each giving is one of a shelf, and
 * no buffer goes home: it is whoever's processor frees it.  A shelf that is empty or full trades a batch with the
 * stock, whose lock is the inner one.
 *   operation x operation: take and give of one shelf exclude each other by its lock.
 * Invariant: slots below n hold free buffers, each with who freed it.
 */
#include "runtime/mem/mem_priv.h"
#include "runtime/sync/xk_sim.h"

/* Of one class. */
struct rack { void **slot; uint16_t *by; uint32_t n, cap; };

struct mem_shelf {
	struct xk_lock     lock;
	struct xk_lockstat stat;
	struct rack        rack[XK_MEM_CLASSES];
	/* Buffers taken that the same processor had freed, another one had; written under the lock. */
	xk_counter         hits, moves;
} XK_ALIGNED;

_Thread_local uint16_t xk_mem_processor __attribute__((tls_model("initial-exec")));

/* ---- life ------------------------------------------------------------------------------------ */

static int rack_make(struct rack *k, uint32_t cap)
{
	k->cap = cap;
	k->slot = xk_alloc(cap * sizeof *k->slot);
	k->by = xk_alloc(cap * sizeof *k->by);
	return k->slot != NULL && k->by != NULL ? XK_OK : XK_E_NOMEM;
}

/* A quarter of the limit may lie on all shelves of a class, as in the caches of VPs. */
static uint32_t rack_cap(const struct xk_mempool *p, enum xk_memclass c, unsigned nprocs)
{
	uint64_t cap = p->limit / 4 / p->nshelves / xk_mem_size[c], most = XK_MEM_CACHE;

	if (p->nshelves == 1)
		most *= nprocs;
	return (uint32_t)(cap < 1 ? 1 : cap > most ? most : cap);
}

int mem_shelves_make(struct xk_mempool *p, const struct xk_mem_conf *c)
{
	unsigned nprocs = c->processors + 1;     /* and all threads that are none of the set's */
	size_t bytes;
	int err = XK_OK;

	if (c->freelist == XK_FREELIST_VP)
		return XK_OK;
	p->nshelves = c->freelist == XK_FREELIST_GLOBAL ? 1 : nprocs;
	bytes = p->nshelves * sizeof *p->shelf;
	p->shelf_block = xk_alloc(bytes + XK_CACHELINE);
	if (p->shelf_block == NULL)
		return XK_E_NOMEM;
	p->shelf = (void *)(((uintptr_t)p->shelf_block + XK_CACHELINE - 1) & ~(uintptr_t)(XK_CACHELINE - 1));
	p->shelf_lock = c->lock != NULL ? c->lock : &xk_lock_adaptive;
	for (unsigned i = 0; i < p->nshelves; i++) {
		p->shelf_lock->init(&p->shelf[i].lock);
		p->shelf[i].stat.untimed = c->lock_untimed;
		for (unsigned k = 0; err == XK_OK && k < XK_MEM_CLASSES; k++)
			err = rack_make(&p->shelf[i].rack[k], rack_cap(p, k, nprocs));
	}
	return err;
}

void mem_shelves_free(struct xk_mempool *p)
{
	for (unsigned i = 0; p->shelf != NULL && i < p->nshelves; i++) {
		struct mem_shelf *s = &p->shelf[i];

		for (unsigned k = 0; k < XK_MEM_CLASSES; k++) {
			if (s->rack[k].n != 0)
				mem_stock_give(p, (enum xk_memclass)k, s->rack[k].slot, s->rack[k].n);
			xk_free(s->rack[k].slot);
			xk_free(s->rack[k].by);
		}
		p->shelf_lock->fini(&s->lock);
	}
	xk_free(p->shelf_block);
	p->shelf = NULL;
}

uint64_t mem_shelves_cap(const struct xk_mempool *p, enum xk_memclass c)
{
	return (uint64_t)p->nshelves * p->shelf[0].rack[c].cap;
}

uint64_t mem_shelves_free_of(const struct xk_mempool *p, enum xk_memclass c)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < p->nshelves; i++)
		n += p->shelf[i].rack[c].n;
	return n;
}

/* ---- taking and giving ------------------------------------------------------------------------- */

uint16_t xk_mem_here(void)
{
	return xk_sim_self != NULL ? (uint16_t)xk_sim_processor() : xk_mem_processor;
}

static inline struct mem_shelf *shelf_of(const struct xk_mempool *p, uint16_t me)
{
	return &p->shelf[me < p->nshelves ? me : 0];
}

uint32_t mem_shelf_take(struct xk_mempool *p, enum xk_memclass c, void **out)
{
	uint16_t me = xk_mem_here();
	struct mem_shelf *s = shelf_of(p, me);
	struct rack *k = &s->rack[c];
	uint32_t got = 1, n;

	xk_lock_take(p->shelf_lock, &s->lock, &s->stat);
	if (k->n != 0) {
		*out = k->slot[--k->n];
		if (k->by[k->n] == me)
			xk_count(s->hits);
		else
			xk_count(s->moves);
	} else {
		n = k->cap < XK_MEM_BATCH ? k->cap : XK_MEM_BATCH;
		n = mem_stock_take(p, c, k->slot, n);
		for (uint32_t i = 0; i < n; i++)
			k->by[i] = me;           /* nobody's cache has them, as far as is known */
		got = n != 0;
		if (got != 0)
			*out = k->slot[n - 1];
		k->n = n - got;
	}
	xk_lock_drop(p->shelf_lock, &s->lock, &s->stat);
	return got;
}

void mem_shelf_give(struct xk_mempool *p, enum xk_memclass c, void *b)
{
	uint16_t me = xk_mem_here();
	struct mem_shelf *s = shelf_of(p, me);
	struct rack *k = &s->rack[c];
	uint32_t n;

	xk_lock_take(p->shelf_lock, &s->lock, &s->stat);
	if (k->n == k->cap) {
		n = k->cap < XK_MEM_BATCH ? k->cap : XK_MEM_BATCH;
		k->n -= n;
		mem_stock_give(p, c, k->slot + k->n, n);
	}
	k->by[k->n] = me;
	k->slot[k->n++] = b;
	xk_lock_drop(p->shelf_lock, &s->lock, &s->stat);
}

/* ---- what is counted ------------------------------------------------------------------------------ */

void xk_mempool_freelist(const struct xk_mempool *p, struct xk_freelist_counts *out)
{
	struct xk_lock_counts lock;

	*out = (struct xk_freelist_counts){ .shelves = p->nshelves };
	for (unsigned i = 0; i < p->nshelves; i++) {
		const struct mem_shelf *s = &p->shelf[i];

		out->hits += xk_counter_read(s->hits);
		out->moves += xk_counter_read(s->moves);
		xk_lockstat_read(&s->stat, &lock);
		xk_lock_counts_add(&out->lock, &lock, 1);
	}
}

void xk_freelist_counts_add(struct xk_freelist_counts *sum, const struct xk_freelist_counts *c, int sign)
{
	uint64_t by = (uint64_t)(int64_t)sign;

	sum->hits += by * c->hits;
	sum->moves += by * c->moves;
	xk_lock_counts_add(&sum->lock, &c->lock, sign);
}
