/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpx_end.c - the program's end of a socket: found in the program, filled so that it is not writable, emptied, reset.
 *
 * A pair of the kernel's has no "not connected yet" and no reset of its own.  The first is bytes that nobody reads, as
 * many as are needed, counted and taken out again; the second is what the kernel does when an end is closed with
 * bytes unread: the other one reads what it has, then ECONNRESET.
 */
#include "tools/vp-exec/vpx.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef PIDFD_THREAD
#define PIDFD_THREAD O_EXCL
#endif

ino_t vpx_ino(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 ? st.st_ino : 0;
}

/* The process that a thread is of; before Linux 6.9 only it has a pidfd. */
static pid_t leader(pid_t tid)
{
	char path[64], line[128];
	int pid = -1;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/status", (int)tid);
	f = fopen(path, "re");
	while (f != NULL && fgets(line, sizeof line, f) != NULL)
		if (sscanf(line, "Tgid: %d", &pid) == 1)
			break;
	if (f != NULL)
		fclose(f);
	return pid;
}

static int borrow(pid_t tid, int fd)
{
	int pidfd = (int)syscall(SYS_pidfd_open, tid, PIDFD_THREAD), end;

	if (pidfd < 0 && errno == EINVAL)
		pidfd = (int)syscall(SYS_pidfd_open, leader(tid), 0);
	if (pidfd < 0)
		return -1;
	end = (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0);
	close(pidfd);
	return end;
}

int vpx_end_of_call(const struct vpx_call *c) { return borrow(c->tid, (int)c->arg[0]); }

ino_t vpx_ino_in(pid_t pid, int fd)
{
	char path[64], link[64];
	ssize_t n;

	snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)pid, fd);
	n = readlink(path, link, sizeof link - 1);
	if (n < 0)
		return 0;
	link[n] = '\0';
	return strncmp(link, "socket:[", 8) == 0 ? (ino_t)strtoul(link + 8, NULL, 10) : 0;
}

bool vpx_end_there(const struct vpx_sock *v) { return vpx_ino_in(v->tid, v->fd) == v->ino; }

/* Its number in a process; -1: that has not got it. */
static int number_in(pid_t pid, ino_t ino)
{
	struct dirent *e;
	char path[64];
	int fd = -1;
	DIR *d;

	snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
	d = opendir(path);
	while (d != NULL && fd < 0 && (e = readdir(d)) != NULL) {
		int number = isdigit((unsigned char)e->d_name[0]) ? atoi(e->d_name) : -1;

		if (number >= 0 && vpx_ino_in(pid, number) == ino)
			fd = number;
	}
	if (d != NULL)
		closedir(d);
	return fd;
}

/* It has been passed on, or numbered anew: rare, so every process is asked. */
static int search(const struct vpx_sock *v)
{
	DIR *d = opendir("/proc");
	struct dirent *e;
	int end = -1;

	while (d != NULL && end < 0 && (e = readdir(d)) != NULL) {
		pid_t pid = isdigit((unsigned char)e->d_name[0]) ? (pid_t)atoi(e->d_name) : 0;
		int fd = pid != 0 && pid != getpid() ? number_in(pid, v->ino) : -1;

		if (fd >= 0)
			end = borrow(pid, fd);
	}
	if (d != NULL)
		closedir(d);
	return end;
}

int vpx_end_find(const struct vpx_sock *v)
{
	int end = v->kept >= 0 ? fcntl(v->kept, F_DUPFD_CLOEXEC, 0) : borrow(v->tid, v->fd);

	if (end >= 0 && vpx_ino(end) == v->ino)
		return end;
	if (end >= 0)
		close(end);
	end = search(v);
	if (end >= 0 && vpx_ino(end) != v->ino) {
		close(end);
		end = -1;
	}
	return end;
}

bool vpx_end_blocks(int end) { return (fcntl(end, F_GETFL) & O_NONBLOCK) == 0; }

void vpx_end_fill(struct vpx_sock *v, int end)
{
	static const char nothing[4096];
	socklen_t len = sizeof v->sndbuf;
	int least = 1;
	ssize_t n;

	/* The kernel tells twice what it was told. */
	if (getsockopt(end, SOL_SOCKET, SO_SNDBUF, &v->sndbuf, &len) < 0 ||
	    setsockopt(end, SOL_SOCKET, SO_SNDBUF, &least, sizeof least) < 0)
		return;
	v->sndbuf /= 2;
	while ((n = send(end, nothing, sizeof nothing, MSG_DONTWAIT | MSG_NOSIGNAL)) > 0)
		v->junk += (size_t)n;
}

/* Exactly what was put there: the program may have written behind it by now. */
void vpx_end_empty(struct vpx_sock *v, int end)
{
	char taken[4096];
	ssize_t n;

	(void)setsockopt(end, SOL_SOCKET, SO_SNDBUF, &v->sndbuf, sizeof v->sndbuf);
	while (v->junk > 0 &&
	       (n = recv(v->end, taken, v->junk < sizeof taken ? v->junk : sizeof taken, MSG_DONTWAIT)) > 0)
		v->junk -= (size_t)n;
}

void vpx_end_reset(struct vpx_sock *v)
{
	int unread = 0, end;

	if (v->end < 0)
		return;
	if (ioctl(v->end, FIONREAD, &unread) < 0 || unread == 0) {
		end = vpx_end_find(v);
		if (end >= 0) {
			(void)send(end, "r", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
			close(end);
		}
	}
	close(v->end);
	v->end = -1;
}
