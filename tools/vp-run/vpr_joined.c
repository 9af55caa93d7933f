/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpr_joined.c - a rank that others started, and what stands before it: this process keeps its connection to the other
 * ranks, its child runs the graph.
 *
 * What is so with vp-run -n is so here: ranks that have finished go on until all have, and one that fails ends the
 * others.  The root decides; each other one tells it, and is told.
 * Invariant: the rank does not outlive this process, nor this process long the root.
 */
#include "tools/vp-run/vpr_meet.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define KILLED 128                       /* and a signal, where a code is said: that of a rank is far below */

struct joined {
	struct vpr_meet m;
	pid_t           pid;             /* of the rank; 0: no more */
	int             say;             /* what it says, or -1 */
	char            state;
	bool            ready, started;  /* our graph is up; all are */
	int64_t         ready_by;        /* ms, the root's: for all to be up */
	bool            root;
	struct vpr_over over;            /* the root: that of all; others: of our rank */
};

/* ---- the end of all ---------------------------------------------------------------------------------- */

static void end_all(struct joined *j, bool quiet)
{
	char word = JOIN_END;

	if (!vpr_over_begin(&j->over, quiet))
		return;
	if (j->pid > 0)
		(void)kill(j->pid, SIGTERM);
	for (unsigned i = 0; j->root && i < j->m.nlinks; i++)
		if (j->m.link[i].fd >= 0)
			(void)send(j->m.link[i].fd, &word, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void failed(struct joined *j, int code)
{
	if (j->over.code == VPR_OK)
		j->over.code = code;
	end_all(j, true);
}

/* Not the connection: its rank, or the root. */
static void hang_up(struct vpr_link *l)
{
	close(l->fd);
	l->fd = -1;
}

static void lost(struct joined *j, unsigned i, const char *how)
{
	hang_up(&j->m.link[i]);
	if (!j->over.quiet && (j->root || !j->over.ending)) {
		fprintf(stderr, "vp-run: rank %u at %s %s\n", i, inet_ntoa(j->m.link[i].addr), how);
		failed(j, VPR_FAILED);
	}
}

static void judge(struct joined *j, unsigned i, const struct vpr_end *e)
{
	if (!vpr_over_failed(&j->over, e, j->m.o->duration != NULL))
		return;
	fprintf(stderr, "vp-run: rank %u at %s", i, inet_ntoa(j->m.addr[i]));
	vpr_end_say(e, "");
	failed(j, vpr_end_code(e));
}

static void end_finished(struct joined *j)
{
	bool any = j->state == JOIN_FINISHED;

	if (!j->root || (j->pid > 0 && j->state == 0))
		return;
	for (unsigned i = 1; i < j->m.nlinks; i++) {
		if (j->m.link[i].fd >= 0 && j->m.link[i].state == 0)
			return;
		any |= j->m.link[i].state == JOIN_FINISHED;
	}
	if (any)
		end_all(j, false);
}

/* The root, when the graphs of all that have not ended are up. */
static void go_on(struct joined *j)
{
	char word = JOIN_GO;

	if (!j->root || j->started || (j->pid > 0 && !j->ready))
		return;
	for (unsigned i = 1; i < j->m.nlinks; i++)
		if (j->m.link[i].fd >= 0 && !j->m.link[i].ready)
			return;
	j->started = true;
	vpr_go(j->say);
	for (unsigned i = 1; i < j->m.nlinks; i++)
		if (j->m.link[i].fd >= 0)
			(void)send(j->m.link[i].fd, &word, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Not all are up in time: ms until then, or -1. */
static int64_t late(struct joined *j)
{
	int64_t left = j->root && !j->started && !j->over.ending ? vpr_left(j->ready_by) : -1;

	if (left != 0)
		return left;
	if (j->pid > 0 && !j->ready)
		fprintf(stderr, "vp-run: rank 0 did not come up in %s\n", j->m.o->within);
	for (unsigned i = 1; i < j->m.nlinks; i++)
		if (j->m.link[i].fd >= 0 && !j->m.link[i].ready)
			fprintf(stderr, "vp-run: rank %u at %s did not come up in %s\n", i, inet_ntoa(j->m.link[i].addr), j->m.o->within);
	failed(j, VPR_FAILED);
	return -1;
}

/* ---- what is said -------------------------------------------------------------------------------------- */

/* As ended() says it. */
static struct vpr_end end_of(unsigned char code)
{
	return (struct vpr_end){ .known = true, .code = code, .sig = code > KILLED ? code - KILLED : 0 };
}

static bool root_hears(struct joined *j, unsigned i, char c)
{
	struct vpr_link *l = &j->m.link[i];
	const struct vpr_end e = end_of((unsigned char)c);

	if (l->code_next) {
		hang_up(l);
		judge(j, i, &e);
	} else if (c == JOIN_FINISHED || c == JOIN_NO_APP) {
		l->state = c;
	} else if (c == JOIN_UP) {
		l->ready = true;
	} else if (c == JOIN_ENDED) {
		l->code_next = true;
	} else {
		return false;
	}
	return true;
}

static void hear_link(struct joined *j, unsigned i)
{
	struct vpr_link *l = &j->m.link[i];
	char said[16];
	ssize_t n = recv(l->fd, said, sizeof said, MSG_DONTWAIT);

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) {
		lost(j, i, "is lost");
		return;
	}
	for (ssize_t k = 0; k < n && l->fd >= 0; k++)
		if (!j->root && said[k] == JOIN_END)
			end_all(j, false);
		else if (!j->root && said[k] == JOIN_GO)
			vpr_go(j->say);
		else if (!j->root || !root_hears(j, i, said[k]))
			lost(j, i, "says what no rank does");
}

static void say_root(const struct joined *j, const char *what, size_t n)
{
	if (!j->root && j->m.link[0].fd >= 0)
		(void)send(j->m.link[0].fd, what, n, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Our rank has ended.  The root hangs up when it has heard. */
static void ended(struct joined *j)
{
	const struct vpr_end e = vpr_reap(j->pid);
	const char what[2] = { JOIN_ENDED, (char)(e.sig != 0 ? KILLED + e.sig : e.code) };

	j->pid = 0;
	if (j->root) {
		judge(j, 0, &e);
		return;
	}
	say_root(j, what, sizeof what);
	if (e.sig != 0)
		fprintf(stderr, "vp-run: rank %u was killed by signal %d\n", j->m.who->rank, e.sig);
	if (vpr_over_failed(&j->over, &e, false) && j->over.code == VPR_OK)
		j->over.code = vpr_end_code(&e);
	j->over.ending = true;
	j->over.kill_at = vpr_now_ms() + VPR_FORCE_MS;
	if (j->m.link[0].fd >= 0)
		(void)shutdown(j->m.link[0].fd, SHUT_WR);
}

static void hear_rank(struct joined *j)
{
	char c;

	if (read(j->say, &c, 1) > 0) {
		if (c == VPR_UP)
			j->ready = true;
		else
			j->state = c;
		say_root(j, &c, 1);
		return;
	}
	close(j->say);
	j->say = -1;
	ended(j);
}

static void pass_signal(struct joined *j, int fd, bool stop)
{
	struct signalfd_siginfo info;

	while (read(fd, &info, sizeof info) == (ssize_t)sizeof info)
		if (j->pid > 0)
			(void)kill(j->pid, (int)info.ssi_signo);
	if (stop && j->root) {
		end_all(j, false);
	} else if (stop) {
		j->over.told = true;
		j->over.kill_at = j->over.kill_at != 0 ? j->over.kill_at : vpr_now_ms() + VPR_GRACE_MS;
	}
}

/* ---- the loop ---------------------------------------------------------------------------------------------- */

/* It is time: first for the rank, then for whoever has not hung up. */
static void force(struct joined *j)
{
	bool first = !j->over.forced;

	j->over.forced = true;
	j->over.kill_at = j->root && first ? vpr_now_ms() + VPR_FORCE_MS : 0;
	if (j->pid > 0)
		(void)kill(j->pid, SIGKILL);
	if (j->root ? first : j->pid > 0)
		return;
	for (unsigned i = 0; i < j->m.nlinks; i++) {
		if (j->m.link[i].fd < 0)
			continue;
		hang_up(&j->m.link[i]);
		if (!j->root)
			continue;
		fprintf(stderr, "vp-run: rank %u at %s does not end\n", i, inet_ntoa(j->m.link[i].addr));
		j->over.code = j->over.code != VPR_OK ? j->over.code : VPR_FAILED;
	}
}

static bool busy(const struct joined *j)
{
	if (j->pid > 0)
		return true;
	for (unsigned i = 0; i < j->m.nlinks; i++)
		if (j->m.link[i].fd >= 0)
			return true;
	return false;
}

static void attend(struct joined *j)
{
	struct pollfd *p = j->m.poll, *links = p + VPR_MEET_OWN;
	int64_t wait, left;

	end_finished(j);
	while (busy(j)) {
		unsigned n = VPR_MEET_OWN + vpr_meet_watch(&j->m, links, &wait);

		go_on(j);
		wait = vpr_least(wait, late(j));
		left = vpr_left(j->over.kill_at);
		if (left == 0) {
			force(j);
			continue;
		}
		p[0] = (struct pollfd){ .fd = j->m.o->stop_fd, .events = POLLIN };
		p[1] = (struct pollfd){ .fd = j->m.o->ask_fd, .events = POLLIN };
		p[2] = (struct pollfd){ .fd = j->say, .events = POLLIN };
		if (poll(p, n, (int)vpr_least(left, wait)) < 0)
			continue;
		for (unsigned i = 0; i < j->m.nlinks; i++)
			if (j->m.link[i].fd >= 0 && links[i].revents != 0)
				hear_link(j, i);
		if (p[2].revents != 0)
			hear_rank(j);
		if (p[0].revents != 0)
			pass_signal(j, p[0].fd, true);
		if (p[1].revents != 0)
			pass_signal(j, p[1].fd, false);
		if (j->root)
			vpr_door_look(&j->m.door, links + j->m.nlinks);
		end_finished(j);
	}
}

/* ---- the rank -------------------------------------------------------------------------------------------------- */

/* Its place among those at its own address. */
static void place(const struct vpr_meet *m, unsigned *at, unsigned *of)
{
	*at = *of = 0;
	for (unsigned i = 0; i < m->who->ranks; i++)
		if (m->addr[i].s_addr == m->addr[m->who->rank].s_addr) {
			*at += i < m->who->rank;
			++*of;
		}
}

static int become(struct joined *j, pid_t parent, int say)
{
	const struct vpr_who *who = j->m.who;
	char job[VPR_JOB_MAX + 1], *peers = calloc(who->ranks, VPR_ADDR);
	size_t n = 0;
	unsigned at, of;

	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(VPR_FAILED);
	snprintf(job, sizeof job, "join-%s-%u", inet_ntoa(j->m.root), j->m.port);
	for (unsigned i = 0; peers != NULL && i < who->ranks; i++)
		n += (size_t)sprintf(peers + n, "%s%s", i != 0 ? "," : "", inet_ntoa(j->m.addr[i]));
	if (peers == NULL || vpr_key_tell(j->m.key) != XK_OK || vpr_tell(j->m.o, who->rank, who->ranks, who->job[0] != '\0' ? who->job : job, peers) != XK_OK) {
		fprintf(stderr, "vp-run: out of memory\n");
		_exit(VPR_FAILED);
	}
	free(peers);
	place(&j->m, &at, &of);
	vpr_share_processors(j->m.o, at, of);
	j->m.o->finished_fd = say;
	return VPR_RANK;
}

static int begin(struct joined *j)
{
	pid_t parent = getpid();
	int pipe[2];

	j->ready_by = vpr_now_ms() + j->m.o->within_ms;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pipe) == 0) {
		j->pid = fork();
		if (j->pid == 0) {
			close(pipe[0]);
			return become(j, parent, pipe[1]);
		}
		close(pipe[1]);
		if (j->pid > 0) {
			j->say = pipe[0];
			return VPR_OK;
		}
		close(pipe[0]);
	}
	fprintf(stderr, "vp-run: cannot start rank %u: %s\n", j->m.who->rank, strerror(errno));
	return VPR_FAILED;
}

static int find_root(struct vpr_meet *m, const char *host)
{
	int err = vpr_host_find(host, &m->root);

	if (err == 0)
		return VPR_OK;
	fprintf(stderr, "vp-run: option --join: no IPv4 address of host %s: %s\n", host, gai_strerror(err));
	return VPR_USAGE;
}

static int make(struct joined *j, uint16_t port)
{
	struct vpr_meet *m = &j->m;

	m->port = port;
	m->nlinks = j->root ? m->who->ranks : 1;
	m->link = calloc(m->nlinks, sizeof *m->link);
	m->addr = calloc(m->who->ranks, sizeof *m->addr);
	m->poll = calloc(VPR_MEET_OWN + 1 + DOOR_GUESTS + (size_t)m->nlinks, sizeof *m->poll);
	m->door = (struct vpr_door){ .fd = -1, .who = m->who, .link = m->link };
	for (unsigned i = 0; m->link != NULL && i < m->nlinks; i++)
		m->link[i].fd = -1;
	if (m->link != NULL && m->addr != NULL && m->poll != NULL)
		return VPR_OK;
	fprintf(stderr, "vp-run: out of memory\n");
	return VPR_FAILED;
}

static void unmake(struct joined *j)
{
	struct vpr_meet *m = &j->m;

	vpr_door_close(&m->door);
	for (unsigned i = 0; m->link != NULL && i < m->nlinks; i++)
		if (m->link[i].fd >= 0)
			hang_up(&m->link[i]);
	free(m->link);
	free(m->addr);
	free(m->poll);
}

int vpr_joined(struct vpr *o, const struct vpr_who *who, const char *host, uint16_t port)
{
	struct joined j = { .m = { .o = o, .who = who }, .say = -1, .root = who->rank == 0 };
	int code = make(&j, port);

	if (code == VPR_OK)
		code = find_root(&j.m, host);
	if (code == VPR_OK)
		code = vpr_meet(&j.m);
	if (code == VPR_OK)
		code = begin(&j);
	if (code == VPR_OK) {
		attend(&j);
		code = j.over.code;
	} else if (code == VPR_FAILED && j.root) {
		end_all(&j, true);
	}
	unmake(&j);
	return code;
}
