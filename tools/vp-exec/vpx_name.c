/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpx_name.c - socket, bind, and the names of both ends.
 */
#include "tools/vp-exec/vpx.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

static int64_t refused(const struct vpx_call *c)
{
	int family = (int)c->arg[0], type = (int)c->arg[1] & 0xf, protocol = (int)c->arg[2];

	if (((int)c->arg[1] & ~(0xf | SOCK_NONBLOCK | SOCK_CLOEXEC)) != 0 || type > SOCK_PACKET || protocol < 0)
		return -EINVAL;
	if (family == AF_PACKET || type == SOCK_RAW) {
		vpx_say(VPX_NO_RAW, c, 0, 0);
		return -EPERM;
	}
	if (family != AF_INET) {
		vpx_say(VPX_NO_IP6, c, 0, 0);
		return -EAFNOSUPPORT;
	}
	if (type != SOCK_STREAM && type != SOCK_DGRAM)
		return -ESOCKTNOSUPPORT;
	return protocol == 0 || protocol == (type == SOCK_STREAM ? IPPROTO_TCP : IPPROTO_UDP) ? 0 : -EPROTONOSUPPORT;
}

int64_t vpx_socket(const struct vpx_call *c)
{
	int64_t err = refused(c);
	struct vpx_sock *v;
	int end, fd;

	if (err == 0)
		err = vpx_sock_new(c->by->stack, (int)c->arg[1] & 0xf, -1, &v, &end);
	if (err != 0)
		return err == XK_E_NOTSUP ? -EPROTONOSUPPORT : err;
	if ((c->arg[1] & SOCK_NONBLOCK) != 0)
		(void)fcntl(end, F_SETFL, O_NONBLOCK);
	fd = vpx_call_give(c, end, (c->arg[1] & SOCK_CLOEXEC) != 0);
	close(end);
	v->tid = c->tid;
	v->fd = fd;
	if (fd >= 0)
		return VPX_LATER;
	vpx_sock_free(v);
	return fd;
}

void vpx_sock_named(struct vpx_sock *v)
{
	(void)xk_sock_getsockname(v->graph, &v->bound);
	vpx.look = true;
}

int64_t vpx_bind(struct vpx_sock *v, const struct vpx_call *c)
{
	uint64_t key = v->key;
	struct xk_sock_addr a;
	int err = vpx_get_addr(c, c->arg[1], c->arg[2], &a);

	if (err != 0 && !(err == 1 && a.host == 0))
		return err == 1 ? -EAFNOSUPPORT : err;
	if (v->state != VPX_IDLE)
		return -EINVAL;
	if (v->bind_lost && v->bound.host == a.host && (a.port == 0 || v->bound.port == a.port)) {
		v->bind_lost = false;    /* interrupted, and come again */
		return 0;
	}
	err = xk_sock_bind(v->graph, &a);
	if (err == XK_E_ADDRINUSE) {
		/* What was closed before this call is free by now; this socket, too, where another thread closed it. */
		vpx_socks_closed();
		v = vpx_sock_of_key(key);
		if (v == NULL)
			return -EBADF;
		err = xk_sock_bind(v->graph, &a);
	}
	if (err == XK_OK)
		vpx_sock_named(v);
	v->bind_lost = !vpx_call_answer(c, err) && err == XK_OK;
	return VPX_LATER;
}

int64_t vpx_getsockname(struct vpx_sock *v, const struct vpx_call *c)
{
	struct xk_sock_addr a = v->bound;
	int err = v->state == VPX_DEAD ? 0 : xk_sock_getsockname(v->graph, &a);

	return err < 0 ? err : vpx_put_addr(c, c->arg[1], c->arg[2], a);
}

int64_t vpx_getpeername(struct vpx_sock *v, const struct vpx_call *c)
{
	if (v->type == SOCK_STREAM ? v->state != VPX_CONNECTED : !v->to_peer)
		return -ENOTCONN;
	return vpx_put_addr(c, c->arg[1], c->arg[2], v->peer);
}
