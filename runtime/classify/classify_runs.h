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
	uint32_t bare;                   /* bit i: no key, so there is no flow; its words are 0 */
	uint32_t flags;                  /* of all frames together */
	unsigned n;
};

static inline void runs_begin(struct runs *r)
{
	r->bare = r->flags = 0;
	r->n = 0;
}

/* One begins with frame `first`; key NULL: it has none. */
static inline void runs_add(struct runs *r, unsigned first, const struct xk_key *key, uint32_t hash)
{
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

/* A run for each frame of every run of *nruns: one of them is not plain. */
void classify_runs_apart(struct xk_run *run, unsigned *nruns);

static inline void runs_fetch(const struct xk_table *t, const struct runs *r)
{
	for (unsigned i = 0; i < r->n; i++)
		xk_table_fetch(xk_table_home(t, r->hash[i]));
}

_Static_assert(offsetof(struct xk_flow, node) == 0, "a flow's node is the flow");

/* From the runs' buckets to flows with a fitting tag, and fetches those. */
static inline void runs_aim(const struct xk_table *t, const struct runs *r, struct xk_flow **flow)
{
	for (unsigned i = 0; i < r->n; i++) {
		const struct xk_bucket *b = xk_table_home(t, r->hash[i]);
		unsigned fit = xk_bucket_match(b, xk_table_tag(r->hash[i]));

		flow[i] = NULL;
		if (XK_LIKELY(fit != 0)) {
			flow[i] = xk_slab_ptr(xk_load_acquire(&b->h[__builtin_ctz(fit)]));
			xk_table_fetch(flow[i]);
		}
	}
}

/* The flow of run number i, where the one that its tag led to is another or there is none. */
static XK_NOINLINE struct xk_flow *runs_find(const struct xk_table *t, const struct runs *r, unsigned i)
{
	const struct xk_key key = { { r->w0[i], r->w1[i] } };

	return r->bare >> i & 1 ? NULL : (void *)xk_table_find(t, r->hash[i], &key);
}

/* The verdicts of n frames; returns how many runs there are in the end. */
static inline unsigned runs_say(const struct xk_flowtab *tab, const struct xk_table *t, const struct runs *r, unsigned n,
				struct xk_run *run)
{
	struct xk_flow *flow[CLASSIFY_BURST];
	unsigned nruns = r->n, end = n;

	runs_fetch(t, r);
	runs_aim(t, r, flow);
	for (unsigned i = nruns; i-- > 0; end = r->first[i]) {
		struct xk_flow *f = flow[i];

		if (XK_UNLIKELY(f == NULL) || XK_UNLIKELY((r->bare >> i & 1) != 0) ||
		    XK_UNLIKELY(!xk_node_has(&f->node, r->w0[i], r->w1[i])))
			f = runs_find(t, r, i);
		run[i].flow = f;
		run[i].hash = r->hash[i];
		run[i].vp = XK_LIKELY(f != NULL) ? xk_load_relaxed(&f->vp) : flow_home(tab, r->hash[i]);
		run[i].n = (uint16_t)(end - r->first[i]);
	}
	if (XK_UNLIKELY(r->flags & CLASSIFY_NOT_PLAIN))
		classify_runs_apart(run, &nruns);
	return nruns;
}

#endif
