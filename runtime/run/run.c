/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run.c - lets a graph run: connections, warm-up, measured time, windows, and the
 * reasons to stop.
 *
 * One loop serves both clocks.  Real: the calling thread sleeps on the graph's
 * event until the next thing to do.  Virtual: it is the thread that runs the
 * VPs, up to the next thing to do, in steps short enough to notice a stop.
 */
#include "runtime/run/run_priv.h"
#include "runtime/upi/xk_part.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "runtime/mem/xk_mem.h"

#define VIRTUAL_STEP (10 * XK_MS)
#define SIMULATED_STEP (100 * XK_US)  /* of simulated processors: an end is seen so soon */
#define POLL_LEAST   (50 * XK_US)     /* between two looks at how many messages there were */
#define POLL_MOST    (2 * XK_MS)
#define GATE_POLL XK_MS
#define LOOK_EVERY   XK_MS            /* of the host's time, at its ticks: between two looks at descriptors in virtual time */

static xk_ns now(const struct run *u)
{
	return xk_clock_read(&u->g->vps->clock);
}

static bool stop_asked(const struct run *u)
{
	struct pollfd p = { .fd = u->o->stop_fd, .events = POLLIN };

	return u->o->stop_fd >= 0 && poll(&p, 1, 0) > 0;
}

/* Somebody wants to know how it goes. */
static bool asked(const struct run *u)
{
	struct pollfd p = { .fd = u->o->ask_fd, .events = POLLIN };

	return u->begun && u->o->so_far != NULL && poll(&p, 1, 0) > 0;
}

/* Somebody wants measuring to begin anew; who asks how it goes after that hears of what is measured then. */
static bool anew_asked(const struct run *u)
{
	struct pollfd p = { .fd = u->o->anew_fd, .events = POLLIN };

	return u->begun && u->o->anew_fd > 0 && poll(&p, 1, 0) > 0;
}

static void tell_so_far(const struct run *u)
{
	struct xk_run_result r;

	if (run_so_far(u, &r) != XK_OK)
		return;                  /* no memory: asked again it is tried again */
	r.measured_ns = now(u) - u->t0;
	r.wall_ns = xk_clock_host() - u->wall0;
	u->o->so_far(u->o->arg, &r);
	xk_run_fini(&r);
}

static bool finished(const struct run *u)
{
	uint32_t apps = xk_load_acquire(&u->g->napps);

	return apps != 0 && xk_load_acquire(&u->g->ndone) >= apps;
}

/* True: whoever started us knows what there is to know, and says when it is over. */
static bool others_decide(struct run *u)
{
	bool can = xk_load_acquire(&u->g->napps) != 0;

	if (u->o->finished_fd <= 0 || u->r->is_virtual)
		return false;
	if (!u->told && (finished(u) || !can))
		u->told = write(u->o->finished_fd, can ? "f" : "n", 1) >= 0 || (errno != EINTR && errno != EAGAIN);
	return true;
}

/* Is it of no use to go on? */
static bool broken(const struct run *u)
{
	return xk_graph_cut_off(u->g) || xk_graph_gave_up(u->g);
}

/* True, and why, when the run is over whatever the time. */
static bool over(struct run *u)
{
	bool waits = others_decide(u);

	if (finished(u) && (!waits || stop_asked(u)))
		u->r->end = XK_RUN_FINISHED;
	else if (stop_asked(u))
		u->r->end = XK_RUN_STOPPED;
	else if (xk_graph_cut_off(u->g))
		u->r->end = XK_RUN_CUT_OFF;
	else if (xk_graph_gave_up(u->g))
		u->r->end = XK_RUN_GAVE_UP;
	else if (run_dry(u))
		u->r->end = XK_RUN_DRY;
	else
		return false;
	return true;
}

/* What wakes the runner. */
static unsigned wakes(const struct run *u, int fds[3])
{
	unsigned n = 0;

	if (u->o->stop_fd >= 0)
		fds[n++] = u->o->stop_fd;
	if (u->begun && u->o->so_far != NULL)
		fds[n++] = u->o->ask_fd;
	if (u->begun && u->o->anew_fd > 0)
		fds[n++] = u->o->anew_fd;
	return n;
}

/* Lets time pass until `until`, until measuring is to begin anew, or something that ends the run; true: it ended. */
static bool pass_real(struct run *u, xk_ns until)
{
	int fds[3];
	unsigned n = wakes(u, fds);

	for (;;) {
		xk_ns t;

		if (asked(u) && !anew_asked(u))
			tell_so_far(u);
		xk_event_prepare(&u->g->done);
		t = now(u);
		if (over(u)) {
			xk_event_cancel(&u->g->done);
			return true;
		}
		if (t >= until || anew_asked(u)) {
			xk_event_cancel(&u->g->done);
			return false;
		}
		xk_event_wait(&u->g->done, until - t < RUN_DRY_LOOK ? until - t : RUN_DRY_LOOK, fds, n);
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

/* A look at descriptors is a system call, and a step of virtual time may be shorter than that. */
static bool look_due(const struct run *u)
{
	return xk_clock_host_coarse() - u->looked >= LOOK_EVERY;
}

static xk_ns next_step(const struct run *u)
{
	xk_ns t = now(u), step = u->g->vps->sim != NULL ? SIMULATED_STEP : VIRTUAL_STEP;

	return t + step < u->until ? t + step : u->until;
}

/* A step of simulated processors is over, and unless somebody is to be told of it the next one begins.  Reading the
 * host's clock would be a good part of what it costs. */
static xk_ns step_again(void *arg)
{
	struct run *u = arg;

	return finished(u) || broken(u) || (u->steps++ % 4 == 0 && look_due(u)) ? 0 : next_step(u);
}

static bool pass_virtual(struct run *u, xk_ns until)
{
	u->until = until;
	xk_vpset_again(u->g->vps, u->o->stepping == NULL ? step_again : NULL, u);
	for (;;) {
		if (finished(u)) {
			u->r->end = XK_RUN_FINISHED;
			return true;
		}
		if (now(u) >= until)
			return false;
		if (broken(u) || look_due(u)) {
			u->looked = xk_clock_host_coarse();
			if (over(u))
				return true;
			if (asked(u) && !anew_asked(u))
				tell_so_far(u);
			if (anew_asked(u))
				return false;
		}
		if (!step_virtual(u, next_step(u))) {
			u->r->end = finished(u) ? XK_RUN_FINISHED : run_dried_up(u) ? XK_RUN_DRY : XK_RUN_IDLE;
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

/* How long the rest of n messages takes at the pace of those in the time t until now; without any, as
 * long again.  0: they are through. */
static xk_ns rest_of(struct run *u, uint64_t n, xk_ns t)
{
	int most = run_totals(u);
	uint64_t had = most >= 0 ? u->total[most].messages : 0;
	double rest;

	if (had >= n)
		return 0;
	rest = had != 0 ? (double)t / (double)had * (double)(n - had) : (double)t;
	return rest < POLL_LEAST ? POLL_LEAST : rest < POLL_MOST ? (xk_ns)rest : POLL_MOST;
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
		next = earlier(next, t + rest_of(u, u->o->max_messages, t));
	ended = pass(u, next == XK_NS_NEVER ? XK_NS_NEVER : u->t0 + next);
	if (!ended && u->o->max_messages != 0 && rest_of(u, u->o->max_messages, t) == 0) {
		u->r->end = XK_RUN_MESSAGES;
		ended = true;
	}
	return ended;
}

static struct marks first_marks(const struct xk_run_opts *o)
{
	return (struct marks){
		.end = o->duration ? o->duration : XK_NS_NEVER,
		.stats = o->interval && o->stats ? o->interval : XK_NS_NEVER,
		.window = o->window ? o->window : XK_NS_NEVER,
	};
}

/* What has been measured until now is as if it had been the warm-up. */
static int begin_anew(struct run *u, struct marks *m)
{
	uint64_t times;
	int err = run_begin_anew(u);

	(void)!read(u->o->anew_fd, &times, sizeof times);
	*m = first_marks(u->o);
	u->t0 = now(u);
	u->wall0 = xk_clock_host();
	return err;
}

static int measure(struct run *u)
{
	struct marks m = first_marks(u->o);
	bool ended = false;
	int err = XK_OK;
	xk_ns t = 0;

	while (!ended && err == XK_OK && t < m.end) {
		ended = advance(u, &m, t);
		if (!ended && anew_asked(u))
			err = begin_anew(u, &m);
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

static bool warms_up(const struct xk_run_opts *o)
{
	return o->warmup != 0 || o->warmup_messages != 0;
}

/* Everything that happens from here on is measured; birth: what starting did, too. */
static int begin(struct run *u, bool birth)
{
	int err = run_begin(u, birth);

	u->t0 = now(u);
	u->wall0 = xk_clock_host();
	u->begun = err == XK_OK;
	return err;
}

/* Until the time is over and the messages are through; true: the run is over. */
static bool warm_up(struct run *u, xk_ns from)
{
	bool ended = pass(u, from + u->o->warmup);
	xk_ns rest;

	while (!ended && (rest = rest_of(u, u->o->warmup_messages, now(u) - from)) != 0)
		ended = pass(u, now(u) + rest);
	return ended;
}

static int start_workers(struct run *u, struct xk_errs *e)
{
	int err = u->r->is_virtual && u->g->vps->sim == NULL ? XK_OK : xk_graph_run(u->g, e);

	if (err == XK_OK && u->g->vps->shared_cpus != 0 && u->g->nnodes != 0)
		XK_TRACE(&u->g->node[0]->log, 2, "workers are pinned to processors that those of process %d are pinned to, "
			 "too: --cpus gives others", (int)u->g->vps->shared_with);
	if (err == XK_OK && u->o->started != NULL)
		u->o->started(u->o->watch);
	return err;
}

static int begin_warm(struct run *u, xk_ns from, bool *ended)
{
	*ended = warm_up(u, from);
	u->r->warmup_ns = now(u) - from;
	return begin(u, false);
}

/* Applications that open their connections first: sending, and so the warm-up, begins when all
 * of them have. */
static int start_gated(struct run *u, struct xk_errs *e, bool *ended)
{
	int err = start_workers(u, e);
	xk_ns from = now(u);
	bool open = false;

	while (err == XK_OK && !*ended && (err = run_gate_look(u, now(u) - from, &open, e)) == XK_OK && !open)
		*ended = pass(u, now(u) + GATE_POLL);
	if (err != XK_OK)
		return err;
	if (warms_up(u->o) && !*ended) {
		run_gate_go(u);
		return begin_warm(u, now(u), ended);
	}
	err = begin(u, false);
	if (err == XK_OK && !*ended)             /* not a message is missed */
		run_gate_go(u);
	return err;
}

/* Without a warm-up not a message is missed: measuring begins before the workers. */
static int start(struct run *u, struct xk_errs *e, bool *ended)
{
	xk_ns from = now(u);
	int err;

	if (run_gated(u))
		return start_gated(u, e, ended);
	if (!warms_up(u->o)) {
		err = begin(u, true);
		return err == XK_OK ? start_workers(u, e) : err;
	}
	err = start_workers(u, e);
	return err == XK_OK ? begin_warm(u, from, ended) : err;
}

/* Messages are those of an application: without one none would ever be enough. */
static int check_messages(const struct run *u, struct xk_errs *e)
{
	if ((u->o->warmup_messages == 0 && u->o->max_messages == 0) || u->napps != 0)
		return XK_OK;
	xk_errs_add(e, NULL, 0, 0, "messages cannot be waited for: no application of this graph counts them");
	return XK_E_INVAL;
}

static int run_all(struct run *u, struct xk_errs *e)
{
	struct xk_run_result *r = u->r;
	bool ended = false;
	int err = run_find_apps(u);

	if (err == XK_OK)
		err = check_messages(u, e);
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

	*r = (struct xk_run_result){ .graph = g, .nnodes = g->nnodes, .nvps = g->vps->nvps, .nall = g->vps->nall,
				     .nworkers = g->vps->nworkers + g->vps->noutside,
				     .noutside = g->vps->noutside, .busiest = -1,
				     .is_virtual = g->vps->clock.is_virtual };
	err = run_all(&u, e);
	xk_vpset_again(g->vps, NULL, NULL);
	if (err == XK_OK && r->end == XK_RUN_DRY)
		xk_errs_add(e, NULL, 0, 0, "out of memory: applications were refused buffers and could not go on ('memory' of the graph, "
			    "or a higher limit: ulimit -v)");
	run_fini(&u);
	if (err != XK_OK) {
		xk_run_fini(r);
		if (xk_errs_count(e) == before)
			xk_errs_add(e, NULL, 0, 0, "running the graph failed: %s", xk_strerror(err));
	}
	return err;
}
