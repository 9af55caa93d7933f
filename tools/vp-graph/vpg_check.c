/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpg_check.c - check: loads a graph file, checks it, says everything.
 */
#include "tools/vp-graph/vpg.h"

int vpg_check(const struct vpg *o)
{
	struct vpg_file f;
	int code = vpg_open(&f, o, o->arg[0]);

	if (o->json) {
		int bad = vpg_print_json(json_pack("{s:s, s:b, s:o, s:o, s:s?}", "file", o->arg[0], "ok", code == VPG_OK,
						   "errors", vpg_errs_json(f.errs),
						   "warnings", vpg_errs_json(f.warnings),
						   "nearest", xk_spec_nearest(f.s)));

		code = bad ? bad : code;
	} else if (code == VPG_OK) {
		printf("%s: %s \"%s\" is good: %u nodes\n", o->arg[0], xk_spec_word(f.s),
		       xk_spec_name(f.s), xk_spec_nodes(f.s));
	}
	vpg_close(&f);
	return code;
}
