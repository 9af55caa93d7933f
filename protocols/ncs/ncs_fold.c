/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs_fold.c - numbers of reductions: on the wire big-endian, folded one by one (ncs_fold.h).
 */
#include "protocols/ncs/ncs_fold.h"

#include "runtime/base/xk_bytes.h"

#include <string.h>

size_t ncs_fold_size(enum xk_ncs_type ty) { return ty == XK_NCS_I32 ? 4 : 8; }

void ncs_fold_store(uint8_t *b, const void *v, size_t n, enum xk_ncs_type ty)
{
	const uint8_t *from = v;
	uint32_t w;
	uint64_t d;

	for (size_t i = 0; i < n; i++)
		if (ty == XK_NCS_I32) {
			memcpy(&w, from + 4 * i, 4);
			xk_put_be32(b + 4 * i, w);
		} else {
			memcpy(&d, from + 8 * i, 8);
			xk_put_be64(b + 8 * i, d);
		}
}

void ncs_fold_load(void *v, const uint8_t *b, size_t n, enum xk_ncs_type ty)
{
	uint8_t *to = v;
	uint32_t w;
	uint64_t d;

	for (size_t i = 0; i < n; i++)
		if (ty == XK_NCS_I32) {
			w = xk_be32(b + 4 * i);
			memcpy(to + 4 * i, &w, 4);
		} else {
			d = xk_be64(b + 8 * i);
			memcpy(to + 8 * i, &d, 8);
		}
}

/* Both as int64_t: an int32_t's sum is cut again where it is stored. */
static int64_t fold_int(enum xk_ncs_fold f, int64_t a, int64_t b)
{
	if (f == XK_NCS_SUM)
		return (int64_t)((uint64_t)a + (uint64_t)b);
	return (f == XK_NCS_MIN) == (a < b) ? a : b;
}

static double fold_real(enum xk_ncs_fold f, double a, double b)
{
	if (f == XK_NCS_SUM)
		return a + b;
	if (a != a || b != b)                    /* not a number */
		return a != a ? b : a;
	return (f == XK_NCS_MIN) == (a < b) ? a : b;
}

void ncs_fold(void *v, const uint8_t *b, size_t n, enum xk_ncs_type ty, enum xk_ncs_fold f)
{
	for (size_t i = 0; i < n; i++) {
		if (ty == XK_NCS_I32) {
			int32_t *a = (int32_t *)v + i;

			*a = (int32_t)(uint32_t)(uint64_t)fold_int(f, *a, (int32_t)xk_be32(b + 4 * i));
		} else if (ty == XK_NCS_I64) {
			int64_t *a = (int64_t *)v + i;

			*a = fold_int(f, *a, (int64_t)xk_be64(b + 8 * i));
		} else {
			uint64_t bits = xk_be64(b + 8 * i);
			double *a = (double *)v + i, d;

			memcpy(&d, &bits, sizeof d);
			*a = fold_real(f, *a, d);
		}
	}
}
