/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_report.c - the subcommand report: results as one page with figures.
 *
 * HTML has everything inside and needs nothing else; Markdown and --svg DIR make a
 * page with figures for a tree of documents.  Without gnuplot there are the tables,
 * and the page says so.  The page is made whole before the file is touched.
 * Invariant: the same results give the same bytes; nothing of today gets in.
 */
#include "tools/vp-bench/bench_report.h"

#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/vp-bench/bench_compare.h"

#define RESULTS 64u

struct report {
	const char *file[RESULTS], *out, *svg;
	json_t     *doc[RESULTS];
	unsigned    n;
	bool        markdown;
	struct bench_page page;
	json_t     *names;               /* of figure files, to keep them apart */
	const json_t *part;
	unsigned    figures;             /* of the part */
	bool        no_plots;            /* told once */
	char        why[400];
	int         code;
};

/* ---- figures ------------------------------------------------------------------------- */

/* "fig07-udp-1": letters, digits, . _ - of the bench's name, and no name twice. */
static void name_figure(struct report *r, char *buf, size_t n)
{
	char stem[100];
	size_t used = 0;

	for (const char *s = bench_text(r->part, "name"); *s != '\0' && used + 1 < sizeof stem; s++)
		stem[used++] = isalnum((unsigned char)*s) || strchr("._-", *s) ? *s : '-';
	stem[used] = '\0';
	if (stem[0] == '.')
		stem[0] = '-';
	for (unsigned k = r->figures + 1; ; k++) {
		snprintf(buf, n, "%s-%u", stem, k);
		if (json_object_get(r->names, buf) == NULL)
			break;
	}
	json_object_set_new(r->names, buf, json_true());
}

/* A link from the page to the folder of figures. */
static void link_to(const struct report *r, const char *name, char *buf, size_t n)
{
	const char *slash = r->out ? strrchr(r->out, '/') : NULL;
	size_t dir = slash ? (size_t)(slash - r->out) + 1 : 0, end = strlen(r->svg);

	while (end > 1 && r->svg[end - 1] == '/')
		end--;
	if (slash != NULL && end + 1 == dir && strncmp(r->svg, r->out, end) == 0)
		snprintf(buf, n, "%s.svg", name);
	else if (slash != NULL && strncmp(r->svg, r->out, dir) == 0)
		snprintf(buf, n, "%.*s/%s.svg", (int)(end - dir), r->svg + dir, name);
	else if (slash == NULL && end == 1 && *r->svg == '.')
		snprintf(buf, n, "%s.svg", name);
	else
		snprintf(buf, n, "%.*s/%s.svg", (int)end, r->svg, name);
}

static void draw_file(struct report *r, const struct bench_plot *plot, const char *name)
{
	char path[4096], link[4096], why[4400];
	char *svg = bench_plot_svg(plot, name, false, r->why, sizeof r->why);

	r->no_plots |= svg == NULL;
	if (svg == NULL)
		return;
	snprintf(path, sizeof path, "%.3900s/%s.svg", r->svg, name);
	if (bench_text_save(svg, path, why, sizeof why) != BENCH_OK) {
		fprintf(stderr, "vp-bench report: cannot write %s\n", why);
		r->code = BENCH_IO;
	}
	free(svg);
	link_to(r, name, link, sizeof link);
	if (r->markdown)
		page_figure(&r->page, NULL, link, plot->title);
}

static void draw_page(struct report *r, const struct bench_plot *plot, const char *name)
{
	char *svg = bench_plot_svg(plot, name, true, r->why, sizeof r->why);

	r->no_plots |= svg == NULL;
	if (svg != NULL)
		page_figure(&r->page, svg, NULL, plot->title);
	free(svg);
}

static void draw(const struct bench_plot *plot, void *arg)
{
	struct report *r = arg;
	char name[140];

	if (r->no_plots)
		return;
	name_figure(r, name, sizeof name);
	r->figures++;
	if (r->svg != NULL)
		draw_file(r, plot, name);
	if (!r->markdown)
		draw_page(r, plot, name);
}

/* ---- the page --------------------------------------------------------------------------- */

static unsigned count_shapes(const json_t *part, const char *verdict)
{
	const json_t *s;
	unsigned n = 0;
	size_t i;

	json_array_foreach(json_object_get(part, "shapes"), i, s)
		n += strcmp(bench_text(s, "verdict"), verdict) == 0;
	return n;
}

/* Points whose runs ended at their limit, their interval wider than asked for. */
static unsigned count_unreached(const json_t *part)
{
	const json_t *p;
	unsigned n = 0;
	size_t i;

	json_array_foreach(json_object_get(part, "points"), i, p)
		n += strcmp(bench_text(p, "status"), "interval not reached") == 0;
	return n;
}

static void name_part(const json_t *part, char *buf, size_t n)
{
	const char *side = bench_text(part, "side");

	snprintf(buf, n, "%s%s%s", bench_text(part, "name"), *side ? ", side " : "", side);
}

static void summary(struct report *r)
{
	static const char *const heads[] = { "bench", "metric", "points", "pass", "fail", "undecided", "not measurable",
		"interval not reached", "result" };
	unsigned section = 1;
	const json_t *part;
	char name[200];
	size_t k;

	page_table(&r->page, XK_ARRAY_LEN(heads), heads);
	for (unsigned i = 0; i < r->n; i++, section++)
		json_array_foreach(json_object_get(r->doc[i], "benches"), k, part) {
			name_part(part, name, sizeof name);
			page_row(&r->page);
			page_link(&r->page, section++, name);
			page_cell(&r->page, "%s", bench_text(json_object_get(part, "metric"), "name"));
			page_cell(&r->page, "%zu", json_array_size(json_object_get(part, "points")));
			page_cell(&r->page, "%u", count_shapes(part, "pass"));
			page_cell(&r->page, "%u", count_shapes(part, "fail"));
			page_cell(&r->page, "%u", count_shapes(part, "undecided"));
			page_cell(&r->page, "%u", count_shapes(part, "not measurable here"));
			page_cell(&r->page, "%u", count_unreached(part));
			page_cell(&r->page, "%s", r->file[i]);
			page_row_end(&r->page);
		}
	page_table_end(&r->page);
}

static void one_part(struct report *r, const json_t *part)
{
	char name[200];

	r->part = part;
	r->figures = 0;
	name_part(part, name, sizeof name);
	page_title(&r->page, 2, name);
	report_settings(&r->page, part);
	report_verdicts(&r->page, part);
	if (!r->markdown || r->svg != NULL)
		bench_figures(part, draw, r);
	report_points(&r->page, part);
}

static void compared(struct report *r, const json_t *doc)
{
	static const struct bench_compare_options o = { .confidence = 0.98, .fail_over = -1 };
	char why[300];
	json_t *c = bench_compare_side(doc, "B", 0) ? bench_compare(doc, "", NULL, NULL, &o, why, sizeof why) : NULL;

	if (c != NULL)
		report_comparison(&r->page, c);
	json_decref(c);
}

static void one_result(struct report *r, unsigned i)
{
	json_t *doc = r->doc[i], *part;
	char title[600];
	size_t k;

	json_array_foreach(json_object_get(doc, "benches"), k, part)
		one_part(r, part);
	snprintf(title, sizeof title, "%.500s: machine", r->file[i]);
	page_title(&r->page, 2, title);
	page_text(&r->page, "Started %s (UTC), vp-bench %s.", bench_text(doc, "started"), bench_text(doc, "version"));
	compared(r, doc);
	report_environment(&r->page, json_object_get(doc, "environment"));
	report_commands(&r->page, doc);
}

static void whole_page(struct report *r)
{
	page_head(&r->page, "vp-bench report");
	page_title(&r->page, 1, "vp-bench report");
	/* Sections are counted from 1, as their titles come. */
	r->page.sections = 1;
	summary(r);
	for (unsigned i = 0; i < r->n; i++)
		one_result(r, i);
	if (r->no_plots)
		page_text(&r->page, "There are no figures here: %s.", r->why);
	page_foot(&r->page);
}

static int make(struct report *r)
{
	char *text = NULL, why[4400];
	size_t n = 0;

	r->page.f = open_memstream(&text, &n);
	if (r->page.f == NULL)
		return BENCH_IO;
	r->page.markdown = r->markdown;
	r->names = json_object();
	whole_page(r);
	fclose(r->page.f);
	json_decref(r->names);
	if (r->no_plots)
		fprintf(stderr, "vp-bench report: no figures, tables only: %s\n", r->why);
	if (r->out == NULL) {
		fputs(text, stdout);
	} else if (bench_text_save(text, r->out, why, sizeof why) != BENCH_OK) {
		fprintf(stderr, "vp-bench report: cannot write %s\n", why);
		r->code = BENCH_IO;
	}
	free(text);
	return r->code;
}

/* ---- options ------------------------------------------------------------------------------ */

enum { OPT_SVG = 256, OPT_MARKDOWN };

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct report *r = state->input;
	size_t n;

	switch (key) {
	case 'o': r->out = arg; return 0;
	case OPT_SVG: r->svg = arg; return 0;
	case OPT_MARKDOWN: r->markdown = true; return 0;
	case ARGP_KEY_ARG:
		if (r->n == RESULTS)
			argp_error(state, "at most %u results", RESULTS);
		r->file[r->n++] = arg;
		return 0;
	case ARGP_KEY_END:
		if (r->n == 0)
			argp_error(state, "which result? (JSON files that vp-bench run -o wrote)");
		n = r->out ? strlen(r->out) : 0;
		r->markdown |= n > 3 && strcmp(r->out + n - 3, ".md") == 0;
		return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static int load_all(struct report *r)
{
	char why[4400];
	json_t *part;
	size_t k;

	for (unsigned i = 0; i < r->n; i++) {
		r->doc[i] = bench_doc_load(r->file[i], why, sizeof why);
		if (r->doc[i] == NULL) {
			fprintf(stderr, "vp-bench: %s\n", why);
			return BENCH_IO;
		}
		json_array_foreach(json_object_get(r->doc[i], "benches"), k, part) {
			bench_doc_summarise(part);
			bench_doc_warn(part);
			(void)bench_doc_judge(part);
		}
	}
	if (r->svg != NULL && mkdir(r->svg, 0777) != 0 && errno != EEXIST) {
		fprintf(stderr, "vp-bench report: cannot make the folder %s: %s\n", r->svg, strerror(errno));
		return BENCH_IO;
	}
	return BENCH_OK;
}

int bench_report_main(int argc, char **argv)
{
	static const struct argp_option opts[] = {
		{ "output", 'o', "FILE", 0, "Write there instead of stdout; HTML, or Markdown when it ends with .md", 0 },
		{ "svg", OPT_SVG, "DIR", 0, "Write each figure as a file into DIR, too; a Markdown page links them", 0 },
		{ "markdown", OPT_MARKDOWN, NULL, 0, "A page in Markdown", 0 },
		{ 0 }
	};
	static const struct argp argp = { .options = opts, .parser = parse, .args_doc = "RESULT.json...",
		.doc = "Results as one page: tables, verdicts, figures (drawn by gnuplot), the machine and its doubts." };
	struct report r = { .n = 0 };
	int code;

	argp_err_exit_status = BENCH_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, &r);
	code = load_all(&r);
	if (code == BENCH_OK)
		code = make(&r);
	for (unsigned i = 0; i < r.n; i++)
		json_decref(r.doc[i]);
	return code;
}
