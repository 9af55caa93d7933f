/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs_call_conn.c - compute threads and their connections: attach, open, accept, close, and the end.
 *
 * A connection is opened on a VP by its number in the process, and one that comes stays on the VP that it
 * came to.  Who it is for, and from, are in the bytes that OPEN carries, so a peer is refused before
 * anything is made for it.
 */
#include "protocols/ncs/ncs_call.h"
#include "protocols/ncs/ncs_half.h"

#include "runtime/base/xk_bytes.h"
#include "runtime/base/xk_rand.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"
#include "runtime/upi/xk_vps.h"

#include <stdio.h>
#include <string.h>

/* ---- threads ----------------------------------------------------------------------------------------- */

static struct xk_ncs_thread *thread_of(const struct xk_node *n, unsigned number)
{
	const struct xk_list *l = &proc_of(n)->threads;

	for (struct xk_listed *i = xk_list_first(l); i != NULL; i = xk_list_next(l, i))
		if (xk_container_of(i, struct xk_ncs_thread, link)->number == number)
			return xk_container_of(i, struct xk_ncs_thread, link);
	return NULL;
}

int xk_ncs_attach(struct xk_node *n, unsigned number, struct xk_ncs_thread **t)
{
	struct xk_ncs_thread *new;
	int err = XK_OK;

	*t = NULL;
	if (strcmp(n->proto->name, "process") != 0 || number > UINT16_MAX)
		return XK_E_INVAL;
	new = xk_alloc(sizeof *new);
	if (new == NULL)
		return XK_E_NOMEM;
	new->n = n;
	new->number = number;
	new->refs = 1;
	proc_lock(n);
	if (proc_of(n)->stopping)
		err = XK_E_SHUTDOWN;
	else if (thread_of(n, number) != NULL)
		err = XK_E_EXIST;
	else
		xk_list_put(&proc_of(n)->threads, &new->link);
	proc_unlock(n);
	if (err == XK_OK)
		*t = new;
	else
		xk_free(new);
	return err;
}

static struct xk_ncs_conn *conn_at(struct xk_listed *i) { return xk_container_of(i, struct xk_ncs_conn, link); }

/* A connection that somebody has, and that is the next to be closed. */
static struct xk_ncs_conn *next_conn(struct xk_ncs_thread *t)
{
	struct xk_listed *i;

	proc_lock(t->n);
	t->gone = true;
	xk_list_take(&t->link);
	i = xk_list_first(&t->conns);
	if (i == NULL) {
		ncs_reqs_fail(&t->accepts, NULL, XK_E_BADF);
		ncs_reqs_fail(&t->posted, NULL, XK_E_BADF);
		ncs_boxes_free(t, NULL);
	}
	proc_unlock(t->n);
	return i != NULL ? conn_at(i) : NULL;
}

void xk_ncs_detach(struct xk_ncs_thread *t)
{
	struct xk_node *n;
	struct xk_ncs_conn *c;

	if (t == NULL)
		return;
	while ((c = next_conn(t)) != NULL)
		xk_ncs_close(c);
	n = t->n;
	proc_lock(n);
	ncs_thread_put(t);
	proc_unlock(n);
}

/* ---- a connection ------------------------------------------------------------------------------------------ */

/* Two references: whoever has it, and its session.  With the lock. */
static void conn_join(struct xk_ncs_conn *c, struct xk_ncs_thread *t)
{
	c->t = t;
	t->refs++;
	c->refs = 2;
	xk_list_put(&t->conns, &c->link);
}

static struct ncs_end *end_new(struct xk_rep *r, struct xk_sess *lls, struct xk_ncs_conn *c)
{
	struct xk_sess *s = xk_sess_create(r, NULL, r->node, lls);
	struct ncs_end *e = (struct ncs_end *)(void *)s;
	struct ncs_choice choice;

	if (s == NULL)
		return NULL;
	lls->up = &s->self;
	e->c = c;
	e->pumping = false;
	e->marks = 0;
	e->coming = (struct ncs_coming){ .how = COMING_NOT };
	xk_timer_init(&e->marker, ncs_mark);
	xk_timer_init(&e->again, ncs_pump_again);
	e->link = (struct xk_listed){ NULL, NULL };
	xk_list_put(&proc_rep(r)->ends, &e->link);
	(void)xk_sess_control(lls, NCS_CTL_WATCH, NULL, 0);
	(void)xk_sess_control(lls, NCS_CTL_SDUS, &e->before, sizeof e->before);
	c->sure = xk_sess_control(lls, NCS_CTL_AGREED, &choice, sizeof choice) != (int)sizeof choice || choice.error->sure;
	return e;
}

void ncs_end_free(struct ncs_end *e)
{
	struct xk_sess *lls = e->s.down;
	struct xk_ncs_conn *c = e->c;
	struct xk_node *n = c->n;

	lls->up = &e->s.rep->up;
	e->s.down = NULL;
	c->end = NULL;
	xk_timer_cancel(e->s.rep->wheel, &e->marker);
	xk_timer_cancel(e->s.rep->wheel, &e->again);
	ncs_await_notes_free(c);
	ncs_place_none(e);
	proc_lock(n);
	ncs_reqs_fail(&c->announced, NULL, ncs_conn_standing(c));
	ncs_part_fail(c, ncs_conn_standing(c));
	ncs_offers_free(c);
	proc_unlock(n);
	xk_list_take(&e->link);
	xk_sess_destroy(&e->s);
	xk_close(lls);
	proc_lock(n);
	ncs_conn_put(c);
	proc_unlock(n);
}

/* Is there another way to that rank? */
static bool reaches(const struct xk_ncs_thread *t, int rank)
{
	for (struct xk_listed *i = xk_list_first(&t->conns); i != NULL; i = xk_list_next(&t->conns, i))
		if (conn_at(i)->peer.rank == rank && conn_at(i)->state != CONN_ENDED && !conn_at(i)->closed)
			return true;
	return false;
}

void ncs_conn_fail(struct xk_ncs_conn *c, int err)
{
	struct xk_list *l = &c->t->posted;

	if (c->opener != NULL)
		ncs_req_done(c->opener, err);
	c->opener = NULL;
	ncs_reqs_fail(&c->sends, NULL, err);
	ncs_reqs_fail(&c->announced, NULL, err);
	ncs_part_fail(c, err);
	ncs_reqs_fail(&c->flushes, NULL, err);
	ncs_reqs_fail(l, c, err);
	if (reaches(c->t, c->peer.rank))
		return;
	for (struct xk_listed *i = xk_list_first(l), *next; i != NULL; i = next) {
		next = xk_list_next(l, i);
		if (req_of(i)->c == NULL && req_of(i)->rank == c->peer.rank)
			ncs_req_done(req_of(i), err);
	}
}

void ncs_conn_ended(struct xk_ncs_conn *c, int err, const char *why)
{
	struct ncs_end *e = c->end;

	proc_lock(c->n);
	ncs_await_ended(c);
	ncs_settle(c->t);                        /* what is here is received, before others hear */
	c->state = CONN_ENDED;
	c->err = err;
	if (c->opener != NULL)
		snprintf(c->opener->why, XK_NCS_WHY, "%s", why);
	ncs_conn_fail(c, err);
	ncs_settle(c->t);
	ncs_await_room(c->n);
	proc_unlock(c->n);
	if (e != NULL)
		ncs_end_free(e);
}

void ncs_conn_opened(struct xk_ncs_conn *c)
{
	proc_lock(c->n);
	c->state = CONN_OPEN;
	if (c->opener != NULL)
		ncs_req_done(c->opener, XK_OK);
	c->opener = NULL;
	proc_unlock(c->n);
	ncs_conn_pump(c->end);
}

/* ---- open ------------------------------------------------------------------------------------------------------ */

struct opening { struct xk_ncs_conn *c; const struct xk_ncs_choice *choice; uint32_t host; };

static void hello_store(uint8_t *b, const struct xk_ncs_conn *c)
{
	xk_put_be32(b, (uint32_t)proc_conf(c->n)->rank);
	xk_put_be16(b + 4, (uint16_t)c->t->number);
	xk_put_be16(b + 6, (uint16_t)c->peer.thread);
	xk_put_be32(b + 8, c->peer.session);
}

static struct xk_sess *open_below(struct xk_rep *r, const struct opening *o, const struct ncs_pick *pick, int *err)
{
	uint8_t hello[NCS_HELLO_LEN];
	struct xk_parts ps;

	hello_store(hello, o->c);
	xk_parts_init(&ps, 2);
	xk_part_push_host(&ps.p[XK_REMOTE], o->host);
	xk_part_push_port(&ps.p[XK_REMOTE], proc_conf(r->node)->service);
	xk_part_push(&ps.p[XK_LOCAL], hello, sizeof hello);
	xk_part_push(&ps.p[XK_LOCAL], pick, sizeof *pick);
	return xk_open(r, r->node, r->down[0], &ps, err);
}

/* Inside the VP.  Whatever goes wrong ends the connection, which tells who opens it. */
static void open_op(struct xk_vp *vp, void *arg)
{
	const struct opening *o = arg;
	const struct xk_ncs_choice *ch = o->choice;
	struct xk_ncs_conn *c = o->c;
	struct xk_rep *r = c->n->rep[xk_vp_number(vp)];
	struct ncs_names w = { .path = NULL };
	struct xk_sess *lls = NULL;
	char why[XK_NCS_WHY] = "";
	int err;

	if (ch != NULL)
		w = (struct ncs_names){ ch->path, ch->flow, ch->error, ch->over, NULL, { 0, 0, 0 } };
	proc_lock(c->n);
	err = c->closed ? XK_E_BADF : XK_OK;     /* its thread was detached before this had its turn */
	proc_unlock(c->n);
	if (err == XK_OK)
		err = xk_control(r->down[0], NCS_CTL_PICK, &w, sizeof w);
	if (err != XK_OK)
		snprintf(why, sizeof why, "no '%s' here", w.wrong != NULL ? w.wrong : "path");
	else
		lls = open_below(r, o, &w.pick, &err);
	if (lls != NULL) {
		c->end = end_new(r, lls, c);
		if (c->end != NULL) {
			xk_count(r->count[PROC_COUNT_OPENED]);
			return;
		}
		err = XK_E_NOMEM;
		xk_close(lls);
	}
	ncs_conn_ended(c, err, why);
	proc_lock(c->n);
	ncs_conn_put(c);                             /* the session's */
	proc_unlock(c->n);
}

/* mine: the caller has one more reference to *cp. */
static int open_held(struct xk_ncs_thread *t, const struct xk_ncs_addr *to, const struct xk_ncs_choice *choice,
		     struct xk_ncs_conn **cp, struct xk_ncs_req *r, bool mine)
{
	const struct proc_conf *conf = proc_conf(t->n);
	struct opening o = { NULL, choice, to->host };

	if (to->rank < 0 || (unsigned)to->rank >= conf->ranks.n)
		return XK_E_RANGE;
	if (to->thread > UINT16_MAX)
		return XK_E_INVAL;
	if (o.host == 0)
		o.host = conf->ranks.v[to->rank].ip;
	o.c = xk_alloc(sizeof *o.c);
	if (o.c == NULL)
		return XK_E_NOMEM;
	o.c->n = t->n;
	o.c->peer = *to;
	o.c->peer.host = o.host;
	proc_lock(t->n);
	if (t->gone) {
		proc_unlock(t->n);
		xk_free(o.c);
		return XK_E_BADF;
	}
	o.c->vp = xk_node_vp_of(t->n, proc_of(t->n)->opened++);
	conn_join(o.c, t);
	ncs_req_begin(r, REQ_OPEN, t, o.c);
	ncs_req_says(r, o.c, 0, 0);
	o.c->opener = r;
	o.c->refs += mine;
	proc_unlock(t->n);
	*cp = o.c;
	ncs_vp_do(t->n, o.c->vp, open_op, &o);
	return XK_OK;
}

int xk_ncs_iopen(struct xk_ncs_thread *t, const struct xk_ncs_addr *to, const struct xk_ncs_choice *choice,
		 struct xk_ncs_conn **c, struct xk_ncs_req *r)
{
	*c = NULL;
	ncs_req_never(r, XK_E_INVAL);
	return to->session & PROC_GROUP ? XK_E_INVAL : ncs_conn_iopen(t, to, choice, c, r);
}

int ncs_conn_iopen(struct xk_ncs_thread *t, const struct xk_ncs_addr *to, const struct xk_ncs_choice *choice,
	       struct xk_ncs_conn **c, struct xk_ncs_req *r)
{
	int err;

	*c = NULL;
	ncs_req_never(r, XK_E_INVAL);
	err = ncs_proc_enter(t, NULL);
	if (err == XK_OK) {
		err = open_held(t, to, choice, c, r, false);
		ncs_proc_leave(t, NULL);
	}
	if (err != XK_OK)
		r->err = err;
	return err;
}

int xk_ncs_open(struct xk_ncs_thread *t, const struct xk_ncs_addr *to, const struct xk_ncs_choice *choice,
		struct xk_ncs_conn **c, char why[XK_NCS_WHY], uint64_t timeout)
{
	struct xk_ncs_conn *mine = NULL;
	struct xk_node *n = t->n;
	struct xk_ncs_req r;
	int err;

	*c = NULL;
	ncs_req_never(&r, XK_E_INVAL);
	err = to->session & PROC_GROUP ? XK_E_INVAL : ncs_proc_enter(t, NULL);
	if (err == XK_OK) {
		err = open_held(t, to, choice, &mine, &r, true);
		err = err == XK_OK ? xk_ncs_wait(&r, timeout) : err;
		if (err == XK_OK)
			*c = mine;
		else
			xk_ncs_close(mine);      /* ends r, too, where it went on */
		if (mine != NULL) {
			proc_lock(n);
			ncs_conn_put(mine);
			proc_unlock(n);
		}
		ncs_proc_leave(t, NULL);
	}
	if (err != XK_OK && why != NULL)
		memcpy(why, r.why, XK_NCS_WHY);
	return err;
}

/* ---- what comes ----------------------------------------------------------------------------------------------------- */

/* Groups ask for theirs by rank and session, programs for all others. */
static bool wants(const struct xk_ncs_req *r, const struct xk_ncs_conn *c)
{
	if (r->rank == XK_NCS_ANY)
		return !(c->peer.session & PROC_GROUP);
	return r->rank == c->peer.rank && (unsigned)r->room == c->peer.session;
}

static struct xk_listed *acceptor(const struct xk_ncs_thread *t, const struct xk_ncs_conn *c)
{
	struct xk_listed *i = xk_list_first(&t->accepts);

	while (i != NULL && !wants(req_of(i), c))
		i = xk_list_next(&t->accepts, i);
	return i;
}

/* With the lock: has it found its thread, and whoever waits there? */
static int join(struct xk_ncs_conn *c, unsigned number)
{
	struct xk_ncs_thread *t = thread_of(c->n, number);
	struct xk_listed *i;

	if (proc_of(c->n)->stopping)
		return XK_E_SHUTDOWN;
	if (t == NULL)
		return XK_E_NOENT;
	if (t->nwaiting >= proc_conf(c->n)->backlog && acceptor(t, c) == NULL)
		return XK_E_NOSPC;
	conn_join(c, t);
	i = acceptor(t, c);
	if (i != NULL) {
		ncs_req_says(req_of(i), c, 0, 0);
		ncs_req_done(req_of(i), XK_OK);
	} else {
		xk_list_put(&t->waiting, &c->waits);
		t->nwaiting++;
	}
	return XK_OK;
}

static bool hello_load(const struct xk_node *n, const uint8_t *b, struct xk_ncs_addr *from, unsigned *to)
{
	uint32_t rank = xk_be32(b);

	*from = (struct xk_ncs_addr){ (int)rank, xk_be16(b + 4), xk_be32(b + 8), 0 };
	*to = xk_be16(b + 6);
	return rank < proc_conf(n)->ranks.n;
}

static struct xk_ncs_conn *conn_for(struct xk_rep *r, struct xk_sess *lls, int *err, unsigned *to)
{
	uint8_t hello[NCS_HELLO_LEN];
	struct xk_ncs_conn *c = NULL;
	struct xk_ncs_addr from;

	*err = XK_E_CONNREFUSED;
	if (xk_sess_control(lls, NCS_CTL_HELLO, hello, sizeof hello) != (int)sizeof hello ||
	    !hello_load(r->node, hello, &from, to) || !ncs_peer_fits(lls, &from, err))
		return NULL;
	*err = XK_E_NOMEM;
	c = xk_alloc(sizeof *c);
	if (c == NULL)
		return NULL;
	c->n = r->node;
	c->vp = r->vp;
	c->peer = from;
	c->state = CONN_OPEN;
	(void)xk_sess_control(lls, XK_CTL_GETPEERHOST, &c->peer.host, sizeof c->peer.host);
	return c;
}

int ncs_conn_come(struct xk_rep *r, struct xk_sess *lls)
{
	struct xk_ncs_conn *c;
	unsigned to;
	int err;

	c = conn_for(r, lls, &err, &to);
	if (c == NULL)
		return err;
	c->end = end_new(r, lls, c);
	err = XK_E_NOMEM;
	if (c->end != NULL) {
		proc_lock(r->node);
		err = join(c, to);
		proc_unlock(r->node);
	}
	if (err == XK_OK) {
		xk_dup(lls);
		xk_count(r->count[PROC_COUNT_ACCEPTED]);
		return err;
	}
	if (c->end != NULL) {                    /* nobody has seen it, and its session is not ours */
		lls->up = &r->up;
		c->end->s.down = NULL;
		xk_list_take(&c->end->link);
		xk_sess_destroy(&c->end->s);
	}
	xk_count(r->count[PROC_COUNT_REFUSED]);
	xk_free(c);
	return err;
}

static int begin_accept(struct xk_ncs_thread *t, struct xk_ncs_req *r)
{
	struct xk_listed *i;

	proc_lock(t->n);
	ncs_req_begin(r, REQ_ACCEPT, t, NULL);
	i = proc_of(t->n)->stopping ? NULL : xk_list_first(&t->waiting);
	while (i != NULL && !wants(r, xk_container_of(i, struct xk_ncs_conn, waits)))
		i = xk_list_next(&t->waiting, i);
	if (i != NULL) {
		xk_list_take(i);
		t->nwaiting--;
		ncs_req_says(r, xk_container_of(i, struct xk_ncs_conn, waits), 0, 0);
		ncs_req_done(r, XK_OK);
	} else if (t->gone || proc_of(t->n)->stopping) {
		ncs_req_done(r, t->gone ? XK_E_BADF : XK_E_SHUTDOWN);
	} else {
		xk_list_put(&t->accepts, &r->link);
	}
	proc_unlock(t->n);
	return XK_OK;
}

int ncs_conn_iaccept(struct xk_ncs_thread *t, int rank, unsigned session, struct xk_ncs_req *r)
{
	int err;

	ncs_req_never(r, XK_E_INVAL);
	r->rank = rank;
	r->room = session;
	err = ncs_proc_enter(t, NULL);
	if (err != XK_OK)
		return r->err = err;
	err = begin_accept(t, r);
	ncs_proc_leave(t, NULL);
	return err;
}

int xk_ncs_accept(struct xk_ncs_thread *t, struct xk_ncs_conn **c, struct xk_ncs_addr *from, uint64_t timeout)
{
	struct xk_ncs_req r = { .rank = XK_NCS_ANY };
	int err = ncs_proc_enter(t, NULL);

	*c = NULL;
	if (err != XK_OK)
		return err;
	err = ncs_req_run(&r, begin_accept(t, &r), timeout);
	if (err == XK_OK) {
		*c = r.st.conn;
		if (from != NULL)
			*from = (struct xk_ncs_addr){ .host = r.host, .rank = r.st.rank, .thread = r.st.thread,
						      .session = r.st.session };
	}
	ncs_proc_leave(t, NULL);
	return err;
}

void xk_ncs_peer(const struct xk_ncs_conn *c, struct xk_ncs_addr *a)
{
	*a = c->peer;
}

/* ---- close --------------------------------------------------------------------------------------------------------------- */

static void close_op(struct xk_vp *vp, void *arg)
{
	struct xk_ncs_conn *c = arg;

	(void)vp;
	if (c->end != NULL)
		ncs_end_free(c->end);
}

void xk_ncs_close(struct xk_ncs_conn *c)
{
	struct xk_node *n;
	bool mine;

	if (c == NULL)
		return;
	n = c->n;
	proc_lock(n);
	mine = !c->closed;
	c->closed = true;
	if (mine) {
		if (xk_is_listed(&c->waits))
			c->t->nwaiting--;
		xk_list_take(&c->waits);
		xk_list_take(&c->link);
		ncs_conn_fail(c, proc_of(n)->stopping ? XK_E_SHUTDOWN : XK_E_BADF);
		ncs_boxes_free(c->t, c);
		ncs_settle(c->t);
		ncs_await_room(n);
	}
	proc_unlock(n);
	if (!mine)
		return;
	(void)ncs_wait_fit();                    /* to enter VPs */
	ncs_vp_do(n, c->vp, close_op, c);
	proc_lock(n);
	ncs_conn_put(c);
	proc_unlock(n);
}

/* ---- the end of the graph ---------------------------------------------------------------------------------------------------- */

void ncs_proc_free_all(struct xk_node *n)
{
	struct xk_list *l = &proc_of(n)->threads;

	proc_lock(n);
	while (!xk_list_empty(l)) {
		struct xk_ncs_thread *t = xk_container_of(xk_list_first(l), struct xk_ncs_thread, link);
		struct xk_listed *i;

		xk_list_take(&t->link);
		t->refs++;
		ncs_boxes_free(t, NULL);
		while ((i = xk_list_first(&t->conns)) != NULL) {
			xk_list_take(i);
			ncs_conn_put(conn_at(i));
		}
		ncs_thread_put(t);
		ncs_thread_put(t);
	}
	proc_unlock(n);
}
