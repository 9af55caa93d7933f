/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ctl_request.c - a request: one line of JSON, one command, its arguments.
 *
 *   {"id": 1, "cmd": "sessions", "node": "ip", "limit": 10}
 *   {"id": 1, "ok": true, "result": {...}}
 *   {"id": 1, "ok": false, "error": {"code": "unknown-node", "message": "..."}}
 *
 * Arguments have the types and limits of graph files' parameters, from the same schemas, so
 * `describe` says all there is to know and a wrong value gets the same sentence.
 */
#include "tools/control/ctl_priv.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/xk_param_value.h"
#include "runtime/run/xk_json.h"

int ctl_fail(struct ctl_call *k, const char *code, const char *fmt, ...)
{
	va_list ap;

	k->code = code;
	va_start(ap, fmt);
	vsnprintf(k->why, sizeof k->why, fmt, ap);
	va_end(ap);
	return XK_E_INVAL;
}

struct xk_node *ctl_node(struct ctl_call *k, const char *name)
{
	struct xk_node *n = xk_graph_find(k->c->g, name);
	const char **words, *near = NULL;

	if (n != NULL)
		return n;
	words = xk_alloc(k->c->g->nnodes * sizeof *words + 1);
	for (unsigned i = 0; words != NULL && i < k->c->g->nnodes; i++)
		words[i] = k->c->g->node[i]->name;
	if (words != NULL)
		near = xk_errs_suggest(name, words, k->c->g->nnodes);
	ctl_fail(k, "unknown-node", "the graph has no node '%.64s'%s%s%s", name, near ? "; did you mean '" : "",
		 near ? near : "", near ? "'?" : "");
	xk_free(words);
	return NULL;
}

/* ---- answers --------------------------------------------------------------------------- */

/* No memory is asked for. */
static void too_little_memory(struct ctl_client *cl)
{
	static const char text[] = "{\"ok\":false,\"error\":{\"code\":\"no-memory\",\"message\":\"out of memory\"}}\n";

	ctl_client_put(cl, text, sizeof text - 1);
	cl->closing = true;
	if (cl->job != NULL)
		cl->job->until = 0;
}

/* A line is whole, or the client hears that it is not and is let go: what was lost since the last line is of this one. */
static void send_line(struct ctl *c, struct ctl_client *cl, json_t *j)
{
	char *text = j != NULL ? json_dumps(j, JSON_COMPACT) : NULL;
	uint64_t lost = xk_json_lost();
	bool whole = text != NULL && lost == c->lost;

	json_decref(j);
	c->lost = lost;
	if (whole) {
		ctl_client_put(cl, text, strlen(text));
		ctl_client_put(cl, "\n", 1);
	} else {
		too_little_memory(cl);
	}
	free(text);
}

static json_t *answer(json_t *id)
{
	json_t *j = json_object();

	if (id != NULL)
		json_object_set(j, "id", id);
	return j;
}

void ctl_answer(struct ctl *c, struct ctl_client *cl, json_t *id, json_t *result)
{
	json_t *j = answer(id);

	json_object_set_new(j, "ok", json_true());
	json_object_set_new(j, "result", result != NULL ? result : json_object());
	send_line(c, cl, j);
}

void ctl_answer_error(struct ctl *c, struct ctl_client *cl, json_t *id, const char *code, const char *why)
{
	json_t *j = answer(id), *e = json_object(), *text = json_string(why);

	json_object_set_new(j, "ok", json_false());
	json_object_set_new(e, "code", json_string(code));
	json_object_set_new(e, "message", text != NULL ? text : json_string("the request is not UTF-8"));
	json_object_set_new(j, "error", e);
	send_line(c, cl, j);
}

void ctl_event(struct ctl *c, struct ctl_client *cl, json_t *id, json_t *event)
{
	json_t *j = answer(id);

	json_object_set_new(j, "event", event);
	send_line(c, cl, j);
}

/* ---- arguments -------------------------------------------------------------------------- */

/* A scalar as it would be written; NULL: it is none. */
static const char *scalar_text(const json_t *v, char *buf, size_t n, bool *bare)
{
	*bare = true;
	if (json_is_integer(v))
		snprintf(buf, n, "%lld", (long long)json_integer_value(v));
	else if (json_is_real(v))
		snprintf(buf, n, "%.17g", json_real_value(v));
	else if (json_is_boolean(v))
		snprintf(buf, n, "%s", json_is_true(v) ? "true" : "false");
	else {
		*bare = false;
		return json_is_string(v) && strlen(json_string_value(v)) == json_string_length(v) ? json_string_value(v) : NULL;
	}
	return buf;
}

static const char *nearest_arg(const struct xk_param *schema, const char *name)
{
	const char *words[16];
	unsigned n = 0;

	for (; schema != NULL && schema[n].name != NULL && n < XK_ARRAY_LEN(words); n++)
		words[n] = schema[n].name;
	return xk_errs_suggest(name, words, n);
}

static int unknown_arg(struct ctl_call *k, const char *name)
{
	const char *near = nearest_arg(k->cmd->args, name);

	return ctl_fail(k, "unknown-argument", "'%s' takes no '%.64s'%s%s%s", k->cmd->name, name,
			near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static int read_arg(struct ctl_call *k, const char *name, const json_t *v)
{
	const struct xk_param *p = k->cmd->args ? xk_param_find(k->cmd->args, name) : NULL;
	char buf[64], why[256];
	const char *text;
	bool bare;

	if (p == NULL)
		return unknown_arg(k, name);
	text = scalar_text(v, buf, sizeof buf, &bare);
	if (text == NULL)
		return ctl_fail(k, "bad-argument", "'%s' is one value of type %s", name, xk_param_type_name(p->type));
	/* A text of digits, as command lines give them, counts as a number. */
	bare = bare || (*text != '\0' && strspn(text, "0123456789") == strlen(text));
	if (xk_param_set(p, &k->a, text, bare, why, sizeof why) != XK_OK)
		return ctl_fail(k, "bad-argument", "'%s' %s", name, why);
	return XK_OK;
}

static int read_args(struct ctl_call *k, json_t *req)
{
	const struct xk_param *p = k->cmd->args;
	char why[256];
	const char *name;
	json_t *v;
	int err;

	if (p != NULL && xk_param_defaults(p, &k->a, why, sizeof why) != XK_OK)
		return ctl_fail(k, "no-memory", "out of memory");
	json_object_foreach(req, name, v) {
		if (strcmp(name, "cmd") == 0 || strcmp(name, "id") == 0)
			continue;
		err = read_arg(k, name, v);
		if (err != XK_OK)
			return err;
	}
	for (; p != NULL && p->name != NULL; p++)
		if ((p->flags & XK_PF_REQUIRED) && json_object_get(req, p->name) == NULL)
			return ctl_fail(k, "missing-argument", "'%s' needs '%s': %s", k->cmd->name, p->name, p->doc);
	return XK_OK;
}

/* ---- dispatch ------------------------------------------------------------------------------- */

static const struct ctl_command *command_find(const char *name)
{
	for (const struct ctl_command *cmd = ctl_commands; cmd->name != NULL; cmd++)
		if (strcmp(cmd->name, name) == 0)
			return cmd;
	return NULL;
}

static int find_command(struct ctl_call *k, json_t *req)
{
	const char *name = json_string_value(json_object_get(req, "cmd")), *words[32], *near;
	unsigned n = 0;

	if (name == NULL)
		return ctl_fail(k, "no-command", "a request is an object with \"cmd\": try {\"cmd\":\"describe\"}");
	k->cmd = command_find(name);
	if (k->cmd != NULL)
		return XK_OK;
	for (; ctl_commands[n].name != NULL && n < XK_ARRAY_LEN(words); n++)
		words[n] = ctl_commands[n].name;
	near = xk_errs_suggest(name, words, n);
	return ctl_fail(k, "unknown-command", "there is no command '%.64s'%s%s%s", name, near ? "; did you mean '" : "",
			near ? near : "; 'describe' lists them", near ? "'?" : "");
}

static int run(struct ctl_call *k, json_t *req)
{
	int err;

	if (!json_is_object(req))
		return ctl_fail(k, "syntax", "a request is one object");
	k->id = json_object_get(req, "id");
	if (k->id != NULL && !json_is_string(k->id) && !json_is_integer(k->id)) {
		k->id = NULL;
		return ctl_fail(k, "bad-id", "\"id\" is a string or a whole number");
	}
	err = find_command(k, req);
	if (err == XK_OK)
		err = read_args(k, req);
	return err == XK_OK ? k->cmd->run(k) : err;
}

void ctl_request(struct ctl *c, struct ctl_client *cl, const char *line, size_t n)
{
	struct ctl_call k = { .c = c, .client = cl, .code = "failed", .why = "it failed" };
	json_error_t bad;
	json_t *req;
	int err;

	if (n == strspn(line, " \t\r") || (n != 0 && line[n - 1] == '\r' && strspn(line, " \t\r") >= n))
		return;                  /* an empty line asks nothing */
	req = json_loadb(line, n, JSON_REJECT_DUPLICATES, &bad);
	if (req == NULL)
		err = ctl_fail(&k, "syntax", "not JSON, at byte %d: %s", bad.position, bad.text);
	else
		err = run(&k, req);
	if (err != XK_OK) {
		json_decref(k.result);
		ctl_answer_error(c, cl, k.id, k.code, k.why);
	} else if (k.job != NULL) {
		k.job->client = cl;
		k.job->id = json_incref(k.id);
		cl->job = k.job;
	} else {
		ctl_answer(c, cl, k.id, k.result);
	}
	if (k.cmd != NULL && k.cmd->args != NULL)
		xk_param_release(k.cmd->args, &k.a);
	json_decref(req);
}

/* ---- the list of commands ----------------------------------------------------------------------- */

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

int ctl_cmd_describe(struct ctl_call *k)
{
	json_t *list = json_array();

	for (const struct ctl_command *cmd = ctl_commands; cmd->name != NULL; cmd++)
		json_array_append_new(list, describe_command(cmd));
	k->result = json_pack("{s:s, s:i, s:s, s:o}", "protocol", "xkvp-control", "version", 1, "graph", k->c->g->name,
			      "commands", list);
	return k->result != NULL ? XK_OK : ctl_fail(k, "no-memory", "out of memory");
}
