/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * toys.h - a small table of protocols for tests of compose: a wire, a link, a
 * host layer, ports, and an application that counts what it would have sent.
 *
 * Nothing here moves a message; what is tested is the way from text to graph.
 */
#ifndef TOYS_H
#define TOYS_H

#include "runtime/compose/xk_compose.h"

extern const struct xk_proto *const toys[];
extern const struct xk_proto toy_wire, toy_link, toy_host, toy_ports, toy_app, toy_between, toy_streamer;

/* A specification loaded (and checked) from text against the toys; args ends
 * with NULL or is NULL. */
struct toy_load { struct xk_spec *s; struct xk_errs *e, *w; int load, check; };
struct toy_load toy_load(const char *text, const char *const *args);
void toy_unload(struct toy_load *l);
/* "LINE:COL: text" of error i, or "" past the last. */
const char *toy_error(const struct toy_load *l, unsigned i);

/* A good graph over the toys. */
extern const char toy_good[];

#endif
