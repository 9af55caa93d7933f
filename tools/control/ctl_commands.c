/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ctl_commands.c - the table of commands, with the schema of each one's arguments.
 */
#include "tools/control/ctl_priv.h"

#include <stdlib.h>

static const char *const shows[] = { CTL_SHOWS, NULL };

static const struct xk_param show_args[] = {
	CTL_ARG(XK_P_ENUM, what, "what to show", .choices = shows, .flags = XK_PF_REQUIRED),
	CTL_ARG(XK_P_TEXT, node, "sessions, connections: of this node only"),
	CTL_ARG(XK_P_UINT, limit, "sessions, connections: at most so many", .def = "100", .min = "1", .max = "10000"),
	CTL_ARG(XK_P_TEXT, cursor, "sessions, connections: go on where the last answer's \"cursor\" says"),
	XK_PARAM_END
};
static const struct xk_param counters_args[] = {
	CTL_ARG(XK_P_BOOL, per_vp, "each virtual processor of each node", .def = "false"),
	XK_PARAM_END
};

int ctl_cmd_metrics(struct ctl_call *k)
{
	size_t n;
	char *text = ctl_metrics(k->c->view, k->a.per_vp, &n);

	if (text == NULL)
		return ctl_fail(k, "no-memory", "out of memory");
	k->result = json_pack("{s:s, s:s}", "content_type", "text/plain; version=0.0.4", "text", text);
	free(text);
	return k->result != NULL ? XK_OK : ctl_fail(k, "failed", "a name in the graph is not UTF-8");
}

int ctl_cmd_snapshot(struct ctl_call *k)
{
	k->result = ctl_snapshot(k->c->view, k->a.per_vp);
	return XK_OK;
}

const struct ctl_command ctl_commands[] = {
	{ "describe", "these commands, with their arguments", NULL, false, ctl_cmd_describe },
	{ "help", "the same", NULL, false, ctl_cmd_describe },
	{ "show", "what is there: graph, runtime, vps, sessions, ...", show_args, false, ctl_cmd_show },
	{ "metrics", "all counters as Prometheus text", counters_args, false, ctl_cmd_metrics },
	{ "snapshot", "all counters as one document", counters_args, false, ctl_cmd_snapshot },
	{ "counters", "a descriptor of the memory that the counters are in, to read them without asking", NULL, false,
	  ctl_cmd_counters },
	{ NULL, NULL, NULL, false, NULL }
};
