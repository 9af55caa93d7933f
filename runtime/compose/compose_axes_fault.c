/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * compose_axes_fault.c - whether a threading table can run, and why not.
 *
 * Whether a combination of axes can work is asked of the runtime's own check; what only the
 * table shows (words that contradict each other, or need another one) and what only the graph knows
 * (its memory, its clock, drivers that wait) is added here.
 */
#include "runtime/compose/compose_arch.h"

#include "runtime/mem/xk_mem.h"

/* Words that say nothing in the other domains, and vps, which says nothing in this one. */
static const char *misplaced(const struct axes *x, enum axis *about)
{
	static const enum axis words[] = { AX_PIPELINES, AX_LAYERS, AX_HIGH, AX_LOW };

	if (x->conf.domain == XK_DOMAIN_LAYER) {
		*about = AX_VPS;
		return axes_said(x, AX_VPS) ? "domain \"layers\" has a virtual processor for each layer and pipeline: "
					      "say pipelines, not vps" : NULL;
	}
	for (unsigned i = 0; i < XK_ARRAY_LEN(words); i++)
		if (axes_said(x, words[i])) {
			*about = words[i];
			return "needs the domain \"layers\": lp { ... }";
		}
	return NULL;
}

/* What only the table shows: words that contradict each other, or need another one. */
static const char *affinity_fault(const struct axes *x, const struct xk_arch *a, enum axis *about)
{
	bool one = a->queue == XK_QUEUE_ONE;

	*about = AX_STEAL;
	if (axes_said(x, AX_STEAL) && x->conf.steal && one)
		return "steal needs queue = \"processor\", as with affinity = \"stream\": of one queue any worker takes the first";
	if (axes_said(x, AX_STEAL) && x->conf.steal && axes_said(x, AX_DEPTH))
		return "steal is a depth of none: say one of the two";
	*about = AX_DEPTH;
	if (axes_said(x, AX_DEPTH) && one)
		return "depth needs queue = \"processor\", as with affinity = \"stream\": of one queue any worker takes the first";
	*about = AX_PICK;
	if (axes_said(x, AX_PICK) && a->affinity == XK_AFFINITY_ANY)
		return "pick needs an affinity: with \"any\" whoever looks first runs a virtual processor";
	*about = AX_QUEUE;
	if (axes_said(x, AX_QUEUE) && a->affinity == XK_AFFINITY_ANY)
		return "queue needs an affinity: with \"any\" whoever looks first runs a virtual processor";
	*about = AX_AFFINITY;
	if (axes_said(x, AX_AFFINITY) && a->affinity != XK_AFFINITY_ANY && a->schedule == XK_SCHED_FIFO && a->entry != XK_ENTRY_LOCK)
		return "affinity needs entry = \"lock\": any worker may run a virtual processor";
	return NULL;
}

static const char *background_fault(const struct axes *x, enum axis *about)
{
	*about = AX_BG_V;
	return axes_background(x) && !axes_said(x, AX_BG_V) ?
	       "background needs v, the share of an idle worker's time that it has" : NULL;
}

static const char *map_fault(const struct axes *x, const struct xk_arch *a, char *why, size_t n)
{
	int most = a->vps > 0 ? a->vps : (int)XK_VP_MAX;

	for (unsigned i = 0; i < x->conf.map.n; i++) {
		uint64_t vp = x->conf.map.v[i].u;

		if (vp != 0 && vp <= (uint64_t)most)
			continue;
		snprintf(why, n, "parameter 'map' has a number %u that names virtual processor %llu: there are 1 to %d",
			 i + 1, (unsigned long long)vp, most);
		return why;
	}
	return NULL;
}

/* One that can never have a buffer can neither send nor receive. */
static const char *memory_fault(const struct xk_arch *a, const struct axes_graph *g, char *why, size_t n)
{
	uint64_t each = XK_MEM_SMALL_SIZE;
	uint64_t vps = (a->vps > 0 ? (uint64_t)a->vps : 1) * (a->domain == XK_DOMAIN_LAYER ? a->layers : 1) + a->io_threads;

	if (vps * each <= g->memory)
		return NULL;
	snprintf(why, n, "%llu virtual processors cannot have a message buffer each: the smallest take %llu bytes together, and memory "
		 "is %llu; it has room for %llu", (unsigned long long)vps, (unsigned long long)(vps * each),
		 (unsigned long long)g->memory, (unsigned long long)(g->memory / each));
	return why;
}

const char *axes_fault(const struct axes *x, const struct axes_graph *g, char *why, size_t n, enum axis *about)
{
	struct xk_arch a = axes_arch(x, g);
	const char *text = misplaced(x, about);

	if (text != NULL)
		return text;
	if ((text = affinity_fault(x, &a, about)) != NULL)
		return text;
	if ((text = background_fault(x, about)) != NULL)
		return text;
	*about = AX_SCHEDULE;
	if (g->is_virtual && a.schedule != XK_SCHED_VIRTUAL)
		return "clock = \"virtual\" needs schedule = \"virtual\"";
	*about = AX_N;
	if (xk_arch_check(&a, why, n) != XK_OK)
		return why;
	*about = AX_MAP;
	if ((text = map_fault(x, &a, why, n)) != NULL)
		return text;
	*about = AX_VPS;
	if ((text = memory_fault(&a, g, why, n)) != NULL)
		return text;
	*about = AX_THREADS;
	return g->waits && a.threads == XK_THREADS_USER ? "threads = \"user\" would all wait with a driver that waits" : NULL;
}
