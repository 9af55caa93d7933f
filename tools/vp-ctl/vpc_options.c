/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpc_options.c - the command line of vp-ctl.
 */
#include "tools/vp-ctl/vpc.h"

#include <argp.h>
#include <string.h>

#include "runtime/base/xk_param_value.h"

const char *argp_program_version = "vp-ctl (xkvp) 0.1.0";

static const char doc[] =
	"Looks at a graph that vp-run --control runs, and changes what may be changed.\n"
	"\v"
	"Commands:\n"
	"  show WHAT [NODE]          graph, runtime, params, vps, sessions, locks,\n"
	"                            classifiers, connections, affinity, times\n"
	"  get [NODE [PARAM]], set NODE PARAM VALUE        live parameters\n"
	"  apply FILE                what the file says and the graph is not, under traffic (--dry-run)\n"
	"  trace NODE [N]            the way of the next N messages\n"
	"  capture NODE FILE [N]     packets below NODE, as a pcap file\n"
	"  inject NODE FILE          frames of a pcap file come in at a driver\n"
	"  top [vps|nodes|connections], metrics, snapshot  counters\n"
	"  export [PORT]             metrics over HTTP at 127.0.0.1, for a scraper\n"
	"  web                       a page for a browser: rates, parameters, ladders\n"
	"  dot                       a drawing of the graph, with rates\n"
	"  record [FILE]             what happened last, shown or kept\n"
	"  recording FILE [trace|pcapng CAPTURE]  such a file, or a crash's: text, for Perfetto,\n"
	"                            or in comments of a capture's frames\n"
	"  reset, stop               measuring begins anew; the run ends in order\n"
	"  list, help, raw JSON      running graphs; all commands; one request\n"
	"\n"
	"Exit codes: 0 good, 1 refused or failed, 2 wrong usage, 3 no graph answers.";

enum { OPT_WAIT = 256, OPT_TIMEOUT, OPT_PER_VP, OPT_LADDER, OPT_DRY_RUN, OPT_PORT };

static const struct argp_option options[] = {
	{ "socket", 's', "PATH", 0, "Where the graph listens (default: $VP_CONTROL, or the only one that runs)", 0 },
	{ "json", 'j', NULL, 0, "Print answers as JSON", 0 },
	{ "wait", OPT_WAIT, "TIME", 0, "Wait so long for the graph to listen", 0 },
	{ "timeout", OPT_TIMEOUT, "TIME", 0, "For an answer (default: 10s)", 0 },
	{ "count", 'n', "N", 0, "top: so many tables", 0 },
	{ "delay", 'd', "TIME", 0, "top, dot: time between two looks (default: 1s)", 0 },
	{ "dry-run", OPT_DRY_RUN, NULL, 0, "apply: tell the difference and whether it can be made", 0 },
	{ "port", OPT_PORT, "N", 0, "web, export: port of 127.0.0.1; 0: any that is free (web), 9464 (export) unless told", 0 },
	{ "per-vp", OPT_PER_VP, NULL, 0, "metrics, export, snapshot: each virtual processor of each node", 0 },
	{ "ladder", OPT_LADDER, "html", OPTION_ARG_OPTIONAL, "trace: message by message, a step down a step to the right; =html: "
	  "as a page for a browser", 0 },
	{ 0 }
};

static uint64_t value(enum xk_ptype type, const char *name, const char *text, struct argp_state *state)
{
	union xk_pval v;
	char why[256];

	if (xk_param_parse_as(type, text, *text != '\0' && strspn(text, "0123456789") == strlen(text), &v, why,
			      sizeof why) != XK_OK)
		argp_error(state, "option --%s %s", name, why);
	return v.u;
}

static error_t parse_opt(int key, char *arg, struct argp_state *state)
{
	struct vpc *o = state->input;

	switch (key) {
	case 's': o->socket = arg; break;
	case 'j': o->json = true; break;
	case 'n': o->count = value(XK_P_UINT, "count", arg, state); break;
	case 'd': o->delay = value(XK_P_TIME, "delay", arg, state); break;
	case OPT_WAIT: o->wait = value(XK_P_TIME, "wait", arg, state); break;
	case OPT_TIMEOUT: o->timeout = value(XK_P_TIME, "timeout", arg, state); break;
	case OPT_PER_VP: o->per_vp = true; break;
	case OPT_PORT: o->port = arg; break;
	case OPT_LADDER:
		o->ladder = true;
		o->page = arg != NULL;
		if (arg != NULL && strcmp(arg, "html") != 0)
			argp_error(state, "option --ladder is drawn as html, not as '%s'", arg);
		break;
	case OPT_DRY_RUN: o->dry_run = true; break;
	case ARGP_KEY_ARG:
		if (o->nwords == VPC_WORDS)
			argp_error(state, "at most %u words", VPC_WORDS);
		o->word[o->nwords++] = arg;
		break;
	case ARGP_KEY_END:
		if (o->nwords == 0)
			argp_error(state, "which command?");
		break;
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

void vpc_options(struct vpc *o, int argc, char **argv)
{
	static const struct argp argp = { options, parse_opt, "COMMAND [ARG ...]", doc, NULL, NULL, NULL };

	int err;

	argp_err_exit_status = VPC_USAGE;
	err = argp_parse(&argp, argc, argv, 0, NULL, o);
	if (err != 0) {
		fprintf(stderr, "vp-ctl: the command line cannot be read: %s\n", strerror(err));
		exit(VPC_REFUSED);
	}
	if (o->delay == 0)
		o->delay = XK_MS;
}
