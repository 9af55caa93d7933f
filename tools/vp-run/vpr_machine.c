/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpr_machine.c - the machine that a graph is simulated on: found by its name, and read.
 */
#include "tools/vp-run/vpr.h"

#include "runtime/compose/xk_ledger.h"
#include "runtime/compose/xk_machine_file.h"

/* Where it is named. */
static int complain(const struct vpr *o, const struct xk_spec *s, const char *text, struct xk_errs *e)
{
	if (o->machine == NULL) {
		xk_spec_clock_error(s, e, text);
		return VPR_GRAPH_ERRORS;
	}
	xk_errs_add(e, NULL, 0, 0, "option --machine: %s", text);
	return VPR_USAGE;
}

static int complain_missing(const struct vpr *o, const struct xk_spec *s, const char *name, struct xk_errs *e)
{
	struct xk_machine_names known;
	const char *near;
	char text[512];

	xk_machine_list(xk_machine_folder(), &known);
	near = xk_machine_near(&known, name);
	if (near != NULL)
		snprintf(text, sizeof text, "there is no machine '%.60s' (did you mean '%s'?)", name, near);
	else
		snprintf(text, sizeof text, "there is no machine '%.60s' in %.300s", name, xk_machine_folder());
	return complain(o, s, text, e);
}

/* Reads the file, with what it is asked for. */
static int load(struct vpr *o, const char *path, const struct xk_machine_asked *asked, struct xk_errs *e)
{
	struct xk_errs *mine = xk_errs_new();
	int err;

	if (mine == NULL) {
		xk_errs_add(e, NULL, 0, 0, "out of memory");
		return VPR_FAILED;
	}
	err = xk_ledger_load(&o->ledger, path, asked->arg, asked->nargs, mine);
	if (err != XK_OK)
		xk_spec_print_errors(stderr, o->ledger != NULL ? xk_ledger_spec(o->ledger) : NULL, mine, NULL);
	xk_errs_free(mine);
	return err == XK_OK ? VPR_OK : VPR_GRAPH_ERRORS;
}

int vpr_machine(struct vpr *o, const struct xk_spec *s, struct xk_errs *e)
{
	const char *text = o->machine != NULL ? o->machine : xk_spec_clock_machine(s);
	struct xk_machine_asked asked;
	char path[4096];

	if (text == NULL)
		return VPR_OK;
	if (!xk_machine_ask(text, &asked))
		return complain(o, s, "a machine of more than 4095 bytes or 16 arguments is none", e);
	if (!xk_machine_path(xk_machine_folder(), asked.name, path, sizeof path))
		return complain_missing(o, s, asked.name, e);
	return load(o, path, &asked, e);
}
