/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_affinity_probes.c - what a message's time is made of, alone: a lock and a pool of memory that this
 * processor used last, or the other one; a copy of bytes that are cached, in no cache, or the other one's.
 *
 * A pool is what a virtual processor has of buffers, behind a lock, as one for several processors needs it.
 */
#include "tools/vp-bench/bench_affinity.h"

#include <string.h>

enum what { NOTHING, LOCK, ACQUIRE, RELEASE, COPY_CACHED, COPY_MEMORY, COPY_MOVED };

static const struct probe { const char *id, *doc; enum what what; bool moved; unsigned samples, bytes; } probes[] = {
	{ "clock", "reading the clock", NOTHING, false, 100, 0 },
	{ "lock", "taking and giving back a lock that this processor had last", LOCK, false, 100, 0 },
	{ "lock_moved", "that the other one had last", LOCK, true, 100, 0 },
	{ "acquire", "a buffer from a pool that this processor used last", ACQUIRE, false, 100, 0 },
	{ "acquire_moved", "that the other one used last", ACQUIRE, true, 100, 0 },
	{ "release", "a buffer back to it", RELEASE, false, 100, 0 },
	{ "release_moved", "that the other one used last", RELEASE, true, 100, 0 },
	{ "copy_cached", "a copy of bytes in the first level", COPY_CACHED, false, 40, 64 },
	{ "copy_cached", "", COPY_CACHED, false, 40, 512 },
	{ "copy_cached", "", COPY_CACHED, false, 40, 1024 },
	{ "copy_cached", "", COPY_CACHED, false, 40, 4096 },
	{ "copy_memory", "of bytes in no cache", COPY_MEMORY, false, 40, 64 },
	{ "copy_memory", "", COPY_MEMORY, false, 40, 512 },
	{ "copy_memory", "", COPY_MEMORY, false, 40, 1024 },
	{ "copy_memory", "", COPY_MEMORY, false, 40, 4096 },
	{ "copy_moved", "of bytes that the other processor wrote", COPY_MOVED, true, 40, 64 },
	{ "copy_moved", "", COPY_MOVED, true, 40, 512 },
	{ "copy_moved", "", COPY_MOVED, true, 40, 1024 },
	{ "copy_moved", "", COPY_MOVED, true, 40, 4096 },
};
#define ROOM 4096u

static char theirs[ROOM] XK_ALIGNED, ours[ROOM] XK_ALIGNED, to[ROOM] XK_ALIGNED;

static bool here(struct aff_rig *r, unsigned i, char *why)
{
	if (!probes[i].moved || r->pair != NULL)
		return true;
	snprintf(why, AFF_TEXT, "%s", r->why_one);
	return false;
}

/* ---- lock -------------------------------------------------------------------------------- */

static void take_lock(void *arg)
{
	struct aff_rig *r = arg;

	xk_lock_adaptive.lock(&r->lock);
	xk_lock_adaptive.unlock(&r->lock);
}

static double lock_ticks(struct aff_rig *r)
{
	uint64_t from = aff_ticks();

	take_lock(r);
	return (double)(aff_ticks() - from);
}

/* ---- memory ------------------------------------------------------------------------------- */

static struct xk_vp *pool(struct aff_rig *r) { return aff_vp(r, AFF_RECEIVE, AFF_ONE, AFF_OURS); }

static void *get(struct aff_rig *r, struct xk_vp *vp)
{
	void *b;

	xk_lock_adaptive.lock(&r->lock);
	b = xk_mem_get(&vp->mem, XK_MEM_SMALL);
	xk_lock_adaptive.unlock(&r->lock);
	return b;
}

static void put(struct aff_rig *r, struct xk_vp *vp, void *b)
{
	xk_lock_adaptive.lock(&r->lock);
	if (b != NULL)
		xk_mem_put(&vp->mem, XK_MEM_SMALL, b);
	xk_lock_adaptive.unlock(&r->lock);
}

static void get_and_put(void *arg)
{
	struct aff_rig *r = arg;
	struct xk_vp *vp = pool(r);

	xk_vp_enter_idle(vp);
	put(r, vp, get(r, vp));
	xk_vp_leave_idle(vp);
}

/* Who enters a virtual processor touches its first line, not its pool. */
static double acquire_ticks(struct aff_rig *r)
{
	struct xk_vp *vp = pool(r);
	uint64_t from, ticks;
	void *b;

	xk_vp_enter_idle(vp);
	from = aff_ticks();
	b = get(r, vp);
	ticks = aff_ticks() - from;
	put(r, vp, b);
	xk_vp_leave_idle(vp);
	return (double)ticks;
}

static double release_ticks(struct aff_rig *r, bool moved)
{
	struct xk_vp *vp = pool(r);
	uint64_t from, ticks;
	void *b;

	xk_vp_enter_idle(vp);
	b = get(r, vp);
	xk_vp_leave_idle(vp);
	if (moved)
		aff_pair_do(r->pair, get_and_put, r);
	xk_vp_enter_idle(vp);
	from = aff_ticks();
	put(r, vp, b);
	ticks = aff_ticks() - from;
	xk_vp_leave_idle(vp);
	return (double)ticks;
}

/* ---- copies ----------------------------------------------------------------------------------- */

static void write_theirs(void *arg)
{
	(void)arg;
	memset(theirs, 1, sizeof theirs);
}

static double copy_ticks(const char *from, size_t n)
{
	uint64_t begun = aff_ticks(), ticks;

	memcpy(to, from, n);
	__asm__ volatile("" ::: "memory");
	ticks = aff_ticks() - begun;
	return (double)ticks;
}

/* Puts what this processor has of n bytes out of all caches. */
static void to_memory(struct aff_rig *r, char *p, size_t n)
{
#if defined(__x86_64__)
	for (size_t i = 0; i < n; i += XK_CACHELINE)
		__builtin_ia32_clflush(p + i);
	__builtin_ia32_mfence();
	(void)r;
#else
	(void)p;
	(void)n;
	aff_flush_all(&r->caches);
#endif
}

static double sample(struct aff_rig *r, unsigned i)
{
	const struct probe *p = &probes[i];
	uint64_t from;

	memset(to, 0, sizeof to);
	switch (p->what) {
	case LOCK:
		take_lock(r);
		if (p->moved)
			aff_pair_do(r->pair, take_lock, r);
		return lock_ticks(r);
	case ACQUIRE:
		get_and_put(r);
		if (p->moved)
			aff_pair_do(r->pair, get_and_put, r);
		return acquire_ticks(r);
	case RELEASE:
		get_and_put(r);
		return release_ticks(r, p->moved);
	case COPY_CACHED:
		memset(ours, 1, sizeof ours);
		return copy_ticks(ours, p->bytes);
	case COPY_MEMORY:
		to_memory(r, ours, sizeof ours);
		return copy_ticks(ours, p->bytes);
	case COPY_MOVED:
		aff_pair_do(r->pair, write_theirs, NULL);
		return copy_ticks(theirs, p->bytes);
	case NOTHING: break;
	}
	from = aff_ticks();
	return (double)(aff_ticks() - from);
}

static unsigned samples(unsigned i) { return probes[i].samples; }

static json_t *head(unsigned i)
{
	return json_pack("{s:s, s:s, s:i}", "id", probes[i].id, "doc", probes[i].doc, "bytes", (int)probes[i].bytes);
}

const struct aff_part aff_probes = { "probes", (unsigned)XK_ARRAY_LEN(probes), here, sample, samples, head };
