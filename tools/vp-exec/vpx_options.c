/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpx_options.c - the command line of vp-exec.
 *
 * Options end where a program begins; what follows is the program's, up to the next --at or --wait.  By hand, as the
 * words of programs are none of ours to look at.
 */
#include "tools/vp-exec/vpx.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
	"Usage: vp-exec GRAPH [NAME=VALUE ...] [OPTION ...] -- PROGRAM [ARG ...]\n"
	"  or:  vp-exec GRAPH [NAME=VALUE ...] [OPTION ...] --at NODE PROGRAM [ARG ...]\n"
	"               [[--wait NODE:PORT] --at NODE PROGRAM [ARG ...]]...\n"
	"Runs unmodified programs on the sockets of a graph: their IPv4 sockets of TCP and UDP are\n"
	"those of a node `sock`.\n"
	"\n"
	"      --at NODE            A program on that node; without, on the graph's only one\n"
	"      --wait NODE:PORT     Begin the next program when somebody listens there\n"
	"      --all                End when all programs have ended, not with the last one\n"
	"      --hosts FILE         Names for the programs, as hosts(5) has them, beside those of nodes\n"
	"      --isolate            A network of the program's own: interfaces, hosts and resolv.conf agree\n"
	"                           with the graph\n"
	"      --stats              At the end, calls answered and the like, on stderr\n"
	"      --help, --version\n"
	"\n"
	"Exit code: that of the last program, or with --all of the first that failed; a signal that\n"
	"ended it ends vp-exec, too.  125: vp-exec failed; 126, 127: the program cannot be run, is\n"
	"not found.  The manual: vp-exec(1), docs/vp-exec.md.\n";

static _Noreturn __attribute__((format(printf, 1, 2))) void wrong(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fputs("vp-exec: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputs("\nTry 'vp-exec --help'.\n", stderr);
	va_end(ap);
	exit(VPX_FAILED);
}

static _Noreturn void tell(const char *text)
{
	fputs(text, stdout);
	exit(fflush(stdout) == 0 ? 0 : VPX_FAILED);
}

static struct vpx_program *program_new(void)
{
	if (vpx.nprograms == VPX_PROGRAMS)
		wrong("at most %d programs", VPX_PROGRAMS);
	return &vpx.program[vpx.nprograms++];
}

/* NODE:PORT, of the program that comes next. */
static void wait_for(struct vpx_program *p, char *word)
{
	char *colon = word != NULL ? strrchr(word, ':') : NULL, *end = NULL;
	unsigned long port = colon != NULL ? strtoul(colon + 1, &end, 10) : 0;

	if (colon == NULL || colon == word || colon[1] < '0' || colon[1] > '9' || *end != '\0' || port == 0 || port > 65535)
		wrong("--wait wants NODE:PORT%s%s", word != NULL ? ", not " : "", word != NULL ? word : "");
	*colon = '\0';
	p->wait_at = word;
	p->wait_port = (uint16_t)port;
}

static bool begins_next(const char *word) { return strcmp(word, "--at") == 0 || strcmp(word, "--wait") == 0; }

/* A program's words, from argv[i] on; the place of the word behind them. */
static int words_of(struct vpx_program *p, int argc, char **argv, int i, bool to_the_end)
{
	int n = 0;

	if (i == argc || (!to_the_end && begins_next(argv[i])))
		wrong("which program%s%s?", p->at != NULL ? " at " : "", p->at != NULL ? p->at : "");
	while (i + n < argc && (to_the_end || !begins_next(argv[i + n])))
		n++;
	p->argv = calloc((size_t)n + 1, sizeof *p->argv);
	if (p->argv == NULL)
		wrong("out of memory");
	memcpy(p->argv, argv + i, (size_t)n * sizeof *p->argv);
	return i + n;
}

/* [--wait NODE:PORT] --at NODE PROGRAM ARG..., as often as there are. */
static void programs(int argc, char **argv, int i)
{
	while (i < argc) {
		struct vpx_program *p = program_new();

		if (strcmp(argv[i], "--wait") == 0) {
			wait_for(p, i + 1 < argc ? argv[i + 1] : NULL);
			i += 2;
		}
		if (i >= argc || strcmp(argv[i], "--at") != 0)
			wrong("behind --wait comes --at NODE PROGRAM");
		if (i + 1 == argc)
			wrong("--at wants NODE PROGRAM");
		p->at = argv[i + 1];
		i = words_of(p, argc, argv, i + 2, false);
	}
}

/* The number of words that it takes. */
static int option(const char *word, const char *value)
{
	if (strcmp(word, "--hosts") == 0) {
		if (value == NULL)
			wrong("--hosts wants FILE");
		vpx.hosts = value;
		return 2;
	}
	if (strcmp(word, "--isolate") == 0)
		vpx.isolate = true;
	else if (strcmp(word, "--all") == 0)
		vpx.all = true;
	else if (strcmp(word, "--stats") == 0)
		vpx.stats = true;
	else if (strcmp(word, "--help") == 0)
		tell(help);
	else if (strcmp(word, "--version") == 0)
		tell("vp-exec (xkvp) 0.1.0\n");
	else
		wrong("no option %s", word);
	return 1;
}

void vpx_options(int argc, char **argv)
{
	int i = 1;

	vpx.args = calloc((size_t)argc, sizeof *vpx.args);
	if (vpx.args == NULL)
		wrong("out of memory");
	for (int n; i < argc && strcmp(argv[i], "--") != 0 && !begins_next(argv[i]); i += n) {
		n = 1;
		if (argv[i][0] == '-')
			n = option(argv[i], i + 1 < argc ? argv[i + 1] : NULL);
		else if (vpx.file == NULL)
			vpx.file = argv[i];
		else if (strchr(argv[i], '=') != NULL)
			vpx.args[vpx.nargs++] = argv[i];
		else
			wrong("%s is no NAME=VALUE; a program comes behind -- or --at NODE", argv[i]);
	}
	if (vpx.file == NULL)
		wrong("which graph?");
	if (i == argc)
		wrong("which program? It comes behind -- or --at NODE");
	if (strcmp(argv[i], "--") == 0)
		words_of(program_new(), argc, argv, i + 1, true);
	else
		programs(argc, argv, i);
}
