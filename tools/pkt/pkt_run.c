/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pkt_run.c - runs a script: events in their order, time as they say.
 *
 * A time with "+" counts from the moment that the event before it came to pass (for
 * a segment of ours: when it was sent, or when we got to it).  What arrives and what
 * the program calls happens at its time exactly; what we send may be off by the
 * tolerance.  The clock jumps from one timer to the next, so hours cost nothing.
 * Invariant: the first difference ends the run.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/pkt/pkt_priv.h"

const char *pkt_result_text(enum pkt_result r)
{
	static const char *const text[] = { "passed", "differs", "bad script", "failed" };

	return text[r];
}

/* ---- time -------------------------------------------------------------------------------- */

static void shown(struct pkt_run *u)
{
	/* Printed when it leaves: the queue's tail grows only here. */
	static const struct pkt_sent *last;
	struct pkt_seg s;

	if (!u->o->show || u->last == NULL || u->last == last)
		return;
	for (const struct pkt_sent *p = u->first; p != NULL; p = p->next) {
		if (p->at < u->last_at)
			continue;
		if (pkt_seg_load(p->bytes, p->n, &s) == NULL) {
			pkt_seg_script(u, &s);
			fprintf(u->out, "%10.6f ", (double)p->at / 1e9);
			pkt_seg_show(u->out, &s, true);
			fputc('\n', u->out);
		}
	}
	last = u->last;
	u->last_at = pkt_now(u) + 1;
}

void pkt_settle(struct pkt_run *u)
{
	while (xk_vpset_step(u->g->vps) != 0)
		;
	while (!pkt_call_again(u)) {
		/* A call that moved something on (a write) has another turn. */
		if (xk_vpset_step(u->g->vps) == 0)
			break;
	}
	shown(u);
}

static int64_t next_timer(struct pkt_run *u)
{
	xk_ns t = xk_wheel_next(&u->g->vps->vp[0]->wheel);

	return t == XK_NS_NEVER ? INT64_MAX : (int64_t)t - u->start;
}

void pkt_pass(struct pkt_run *u, int64_t to, bool until_sent)
{
	pkt_settle(u);
	while (pkt_now(u) < to && !(until_sent && u->first != NULL) && !u->bad && !u->differs) {
		int64_t next = next_timer(u);

		if (next > to)
			next = to;
		if (next > pkt_now(u))
			xk_clock_advance(&u->g->vps->clock, (xk_ns)(next + u->start));
		else
			/* Due now and not run: the wheel ticks on. */
			xk_clock_advance(&u->g->vps->clock, (xk_ns)(pkt_now(u) + u->start) + XK_US);
		pkt_settle(u);
	}
}

/* ---- events ---------------------------------------------------------------------------------- */

static void show_event(struct pkt_run *u, const struct pkt_event *e)
{
	if (u->o->show && e->kind != PKT_E_OUT)
		fprintf(u->out, "%10.6f %s\n", (double)pkt_now(u) / 1e9, e->text);
}

/* The call before must have returned: a program has one thread. */
static void finish_call(struct pkt_run *u)
{
	if (u->wait.e != NULL)
		pkt_pass(u, u->wait.until + u->tolerance, false);
	while (u->wait.e != NULL && !u->bad && !u->differs)
		pkt_pass(u, pkt_now(u) + (int64_t)XK_US, false);
}

static void happen(struct pkt_run *u, const struct pkt_event *e, int64_t from, int64_t to)
{
	if (e->kind == PKT_E_CALL)
		finish_call(u);
	if (u->bad || u->differs)
		return;
	show_event(u, e);
	switch (e->kind) {
	case PKT_E_CALL: pkt_call_start(u, e, from, to); break;
	case PKT_E_IN: pkt_send_in(u, e); break;
	case PKT_E_CODE: pkt_code(u, e); break;
	case PKT_E_SHELL: pkt_shell(u, e, false); break;
	case PKT_E_OUT: break;
	}
	pkt_settle(u);
}

static void check_received(struct pkt_run *u, const struct pkt_event *e)
{
	for (int i = 0; i < PKT_FDS; i++)
		if (u->fd[i] != NULL && u->fd[i]->bad_rx != 0)
			pkt_differs(u, e, "%u bytes received are not what was sent", u->fd[i]->bad_rx);
}

static void run_event(struct pkt_run *u, const struct pkt_event *e)
{
	int64_t base = e->t.kind == PKT_AFTER ? pkt_now(u) : 0;
	int64_t from, to;

	if (base > INT64_MAX / 4) {      /* what one event can add is below that, too */
		pkt_bad(u, e, "the clock does not reach so far");
		return;
	}
	from = base + e->t.from;
	to = base + e->t.to;
	if (e->kind == PKT_E_OUT) {
		pkt_expect_out(u, e, from, to);
		return;
	}
	pkt_pass(u, from, false);
	happen(u, e, from, to);
	check_received(u, e);
}

/* May the script be silent about it?  The language says nothing of what follows the last
 * segment that a script names, and many end before an acknowledgement of their last; but what
 * takes numbers, and a RST, changes the connection. */
static bool may_be_left(const struct pkt_run *u, const struct pkt_seg *s)
{
	return !u->strict && s->what == PKT_SEGMENT && s->len == 0 && !(s->flags & (PKT_SYN | PKT_FIN | PKT_RST));
}

static void left_over(struct pkt_run *u)
{
	struct pkt_sent *p = u->first;
	struct pkt_seg s;

	if (u->differs || u->bad || u->s->last == NULL)
		return;
	while (p != NULL && pkt_seg_load(p->bytes, p->n, &s) == NULL && may_be_left(u, &s))
		p = p->next;
	if (p == NULL)
		return;
	pkt_seg_script(u, &s);
	pkt_differs(u, u->s->last, "a segment is left over");
	fprintf(u->out, "  sent:     ");
	pkt_seg_show(u->out, &s, true);
	fprintf(u->out, "   at %.6f\n", (double)p->at / 1e9);
}

static void play(struct pkt_run *u)
{
	const struct pkt_event *e = u->s->first;

	/* Those before the first call have made the graph. */
	while (e != NULL && e->kind == PKT_E_SHELL)
		e = e->next;
	for (; e != NULL && !u->bad && !u->differs; e = e->next)
		run_event(u, e);
	if (!u->bad && !u->differs)
		finish_call(u);
	left_over(u);
}

/* What arrived and was not read is looked at, too. */
static void close_all(struct pkt_run *u)
{
	uint32_t bad = 0;

	for (int i = 0; i < PKT_FDS; i++)
		if (u->fd[i] != NULL) {
			struct pkt_sock *k = u->fd[i];

			u->fd[i] = NULL;
			bad += pkt_sock_close(k);
		}
	if (bad != 0 && u->s->last != NULL)
		pkt_differs(u, u->s->last, "%u bytes received are not what was sent", bad);
}

enum pkt_result pkt_run(const struct pkt_script *s, const struct pkt_opts *o, FILE *out)
{
	struct pkt_run *u = calloc(1, sizeof *u);
	struct pkt_arena a;
	enum pkt_result r = PKT_FAILED;

	xk_assert(u != NULL);
	u->s = s;
	u->o = o;
	u->out = out;
	if (!pkt_configure(u)) {
		r = PKT_BAD_SCRIPT;
	} else {
		bool up = pkt_graph_up(u);

		if (up) {
			play(u);
			close_all(u);
		}
		if (pkt_graph_down(u) && up)
			r = u->bad ? PKT_BAD_SCRIPT : u->differs ? PKT_DIFFERS : PKT_PASS;
	}
	a = u->arena;
	pkt_arena_free(&a);
	free(u);
	return r;
}
