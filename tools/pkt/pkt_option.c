/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pkt_option.c - socket options: the script's level and name, and ours.
 *
 * Values are told to and asked of the socket as they stand.  An option that is not in the
 * table is an error to the program, as it is on a system that does not have it.
 */
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <string.h>

#include "tools/pkt/pkt_priv.h"

static const struct { int64_t level, name; enum xk_sock_opt o; } options[] = {
	{ SOL_SOCKET, SO_REUSEADDR, XK_SO_REUSEADDR }, { SOL_SOCKET, SO_REUSEPORT, XK_SO_REUSEADDR },
	{ SOL_SOCKET, SO_RCVBUF, XK_SO_RCVBUF }, { SOL_SOCKET, SO_SNDBUF, XK_SO_SNDBUF },
	{ SOL_SOCKET, SO_RCVLOWAT, XK_SO_RCVLOWAT }, { SOL_SOCKET, SO_KEEPALIVE, XK_SO_KEEPALIVE },
	{ SOL_SOCKET, SO_OOBINLINE, XK_SO_OOBINLINE }, { SOL_SOCKET, SO_ERROR, XK_SO_ERROR },
	{ IPPROTO_TCP, PKT_TCP_NODELAY, XK_TCP_NODELAY }, { IPPROTO_TCP, PKT_TCP_CORK, XK_TCP_CORK },
	{ IPPROTO_TCP, PKT_TCP_MAXSEG, XK_TCP_MAXSEG }, { IPPROTO_TCP, PKT_TCP_KEEPIDLE, XK_TCP_KEEPIDLE },
	{ IPPROTO_TCP, PKT_TCP_KEEPINTVL, XK_TCP_KEEPINTVL }, { IPPROTO_TCP, PKT_TCP_KEEPCNT, XK_TCP_KEEPCNT },
	{ IPPROTO_TCP, PKT_TCP_USER_TIMEOUT, XK_TCP_USER_TIMEOUT }, { IPPROTO_TCP, PKT_TCP_LINGER2, XK_TCP_LINGER2 },
};

/* 0: there is none. */
static enum xk_sock_opt ours(int64_t level, int64_t name)
{
	for (unsigned i = 0; i < XK_ARRAY_LEN(options); i++)
		if (options[i].level == level && options[i].name == name)
			return options[i].o;
	return 0;
}

/* ---- setting ------------------------------------------------------------------------- */

static int64_t set_linger(struct pkt_sock *k, const struct pkt_expr *x)
{
	struct xk_sock_linger l = { 0, 0 };
	int64_t on = 0, secs = 0;

	if (x->kind == PKT_X_LIST && x->n == 1)
		x = x->kid[0];
	if (x->kind != PKT_X_STRUCT)
		return -EINVAL;
	for (unsigned i = 0; i < x->n; i++) {
		const struct pkt_expr *f = x->kid[i];

		if (f->kind == PKT_X_FIELD && strcmp(f->s, "onoff") == 0)
			pkt_expr_value(f, &on);
		else if (f->kind == PKT_X_FIELD && strcmp(f->s, "linger") == 0)
			pkt_expr_value(f, &secs);
		else if (f->kind == PKT_X_INT && x->n == 2)
			*(i == 0 ? &on : &secs) = f->v;
	}
	l = (struct xk_sock_linger){ on != 0, (int)secs };
	return xk_sock_setopt(k->fd, XK_SO_LINGER, &l, sizeof l);
}

int64_t pkt_setsockopt(struct pkt_run *u, struct pkt_sock *k, const struct pkt_event *e)
{
	const struct pkt_call *c = e->call;
	int64_t level, name, v;
	enum xk_sock_opt o;

	(void)u;
	if (c->nargs < 4 || !pkt_expr_value(c->arg[1], &level) || !pkt_expr_value(c->arg[2], &name))
		return -EINVAL;
	if (level == SOL_SOCKET && name == SO_LINGER)
		return set_linger(k, c->arg[3]);
	if (!pkt_expr_value(c->arg[3], &v))
		return -EINVAL;
	if (level == IPPROTO_TCP && name == PKT_TCP_DEFER_ACCEPT && v >= 0 && v < INT32_MAX / 1000) {
		k->defer = (uint32_t)v * 1000;
		return 0;
	}
	o = ours(level, name);
	return o != 0 ? pkt_sock_set(k, o, v) : -ENOPROTOOPT;
}

/* ---- reading back -------------------------------------------------------------------- */

int64_t pkt_getsockopt(struct pkt_run *u, struct pkt_sock *k, const struct pkt_event *e)
{
	const struct pkt_call *c = e->call;
	int64_t level, name, is = 0, want;
	enum xk_sock_opt o;
	int err;

	if (c->nargs < 4 || !pkt_expr_value(c->arg[1], &level) || !pkt_expr_value(c->arg[2], &name))
		return -EINVAL;
	o = ours(level, name);
	err = o != 0 ? pkt_sock_get(k, o, &is) : XK_E_NOPROTOOPT;
	if (err != XK_OK)
		return err;
	if (o == XK_SO_ERROR)
		is = -is;
	if (!pkt_expr_value(c->arg[3], &want) || want == is)
		return 0;
	if (o == XK_SO_ERROR)
		pkt_differs(u, e, "the pending error is %s, not %s", is ? pkt_errno_name((int)is) : "none",
			    want ? pkt_errno_name((int)want) : "none");
	else
		pkt_differs(u, e, "the option is %lld, not %lld", (long long)is, (long long)want);
	return 0;
}
