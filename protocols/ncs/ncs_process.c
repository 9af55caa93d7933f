/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs_process.c - the node `process`: where a program's threads meet ncs; descriptor, start and stop,
 * what comes from below.
 *
 * Each session of ncs gets one of ours, which is its receiver itself, so what comes up finds its
 * connection without a lookup.
 * Invariant: a session below that we hold has lls->up = &end->s.self.
 */
#include "protocols/ncs/ncs_call.h"

#include "runtime/base/xk_errs.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"
#include "runtime/upi/xk_review.h"
#include "runtime/upi/xk_vps.h"

#include <stdio.h>

unsigned xk_ncs_rank(const struct xk_node *n) { return (unsigned)proc_conf(n)->rank; }
unsigned xk_ncs_size(const struct xk_node *n) { return proc_conf(n)->ranks.n; }

/* ---- what comes from below ------------------------------------------------------------------------- */

static struct ncs_end *end_on(const struct xk_sess *lls)
{
	struct xk_up *up = lls->up;

	return up != NULL && up != &up->rep->up ? xk_container_of(up, struct ncs_end, s.self) : NULL;
}

static int process_open_done(struct xk_rep *r, struct xk_sess *lls, struct xk_node *type)
{
	(void)type;
	return ncs_conn_come(r, lls);
}

static void process_close_done(struct xk_rep *r, struct xk_sess *lls)
{
	struct ncs_end *e = end_on(lls);
	struct ncs_ended how = { .err = 0 };

	if (e == NULL)
		return;
	(void)xk_sess_control(lls, NCS_CTL_ENDED, &how, sizeof how);
	xk_count(r->count[how.err != 0 && how.err != XK_E_TIMEDOUT ? PROC_COUNT_REFUSED : PROC_COUNT_ENDED]);
	if (how.why[0] == '\0' && how.err == XK_E_NOENT)
		snprintf(how.why, sizeof how.why, "no such thread there");
	if (how.why[0] == '\0' && how.err == XK_E_NOTSUP)
		snprintf(how.why, sizeof how.why, "words have the other order there: no groups");
	ncs_conn_ended(e->c, how.err != 0 ? how.err : XK_E_CONNRESET, how.why);
}

/* An error ends it. */
static void cannot(struct ncs_end *e, int err)
{
	if (err < 0)
		ncs_conn_ended(e->c, err, "messages that nobody receives");
}

static void process_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	struct ncs_end *e = end_on(lls);

	xk_count(up->rep->npop);
	if (e != NULL)
		cannot(e, ncs_place_sdu(e, m));
	else
		xk_drop(up->rep, PROC_DROP_CLOSED, m);
}

static int process_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	const struct ncs_event *ev = buf;
	struct ncs_end *e;

	(void)r;
	if (op != NCS_CTL_EVENT || len < sizeof *ev)
		return XK_E_NOTSUP;
	e = end_on(ev->s);
	if (e != NULL && ev->what == NCS_OPENED)
		ncs_conn_opened(e->c);
	else if (e != NULL && ev->what == NCS_NOTED)
		cannot(e, ncs_await_note(e, ev->note));
	else if (e != NULL)
		ncs_conn_pump(e);
	return XK_OK;
}

/* ---- life ------------------------------------------------------------------------------------------ */

static int process_init(struct xk_node *n, struct xk_errs *e)
{
	(void)e;
	xk_mutex_init(&proc_of(n)->lock);
	return XK_OK;
}

static void process_fini(struct xk_node *n)
{
	ncs_proc_free_all(n);
	xk_mutex_fini(&proc_of(n)->lock);
}

static int process_start(struct xk_node *n, struct xk_errs *e)
{
	struct xk_parts ps;
	int err;

	xk_parts_init(&ps, 1);
	xk_part_push_port(&ps.p[0], proc_conf(n)->service);
	err = xk_open_enable(n, n, xk_node_down(n, 0), &ps);
	if (err != XK_OK)
		xk_node_error(n, e, "cannot wait on service %u: %s", proc_conf(n)->service, xk_strerror(err));
	return err;
}

static void process_stop(struct xk_node *n)
{
	xk_open_disable_all(n, xk_node_down(n, 0));
}

static int process_rep_start(struct xk_rep *r, struct xk_errs *e)
{
	struct ncs_job job = { (uint32_t)proc_conf(r->node)->rank, proc_conf(r->node)->ranks.n };

	(void)e;
	proc_rep(r)->call = (struct xk_call){ .fn = ncs_poked, .arg = r };
	proc_rep(r)->over = false;
	(void)xk_control(r->down[0], NCS_CTL_JOB, &job, sizeof job);
	return XK_OK;
}

static void process_rep_stop(struct xk_rep *r)
{
	struct proc_rep *pr = proc_rep(r);

	proc_lock(r->node);
	pr->over = true;
	while (!xk_list_empty(&pr->pokes)) {
		struct xk_ncs_conn *c = xk_container_of(xk_list_first(&pr->pokes), struct xk_ncs_conn, poke);

		xk_list_take(&c->poke);
		ncs_conn_put(c);
	}
	proc_unlock(r->node);
	while (!xk_list_empty(&pr->ends))
		ncs_conn_ended(xk_container_of(xk_list_first(&pr->ends), struct ncs_end, link)->c, XK_E_SHUTDOWN, "");
}

uint64_t xk_ncs_unexpected(struct xk_node *n)
{
	uint64_t bytes;

	proc_lock(n);
	bytes = proc_of(n)->kept + proc_of(n)->lent;
	proc_unlock(n);
	return bytes;
}

static bool over(struct xk_node *n)
{
	bool quiet;

	proc_lock(n);
	quiet = proc_of(n)->inside == 0;
	proc_unlock(n);
	return quiet;
}

void xk_ncs_stop(struct xk_node *n)
{
	struct xk_list *l = &proc_of(n)->threads;

	proc_lock(n);
	proc_of(n)->stopping = true;
	for (struct xk_listed *i = xk_list_first(l); i != NULL; i = xk_list_next(l, i)) {
		struct xk_ncs_thread *t = xk_container_of(i, struct xk_ncs_thread, link);

		for (struct xk_listed *k = xk_list_first(&t->conns); k != NULL; k = xk_list_next(&t->conns, k))
			ncs_conn_fail(xk_container_of(k, struct xk_ncs_conn, link), XK_E_SHUTDOWN);
		ncs_reqs_fail(&t->accepts, NULL, XK_E_SHUTDOWN);
		ncs_reqs_fail(&t->posted, NULL, XK_E_SHUTDOWN);
	}
	proc_unlock(n);
	while (xk_node_running(n) && !over(n))   /* else whoever is inside goes on when the graph does */
		xk_ncs_yield();
}

/* ---- schema ------------------------------------------------------------------------------------------- */

static int process_check(const void *conf, char *why, size_t n)
{
	const struct proc_conf *c = conf;

	if (c->ranks.n == 0 || c->rank >= c->ranks.n) {
		snprintf(why, n, "rank %llu is none of %u", (unsigned long long)c->rank, c->ranks.n);
		return XK_E_INVAL;
	}
	for (unsigned i = 0; i < c->ranks.n; i++)
		for (unsigned k = 0; k < i; k++)
			if (c->ranks.v[i].ip == c->ranks.v[k].ip) {
				snprintf(why, n, "ranks %u and %u have one address", k, i);
				return XK_E_INVAL;
			}
	return XK_OK;
}

static void process_review(const struct xk_view *v, struct xk_review *r)
{
	const struct proc_conf *c = v->conf;

	xk_review_ports(r, v, "service", c->service, 1);
	for (unsigned i = 0; i < c->ranks.n; i++)
		if (i != c->rank)
			xk_review_reach(r, v, "ranks", c->ranks.v[i].ip);
}

#define AT(f) .offset = offsetof(struct proc_conf, f)
static const struct xk_param process_params[] = {
	{ .name = "rank", .type = XK_P_UINT, .max = "65535", .flags = XK_PF_REQUIRED, AT(rank),
	  .doc = "this process's number in the job" },
	{ .name = "ranks", .type = XK_P_LIST, .elem = XK_P_IPV4, .flags = XK_PF_REQUIRED, AT(ranks),
	  .doc = "addresses of all processes of the job, by rank" },
	{ .name = "service", .type = XK_P_PORT, .def = "1", .min = "1", AT(service),
	  .doc = "of ncs, the same at all processes" },
	{ .name = "unexpected", .type = XK_P_SIZE, .def = "64MiB", .min = "1", AT(unexpected),
	  .doc = "bytes of messages that have come and nobody has asked for; more reset the connection" },
	{ .name = "eager", .type = XK_P_SIZE, .def = "64KiB", .max = "1GiB", AT(eager),
	  .doc = "longer messages are announced, and leave when their receiver calls for them" },
	{ .name = "held", .type = XK_P_SIZE, .def = "4MiB", .max = "4GiB", AT(held),
	  .doc = "bytes of messages that programs write and read in place; what they take beyond that is copied" },
	{ .name = "backlog", .type = XK_P_UINT, .def = "1024", .min = "1", .max = "65535", AT(backlog),
	  .doc = "most connections of a thread that wait to be accepted" },
	XK_PARAM_END
};

#define PROC_TEXT(n, s) s,
static const char *const process_drops[] = { PROC_DROPS(PROC_TEXT) NULL };
static const char *const process_counts[] = { PROC_COUNTS(PROC_TEXT) NULL };

static const struct xk_ops process_ops = {
	.init = process_init, .fini = process_fini, .start = process_start, .stop = process_stop,
	.rep_start = process_rep_start, .rep_stop = process_rep_stop, .open_done = process_open_done, .close_done = process_close_done,
	.demux = process_demux, .control = process_control,
};

const struct xk_proto xk_proto_process = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto),
	.name = "process", .doc = "a process of a job: where a program's own threads exchange messages over ncs",
	.ops = &process_ops, .offers = "job", .needs = { "messages" }, .min_down = 1, .max_down = 1,
	.params = process_params, .conf_size = sizeof(struct proc_conf), .node_size = sizeof(struct proc),
	.rep_size = sizeof(struct proc_rep), .sess_size = sizeof(struct ncs_end),
	.drops = process_drops, .counts = process_counts, .check = process_check, .review = process_review,
};
