/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * load.c - connections of senders of load; see load.h.
 *
 * Each virtual processor opens those that the graph maps to it, in the order of their numbers.
 */
#include "protocols/load/load.h"

#include "runtime/base/xk_csum_inline.h"
#include "runtime/base/xk_errs.h"
#include "runtime/mem/xk_alloc.h"
#include "runtime/sync/xk_sync.h"
#include "runtime/upi/xk_app.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"

#include <stdio.h>

#define PAGE 4096u

const char *const load_touches[] = { "copy", "line", "none", NULL };

static struct load_rep *load_of(const struct xk_rep *r) { return r->state; }

/* ---- pacing, and the end ----------------------------------------------------------- */

void load_touch(struct xk_msg *m)
{
	for (; m != NULL; m = m->next)
		xk_csum_touch(m->data, m->len, false);
}

void load_done(struct load_rep *l)
{
	struct load_node *st = l->r->node->state;

	if (load_ends(load_conf(l->r)) && xk_atomic_add(&st->unfinished, (uint64_t)-1) == 1)
		xk_app_finished(l->r->node);
}

void load_lost(struct load_rep *l, const char *why)
{
	struct load_node *st = l->r->node->state;

	if (xk_atomic_add(&st->lost, 1) + 1 == load_conf(l->r)->conns)
		xk_node_failed(l->r->node, why);
}

/* ---- life ------------------------------------------------------------------------------ */

int load_init(struct xk_node *n, struct xk_errs *e)
{
	const struct load_conf *c = n->conf;

	((struct load_node *)n->state)->unfinished = c->conns;
	if (load_ends(c))
		xk_app_will_finish(n);
	return xk_trace_load(&((struct load_node *)n->state)->trace, &c->arrivals, c->conns, n, e);
}

void load_fini(struct xk_node *n)
{
	xk_trace_free(&((struct load_node *)n->state)->trace);
}

int load_rep_init(struct xk_rep *r)
{
	load_of(r)->r = r;
	return XK_OK;
}

void load_rep_fini(struct xk_rep *r)
{
	struct load_rep *l = load_of(r);

	xk_free(l->messages);
	xk_free(l->page_block);
	xk_app_counters_free(r, l->rtt);
	load_times_free(l);
}

static int load_alloc(struct load_rep *l, uint64_t n)
{
	const struct load_conf *c = load_conf(l->r);

	l->messages = xk_alloc(n * 3 * sizeof *l->messages);
	l->page_block = xk_alloc(c->size + PAGE + XK_CACHELINE);
	l->rtt = c->window != 0 ? xk_app_counters(l->r, sizeof *l->rtt) : NULL;
	if (l->messages == NULL || l->page_block == NULL || (c->window != 0 && l->rtt == NULL))
		return XK_E_NOMEM;
	l->bytes = l->messages + n;
	l->no = l->bytes + n;
	l->page = (uint8_t *)l->page_block + (-(uintptr_t)l->page_block & (PAGE - 1));
	return XK_OK;
}

/* Their numbers, in the order of their slots, before they are opened. */
static void load_number(struct load_rep *l)
{
	uint32_t n = 0;

	for (uint64_t i = 0; i < load_conf(l->r)->conns; i++)
		if (xk_app_is_here(l->r, i))
			l->no[n++] = i;
}

/* Memory for n connections. */
static int load_room(struct load_rep *l, uint64_t n, const struct load_opens *o)
{
	int err = load_alloc(l, n);

	if (err == XK_OK)
		err = o->alloc(l->r, n);
	if (err != XK_OK || !load_timed(load_conf(l->r)))
		return err;
	load_number(l);
	return load_times_start(l, (uint32_t)n, o->task_of);
}

int load_open_all(struct xk_rep *r, struct xk_errs *e, const struct load_opens *o)
{
	const struct load_conf *c = load_conf(r);
	uint64_t here = 0;
	int err = XK_OK;

	for (uint64_t i = 0; i < c->conns; i++)
		here += xk_app_is_here(r, i);
	if (here != 0)
		err = load_room(load_of(r), here, o);
	if (err != XK_OK)
		xk_errs_add(e, r->node->file, r->node->line, 0, "%s: out of memory for %llu connections",
			    r->node->name, (unsigned long long)here);
	for (uint64_t i = 0; err == XK_OK && i < c->conns; i++) {
		if (!xk_app_is_here(r, i))
			continue;
		err = o->open(r, i);
		if (err != XK_OK)
			xk_errs_add(e, r->node->file, r->node->line, 0,
				    "%s: cannot open connection %llu of %llu: %s", r->node->name,
				    (unsigned long long)i + 1, (unsigned long long)c->conns, xk_strerror(err));
	}
	return err;
}

struct xk_sess *load_connect(struct xk_rep *r, uint64_t i, int *err)
{
	const struct load_conf *c = load_conf(r);
	struct xk_parts ps;

	xk_parts_init(&ps, 2);
	xk_part_push_host(&ps.p[XK_REMOTE], c->to);
	xk_part_push_port(&ps.p[XK_REMOTE], (uint16_t)(c->port + i % c->ports));
	xk_part_push_any(&ps.p[XK_LOCAL]);
	if (c->lport != 0)
		xk_part_push_port(&ps.p[XK_LOCAL], (uint16_t)(c->lport + i));
	else
		xk_part_push_any(&ps.p[XK_LOCAL]);
	return xk_open(r, r->node, r->down[0], &ps, err);
}

int load_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	const struct load_rep *l = load_of(r);
	struct xk_app_counts c = { l->n, l->messages, l->bytes, l->no, l->rtt, NULL };

	return xk_app_answer(op, &c, buf, len);
}

/* ---- the descriptor ----------------------------------------------------------------------- */

/* Messages that are due at times of their own say when, in their first bytes. */
static bool times_fault(const struct load_conf *c, char *why, size_t n)
{
	const char *text = NULL;

	if (xk_traffic_fault(&c->arrivals, why, n))
		return true;
	if (!load_timed(c))
		return false;
	if (c->rate != 0)
		text = "rate is of messages that are sent when they can be; with arrivals write arrivals = { ..., rate = ... }";
	else if (c->size < XK_STAMP_SIZE)
		text = "arrivals write times into each message: size must be at least 24";
	else if (c->again && c->arrivals.model == XK_TRAFFIC_TRACE)
		text = "a trace is played once: it leaves nothing to do for a connection that is opened anew ('again')";
	if (text != NULL)
		snprintf(why, n, "%s", text);
	return text != NULL;
}

int load_check(const void *conf, char *why, size_t n)
{
	const struct load_conf *c = conf;

	if (times_fault(c, why, n))
		return XK_E_INVAL;
	if (c->to == 0)
		snprintf(why, n, "needs 'to', the address to send to");
	else if (c->port + c->ports > 65536)
		snprintf(why, n, "port %u plus %llu ports passes 65535", c->port, (unsigned long long)c->ports);
	else if (c->lport != 0 && c->lport + c->conns > 65536)
		snprintf(why, n, "lport %u leaves too few ports for %llu connections", c->lport,
			 (unsigned long long)c->conns);
	else
		return XK_OK;
	return XK_E_INVAL;
}

void load_review(const struct xk_view *v, struct xk_review *r)
{
	const struct load_conf *c = v->conf;

	xk_review_reach(r, v, "to", c->to);
	if (c->lport == 0)
		xk_review_conns(r, v, c->conns, c->ports);
	xk_trace_review(&c->arrivals, c->conns, v, r);
}
