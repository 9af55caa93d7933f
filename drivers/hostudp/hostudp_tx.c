/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hostudp_tx.c - datagrams leave in batches.
 *
 * What is pushed waits in its message; a task that became ready with the first sends all in the virtual
 * processor's next unit, earlier when the batch is full: by one sendmmsg for those of one socket that
 * follow each other, and of these as one, which the kernel cuts (UDP_SEGMENT, Linux 4.18), those to one
 * peer that are of one length.  What the kernel does not take is dropped and counted.
 * Invariant: while datagrams wait the task is ready.
 */
#include "drivers/hostudp/hostudp_priv.h"

#include <errno.h>
#include <netinet/udp.h>
#include <string.h>

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif

/* ---- one header ----------------------------------------------------------------------- */

/* Pieces of m to v, at most `room`; 0: more than that.  An empty message has one. */
static unsigned pieces(const struct xk_msg *m, struct iovec *v, unsigned room)
{
	unsigned n = 0;

	for (; m != NULL; m = m->next) {
		if (m->len == 0 && (n != 0 || m->next != NULL))
			continue;
		if (n == room)
			return 0;
		v[n++] = (struct iovec){ m->data, m->len };
	}
	return n;
}

static void put_ctl(struct msghdr *h, int level, int type, const void *p, size_t n)
{
	struct cmsghdr *c = (void *)((char *)h->msg_control + h->msg_controllen);

	c->cmsg_level = level;
	c->cmsg_type = type;
	c->cmsg_len = CMSG_LEN(n);
	memcpy(CMSG_DATA(c), p, n);
	h->msg_controllen += CMSG_SPACE(n);
}

static bool same_way(const struct hostudp_out *a, const struct hostudp_out *b)
{
	return a->fd == b->fd && a->to.host == b->to.host && a->to.port == b->to.port && a->from == b->from;
}

/* How many from out[at] on may go as one: all of one length but the last, which may be shorter. */
static unsigned train(const struct hostudp_rep *hr, unsigned at)
{
	const struct hostudp_out *o = hr->tx->out;
	uint32_t size = o[at].m->tot, all = size;
	unsigned n = 1;

	if (size == 0 || size > hr->most_cut)
		return 1;
	while (at + n < hr->nout && n < HOSTUDP_TRAIN && same_way(&o[at], &o[at + n])) {
		uint32_t next = o[at + n].m->tot;

		if (next == 0 || next > size || all + next > HOSTUDP_MAX)
			break;
		all += next;
		n++;
		if (next < size)
			break;
	}
	return n;
}

/* Header k of `count` datagrams from out[at] on; *nv: pieces used.  0: no room for it any more. */
static unsigned make_header(struct hostudp_rep *hr, unsigned k, unsigned at, unsigned count, unsigned *nv)
{
	struct hostudp_tx *tx = hr->tx;
	const struct hostudp_out *o = &tx->out[at];
	struct msghdr *h = &tx->h[k].msg_hdr;
	unsigned used = 0, i;

	for (i = 0; i < count; i++) {
		unsigned n = pieces(o[i].m, tx->v + *nv + used, HOSTUDP_IOVS - *nv - used);

		if (n == 0)
			break;
		used += n;
	}
	if (i == 0)
		return 0;
	*h = (struct msghdr){ .msg_iov = tx->v + *nv, .msg_iovlen = used, .msg_control = tx->ctl[k] };
	if (o->named) {
		tx->to[k] = xk_hostend_sa(o->to);
		h->msg_name = &tx->to[k];
		h->msg_namelen = sizeof tx->to[k];
	}
	if (i > 1) {
		uint16_t size = (uint16_t)o->m->tot;

		put_ctl(h, IPPROTO_UDP, UDP_SEGMENT, &size, sizeof size);
	}
	if (o->from != 0) {
		struct in_pktinfo from = { .ipi_spec_dst.s_addr = htonl(o->from) };

		put_ctl(h, IPPROTO_IP, IP_PKTINFO, &from, sizeof from);
	}
	if (h->msg_controllen == 0)
		h->msg_control = NULL;
	*nv += used;
	tx->count[k] = i;
	return i;
}

/* ---- what the kernel says -------------------------------------------------------------- */

static unsigned reason_of(struct xk_rep *r, int err)
{
	switch (err) {
	case EAGAIN:
	case ENOBUFS:
	case ENOMEM:
		return HOSTUDP_DROP_FULL;
	case EMSGSIZE:
		return HOSTUDP_DROP_TOO_LONG;
	case ECONNREFUSED:
		return HOSTUDP_DROP_REFUSED_OUT;
	case ENETUNREACH:
	case EHOSTUNREACH:
	case ENETDOWN:
	case EADDRNOTAVAIL:
	case ENODEV:
	case EPERM:
		return HOSTUDP_DROP_UNREACHABLE;
	default:
		xk_count(r->count[N_ERRORS]);
		return HOSTUDP_DROP_ERROR;
	}
}

static void sent(struct hostudp_rep *hr, unsigned at, unsigned k)
{
	struct xk_rep *r = hr->rep;

	for (unsigned i = 0; i < hr->tx->count[k]; i++)
		xk_msg_free(hr->tx->out[at + i].m);
	xk_count_add(r->count[N_WRITTEN], hr->tx->count[k]);
	xk_count_add(r->count[N_TRAINS_OUT], hr->tx->count[k] > 1);
}

/* Is it about the cutting?  Others pass, and tell nothing of it. */
static bool cannot_cut(int err)
{
	return err == EINVAL || err == EMSGSIZE || err == EIO || err == EOPNOTSUPP || err == ENOPROTOOPT;
}

/* The first header, of out[at] on, was not taken.  Returns how many datagrams are done with: 0, they are to be
 * tried again. */
static unsigned refused(struct hostudp_rep *hr, unsigned at, int err, bool *again)
{
	struct xk_rep *r = hr->rep;
	unsigned n = hr->tx->count[0], reason;

	/* A kernel or a device that cuts none, or none so long for this path. */
	if (n > 1 && cannot_cut(err)) {
		hr->most_cut = hr->tx->out[at].m->tot - 1;
		return 0;
	}
	/* It is about an earlier one, and is told once. */
	if (err == ECONNREFUSED) {
		xk_count(r->count[N_PEER_REFUSED]);
		if (!*again) {
			*again = true;
			return 0;
		}
	}
	*again = false;
	reason = reason_of(r, err);
	for (unsigned i = 0; i < n; i++)
		xk_drop(r, reason, hr->tx->out[at + i].m);
	return n;
}

/* Headers for what follows out[at] on its socket; how many. */
static unsigned make_headers(struct hostudp_rep *hr, unsigned at)
{
	int fd = hr->tx->out[at].fd;
	unsigned k = 0, nv = 0, n;

	while (at < hr->nout && hr->tx->out[at].fd == fd) {
		n = make_header(hr, k, at, train(hr, at), &nv);
		if (n == 0)
			break;
		at += n;
		k++;
	}
	return k;
}

void hostudp_flush(struct hostudp_rep *hr)
{
	bool again = false;
	unsigned at = 0;

	while (at < hr->nout) {
		unsigned k = make_headers(hr, at);
		int n = sendmmsg(hr->tx->out[at].fd, hr->tx->h, k, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		xk_count(hr->rep->count[N_WRITES]);
		if (n <= 0) {
			at += refused(hr, at, n < 0 ? errno : EAGAIN, &again);
			continue;
		}
		again = false;
		for (int i = 0; i < n; i++) {
			sent(hr, at, (unsigned)i);
			at += hr->tx->count[i];
		}
	}
	hr->nout = 0;
}

unsigned hostudp_tx_run(struct xk_task *t, unsigned budget)
{
	struct hostudp_rep *hr = xk_container_of(t, struct hostudp_rep, tx_task);
	unsigned n = hr->nout;

	(void)budget;
	hostudp_flush(hr);
	xk_task_park(t);
	return n;
}

/* Is m more pieces than we take of one? */
static bool in_pieces(const struct xk_msg *m)
{
	unsigned n = 0;

	for (; m != NULL; m = m->next)
		n++;
	return n > HOSTUDP_PIECES;
}

void hostudp_push(struct xk_sess *s, struct xk_msg *m)
{
	struct hostudp_sess *us = hostudp_sess(s);
	struct hostudp_rep *hr = hostudp_rep(s->rep);
	bool own = us->sock->only != NULL;

	if (XK_UNLIKELY(m->tot > HOSTUDP_MAX)) {
		xk_drop(s->rep, HOSTUDP_DROP_TOO_LONG, m);
		return;
	}
	if (XK_UNLIKELY((m->flags & XK_MSG_CHAIN) && in_pieces(m))) {
		xk_drop(s->rep, HOSTUDP_DROP_PIECES, m);
		return;
	}
	hr->tx->out[hr->nout++] = (struct hostudp_out){
		.m = m, .fd = us->sock->l.fd, .named = !own, .to = us->peer, .from = own ? 0 : us->local.host,
	};
	if (hr->nout == HOSTUDP_TX)
		hostudp_flush(hr);
	else if (hr->nout == 1)
		xk_task_ready(&hr->tx_task);
}
