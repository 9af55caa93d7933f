/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpx_opt.c - options of sockets: two tables say what becomes of each.
 *
 * Those of the connection are the graph's, those of time-outs the pair's, where the waiting is, those of buffers both's.
 * What only advises the network is taken and told again, and has no effect; an option that is not here fails as a
 * kernel's without it would.
 */
#include "tools/vp-exec/vpx.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

/* GRAPH: an int of the graph's; PAIR: the kernel's, of the pair; BUFFER: of both; TOLD: ours to tell;
 * INFO: vpx_tcpinfo.c tells it; EMPTY: nothing is set, and nothing can be. */
enum fate { GRAPH, PAIR, BUFFER, TOLD, INFO, EMPTY };
static const struct option { int level, name; enum fate fate; enum xk_sock_opt graph; } table[] = {
	{ SOL_SOCKET, SO_REUSEADDR, GRAPH, XK_SO_REUSEADDR },
	{ SOL_SOCKET, SO_SNDBUF, BUFFER, XK_SO_SNDBUF }, { SOL_SOCKET, SO_RCVBUF, BUFFER, XK_SO_RCVBUF },
	{ SOL_SOCKET, SO_RCVLOWAT, PAIR, 0 },
	{ SOL_SOCKET, SO_RCVTIMEO, PAIR, 0 }, { SOL_SOCKET, SO_SNDTIMEO, PAIR, 0 },
	{ SOL_SOCKET, SO_RCVTIMEO_NEW, PAIR, 0 }, { SOL_SOCKET, SO_SNDTIMEO_NEW, PAIR, 0 },
	{ SOL_SOCKET, SO_SNDBUFFORCE, PAIR, 0 }, { SOL_SOCKET, SO_RCVBUFFORCE, PAIR, 0 }, { SOL_SOCKET, SO_COOKIE, PAIR, 0 },
	{ SOL_SOCKET, SO_INCOMING_CPU, PAIR, 0 },
	{ SOL_SOCKET, SO_TYPE, TOLD, 0 }, { SOL_SOCKET, SO_DOMAIN, TOLD, 0 }, { SOL_SOCKET, SO_PROTOCOL, TOLD, 0 },
	{ SOL_SOCKET, SO_ERROR, TOLD, 0 }, { SOL_SOCKET, SO_ACCEPTCONN, TOLD, 0 },
	{ SOL_SOCKET, SO_INCOMING_NAPI_ID, TOLD, 0 }, { SOL_SOCKET, SO_BINDTODEVICE, EMPTY, 0 }, { IPPROTO_IP, IP_OPTIONS, EMPTY, 0 },
	{ SOL_SOCKET, SO_KEEPALIVE, GRAPH, XK_SO_KEEPALIVE }, { SOL_SOCKET, SO_LINGER, TOLD, XK_SO_LINGER },
	{ IPPROTO_TCP, TCP_NODELAY, GRAPH, XK_TCP_NODELAY }, { IPPROTO_TCP, TCP_CORK, GRAPH, XK_TCP_CORK },
	{ IPPROTO_TCP, TCP_MAXSEG, GRAPH, XK_TCP_MAXSEG }, { IPPROTO_TCP, TCP_USER_TIMEOUT, GRAPH, XK_TCP_USER_TIMEOUT },
	{ IPPROTO_TCP, TCP_KEEPIDLE, GRAPH, XK_TCP_KEEPIDLE }, { IPPROTO_TCP, TCP_KEEPINTVL, GRAPH, XK_TCP_KEEPINTVL },
	{ IPPROTO_TCP, TCP_KEEPCNT, GRAPH, XK_TCP_KEEPCNT }, { IPPROTO_TCP, TCP_LINGER2, GRAPH, XK_TCP_LINGER2 },
	{ IPPROTO_TCP, TCP_INFO, INFO, 0 },
};

/* A number, or 0 and 1 alone; what it is before anybody has set it. */
static const struct taken { int level, name; bool flag; int value; } taken[] = {
	{ SOL_SOCKET, SO_DONTROUTE, true, 0 }, { SOL_SOCKET, SO_REUSEPORT, true, 0 }, { SOL_SOCKET, SO_BROADCAST, true, 0 },
	{ SOL_SOCKET, SO_PRIORITY, false, 0 }, { SOL_SOCKET, SO_OOBINLINE, true, 0 },
	{ IPPROTO_TCP, TCP_DEFER_ACCEPT, false, 0 }, { IPPROTO_TCP, TCP_QUICKACK, true, 1 },
	{ IPPROTO_TCP, TCP_NOTSENT_LOWAT, false, 0 }, { IPPROTO_TCP, TCP_SYNCNT, false, 6 },
	{ IPPROTO_TCP, TCP_WINDOW_CLAMP, false, 0 },
	{ IPPROTO_IP, IP_TOS, false, 0 }, { IPPROTO_IP, IP_TTL, false, 64 },
	{ IPPROTO_IP, IP_MTU_DISCOVER, false, IP_PMTUDISC_WANT }, { IPPROTO_IP, IP_RECVERR, true, 0 },
	{ IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, true, 0 },
};
_Static_assert(sizeof taken / sizeof *taken == VPX_TAKEN, "a value for each in every socket");

static int find_taken(const struct vpx_sock *v, const struct vpx_call *c)
{
	for (int i = 0; i < VPX_TAKEN; i++)
		if (taken[i].level == (int)c->arg[1] && taken[i].name == (int)c->arg[2])
			return taken[i].level == IPPROTO_TCP && v->type != SOCK_STREAM ? -1 : i;
	return -1;
}

static const struct option *find(const struct vpx_sock *v, const struct vpx_call *c)
{
	int level = (int)c->arg[1], name = (int)c->arg[2];

	for (unsigned i = 0; i < sizeof table / sizeof *table; i++)
		if (table[i].level == level && table[i].name == name)
			return level == IPPROTO_TCP && v->type != SOCK_STREAM ? NULL : &table[i];
	if (level != IPPROTO_IPV6)       /* which a socket of IPv4 has not with a kernel either */
		vpx_say(VPX_NO_OPTION, c, level, name);
	return NULL;
}

int64_t vpx_put_value(const struct vpx_call *c, const void *value, int n)
{
	int room;

	if (!vpx_get(c, c->arg[4], &room, sizeof room))
		return -EFAULT;
	if (room < 0)
		return -EINVAL;
	if (room > n)
		room = n;
	return vpx_put(c, c->arg[3], value, (size_t)room) && vpx_put(c, c->arg[4], &room, sizeof room) ? 0 : -EFAULT;
}

/* ---- asked ------------------------------------------------------------------------------------------------ */

static int told(struct vpx_sock *v, int name)
{
	int error = v->error;

	switch (name) {
	case SO_TYPE: return v->type;
	case SO_DOMAIN: return AF_INET;
	case SO_PROTOCOL: return v->type == SOCK_STREAM ? IPPROTO_TCP : IPPROTO_UDP;
	case SO_ACCEPTCONN: return v->state == VPX_LISTENING;
	case SO_INCOMING_NAPI_ID: return 0;      /* no queue of a device has brought anything */
	default: v->error = 0; return error;
	}
}

static int64_t get_linger(struct vpx_sock *v, const struct vpx_call *c)
{
	struct xk_sock_linger g = { 0, 0 };
	size_t n = sizeof g;
	struct linger l;

	if (v->type == SOCK_STREAM && v->state != VPX_DEAD)
		(void)xk_sock_getopt(v->graph, XK_SO_LINGER, &g, &n);
	l = (struct linger){ g.on, g.seconds };
	return vpx_put_value(c, &l, sizeof l);
}

int64_t vpx_getsockopt(struct vpx_sock *v, const struct vpx_call *c)
{
	int value = 0, err, i = find_taken(v, c);
	const struct option *o = i < 0 ? find(v, c) : NULL;
	size_t n = sizeof(int);

	if (i >= 0)
		return vpx_put_value(c, (v->were_taken >> i & 1) != 0 ? &v->taken[i] : &taken[i].value, sizeof(int));
	if (o == NULL)
		return -ENOPROTOOPT;
	if (o->fate == PAIR || o->fate == BUFFER)
		return VPX_NATIVE;
	if (o->fate == EMPTY)
		return vpx_put_value(c, "", 0);
	if (o->graph == XK_SO_LINGER)
		return get_linger(v, c);
	if (o->fate == INFO)
		return vpx_tcp_info(v, c);
	if (o->fate == TOLD)
		value = told(v, o->name);
	if (o->fate == GRAPH && v->state != VPX_DEAD && !(v->type == SOCK_DGRAM && o->graph == XK_SO_KEEPALIVE)) {
		err = xk_sock_getopt(v->graph, o->graph, &value, &n);
		if (err != XK_OK)
			return err;
	}
	return vpx_put_value(c, &value, sizeof value);
}

/* ---- set --------------------------------------------------------------------------------------------------- */

static int64_t set_linger(struct vpx_sock *v, const struct vpx_call *c)
{
	struct linger l;

	if (c->arg[4] < sizeof l)
		return -EINVAL;
	if (!vpx_get(c, c->arg[3], &l, sizeof l))
		return -EFAULT;
	if (v->type != SOCK_STREAM || v->state == VPX_DEAD)
		return 0;
	return xk_sock_setopt(v->graph, XK_SO_LINGER, &(struct xk_sock_linger){ l.l_onoff != 0, l.l_linger },
			      sizeof(struct xk_sock_linger));
}

/* No device, and no options: what there is already. */
static int64_t set_empty(const struct option *o, const struct vpx_call *c)
{
	char first = '\0';

	if ((int)c->arg[4] < 0)
		return -EINVAL;
	if (c->arg[4] != 0 && !vpx_get(c, c->arg[3], &first, 1))
		return -EFAULT;
	if (c->arg[4] == 0 || (o->name == SO_BINDTODEVICE && first == '\0'))
		return 0;
	return o->name == SO_BINDTODEVICE ? -EPERM : -ENOPROTOOPT;
}

/* Of IP's options a byte is enough. */
static int64_t get_int(const struct vpx_call *c, int *value)
{
	int len = (int)c->arg[4];
	uint8_t byte;

	if (len >= (int)sizeof *value)
		return vpx_get(c, c->arg[3], value, sizeof *value) ? 0 : -EFAULT;
	if (len < 1 || (int)c->arg[1] != IPPROTO_IP)
		return -EINVAL;
	if (!vpx_get(c, c->arg[3], &byte, 1))
		return -EFAULT;
	*value = byte;
	return 0;
}

static int64_t take(struct vpx_sock *v, const struct vpx_call *c, int i)
{
	int64_t err = get_int(c, &v->taken[i]);

	if (err == 0 && taken[i].flag)
		v->taken[i] = v->taken[i] != 0;
	if (err == 0)
		v->were_taken |= 1u << i;
	return err;
}

/* Both halves of the way have it; the kernel's half is set where the call goes on.  A negative size is a large one. */
static int64_t set_buffer(struct vpx_sock *v, const struct vpx_call *c, const struct option *o)
{
	enum { LEAST = 4096, MOST = 16 << 20 };
	int value = 0;
	int64_t err = get_int(c, &value);

	if (err != 0)
		return err;
	value = value < 0 || value > MOST ? MOST : value < LEAST ? LEAST : value;
	if (v->graph >= 0 && (v->type == SOCK_STREAM || o->graph == XK_SO_RCVBUF))
		(void)xk_sock_setopt(v->graph, o->graph, &value, sizeof value);
	if (o->graph == XK_SO_RCVBUF && v->type == SOCK_STREAM)
		vpx_sock_receives(v, value);
	return VPX_NATIVE;
}

int64_t vpx_setsockopt(struct vpx_sock *v, const struct vpx_call *c)
{
	int value = 0, i = find_taken(v, c);
	const struct option *o = i < 0 ? find(v, c) : NULL;
	int64_t err;

	if (i >= 0)
		return take(v, c, i);
	if (o == NULL || o->fate == INFO || (o->fate == TOLD && o->graph == 0))
		return -ENOPROTOOPT;
	if (o->fate == PAIR)
		return VPX_NATIVE;
	if (o->fate == BUFFER)
		return set_buffer(v, c, o);
	if (o->fate == EMPTY)
		return set_empty(o, c);
	if (o->graph == XK_SO_LINGER)
		return set_linger(v, c);
	err = get_int(c, &value);
	if (err != 0 || v->state == VPX_DEAD || (v->type == SOCK_DGRAM && o->graph == XK_SO_KEEPALIVE))
		return err;
	if (o->graph == XK_TCP_CORK || o->graph == XK_TCP_NODELAY || o->graph == XK_SO_KEEPALIVE || o->graph == XK_SO_REUSEADDR)
		value = value != 0;
	/* An option must not overtake bytes that were written before it. */
	if (o->level == IPPROTO_TCP && v->state == VPX_CONNECTED)
		vpx_stream_up(v);
	return xk_sock_setopt(v->graph, o->graph, &value, sizeof value);
}
