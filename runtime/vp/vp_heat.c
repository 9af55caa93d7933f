/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_heat.c - how many messages of each virtual processor each worker, or simulated processor, has run (xk_heat.h).
 *
 * A column's cells lie together, so that workers do not write each other's lines.  A column that is one runner's
 * has one writer; one that several share is added to by read-modify-writes.
 * Invariant: a set that nobody has asked has no cells, and the turns of the mode `own` never look.
 */
#include "runtime/vp/xk_heat.h"

#include "runtime/mem/xk_alloc.h"
#include "runtime/sync/xk_sync.h"
#include "runtime/vp/vp_heat.h"
#include "runtime/vp/vp_priv.h"

struct xk_heat {
	struct xk_heat_shape shape;
	xk_counter          *cell;       /* [columns + 1][rows]; NULL: nothing is counted */
};

static unsigned per(unsigned n, unsigned room) { return (n + room - 1) / room; }

void xk_heat_shape_of(unsigned vps, unsigned runners, struct xk_heat_shape *out)
{
	out->vps = vps;
	out->runners = runners;
	out->per_column = per(runners, XK_HEAT_COLUMNS);
	out->columns = per(runners, out->per_column);
	out->per_row = per(vps, XK_HEAT_CELLS / (out->columns + 1));
	out->rows = per(vps, out->per_row);
}

/* May threads take turns at a VP? */
static bool is_shared(const struct xk_vpset *set)
{
	return set->sim != NULL || (set->arch.schedule != XK_SCHED_VIRTUAL && set->arch.entry == XK_ENTRY_LOCK);
}

static unsigned runners(const struct xk_vpset *set)
{
	if (set->sim != NULL)
		return set->arch.processors;
	return set->arch.schedule == XK_SCHED_VIRTUAL ? 1 : set->nworkers;
}

int xk_vpset_heat(struct xk_vpset *set)
{
	struct xk_heat *h = xk_alloc(sizeof *h);

	xk_assert(set->heat == NULL);
	if (h == NULL)
		return XK_E_NOMEM;
	xk_heat_shape_of(set->nall, runners(set), &h->shape);
	h->shape.processors = set->sim != NULL || set->arch.schedule == XK_SCHED_VIRTUAL;
	h->shape.counted = is_shared(set);
	if (h->shape.counted) {
		h->cell = xk_alloc(xk_heat_cells(&h->shape) * sizeof *h->cell);
		if (h->cell == NULL) {
			xk_free(h);
			return XK_E_NOMEM;
		}
	}
	set->heat = h;
	return XK_OK;
}

void vp_heat_free(struct xk_vpset *set)
{
	if (set->heat != NULL)
		xk_free(set->heat->cell);
	xk_free(set->heat);
	set->heat = NULL;
}

void vp_heat_add(const struct xk_vp *vp, unsigned done, unsigned who)
{
	const struct xk_heat *h = vp->set->heat;
	const struct xk_heat_shape *s = &h->shape;
	bool known = who != 0 && who <= s->runners;
	unsigned column = known ? (who - 1) / s->per_column : s->columns;
	xk_counter *c;

	if (h->cell == NULL)
		return;
	c = &h->cell[(size_t)column * s->rows + vp->at / s->per_row];
	if (known && s->per_column == 1)
		xk_count_add(*c, done);
	else
		(void)xk_atomic_add(c, done);
}

bool xk_vpset_heat_shape(const struct xk_vpset *set, struct xk_heat_shape *out)
{
	if (set->heat != NULL)
		*out = set->heat->shape;
	return set->heat != NULL;
}

void xk_vpset_heat_read(const struct xk_vpset *set, uint64_t *cell)
{
	const struct xk_heat *h = set->heat;
	const struct xk_heat_shape *s = &h->shape;

	for (unsigned r = 0; r < s->rows; r++)
		for (unsigned c = 0; c <= s->columns; c++)
			*cell++ = h->cell != NULL ? xk_counter_read(h->cell[(size_t)c * s->rows + r]) : 0;
}

unsigned xk_vpset_heat_column(const struct xk_vpset *set, unsigned at)
{
	const struct xk_heat_shape *s = &set->heat->shape;

	return s->processors ? 0 : set->all[at]->worker->no / s->per_column;
}
