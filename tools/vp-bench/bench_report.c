/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_report.c - the subcommand report: results as one page with figures.
 *
 * report.lua says what is to be drawn and writes the page; gnuplot draws.  HTML has
 * everything inside and needs nothing else; Markdown and --svg DIR make a page with
 * figures for a tree of documents.  Without gnuplot there are the tables, and the page
 * says so.  The page is made whole before the file is touched.
 */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/vp-bench/bench_compare.h"
#include "tools/vp-bench/bench_lua.h"
#include "tools/vp-bench/bench_papers.h"

#define RESULTS 64u

struct report {
	const char *file[RESULTS], *out, *svg, *seeds;
	json_t     *doc[RESULTS];
	unsigned    n;
	bool        markdown, beside;
	char        why[400];            /* there are no figures */
	int         code;
};

/* ---- figures ------------------------------------------------------------------------- */

static void save_figure(struct report *r, const char *name, const char *svg)
{
	char path[4096], why[4400];

	snprintf(path, sizeof path, "%.3900s/%s.svg", r->svg, name);
	if (bench_text_save(svg, path, why, sizeof why) == BENCH_OK)
		return;
	fprintf(stderr, "vp-bench report: cannot write %s\n", why);
	r->code = BENCH_IO;
}

/* By name what was drawn, true for a file; up to the first that gnuplot does not draw. */
static json_t *draw_all(struct report *r, const json_t *list)
{
	json_t *drawn = json_object();
	const json_t *v;
	size_t i;

	json_array_foreach(list, i, v) {
		const char *name = bench_text(v, "name");
		char *svg = bench_draw(bench_text(v, "script"), r->why, sizeof r->why);

		if (svg == NULL)
			break;
		if (json_is_true(json_object_get(v, "file")))
			save_figure(r, name, svg);
		json_object_set_new(drawn, name, json_is_true(json_object_get(v, "file")) ? json_true() : json_string(svg));
		free(svg);
	}
	return drawn;
}

/* ---- the page --------------------------------------------------------------------------- */

/* Both sides of a sweep in turns, or null. */
static json_t *compared(json_t *doc)
{
	static const struct bench_compare_options o = { .confidence = 0.98, .fail_over = -1 };
	char why[300];
	json_t *c = bench_compare(doc, "", NULL, NULL, &o, why, sizeof why);

	return c != NULL ? c : json_null();
}

/* What report.lua gets. */
static json_t *whole_of(const struct report *r)
{
	json_t *docs = json_array(), *files = json_array(), *comparisons = json_array();

	for (unsigned i = 0; i < r->n; i++) {
		json_array_append(docs, r->doc[i]);
		json_array_append_new(files, json_string_nocheck(r->file[i]));
		json_array_append_new(comparisons, compared(r->doc[i]));
	}
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:b}", "docs", docs, "files", files, "comparisons", comparisons,
			 "out", r->out ? json_string_nocheck(r->out) : json_null(),
			 "svg", r->svg ? json_string_nocheck(r->svg) : json_null(), "markdown", r->markdown);
}

static void write_page(struct report *r, const char *text)
{
	char why[4400];

	if (r->out == NULL) {
		fputs(text, stdout);
	} else if (bench_text_save(text, r->out, why, sizeof why) != BENCH_OK) {
		fprintf(stderr, "vp-bench report: cannot write %s\n", why);
		r->code = BENCH_IO;
	}
}

static int make(struct report *r)
{
	json_t *args[] = { whole_of(r), NULL, NULL }, *list;
	char why[400] = "", *text = NULL;

	list = bench_lua_call("report", "drawings", args, 1, why, sizeof why);
	if (list != NULL) {
		args[1] = draw_all(r, list);
		args[2] = *r->why ? json_string_nocheck(r->why) : json_null();
		text = bench_lua_text("report", "page", args, 3, why, sizeof why);
	}
	if (*r->why)
		fprintf(stderr, "vp-bench report: no figures, tables only: %s\n", r->why);
	if (text != NULL) {
		write_page(r, text);
	} else {
		fprintf(stderr, "vp-bench report: cannot write the page: %s\n", why);
		r->code = BENCH_IO;
	}
	free(text);
	json_decref(list);
	for (unsigned i = 0; i < XK_ARRAY_LEN(args); i++)
		json_decref(args[i]);
	return r->code;
}

/* What the catalogue pairs, alone. */
static int make_beside(struct report *r)
{
	struct papers *p = calloc(1, sizeof *p);
	json_t *args[] = { whole_of(r), NULL };
	char why[400] = "out of memory", *text = NULL;

	r->code = BENCH_USAGE;
	if (p != NULL && papers_find(p, r->seeds)) {
		args[1] = p->doc;
		text = bench_lua_text("report", "beside", args, 2, why, sizeof why);
		if (text == NULL)
			fprintf(stderr, "vp-bench report: %s\n", why);
	}
	if (text != NULL) {
		r->code = BENCH_OK;
		write_page(r, text);
	}
	free(text);
	json_decref(args[0]);
	if (p != NULL)
		papers_free(p);
	free(p);
	return r->code;
}

/* ---- options ------------------------------------------------------------------------------ */

enum { OPT_SVG = 256, OPT_MARKDOWN, OPT_BESIDE, OPT_SEEDS };

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct report *r = state->input;
	size_t n;

	switch (key) {
	case 'o': r->out = arg; return 0;
	case OPT_SVG: r->svg = arg; return 0;
	case OPT_MARKDOWN: r->markdown = true; return 0;
	case OPT_BESIDE: r->beside = true; return 0;
	case OPT_SEEDS: r->seeds = arg; return 0;
	case ARGP_KEY_ARG:
		if (r->n == RESULTS)
			argp_error(state, "at most %u results", RESULTS);
		r->file[r->n++] = arg;
		return 0;
	case ARGP_KEY_END:
		if (r->n == 0)
			argp_error(state, "which result? (JSON files that vp-bench run -o wrote)");
		if (r->beside && r->svg != NULL)
			argp_error(state, "--beside has tables alone: without --svg");
		n = r->out ? strlen(r->out) : 0;
		r->markdown |= n > 3 && strcmp(r->out + n - 3, ".md") == 0;
		return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static int load_all(struct report *r)
{
	char why[4400];

	for (unsigned i = 0; i < r->n; i++) {
		r->doc[i] = bench_doc_load(r->file[i], why, sizeof why);
		if (r->doc[i] == NULL) {
			fprintf(stderr, "vp-bench: %s\n", why);
			return BENCH_IO;
		}
		bench_doc_review(r->doc[i]);
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
		{ "beside", OPT_BESIDE, NULL, 0, "Only what was measured beside what was simulated on as many processors", 0 },
		{ "seeds", OPT_SEEDS, "DIR", 0, "The folder with papers.json, which pairs them (default: graphs/seeds)", 0 },
		{ 0 }
	};
	static const struct argp argp = { .options = opts, .parser = parse, .args_doc = "RESULT.json...",
		.doc = "Results as one page: tables, verdicts, figures (drawn by gnuplot), the machine and its warnings." };
	struct report r = { .n = 0 };
	int code;

	argp_err_exit_status = BENCH_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, &r);
	code = load_all(&r);
	if (code == BENCH_OK)
		code = r.beside ? make_beside(&r) : make(&r);
	for (unsigned i = 0; i < r.n; i++)
		json_decref(r.doc[i]);
	return code;
}
