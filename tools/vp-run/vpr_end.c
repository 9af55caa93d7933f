/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpr_end.c - how a rank has ended, and what that is for its job; times until something is to be done.
 *
 * Invariant: vp-run -n, --hosts and --join=ROOT:PORT judge by the same rule.
 */
#include "tools/vp-run/vpr_job.h"

#include <errno.h>
#include <sys/wait.h>

int64_t vpr_now_ms(void)
{
	return (int64_t)(xk_clock_host() / XK_MS);
}

int64_t vpr_left(int64_t at)
{
	int64_t left = at - vpr_now_ms();

	if (at == 0)
		return -1;
	return left > 0 ? left : 0;
}

int64_t vpr_least(int64_t a, int64_t b)
{
	return a < 0 || (b >= 0 && b < a) ? b : a;
}

struct vpr_end vpr_reap(pid_t pid)
{
	struct vpr_end e = { .known = true };
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	*(WIFSIGNALED(status) ? &e.sig : &e.code) = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
	return e;
}

int vpr_end_code(const struct vpr_end *e)
{
	return e->sig == 0 ? e->code : VPR_FAILED;
}

void vpr_end_say(const struct vpr_end *e, const char *what)
{
	fprintf(stderr, e->sig != 0 ? " %swas killed by signal %d\n" : " %sended with code %d\n", what,
		e->sig != 0 ? e->sig : e->code);
}

bool vpr_over_begin(struct vpr_over *x, bool quiet)
{
	x->quiet |= quiet;
	x->told |= !quiet;
	if (x->ending)
		return false;
	x->ending = true;
	x->kill_at = vpr_now_ms() + VPR_GRACE_MS;
	return true;
}

bool vpr_over_failed(struct vpr_over *x, const struct vpr_end *e, bool timed)
{
	bool good = e->sig == 0 && (e->code == VPR_OK || (x->told && e->code == VPR_FAILED));

	x->told |= good && timed;        /* its time was over; so will that of others be */
	return !good && !x->quiet;
}
