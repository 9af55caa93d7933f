/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpx_keeper.c - two processes, so that nothing is left whichever of them is killed.
 *
 * The one that was started, the keeper, begins another, the supervisor, which does all the work, and ends as that does.
 * The supervisor sees the keeper's end by a pipe.  What a dead supervisor leaves, however deep and whatever session it is
 * of, becomes the keeper's (PR_SET_CHILD_SUBREAPER).
 * Invariant: as long as one of them lives, nothing that programs have begun outlives the other.
 */
#include "tools/vp-exec/vpx.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- all that is below us ------------------------------------------------------------------------------ */

/* `children` of a thread would be quicker, but not every kernel has it (CONFIG_PROC_CHILDREN). */
struct family { pid_t pid, parent; };

/* Of a process; 0: it is gone.  Its name may have blanks and parentheses. */
static pid_t parent_of(pid_t pid)
{
	char path[64], text[256], *after;
	int fd, parent = 0;
	ssize_t n;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof text - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	after = strrchr(text, ')');
	return after != NULL && sscanf(after, ") %*c %d", &parent) == 1 ? (pid_t)parent : 0;
}

/* Every process and its parent, as many as there is memory for: whoever ends them comes again until none is left. */
static size_t families(struct family **all)
{
	DIR *d = opendir("/proc");
	size_t n = 0, room = 0;
	struct dirent *e;

	*all = NULL;
	while (d != NULL && (e = readdir(d)) != NULL) {
		pid_t pid = isdigit((unsigned char)e->d_name[0]) ? (pid_t)atoi(e->d_name) : 0;
		pid_t parent = pid != 0 ? parent_of(pid) : 0;
		struct family *more;

		if (parent == 0)
			continue;
		if (n == room) {
			more = realloc(*all, (2 * room + 64) * sizeof *more);
			if (more == NULL)
				break;
			*all = more;
			room = 2 * room + 64;
		}
		(*all)[n++] = (struct family){ pid, parent };
	}
	if (d != NULL)
		closedir(d);
	return n;
}

/* Exactly that one, which may be ours since: its number may be another's by now. */
static void signal_child(const struct family *f, int sig)
{
	int fd = (int)syscall(SYS_pidfd_open, f->pid, 0);
	pid_t parent = fd >= 0 ? parent_of(f->pid) : 0;

	if (parent != 0 && (parent == f->parent || parent == getpid()))
		(void)syscall(SYS_pidfd_send_signal, fd, sig, NULL, 0);
	if (fd >= 0)
		close(fd);
}

/* All that a process has begun, the youngest first.  What was read while processes came and went may have circles: each
 * process is met once. */
static void signal_below(struct family *all, size_t n, pid_t parent, int sig)
{
	for (size_t i = 0; i < n; i++)
		if (all[i].parent == parent) {
			struct family f = all[i];

			all[i].parent = 0;
			signal_below(all, n, f.pid, sig);
			signal_child(&f, sig);
		}
}

void vpx_below_signal(int sig)
{
	struct family *all;
	size_t n = families(&all);

	signal_below(all, n, getpid(), sig);
	free(all);
}

/* ---- the keeper ------------------------------------------------------------------------------------------- */

sigset_t vpx_signals_taken(void)
{
	static const int taken[] = { SIGCHLD, SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 };
	sigset_t set;

	sigemptyset(&set);
	for (unsigned i = 0; i < sizeof taken / sizeof *taken; i++)
		sigaddset(&set, taken[i]);
	return set;
}

/* Children that have ended; true: the supervisor has, with *status. */
static bool reap(pid_t supervisor, int *status)
{
	bool ended = false;
	int its;
	pid_t pid;

	while ((pid = waitpid(-1, &its, WNOHANG)) > 0)
		if (pid == supervisor) {
			ended = true;
			*status = its;
		}
	return ended || (pid < 0 && errno == ECHILD);
}

/* Until it ends.  The terminal sends its signals to all; what somebody sends to us alone is the supervisor's. */
static int keep(pid_t supervisor, const sigset_t *set)
{
	int status = 0;
	siginfo_t s;

	while (!reap(supervisor, &status))
		if (sigwaitinfo(set, &s) > 0 && s.si_signo != SIGCHLD && s.si_code != SI_KERNEL)
			kill(supervisor, s.si_signo);
	return status;
}

/* Whatever it has left: nothing, unless it was killed. */
static void end_below(void)
{
	static const struct timespec soon = { 0, 50000000 };
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	while (waitpid(-1, NULL, WNOHANG) >= 0) {
		vpx_below_signal(SIGKILL);
		(void)sigtimedwait(&child, NULL, &soon);
	}
}

int vpx_keeper(int *status)
{
	sigset_t set = vpx_signals_taken(), before;
	int life[2], err = 0;
	pid_t pid;

	/* Whoever has started us may ignore the ends of children: then nobody is told of them. */
	if (signal(SIGCHLD, SIG_DFL) == SIG_ERR || pipe2(life, O_CLOEXEC) < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0 ||
	    sigprocmask(SIG_BLOCK, &set, &before) < 0)
		return -errno;
	pid = fork();
	if (pid < 0)
		err = -errno;
	if (pid != 0)
		close(life[0]);
	if (pid == 0 || err != 0) {
		close(life[1]);
		sigprocmask(SIG_SETMASK, &before, NULL);
		vpx.keeper = life[0];
		return err;
	}
	*status = keep(pid, &set);
	end_below();
	close(life[1]);
	return 1;
}
