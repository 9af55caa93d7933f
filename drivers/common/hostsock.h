/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hostsock.h - sockets of the host's kernel, for drivers that stand on them.
 *
 * Addresses are IPv4 in host order; a result below 0 is a negative errno, which is what XK_E_* are.
 * Nothing here waits: every socket is non-blocking.
 */
#ifndef XK_HOSTSOCK_H
#define XK_HOSTSOCK_H

#include <netinet/in.h>

#include "runtime/upi/xk_part.h"
#include "runtime/upi/xk_proto.h"

/* One end of a socket; host 0: any, port 0: any. */
struct xk_hostend { uint32_t host; uint16_t port; };

static inline struct sockaddr_in xk_hostend_sa(struct xk_hostend e)
{
	return (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(e.port), .sin_addr.s_addr = htonl(e.host) };
}
static inline struct xk_hostend xk_hostend_of(const struct sockaddr_in *a)
{
	return (struct xk_hostend){ ntohl(a->sin_addr.s_addr), ntohs(a->sin_port) };
}

/* A socket of `type` in the network namespace `netns` (NULL: this one), with send and receive buffers of
 * so many bytes (0: the kernel's choice; it may give less).  *fd is set on success alone. */
int xk_host_socket(const char *netns, int type, uint64_t buffer, int *fd);
/* Binds; with share several sockets may have the end, and the kernel gives each peer to one of them. */
int xk_host_bind(int fd, struct xk_hostend local, bool share);
/* Where fd's two ends are; an end that is not known yet is { 0, 0 }. */
void xk_host_ends(int fd, struct xk_hostend *local, struct xk_hostend *remote);

/* Takes an end off the participants: the port, then the host; where there are none, or ANY, it is 0.
 * XK_E_INVAL: it is something else. */
int xk_host_part(struct xk_part *p, struct xk_hostend *e);
int xk_host_parts(struct xk_parts *ps, struct xk_hostend *remote, struct xk_hostend *local);
/* What the standard control operations say of a session with these ends, or XK_E_NOTSUP. */
int xk_host_control(struct xk_hostend local, struct xk_hostend remote, unsigned op, void *buf, unsigned len);
/* Result of XK_CTL_ISLOCAL: could a socket in netns be bound to the host in buf? */
int xk_host_is_local(const char *netns, const void *buf, unsigned len);

/* ---- waiting at an end ------------------------------------------------------------- */

/* VPs with a socket for each port that somebody waits on, at most. */
#define XK_HOST_LISTEN 64u

/* A socket at which a VP hears of peers; the head of a structure of the driver's. */
struct xk_hostlisten {
	struct xk_hostlisten *next;
	struct xk_hostend     local;     /* as bound */
	struct xk_key         key;       /* of who waits, for xk_enable_find */
	int                   fd;        /* -1: closed */
	uint16_t              vp;
};
/* How a driver does it: `size` bytes each, zeroed; open makes l->fd, bound to l->local, and has VP l->vp look at it. */
struct xk_hostlistener { size_t size; int (*open)(struct xk_node *n, struct xk_hostlisten *l); };

/* How many of n's VPs hear of peers. */
unsigned xk_host_listeners(const struct xk_node *n);
/* A driver's whole open_enable and open_disable.  The sockets, one for each such VP, stay in *list and bound
 * until xk_host_unlisten, because VPs may be using them. */
int  xk_host_enable(struct xk_node *n, struct xk_node *rcv, struct xk_node *type, struct xk_parts *ps,
		    struct xk_hostlisten **list, const struct xk_hostlistener *how);
int  xk_host_disable(struct xk_node *n, struct xk_node *rcv, struct xk_node *type, struct xk_parts *ps);
/* Closes and frees those before `end`; no VP runs any more. */
void xk_host_unlisten(struct xk_hostlisten **list, const struct xk_hostlisten *end);

#endif
