/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpr_agent.c - stands on a host between a rank and the vp-run elsewhere that wants it (vpr_remote.c): starts it,
 * writes what it prints, says and how it ends in frames, and gives it the signals that are read as letters.
 *
 * Invariant: when the other side is gone the rank is ended, in order, or by force.
 */
#include "tools/vp-run/vpr_job.h"
#include "tools/vp-run/vpr_frame.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

struct agent {
	struct vpr_job  j;               /* of this rank alone */
	struct vpr_rank r;
	int             in, out;         /* from and to the other side; in: -1, it is gone */
	int64_t         kill_at;
};

static void gone(struct agent *a)
{
	if (a->in < 0)
		return;
	close(a->in);
	a->in = -1;
	a->kill_at = vpr_now_ms() + VPR_GRACE_MS;
	(void)kill(a->r.pid, SIGTERM);
}

static bool write_all(int fd, const char *text, size_t n)
{
	while (n != 0) {
		ssize_t some = write(fd, text, n);

		if (some < 0 && errno == EINTR)
			continue;
		if (some <= 0)
			return false;
		text += some;
		n -= (size_t)some;
	}
	return true;
}

static void frame(struct agent *a, char type, const char *text, size_t n)
{
	char head[FRAME_HEAD];

	frame_head(head, type, n);
	if (!write_all(a->out, head, sizeof head) || !write_all(a->out, text, n))
		gone(a);
}

static void pass_on(struct agent *a, struct vpr_pipe *p, char type)
{
	(void)vpr_pipe_read(p);
	while (p->n != 0) {
		size_t n = p->n < VPR_LINE_MOST ? p->n : VPR_LINE_MOST;

		frame(a, type, p->text, n);
		vpr_pipe_take(p, n);
	}
}

static void hear_letters(struct agent *a)
{
	char letter[16];
	ssize_t n = read(a->in, letter, sizeof letter);

	if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
		gone(a);
	for (ssize_t i = 0; i < n; i++)
		switch (letter[i]) {
		case 'i': (void)kill(a->r.pid, SIGINT); break;
		case 't': (void)kill(a->r.pid, SIGTERM); break;
		case 'u': (void)kill(a->r.pid, SIGUSR1); break;
		case 'k': (void)kill(a->r.pid, SIGKILL); break;
		case VPR_GO: vpr_go(a->r.say); break;
		default: break;
		}
}

static void pass_signal(const struct agent *a, int fd)
{
	struct signalfd_siginfo info;

	while (read(fd, &info, sizeof info) == (ssize_t)sizeof info)
		(void)kill(a->r.pid, (int)info.ssi_signo);
}

static void hear_state(struct agent *a)
{
	char state;

	if (read(a->r.say, &state, 1) == 1) {
		frame(a, FRAME_STATE, &state, 1);
		return;
	}
	close(a->r.say);
	a->r.say = -1;
}

static void attend(struct agent *a)
{
	struct vpr_rank *r = &a->r;

	while (r->out.fd >= 0 || r->err.fd >= 0) {
		struct pollfd p[] = {
			{ .fd = a->j.o->stop_fd, .events = POLLIN }, { .fd = a->j.o->ask_fd, .events = POLLIN },
			{ .fd = a->in, .events = POLLIN }, { .fd = r->out.fd, .events = POLLIN },
			{ .fd = r->err.fd, .events = POLLIN }, { .fd = r->say, .events = POLLIN },
		};
		int64_t left = vpr_left(a->kill_at);

		if (left == 0) {
			(void)kill(r->pid, SIGKILL);
			a->kill_at = 0;
			left = -1;
		}
		if (poll(p, XK_ARRAY_LEN(p), (int)left) < 0)
			continue;
		if (p[0].revents != 0)
			pass_signal(a, p[0].fd);
		if (p[1].revents != 0)
			pass_signal(a, p[1].fd);
		if (p[3].revents != 0)
			pass_on(a, &r->out, FRAME_OUT);
		if (p[4].revents != 0)
			pass_on(a, &r->err, FRAME_ERR);
		if (p[5].revents != 0)
			hear_state(a);
		if (p[2].revents != 0 && a->in >= 0)
			hear_letters(a);
	}
}

static int end(struct agent *a)
{
	struct vpr_end e = vpr_reap(a->r.pid);
	const char how[2] = { e.sig != 0 ? FRAME_SIGNAL : FRAME_CODE, (char)(e.sig != 0 ? e.sig : e.code) };

	frame(a, FRAME_END, how, sizeof how);
	free(a->r.out.text);
	free(a->r.err.text);
	return vpr_end_code(&e);
}

/* rank/ranks/place/places/job/peers, as vpr_remote.c writes it.  Cuts text. */
static bool place_of(char *text, struct vpr_place *at)
{
	int n = 0;
	char *job, *peers;

	if (sscanf(text, "%u/%u/%u/%u/%n", &at->rank, &at->ranks, &at->place, &at->places, &n) != 4 || n == 0)
		return false;
	job = text + n;
	peers = strchr(job, '/');
	if (peers == NULL || at->rank >= at->ranks || at->ranks > VPR_RANKS_MAX || at->place >= at->places ||
	    peers - job > (ptrdiff_t)VPR_JOB_MAX)
		return false;
	*peers++ = '\0';
	at->job = job;
	at->peers = peers;
	return true;
}

/* Our input and output are for the other side: the rank has neither. */
static bool take_ends(struct agent *a)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	a->in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	a->out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	return null >= 0 && a->in >= 0 && a->out >= 0 && dup2(null, STDIN_FILENO) >= 0 && close(null) == 0;
}

/* The other side's first line, filled up with blanks. */
static bool take_key(struct agent *a)
{
	char *key = a->j.key;
	size_t n = 0;

	while (n <= VPR_KEY) {
		ssize_t some = read(a->in, key + n, VPR_KEY + 1 - n);

		if (some == 0 || (some < 0 && errno != EINTR))
			return false;
		n += some > 0 ? (size_t)some : 0;
	}
	if (key[VPR_KEY] != '\n')
		return false;
	for (n = VPR_KEY + 1; n != 0 && (key[n - 1] == ' ' || key[n - 1] == '\n'); n--)
		key[n - 1] = '\0';
	return true;
}

int vpr_agent(struct vpr *o)
{
	struct agent a = { .j = { .o = o } };
	struct vpr_place at;
	int err;

	if (!place_of(o->agent, &at)) {
		fprintf(stderr, "vp-run: option --agent: it is for vp-run itself, which uses it on other hosts\n");
		return VPR_USAGE;
	}
	if (!take_ends(&a)) {
		fprintf(stderr, "vp-run: cannot take my input and output: %s\n", strerror(errno));
		return VPR_FAILED;
	}
	if (!take_key(&a)) {
		fprintf(stderr, "vp-run: no key has come from who has started me\n");
		return VPR_FAILED;
	}
	at.key = a.j.key;
	a.j.rank = &a.r;
	err = vpr_rank_begin(&a.j, &a.r, &at);
	if (err == 1) {
		close(a.in);
		close(a.out);
		return VPR_RANK;
	}
	if (err != XK_OK) {
		fprintf(stderr, "vp-run: cannot start: %s\n", xk_strerror(err));
		return VPR_FAILED;
	}
	(void)signal(SIGPIPE, SIG_IGN);
	if (!write_all(a.out, FRAME_HELLO, FRAME_HELLO_LEN))
		gone(&a);
	attend(&a);
	return end(&a);
}
