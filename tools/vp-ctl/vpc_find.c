/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpc_find.c - which graph is meant, and the way to it.
 */
#include "tools/vp-ctl/vpc.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define NAP (20 * XK_MS)

/* Sockets of the default folder that answer: how many; the last one's path in path. */
static unsigned look_around(char path[CTL_PATH_MAX], FILE *f, const char *before)
{
	char dir[CTL_PATH_MAX], one[CTL_PATH_MAX + 256], why[256];
	struct dirent *d;
	unsigned n = 0;
	DIR *folder;

	if (!ctl_default_dir(dir) || (folder = opendir(dir)) == NULL)
		return 0;
	while ((d = readdir(folder)) != NULL) {
		size_t len = strlen(d->d_name);
		int fd;

		if (len <= 5 || strcmp(d->d_name + len - 5, ".sock") != 0)
			continue;
		snprintf(one, sizeof one, "%s/%s", dir, d->d_name);
		fd = ctl_connect(one, why, sizeof why);
		if (fd < 0)
			continue;
		close(fd);
		if (f != NULL)
			fprintf(f, "%s%s\n", before, one);
		strcpy(path, one);       /* it was short enough to connect to */
		n++;
	}
	closedir(folder);
	return n;
}

int vpc_list(const struct vpc *o, FILE *f)
{
	char path[CTL_PATH_MAX];

	(void)o;
	if (look_around(path, f, "") != 0)
		return VPC_OK;
	fprintf(stderr, "vp-ctl: no graph runs with --control\n");
	return VPC_NOBODY;
}

/* One try; what went wrong in why. */
static int try_open(struct vpc *o, char *why, size_t n)
{
	const char *path = o->socket ? o->socket : getenv("VP_CONTROL");
	char dir[CTL_PATH_MAX];
	int fd;

	if (path != NULL) {
		fd = ctl_connect(path, dir, sizeof dir);
		if (fd < 0)
			snprintf(why, n, "%s: %s", path, dir);
		else
			snprintf(o->path, sizeof o->path, "%s", path);
		return fd;
	}
	switch (look_around(o->path, NULL, "")) {
	case 0:
		if (!ctl_default_dir(dir))
			strcpy(dir, "the default folder");
		snprintf(why, n, "no graph runs with --control in %s", dir);
		return XK_E_NOENT;
	case 1: return ctl_connect(o->path, why, n);
	default:
		snprintf(why, n, "several graphs run: say which with --socket");
		return XK_E_INVAL;
	}
}

int vpc_open(struct vpc *o)
{
	const struct timespec nap = { 0, (long)NAP };
	xk_ns until = xk_clock_host() + o->wait;
	char why[512], path[CTL_PATH_MAX];

	for (;;) {
		o->fd = try_open(o, why, sizeof why);
		if (o->fd >= 0)
			return VPC_OK;
		if (o->fd == XK_E_INVAL || xk_clock_host() >= until)
			break;
		nanosleep(&nap, NULL);
	}
	fprintf(stderr, "vp-ctl: %s\n", why);
	if (o->fd != XK_E_INVAL)
		return VPC_NOBODY;
	look_around(path, stderr, "  ");
	return VPC_USAGE;
}
