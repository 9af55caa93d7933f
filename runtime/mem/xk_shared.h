/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_shared.h - memory of this process that another one may look at.
 *
 * What lies here is written with plain stores, like all other memory; who is given a
 * descriptor of it maps it read-only and sees them.  So counters that live here are read
 * without the running process doing anything.  It grows as objects are asked for, and goes
 * back to the system all at once.  An object that is given back before keeps all but its first
 * 16 bytes for who looks at it yet, until xk_shared_reuse says that those have been told.
 * Control path only; get, put, has, offset and size by any thread.
 */
#ifndef XK_SHARED_H
#define XK_SHARED_H

#include "runtime/base/xk_base.h"

struct xk_shared;

/* XK_E_NOMEM; or what the system said when it has no such memory. */
int  xk_shared_new(struct xk_shared **s);
void xk_shared_free(struct xk_shared *s);          /* NULL is legal */
/* The first page of the file, for who wants to say what is where. */
void *xk_shared_head(const struct xk_shared *s);
/* Zeroed; `page` begins a page, else a cache line, chosen so that objects asked for one after
 * the other do not meet in one set of a cache.  NULL: out of memory. */
void *xk_shared_get(struct xk_shared *s, size_t size, bool page);
/* p, of this size, that did not begin a page: behind its first 16 bytes it stays as it is until reuse is called, and
 * is got again later. */
void  xk_shared_put(struct xk_shared *s, void *p, size_t size);
/* What has been put until now may be got again, by whom asks for the same size. */
void  xk_shared_reuse(struct xk_shared *s);
/* Did p come from here? */
bool xk_shared_has(const struct xk_shared *s, const void *p);
/* Where p, which came from here, lies in the file. */
uint64_t xk_shared_offset(const struct xk_shared *s, const void *p);
/* Bytes of the file. */
uint64_t xk_shared_size(const struct xk_shared *s);
/* A new descriptor that can only be read; the caller closes it.  Negative: an error. */
int  xk_shared_reader(const struct xk_shared *s);

#endif
