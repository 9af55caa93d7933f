/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_slab.h - typed slabs: memory of sessions and table entries.
 *
 * One slab serves objects of one size for one owner (a protocol replica).  Its
 * memory is type-stable until the slab itself is freed: a stale pointer still
 * points at an object of the same type, so a verified compare is enough.
 * Objects are cache-line aligned, zeroed when taken and named by a 32-bit
 * handle, unique in the process (0 is never one).  Owner only; no locks but
 * the one taken when a new 4 KiB..2 MiB run is had.
 *
 * Stale reads of a put object are legal and meet its old bytes, so neither the
 * debug build nor a sanitizer poisons slab memory.  A slab's runs go back to
 * the process when it is freed and serve the next slab that asks for their
 * size: memory held is bounded by the sum over run sizes of the peaks.
 */
#ifndef XK_SLAB_H
#define XK_SLAB_H

#include "runtime/base/xk_base.h"

struct xk_slab {
	uint32_t size;            /* rounded up to cache lines, or XK_SLAB_HALF */
	uint32_t live;            /* objects out */
	void    *free;            /* LIFO, linked at byte `size - 8` */
	void    *runs;            /* newest first; the newest is carved lazily */
	uint32_t run_next;        /* size of the next run, grows */
};
void  xk_slab_init(struct xk_slab *s, size_t size);
/* Of objects that take half a line, and that have no handle. */
#define XK_SLAB_HALF (XK_CACHELINE / 2)
void  xk_slab_init_halves(struct xk_slab *s);
void  xk_slab_fini(struct xk_slab *s);          /* live must be 0 */
void *xk_slab_get(struct xk_slab *s);           /* zeroed; NULL when out of memory */
/*
 * Calls fn for at most `max` objects ever taken, those put back since included: their
 * contents say which those are.  *cursor is 0 at first and then left alone; objects that are
 * out from the first call to the last are met exactly once.  True: there are more.
 */
bool  xk_slab_walk(const struct xk_slab *s, uint64_t *cursor, unsigned max, void (*fn)(void *o, void *arg), void *arg);
uint64_t xk_slab_bytes(void);                   /* of the runs of all slabs of the process */
void  xk_slab_put(struct xk_slab *s, void *o);  /* contents stay until reuse, but the last 8 bytes */

extern char *xk_slab_base;   /* start of the process-wide reservation */
static inline uint32_t xk_slab_handle(const void *o)
{
	return (uint32_t)(((uintptr_t)o - (uintptr_t)xk_slab_base) / XK_CACHELINE);
}
static inline void *xk_slab_ptr(uint32_t h)
{
	return xk_slab_base + (uint64_t)h * XK_CACHELINE;
}

#endif
