/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hostudp_rx.c - datagrams come in.
 *
 * A virtual processor waits for all its sockets by one descriptor (epoll).  Up to eight datagrams are read by
 * one recvmmsg, or trains of them that the kernel has joined (UDP_GRO, Linux 5.0), which are cut here; each
 * becomes a message of its size.  A socket whose peer has refused is readable, and says so once.
 * Invariant: a socket that events of this unit may name is not freed before its end.
 */
#include "drivers/hostudp/hostudp_priv.h"

#include <errno.h>
#include <netinet/udp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "runtime/mem/xk_alloc.h"

#ifndef UDP_GRO
#define UDP_GRO 104
#endif

void hostudp_rx_init(struct hostudp_rx *rx)
{
	for (unsigned i = 0; i < HOSTUDP_RX; i++) {
		rx->v[i] = (struct iovec){ rx->room[i], HOSTUDP_ROOM };
		rx->h[i].msg_hdr = (struct msghdr){ .msg_iov = &rx->v[i], .msg_iovlen = 1 };
	}
}

/* ---- one datagram, or a train --------------------------------------------------------------- */

struct arrived { const uint8_t *p; uint32_t len, seg; struct xk_hostend peer, local; };

/* seg: of how many bytes each datagram of a train is, 0: it is none. */
static void read_ctl(struct msghdr *h, struct arrived *a)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(h); c != NULL; c = CMSG_NXTHDR(h, c)) {
		if (c->cmsg_level == IPPROTO_UDP && c->cmsg_type == UDP_GRO) {
			int seg;

			memcpy(&seg, CMSG_DATA(c), sizeof seg);
			a->seg = seg > 0 ? (uint32_t)seg : 0;
		} else if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO) {
			struct in_pktinfo to;

			memcpy(&to, CMSG_DATA(c), sizeof to);
			a->local.host = ntohl(to.ipi_spec_dst.s_addr);
		}
	}
}

static void pass_up(struct xk_sess *s, const uint8_t *p, uint32_t n)
{
	struct xk_msg *m = xk_msg_new(n);

	if (m == NULL) {
		xk_dropped(s->rep, XK_DROP_NOMEM, 1);
		return;
	}
	if (n != 0)
		xk_msg_copy_in(m, 0, p, n);
	xk_demux(s, m);
}

/* Who it is for, or NULL with a reason. */
static struct hostudp_sess *session_of(struct hostudp_rep *hr, struct hostudp_sock *k, const struct arrived *a,
				       unsigned *reason)
{
	struct hostudp_sess *only = k->only;
	struct xk_mapnode *node;
	struct xk_key key;

	/* Before it was connected anybody's came in. */
	*reason = HOSTUDP_DROP_NOBODY;
	if (only != NULL)
		return only->peer.host == a->peer.host && only->peer.port == a->peer.port ? only : NULL;
	key = hostudp_key(a->peer, a->local);
	node = xk_map_resolve(&hr->rep->active, &key);
	return node != NULL ? xk_container_of(node, struct hostudp_sess, s.map) :
			      hostudp_first(hr->rep, k, &key, a->peer, a->local, reason);
}

/* Returns how many datagrams it was. */
static unsigned deliver(struct hostudp_rep *hr, struct hostudp_sock *k, const struct arrived *a)
{
	uint32_t seg = a->seg != 0 && a->seg < a->len ? a->seg : a->len, off = 0;
	unsigned reason = 0, n = 0;
	struct hostudp_sess *us = session_of(hr, k, a, &reason);

	if (us == NULL) {
		xk_dropped(hr->rep, reason, 1);
		return 1;
	}
	xk_count_add(hr->rep->count[N_TRAINS_IN], seg < a->len);
	xk_dup(&us->s);
	do {
		uint32_t piece = a->len - off < seg ? a->len - off : seg;

		pass_up(&us->s, a->p + off, piece);
		off += piece;
		n++;
	} while (off < a->len);
	xk_close(&us->s);
	return n;
}

/* ---- a socket ---------------------------------------------------------------------------------- */

/* An error that belongs to something sent before. */
static void read_failed(struct hostudp_rep *hr, int err)
{
	struct xk_rep *r = hr->rep;

	if (err == ECONNREFUSED)
		xk_count(r->count[N_PEER_REFUSED]);
	else if (err != EAGAIN && err != EINTR)
		xk_count(r->count[N_ERRORS]);
}

static unsigned read_some(struct hostudp_rep *hr, struct hostudp_sock *k, unsigned most)
{
	struct hostudp_rx *rx = hr->rx;
	unsigned done = 0;
	int n;

	most = most < HOSTUDP_RX ? most : HOSTUDP_RX;
	for (unsigned i = 0; i < most; i++) {
		struct msghdr *h = &rx->h[i].msg_hdr;

		h->msg_name = &rx->from[i];
		h->msg_namelen = sizeof rx->from[i];
		h->msg_control = rx->ctl[i];
		h->msg_controllen = sizeof rx->ctl[i];
	}
	n = recvmmsg(k->l.fd, rx->h, most, MSG_DONTWAIT, NULL);
	if (n < 0)
		read_failed(hr, errno);
	else
		xk_count(hr->rep->count[N_READS]);
	for (int i = 0; i < n; i++) {
		struct arrived a = { rx->room[i], rx->h[i].msg_len, 0, xk_hostend_of(&rx->from[i]), k->l.local };

		if (k->l.fd < 0)
			break;           /* closed by who had the one before */
		read_ctl(&rx->h[i].msg_hdr, &a);
		done += deliver(hr, k, &a);
	}
	return done;
}

static void free_dead(struct hostudp_rep *hr)
{
	struct hostudp_sock *k;

	while ((k = hr->dead) != NULL) {
		hr->dead = k->dead;
		xk_free(k);
	}
}

unsigned hostudp_rx_run(struct xk_task *t, unsigned budget)
{
	struct hostudp_rep *hr = xk_container_of(t, struct hostudp_rep, rx_task);
	struct epoll_event ev[HOSTUDP_EVENTS];
	int n = epoll_wait(hr->epoll, ev, HOSTUDP_EVENTS, 0);
	unsigned done = 0;

	for (int i = 0; i < n && done < budget; i++) {
		struct hostudp_sock *k = ev[i].data.ptr;

		if (k->l.fd >= 0)
			done += read_some(hr, k, budget - done);
	}
	xk_count_add(hr->rep->count[N_READ], done);
	free_dead(hr);
	return done;
}
