/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpx_listen.c - listen and accept.
 *
 * Connections are accepted from the graph at once, as many as the backlog has room for, and each puts a byte into
 * the listener's pair: the program's end is readable as long as one waits, for every poller and every process
 * that shares it.  The byte is taken before the answer, so that nobody is told of a connection that is gone, and put back
 * where the answer was lost: that connection stays the first.
 */
#include "tools/vp-exec/vpx.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

int64_t vpx_listen(struct vpx_sock *v, const struct vpx_call *c)
{
	unsigned backlog = (int)c->arg[1] < 1 ? 1 : (unsigned)c->arg[1];
	int err, end;

	if (v->type == SOCK_DGRAM)
		return -EOPNOTSUPP;
	if (v->state != VPX_IDLE && v->state != VPX_LISTENING)
		return -EINVAL;
	err = xk_sock_listen(v->graph, backlog);
	if (err != XK_OK)
		return err;
	v->backlog = backlog > 4096 ? 4096 : backlog;
	if (v->state == VPX_IDLE) {
		v->state = VPX_LISTENING;
		vpx_sock_named(v);
		end = vpx_end_of_call(c);
		if (end >= 0) {
			vpx_end_fill(v, end);    /* never writable, as a listener is */
			close(end);
		}
	}
	vpx_sock_soon(v);
	return 0;
}

static int accept_flags(const struct vpx_call *c) { return c->nr == SYS_accept4 ? (int)c->arg[3] : 0; }

/* One fewer is there to be accepted, or it is there again. */
static bool count_down(struct vpx_sock *v)
{
	int end = vpx_end_find(v);
	char byte;
	bool taken;

	if (end < 0)
		return false;
	taken = recv(end, &byte, 1, MSG_DONTWAIT) == 1;
	close(end);
	return taken;
}

static void count_up(struct vpx_sock *v)
{
	(void)send(v->end, "c", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* The oldest connection becomes c's; false: c's caller is gone, and nothing has happened. */
static bool give_oldest(struct vpx_sock *v, const struct vpx_call *c)
{
	struct vpx_sock *a = v->accepted;
	int flags = accept_flags(c), err, fd;
	bool counted;

	if (!vpx_call_valid(c))
		return false;
	err = vpx_put_addr(c, c->arg[1], c->arg[2], a->peer);
	if (err != 0)
		return vpx_call_answer(c, err) || true;
	(void)fcntl(a->kept, F_SETFL, (flags & SOCK_NONBLOCK) != 0 ? O_NONBLOCK : 0);
	counted = count_down(v);
	fd = vpx_call_give(c, a->kept, (flags & SOCK_CLOEXEC) != 0);
	if (fd < 0 && counted)
		count_up(v);
	if (fd < 0)
		return fd != -ENOENT && vpx_call_answer(c, fd);
	a->tid = c->tid;
	a->fd = fd;
	close(a->kept);
	a->kept = -1;
	v->accepted = a->behind;
	if (v->accepted == NULL)
		v->accepted_last = &v->accepted;
	v->naccepted--;
	return true;
}

static bool one_more(struct vpx_sock *v)
{
	struct xk_sock_addr peer;
	struct vpx_sock *a;
	int fd = xk_sock_accept(v->graph, &peer, XK_SOCK_NONBLOCK), end;

	if (fd < 0)
		return false;
	if (vpx_sock_new(v->stack, SOCK_STREAM, fd, &a, &end) != 0) {
		xk_sock_close(fd);
		return false;
	}
	a->kept = end;
	a->peer = peer;
	a->state = VPX_CONNECTED;
	if (v->rcvbuf != 0)
		vpx_sock_receives(a, v->rcvbuf);
	*v->accepted_last = a;
	v->accepted_last = &a->behind;
	v->naccepted++;
	count_up(v);
	vpx_sock_soon(a);
	return true;
}

void vpx_listen_turn(struct vpx_sock *v)
{
	struct vpx_call c;

	if (v->hup) {
		vpx_sock_free(v);
		return;
	}
	do
		while (v->accepted != NULL && vpx_pending_take(v, &c))
			(void)give_oldest(v, &c);
	while (v->naccepted < v->backlog && one_more(v));
}

int64_t vpx_accept(struct vpx_sock *v, const struct vpx_call *c)
{
	int flags = accept_flags(c), end;
	bool blocks;

	if (v->type == SOCK_DGRAM)
		return -EOPNOTSUPP;
	if (v->state != VPX_LISTENING || (flags & ~(SOCK_NONBLOCK | SOCK_CLOEXEC)) != 0)
		return -EINVAL;
	if (v->accepted == NULL)
		(void)one_more(v);
	if (v->accepted != NULL) {
		(void)give_oldest(v, c);
		vpx_sock_soon(v);                /* there is room in the backlog */
		return VPX_LATER;
	}
	end = vpx_end_of_call(c);
	if (end < 0)
		return -EBADF;
	blocks = vpx_end_blocks(end);
	close(end);
	return blocks ? vpx_wait(v, c, SO_RCVTIMEO) : -EAGAIN;
}
