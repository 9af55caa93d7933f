/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_goals_demux.c - bursts of 32 keys from a million flows to their
 * sessions: the job of tools/peers/demux.h, done by our map.
 *
 * The key lies in the session's first line, so the line that proves the key is
 * the one that the session's first reader needs.  The map is filled for each
 * value anew: where its pages lie is part of what varies.
 */
#include "tools/vp-bench/bench.h"
#include "tools/vp-bench/bench_goals.h"

#include <string.h>
#include <time.h>

#include "runtime/map/xk_map.h"
#include "runtime/map/xk_table.h"
#include "runtime/mem/xk_mem.h"
#include "tools/peers/demux.h"

struct session {
	struct xk_mapnode node;
	uint64_t          no;
	struct session   *next;          /* in the list of all */
	unsigned char     rest[DEMUX_SESSION - 16 - sizeof(struct xk_mapnode)];
};

struct table { struct xk_map map; struct xk_slab slab; struct session *all; };

static double cpu_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static struct xk_key key_of(uint32_t i)
{
	struct demux_key k = demux_key(i);

	return (struct xk_key){ { k.w[0], k.w[1] } };
}

static bool fill(struct table *t)
{
	xk_slab_init(&t->slab, sizeof(struct session));
	xk_map_init(&t->map, offsetof(struct session, node));
	t->all = NULL;
	for (uint32_t i = 0; i < DEMUX_FLOWS; i++) {
		struct session *s = xk_slab_get(&t->slab);

		if (s == NULL)
			return false;
		s->no = i;
		s->next = t->all;
		t->all = s;
		s->node.key = key_of(i);
		if (xk_map_bind(&t->map, &s->node) != XK_OK)
			return false;
	}
	return true;
}

static void empty(struct table *t)
{
	for (struct session *s = t->all, *next; s != NULL; s = next) {
		next = s->next;
		if (s->node.bound)
			xk_map_unbind(&t->map, &s->node);
		xk_slab_put(&t->slab, s);
	}
	xk_map_fini(&t->map);
	xk_slab_fini(&t->slab);
}

static void burst(struct xk_map *m, const uint32_t *at, uint64_t *sum)
{
	struct xk_mapnode *out[DEMUX_BURST];
	struct xk_key k[DEMUX_BURST];

	for (unsigned j = 0; j < DEMUX_BURST; j++)
		k[j] = key_of(at[j]);
	xk_map_resolve_bulk(m, k, DEMUX_BURST, out);
	for (unsigned j = 0; j < DEMUX_BURST; j++)
		*sum += xk_container_of(out[j], struct session, node)->no;
}

static double run(struct xk_map *m, double ns)
{
	double t0 = cpu_now(), t, n = 0;
	uint64_t sum = 0, want = 0;
	uint32_t x = 1, at[DEMUX_BURST];

	do {
		for (unsigned i = 0; i < DEMUX_ROUND; i++) {
			for (unsigned j = 0; j < DEMUX_BURST; j++)
				want += at[j] = demux_next(&x);
			burst(m, at, &sum);
		}
		n += DEMUX_ROUND * DEMUX_BURST;
		t = cpu_now() - t0;
	} while (t < ns);
	demux_check(sum, want);
	return t / n;
}

enum goal_fault side_demux(struct goals *g, const struct goal_side *s, double *v, char *why)
{
	struct table t;
	bool ok = fill(&t);

	(void)s;
	if (ok) {
		run(&t.map, (double)g->time / 4);
		*v = run(&t.map, (double)g->time);
	} else {
		snprintf(why, GOAL_TEXT, "no memory for a million flows");
	}
	empty(&t);
	return ok ? SIDE_OK : SIDE_FAILED;
}
