/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * embed_build.c - nodes, parameters and edges that a program adds, each with the place of its call.
 *
 * What a call can see is told by it: numbers of no node, names that are none, edges upwards. All else is the
 * check's, which knows the protocols. Invariant: a node stands over nodes with smaller numbers, so there is no
 * circle.
 */
#include "runtime/embed/embed_priv.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/mem/xk_alloc.h"

/* A node that was not made because of an error is no second error. */
#define NONE(node) ((node) < 0)

static bool is_name(const char *s)
{
	if (s == NULL || (!isalpha((unsigned char)*s) && *s != '_'))
		return false;
	while (isalnum((unsigned char)*s) || *s == '_')
		s++;
	return *s == '\0';
}

static int part_new(struct xk_embed *g, const char *file, int line)
{
	struct embed_part *part = embed_room(g->part, g->nparts, &g->room_parts, sizeof *part);

	if (part == NULL)
		return XK_E_NOMEM;
	g->part = part;
	g->part[g->nparts] = (struct embed_part){ .at = { file, line, 1 } };
	return (int)g->nparts++;
}

/* It can be added to; the graph itself is there. */
static int begin(struct xk_embed *g, const char *file, int line)
{
	if (embed_state(g) != EMBED_NEW)
		return XK_E_ALREADY;
	if (g->nparts == 0 && part_new(g, file, line) < 0)
		return embed_fault(g, XK_E_NOMEM, file, line, "out of memory");
	return XK_OK;
}

static int part_of(struct xk_embed *g, int node, const char *file, int line)
{
	int err = begin(g, file, line);

	if (err != XK_OK)
		return err;
	if ((unsigned)node < g->nparts)
		return XK_OK;
	return embed_fault(g, XK_E_INVAL, file, line, "there is no node %d: %u were added", node, g->nparts - 1);
}

int xk_embed_add_at(struct xk_embed *g, const char *proto, const char *name, const char *file, int line)
{
	int err = begin(g, file, line), no;
	struct embed_part *p;

	if (err != XK_OK)
		return err;
	if (!is_name(proto))
		return embed_fault(g, XK_E_INVAL, file, line, "'%.60s' is no name of a protocol or driver",
				   proto != NULL ? proto : "");
	no = part_new(g, file, line);
	if (no < 0)
		return embed_fault(g, no, file, line, "out of memory");
	p = &g->part[no];
	p->proto = xk_strdup(proto);
	p->name = name != NULL ? xk_strdup(name) : NULL;
	if (p->proto == NULL || (name != NULL && p->name == NULL))
		return embed_fault(g, XK_E_NOMEM, file, line, "out of memory");
	return no;
}

static unsigned lines_of(const char *s)
{
	unsigned n = 0;

	for (; *s != '\0'; s++)
		n += *s == '\n';
	return n;
}

/* The place of a line is added before it, so that a line without one is never there. */
static int field(struct xk_embed *g, int node, const char *param, const char *value, bool quote, const char *file,
		 int line)
{
	struct embed_part *p;
	int err = NONE(node) ? XK_E_INVAL : part_of(g, node, file, line);

	if (err != XK_OK)
		return err;
	if (!is_name(param))
		return embed_fault(g, XK_E_INVAL, file, line, "'%.60s' is no name of a parameter",
				   param != NULL ? param : "");
	if (value == NULL)
		return embed_fault(g, XK_E_INVAL, file, line, "parameter '%s' is given no value", param);
	if (node != XK_EMBED_GRAPH && (strcmp(param, "name") == 0 || strcmp(param, "over") == 0))
		return embed_fault(g, XK_E_INVAL, file, line, "'%s' is no parameter: xk_embed_%s says it", param,
				   *param == 'n' ? "add" : "over");
	p = &g->part[node];
	if (!embed_places_add(&p->places, file, line, quote ? 1 : lines_of(value) + 2))
		return embed_fault(g, XK_E_NOMEM, file, line, "out of memory");
	embed_text_put(&p->fields, "  %s = ", param);
	if (quote)
		embed_text_quote(&p->fields, value);
	else                             /* in brackets: one value; a comment ends with its line */
		embed_text_put(&p->fields, "(%s\n)", value);
	embed_text_put(&p->fields, ",\n");
	return p->fields.no ? embed_fault(g, XK_E_NOMEM, file, line, "out of memory") : XK_OK;
}

int xk_embed_set_at(struct xk_embed *g, int node, const char *param, const char *value, const char *file, int line)
{
	return field(g, node, param, value, false, file, line);
}

int xk_embed_set_text_at(struct xk_embed *g, int node, const char *param, const char *text, const char *file, int line)
{
	return field(g, node, param, text, true, file, line);
}

static int over_add(struct embed_part *p, int below)
{
	int *over = embed_room(p->over, p->nover, &p->room_over, sizeof *over);

	if (over == NULL)
		return XK_E_NOMEM;
	p->over = over;
	p->over[p->nover++] = below;
	return XK_OK;
}

int xk_embed_over_at(struct xk_embed *g, int node, int below, const char *file, int line)
{
	int err = NONE(node) || NONE(below) ? XK_E_INVAL : part_of(g, node, file, line);

	if (err == XK_OK)
		err = part_of(g, below, file, line);
	if (err != XK_OK)
		return err;
	if (node == XK_EMBED_GRAPH || below == XK_EMBED_GRAPH)
		return embed_fault(g, XK_E_INVAL, file, line,
				   "the graph itself stands over no node, and no node over it");
	if (below >= node)
		return embed_fault(g, XK_E_INVAL, file, line, "a node stands over nodes that were added before it: %d over "
				   "%d is the wrong way round", node, below);
	g->part[node].over_at = (struct embed_place){ file, line, 1 };
	if (over_add(&g->part[node], below) == XK_OK)
		return XK_OK;
	return embed_fault(g, XK_E_NOMEM, file, line, "out of memory");
}

void embed_parts_free(struct xk_embed *g)
{
	for (unsigned i = 0; i < g->nparts; i++) {
		struct embed_part *p = &g->part[i];

		xk_free(p->proto);
		xk_free(p->name);
		embed_text_free(&p->fields);
		free(p->places.v);
		free(p->over);
	}
	free(g->part);
	free(g->places.v);
}
