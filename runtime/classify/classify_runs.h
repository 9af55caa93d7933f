/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * classify_runs.h - from runs of frames whose keys and hashes are known to verdicts.
 *
 * In sweeps, so that all misses of a burst are under way together: buckets were fetched when
 * the hashes were made, then the flows whose tag fits, then keys are compared.  Nothing is
 * remembered from one call to the next: any number of VPs may be in here.
 * Invariant: run[i].first rises.
 */
#ifndef CLASSIFY_RUNS_H
#define CLASSIFY_RUNS_H

#include "runtime/classify/classify_priv.h"

#define CLASSIFY_BURST 32u

/* Keeps messages out of runs. */
#define CLASSIFY_NOT_PLAIN (XK_MSG_SLOW | XK_MSG_LINK_BCAST)

/* Frames m[first..] up to the next run's, of one flow. */
struct run {
	struct xk_key         key;
	uint32_t              hash;
	uint16_t              first;     /* frame that began it */
	bool                  keyed;     /* key is set: there may be a flow */
	uint32_t              flow;      /* handle whose tag fits, to be compared; 0: none */
};

/* A run for each frame of every run: one of them is not plain. */
unsigned classify_runs_apart(struct run *run, unsigned nruns, unsigned n);

/* From the runs' buckets to flows with a fitting tag, and fetches those. */
static inline void runs_aim(const struct xk_table *t, struct run *run, unsigned n)
{
	for (struct run *r = run; r < run + n; r++) {
		const struct xk_bucket *b = xk_table_home(t, r->hash);
		unsigned fit = xk_bucket_match(b, xk_table_tag(r->hash));

		r->flow = 0;
		if (XK_LIKELY(r->keyed && fit != 0)) {
			r->flow = xk_load_acquire(&b->h[__builtin_ctz(fit)]);
			xk_table_fetch(xk_slab_ptr(r->flow));
		}
	}
}

_Static_assert(offsetof(struct xk_flow, node) == 0, "a flow's node is the flow");

/* The handle of a run's flow, or 0. */
static inline uint32_t run_flow(const struct xk_table *t, const struct run *r)
{
	const struct xk_mapnode *n;

	if (XK_LIKELY(r->flow != 0 && xk_node_is(xk_slab_ptr(r->flow), &r->key)))
		return r->flow;
	n = r->keyed ? xk_table_find(t, r->hash, &r->key) : NULL;
	return n != NULL ? xk_slab_handle(n) : 0;
}

/* The bytes of u.v, put together in a register. */
static inline uint64_t flow_name(uint32_t handle, uint16_t gen)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return handle | (uint64_t)gen << 32;
#else
	return (uint64_t)handle << 32 | (uint64_t)gen << 16;
#endif
}
_Static_assert(sizeof(((struct xk_msg *)0)->u.v) == sizeof(uint64_t), "a name is one word");

/* Writes the verdict of a run to its first frame. */
static inline void run_say(const struct xk_flowtab *tab, const struct run *r, uint32_t flow, struct xk_msg *x)
{
	uint32_t hash = r->hash;
	uint64_t name = 0;
	uint16_t vp;

	if (XK_LIKELY(flow != 0)) {
		const struct xk_flow *f = xk_slab_ptr(flow);

		name = flow_name(flow, xk_load_relaxed(&f->gen));
		vp = xk_load_relaxed(&f->vp);
	} else {
		vp = flow_home(tab, hash);
	}
	memcpy(&x->u.v, &name, sizeof(name));
	x->hash = hash;
	x->vp = vp;
}

/* Verdicts of n frames in nruns runs, `flags` of all together; returns how many runs there are
 * in the end. */
static inline unsigned runs_say(const struct xk_flowtab *tab, const struct xk_table *t, struct xk_msg *const *m,
				unsigned n, struct run *run, unsigned nruns, uint32_t flags, uint8_t *len)
{
	if (XK_UNLIKELY(flags & CLASSIFY_NOT_PLAIN))
		nruns = classify_runs_apart(run, nruns, n);
	runs_aim(t, run, nruns);
	for (unsigned i = 0; i < nruns; i++) {
		unsigned first = run[i].first, end = i + 1 < nruns ? run[i + 1].first : n;

		run_say(tab, &run[i], run_flow(t, &run[i]), m[first]);
		len[i] = (uint8_t)(end - first);
	}
	return nruns;
}

#endif
