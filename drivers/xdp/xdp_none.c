/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xdp_none.c - the AF_XDP driver of a build without its libraries: it says which
 * package is missing.
 *
 * Graph files that use it can be checked; only starting one fails.
 * Invariant: no graph with this driver comes up.
 */
#include "drivers/xdp/xdp_priv.h"
#include "runtime/base/xk_errs.h"
#include "runtime/upi/xk_node.h"

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

static int none_init(struct xk_node *n, struct xk_errs *e)
{
	xk_errs_add(e, n->file, n->line, 0, "%s: built without AF_XDP: install the package %s, then configure "
		    "and build again", n->name, TEXT(XK_XDP_MISSING));
	return XK_E_NOTSUP;
}

const struct xk_ops xdp_ops = { .init = none_init };
