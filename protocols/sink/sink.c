/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sink.c - places and counts of receivers of load; see sink.h.
 */
#include "protocols/sink/sink.h"

#include "runtime/mem/xk_alloc.h"
#include "runtime/sync/xk_sync.h"
#include "runtime/upi/xk_app.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"
#include "runtime/upi/xk_vps.h"
#include "runtime/vp/xk_task.h"
#include "runtime/vp/xk_timer.h"

#include <stdio.h>

#define PAGE 4096u
#define LOOK_EVERY XK_MS

static struct sink *sink_of(const struct xk_rep *r) { return r->state; }
static const struct sink_conf *conf_of(const struct xk_rep *r) { return r->conf; }

/* ---- connections ------------------------------------------------------------------------ */

uint32_t sink_place_take(struct sink *l, uint64_t no)
{
	uint32_t i = l->nspare != 0 ? l->spare[--l->nspare] : l->n;

	xk_store_relaxed(&l->no[i], no);         /* a runner may be reading */
	if (i == l->n)
		xk_store_release(&l->n, i + 1);
	return i;
}

void sink_post(struct sink *l, struct xk_ddp **post, struct xk_sess *lls, bool stream,
	       unsigned count)
{
	const struct sink_conf *c = conf_of(l->r);
	struct xk_ddp_conf d = {
		(uint32_t)c->post, (uint32_t)c->post_least, stream, &l->r->count[count]
	};

	if (c->post != 0 && xk_ddp_open(post, lls, &d) != XK_OK)
		xk_count(l->r->count[count + XK_DDP_N]);
}

/* ---- times ------------------------------------------------------------------------------ */

static void time_add(struct sink_times *t, unsigned which, xk_ns from, xk_ns to)
{
	xk_ns ns = to > from ? to - from : 0;    /* processors' clocks are not quite one */

	xk_hist_add(&t->hist[which], ns);
	xk_count_add(t->sum[which], ns);
}

void sink_time(struct sink *l, const void *p, uint32_t n)
{
	xk_ns now = xk_vp_clock(xk_vp_self);
	struct sink_times *t = l->times;
	struct xk_stamp s;

	if (!xk_stamp_get(p, n, &s))
		return;
	time_add(t, XK_TIME_QUEUE, s.due, s.start);
	time_add(t, XK_TIME_EXEC, s.start, now);
	time_add(t, XK_TIME_DELAY, s.due, now);
	xk_store_relaxed(&t->late, now > s.due ? now - s.due : 0);
}

int sink_answer_times(const struct sink *l, void *buf, unsigned len)
{
	struct xk_app_times t;

	if (l->times == NULL)
		return XK_E_NOTSUP;
	t = (struct xk_app_times){ l->times->hist, l->times->sum, &l->times->late };
	return xk_answer(buf, len, &t, sizeof t);
}

/* ---- the end of a run --------------------------------------------------------------------- */

static void sink_look(struct xk_timer *t)
{
	struct sink *l = xk_container_of(t, struct sink, timer);
	struct xk_node *n = l->r->node;
	uint64_t got = 0;

	for (unsigned i = 0; i < xk_node_nvps(n); i++)
		got += xk_counter_read(n->rep[i]->count[SINK_MESSAGES]);
	if (got >= conf_of(l->r)->count)
		xk_app_finished(n);
	else
		xk_timer_set(l->r->wheel, t, xk_vp_now() + LOOK_EVERY);
}

void sink_watch(struct xk_rep *r)
{
	if (conf_of(r)->count != 0 && r->no == 0)
		xk_timer_set(r->wheel, &sink_of(r)->timer, xk_vp_now() + LOOK_EVERY);
}

void sink_unwatch(struct xk_rep *r)
{
	xk_timer_cancel(r->wheel, &sink_of(r)->timer);
}

/* ---- life ------------------------------------------------------------------------------ */

int sink_init(struct xk_node *n, struct xk_errs *e)
{
	(void)e;
	if (((const struct sink_conf *)n->conf)->count != 0)
		xk_app_will_finish(n);
	return XK_OK;
}

int sink_size(struct xk_rep *r, uint64_t cap, uint64_t page)
{
	struct sink *l = sink_of(r);

	l->r = r;
	xk_timer_init(&l->timer, sink_look);
	l->cap = (uint32_t)cap;
	l->page_size = page;
	if (!conf_of(r)->times)
		return XK_OK;
	l->times = xk_app_counters(r, sizeof *l->times);
	return l->times != NULL ? XK_OK : XK_E_NOMEM;
}

static void places_free(struct sink *l)
{
	xk_free(l->messages);
	xk_free(l->page_block);
	l->messages = NULL;
	l->page_block = NULL;
	l->page = NULL;
}

int sink_get(struct sink *l)
{
	if (l->page != NULL)
		return XK_OK;
	l->messages = xk_alloc(((size_t)l->cap + 1) * (3 * sizeof *l->messages + sizeof *l->spare));
	l->page_block = xk_alloc(l->page_size + PAGE);
	if (l->messages == NULL || l->page_block == NULL) {
		places_free(l);
		return XK_E_NOMEM;
	}
	l->bytes = l->messages + l->cap;
	l->no = l->bytes + l->cap;
	l->spare = (uint32_t *)(l->no + l->cap);
	l->page = (uint8_t *)l->page_block + (-(uintptr_t)l->page_block & (PAGE - 1));
	return XK_OK;
}

void sink_fini(struct xk_rep *r)
{
	struct sink *l = sink_of(r);

	places_free(l);
	xk_app_counters_free(r, l->times);
	l->times = NULL;
}

int sink_wait(struct xk_node *n, struct xk_errs *e)
{
	const struct sink_conf *c = n->conf;

	for (uint64_t i = 0; i < c->ports; i++) {
		int err = xk_app_listen(n, (uint16_t)(c->port + i), e);

		if (err == XK_OK)
			continue;
		xk_open_disable_all(n, n->down[0]);
		return err;
	}
	return XK_OK;
}

struct xk_app_counts sink_counts(const struct sink *l, const xk_counter *accepted)
{
	uint32_t n = xk_load_acquire(&l->n);

	static const uint64_t none[1];

	if (n == 0)                      /* and no memory, perhaps; it counts by connection all the same */
		return (struct xk_app_counts){ 0, none, none, none, NULL, accepted };
	return (struct xk_app_counts){ n, l->messages, l->bytes, l->no, NULL, accepted };
}

/* ---- the descriptor ----------------------------------------------------------------------- */

int sink_check(const struct sink_conf *c, bool copied, const char *copies,
		    char *why, size_t n)
{
	if (c->port + c->ports > 65536)
		snprintf(why, n, "port %u plus %llu ports passes 65535", c->port, (unsigned long long)c->ports);
	else if (c->post != 0 && (c->post < XK_DDP_MIN || !copied))
		snprintf(why, n, "post is where %s and takes at least %u bytes", copies, XK_DDP_MIN);
	else
		return XK_OK;
	return XK_E_INVAL;
}
