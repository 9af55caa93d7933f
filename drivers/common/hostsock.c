/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hostsock.c - makes sockets of the host's kernel and reads their addresses.
 *
 * Only the making needs the namespace: a socket stays where it was made.
 */
#include "drivers/common/hostsock.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "drivers/common/netns.h"
#include "runtime/mem/xk_alloc.h"
#include "runtime/upi/xk_enable.h"
#include "runtime/upi/xk_vps.h"

static int make(void *arg)
{
	int *type = arg, fd = socket(AF_INET, *type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	return fd >= 0 ? fd : -errno;
}

/* What root may have beyond the system's limit. */
static void set_buffer(int fd, int forced, int plain, uint64_t bytes)
{
	int n = bytes < INT32_MAX ? (int)bytes : INT32_MAX;

	if (bytes != 0 && setsockopt(fd, SOL_SOCKET, forced, &n, sizeof n) < 0)
		(void)setsockopt(fd, SOL_SOCKET, plain, &n, sizeof n);
}

int xk_host_socket(const char *netns, int type, uint64_t buffer, int *fd)
{
	char why[256];
	int res = xk_netns_do(netns, make, &type, why, sizeof why);

	if (res < 0)
		return res;
	*fd = res;
	set_buffer(*fd, SO_SNDBUFFORCE, SO_SNDBUF, buffer);
	set_buffer(*fd, SO_RCVBUFFORCE, SO_RCVBUF, buffer);
	return XK_OK;
}

int xk_host_bind(int fd, struct xk_hostend local, bool share)
{
	struct sockaddr_in a = xk_hostend_sa(local);
	const int one = 1;

	if (setsockopt(fd, SOL_SOCKET, share ? SO_REUSEPORT : SO_REUSEADDR, &one, sizeof one) < 0 ||
	    bind(fd, (struct sockaddr *)&a, sizeof a) < 0)
		return -errno;
	return XK_OK;
}

void xk_host_ends(int fd, struct xk_hostend *local, struct xk_hostend *remote)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t n = sizeof a;

	*local = *remote = (struct xk_hostend){ 0, 0 };
	if (getsockname(fd, (struct sockaddr *)&a, &n) == 0 && n == sizeof a)
		*local = xk_hostend_of(&a);
	n = sizeof a;
	if (getpeername(fd, (struct sockaddr *)&a, &n) == 0 && n == sizeof a)
		*remote = xk_hostend_of(&a);
}

int xk_host_part(struct xk_part *p, struct xk_hostend *e)
{
	*e = (struct xk_hostend){ 0, 0 };
	if (p->depth != 0 && xk_part_pop_port(p, &e->port) < 0)
		return XK_E_INVAL;
	if (p->depth != 0 && xk_part_pop_host(p, &e->host) < 0)
		return XK_E_INVAL;
	return XK_OK;
}

int xk_host_parts(struct xk_parts *ps, struct xk_hostend *remote, struct xk_hostend *local)
{
	*local = (struct xk_hostend){ 0, 0 };
	if (ps == NULL || ps->n == 0 || xk_host_part(&ps->p[XK_REMOTE], remote) != XK_OK || remote->port == 0 ||
	    remote->host == 0)
		return XK_E_INVAL;
	return ps->n > XK_LOCAL ? xk_host_part(&ps->p[XK_LOCAL], local) : XK_OK;
}

static int participants(struct xk_hostend local, struct xk_hostend remote, void *buf, unsigned len)
{
	struct xk_parts ps;

	xk_parts_init(&ps, 2);
	xk_part_push_host(&ps.p[XK_REMOTE], remote.host);
	xk_part_push_port(&ps.p[XK_REMOTE], remote.port);
	xk_part_push_host(&ps.p[XK_LOCAL], local.host);
	xk_part_push_port(&ps.p[XK_LOCAL], local.port);
	return xk_answer(buf, len, &ps, sizeof ps);
}

int xk_host_control(struct xk_hostend local, struct xk_hostend remote, unsigned op, void *buf, unsigned len)
{
	switch (op) {
	case XK_CTL_GETMYHOST:
		return xk_answer32(buf, len, local.host);
	case XK_CTL_GETPEERHOST:
		return xk_answer32(buf, len, remote.host);
	case XK_CTL_GETMYPORT:
		return xk_answer(buf, len, &local.port, sizeof local.port);
	case XK_CTL_GETPEERPORT:
		return xk_answer(buf, len, &remote.port, sizeof remote.port);
	case XK_CTL_GETMYPROTO:
		return xk_answer32(buf, len, local.port);
	case XK_CTL_GETPARTICIPANTS:
		return participants(local, remote, buf, len);
	default:
		return XK_E_NOTSUP;
	}
}

int xk_host_is_local(const char *netns, const void *buf, unsigned len)
{
	struct xk_hostend e = { 0, 0 };
	int fd, res = xk_take(&e.host, sizeof e.host, buf, len);

	if (res != XK_OK)
		return res;
	res = xk_host_socket(netns, SOCK_DGRAM, 0, &fd);
	if (res != XK_OK)
		return res;
	res = xk_host_bind(fd, e, false);
	close(fd);
	return res == XK_OK && e.host != 0;
}

/* ---- waiting at an end -------------------------------------------------------------------- */

unsigned xk_host_listeners(const struct xk_node *n)
{
	unsigned nconn = xk_node_nconn(n);

	return nconn < XK_HOST_LISTEN ? nconn : XK_HOST_LISTEN;
}

static int enable_key(struct xk_parts *ps, struct xk_hostend *at, struct xk_key *k)
{
	if (ps == NULL || ps->n == 0 || xk_host_part(&ps->p[0], at) != XK_OK || at->port == 0)
		return XK_E_INVAL;
	*k = (struct xk_key){ { at->port, at->host } };
	return XK_OK;
}

static bool heard_at(const struct xk_hostlisten *l, const struct xk_key *key)
{
	while (l != NULL && !xk_key_eq(&l->key, key))
		l = l->next;
	return l != NULL;
}

void xk_host_unlisten(struct xk_hostlisten **list, const struct xk_hostlisten *end)
{
	struct xk_hostlisten *l;

	while ((l = *list) != end) {
		*list = l->next;
		if (l->fd >= 0)
			close(l->fd);
		xk_free(l);
	}
}

static int listen_at(struct xk_node *n, struct xk_hostend at, const struct xk_key *key, struct xk_hostlisten **list,
		     const struct xk_hostlistener *how)
{
	struct xk_hostlisten *had = *list, *l;
	unsigned most = xk_host_listeners(n);
	int err = XK_OK;

	for (unsigned v = 0; err == XK_OK && v < most; v++) {
		l = xk_alloc(how->size);
		if (l == NULL) {
			err = XK_E_NOMEM;
			break;
		}
		memset(l, 0, how->size);
		*l = (struct xk_hostlisten){ .next = *list, .local = at, .key = *key, .fd = -1, .vp = (uint16_t)v };
		*list = l;
		err = how->open(n, l);
	}
	if (err != XK_OK)
		xk_host_unlisten(list, had);
	return err;
}

int xk_host_enable(struct xk_node *n, struct xk_node *rcv, struct xk_node *type, struct xk_parts *ps,
		   struct xk_hostlisten **list, const struct xk_hostlistener *how)
{
	struct xk_hostend at;
	struct xk_key k;
	int err = enable_key(ps, &at, &k);

	if (err == XK_OK)
		err = xk_enable_bind(n, &k, rcv, type);
	if (err != XK_OK)
		return err;
	xk_structure_lock(n);
	if (!heard_at(*list, &k))
		err = listen_at(n, at, &k, list, how);
	xk_structure_unlock(n);
	if (err != XK_OK)
		(void)xk_enable_unbind(n, &k, rcv, type);
	return err;
}

int xk_host_disable(struct xk_node *n, struct xk_node *rcv, struct xk_node *type, struct xk_parts *ps)
{
	struct xk_hostend at;
	struct xk_key k;
	int err = enable_key(ps, &at, &k);

	return err != XK_OK ? err : xk_enable_unbind(n, &k, rcv, type);
}
