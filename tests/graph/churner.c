/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * churner.c - see churner.h.
 *
 * Answers drive everything: each opens its connection's window, and every so many of a VP make
 * it give away a slot.  So updates keep pace with messages whatever the machine does meanwhile.
 */
#include "tests/graph/churner.h"

#include <string.h>

#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_move.h"
#include "runtime/upi/xk_part.h"

#define ALL    (CHURN_STEADY + CHURN_SLOTS)
#define WORDS  4u

struct churner_conf { uint64_t count, window, every, moves, greet; uint32_t to; uint16_t port; };
/* Of a VP. */
struct churner_rep { struct churn_conn *first, *last; uint64_t answers; unsigned unfinished; };

struct churn_conn churn_conn[ALL];
uint64_t churn_astray, churn_moves;
uint32_t churn_over;

static const struct churner_conf *conf_of(const struct xk_rep *r) { return r->conf; }
static struct churner_rep *rep_of(const struct xk_rep *r) { return r->state; }

void churn_reset(void)
{
	memset(churn_conn, 0, sizeof churn_conn);
	churn_astray = churn_moves = 0;
	churn_over = 0;
}

void churn_sum(struct churn_sums *s, unsigned first, unsigned last)
{
	memset(s, 0, sizeof *s);
	for (const struct churn_conn *c = churn_conn + first; c < churn_conn + last; c++) {
		/* What was got before what was sent: never more of it. */
		s->got += xk_counter_read(c->got);
		s->closed += xk_counter_read(c->closed);
		s->wrong += xk_counter_read(c->wrong);
		s->failed += xk_counter_read(c->failed);
		s->sent += xk_counter_read(c->sent);
		s->opened += xk_counter_read(c->opened);
	}
}

static bool steady(const struct churn_conn *c) { return c->no < CHURN_STEADY; }

/* ---- sending -------------------------------------------------------------------- */

static bool send_one(struct churn_conn *c)
{
	const uint32_t word[WORDS] = { c->no, c->epoch, (uint32_t)c->sent, ~c->no };
	struct xk_msg *m = xk_msg_new(sizeof word);

	if (m == NULL)
		return false;
	xk_msg_copy_in(m, 0, word, sizeof word);
	xk_count(c->sent);
	xk_push(c->s, m);
	return true;
}

static unsigned steady_run(struct xk_task *t, unsigned budget)
{
	struct churn_conn *c = xk_container_of(t, struct churn_conn, task);
	const struct churner_conf *conf = conf_of(c->r);
	unsigned n = 0;

	while (n < budget && !xk_load_relaxed(&churn_over) && c->sent < conf->count && c->sent - c->got < conf->window && send_one(c))
		n++;
	if (n < budget)
		xk_task_park(t);
	return n;
}

/* ---- opening and closing ------------------------------------------------------------ */

static int conn_open(struct churn_conn *c, struct xk_rep *r)
{
	struct xk_parts ps;
	int err = XK_OK;

	xk_parts_init(&ps, 2);
	xk_part_push_host(&ps.p[XK_REMOTE], conf_of(r)->to);
	xk_part_push_port(&ps.p[XK_REMOTE], conf_of(r)->port);
	xk_part_push_any(&ps.p[XK_LOCAL]);
	xk_part_push_port(&ps.p[XK_LOCAL], (uint16_t)(CHURN_PORT + c->no));
	/* Other VPs look whose it is (churner_move). */
	xk_store_relaxed(&c->r, r);
	c->epoch++;
	xk_store_relaxed(&c->s, xk_open(r, r->node, r->down[0], &ps, &err));
	if (c->s == NULL)
		xk_count(c->failed);
	else
		xk_count(c->opened);
	return err;
}

static void slot_queue(struct churn_conn *c)
{
	struct churner_rep *cr = rep_of(c->r);

	c->next = NULL;
	if (cr->first == NULL)
		cr->first = c;
	else
		cr->last->next = c;
	cr->last = c;
}

static void slot_move(struct xk_rep *r);

/* Has this VP nothing else to do, and do moves lack? */
static bool passes_on(struct xk_rep *r)
{
	return rep_of(r)->unfinished == 0 && xk_load_relaxed(&churn_moves) < conf_of(r)->moves;
}

/* On the VP that has it from now on. */
static void slot_open(struct xk_vp *vp, void *arg)
{
	struct churn_conn *c = arg;
	struct xk_rep *r = c->r->node->rep[vp->no];

	if (conn_open(c, r) != XK_OK)
		return;
	slot_queue(c);
	for (uint64_t i = 0; i < conf_of(r)->greet; i++)
		(void)send_one(c);
	if (passes_on(r))
		slot_move(r);
}

/* The slot of this VP that was open longest goes to the next VP, answers under way or not. */
static void slot_move(struct xk_rep *r)
{
	struct churner_rep *cr = rep_of(r);
	struct xk_vpset *set = r->vp->set;
	struct churn_conn *c = cr->first;

	if (c == NULL)
		return;
	cr->first = c->next;
	xk_close(c->s);
	xk_store_relaxed(&c->s, NULL);
	xk_count(c->closed);
	(void)xk_atomic_add(&churn_moves, 1u);
	c->call = (struct xk_call){ .fn = slot_open, .arg = c };
	xk_vp_call_async(set->vp[(r->vp->no + 1u) % set->nconn], &c->call);
}

/* ---- answers ---------------------------------------------------------------------------- */

static void answered(struct churn_conn *c, const uint32_t word[WORDS])
{
	struct xk_rep *r = c->r;

	if (word[0] != c->no || word[3] != ~c->no || word[1] > c->epoch || (steady(c) && word[2] != (uint32_t)c->got))
		xk_count(c->wrong);
	xk_count(c->got);
	if (!steady(c))
		return;
	xk_task_ready(&c->task);
	if (++rep_of(r)->answers % conf_of(r)->every == 0)
		slot_move(r);
	if (c->got == conf_of(r)->count && --rep_of(r)->unfinished == 0)
		while (rep_of(r)->first != NULL && passes_on(r))
			slot_move(r);
}

static void churner_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	struct xk_rep *r = up->rep;
	uint32_t word[WORDS] = { 0 };
	struct churn_conn *c;
	uint16_t port = 0;

	xk_sess_control(lls, XK_CTL_GETMYPORT, &port, sizeof port);
	c = &churn_conn[(port - CHURN_PORT) % ALL];
	if (m->tot == sizeof word)
		(void)xk_msg_copy_out(m, 0, (uint8_t *)word, sizeof word);
	xk_msg_free(m);
	if (c->r != r || c->s != lls || xk_vp_self != r->vp)
		(void)xk_atomic_add(&churn_astray, 1u);
	else
		answered(c, word);
}

/* ---- a layer is put between, or taken out ----------------------------------------------------- */

static int churner_move(struct xk_rep *r, const struct xk_move *m)
{
	struct churn_conn *c = churn_conn;
	int res = xk_asked(r, m);

	if (res <= 0)
		return res;
	while (c < churn_conn + ALL && (xk_load_relaxed(&c->r) != r || xk_load_relaxed(&c->s) != m->old))
		c++;
	if (c == churn_conn + ALL)
		return XK_E_NOENT;
	if (m->now != NULL) {
		xk_store_relaxed(&c->s, xk_dup(m->now));
		xk_close(m->old);
	}
	return XK_OK;
}

static int churner_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	(void)len;
	return op == XK_CTL_MOVE ? churner_move(r, buf) : XK_E_NOTSUP;
}

/* ---- life ---------------------------------------------------------------------------------- */

static int churner_rep_start(struct xk_rep *r, struct xk_errs *e)
{
	int err = XK_OK;

	for (unsigned i = 0; i < ALL; i++) {
		struct churn_conn *c = &churn_conn[i];

		if (xk_graph_vp_of(r->node->graph, i) != r->vp)
			continue;
		c->no = i;
		xk_task_init(&c->task, r->vp, steady_run);
		err = conn_open(c, r);
		if (err != XK_OK)
			break;
		rep_of(r)->unfinished += steady(c);
		if (steady(c))
			xk_task_ready(&c->task);
		else
			slot_queue(c);
	}
	if (err != XK_OK)
		xk_errs_add(e, r->node->file, r->node->line, 0, "churner: %s", xk_strerror(err));
	return err;
}

static void churner_rep_stop(struct xk_rep *r)
{
	for (struct churn_conn *c = churn_conn; c < churn_conn + ALL; c++) {
		if (c->r != r)
			continue;
		if (steady(c))
			xk_task_park(&c->task);
		if (c->s != NULL)
			xk_close(c->s);
		xk_store_relaxed(&c->s, NULL);
	}
}

#define PARAM(f, t, d, ...) { .name = #f, .type = t, .def = d, .doc = #f, \
	.offset = offsetof(struct churner_conf, f), __VA_ARGS__ }
static const struct xk_param churner_params[] = {
	PARAM(to, XK_P_IPV4, NULL, .flags = 0), PARAM(port, XK_P_PORT, "7", .min = "1"),
	PARAM(count, XK_P_UINT, "1000", .min = "1"), PARAM(window, XK_P_UINT, "8", .min = "1"),
	PARAM(every, XK_P_UINT, "100", .min = "1"), PARAM(moves, XK_P_UINT, "0"),
	PARAM(greet, XK_P_UINT, "4", .min = "1"), XK_PARAM_END
};
static const struct xk_ops churner_ops = {
	.rep_start = churner_rep_start, .rep_stop = churner_rep_stop, .demux = churner_demux, .control = churner_control,
};
const struct xk_proto xk_proto_churner = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "churner", .doc = "connections come and go beside busy ones",
	.ops = &churner_ops, .needs = { "port|stream" }, .min_down = 1, .max_down = 1, .params = churner_params,
	.conf_size = sizeof(struct churner_conf), .rep_size = sizeof(struct churner_rep),
};
