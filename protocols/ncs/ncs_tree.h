/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs_tree.h - who sends to whom when a group talks: pure schedules, by place in the group.
 *
 * Places are 0 to n - 1; where there is a root it is place 0, and the caller turns the group so that it
 * is.  What is said of a parent holds of its children: c is a child of p exactly where p is c's parent.
 * The same trees read upwards gather what they spread.  No state, no I/O.
 */
#ifndef NCS_TREE_H
#define NCS_TREE_H

#include "runtime/base/xk_base.h"

enum ncs_shape {
	NCS_REPETITIVE,                  /* the root sends to each (the paper's repetitive send) */
	NCS_BINOMIAL,                    /* the paper's spanning tree: ceil(log2 n) rounds, as many sends of the root */
	NCS_KARY,                        /* each sends to k others */
	NCS_CHAIN,                       /* each to the next: for long messages, which move in pieces */
	NCS_SHAPES
};
#define NCS_NOBODY UINT32_MAX

/* NCS_NOBODY: the root has none.  k is NCS_KARY's, at least 1. */
uint32_t ncs_tree_parent(enum ncs_shape s, uint32_t k, uint32_t n, uint32_t place);
/* The i-th in the order of sending, who has most below it first; NCS_NOBODY: there are no more. */
uint32_t ncs_tree_child(enum ncs_shape s, uint32_t k, uint32_t n, uint32_t place, uint32_t i);
/* What a message of so many bytes is spread by, moved in pieces of so many. */
enum ncs_shape ncs_tree_best(uint32_t n, uint64_t bytes, uint64_t piece);

/* The dissemination barrier (Hensgen, Finkel, Manber 1988): in each round a place tells one and hears of one, and
 * whoever has heard in all rounds knows that all have come. */
uint32_t ncs_barrier_rounds(uint32_t n);
uint32_t ncs_barrier_to(uint32_t n, uint32_t place, uint32_t round);
uint32_t ncs_barrier_from(uint32_t n, uint32_t place, uint32_t round);

#endif
