/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_machine_file.h - machine files as every reader of them finds and reads them: by name in a folder, a table of
 * values that stand with their sources.
 *
 * vp-run reads what is said of graphs (xk_ledger.h), vp-sim what is said of models.  Control path;
 * complaints go to the spec's place of what they are about.
 */
#ifndef XK_MACHINE_FILE_H
#define XK_MACHINE_FILE_H

#include "runtime/compose/xk_compose.h"

/* ---- files ---------------------------------------------------------------------------- */

#define XK_MACHINES 64u
struct xk_machine_names { char name[XK_MACHINES][64]; unsigned n; };

/* The folder of machines: VP_SIM_MACHINES, or that of the graphs that come with the tools.  One thread. */
const char *xk_machine_folder(void);
/* Those of a folder, in order; the first XK_MACHINES that are met. */
void xk_machine_list(const char *folder, struct xk_machine_names *names);
/* The file of a machine by its name or path.  False: it is a name, and there is no such file in the folder. */
bool xk_machine_path(const char *folder, const char *name, char *path, size_t room);
/* "name k=v ...": a machine whose file asks for arguments, told as a graph's are on a command line. */
#define XK_MACHINE_ARGS 16u
struct xk_machine_asked { char text[4096]; const char *name, *arg[XK_MACHINE_ARGS]; unsigned nargs; };
/* Of *out all that it points to.  False: it is longer, or has more of them, than fit. */
bool xk_machine_ask(const char *text, struct xk_machine_asked *out);
/* A name of the list that was likely meant; NULL. */
const char *xk_machine_near(const struct xk_machine_names *names, const char *name);

/* ---- tables --------------------------------------------------------------------------------- */

/* As they stand there; of the spec. */
struct xk_sourced { double v; const char *text, *source; };

/* The table of machine "name" { ... }; NULL, complained about: the file describes something else. */
const struct xk_value *xk_machine_table(const struct xk_spec *s, struct xk_errs *e, const char *file);
/* Complains of what stands in tab, which is at path, beside these names, or by none. */
void xk_machine_keys(const struct xk_spec *s, struct xk_errs *e, const struct xk_value *tab, const char *const *path,
		     const char *const *names, unsigned n);
/* The last of path in tab: { 1.5, source = "where it is from" }.  False: complained about, or what it is has been. */
bool xk_machine_value(const struct xk_spec *s, struct xk_errs *e, const struct xk_value *tab, const char *const *path,
		      struct xk_sourced *out);
/* The same of a word: { "arrival", source = "where it is from" }. */
bool xk_machine_word(const struct xk_spec *s, struct xk_errs *e, const struct xk_value *tab, const char *const *path,
		     struct xk_sourced *out);

#endif
