/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim_load.c - loads a bench file with its model and the machine that it is for, and runs it.
 */
#include <stdlib.h>

#include "tools/vp-sim/sim_ask.h"

static int complain(struct sim_loaded *l)
{
	if (xk_errs_count(l->e) == 0)
		return SIM_OK;
	xk_spec_print_errors(stderr, l->spec, l->e, NULL);
	return SIM_FILE_ERRORS;
}

static int load_file(struct sim_loaded *l, const struct sim_ask *o, const char *const *arg, unsigned narg)
{
	struct xk_compose_opts opts = { .args = arg, .nargs = narg };
	int err = xk_spec_load(&l->spec, o->file, &opts, l->e);

	if (err == XK_OK && l->spec != NULL)
		(void)xk_spec_check(l->spec, l->e, NULL);
	if (l->spec == NULL)
		xk_errs_add(l->e, o->file, 0, 0, "out of memory");
	else if (xk_errs_count(l->e) == 0 && xk_spec_bench(l->spec) == NULL)
		xk_errs_add(l->e, o->file, 0, 0, "describes a %s, not a bench with a model: bench \"name\" { model = { ... } }",
			    xk_spec_word(l->spec));
	else if (xk_errs_count(l->e) == 0)
		sim_model_read(&l->m, l->spec, l->e);
	return complain(l);
}

/* What the command line says goes over what the file says. */
static void apply(struct sim_model *m, const struct sim_ask *o)
{
	m->duration = o->duration != 0 ? o->duration : m->duration;
	m->warmup = o->has_warmup ? o->warmup : m->warmup;
	m->limit = o->limit != 0 ? o->limit : m->limit;
	m->seed = o->has_seed ? o->seed : m->seed;
	m->find_streams |= o->find;
	m->processors = o->nprocessors != 0 ? o->processors[0] : m->processors;
	if (m->processors == 0 && m->ledger->spec != NULL)
		m->processors = (unsigned)m->ledger->property[SIM_PROCESSORS].v;
}

/* Who asked for it is told. */
static int load_machine(struct sim_loaded *l, const struct sim_ask *o)
{
	const char *name = o->machine != NULL ? o->machine : l->m.machine;
	char why[300];

	if (name == NULL || !sim_ledger_is_missing(name, why, sizeof why))
		return sim_ledger_load(&l->ledger, name);
	if (o->machine == NULL) {
		sim_model_no_machine(l->spec, l->e, why);
		return complain(l);
	}
	fprintf(stderr, "vp-sim: %s\n", why);
	return SIM_USAGE;
}

int sim_load(struct sim_loaded *l, const struct sim_ask *o, const char *const *arg, unsigned narg)
{
	int code;

	l->e = xk_errs_new();
	if (l->e == NULL)
		return SIM_FAILED;
	sim_model_defaults(&l->m);
	code = load_file(l, o, arg, narg);
	if (code == SIM_OK)
		code = load_machine(l, o);
	if (code != SIM_OK)
		return code;
	l->m.ledger = &l->ledger;
	apply(&l->m, o);
	sim_model_check(&l->m, l->spec, l->e);
	return complain(l);
}

void sim_unload(struct sim_loaded *l)
{
	sim_ledger_free(&l->ledger);
	xk_spec_free(l->spec);
	if (l->e != NULL)
		xk_errs_free(l->e);
}

int sim_run_all(const struct sim_loaded *l, const struct sim_ask *p, sim_use *use, void *to)
{
	unsigned n = p->replications != 0 && !l->m.find_streams ? p->replications : 1;
	struct sim_result *r = calloc(n + 1, sizeof *r);
	struct sim_model m = l->m;
	struct sim_outcome o = { .file = p->file, .name = xk_spec_name(l->spec), .m = &m, .r = r, .nruns = n,
				 .found = m.find_streams };
	bool good = r != NULL;
	int code;

	if (good && m.find_streams) {
		good = sim_find_streams(&m, &o.most, &r[0], &r[1]);
		m.streams = o.most;
		o.above = &r[1];
	}
	for (unsigned i = 0; good && !m.find_streams && i < n; i++) {
		m.seed = l->m.seed + i;
		m.watch = i == 0 ? p->watch : NULL;
		good = sim_run(&m, &r[i]);
	}
	m.seed = l->m.seed;
	if (!good)
		fprintf(stderr, "vp-sim: out of memory\n");
	code = good ? use(&o, to) : SIM_FAILED;
	free(r);
	return code;
}
