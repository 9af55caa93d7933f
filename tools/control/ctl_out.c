/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ctl_out.c - the bytes on their way to a client.
 *
 * Nothing here waits: what a client has not read yet is kept up to a limit, and who exceeds
 * it is let go.
 */
#include "tools/control/ctl_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Room for n bytes more at out_end. */
static bool make_room(struct ctl_client *cl, size_t n)
{
	size_t have = ctl_client_unread(cl), cap = cl->out_cap ? cl->out_cap : 4096;
	char *more;

	if (cl->out_at != 0) {
		memmove(cl->out, cl->out + cl->out_at, have);
		cl->out_at = 0;
		cl->out_end = have;
	}
	while (cap - have < n)
		cap *= 2;
	if (cap == cl->out_cap)
		return true;
	more = cap <= CTL_OUT_MAX ? realloc(cl->out, cap) : NULL;
	if (more == NULL)
		return false;
	cl->out = more;
	cl->out_cap = cap;
	return true;
}

void ctl_client_put(struct ctl_client *cl, const char *bytes, size_t n)
{
	if (cl->dead)
		return;
	if (n > CTL_OUT_MAX || (cl->out_cap - cl->out_end < n && !make_room(cl, n))) {
		cl->dead = true;
		return;
	}
	memcpy(cl->out + cl->out_end, bytes, n);
	cl->out_end += n;
}

static ssize_t send_some(struct ctl_client *cl)
{
	union { char buf[CMSG_SPACE(sizeof(int))]; struct cmsghdr align; } u = { .buf = { 0 } };
	struct iovec iov = { cl->out + cl->out_at, ctl_client_unread(cl) };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (cl->pass_fd >= 0) {
		struct cmsghdr *h;

		m.msg_control = u.buf;
		m.msg_controllen = sizeof u.buf;
		h = CMSG_FIRSTHDR(&m);
		h->cmsg_level = SOL_SOCKET;
		h->cmsg_type = SCM_RIGHTS;
		h->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(h), &cl->pass_fd, sizeof(int));
	}
	return sendmsg(cl->fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void ctl_client_flush(struct ctl_client *cl)
{
	while (!cl->dead && ctl_client_unread(cl) != 0) {
		ssize_t n = send_some(cl);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			cl->dead = errno != EAGAIN && errno != EWOULDBLOCK;
			return;
		}
		if (cl->pass_fd >= 0)
			close(cl->pass_fd);
		cl->pass_fd = -1;
		cl->out_at += (size_t)n;
		cl->moved = xk_clock_host();
	}
	cl->out_at = cl->out_end = 0;
}
