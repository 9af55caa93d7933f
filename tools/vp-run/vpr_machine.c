/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpr_machine.c - the machine that a graph is simulated on: found by its name, and read.
 */
#include "tools/vp-run/vpr.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/compose/xk_ledger.h"

#define MOST 64u

/* vp-sim's folder, too. */
static const char *folder(void)
{
	const char *env = getenv("VP_SIM_MACHINES");

	return env != NULL ? env : VPR_MACHINES;
}

static bool is_path(const char *name)
{
	return strchr(name, '/') != NULL || strstr(name, ".lua") != NULL;
}

/* Up to MOST names of machines, in any order. */
static unsigned names_of(char (*name)[64])
{
	DIR *d = opendir(folder());
	struct dirent *f;
	unsigned n = 0;

	while (d != NULL && n < MOST && (f = readdir(d)) != NULL) {
		size_t len = strlen(f->d_name);

		if (len > 4 && len < 60 && strcmp(f->d_name + len - 4, ".lua") == 0)
			snprintf(name[n++], sizeof *name, "%.*s", (int)(len - 4), f->d_name);
	}
	if (d != NULL)
		closedir(d);
	return n;
}

static void complain_missing(const char *name, struct xk_errs *e)
{
	char known[MOST][64];
	const char *names[MOST], *near;
	unsigned n = names_of(known);

	for (unsigned i = 0; i < n; i++)
		names[i] = known[i];
	near = xk_errs_suggest(name, names, n);
	if (near != NULL)
		xk_errs_add(e, NULL, 0, 0, "option --machine: there is no machine '%.60s' (did you mean '%s'?)", name,
			    near);
	else
		xk_errs_add(e, NULL, 0, 0, "option --machine: there is no machine '%.60s' in %s", name, folder());
}

int vpr_machine(struct vpr *o, struct xk_errs *e)
{
	char path[4096];
	struct xk_errs *mine;
	int err;

	if (o->machine == NULL)
		return VPR_OK;
	snprintf(path, sizeof path, is_path(o->machine) ? "%s%s" : "%s/%s.lua", is_path(o->machine) ? "" : folder(),
		 o->machine);
	if (!is_path(o->machine) && access(path, F_OK) != 0) {
		complain_missing(o->machine, e);
		return VPR_USAGE;
	}
	mine = xk_errs_new();
	if (mine == NULL) {
		xk_errs_add(e, NULL, 0, 0, "out of memory");
		return VPR_FAILED;
	}
	err = xk_ledger_load(&o->ledger, path, mine);
	if (err != XK_OK)
		xk_spec_print_errors(stderr, o->ledger != NULL ? xk_ledger_spec(o->ledger) : NULL, mine, NULL);
	xk_errs_free(mine);
	return err == XK_OK ? VPR_OK : VPR_GRAPH_ERRORS;
}
