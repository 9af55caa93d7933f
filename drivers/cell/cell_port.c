/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cell_port.c - cells in the messages of a port below, so that two processes talk ATM.
 *
 * A message is cells of 53 bytes, one after the other, as many as the port takes without cutting.  Who has
 * `to` opens a session for each VP; who has not waits on `port`, and answers to whoever comes.
 */
#include "drivers/cell/cell_priv.h"

#include <string.h>

#include "runtime/base/xk_errs.h"
#include "runtime/upi/xk_part.h"

/* ---- out ---------------------------------------------------------------------------------- */

struct packing { struct cell_sess *to; struct xk_msg *m; uint32_t n, room; };

static void send_off(struct packing *p)
{
	struct xk_msg *m = p->m;

	if (m == NULL)
		return;
	p->m = NULL;
	xk_msg_truncate(m, p->n * XK_CELL_LEN);
	xk_push(p->to->s.down, m);
}

static void pack(void *arg, uint8_t cell[XK_CELL_LEN], uint32_t left)
{
	struct packing *p = arg;

	if (p->m == NULL) {
		p->n = 0;
		p->room = left < p->to->most ? left : p->to->most;
		p->m = xk_msg_new(p->room * XK_CELL_LEN);
	}
	if (p->m == NULL) {
		xk_dropped(p->to->s.rep, XK_DROP_NOMEM, 1);
		return;
	}
	xk_msg_copy_in(p->m, p->n++ * XK_CELL_LEN, cell, XK_CELL_LEN);
	if (p->n == p->room)
		send_off(p);
}

void cell_port_push(struct xk_sess *s, struct xk_msg *m, uint32_t n)
{
	struct packing p = { cell_sess(s), NULL, 0, 0 };

	cell_lay_out(cell_rep(s->rep), m, n, pack, &p);
	send_off(&p);
	xk_msg_free(m);
}

/* ---- in ------------------------------------------------------------------------------------ */

static void take_all(struct cell_take *t, const struct xk_msg *m)
{
	uint32_t n = m->tot / XK_CELL_LEN;
	uint8_t cell[XK_CELL_LEN];

	for (uint32_t i = 0; i < n; i++) {
		xk_msg_copy_out(m, i * XK_CELL_LEN, cell, XK_CELL_LEN);
		cell_take(t, cell, n - i);
	}
	cell_take_end(t);
}

void cell_port_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	struct xk_rep *r = up->rep;
	const struct xk_key k = { { (uintptr_t)lls, 0 } };
	struct xk_mapnode *node = xk_map_resolve(&r->active, &k);
	unsigned reason = CELL_DROP_NOBODY;
	struct xk_sess *link;

	if (m->tot == 0 || m->tot % XK_CELL_LEN != 0) {
		xk_drop(r, CELL_DROP_TORN, m);
		return;
	}
	link = node != NULL ? xk_dup(xk_container_of(node, struct xk_sess, map)) : cell_link_first(r, lls, &reason);
	if (link == NULL) {
		xk_drop(r, reason, m);
		return;
	}
	take_all(&cell_sess(link)->take, m);
	xk_msg_free(m);
	xk_close(link);
}

/* ---- opening --------------------------------------------------------------------------------- */

struct xk_sess *cell_port_open(struct xk_rep *r, int *err)
{
	const struct cell_conf *c = cell_conf(r);
	struct xk_parts ps;

	*err = XK_E_NOTCONN;
	if (c->to == 0)
		return NULL;
	xk_parts_init(&ps, 2);
	xk_part_push_host(&ps.p[XK_REMOTE], c->to);
	xk_part_push_port(&ps.p[XK_REMOTE], c->port);
	xk_part_push_any(&ps.p[XK_LOCAL]);
	xk_part_push_any(&ps.p[XK_LOCAL]);
	return xk_open(r, r->node, r->down[0], &ps, err);
}

int cell_port_start(struct xk_node *n, struct xk_errs *e)
{
	const struct cell_conf *c = n->conf;
	struct xk_parts ps;
	int err;

	if (n->ndown == 0 || c->to != 0)
		return XK_OK;
	xk_parts_init(&ps, 1);
	xk_part_push_port(&ps.p[0], c->port);
	err = xk_open_enable(n, n, n->down[0], &ps);
	if (err != XK_OK)
		xk_node_error(n, e, "cannot wait on port %u: %s", c->port, xk_strerror(err));
	return err;
}
