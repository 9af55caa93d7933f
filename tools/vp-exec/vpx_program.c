/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpx_program.c - programs: begun under the filter, waited for, ended with all that they have begun.
 *
 * The child writes the number of its listener to a pipe and the supervisor takes the descriptor itself: a message with
 * it would be a call that nobody answers yet.  What programs leave behind becomes our child (PR_SET_CHILD_SUBREAPER).
 * Invariant: when vp-exec ends, in order or killed, the programs that it has begun are ended (vpx_keeper.c has the rest).
 */
#include "tools/vp-exec/vpx.h"
#include "runtime/base/xk_clock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static sigset_t mask_before;
static struct rlimit files_before;

int vpx_signals(void)
{
	struct rlimit files;
	sigset_t set = vpx_signals_taken();

	if (sigprocmask(SIG_BLOCK, &set, &mask_before) < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		return -errno;
	signal(SIGPIPE, SIG_IGN);
	/* Each socket of a program costs us one, and each datagram on its way another. */
	if (getrlimit(RLIMIT_NOFILE, &files_before) < 0)
		return -errno;
	files = files_before;
	files.rlim_cur = files.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &files);
	vpx.signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return vpx.signals < 0 ? -errno : 0;
}

/* ---- the child, from here to exec: one thread of a process that had more ------------------------------ */

static int listen_to_calls(void)
{
	long fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &vpx.filter);

	if (fd < 0 && errno == EACCES && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
		fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &vpx.filter);
	return fd < 0 ? -errno : (int)fd;
}

static _Noreturn void child(const struct vpx_program *p, int say, int hear, pid_t parent)
{
	int fd;
	char go;

	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (getppid() != parent)
		_exit(VPX_FAILED);
	signal(SIGPIPE, SIG_DFL);
	(void)setrlimit(RLIMIT_NOFILE, &files_before);
	sigprocmask(SIG_SETMASK, &mask_before, NULL);
	fd = vpx.isolate ? vpx_isolate(p->stack) : 0;
	if (fd < 0)
		dprintf(STDERR_FILENO, "vp-exec: --isolate: no namespaces: %s\n", strerror(-fd));
	else
		fd = listen_to_calls();
	if (write(say, &fd, sizeof fd) != (ssize_t)sizeof fd || fd < 0 || read(hear, &go, 1) != 1)
		_exit(VPX_FAILED);
	close(fd);
	execvp(p->argv[0], p->argv);
	fd = errno;
	dprintf(STDERR_FILENO, "vp-exec: %s: %s\n", p->argv[0], strerror(fd));
	_exit(fd == ENOENT ? VPX_NOT_FOUND : VPX_CANNOT);
}

/* ---- the supervisor ------------------------------------------------------------------------------------- */

/* Its listener becomes ours; a negative errno. */
static int take_listener(pid_t pid, int hear)
{
	int theirs, pidfd, fd;

	if (read(hear, &theirs, sizeof theirs) != (ssize_t)sizeof theirs)
		return -ECHILD;
	if (theirs < 0)
		return theirs;
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (pidfd < 0)
		return -errno;
	fd = (int)syscall(SYS_pidfd_getfd, pidfd, theirs, 0);
	if (fd < 0)
		fd = -errno;
	close(pidfd);
	return fd;
}

static int begin(struct vpx_program *p)
{
	int up[2], down[2], err;
	pid_t self = getpid();

	if (pipe2(up, O_CLOEXEC) < 0)
		return -errno;
	if (pipe2(down, O_CLOEXEC) < 0) {
		err = -errno;
		close(up[0]);
		close(up[1]);
		return err;
	}
	p->pid = fork();
	if (p->pid == 0)
		child(p, up[1], down[0], self);
	err = p->pid < 0 ? -errno : 0;
	close(up[1]);
	close(down[0]);
	if (err == 0) {
		p->life = VPX_RUNS;
		p->notify = take_listener(p->pid, up[0]);
		err = p->notify < 0 ? p->notify : vpx_watch(p->notify, EPOLLIN, VPX_PROGRAM, (uint64_t)(p - vpx.program));
	}
	if (err == 0 && write(down[1], "g", 1) != 1)
		err = -errno;
	close(up[0]);
	close(down[1]);
	return err;
}

static bool any_runs(void)
{
	for (unsigned i = 0; i < vpx.nprograms; i++)
		if (vpx.program[i].life == VPX_RUNS)
			return true;
	return false;
}

static void fail(void)
{
	vpx.broken = vpx.over = true;
}

static bool listens(const struct vpx_stack *st, uint16_t port)
{
	return vpx_socks_bound(st, SOCK_STREAM, port) || vpx_socks_bound(st, SOCK_DGRAM, port);
}

void vpx_programs_begin(void)
{
	if (!vpx.look)
		return;
	vpx.look = false;
	for (unsigned i = 0; i < vpx.nprograms && !vpx.over; i++) {
		struct vpx_program *p = &vpx.program[i];
		int err;

		if (p->life != VPX_WAITS)
			continue;
		if (p->wait_stack != NULL && !listens(p->wait_stack, p->wait_port)) {
			if (any_runs())
				return;
			fprintf(stderr, "vp-exec: %s was not begun: nobody listens at %s:%u, and nobody is left who could\n",
				p->argv[0], p->wait_at, p->wait_port);
			fail();
			return;
		}
		err = begin(p);
		if (err != 0) {
			fprintf(stderr, "vp-exec: %s: no supervision: %s%s\n", p->argv[0], strerror(-err),
				err == -EBUSY ? " (under another vp-exec?)" : "");
			fail();
		}
	}
}

static bool all_ended(void)
{
	for (unsigned i = 0; i < vpx.nprograms; i++)
		if (vpx.program[i].life != VPX_ENDED)
			return false;
	return true;
}

static void ended(pid_t pid, int status)
{
	for (unsigned i = 0; i < vpx.nprograms; i++) {
		struct vpx_program *p = &vpx.program[i];

		if (p->life != VPX_RUNS || p->pid != pid)
			continue;
		p->life = VPX_ENDED;
		p->status = status;
		vpx.look = true;
		if (vpx.all ? all_ended() : i + 1 == vpx.nprograms)
			vpx.over = true;
	}
}

bool vpx_programs_reap(void)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		ended(pid, status);
	return pid < 0;
}

void vpx_programs_signal(int sig)
{
	for (unsigned i = 0; i < vpx.nprograms; i++)
		if (vpx.program[i].life == VPX_RUNS)
			kill(vpx.program[i].pid, sig);
}

enum { GRACE_MS = 2000, KILL_MS = 50 };

void vpx_programs_end(void)
{
	uint64_t until = xk_clock_host() + GRACE_MS * XK_MS;
	struct pollfd p = { .fd = vpx.signals, .events = POLLIN };

	/* Their calls are answered meanwhile. */
	for (vpx_below_signal(SIGTERM); !vpx_programs_reap() && xk_clock_host() < until;)
		vpx_loop_step(KILL_MS);
	while (!vpx_programs_reap()) {
		vpx_below_signal(SIGKILL);
		vpx_programs_signal(SIGKILL);    /* where /proc says nothing */
		poll(&p, 1, KILL_MS);
	}
	for (unsigned i = 0; i < vpx.nprograms; i++)
		if (vpx.program[i].notify > 0) {
			close(vpx.program[i].notify);
			vpx.program[i].notify = -1;     /* calls that still wait have been answered by that */
		}
}

int vpx_programs_status(void)
{
	if (vpx.all)
		for (unsigned i = 0; i < vpx.nprograms; i++)
			if (vpx.program[i].status != 0)
				return vpx.program[i].status;
	return vpx.program[vpx.nprograms - 1].status;
}
