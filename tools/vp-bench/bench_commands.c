/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_commands.c - plan --commands: the command lines that make a sweep the work of several machines.
 *
 * A line runs one part; GNU parallel over ssh or an array of Slurm takes them as they are.  The last
 * line is a comment: the command that makes the parts one result.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/vp-bench/bench_papers.h"

struct commands {
	struct bench_options o;
	const char *word[BENCH_ARGS + 128], *seeds, *shards;
	unsigned    nwords, n;
	bool        commands, figures;
	char        stem[1024];
};

static int usage(FILE *f, int code)
{
	fputs("Usage: vp-bench plan --commands --shards N FILE|FIGURE... [k=v ...] [options of run] [-o RESULT.json]\n"
	      "Prints a line for each of N parts, and as a comment the one that merges them.\n", f);
	return code;
}

/* ---- the command line ----------------------------------------------------------------- */

/* The value of an option that takes one: --name=V, --name V, -oV, -o V. */
static const char *valued(const char *flag, char **argv, int *i)
{
	size_t n = strlen(flag);
	bool is_long = flag[1] == '-';

	if (strncmp(argv[*i], flag, n) != 0)
		return NULL;
	if (argv[*i][n] == '\0')
		return argv[*i + 1] != NULL ? argv[++*i] : NULL;
	if (is_long)
		return argv[*i][n] == '=' ? argv[*i] + n + 1 : NULL;
	return argv[*i] + n;
}

/* What every part's line has, and what is ours; the rest of argv is for the options of run. */
static int own_flags(struct commands *c, int argc, char **argv)
{
	int n = 1;

	for (int i = 1; i < argc; i++) {
		int from = i;
		const char *v;

		if (strcmp(argv[i], "--commands") == 0) {
			c->commands = true;
			continue;
		}
		if ((v = valued("--shards", argv, &i)) != NULL) {
			c->shards = v;
			continue;
		}
		if ((v = valued("--seeds", argv, &i)) != NULL) {
			c->seeds = v;
		} else if (valued("-o", argv, &i) != NULL || valued("--output", argv, &i) != NULL) {
			for (int k = from; k <= i; k++)
				argv[n++] = argv[k];
			continue;
		} else {
			argv[n++] = argv[i];
		}
		for (int k = from; k <= i && c->nwords < XK_ARRAY_LEN(c->word); k++)
			c->word[c->nwords++] = argv[k];
	}
	argv[n] = NULL;
	return n;
}

/* "r" of r.json, "fig07-udp" of graphs/.../fig07-udp.lua, "schmidt1996.fig8". */
static bool find_stem(struct commands *c)
{
	const char *name = c->o.out != NULL ? c->o.out : c->o.file[0], *slash = strrchr(name, '/');
	const char *base = c->o.out == NULL && slash != NULL ? slash + 1 : name, *end = c->o.out != NULL ? ".json" : ".lua";
	size_t n = strlen(base), m = strlen(end);

	if (n > m && strcmp(base + n - m, end) == 0)
		n -= m;
	if (n < sizeof c->stem)
		snprintf(c->stem, sizeof c->stem, "%.*s", (int)n, base);
	else
		fprintf(stderr, "vp-bench plan: the name of the result is too long\n");
	return n < sizeof c->stem;
}

/* Files, or figures: not both. */
static bool find_kind(struct commands *c)
{
	for (unsigned i = 0; i < c->o.nfiles; i++) {
		bool figure = access(c->o.file[i], F_OK) != 0 && strchr(c->o.file[i], '/') == NULL;

		if (i != 0 && figure != c->figures) {
			fprintf(stderr, "vp-bench plan: %s is a %s, %s a %s: a line runs one or the other\n", c->o.file[0],
				c->figures ? "figure" : "file", c->o.file[i], figure ? "figure" : "file");
			return false;
		}
		c->figures = figure;
	}
	return true;
}

/* ---- what can be found wrong now ---------------------------------------------------------- */

static int check_figures(const struct commands *c)
{
	struct papers *p = calloc(1, sizeof *p);
	bool chosen[PAPERS_MAX] = { false };
	int code = p != NULL && papers_find(p, c->seeds) ? BENCH_OK : BENCH_USAGE;

	for (unsigned i = 0; code == BENCH_OK && i < c->o.nfiles; i++)
		if (papers_choose(p, c->o.file[i], chosen) == 0) {
			fprintf(stderr, "vp-bench plan: there is no file '%s', nor a figure or table (vp-bench reproduce --list)\n",
				c->o.file[i]);
			code = BENCH_USAGE;
		}
	if (p != NULL)
		papers_free(p);
	free(p);
	return code;
}

/* Loads it; *units: how many pieces its work has, with those of files before. */
static int check_file(struct commands *c, unsigned i, unsigned *units)
{
	const struct bench_shard s = { 1, c->n };
	struct bench b;
	int code = bench_load(&b, c->o.file[i], c->o.arg, c->o.nargs);

	if (code == BENCH_OK)
		code = bench_apply(&c->o, &b);
	if (b.e != NULL && xk_errs_count(b.e) != 0)
		bench_print_errors(&b);
	if (code == BENCH_OK)
		*units = bench_divide(&b, &s, NULL, *units);
	bench_free(&b);
	return code;
}

static int check(struct commands *c)
{
	unsigned units = 0;
	int code = BENCH_OK;

	if (c->figures)
		return check_figures(c);
	for (unsigned i = 0; code == BENCH_OK && i < c->o.nfiles; i++)
		code = check_file(c, i, &units);
	if (code == BENCH_OK && units < c->n)
		fprintf(stderr, "vp-bench plan: what is compared stays together, which leaves %u piece%s: %u of %u parts will have nothing to do\n",
			units, units == 1 ? "" : "s", c->n - units, c->n);
	return code;
}

/* ---- lines -------------------------------------------------------------------------------------- */

/* A word of a shell. */
static void put_word(const char *s)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/=:,+%@-";

	putchar(' ');
	if (*s != '\0' && s[strspn(s, plain)] == '\0') {
		fputs(s, stdout);
		return;
	}
	putchar('\'');
	for (; *s != '\0'; s++)
		if (*s == '\'')
			fputs("'\\''", stdout);
		else
			putchar(*s);
	putchar('\'');
}

static void put_part(const struct commands *c, unsigned i)
{
	char name[1100];

	snprintf(name, sizeof name, "%s.%uof%u.json", c->stem, i, c->n);
	put_word(name);
}

static void print(const struct commands *c)
{
	char name[1100];

	for (unsigned i = 1; i <= c->n; i++) {
		fputs(c->figures ? "vp-bench reproduce" : "vp-bench run", stdout);
		for (unsigned k = 0; k < c->nwords; k++)
			put_word(c->word[k]);
		printf(" --shard %u/%u -o", i, c->n);
		put_part(c, i);
		putchar('\n');
	}
	fputs("# vp-bench merge", stdout);
	for (unsigned i = 1; i <= c->n; i++)
		put_part(c, i);
	fputs(" -o", stdout);
	snprintf(name, sizeof name, "%s.json", c->stem);
	put_word(name);
	putchar('\n');
}

int bench_commands_main(int argc, char **argv)
{
	static struct commands c;
	char why[200];
	int code;

	if (argc == 2 && strcmp(argv[1], "--help") == 0)
		return usage(stdout, BENCH_OK);
	argc = own_flags(&c, argc, argv);
	bench_options(&c.o, argc, argv);
	if (!bench_whole(&c.o, argv[0]))
		return BENCH_USAGE;
	if (!c.commands || c.shards == NULL || c.o.nfiles == 0)
		return usage(stderr, BENCH_USAGE);
	c.n = bench_shard_count(c.shards, why, sizeof why);
	if (c.n == 0) {
		fprintf(stderr, "vp-bench plan: --shards %s\n", why);
		return BENCH_USAGE;
	}
	if (c.o.format_given) {
		fprintf(stderr, "vp-bench plan: parts are JSON: without --format\n");
		return BENCH_USAGE;
	}
	if (!find_kind(&c) || !find_stem(&c))
		return BENCH_USAGE;
	code = check(&c);
	if (code == BENCH_OK)
		print(&c);
	return code;
}
