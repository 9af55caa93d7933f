/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upi_charge.h - nodes that are charged on simulated processors (upi_hook_charge.c).
 */
#ifndef XK_UPI_CHARGE_H
#define XK_UPI_CHARGE_H

#include "runtime/upi/xk_graph.h"

/* Before the graph comes up; nothing where its machine has no costs of nodes.  XK_E_INVAL: each node that
 * the ledger lacks has been named. */
int upi_charge_attach(struct xk_graph *g, struct xk_errs *e);

#endif
