/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upi_hook_thread.c - a hook that gives connections a user-level thread each (threads = "user").
 *
 * A connection that the classifier knows gets a thread when it is announced.  The thread
 * is found from a frame at the cost of nothing where there is none: every hint list ends
 * with a dummy session, and here with one that is part of the thread; who looks is the
 * hook below the lowest protocol.
 * Messages of no known connection (fragments, the first of a new one) and timers run on
 * the virtual processor's stack.
 * Invariant: a flow that is bound ends its list with its thread's `end`, or with
 * xk_sess_end; it holds one reference to the thread.
 */
#include "runtime/upi/upi_priv.h"

#include "runtime/upi/xk_thread.h"
#include "runtime/upi/xk_vps.h"

struct upi_thread {
	struct xk_sess end;               /* flags: XK_SESS_END */
	struct xk_ult  u;
	struct xk_upivp *home;
	uint64_t       link;              /* the slab's, while free */
};

static bool user_threads(const struct xk_graph *g)
{
	return g->vps->arch.threads == XK_THREADS_USER;
}

/* ---- a thread of its own ----------------------------------------------------------- */

static void thread_gone(struct xk_ult *u)
{
	struct upi_thread *t = xk_container_of(u, struct upi_thread, u);

	t->end.flags = 0;
	xk_slab_put(&t->home->threads, t);
}

static struct upi_thread *thread_new(struct xk_vp *vp)
{
	struct xk_upivp *home = upi_vp(vp);
	struct upi_thread *t;

	if (home->threads.size == 0)
		xk_slab_init(&home->threads, sizeof *t);
	t = xk_slab_get(&home->threads);
	if (t == NULL)
		return NULL;
	t->home = home;
	t->end.flags = XK_SESS_END;
	xk_ult_init(&t->u, vp, thread_gone);
	return t;
}

void upi_threads_fini(struct xk_upivp *u)
{
	if (u->threads.size == 0)
		return;
	u->threads.live = 0;             /* of sessions that leaked, and are counted */
	xk_slab_fini(&u->threads);
}

/* The thread whose `end` this is, if it is one of vp's; hints may be stale. */
static struct xk_ult *thread_at_end(struct xk_sess *end, const struct xk_vp *vp)
{
	struct upi_thread *t = xk_container_of(end, struct upi_thread, end);

	if (end == &xk_sess_end || !(end->flags & XK_SESS_END) || t->u.vp != vp)
		return NULL;
	return &t->u;
}

/* ---- of a connection ------------------------------------------------------------------- */

static void thread_announce(struct xk_sess *s)
{
	struct upi_thread *t = thread_new(s->rep->vp);

	if (t != NULL)
		xk_sess_flow(s)->sess[UPI_FLOW_END] = &t->end;
}

/* What is on its way up in this unit must not find the thread any more. */
static void thread_withdraw(struct xk_sess *s)
{
	struct xk_ult *t = thread_at_end(xk_sess_flow(s)->sess[UPI_FLOW_END], s->rep->vp);

	xk_sess_flow(s)->sess[UPI_FLOW_END] = &xk_sess_end;
	if (t != NULL)
		xk_ult_put(t);
}

static struct xk_ult *thread_of(const struct xk_sess *s)
{
	for (; s != NULL; s = s->down)
		if (s->flow != 0)
			return thread_at_end(xk_sess_flow(s)->sess[UPI_FLOW_END], s->rep->vp);
	return NULL;
}

void xk_task_of(struct xk_task *t, struct xk_sess *s)
{
	struct xk_ult *u;

	if (s == NULL) {
		xk_ult_leave(t);
		return;
	}
	u = user_threads(s->rep->node->graph) ? thread_of(s) : NULL;
	if (u != NULL)
		(void)xk_ult_adopt(u, t);
}

struct xk_ult *xk_sess_thread(struct xk_sess *s)
{
	struct xk_ult *u = thread_of(s);
	struct upi_thread *t;

	if (u != NULL)
		return xk_ult_ref(u);
	t = thread_new(s->rep->vp);
	return t != NULL ? &t->u : NULL;
}

int xk_threads_check(const struct xk_node *n, struct xk_errs *e)
{
	const struct xk_arch *a = &n->graph->vps->arch;

	if (!xk_fiber_available())
		xk_errs_add(e, n->file, n->line, 0, "%s: needs user-level threads, which this build was made without: "
			    "install %s and configure again", n->name, xk_fiber_missing);
	else if (a->entry != XK_ENTRY_OWN)
		xk_errs_add(e, n->file, n->line, 0, "%s: needs entry \"own\": a user-level thread's stack is run by one "
			    "kernel thread, so no other may enter its virtual processor", n->name);
	else
		return XK_OK;
	return XK_E_NOTSUP;
}

/* Whom n's messages go to: choices that only stand between have none. */
static const struct xk_node *called(const struct xk_node *n)
{
	while (n->proto->as_below && n->proto->ops->demux == NULL && n->ndown != 0)
		n = n->down[0];
	return n;
}

static bool layer_to_itself(const struct xk_node *n)
{
	const struct xk_graph *g = n->graph;

	for (unsigned i = 0; i < g->nnodes; i++)
		for (unsigned k = 0; k < g->node[i]->ndown; k++)
			if (g->node[i]->down[k] == n && g->node[i]->layer == n->layer)
				return false;
	for (unsigned k = 0; k < n->ndown; k++)
		if (called(n->down[k])->layer == n->layer)
			return false;
	return true;
}

int xk_own_threads(const struct xk_node *n, struct xk_errs *e)
{
	if (n->graph->vps->arch.domain != XK_DOMAIN_LAYER)
		return xk_threads_check(n, e) == XK_OK ? XK_OWN_USER : XK_E_NOTSUP;
	if (layer_to_itself(n))
		return XK_OWN_LAYER;
	xk_errs_add(e, n->file, n->line, 0, "%s: has no layer of its own, so no thread: 'layers' must put what lies above "
		    "and below it into others", n->name);
	return XK_E_NOTSUP;
}

bool xk_threads_begin_now(const struct xk_node *n)
{
	return xk_fiber_available() && (n->graph->vps->arch.entry == XK_ENTRY_OWN || !xk_node_running(n));
}

/* ---- frames ------------------------------------------------------------------------------ */

struct frame_job { const struct upi_link *l; struct xk_up *up; struct xk_sess *lls; struct xk_msg *m; };
struct batch_job { const struct upi_link *l; struct xk_up *up; struct xk_sess *lls; const struct xk_batch *f; };

static unsigned frame_unit(void *arg, unsigned n)
{
	const struct frame_job *j = arg;

	upi_next_demux(j->l, j->up, j->lls, j->m);
	return n;
}

static unsigned frames_unit(void *arg, unsigned n)
{
	const struct batch_job *j = arg;

	(void)n;
	return upi_next_batch(j->l, j->up, j->lls, j->f);
}

static void thread_demux(const struct upi_link *l, struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	struct xk_ult *t = thread_at_end(m->u.hint[UPI_FLOW_END], up->rep->vp);
	struct frame_job j = { l, up, lls, m };

	if (t != NULL && xk_ult_self(t->vp) == NULL)
		xk_ult_call(t, frame_unit, &j, 1);
	else
		upi_next_demux(l, up, lls, m);
}

static unsigned thread_batch(const struct upi_link *l, struct xk_up *up, struct xk_sess *lls,
			      const struct xk_batch *f)
{
	struct xk_ult *t = thread_at_end(f->run->flow->sess[UPI_FLOW_END], up->rep->vp);
	struct batch_job j = { l, up, lls, f };

	return t != NULL ? xk_ult_call(t, frames_unit, &j, f->n) : 0;
}

static const struct xk_hook threads = {
	.name = "threads", .demux = thread_demux, .batch = thread_batch,
	.announce = thread_announce, .withdraw = thread_withdraw,
};

/* Stands n right over a device?  Drivers over drivers are part of the device. */
static bool over_device(const struct xk_node *n)
{
	return !n->proto->is_driver && n->ndown != 0 && n->down[0]->proto->is_driver && n->proto->ops->demux != NULL;
}

void upi_threads_attach(struct xk_graph *g)
{
	for (unsigned i = 0; i < g->nnodes && user_threads(g); i++) {
		upi_hook_attach(g->node[i], UPI_CALLS, UPI_AT_THREADS, &threads);
		if (over_device(g->node[i]))
			upi_hook_attach(g->node[i], UPI_BELOW, UPI_AT_THREADS, &threads);
	}
}
