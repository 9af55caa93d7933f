/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_reproduce.c - the subcommand reproduce: a paper's figures and tables by
 * their names, measured here and shown beside the paper's numbers.
 *
 * The names choose entries of the catalogue, entries choose bench files and of
 * each the points that are needed; a file that several figures share runs once.
 * What is shown of a figure is computed from the result (reproduce.lua), so --from shows
 * the same of a result that lies there.
 */
#include "tools/vp-bench/bench_papers.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "tools/vp-bench/bench_lua.h"

struct job {
	struct papers        p;
	struct bench_options o;
	bool                 chosen[PAPERS_MAX], list, markdown, help;
	const char          *from, *seeds;
	char                 file[64][PATH_MAX];
	unsigned             nfiles;
};

/* ---- the command line ------------------------------------------------------------- */

static int usage(FILE *f, int code)
{
	fputs("Usage: vp-bench reproduce NAME... [k=v ...] [options of run]\n"
	      "       vp-bench reproduce --list [NAME...]\n"
	      "       vp-bench reproduce --from RESULT.json [--markdown] NAME...\n"
	      "A NAME is a figure or table (schmidt1996.fig8, willmann2006.table1), a paper (yates1996), or all.\n\n"
	      "  --list         names, titles, what is needed, files\n"
	      "  --from FILE    show them of a result that -o FILE.json wrote; nothing runs\n"
	      "  --markdown     as Markdown\n"
	      "  --seeds DIR    the folder with papers.json (default: graphs/seeds)\n"
	      "Options of run: --quick, --paper, --runs, --duration, --warmup, --seed, -o, --resume, --shard (vp-bench run --help).\n", f);
	return code;
}

static const char *valued(const char *flag, char **argv, int *i)
{
	size_t n = strlen(flag);

	if (strncmp(argv[*i], flag, n) == 0 && argv[*i][n] == '=')
		return argv[*i] + n + 1;
	if (strcmp(argv[*i], flag) == 0 && argv[*i + 1] != NULL)
		return argv[++*i];
	return NULL;
}

/* Takes our own flags out; the rest is for the options of run. */
static int own_flags(struct job *j, int argc, char **argv)
{
	int n = 1;

	for (int i = 1; i < argc; i++) {
		const char *v;

		if (strcmp(argv[i], "--list") == 0)
			j->list = true;
		else if (strcmp(argv[i], "--markdown") == 0)
			j->markdown = true;
		else if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-?") == 0)
			j->help = true;
		else if ((v = valued("--from", argv, &i)) != NULL)
			j->from = v;
		else if ((v = valued("--seeds", argv, &i)) != NULL)
			j->seeds = v;
		else if ((v = valued("--reproduce", argv, &i)) != NULL)
			argv[n++] = (char *)(uintptr_t)v;
		else
			argv[n++] = argv[i];
	}
	argv[n] = NULL;
	return n;
}

static int choose(struct job *j)
{
	const char *names[PAPERS_MAX + 1], *near;

	for (unsigned i = 0; i < j->p.n; i++)
		names[i] = j->p.entry[i].name;
	names[j->p.n] = "all";
	for (unsigned i = 0; i < j->o.nfiles; i++) {
		if (papers_choose(&j->p, j->o.file[i], j->chosen) != 0)
			continue;
		near = xk_errs_suggest(j->o.file[i], names, j->p.n + 1);
		fprintf(stderr, "vp-bench reproduce: no figure or table is called '%s'%s%s%s (vp-bench reproduce --list)\n",
			j->o.file[i], near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
		return BENCH_USAGE;
	}
	if (j->o.nfiles == 0 && j->list)
		papers_choose(&j->p, "all", j->chosen);
	if (j->o.nfiles != 0 || j->list)
		return BENCH_OK;
	fprintf(stderr, "vp-bench reproduce: which figure or table? (vp-bench reproduce --list)\n");
	return BENCH_USAGE;
}

/* ---- showing ------------------------------------------------------------------------- */

/* The chosen entries, for reproduce.lua. */
static json_t *entries_of(const struct job *j)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < j->p.n; i++)
		if (j->chosen[i])
			json_array_append_new(list, papers_json(&j->p.entry[i]));
	return list;
}

static int list(const struct job *j)
{
	json_t *args[] = { entries_of(j), json_string_nocheck(j->p.dir) };
	int code = bench_lua_print(stdout, "reproduce", "list", args, XK_ARRAY_LEN(args));

	json_decref(args[0]);
	json_decref(args[1]);
	return code;
}

static int show(const struct job *j, json_t *doc)
{
	json_t *args[] = { entries_of(j), doc, json_boolean(j->markdown) };
	int code;

	if (j->o.shard.of != 0 && j->o.out != NULL)
		code = BENCH_OK;
	else if (j->o.format != BENCH_TABLE && j->o.out == NULL)
		code = bench_show(stdout, doc, j->o.format);
	else
		code = bench_lua_print(stdout, "reproduce", "show", args, XK_ARRAY_LEN(args));
	json_decref(args[0]);
	return code;
}

/* ---- running ------------------------------------------------------------------------- */

static bool add_file(struct job *j, const char *file)
{
	for (unsigned i = 0; i < j->nfiles; i++)
		if (strcmp(j->file[i], file) == 0)
			return true;
	if (j->nfiles == XK_ARRAY_LEN(j->file))
		return false;
	snprintf(j->file[j->nfiles++], PATH_MAX, "%s", file);
	return true;
}

static int files_of(struct job *j)
{
	char path[PATH_MAX];

	for (unsigned i = 0; i < j->p.n; i++)
		for (unsigned k = 0; j->chosen[i] && papers_missing(&j->p.entry[i]) == NULL &&
		     papers_file(&j->p, &j->p.entry[i], k, path, sizeof path) != NULL; k++)
			if (!add_file(j, path)) {
				fprintf(stderr, "vp-bench reproduce: too many files at once\n");
				return BENCH_USAGE;
			}
	return BENCH_OK;
}

static int load_bench(struct job *j, unsigned i, struct bench *b)
{
	int code = bench_load(b, j->file[i], j->o.arg, j->o.nargs);
	char why[400];

	if (code == BENCH_OK)
		code = bench_apply(&j->o, b);
	if (b->e != NULL && xk_errs_count(b->e) != 0)
		bench_print_errors(b);
	if (code == BENCH_OK && !papers_narrow(&j->p, j->chosen, b, why, sizeof why)) {
		fprintf(stderr, "vp-bench reproduce: %s\n", why);
		return BENCH_IO;
	}
	if (code == BENCH_OK)
		code = bench_try_points(b);
	return code;
}

/* Those of the chosen figures that the i-th file measures. */
static json_t *entries_in(const struct job *j, unsigned i)
{
	json_t *list = json_array();
	char path[PATH_MAX];

	for (unsigned e = 0; e < j->p.n; e++)
		for (unsigned k = 0; j->chosen[e] && papers_file(&j->p, &j->p.entry[e], k, path, sizeof path) != NULL; k++)
			if (strcmp(path, j->file[i]) == 0)
				json_array_append_new(list, papers_json(&j->p.entry[e]));
	return list;
}

static void divide(const struct job *j, struct bench *b)
{
	unsigned unit = 0;

	for (unsigned i = 0; i < j->nfiles; i++) {
		json_t *entries = entries_in(j, i);

		unit = bench_divide(&b[i], &j->o.shard, entries, unit);
		json_decref(entries);
	}
}

static int run_benches(struct job *j, struct bench *b, json_t **doc)
{
	int code = BENCH_OK;

	for (unsigned i = 0; i < j->nfiles; i++)
		code = bench_worse(code, load_bench(j, i, &b[i]));
	if (code != BENCH_OK)
		return code;
	divide(j, b);
	bench_child_signals();
	*doc = bench_document(&j->o);
	if (*doc == NULL)
		return BENCH_IO;
	for (unsigned i = 0; i < j->nfiles && code != BENCH_IO && code != BENCH_INTERRUPTED; i++)
		if (b[i].npoints != 0)
			code = bench_worse(code, bench_sweep(&b[i], &j->o, *doc, bench_part_for(&j->o, *doc, &b[i])));
	return code;
}

static int measure(struct job *j, json_t **doc)
{
	struct bench *b = calloc(j->nfiles + 1, sizeof *b);
	int code = b ? run_benches(j, b, doc) : BENCH_IO;

	for (unsigned i = 0; b != NULL && i < j->nfiles; i++)
		bench_free(&b[i]);
	free(b);
	return code;
}

static int read_result(struct job *j, json_t **doc)
{
	char why[4400];

	*doc = bench_doc_load(j->from, why, sizeof why);
	if (*doc == NULL) {
		fprintf(stderr, "vp-bench reproduce: %s\n", why);
		return BENCH_IO;
	}
	bench_doc_review(*doc);
	return BENCH_OK;
}

/* ---- all of it --------------------------------------------------------------------------- */

static int work(struct job *j)
{
	json_t *doc = NULL;
	int code = choose(j);

	if (code != BENCH_OK || j->list)
		return code != BENCH_OK ? code : list(j);
	code = j->from ? read_result(j, &doc) : files_of(j);
	if (code == BENCH_OK && j->from == NULL)
		code = j->nfiles != 0 ? measure(j, &doc) : BENCH_OK;
	if (doc == NULL && code == BENCH_OK)
		doc = bench_doc_new();
	if (doc != NULL)
		code = bench_worse(code, show(j, doc));
	json_decref(doc);
	return code;
}

int bench_reproduce_main(int argc, char **argv)
{
	static struct job j;
	int code;

	argc = own_flags(&j, argc, argv);
	if (j.help)
		return usage(stdout, BENCH_OK);
	bench_options(&j.o, argc, argv);
	code = papers_find(&j.p, j.seeds) ? work(&j) : BENCH_USAGE;
	papers_free(&j.p);
	return code;
}
