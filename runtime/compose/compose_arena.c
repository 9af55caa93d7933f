/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * compose_arena.c - memory that lives as long as one specification.
 *
 * Chunks in a list, carved from the front; big requests get their own.
 * Invariant: what was handed out is zeroed and never moves.
 */
#include "runtime/compose/compose_priv.h"

#include <string.h>

#include "runtime/mem/xk_mem.h"

#define CHUNK 16384u

struct arena_chunk {
	struct arena_chunk *next;
	size_t              used, room;
	max_align_t         bytes[];
};

void *arena_get(struct arena *a, size_t n)
{
	struct arena_chunk *c = a->chunk;
	size_t want = (n + sizeof(max_align_t) - 1) & ~(sizeof(max_align_t) - 1);
	void *p;

	if (want < n)
		return NULL;
	if (c == NULL || c->room - c->used < want) {
		size_t room = want > CHUNK ? want : CHUNK;

		c = xk_alloc(sizeof *c + room);
		if (c == NULL)
			return NULL;
		c->room = room;
		c->next = a->chunk;
		a->chunk = c;
	}
	p = (char *)c->bytes + c->used;
	c->used += want;
	return p;
}

char *arena_text(struct arena *a, const char *s, size_t n)
{
	char *p = arena_get(a, n + 1);

	if (p != NULL)
		memcpy(p, s, n);
	return p;
}

void arena_fini(struct arena *a)
{
	while (a->chunk != NULL) {
		struct arena_chunk *c = a->chunk;

		a->chunk = c->next;
		xk_free(c);
	}
}
