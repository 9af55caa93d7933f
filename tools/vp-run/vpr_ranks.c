/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpr_ranks.c - a graph file in several processes: vp-run -n starts them, --join is one that others started.
 *
 * Each rank is this program again, with the arguments rank and ranks, and job where the file declares it; it
 * is ended when its starter is.  The starter passes on signals and what they print, line by line.
 * Invariant: a rank's pipes end when it does, so nothing is waited for but them.
 */
#include "tools/vp-run/vpr.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LINE_MOST 65536u                 /* longer ones come in pieces */
#define GRACE_MS  10000                  /* for a rank to end in order */

struct pipe { int fd; char *text; size_t n, room; };
/* state: 0, or what it has said (xk_run_opts.finished_fd). */
struct rank { pid_t pid; struct pipe out, err; int say; char state; };
struct job {
	struct vpr   *o;
	struct rank  *rank;
	struct pollfd *poll;
	unsigned      n, running;
	int           code;              /* of the first that failed */
	bool          ending, quiet;     /* quiet: because one has failed; others may, by that */
	bool          told;              /* all, by a signal: who hears of another's end first has not failed */
	int64_t       kill_at;           /* ms; 0: not yet, or done */
};

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- what a rank is told ------------------------------------------------------------------ */

static bool given(const struct vpr *o, const char *name)
{
	size_t n = strlen(name);

	for (unsigned i = 0; i < o->narg; i++)
		if (strncmp(o->arg[i], name, n) == 0 && o->arg[i][n] == '=')
			return true;
	return false;
}

/* job comes first: a file need not declare it. */
static void tell(struct vpr *o, unsigned rank, unsigned ranks, const char *job)
{
	snprintf(o->rank_arg[0], sizeof o->rank_arg[0], "rank=%u", rank);
	snprintf(o->rank_arg[1], sizeof o->rank_arg[1], "ranks=%u", ranks);
	o->arg[o->narg++] = o->rank_arg[0];
	o->arg[o->narg++] = o->rank_arg[1];
	if (job == NULL || given(o, "job"))
		return;
	snprintf(o->rank_arg[2], sizeof o->rank_arg[2], "job=%s", job);
	memmove(o->arg + 1, o->arg, o->narg * sizeof o->arg[0]);
	o->arg[0] = o->rank_arg[2];
	o->narg++;
	o->offered = 1;
}

/* Of the processors that we may use, rank's part; where there are fewer than ranks, one. */
static void share_processors(struct vpr *o, unsigned rank)
{
	unsigned cpu[64], n = 0, from, to;
	cpu_set_t set;
	size_t at = 0;

	if (o->cpus != NULL || sched_getaffinity(0, sizeof set, &set) < 0)
		return;
	for (unsigned i = 0; i < 64; i++)
		if (CPU_ISSET(i, &set))
			cpu[n++] = i;
	if (n == 0)
		return;
	from = n >= o->ranks ? rank * n / o->ranks : rank % n;
	to = n >= o->ranks ? (rank + 1) * n / o->ranks : from + 1;
	for (unsigned i = from; i < to; i++)
		at += (size_t)snprintf(o->rank_cpus + at, sizeof o->rank_cpus - at, "%s%u", i != from ? "," : "", cpu[i]);
	o->cpus = o->rank_cpus;
}

/* ---- --join ---------------------------------------------------------------------------------- */

static bool number_of(const char *name, unsigned *v)
{
	const char *text = getenv(name);
	char *end;
	unsigned long n;

	if (text == NULL || *text < '0' || *text > '9')
		return false;
	errno = 0;
	n = strtoul(text, &end, 10);
	*v = (unsigned)n;
	return *end == '\0' && errno == 0 && n <= VPR_RANKS_MAX;
}

/* A name that a socket's may have in it; step: of those that one job may have at a time, or NULL. */
static const char *job_name(const char *env, const char *step, char *buf, size_t n)
{
	const char *text = getenv(env), *part = step != NULL ? getenv(step) : NULL;
	int len;

	if (text == NULL || *text == '\0')
		return NULL;
	len = snprintf(buf, n, "%s%s%s", text, part != NULL ? "." : "", part != NULL ? part : "");
	for (int i = 0; i < len && buf[i] != '\0'; i++)
		if (strchr("/@ ", buf[i]) != NULL)
			buf[i] = '-';
	return buf;
}

int vpr_join(struct vpr *o)
{
	static const struct { const char *rank, *ranks, *job, *step; } who[] = {
		{ "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMIX_NAMESPACE", NULL },
		{ "PMI_RANK", "PMI_SIZE", "PMI_JOBID", NULL },
		{ "SLURM_PROCID", "SLURM_NTASKS", "SLURM_JOB_ID", "SLURM_STEP_ID" },
	};
	char job[VPR_JOB_MAX + 1];
	unsigned rank, ranks;

	for (unsigned i = 0; i < XK_ARRAY_LEN(who); i++) {
		if (!number_of(who[i].rank, &rank) || !number_of(who[i].ranks, &ranks) || rank >= ranks)
			continue;
		tell(o, rank, ranks, job_name(who[i].job, who[i].step, job, sizeof job));
		return VPR_OK;
	}
	fprintf(stderr, "vp-run: option --join: nobody has said which rank this is: neither OMPI_COMM_WORLD_RANK and _SIZE "
		"nor PMI_RANK and PMI_SIZE nor SLURM_PROCID and SLURM_NTASKS are set\n");
	return VPR_USAGE;
}

/* ---- what they print --------------------------------------------------------------------------- */

static void print(const struct job *j, const struct rank *r, FILE *f, const char *text, size_t n)
{
	fprintf(f, "[%u] ", (unsigned)(r - j->rank));
	fwrite(text, 1, n, f);
	putc('\n', f);
}

/* Whole lines; all: the rest, too. */
static void pass_on(const struct job *j, const struct rank *r, struct pipe *p, FILE *f, bool all)
{
	size_t from = 0;
	char *end;

	while ((end = memchr(p->text + from, '\n', p->n - from)) != NULL) {
		print(j, r, f, p->text + from, (size_t)(end - (p->text + from)));
		from = (size_t)(end - p->text) + 1;
	}
	if (from < p->n && (all || p->n - from >= LINE_MOST)) {
		print(j, r, f, p->text + from, p->n - from);
		from = p->n;
	}
	memmove(p->text, p->text + from, p->n - from);
	p->n -= from;
	fflush(f);
}

static bool grow(struct pipe *p)
{
	size_t room = p->room != 0 ? 2 * p->room : LINE_MOST;
	char *more = p->n + 4096 <= p->room ? p->text : realloc(p->text, room);

	if (more == NULL)
		return false;
	p->room = more != p->text || p->n + 4096 > p->room ? room : p->room;
	p->text = more;
	return true;
}

/* JSON is shown at the end, as one list; else lines as they come. */
static void hear(const struct job *j, struct rank *r, struct pipe *p, FILE *f)
{
	bool keep = j->o->json && f == stdout;
	ssize_t n = grow(p) ? read(p->fd, p->text + p->n, p->room - p->n) : 0;

	if (n < 0 && errno == EINTR)
		return;
	p->n += n > 0 ? (size_t)n : 0;
	if (!keep && p->text != NULL)
		pass_on(j, r, p, f, n <= 0);
	if (n > 0)
		return;
	close(p->fd);
	p->fd = -1;
}

static void show_json(const struct job *j)
{
	printf("[\n");
	for (unsigned i = 0; i < j->n; i++) {
		const struct pipe *p = &j->rank[i].out;

		if (p->n != 0)
			fwrite(p->text, 1, p->n, stdout);
		else
			printf("null\n");
		if (i + 1 < j->n)
			printf(",\n");
	}
	printf("]\n");
}

/* ---- how they end ---------------------------------------------------------------------------------- */

static void signal_all(const struct job *j, int sig)
{
	for (unsigned i = 0; i < j->n; i++)
		if (j->rank[i].pid > 0)
			(void)kill(j->rank[i].pid, sig);
}

static void end_all(struct job *j, bool quiet)
{
	j->quiet |= quiet;
	j->told |= !quiet;
	if (j->ending)
		return;
	j->ending = true;
	j->kill_at = now_ms() + GRACE_MS;
	signal_all(j, SIGTERM);
}

/* A rank that has finished goes on for others' sake.  When all that can have, it is over for all. */
static void end_finished(struct job *j)
{
	bool any = false;

	for (unsigned i = 0; i < j->n; i++) {
		if (j->rank[i].pid > 0 && j->rank[i].state == 0)
			return;
		any |= j->rank[i].state == 'f';
	}
	if (any)
		end_all(j, false);
}

/* Both pipes have ended. */
static void ended(struct job *j, struct rank *r)
{
	int status = 0;
	bool good;

	while (waitpid(r->pid, &status, 0) < 0 && errno == EINTR)
		;
	r->pid = 0;
	j->running--;
	good = WIFEXITED(status) && (WEXITSTATUS(status) == 0 || (j->told && WEXITSTATUS(status) == VPR_FAILED));
	j->told |= good && j->o->duration != NULL;       /* its time was over; so will that of others be */
	if (good || j->quiet)
		return;
	if (WIFSIGNALED(status))
		fprintf(stderr, "vp-run: rank %u was killed by signal %d\n", (unsigned)(r - j->rank), WTERMSIG(status));
	else
		fprintf(stderr, "vp-run: rank %u ended with code %d\n", (unsigned)(r - j->rank), WEXITSTATUS(status));
	if (j->code == VPR_OK)
		j->code = WIFEXITED(status) ? WEXITSTATUS(status) : VPR_FAILED;
	if (!j->o->keep)
		end_all(j, true);
}

static void pass_signal(const struct job *j, int fd)
{
	struct signalfd_siginfo info;

	while (read(fd, &info, sizeof info) == (ssize_t)sizeof info)
		signal_all(j, (int)info.ssi_signo);
}

static unsigned watch(struct job *j)
{
	unsigned n = 0;

	j->poll[n++] = (struct pollfd){ .fd = j->o->stop_fd, .events = POLLIN };
	j->poll[n++] = (struct pollfd){ .fd = j->o->ask_fd, .events = POLLIN };
	for (unsigned i = 0; i < j->n; i++) {
		j->poll[n++] = (struct pollfd){ .fd = j->rank[i].out.fd, .events = POLLIN };
		j->poll[n++] = (struct pollfd){ .fd = j->rank[i].err.fd, .events = POLLIN };
		j->poll[n++] = (struct pollfd){ .fd = j->rank[i].say, .events = POLLIN };
	}
	return n;
}

static void hear_state(struct rank *r)
{
	if (read(r->say, &r->state, 1) > 0)
		return;
	close(r->say);
	r->say = -1;
}

static void look_at(struct job *j)
{
	for (unsigned i = 0; i < j->n; i++) {
		struct rank *r = &j->rank[i];
		const struct pollfd *p = &j->poll[2 + 3 * i];

		if (r->out.fd >= 0 && p[0].revents != 0)
			hear(j, r, &r->out, stdout);
		if (r->err.fd >= 0 && p[1].revents != 0)
			hear(j, r, &r->err, stderr);
		if (r->say >= 0 && p[2].revents != 0)
			hear_state(r);
		if (r->pid > 0 && r->out.fd < 0 && r->err.fd < 0)
			ended(j, r);
	}
	end_finished(j);
}

static void attend(struct job *j)
{
	while (j->running != 0) {
		int64_t left = j->kill_at != 0 ? j->kill_at - now_ms() : -1;
		unsigned n = watch(j);

		if (j->kill_at != 0 && left <= 0) {
			signal_all(j, SIGKILL);
			j->kill_at = 0;
			left = -1;
		}
		if (poll(j->poll, n, (int)left) < 0)
			continue;
		if (j->poll[0].revents != 0) {
			j->told = true;
			if (j->kill_at == 0 && !j->ending)
				j->kill_at = now_ms() + GRACE_MS;
			pass_signal(j, j->o->stop_fd);
		}
		if (j->poll[1].revents != 0)
			pass_signal(j, j->o->ask_fd);
		look_at(j);
	}
}

/* ---- how they begin ----------------------------------------------------------------------------------- */

/* In the rank: its output goes to the pipes. */
static void become(struct job *j, unsigned rank, pid_t parent, int pipes[3][2])
{
	struct vpr *o = j->o;
	char job[32];

	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent || dup2(pipes[0][1], STDOUT_FILENO) < 0 || dup2(pipes[1][1], STDERR_FILENO) < 0)
		_exit(VPR_FAILED);
	for (unsigned i = 0; i < rank; i++) {
		close(j->rank[i].out.fd);
		close(j->rank[i].err.fd);
		close(j->rank[i].say);
	}
	for (unsigned k = 0; k < 3; k++)
		close(pipes[k][0]);
	close(pipes[0][1]);
	close(pipes[1][1]);
	o->finished_fd = pipes[2][1];
	snprintf(job, sizeof job, "run-%d", (int)parent);
	tell(o, rank, o->ranks, job);
	share_processors(o, rank);
}

static int make_pipes(int pipes[3][2])
{
	for (unsigned k = 0; k < 3; k++) {
		int err = pipe2(pipes[k], O_CLOEXEC) < 0 ? -errno : XK_OK;

		if (err == XK_OK)
			continue;
		while (k-- != 0) {
			close(pipes[k][0]);
			close(pipes[k][1]);
		}
		return err;
	}
	return XK_OK;
}

/* XK_OK, in the starter; 1, in the rank; or an error. */
static int begin(struct job *j, unsigned i)
{
	struct rank *r = &j->rank[i];
	pid_t parent = getpid();
	int pipes[3][2], err = make_pipes(pipes);

	if (err != XK_OK)
		return err;
	r->pid = fork();
	if (r->pid == 0) {
		become(j, i, parent, pipes);
		return 1;
	}
	err = r->pid > 0 ? XK_OK : -errno;
	for (unsigned k = 0; k < 3; k++) {
		close(pipes[k][1]);
		if (err != XK_OK)
			close(pipes[k][0]);
	}
	if (err != XK_OK)
		return err;
	r->out.fd = pipes[0][0];
	r->err.fd = pipes[1][0];
	r->say = pipes[2][0];
	j->running++;
	return XK_OK;
}

static void free_job(struct job *j)
{
	for (unsigned i = 0; j->rank != NULL && i < j->n; i++) {
		if (j->rank[i].say > 0)
			close(j->rank[i].say);
		free(j->rank[i].out.text);
		free(j->rank[i].err.text);
	}
	free(j->rank);
	free(j->poll);
}

int vpr_ranks(struct vpr *o)
{
	struct job j = { .o = o, .code = VPR_OK };
	int err = XK_OK;

	if (o->check_only) {
		tell(o, 0, o->ranks, "check");
		return VPR_RANK;
	}
	j.rank = calloc(o->ranks, sizeof *j.rank);
	j.poll = calloc(2 + 3 * (size_t)o->ranks, sizeof *j.poll);
	if (j.rank == NULL || j.poll == NULL)
		err = XK_E_NOMEM;
	for (; err == XK_OK && j.n < o->ranks; j.n += err == XK_OK)
		err = begin(&j, j.n);
	if (err == 1) {
		free(j.rank);            /* what has been read of others is nothing yet */
		free(j.poll);
		return VPR_RANK;
	}
	if (err != XK_OK) {
		fprintf(stderr, "vp-run: cannot start rank %u: %s\n", j.n, xk_strerror(err));
		j.code = VPR_FAILED;
		end_all(&j, true);
	}
	attend(&j);
	if (o->json && err == XK_OK)
		show_json(&j);
	free_job(&j);
	if ((fflush(stdout) != 0 || ferror(stdout)) && j.code == VPR_OK) {
		fprintf(stderr, "vp-run: cannot write the output\n");
		j.code = VPR_FAILED;
	}
	return j.code;
}
