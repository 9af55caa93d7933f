/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim.c - the simulation as a program.
 *
 *   sim --seeds 1-10000          random cases; a failing one is made small and
 *                                printed as a command
 *   sim seed=5 loss=100 ab=600000   one case, twice: verdict, hash, times
 *   sim --trace seed=5 loss=100     and every frame
 *
 * Exit codes: 0 all well, 1 something failed, 2 wrong usage.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/sim/sim.h"

static int usage(void)
{
	fprintf(stderr, "usage: sim --seeds FIRST-LAST [NAME=VALUE ...]   random cases, these fields given\n"
		"       sim [--trace] [NAME=VALUE ...]                          one case, run twice; and its frames\n");
	for (unsigned i = 0; i < sim_nfields; i++)
		fprintf(stderr, "  %-8s %-8u %s\n", sim_fields[i].name, sim_fields[i].def, sim_fields[i].doc);
	return 2;
}

static int one(const struct sim_case *c)
{
	struct sim_result r, again;
	char text[SIM_TEXT];

	sim_case_print(c, text, sizeof text);
	printf("%s\n", text);
	sim_run_apart(c, &r);
	sim_run_apart(c, &again);
	printf("%s%s%s\n%llu frames, hash %016llx, %llu ms, %llu B/s, %llu retransmitted\n", r.ok ? "ok" : "FAILS: ", r.why,
	       r.hash == again.hash ? "" : "\nNOT REPRODUCIBLE", (unsigned long long)r.frames, (unsigned long long)r.hash,
	       (unsigned long long)(r.took / XK_MS),
	       (unsigned long long)(r.took ? (double)(c->ab + c->ba) * c->conns / ((double)r.took / 1e9) : 0),
	       (unsigned long long)r.retransmits);
	return !r.ok || r.hash != again.hash;
}

static void report(struct sim_case *c, struct sim_result *r)
{
	char text[SIM_TEXT];

	sim_case_print(c, text, sizeof text);
	printf("FAILS: sim %s\n  %s\n", text, r->why);
	sim_shrink(c, r, stdout);
	sim_case_print(c, text, sizeof text);
	printf("REPLAY: sim %s\n  # %s, after %llu frames\n", text, r->why, (unsigned long long)r->frames);
	fflush(stdout);
}

/* Fields that were given hold in every case. */
static void override(struct sim_case *c, int n, char *const *words)
{
	struct sim_case given;
	const char *why;

	for (int k = 0; k < n; k++) {
		sim_case_parse(&given, 1, &words[k], &why);
		for (unsigned i = 0; i < sim_nfields; i++) {
			size_t len = strlen(sim_fields[i].name);

			if (strncmp(words[k], sim_fields[i].name, len) == 0 && words[k][len] == '=')
				*sim_field_of(c, i) = *sim_field_of(&given, i);
		}
	}
}

struct many { uint64_t first; int n; char *const *words; };

static void make(struct sim_case *c, uint64_t i, void *arg)
{
	const struct many *m = arg;

	sim_case_random(c, m->first + i);
	override(c, m->n, m->words);
	if (c->ab + c->ba == 0)
		c->ba = 1;
}

static void failed(const struct sim_case *c, const struct sim_result *r, void *arg)
{
	struct sim_result result = *r;
	struct sim_case copy = *c;

	(void)arg;
	report(&copy, &result);
}

static int many(uint64_t first, uint64_t last, int n, char *const *words)
{
	struct many m = { first, n, words };
	struct sim_batch b = { .make = make, .failed = failed, .arg = &m };
	uint64_t bad = sim_many(&b, last - first + 1);

	printf("%llu seeds, %llu frames, %llu failed\n", (unsigned long long)(last - first + 1),
	       (unsigned long long)b.frames, (unsigned long long)bad);
	return bad != 0;
}

int main(int argc, char **argv)
{
	struct sim_case c;
	const char *why;
	unsigned long long first, last;
	const int from = 3;

	if (argc > 2 && strcmp(argv[1], "--seeds") == 0) {
		if (sscanf(argv[2], "%llu-%llu", &first, &last) != 2 || first > last)
			return usage();
		if (argc > from && !sim_case_parse(&c, argc - from, argv + from, &why)) {
			fprintf(stderr, "sim: %s\n", why);
			return usage();
		}
		return many(first, last, argc - from, argv + from);
	}
	if (argc > 1 && strcmp(argv[1], "--trace") == 0) {
		struct sim_result r;

		sim_trace = stdout;
		if (!sim_case_parse(&c, argc - 2, argv + 2, &why))
			return usage();
		sim_run_apart(&c, &r);
		sim_trace = NULL;
		argv++;
		argc--;
	}
	if (argc < 2)
		return usage();
	if (!sim_case_parse(&c, argc - 1, argv + 1, &why)) {
		fprintf(stderr, "sim: %s\n", why);
		return usage();
	}
	return one(&c);
}
