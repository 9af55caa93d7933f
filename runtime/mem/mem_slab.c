/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mem_slab.c - typed slabs over one reservation, so that 32 bits name an object.
 *
 * The reservation is address space only; it becomes memory 2 MiB at a time,
 * and such a block is halved until it fits the run that is asked for.  A run
 * starts with one line of its own, so handle 0 names no object; the rest is
 * carved lazily, object by object.  Runs of a freed slab wait, by size, for
 * the next slab; they are never joined again: the same graph made again asks
 * for the same sizes and finds them.
 *   get, put on one slab: exclude each other from outside (its owner does);
 *   on different slabs: no help needed, runs are had under the lock.
 * Invariant: every byte of a block is in one run, and that run is in a slab's
 * list or in one free list.
 */
#include "runtime/mem/xk_mem.h"
#include "runtime/mem/mem_priv.h"

#include <string.h>
#include <sys/mman.h>

#define RUN_MIN_SHIFT 10u         /* most layers of a large graph have an object or two */
#define RUN_MAX_SHIFT 21u
#define SET_BYTES     4096u       /* after so many the first-level cache uses the same set again */
#define SET_STEP      (39u * XK_CACHELINE)  /* about 0.618 of them; odd lines: meets every set */
#define RUN_SIZES (RUN_MAX_SHIFT - RUN_MIN_SHIFT + 1)

struct run {
	struct run *next;
	uint32_t    size;     /* bytes, this line included */
	uint32_t    base;     /* offset of place 0 */
	uint32_t    places;   /* objects that fit */
	uint32_t    first;    /* place of the object carved first; the others follow, and wrap */
	uint32_t    carved;   /* objects ever taken */
} XK_ALIGNED;
_Static_assert(sizeof(struct run) == XK_CACHELINE, "objects start on the next line");

char *xk_slab_base;

static struct {
	struct xk_mutex lock;           /* guards all here; innermost */
	size_t          reserved, used; /* bytes: address space, turned to memory */
	size_t          held;           /* bytes of runs that slabs have */
	struct run     *free[RUN_SIZES];
	uint32_t        colour;         /* where the next run's first object would best lie; a multiple of a line */
} heap;

__attribute__((constructor)) static void heap_init(void)
{
	xk_mutex_init(&heap.lock);
}

/* ---- runs ------------------------------------------------------------------- */

/* As much address space as handles can name, or what the system grants. */
static bool reserve_locked(void)
{
	static const unsigned gib[] = { 256, 64, 16, 4 };

	for (unsigned i = 0; i < XK_ARRAY_LEN(gib); i++) {
		size_t n = (size_t)gib[i] << 30;
		char *p = mmap(NULL, n, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		size_t lead;

		if (p == MAP_FAILED)
			continue;
		lead = -(uintptr_t)p & (((size_t)1 << RUN_MAX_SHIFT) - 1);
		heap.reserved = n - lead - ((n - lead) & (((size_t)1 << RUN_MAX_SHIFT) - 1));
		xk_slab_base = p + lead;
		return true;
	}
	return false;
}

/* Turns the next 2 MiB of the reservation into memory. */
static struct run *block_locked(void)
{
	size_t n = (size_t)1 << RUN_MAX_SHIFT;
	char *b;

	if (heap.reserved == 0 && !reserve_locked())
		return NULL;
	b = xk_slab_base + heap.used;
	if (heap.used + n > heap.reserved || mprotect(b, n, PROT_READ | PROT_WRITE) != 0)
		return NULL;
	(void)madvise(b, n, MADV_HUGEPAGE);   /* a wish, no more */
	heap.used += n;
	return (struct run *)b;
}

static struct run *take_locked(unsigned k)
{
	unsigned from = k;
	struct run *r;

	while (from < RUN_SIZES && heap.free[from] == NULL)
		from++;
	if (from < RUN_SIZES) {
		r = heap.free[from];
		heap.free[from] = r->next;
	} else {
		r = block_locked();
		if (r == NULL)
			return NULL;
		from = RUN_SIZES - 1;
	}
	while (from > k) {                    /* the upper half is free */
		struct run *half = (struct run *)((char *)r + ((size_t)1 << (RUN_MIN_SHIFT + --from)));

		half->next = heap.free[from];
		heap.free[from] = half;
	}
	return r;
}

static unsigned size_index(uint32_t size)
{
	return 31u - (unsigned)__builtin_clz(size) - RUN_MIN_SHIFT;
}

/*
 * Where a run's objects lie.  Runs are aligned, and a path through many layers
 * has an object or two in the first run of each: were all at one offset, they
 * would meet in the few ways of one set of the first-level cache.  So each run
 * carves its first object somewhere else and wraps round: no byte is lost by it.
 * Steps of the golden ratio keep any few that follow one another far apart.
 */
static void place_locked(struct run *r, uint32_t object)
{
	uint32_t room = r->size - (uint32_t)sizeof(*r), spare = room % object;
	uint32_t lead = heap.colour % (spare + XK_CACHELINE) & ~(XK_CACHELINE - 1u);

	r->places = room / object;
	r->base = (uint32_t)sizeof(*r) + lead;
	r->first = (heap.colour - lead) / object % r->places;
	r->carved = 0;
	heap.colour = (heap.colour + SET_STEP) % SET_BYTES;
}

static struct run *run_new(uint32_t size, uint32_t object)
{
	struct run *r;

	xk_mutex_lock(&heap.lock);
	r = take_locked(size_index(size));
	if (r != NULL) {
		r->size = size;
		heap.held += size;
		place_locked(r, object);
	}
	xk_mutex_unlock(&heap.lock);
	return r;
}

/* ---- slabs ------------------------------------------------------------------- */

void xk_slab_init(struct xk_slab *s, size_t size)
{
	memset(s, 0, sizeof(*s));
	xk_assert(size != 0 && size <= ((size_t)1 << RUN_MAX_SHIFT) - 2 * XK_CACHELINE);
	s->size = (uint32_t)((size + XK_CACHELINE - 1) & ~(size_t)(XK_CACHELINE - 1));
	s->run_next = 1u << RUN_MIN_SHIFT;
	while (s->run_next < s->size + sizeof(struct run))
		s->run_next *= 2;
}

void xk_slab_init_halves(struct xk_slab *s)
{
	xk_slab_init(s, XK_SLAB_HALF);
	s->size = XK_SLAB_HALF;
}

void xk_slab_fini(struct xk_slab *s)
{
	struct run *r = s->runs, *next;

	xk_assert(s->live == 0);
	xk_mutex_lock(&heap.lock);
	for (; r != NULL; r = next) {
		unsigned k = size_index(r->size);

		next = r->next;
		heap.held -= r->size;
		r->next = heap.free[k];
		heap.free[k] = r;
	}
	xk_mutex_unlock(&heap.lock);
	s->runs = s->free = NULL;
}

uint64_t xk_slab_bytes(void)
{
	uint64_t n;

	xk_mutex_lock(&heap.lock);
	n = heap.held;
	xk_mutex_unlock(&heap.lock);
	return n;
}

static void **link_of(const struct xk_slab *s, void *o)
{
	return (void **)((char *)o + s->size - sizeof(void *));
}

static XK_NOINLINE void *fresh(struct xk_slab *s)
{
	struct run *r = s->runs;
	uint32_t place;

	if (r == NULL || r->carved == r->places) {
		r = run_new(s->run_next, s->size);
		if (r == NULL)
			return NULL;
		r->next = s->runs;
		s->runs = r;
		if (s->run_next < 1u << RUN_MAX_SHIFT)
			s->run_next *= 2;
	}
	place = r->first + r->carved++;
	if (place >= r->places)
		place -= r->places;
	return (char *)r + r->base + (size_t)place * s->size;
}

/* Most objects are a line or two: fewer instructions than a call. */
static inline void *clear(char *o, uint32_t size)
{
	if (XK_UNLIKELY(size != XK_CACHELINE && size != 2 * XK_CACHELINE))
		return memset(o, 0, size);
	memset(o, 0, XK_CACHELINE);
	memset(o + size - XK_CACHELINE, 0, XK_CACHELINE);
	return o;
}

void *xk_slab_get(struct xk_slab *s)
{
	void *o;

	if (xk_mem_fails())
		return NULL;
	o = s->free;
	if (o != NULL)
		s->free = *link_of(s, o);
	else if ((o = fresh(s)) == NULL)
		return NULL;
	s->live++;
	return clear(o, s->size);
}

/* Runs are numbered from the oldest, objects of a run in the order they are carved: neither
 * changes when there are more.  The cursor is a run's number and an object's. */
bool xk_slab_walk(const struct xk_slab *s, uint64_t *cursor, unsigned max, void (*fn)(void *o, void *arg), void *arg)
{
	uint64_t nruns = 0, no = *cursor >> 32, k = *cursor & UINT32_MAX;

	for (const struct run *r = s->runs; r != NULL; r = r->next)
		nruns++;
	for (; no < nruns; no++, k = 0) {
		const struct run *r = s->runs;

		for (uint64_t i = nruns - 1; i > no; i--)
			r = r->next;
		for (; k < r->carved && max != 0; k++, max--)
			fn((char *)(uintptr_t)r + r->base + (r->first + k) % r->places * s->size, arg);
		if (k < r->carved) {
			*cursor = no << 32 | k;
			return true;
		}
	}
	*cursor = no << 32;
	return false;
}

#ifdef XK_DEBUG
/* A second put is most often soon after the first: look at the newest. */
static void check_put(const struct xk_slab *s, void *o)
{
	void *f = s->free;

	xk_assert(s->live != 0);
	xk_assert(((uintptr_t)o & ((s->size < XK_CACHELINE ? XK_SLAB_HALF : XK_CACHELINE) - 1)) == 0);
	xk_assert((char *)o > xk_slab_base && (char *)o < xk_slab_base + heap.reserved);
	for (unsigned i = 0; f != NULL && i < 64; i++, f = *link_of(s, f))
		if (f == o)
			xk_panic(__FILE__, __LINE__, "object %p (handle %u) put twice", o, xk_slab_handle(o));
}
#else
#define check_put(s, o) ((void)0)
#endif

void xk_slab_put(struct xk_slab *s, void *o)
{
	check_put(s, o);
	*link_of(s, o) = s->free;
	s->free = o;
	s->live--;
}
