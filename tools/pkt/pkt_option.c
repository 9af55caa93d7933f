/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pkt_option.c - socket options: kept in the socket, told to its stream.
 *
 * What a script reads back is the socket's value where it was set, else the
 * stream's, else that of tcp's parameters.  Options that change nothing a segment
 * could show (SO_PRIORITY, timeouts of calls) are taken without a word.
 */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "tools/pkt/pkt_priv.h"

/* The field that an option is kept in; *unit: script's unit in ours (seconds: 1000). */
static int64_t *kept(struct pkt_sock *k, int64_t level, int64_t name, int64_t *unit)
{
	*unit = 1;
	if (level == SOL_SOCKET) {
		switch (name) {
		case SO_REUSEADDR: case SO_REUSEPORT: return &k->reuseaddr;
		case SO_RCVBUF: return &k->rcvbuf;
		case SO_SNDBUF: return &k->sndbuf;
		case SO_KEEPALIVE: return &k->keepalive;
		default: return NULL;
		}
	}
	switch (name) {
	case PKT_TCP_NODELAY: return &k->nodelay;
	case PKT_TCP_CORK: return &k->cork;
	case PKT_TCP_MAXSEG: return &k->maxseg;
	case PKT_TCP_KEEPIDLE: *unit = 1000; return &k->keepidle;
	case PKT_TCP_KEEPINTVL: *unit = 1000; return &k->keepintvl;
	case PKT_TCP_KEEPCNT: return &k->keepcnt;
	case PKT_TCP_USER_TIMEOUT: return &k->user_timeout;
	case PKT_TCP_LINGER2: *unit = 1000; return &k->linger2;
	case PKT_TCP_DEFER_ACCEPT: *unit = 1000; return &k->defer_accept;
	default: return NULL;
	}
}

static int64_t set_linger(struct pkt_sock *k, const struct pkt_expr *x)
{
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
	k->linger = on ? secs : -1;
	pkt_sock_apply(k);
	return 0;
}

int64_t pkt_setsockopt(struct pkt_run *u, struct pkt_sock *k, const struct pkt_event *e)
{
	const struct pkt_call *c = e->call;
	int64_t level, name, v, unit, *field;

	if (c->nargs < 4 || !pkt_expr_value(c->arg[1], &level) || !pkt_expr_value(c->arg[2], &name))
		return -EINVAL;
	if (level == SOL_SOCKET && name == SO_LINGER)
		return set_linger(k, c->arg[3]);
	field = kept(k, level, name, &unit);
	if (field == NULL) {
		pkt_note(u, e, "this option changes nothing here");
		return 0;
	}
	if (!pkt_expr_value(c->arg[3], &v))
		return -EINVAL;
	*field = v * unit;
	pkt_sock_apply(k);
	return 0;
}

/* ---- reading back -------------------------------------------------------------------- */

static bool info_of(const struct pkt_sock *k, struct tcp_info *i)
{
	return k->s != NULL && k->state != PKT_S_DEAD &&
	       xk_sess_control(k->s, TCP_CTL_INFO, i, sizeof *i) == (int)sizeof *i;
}

/* Of the stream, or of new sockets; -1: nobody says. */
static int64_t live_value(struct pkt_run *u, struct pkt_sock *k, int64_t level, int64_t name)
{
	struct tcp_info i;
	bool have = info_of(k, &i);

	if (level == SOL_SOCKET && name == SO_RCVBUF)
		return have ? i.rcv_buf : u->rcvbuf;
	if (level == SOL_SOCKET && name == SO_SNDBUF)
		return have ? i.snd_buf : u->sndbuf;
	if (level == IPPROTO_TCP && name == PKT_TCP_MAXSEG)
		return have ? i.mss : 536;
	return -1;
}

int64_t pkt_getsockopt(struct pkt_run *u, struct pkt_sock *k, const struct pkt_event *e)
{
	const struct pkt_call *c = e->call;
	int64_t level, name, unit = 1, is, want, *field;

	if (c->nargs < 4 || !pkt_expr_value(c->arg[1], &level) || !pkt_expr_value(c->arg[2], &name))
		return -EINVAL;
	if (level == SOL_SOCKET && name == SO_ERROR) {
		is = k->err;
		k->err = 0;
	} else {
		is = live_value(u, k, level, name);
		field = kept(k, level, name, &unit);
		if (is < 0 && field == NULL)
			return -ENOPROTOOPT;
		if (is < 0)
			is = *field < 0 ? 0 : *field / unit;
	}
	if (!pkt_expr_value(c->arg[3], &want) || want == is)
		return 0;
	if (level == SOL_SOCKET && name == SO_ERROR)
		pkt_differs(u, e, "the pending error is %s, not %s", is ? pkt_errno_name((int)is) : "none",
			    want ? pkt_errno_name((int)want) : "none");
	else
		pkt_differs(u, e, "the option is %lld, not %lld", (long long)is, (long long)want);
	return 0;
}
