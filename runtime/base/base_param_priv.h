/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * base_param_priv.h - units shared by the parser and the formatter of values.
 */
#ifndef BASE_PARAM_PRIV_H
#define BASE_PARAM_PRIV_H

#include "runtime/base/xk_param_value.h"

struct param_unit { const char *name; uint64_t mul; };

/* Largest first among those that the formatter may choose, then the synonyms
 * that are only read; name NULL last. */
struct param_units {
	const struct param_unit *unit;
	unsigned                 nformat;
};
/* For XK_P_SIZE, XK_P_TIME and XK_P_RATE. */
const struct param_units *param_units_of(enum xk_ptype t);

/* xk_param_is_unset, of the field itself. */
bool param_unset(const struct xk_param *p, const void *field);

/* A decimal without sign, such as "0.01" or "1e-05": nearest double below 2^64. */
bool param_parse_decimal(const char *s, size_t n, int scale, double *out);

#endif
