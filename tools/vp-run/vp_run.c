/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_run.c - vp-run: runs a graph file.
 *
 * Load, check, build, capture, bring up, run, show, take down; each step that
 * fails says one sentence, and everything before it is undone.  Signals arrive
 * through a descriptor, so that a stop is as orderly as an end.
 */
#include "runtime/compose/xk_ledger.h"
#include "runtime/compose/xk_plugins.h"
#include "runtime/compose/xk_variant.h"
#include "runtime/run/xk_json.h"
#include "tools/control/ctl.h"
#include "tools/vp-run/vpr.h"

#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

struct work {
	struct vpr      *o;
	struct xk_spec  *s;
	struct xk_graph *g;
	struct xk_errs  *e, *warnings;
	struct ctl      *ctl;
	int              anew_fd;        /* an eventfd: measuring is to begin anew; 0: nobody can ask for it */
};

/* Before any thread: all of them inherit the mask.  other: 0, or one more. */
static int catch_signals(int sig, int other)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, sig);
	if (other != 0)
		sigaddset(&set, other);
	if (sigprocmask(SIG_BLOCK, &set, NULL) != 0)
		return -1;
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* SIGUSR1: the table as it is now, where it is in the way of no output. */
static void so_far(void *arg, const struct xk_run_result *r)
{
	struct signalfd_siginfo info;
	const struct vpr *o = arg;

	while (read(o->ask_fd, &info, sizeof info) == (ssize_t)sizeof info)
		;
	vpr_live_clear();
	vpr_table(stderr, r);
	fflush(stderr);
}

/* Who sleeps and has hundreds of busy threads beside it asks for short
 * slices and, where it may, for a high priority, so that the system runs it soon
 * after it wakes.  Threads that it makes do not inherit that.  Without support nothing changes. */
void vpr_be_prompt(void)
{
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t  nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} attr = { .size = sizeof attr, .flags = 1 /* reset on fork */, .nice = -20, .runtime = 100 * XK_US };

	if (syscall(SYS_sched_setattr, 0, &attr, 0) == 0)
		return;
	attr.nice = 0;
	(void)syscall(SYS_sched_setattr, 0, &attr, 0);
}

static int code_of(int err)
{
	switch (err) {
	case XK_E_PERM:
	case -EACCES:
	case XK_E_NODEV: return VPR_NO_PRIVILEGE;
	default: return VPR_FAILED;
	}
}

static int load(struct work *w)
{
	struct xk_compose_opts opts = { .args = w->o->arg, .nargs = w->o->narg, .noffered = w->o->offered, .path = w->o->path,
					.unsafe = w->o->unsafe, .untrusted = w->o->untrusted };
	int err = xk_spec_load(&w->s, w->o->file, &opts, w->e);

	if (w->s == NULL) {
		xk_errs_add(w->e, NULL, 0, 0, "out of memory");
		return VPR_FAILED;
	}
	if (err != XK_OK && err != XK_E_INVAL)
		return VPR_FAILED;
	if (xk_spec_check(w->s, w->e, w->warnings) != XK_OK || err != XK_OK)
		return VPR_GRAPH_ERRORS;
	if (xk_spec_plan(w->s) == NULL) {
		xk_errs_add(w->e, w->o->file, 0, 0, "is a %s: %s", xk_spec_word(w->s), xk_spec_is_bench(w->s) ? "run it with vp-bench" : "it is for vp-sim");
		return VPR_GRAPH_ERRORS;
	}
	err = vpr_machine(w->o, w->s, w->e);
	if (err != VPR_OK)
		return err;
	return vpr_apply(w->o, xk_spec_plan(w->s), w->e) == XK_OK ? VPR_OK : VPR_USAGE;
}

static void end_run(void *arg)
{
	(void)arg;
	(void)kill(getpid(), SIGINT);
}

static void measure_anew(void *arg)
{
	const struct work *w = arg;
	uint64_t one = 1;

	(void)!write(w->anew_fd, &one, sizeof one);
}

/* The live view, when asked for: its socket is there before anything happens. */
static int open_control(struct work *w)
{
	const struct ctl_run run = { .end = end_run, .anew = measure_anew, .arg = w, .untrusted = w->o->untrusted };
	int err;

	if (!w->o->has_control)
		return VPR_OK;
	w->anew_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (w->anew_fd < 0) {
		w->anew_fd = 0;
		xk_errs_add(w->e, NULL, 0, 0, "option --control: %s", strerror(errno));
		return VPR_FAILED;
	}
	err = ctl_new(&w->ctl, w->g, w->o->control, &run, w->e);
	if (err == XK_OK)
		return VPR_OK;
	return err == XK_E_INVAL ? VPR_USAGE : code_of(err);
}

static int meter(struct work *w)
{
	int err;

	if (!w->o->layer_times)
		return VPR_OK;
	if (xk_spec_plan(w->s)->is_virtual) {
		xk_errs_add(w->e, NULL, 0, 0, "option --layer-times: a simulated clock stands while a message passes");
		return VPR_USAGE;
	}
	err = xk_graph_meter(w->g);
	if (err == XK_E_NOTSUP)
		xk_errs_add(w->e, NULL, 0, 0, "option --layer-times: with threads = \"user\" a connection may stop in the middle of a node");
	else if (err != XK_OK)
		xk_errs_add(w->e, NULL, 0, 0, "out of memory");
	return err == XK_OK ? VPR_OK : err == XK_E_NOTSUP ? VPR_USAGE : VPR_FAILED;
}

static int bring_up(struct work *w)
{
	int err = xk_spec_build(w->s, &w->g, w->e);

	if (err != XK_OK)
		return code_of(err);
	if (vpr_log(w->o, w->g, w->e) != XK_OK)
		return VPR_USAGE;
	if (vpr_capture_attach(w->o, w->g, w->e) != XK_OK)
		return VPR_USAGE;
	err = meter(w);
	if (err != VPR_OK)
		return err;
	/* First: what is left for others while the graph comes up is the scheduler's already. */
	err = w->o->decisions != NULL ? vpr_decisions_open(w->o, w->g, w->e) : VPR_OK;
	if (err == VPR_OK)
		err = vpr_timeline_open(w->o, w->g, w->e);
	if (err == VPR_OK)
		err = vpr_heat_ask(w->o, w->g, w->e);
	if (err != VPR_OK)
		return err;
	err = xk_graph_up(w->g, w->e);
	if (err == XK_OK)
		err = vpr_capture_open(w->o);
	else
		return code_of(err);
	return err == XK_E_INVAL ? VPR_USAGE : err == XK_OK ? VPR_OK : code_of(err);
}

static int show(const struct vpr *o, const struct xk_run_result *r, xk_ns window)
{
	uint64_t lost = xk_json_lost();
	json_t *j;
	int err;

	if (!o->json) {
		vpr_table(stdout, r);
		return VPR_OK;
	}
	j = xk_run_json(r, o->json_vps, o->json_conns);
	if (j != NULL && window != 0) {
		json_object_del(j, "samples");
		json_object_set_new(j, "fairness", vpr_fairness(r, window));
	}
	err = xk_json_lost() == lost ? json_dumpf(j, stdout, JSON_INDENT(2)) : -1;
	json_decref(j);
	if (xk_json_lost() != lost)
		fprintf(stderr, "vp-run: out of memory: the result cannot be shown\n");
	else
		putchar('\n');
	return err == 0 ? VPR_OK : VPR_FAILED;
}

/* A node that could not do what it is there for is told of, and the run was not good; a graph without a device left
 * has a code of its own, for who may want to begin anew. */
static int failures(struct work *w, enum xk_run_end end)
{
	int code = end == XK_RUN_DRY ? VPR_FAILED : VPR_OK;

	for (unsigned i = 0; i < w->g->nnodes; i++) {
		const struct xk_node *n = w->g->node[i];

		if (xk_node_failure(n) == NULL)
			continue;
		xk_errs_add(w->e, n->file, n->line, 0, "%s: %s", n->name, xk_node_failure(n));
		code = xk_graph_cut_off(w->g) ? VPR_CUT_OFF : xk_graph_gave_up(w->g) ? VPR_GAVE_UP : VPR_FAILED;
	}
	return code;
}

static int run(struct work *w)
{
	const struct xk_plan *p = xk_spec_plan(w->s);
	struct xk_run_opts opts = { .duration = p->duration, .warmup = p->warmup, .stats = vpr_interval,
				    .stop_fd = w->o->stop_fd, .finished_fd = w->o->finished_fd,
				    .ask_fd = w->o->ask_fd, .so_far = so_far, .arg = w->o, .anew_fd = w->anew_fd };
	struct xk_run_result r;
	enum xk_run_end end;
	int err;

	if (vpr_time("stats", w->o->stats, &opts.interval, w->e) != XK_OK)
		return VPR_USAGE;
	if (vpr_time("fairness", w->o->fairness, &opts.window, w->e) != XK_OK)
		return VPR_USAGE;
	if (vpr_messages("messages", w->o->messages, &opts.max_messages, w->e) != XK_OK ||
	    vpr_messages("warmup-messages", w->o->warmup_messages, &opts.warmup_messages, w->e) != XK_OK)
		return VPR_USAGE;
	opts.window_conns = opts.window != 0;
	if (w->ctl != NULL) {
		opts.started = ctl_started;
		opts.stepping = ctl_stepping;
		opts.watch = w->ctl;
	}
	if (opts.interval == 0 && vpr_live_can()) {
		opts.interval = XK_SEC;
		opts.stats = vpr_live;
	}
	vpr_wait_for_all(w->o);
	err = xk_run(w->g, &opts, &r, w->e);
	vpr_live_clear();
	ctl_free(w->ctl);
	w->ctl = NULL;
	if (err != XK_OK)
		return code_of(err);
	err = show(w->o, &r, opts.window);
	if (vpr_heat_draw(w->o, &r) != VPR_OK && err == VPR_OK)
		err = VPR_FAILED;
	end = r.end;
	xk_run_fini(&r);
	return err == VPR_OK ? failures(w, end) : err;
}

/* The graph goes first: its last messages may still be captured. */
static int take_down(struct work *w, int code)
{
	uint64_t leaked;

	vpr_timeline_end(w->o, w->g);
	vpr_record_close(w->g);
	leaked = xk_graph_free(w->g);

	if (!vpr_capture_close(w->o) && code == VPR_OK)
		code = VPR_FAILED;
	if (!vpr_decisions_close(w->o) && code == VPR_OK)
		code = VPR_FAILED;
	if (!vpr_timeline_close(w->o) && code == VPR_OK)
		code = VPR_FAILED;
	if (leaked != 0) {
		fprintf(stderr, "vp-run: %llu buffers or sessions were not given back, or messages were on a wrong "
			"virtual processor\n", (unsigned long long)leaked);
		code = code == VPR_OK ? VPR_LEAK : code;
	}
	return code;
}

static int work(struct work *w)
{
	int code = load(w);

	xk_spec_print_errors(stderr, w->s, w->warnings, "warning");
	if (code != VPR_OK)
		return code;
	if (w->o->check_only) {
		printf("%s: graph \"%s\" is good: %u nodes\n", w->o->file, xk_spec_name(w->s), xk_spec_nodes(w->s));
		return VPR_OK;
	}
	code = bring_up(w);
	if (code == VPR_OK)
		code = open_control(w);
	if (code == VPR_OK)
		code = vpr_record_open(w->o, w->g, w->e);
	if (code == VPR_OK)
		code = vpr_confine(w->o, w->ctl != NULL ? ctl_path(w->ctl) : NULL, w->e);
	if (code == VPR_OK)
		code = vpr_timeline_start(w->o, w->e);
	if (code == VPR_OK)
		code = run(w);
	ctl_free(w->ctl);
	if (w->anew_fd > 0)
		close(w->anew_fd);
	return take_down(w, code);
}

/* From here on a signal is a stop in order. */
static void open_signals(struct vpr *o)
{
	o->stop_fd = catch_signals(SIGINT, SIGTERM);
	o->ask_fd = catch_signals(SIGUSR1, 0);
}

/* VPR_RANK: this process runs the graph; else it is done. */
static int ranks(struct vpr *o)
{
	int code = VPR_RANK;

	if (o->stop_fd < 0 || o->ask_fd < 0)
		return code;
	if (o->join)
		code = vpr_join(o);
	else if (o->agent != NULL)
		code = vpr_agent(o);
	else if (o->ranks != 0 || o->hosts != NULL)
		code = vpr_ranks(o);
	else
		return code;
	if (code != VPR_RANK)
		return code;
	close(o->stop_fd);
	close(o->ask_fd);
	open_signals(o);
	return VPR_RANK;
}

static int work_alone(struct work *w)
{
	int code;

	if (w->o->stop_fd < 0 || w->o->ask_fd < 0 || w->e == NULL || w->warnings == NULL) {
		fprintf(stderr, "vp-run: cannot start: %s\n", strerror(errno));
		return VPR_FAILED;
	}
	vpr_be_prompt();
	xk_rcu_register();
	code = work(w);
	xk_rcu_unregister();
	xk_spec_print_errors(stderr, w->s, w->e, NULL);
	return code;
}

static void close_signals(const struct vpr *o)
{
	if (o->stop_fd >= 0)
		close(o->stop_fd);
	if (o->ask_fd >= 0)
		close(o->ask_fd);
}

int main(int argc, char **argv)
{
	struct vpr o = { .stop_fd = -1, .ask_fd = -1 };
	struct work w = { .o = &o };
	int code;

	if (!xk_variant_run("vp-run", argv))
		return 2;
	xk_json_start(NULL, 0);
	/* First of all in the program that stays. */
	open_signals(&o);
	vpr_options(&o, argc, argv);
	xk_plugins_find("vp-run");
	code = ranks(&o);
	if (code != VPR_RANK) {
		free(o.peers);
		close_signals(&o);
		return code;
	}
	w.e = xk_errs_new();
	w.warnings = xk_errs_new();
	code = work_alone(&w);
	xk_spec_free(w.s);
	xk_ledger_free(o.ledger);
	xk_errs_free(w.e);
	xk_errs_free(w.warnings);
	free(o.peers);
	close_signals(&o);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		fprintf(stderr, "vp-run: cannot write the output\n");
		code = code ? code : VPR_FAILED;
	}
	return code;
}
