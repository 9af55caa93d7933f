/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sock_sess.c - our sessions on those below, and which sockets live on a virtual processor.
 */
#include "protocols/sock/sock_priv.h"

#include "runtime/upi/xk_inline.h"

/* ---- sessions --------------------------------------------------------------------- */

struct sock_sess *sock_sess_new(struct xk_rep *r, struct xk_sess *lls)
{
	struct xk_sess *s = xk_sess_create(r, NULL, r->node, lls);

	if (s == NULL)
		return NULL;
	lls->up = &s->self;
	return sock_sess(s);
}

void sock_sess_free(struct sock_sess *ss)
{
	struct xk_sess *lls = ss->s.down;

	/* Another socket's by now, where two that share a name talk to one peer. */
	if (lls->up == &ss->s.self)
		lls->up = &ss->s.rep->up;
	ss->s.down = NULL;
	xk_sess_destroy(&ss->s);
	xk_close(lls);
}

struct sock_sess *sock_sess_of(struct xk_up *up)
{
	return up != NULL && up != &up->rep->up ? xk_container_of(up, struct sock_sess, s.self) : NULL;
}

struct sock_sess *sock_sess_on(struct xk_sess *lls)
{
	return sock_sess_of(lls->up);
}

uint32_t sock_stream_room(struct sock *sk)
{
	uint32_t room;

	if (sk->sess == NULL || xk_sess_control(sock_lls(sk), XK_STREAM_ROOM, &room, sizeof room) != (int)sizeof room)
		return 0;
	return room;
}

/* ---- sockets of a VP ---------------------------------------------------------------- */

void sock_join(struct sock *sk)
{
	struct sock_rep *st = sock_rep(sock_rep_here(sk));

	xk_list_put_first(&st->socks, &sk->here);
}

void sock_leave(struct sock *sk)
{
	xk_list_take(&sk->here);
}
