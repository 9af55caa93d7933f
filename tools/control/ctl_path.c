/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ctl_path.c - where the socket is, and whose.
 *
 * A socket that nobody listens to any more is taken over; one that answers is somebody's, and
 * what is no socket is never touched.  Two that begin at once do not meet: a lock file beside
 * the socket is held for as long as it lives.
 * Invariant: a socket of ours has mode 0600, and lies in a folder of mode 0700 by default.
 */
#include "tools/control/ctl_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

bool ctl_default_dir(char dir[CTL_PATH_MAX])
{
	const char *run = getenv("XDG_RUNTIME_DIR");
	int n;

	if (run != NULL && run[0] == '/')
		n = snprintf(dir, CTL_PATH_MAX, "%s/xkvp", run);
	else
		n = snprintf(dir, CTL_PATH_MAX, "/tmp/xkvp-%u", (unsigned)geteuid());
	return n > 0 && (size_t)n < CTL_PATH_MAX;
}

static int address(const char *path, struct sockaddr_un *a, char *why, size_t n)
{
	*a = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (path[0] == '\0') {
		snprintf(why, n, "needs a path");
		return XK_E_INVAL;
	}
	if (strlen(path) >= sizeof a->sun_path) {
		snprintf(why, n, "is %zu bytes long, a socket's path may have %zu", strlen(path), sizeof a->sun_path - 1);
		return XK_E_INVAL;
	}
	strcpy(a->sun_path, path);
	return XK_OK;
}

static int connect_to(const char *path, int flags, char *why, size_t n)
{
	struct sockaddr_un a;
	int fd, err = address(path, &a, why, n);

	if (err != XK_OK)
		return err;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&a, sizeof a) == 0)
		return fd;
	err = -errno;
	if (fd >= 0)
		close(fd);
	if (err == -ECONNREFUSED)
		snprintf(why, n, "nobody listens there any more");
	else
		snprintf(why, n, "%s", strerror(-err));
	return err;
}

int ctl_connect(const char *path, char *why, size_t n)
{
	return connect_to(path, 0, why, n);
}

int ctl_connect_now(const char *path, char *why, size_t n)
{
	return connect_to(path, SOCK_NONBLOCK, why, n);
}

bool ctl_is_own_dir(const char *dir)
{
	struct stat st;

	return lstat(dir, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() && (st.st_mode & 077) == 0;
}

/* The default folder: ours alone, or not used. */
static int make_dir(char dir[CTL_PATH_MAX], char *why, size_t n)
{
	if (!ctl_default_dir(dir)) {
		snprintf(why, n, "XDG_RUNTIME_DIR is too long for a socket: give --control=PATH");
		return XK_E_INVAL;
	}
	if (mkdir(dir, 0700) != 0 && errno != EEXIST) {
		snprintf(why, n, "cannot make the folder %s: %s", dir, strerror(errno));
		return -errno;
	}
	if (!ctl_is_own_dir(dir)) {
		snprintf(why, n, "%s is not a folder of yours alone (mode 0700): give --control=PATH", dir);
		return XK_E_PERM;
	}
	return XK_OK;
}

/* A graph's name may be anything; a file's may not. */
static int default_path(const char *graph, char path[CTL_PATH_MAX], char *why, size_t n)
{
	char dir[CTL_PATH_MAX], name[32];
	int err = make_dir(dir, why, n), len;
	size_t k = 0;

	if (err != XK_OK)
		return err;
	for (; graph[k] != '\0' && k + 1 < sizeof name; k++)
		name[k] = strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_", graph[k]) ? graph[k] : '_';
	name[k] = '\0';
	len = snprintf(path, CTL_PATH_MAX, "%s/%s.sock", dir, name);
	if (len < 0 || (size_t)len >= CTL_PATH_MAX) {
		snprintf(why, n, "%s/%s.sock is too long for a socket: give --control=PATH", dir, name);
		return XK_E_INVAL;
	}
	return XK_OK;
}

/* Locked and still under its name: its last owner may have removed it meanwhile. */
static bool is_named(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_nlink != 0;
}

/* Held while the socket is ours. */
static int hold(const char *path, char *why, size_t n)
{
	char name[CTL_PATH_MAX + 8];
	int fd, err;

	snprintf(name, sizeof name, "%s.lock", path);
	fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0) {
		err = -errno;
		snprintf(why, n, "cannot open %s: %s", name, strerror(-err));
		return err;
	}
	if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
		if (is_named(fd))
			return fd;
		close(fd);
		return hold(path, why, n);
	}
	err = errno == EWOULDBLOCK ? XK_E_BUSY : -errno;
	if (err == XK_E_BUSY)
		snprintf(why, n, "%s belongs to a graph that runs", path);
	else
		snprintf(why, n, "cannot lock %s: %s", name, strerror(-err));
	close(fd);
	return err;
}

/* Out of the way, if it is a socket that nobody answers at. */
static int clear_stale(const char *path, char *why, size_t n)
{
	char none[128];
	struct stat st;
	int fd;

	if (lstat(path, &st) != 0)
		return XK_OK;
	if (!S_ISSOCK(st.st_mode)) {
		snprintf(why, n, "%s is there and is not a socket", path);
		return XK_E_EXIST;
	}
	fd = ctl_connect(path, none, sizeof none);
	if (fd >= 0)
		close(fd);
	if (fd >= 0 || fd == XK_E_AGAIN) {
		snprintf(why, n, "%s belongs to a program that runs", path);
		return XK_E_BUSY;
	}
	if (fd == XK_E_PERM || fd == -EACCES) {
		snprintf(why, n, "%s is somebody else's", path);
		return fd;
	}
	if (unlink(path) != 0) {
		snprintf(why, n, "%s is left over and cannot be removed: %s", path, strerror(errno));
		return -errno;
	}
	return XK_OK;
}

static int listen_at(struct ctl *c, const struct sockaddr_un *a, char *why, size_t n)
{
	mode_t old;
	int err;

	c->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (c->listen_fd < 0)
		goto fail;
	/* No thread but this one makes files yet; so it is nobody else's for no moment. */
	old = umask(0177);
	err = bind(c->listen_fd, (const struct sockaddr *)a, sizeof *a);
	umask(old);
	if (err == 0) {
		c->bound = true;
		if (listen(c->listen_fd, 64) == 0)
			return XK_OK;
	}
fail:
	err = -errno;
	snprintf(why, n, "cannot listen at %s: %s", a->sun_path, strerror(-err));
	return err;
}

int ctl_path_open(struct ctl *c, const char *path, char *why, size_t n)
{
	struct sockaddr_un a;
	int err;

	if (path == NULL)
		err = default_path(c->g->name, c->path, why, n);
	else if ((err = address(path, &a, why, n)) == XK_OK)
		strcpy(c->path, path);
	if (err == XK_OK)
		err = address(c->path, &a, why, n);
	if (err != XK_OK)
		return err;
	c->lock_fd = hold(c->path, why, n);
	if (c->lock_fd < 0)
		return c->lock_fd;
	err = clear_stale(c->path, why, n);
	return err == XK_OK ? listen_at(c, &a, why, n) : err;
}

void ctl_path_close(struct ctl *c)
{
	char name[CTL_PATH_MAX + 8];

	if (c->bound)
		unlink(c->path);
	if (c->listen_fd >= 0)
		close(c->listen_fd);
	if (c->lock_fd < 0)
		return;
	snprintf(name, sizeof name, "%s.lock", c->path);
	if (c->bound)
		unlink(name);
	close(c->lock_fd);
}
