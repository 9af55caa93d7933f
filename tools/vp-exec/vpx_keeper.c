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

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- all that is below us ------------------------------------------------------------------------------ */

static void signal_below(const char *pid, int sig);

static void signal_list(const char *path, int sig)
{
	FILE *f = fopen(path, "re");
	char pid[32];

	while (f != NULL && fscanf(f, "%31s", pid) == 1) {
		signal_below(pid, sig);
		kill((pid_t)atoi(pid), sig);
	}
	if (f != NULL)
		fclose(f);
}

/* All that a process has begun, the youngest first; children are of the thread that has forked or adopted them. */
static void signal_below(const char *pid, int sig)
{
	char path[sizeof(struct dirent) + 64];
	struct dirent *e;
	DIR *d;

	snprintf(path, sizeof path, "/proc/%s/task", pid);
	d = opendir(path);
	while (d != NULL && (e = readdir(d)) != NULL) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof path, "/proc/%s/task/%s/children", pid, e->d_name);
		signal_list(path, sig);
	}
	if (d != NULL)
		closedir(d);
}

void vpx_below_signal(int sig)
{
	signal_below("self", sig);
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
