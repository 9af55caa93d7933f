/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_save.c - files and figures: a text is written whole or not at all, and gnuplot draws.
 */
#include "tools/vp-bench/bench.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define GNUPLOT_S 60.0

static int write_to(const char *text, const char *path, char *why, size_t n)
{
	FILE *f = fopen(path, "we");
	bool bad;

	if (f == NULL) {
		snprintf(why, n, "%s: %s", path, strerror(errno));
		return BENCH_IO;
	}
	errno = 0;
	bad = fputs(text, f) == EOF || fflush(f) != 0;
	bad = bad || (fsync(fileno(f)) != 0 && errno != EINVAL && errno != EROFS);
	if (bad)
		snprintf(why, n, "%s: %s", path, strerror(errno ? errno : EIO));
	if (fclose(f) != 0 && !bad) {
		snprintf(why, n, "%s: %s", path, strerror(errno));
		bad = true;
	}
	return bad ? BENCH_IO : BENCH_OK;
}

int bench_text_save(const char *text, const char *path, char *why, size_t n)
{
	struct stat st;
	char beside[4096];
	int err;

	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return write_to(text, path, why, n);
	if (snprintf(beside, sizeof beside, "%s.part", path) >= (int)sizeof beside) {
		snprintf(why, n, "the name of the result file is too long");
		return BENCH_IO;
	}
	err = write_to(text, beside, why, n);
	if (err == BENCH_OK && rename(beside, path) != 0) {
		snprintf(why, n, "%s: %s", path, strerror(errno));
		err = BENCH_IO;
	}
	if (err != BENCH_OK)
		unlink(beside);
	return err;
}

char *bench_draw(const char *script, char *why, size_t n)
{
	static const char *const argv[] = { "gnuplot", "-", NULL };
	bool stopped = false;
	char *svg = bench_child_text(argv, script, GNUPLOT_S, &stopped, why, n);

	if (svg != NULL && strstr(svg, "<svg") != NULL && strstr(svg, "</svg>") != NULL)
		return svg;
	if (svg != NULL)
		snprintf(why, n, "gnuplot drew nothing");
	free(svg);
	return NULL;
}
