/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpr_options.c - the command line of vp-run.
 */
#include "tools/vp-run/vpr.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/compose/xk_ledger.h"
#include "runtime/compose/xk_plugins.h"
#include "runtime/compose/xk_variant.h"
#include "tools/vp-run/build_text.h"
#include "runtime/base/xk_param_value.h"

static void print_version(FILE *f, struct argp_state *state)
{
	char runs[128];

	(void)state;
	xk_variant_text(runs, sizeof runs);
	fprintf(f, "vp-run (xkvp) 0.1.0\n%s\nruns: %s\n", XK_BUILD_TEXT, runs);
}

void (*argp_program_version_hook)(FILE *, struct argp_state *) = print_version;

static const char doc[] =
	"Runs the graph of FILE; k=v gives one of its arguments (vp-graph inspect FILE).\n"
	"\v"
	"Exit: 0 good, 1 failed, 2 usage, 3 bad graph, 4 privilege, 5 leaks, 6 cut off.";

enum { OPT_STATS = 256, OPT_CAPTURE, OPT_LOG, OPT_CHECK, OPT_CPUS, OPT_SEED, OPT_VIRTUAL, OPT_UNSAFE, OPT_WARMUP,
       OPT_VPS, OPT_CONNS, OPT_FAIRNESS, OPT_FILTER, OPT_CONTROL, OPT_LAYER_TIMES, OPT_MESSAGES, OPT_WARMUP_MESSAGES,
       OPT_PROCESSORS, OPT_MACHINE, OPT_DECISIONS, OPT_KEEP, OPT_JOIN, OPT_TIMELINE, OPT_HEAT, OPT_PLUGIN,
       OPT_HOSTS, OPT_WITHIN, OPT_AGENT, OPT_UNTRUSTED, OPT_USER, OPT_RECORDING, OPT_RECORD_ON };

static const struct argp_option options[] = {
	{ "duration", 'd', "TIME", 0, "How long to measure, \"5s\" (else the graph's)", 0 },
	{ "warmup", OPT_WARMUP, "TIME", 0, "Time before that, not measured", 0 },
	{ "messages", OPT_MESSAGES, "N", 0, "Measure so many messages, not a time", 0 },
	{ "warmup-messages", OPT_WARMUP_MESSAGES, "N", 0, "Messages before that, not measured", 0 },
	{ "stats", OPT_STATS, "TIME", 0, "Print the rate every TIME to stderr", 0 },
	{ "json", 'j', NULL, 0, "Print JSON instead of a table", 0 },
	{ "vps", OPT_VPS, NULL, 0, "JSON: each virtual processor, too", 0 },
	{ "connections", OPT_CONNS, NULL, 0, "JSON: each connection, too", 0 },
	{ "fairness", OPT_FAIRNESS, "TIME", 0, "JSON: Jain fairness in windows of 1, 10, 100 TIME", 0 },
	{ "capture", OPT_CAPTURE, "NODE=FILE", 0, "Write packets below NODE to a pcap file", 0 },
	{ "filter", OPT_FILTER, "EXPR", 0, "Of the --capture before: as tcpdump has it", 0 },
	{ "control", OPT_CONTROL, "PATH", OPTION_ARG_OPTIONAL, "Serve vp-ctl at PATH, or by the graph's name", 0 },
	{ "layer-times", OPT_LAYER_TIMES, NULL, 0, "Measure per-node latency (disables batching)", 0 },
	{ "decisions", OPT_DECISIONS, "FILE", 0, "Write who was chosen to run what (schedule fifo)", 0 },
	{ "timeline", OPT_TIMELINE, "FILE", 0, "Write who ran what and when (Perfetto)", 0 },
	{ "heat", OPT_HEAT, "FILE.svg", 0, "Draw which worker ran what; in JSON, too", 0 },
	{ "recording", OPT_RECORDING, "FILE", 0, "Where a crash leaves what happened last", 0 },
	{ "record-on", OPT_RECORD_ON, "NODE.DROP", 0, "Write that at the first such drop, too", 0 },
	{ "log", OPT_LOG, "udp:5,*:2", 0, "Levels of messages, 0 to 5, by protocol or node", 0 },
	{ "cpus", OPT_CPUS, "0-3,5", 0, "Processors allowed", 0 },
	{ "seed", OPT_SEED, "N", 0, "Of all random numbers", 0 },
	{ "virtual", OPT_VIRTUAL, NULL, 0, "Run under a simulated clock: the same every time", 0 },
	{ "processors", OPT_PROCESSORS, "N", 0, "With --virtual: simulate N processors", 0 },
	{ "machine", OPT_MACHINE, "NAME", 0, "What things cost on them", 0 },
	{ "ranks", 'n', "N", 0, "Run FILE in N processes: rank=0 ... ranks=N", 0 },
	{ "hosts", OPT_HOSTS, "A:2,B|FILE", 0, "Run them on other hosts, by ssh", 0 },
	{ "within", OPT_WITHIN, "TIME", 0, "How long ranks may take to come up (30s)", 0 },
	{ "keep", OPT_KEEP, NULL, 0, "With -n, --hosts: go on when a rank fails", 0 },
	{ "join", OPT_JOIN, "ROOT:PORT", OPTION_ARG_OPTIONAL, "Be the rank that mpirun, srun say", 0 },
	{ "agent", OPT_AGENT, "RANK", OPTION_HIDDEN, NULL, 0 },
	{ "check", OPT_CHECK, NULL, 0, "Check the file and stop", 0 },
	{ "plugin", OPT_PLUGIN, "FILE", 0, "Protocols of a plug-in, too (see VP_PLUGIN_PATH)", 0 },
	{ "path", 'I', "DIR[:DIR]", 0, "More folders for include", 0 },
	{ "untrusted", OPT_UNTRUSTED, "DRIVERS", OPTION_ARG_OPTIONAL, "A stranger's FILE: names nothing of this machine", 0 },
	{ "user", OPT_USER, "NAME", 0, "Run as NAME once devices are open", 0 },
	{ "unsafe", OPT_UNSAFE, NULL, 0, "Let the file use all of Lua, without limits", 0 },
	{ 0 }
};

static void add_capture(struct vpr *o, const char *arg, struct argp_state *state)
{
	const char *eq = strchr(arg, '=');

	if (eq == NULL || eq == arg || eq[1] == '\0')
		argp_error(state, "--capture is NODE=FILE, not '%s'", arg);
	if (o->ncapture == VPR_CAPTURES)
		argp_error(state, "at most %u captures", VPR_CAPTURES);
	o->capture[o->ncapture].node = strndup(arg, (size_t)(eq - arg));
	o->capture[o->ncapture++].path = eq + 1;
}

static void add_filter(struct vpr *o, const char *arg, struct argp_state *state)
{
	struct vpr_capture *last = o->ncapture != 0 ? &o->capture[o->ncapture - 1] : NULL;

	if (last == NULL)
		argp_error(state, "--filter '%s' belongs behind the --capture that it is for", arg);
	if (last->filter != NULL)
		argp_error(state, "--capture %s has two filters: join them with 'and' or 'or'", last->node);
	last->filter = arg;
}

static void add_arg(struct vpr *o, const char *arg, struct argp_state *state)
{
	if (o->file == NULL)
		o->file = arg;
	else if (o->narg == VPR_ARGS)
		argp_error(state, "at most %u arguments", VPR_ARGS);
	else if (strchr(arg, '=') == NULL)
		argp_error(state, "'%s' is not an argument of the form name=value", arg);
	else
		o->arg[o->narg++] = arg;
}

static void set_ranks(struct vpr *o, const char *arg, struct argp_state *state)
{
	char *end;
	unsigned long n = *arg >= '0' && *arg <= '9' ? strtoul(arg, &end, 10) : 0;

	if (n == 0 || *end != '\0' || n > VPR_RANKS_MAX)
		argp_error(state, "-n must be between 1 and %u, not '%s'", VPR_RANKS_MAX, arg);
	o->ranks = (unsigned)n;
}

static void set_within(struct vpr *o, const char *arg, struct argp_state *state)
{
	union xk_pval v;
	char why[256];

	if (xk_param_parse_as(XK_P_TIME, arg, strspn(arg, "0123456789") == strlen(arg), &v, why, sizeof why) != XK_OK)
		argp_error(state, "--within %s", why);
	if (v.u < XK_MS || v.u > 3600 * XK_SEC)
		argp_error(state, "--within must be between 1ms and 1h, not '%s'", arg);
	o->within = arg;
	o->within_ms = (int64_t)(v.u / XK_MS);
}

/* What is one for all. */
static void check_ranks(const struct vpr *o, struct argp_state *state)
{
	bool ours = o->ranks != 0 || o->hosts != NULL;

	if (o->keep && !ours)
		argp_error(state, "--keep belongs to -n or --hosts");
	if (o->within != NULL && !ours && o->join_at == NULL)
		argp_error(state, "--within belongs to -n, --hosts or --join=ROOT:PORT");
	if (o->join && ours)
		argp_error(state, "--join and -n: either others start the ranks, or -n and --hosts do");
	if (ours && (o->has_control || o->ncapture != 0 || o->decisions != NULL || o->timeline != NULL || o->heat != NULL ||
		     o->recording != NULL))
		argp_error(state, "-n: ranks cannot share a file of --control, --capture, --decisions, --timeline, --heat or --recording");
	if ((o->join || ours) && o->narg > VPR_ARGS - VPR_TOLD)
		argp_error(state, "at most %u arguments", VPR_ARGS - VPR_TOLD);
}

static void check_end(struct vpr *o, struct argp_state *state)
{
	if (o->file == NULL)
		argp_error(state, "which graph file?");
	check_ranks(o, state);
	if (o->within == NULL)
		set_within(o, "30s", state);
	if (o->unsafe && o->untrusted != NULL)
		argp_error(state, "--unsafe and --untrusted: is the file yours, or a stranger's?");
	if (o->untrusted != NULL && o->heat != NULL)
		argp_error(state, "--heat: gnuplot draws it, and --untrusted starts no program");
	if (o->layer_times && o->ncapture != 0)
		argp_error(state, "--layer-times and --capture: a message would be timed while it is written to a file");
}

static error_t parse_opt(int key, char *arg, struct argp_state *state)
{
	struct vpr *o = state->input;

	switch (key) {
	case 'd': o->duration = arg; break;
	case OPT_WARMUP: o->warmup = arg; break;
	case OPT_MESSAGES: o->messages = arg; break;
	case OPT_WARMUP_MESSAGES: o->warmup_messages = arg; break;
	case OPT_STATS: o->stats = arg; break;
	case 'j': o->json = true; break;
	case OPT_VPS: o->json_vps = true; break;
	case OPT_CONNS: o->json_conns = true; break;
	case OPT_FAIRNESS: o->fairness = arg; break;
	case OPT_CAPTURE: add_capture(o, arg, state); break;
	case OPT_FILTER: add_filter(o, arg, state); break;
	case OPT_PLUGIN:
		if (!xk_plugin_ask("vp-run", arg))
			exit(VPR_USAGE);
		return 0;
	case OPT_CONTROL:
		o->has_control = true;
		o->control = arg;
		break;
	case OPT_LOG: o->log = arg; break;
	case OPT_CPUS: o->cpus = arg; break;
	case OPT_SEED: o->seed = arg; break;
	case OPT_VIRTUAL: o->is_virtual = true; break;
	case OPT_PROCESSORS: o->processors = arg; break;
	case OPT_MACHINE: o->machine = arg; break;
	case OPT_CHECK: o->check_only = true; break;
	case 'I': o->path = arg; break;
	case OPT_UNSAFE: o->unsafe = true; break;
	case OPT_UNTRUSTED: o->untrusted = arg != NULL ? arg : ""; break;
	case OPT_USER: o->user = arg; break;
	case OPT_DECISIONS: o->decisions = arg; break;
	case 'n': set_ranks(o, arg, state); break;
	case OPT_KEEP: o->keep = true; break;
	case OPT_JOIN:
		o->join = true;
		o->join_at = arg;
		break;
	case OPT_HOSTS: o->hosts = arg; break;
	case OPT_WITHIN: set_within(o, arg, state); break;
	case OPT_AGENT: o->agent = arg; break;
	case OPT_TIMELINE: o->timeline = arg; break;
	case OPT_HEAT: o->heat = arg; break;
	case OPT_RECORDING: o->recording = arg; break;
	case OPT_RECORD_ON: o->record_on = arg; break;
	case OPT_LAYER_TIMES: o->layer_times = true; break;
	case ARGP_KEY_ARG: add_arg(o, arg, state); break;
	case ARGP_KEY_END:
		check_end(o, state);
		break;
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

void vpr_options(struct vpr *o, int argc, char **argv)
{
	static const struct argp argp = { options, parse_opt, "FILE [k=v ...]", doc, NULL, NULL, NULL };
	error_t err;

	o->argc = argc;
	o->argv = argv;
	/* That a short option takes what its long one does shows without being said. */
	(void)setenv("ARGP_HELP_FMT", "no-dup-args-note", 0);
	argp_err_exit_status = VPR_USAGE;
	/* What is wrong with the options it has said, and ended the program. */
	err = argp_parse(&argp, argc, argv, 0, NULL, o);
	if (err != 0) {
		fprintf(stderr, "vp-run: the command line cannot be read: %s\n", strerror(err));
		exit(VPR_FAILED);
	}
}

/* ---- into the plan ------------------------------------------------------------------- */

static bool all_digits(const char *s)
{
	return *s != '\0' && strspn(s, "0123456789") == strlen(s);
}

static int option(enum xk_ptype type, const char *name, const char *text, union xk_pval *v, struct xk_errs *e)
{
	char why[256];
	int err = xk_param_parse_as(type, text, all_digits(text), v, why, sizeof why);

	if (err != XK_OK)
		xk_errs_add(e, NULL, 0, 0, "option --%s %s", name, why);
	return err;
}

static int whole(enum xk_ptype type, const char *name, const char *text, uint64_t *out, struct xk_errs *e)
{
	union xk_pval v;
	int err;

	if (text == NULL)
		return XK_OK;
	err = option(type, name, text, &v, e);
	if (err == XK_OK)
		*out = v.u;
	return err;
}

int vpr_time(const char *name, const char *text, xk_ns *out, struct xk_errs *e)
{
	return whole(XK_P_TIME, name, text, out, e);
}

int vpr_messages(const char *name, const char *text, uint64_t *out, struct xk_errs *e)
{
	int err = whole(XK_P_UINT, name, text, out, e);

	if (err != XK_OK || text == NULL || *out != 0)
		return err;
	xk_errs_add(e, NULL, 0, 0, "option --%s needs a message at least", name);
	return XK_E_INVAL;
}

/* What is not said is the graph's. */
static void take_clock(const struct vpr *o, struct xk_plan *p, struct xk_errs *e)
{
	const struct xk_machine *m = o->ledger != NULL ? xk_ledger_machine(o->ledger) : p->arch.machine;
	uint64_t n = p->arch.processors;

	if (o->machine != NULL && o->processors == NULL && n == 0)
		xk_errs_add(e, NULL, 0, 0, "option --machine needs --processors: how many of them?");
	if (o->processors != NULL && !o->is_virtual && !p->is_virtual) {
		xk_errs_add(e, NULL, 0, 0, "option --processors simulates them: it needs --virtual, "
			    "or clock = \"virtual\" in the graph");
		return;
	}
	if (o->processors != NULL && whole(XK_P_UINT, "processors", o->processors, &n, e) != XK_OK)
		return;
	if (o->processors != NULL && (n == 0 || n > XK_SIM_PROCESSORS)) {
		xk_errs_add(e, NULL, 0, 0, "option --processors must be between 1 and %u, not %s", XK_SIM_PROCESSORS,
			    o->processors);
		return;
	}
	if (o->is_virtual || o->processors != NULL || o->ledger != NULL)
		xk_plan_simulate(p, (unsigned)n, m);
	/* The graph may have said so, too. */
	if (o->has_control && p->arch.processors != 0 && p->arch.schedule != XK_SCHED_VIRTUAL)
		xk_errs_add(e, NULL, 0, 0, "option --control: nobody else may enter a graph while its processors are simulated");
}

int vpr_apply(const struct vpr *o, struct xk_plan *p, struct xk_errs *e)
{
	unsigned before = xk_errs_count(e);
	union xk_pval v;

	if (o->messages != NULL)
		p->duration = 0;
	if (o->warmup_messages != NULL)
		p->warmup = 0;
	vpr_time("duration", o->duration, &p->duration, e);
	vpr_time("warmup", o->warmup, &p->warmup, e);
	if (o->cpus != NULL && option(XK_P_CPUS, "cpus", o->cpus, &v, e) == XK_OK)
		p->arch.cpus = v.u;
	if (o->seed != NULL && option(XK_P_UINT, "seed", o->seed, &v, e) == XK_OK) {
		p->seed = v.u;
		p->seed_given = true;
	}
	p->mem.shared = o->has_control;
	take_clock(o, p, e);
	if (xk_errs_count(e) == before)
		xk_plan_check(p, e);
	return xk_errs_count(e) == before ? XK_OK : XK_E_INVAL;
}

int vpr_log(const struct vpr *o, struct xk_graph *g, struct xk_errs *e)
{
	for (unsigned i = 0; o->log != NULL && i < g->nnodes; i++) {
		struct xk_node *n = g->node[i];
		int by_proto = n->log.level, by_name, err;
		const char *bad;

		err = xk_log_parse(o->log, n->proto->name, &by_proto, &bad);
		if (err == XK_OK)
			err = xk_log_parse(o->log, n->name, &by_name, &bad);
		if (err != XK_OK) {
			xk_errs_add(e, NULL, 0, 0, "option --log: '%s' is not name:level, as in udp:5,*:2", bad);
			return err;
		}
		/* A node's own name says more than its protocol's. */
		xk_log_set(&n->log, by_name != XK_LOG_DEFAULT ? by_name : by_proto);
	}
	return XK_OK;
}
