/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * netns.c - steps into a network namespace and back.
 *
 * Only the calling thread moves, so other threads of the process notice nothing.
 * Invariant: see netns.h; a thread that could not return says so, and what fn
 * did is to be undone: the caller's graph does not come up.
 */
#include "drivers/common/netns.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/xk_base.h"

static int netns_fail(char *why, size_t n, const char *what, const char *name)
{
	int err = errno;

	if (err == EPERM || err == EACCES)
		snprintf(why, n, "%s%s: not permitted: needs CAP_SYS_ADMIN (run as root)", what, name);
	else
		snprintf(why, n, "%s%s: %s", what, name, strerror(err));
	return -err;
}

int xk_netns_do(const char *name, int (*fn)(void *arg), void *arg, char *why, size_t n)
{
	char path[128];
	int home, there, err;

	if (name == NULL)
		return fn(arg);
	snprintf(path, sizeof path, "/run/netns/%s", name);
	there = open(path, O_RDONLY | O_CLOEXEC);
	if (there < 0) {
		err = netns_fail(why, n, "no network namespace ", name);
		return err == -ENOENT ? XK_E_NODEV : err;
	}
	home = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	if (home < 0 || setns(there, CLONE_NEWNET) < 0) {
		err = netns_fail(why, n, "cannot enter network namespace ", name);
	} else {
		err = fn(arg);
		if (setns(home, CLONE_NEWNET) < 0)
			err = netns_fail(why, n, "cannot leave network namespace ", name);
	}
	if (home >= 0)
		close(home);
	close(there);
	return err;
}
