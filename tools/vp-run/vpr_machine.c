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

/* Where it is named. */
static void complain_missing(const struct vpr *o, const struct xk_spec *s, const char *name, struct xk_errs *e)
{
	char known[MOST][64], text[512];
	const char *names[MOST], *near;
	unsigned n = names_of(known);

	for (unsigned i = 0; i < n; i++)
		names[i] = known[i];
	near = xk_errs_suggest(name, names, n);
	if (near != NULL)
		snprintf(text, sizeof text, "there is no machine '%.60s' (did you mean '%s'?)", name, near);
	else
		snprintf(text, sizeof text, "there is no machine '%.60s' in %.300s", name, folder());
	if (o->machine != NULL)
		xk_errs_add(e, NULL, 0, 0, "option --machine: %s", text);
	else
		xk_spec_clock_error(s, e, text);
}

int vpr_machine(struct vpr *o, const struct xk_spec *s, struct xk_errs *e)
{
	const char *name = o->machine != NULL ? o->machine : xk_spec_clock_machine(s);
	char path[4096];
	struct xk_errs *mine;
	int err;

	if (name == NULL)
		return VPR_OK;
	snprintf(path, sizeof path, is_path(name) ? "%s%s" : "%s/%s.lua", is_path(name) ? "" : folder(), name);
	if (!is_path(name) && access(path, F_OK) != 0) {
		complain_missing(o, s, name, e);
		return o->machine != NULL ? VPR_USAGE : VPR_GRAPH_ERRORS;
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
