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

#include <stdlib.h>
#include <string.h>

#include "runtime/base/xk_param_value.h"

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
