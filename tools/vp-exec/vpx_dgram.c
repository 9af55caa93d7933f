/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpx_dgram.c - datagrams, both ways.
 *
 * A pair of SOCK_SEQPACKET keeps their bounds.  Where one came from goes along with it as a descriptor, of a file of
 * nothing whose offset is the address: a native read gets the payload and the kernel drops the descriptor, a
 * recvfrom comes to the supervisor, which takes both.  Of a connected socket none is needed.
 */
#include "tools/vp-exec/vpx.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LONGEST = 65536, PIECES = 1024, BATCH = 64 };
static char datagram[LONGEST];

/* ---- the graph and the pair ---------------------------------------------------------------------------- */

static int tag_of(struct vpx_sock *v, struct xk_sock_addr a)
{
	struct vpx_tag *t;
	int fd;

	for (unsigned i = 0; i < VPX_TAGS && i < v->ntags; i++)
		if (v->tag[i].from.host == a.host && v->tag[i].from.port == a.port)
			return v->tag[i].fd;
	fd = memfd_create("from", MFD_CLOEXEC);
	if (fd < 0)
		return -1;
	(void)lseek(fd, (off_t)((uint64_t)a.host << 16 | a.port), SEEK_SET);
	t = &v->tag[v->ntags % VPX_TAGS];
	if (v->ntags++ >= VPX_TAGS)
		close(t->fd);            /* the kernel has its own of those under way */
	*t = (struct vpx_tag){ a, fd };
	return fd;
}

union ancillary { struct cmsghdr align; char room[CMSG_SPACE(sizeof(int)) + 64]; };

static void to_program(struct vpx_sock *v, void *bytes, size_t n, struct xk_sock_addr from)
{
	struct iovec io = { bytes, n };
	struct msghdr m = { .msg_iov = &io, .msg_iovlen = 1 };
	union ancillary a;
	int fd = v->to_peer ? -1 : tag_of(v, from);

	if (fd >= 0) {
		struct cmsghdr *h = &a.align;

		memset(&a, 0, sizeof a);
		m.msg_control = a.room;
		m.msg_controllen = CMSG_SPACE(sizeof fd);
		*h = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof fd), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS };
		memcpy(CMSG_DATA(h), &fd, sizeof fd);
	}
	(void)sendmsg(v->end, &m, MSG_DONTWAIT | MSG_NOSIGNAL);   /* no room: lost, as datagrams are */
}

static int64_t receive(struct vpx_sock *v, const struct vpx_call *c, bool *waits);

static bool writable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };

	return poll(&p, 1, 0) > 0 && (p.revents & POLLOUT) != 0;
}

static bool from_graph(struct vpx_sock *v)
{
	struct xk_sock_addr from;
	ssize_t n;

	for (unsigned i = 0; i < BATCH && writable(v->end); i++) {
		n = xk_sock_recvfrom(v->graph, datagram, sizeof datagram, XK_SOCK_DONTWAIT, &from);
		if (n == XK_E_AGAIN)
			return false;
		if (n < 0) {
			v->error = (int)-n;
			return false;
		}
		to_program(v, datagram, (size_t)n, from);
	}
	return writable(v->end);
}

/* Of what is in `datagram`: as many bytes went, or a negative error.  A server of names is the supervisor. */
static int64_t to_graph(struct vpx_sock *v, size_t n, const struct xk_sock_addr *to)
{
	struct xk_sock_addr a = to != NULL ? *to : v->peer;
	uint8_t answer[VPX_DNS_MOST];
	size_t len;

	if ((to == NULL && !v->to_peer) || !vpx_hosts_server(v->stack, a))
		return (int64_t)xk_sock_sendto(v->graph, datagram, n, XK_SOCK_DONTWAIT, to);
	len = vpx_dns_answer((const uint8_t *)datagram, n, answer);
	if (len != 0)
		to_program(v, answer, len, a);
	vpx_sock_soon(v);                        /* a receive may wait for it */
	return (int64_t)n;
}

/* What was written without an address; false: it is gone. */
static bool from_program(struct vpx_sock *v, bool *more)
{
	for (unsigned i = 0; i < BATCH; i++) {
		ssize_t n = recv(v->end, datagram, sizeof datagram, MSG_DONTWAIT);

		if ((n == 0 && v->hup) || (n < 0 && errno != EAGAIN)) {
			vpx_sock_free(v);
			return false;
		}
		if (n < 0 || (n == 0 && v->shut_wr))
			return true;
		n = to_graph(v, (size_t)n, NULL);
		if (n < 0 && n != XK_E_AGAIN)
			v->error = (int)-n;
	}
	*more = true;
	return true;
}

static void answer_waiting(struct vpx_sock *v)
{
	while (v->pending != NULL) {
		struct vpx_call c = v->pending->call;
		bool waits;
		int64_t result = vpx_call_valid(&c) ? receive(v, &c, &waits) : 0;

		if (result == -EAGAIN)
			return;
		(void)vpx_pending_take(v, &c);
		(void)vpx_call_answer(&c, result);
	}
}

bool vpx_dgram_turn(struct vpx_sock *v)
{
	bool more = false;

	if (!from_program(v, &more))
		return false;
	more |= from_graph(v);
	answer_waiting(v);
	if (more)
		vpx_sock_soon(v);
	return true;
}

/* An error that waits is told once. */
static int64_t waiting_error(struct vpx_sock *v)
{
	int error = v->error;

	v->error = 0;
	return -error;
}

/* ---- sends with an address, or of many pieces ---------------------------------------------------------------- */

static int64_t send_it(struct vpx_sock *v, size_t n, const struct xk_sock_addr *to)
{
	int64_t error = waiting_error(v);

	return error != 0 ? error : to_graph(v, n, to);
}

static bool is_urgent(const struct vpx_call *c, uint64_t flags)
{
	if ((flags & MSG_OOB) == 0)
		return false;
	vpx_say(VPX_NO_URGENT, c, 0, 0);
	return true;
}

/* Whose address is not looked at: a stream has one peer. */
static int64_t send_on_stream(const struct vpx_call *c)
{
	size_t n = c->arg[2] < LONGEST ? (size_t)c->arg[2] : LONGEST;
	int end = vpx_end_of_call(c);
	ssize_t r;

	if (end < 0)
		return -EBADF;
	if (!vpx_get(c, c->arg[1], datagram, n)) {
		close(end);
		return -EFAULT;
	}
	r = send(end, datagram, n, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (r < 0)
		r = -errno;
	close(end);
	return r;
}

int64_t vpx_sendto(struct vpx_sock *v, const struct vpx_call *c)
{
	struct xk_sock_addr to;
	int err;

	if (is_urgent(c, c->arg[3]))
		return -EOPNOTSUPP;
	if (v->type == SOCK_STREAM)
		return send_on_stream(c);
	if (c->arg[2] > LONGEST)
		return -EMSGSIZE;
	if (!vpx_dgram_turn(v))
		return -EBADF;
	err = vpx_get_addr(c, c->arg[4], c->arg[5], &to);
	if (err != 0)
		return err == 1 ? -EAFNOSUPPORT : err;
	if (to.port == 0)
		return -EINVAL;
	return vpx_get(c, c->arg[1], datagram, (size_t)c->arg[2]) ? send_it(v, (size_t)c->arg[2], &to) : -EFAULT;
}

/* The pieces of a message of the caller's; 0 or a negative errno. */
static int get_message(const struct vpx_call *c, uint64_t at, struct msghdr *m, struct iovec *piece)
{
	if (!vpx_get(c, at, m, sizeof *m))
		return -EFAULT;
	if (m->msg_iovlen > PIECES)
		return -EMSGSIZE;
	return vpx_get(c, (uint64_t)(uintptr_t)m->msg_iov, piece, m->msg_iovlen * sizeof *piece) ? 0 : -EFAULT;
}

static int64_t send_message(struct vpx_sock *v, const struct vpx_call *c, uint64_t at)
{
	static struct iovec piece[PIECES];
	struct xk_sock_addr to;
	struct msghdr m;
	size_t n = 0;
	int err = get_message(c, at, &m, piece);

	if (err == 0 && m.msg_name != NULL)
		err = vpx_get_addr(c, (uint64_t)(uintptr_t)m.msg_name, m.msg_namelen, &to);
	if (err != 0)
		return err == 1 ? -EAFNOSUPPORT : err;
	for (size_t i = 0; i < m.msg_iovlen; i++) {
		if (piece[i].iov_len > LONGEST - n)
			return -EMSGSIZE;
		if (!vpx_get(c, (uint64_t)(uintptr_t)piece[i].iov_base, datagram + n, piece[i].iov_len))
			return -EFAULT;
		n += piece[i].iov_len;
	}
	return send_it(v, n, m.msg_name != NULL ? &to : NULL);
}

int64_t vpx_sendmsg(struct vpx_sock *v, const struct vpx_call *c)
{
	if (is_urgent(c, c->arg[2]))
		return -EOPNOTSUPP;
	if (v->type == SOCK_STREAM)
		return VPX_NATIVE;
	return vpx_dgram_turn(v) ? send_message(v, c, c->arg[1]) : -EBADF;
}

int64_t vpx_sendmmsg(struct vpx_sock *v, const struct vpx_call *c)
{
	unsigned n = (unsigned)c->arg[2] < PIECES ? (unsigned)c->arg[2] : PIECES, i;
	int64_t r = 0;

	if (v->type == SOCK_STREAM)
		return VPX_NATIVE;
	if (!vpx_dgram_turn(v))
		return -EBADF;
	for (i = 0; i < n; i++) {
		uint64_t at = c->arg[1] + i * sizeof(struct mmsghdr);
		unsigned len;

		r = send_message(v, c, at);
		if (r < 0)
			break;
		len = (unsigned)r;
		if (!vpx_put(c, at + offsetof(struct mmsghdr, msg_len), &len, sizeof len))
			return -EFAULT;
	}
	return i != 0 ? (int64_t)i : r;
}

/* ---- receives that want to know from whom ------------------------------------------------------------------------ */

static void look_at_tag(struct msghdr *m, struct xk_sock_addr *from)
{
	for (struct cmsghdr *h = CMSG_FIRSTHDR(m); h != NULL; h = CMSG_NXTHDR(m, h)) {
		off_t at;
		int fd;

		if (h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS)
			continue;
		memcpy(&fd, CMSG_DATA(h), sizeof fd);
		at = lseek(fd, 0, SEEK_CUR);
		*from = (struct xk_sock_addr){ (uint32_t)((uint64_t)at >> 16), (uint16_t)at };
		close(fd);
	}
}

/* Into `datagram`: its whole length, -EAGAIN: there is none and c may wait, or another error. */
static ssize_t take(struct vpx_sock *v, const struct vpx_call *c, int flags, struct xk_sock_addr *from, bool *waits)
{
	struct iovec io = { datagram, sizeof datagram };
	union ancillary a;
	struct msghdr m = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = a.room, .msg_controllen = sizeof a.room };
	int end = vpx_end_of_call(c);
	ssize_t n;

	*from = v->peer;
	*waits = false;
	if (end < 0)
		return -EBADF;
	n = recvmsg(end, &m, MSG_DONTWAIT | MSG_TRUNC | MSG_CMSG_CLOEXEC | (flags & MSG_PEEK));
	if (n < 0)
		n = -errno;
	else
		look_at_tag(&m, from);
	*waits = n == -EAGAIN && (flags & MSG_DONTWAIT) == 0 && vpx_end_blocks(end);
	close(end);
	return n;
}

static int64_t put_plain(const struct vpx_call *c, size_t n, struct xk_sock_addr from)
{
	size_t fits = n < c->arg[2] ? n : (size_t)c->arg[2];
	int err;

	if (!vpx_put(c, c->arg[1], datagram, fits))
		return -EFAULT;
	err = vpx_put_addr(c, c->arg[4], c->arg[5], from);
	if (err != 0)
		return err;
	return (int64_t)((c->arg[3] & MSG_TRUNC) != 0 ? n : fits);
}

static int64_t put_message(const struct vpx_call *c, uint64_t at, int flags, size_t n, struct xk_sock_addr from)
{
	static struct iovec piece[PIECES];
	struct sockaddr_in s = vpx_sockaddr(from);
	struct msghdr m;
	size_t put = 0;
	int err = get_message(c, at, &m, piece);

	for (size_t i = 0; err == 0 && i < m.msg_iovlen && put < n; i++) {
		size_t k = piece[i].iov_len < n - put ? piece[i].iov_len : n - put;

		if (!vpx_put(c, (uint64_t)(uintptr_t)piece[i].iov_base, datagram + put, k))
			err = -EFAULT;
		put += k;
	}
	if (err != 0)
		return err;
	if (m.msg_name != NULL) {
		if (!vpx_put(c, (uint64_t)(uintptr_t)m.msg_name, &s, m.msg_namelen < sizeof s ? m.msg_namelen : sizeof s))
			return -EFAULT;
		m.msg_namelen = sizeof s;
	}
	m.msg_flags = put < n ? MSG_TRUNC : 0;
	m.msg_controllen = 0;
	if (!vpx_put(c, at, &m, sizeof m))
		return -EFAULT;
	return (int64_t)((flags & MSG_TRUNC) != 0 ? n : put);
}

/* One datagram for c, or -EAGAIN: c waits. */
static int64_t receive_one(struct vpx_sock *v, const struct vpx_call *c, int flags, uint64_t at, bool *waits)
{
	struct xk_sock_addr from;
	ssize_t n = take(v, c, flags, &from, waits);

	if (n == -EAGAIN && v->error != 0) {
		*waits = false;
		return waiting_error(v);
	}
	if (n < 0)
		return n;
	return at == 0 ? put_plain(c, (size_t)n, from) : put_message(c, at, flags, (size_t)n, from);
}

static int64_t receive_many(struct vpx_sock *v, const struct vpx_call *c, bool *waits)
{
	unsigned most = (unsigned)c->arg[2] < PIECES ? (unsigned)c->arg[2] : PIECES, i;
	int flags = (int)c->arg[3];

	for (i = 0; i < most; i++) {
		uint64_t at = c->arg[1] + i * sizeof(struct mmsghdr);
		int64_t n = receive_one(v, c, i == 0 ? flags : flags | MSG_DONTWAIT, at, waits);
		unsigned len = (unsigned)n;

		if (n < 0)
			return i != 0 ? (int64_t)i : n;
		if (!vpx_put(c, at + offsetof(struct mmsghdr, msg_len), &len, sizeof len))
			return -EFAULT;
	}
	return i;
}

static int64_t receive(struct vpx_sock *v, const struct vpx_call *c, bool *waits)
{
	if (c->nr == SYS_recvmmsg)
		return receive_many(v, c, waits);
	if (c->nr == SYS_recvmsg)
		return receive_one(v, c, (int)c->arg[2], c->arg[1], waits);
	return receive_one(v, c, (int)c->arg[3], 0, waits);
}

int64_t vpx_receive(struct vpx_sock *v, const struct vpx_call *c)
{
	int64_t result;
	bool waits;

	if (v->type == SOCK_STREAM)
		return v->state == VPX_LISTENING || (v->state == VPX_IDLE && v->peer.port == 0) ? -ENOTCONN : VPX_NATIVE;
	if (!vpx_dgram_turn(v))
		return -EBADF;
	result = receive(v, c, &waits);
	return result == -EAGAIN && waits ? vpx_wait(v, c, SO_RCVTIMEO) : result;
}
