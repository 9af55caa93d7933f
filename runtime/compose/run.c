/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run.c - lets a graph run: warm-up, measured time, windows, and the reasons to
 * stop.
 *
 * One loop serves both clocks.  Real: the calling thread sleeps on the graph's
 * event until the next thing to do.  Virtual: it is the thread that runs the
 * VPs, up to the next thing to do, in steps short enough to notice a stop.
 */
#include "runtime/compose/run_priv.h"

#include <poll.h>
#include <string.h>

#include "runtime/mem/xk_mem.h"

#define VIRTUAL_STEP (10 * XK_MS)
#define MESSAGES_POLL (2 * XK_MS)

static xk_ns now(const struct run *u)
{
	return xk_clock_read(&u->g->vps->clock);
}

static bool stop_asked(const struct run *u)
{
	struct pollfd p = { .fd = u->o->stop_fd, .events = POLLIN };

	return u->o->stop_fd >= 0 && poll(&p, 1, 0) > 0;
}

static bool finished(const struct run *u)
{
	uint32_t apps = xk_load_acquire(&u->g->napps);

	return apps != 0 && xk_load_acquire(&u->g->ndone) >= apps;
}

/* Lets time pass until `until` or something that ends the run; true: it ended. */
static bool pass_real(struct run *u, xk_ns until)
{
	for (;;) {
		xk_ns t;

		xk_event_prepare(&u->g->done);
		t = now(u);
		if (finished(u) || stop_asked(u)) {
			xk_event_cancel(&u->g->done);
			u->r->end = finished(u) ? XK_RUN_FINISHED : XK_RUN_STOPPED;
			return true;
		}
		if (t >= until) {
			xk_event_cancel(&u->g->done);
			return false;
		}
		xk_event_wait(&u->g->done, until == XK_NS_NEVER ? XK_NS_NEVER : until - t, &u->o->stop_fd,
			      u->o->stop_fd >= 0);
	}
}

static bool step_virtual(struct run *u, xk_ns to)
{
	bool more;

	if (u->o->stepping != NULL)
		u->o->stepping(u->o->watch, true);
	more = xk_vpset_run_virtual(u->g->vps, to);
	if (u->o->stepping != NULL)
		u->o->stepping(u->o->watch, false);
	return more;
}

static bool pass_virtual(struct run *u, xk_ns until)
{
	for (;;) {
		xk_ns t = now(u), to = until - t > VIRTUAL_STEP ? t + VIRTUAL_STEP : until;

		if (finished(u)) {
			u->r->end = XK_RUN_FINISHED;
			return true;
		}
		if (t >= until)
			return false;
		if (stop_asked(u)) {
			u->r->end = XK_RUN_STOPPED;
			return true;
		}
		if (!step_virtual(u, to)) {
			u->r->end = finished(u) ? XK_RUN_FINISHED : XK_RUN_IDLE;
			return true;
		}
	}
}

static bool pass(struct run *u, xk_ns until)
{
	return u->r->is_virtual ? pass_virtual(u, until) : pass_real(u, until);
}

/* ---- windows ---------------------------------------------------------------------- */

/* What the busiest application did since u->seen; then seen is now. */
static void take_sample(struct run *u, xk_ns from, xk_ns to, struct xk_run_sample *s)
{
	int most = run_totals(u);

	*s = (struct xk_run_sample){ .at = from, .len = to - from };
	if (most >= 0) {
		s->messages = u->total[most].messages - u->seen[most].messages;
		s->bytes = u->total[most].bytes - u->seen[most].bytes;
	}
}

static int keep_sample(struct run *u, xk_ns from, xk_ns to)
{
	struct xk_run_result *r = u->r;
	struct xk_run_sample *more;

	if (r->nsamples == u->room_samples) {
		uint64_t room = u->room_samples ? u->room_samples * 2 : 256;

		more = xk_alloc(room * sizeof *more);
		if (more == NULL)
			return XK_E_NOMEM;
		if (r->nsamples != 0)
			memcpy(more, r->sample, r->nsamples * sizeof *more);
		xk_free(r->sample);
		r->sample = more;
		u->room_samples = room;
	}
	take_sample(u, from, to, &r->sample[r->nsamples]);
	memcpy(u->seen, u->total, u->g->nnodes * sizeof *u->seen);
	return run_window_conns(u, &r->sample[r->nsamples++]);
}

static xk_ns earlier(xk_ns a, xk_ns b)
{
	return a < b ? a : b;
}

static bool enough_messages(struct run *u)
{
	int most;

	if (u->o->max_messages == 0)
		return false;
	most = run_totals(u);
	return most >= 0 && u->total[most].messages >= u->o->max_messages;
}

/* ---- the measured part --------------------------------------------------------------- */

/* Times from the beginning, XK_NS_NEVER where there is none; what was reported. */
struct marks {
	xk_ns    end, stats, window;
	xk_ns    stats_from, window_from;
	uint64_t messages, bytes;
};

static xk_ns next_mark(xk_ns t, xk_ns every)
{
	return t - t % every + every;
}

static void report(struct run *u, struct marks *m, xk_ns t)
{
	struct xk_run_sample s = { .at = m->stats_from, .len = t - m->stats_from };
	int most = run_totals(u);

	if (most >= 0) {
		s.messages = u->total[most].messages - m->messages;
		s.bytes = u->total[most].bytes - m->bytes;
		m->messages = u->total[most].messages;
		m->bytes = u->total[most].bytes;
	}
	u->o->stats(u->o->arg, &s);
	m->stats_from = t;
	m->stats = next_mark(t, u->o->interval);
}

static int close_window(struct run *u, struct marks *m, xk_ns t)
{
	int err = keep_sample(u, m->window_from, t);

	m->window_from = t;
	m->window = next_mark(t, u->o->window);
	return err;
}

/* Until the next mark; true: the run is over. */
static bool advance(struct run *u, const struct marks *m, xk_ns t)
{
	xk_ns next = earlier(m->end, earlier(m->stats, m->window));
	bool ended;

	if (u->o->max_messages != 0)
		next = earlier(next, t + MESSAGES_POLL);
	ended = pass(u, next == XK_NS_NEVER ? XK_NS_NEVER : u->t0 + next);
	if (!ended && enough_messages(u)) {
		u->r->end = XK_RUN_MESSAGES;
		ended = true;
	}
	return ended;
}

static int measure(struct run *u)
{
	const struct xk_run_opts *o = u->o;
	struct marks m = {
		.end = o->duration ? o->duration : XK_NS_NEVER,
		.stats = o->interval && o->stats ? o->interval : XK_NS_NEVER,
		.window = o->window ? o->window : XK_NS_NEVER,
	};
	bool ended = false;
	int err = XK_OK;
	xk_ns t = 0;

	while (!ended && err == XK_OK && t < m.end) {
		ended = advance(u, &m, t);
		t = now(u) - u->t0;
		if (t >= m.window)
			err = close_window(u, &m, t);
		if (t >= m.stats)
			report(u, &m, t);
	}
	if (!ended)
		u->r->end = XK_RUN_DURATION;
	return err;
}

/* Everything that happens from here on is measured. */
static int begin(struct run *u)
{
	int err = run_begin(u);

	u->t0 = now(u);
	u->wall0 = xk_clock_host();
	return err;
}

static int start_workers(struct run *u, struct xk_errs *e)
{
	int err = u->r->is_virtual ? XK_OK : xk_graph_run(u->g, e);

	if (err == XK_OK && u->o->started != NULL)
		u->o->started(u->o->watch);
	return err;
}

/* Without a warm-up not a message is missed: measuring begins before the workers. */
static int start(struct run *u, struct xk_errs *e, bool *ended)
{
	xk_ns from = now(u);
	int err;

	if (u->o->warmup == 0) {
		err = begin(u);
		return err == XK_OK ? start_workers(u, e) : err;
	}
	err = start_workers(u, e);
	if (err != XK_OK)
		return err;
	*ended = pass(u, from + u->o->warmup);
	u->r->warmup_ns = now(u) - from;
	return begin(u);
}

static int run_all(struct run *u, struct xk_errs *e)
{
	struct xk_run_result *r = u->r;
	bool ended = false;
	int err = run_find_apps(u);

	if (err == XK_OK)
		err = start(u, e, &ended);
	if (err == XK_OK && !ended)
		err = measure(u);
	r->measured_ns = now(u) - u->t0;
	r->wall_ns = xk_clock_host() - u->wall0;
	return err == XK_OK ? run_end(u) : err;
}

int xk_run(struct xk_graph *g, const struct xk_run_opts *o, struct xk_run_result *r, struct xk_errs *e)
{
	struct run u = { .g = g, .o = o, .r = r };
	unsigned before = xk_errs_count(e);
	int err;

	*r = (struct xk_run_result){ .graph = g, .nnodes = g->nnodes, .nvps = g->vps->nvps, .nlanes = g->vps->nlanes,
				     .nworkers = g->vps->nworkers, .busiest = -1,
				     .is_virtual = g->vps->arch.schedule == XK_SCHED_VIRTUAL };
	err = run_all(&u, e);
	run_fini(&u);
	if (err != XK_OK) {
		xk_run_fini(r);
		if (xk_errs_count(e) == before)
			xk_errs_add(e, NULL, 0, 0, "running the graph failed: %s", xk_strerror(err));
	}
	return err;
}

const char *xk_run_end_text(enum xk_run_end e)
{
	static const char *const text[] = {
		[XK_RUN_DURATION] = "time was up", [XK_RUN_FINISHED] = "the applications finished",
		[XK_RUN_STOPPED] = "stopped", [XK_RUN_MESSAGES] = "the messages were done",
		[XK_RUN_IDLE] = "nothing was left to happen",
	};

	return text[e];
}

const char *xk_run_drop_name(const struct xk_node *n, unsigned i)
{
	if (i == XK_DROP_NOMEM)
		return "no memory";
	if (i == XK_DROP_UNSUPPORTED)
		return "unsupported";
	for (unsigned k = 0; n->proto->drops != NULL && n->proto->drops[k] != NULL; k++)
		if (k + XK_DROP_FIRST == i)
			return n->proto->drops[k];
	return NULL;
}
