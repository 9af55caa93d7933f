/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim_shrink.c - from a failing case to a small one: fields are made mild one by
 * one, then less bad, then the streams are cut in halves and other seeds tried,
 * as long as something still fails.
 *
 * What is small: few unusual fields first, then few frames until the failure.
 * Invariant: the case that is returned fails.
 */
#include "tests/sim/sim.h"

#define SEEDS  40u
#define ROUNDS 6u

static bool still_fails(const struct sim_case *try, struct sim_case *c, struct sim_result *r, FILE *log)
{
	struct sim_result now;
	char text[SIM_TEXT];

	if (try->ab + try->ba == 0 || sim_run_apart(try, &now))
		return false;
	*c = *try;
	*r = now;
	sim_case_print(c, text, sizeof text);
	if (log != NULL)
		fprintf(log, "  fails, too, after %llu frames: %s  (%s)\n", (unsigned long long)r->frames, text, r->why);
	return true;
}

/* Each field mild at once, or as little unusual as it may be. */
static bool milder(struct sim_case *c, struct sim_result *r, FILE *log)
{
	bool any = false;

	for (unsigned i = 0; i < sim_nfields; i++) {
		for (unsigned k = 0; k < sim_fields[i].n; k++) {
			struct sim_case try = *c;

			if (*sim_field_of(c, i) == sim_fields[i].value[k])
				break;
			*sim_field_of(&try, i) = sim_fields[i].value[k];
			if (still_fails(&try, c, r, log)) {
				any = true;
				break;
			}
		}
	}
	return any;
}

static bool shorter(struct sim_case *c, struct sim_result *r, FILE *log)
{
	bool any = false;

	for (unsigned way = 0; way < 2; way++) {
		for (unsigned eighths = 4; eighths < 8; ) {
			struct sim_case try = *c;
			uint32_t *n = way ? &try.ba : &try.ab, was = *n;

			*n = (uint32_t)((uint64_t)*n * eighths / 8);
			if (*n != was && was > 1 && still_fails(&try, c, r, log))
				any = true;
			else
				eighths++;
		}
	}
	return any;
}

/* Another seed may fail sooner. */
static bool sooner(struct sim_case *c, struct sim_result *r, FILE *log)
{
	struct sim_case best = *c;
	struct sim_result best_r = *r;
	char text[SIM_TEXT];

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct sim_case try = *c;
		struct sim_result now;

		try.seed = seed;
		if (!sim_run_apart(&try, &now) && now.frames != 0 && now.frames < best_r.frames) {
			best = try;
			best_r = now;
		}
	}
	if (best.seed == c->seed)
		return false;
	*c = best;
	*r = best_r;
	sim_case_print(c, text, sizeof text);
	if (log != NULL)
		fprintf(log, "  fails sooner, after %llu frames: %s\n", (unsigned long long)r->frames, text);
	return true;
}

void sim_shrink(struct sim_case *c, struct sim_result *r, FILE *log)
{
	for (unsigned i = 0; i < ROUNDS; i++) {
		bool any = milder(c, r, log);

		any |= shorter(c, r, log);
		any |= sooner(c, r, log);
		if (!any)
			return;
	}
}
