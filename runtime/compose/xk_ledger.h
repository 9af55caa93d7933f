/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_ledger.h - the part of a machine file that is about graphs: what simulated processors charge.
 *
 *	return machine "name" {
 *	  graph = {
 *	    message = { 0.1, source = "where it is from" }, ...
 *	    nodes = { udp = { up = {...}, down = {...}, byte = {...} }, ... },
 *	  },
 *	}
 *
 * Microseconds, each with its source.  All keys are needed but `nodes` and those of what a machine may be
 * without (docs/threading.md): nothing is guessed.  What one node says of `moved` or `bus` each says.  What else
 * the file says is not looked at; vp-sim reads it.
 */
#ifndef XK_LEDGER_H
#define XK_LEDGER_H

#include "runtime/compose/xk_compose.h"
#include "runtime/vp/xk_machine.h"

struct xk_ledger;

/* args: "k=v", what the file asks for.  Control path.  Negative: the complaints are in e; *l is set nevertheless where there is memory, for its lines
 * to be shown with them (xk_ledger_spec). */
int  xk_ledger_load(struct xk_ledger **l, const char *file, const char *const *args, unsigned nargs, struct xk_errs *e);
void xk_ledger_free(struct xk_ledger *l);
/* As long as l. */
const struct xk_machine *xk_ledger_machine(const struct xk_ledger *l);
const struct xk_spec *xk_ledger_spec(const struct xk_ledger *l);

/* How many processors a graph's clock simulates, 0: none. */
unsigned xk_spec_clock_processors(const struct xk_spec *s);
/* The machine that it names, NULL: none; a complaint about it, at its place. */
const char *xk_spec_clock_machine(const struct xk_spec *s);
void xk_spec_clock_error(const struct xk_spec *s, struct xk_errs *e, const char *text);

#endif
