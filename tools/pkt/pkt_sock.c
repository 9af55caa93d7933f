/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pkt_sock.c - a program's descriptors: sockets of the node `sock` that stands on the
 * graph's tcp, and the bytes that go through them.
 *
 * What a script calls is what any program calls (xk_sock.h); nothing here knows
 * a connection.  The graph has no workers, so no call waits: one that would is tried
 * again when something has happened (pkt_call.c).  Bytes carry a pattern that depends
 * on their place in the stream: what is read is checked, and what was never read
 * when the descriptor is given back.
 * Invariant: k->fd is open while k exists.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/pkt/pkt_priv.h"

#define PIECE 65536u                     /* bytes that one call of xk_sock moves */

struct pkt_sock *pkt_sock_new(int fd)
{
	struct pkt_sock *k = calloc(1, sizeof *k);

	xk_assert(k != NULL);
	k->fd = fd;
	return k;
}

/* ---- options as numbers ----------------------------------------------------------- */

int pkt_sock_set(const struct pkt_sock *k, enum xk_sock_opt o, int64_t v)
{
	int n = (int)v;

	return v != n ? XK_E_INVAL : xk_sock_setopt(k->fd, o, &n, sizeof n);
}

int pkt_sock_get(const struct pkt_sock *k, enum xk_sock_opt o, int64_t *v)
{
	int n = 0, err;
	size_t len = sizeof n;

	err = xk_sock_getopt(k->fd, o, &n, &len);
	*v = n;
	return err;
}

bool pkt_sock_waits(const struct pkt_sock *k)
{
	int64_t v;

	return pkt_sock_get(k, XK_SO_NONBLOCK, &v) != XK_OK || v == 0;
}

/* ---- bytes ---------------------------------------------------------------------------- */

static void check(struct pkt_sock *k, const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		k->bad_rx += p[i] != pkt_byte((uint32_t)(k->rx_total + i), PKT_SALT_IN);
}

int64_t pkt_sock_read(struct pkt_sock *k, int64_t want, int flags)
{
	static uint8_t buf[PIECE];
	int64_t done = 0;

	do {
		size_t n = want - done < (int64_t)PIECE ? (size_t)(want - done) : PIECE;
		ssize_t r = xk_sock_recv(k->fd, buf, n, flags);

		if (r <= 0)
			return done > 0 ? done : r;
		check(k, buf, (size_t)r);
		done += r;
		if (flags & XK_SOCK_PEEK)
			break;
		k->rx_total += (uint64_t)r;
		if ((size_t)r < n)
			break;
		flags |= XK_SOCK_DONTWAIT;
	} while (done < want);
	return done;
}

int64_t pkt_sock_write(struct pkt_sock *k, int64_t want, int flags)
{
	/* In one call: how it is cut into segments is the stream's affair. */
	uint8_t *buf = malloc(want != 0 ? (size_t)want : 1);
	ssize_t r;

	if (buf == NULL)
		return XK_E_NOMEM;
	for (int64_t i = 0; i < want; i++)
		buf[i] = pkt_byte((uint32_t)(k->tx_total + (uint64_t)i), PKT_SALT_OUT);
	r = xk_sock_send(k->fd, buf, (size_t)want, flags);
	free(buf);
	if (r > 0)
		k->tx_total += (uint64_t)r;
	return r;
}

/* Those that the program never asked for. */
static void check_unread(struct pkt_sock *k)
{
	int64_t n;
	uint8_t *buf;
	ssize_t r;

	if (pkt_sock_get(k, XK_SO_NREAD, &n) != XK_OK || n <= 0 || (buf = malloc((size_t)n)) == NULL)
		return;
	r = xk_sock_recv(k->fd, buf, (size_t)n, XK_SOCK_PEEK | XK_SOCK_DONTWAIT);
	if (r > 0)
		check(k, buf, (size_t)r);
	free(buf);
}

uint32_t pkt_sock_close(struct pkt_sock *k)
{
	uint32_t bad;

	check_unread(k);
	bad = k->bad_rx;
	(void)xk_sock_close(k->fd);
	free(k);
	return bad;
}
