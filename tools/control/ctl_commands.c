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
static const struct xk_param get_args[] = {
	CTL_ARG(XK_P_TEXT, node, "all of this node's, or of \"threading\"; without it what may be set anywhere"),
	CTL_ARG(XK_P_TEXT, param, "this one only"),
	XK_PARAM_END
};
static const struct xk_param set_args[] = {
	CTL_ARG(XK_P_TEXT, node, "a node, or \"threading\"", .flags = XK_PF_REQUIRED),
	CTL_ARG(XK_P_TEXT, param, "a parameter that may change while the graph runs", .flags = XK_PF_REQUIRED),
	CTL_ARG(XK_P_TEXT, value, "as in a graph file", .flags = XK_PF_REQUIRED),
	XK_PARAM_END
};
static const struct xk_param trace_args[] = {
	CTL_ARG(XK_P_TEXT, node, "from this node on", .flags = XK_PF_REQUIRED),
	CTL_ARG(XK_P_UINT, count, "so many messages", .def = "10", .min = "1", .max = "1000000"),
	CTL_ARG(XK_P_TIME, time, "no longer than this", .def = "10s", .max = "24h"),
	XK_PARAM_END
};
static const struct xk_param capture_args[] = {
	CTL_ARG(XK_P_TEXT, node, "what passes below this node", .flags = XK_PF_REQUIRED),
	CTL_ARG(XK_P_TEXT, file, "a pcap file to write", .flags = XK_PF_REQUIRED),
	CTL_ARG(XK_P_UINT, count, "so many frames", .def = "1000000", .min = "1"),
	CTL_ARG(XK_P_TIME, time, "no longer than this", .def = "10s", .max = "24h"),
	XK_PARAM_END
};
static const struct xk_param inject_args[] = {
	CTL_ARG(XK_P_TEXT, node, "a driver", .flags = XK_PF_REQUIRED),
	CTL_ARG(XK_P_TEXT, file, "a pcap file to read", .flags = XK_PF_REQUIRED),
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
	{ "get", "parameters, with what they are now", get_args, false, ctl_cmd_get },
	{ "set", "changes a parameter, in every virtual processor or in none", set_args, false, ctl_cmd_set },
	{ "trace", "the way of the next messages through a node and beyond, with decoded headers", trace_args, true,
	  ctl_cmd_trace },
	{ "capture", "what passes below a node, to a file", capture_args, true, ctl_cmd_capture },
	{ "inject", "the frames of a file come in at a driver", inject_args, true, ctl_cmd_inject },
	{ "metrics", "all counters as Prometheus text", counters_args, false, ctl_cmd_metrics },
	{ "snapshot", "all counters as one document", counters_args, false, ctl_cmd_snapshot },
	{ "counters", "a descriptor of the memory that the counters are in, to read them without asking", NULL, false,
	  ctl_cmd_counters },
	{ NULL, NULL, NULL, false, NULL }
};
