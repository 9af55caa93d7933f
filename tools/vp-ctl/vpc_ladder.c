/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpc_ladder.c - the ways of traced messages as ladders: one after the other, a step down the graph a step to the right,
 * the cable where two hosts meet, and back up.
 *
 * Steps come as they happen, those of several messages mixed; they are kept until the trace is over.
 */
#include "tools/vp-ctl/vpc.h"

#include <stdlib.h>
#include <string.h>

#define RUNG 2                   /* blanks of a step */

static bool goes_down(const json_t *step)
{
	const char *way = json_string_value(json_object_get(step, "way"));

	return way != NULL && strcmp(way, "down") == 0;
}

static void rung(FILE *f, const json_t *step, int depth)
{
	fprintf(f, "%12lld ns  vp%-3lld %*s", (long long)json_integer_value(json_object_get(step, "since_ns")),
		(long long)json_integer_value(json_object_get(step, "vp")), RUNG * depth, "");
	vpc_step(f, step);
}

/* Where the first step stands, so that the highest one of all stands left. */
static int first_depth(const json_t *steps)
{
	int down = 0, up;

	while (goes_down(json_array_get(steps, (size_t)down)))
		down++;
	up = (int)json_array_size(steps) - down;
	if (down == 0)
		return up - 1;
	return up > down ? up - down : 0;
}

static void ladder(FILE *f, const char *message, const json_t *steps)
{
	int depth = first_depth(steps);
	const json_t *step;
	size_t i;

	fprintf(f, "message %s\n", message);
	json_array_foreach(steps, i, step) {
		bool down = goes_down(step), before = i != 0 && goes_down(json_array_get(steps, i - 1));

		if (i != 0 && down)
			depth++;
		else if (i != 0 && before)
			fprintf(f, "%24s%*s=====\n", "", RUNG * depth, "");
		else if (i != 0 && depth > 0)
			depth--;
		rung(f, step, depth);
	}
}

bool vpc_ladder_add(json_t *ways, const json_t *step)
{
	char key[24];
	json_t *steps;

	snprintf(key, sizeof key, "%lld", (long long)json_integer_value(json_object_get(step, "message")));
	steps = json_object_get(ways, key);
	if (steps == NULL) {
		steps = json_array();
		if (json_object_set_new(ways, key, steps) != 0)
			return false;
	}
	return json_array_append(steps, (json_t *)(uintptr_t)step) == 0;
}

void vpc_ladders(FILE *f, const json_t *ways)
{
	const char *message;
	json_t *steps;

	/* In the order in which their first steps came. */
	json_object_foreach((json_t *)(uintptr_t)ways, message, steps)
		ladder(f, message, steps);
}
