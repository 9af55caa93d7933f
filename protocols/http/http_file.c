/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * http_file.c - the path of a request -> an open file below the root.
 *
 * The kernel itself keeps the walk below the root (openat2 with RESOLVE_BENEATH):
 * no check of ours can be raced by somebody who moves directories or links.  Where
 * the kernel does not know that call, or links shall not be followed at all, each
 * component is opened by itself with O_NOFOLLOW.  Opening never waits (a FIFO), never
 * becomes our terminal, and only a regular file is served.
 * Invariant: a descriptor that is returned is of a regular file below the root.
 */
#include "protocols/http/http_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FLAGS (O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)

static int open_beneath(const struct http_root *r, const char *path)
{
	struct open_how how = { .flags = FLAGS, .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS };

	return (int)syscall(SYS_openat2, r->fd, path, &how, sizeof how);
}

/* Component by component; no link is followed. */
static int open_walking(const struct http_root *r, const char *path)
{
	int at = r->fd, fd = -1;

	for (;;) {
		char name[NAME_MAX + 1];
		size_t n = strcspn(path, "/");
		bool last = path[n] == 0;

		if (n > NAME_MAX) {
			errno = ENAMETOOLONG;
			fd = -1;
		} else {
			memcpy(name, path, n);
			name[n] = 0;
			fd = openat(at, name, FLAGS | O_NOFOLLOW | (last ? 0 : O_DIRECTORY));
		}
		if (at != r->fd) {
			int e = errno;

			close(at);
			errno = e;
		}
		if (fd < 0 || last)
			return fd;
		at = fd;
		path += n + 1;
	}
}

static int open_below(const struct http_root *r, const char *path)
{
	if (*path == 0)
		path = ".";
	return r->walk || !r->follow ? open_walking(r, path) : open_beneath(r, path);
}

int http_root_open(struct http_root *r, const char *path, bool follow)
{
	int fd;

	r->fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (r->fd < 0)
		return -errno;
	r->follow = follow;
	fd = open_beneath(r, ".");
	r->walk = fd < 0 && (errno == ENOSYS || errno == EPERM);
	if (fd < 0 && !r->walk && errno != EACCES) {
		int e = errno;

		close(r->fd);
		return -e;
	}
	if (fd >= 0)
		close(fd);
	return XK_OK;
}

void http_root_close(struct http_root *r)
{
	close(r->fd);
}

static unsigned status_of(int e)
{
	switch (e) {
	case ENOENT: case ENOTDIR:
		return 404;
	case EACCES: case EPERM: case ELOOP: case EXDEV: case ENXIO:
		return 403;
	case ENAMETOOLONG:
		return 414;
	case EMFILE: case ENFILE: case ENOMEM: case EAGAIN: case EINTR:
		return 503;
	default:
		return 500;
	}
}

const char *http_type(const char *path)
{
	static const struct { const char *ext, *type; } types[] = {
		{ "html", "text/html; charset=utf-8" }, { "htm", "text/html; charset=utf-8" },
		{ "css", "text/css; charset=utf-8" }, { "js", "text/javascript; charset=utf-8" },
		{ "mjs", "text/javascript; charset=utf-8" }, { "txt", "text/plain; charset=utf-8" },
		{ "md", "text/markdown; charset=utf-8" }, { "lua", "text/plain; charset=utf-8" },
		{ "c", "text/plain; charset=utf-8" }, { "h", "text/plain; charset=utf-8" },
		{ "csv", "text/csv; charset=utf-8" }, { "xml", "application/xml" }, { "json", "application/json" },
		{ "pdf", "application/pdf" }, { "wasm", "application/wasm" }, { "zip", "application/zip" },
		{ "gz", "application/gzip" }, { "tar", "application/x-tar" }, { "png", "image/png" },
		{ "jpg", "image/jpeg" }, { "jpeg", "image/jpeg" }, { "gif", "image/gif" }, { "svg", "image/svg+xml" },
		{ "webp", "image/webp" }, { "ico", "image/vnd.microsoft.icon" }, { "woff", "font/woff" },
		{ "woff2", "font/woff2" }, { "ttf", "font/ttf" }, { "mp3", "audio/mpeg" }, { "ogg", "audio/ogg" },
		{ "mp4", "video/mp4" }, { "webm", "video/webm" },
	};
	const char *name = strrchr(path, '/'), *dot;

	dot = strrchr(name != NULL ? name : path, '.');
	for (unsigned i = 0; dot != NULL && i < XK_ARRAY_LEN(types); i++)
		if (strcasecmp(dot + 1, types[i].ext) == 0)
			return types[i].type;
	return "application/octet-stream";
}

/* What an open descriptor is worth; closes it unless 200. */
static unsigned look(int fd, const char *path, struct http_file *f)
{
	struct stat st;
	unsigned status = 403;

	if (fstat(fd, &st) != 0)
		status = 500;
	else if (S_ISDIR(st.st_mode))
		status = 301;
	else if (S_ISREG(st.st_mode))
		status = 200;
	if (status != 200) {
		close(fd);
		return status;
	}
	f->fd = fd;
	f->size = (uint64_t)st.st_size;
	f->mtime = st.st_mtim.tv_sec;
	f->type = http_type(path);
	snprintf(f->etag, sizeof f->etag, "\"%llx-%llx\"",
		 (unsigned long long)st.st_mtim.tv_sec * 1000000000u + (unsigned long long)st.st_mtim.tv_nsec,
		 (unsigned long long)st.st_size);
	return 200;
}

static unsigned open_index(const struct http_root *r, const char *path, struct http_file *f)
{
	char name[PATH_MAX];
	unsigned status;
	int fd;

	if ((size_t)snprintf(name, sizeof name, "%s%sindex.html", path, *path != 0 ? "/" : "") >= sizeof name)
		return 414;
	fd = open_below(r, name);
	status = fd < 0 ? status_of(errno) : look(fd, name, f);
	/* Directories are not listed. */
	return status == 404 || status == 301 ? 403 : status;
}

unsigned http_file_open(const struct http_root *r, const struct http_req *q, struct http_file *f)
{
	int fd = open_below(r, q->path);
	unsigned status = fd < 0 ? status_of(errno) : look(fd, q->path, f);

	if (status == 301 && q->dir)
		return open_index(r, q->path, f);
	if (status == 200 && q->dir) {           /* a file is no directory */
		close(f->fd);
		return 404;
	}
	return status;
}
