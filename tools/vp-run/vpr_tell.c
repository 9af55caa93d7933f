/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpr_tell.c - what a rank is told by whoever starts it: arguments of its graph file, and its processors.
 *
 * rank and ranks a file must declare; job and peers are offered, and it may not know them.
 * Invariant: what the user has given himself is not offered.
 */
#include "tools/vp-run/vpr_job.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

static bool given(const struct vpr *o, const char *name)
{
	size_t n = strlen(name);

	for (unsigned i = 0; i < o->narg; i++)
		if (strncmp(o->arg[i], name, n) == 0 && o->arg[i][n] == '=')
			return true;
	return false;
}

/* Before the others: a file need not declare it. */
static void offer(struct vpr *o, const char *name, const char *arg)
{
	if (given(o, name))
		return;
	memmove(o->arg + 1, o->arg, o->narg * sizeof o->arg[0]);
	o->arg[0] = arg;
	o->narg++;
	o->offered++;
}

void vpr_job_name(char *name)
{
	for (; *name != '\0'; name++)
		if (strchr("/@ ", *name) != NULL)
			*name = '-';
}

int vpr_tell(struct vpr *o, unsigned rank, unsigned ranks, const char *job, const char *peers)
{
	snprintf(o->rank_arg[0], sizeof o->rank_arg[0], "rank=%u", rank);
	snprintf(o->rank_arg[1], sizeof o->rank_arg[1], "ranks=%u", ranks);
	o->arg[o->narg++] = o->rank_arg[0];
	o->arg[o->narg++] = o->rank_arg[1];
	if (job != NULL) {
		snprintf(o->rank_arg[2], sizeof o->rank_arg[2], "job=%s", job);
		offer(o, "job", o->rank_arg[2]);
	}
	if (peers != NULL) {
		o->peers = malloc(strlen(peers) + sizeof "peers=");
		if (o->peers == NULL)
			return XK_E_NOMEM;
		strcpy(stpcpy(o->peers, "peers="), peers);
		offer(o, "peers", o->peers);
	}
	return XK_OK;
}

void vpr_share_processors(struct vpr *o, unsigned place, unsigned places)
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
	from = n >= places ? place * n / places : place % n;
	to = n >= places ? (place + 1) * n / places : from + 1;
	for (unsigned i = from; i < to; i++)
		at += (size_t)snprintf(o->rank_cpus + at, sizeof o->rank_cpus - at, "%s%u", i != from ? "," : "", cpu[i]);
	o->cpus = o->rank_cpus;
}
