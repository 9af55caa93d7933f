/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs_fold.h - numbers of reductions: on the wire they are big-endian, so that unlike machines agree.
 *
 * Pure.  v is n numbers of the type, as the program has them; b their bytes as they travel.
 */
#ifndef NCS_FOLD_H
#define NCS_FOLD_H

#include "protocols/ncs/xk_ncs.h"

size_t ncs_fold_size(enum xk_ncs_type ty);
void ncs_fold_store(uint8_t *b, const void *v, size_t n, enum xk_ncs_type ty);
void ncs_fold_load(void *v, const uint8_t *b, size_t n, enum xk_ncs_type ty);
/* v[i] = f(v[i], b's). */
void ncs_fold(void *v, const uint8_t *b, size_t n, enum xk_ncs_type ty, enum xk_ncs_fold f);

#endif
