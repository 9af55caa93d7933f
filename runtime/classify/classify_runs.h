/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * classify_runs.h - from runs of frames whose keys and hashes are known to verdicts.
 *
 * In sweeps, so that all misses of a burst are under way together: buckets are fetched when
 * all hashes are made, then the flows whose tag fits, then keys are compared.  What a sweep
 * goes over lies side by side.  Nothing is remembered from one call to the next: any number of
 * VPs may be in here.
 * Invariant: first rises.
 */
#ifndef CLASSIFY_RUNS_H
#define CLASSIFY_RUNS_H

#include "runtime/classify/classify_priv.h"

#define CLASSIFY_BURST 32u

/* Keeps messages out of runs. */
#define CLASSIFY_NOT_PLAIN (XK_MSG_SLOW | XK_MSG_LINK_BCAST)

/* Runs of frames, each of one flow: number i begins with frame first[i]. */
struct runs {
	uint64_t w0[CLASSIFY_BURST], w1[CLASSIFY_BURST];  /* the key's words */
	uint32_t hash[CLASSIFY_BURST];
	uint8_t  first[CLASSIFY_BURST];
	uint32_t bare;                   /* bit i: no key, so there is no flow */
	uint32_t cut;                    /* bit i: its one frame is shorter than XK_FRAME_MIN */
	uint32_t flags;                  /* of all frames together */
	unsigned n;
};

static inline void runs_begin(struct runs *r)
{
	r->bare = r->cut = r->flags = 0;
	r->n = 0;
}

/* One begins with frame `first`, of len bytes; key NULL: it has none. */
static inline void runs_add(struct runs *r, unsigned first, uint32_t len, const struct xk_key *key, uint32_t hash)
{
	r->cut |= (uint32_t)(len < XK_FRAME_MIN) << r->n;
	r->w0[r->n] = key != NULL ? key->w[0] : 0;
	r->w1[r->n] = key != NULL ? key->w[1] : 0;
	r->bare |= (uint32_t)(key == NULL) << r->n;
	r->hash[r->n] = hash;
	r->first[r->n++] = (uint8_t)first;
}

/* Is this the key of the last one? */
static inline bool runs_last_is(const struct runs *r, const struct xk_key *key)
{
	return (r->bare >> (r->n - 1) & 1) == 0 && r->w0[r->n - 1] == key->w[0] && r->w1[r->n - 1] == key->w[1];
}

_Static_assert(offsetof(struct xk_flow, node) == 0, "a flow's node is the flow");

/* Where runs' keys are at home, and their tags; a tag is the lower half of its word. */
struct runs_home {
	uint64_t bucket[CLASSIFY_BURST];
	uint32_t tag[CLASSIFY_BURST];
};

/* In whole vectors; and fetches the buckets. */
static inline void runs_fetch(const struct xk_table *t, const struct runs *r, unsigned n, struct runs_home *home)
{
	const uint64_t first = (uintptr_t)t->bucket, buckets = t->buckets;

	for (unsigned i = 0; i < ((n + 7) & ~7u); i++) { /* xk_hash_part, times the size of a bucket */
		home->bucket[i] = first + (r->hash[i] * buckets >> 26 & ~UINT64_C(63));
		home->tag[i] = r->hash[i] | xk_table_tag(0);
	}
	XK_UNROLL
	for (unsigned i = 0; i < n; i++)
		xk_table_fetch((const void *)(uintptr_t)home->bucket[i]);
}
_Static_assert(sizeof(struct xk_bucket) == 64, "2^6");

/* From the runs' buckets to flows with a fitting tag, and fetches those, since the next sweep reads them;
 * without one, to no flow. */
static inline void runs_aim(const struct runs *r, unsigned n, const struct runs_home *home, struct xk_flow **flow)
{
	char *base = xk_slab_ptr(0);

	XK_UNROLL
	for (unsigned i = 0; i < n; i++) {
		const struct xk_bucket *b = (const struct xk_bucket *)(uintptr_t)home->bucket[i];

		flow[i] = xk_bucket_aim(b, (uint16_t)home->tag[i], base);
		__builtin_prefetch(flow[i]);
	}
	for (uint32_t bare = r->bare; XK_UNLIKELY(bare != 0); bare &= bare - 1)
		flow[__builtin_ctz(bare)] = NULL;
}

/* The flow in the last slot with the tag, the first of which is another's.  The two ends of a connection
 * hash alike: where both are in one graph they lie in one bucket, and the other end's, the younger, is the first. */
static inline struct xk_flow *runs_last(const struct xk_table *t, uint32_t hash)
{
	const struct xk_bucket *b = xk_table_home(t, hash);
	unsigned m = xk_bucket_match(b, xk_table_tag(hash));
	uint32_t h = m != 0 ? xk_load_acquire(&b->h[31 - __builtin_clz(m)]) : 0;

	return h != 0 ? xk_slab_ptr(h) : NULL;
}

static inline bool runs_is(const struct xk_flow *f, const struct runs *r, unsigned i)
{
	return XK_LIKELY(f != NULL) && XK_LIKELY(xk_node_has(&f->node, r->w0[i], r->w1[i]));
}

/* Run number i, where the flows that its tag led to are others or there is none. */
void classify_runs_find(const struct xk_flowtab *tab, const struct xk_table *t, const struct runs *r, unsigned i,
			struct xk_run *run);
/* Some frames are not plain: those are alone.  Returns how many runs there are then. */
unsigned classify_runs_apart(struct xk_run *run, unsigned nruns, struct xk_msg *const *m);

/* Run number i, of n frames, whose flow may be f: the first with its tag. */
static inline void runs_tell(const struct xk_flowtab *tab, const struct xk_table *t, const struct runs *r, unsigned i,
			     struct xk_flow *f, unsigned n, struct xk_run *run)
{
	if (XK_UNLIKELY(!runs_is(f, r, i))) {
		if (f != NULL)
			f = runs_last(t, r->hash[i]);
		if (!runs_is(f, r, i)) {
			run->hash = r->hash[i];
			run->n = (uint8_t)n;
			classify_runs_find(tab, t, r, i, run);
			return;
		}
	}
	*run = (struct xk_run){ .flow = f, .hash = r->hash[i], .vp = xk_load_relaxed(&f->vp), .n = (uint8_t)n, .plain = 1 };
}

/* Compares keys. */
static inline void runs_tell_all(const struct xk_flowtab *tab, const struct xk_table *t, const struct runs *r,
				 struct xk_flow *const *flow, unsigned n, struct xk_run *run)
{
	const unsigned nruns = r->n;

	if (nruns == n)
		for (unsigned i = 0; i < nruns; i++)
			runs_tell(tab, t, r, i, flow[i], 1, &run[i]);
	else
		for (unsigned i = 0; i < nruns; i++)
			runs_tell(tab, t, r, i, flow[i], (i + 1 < nruns ? r->first[i + 1] : n) - r->first[i], &run[i]);
}

/* The n frames are one run. */
static inline void runs_tell_one(const struct xk_flowtab *tab, const struct xk_table *t, const struct runs *r,
				 unsigned n, struct xk_run *run)
{
	const struct xk_key key = { { r->w0[0], r->w1[0] } };
	const struct xk_mapnode *f = XK_LIKELY(r->bare == 0) ? xk_table_find(t, r->hash[0], &key) : NULL;

	run->flow = (void *)(uintptr_t)f;
	run->hash = r->hash[0];
	run->vp = f != NULL ? xk_load_relaxed(&run->flow->vp) : flow_home(tab, run->hash);
	run->n = (uint8_t)n;
	run->plain = f != NULL;
}

/* The verdicts of n frames; returns how many runs there are in the end. */
static inline unsigned runs_say(const struct xk_flowtab *tab, const struct xk_table *t, const struct runs *r,
				struct xk_msg *const *m, unsigned n, struct xk_run *run)
{
	struct xk_flow *flow[CLASSIFY_BURST];
	struct runs_home home;
	const unsigned nruns = r->n;

	if (nruns == 1) {
		runs_tell_one(tab, t, r, n, run);
	} else {
		runs_fetch(t, r, nruns, &home);
		runs_aim(r, nruns, &home, flow);
		runs_tell_all(tab, t, r, flow, n, run);
	}
	if (XK_UNLIKELY(((r->flags & CLASSIFY_NOT_PLAIN) | r->cut) != 0))
		return classify_runs_apart(run, nruns, m);
	return nruns;
}

#endif
