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

struct xk_arch affine(int vps, unsigned workers, enum xk_affinity affinity)
{
	struct xk_arch a = arch_of("ips_conn", vps, workers);

	a.affinity = affinity;
	a.pick = affinity == XK_AFFINITY_NONE ? XK_PICK_LRU : XK_PICK_MRU;
	a.queue = affinity == XK_AFFINITY_STREAM ? XK_QUEUE_PER : XK_QUEUE_ONE;
	a.depth = affinity == XK_AFFINITY_STREAM ? XK_SCHED_WIRED : 0;
	return a;
}

/* ---- calls that go round ---------------------------------------------------------------- */

/* Each VP's call leads to one in the next VP, and so on. */
static struct chain { struct xk_call call; unsigned at, left; } chain[MAX_VPS];
static uint32_t ended;

static void pass_on(struct xk_vp *vp, void *arg)
{
	struct chain *c = arg;

	CU_ASSERT_EQUAL(vp->no, c->at);
	if (c->left-- == 0) {
		xk_atomic_add(&ended, 1u);
		return;
	}
	c->at = (c->at + 1) % fx.set->nvps;
	c->call = (struct xk_call){ .fn = pass_on, .arg = c };
	xk_vp_call_async(fx.set->vp[c->at], &c->call);
}

void calls_go_round(unsigned times)
{
	struct xk_errs *e = xk_errs_new();

	ended = 0;
	CU_ASSERT_EQUAL_FATAL(xk_vpset_start(fx.set, e), XK_OK);
	for (unsigned i = 0; i < fx.set->nvps; i++) {
		chain[i] = (struct chain){ .call = { .fn = pass_on, .arg = &chain[i] }, .at = i, .left = times };
		xk_vp_call_async(fx.set->vp[i], &chain[i].call);
	}
	while (xk_load_acquire(&ended) != fx.set->nvps)
		xk_thread_yield();
	xk_vpset_stop(fx.set);
	xk_errs_free(e);
}
