/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sock_io.c - the callers' buffers: read, write and their variants.
 *
 * Down, a datagram is copied into a fresh message and summed in the same pass, whatever
 * pieces the caller cut it into, and a stream is shown them; up, bytes go from the messages that
 * came straight into the buffers.  How far a call has come is kept here, so that an
 * operation that had to wait goes on where it stopped.
 * Invariant: done + left is what the caller asked for; v[i] + off is where it goes on.
 */
#include "protocols/sock/sock_priv.h"

#include <string.h>

#include "runtime/base/xk_csum_inline.h"
#include "runtime/upi/xk_inline.h"

/* ---- bytes ------------------------------------------------------------------------- */

const uint8_t *sock_io_here(struct sock_io *io, uint32_t want, uint32_t *n)
{
	size_t have;

	while (io->off == io->v[io->i].iov_len) {
		io->i++;
		io->off = 0;
	}
	have = io->v[io->i].iov_len - io->off;
	*n = have < want ? (uint32_t)have : want;
	return (const uint8_t *)io->v[io->i].iov_base + io->off;
}

void sock_io_skip(struct sock_io *io, uint32_t n)
{
	io->off += n;
	io->left -= n;
	io->done += n;
}

/* The next contiguous piece of at most n bytes (n <= left); moves on. */
static uint8_t *io_piece(struct sock_io *io, uint32_t want, uint32_t *n)
{
	const uint8_t *p = sock_io_here(io, want, n);

	sock_io_skip(io, *n);
	return (uint8_t *)(uintptr_t)p;
}

static uint32_t fill_summed(struct sock_io *io, uint8_t *to, uint32_t n)
{
	uint32_t sum = 0, at = 0, len, part;

	while (at < n) {
		const uint8_t *p = io_piece(io, n - at, &len);

		part = xk_csum_copy_quick(to + at, p, len, 0);
		sum = xk_csum_add(sum, at & 1 ? xk_csum_swap(part) : part);
		at += len;
	}
	return sum;
}

struct xk_msg *sock_io_msg(struct sock_io *io, uint32_t n)
{
	struct xk_msg *m = xk_msg_new(n);

	if (m == NULL)
		return NULL;
	for (struct xk_msg *s = m; s != NULL; s = s->next)
		s->csum = fill_summed(io, s->data, s->len);
	/* Of a chain nobody could tell where each sum begins. */
	if (!(m->flags & XK_MSG_CHAIN))
		m->flags |= XK_MSG_CSUM;
	return m;
}

void sock_io_take(struct sock_io *io, const struct xk_msg *m, uint32_t off, uint32_t n)
{
	uint32_t len;

	while (n > 0) {
		uint8_t *p = io_piece(io, n, &len);

		xk_msg_copy_out(m, off, p, len);
		off += len;
		n -= len;
	}
}

static int io_begin(struct sock_io *io, const struct iovec *v, int n, int flags)
{
	*io = (struct sock_io){ .v = v, .n = n, .flags = flags };
	if (n < 0 || n > XK_SOCK_IOV)
		return XK_E_INVAL;
	for (int i = 0; i < n; i++) {
		if (v[i].iov_len > (size_t)INT64_MAX - io->left)
			return XK_E_INVAL;
		io->left += v[i].iov_len;
	}
	return XK_OK;
}

/* ---- one call ------------------------------------------------------------------------ */

static int64_t limit_in(struct sock *sk, void *arg)
{
	*(uint64_t *)arg = sk->opts.rcvtimeo;
	return XK_OK;
}

static int64_t limit_out(struct sock *sk, void *arg)
{
	*(uint64_t *)arg = sk->opts.sndtimeo;
	return XK_OK;
}

/* What the call answers: how far it came, before why it stopped. */
static ssize_t io_result(const struct sock_io *io, int64_t res)
{
	return io->done > 0 && res < 0 ? (ssize_t)io->done : (ssize_t)res;
}

/* The first trial does not wait, so that only who has to wait asks for how long. */
static int64_t io_run(struct sock *sk, sock_op op, sock_op limit_of, struct sock_io *io, short events)
{
	int64_t res = sock_wait(sk, op, io, events, false, 0);
	uint64_t limit = 0;

	if (res != XK_E_AGAIN || !io->block)
		return res;
	sock_do(sk, limit_of, &limit);
	return sock_wait(sk, op, io, events, true, limit);
}

static ssize_t send_held(struct sock *sk, struct sock_io *io)
{
	io->block = sock_blocks(sk, io->flags);
	if (sk->type == XK_SOCK_DGRAM)
		return (ssize_t)sock_dgram_send(sk, io);
	return io_result(io, io_run(sk, sock_stream_send, limit_out, io, POLLOUT));
}

static ssize_t recv_held(struct sock *sk, struct sock_io *io)
{
	int64_t res;

	io->block = sock_blocks(sk, io->flags);
	if (io->flags & XK_SOCK_OOB)
		return XK_E_INVAL;
	if (sk->type == XK_SOCK_DGRAM)
		return (ssize_t)io_run(sk, sock_dgram_recv, limit_in, io, POLLIN);
	res = io_run(sk, sock_stream_recv, limit_in, io, POLLIN);
	if (res == XK_E_AGAIN && io->block) {
		io->block = false;       /* the time is over: what there is, be it little */
		res = sock_wait(sk, sock_stream_recv, io, POLLIN, false, 0);
	}
	return io_result(io, res);
}

static ssize_t io_call(int fd, struct sock_io *io, ssize_t (*held)(struct sock *, struct sock_io *))
{
	struct sock *sk;
	ssize_t res = sock_hold(fd, &sk);

	if (res != XK_OK)
		return res;
	res = held(sk, io);
	sock_put(sk);
	return res;
}

/* ---- the calls ------------------------------------------------------------------------- */

ssize_t xk_sock_sendmsg(int fd, const struct xk_sock_msg *m, int flags)
{
	struct sock_io io;
	int err = io_begin(&io, m->iov, m->iovlen, flags);

	io.to = m->addr;
	return err != XK_OK ? err : io_call(fd, &io, send_held);
}

ssize_t xk_sock_recvmsg(int fd, struct xk_sock_msg *m, int flags)
{
	struct sock_io io;
	int err = io_begin(&io, m->iov, m->iovlen, flags);
	ssize_t res;

	io.from = m->addr;
	res = err != XK_OK ? err : io_call(fd, &io, recv_held);
	m->flags = io.cut != 0 ? XK_SOCK_TRUNC : 0;
	return res;
}

ssize_t xk_sock_sendto(int fd, const void *buf, size_t n, int flags, const struct xk_sock_addr *to)
{
	struct iovec v = { (void *)(uintptr_t)buf, n };
	struct xk_sock_addr copy = to != NULL ? *to : (struct xk_sock_addr){ 0 };
	struct xk_sock_msg m = { to != NULL ? &copy : NULL, &v, 1, 0 };

	return xk_sock_sendmsg(fd, &m, flags);
}

ssize_t xk_sock_recvfrom(int fd, void *buf, size_t n, int flags, struct xk_sock_addr *from)
{
	struct iovec v = { buf, n };
	struct xk_sock_msg m = { from, &v, 1, 0 };

	return xk_sock_recvmsg(fd, &m, flags);
}

ssize_t xk_sock_writev(int fd, const struct iovec *v, int n)
{
	struct xk_sock_msg m = { NULL, v, n, 0 };

	return xk_sock_sendmsg(fd, &m, 0);
}

ssize_t xk_sock_readv(int fd, const struct iovec *v, int n)
{
	struct xk_sock_msg m = { NULL, v, n, 0 };

	return xk_sock_recvmsg(fd, &m, 0);
}

ssize_t xk_sock_send(int fd, const void *buf, size_t n, int flags)
{
	return xk_sock_sendto(fd, buf, n, flags, NULL);
}

ssize_t xk_sock_recv(int fd, void *buf, size_t n, int flags)
{
	return xk_sock_recvfrom(fd, buf, n, flags, NULL);
}

ssize_t xk_sock_write(int fd, const void *buf, size_t n)
{
	return xk_sock_sendto(fd, buf, n, 0, NULL);
}

ssize_t xk_sock_read(int fd, void *buf, size_t n)
{
	return xk_sock_recvfrom(fd, buf, n, 0, NULL);
}
