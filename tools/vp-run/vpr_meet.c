/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpr_meet.c - how ranks that others started find each other: the root lets them in and tells all who is where.
 *
 * Invariant: every wait has an end, and a sentence says what did not come.
 */
#include "tools/vp-run/vpr_meet.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define AGAIN_MS 50                      /* between tries to reach the root */
#define TRY_MS   3000                    /* most of one */
#define ROOT_MS  2000                    /* for the root to say that ranks are missing, beyond our own time */

/* A peer whose machine is gone is missed, too. */
static void watch_over(int fd)
{
	const int one = 1, idle = 5, every = 5, times = 3;
	const unsigned unheard = (5 + 3 * 5) * 1000;     /* ms: no probes go out while what we have sent is not acknowledged */

	(void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one);
	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &every, sizeof every);
	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &times, sizeof times);
	(void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unheard, sizeof unheard);
}

static bool send_all(int fd, const void *what, size_t n)
{
	return send(fd, what, n, MSG_NOSIGNAL) == (ssize_t)n;
}

/* ---- the root ------------------------------------------------------------------------------------ */

unsigned vpr_meet_watch(struct vpr_meet *m, struct pollfd *p, int64_t *wait)
{
	*wait = -1;
	for (unsigned i = 0; i < m->nlinks; i++)
		p[i] = (struct pollfd){ .fd = m->link[i].fd, .events = POLLIN };
	if (m->who->rank != 0)
		return m->nlinks;
	*wait = vpr_door_watch(&m->door, p + m->nlinks);
	return m->nlinks + 1 + DOOR_GUESTS;
}

/* Who speaks before it is told anything, or hangs up, is not there any more. */
static void look_at_waiting(struct vpr_meet *m, const struct pollfd *p)
{
	for (unsigned i = 1; i < m->nlinks; i++) {
		struct vpr_link *l = &m->link[i];

		if (l->fd < 0 || l->fd != p[i].fd || p[i].revents == 0)
			continue;
		fprintf(stderr, "vp-run: rank %u at %s went before all had come\n", i, inet_ntoa(l->addr));
		close(l->fd);
		l->fd = -1;
		m->door.come--;
	}
}

/* Those who have come hear which have not. */
static int absent(struct vpr_meet *m)
{
	char say[2 + JOIN_SAY + 1] = { JOIN_NO }, list[128];
	unsigned missing = 0;
	size_t at = 0;
	int n;

	for (unsigned i = 1; i < m->nlinks; i++) {
		if (m->link[i].fd >= 0)
			continue;
		if (at + 8 < sizeof list)
			at += (size_t)snprintf(list + at, sizeof list - at, "%s%u", missing != 0 ? ", " : "", i);
		missing++;
	}
	n = snprintf(say + 2, JOIN_SAY, "%u of %u ranks did not come in %.20s: %s%s", missing, m->nlinks, m->o->within, list,
		     at + 8 < sizeof list ? "" : " ...");
	say[1] = (char)n;
	fprintf(stderr, "vp-run: %s\n", say + 2);
	for (unsigned i = 1; i < m->nlinks; i++)
		if (m->link[i].fd >= 0)
			(void)send_all(m->link[i].fd, say, 2 + (size_t)n);
	return VPR_FAILED;
}

static int stopped(void)
{
	fprintf(stderr, "vp-run: ended before all ranks had come\n");
	return VPR_FAILED;
}

static int gather(struct vpr_meet *m)
{
	int64_t by = vpr_now_ms() + m->o->within_ms, wait;

	while (m->door.come + 1 < m->who->ranks) {
		int64_t left = vpr_left(by);
		unsigned n = vpr_meet_watch(m, m->poll + 1, &wait);
		int some;

		m->poll[0] = (struct pollfd){ .fd = m->o->stop_fd, .events = POLLIN };
		some = poll(m->poll, n + 1, (int)vpr_least(wait, left));
		if (some < 0)
			continue;
		if (m->poll[0].revents != 0)
			return stopped();
		if (some == 0 && left == 0)
			return absent(m);
		look_at_waiting(m, m->poll + 1);
		vpr_door_look(&m->door, m->poll + 1 + m->nlinks);
	}
	m->door.begun = true;
	if (m->door.strangers != 0)
		fprintf(stderr, "vp-run: warning: %u connections to the root were of no rank\n", m->door.strangers);
	return VPR_OK;
}

/* Who does not take the list is missed by its connection's end. */
static int tell_list(struct vpr_meet *m)
{
	size_t n = 1 + VPR_KEY + m->nlinks * sizeof(struct in_addr);
	char *list = malloc(n);

	if (list == NULL) {
		fprintf(stderr, "vp-run: out of memory\n");
		return VPR_FAILED;
	}
	list[0] = JOIN_LIST;
	memcpy(list + 1, m->key, VPR_KEY);
	for (unsigned i = 0; i < m->nlinks; i++)
		memcpy(list + 1 + VPR_KEY + i * sizeof(struct in_addr), &m->link[i].addr, sizeof(struct in_addr));
	memcpy(m->addr, list + 1 + VPR_KEY, m->nlinks * sizeof m->addr[0]);
	for (unsigned i = 1; i < m->nlinks; i++) {
		watch_over(m->link[i].fd);
		if (!send_all(m->link[i].fd, list, n))
			(void)shutdown(m->link[i].fd, SHUT_RDWR);
	}
	free(list);
	return VPR_OK;
}

static int be_root(struct vpr_meet *m)
{
	int err = vpr_door_open(&m->door, m->root, m->port), code;

	if (err != XK_OK) {
		fprintf(stderr, "vp-run: rank 0 cannot wait at %s:%u: %s\n", inet_ntoa(m->root), m->port, xk_strerror(err));
		return VPR_FAILED;
	}
	code = vpr_key_make(m->key);
	if (code != VPR_OK)
		return code;
	m->link[0].addr = m->root;
	code = gather(m);
	return code == VPR_OK ? tell_list(m) : code;
}

/* ---- the others ------------------------------------------------------------------------------------ */

/* Waits for fd; false: it is time, or we are to stop.  What is there counts though it is late: this process may not
 * have run for long. */
static bool ready(struct vpr_meet *m, int fd, short events, int64_t by, bool *stop)
{
	struct pollfd p[2] = { { .fd = m->o->stop_fd, .events = POLLIN }, { .fd = fd, .events = events } };
	int64_t left;

	do {
		int n;

		left = vpr_left(by);
		n = poll(p, 2, (int)left);
		*stop |= n > 0 && p[0].revents != 0;
		if (*stop || (n > 0 && p[1].revents != 0))
			return !*stop;
	} while (left > 0);
	return false;
}

/* Where the root's port is one that the kernel gives to who connects, who tries before the root is there may get it, and
 * be connected to itself. */
static bool is_own(int fd)
{
	struct sockaddr_in here, there;
	socklen_t n = sizeof here, m = sizeof there;

	return getsockname(fd, (struct sockaddr *)&here, &n) == 0 && getpeername(fd, (struct sockaddr *)&there, &m) == 0 &&
	       here.sin_port == there.sin_port && here.sin_addr.s_addr == there.sin_addr.s_addr;
}

static int try_once(struct vpr_meet *m, int64_t by, bool *stop)
{
	const struct sockaddr_in to = { .sin_family = AF_INET, .sin_addr = m->root, .sin_port = htons(m->port) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), err = 0, one = 1;
	socklen_t n = sizeof err;

	if (fd < 0)
		return -errno;
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);        /* or is_own would keep the root's port */
	if (connect(fd, (const struct sockaddr *)&to, sizeof to) < 0)
		err = errno;
	if (err == EINPROGRESS)
		err = !ready(m, fd, POLLOUT, by, stop) ? ETIMEDOUT : getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &n) < 0 ? errno : err;
	if (err == 0 && is_own(fd))
		err = ECONNREFUSED;
	if (err == 0) {
		m->link[0].fd = fd;
		return XK_OK;
	}
	close(fd);
	return -err;
}

static int reach(struct vpr_meet *m)
{
	int64_t by = vpr_now_ms() + m->o->within_ms, again;
	bool stop = false;
	int err;

	while ((err = try_once(m, vpr_least(by, vpr_now_ms() + TRY_MS), &stop)) != XK_OK && vpr_now_ms() < by && !stop) {
		again = vpr_now_ms() + AGAIN_MS;
		(void)ready(m, -1, 0, vpr_least(again, by), &stop);
	}
	if (err == XK_OK)
		return VPR_OK;
	if (stop)
		return stopped();
	fprintf(stderr, "vp-run: rank %u does not reach rank 0 at %s:%u in %s: %s\n", m->who->rank, inet_ntoa(m->root), m->port,
		m->o->within, xk_strerror(err));
	return VPR_FAILED;
}

/* All of n bytes of the root; or says why not. */
static int hear(struct vpr_meet *m, void *buf, size_t n, int64_t by)
{
	bool stop = false;
	char *at = buf;

	while (n != 0) {
		ssize_t some = ready(m, m->link[0].fd, POLLIN, by, &stop) ? recv(m->link[0].fd, at, n, 0) : -2;

		if (stop)
			return stopped();
		if (some == -1 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (some <= 0) {
			fprintf(stderr, "vp-run: rank %u: rank 0 at %s:%u %s\n", m->who->rank, inet_ntoa(m->root), m->port,
				some == -2 ? "does not answer" : "went before all had come");
			return VPR_FAILED;
		}
		at += some;
		n -= (size_t)some;
	}
	return VPR_OK;
}

static int hear_no(struct vpr_meet *m, int64_t by)
{
	char say[JOIN_SAY + 1] = "";
	unsigned char n = 0;
	int code = hear(m, &n, 1, by);

	if (code == VPR_OK)
		code = hear(m, say, n, by);
	if (code != VPR_OK)
		return code;
	for (char *c = say; *c != '\0'; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
	fprintf(stderr, "vp-run: rank %u is refused by rank 0 at %s:%u: %s\n", m->who->rank, inet_ntoa(m->root), m->port, say);
	return VPR_FAILED;
}

static int be_guest(struct vpr_meet *m)
{
	int64_t by;
	char hello[JOIN_HELLO], word = 0;
	int code = reach(m);

	if (code != VPR_OK)
		return code;
	watch_over(m->link[0].fd);
	m->link[0].addr = m->root;
	vpr_join_hello(hello, m->who);
	(void)send_all(m->link[0].fd, hello, sizeof hello);      /* or its connection's end is heard */
	by = vpr_now_ms() + m->o->within_ms + ROOT_MS;
	code = hear(m, &word, 1, by);
	if (code != VPR_OK)
		return code;
	if (word == JOIN_NO)
		return hear_no(m, by);
	if (word == JOIN_LIST)
		code = hear(m, m->key, VPR_KEY, by);
	if (word == JOIN_LIST && code == VPR_OK)
		return hear(m, m->addr, m->who->ranks * sizeof m->addr[0], by);
	if (code != VPR_OK)
		return code;
	fprintf(stderr, "vp-run: rank %u: %s at %s:%u %s\n", m->who->rank, word == JOIN_END ? "rank 0" : "who waits",
		inet_ntoa(m->root), m->port, word == JOIN_END ? "has ended before all had come" : "is no rank 0");
	return VPR_FAILED;
}

int vpr_meet(struct vpr_meet *m)
{
	return m->who->rank == 0 ? be_root(m) : be_guest(m);
}
