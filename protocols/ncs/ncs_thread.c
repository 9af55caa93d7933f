/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs_thread.c - compute threads of both kinds, and what they synchronise by.
 *
 * A user-level thread is a body on a stack of a virtual processor's: whatever it waits for, the others
 * of that VP and its protocols go on.  Semaphores and what stands on them know waiters, not threads, so
 * one of either kind may wake one of the other.
 */
#include "protocols/ncs/ncs_wait.h"
#include "protocols/ncs/xk_ncs.h"

#include "runtime/base/xk_list.h"
#include "runtime/mem/xk_alloc.h"
#include "runtime/sync/xk_fiber.h"
#include "runtime/sync/xk_sync.h"
#include "runtime/upi/xk_node.h"
#include "runtime/upi/xk_thread.h"
#include "runtime/upi/xk_vps.h"
#include "runtime/vp/xk_call.h"
#include "runtime/vp/xk_task.h"
#include "runtime/vp/xk_ult.h"

#include <stdio.h>

/* ---- semaphores ------------------------------------------------------------------------------------ */

struct xk_ncs_sem {
	struct xk_node *n;
	struct xk_mutex lock;
	uint64_t value;
	struct xk_list waiting;
};
struct sem_wait { struct xk_listed link; struct ncs_waiter w; bool given; };

int xk_ncs_sem_new(struct xk_node *n, uint64_t value, struct xk_ncs_sem **s)
{
	*s = xk_alloc(sizeof **s);
	if (*s == NULL)
		return XK_E_NOMEM;
	(*s)->n = n;
	(*s)->value = value;
	xk_mutex_init(&(*s)->lock);
	return XK_OK;
}

void xk_ncs_sem_free(struct xk_ncs_sem *s)
{
	if (s == NULL)
		return;
	xk_mutex_fini(&s->lock);
	xk_free(s);
}

void xk_ncs_sem_post(struct xk_ncs_sem *s)
{
	struct xk_listed *i;

	xk_mutex_lock(&s->lock);
	i = xk_list_first(&s->waiting);
	if (i != NULL) {
		struct sem_wait *w = xk_container_of(i, struct sem_wait, link);

		xk_list_take(i);
		w->given = true;
		ncs_wake(&w->w);
	} else {
		s->value++;
	}
	xk_mutex_unlock(&s->lock);
}

/* Takes one, or waits in the list; true: it has one. */
static bool sem_look(struct xk_ncs_sem *s, struct sem_wait *w, bool waits)
{
	bool had;

	xk_mutex_lock(&s->lock);
	had = w->given;
	if (!had && !xk_is_listed(&w->link) && s->value > 0) {
		s->value--;
		had = w->given = true;
	}
	if (!had && waits && !xk_is_listed(&w->link))
		xk_list_put(&s->waiting, &w->link);
	if (!waits)
		xk_list_take(&w->link);
	xk_mutex_unlock(&s->lock);
	return had;
}

int xk_ncs_sem_wait(struct xk_ncs_sem *s, uint64_t timeout)
{
	uint64_t begun = ncs_wait_now(), left = XK_NS_NEVER, gone;
	struct sem_wait w = { .given = false };
	bool may, had;

	if (ncs_wait_fit() != XK_OK)
		return XK_E_MFILE;
	may = ncs_wait_begin(&w.w, s->n) && timeout != 0;
	for (;;) {
		if (may)
			ncs_wait_arm(&w.w);
		had = sem_look(s, &w, may);
		if (timeout != XK_NCS_FOREVER) {
			gone = ncs_wait_now() - begun;
			left = gone < timeout ? timeout - gone : 0;
		}
		if (had || !may || left == 0)
			break;
		ncs_wait_sleep(&w.w, left);
	}
	had = sem_look(s, &w, false);
	if (may)
		ncs_wait_end(&w.w);
	return had ? XK_OK : XK_E_AGAIN;
}

/* ---- mutexes ---------------------------------------------------------------------------------------- */

struct xk_ncs_mutex { struct xk_ncs_sem *free; };

int xk_ncs_mutex_new(struct xk_node *n, struct xk_ncs_mutex **m)
{
	int err;

	*m = xk_alloc(sizeof **m);
	if (*m == NULL)
		return XK_E_NOMEM;
	err = xk_ncs_sem_new(n, 1, &(*m)->free);
	if (err == XK_OK)
		return err;
	xk_free(*m);
	*m = NULL;
	return err;
}

void xk_ncs_mutex_free(struct xk_ncs_mutex *m)
{
	if (m != NULL)
		xk_ncs_sem_free(m->free);
	xk_free(m);
}

int xk_ncs_mutex_lock(struct xk_ncs_mutex *m, uint64_t timeout) { return xk_ncs_sem_wait(m->free, timeout); }
void xk_ncs_mutex_unlock(struct xk_ncs_mutex *m) { xk_ncs_sem_post(m->free); }

/* ---- threads ------------------------------------------------------------------------------------------ */

struct xk_ncs_task {
	struct xk_node *n;
	void (*fn)(void *arg);
	void  *arg;
	struct xk_ncs_sem *ended;
	struct xk_thread *kernel;
	struct xk_ult u;
	struct xk_vp *vp;
	struct xk_call call;
	bool   user;
	int    err;
};

static void kernel_main(void *arg)
{
	struct xk_ncs_task *t = arg;

	t->fn(t->arg);
	xk_ncs_sem_post(t->ended);
}

static void ended_op(struct xk_vp *vp, void *arg)
{
	(void)vp;
	xk_ncs_sem_post(((struct xk_ncs_task *)arg)->ended);     /* nothing of it is touched behind this */
}

static void ult_gone(struct xk_ult *u)
{
	struct xk_ncs_task *t = xk_container_of(u, struct xk_ncs_task, u);

	t->call = (struct xk_call){ .fn = ended_op, .arg = t };
	xk_vp_call_async(u->vp, &t->call);       /* whoever ran its turn still looks at it */
}

static void ult_main(void *arg)
{
	struct xk_ncs_task *t = arg;

	t->fn(t->arg);
	xk_ult_put(&t->u);                       /* when this returns, it is gone */
}

static void begin_op(struct xk_vp *vp, void *arg)
{
	struct xk_ncs_task *t = arg;

	xk_ult_init(&t->u, vp, ult_gone);
	t->err = xk_ult_begin(&t->u, ult_main, t);
}

static int user_begin(struct xk_ncs_task *t, unsigned number)
{
	if (!xk_threads_begin_now(t->n))
		return XK_E_NOTSUP;
	t->vp = xk_node_vp_of(t->n, number);
	ncs_vp_do(t->n, t->vp, begin_op, t);
	return t->err;
}

int xk_ncs_spawn(struct xk_node *n, enum xk_ncs_kind kind, unsigned number, void (*fn)(void *arg), void *arg,
		 struct xk_ncs_task **tp)
{
	struct xk_ncs_task *t = xk_alloc(sizeof *t);
	char name[16];
	int err = t != NULL ? xk_ncs_sem_new(n, 0, &t->ended) : XK_E_NOMEM;

	*tp = NULL;
	if (err == XK_OK) {
		t->n = n;
		t->fn = fn;
		t->arg = arg;
		t->user = kind == XK_NCS_USER;
		snprintf(name, sizeof name, "compute%u", number);
		err = t->user ? user_begin(t, number) : xk_thread_new(&t->kernel, name, -1, kernel_main, t);
	}
	if (err == XK_OK) {
		*tp = t;
	} else if (t != NULL) {
		xk_ncs_sem_free(t->ended);
		xk_free(t);
	}
	return err;
}

int xk_ncs_join(struct xk_ncs_task *t, uint64_t timeout)
{
	int err = xk_ncs_sem_wait(t->ended, timeout);

	if (err != XK_OK)
		return err;
	if (!t->user)
		xk_thread_join(t->kernel);
	xk_ncs_sem_free(t->ended);
	xk_free(t);
	return err;
}

void xk_ncs_yield(void)
{
	struct xk_ult *u = xk_vp_self != NULL ? xk_ult_self(xk_vp_self) : NULL;

	if (u != NULL)
		xk_ult_yield(u);
	else
		xk_thread_yield();
}
