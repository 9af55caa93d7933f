/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * compose_variant.c - which of the variants of a program runs; see xk_variant.h.
 *
 * Invariant: a variant never looks for another, so there is one exec at most.
 */
#include "runtime/compose/xk_variant.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "runtime/base/xk_cpu.h"
#include "runtime/base/xk_csum.h"
#include "runtime/map/xk_table.h"

#define SUFFIX "-x86-64-v3"

/* Has this build variants?  What another build left beside the program is none of it. */
#ifdef XK_VARIANTS
#define HAS_VARIANTS 1
#else
#define HAS_VARIANTS 0
#endif

bool xk_variant_of(const char *program, char *path, size_t room)
{
	int n = snprintf(path, room, "%s" SUFFIX, program);

	return HAS_VARIANTS && n >= 0 && (size_t)n < room && (xk_cpu_has() & XK_CPU_V3) != 0 && access(path, X_OK) == 0;
}

void xk_variant_plain(char *path)
{
	size_t n = strlen(path), end = sizeof SUFFIX - 1;

	if (n > end && strcmp(path + n - end, SUFFIX) == 0)
		path[n - end] = '\0';
}

/* Whoever looks at a program, and does not follow it into another, is to see this one do it all: valgrind does not;
 * and what has rights that its user has not has them of its file. */
static bool stays(void)
{
	const char *preload = getenv("LD_PRELOAD");

	return getauxval(AT_SECURE) != 0 || (preload != NULL && strstr(preload, "vgpreload") != NULL);
}

/* Who looks for a process by its program's name finds a variant by the name that it was started by. */
static void keep_name(char *own)
{
	size_t before = strlen(own);
	const char *slash;

	xk_variant_plain(own);
	slash = strrchr(own, '/');
	if (slash != NULL && strlen(own) != before)
		(void)prctl(PR_SET_NAME, slash + 1);
}

bool xk_variant_run(const char *name, char **argv)
{
	char own[PATH_MAX], path[PATH_MAX + sizeof SUFFIX];
	ssize_t n;

	if (!xk_cpu_is_known()) {
		fprintf(stderr, "%s: VP_CPU is \"%s\", which is none of %s\n", name, getenv("VP_CPU"), xk_cpu_words());
		return false;
	}
	n = readlink("/proc/self/exe", own, sizeof own - 1);
	own[n > 0 ? n : 0] = '\0';
	if (strcmp(xk_cpu_built(), "x86-64") != 0)
		keep_name(own);
	/* Where it cannot be run after all, this one does everything, too. */
	else if (n > 0 && !stays() && xk_variant_of(own, path, sizeof path))
		(void)execv(path, argv);
	return true;
}

void xk_variant_text(char *text, size_t room)
{
	snprintf(text, room, "code for %s, checksum by %s, hash by %s", xk_cpu_built(), xk_csum_variant(), xk_hash_variant());
}
