/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upi_app.c - what applications answer and say, and how often they time a message.
 */
#include "runtime/upi/xk_app.h"

#include "runtime/base/xk_errs.h"
#include "runtime/base/xk_rand.h"
#include "runtime/mem/xk_alloc.h"
#include "runtime/mem/xk_shared.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_move.h"
#include "runtime/upi/xk_part.h"

int xk_app_answer(unsigned op, const struct xk_app_counts *c, void *buf, unsigned len)
{
	return op == XK_CTL_APP_COUNTS ? xk_answer(buf, len, c, sizeof *c) : XK_E_NOTSUP;
}

uint32_t xk_app_probe_gap(struct xk_rand *r)
{
	return 16 + (uint32_t)xk_rand_below(r, 32);
}

int xk_app_listen(struct xk_node *n, uint16_t port, struct xk_errs *e)
{
	struct xk_parts ps;
	int err;

	xk_parts_init(&ps, 1);
	xk_part_push_any(&ps.p[0]);      /* innermost first: any of our addresses, */
	xk_part_push_port(&ps.p[0], port);       /* then the port */
	err = xk_open_enable(n, n, n->down[0], &ps);
	if (err != XK_OK)
		xk_node_error(n, e, "cannot wait on port %u: %s", port, xk_strerror(err));
	return err;
}

/* When a graph ends is said by those that it began with. */
void xk_app_will_finish(struct xk_node *n)
{
	if (n->late)
		return;
	xk_store_relaxed(&n->ends, 1u);
	xk_graph_will_finish(n->graph);
}

void xk_app_finished(struct xk_node *n)
{
	if (xk_atomic_xchg(&n->ends, 2u) == 1)
		xk_graph_finished(n->graph);
}

bool xk_app_is_here(const struct xk_rep *r, uint64_t conn)
{
	return xk_graph_vp_of(r->node->graph, conn) == r->vp;
}

/* Before what lies in shared memory: how much it is, for who gives it back. */
#define BEFORE XK_CACHELINE

void *xk_app_counters(const struct xk_rep *r, size_t n)
{
	struct xk_shared *s = r->vp->set->shared;
	char *p;

	if (s == NULL)
		return xk_alloc(n);
	p = xk_shared_get(s, BEFORE + n, false);
	if (p == NULL)
		return NULL;
	*(size_t *)(void *)p = BEFORE + n;
	return p + BEFORE;
}

void xk_app_counters_free(const struct xk_rep *r, void *p)
{
	struct xk_shared *s = r->vp->set->shared;
	char *all = p;

	if (s == NULL || p == NULL)
		xk_free(p);
	else
		xk_shared_put(s, all - BEFORE, *(size_t *)(void *)(all - BEFORE));
}

int xk_app_move(struct xk_rep *r, const struct xk_move *m, struct xk_key (*key)(const struct xk_sess *lls))
{
	struct xk_mapnode *node;
	struct xk_sess *s;
	struct xk_key k;
	int err = xk_asked(r, m);

	if (err <= 0)
		return err;
	k = key(m->old);
	node = xk_map_resolve(&r->active, &k);
	if (node == NULL || m->now == NULL)
		return node != NULL ? XK_OK : XK_E_NOENT;
	s = xk_container_of(node, struct xk_sess, map);
	xk_sess_unbind(s);
	k = key(m->now);
	err = xk_sess_bind(s, &k);
	if (err != XK_OK) {
		k = key(m->old);
		(void)xk_sess_bind(s, &k);       /* where it was a moment ago there is room */
		return err;
	}
	s->down = xk_dup(m->now);
	xk_close(m->old);
	return XK_OK;
}
