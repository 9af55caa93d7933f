/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpr_join.c - vp-run --join: a rank that others started, by what their launchers say in the environment.
 */
#include "tools/vp-run/vpr_join.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Variables of a launcher; step: of those of one job that may run at a time; nodes: where ranks are, the first of 0. */
struct launcher { const char *rank, *ranks, *job, *step, *nodes; };
static const struct launcher launchers[] = {
	{ "VP_RANK", "VP_RANKS", "VP_JOB", NULL, NULL },
	{ "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMIX_NAMESPACE", NULL, NULL },
	{ "PMI_RANK", "PMI_SIZE", "PMI_JOBID", NULL, NULL },
	{ "SLURM_PROCID", "SLURM_NTASKS", "SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_STEP_NODELIST" },
	{ "SLURM_PROCID", "SLURM_NTASKS", "SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_JOB_NODELIST" },
	{ "SLURM_PROCID", "SLURM_NTASKS", "SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_NODELIST" },
};

static const char *value_of(const char *name)
{
	const char *text = name != NULL ? getenv(name) : NULL;

	return text != NULL ? text : "";
}

static bool number_of(const char *name, unsigned *v)
{
	const char *text = value_of(name);
	char *end;
	unsigned long n;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	n = strtoul(text, &end, 10);
	*v = (unsigned)n;
	return *end == '\0' && errno == 0 && n <= VPR_RANKS_MAX;
}

static void name_job(const struct launcher *l, char buf[VPR_JOB_MAX + 1])
{
	const char *job = value_of(l->job), *step = value_of(l->step);

	*buf = '\0';
	if (*job != '\0')
		snprintf(buf, VPR_JOB_MAX + 1, "%s%s%s", job, *step != '\0' ? "." : "", step);
	vpr_job_name(buf);
}

/* Slurm's way to write hosts: a[01-03,7]b,c; the first of them is a01b. */
static void first_node(const char *list, char *buf, size_t room)
{
	size_t n = 0;

	for (; *list != '\0' && *list != ',' && n + 1 < room; list++) {
		if (*list != '[') {
			buf[n++] = *list;
			continue;
		}
		for (list++; *list != '\0' && strchr("-,]", *list) == NULL && n + 1 < room; list++)
			buf[n++] = *list;
		while (*list != '\0' && *list != ']')
			list++;
		if (*list == '\0')
			break;
	}
	buf[n] = '\0';
}

static bool ask(struct vpr_who *who)
{
	bool found = false;

	for (unsigned i = 0; i < XK_ARRAY_LEN(launchers); i++) {
		const struct launcher *l = &launchers[i];

		if (found && (l->nodes == NULL || who->root[0] != '\0'))
			break;
		if (!number_of(l->rank, &who->rank) || !number_of(l->ranks, &who->ranks) || who->rank >= who->ranks)
			continue;
		found = true;
		name_job(l, who->job);
		first_node(value_of(l->nodes), who->root, sizeof who->root);
		if (l->nodes == NULL)
			break;
	}
	return found;
}

/* HOST:PORT, or :PORT where the launcher says the host.  Cuts text. */
static int place_of(char *text, struct vpr_who *who, uint16_t *port)
{
	char *colon = strrchr(text, ':'), *end = NULL;
	unsigned long n = colon != NULL && colon[1] >= '0' && colon[1] <= '9' ? strtoul(colon + 1, &end, 10) : 0;

	if (n == 0 || n > 65535 || *end != '\0' || (size_t)(colon - text) >= sizeof who->root) {
		fprintf(stderr, "vp-run: option --join: '%.80s' is not ROOT:PORT, where rank 0 is\n", text);
		return VPR_USAGE;
	}
	*port = (uint16_t)n;
	*colon = '\0';
	if (*text != '\0')
		snprintf(who->root, sizeof who->root, "%s", text);
	if (who->root[0] != '\0')
		return VPR_OK;
	fprintf(stderr, "vp-run: option --join: nobody has said where rank 0 is: say --join=ROOT:%lu\n", n);
	return VPR_USAGE;
}

/* Ranks that do not look for each other; or the one that a check is of. */
static int alone(struct vpr *o, const struct vpr_who *who)
{
	struct vpr_hosts here = { .n = 0 };
	const char *job = who->job[0] != '\0' ? who->job : NULL;
	int code = o->join_at != NULL ? vpr_hosts_here(&here, who->ranks) : VPR_OK;

	if (code == VPR_OK && vpr_tell(o, who->rank, who->ranks, job, here.peers) != XK_OK) {
		fprintf(stderr, "vp-run: out of memory\n");
		code = VPR_FAILED;
	}
	vpr_hosts_close(&here);
	return code == VPR_OK ? VPR_RANK : code;
}

int vpr_join(struct vpr *o)
{
	struct vpr_who who = { .rank = 0 };
	uint16_t port = 0;
	int code = VPR_OK;

	if (!ask(&who)) {
		fprintf(stderr, "vp-run: option --join: nobody has said which rank this is: neither VP_RANK and VP_RANKS nor "
			"OMPI_COMM_WORLD_RANK and _SIZE nor PMI_RANK and PMI_SIZE nor SLURM_PROCID and SLURM_NTASKS are set\n");
		return VPR_USAGE;
	}
	if (!vpr_key_given(who.key))
		return VPR_USAGE;
	if (o->join_at != NULL)
		code = place_of(o->join_at, &who, &port);
	if (code != VPR_OK)
		return code;
	return o->join_at == NULL || o->check_only ? alone(o, &who) : vpr_joined(o, &who, who.root, port);
}
