/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kit_apart.c - a clause in a process of its own: what it says, or what it died of.
 *
 * Invariant: whoever waits is told: a process that neither ends nor computes is ended.
 */
#include "tools/vp-graph/kit/kit.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/sync/xk_sync.h"

#define ASLEEP 90u               /* looks, a second apart, at a process that sleeps and takes no time */

static void say(struct kit *k, enum kit_state state, const char *fmt, va_list ap)
{
	if (k->found->state != KIT_NONE)
		return;
	vsnprintf(k->found->what, sizeof k->found->what, fmt, ap);
	k->found->state = state;
}

#define SAYS(name, state) \
	void name(struct kit *k, const char *fmt, ...) \
	{ \
		va_list ap; \
		va_start(ap, fmt); \
		say(k, state, fmt, ap); \
		va_end(ap); \
	}
SAYS(kit_fail, KIT_FAIL)
SAYS(kit_skip, KIT_SKIP)
SAYS(kit_pass, KIT_PASS)

void kit_more(struct kit *k, const char *fmt, ...)
{
	size_t has = strlen(k->found->what);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(k->found->what + has, sizeof k->found->what - has, fmt, ap);
	va_end(ap);
}

void kit_at(struct kit *k, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(k->found->at, sizeof k->found->at, fmt, ap);
	va_end(ap);
}

/* ---- the process -------------------------------------------------------------------------- */

static void limit(const struct kit *k)
{
	struct rlimit cpu = { k->seconds, k->seconds + 5 }, core = { 0, 0 };

	(void)setrlimit(RLIMIT_CPU, &cpu);
	(void)setrlimit(RLIMIT_CORE, &core);
}

/* What a process under test prints is no part of the report: its end is shown where it dies. */
static void child(struct kit *k, void (*fn)(struct kit *, void *), void *arg, FILE *says)
{
	if (says != NULL && (dup2(fileno(says), STDOUT_FILENO) < 0 || dup2(fileno(says), STDERR_FILENO) < 0))
		_exit(125);
	limit(k);
	xk_rcu_register();
	fn(k, arg);
	xk_rcu_unregister();
	fflush(NULL);
	_exit(0);
}

/* The processor time of pid in ticks, and does it sleep? */
static bool looks_asleep(pid_t pid, unsigned long *ticks)
{
	unsigned long user = 0, kernel = 0;
	char path[64], line[512], state = 'R';
	bool same;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
	f = fopen(path, "re");
	if (f == NULL)
		return false;
	if (fgets(line, sizeof line, f) != NULL && strrchr(line, ')') != NULL)
		(void)sscanf(strrchr(line, ')') + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &state, &user, &kernel);
	fclose(f);
	same = *ticks == user + kernel;
	*ticks = user + kernel;
	return same && state != 'R';
}

/* Its status; *slept: it was ended, since it waited for nobody. */
static int await(pid_t pid, bool *slept)
{
	const struct timespec second = { 1, 0 };
	unsigned long ticks = 0;
	unsigned asleep = 0;
	sigset_t set;
	int status = 0;
	pid_t done;

	*slept = false;
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	while ((done = waitpid(pid, &status, WNOHANG)) == 0 || (done < 0 && errno == EINTR)) {
		if (sigtimedwait(&set, NULL, &second) >= 0)
			continue;
		asleep = looks_asleep(pid, &ticks) ? asleep + 1 : 0;
		if (asleep < ASLEEP)
			continue;
		*slept = true;
		(void)kill(pid, SIGKILL);
		(void)waitpid(pid, &status, 0);
		break;
	}
	return status;
}

/* Without what differs from run to run: the number of the process, addresses in it. */
static const char *plain(char *line)
{
	char *at = strstr(line, " (pc ");

	if (at != NULL)
		*at = '\0';
	line[strcspn(line, "\n")] = '\0';
	if (strncmp(line, "==", 2) != 0 || (at = strstr(line + 2, "==")) == NULL)
		return line;
	return at + 2;
}

/* The line of what it said that tells most: a sanitizer's or an assertion's, else the last one. */
static void last_words(FILE *says, char *buf, size_t n)
{
	char line[200];

	buf[0] = '\0';
	if (says == NULL)
		return;
	rewind(says);
	while (fgets(line, sizeof line, says) != NULL) {
		const char *text = plain(line);

		if (text[0] != '\0')
			snprintf(buf, n, ": %s", text);
		if (strstr(line, "ERROR: ") != NULL || strstr(line, "runtime error") != NULL || strstr(line, "panic") != NULL)
			break;
	}
}

/* What became of it; "" it ended well. */
static void end_of(const struct kit *k, int status, bool slept, FILE *says, char *buf, size_t n)
{
	char words[256];

	last_words(says, words, sizeof words);
	buf[0] = '\0';
	if (slept)
		snprintf(buf, n, "waits without end");
	else if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL))
		snprintf(buf, n, "took more than %u s of processor time (--limit)", k->seconds);
	else if (WIFSIGNALED(status))
		snprintf(buf, n, "died of signal %d (%s)%s", WTERMSIG(status), strsignal(WTERMSIG(status)), words);
	else if (WEXITSTATUS(status) != 0)
		snprintf(buf, n, "ended with code %d%s", WEXITSTATUS(status), words);
}

/* What it had found before stays. */
static void judge(struct kit *k, int status, bool slept, FILE *says, struct kit_found *f)
{
	char end[KIT_TEXT - KIT_NOTE - 16];
	size_t has = f->state == KIT_FAIL ? strlen(f->what) : 0;

	end_of(k, status, slept, says, end, sizeof end);
	if (end[0] == '\0')
		return;
	f->state = KIT_FAIL;
	snprintf(f->what + has, sizeof f->what - has, "%s%s%s%s", has != 0 ? "; then it " : "", end,
		 f->at[0] != '\0' ? ", at " : "", f->at);
}

void kit_apart(struct kit *k, void (*fn)(struct kit *, void *), void *arg, struct kit_found *f)
{
	struct kit_found *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct kit_found *before = k->found;
	FILE *says = tmpfile();
	sigset_t set, old;
	bool slept;
	pid_t pid;

	*f = (struct kit_found){ .state = KIT_FAIL, .what = "no process could be made for it" };
	if (shared != MAP_FAILED) {
		sigemptyset(&set);
		sigaddset(&set, SIGCHLD);
		sigprocmask(SIG_BLOCK, &set, &old);
		fflush(NULL);
		k->found = shared;
		pid = fork();
		if (pid == 0)
			child(k, fn, arg, says);
		if (pid > 0) {
			int status = await(pid, &slept);

			*f = *shared;
			judge(k, status, slept, says, f);
		}
		k->found = before;
		sigprocmask(SIG_SETMASK, &old, NULL);
		munmap(shared, sizeof *shared);
	}
	if (says != NULL)
		fclose(says);
}
