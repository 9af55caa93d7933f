/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ctl_client.c - one client: its life, and the requests that it sends.
 *
 * Nothing here waits.  While much of what it was sent is unread, no more of its requests are
 * read, so a client that stops reading costs what its last request costs.
 * Invariant: in[0..nin) holds no whole line while the client may not be served.
 */
#include "tools/control/ctl_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct ctl_client *ctl_client_new(int fd)
{
	struct ctl_client *cl = xk_alloc(sizeof *cl);

	if (cl == NULL)
		return NULL;
	cl->fd = fd;
	cl->pass_fd = -1;
	cl->moved = xk_clock_host();
	return cl;
}

void ctl_client_free(struct ctl_client *cl)
{
	if (cl->job != NULL)
		cl->job->free(cl->job);
	if (cl->pass_fd >= 0)
		close(cl->pass_fd);
	close(cl->fd);
	free(cl->in);
	free(cl->out);
	xk_free(cl);
}

static bool goes_before(const struct ctl_client *cl, const struct ctl_client *old)
{
	if (old == NULL || cl->looks != old->looks)
		return old == NULL || old->looks;
	return cl->moved < old->moved;
}

struct ctl_client *ctl_client_to_go(const struct ctl *c, xk_ns now)
{
	struct ctl_client *old = NULL;

	for (struct ctl_client *cl = c->clients; cl != NULL; cl = cl->next)
		if (cl->job == NULL && now >= cl->moved && now - cl->moved >= CTL_SILENT && goes_before(cl, old))
			old = cl;
	return old;
}

/* May its next request be looked at? */
static bool may_serve(const struct ctl_client *cl)
{
	return !cl->dead && !cl->closing && cl->job == NULL && cl->pass_fd < 0 && ctl_client_unread(cl) < CTL_OUT_HIGH;
}

void ctl_client_serve(struct ctl *c, struct ctl_client *cl)
{
	size_t at = 0;

	while (may_serve(cl)) {
		char *end = cl->nin > at ? memchr(cl->in + at, '\n', cl->nin - at) : NULL;

		if (end == NULL)
			break;
		ctl_request(c, cl, cl->in + at, (size_t)(end - (cl->in + at)));
		at = (size_t)(end + 1 - cl->in);
		ctl_client_flush(cl);
	}
	if (at == 0)
		return;
	memmove(cl->in, cl->in + at, cl->nin - at);
	cl->nin -= at;
}

static void last_words(struct ctl *c, struct ctl_client *cl, const char *code, const char *why)
{
	ctl_answer_error(c, cl, NULL, code, why);
	cl->nin = 0;
	cl->closing = true;
	ctl_client_flush(cl);
}

void ctl_client_read(struct ctl *c, struct ctl_client *cl)
{
	ssize_t n;

	if (!may_serve(cl))
		return;
	if (cl->in == NULL && (cl->in = malloc(CTL_LINE)) == NULL) {
		cl->dead = true;
		return;
	}
	n = recv(cl->fd, cl->in + cl->nin, CTL_LINE - cl->nin, MSG_DONTWAIT);
	if (n < 0) {
		cl->dead = errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR;
		return;
	}
	cl->moved = xk_clock_host();
	cl->nin += (size_t)n;
	ctl_client_serve(c, cl);
	if (n == 0 && cl->nin != 0 && may_serve(cl))
		last_words(c, cl, "unfinished", "the last line has no end");
	else if (n == 0)
		cl->closing = true;
	else if (cl->nin == CTL_LINE && may_serve(cl))
		last_words(c, cl, "too-long", "a request has at most 65536 bytes");
}
