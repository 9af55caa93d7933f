/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_figures.c - which figures a bench's part has, and what is in them.
 *
 * Metrics of one family (thread_rate.max, thread_rate.p50) share a figure, the
 * bench's own metric first.  x is the bench's x axis, a line is a value of its series
 * axis (times a metric of the family), and each combination of the other axes has a
 * figure of its own.  Where x has a single value the points themselves stand on the
 * axis.  Other people's numbers in the same unit stand beside ours, dashed; where
 * they are lines, a second figure has each line as a share of its own highest point,
 * since it is shapes that a machine of another decade can be held to.
 * Invariant: a line has its points in the order of x.
 */
#include "tools/vp-bench/bench_report.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FACETS  16u
#define METRICS 16u

struct view {
	const json_t *part;
	const char   *x, *series;                     /* axes; NULL: none */
	const char   *metric[METRICS], *unit;
	size_t        nmetrics;
	bool          lower;
};

static const char *value(const json_t *at, const char *axis)
{
	return axis ? bench_text(at, axis) : "";
}

static bool is_number(const char *s, double *v)
{
	char *end;

	*v = strtod(s, &end);
	return end != s && *end == '\0' && isfinite(*v);
}

/* ---- facets --------------------------------------------------------------------------- */

/* The axes that are neither x nor series, as a text: what a figure keeps fixed. */
static void facet_of(const struct view *w, const json_t *at, char *buf, size_t n)
{
	const char *name;
	size_t used = 0;
	json_t *v;

	buf[0] = '\0';
	json_object_foreach((json_t *)at, name, v)
		if (strcmp(name, w->x ? w->x : "") != 0 && strcmp(name, w->series ? w->series : "") != 0 && used < n)
			used += (size_t)snprintf(buf + used, n - used, "%s%s=%s", used ? " " : "", name,
						 json_string_value(v) ? json_string_value(v) : "?");
}

static size_t facets(const struct view *w, char (*list)[200])
{
	const json_t *p;
	size_t i, n = 0;

	json_array_foreach(json_object_get(w->part, "points"), i, p) {
		char text[200];
		size_t k = 0;

		facet_of(w, json_object_get(p, "at"), text, sizeof text);
		while (k < n && strcmp(list[k], text) != 0)
			k++;
		if (k == n && n < FACETS)
			snprintf(list[n++], sizeof list[0], "%s", text);
	}
	return n;
}

static bool in_facet(const struct view *w, const json_t *point, const char *facet)
{
	char text[200];

	facet_of(w, json_object_get(point, "at"), text, sizeof text);
	return strcmp(text, facet) == 0;
}

/* ---- the x axis -------------------------------------------------------------------------- */

static size_t tic_of(struct bench_plot *p, const char *text)
{
	size_t i = 0;

	while (i < p->ntics && strncmp(p->tic_text[i], text, sizeof p->tic_text[i] - 1) != 0)
		i++;
	if (i == p->ntics && p->ntics < PLOT_POINTS) {
		snprintf(p->tic_text[i], sizeof p->tic_text[i], "%.59s", text);
		p->tic[i] = (double)i;
		p->ntics++;
	}
	return i;
}

static void sort_tics(struct bench_plot *p)
{
	for (size_t i = 1; i < p->ntics; i++)
		for (size_t k = i; k > 0 && p->tic[k - 1] > p->tic[k]; k--) {
			char text[sizeof p->tic_text[0]];
			double v = p->tic[k];

			p->tic[k] = p->tic[k - 1];
			p->tic[k - 1] = v;
			memcpy(text, p->tic_text[k], sizeof text);
			memcpy(p->tic_text[k], p->tic_text[k - 1], sizeof text);
			memcpy(p->tic_text[k - 1], text, sizeof text);
		}
}

/* Numbers stand where they are, on a scale of doublings when they are far apart. */
static void scale_x(struct bench_plot *p)
{
	double v[PLOT_POINTS];
	bool all = p->ntics > 1;

	for (size_t i = 0; all && i < p->ntics; i++)
		all = is_number(p->tic_text[i], &v[i]);
	if (!all)
		return;
	memcpy(p->tic, v, p->ntics * sizeof *v);
	sort_tics(p);
	p->xlog = p->tic[0] > 0 && p->ntics >= 3 && p->tic[p->ntics - 1] / p->tic[0] >= 16;
}

/* Where a point stands: the x axis, or itself. */
static const char *place(const struct view *w, const json_t *at, bool by_point, char *buf, size_t n)
{
	if (!by_point)
		return value(at, w->x);
	bench_at_text(at, buf, n);
	return buf;
}

static bool lay_x(const struct view *w, struct bench_plot *p, const char *facet, bool by_point)
{
	const json_t *point;
	char buf[200];
	size_t i;

	p->ntics = 0;
	json_array_foreach(json_object_get(w->part, "points"), i, point)
		if (in_facet(w, point, facet))
			tic_of(p, place(w, json_object_get(point, "at"), by_point, buf, sizeof buf));
	if (!by_point)
		scale_x(p);
	return p->ntics > 1;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static struct plot_line *line_of(struct bench_plot *p, const char *name, bool theirs)
{
	size_t i = 0;

	while (i < p->nlines && strcmp(p->line[i].name, name) != 0)
		i++;
	if (i < p->nlines)
		return &p->line[i];
	if (i == PLOT_LINES)
		return NULL;
	p->nlines++;
	snprintf(p->line[i].name, sizeof p->line[i].name, "%s", name);
	p->line[i].theirs = theirs;
	p->line[i].n = 0;
	p->line[i].ndots = 0;
	return &p->line[i];
}

/* Sorted by x, whatever order the points have. */
static void put(struct plot_line *l, struct plot_point q)
{
	size_t k;

	if (l == NULL || l->n == PLOT_POINTS)
		return;
	for (k = l->n++; k > 0 && l->p[k - 1].x > q.x; k--)
		l->p[k] = l->p[k - 1];
	l->p[k] = q;
}

static bool x_of(const struct bench_plot *p, const char *text, double *x)
{
	for (size_t i = 0; i < p->ntics; i++)
		if (strncmp(p->tic_text[i], text, sizeof p->tic_text[i] - 1) == 0) {
			*x = p->tic[i];
			return true;
		}
	return false;
}

static const char *after_dot(const char *metric)
{
	const char *dot = strchr(metric, '.');

	return dot ? dot + 1 : metric;
}

static void name_line(const struct view *w, const json_t *at, size_t m, bool by_point, char *buf, size_t n)
{
	const char *metric = w->nmetrics > 1 ? after_dot(w->metric[m]) : "", *series = value(at, w->series);
	bool other = w->series != NULL && !by_point;

	if (other)
		snprintf(buf, n, "%s%s%s=%s", metric, *metric ? ", " : "", w->series, series);
	else
		snprintf(buf, n, "%s", *metric ? metric : w->metric[m]);
}

/* The single runs of a point. */
static void put_runs(struct plot_line *l, const json_t *point, const char *metric, double x)
{
	double v[PLOT_DOTS];
	size_t n = l != NULL ? bench_doc_values(point, metric, v, NULL, PLOT_DOTS - l->ndots) : 0;

	for (size_t i = 0; i < n; i++) {
		l->dot[l->ndots].x = x;
		l->dot[l->ndots++].y = v[i];
	}
}

static void our_point(const struct view *w, struct bench_plot *p, const json_t *point, size_t m, bool by_point)
{
	const json_t *at = json_object_get(point, "at"), *s = json_object_get(json_object_get(point, "metrics"), w->metric[m]);
	double y = bench_real(s, "mean"), lo = bench_real(s, "lo"), hi = bench_real(s, "hi"), x;
	char buf[200], name[120];

	if (isnan(y) || !x_of(p, place(w, at, by_point, buf, sizeof buf), &x))
		return;
	name_line(w, at, m, by_point, name, sizeof name);
	put(line_of(p, name, false), (struct plot_point){ x, y, isnan(lo) ? 1 : lo, isnan(lo) ? 0 : hi, bench_real(s, "median") });
	put_runs(line_of(p, name, false), point, w->metric[m], x);
}

/* Their value stands at our point beside which the bench puts it. */
static void their_point(const struct view *w, struct bench_plot *p, const json_t *t, const char *facet, bool by_point)
{
	const json_t *at = json_object_get(t, "at"), *ours = json_object_get(t, "ours") ? json_object_get(t, "ours") : at;
	const char *metric = bench_text(t, "metric");
	char buf[200], name[120], fixed[200];
	double x;

	if ((*metric != '\0' && strcmp(metric, w->metric[0]) != 0) || strcmp(bench_text(t, "unit"), w->unit) != 0)
		return;
	facet_of(w, ours, fixed, sizeof fixed);
	if (strcmp(fixed, facet) != 0 || !x_of(p, place(w, ours, by_point, buf, sizeof buf), &x))
		return;
	if (w->series != NULL && !by_point)
		snprintf(name, sizeof name, "theirs, %s=%s", w->series, value(at, w->series));
	else
		snprintf(name, sizeof name, "theirs");
	put(line_of(p, name, true), (struct plot_point){ x, bench_real(t, "value"), 1, 0, NAN });
}

static void scale_y(struct bench_plot *p)
{
	double lo = INFINITY, hi = 0;

	for (size_t i = 0; i < p->nlines; i++)
		for (size_t k = 0; k < p->line[i].n; k++) {
			lo = fmin(lo, p->line[i].p[k].lo <= p->line[i].p[k].hi ? p->line[i].p[k].lo : p->line[i].p[k].y);
			hi = fmax(hi, p->line[i].p[k].y);
		}
	for (size_t i = 0; i < p->nlines; i++)
		for (size_t k = 0; k < p->line[i].ndots; k++)
			lo = fmin(lo, p->line[i].dot[k].y);
	p->ylog = lo > 0 && hi / lo > 50;
}

static void titles(const struct view *w, struct bench_plot *p, const char *facet, bool by_point)
{
	char family[60];

	snprintf(family, sizeof family, "%.*s", w->nmetrics > 1 ? (int)strcspn(w->metric[0], ".") : 59, w->metric[0]);
	snprintf(p->title, sizeof p->title, "%.100s: %s%s%.120s", bench_text(w->part, "name"), family, *facet ? ", " : "",
		 facet);
	snprintf(p->xlabel, sizeof p->xlabel, "%s", by_point || w->x == NULL ? "" : w->x);
	snprintf(p->ylabel, sizeof p->ylabel, "%s%s%s%s (%s is better)", family, *w->unit ? " [" : "", w->unit,
		 *w->unit ? "]" : "", w->lower ? "lower" : "higher");
}

/* False: there is nothing to see. */
static bool fill(const struct view *w, struct bench_plot *p, const char *facet)
{
	bool by_point = !lay_x(w, p, facet, false) && lay_x(w, p, facet, true);
	const json_t *v;
	size_t i;

	p->nlines = 0;
	p->xlog = by_point ? false : p->xlog;
	for (size_t m = 0; m < w->nmetrics; m++)
		json_array_foreach(json_object_get(w->part, "points"), i, v)
			if (in_facet(w, v, facet))
				our_point(w, p, v, m, by_point);
	if (p->nlines == 0)
		return false;
	json_array_foreach(json_object_get(w->part, "theirs"), i, v)
		their_point(w, p, v, facet, by_point);
	scale_y(p);
	titles(w, p, facet, by_point);
	return true;
}

static double highest(const struct plot_line *l)
{
	double most = 0;

	for (size_t k = 0; k < l->n; k++)
		most = fmax(most, l->p[k].y);
	return most;
}

/* Lines of two points and more, each scaled to its own highest; false: theirs are none. */
static bool shapes_only(struct bench_plot *p)
{
	bool theirs = false;
	size_t kept = 0;

	for (size_t i = 0; i < p->nlines; i++) {
		double most = highest(&p->line[i]);

		if (p->line[i].n < 2 || most <= 0)
			continue;
		theirs |= p->line[i].theirs;
		p->line[kept] = p->line[i];
		for (size_t k = 0; k < p->line[kept].n; k++) {
			struct plot_point *q = &p->line[kept].p[k];

			*q = (struct plot_point){ q->x, q->y / most, q->lo / most, q->hi / most, q->median / most };
		}
		for (size_t k = 0; k < p->line[kept].ndots; k++)
			p->line[kept].dot[k].y /= most;
		kept++;
	}
	p->nlines = kept;
	p->ylog = false;
	strncat(p->title, ", shape", sizeof p->title - strlen(p->title) - 1);
	snprintf(p->ylabel, sizeof p->ylabel, "share of the line's highest point");
	return theirs;
}

/* ---- all of a bench ------------------------------------------------------------------------------ */

static bool same_family(const char *a, const char *b)
{
	size_t n = strcspn(a, ".");

	return a[n] == '.' && strncmp(a, b, n + 1) == 0;
}

static const json_t *nth_metric(const json_t *part, size_t i)
{
	return i == 0 ? json_object_get(part, "metric") : json_array_get(json_object_get(part, "also"), i - 1);
}

/* The family of the i-th metric; false: an earlier one has it already. */
static bool family_of(struct view *w, size_t i)
{
	const json_t *first = nth_metric(w->part, i), *m;
	const char *name = bench_text(first, "name");

	for (size_t k = 0; k < i; k++)
		if (strcmp(bench_text(nth_metric(w->part, k), "name"), name) == 0 ||
		    same_family(bench_text(nth_metric(w->part, k), "name"), name))
			return false;
	w->nmetrics = 0;
	w->unit = bench_text(first, "unit");
	w->lower = strcmp(bench_text(first, "better"), "lower") == 0;
	for (size_t k = i; (m = nth_metric(w->part, k)) != NULL && w->nmetrics < METRICS; k++)
		if (k == i || same_family(name, bench_text(m, "name")))
			w->metric[w->nmetrics++] = bench_text(m, "name");
	return true;
}

void bench_figures(const json_t *part, bench_figure_fn fn, void *arg)
{
	struct view w = { .part = part, .x = json_string_value(json_object_get(part, "x")),
			  .series = json_string_value(json_object_get(part, "series")) };
	struct bench_plot *p = malloc(sizeof *p);
	char list[FACETS][200];
	size_t n = facets(&w, list);

	for (size_t i = 0; p != NULL && nth_metric(part, i) != NULL; i++)
		for (size_t k = 0; family_of(&w, i) && k < n; k++) {
			memset(p, 0, sizeof *p);
			if (!fill(&w, p, list[k]))
				continue;
			fn(p, arg);
			if (shapes_only(p))
				fn(p, arg);
		}
	free(p);
}
