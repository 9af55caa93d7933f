/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * embed_read.c - nodes, counters and parameters of a graph, by name.
 *
 * Counters are read while they move: each has one writer and is loaded whole, and two are not of quite the same moment.
 */
#include "runtime/embed/embed_priv.h"

#include "runtime/base/xk_param_value.h"
#include "runtime/upi/xk_part.h"

#include <string.h>

/* NULL: it was not started, or has not come up. */
static const struct xk_graph *graph_of(const struct xk_embed *g)
{
	return embed_state(g) >= EMBED_RUNS ? g->g : NULL;
}

const char *xk_embed_node(const struct xk_embed *g, unsigned i)
{
	const struct xk_graph *x = graph_of(g);

	return x != NULL && i < x->nnodes ? x->node[i]->name : NULL;
}

struct xk_node *xk_embed_find(const struct xk_embed *g, const char *node)
{
	const struct xk_graph *x = graph_of(g);

	return x != NULL && !x->vps->clock.is_virtual ? xk_graph_find(x, node) : NULL;
}

/* ---- counters --------------------------------------------------------------------------- */

enum what { PUSH, POP, SESSIONS, DROPS, DROP, COUNT };
struct counter { enum what what; unsigned i; };

static bool index_of(const char *const *names, const char *name, unsigned *i)
{
	for (*i = 0; names != NULL && names[*i] != NULL; ++*i)
		if (strcmp(names[*i], name) == 0)
			return true;
	return false;
}

static bool drop_of(const struct xk_proto *p, const char *name, unsigned *i)
{
	for (*i = 0; *i < XK_DROPS_MAX && xk_drop_name(p, *i) != NULL; ++*i)
		if (strcmp(xk_drop_name(p, *i), name) == 0)
			return true;
	return false;
}

/* A protocol's own names come first: it may call one "drops". */
static bool counter_of(const struct xk_proto *p, const char *name, struct counter *c)
{
	static const char *const all[] = {
		[PUSH] = "push", [POP] = "pop", [SESSIONS] = "sessions", [DROPS] = "drops", NULL
	};
	unsigned i;

	*c = (struct counter){ COUNT, 0 };
	if (index_of(p->counts, name, &c->i))
		return true;
	if (strncmp(name, "drops.", 6) == 0) {
		c->what = DROP;
		return drop_of(p, name + 6, &c->i);
	}
	if (!index_of(all, name, &i))
		return false;
	c->what = (enum what)i;
	return true;
}

static uint64_t value_of(const struct xk_rep *r, struct counter c)
{
	uint64_t sum = 0;

	switch (c.what) {
	case PUSH: return xk_counter_read(r->npush);
	case POP: return xk_counter_read(r->npop);
	case SESSIONS: return xk_counter_read(r->nsess_made) - xk_counter_read(r->nsess_gone);
	case DROP: return xk_counter_read(r->drop[c.i]);
	case COUNT: return xk_counter_read(r->count[c.i]);
	case DROPS: break;
	}
	for (unsigned i = 0; i < XK_DROPS_MAX; i++)
		sum += xk_counter_read(r->drop[i]);
	return sum;
}

static void tally(struct xk_vp *vp, void *arg)
{
	struct xk_rep *r = arg;

	(void)vp;
	r->node->proto->ops->rep_tally(r);
}

/* What others count for a driver it reads now and then only; in virtual time nobody but the graph's thread may
 * ask it to. */
static void tally_all(const struct xk_node *n)
{
	const struct xk_vpset *set = n->graph->vps;

	if (n->proto->ops->rep_tally == NULL || set->clock.is_virtual || xk_guest_event() == NULL)
		return;
	for (unsigned v = 0; v < set->nvps; v++)
		xk_vp_do(n->rep[v]->vp, tally, n->rep[v]);
}

int xk_embed_count(const struct xk_embed *g, const char *node, const char *counter, uint64_t *value)
{
	const struct xk_graph *x = graph_of(g);
	const struct xk_node *n;
	struct counter c;

	if (x == NULL)
		return XK_E_INVAL;
	n = xk_graph_find(x, node);
	if (n == NULL || !counter_of(n->proto, counter, &c))
		return XK_E_NOENT;
	tally_all(n);
	*value = 0;
	for (unsigned v = 0; v < x->vps->nvps; v++)
		*value += value_of(n->rep[v], c);
	return XK_OK;
}

/* ---- parameters ---------------------------------------------------------------------------- */

int xk_embed_get(const struct xk_embed *g, const char *node, const char *param, char *buf, size_t size)
{
	const struct xk_graph *x = graph_of(g);
	const struct xk_node *n;
	const struct xk_param *p;

	if (x == NULL || size == 0)
		return XK_E_INVAL;
	n = xk_graph_find(x, node);
	p = n != NULL && n->proto->params != NULL ? xk_param_find(n->proto->params, param) : NULL;
	if (p == NULL)
		return XK_E_NOENT;
	if (xk_param_is_unset(p, n->conf))
		*buf = '\0';
	else
		(void)xk_param_format(p, (const char *)n->conf + p->offset, buf, size);
	return XK_OK;
}
