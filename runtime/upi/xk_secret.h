/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_secret.h - numbers that nobody outside the graph shall guess, however many of them he has seen.
 *
 * In a real run they are of the system's entropy, even if the graph's seed is given, for a seed may be
 * known and a VP's generator can be worked out from what it shows.  In virtual time they are of the
 * seed alone, so that runs repeat.
 */
#ifndef XK_SECRET_H
#define XK_SECRET_H

#include "runtime/base/xk_base.h"

struct xk_node;
struct xk_vp;

/* Inside vp.  A system call each; in virtual time the next of the VP's generator. */
uint64_t xk_vp_secret(struct xk_vp *vp);
/* Uniform in [0, n); n > 0. */
uint64_t xk_vp_secret_below(struct xk_vp *vp, uint64_t n);
/* k words for keys of n; `stream` tells its uses from each other.  Any thread. */
void     xk_node_secrets(const struct xk_node *n, uint64_t stream, uint64_t *out, unsigned k);

#endif
