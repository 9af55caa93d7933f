/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wire_scripts.c - runs wire scripts and reports each as one line of TAP.
 *
 *   wire_scripts [FILE|DIR ...]
 *
 * Without arguments: our own (tests/pkt/scripts), then those written for other
 * stacks, which are no part of this tree: $XK_PKT, or shared/pkt beside it; absent,
 * one line says that they were skipped.  The folder a script lies in names its
 * profile.  deviations.txt names scripts that must fail, each with its reason; one
 * of them that passes is a failure of this test.
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "runtime/upi/xk_graph.h"
#include "tools/pkt/pkt.h"

#define NAME_MAX_LEN 1024
static const char *top;
static struct { char name[256], why[512]; bool seen; } deviation[256];
static unsigned ndeviations;
static struct { unsigned run, passed, expected; } total;
static bool parse_only;

/* ---- deviations ------------------------------------------------------------------- */

/* "folder/script.pkt  RFC 5961 3: reason" per line; # begins a remark. */
static void read_deviations(const char *path)
{
	char line[1024];
	FILE *f = fopen(path, "r");

	while (f != NULL && fgets(line, sizeof line, f) != NULL) {
		char *why;

		line[strcspn(line, "\n")] = '\0';
		if (line[0] == '#' || line[0] == '\0' || ndeviations == 256)
			continue;
		why = line + strcspn(line, " \t");
		if (*why != '\0')
			*why++ = '\0';
		snprintf(deviation[ndeviations].name, sizeof deviation[0].name, "%.255s", line);
		snprintf(deviation[ndeviations].why, sizeof deviation[0].why, "%.511s", why + strspn(why, " \t"));
		ndeviations++;
	}
	if (f != NULL)
		fclose(f);
}

static int deviation_of(const char *name)
{
	for (unsigned i = 0; i < ndeviations; i++)
		if (strcmp(deviation[i].name, name) == 0)
			return (int)i;
	return -1;
}

/* ---- one script ------------------------------------------------------------------------ */

static const char *profile_of(const char *path)
{
	return strstr(path, "/freebsd/") != NULL ? "freebsd" :
	       strstr(path, "/google/") != NULL || strstr(path, "/gvisor/") != NULL ? "linux" : NULL;
}

static void remark(const char *text)
{
	char *copy = strdup(text), *save = NULL;

	for (char *l = strtok_r(copy, "\n", &save); l != NULL; l = strtok_r(NULL, "\n", &save))
		printf("# %s\n", l);
	free(copy);
}

static void run_one(const char *path, const char *name)
{
	/* Those of gvisor were written for a wire between two machines. */
	struct pkt_opts o = { .profile = profile_of(path), .tolerance_us = strstr(path, "/gvisor/") ? 100000 : 0, .notes = getenv("XK_PKT_NOTES") != NULL,
			      .show = getenv("XK_PKT_SHOW") != NULL };
	enum pkt_result r = PKT_BAD_SCRIPT;
	int d = deviation_of(name);
	struct pkt_script *s;
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);
	bool good;

	s = pkt_parse_file(path, out);
	if (s != NULL)
		r = parse_only ? PKT_PASS : pkt_run(s, &o, out);
	pkt_free(s);
	fclose(out);
	total.run++;
	total.passed += r == PKT_PASS;
	good = (r == PKT_PASS) != (d >= 0);
	printf("%s %u - %s%s%s\n", good ? "ok" : "not ok", total.run, name, d >= 0 ? ": deviates: " : "",
	       d >= 0 ? deviation[d].why : "");
	if (d >= 0) {
		deviation[d].seen = true;
		total.expected++;
		if (r == PKT_PASS)
			printf("# it passes now: take it out of deviations.txt\n");
	}
	if (!good || o.notes || o.show)
		remark(text);
	free(text);
}

/* ---- folders ----------------------------------------------------------------------------- */

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static void run_path(const char *path, size_t skip)
{
	struct dirent **list;
	struct stat st;
	int n;

	if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode)) {
		run_one(path, path + skip);
		return;
	}
	n = scandir(path, &list, NULL, by_name);
	for (int i = 0; i < n; i++) {
		char sub[NAME_MAX_LEN];
		size_t len = strlen(list[i]->d_name);
		bool script = len > 4 && strcmp(list[i]->d_name + len - 4, ".pkt") == 0;

		snprintf(sub, sizeof sub, "%s/%s", path, list[i]->d_name);
		if (list[i]->d_name[0] != '.' && (script || (stat(sub, &st) == 0 && S_ISDIR(st.st_mode))))
			run_path(sub, skip);
		free(list[i]);
	}
	free(list);
}

static void run_others(void)
{
	const char *given = getenv("XK_PKT");
	char path[NAME_MAX_LEN];
	struct stat st;

	snprintf(path, sizeof path, "%s%s", given && *given ? given : top, given && *given ? "" : "/../shared/pkt");
	if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode)) {
		printf("ok %u - scripts written for other stacks # SKIP not there: %s (XK_PKT names another folder)\n",
		       ++total.run, path);
		return;
	}
	run_path(path, strlen(path) + 1);
	for (unsigned i = 0; i < ndeviations; i++)
		if (!deviation[i].seen) {
			printf("not ok %u - deviations.txt: there is no script %s\n", ++total.run, deviation[i].name);
		}
}

int main(int argc, char **argv)
{
	char path[NAME_MAX_LEN];

	setvbuf(stdout, NULL, _IOLBF, 0);
	top = getenv("top_srcdir") ? getenv("top_srcdir") : ".";
	parse_only = getenv("XK_PKT_PARSE") != NULL;
	if (xk_proto_find("tcp") == NULL && !parse_only) {
		printf("1..0 # SKIP this build has no tcp\n");
		return 0;
	}
	snprintf(path, sizeof path, "%s/tests/pkt/deviations.txt", top);
	read_deviations(path);
	for (int i = 1; i < argc; i++)
		run_path(argv[i], 0);
	if (argc == 1) {
		snprintf(path, sizeof path, "%s/tests/pkt/scripts", top);
		run_path(path, strlen(top) + 1);
		run_others();
	}
	printf("# %u scripts, %u passed, %u DEVIATE as deviations.txt says\n", total.run, total.passed, total.expected);
	printf("1..%u\n", total.run);
	return 0;
}
