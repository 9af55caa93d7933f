/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim_ledger.c - reads a machine file: what things cost on a machine, and who says so.
 *
 * Each value stands with its source, `hot = { 67.73, source = "..." }`, and is printed with it
 * beside every result.  A way of being parallel that the file says nothing of is refused when a
 * model wants it; one that it names needs all its costs: none is guessed.
 */
#include "tools/vp-sim/sim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/compose/xk_machine_file.h"

const char *const sim_parallel_name[] = { "locking", "ips", "send", NULL };
const char *const sim_cost_name[] = {
	"hot", "l1_cold", "memory_cold", "map_miss", "session_moved", "protocol_moved", "thread_moved", "thread_moved_cold",
	"acquire", "release", NULL
};
const char *const sim_property_name[] = {
	"processors", "references", "copy", "l1_lines", "l1_line", "l1_share", "l2_lines", "l2_line", "l2_share",
	"footprint_w", "footprint_a", "footprint_b", "footprint_log_d", NULL
};

/* ---- values --------------------------------------------------------------------------- */

static void read_value(struct sim_ledger *l, const struct xk_value *tab, const char *const *path, bool negative,
		       struct sim_value *out)
{
	struct xk_sourced got;

	if (!xk_machine_value(l->spec, l->e, tab, path, &got))
		return;
	*out = (struct sim_value){ got.v, got.source };
	if (!isfinite(got.v) || (got.v < 0 && !negative))
		xk_spec_bench_error(l->spec, l->e, path, "'%s' is %s, which is no %s", path[1] != NULL ? path[1] : path[0], got.text,
				    negative ? "number" : "cost");
}

static void positive(struct sim_ledger *l, enum sim_property p)
{
	if (l->property[p].source != NULL && l->property[p].v <= 0)
		xk_spec_bench_error(l->spec, l->e, (const char *[]){ sim_property_name[p], NULL }, "'%s' needs to be above 0",
				    sim_property_name[p]);
}

static void read_properties(struct sim_ledger *l, const struct xk_value *tab)
{
	double n;

	for (unsigned i = 0; i < SIM_PROPERTIES; i++)
		read_value(l, tab, (const char *[]){ sim_property_name[i], NULL }, i == SIM_FOOTPRINT_D, &l->property[i]);
	n = l->property[SIM_PROCESSORS].v;
	if (l->property[SIM_PROCESSORS].source != NULL && (n < 1 || n > XK_SCHED_PROCS_MAX || n != floor(n)))
		xk_spec_bench_error(l->spec, l->e, (const char *[]){ "processors", NULL },
				    "'processors' needs a whole number from 1 to %u", XK_SCHED_PROCS_MAX);
	positive(l, SIM_L1_LINES);
	positive(l, SIM_L1_LINE);
	positive(l, SIM_L2_LINES);
	positive(l, SIM_L2_LINE);
}

/* Hot, cold in the first level, cold in both: each is at least as much as the one before. */
static void in_order(struct sim_ledger *l, const char *name, const struct sim_value *c)
{
	if (c[SIM_L1_COLD].v > c[SIM_MEMORY_COLD].v || c[SIM_L1_COLD].v + c[SIM_THREAD_COLD].v > c[SIM_MEMORY_COLD].v)
		xk_spec_bench_error(l->spec, l->e, (const char *[]){ name, "memory_cold", NULL },
				    "%s: a packet with all caches cold is cheaper than one with the first level cold", name);
}

static void read_costs(struct sim_ledger *l, const struct xk_value *tab, unsigned how)
{
	const char *name = sim_parallel_name[how], *path[] = { name, NULL, NULL };
	const struct xk_value *v = xk_value_get(tab, name);
	unsigned before = xk_errs_count(l->e);

	if (v == NULL || v->kind == XK_V_POISON)
		return;
	if (v->kind != XK_V_MAP) {
		xk_spec_bench_error(l->spec, l->e, path, "'%s' needs a table of costs", name);
		return;
	}
	xk_machine_keys(l->spec, l->e, v, path, sim_cost_name, SIM_COSTS);
	for (unsigned i = 0; i < SIM_COSTS; i++) {
		path[1] = sim_cost_name[i];
		read_value(l, v, path, false, &l->cost[how][i]);
	}
	if (xk_errs_count(l->e) == before)
		in_order(l, name, l->cost[how]);
	l->has[how] = true;
}

/* A machine that graphs alone are run on says `graph`, which is vp-run's to read, and nothing of models. */
static bool only_graphs(const struct xk_value *tab)
{
	unsigned others = 0;

	for (unsigned i = 0; i < tab->n; i++)
		others += tab->kind != XK_V_MAP || tab->key[i].kind != XK_V_TEXT ||
			  (strcmp(tab->key[i].text, "doc") != 0 && strcmp(tab->key[i].text, "graph") != 0);
	return others == 0 && xk_value_get(tab, "graph") != NULL;
}

static void read_table(struct sim_ledger *l, const struct xk_value *tab)
{
	const char *names[SIM_PROPERTIES + SIM_PARALLELS + 2];
	const struct xk_value *doc = xk_value_get(tab, "doc");
	unsigned n = 0;

	for (unsigned i = 0; i < SIM_PROPERTIES; i++)
		names[n++] = sim_property_name[i];
	for (unsigned i = 0; i < SIM_PARALLELS; i++)
		names[n++] = sim_parallel_name[i];
	names[n++] = "doc";
	names[n++] = "graph";
	xk_machine_keys(l->spec, l->e, tab, (const char *[]){ NULL }, names, n);
	l->doc = doc != NULL && doc->kind == XK_V_TEXT ? doc->text : "";
	l->graphs = only_graphs(tab);
	if (l->graphs)
		return;
	read_properties(l, tab);
	for (unsigned i = 0; i < SIM_PARALLELS; i++)
		read_costs(l, tab, i);
}

/* ---- files ------------------------------------------------------------------------------- */

bool sim_ledger_is_missing(const char *name, char *why, size_t room)
{
	struct xk_machine_names known;
	const char *near;
	char path[4096];

	if (xk_machine_path(xk_machine_folder(), name, path, sizeof path))
		return false;
	xk_machine_list(xk_machine_folder(), &known);
	near = xk_machine_near(&known, name);
	snprintf(why, room, "there is no machine '%.60s' (%s%s%s)", name, near ? "did you mean '" : "vp-sim --machines lists them",
		 near ? near : "", near ? "'?" : "");
	return true;
}

/* Reads it; complaints are kept. */
static void read_file(struct sim_ledger *l)
{
	struct xk_compose_opts opts = { 0 };
	const struct xk_value *tab;

	if (xk_spec_load(&l->spec, l->file, &opts, l->e) != XK_OK || l->spec == NULL)
		return;
	(void)xk_spec_check(l->spec, l->e, NULL);
	tab = xk_machine_table(l->spec, l->e, l->file);
	if (tab == NULL)
		return;
	l->name = xk_spec_name(l->spec);
	read_table(l, tab);
}

static int open_ledger(struct sim_ledger *l, const char *file)
{
	*l = (struct sim_ledger){ .file = strdup(file), .name = "none", .doc = "", .e = xk_errs_new() };
	if (l->file == NULL || l->e == NULL) {
		fprintf(stderr, "vp-sim: out of memory\n");
		return SIM_FAILED;
	}
	read_file(l);
	if (xk_errs_count(l->e) == 0 && l->spec != NULL)
		return SIM_OK;
	xk_spec_print_errors(stderr, l->spec, l->e, NULL);
	return SIM_FILE_ERRORS;
}

int sim_ledger_load(struct sim_ledger *l, const char *name)
{
	char path[4096];
	int err;

	*l = (struct sim_ledger){ .name = "none", .doc = "" };
	if (name == NULL)
		return SIM_OK;
	(void)xk_machine_path(xk_machine_folder(), name, path, sizeof path);
	err = open_ledger(l, path);
	if (err != SIM_OK || !l->graphs)
		return err;
	fprintf(stderr, "vp-sim: machine %s says nothing of models: it is for vp-run --machine\n", name);
	return SIM_FILE_ERRORS;
}

void sim_ledger_free(struct sim_ledger *l)
{
	xk_spec_free(l->spec);
	if (l->e != NULL)
		xk_errs_free(l->e);
	free((char *)l->file);
	*l = (struct sim_ledger){ 0 };
}

int sim_ledger_list(void)
{
	struct xk_machine_names known;
	int code = SIM_OK;

	xk_machine_list(xk_machine_folder(), &known);
	for (unsigned i = 0; i < known.n; i++) {
		struct sim_ledger l;
		char path[4096];
		int err;

		(void)xk_machine_path(xk_machine_folder(), known.name[i], path, sizeof path);
		err = open_ledger(&l, path);
		if (err == SIM_OK && l.graphs)
			printf("%-14s   - processors  %s\n", known.name[i], l.doc);
		else if (err == SIM_OK)
			printf("%-14s %3.0f processors  %s\n", known.name[i], l.property[SIM_PROCESSORS].v, l.doc);
		else
			code = err;
		sim_ledger_free(&l);
	}
	return code;
}
