/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs_work.h - programs of several processes over xk_ncs.h: a matrix product, a two-dimensional FFT, a still picture.
 *
 * Each process calls the same function with its own struct work; all wait for each other inside.  Rank 0
 * compares with the same done by itself, bit for bit.
 */
#ifndef NCS_WORK_H
#define NCS_WORK_H

#include "protocols/ncs/xk_ncs.h"

struct work {
	struct xk_node *n;               /* of `process` */
	struct xk_ncs_thread *t;
	struct xk_ncs_group  *g;
	struct xk_ncs_conn  **c;         /* by rank; ours is NULL */
	unsigned me, size;
	int absent;                      /* a rank that did not come in time; -1: none */
};

/* Thread `number` of all processes joins: connections to each, and a group.  What was made before an error is to be
 * left as well.  within: how long the others may take to come. */
int  work_join(struct work *w, struct xk_node *n, unsigned number, uint64_t within);
void work_leave(struct work *w);

/* Two matrices of n x n numbers that follow from seed, multiplied by rows.  *wrong at all: elements that are not those of
 * rank 0's own product. */
int work_matrix(struct work *w, unsigned n, uint64_t seed, uint64_t *wrong);
/* n x n complex numbers transformed by rows, turned over between the processes, and by rows again.  n is a power of
 * two. */
int work_fft(struct work *w, unsigned n, uint64_t seed, uint64_t *wrong);
/* ncs_picture.c: a picture of n x n pixels, n a multiple of eight, is transformed, quantised and coded by a pipeline of the
 * processes.  *wrong: bytes of the file that differ. */
int work_picture(struct work *w, unsigned n, uint64_t seed, uint64_t *wrong);
/* At the end of each: rank 0's *wrong at all; err, or an error of that. */
int work_agree(struct work *w, int err, uint64_t *wrong);

#endif
