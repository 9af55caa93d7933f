/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upi_sess.c - sessions: made, bound, announced, found, idled and destroyed.
 *
 * All on the owner VP.  A session's memory returns to its replica's slab with
 * rep set to NULL, so that any hint that still names it fails its compare.
 * Invariant: a session is in its replica's active map iff map.bound.
 */
#include "runtime/upi/upi_priv.h"

#include "runtime/upi/xk_queued.h"

#ifdef XK_DEBUG
#include <execinfo.h>
#include <stdio.h>
#include <unistd.h>
#endif

struct xk_sess xk_sess_none, xk_sess_end = { .flags = XK_SESS_END };

static void no_push(struct xk_sess *s, struct xk_msg *m)
{
	xk_drop(s->rep, XK_DROP_UNSUPPORTED, m);
}

void upi_no_pop(struct xk_sess *s, struct xk_sess *lls, struct xk_msg *m, void *hdr)
{
	(void)lls;
	(void)hdr;
	xk_drop(s->rep, XK_DROP_UNSUPPORTED, m);
}

/* ---- whose is it? (debug build) --------------------------------------------- */

#ifdef XK_DEBUG
static void note_birth(struct xk_sess *s)
{
	s->nborn = (uint64_t)backtrace(s->born, XK_ARRAY_LEN(s->born));
}

void xk_rep_foreign(const struct xk_rep *r)
{
	xk_panic(__FILE__, __LINE__, "'%s' of virtual processor %u touched from %u",
		 r->node->name, r->vp->no, xk_vp_no);
}

void xk_sess_foreign(const struct xk_sess *s)
{
	if (s->rep == NULL)
		xk_panic(__FILE__, __LINE__, "a session touched after its end");
	fprintf(stderr, "session of '%s' on virtual processor %u was made here:\n",
		s->rep->node->name, s->rep->vp->no);
	backtrace_symbols_fd(s->born, (int)s->nborn, STDERR_FILENO);
	fprintf(stderr, "and is touched from virtual processor %u here:\n", xk_vp_no);
	xk_rep_foreign(s->rep);
}
#else
#define note_birth(s) ((void)0)
#endif

/* ---- life ------------------------------------------------------------------------- */

static uint8_t push_no(struct xk_rep *r, xk_push_fn fn)
{
	unsigned i = 0;

	while (i < r->npushes && r->pushes[i] != fn)
		i++;
	if (i == r->npushes) {
		xk_assert(i < XK_PUSHES_MAX);
		r->pushes[r->npushes++] = fn;
	}
	return (uint8_t)i;
}

struct xk_sess *xk_sess_create(struct xk_rep *r, struct xk_up *rcv, struct xk_node *type,
			       struct xk_sess *lls)
{
	const struct xk_ops *ops = r->node->proto->ops;
	struct xk_sess *s;

	xk_rep_check(r);
	upi_change(r->node);
	s = xk_slab_get(&upi_rep(r)->slab);
	if (s == NULL)
		return NULL;
	s->rep = r;
	note_birth(s);
	s->up = rcv;
	xk_sess_set_type(s, type);
	s->down = lls;
	s->pop = XK_UNLIKELY(xk_load_relaxed(&r->node->edge->pops)) ? upi_hooked_pop : upi_own_pop(r->node);
	s->push_no = push_no(r, ops->push ? ops->push : no_push);
	s->push = upi_push_of(r->node, xk_sess_own_push(s));
	s->self.demux = upi_demux_of(r->node, upi_own_demux(r->node));
	s->self.rep = r;
	if (XK_UNLIKELY(upi_hooked(r->node, UPI_CALLS)))
		s->flags = XK_SESS_HOOKED;
	xk_count(r->nsess_made);
	return s;
}

void xk_sess_set_push(struct xk_sess *s, xk_push_fn fn)
{
	if (s->push == xk_sess_own_push(s))
		s->push = fn;
	s->push_no = push_no(s->rep, fn);
}

/* A node by its number in the graph, plus 1. */
struct xk_node *xk_sess_type(const struct xk_sess *s)
{
	return s->type != 0 ? s->rep->node->graph->node[s->type - 1] : NULL;
}

void xk_sess_set_type(struct xk_sess *s, const struct xk_node *type)
{
	s->type = type != NULL ? (uint16_t)(type->no + 1) : 0;
}

int xk_sess_bind(struct xk_sess *s, const struct xk_key *k)
{
	int err;

	xk_sess_check(s);
	s->map.key = *k;
	err = xk_map_bind(&s->rep->active, &s->map);
	if (XK_UNLIKELY(s->flags & XK_SESS_HOOKED) && err == XK_OK && (err = upi_hooked_bind(s)) != XK_OK)
		xk_map_unbind(&s->rep->active, &s->map);
	return err;
}

void xk_sess_unbind(struct xk_sess *s)
{
	if (!s->map.bound)
		return;
	if (XK_UNLIKELY(s->flags & XK_SESS_HOOKED))
		upi_hooked_unbind(s);
	xk_map_unbind(&s->rep->active, &s->map);
}

int xk_rep_home(const struct xk_rep *r, const struct xk_flowkey *k)
{
	if (r->vp->set->arch.spread != XK_SPREAD_HASH || xk_flow_home(r->node->graph->flows, k) == r->vp->no)
		return XK_OK;
	return XK_E_ELSEWHERE;
}

/*
 * Who carries a message waits for its connection's lock with its own I/O thread's, and perhaps
 * the table's, in hand.  A connection on another I/O thread would make two of them wait for
 * each other.
 */
static bool carried_home(const struct xk_rep *r)
{
	return r->vp->set->arch.domain == XK_DOMAIN_NONE && xk_vp_is_io(r->vp);
}

int xk_sess_announce(struct xk_sess *s, const struct xk_flowkey *k)
{
	struct xk_rep *r = s->rep;
	struct xk_flow *f;
	int err;

	xk_dassert(!carried_home(r));
	if (carried_home(r))
		return XK_E_NOTSUP;
	xk_vp_table_write(r->vp);
	err = xk_flow_bind(r->node->graph->flows, k, r->vp->no, &xk_sess_none, &f);
	xk_vp_table_unwrite(r->vp);
	if (err == XK_OK) {
		s->flow = xk_slab_handle(f);
		f->sess[UPI_FLOW_END] = &xk_sess_end;
		if (XK_UNLIKELY(s->flags & XK_SESS_HOOKED))
			upi_hooked_announce(s);
		xk_dassert(xk_sess_reply_comes_home(s));
	}
	return err;
}

void xk_sess_withdraw(struct xk_sess *s)
{
	struct xk_rep *r = s->rep;

	if (s->flow == 0)
		return;
	if (XK_UNLIKELY(s->flags & XK_SESS_HOOKED))
		upi_hooked_withdraw(s);
	xk_vp_table_write(r->vp);
	xk_flow_unbind(r->node->graph->flows, xk_sess_flow(s));
	xk_vp_table_unwrite(r->vp);
	s->flow = 0;
}

void xk_sess_fetch_end(const struct xk_sess *s, enum xk_sess_lines which)
{
	const struct xk_flow *f = xk_sess_flow(s);

	if (which == XK_SESS_FLOW_LINES && f != NULL)
		xk_flow_fetch(s->rep->node->graph->flows, f);
	if (which != XK_SESS_LINES)
		return;
	xk_map_fetch(&s->rep->active, &s->map);
	__builtin_prefetch(f);
}

void xk_sess_destroy(struct xk_sess *s)
{
	struct xk_rep *r = s->rep;

	xk_sess_check(s);
	if (XK_UNLIKELY(s->flags & XK_SESS_HOOKED))
		upi_hooked_end(s);
	xk_sess_unbind(s);
	xk_sess_withdraw(s);
	s->rep = NULL;
	xk_slab_put(&upi_rep(r)->slab, s);
	xk_count(r->nsess_gone);
}

XK_NOINLINE void xk_sess_idle_slow(struct xk_sess *s)
{
	const struct xk_ops *ops = s->rep->node->proto->ops;

	upi_change(s->rep->node);
	if (ops->close != NULL)
		ops->close(s);
}

XK_NOINLINE void xk_pass_idle(struct xk_sess *s, struct xk_msg *m)
{
	struct upi_call c;

	upi_call_begin(&c, s->rep, s, UPI_PASS);
	xk_count(s->rep->npop);
	s->rcnt++;
	xk_demux(s, m);
	upi_call_end(&c);
	if (--s->rcnt == 0)
		xk_sess_idle_slow(s);
}

void xk_close(struct xk_sess *s)
{
	struct upi_call c;

	xk_sess_check(s);
	upi_call_begin(&c, s->rep, s, UPI_CLOSE);
	xk_assert(s->rcnt > 0);
	if (--s->rcnt == 0)
		xk_sess_idle_slow(s);
	upi_call_end(&c);
}

/* The caller will make it; while a hook waits for that, somebody else may have opened the very same one. */
static XK_NOINLINE struct xk_mapnode *find_made(struct xk_rep *r, const struct xk_key *k)
{
	upi_hooked_change(r->node);
	return xk_map_resolve(&r->active, k);
}

struct xk_sess *xk_find_slow(struct xk_rep *r, struct xk_msg *m, const struct xk_key *k)
{
	struct xk_sess **slot = m->u.hint;
	struct xk_mapnode *node;
	struct xk_sess *s;

	xk_rep_check(r);
	node = xk_map_resolve(&r->active, k);
	if (node == NULL && XK_UNLIKELY(upi_hooked(r->node, UPI_CALLS)))
		node = find_made(r, k);
	if ((*slot)->flags & XK_SESS_END)
		slot = NULL;
	else
		m->u.hint++;
	if (node == NULL)
		return NULL;
	s = xk_container_of(node, struct xk_sess, map);
	/* Whom a burst comes to may be looking (input_look). */
	if (slot != NULL)
		xk_store_relaxed(slot, s);
	return s;
}

/* ---- idle sessions ------------------------------------------------------------ */

struct collect { struct xk_sess *list; };

/* Counts the sessions that an earlier pass found idle and nobody used since. */
static int collect_visit(struct xk_mapnode *node, void *arg)
{
	struct xk_sess *s = xk_container_of(node, struct xk_sess, map);
	unsigned *old = arg;

	if (s->rcnt != 0 || !(s->flags & XK_SESS_IDLE) || ((s->flags & XK_SESS_HOOKED) && upi_hooked_named(s))) {
		s->idle_mark = 0;
	} else if (s->idle_mark == 0) {
		s->idle_mark = 1;
	} else {
		s->idle_mark = 2;
		(*old)++;
	}
	return XK_MAP_KEEP;
}

static int find_old(struct xk_mapnode *node, void *arg)
{
	struct xk_sess *s = xk_container_of(node, struct xk_sess, map);
	struct collect *c = arg;

	if (s->idle_mark != 2)
		return XK_MAP_KEEP;
	/* Nobody is above an idle session: the list runs through `up`. */
	s->up = (struct xk_up *)(void *)c->list;
	c->list = s;
	return XK_MAP_KEEP;
}

unsigned xk_sess_collect(struct xk_rep *r, void (*destroy)(struct xk_sess *))
{
	struct collect c = { NULL };
	unsigned old = 0;

	xk_map_foreach(&r->active, collect_visit, &old);
	if (old == 0)
		return 0;
	/* Destroying changes the map, so the victims are listed first. */
	xk_map_foreach(&r->active, find_old, &c);
	while (c.list != NULL) {
		struct xk_sess *s = c.list;

		c.list = (struct xk_sess *)(void *)s->up;
		s->up = &r->up;
		destroy(s);
	}
	return old;
}

/* ---- with a queue and a task that empties it (xk_queued.h) ------------------------------------ */

static struct xk_queued *queued(struct xk_sess *s)
{
	return xk_container_of(s, struct xk_queued, s);
}

static unsigned run_queued(struct xk_task *t, unsigned budget)
{
	struct xk_queued *qs = xk_container_of(t, struct xk_queued, task);
	struct xk_msg *m;
	unsigned n = 0;

	xk_dup(&qs->s);                  /* whoever gets a message may close it */
	for (; n < budget && (m = xk_msgq_get(&qs->q)) != NULL; n++)
		qs->each(&qs->s, m);
	if (qs->q.n == 0)
		xk_task_park(t);
	xk_close(&qs->s);
	return n;
}

struct xk_sess *xk_queued_open(struct xk_rep *r, struct xk_rep *rcv, struct xk_node *type, xk_queued_fn each, int *err)
{
	struct xk_sess *s = xk_sess_create(r, &rcv->up, type, NULL);

	if (s == NULL) {
		*err = XK_E_NOMEM;
		return NULL;
	}
	xk_msgq_init(&queued(s)->q);
	xk_task_init(&queued(s)->task, r->vp, run_queued);
	queued(s)->each = each;
	return s;
}

bool xk_queued_put(struct xk_sess *s, struct xk_msg *m, uint64_t most)
{
	struct xk_queued *qs = queued(s);

	if (qs->q.n >= most)
		return false;
	xk_msgq_put(&qs->q, m);
	xk_task_ready(&qs->task);
	return true;
}

void xk_queued_close(struct xk_sess *s)
{
	xk_task_park(&queued(s)->task);
	xk_msgq_free(&queued(s)->q);
	xk_sess_destroy(s);
}
