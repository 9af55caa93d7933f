/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * embed_compose.c - nodes that a program has added, as the text of a graph file.
 *
 * Node i is n[i], below before above, as they were added; each parameter begins a line of its own, so that the line
 * which an error names says which call it came from. Invariant: the lines of g->places, one after the other, are
 * those of the text.
 */
#include "runtime/embed/embed_priv.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/mem/xk_alloc.h"

/* ---- text ----------------------------------------------------------------------------- */

static bool room_for(struct embed_text *t, size_t n)
{
	size_t room = t->room != 0 ? t->room : 64;
	char *more;

	if (t->no || t->n + n + 1 <= t->room)
		return !t->no;
	while (room < t->n + n + 1)
		room *= 2;
	more = xk_mem_fails() ? NULL : realloc(t->s, room);
	if (more == NULL) {
		t->no = true;
		return false;
	}
	t->s = more;
	t->room = room;
	return true;
}

void embed_text_add(struct embed_text *t, const char *s, size_t n)
{
	if (!room_for(t, n))
		return;
	memcpy(t->s + t->n, s, n);
	t->n += n;
	t->s[t->n] = '\0';
}

void embed_text_put(struct embed_text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0 || !room_for(t, (size_t)n))
		return;
	va_start(ap, fmt);
	vsnprintf(t->s + t->n, (size_t)n + 1, fmt, ap);
	va_end(ap);
	t->n += (size_t)n;
}

void embed_text_quote(struct embed_text *t, const char *s)
{
	embed_text_add(t, "\"", 1);
	for (; *s != '\0'; s++) {
		if ((unsigned char)*s < ' ' || *s == '"' || *s == '\\' || *s == 0x7f)
			embed_text_put(t, "\\%03u", (unsigned)(unsigned char)*s);
		else
			embed_text_add(t, s, 1);
	}
	embed_text_add(t, "\"", 1);
}

void embed_text_free(struct embed_text *t)
{
	free(t->s);
	*t = (struct embed_text){ .n = 0 };
}

/* ---- places ------------------------------------------------------------------------------ */

void *embed_room(void *v, unsigned n, unsigned *room, size_t bytes)
{
	unsigned more = *room != 0 ? *room * 2 : 8;

	if (n < *room)
		return v;
	v = xk_mem_fails() ? NULL : realloc(v, more * bytes);
	if (v != NULL)
		*room = more;
	return v;
}

bool embed_places_add(struct embed_places *p, const char *file, int line, unsigned lines)
{
	struct embed_place *v = embed_room(p->v, p->n, &p->room, sizeof *v);

	if (v == NULL)
		return false;
	p->v = v;
	p->v[p->n++] = (struct embed_place){ file, line, lines };
	return true;
}

bool embed_place_of(const struct xk_embed *g, int line, const char **file, int *at)
{
	int last = 0;

	for (unsigned i = 0; i < g->places.n; i++) {
		const struct embed_place *p = &g->places.v[i];

		last += (int)p->lines;
		if (line <= last && line > last - (int)p->lines) {
			*file = p->file;
			*at = p->line;
			return p->file != NULL;
		}
	}
	return false;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static bool put_over(const struct embed_part *p, struct embed_text *t)
{
	if (p->nover == 0)
		return false;
	embed_text_put(t, "  over = {");
	for (unsigned i = 0; i < p->nover; i++)
		embed_text_put(t, " n[%d],", p->over[i]);
	embed_text_put(t, " },\n");
	return true;
}

static bool put_part(struct xk_embed *g, unsigned no, struct embed_text *t)
{
	const struct embed_part *p = &g->part[no];
	bool there = true;

	if (no != XK_EMBED_GRAPH) {
		embed_text_put(t, "n[%u] = %s {\n", no, p->proto);
	} else {
		embed_text_put(t, "return graph ");
		embed_text_quote(t, g->name);
		embed_text_put(t, " {\n");
	}
	there = embed_places_add(&g->places, p->at.file, p->at.line, 1);
	if (p->name != NULL) {
		embed_text_put(t, "  name = ");
		embed_text_quote(t, p->name);
		embed_text_put(t, ",\n");
		there = there && embed_places_add(&g->places, p->at.file, p->at.line, 1);
	}
	if (put_over(p, t))
		there = there && embed_places_add(&g->places, p->over_at.file, p->over_at.line, 1);
	embed_text_add(t, p->fields.s != NULL ? p->fields.s : "", p->fields.n);
	for (unsigned i = 0; there && i < p->places.n; i++)
		there = embed_places_add(&g->places, p->places.v[i].file, p->places.v[i].line, p->places.v[i].lines);
	embed_text_put(t, "}\n");
	return there && embed_places_add(&g->places, p->at.file, p->at.line, 1) && !p->fields.no;
}

int embed_compose(struct xk_embed *g, struct embed_text *t)
{
	bool there = embed_places_add(&g->places, NULL, 0, 1);

	embed_text_put(t, "local n = {}\n");
	for (unsigned i = 1; there && i < g->nparts; i++)
		there = put_part(g, i, t);
	there = there && put_part(g, XK_EMBED_GRAPH, t);
	return there && !t->no ? XK_OK : XK_E_NOMEM;
}
