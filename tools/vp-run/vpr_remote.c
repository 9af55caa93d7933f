/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpr_remote.c - ranks on other hosts: a remote shell for each runs an agent there (vpr_agent.c).
 *
 * What the remote shell itself and the login print comes before the agent's first word, and is passed on.
 * The remote shell has a process group of its own: what it has started goes with it.
 * Invariant: what an agent says is bounded by its frames; a frame that cannot be ends its rank.
 */
#include "tools/vp-run/vpr_job.h"
#include "tools/vp-run/vpr_frame.h"

#include "runtime/compose/xk_variant.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define COMING_MOST 8u                   /* to a host at a time: sshd turns away some of more than ten (MaxStartups) */
#define RSH_WORDS   32u

/* ---- the command ------------------------------------------------------------------------------- */

static void quoted(FILE *f, const char *s)
{
	putc('\'', f);
	for (; *s != '\0'; s++)
		if (*s == '\'')
			fputs("'\\''", f);
		else
			putc(*s, f);
	putc('\'', f);
}

/* For the shell there: this program in this folder, with these options. */
static void write_command(FILE *f, const struct vpr_job *j, const char *cwd, const char *exe, const char *agent)
{
	fputs("cd ", f);
	quoted(f, cwd);
	fputs(" && exec ", f);
	quoted(f, exe);
	putc(' ', f);
	quoted(f, agent);
	for (int i = 1; i < j->o->argc; i++) {
		putc(' ', f);
		quoted(f, j->o->argv[i]);
	}
}

/* One line, of malloc. */
static int command(const struct vpr_job *j, unsigned rank, char **line)
{
	const struct vpr_host *h = j->rank[rank].host;
	char exe[PATH_MAX], *cwd = getcwd(NULL, 0), *agent = NULL;
	ssize_t n = cwd != NULL ? readlink("/proc/self/exe", exe, sizeof exe - 1) : -1;
	int err = n < 0 ? -errno : XK_OK;
	size_t room;
	FILE *f = err == XK_OK ? open_memstream(line, &room) : NULL;

	if (f != NULL && asprintf(&agent, "--agent=%u/%u/%u/%u/%s/%s", rank, j->n, rank - h->first, h->ranks, j->name,
				  j->hosts.peers) > 0) {
		exe[n] = '\0';
		xk_variant_plain(exe);   /* that host has another processor, maybe */
		write_command(f, j, cwd, exe, agent);
		free(agent);
		err = ferror(f) ? XK_E_NOMEM : XK_OK;
	} else if (err == XK_OK) {
		err = XK_E_NOMEM;
	}
	if (f != NULL && fclose(f) != 0 && err == XK_OK)
		err = XK_E_NOMEM;
	free(cwd);
	return err;
}

/* Does not return. */
static void be_remote_shell(const struct vpr_host *h, char *line, pid_t parent)
{
	const char *rsh = getenv("VP_RSH");
	char *words = strdup(rsh != NULL && *rsh != '\0' ? rsh : "ssh"), *save = NULL, *argv[RSH_WORDS + 3];
	unsigned n = 0;
	sigset_t none;

	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)setpgid(0, 0);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || words == NULL)
		_exit(VPR_FAILED);
	for (char *w = strtok_r(words, " \t", &save); w != NULL && n < RSH_WORDS; w = strtok_r(NULL, " \t", &save))
		argv[n++] = w;
	if (n == 0)
		argv[n++] = words;
	argv[n++] = h->name;
	argv[n++] = line;
	argv[n] = NULL;
	execvp(argv[0], argv);
	fprintf(stderr, "cannot run %s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

/* ---- how they begin -------------------------------------------------------------------------------- */

struct ends { int tell[2], out[2], err[2]; };

static void close_ends(struct ends *e)
{
	int *fd[] = { e->tell, e->out, e->err };

	for (unsigned k = 0; k < XK_ARRAY_LEN(fd); k++)
		for (unsigned i = 0; i < 2; i++)
			if (fd[k][i] >= 0)
				close(fd[k][i]);
}

static int open_ends(struct ends *e)
{
	int err;

	*e = (struct ends){ { -1, -1 }, { -1, -1 }, { -1, -1 } };
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, e->tell) == 0 && pipe2(e->out, O_CLOEXEC) == 0 &&
	    pipe2(e->err, O_CLOEXEC) == 0)
		return XK_OK;
	err = -errno;
	close_ends(e);
	return err;
}

static int begin_one(struct vpr_job *j, unsigned rank)
{
	struct vpr_rank *r = &j->rank[rank];
	char *line = NULL, key[VPR_KEY + 2];
	pid_t parent = getpid();
	struct ends e;
	int err = command(j, rank, &line);

	if (err == XK_OK)
		err = open_ends(&e);
	if (err == XK_OK) {
		r->pid = fork();
		err = r->pid >= 0 ? XK_OK : -errno;
		if (err != XK_OK)
			close_ends(&e);
	}
	if (err == XK_OK && r->pid == 0) {
		if (dup2(e.tell[1], STDIN_FILENO) < 0 || dup2(e.out[1], STDOUT_FILENO) < 0 || dup2(e.err[1], STDERR_FILENO) < 0)
			_exit(VPR_FAILED);
		be_remote_shell(r->host, line, parent);
	}
	free(line);
	if (err != XK_OK) {
		r->pid = 0;
		return err;
	}
	(void)setpgid(r->pid, r->pid);           /* whichever of the two is first */
	close(e.tell[1]);
	close(e.out[1]);
	close(e.err[1]);
	r->tell = e.tell[0];
	r->out.fd = e.out[0];
	r->err.fd = e.err[0];
	r->come_by = vpr_now_ms() + j->o->within_ms;
	snprintf(key, sizeof key, "%-*s\n", (int)VPR_KEY, j->key);
	(void)send(r->tell, key, VPR_KEY + 1, MSG_NOSIGNAL);     /* who is gone is missed by its output's end */
	return XK_OK;
}

void vpr_remote_begin(struct vpr_job *j)
{
	for (unsigned i = 0; i < j->hosts.n; i++) {
		const struct vpr_host *h = &j->hosts.host[i];
		unsigned coming = 0;

		for (unsigned k = h->first; k < h->first + h->ranks && coming < COMING_MOST; k++) {
			struct vpr_rank *r = &j->rank[k];
			int err = r->begun ? XK_OK : begin_one(j, k);

			r->begun = true;
			coming += r->pid > 0 && !r->up;
			if (err == XK_OK)
				continue;
			fprintf(stderr, "vp-run: cannot start rank %u at %s: %s\n", k, h->name, xk_strerror(err));
			j->running--;
			vpr_job_failed(j, VPR_FAILED);
		}
	}
}

/* ---- what they say ---------------------------------------------------------------------------------- */

static void show(struct vpr_job *j, struct vpr_rank *r, bool out, const char *text, size_t n)
{
	struct vpr_pipe *p = out ? &r->far_out : &r->far_err;

	if (!vpr_pipe_add(p, text, n))
		fprintf(stderr, "vp-run: out of memory: a part of what rank %u printed is missing\n", (unsigned)(r - j->rank));
	if (!out || !j->o->json)
		vpr_lines((unsigned)(r - j->rank), p, out ? stdout : stderr, false);
}

/* Before the agent's first word; last: nothing comes behind it. */
static void hear_login(struct vpr_job *j, struct vpr_rank *r, bool last)
{
	struct vpr_pipe *p = &r->out;
	const char *word = p->n != 0 ? memmem(p->text, p->n, FRAME_HELLO, FRAME_HELLO_LEN) : NULL;
	size_t n = p->n, keep = last ? 0 : FRAME_HELLO_LEN;

	if (word == NULL) {
		n = n > keep ? n - keep : 0;
		show(j, r, false, p->text, n);
		vpr_pipe_take(p, n);
		return;
	}
	n = (size_t)(word - p->text);
	show(j, r, false, p->text, n);
	vpr_lines((unsigned)(r - j->rank), &r->far_err, stderr, true);
	vpr_pipe_take(p, n + FRAME_HELLO_LEN);
	r->up = true;
	r->ready_by = vpr_now_ms() + j->o->within_ms;
}

static bool act(struct vpr_job *j, struct vpr_rank *r, char type, const char *text, size_t n)
{
	switch (type) {
	case FRAME_OUT:
	case FRAME_ERR:
		show(j, r, type == FRAME_OUT, text, n);
		return true;
	case FRAME_STATE:
		if (n != 1 || strchr("fnu", *text) == NULL || *text == '\0')
			return false;
		if (*text == VPR_UP)
			r->ready = true;
		else
			r->state = *text;
		return true;
	case FRAME_END:
		if (r->end.known || n != 2 || (text[0] != FRAME_CODE && text[0] != FRAME_SIGNAL))
			return false;
		r->end = (struct vpr_end){ .known = true };
		r->end_by = vpr_now_ms() + VPR_FORCE_MS;
		*(text[0] == FRAME_CODE ? &r->end.code : &r->end.sig) = (unsigned char)text[1];
		return true;
	default: return false;
	}
}

void vpr_remote_hear(struct vpr_job *j, struct vpr_rank *r)
{
	bool more = vpr_pipe_read(&r->out);
	struct vpr_pipe *p = &r->out;
	size_t at = 0, n;

	if (!r->up)
		hear_login(j, r, !more);
	while (r->up && p->n - at >= FRAME_HEAD && !r->lost) {
		n = frame_length(p->text + at);
		if (n <= VPR_LINE_MOST && p->n - at - FRAME_HEAD < n)
			break;
		if (n > VPR_LINE_MOST || !act(j, r, p->text[at], p->text + at + FRAME_HEAD, n)) {
			fprintf(stderr, "vp-run: rank %u at %s: what comes is not of its agent\n", (unsigned)(r - j->rank), r->host->name);
			r->lost = true;
			vpr_remote_cut(r);
			vpr_job_failed(j, VPR_FAILED);
			return;
		}
		at += FRAME_HEAD + n;
	}
	vpr_pipe_take(p, at);
}

/* ---- how they end -------------------------------------------------------------------------------------- */

void vpr_remote_say(const struct vpr_rank *r, char letter)
{
	if (r->tell >= 0)                /* who is gone is missed by its output's end */
		(void)send(r->tell, &letter, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void vpr_remote_signal(const struct vpr_rank *r, int sig)
{
	vpr_remote_say(r, sig == SIGINT ? 'i' : sig == SIGTERM ? 't' : sig == SIGUSR1 ? 'u' : 'k');
}

void vpr_remote_cut(struct vpr_rank *r)
{
	if (r->pid > 0)
		(void)kill(-r->pid, SIGKILL);
	if (r->out.fd >= 0)
		close(r->out.fd);
	if (r->err.fd >= 0)
		close(r->err.fd);
	r->out.fd = r->err.fd = -1;
}

/* What has come and was not read is not late: this process may not have run for long. */
static bool is_late(const struct vpr_rank *r, int64_t left)
{
	struct pollfd p = { .fd = r->out.fd, .events = POLLIN };

	return left <= 0 && poll(&p, 1, 0) == 0;
}

/* Its end is known, but something that it or the remote shell has left behind keeps the pipes open. */
static void leave(struct vpr_rank *r, unsigned rank)
{
	struct pollfd p = { .fd = r->err.fd, .events = POLLIN };

	fprintf(stderr, "vp-run: warning: rank %u at %s has ended, and its remote shell does not\n", rank, r->host->name);
	if (poll(&p, 1, 0) > 0)
		(void)vpr_pipe_read(&r->err);
	vpr_lines(rank, &r->err, stderr, true);
	vpr_remote_cut(r);
}

static void give_up(struct vpr_job *j, struct vpr_rank *r, unsigned rank)
{
	fprintf(stderr, "vp-run: rank %u at %s did not come up in %s\n", rank, r->host->name, j->o->within);
	r->lost = true;
	vpr_remote_cut(r);
	vpr_job_failed(j, VPR_FAILED);
}

int64_t vpr_remote_late(struct vpr_job *j)
{
	int64_t now = vpr_now_ms(), next = -1;

	for (unsigned i = 0; i < j->n && j->hosts.n != 0; i++) {
		struct vpr_rank *r = &j->rank[i];
		int64_t left = (r->end.known ? r->end_by : r->come_by) - now;

		if (r->pid <= 0 || r->lost || (r->up && !r->end.known))
			continue;
		if (r->end.known && left <= 0)
			leave(r, i);
		else if (!r->end.known && is_late(r, left))
			give_up(j, r, i);
		next = vpr_least(next, left > 0 ? left : 0);
	}
	return next;
}
