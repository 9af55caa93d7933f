/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inet_sess.c - the life of sessions over a host; see inet_sess.h.
 *
 * Invariant: a session gives back the one below before it is destroyed, and is bound no more.
 */
#include "protocols/inet/inet_sess.h"

#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"

void inet_sess_free(struct xk_sess *s)
{
	struct xk_sess *down = s->down;

	xk_sess_unbind(s);
	s->down = NULL;
	if (down != NULL)
		xk_close(down);
	xk_sess_destroy(s);
}

bool inet_sess_room(struct xk_rep *r, uint64_t most, struct linger_list *l)
{
	return xk_rep_sessions(r) < most || linger_reclaim(l);
}

int inet_sess_hosts(struct xk_sess *lls, uint32_t *remote, uint32_t *local)
{
	if (xk_sess_control(lls, XK_CTL_GETPEERHOST, remote, sizeof *remote) != (int)sizeof *remote ||
	    xk_sess_control(lls, XK_CTL_GETMYHOST, local, sizeof *local) != (int)sizeof *local)
		return XK_E_NOTSUP;
	return XK_OK;
}

int inet_open_ports(struct xk_parts *ps, uint16_t *rport, uint16_t *lport)
{
	*lport = 0;
	if (ps->n == 0 || xk_part_pop_port(&ps->p[XK_REMOTE], rport) != XK_OK || *rport == 0)
		return XK_E_INVAL;
	if (ps->n > XK_LOCAL && ps->p[XK_LOCAL].depth != 0 &&
	    xk_part_pop_port(&ps->p[XK_LOCAL], lport) < 0)
		return XK_E_INVAL;
	return XK_OK;
}

int inet_participants(struct xk_sess *lls, uint16_t rport, uint16_t lport, void *buf, unsigned len)
{
	int res = xk_sess_control(lls, XK_CTL_GETPARTICIPANTS, buf, len);
	struct xk_parts *ps = buf;

	if (res != (int)sizeof *ps)
		return res;
	if (xk_part_push_port(&ps->p[XK_REMOTE], rport) != XK_OK ||
	    (ps->n > XK_LOCAL && xk_part_push_port(&ps->p[XK_LOCAL], lport) != XK_OK))
		return XK_E_NOSPC;
	return res;
}

int inet_less_header(int res, void *buf, uint32_t hdr_len)
{
	uint32_t v;

	if (res != (int)sizeof v)
		return res;
	memcpy(&v, buf, sizeof v);
	return xk_answer32(buf, sizeof v, v > hdr_len ? v - hdr_len : 0);
}

int inet_start(struct xk_node *n, struct xk_errs *e)
{
	struct xk_parts ps;

	(void)e;
	xk_parts_init(&ps, 1);
	return xk_open_enable(n, n, n->down[0], &ps);
}

void inet_stop(struct xk_node *n)
{
	xk_open_disable_all(n, n->down[0]);
}

int inet_open_done(struct xk_rep *r, struct xk_sess *lls, struct xk_node *type)
{
	(void)r;
	(void)lls;
	(void)type;
	return XK_OK;
}
