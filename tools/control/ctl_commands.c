/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ctl_commands.c - the table of commands, with the schema of each one's arguments, and what
 * `describe` says of it.
 */
#include "tools/control/ctl_priv.h"

#include <stdlib.h>

#include "runtime/base/xk_param_value.h"

static const char *const shows[] = { CTL_SHOWS, NULL };

static const struct xk_param show_args[] = {
	CTL_ARG(XK_P_ENUM, what, "what to show", .choices = shows, .flags = XK_PF_REQUIRED),
	CTL_ARG(XK_P_TEXT, node, "sessions, connections, params: of this node only"),
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
static const struct xk_param apply_args[] = {
	CTL_ARG(XK_P_TEXT, file, "a graph file: the graph as it is to be", .flags = XK_PF_REQUIRED),
	CTL_ARG(XK_P_TEXT, args, "arguments of the file, with blanks between"),
	CTL_ARG(XK_P_TEXT, plugin, "a plug-in to load first, new, or a newer version of one, in a file of another name"),
	CTL_ARG(XK_P_BOOL, dry_run, "tell the difference and whether it can be made, and make none of it", .def = "false"),
	XK_PARAM_END
};
static const struct xk_param trace_args[] = {
	CTL_ARG(XK_P_TEXT, node, "from this node on", .flags = XK_PF_REQUIRED),
	CTL_ARG(XK_P_UINT, count, "so many messages", .def = "10", .min = "1", .max = "1000000"),
	CTL_ARG(XK_P_TIME, time, "no longer than this", .def = "10s", .max = "24h"),
	XK_PARAM_END
};
static const struct xk_param capture_args[] = {
	CTL_ARG(XK_P_TEXT, node, "packets between this node and its lower layer", .flags = XK_PF_REQUIRED),
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
	const struct ctl_view *v = ctl_dir_view(k);
	size_t n;
	char *text = v != NULL ? ctl_metrics(v, k->a.per_vp, &n) : NULL;

	if (text == NULL)
		return ctl_fail(k, "no-memory", "out of memory");
	k->result = json_pack("{s:s, s:s}", "content_type", "text/plain; version=0.0.4", "text", text);
	free(text);
	return k->result != NULL ? XK_OK : ctl_fail(k, "failed", "a name in the graph is not UTF-8");
}

static int stop(struct ctl_call *k)
{
	if (k->c->run.end == NULL || k->c->to_end)
		return ctl_fail(k, "refused", "the graph is ending already, or its program does not let it end from here");
	k->c->to_end = true;
	k->result = json_object();
	return XK_OK;
}

/* Counters have one writer each and stay as they are: what the run shows is a difference. */
static int reset(struct ctl_call *k)
{
	if (k->c->run.anew == NULL)
		return ctl_fail(k, "refused", "the graph's program does not let measuring begin anew");
	k->c->run.anew(k->c->run.arg);
	k->result = json_object();
	return XK_OK;
}

int ctl_cmd_snapshot(struct ctl_call *k)
{
	const struct ctl_view *v = ctl_dir_view(k);

	if (v == NULL)
		return XK_E_NOMEM;
	k->result = ctl_snapshot(v, k->a.per_vp);
	return XK_OK;
}

static void set_text(json_t *o, const char *key, const char *text)
{
	if (text != NULL)
		json_object_set_new(o, key, json_string(text));
}

static json_t *describe_arg(const struct xk_param *p)
{
	json_t *o = json_object(), *words;

	set_text(o, "name", p->name);
	set_text(o, "type", xk_param_type_name(p->type));
	set_text(o, "doc", p->doc);
	set_text(o, "default", p->def);
	set_text(o, "min", p->min);
	set_text(o, "max", p->max);
	json_object_set_new(o, "required", json_boolean(p->flags & XK_PF_REQUIRED));
	if (p->choices == NULL)
		return o;
	words = json_array();
	for (unsigned i = 0; p->choices[i] != NULL; i++)
		json_array_append_new(words, json_string(p->choices[i]));
	json_object_set_new(o, "choices", words);
	return o;
}

static json_t *describe_command(const struct ctl_command *cmd)
{
	json_t *o = json_object(), *args = json_array();

	set_text(o, "name", cmd->name);
	set_text(o, "doc", cmd->doc);
	json_object_set_new(o, "streams", json_boolean(cmd->streams));
	for (const struct xk_param *p = cmd->args; p != NULL && p->name != NULL; p++)
		json_array_append_new(args, describe_arg(p));
	json_object_set_new(o, "arguments", args);
	return o;
}

static int describe(struct ctl_call *k)
{
	json_t *list = json_array();

	for (const struct ctl_command *cmd = ctl_commands; cmd->name != NULL; cmd++)
		json_array_append_new(list, describe_command(cmd));
	k->result = json_pack("{s:s, s:i, s:s, s:o}", "protocol", "xkvp-control", "version", 1, "graph", k->c->g->name,
			      "commands", list);
	return k->result != NULL ? XK_OK : ctl_fail(k, "no-memory", "out of memory");
}

const struct ctl_command ctl_commands[] = {
	{ "describe", "these commands, with their arguments", NULL, false, describe },
	{ "help", "the same", NULL, false, describe },
	{ "show", "what is there: graph, runtime, vps, sessions, ...", show_args, false, ctl_cmd_show },
	{ "get", "parameters, with what they are now", get_args, false, ctl_cmd_get },
	{ "set", "changes a parameter, in every virtual processor or in none", set_args, false, ctl_cmd_set },
	{ "apply", "what a graph file says and the graph is not: told, and made under traffic, or none of it", apply_args, false,
	  ctl_cmd_apply },
	{ "trace", "the way of the next messages through a node and beyond, with decoded headers", trace_args, true,
	  ctl_cmd_trace },
	{ "capture", "packets between a node and its lower layer, to a pcap file", capture_args, true, ctl_cmd_capture },
	{ "inject", "the frames of a file come in at a driver", inject_args, true, ctl_cmd_inject },
	{ "reset", "measuring begins anew: the run's table is of the time from here on", NULL, false, reset },
	{ "stop", "lets the run end in order, as SIGINT does", NULL, false, stop },
	{ "metrics", "all counters as Prometheus text", counters_args, false, ctl_cmd_metrics },
	{ "snapshot", "all counters as one document", counters_args, false, ctl_cmd_snapshot },
	{ "counters", "a descriptor of the memory that the counters are in, to read them without asking", NULL, false,
	  ctl_cmd_counters },
	{ "record", "what happened last: a descriptor of a recording of all flight recorders", NULL, false, ctl_cmd_record },
	{ NULL, NULL, NULL, false, NULL }
};
