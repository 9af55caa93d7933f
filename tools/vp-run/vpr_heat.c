/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpr_heat.c - how many messages of each virtual processor each worker, or simulated processor, ran: a picture and
 * a line of the table.
 *
 * vp-bench's figures are drawn by the same module and by gnuplot (tools/vp-bench/bench_cells.c).
 * Invariant: a run that nobody asks for it counts nothing.
 */
#include "tools/vp-run/vpr.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/vp-bench/bench.h"

char *vpr_folder(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == NULL ? strdup(".") : slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
}

/* Can a file be made there, as it will be: beside, and renamed?  0, or an errno. */
static int place_fault(const char *path)
{
	char *folder = vpr_folder(path);
	struct stat st;
	int fault = 0;

	if (folder == NULL)
		return ENOMEM;
	if (*path == '\0')
		fault = ENOENT;
	else if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		fault = S_ISDIR(st.st_mode) ? EISDIR : 0;
	else if (access(folder, W_OK | X_OK) != 0)
		fault = errno;
	free(folder);
	return fault;
}

int vpr_heat_ask(const struct vpr *o, const struct xk_graph *g, struct xk_errs *e)
{
	int fault;

	if (o->heat == NULL)
		return VPR_OK;
	fault = place_fault(o->heat);
	if (fault == 0 && xk_vpset_heat(g->vps) != XK_OK)
		fault = ENOMEM;
	if (fault == 0)
		return VPR_OK;
	xk_errs_add(e, NULL, 0, 0, "option --heat: '%s': %s", o->heat, strerror(fault));
	return VPR_FAILED;
}

/* The cells without the column of other threads, where these ran nothing: *columns. */
static uint64_t *cells_drawn(const struct xk_run_heat *h, unsigned *columns)
{
	const struct xk_heat_shape *s = &h->shape;
	unsigned all = s->columns + 1;
	uint64_t others = 0, *to;

	for (unsigned r = 0; r < s->rows; r++)
		others += h->cell[(size_t)r * all + s->columns];
	*columns = s->columns + (others != 0);
	to = malloc((size_t)s->rows * *columns * sizeof *to);
	for (unsigned r = 0; to != NULL && r < s->rows; r++)
		memcpy(to + (size_t)r * *columns, h->cell + (size_t)r * all, *columns * sizeof *to);
	return to;
}

static char *draw(const struct xk_run_result *r, char *why, size_t n)
{
	const struct xk_heat_shape *s = &r->heat.shape;
	const char *who = s->processors ? "processor" : "worker";
	struct bench_cells b = { .ylabel = "virtual processor", .zlabel = "share of its messages", .rows = s->rows,
				 .row_of = s->per_row, .column_of = s->per_column };
	uint64_t *count = cells_drawn(&r->heat, &b.columns);
	char xlabel[80], title[200], *svg;

	if (count == NULL)
		return NULL;
	snprintf(title, sizeof title, "%s, %s%s", r->graph->name, r->graph->vps->arch.name,
		 r->is_virtual ? ", simulated" : "");
	snprintf(xlabel, sizeof xlabel, b.columns > s->columns ? "%s (last: threads that are none)" : "%s", who);
	b.title = title;
	b.xlabel = xlabel;
	b.count = count;
	svg = bench_cells_svg(&b, "heat", why, n);
	free(count);
	return svg;
}

int vpr_heat_draw(const struct vpr *o, const struct xk_run_result *r)
{
	char why[4400] = "out of memory", *svg;
	int code = VPR_FAILED;

	if (r->heat.cell == NULL)
		return VPR_OK;
	fflush(stdout);
	svg = draw(r, why, sizeof why);
	if (svg == NULL)
		fprintf(stderr, "vp-run: no figure: %s\n", why);
	else if (bench_text_save(svg, o->heat, why, sizeof why) == BENCH_OK)
		code = VPR_OK;
	else
		fprintf(stderr, "vp-run: cannot write '%s': %s\n", o->heat, why);
	free(svg);
	return code;
}

void vpr_heat_line(FILE *f, const struct xk_run_heat *h)
{
	const struct xk_heat_shape *s = &h->shape;
	struct xk_run_heat_sum sum;
	double share;

	if (h->cell == NULL)
		return;
	xk_run_heat_sum(h, &sum);
	share = sum.all != 0 ? (double)sum.most / (double)sum.all : 0;
	fprintf(f, "heat: %u virtual processor%s on %u %s%s", s->vps, s->vps != 1 ? "s" : "", s->runners,
		s->processors ? "processor" : "worker", s->runners != 1 ? "s" : "");
	if (s->per_row > 1 || s->per_column > 1)
		fprintf(f, " (counted by %u and %u)", s->per_row, s->per_column);
	fprintf(f, ": %u of %u that ran did so on one alone; %.1f %% of %llu messages on the one that ran most\n",
		sum.alone, sum.rows, 100 * share, (unsigned long long)sum.all);
}
