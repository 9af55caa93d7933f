/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_plugins.h - protocols and drivers from outside the tree: found, looked at, and named by graph files from then on.
 *
 * The control thread's, before the first graph file is read.  What was loaded stays until the program ends.
 */
#ifndef XK_PLUGINS_H
#define XK_PLUGINS_H

#include "runtime/upi/xk_proto.h"

/* Folders and files with ':' between, as VP_PLUGIN_PATH has them, in front of the folder of the installation. */
#define XK_PLUGIN_PATH "VP_PLUGIN_PATH"

/* Every protocol and driver that a graph file can name: those of the build, then those of plug-ins in the order in
 * which they were loaded; NULL last.  Valid until the next one is loaded. */
const struct xk_proto *const *xk_protos(void);
/* The first of that name among them, or NULL. */
const struct xk_proto *xk_protos_find(const char *name);

/* Loads one: all that it brings, or nothing.  One that is loaded already is none of a failure.  XK_E_NOENT: there is
 * no such file; XK_E_INVAL: it cannot be used; why[n]: a sentence behind its name, with what to do about it. */
int xk_plugin_load(const char *file, char *why, size_t n);

/* The same beside a graph that runs; and where a plug-in that was loaded before brings something of that name, graph files mean
 * this one from now on.  Nodes that are there stay what they are.  A newer version of a plug-in is in a file of another
 * name: the linker knows one that it has by its name. */
int xk_plugin_renew(const char *file, char *why, size_t n);

/* What graph files mean now, to be put back when the one plug-in that is renewed is not wanted after all: back or forget,
 * once.  NULL: out of memory.  Back: nobody may have a table or a spec of the time between; what was loaded then stays, unnamed, and can be
 * loaded again. */
struct xk_plugins_kept *xk_plugins_keep(void);
void xk_plugins_back(struct xk_plugins_kept *k);
void xk_plugins_forget(struct xk_plugins_kept *k);       /* NULL is legal */

/* Loads what the environment names, files, and of folders all that end in ".so", by name; then those of the
 * installation's folder, if that is there.  Each bad one is a line on stderr that begins with the tool's name; the
 * others are used. */
void xk_plugins_find(const char *tool);
/* --plugin FILE of a tool: loads it, and has the programs that this one starts load it, too.  False: said on stderr. */
bool xk_plugin_ask(const char *tool, const char *file);

/* What no graph could use p for, as a sentence in why[n] behind "its protocol 'x' ..."; XK_E_INVAL, else XK_OK. */
int xk_proto_fault(const struct xk_proto *p, char *why, size_t n);
/* The same of its name alone: no graph file could write it, or it means something else there. */
int xk_proto_name_fault(const char *name, char *why, size_t n);

#endif
