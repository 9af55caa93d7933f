/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_sim_lines.c - whose lines are where: what simulated processors have cached of sessions and nodes.
 *
 * A session's state is with the processor that touched it last.  There it is hot as long as no other
 * session of its node is touched, and from then on what this processor does displaces it, as
 * xk_cache.h has it: x is the time that the processor has worked since.  Sessions are known by
 * the handles of their memory, as caches know them: one that is made where another one was finds its lines hot.
 * Invariant: what a processor pays depends on the order of touches alone.
 */
#include "runtime/vp/vp_sim_lines.h"

#include "runtime/mem/xk_alloc.h"

#define ROOM 256u                /* lines at first; a power of two */

struct line { uint32_t what, processor; xk_ns left; };

struct vp_lines {
	unsigned    nnodes, n, room;
	bool        cached;              /* the machine says how its caches forget */
	struct line *line;               /* by hash; what 0: free */
	uint32_t    *current;            /* [processor * nnodes + node]: the session touched last, 0: none */
	unsigned    *ran;                /* [node]: the processor that ran it last, from 1 */
	struct xk_cache cache;
};

void vp_lines_free(struct vp_lines *l)
{
	if (l == NULL)
		return;
	xk_free(l->line);
	xk_free(l->current);
	xk_free(l->ran);
	xk_free(l);
}

struct vp_lines *vp_lines_new(const struct xk_cache_machine *caches, unsigned processors, unsigned nnodes)
{
	struct vp_lines *l = xk_alloc(sizeof *l);

	if (l == NULL)
		return NULL;
	l->nnodes = nnodes;
	l->room = ROOM;
	l->cached = caches != NULL;
	if (caches != NULL)
		xk_cache_init(&l->cache, caches, 1);
	l->line = xk_alloc(ROOM * sizeof *l->line);
	l->current = xk_alloc((size_t)processors * nnodes * sizeof *l->current);
	l->ran = xk_alloc(nnodes * sizeof *l->ran);
	if (l->line != NULL && l->current != NULL && l->ran != NULL)
		return l;
	vp_lines_free(l);
	return NULL;
}

/* Where it is, or would be. */
static struct line *line_of(struct line *line, unsigned room, uint32_t what)
{
	unsigned i = (what * 0x9E3779B1u) >> 7;

	while (line[i & (room - 1)].what != 0 && line[i & (room - 1)].what != what)
		i++;
	return &line[i & (room - 1)];
}

/* For one more; false: without memory what is new stays unknown. */
static bool make_room(struct vp_lines *l)
{
	struct line *more;

	if (2 * (l->n + 1) <= l->room)
		return true;
	more = xk_alloc(2 * (size_t)l->room * sizeof *more);
	if (more == NULL)
		return l->n + 1 < l->room;
	for (unsigned i = 0; i < l->room; i++)
		if (l->line[i].what != 0)
			*line_of(more, 2 * l->room, l->line[i].what) = l->line[i];
	xk_free(l->line);
	l->line = more;
	l->room *= 2;
	return true;
}

static void displaced(const struct vp_lines *l, xk_ns away, double *f1, double *f2)
{
	*f1 = *f2 = 0;
	if (l->cached)
		xk_cache_displaced(&l->cache, away, f1, f2);
}

uint64_t vp_lines_touch(struct vp_lines *l, unsigned processor, xk_ns busy, unsigned node, uint32_t what,
			const struct xk_machine_node *c)
{
	uint32_t *current = &l->current[processor * l->nnodes + node];
	double f1 = 1, f2 = 1;
	struct line *x, *before;

	if (!make_room(l))
		return c->memory_cold;
	x = line_of(l->line, l->room, what);
	if (*current == what && x->processor == processor)
		return 0;
	before = line_of(l->line, l->room, *current);
	if (*current != 0 && *current != what && before->processor == processor)
		before->left = busy;
	if (x->what == what && x->processor == processor)
		displaced(l, busy - x->left, &f1, &f2);
	l->n += x->what == 0;
	*x = (struct line){ .what = what, .processor = processor, .left = busy };
	*current = what;
	return (uint64_t)(xk_cache_mix(f1, f2, 0, (double)c->l1_cold, (double)c->memory_cold) + 0.5);
}

bool vp_lines_moved(struct vp_lines *l, unsigned processor, unsigned node)
{
	unsigned before = l->ran[node];

	l->ran[node] = processor + 1;
	return before != 0 && before != processor + 1;
}
