/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kit.c - vp-graph test NAME: holds a protocol or driver to the contract, clause by clause.
 *
 * Invariant: a clause that was not tried says why; one that was tried and found nothing says how much it tried.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/vp-graph/kit/kit_clauses.h"

const struct kit_clause kit_clauses[] = {
	{ "descriptor", "the descriptor is sound: names, docs, defaults, operations, header",
	  "xk_proto.h: struct xk_proto", kit_clause_descriptor },
	{ "start", "a graph with it starts and stops, twice", "xk_proto.h: init to rep_stop", kit_clause_start },
	{ "parameters", "each parameter at its limits works or is refused by the check, beyond them is refused",
	  "xk_param.h", kit_clause_parameters },
	{ "bytes", "what is pushed comes up at the other end, byte for byte, and back", "xk_proto.h: push, pop",
	  kit_clause_bytes },
	{ "consumed", "each message is consumed once", "xk_proto.h: Messages", kit_clause_consumed },
	{ "memory", "each allocation fails in turn: nothing dies or leaks", "xk_alloc.h", kit_clause_memory },
	{ "sessions", "sessions on four virtual processors, closed in another order", "xk_proto.h: References",
	  kit_clause_sessions },
	{ "headers", "changed and truncated headers from below do no harm", "xk_proto.h: demux", kit_clause_headers },
	{ "filters", "a device's filter decides as the protocols do", "xk_demux.h", kit_clause_filters },
	{ "presets", "it works under every threading preset", "xk_vp.h: xk_arch_presets", kit_clause_presets },
	{ "stalls", "threads stand still between hops", "xk_proto.h: struct xk_rep", kit_clause_stalls },
	{ .name = NULL },
};

struct tally { unsigned passed, failed, skipped, protocols; bool no_graph; };

/* ORDER enum kit_state */
static const char *const words[] = { "none", "pass", "FAIL", "skip" };
static const char *const json_words[] = { "none", "pass", "fail", "skip" };

/* ---- telling -------------------------------------------------------------------------------- */

static json_t *text_json(const char *s)
{
	json_t *j = json_string(s);

	return j != NULL ? j : json_string("(no text)");
}

static void tell(const struct kit *k, const struct kit_clause *c, const struct kit_found *f, struct tally *t, json_t *list)
{
	t->passed += f->state == KIT_PASS;
	t->failed += f->state == KIT_FAIL;
	t->skipped += f->state == KIT_SKIP;
	if (list != NULL) {
		json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s, s:o}", "clause", c->name, "means", c->what,
						      "source", c->source, "result", json_words[f->state], "what",
						      text_json(f->what)));
		return;
	}
	printf("  %-11s %s  %s\n", c->name, words[f->state], f->what);
	if (f->state == KIT_FAIL)
		printf("  %-11s       must hold: %s (%s); again: --clause %s --seed %llu\n", "", c->what, c->source,
		       c->name, (unsigned long long)k->seed);
	fflush(stdout);
}

/* ---- one protocol ------------------------------------------------------------------------------ */

static void one_clause(struct kit *k, void *arg)
{
	const struct kit_clause *c = arg;

	c->run(k);
}

static bool is_wanted(const struct vpg *o, const struct kit_clause *c)
{
	return o->clause == NULL || strcmp(o->clause, c->name) == 0;
}

static void all_clauses(struct kit *k, struct tally *t, json_t *list)
{
	struct kit_found scene, f;
	bool works = kit_scene(k, &scene);

	t->no_graph = t->no_graph || (!works && k->o->graph != NULL && scene.state == KIT_FAIL);
	for (const struct kit_clause *c = kit_clauses; c->name != NULL; c++) {
		if (!is_wanted(k->o, c))
			continue;
		/* A descriptor has no need of a graph. */
		if (works || (c->run == kit_clause_descriptor && scene.state == KIT_SKIP && k->proto->demux == NULL))
			kit_apart(k, one_clause, (void *)(uintptr_t)c, &f);
		else
			f = scene;
		if (f.state == KIT_NONE)
			f = (struct kit_found){ .state = KIT_FAIL, .what = "ended without a word" };
		tell(k, c, &f, t, list);
	}
	kit_scene_free(k);
}

static void one_protocol(struct kit *k, const struct xk_proto *p, struct tally *t, json_t *list)
{
	json_t *clauses = list != NULL ? json_array() : NULL;

	k->proto = p;
	t->protocols++;
	if (list == NULL)
		printf("%s%s%s: %s\n", p->name, p->needs[0] != NULL ? " over " : "", p->needs[0] != NULL ? p->needs[0] : "", p->doc);
	fflush(stdout);
	all_clauses(k, t, clauses);
	if (list != NULL)
		json_array_append_new(list, json_pack("{s:s, s:s?, s:b, s:o}", "name", p->name, "over", p->needs[0], "driver",
						      p->is_driver, "clauses", clauses));
}

/* ---- the command --------------------------------------------------------------------------------- */

static bool is_clause(const char *name)
{
	const char *names[16], *near;
	unsigned n = 0;

	for (const struct kit_clause *c = kit_clauses; c->name != NULL; c++) {
		if (name == NULL || strcmp(c->name, name) == 0)
			return true;
		names[n++] = c->name;
	}
	near = xk_errs_suggest(name, names, n);
	fprintf(stderr, "vp-graph: there is no clause '%s'", name);
	if (near != NULL)
		fprintf(stderr, " (did you mean '%s'?)", near);
	fprintf(stderr, ": one of");
	for (unsigned i = 0; i < n; i++)
		fprintf(stderr, "%s %s", i != 0 ? "," : "", names[i]);
	fprintf(stderr, "\n");
	return false;
}

static bool is_name(const char *name)
{
	const struct xk_absent *a = xk_proto_find_absent(name);

	if (xk_protos_find(name) != NULL)
		return true;
	if (a != NULL)
		fprintf(stderr, "vp-graph: '%s' is not in this build: install %s, then configure and build again\n", name,
			a->packages);
	else
		fprintf(stderr, "vp-graph: there is no protocol or driver '%s' (vp-graph list names them; a plug-in's: "
			"--plugin FILE)\n", name);
	return false;
}

static int report(const struct kit *k, const struct tally *t, json_t *list)
{
	int code = t->no_graph ? VPG_GRAPH_ERRORS : t->failed == 0 ? VPG_OK : VPG_FAILED, bad;

	if (list == NULL) {
		printf("%u protocols and drivers, %u clauses: %u passed, %u failed, %u skipped (seed %llu, rounds %u)\n",
		       t->protocols, t->passed + t->failed + t->skipped, t->passed, t->failed, t->skipped,
		       (unsigned long long)k->seed, k->rounds);
		return code;
	}
	bad = vpg_print_json(json_pack("{s:i, s:I, s:i, s:i, s:i, s:i, s:o}", "schema", 1, "seed", (json_int_t)k->seed,
				       "rounds", (int)k->rounds, "passed", (int)t->passed, "failed", (int)t->failed, "skipped", (int)t->skipped,
				       "protocols", list));
	return bad ? bad : code;
}

static void take_args(struct kit *k, const struct vpg *o)
{
	for (unsigned i = o->all ? 0 : 1; i < o->narg && k->narg < KIT_ARGS; i++)
		k->arg[k->narg++] = o->arg[i];
}

int kit_test(const struct vpg *o)
{
	struct kit k = { .o = o, .seed = o->seed, .rounds = o->rounds, .seconds = o->limit };
	json_t *list = o->json ? json_array() : NULL;
	struct tally t = { 0 };

	if (!is_clause(o->clause) || (!o->all && !is_name(o->arg[0]))) {
		json_decref(list);
		return VPG_USAGE;
	}
	take_args(&k, o);
	for (const struct xk_proto *const *p = xk_protos(); *p != NULL; p++)
		if (o->all || strcmp((*p)->name, o->arg[0]) == 0)
			one_protocol(&k, *p, &t, list);
	return report(&k, &t, list);
}
