/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpr_ranks.c - a graph file in several processes: vp-run -n starts them, here or by --hosts elsewhere (vpr_remote.c).
 *
 * Each rank is this program again, told what vpr_tell.c says; it is ended when its starter is.  The starter passes
 * on signals and what they print, line by line.
 * Invariant: a rank's pipes end when it does, so nothing is waited for but them; what keeps those of a remote shell open
 * when the rank's end is known is given up.
 */
#include "tools/vp-run/vpr_job.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- what they print ------------------------------------------------------------------------- */

/* JSON is shown at the end, as one list; else lines as they come. */
static void hear(struct vpr_job *j, struct vpr_rank *r, struct vpr_pipe *p, FILE *f)
{
	bool more = vpr_pipe_read(p);

	if (!j->o->json || f != stdout)
		vpr_lines((unsigned)(r - j->rank), p, f, !more);
}

/* ---- how they end ---------------------------------------------------------------------------------- */

static void signal_all(const struct vpr_job *j, int sig)
{
	for (unsigned i = 0; i < j->n; i++)
		if (j->rank[i].host != NULL)
			vpr_remote_signal(&j->rank[i], sig);
		else if (j->rank[i].pid > 0)
			(void)kill(j->rank[i].pid, sig);
}

static void begin_no_more(struct vpr_job *j)
{
	for (unsigned i = 0; i < j->n; i++) {
		j->running -= !j->rank[i].begun;
		j->rank[i].begun = true;
	}
}

static void end_all(struct vpr_job *j, bool quiet)
{
	if (!vpr_over_begin(&j->over, quiet))
		return;
	begin_no_more(j);
	signal_all(j, SIGTERM);
}

void vpr_job_failed(struct vpr_job *j, int code)
{
	if (j->over.code == VPR_OK)
		j->over.code = code;
	if (!j->o->keep)
		end_all(j, true);
}

/* A rank that has finished goes on for others' sake.  When all that can have, it is over for all. */
static void end_finished(struct vpr_job *j)
{
	bool any = false;

	for (unsigned i = 0; i < j->n; i++) {
		if ((j->rank[i].pid > 0 || !j->rank[i].begun) && j->rank[i].state == 0)
			return;
		any |= j->rank[i].state == 'f';
	}
	if (any)
		end_all(j, false);
}

static void say_end(const struct vpr_job *j, const struct vpr_rank *r, const char *what, const struct vpr_end *e)
{
	fprintf(stderr, "vp-run: rank %u", (unsigned)(r - j->rank));
	if (r->host != NULL)
		fprintf(stderr, " at %s", r->host->name);
	vpr_end_say(e, what);
}

/* The remote shell has ended, and no agent has said how the rank did. */
static void missed(struct vpr_job *j, const struct vpr_rank *r, const struct vpr_end *shell)
{
	if (r->lost || j->over.quiet)
		return;
	say_end(j, r, r->up ? "is lost: its remote shell " : "did not come up: its remote shell ", shell);
	vpr_job_failed(j, VPR_FAILED);
}

static void judge(struct vpr_job *j, const struct vpr_rank *r)
{
	if (!vpr_over_failed(&j->over, &r->end, j->o->duration != NULL))
		return;
	say_end(j, r, "", &r->end);
	vpr_job_failed(j, vpr_end_code(&r->end));
}

/* Both pipes have ended. */
static void ended(struct vpr_job *j, struct vpr_rank *r)
{
	unsigned rank = (unsigned)(r - j->rank);
	struct vpr_end shell = vpr_reap(r->pid);

	r->pid = 0;
	j->running--;
	if (r->host == NULL) {
		r->end = shell;
		judge(j, r);
		return;
	}
	close(r->tell);
	r->tell = -1;
	vpr_lines(rank, &r->far_err, stderr, true);
	if (!j->o->json)
		vpr_lines(rank, &r->far_out, stdout, true);
	if (r->end.known)
		judge(j, r);
	else
		missed(j, r, &shell);
}

static void pass_signal(const struct vpr_job *j, int fd)
{
	struct signalfd_siginfo info;

	while (read(fd, &info, sizeof info) == (ssize_t)sizeof info)
		signal_all(j, (int)info.ssi_signo);
}

static unsigned watch(struct vpr_job *j)
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

static void hear_state(struct vpr_rank *r)
{
	char c;

	if (read(r->say, &c, 1) > 0) {
		if (c == VPR_UP)
			r->ready = true;
		else
			r->state = c;
		return;
	}
	close(r->say);
	r->say = -1;
}

static void look_at(struct vpr_job *j)
{
	for (unsigned i = 0; i < j->n; i++) {
		struct vpr_rank *r = &j->rank[i];
		const struct pollfd *p = &j->poll[2 + 3 * i];

		if (r->out.fd >= 0 && p[0].revents != 0 && r->host == NULL)
			hear(j, r, &r->out, stdout);
		else if (r->out.fd >= 0 && p[0].revents != 0)
			vpr_remote_hear(j, r);
		if (r->err.fd >= 0 && p[1].revents != 0)
			hear(j, r, &r->err, stderr);
		if (r->say >= 0 && p[2].revents != 0)
			hear_state(r);
		if (r->pid > 0 && r->out.fd < 0 && r->err.fd < 0)
			ended(j, r);
	}
}

/* Those that have not ended in order: first the ranks, then what stands for them here. */
static void force(struct vpr_job *j)
{
	bool again = j->over.forced;

	j->over.forced = true;
	j->over.kill_at = again || j->hosts.n == 0 ? 0 : vpr_now_ms() + VPR_FORCE_MS;
	if (!again)
		signal_all(j, SIGKILL);
	for (unsigned i = 0; again && i < j->n; i++)
		if (j->rank[i].host != NULL)
			vpr_remote_cut(&j->rank[i]);
}

/* Until something is to be done though nobody says anything; -1: never. */
static int wait_ms(struct vpr_job *j)
{
	int64_t late = vpr_least(vpr_remote_late(j), vpr_start_late(j)), left = vpr_left(j->over.kill_at);

	if (left == 0) {
		force(j);
		return 0;
	}
	return (int)vpr_least(left, late);
}

static void attend(struct vpr_job *j)
{
	while (j->running != 0) {
		unsigned n;
		int wait;

		vpr_remote_begin(j);
		vpr_start_turn(j);
		end_finished(j);
		if (j->running == 0)
			break;
		wait = wait_ms(j);
		n = watch(j);
		if (poll(j->poll, n, wait) < 0)
			continue;
		if (j->poll[0].revents != 0) {
			j->over.told = true;
			if (j->over.kill_at == 0 && !j->over.ending)
				j->over.kill_at = vpr_now_ms() + VPR_GRACE_MS;
			begin_no_more(j);
			pass_signal(j, j->o->stop_fd);
		}
		if (j->poll[1].revents != 0)
			pass_signal(j, j->o->ask_fd);
		look_at(j);
	}
}

/* ---- how they begin ----------------------------------------------------------------------------------- */

/* In the rank: its output goes to the pipes. */
static int become(struct vpr_job *j, const struct vpr_place *at, pid_t parent, int pipes[3][2])
{
	struct vpr *o = j->o;

	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent || dup2(pipes[0][1], STDOUT_FILENO) < 0 || dup2(pipes[1][1], STDERR_FILENO) < 0)
		_exit(VPR_FAILED);
	for (unsigned i = 0; i < j->n; i++) {
		close(j->rank[i].out.fd);
		close(j->rank[i].err.fd);
		close(j->rank[i].say);
	}
	for (unsigned k = 0; k < 3; k++)
		close(pipes[k][0]);
	close(pipes[0][1]);
	close(pipes[1][1]);
	o->finished_fd = pipes[2][1];
	if (vpr_tell(o, at->rank, at->ranks, at->job, at->peers) != XK_OK || vpr_key_tell(at->key) != XK_OK) {
		fprintf(stderr, "vp-run: out of memory\n");
		exit(VPR_FAILED);
	}
	vpr_share_processors(o, at->place, at->places);
	return 1;
}

static int make_pipes(int pipes[3][2])
{
	for (unsigned k = 0; k < 3; k++) {
		int err = (k < 2 ? pipe2(pipes[k], O_CLOEXEC) : socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pipes[k])) < 0 ?
			  -errno : XK_OK;

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

int vpr_rank_begin(struct vpr_job *j, struct vpr_rank *r, const struct vpr_place *at)
{
	pid_t parent = getpid();
	int pipes[3][2], err = make_pipes(pipes);

	if (err != XK_OK)
		return err;
	r->begun = true;
	r->pid = fork();
	if (r->pid == 0)
		return become(j, at, parent, pipes);
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
	r->ready_by = vpr_now_ms() + j->o->within_ms;
	j->running++;
	return XK_OK;
}

/* All of this machine: XK_OK, 1 in a rank, or an error. */
static int begin_here(struct vpr_job *j)
{
	unsigned n = j->o->ranks;
	struct vpr_place at = { .ranks = n, .places = n, .job = j->name, .peers = j->hosts.peers, .key = j->key };
	int err = XK_OK;

	for (; err == XK_OK && j->n < n; j->n += err == XK_OK) {
		at.rank = at.place = j->n;
		err = vpr_rank_begin(j, &j->rank[j->n], &at);
	}
	if (err == XK_OK || err == 1)
		return err;
	fprintf(stderr, "vp-run: cannot start rank %u: %s\n", j->n, xk_strerror(err));
	vpr_job_failed(j, VPR_FAILED);
	end_all(j, true);
	return err;
}

/* Of other hosts: they begin while others are attended to. */
static void name_hosts(struct vpr_job *j)
{
	j->n = j->running = j->o->ranks;
	for (unsigned i = 0; i < j->hosts.n; i++)
		for (unsigned k = 0; k < j->hosts.host[i].ranks; k++)
			j->rank[j->hosts.host[i].first + k].host = &j->hosts.host[i];
}

/* One that other jobs at the same hosts do not have. */
static void name_job(struct vpr_job *j)
{
	char here[33] = "";

	if (j->o->hosts == NULL) {
		snprintf(j->name, sizeof j->name, "run-%d", (int)getpid());
		return;
	}
	(void)gethostname(here, sizeof here - 1);
	snprintf(j->name, sizeof j->name, "run-%d.%s", (int)getpid(), here);
	vpr_job_name(j->name);
}

static int open_job(struct vpr_job *j)
{
	int code = j->o->hosts != NULL ? vpr_hosts_open(&j->hosts, j->o) : vpr_hosts_here(&j->hosts, j->o->ranks);

	if (code != VPR_OK)
		return code;
	name_job(j);
	code = vpr_key_make(j->key);
	if (code != VPR_OK)
		return code;
	j->rank = calloc(j->o->ranks, sizeof *j->rank);
	j->poll = calloc(2 + 3 * (size_t)j->o->ranks, sizeof *j->poll);
	if (j->rank == NULL || j->poll == NULL) {
		fprintf(stderr, "vp-run: out of memory\n");
		return VPR_FAILED;
	}
	for (unsigned i = 0; i < j->o->ranks; i++) {
		struct vpr_rank *r = &j->rank[i];

		r->out.fd = r->err.fd = r->say = r->tell = -1;
	}
	return VPR_OK;
}

static void free_job(struct vpr_job *j)
{
	for (unsigned i = 0; j->rank != NULL && i < j->n; i++) {
		if (j->rank[i].say >= 0)
			close(j->rank[i].say);
		free(j->rank[i].out.text);
		free(j->rank[i].err.text);
		free(j->rank[i].far_out.text);
		free(j->rank[i].far_err.text);
	}
	free(j->rank);
	free(j->poll);
	vpr_hosts_close(&j->hosts);
}

/* 1: this is a rank; XK_OK: all have ended; an error: not all have begun. */
static int run(struct vpr_job *j)
{
	int err = XK_OK;

	if (j->o->check_only)
		return vpr_tell(j->o, 0, j->o->ranks, "check", j->hosts.peers) == XK_OK ? 1 : XK_E_NOMEM;
	if (j->hosts.n != 0)
		name_hosts(j);
	else
		err = begin_here(j);
	if (err == 1) {
		j->n = 0;                /* what has been read of others is nothing yet */
		return err;
	}
	attend(j);
	if (j->o->json && err == XK_OK)
		vpr_lines_json(j);
	return err;
}

int vpr_ranks(struct vpr *o)
{
	struct vpr_job j = { .o = o, .over = { .code = VPR_OK } };
	int code = open_job(&j), err;

	if (code != VPR_OK) {
		free_job(&j);
		return code;
	}
	err = run(&j);
	free_job(&j);
	if (err == 1)
		return VPR_RANK;
	if ((fflush(stdout) != 0 || ferror(stdout)) && j.over.code == VPR_OK) {
		fprintf(stderr, "vp-run: cannot write the output\n");
		j.over.code = VPR_FAILED;
	}
	return j.over.code;
}
