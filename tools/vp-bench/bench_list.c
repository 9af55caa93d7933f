/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_list.c - the subcommands list, show, export and env; show.lua and env.lua write.
 */
#include "tools/vp-bench/bench.h"

#include <errno.h>
#include <fts.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/compose/xk_home.h"
#include "tools/vp-bench/bench_lua.h"

/* ---- list -------------------------------------------------------------------------- */

static bool is_lua(const FTSENT *f)
{
	size_t n = strlen(f->fts_name);

	return f->fts_info == FTS_F && n > 4 && strcmp(f->fts_name + n - 4, ".lua") == 0;
}

/* An error that has no file is ours: there was no memory for it, or for the graph. */
static bool lacks_memory(const struct bench *b, int code)
{
	const char *file = b->file;

	for (unsigned i = 0; i < xk_errs_count(b->e) && file != NULL; i++)
		(void)xk_errs_text(b->e, i, &file, NULL, NULL);
	return code == BENCH_IO || file == NULL;
}

/* One that does not load is shown, too: it is somebody's bench. */
static int list_one(const char *path)
{
	struct bench b;
	int code = bench_load(&b, path, NULL, 0);
	bool lacks = lacks_memory(&b, code), unread = b.load_err != XK_OK && b.load_err != XK_E_INVAL;

	if (lacks)
		fprintf(stderr, "vp-bench: %s: out of memory\n", path);
	else if (unread)
		fprintf(stderr, "vp-bench: %s: cannot be read: %s\n", path, xk_strerror(b.load_err));
	else if (code == BENCH_OK)
		printf("%-44s %4u points  %s\n", path, b.npoints, b.doc ? b.doc : "");
	else if (xk_spec_bench(b.spec) != NULL)
		printf("%-44s has errors: vp-bench plan %s\n", path, path);
	bench_free(&b);
	return lacks || unread ? BENCH_IO : BENCH_OK;
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static int list_files(char **dirs)
{
	FTS *t = fts_open(dirs, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
	int code = BENCH_OK;
	FTSENT *f;

	if (t == NULL) {
		fprintf(stderr, "vp-bench: cannot list: %s\n", strerror(errno));
		return BENCH_IO;
	}
	while ((errno = 0, f = fts_read(t)) != NULL) {
		if (f->fts_info == FTS_NS || f->fts_info == FTS_DNR || f->fts_info == FTS_ERR) {
			fprintf(stderr, "vp-bench: %s: %s\n", f->fts_path, strerror(f->fts_errno));
			code = BENCH_USAGE;
		} else if (is_lua(f)) {
			int rc = list_one(f->fts_path);

			code = code == BENCH_OK ? rc : code;
		}
	}
	if (errno != 0) {
		fprintf(stderr, "vp-bench: cannot list: %s\n", strerror(errno));
		code = code == BENCH_OK ? BENCH_IO : code;
	}
	fts_close(t);
	return code;
}

int bench_list_main(int argc, char **argv)
{
	char seeds[PATH_MAX], own[PATH_MAX];
	char *dirs[] = { seeds, own, NULL };

	if (argc > 1 && strcmp(argv[1], "--metrics") == 0)
		return bench_lua_print(stdout, "show", "metrics", NULL, 0);
	if (argc > 1 && argv[1][0] == '-') {
		FILE *f = strcmp(argv[1], "--help") == 0 ? stdout : stderr;

		fprintf(f, "Usage: vp-bench list [--metrics] [DIR...]\n");
		return f == stdout ? BENCH_OK : BENCH_USAGE;
	}
	if (argc > 1)
		return list_files(argv + 1);
	xk_near_graphs("seeds", seeds, sizeof seeds);
	xk_near_graphs("bench", own, sizeof own);
	return list_files(dirs);
}

/* ---- show, export ---------------------------------------------------------------------- */

int bench_show(FILE *f, const json_t *doc, enum bench_format format)
{
	static const char *const by[] = { [BENCH_TABLE] = "table", [BENCH_CSV] = "csv", [BENCH_LINES] = "lines" };
	json_t *args[] = { (json_t *)doc };

	if (format != BENCH_JSON)
		return bench_lua_print(f, "show", by[format], args, 1);
	if (json_dumpf(doc, f, JSON_INDENT(1)) != 0)
		return BENCH_IO;
	fputc('\n', f);
	return fflush(f) != 0 || ferror(f) ? BENCH_IO : BENCH_OK;
}

static int show_file(int argc, char **argv, enum bench_format format)
{
	struct bench_options o;
	char why[4400];
	json_t *doc;
	int code;

	bench_options(&o, argc, argv);
	if (!bench_whole(&o, argv[0]))
		return BENCH_USAGE;
	if (o.nfiles != 1) {
		fprintf(stderr, "%s: which result? (one JSON file that vp-bench run -o wrote)\n", argv[0]);
		return BENCH_USAGE;
	}
	doc = bench_doc_load(o.file[0], why, sizeof why);
	if (doc == NULL) {
		fprintf(stderr, "vp-bench: %s\n", why);
		return BENCH_IO;
	}
	bench_doc_review(doc);
	code = bench_show(stdout, doc, o.format != BENCH_TABLE ? o.format : format);
	json_decref(doc);
	return code;
}

int bench_show_main(int argc, char **argv)
{
	return show_file(argc, argv, BENCH_TABLE);
}

int bench_export_main(int argc, char **argv)
{
	return show_file(argc, argv, BENCH_CSV);
}

static int print_env(bool json, bool hints, const char *root)
{
	json_t *env = bench_env(), *list = hints ? bench_hints(root, env) : NULL, *what = list ? list : env;
	int code = BENCH_OK;

	if (json) {
		json_dumpf(what, stdout, JSON_INDENT(1));
		putchar('\n');
	} else {
		code = bench_lua_print(stdout, "env", hints ? "hints" : "table", &what, 1);
	}
	json_decref(list);
	json_decref(env);
	return code;
}

int bench_env_main(int argc, char **argv)
{
	bool json = false, hints = false;
	const char *root = "";

	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--json") == 0) {
			json = true;
		} else if (strcmp(argv[i], "--fix-hints") == 0) {
			hints = true;
		} else if (strcmp(argv[i], "--root") == 0 && i + 1 < argc) {
			root = argv[++i];
		} else {
			fprintf(strcmp(argv[i], "--help") == 0 ? stdout : stderr,
				"Usage: vp-bench env [--json] [--fix-hints [--root DIR]]\n");
			return strcmp(argv[i], "--help") == 0 ? BENCH_OK : BENCH_USAGE;
		}
	return print_env(json, hints, root);
}
