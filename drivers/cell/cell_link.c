/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cell_link.c - links, which whoever lies above opens, or has opened when cells come by a way that has none.
 *
 * Invariant: drv_sess is the link of the wire; links over a port are bound under the session below.
 */
#include "drivers/cell/cell_priv.h"

#include "runtime/upi/xk_enable.h"

/* As many cells as the port takes in one piece, in a buffer of one segment. */
static uint32_t cells_of(struct xk_sess *lls)
{
	uint32_t most = 0, room = XK_MSG_MAX_SEG / XK_CELL_LEN;

	if (xk_sess_control(lls, XK_CTL_GETOPTPACKET, &most, sizeof most) != (int)sizeof most || most < XK_CELL_LEN)
		return 1;
	return most / XK_CELL_LEN < room ? most / XK_CELL_LEN : room;
}

void cell_link_free(struct xk_sess *s)
{
	struct xk_sess *lls = s->down;

	if (lls == NULL)
		s->rep->drv_sess = NULL;
	xk_sess_destroy(s);              /* unbinds */
	if (lls != NULL)
		xk_close(lls);
}

/* Takes the reference to lls either way. */
struct xk_sess *cell_link_new(struct xk_rep *r, struct xk_up *up, struct xk_node *type, struct xk_sess *lls, int *err)
{
	const struct xk_key k = { { (uintptr_t)lls, 0 } };
	struct xk_sess *s = xk_sess_create(r, up, type, lls);

	*err = XK_E_NOMEM;
	if (s == NULL) {
		if (lls != NULL)
			xk_close(lls);
		return NULL;
	}
	cell_sess(s)->take = (struct cell_take){ .at = cell_rep(r), .link = s };
	cell_sess(s)->most = lls != NULL ? cells_of(lls) : 0;
	if (lls == NULL) {
		r->drv_sess = s;
		return s;
	}
	*err = xk_sess_bind(s, &k);
	if (*err == XK_OK)
		return s;
	cell_link_free(s);
	return NULL;
}

struct xk_sess *cell_link_first(struct xk_rep *r, struct xk_sess *lls, unsigned *reason)
{
	struct xk_enable *e = xk_enable_find(r->node, &(struct xk_key){ { 0, 0 } });
	struct xk_sess *s;
	int err;

	*reason = CELL_DROP_NOBODY;
	if (e == NULL)
		return NULL;
	*reason = XK_DROP_NOMEM;
	s = cell_link_new(r, &xk_rep_here(xk_enable_rcv(e), r)->up, xk_enable_type(e), lls != NULL ? xk_dup(lls) : NULL, &err);
	if (s == NULL)
		return NULL;
	xk_dup(s);
	if (xk_open_done(xk_enable_rcv(e), s, xk_enable_type(e)) >= 0)
		return s;
	*reason = CELL_DROP_NOBODY;
	xk_close(s);
	return NULL;
}
