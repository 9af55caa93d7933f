/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs_stage.c - stages with threads: a queue and a thread at each seam, who wakes whom, and what each does in a turn.
 *
 * Down: error control -> flow control -> send; up: receive -> flow control -> error control; of a control
 * connection: send and receive (Park, Lee, Hariri 1998, figure 4).  Where a connection has neither flow nor error
 * control their stages are passed by (3.1).  A stage works in turns of its own, on the stack of its user-level
 * thread, which it has during a turn only: it stops between two packets, where nothing is on it.  What the stages
 * do is in ncs_data.c and ncs_ctl.c.
 * Over a stream SDUs and records share one queue, the stream's, and stages call one another.
 * Invariant: a stage that is woken counts as a call inside its connection, or its control connection, so that
 * outlives it.
 */
#include "protocols/ncs/ncs_priv.h"

#include "runtime/base/xk_clock.h"
#include "runtime/mem/xk_alloc.h"
#include "runtime/upi/xk_thread.h"

#define NCS_STAGE_MOST 4096u             /* messages that wait for one; more are dropped */

struct ncs_stage {
	struct xk_task task;
	struct xk_ult  ult;
	unsigned     (*work)(void *stage, unsigned budget);
	void          *of;               /* struct ncs_conn, or struct ncs_sess of a control connection */
	struct xk_msgq q;
	bool           more;             /* woken since its turn began */
};

/* The steps of a message that is sent and timed, in this order, each from the end of the one before; ASKS begins. */
enum { ASKS, CALL, QUEUE, SWITCH, DEQUEUE, HEADER, SENT, FREED, BACK, NSTEPS };
#define INTERRUPTED (200 * XK_US)        /* what takes so long was */

enum { NCS_ERROR, NCS_FLOW, NCS_SEND, NCS_RECEIVE, NCS_NSTAGES };
struct ncs_stages {
	struct ncs_stage at[NCS_NSTAGES];
	uint32_t         added;          /* SDUs of c->out that error control has not heard of */
	bool             bare;           /* neither control: sending and receiving alone are woken */
	bool             timed;          /* and the clock is read at each step of sending */
	unsigned         step;           /* the last one */
	xk_ns            at_ns, cost;    /* when; of reading the clock */
	xk_ns            took[NSTEPS];
};

enum { NCS_CTL_SEND, NCS_CTL_RECEIVE, NCS_NCTL };
struct ncs_ctl_stages { struct ncs_stage at[NCS_NCTL]; };

static struct xk_rep *rep_of(const struct ncs_conn *c) { return c->sess->s.rep; }

/* ---- times of a message that is sent (Table I) ------------------------------------------------------ */

static const unsigned step_count[NSTEPS] = {
	[CALL] = NCS_N_CALL_NS, [QUEUE] = NCS_N_QUEUE_NS, [SWITCH] = NCS_N_SWITCH_NS, [DEQUEUE] = NCS_N_DEQUEUE_NS,
	[HEADER] = NCS_N_HEADER_NS, [SENT] = NCS_N_SEND_NS, [FREED] = NCS_N_FREE_NS, [BACK] = NCS_N_BACK_NS,
};

/* A message counts when it went by all steps in turn, alone, and nobody interrupted it. */
static void note(struct ncs_conn *c, unsigned step)
{
	struct ncs_stages *st = c->stages;
	xk_ns now = xk_clock_host(), took = now - st->at_ns, all = 0;

	st->step = step == ASKS || (st->step < BACK && step == st->step + 1) ? step : NSTEPS;
	st->took[step] = took > st->cost ? took - st->cost : 0;
	for (unsigned i = CALL; step == BACK && i <= BACK; i++)
		all += st->took[i];
	if (step == BACK && st->step == BACK && all < INTERRUPTED) {
		for (unsigned i = CALL; i <= BACK; i++)
			xk_count_add(rep_of(c)->count[step_count[i]], st->took[i]);
		xk_count(rep_of(c)->count[NCS_N_TIMED]);
	}
	st->at_ns = xk_clock_host();
}

static inline void step(struct ncs_conn *c, unsigned step)
{
	if (XK_UNLIKELY(c->stages->timed))
		note(c, step);
}

/* ---- one of them --------------------------------------------------------------------------------- */

static void leave(struct ncs_stage *g);
static unsigned send_work(void *arg, unsigned budget);

static unsigned turn(struct xk_task *t, unsigned budget)
{
	struct ncs_stage *g = xk_container_of(t, struct ncs_stage, task);
	unsigned done;

	g->more = false;
	done = xk_ult_call(&g->ult, g->work, g, budget);
	xk_ult_rest(&g->ult);
	if (g->work == send_work)
		step(g->of, BACK);
	if (!g->more && g->q.n == 0) {
		xk_task_park(t);
		leave(g);
	}
	return done != 0 ? done : 1;
}

static void nobody(struct xk_ult *t) { (void)t; }

static void make(struct ncs_stage *g, struct xk_vp *vp, unsigned (*work)(void *, unsigned), void *of)
{
	xk_task_init(&g->task, vp, turn);
	xk_ult_init(&g->ult, vp, nobody);
	g->work = work;
	g->of = of;
	xk_msgq_init(&g->q);
	g->more = false;
}

static void unmake(struct ncs_stage *g)
{
	xk_task_park(&g->task);
	xk_msgq_free(&g->q);
	xk_ult_put(&g->ult);
}

/* ---- of a connection ------------------------------------------------------------------------------- */

static unsigned error_work(void *arg, unsigned budget);
static unsigned flow_work(void *arg, unsigned budget);
static unsigned receive_work(void *arg, unsigned budget);

static bool of_conn(const struct ncs_stage *g)
{
	return g->work == error_work || g->work == flow_work || g->work == send_work || g->work == receive_work;
}

/* With its connection goes the peer, if that is over. */
static void leave(struct ncs_stage *g)
{
	struct ncs_sess *peer = of_conn(g) ? ((struct ncs_conn *)g->of)->peer : g->of;

	if (of_conn(g)) {
		ncs_peer_enter(peer);
		ncs_conn_leave(g->of);
	}
	ncs_peer_leave(peer);
}

static void wake(struct ncs_stage *g)
{
	g->more = true;
	if (xk_task_is_ready(&g->task))
		return;
	if (of_conn(g))
		ncs_conn_enter(g->of);
	else
		ncs_peer_enter(g->of);
	xk_task_ready(&g->task);
}

static void put(struct ncs_stage *g, struct xk_msg *m)
{
	if (g->q.n >= NCS_STAGE_MOST) {
		xk_drop(of_conn(g) ? rep_of(g->of) : ((struct ncs_sess *)g->of)->s.rep, NCS_DROP_QUEUE, m);
		return;
	}
	xk_msgq_put(&g->q, m);
	wake(g);
}

static void thread_asks(struct ncs_conn *c) { step(c, ASKS); }

static void thread_asked(struct ncs_conn *c, uint32_t n)
{
	step(c, CALL);
	c->stages->added += n;
	wake(&c->stages->at[c->stages->bare ? NCS_SEND : NCS_ERROR]);
	step(c, QUEUE);
}

static void thread_taken(struct ncs_conn *c) { step(c, DEQUEUE); }

static void thread_turn(struct ncs_conn *c)
{
	wake(&c->stages->at[c->stages->bare ? NCS_SEND : NCS_FLOW]);
}

static struct xk_msg *next(struct ncs_conn *c, unsigned stage, unsigned *n, unsigned budget)
{
	struct xk_msg *m = *n < budget ? xk_msgq_get(&c->stages->at[stage].q) : NULL;

	*n += m != NULL;
	return m;
}

static void add(struct ncs_conn *c)
{
	uint32_t n = c->stages->added;

	c->stages->added = 0;
	if (n != 0)
		ncs_data_asked(c, n);
}

static unsigned error_work(void *arg, unsigned budget)
{
	struct ncs_conn *c = ((struct ncs_stage *)arg)->of;
	struct xk_msg *m;
	unsigned n = c->stages->added != 0;

	xk_count(rep_of(c)->count[NCS_N_ERROR_TURNS]);
	add(c);
	while ((m = next(c, NCS_ERROR, &n, budget)) != NULL)
		ncs_data_wanted(c, m);
	ncs_say_ack(c);
	thread_turn(c);              /* to be sent; buffers are free again */
	ncs_flush(c->peer);
	return n;
}

static unsigned flow_work(void *arg, unsigned budget)
{
	struct ncs_conn *c = ((struct ncs_stage *)arg)->of;
	struct ncs_stages *st = c->stages;
	struct xk_msg *m;
	unsigned n = 0, sent;

	xk_count(rep_of(c)->count[NCS_N_FLOW_TURNS]);
	while ((m = next(c, NCS_FLOW, &n, budget)) != NULL)
		if ((m = ncs_data_passes(c, m)) != NULL)
			put(&st->at[NCS_ERROR], m);
	ncs_say_credit(c);
	sent = ncs_let_go(c, budget);    /* as many as the sender takes in its turn */
	if (sent == budget)
		wake(&st->at[NCS_FLOW]);
	n += sent;
	ncs_flush(c->peer);
	return n;
}

static unsigned send_work(void *arg, unsigned budget)
{
	struct ncs_conn *c = ((struct ncs_stage *)arg)->of;
	struct ncs_stages *st = c->stages;
	struct xk_msg *m;
	unsigned n = 0;

	step(c, SWITCH);
	xk_count(rep_of(c)->count[NCS_N_SEND_TURNS]);
	if (st->bare) {
		add(c);
		n = ncs_let_go(c, budget);
		step(c, FREED);
		if (n == budget)
			wake(arg);
	}
	while ((m = next(c, NCS_SEND, &n, budget)) != NULL)
		ncs_data_out(c, m);
	ncs_flush(c->peer);
	return n;
}

static unsigned receive_work(void *arg, unsigned budget)
{
	struct ncs_conn *c = ((struct ncs_stage *)arg)->of;
	struct xk_msg *m;
	unsigned n = 0;

	xk_count(rep_of(c)->count[NCS_N_RECEIVE_TURNS]);
	while ((m = next(c, NCS_RECEIVE, &n, budget)) != NULL) {
		m = ncs_data_good(c, m);
		if (m != NULL && !c->stages->bare)
			put(&c->stages->at[NCS_FLOW], m);
		else if (m != NULL && (m = ncs_data_passes(c, m)) != NULL)
			ncs_data_wanted(c, m);
	}
	return n;
}

static void thread_finish(struct ncs_conn *c)
{
	static const unsigned up[] = { NCS_RECEIVE, NCS_FLOW, NCS_ERROR };

	ncs_conn_enter(c);
	for (unsigned i = 0; i < XK_ARRAY_LEN(up); i++)
		while (c->stages->at[up[i]].q.n != 0)
			c->stages->at[up[i]].work(&c->stages->at[up[i]], NCS_STAGE_MOST);
	ncs_conn_leave(c);
}

static void thread_send(struct ncs_conn *c, struct xk_msg *m)
{
	step(c, HEADER);
	if (c->stages->bare)
		ncs_data_out(c, m);
	else
		put(&c->stages->at[NCS_SEND], m);
	step(c, SENT);
}

static void thread_receive(struct ncs_conn *c, struct xk_msg *m) { put(&c->stages->at[NCS_RECEIVE], m); }

static bool thread_conn_new(struct ncs_conn *c)
{
	static unsigned (*const work[])(void *, unsigned) = { error_work, flow_work, send_work, receive_work };
	struct ncs_stages *st = xk_alloc(sizeof *st);

	if (st == NULL)
		return false;
	for (unsigned i = 0; i < NCS_NSTAGES; i++)
		make(&st->at[i], rep_of(c)->vp, work[i], c);
	st->added = 0;
	st->step = NSTEPS;
	st->at_ns = 0;
	st->bare = c->choice.flow == &ncs_fc_none && c->choice.error == &ncs_ec_none;
	st->timed = st->bare && ncs_conf(rep_of(c))->times;
	st->cost = st->timed ? (xk_ns)(xk_clock_cost() + 0.5) : 0;
	c->stages = st;
	return true;
}

static void thread_conn_free(struct ncs_conn *c)
{
	for (unsigned i = 0; i < NCS_NSTAGES; i++)
		unmake(&c->stages->at[i]);
	xk_free(c->stages);
	c->stages = NULL;
}

/* ---- of a control connection ------------------------------------------------------------------------ */

static unsigned ctl_send_work(void *arg, unsigned budget)
{
	struct ncs_stage *g = arg;
	struct ncs_sess *p = g->of;
	unsigned n = 0;

	xk_count(p->s.rep->count[NCS_N_CONTROL_TURNS]);
	for (; n < budget && g->q.n != 0; n++)
		xk_push(p->s.down, xk_msgq_get(&g->q));
	return n;
}

static unsigned ctl_receive_work(void *arg, unsigned budget)
{
	struct ncs_stage *g = arg;
	struct ncs_sess *p = g->of;
	unsigned n = 0;

	xk_count(p->s.rep->count[NCS_N_CONTROL_TURNS]);
	for (; n < budget && g->q.n != 0; n++)
		ncs_records_in(p, xk_msgq_get(&g->q));
	return n;
}

static bool thread_peer_new(struct ncs_sess *p)
{
	struct ncs_ctl_stages *st = xk_alloc(sizeof *st);

	if (st == NULL)
		return false;
	make(&st->at[NCS_CTL_SEND], p->s.rep->vp, ctl_send_work, p);
	make(&st->at[NCS_CTL_RECEIVE], p->s.rep->vp, ctl_receive_work, p);
	p->peer.stages = st;
	return true;
}

static void thread_peer_free(struct ncs_sess *p)
{
	for (unsigned i = 0; i < NCS_NCTL; i++)
		unmake(&p->peer.stages->at[i]);
	xk_free(p->peer.stages);
	p->peer.stages = NULL;
}

static void thread_ctl_send(struct ncs_sess *p, struct xk_msg *m) { put(&p->peer.stages->at[NCS_CTL_SEND], m); }
static void thread_ctl_receive(struct ncs_sess *p, struct xk_msg *m) { put(&p->peer.stages->at[NCS_CTL_RECEIVE], m); }

const struct ncs_seams ncs_thread_seams = {
	.conn_new = thread_conn_new, .conn_free = thread_conn_free,
	.peer_new = thread_peer_new, .peer_free = thread_peer_free,
	.asks = thread_asks, .asked = thread_asked, .taken = thread_taken, .turn = thread_turn, .finish = thread_finish,
	.send = thread_send, .receive = thread_receive,
	.ctl_send = thread_ctl_send, .ctl_receive = thread_ctl_receive,
};
