/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpg.h - what the commands of vp-graph share.
 *
 * A command reads one schema (the table of protocols and drivers) or one graph
 * file and prints it.  Results go to stdout, complaints to stderr.
 * Invariant: a command's return value is the exit code of the program.
 */
#ifndef VPG_H
#define VPG_H

#include <stdbool.h>
#include <jansson.h>

#include "runtime/compose/xk_compose.h"
#include "runtime/compose/xk_plugins.h"

enum { VPG_OK = 0, VPG_FAILED = 1, VPG_USAGE = 2, VPG_GRAPH_ERRORS = 3 };

struct vpg {
	bool        json;
	const char *path;               /* more graph path */
	bool        unsafe;
	const char *meta;               /* "json", "luacats", "luacheck" */
	bool        strict, notes, show_segments; /* test */
	const char *graph, *clause;     /* test NAME: NULL: made of the descriptor; all */
	bool        all;
	uint64_t    seed;
	unsigned    rounds, limit;      /* seconds of processor time */
	const char *explain;            /* filter: a capture file */
	const char *kind;               /* new-protocol: "app", "layer", "driver" */
	const char *const *arg;         /* after the command */
	unsigned    narg;
};

/* A graph file, loaded and checked; errors and warnings are kept. */
struct vpg_file {
	struct xk_spec *s;
	struct xk_errs *errs, *warnings;
};
/* Returns an exit code; prints errors (not under json). */
int  vpg_open(struct vpg_file *f, const struct vpg *o, const char *file);
void vpg_close(struct vpg_file *f);

int vpg_list(const struct vpg *o);
int vpg_inspect(const struct vpg *o);
int vpg_check(const struct vpg *o);
int vpg_show(const struct vpg *o);
int vpg_dot(const struct vpg *o);
int vpg_filter(const struct vpg *o);
int vpg_test(const struct vpg *o);
int vpg_meta(const struct vpg *o);
int vpg_new_protocol(const struct vpg *o);

/* Which classifier each device would have, and why: printed, or for an array.  Returns an exit
 * code; what is wrong with the graph has been printed. */
int  vpg_show_classifiers(struct vpg_file *f, json_t *into);
/* Prints and frees. */
int vpg_print_json(json_t *j);
json_t *vpg_proto_json(const struct xk_proto *p);
json_t *vpg_params_json(const struct xk_param *p);
/* Each on two lines, those of a group under its heading. */
void vpg_params_text(const struct xk_param *p);
/* vpg_word.c: of the graph language; an exit code. */
int vpg_inspect_word(const struct vpg *o, const struct xk_word *w);
json_t *vpg_errs_json(struct xk_errs *e);
/* "uint", "map from ipv4 to mac", ... */
const char *vpg_type(const struct xk_param *p, char *buf, size_t n);
/* "virtual" when there is nothing to say about values of this type. */
const char *vpg_range(const struct xk_param *p, char *buf, size_t n);

#endif
