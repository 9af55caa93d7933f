/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpc_talk.c - requests and answers, a line each, and the descriptor that may come along.
 *
 * Invariant: whatever the other side does, a wait ends: with a line, at the end of patience,
 * or when it has gone.
 */
#include "tools/vp-ctl/vpc.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LINE_MAX_BYTES (256u << 20)

static int lost(const struct vpc *o, const char *why)
{
	fprintf(stderr, "vp-ctl: %s: %s\n", o->path, why);
	return VPC_NOBODY;
}

int vpc_send(struct vpc *o, json_t *request)
{
	char *text = request != NULL ? json_dumps(request, JSON_COMPACT) : NULL;
	size_t n = text != NULL ? strlen(text) : 0, at = 0;

	json_decref(request);
	if (text == NULL)
		return lost(o, "out of memory");
	text[n++] = '\n';                /* in place of its end */
	while (at < n) {
		ssize_t k = send(o->fd, text + at, n - at, MSG_NOSIGNAL);

		if (k < 0 && errno != EINTR)
			break;
		at += k > 0 ? (size_t)k : 0;
	}
	free(text);
	return at == n ? VPC_OK : lost(o, "the graph has ended");
}

static void keep_passed(struct vpc *o, struct msghdr *m)
{
	for (struct cmsghdr *h = CMSG_FIRSTHDR(m); h != NULL; h = CMSG_NXTHDR(m, h)) {
		int fd;

		if (h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS || h->cmsg_len != CMSG_LEN(sizeof fd))
			continue;
		memcpy(&fd, CMSG_DATA(h), sizeof fd);
		if (o->passed >= 0)
			close(o->passed);
		o->passed = fd;
	}
}

static ssize_t receive(struct vpc *o)
{
	union { char buf[CMSG_SPACE(sizeof(int))]; struct cmsghdr align; } u;
	struct iovec iov = { o->in + o->nin, o->cap - o->nin };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = u.buf, .msg_controllen = sizeof u.buf };
	ssize_t n = recvmsg(o->fd, &m, MSG_CMSG_CLOEXEC);

	if (n > 0)
		keep_passed(o, &m);
	return n;
}

static bool room(struct vpc *o)
{
	char *more;

	if (o->cap - o->nin >= 4096)
		return true;
	if (o->cap >= LINE_MAX_BYTES)
		return false;
	o->cap = o->cap ? o->cap * 2 : 65536;
	more = realloc(o->in, o->cap);
	if (more != NULL)
		o->in = more;
	return more != NULL;
}

json_t *vpc_taken(struct vpc *o, bool *found)
{
	char *end = o->nin != 0 ? memchr(o->in, '\n', o->nin) : NULL;
	size_t n = end != NULL ? (size_t)(end - o->in) : 0;
	json_error_t bad;
	json_t *j;

	*found = end != NULL;
	if (end == NULL)
		return NULL;
	j = json_loadb(o->in, n, 0, &bad);
	memmove(o->in, end + 1, o->nin - n - 1);
	o->nin -= n + 1;
	return j;
}

bool vpc_more(struct vpc *o)
{
	ssize_t n = room(o) ? receive(o) : 0;

	o->nin += n > 0 ? (size_t)n : 0;
	return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

json_t *vpc_line(struct vpc *o, xk_ns patience, int *code)
{
	xk_ns until = xk_clock_host() + patience;

	for (;;) {
		bool found;
		json_t *j = vpc_taken(o, &found);
		struct pollfd p = { .fd = o->fd, .events = POLLIN };
		xk_ns now = xk_clock_host();
		int k;

		if (j != NULL)
			return j;
		*code = found ? lost(o, "what listens there does not speak our language") : VPC_OK;
		if (found)
			return NULL;
		if (patience != 0 && now >= until) {
			*code = lost(o, "no answer in time: it is stopped, or too busy");
			return NULL;
		}
		k = poll(&p, 1, patience != 0 ? (int)((until - now) / XK_MS + 1) : -1);
		if (k <= 0)
			continue;
		if (!vpc_more(o)) {
			*code = lost(o, "the graph has ended, or let us go");
			return NULL;
		}
	}
}

int vpc_refused(const json_t *answer)
{
	const json_t *e = json_object_get(answer, "error");
	const char *text = json_string_value(json_object_get(e, "message"));

	fprintf(stderr, "vp-ctl: %s\n", text != NULL ? text : "refused without a reason");
	return VPC_REFUSED;
}

json_t *vpc_ask(struct vpc *o, json_t *request, int *code)
{
	json_t *answer;

	*code = vpc_send(o, request);
	if (*code != VPC_OK)
		return NULL;
	answer = vpc_line(o, o->timeout, code);
	if (answer != NULL && !json_is_true(json_object_get(answer, "ok"))) {
		*code = vpc_refused(answer);
		json_decref(answer);
		return NULL;
	}
	return answer;
}

bool vpc_gone(const struct vpc *o)
{
	struct pollfd p = { .fd = o->fd, .events = POLLIN };
	char c;

	return poll(&p, 1, 0) > 0 && recv(o->fd, &c, 1, MSG_PEEK | MSG_DONTWAIT) <= 0;
}

struct ctl_view *vpc_view(struct vpc *o, int *code)
{
	json_t *answer = vpc_ask(o, json_pack("{s:s}", "cmd", "counters"), code);
	struct ctl_view *v;
	char why[256];

	if (answer == NULL)
		return NULL;
	json_decref(answer);
	if (o->passed < 0) {
		*code = lost(o, "no counters came with the answer");
		return NULL;
	}
	v = ctl_view_open(o->passed, why, sizeof why);
	o->passed = -1;
	if (v == NULL)
		*code = lost(o, why);
	return v;
}

bool vpc_held(const struct vpc *o, struct ctl_view **v, int *code)
{
	struct ctl_view *now;
	char why[256];

	if (ctl_view_holds(*v))
		return true;
	now = ctl_view_anew(*v, why, sizeof why);
	ctl_view_free(*v);
	*v = now;
	if (now == NULL)
		*code = lost(o, why);
	return false;
}
