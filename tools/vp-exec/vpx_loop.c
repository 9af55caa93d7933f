/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpx_loop.c - what happens: calls of programs, pairs that have bytes or room, sockets of the graph, signals.
 *
 * One thread waits by epoll for all of it; a stack's sockets are one set with one descriptor.  Before it sleeps
 * every set is asked once more, so nothing that came in between is missed.
 */
#include "tools/vp-exec/vpx.h"

#include "runtime/base/xk_clock.h"

#include <errno.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum { EVENTS = 128, KIND_SHIFT = 60 };

int vpx_watch(int fd, uint32_t events, enum vpx_event kind, uint64_t i)
{
	struct epoll_event e = { .events = events, .data.u64 = (uint64_t)kind << KIND_SHIFT | i };

	return epoll_ctl(vpx.epoll, EPOLL_CTL_ADD, fd, &e) < 0 ? -errno : 0;
}

int vpx_loop_init(void)
{
	int err;

	vpx.epoll = epoll_create1(EPOLL_CLOEXEC);
	err = vpx.epoll < 0 ? -errno : vpx_watch(vpx.signals, EPOLLIN, VPX_SIGNAL, 0);

	return err != 0 ? err : vpx_watch(vpx.keeper, 0, VPX_KEEPER, 0);
}

void vpx_loop_fini(void)
{
	close(vpx.epoll);
	close(vpx.signals);
	close(vpx.keeper);
}

/* The terminal sends its signals to the programs, too; what somebody sends to vp-exec alone is theirs as well. */
static void take_signals(void)
{
	struct signalfd_siginfo s;

	while (read(vpx.signals, &s, sizeof s) == (ssize_t)sizeof s)
		if (s.ssi_signo != SIGCHLD && s.ssi_code != SI_KERNEL)
			vpx_programs_signal((int)s.ssi_signo);
	(void)vpx_programs_reap();
}

static void take_set(struct vpx_stack *st)
{
	struct xk_sock_ready r[EVENTS];
	int n;

	while ((n = xk_sock_set_wait(st->set, r, EVENTS, 0)) > 0)
		for (int i = 0; i < n; i++) {
			struct vpx_sock *v = vpx_sock_of_key(r[i].data);

			if (v != NULL)
				vpx_sock_soon(v);
		}
}

/* False: something has come already. */
static bool arm_sets(void)
{
	bool quiet = true;

	for (unsigned i = 0; i < vpx.nstacks; i++) {
		struct vpx_stack *st = &vpx.stack[i];
		int fd = xk_sock_set_arm(st->set);

		if (fd < 0) {
			take_set(st);
			quiet = false;
		} else if (!st->watched) {
			st->watched = vpx_watch(fd, EPOLLIN, VPX_STACK, i) == 0;
		}
	}
	return quiet;
}

static void happened(const struct epoll_event *e)
{
	uint64_t i = e->data.u64 & (((uint64_t)1 << KIND_SHIFT) - 1);
	struct vpx_sock *v;

	switch ((enum vpx_event)(e->data.u64 >> KIND_SHIFT)) {
	case VPX_SIGNAL: take_signals(); break;
	case VPX_KEEPER:         /* killed: nobody waits for us any more */
		vpx.over = vpx.broken = true;
		(void)epoll_ctl(vpx.epoll, EPOLL_CTL_DEL, vpx.keeper, NULL);
		break;
	case VPX_STACK: take_set(&vpx.stack[i]); break;
	case VPX_PROGRAM:
		if ((e->events & EPOLLIN) != 0)
			vpx_call_receive(&vpx.program[i]);
		else             /* nobody under its filter is left */
			(void)epoll_ctl(vpx.epoll, EPOLL_CTL_DEL, vpx.program[i].notify, NULL);
		break;
	case VPX_SOCKET:
		v = vpx_sock_of_key(i);
		if (v == NULL)
			break;
		v->hup |= (e->events & EPOLLHUP) != 0;
		vpx_sock_soon(v);
	}
}

static int sleep_ms(int ms, bool busy)
{
	uint64_t late = vpx_pending_late(), now = xk_clock_host(), left;

	if (busy)
		return 0;
	if (late == UINT64_MAX)
		return ms;
	left = late > now ? (late - now + XK_MS - 1) / XK_MS : 0;
	if (left > 60000)
		left = 60000;
	return ms < 0 || (int)left < ms ? (int)left : ms;
}

void vpx_loop_step(int ms)
{
	struct epoll_event e[EVENTS];
	bool quiet = arm_sets(), done = vpx_socks_turn();
	/* Pairs tell by edges: what this wait takes has to be looked at. */
	int n = epoll_wait(vpx.epoll, e, EVENTS, sleep_ms(ms, !quiet || !done));

	if (n < 0 && errno != EINTR && !vpx.over) {
		fprintf(stderr, "vp-exec: nothing can be waited for: %m\n");
		vpx.broken = vpx.over = true;
	}
	vpx.woken++;
	for (int i = 0; i < n; i++)
		happened(&e[i]);
	(void)vpx_socks_turn();
	vpx_programs_begin();
}
