/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_test_graph.h - for tests of whole graphs: what they load, and every threading
 * architecture that they run under.
 *
 * The list of architectures is made of the table in runtime/vp/vp_arch.c, so that a new
 * row runs in every test of this kind.  Beside the rows as they are there are the rows
 * under a simulated clock and a list of rows with other values of their axes.
 *
 * XK_TEST_PRESETS="ppc;vppc {};lp { pipelines" leaves those of them that begin with one of
 * these: to look at one by hand, or where what is tested is not the architecture.  Without it, XK_TEST_TURN=i/n
 * leaves each n-th, from the i-th on, i = 0 .. n - 1: where every row is too long, and others have their turn elsewhere.
 */
#ifndef XK_TEST_GRAPH_H
#define XK_TEST_GRAPH_H

#include "runtime/compose/xk_compose.h"
#include "tests/support/xk_test.h"

/* xk_test_main for tests that are RCU readers. */
int xk_test_main_rcu(const CU_SuiteInfo *suites);

/* All protocols of this build, and one of the test's own, if any.  Valid until the next call. */
const struct xk_proto *const *xk_test_table(const struct xk_proto *own);

/* Text to a checked specification, to a graph that is not up yet; what is wrong with either is
 * printed and fails the test, which then ends. */
void xk_test_build(struct xk_spec **s, struct xk_graph **g, const char *file, const char *text,
		   const struct xk_proto *own);

/* What was built is freed, with its errors: `live` blocks are left, as many as there were before. */
void xk_test_unbuild(struct xk_spec *s, struct xk_graph *g, struct xk_errs *e, uint64_t live);

#define XK_TEST_ROWS    1u       /* "threading = ppc {}" */
#define XK_TEST_VIRTUAL 2u       /* "threading = ppc {}, clock = 'virtual'" */
#define XK_TEST_CHANGED 4u       /* "threading = vppc { burst = 1 }" */
#define XK_TEST_ALL     7u
/* Fields of a graph for each architecture, NULL last; `conns` is the number of virtual
 * processors where each connection has one, `vps` where a row has any other number of them
 * above 1 (0: as the row has it).  Valid until the next call. */
const char *const *xk_test_presets_of(unsigned conns, unsigned vps, unsigned which);
static inline const char *const *xk_test_presets(unsigned conns, unsigned which)
{
	return xk_test_presets_of(conns, 0, which);
}

#endif
