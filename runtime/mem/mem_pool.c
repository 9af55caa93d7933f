/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mem_pool.c - a graph's stock of message buffers: chunks, carving, accounts.
 *
 * Buffers are carved on demand and never uncarved; the limit is on what was
 * carved.  VPs come here with batches only, so one mutex does.
 *   operation x operation: take and give exclude each other by the pool's
 *   lock; new, free and stats need everything at rest.
 * Invariant: per class, carved = stock.nfree + buffers in VPs, out or travelling.
 */
#include "runtime/mem/xk_mem.h"
#include "runtime/mem/mem_priv.h"

#include <sys/mman.h>

const uint32_t xk_mem_size[XK_MEM_CLASSES] = {
	XK_MEM_SMALL_SIZE, XK_MEM_MEDIUM_SIZE, XK_MEM_LARGE_SIZE
};
#define ODD_LINES(n) ((n) % XK_CACHELINE == 0 && (n) / XK_CACHELINE % 2 == 1)
_Static_assert(ODD_LINES(XK_MEM_SMALL_SIZE) && ODD_LINES(XK_MEM_MEDIUM_SIZE) &&
	       ODD_LINES(XK_MEM_LARGE_SIZE), "strides colour the cache");

#define DEFAULT_LIMIT ((uint64_t)1 << 30)
#define CAP_MIN 16u           /* below this a VP would live on the shared lock */

int xk_mempool_new(struct xk_mempool **pool, const struct xk_mem_conf *c, unsigned nvps)
{
	struct xk_mempool *p;

	*pool = NULL;
	if (nvps == 0 || nvps > XK_VP_MAX)
		return XK_E_INVAL;
	p = xk_alloc(sizeof(*p) + nvps * sizeof(p->vp[0]));
	if (p == NULL)
		return XK_E_NOMEM;
	xk_mutex_init(&p->lock);
	p->limit = c->limit ? c->limit : DEFAULT_LIMIT;
	p->huge = c->huge;
	p->nvps = nvps;
	if (mem_shelves_make(p, c) != XK_OK) {
		xk_mempool_free(p);
		return XK_E_NOMEM;
	}
	for (unsigned i = 0; i < XK_MEM_CLASSES; i++) {
		struct mem_stock *s = &p->stock[i];

		s->idle = p->nshelves != 0 ? mem_shelves_cap(p, i) : (uint64_t)nvps * mem_cache_cap(p, i);
		s->idle *= xk_mem_size[i];
		s->calm = p->limit / 8 + (s->idle < p->limit / 4 ? s->idle : p->limit / 4);
	}
	*pool = p;
	return XK_OK;
}

/*
 * A quarter of the limit may lie in the caches of each class, shared evenly:
 * three classes together leave a quarter that always circulates.
 */
uint32_t mem_cache_cap(const struct xk_mempool *p, enum xk_memclass c)
{
	uint64_t cap = p->limit / 4 / p->nvps / xk_mem_size[c];

	return cap < CAP_MIN ? CAP_MIN : cap > XK_MEM_CACHE ? XK_MEM_CACHE : (uint32_t)cap;
}

/* ---- chunks ---------------------------------------------------------------- */

void *xk_mem_map(size_t n)
{
	char *p = mmap(NULL, n + XK_MEM_CHUNK, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	size_t lead;

	if (p == MAP_FAILED)
		return NULL;
	lead = -(uintptr_t)p & (XK_MEM_CHUNK - 1);
	if (lead != 0)
		munmap(p, lead);
	munmap(p + lead + n, XK_MEM_CHUNK - lead);
	return p + lead;
}

static void *map_hugetlb(struct xk_mempool *p)
{
	void *m;

	if (!p->huge || p->no_hugetlb)
		return NULL;
	/* Reserved at once, so that a later touch cannot fail. */
	m = mmap(NULL, XK_MEM_CHUNK, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | (21 << MAP_HUGE_SHIFT), -1, 0);
	if (m != MAP_FAILED)
		return m;
	p->no_hugetlb = true;
	return NULL;
}

void xk_mempool_give(struct xk_mempool *p, enum xk_memclass c, void *chunks, size_t n)
{
	struct mem_stock *s = &p->stock[c];

	xk_assert((uintptr_t)chunks % XK_MEM_CHUNK == 0);
	xk_mutex_lock(&p->lock);
	while (n-- > 0) {
		struct mem_chunk *k = (void *)((char *)chunks + n * XK_MEM_CHUNK);

		k->pool = p;
		k->cls = c;
		k->huge = p->huge && madvise(k, XK_MEM_CHUNK, MADV_HUGEPAGE) == 0;
		(void)madvise(k, XK_MEM_CHUNK, MADV_DONTDUMP);    /* a core file has nobody's payload */
		k->next = s->given;
		s->given = k;
	}
	xk_mutex_unlock(&p->lock);
}

static struct mem_chunk *chunk_new(struct xk_mempool *p, enum xk_memclass c)
{
	struct mem_chunk *k = p->stock[c].given;
	bool huge;

	if (k != NULL) {
		p->stock[c].given = k->next;
		return k;
	}
	k = map_hugetlb(p);
	huge = k != NULL;
	if (k == NULL) {
		k = xk_mem_map(XK_MEM_CHUNK);
		if (k == NULL)
			return NULL;
		if (p->huge)
			huge = madvise(k, XK_MEM_CHUNK, MADV_HUGEPAGE) == 0;
	}
	k->pool = p;
	k->cls = c;
	k->huge = huge;
	return k;
}

/* ---- the stock --------------------------------------------------------------- */

/*
 * A buffer never changes its class, so the first class to grow could starve
 * the others for good: an eighth of the limit is kept for each.  Bytes that c may
 * still have.
 */
static uint64_t may_carve_locked(const struct xk_mempool *p, enum xk_memclass c)
{
	uint64_t kept = p->bytes;

	for (unsigned i = 0; i < XK_MEM_CLASSES; i++) {
		uint64_t has = p->stock[i].carved * xk_mem_size[i];

		if (i != c && has < p->limit / 8)
			kept += p->limit / 8 - has;
	}
	return kept < p->limit ? p->limit - kept : 0;
}

static void *carve_locked(struct xk_mempool *p, enum xk_memclass c)
{
	struct mem_stock *s = &p->stock[c];
	uint32_t size = xk_mem_size[c];
	struct mem_chunk *k;
	void *b;

	s->refused = s->scarce = true;
	if (may_carve_locked(p, c) < size)
		return NULL;
	if (s->chunks == NULL || s->next + size > XK_MEM_CHUNK) {
		k = chunk_new(p, c);
		if (k == NULL)
			return NULL;
		k->next = s->chunks;
		s->chunks = k;
		s->next = MEM_CHUNK_HEAD;
	}
	b = (char *)s->chunks + s->next;
	s->next += size;
	s->carved++;
	s->refused = s->scarce = false;
	p->bytes += size;
	mem_check_carve(c, b);
	return b;
}

/* ---- how full it is ------------------------------------------------------------ */

static uint64_t handed_out(const struct mem_stock *s, enum xk_memclass c)
{
	return (s->carved - s->nfree) * xk_mem_size[c];
}

static uint32_t fill_of_locked(const struct xk_mempool *p, enum xk_memclass c)
{
	const struct mem_stock *s = &p->stock[c];
	uint64_t out = handed_out(s, c), all = s->carved * xk_mem_size[c], idle;

	if (out <= s->calm && !s->refused)
		return 0;
	if (!s->refused)
		all += may_carve_locked(p, c);
	idle = s->idle < all / 2 ? s->idle : all / 2;
	if (out <= idle || all == 0)
		return 0;
	/* What does not fill a buffer is nothing. */
	if (s->nfree == 0 && out + xk_mem_size[c] > all)
		return XK_MEM_FULL;
	return (uint32_t)((out - idle) * XK_MEM_FULL / (all - idle));
}

static void set_fill_locked(struct xk_mempool *p)
{
	uint32_t most = 0;

	for (unsigned c = 0; c < XK_MEM_CLASSES; c++) {
		uint32_t fill = fill_of_locked(p, c);

		most = fill > most ? fill : most;
	}
	if (p->fill != most)
		xk_store_relaxed(&p->fill, most);
}

/* After a change of class c: nearly always it was nothing and still is. */
static inline void see_fill_locked(struct xk_mempool *p, enum xk_memclass c)
{
	const struct mem_stock *s = &p->stock[c];

	if (XK_UNLIKELY(p->fill != 0 || s->refused || handed_out(s, c) > s->calm))
		set_fill_locked(p);
}

/* There are no more than these: some for each VP, or those that come first would have all of them. */
static uint32_t fair_share(const struct xk_mempool *p, const struct mem_stock *s, uint32_t n)
{
	uint64_t each = s->nfree / p->nvps;

	return each >= n ? n : each == 0 ? 1 : (uint32_t)each;
}

uint32_t mem_stock_take(struct xk_mempool *p, enum xk_memclass c, void **out, uint32_t n)
{
	struct mem_stock *s = &p->stock[c];
	uint32_t i, got;

	xk_mutex_lock(&p->lock);
	p->trips++;
	if (XK_UNLIKELY(s->scarce))
		n = fair_share(p, s, n);
	for (got = 0; got < n; got++) {
		struct mem_dead *d = s->free;

		if (d != NULL) {
			s->free = (struct mem_dead *)d->link.next;
			s->nfree--;
		} else {
			d = carve_locked(p, c);
			if (d == NULL)
				break;
		}
		out[got] = d;
	}
	see_fill_locked(p, c);
	xk_mutex_unlock(&p->lock);
	for (i = 0; i < got / 2; i++) {
		void *t = out[i];

		out[i] = out[got - 1 - i];
		out[got - 1 - i] = t;
	}
	return got;
}

void mem_stock_give(struct xk_mempool *p, enum xk_memclass c, void *const *b, uint32_t n)
{
	struct mem_stock *s = &p->stock[c];
	uint32_t i;

	xk_mutex_lock(&p->lock);
	p->trips++;
	for (i = 0; i < n; i++) {
		struct mem_dead *d = b[i];

		d->link.next = (struct xk_qlink *)s->free;
		s->free = d;
	}
	s->nfree += n;
	if (XK_UNLIKELY(s->refused))
		s->refused = s->nfree < s->carved / 4;
	see_fill_locked(p, c);
	xk_mutex_unlock(&p->lock);
}

/* ---- accounts ------------------------------------------------------------------ */

uint64_t xk_mempool_trips(const struct xk_mempool *p)
{
	return p->trips;
}

/* Buffers of class c that a VP holds for itself or for others. */
static uint64_t held(const struct xk_memvp *v, enum xk_memclass c)
{
	uint64_t n = v->cache[c].n + v->ncold[c];
	const struct xk_qlink *q;
	uint32_t i;

	for (i = 0; i < v->nforeign; i++)
		n += ((const struct mem_dead *)v->foreign[i])->cls == c;
	for (q = v->returned.head; q != NULL; q = q->next)
		n += ((const struct mem_dead *)q)->cls == c;
	return n;
}

void xk_mempool_stats(const struct xk_mempool *p, struct xk_mem_stats out[XK_MEM_CLASSES])
{
	for (unsigned c = 0; c < XK_MEM_CLASSES; c++) {
		const struct mem_stock *s = &p->stock[c];
		const struct mem_chunk *k;
		struct xk_mem_stats *o = &out[c];

		o->carved = s->carved;
		o->bytes = s->carved * xk_mem_size[c];
		o->free = s->nfree + mem_shelves_free_of(p, (enum xk_memclass)c);
		for (unsigned i = 0; i < p->nvps; i++)
			if (p->vp[i] != NULL)
				o->free += held(p->vp[i], (enum xk_memclass)c);
		o->outstanding = o->carved - o->free;
		o->huge = s->chunks != NULL;
		for (k = s->chunks; k != NULL; k = k->next)
			o->huge = o->huge && k->huge;
	}
}

static void unmap(struct mem_chunk *k)
{
	struct mem_chunk *next;

	for (; k != NULL; k = next) {
		next = k->next;
		mem_check_unmap(k);
		munmap(k, XK_MEM_CHUNK);
	}
}

uint64_t xk_mempool_free(struct xk_mempool *p)
{
	uint64_t leaked = 0;

	if (p == NULL)
		return 0;
	for (unsigned i = 0; i < p->nvps; i++)
		xk_assert(p->vp[i] == NULL);
	mem_shelves_free(p);
	for (unsigned c = 0; c < XK_MEM_CLASSES; c++) {
		leaked += p->stock[c].carved - p->stock[c].nfree;
		unmap(p->stock[c].chunks);
		unmap(p->stock[c].given);
	}
	xk_mutex_fini(&p->lock);
	xk_free(p);
	return leaked;
}
