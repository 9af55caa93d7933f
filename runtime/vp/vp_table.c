/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_table.c - the lock on the table of connections (domain `none`).
 *
 * Readers are those who look for a message's owner.  Locks are asked for in one order: a
 * I/O thread's, the table's, a connection's.  Where I/O threads hold the table while they wait for a
 * connection's lock, a thread that is not the set's asks in that order, too: who sends finds its
 * connection in the table.
 * Invariant: where the architecture names no lock nothing is taken, and the table is RCU's alone.
 */
#include "runtime/vp/vp_priv.h"

void xk_vp_table_read(struct xk_vp *vp)
{
	struct xk_vpset *set = vp->set;

	if (set->arch.table != NULL)
		xk_lock_take_shared(set->arch.table, &set->table, &vp->tablestat);
}

void xk_vp_table_unread(struct xk_vp *vp)
{
	struct xk_vpset *set = vp->set;

	if (set->arch.table != NULL)
		xk_lock_drop_shared(set->arch.table, &set->table, &vp->tablestat);
}

/* Inside nothing a thread counts for itself; when it has vp's lock what it counted is vp's. */
void xk_vp_lock_by_table(struct xk_vp *vp)
{
	static _Thread_local struct xk_lockstat mine;
	const struct xk_lockstat before = mine;
	struct xk_vpset *set = vp->set;

	mine.untimed = set->arch.lock_untimed;
	xk_lock_take_shared(set->arch.table, &set->table, &mine);
	xk_vp_lock(vp);
	xk_lock_drop_shared(set->arch.table, &set->table, &mine);
	xk_lockstat_add(&vp->tablestat, &mine, &before);
}

static bool writes_locked(const struct xk_vpset *set)
{
	return set->arch.table != NULL && !set->arch.hold;
}

void xk_vp_table_write(struct xk_vp *vp)
{
	if (writes_locked(vp->set))
		xk_lock_take(vp->set->arch.table, &vp->set->table, &vp->tablestat);
}

void xk_vp_table_unwrite(struct xk_vp *vp)
{
	if (writes_locked(vp->set))
		xk_lock_drop(vp->set->arch.table, &vp->set->table, &vp->tablestat);
}
