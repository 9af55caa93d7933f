/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_child.c - one run: a fresh process of vp-run.
 *
 * What it prints goes to unnamed files, so that it never waits for us.  It dies
 * with us, and when a signal asks us to stop it is stopped first.  A child that
 * takes far longer than it was told is killed and reported.
 */
#include "tools/vp-bench/bench.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/xk_clock.h"
#include "runtime/compose/xk_home.h"

#define CHILD_ARGS (BENCH_ARGS + BENCH_AXES + 24u)
#define PATIENCE_S 10        /* with one that was told to stop */

static sigset_t ours, before;

void bench_child_cpus(unsigned n, char *text, size_t room)
{
	cpu_set_t set;
	size_t at = (size_t)snprintf(text, room, "--cpus=");

	if (sched_getaffinity(0, sizeof set, &set) != 0)
		CPU_ZERO(&set);
	for (int i = 0; i < CPU_SETSIZE && n != 0; i++)
		if (CPU_ISSET(i, &set)) {
			at += (size_t)snprintf(text + at, room - at, "%s%d", text[at - 1] == '=' ? "" : ",", i);
			n--;
		}
}

void bench_child_signals(void)
{
	static bool done;

	if (done)
		return;
	done = true;
	sigemptyset(&ours);
	sigaddset(&ours, SIGCHLD);
	sigaddset(&ours, SIGINT);
	sigaddset(&ours, SIGTERM);
	sigprocmask(SIG_BLOCK, &ours, &before);
}

static const char *beside(const char *name, char path[PATH_MAX])
{
	return xk_home_beside(name, path, PATH_MAX) && access(path, X_OK) == 0 ? path : name;
}

const char *bench_child_program(const char *given)
{
	static char path[PATH_MAX];
	const char *env = getenv("VP_RUN");

	if (given != NULL || env != NULL)
		return given ? given : env;
	return beside("vp-run", path);
}

const char *bench_child_of(const struct bench *b, const char *given)
{
	static char path[PATH_MAX];
	const char *env = getenv("VP_SIM");

	if (!b->model)
		return bench_child_program(given);
	if (given != NULL || env != NULL)
		return given ? given : env;
	return beside("vp-sim", path);
}

/* ---- the command ------------------------------------------------------------------ */

struct command { const char *argv[CHILD_ARGS + 1]; char text[BENCH_AXES + 5][160]; unsigned n; };

/* A warm-up of no message is none, and no option. */
static void compose_messages(struct command *c, const struct bench_messages *m, char (*text)[160])
{
	snprintf(text[0], sizeof text[0], "--messages=%llu", (unsigned long long)m->measured);
	c->argv[c->n++] = text[0];
	if (m->warmup == 0)
		return;
	snprintf(text[1], sizeof text[1], "--warmup-messages=%llu", (unsigned long long)m->warmup);
	c->argv[c->n++] = text[1];
}

static void compose(struct command *c, const struct bench_child *k)
{
	const struct bench *b = k->b;

	c->n = 0;
	c->argv[c->n++] = k->program;
	c->argv[c->n++] = b->file;
	for (unsigned i = 0; i < b->narg; i++)
		c->argv[c->n++] = b->arg[i];
	for (unsigned i = 0; i < b->naxes; i++) {
		snprintf(c->text[i], sizeof c->text[i], "%s=%s", b->axis[i], k->p->value[i]);
		c->argv[c->n++] = c->text[i];
	}
	snprintf(c->text[b->naxes], sizeof c->text[0], "--duration=%lluns", (unsigned long long)k->duration);
	snprintf(c->text[b->naxes + 1], sizeof c->text[0], "--warmup=%lluns", (unsigned long long)k->warmup);
	snprintf(c->text[b->naxes + 2], sizeof c->text[0], "--seed=%llu", (unsigned long long)k->seed);
	for (unsigned i = 0; i < 3; i++)
		c->argv[c->n++] = c->text[b->naxes + i];
	if (b->messages.measured != 0)
		compose_messages(c, &b->messages, c->text + b->naxes + 3);
	c->argv[c->n++] = "--json";
	if (b->needs & BENCH_NEED_VPS)
		c->argv[c->n++] = "--vps";
	if (b->needs & BENCH_NEED_CONNS)
		c->argv[c->n++] = "--connections";
	if (b->needs & BENCH_NEED_FAIR)
		c->argv[c->n++] = "--fairness=10ms";
	c->argv[c->n] = NULL;
}

/* ---- the process --------------------------------------------------------------------- */

/* in: -1 leaves it ours. */
static pid_t start(const char *const *argv, int in, int out, int err)
{
	pid_t parent = getpid(), pid = fork();

	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(127);
	sigprocmask(SIG_SETMASK, &before, NULL);
	/* Ctrl-C at the terminal is ours to handle; we stop it with SIGTERM. */
	setpgid(0, 0);
	if ((in >= 0 && dup2(in, 0) < 0) || dup2(out, 1) < 0 || dup2(err, 2) < 0)
		_exit(127);
	execvp(argv[0], (char *const *)argv);
	dprintf(2, "cannot run %s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

static struct timespec left_until(double end)
{
	double s = end - (double)xk_clock_host() / 1e9;

	s = s > 0 ? s : 0;
	return (struct timespec){ (time_t)s, (long)((s - floor(s)) * 1e9) };
}

/* Its status; *stopped: a signal of ours ended it; false: it had to be killed. */
static bool await(pid_t pid, double seconds, int *status, bool *stopped)
{
	double end = (double)xk_clock_host() / 1e9 + seconds;
	int sig;

	while (waitpid(pid, status, WNOHANG) != pid) {
		struct timespec limit = left_until(end);

		sig = sigtimedwait(&ours, NULL, &limit);
		if (sig == SIGINT || sig == SIGTERM) {
			*stopped = true;
			end = (double)xk_clock_host() / 1e9 + PATIENCE_S;
			kill(pid, SIGTERM);
		} else if (sig < 0 && errno == EAGAIN) {
			if (kill(-pid, SIGKILL) != 0)       /* what it started, too */
				kill(pid, SIGKILL);
			while (waitpid(pid, status, 0) < 0 && errno == EINTR)
				;
			return false;
		}
	}
	return true;
}

/* The last lines of what it said, on one line. */
static void said(int fd, char *buf, size_t n)
{
	off_t end = lseek(fd, 0, SEEK_END);
	off_t from = end > (off_t)n - 1 ? end - (off_t)n + 1 : 0;
	ssize_t got = pread(fd, buf, n - 1, from);

	buf[got > 0 ? got : 0] = '\0';
	while (got > 0 && buf[got - 1] == '\n')
		buf[--got] = '\0';
	for (char *c = buf; *c != '\0'; c++)
		if (*c == '\n')
			*c = ';';
}

static void explain(int status, bool in_time, double seconds, int err, char *why, size_t n)
{
	char text[400];

	said(err, text, sizeof text);
	if (!in_time)
		snprintf(why, n, "it had not ended after %.3g s and was killed%s%s", seconds, *text ? ": " : "", text);
	else if (WIFSIGNALED(status))
		snprintf(why, n, "it died of signal %d (%s)%s%s", WTERMSIG(status), strsignal(WTERMSIG(status)),
			 *text ? ": " : "", text);
	else
		snprintf(why, n, "it ended with code %d%s%s", WEXITSTATUS(status), *text ? ": " : "", text);
}

static json_t *parse(int fd, char *why, size_t n)
{
	json_error_t e;
	json_t *j = NULL;
	FILE *f;

	lseek(fd, 0, SEEK_SET);
	f = fdopen(dup(fd), "r");
	if (f != NULL) {
		j = json_loadf(f, 0, &e);
		fclose(f);
	}
	if (j == NULL)
		snprintf(why, n, "what it printed is no JSON: %s", f ? e.text : strerror(errno));
	return j;
}

/* Did it end well?  Its output is in out. */
static bool perform(const char *const *argv, int in, int out, double seconds, bool *interrupted, char *why, size_t n)
{
	int err = memfd_create("child-err", MFD_CLOEXEC), status = 0;
	bool in_time, good = false;
	pid_t pid = -1;

	if (out >= 0 && err >= 0)
		pid = start(argv, in, out, err);
	if (pid < 0) {
		snprintf(why, n, "cannot start a process: %s", strerror(errno));
	} else {
		in_time = await(pid, seconds, &status, interrupted);
		good = in_time && WIFEXITED(status) && WEXITSTATUS(status) == 0 && !*interrupted;
		if (!good)
			explain(status, in_time, seconds, err, why, n);
	}
	if (err >= 0)
		close(err);
	return good;
}

json_t *bench_child_json(const char *const *argv, double seconds, bool *interrupted, char *why, size_t n)
{
	int out = memfd_create("child-out", MFD_CLOEXEC);
	json_t *j = NULL;

	if (perform(argv, -1, out, seconds, interrupted, why, n))
		j = parse(out, why, n);
	if (out >= 0)
		close(out);
	return j;
}

static char *whole(int fd)
{
	off_t size = lseek(fd, 0, SEEK_END);
	char *text = size >= 0 ? malloc((size_t)size + 1) : NULL;
	ssize_t got = text ? pread(fd, text, (size_t)size, 0) : -1;

	if (text != NULL)
		text[got > 0 ? got : 0] = '\0';
	return text;
}

char *bench_child_text(const char *const *argv, const char *input, double seconds, bool *interrupted, char *why, size_t n)
{
	int in = memfd_create("child-in", MFD_CLOEXEC), out = memfd_create("child-out", MFD_CLOEXEC);
	char *text = NULL;

	bench_child_signals();
	if (in < 0 || write(in, input, strlen(input)) != (ssize_t)strlen(input) || lseek(in, 0, SEEK_SET) != 0)
		snprintf(why, n, "cannot hand over its input: %s", strerror(errno));
	else if (perform(argv, in, out, seconds, interrupted, why, n))
		text = whole(out);
	if (in >= 0)
		close(in);
	if (out >= 0)
		close(out);
	return text;
}

json_t *bench_child_run(const struct bench_child *k, bool *interrupted, char *why, size_t n)
{
	struct command c;

	compose(&c, k);
	return bench_child_json(c.argv, (double)k->timeout / 1e9, interrupted, why, n);
}
