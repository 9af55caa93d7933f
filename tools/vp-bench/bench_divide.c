/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_divide.c - says which point of a bench is whose when several machines share the work.
 *
 * What is compared is run by one machine, block by block (shard.lua): points that no expectation
 * and no speed-up brings together are units of their own.  All runs of a point stay together, since
 * their interval says when there are enough.
 */
#include "tools/vp-bench/bench.h"

#include "tools/vp-bench/bench_lua.h"

static json_t *units_of(const struct bench *b, json_t *entries)
{
	json_t *points = json_array(), *args[3], *units;
	char why[400];

	for (unsigned i = 0; i < b->npoints; i++)
		json_array_append_new(points, json_pack("{s:o}", "at", bench_point_at(b, &b->point[i])));
	args[0] = points;
	args[1] = b->shapes;
	args[2] = entries;
	units = bench_lua_call("shard", "units", args, 3, why, sizeof why);
	if (units == NULL)
		fprintf(stderr, "vp-bench: %s is not divided, its points are one unit: %s\n", b->name, why);
	json_decref(points);
	return units;
}

unsigned bench_divide(struct bench *b, const struct bench_shard *s, json_t *entries, unsigned first)
{
	json_t *units = s->of != 0 ? units_of(b, entries) : NULL;
	unsigned next = first + 1;

	if (s->of == 0 || b->npoints == 0)
		return first;
	b->shard = *s;
	for (unsigned i = 0; i < b->npoints; i++) {
		json_int_t unit = json_integer_value(json_array_get(units, i));

		unit = unit > 0 && unit < (json_int_t)b->npoints ? unit : 0;
		b->point[i].shard = (first + (unsigned)unit) % s->of + 1;
		if (first + (unsigned)unit >= next)
			next = first + (unsigned)unit + 1;
	}
	json_decref(units);
	return next;
}
