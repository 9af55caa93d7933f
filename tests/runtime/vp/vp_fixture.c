/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_fixture.c - a set of virtual processors for a test, and counting tasks to run on it.
 */
#include "tests/runtime/vp/vp_fixture.h"

struct vp_fx fx;

void count_delivery(struct xk_vp *vp, struct xk_msg *m)
{
	if (xk_atomic_add(&fx.inside[vp->no], 1u) != 0)
		xk_atomic_add(&fx.overlap, 1u);
	CU_ASSERT_EQUAL_FATAL(vp, xk_vp_self);
	fx.delivered[vp->no]++;
	xk_msg_free(m);
	xk_atomic_add(&fx.inside[vp->no], (uint32_t)-1);
	xk_atomic_add(&fx.total, 1u);
}

struct xk_arch arch_of(const char *preset, int vps, unsigned workers)
{
	struct xk_arch a = *xk_arch_find(preset);

	a.vps = vps;
	a.workers = workers;
	a.seed = 42;
	return a;
}

void make(struct xk_arch a)
{
	struct xk_mem_conf mem = { .limit = 64u << 20 };
	struct xk_errs *e;
	int err;

	memset(&fx, 0, sizeof fx);
	fx.before = xk_alloc_live();
	e = xk_errs_new();
	err = xk_vpset_new(&fx.set, &a, &mem, e);
	CU_ASSERT_EQUAL_FATAL(err, XK_OK);
	fx.set->deliver = count_delivery;
	xk_errs_free(e);
}

void unmake(void)
{
	CU_ASSERT_EQUAL(xk_vpset_free(fx.set), 0);
	fx.set = NULL;
	CU_ASSERT_EQUAL(xk_alloc_live(), fx.before);
}

static unsigned conn_run(struct xk_task *t, unsigned budget)
{
	struct conn *c = xk_container_of(t, struct conn, task);

	c->done += budget;
	if (c->hook != NULL)
		c->hook(c);
	if (c->limit != 0 && c->done >= c->limit)
		xk_task_park(t);
	return budget;
}

void conn_start(struct conn *c, struct xk_vp *vp, uint64_t limit)
{
	memset(c, 0, sizeof *c);
	xk_task_init(&c->task, vp, conn_run);
	c->limit = limit;
	xk_task_ready(&c->task);
}
