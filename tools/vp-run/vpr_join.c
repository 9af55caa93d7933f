/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpr_join.c - vp-run --join: a rank that others started, by what their launchers say in the environment.
 */
#include "tools/vp-run/vpr_job.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
		return vpr_tell(o, rank, ranks, job_name(who[i].job, who[i].step, job, sizeof job), NULL) == XK_OK ? VPR_OK : VPR_FAILED;
	}
	fprintf(stderr, "vp-run: option --join: nobody has said which rank this is: neither OMPI_COMM_WORLD_RANK and _SIZE "
		"nor PMI_RANK and PMI_SIZE nor SLURM_PROCID and SLURM_NTASKS are set\n");
	return VPR_USAGE;
}
