/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs_call.c - requests: begun, waited for, cancelled, done; and who holds what.
 *
 * Every call that may take time is a request, also those that wait: they have it on their stack.
 * It lies in one list, of its thread or its connection, until it is done or cancelled; taken out of it
 * and not done it is being worked on, and cannot be cancelled.
 * Invariant: a request that is not done has counted its thread and its connection.
 */
#include "protocols/ncs/ncs_call.h"

#include "runtime/mem/xk_alloc.h"

#include <string.h>

/* ---- holding ------------------------------------------------------------------------------------ */

void ncs_thread_put(struct xk_ncs_thread *t)
{
	if (--t->refs == 0)
		xk_free(t);
}

void ncs_conn_put(struct xk_ncs_conn *c)
{
	struct xk_ncs_thread *t = c->t;

	if (--c->refs != 0)
		return;
	xk_free(c);
	ncs_thread_put(t);
}

int ncs_proc_enter(struct xk_ncs_thread *t, struct xk_ncs_conn *c)
{
	struct xk_node *n = c != NULL ? c->n : t->n;
	int err = XK_OK;

	if (ncs_wait_fit() != XK_OK)
		return XK_E_MFILE;
	proc_lock(n);
	if (proc_of(n)->stopping)
		err = XK_E_SHUTDOWN;
	else if (c != NULL ? c->closed : t->gone)
		err = XK_E_BADF;
	else
		proc_of(n)->inside++;
	if (err == XK_OK && c != NULL)
		c->refs++;
	else if (err == XK_OK)
		t->refs++;
	proc_unlock(n);
	return err;
}

void ncs_proc_leave(struct xk_ncs_thread *t, struct xk_ncs_conn *c)
{
	struct xk_node *n = c != NULL ? c->n : t->n;

	proc_lock(n);
	proc_of(n)->inside--;
	if (c != NULL)
		ncs_conn_put(c);
	else
		ncs_thread_put(t);
	proc_unlock(n);
}

/* ---- requests -------------------------------------------------------------------------------------- */

void ncs_req_begin(struct xk_ncs_req *r, enum req_kind kind, struct xk_ncs_thread *t, struct xk_ncs_conn *c)
{
	r->kind = kind;
	r->err = XK_E_INPROGRESS;
	r->n = t->n;
	r->t = t;
	r->c = c;
	r->waiter = NULL;
	r->box = NULL;
	r->offer = NULL;
	r->link = (struct xk_listed){ NULL, NULL };
	r->why[0] = '\0';
	t->refs++;
	if (c != NULL)
		c->refs++;
}

void ncs_req_says(struct xk_ncs_req *r, struct xk_ncs_conn *c, int tag, size_t len)
{
	r->st = (struct xk_ncs_status){ .rank = c->peer.rank, .tag = tag, .thread = c->peer.thread,
					.session = c->peer.session, .len = len, .conn = c };
	r->host = c->peer.host;
}

void ncs_conn_poke(struct xk_ncs_conn *c)
{
	struct proc_rep *pr = proc_rep(c->n->rep[xk_vp_number(c->vp)]);

	if (pr->over || xk_is_listed(&c->poke))
		return;
	xk_list_put(&pr->pokes, &c->poke);
	c->refs++;
	if (!pr->posted)
		xk_vp_call_async(c->vp, &pr->call);
	pr->posted = true;
}

int ncs_conn_standing(const struct xk_ncs_conn *c)
{
	return proc_of(c->n)->stopping ? XK_E_SHUTDOWN : c->closed ? XK_E_BADF : c->state == CONN_ENDED ? c->err : XK_OK;
}

void ncs_req_done(struct xk_ncs_req *r, int err)
{
	struct xk_ncs_thread *t = r->t;
	struct xk_ncs_conn *c = r->c;

	if (r->box != NULL && r->box->into) {    /* by who copies into its buffer */
		r->box->after = (int16_t)err;
		return;
	}
	xk_list_take(&r->link);
	if (r->box != NULL)
		r->box->r = NULL;
	if (r->offer != NULL) {                  /* the peer is told */
		xk_list_take(&r->offer->link);
		xk_list_put(&c->withdrawn, &r->offer->link);
		ncs_conn_poke(c);
	}
	r->box = NULL;
	r->offer = NULL;
	if (r->waiter != NULL)
		ncs_wake(r->waiter);
	r->waiter = NULL;
	xk_store_release(&r->err, err);          /* who tests it has no lock, and may do with it what he likes from here on */
	if (c != NULL)
		ncs_conn_put(c);
	ncs_thread_put(t);
}

void ncs_req_never(struct xk_ncs_req *r, int err)
{
	memset(r, 0, sizeof *r);
	r->err = err;
}

void ncs_reqs_fail(struct xk_list *l, const struct xk_ncs_conn *c, int err)
{
	for (struct xk_listed *i = xk_list_first(l), *next; i != NULL; i = next) {
		next = xk_list_next(l, i);
		if (c == NULL || req_of(i)->c == c)
			ncs_req_done(req_of(i), err);
	}
}

int xk_ncs_test(struct xk_ncs_req *r) { return xk_load_acquire(&r->err); }

/* ---- waiting ------------------------------------------------------------------------------------------ */

/* The first that is done, or -1 and they wake w; NULL: they wake nobody.  So many calls more are inside of node, NULL:
 * none.  All are of one process, as a rule. */
static int look(struct xk_ncs_req *const *r, unsigned n, struct ncs_waiter *w, const struct xk_node *node, unsigned more)
{
	const struct xk_node *held = node;
	int found = -1;

	if (held != NULL) {
		proc_lock(held);
		proc_of(held)->inside += more;
	}
	for (unsigned i = 0; i < n; i++) {
		if (r[i] == NULL)
			continue;
		if (r[i]->n == NULL) {
			found = found < 0 ? (int)i : found;
			continue;
		}
		if (r[i]->n != held) {
			if (held != NULL)
				proc_unlock(held);
			held = r[i]->n;
			proc_lock(held);
		}
		if (r[i]->err == XK_E_INPROGRESS) {
			r[i]->waiter = w;
			if (w != NULL && r[i]->c != NULL)
				ncs_wait_at(w, r[i]->c->vp);
		} else if (found < 0) {
			found = (int)i;
		}
	}
	if (held != NULL)
		proc_unlock(held);
	return found;
}

static int wait_for(struct xk_ncs_req *const *r, unsigned n, const struct xk_node *node, uint64_t timeout)
{
	uint64_t end = XK_NS_NEVER, left = XK_NS_NEVER, now;
	struct ncs_waiter w;
	unsigned more = 1;
	int found;

	if (node == NULL || timeout == 0 || !ncs_wait_begin(&w, node))
		return look(r, n, NULL, node, 0);
	if (timeout != XK_NCS_FOREVER)
		end = ncs_wait_now() + timeout;
	for (;;) {
		ncs_wait_arm(&w);
		found = look(r, n, &w, node, more);
		more = 0;
		if (end != XK_NS_NEVER) {
			now = ncs_wait_now();
			left = end > now ? end - now : 0;
		}
		if (found >= 0 || left == 0)
			break;
		ncs_wait_sleep(&w, left);
	}
	found = look(r, n, NULL, node, 0);
	ncs_wait_end(&w);
	proc_lock(node);
	proc_of(node)->inside--;
	proc_unlock(node);
	return found;
}

int xk_ncs_wait(struct xk_ncs_req *r, uint64_t timeout)
{
	return wait_for(&r, 1, r->n, timeout) < 0 ? XK_E_AGAIN : r->err;
}

int xk_ncs_waitany(struct xk_ncs_req *const *r, unsigned n, uint64_t timeout)
{
	const struct xk_ncs_req *any = NULL;
	int found;

	for (unsigned i = 0; i < n; i++)
		any = r[i] != NULL && (any == NULL || any->n == NULL) ? r[i] : any;
	if (any == NULL)
		return XK_E_INVAL;
	found = wait_for(r, n, any->n, timeout);
	return found < 0 ? XK_E_AGAIN : found;
}

/* ---- who asks for a connection ---------------------------------------------------------------------- */

bool ncs_peer_fits(struct xk_sess *lls, const struct xk_ncs_addr *from, int *err)
{
	struct ncs_about a;

	if (xk_sess_control(lls, NCS_CTL_ABOUT, &a, sizeof a) != (int)sizeof a || !a.known)
		return true;
	if (!a.same_order && from->session & PROC_GROUP)
		*err = XK_E_NOTSUP;
	else if (a.rank == UINT32_MAX || a.rank == (uint32_t)from->rank)
		return true;
	return false;
}
