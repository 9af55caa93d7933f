/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_compose.h - from the text of a graph file to a graph: load, check, build.
 *
 * Loading runs the file in a sandbox, where it can only describe; what it
 * described is a specification (struct xk_spec): nodes, their values as
 * written, and the place of each.  Checking reads it against the schemas of the
 * protocols and finds everything that can be known before a start.  Building
 * makes the objects, through the same calls that a C program would use.
 *
 *   xk_spec_load -> xk_spec_check -> xk_spec_build -> xk_graph_up -> xk_run
 *
 * All of it is control path: one thread, no VP running.  Every error goes to a
 * collector with its file and line, so that all of them are shown at once.
 * Invariant: what xk_spec_check passed does not fail in xk_spec_build for a
 * reason other than memory.
 */
#ifndef XK_COMPOSE_H
#define XK_COMPOSE_H

#include <stdio.h>
#include "runtime/upi/xk_graph.h"

struct xk_spec;

/* ---- values as written ------------------------------------------------------- */

enum xk_vkind {
	XK_V_NIL,
	XK_V_BOOL,       /* text "true" or "false" */
	XK_V_INT,        /* text is the number; bare */
	XK_V_FLOAT,      /* the same, has a fraction (or is not finite) */
	XK_V_TEXT,       /* text, len bytes */
	XK_V_TYPED,      /* a time or rate: text with its unit, exact */
	XK_V_LIST,       /* item[n] */
	XK_V_MAP,        /* key[n], item[n], sorted by key; also lists mixed with names */
	XK_V_NODE,       /* ref: number of the node */
	XK_V_ARCH,       /* ref: a preset called with its table */
	XK_V_GRAPH,      /* a graph inside a bench */
	XK_V_POISON,     /* came from something already complained about */
	XK_V_FUNCTION,   /* item[0].text is its code (lua_dump), len bytes; item NULL when it uses
	                  * more from outside than globals, and text says what */
	XK_V_OTHER,      /* text says what: "a bench", ... */
};

struct xk_value {
	enum xk_vkind    kind;
	unsigned         n;
	unsigned         ref;
	size_t           len;
	const char      *text;
	struct xk_value *item, *key;
};

/* Value under a name in a map, or NULL. */
const struct xk_value *xk_value_get(const struct xk_value *map, const char *name);

/* ---- load ------------------------------------------------------------------------ */

struct xk_compose_opts {
	const struct xk_proto *const *table;   /* NULL: xk_protos() */
	const char *const *args;               /* "vps=48", as on a command line */
	unsigned    nargs, noffered;           /* the first of them may be what the file does not declare */
	const char *path;                      /* more graph path, colons between, or NULL */
	bool        unsafe;                    /* all of Lua, no limits: one's own files only */
	/* Not NULL: a stranger's file.  It uses of this machine's drivers (struct xk_proto, is_host) those of this list,
	 * names with commas between, and what it names outside of the graph (XK_PF_HOST) are arguments given here. */
	const char *untrusted;
};

/*
 * Reads and runs a graph file.  *s is set even when there are errors (it holds
 * the sources that xk_spec_print_errors shows); NULL only when memory is out.
 * XK_E_NOENT, XK_E_PERM, XK_E_IO: the file could not be read (an error says so);
 * XK_E_INVAL: errors; XK_E_NOMEM.
 */
int  xk_spec_load(struct xk_spec **s, const char *file, const struct xk_compose_opts *o, struct xk_errs *e);
/* The same for text in memory; file is the name it goes by, and its folder the
 * first of the graph path. */
int  xk_spec_load_text(struct xk_spec **s, const char *file, const char *text, size_t n,
		       const struct xk_compose_opts *o, struct xk_errs *e);
void xk_spec_free(struct xk_spec *s);

/* ---- check ------------------------------------------------------------------------ */

/* Everything a file can get wrong.  warnings may be NULL.  XK_E_INVAL when
 * there were errors.  Call it after a load that failed, too: what was recorded
 * before the failure is checked as far as it goes. */
int  xk_spec_check(struct xk_spec *s, struct xk_errs *e, struct xk_errs *warnings);

/* What the graph as a whole was told; may be changed between check and build. */
struct xk_plan {
	const char        *name, *doc;
	xk_ns              duration, warmup;   /* 0: not said */
	uint64_t           seed;
	bool               seed_given;
	bool               is_virtual;         /* clock = "virtual" */
	xk_ns              tick;               /* of timers */
	struct xk_arch     arch;               /* checked, seed not yet filled in */
	enum xk_schedule   schedule;           /* of arch, where time is real */
	struct xk_mem_conf mem;
	uint16_t          *conn_map;           /* 0-based VP numbers */
	unsigned           nconn_map;
	char             **layers;             /* names of the nodes of each, from the device up */
	unsigned           nlayers;
};
/* Legal after a check without errors; NULL for a bench without a graph. */
struct xk_plan *xk_spec_plan(struct xk_spec *s);

/* After a check that refused the threading: the nearest table that can run (fewest axes
 * changed), as a line to paste, `threading = ppc { ... }`.  Else NULL. */
const char *xk_spec_nearest(const struct xk_spec *s);

/* Virtual time: on so many simulated processors of machine m, 0: one thread stands in for all workers, as it
 * does for one processor of a machine on which only messages cost.  m, NULL: flat, must live as long as
 * the graph. */
void xk_plan_simulate(struct xk_plan *p, unsigned processors, const struct xk_machine *m);

/* Checks a plan that was changed after xk_spec_check; errors come as from the
 * command line. */
int  xk_plan_check(const struct xk_plan *p, struct xk_errs *e);

/* ---- looking at it ------------------------------------------------------------------ */

/* An argument that the file declares (p.name, .type, .def, .min, ...). */
struct xk_arg {
	struct xk_param p;
	const char     *value;    /* as parsed text, NULL: none */
	bool            given;    /* on the command line */
	const char     *file;
	int             line;
};
const struct xk_arg *xk_spec_args(const struct xk_spec *s, unsigned *n);

struct xk_spec_node {
	const struct xk_proto *proto;
	const char  *name;
	const char  *file;
	int          line;
	const void  *conf;        /* parsed; NULL before a check without errors */
	unsigned     nover;
	const unsigned *over;     /* numbers of the nodes below */
};
unsigned xk_spec_nodes(const struct xk_spec *s);
void     xk_spec_node(const struct xk_spec *s, unsigned i, struct xk_spec_node *out);
/* Where the file gave parameter `name` (or "group.name") of node i; false: it is the default. */
bool     xk_spec_param_place(const struct xk_spec *s, unsigned i, const char *name,
			     const char **file, int *line);

const char *xk_spec_name(const struct xk_spec *s);       /* of the graph, bench or machine, or NULL */
/* The file that "no:line" of an error in a function's code means, or NULL. */
const char *xk_spec_file(const struct xk_spec *s, unsigned no);
bool        xk_spec_is_bench(const struct xk_spec *s);
const char *xk_spec_word(const struct xk_spec *s);       /* "graph", "bench" or "machine" */
/* The table of `bench "name" { ... }` as a map, that of a machine, and a complaint about a key in
 * either (path of names, or "#3" for the third unnamed value, ending with NULL;
 * none: the call itself). */
const struct xk_value *xk_spec_bench(const struct xk_spec *s);
const struct xk_value *xk_spec_machine(const struct xk_spec *s);
void xk_spec_bench_error(const struct xk_spec *s, struct xk_errs *e, const char *const *path,
			 const char *fmt, ...) XK_PRINTF(4, 5);

/* The schemas of the graph's own fields, of a threading table, of the words of
 * the language: for documentation, completion and editors. */
extern const struct xk_param xk_graph_params[];
extern const struct xk_param xk_arch_params[];
/* Names of the values of its enums, in their order; NULL last. */
extern const char *const xk_arch_domains[], *const xk_arch_entries[], *const xk_arch_schedules[];
/* The value that preset a gives an axis of xk_arch_params, as it is written in a file; NULL: it
 * leaves it to the machine or the graph, or has no use for it.  Of layers: how many. */
const char *xk_arch_fixes(const struct xk_arch *a, const char *axis, char *buf, size_t n);
/* "per worker": what stands in a file where vps is no number. */
const char *xk_arch_vps_word(int vps);
struct xk_word { const char *name, *doc; };
extern const struct xk_word xk_words[];                  /* NULL-named last */
/* Does it declare an argument: uint { 16, min = 1 }?  Its fields besides the default. */
bool xk_word_is_type(const struct xk_word *w);
extern const struct xk_word xk_arg_fields[];             /* NULL-named last */
/* What may be in the braces of bench "name" { ... }; vp-bench reads them. */
extern const struct xk_word xk_bench_fields[];           /* NULL-named last */

/* Prints every error with its source line and a caret, then "N errors" when
 * there are several.  s may be NULL.  kind: NULL, or "warning". */
void xk_spec_print_errors(FILE *f, const struct xk_spec *s, struct xk_errs *e, const char *kind);

/* ---- build --------------------------------------------------------------------------- */

/* Makes the graph and adds its nodes; the caller brings it up (xk_graph_up) and
 * frees it (xk_graph_free).  s must live as long as the graph. */
int  xk_spec_build(struct xk_spec *s, struct xk_graph **g, struct xk_errs *e);

/* One line per node, bottom-up, with every effective value: two graphs that
 * print the same are the same. */
void xk_graph_dump(const struct xk_graph *g, FILE *f);

#endif
