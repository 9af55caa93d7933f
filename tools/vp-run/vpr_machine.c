/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpr_machine.c - the machine that a graph is simulated on: found by its name, and read.
 */
#include "tools/vp-run/vpr.h"

#include "runtime/compose/xk_ledger.h"
#include "runtime/compose/xk_machine_file.h"

/* Where it is named. */
static void complain_missing(const struct vpr *o, const struct xk_spec *s, const char *name, struct xk_errs *e)
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
	if (!xk_machine_path(xk_machine_folder(), name, path, sizeof path)) {
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
