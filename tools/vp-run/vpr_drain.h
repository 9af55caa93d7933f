/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpr_drain.h - all that the flight recorders of a real run have, from its beginning on, for its timeline.
 */
#ifndef VPR_DRAIN_H
#define VPR_DRAIN_H

#include <stdio.h>

#include "runtime/upi/xk_graph.h"

struct vpr_drain;

/* Of a graph that is built; NULL: no memory. */
struct vpr_drain *vpr_drain_new(const struct xk_graph *g);
void vpr_drain_free(struct vpr_drain *d);
/* From now on it is read, by a thread; a negative error: there can be none. */
int  vpr_drain_start(struct vpr_drain *d);
/* Once, after vpr_drain_start, when the workers have stopped and the graph is there yet; false: no memory. */
bool vpr_drain_end(struct vpr_drain *d, const struct xk_graph *g);
/* As Chrome's trace format has it; what is not there is said on stderr.  After vpr_drain_end; false, said: out of memory. */
bool vpr_drain_write(const struct vpr_drain *d, const char *file, FILE *f);

#endif
