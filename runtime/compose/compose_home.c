/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * compose_home.c - finds the graphs that come with the tools; see xk_home.h.
 */
#include "runtime/compose/xk_home.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/compose/dirs.h"

/* From the folder of the program: of a build, of an installation. */
static const char *const beside[] = { "graphs", "../share/xkvp/graphs" };

bool xk_home_beside(const char *name, char *path, size_t room)
{
	char own[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", own, sizeof own - 1);
	char *slash;

	own[n > 0 ? n : 0] = '\0';
	slash = strrchr(own, '/');
	if (slash == NULL)
		return false;
	snprintf(path, room, "%.*s%s", (int)(slash + 1 - own), own, name);
	return true;
}

void xk_home_graphs(const char *rel, char *path, size_t room)
{
	char folder[PATH_MAX + 32], full[PATH_MAX];
	const char *sep = *rel != '\0' ? "/" : "";

	for (unsigned i = 0; i < sizeof beside / sizeof beside[0]; i++) {
		if (xk_home_beside(beside[i], folder, sizeof folder) && realpath(folder, full) != NULL) {
			snprintf(path, room, "%s%s%s", full, sep, rel);
			return;
		}
	}
	snprintf(path, room, "%s%s%s", XK_GRAPHS_DIR, sep, rel);
}

void xk_near_graphs(const char *rel, char *path, size_t room)
{
	snprintf(path, room, "graphs/%s", rel);
	if (access(path, R_OK) != 0)
		xk_home_graphs(rel, path, room);
}

void xk_near_folder(const char *rel, const char *file, char *path, size_t room)
{
	snprintf(path, room, "graphs/%s/%s", rel, file);
	if (access(path, R_OK) == 0)
		snprintf(path, room, "graphs/%s", rel);
	else
		xk_home_graphs(rel, path, room);
}
