/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * base_apart.c - a function in a process of its own: of a library that does not survive what may happen in it.
 */
#include "runtime/base/xk_apart.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int xk_apart(int (*fn)(void *arg), void *arg)
{
	int status = 0;
	pid_t pid = fork(), got;

	if (pid == 0) {
		(void)setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
		_exit(fn(arg) & 0xff);
	}
	if (pid < 0)
		return -errno;
	do
		got = waitpid(pid, &status, 0);
	while (got < 0 && errno == EINTR);
	return got == pid && WIFEXITED(status) ? WEXITSTATUS(status) : XK_E_NOMEM;
}
