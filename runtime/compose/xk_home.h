/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_home.h - where the graphs are that come with the tools: benches, the papers' figures, machines.
 *
 * In a build they are beside the program, installed they are below its prefix, wherever that has been moved to, or else
 * where configure said.  No program holds the name of a folder of the sources.  Control path, any thread.
 */
#ifndef XK_HOME_H
#define XK_HOME_H

#include <stdbool.h>
#include <stddef.h>

/* The path of NAME in the program's own folder; false: nobody says which that is. */
bool xk_home_beside(const char *name, char *path, size_t room);
/* The path of graphs/REL, in full; "" is the folder itself.  Whether it is there is for who opens it; a path that does
 * not fit is cut. */
void xk_home_graphs(const char *rel, char *path, size_t room);
/* The same where there is no such file below graphs/ of the current folder, which comes first; else that. */
void xk_near_graphs(const char *rel, char *path, size_t room);
/* The folder graphs/REL in which `file` is: below the current folder, or else of those that come with the tools. */
void xk_near_folder(const char *rel, const char *file, char *path, size_t room);

#endif
