/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_stats.c - an estimator of stats.lua, for what is measured in C.
 */
#include "tools/vp-bench/bench.h"
#include "tools/vp-bench/bench_lua.h"

double bench_stat(const char *name, const double *v, size_t n)
{
	json_t *list = json_array(), *r;
	char why[400];
	double x;

	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, bench_real_json(v[i]));
	r = bench_lua_call("stats", name, &list, 1, why, sizeof why);
	if (r == NULL)
		fprintf(stderr, "vp-bench: %s\n", why);
	x = json_is_number(r) ? json_number_value(r) : NAN;
	json_decref(r);
	json_decref(list);
	return x;
}
