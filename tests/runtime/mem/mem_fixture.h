/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mem_fixture.h - a pool with a few VPs that a test enters by hand.
 *
 * Every test begins with nothing allocated and ends with every buffer and
 * block back.  fx_enter makes the calling thread the one inside a VP.
 */
#ifndef MEM_FIXTURE_H
#define MEM_FIXTURE_H

#include <CUnit/CUnit.h>

#include "runtime/mem/xk_mem.h"

#define FX_VPS 4u

struct fx {
	struct xk_mempool *pool;
	struct xk_memvp    vp[FX_VPS];
	unsigned           nvps;
	uint64_t           live;          /* xk_alloc_live before */
};
extern struct fx fx;

void fx_begin(uint64_t limit, bool huge, unsigned nvps);
/* Asserts that nothing is left; the VPs flush what they hold for others. */
void fx_end(void);
/* 64 MiB, ordinary pages, FX_VPS VPs, inside VP 0: as CUnit set-up functions. */
void fx_setup(void);
void fx_teardown(void);
void fx_enter(unsigned no);
void fx_leave(void);
/* Buffers that are neither free nor travelling, all classes. */
uint64_t fx_out(void);
/* Does fn(arg), in a child process, abort?  (The debug build's checks.) */
bool fx_aborts(void (*fn)(void *), void *arg);

#endif
