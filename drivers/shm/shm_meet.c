/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shm_meet.c - finds a peer by a socket of the UNIX domain and exchanges areas with it.
 *
 * The socket keeps messages apart and in order (SOCK_SEQPACKET), and hangs up when the peer's last
 * descriptor goes, however it ends.
 * Invariant: no descriptor of a peer's stays open here that is not asked for.
 */
#include "drivers/shm/shm_meet.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

#define GREETING_MAGIC   0x786b736du              /* "xksm" */
#define GREETING_VERSION 1u
#define BACKLOG 128

/* ---- places ------------------------------------------------------------------------- */

int shm_place_name(const struct shm_place *at, char *buf, size_t n)
{
	struct in_addr host = { htonl(at->host) };
	char text[INET_ADDRSTRLEN] = "?";
	int len;

	(void)inet_ntop(AF_INET, &host, text, sizeof text);
	if (at->dir != NULL)
		len = snprintf(buf, n, "%s/%s.%s.%u", at->dir, at->job, text, at->vp);
	else
		len = snprintf(buf, n, "@xkvp/%u/%s/%s/%u", (unsigned)geteuid(), at->job, text, at->vp);
	return len >= 0 && (size_t)len < n && (size_t)len <= SHM_PATH_MAX ? XK_OK : XK_E_RANGE;
}

static int address(const struct shm_place *at, struct sockaddr_un *a, socklen_t *n)
{
	int err;

	*a = (struct sockaddr_un){ .sun_family = AF_UNIX };
	err = shm_place_name(at, a->sun_path, sizeof a->sun_path);
	*n = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(a->sun_path));
	if (at->dir == NULL)
		a->sun_path[0] = '\0';
	return err;
}

static int make(int *fd)
{
	*fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	return *fd >= 0 ? XK_OK : -errno;
}

static int undo(int *fd, int err)
{
	close(*fd);
	*fd = -1;
	return err;
}

int shm_connect(const struct shm_place *at, int *fd)
{
	struct sockaddr_un a;
	socklen_t n;
	int err = address(at, &a, &n);

	if (err == XK_OK)
		err = make(fd);
	if (err == XK_OK && connect(*fd, (struct sockaddr *)&a, n) < 0)
		err = undo(fd, -errno);
	return err;
}

/* A socket's name in a folder stays when its owner is killed. */
static bool nobody_there(const struct shm_place *at)
{
	int fd, err = shm_connect(at, &fd);

	if (err == XK_OK)
		close(fd);
	return err == XK_E_CONNREFUSED;
}

int shm_listen(const struct shm_place *at, int *fd)
{
	struct sockaddr_un a;
	socklen_t n;
	int err = address(at, &a, &n);

	if (err == XK_OK)
		err = make(fd);
	if (err != XK_OK)
		return err;
	err = bind(*fd, (struct sockaddr *)&a, n) < 0 ? -errno : XK_OK;
	if (err == XK_E_ADDRINUSE && at->dir != NULL && nobody_there(at)) {
		(void)unlink(a.sun_path);
		err = bind(*fd, (struct sockaddr *)&a, n) < 0 ? -errno : XK_OK;
	}
	if (err == XK_OK && listen(*fd, BACKLOG) < 0) {
		err = -errno;
		shm_unlisten(at, fd);
		return err;
	}
	return err == XK_OK ? XK_OK : undo(fd, err);
}

void shm_unlisten(const struct shm_place *at, int *fd)
{
	struct sockaddr_un a;
	socklen_t n;

	if (*fd < 0)
		return;
	if (at->dir != NULL && address(at, &a, &n) == XK_OK)
		(void)unlink(a.sun_path);
	(void)undo(fd, XK_OK);
}

int shm_accept(int listening, int *fd)
{
	*fd = accept4(listening, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	return *fd >= 0 ? XK_OK : -errno;
}

/* ---- areas ---------------------------------------------------------------------------- */

int shm_area_make(const struct shm_shape *s, int *memfd, void **area)
{
	size_t n = shm_area_size(s);
	int err;

	*memfd = memfd_create("xkvp-shm", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (*memfd < 0)
		return -errno;
	/* All of it now: memory that is out later would be a signal. */
	err = ftruncate(*memfd, (off_t)n) < 0 ? -errno : -posix_fallocate(*memfd, 0, (off_t)n);
	if (err == XK_OK) {
		*area = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, *memfd, 0);
		err = *area != MAP_FAILED ? XK_OK : -errno;
	}
	if (err != XK_OK)
		return undo(memfd, err);
	/* From now on others map it for reading alone; before Linux 5.1 they may do more, to their own loss. */
	if (fcntl(*memfd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE) < 0 &&
	    fcntl(*memfd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) < 0)
		err = -errno;
	if (err == XK_OK)
		return XK_OK;
	(void)munmap(*area, n);
	return undo(memfd, err);
}

int shm_area_map(const struct shm_shape *s, int memfd, const void **area)
{
	size_t n = shm_area_size(s);
	int seals = fcntl(memfd, F_GET_SEALS);
	struct stat st;

	/* Of huge pages one may be missing when it is read. */
	if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || fstat(memfd, &st) < 0 || st.st_size != (off_t)n ||
	    st.st_blksize != sysconf(_SC_PAGESIZE))
		return XK_E_INVAL;
	*area = mmap(NULL, n, PROT_READ, MAP_SHARED, memfd, 0);
	return *area != MAP_FAILED ? XK_OK : -errno;
}

/* ---- greetings -------------------------------------------------------------------------- */

int shm_greet(int fd, const struct shm_greeting *g, int memfd)
{
	struct shm_greeting out = *g;
	union { struct cmsghdr h; char room[CMSG_SPACE(sizeof memfd)]; } ctl;
	struct iovec v = { &out, sizeof out };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1, .msg_control = &ctl, .msg_controllen = sizeof ctl };

	out.magic = GREETING_MAGIC;
	out.version = GREETING_VERSION;
	memset(&ctl, 0, sizeof ctl);
	ctl.h.cmsg_level = SOL_SOCKET;
	ctl.h.cmsg_type = SCM_RIGHTS;
	ctl.h.cmsg_len = CMSG_LEN(sizeof memfd);
	memcpy(CMSG_DATA(&ctl.h), &memfd, sizeof memfd);
	return sendmsg(fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)sizeof out ? XK_OK : XK_E_CONNRESET;
}

bool shm_is_ours(int fd)
{
	struct ucred c;
	socklen_t n = sizeof c;

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &c, &n) == 0 && (c.uid == geteuid() || c.uid == 0);
}

/* The first descriptor; others are closed. */
static int descriptor_of(struct msghdr *m)
{
	int first = -1, fd;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c != NULL; c = CMSG_NXTHDR(m, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t at = 0; CMSG_LEN(at + sizeof fd) <= c->cmsg_len; at += sizeof fd) {
			memcpy(&fd, CMSG_DATA(c) + at, sizeof fd);
			if (first < 0)
				first = fd;
			else
				close(fd);
		}
	}
	return first;
}

static bool is_right(const struct shm_greeting *g)
{
	return g->magic == GREETING_MAGIC && g->version == GREETING_VERSION && g->vps != 0 && g->vp < g->vps &&
	       shm_shape_fault(&g->shape) == NULL;
}

int shm_greeted(int fd, struct shm_greeting *g, int *memfd)
{
	union { struct cmsghdr h; char room[CMSG_SPACE(4 * sizeof(int))]; } ctl;
	struct iovec v = { g, sizeof *g };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1, .msg_control = &ctl, .msg_controllen = sizeof ctl };
	ssize_t n = recvmsg(fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	if (n < 0)
		return errno == EINTR ? XK_E_AGAIN : -errno;
	*memfd = descriptor_of(&m);
	if (n == (ssize_t)sizeof *g && *memfd >= 0 && is_right(g) && shm_is_ours(fd))
		return XK_OK;
	if (*memfd >= 0)
		close(*memfd);
	*memfd = -1;
	return n == 0 ? XK_E_CONNRESET : shm_is_ours(fd) ? XK_E_INVAL : XK_E_PERM;
}
