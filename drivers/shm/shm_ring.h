/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shm_ring.h - one direction of a link in memory that two processes share.
 *
 * Each side has an area, which it alone writes; the other has it mapped for reading and trusts nothing
 * in it.  An area is a page of what its owner says of itself, a ring of lines, and slots in rotation:
 *
 *	struct shm_front | line 0 .. lines-1 | slot 0 .. slots-1
 *
 * A message has a line.  Short ones are in it; the bytes of others are in the next slot.  A line's turn is
 * its number plus one and is written last, so one look tells whether it has come.  Nobody writes what the
 * other reads but this: how many lines of the peer's were taken, in the front of the one's own area.
 * Numbers are of 32 bits and wrap.  Inside one VP only.
 */
#ifndef SHM_RING_H
#define SHM_RING_H

#include "runtime/sync/xk_sync.h"

#define SHM_PAGE  4096u
#define SHM_SHORT 52u                    /* bytes in a line */
#define SHM_LINES_MIN 64u
#define SHM_LINES_MAX 65536u
#define SHM_SLOTS_MIN 4u
#define SHM_SLOTS_MAX 1024u
#define SHM_SLOT_MIN  4096u
#define SHM_SLOT_MAX  65536u

/* lines: a power of two; slot: bytes of each, a multiple of a page. */
struct shm_shape { uint32_t lines, slots, slot; };

struct shm_front {
	uint32_t taken XK_ALIGNED;       /* lines of the peer's */
	uint32_t asleep XK_ALIGNED;      /* is to be woken when there are lines for it */
	uint32_t wants;                  /* is to be woken when lines of its own were taken */
};
enum shm_kind { SHM_MESSAGE, SHM_END };  /* END: the session with these ports is no more */
struct shm_line {
	uint32_t turn;
	uint16_t from, to;               /* ports */
	uint32_t word;                   /* kind << 28 | length */
	uint8_t  bytes[SHM_SHORT];
};
_Static_assert(sizeof(struct shm_line) == XK_CACHELINE, "a line is a line");

/* NULL: it may be; else what is wrong. */
const char *shm_shape_fault(const struct shm_shape *s);
static inline size_t shm_area_size(const struct shm_shape *s)
{
	return SHM_PAGE + (size_t)s->lines * sizeof(struct shm_line) + (size_t)s->slots * s->slot;
}

/* What this side writes. */
struct shm_out {
	struct shm_front *front;
	struct shm_line  *line;
	uint8_t          *slot;
	uint32_t         *by;            /* slots in use up to and with that line, by number; lines of them */
	struct shm_shape  shape;
	uint32_t head, taken;            /* lines written; taken by the peer, as last seen */
	uint32_t slots, free;            /* slots written; of these, given back */
};
/* What the peer writes. */
struct shm_in {
	const struct shm_front *front;
	const struct shm_line  *line;
	const uint8_t          *slot;
	struct shm_shape shape;
	uint32_t next, slots;            /* lines taken; slots of these */
	uint32_t said, slots_said;       /* the same, as the peer has been told */
};
/* A line that has come: its header is ours, its bytes are still the peer's to change. */
struct shm_got { enum shm_kind kind; uint16_t from, to; uint32_t len; const uint8_t *bytes; };

/* Over an area of shm_area_size bytes, which is the caller's, as `by` (lines words) is. */
void shm_out_init(struct shm_out *o, void *area, uint32_t *by, const struct shm_shape *s);
void shm_in_init(struct shm_in *i, const void *area, const struct shm_shape *s);

/* Where the next message's bytes go, NULL: there is no room.  len is at most a slot's. */
static inline void *shm_out_room(struct shm_out *o, uint32_t len)
{
	if (XK_UNLIKELY(o->head - o->taken == o->shape.lines))
		return NULL;
	if (len <= SHM_SHORT)
		return o->line[o->head & (o->shape.lines - 1)].bytes;
	if (XK_UNLIKELY(o->slots - o->free == o->shape.slots))
		return NULL;
	return o->slot + (size_t)(o->slots % o->shape.slots) * o->shape.slot;
}
/* It is there: the peer may have it. */
static inline void shm_out_put(struct shm_out *o, enum shm_kind kind, uint16_t from, uint16_t to, uint32_t len)
{
	uint32_t i = o->head & (o->shape.lines - 1);
	struct shm_line *l = &o->line[i];

	l->from = from;
	l->to = to;
	l->word = (uint32_t)kind << 28 | len;
	o->slots += len > SHM_SHORT;
	o->by[i] = o->slots;
	xk_store_release(&l->turn, ++o->head);
}
/* Looks what the peer has taken.  False: it says what cannot be. */
bool shm_out_look(struct shm_out *o, const struct shm_in *peer);

/* Has a line come? */
static inline bool shm_in_waits(const struct shm_in *i)
{
	return xk_load_acquire(&i->line[i->next & (i->shape.lines - 1)].turn) == i->next + 1;
}
/* The line that has come.  False: it says what cannot be. */
bool shm_in_get(const struct shm_in *i, struct shm_got *g);
/* It has been taken. */
static inline void shm_in_next(struct shm_in *i, const struct shm_got *g)
{
	i->next++;
	i->slots += g->len > SHM_SHORT;
}
/* Is it time that the peer were told, though there is more to take? */
static inline bool shm_in_owes(const struct shm_in *i)
{
	return i->next - i->said >= i->shape.lines / 4 || i->slots - i->slots_said >= i->shape.slots / 4;
}
/* Tells it in our own area. */
static inline void shm_in_say(struct shm_in *i, struct shm_out *mine)
{
	i->said = i->next;
	i->slots_said = i->slots;
	xk_store_release(&mine->front->taken, i->next);
}

#endif
