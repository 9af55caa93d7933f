/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shm_ring.c - what a peer has written is checked, in a copy.
 *
 * Invariant: nothing that the peer writes makes us read or write outside the two areas: places are of our
 * own numbers, and a length is looked at once.
 */
#include "drivers/shm/shm_ring.h"

const char *shm_shape_fault(const struct shm_shape *s)
{
	if (s->lines < SHM_LINES_MIN || s->lines > SHM_LINES_MAX || (s->lines & (s->lines - 1)) != 0)
		return "lines must be a power of two between 64 and 65536";
	if (s->slot < SHM_SLOT_MIN || s->slot > SHM_SLOT_MAX || s->slot % SHM_PAGE != 0)
		return "slot must be a multiple of 4KiB between 4KiB and 64KiB";
	if (s->slots < SHM_SLOTS_MIN || s->slots > SHM_SLOTS_MAX)
		return "slots must be between 4 and 1024";
	return NULL;
}

void shm_out_init(struct shm_out *o, void *area, uint32_t *by, const struct shm_shape *s)
{
	char *p = area;

	*o = (struct shm_out){ .front = area, .line = (void *)(p + SHM_PAGE), .by = by, .shape = *s };
	o->slot = (void *)(o->line + s->lines);
}

void shm_in_init(struct shm_in *i, const void *area, const struct shm_shape *s)
{
	const char *p = area;

	*i = (struct shm_in){ .front = area, .line = (const void *)(p + SHM_PAGE), .shape = *s };
	i->slot = (const void *)(i->line + s->lines);
}

bool shm_out_look(struct shm_out *o, const struct shm_in *peer)
{
	uint32_t taken = xk_load_acquire(&peer->front->taken);

	if (XK_UNLIKELY(taken - o->taken > o->head - o->taken))
		return false;
	if (taken != o->taken)
		o->free = o->by[(taken - 1) & (o->shape.lines - 1)];
	o->taken = taken;
	return true;
}

bool shm_in_get(const struct shm_in *i, struct shm_got *g)
{
	const struct shm_line *l = &i->line[i->next & (i->shape.lines - 1)];
	uint32_t word = xk_load_relaxed(&l->word);

	*g = (struct shm_got){ word >> 28 == SHM_END ? SHM_END : SHM_MESSAGE, xk_load_relaxed(&l->from),
			       xk_load_relaxed(&l->to), word & 0xfffffffu, l->bytes };
	if (XK_UNLIKELY(word >> 28 > SHM_END || g->len > i->shape.slot || (g->kind == SHM_END && g->len != 0)))
		return false;
	if (g->len > SHM_SHORT)
		g->bytes = i->slot + (size_t)(i->slots % i->shape.slots) * i->shape.slot;
	return true;
}
