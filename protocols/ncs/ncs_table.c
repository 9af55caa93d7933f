/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs_table.c - connections by their numbers, and sessions of the interface below.
 *
 * A number is a place in the replica's table and a generation, so that what is said late of a
 * connection is not taken for its successor's.
 * Invariant: no place below `taken` is free.
 */
#include "protocols/ncs/ncs_priv.h"

#include "runtime/mem/xk_alloc.h"
#include "runtime/upi/xk_part.h"

#include <string.h>

#define NUMBER_BITS 20u                  /* of an id; above them the generation */

static int grow(struct ncs_rep *nr)
{
	uint32_t room = nr->room != 0 ? nr->room * 2 : 16;
	struct ncs_conn **more = xk_alloc(room * sizeof *more);

	if (more == NULL)
		return XK_E_NOMEM;
	memset(more, 0, room * sizeof *more);
	if (nr->room != 0)
		memcpy(more, nr->conn, nr->room * sizeof *more);
	xk_free(nr->conn);
	nr->conn = more;
	nr->room = room;
	return XK_OK;
}

int ncs_number(struct ncs_rep *nr, struct ncs_conn *c)
{
	uint32_t i = nr->taken;

	while (i < nr->room && nr->conn[i] != NULL)
		i++;
	if (i == nr->room && grow(nr) != XK_OK)
		return XK_E_NOMEM;
	nr->conn[i] = c;
	nr->taken = i + 1;
	nr->nconn++;
	c->id = (nr->gone << NUMBER_BITS) | i;
	return XK_OK;
}

void ncs_number_free(struct ncs_rep *nr, const struct ncs_conn *c)
{
	uint32_t i = c->id & ((1u << NUMBER_BITS) - 1);

	if (i >= nr->room || nr->conn[i] != c)
		return;
	nr->conn[i] = NULL;
	nr->taken = i < nr->taken ? i : nr->taken;
	nr->nconn--;
	nr->gone++;
}

struct ncs_conn *ncs_conn_find(struct xk_rep *r, uint32_t id)
{
	struct ncs_rep *nr = ncs_rep(r);
	uint32_t i = id & ((1u << NUMBER_BITS) - 1);

	return i < nr->room && nr->conn[i] != NULL && nr->conn[i]->id == id ? nr->conn[i] : NULL;
}

struct xk_sess *ncs_open_below(struct xk_rep *r, struct xk_rep *over, uint32_t host, uint16_t port, uint16_t from,
			       int *err)
{
	struct xk_parts ps;

	xk_parts_init(&ps, 2);
	xk_part_push_host(&ps.p[XK_REMOTE], host);
	xk_part_push_port(&ps.p[XK_REMOTE], port);
	xk_part_push_any(&ps.p[XK_LOCAL]);
	if (from != 0)
		xk_part_push_port(&ps.p[XK_LOCAL], from);
	else
		xk_part_push_any(&ps.p[XK_LOCAL]);
	return xk_open(r, r->node, over, &ps, err);
}
