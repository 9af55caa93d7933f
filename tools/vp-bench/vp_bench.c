/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_bench.c - vp-bench: measures graphs, point by point.
 *
 * stdout carries the chosen format and nothing else; progress, warnings and
 * errors go to stderr.
 */
#include "tools/vp-bench/bench.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/compose/xk_plugins.h"
#include "runtime/compose/xk_variant.h"
#include "runtime/run/xk_json.h"
#include "tools/vp-bench/bench_lua.h"

static const struct command {
	const char *name;
	int       (*main)(int argc, char **argv);
	const char *usage, *doc;
} commands[] = {
	{ "list", bench_list_main, "[--metrics] [DIR...]", "bench files below graphs/ (or DIR), or the metrics" },
	{ "plan", bench_plan_main, "FILE... [k=v ...]", "the points, the runs and how long they take; --commands --shards N: lines for N machines" },
	{ "run", bench_run_main, "FILE... [k=v ...]", "run them (vp-bench run --help)" },
	{ "compare", bench_compare_main, "A.json B.json", "is B faster? also FILE [k=v ...] --vs [k=v ...]" },
	{ "advise", bench_advise_main, "FILE [k=v ...]", "which threading preset the papers' rules recommend, and why" },
	{ "selftest", bench_selftest_main, "[FILE] [k=v ...]", "compare against itself and a planted slow-down: false positives, and what is found" },
	{ "reproduce", bench_reproduce_main, "NAME...", "a paper's figures and tables by name: schmidt1996.fig8, willmann2006, all, --list" },
	{ "show", bench_show_main, "RESULT.json", "the table of a result" },
	{ "report", bench_report_main, "RESULT.json... -o FILE", "results as a page with figures, HTML or Markdown" },
	{ "merge", bench_merge_main, "FILE... -o FILE", "the parts of a sweep that --shard made, as one result" },
	{ "export", bench_export_main, "RESULT.json", "a result as CSV or JSON lines, one per run and metric" },
	{ "env", bench_env_main, "[--fix-hints]", "machine and environment, its warnings, and commands that mend them" },
	{ "micro", bench_micro_main, "", "what the machine's primitives cost: locks, hand-overs, memory" },
	{ "affinity", bench_affinity_main, "", "what a message costs by what is cached and where it was last: this machine's table 3" },
	{ "misses", bench_misses_main, "FILE [k=v ...]", "estimated cache misses per message (cachegrind)" },
	{ "calibrate", bench_calibrate_main, "[-o FILE]", "what models need to know of this machine, as JSON or as a machine file" },
	{ "goals", bench_goals_main, "[udp/lwip hop ...]", "the project's own scoreboard" },
	{ NULL, NULL, NULL, NULL },
};

static int usage(FILE *f, int code)
{
	fprintf(f, "Usage: vp-bench COMMAND ...\n\n");
	for (const struct command *c = commands; c->name != NULL; c++)
		fprintf(f, "  %-10s%-24s%s\n", c->name, c->usage, c->doc);
	fprintf(f, "\n--lua-path DIR, anywhere: take the Lua modules that look at results from DIR instead of those inside.\n");
	fprintf(f, "\nExit codes: 0 good or undecided, 1 a shape failed, 2 wrong usage, 3 errors in a bench file, 4 a run failed,\n"
		"5 the result could not be written, 6 interrupted.\n");
	return code;
}

static int unknown(const char *word)
{
	const char *names[32], *near;
	unsigned n = 0;

	for (const struct command *c = commands; c->name != NULL; c++)
		names[n++] = c->name;
	near = xk_errs_suggest(word, names, n);
	if (near != NULL)
		fprintf(stderr, "vp-bench: there is no command '%s' (did you mean '%s'?)\n", word, near);
	else
		fprintf(stderr, "vp-bench: there is no command '%s'\n", word);
	return BENCH_USAGE;
}

static bool has_flag(const char *flag, int argc, char **argv)
{
	size_t n = strlen(flag);

	for (int i = 2; i < argc; i++)
		if (strncmp(argv[i], flag, n) == 0 && (argv[i][n] == '\0' || argv[i][n] == '='))
			return true;
	return false;
}

/* run --reproduce NAME is reproduce NAME; plan --commands has words of its own. */
static int (*main_of(const struct command *c, int argc, char **argv))(int, char **)
{
	if (c->main == bench_run_main && has_flag("--reproduce", argc, argv))
		return bench_reproduce_main;
	if (c->main == bench_plan_main && (has_flag("--commands", argc, argv) || has_flag("--shards", argc, argv)))
		return bench_commands_main;
	return c->main;
}

/* Takes --lua-path DIR out of the words, wherever it stands; how many are left. */
static int take_lua_path(int argc, char **argv)
{
	int n = 0;

	for (int i = 0; i < argc; i++) {
		if (strncmp(argv[i], "--lua-path=", 11) == 0)
			bench_lua_from(argv[i] + 11);
		else if (strcmp(argv[i], "--lua-path") == 0 && i + 1 < argc)
			bench_lua_from(argv[++i]);
		else
			argv[n++] = argv[i];
	}
	argv[n] = NULL;
	return n;
}

int main(int argc, char **argv)
{
	char name[64];
	int (*run)(int, char **), code;

	if (!xk_variant_run("vp-bench", argv))
		return BENCH_USAGE;
	xk_json_start("vp-bench", BENCH_IO);
	signal(SIGXFSZ, SIG_IGN);        /* a file that may not grow is an error to tell */
	argc = take_lua_path(argc, argv);
	if (argc < 2)
		return usage(stderr, BENCH_USAGE);
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0)
		return usage(stdout, BENCH_OK);
	if (strcmp(argv[1], "--version") == 0) {
		puts("vp-bench (xkvp) " BENCH_VERSION);
		return BENCH_OK;
	}
	xk_plugins_find("vp-bench");
	for (const struct command *c = commands; c->name != NULL; c++) {
		if (strcmp(argv[1], c->name) != 0)
			continue;
		run = main_of(c, argc, argv);
		snprintf(name, sizeof name, "vp-bench %s", run == bench_reproduce_main ? "reproduce" : c->name);
		argv[1] = name;
		code = run(argc - 1, argv + 1);
		if (fflush(stdout) != 0 || ferror(stdout)) {
			fprintf(stderr, "vp-bench: cannot write the output\n");
			code = code ? code : BENCH_IO;
		}
		return code;
	}
	return unknown(argv[1]);
}
