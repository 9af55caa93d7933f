/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_ctl.c - vp-ctl: looks at a running graph and changes what may be changed.
 *
 * The running side says what it can do (describe), so this one knows commands and arguments
 * only from there; top, dot, metrics, export, web and snapshot are made here, from counters in shared memory, and
 * recordings are read here.
 */
#include "tools/vp-ctl/vpc.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/run/xk_json.h"

static int usage(const char *fmt, const char *word)
{
	fprintf(stderr, "vp-ctl: ");
	fprintf(stderr, fmt, word);
	fprintf(stderr, "\nTry 'vp-ctl help' beside a running graph, or 'vp-ctl --help'.\n");
	return VPC_USAGE;
}

/* ---- any command, by its description --------------------------------------------------- */

static json_t *find_command(const json_t *described, const char *name)
{
	json_t *list = json_object_get(described, "commands"), *cmd;
	size_t i;

	json_array_foreach(list, i, cmd)
		if (strcmp(json_string_value(json_object_get(cmd, "name")), name) == 0)
			return cmd;
	return NULL;
}

static const char *arg_name(const json_t *args, size_t i)
{
	return json_string_value(json_object_get(json_array_get(args, i), "name"));
}

/* The argument that "name=value" names, or -1. */
static long named_arg(const json_t *args, const char *word)
{
	const char *eq = strchr(word, '=');

	for (size_t i = 0; eq != NULL && i < json_array_size(args); i++)
		if (strlen(arg_name(args, i)) == (size_t)(eq - word) && strncmp(arg_name(args, i), word, (size_t)(eq - word)) == 0)
			return (long)i;
	return -1;
}

/* Files are opened by the other side, which is somewhere else. */
static json_t *arg_value(const char *name, const char *value)
{
	char here[4096], path[8192];

	if ((strcmp(name, "file") != 0 && strcmp(name, "plugin") != 0) || value[0] == '/' || getcwd(here, sizeof here) == NULL)
		return json_string(value);
	snprintf(path, sizeof path, "%s/%s", here, value);
	return json_string(path);
}

/* Words by name, or by place among those not given yet. */
static int fill(const struct vpc *o, json_t *req, const json_t *args)
{
	size_t at = 0;

	for (unsigned i = 1; i < o->nwords; i++) {
		long k = named_arg(args, o->word[i]);
		const char *value = o->word[i];

		if (k >= 0) {
			value = strchr(value, '=') + 1;
		} else {
			while (at < json_array_size(args) && json_object_get(req, arg_name(args, at)) != NULL)
				at++;
			if (at == json_array_size(args))
				return usage("'%s' is an argument too many", value);
			k = (long)at;
		}
		if (json_object_set_new(req, arg_name(args, (size_t)k), arg_value(arg_name(args, (size_t)k), value)) != 0)
			return usage("'%s' is not UTF-8", "an argument");
	}
	return VPC_OK;
}

static int print_result(const struct vpc *o, const json_t *answer)
{
	const json_t *result = json_object_get(answer, "result");

	if (o->json) {
		json_dumpf(result, stdout, JSON_INDENT(2));
		putchar('\n');
	} else {
		vpc_show(stdout, result);
	}
	return VPC_OK;
}

/* An event: printed, or, for a ladder, kept.  false: out of memory. */
static bool take_event(const struct vpc *o, const json_t *event, json_t *ways)
{
	if (o->json) {
		json_dumpf(event, stdout, JSON_COMPACT);
		putchar('\n');
	} else if (o->ladder && vpc_is_step(event)) {
		return vpc_ladder_add(ways, event);
	} else {
		vpc_event(stdout, event);
	}
	fflush(stdout);
	return true;
}

/* The ladders, and the answer behind them; a page stands alone. */
static int conclude(const struct vpc *o, const json_t *ways, const json_t *answer)
{
	bool page = o->page && json_object_size(ways) != 0;

	if (page)
		vpc_ladder_page(stdout, ways);
	else
		vpc_ladders(stdout, ways);
	if (!json_is_true(json_object_get(answer, "ok")))
		return vpc_refused(answer);
	return page ? VPC_OK : print_result(o, answer);
}

/* Events until the answer. */
static int follow_into(struct vpc *o, json_t *ways)
{
	int code = VPC_OK;

	for (;;) {
		json_t *line = vpc_line(o, 0, &code);
		const json_t *event = json_object_get(line, "event");

		if (line == NULL)
			return code;
		if (event == NULL) {
			code = conclude(o, ways, line);
			json_decref(line);
			return code;
		}
		if (!take_event(o, event, ways)) {
			fprintf(stderr, "vp-ctl: out of memory\n");
			json_decref(line);
			return VPC_REFUSED;
		}
		json_decref(line);
	}
}

static int follow(struct vpc *o)
{
	json_t *ways = json_object();
	int code = follow_into(o, ways);

	json_decref(ways);
	return code;
}

/* --dry-run, of a command that has such an argument. */
static int fill_dry_run(const struct vpc *o, json_t *req, const json_t *args)
{
	for (size_t i = 0; i < json_array_size(args); i++)
		if (strcmp(arg_name(args, i), "dry_run") == 0)
			return json_object_set_new(req, "dry_run", json_true()) == 0 ? VPC_OK : VPC_REFUSED;
	return usage("option --dry-run is for apply, not for '%s'", o->word[0]);
}

static int run_command(struct vpc *o, const json_t *cmd)
{
	json_t *req = json_pack("{s:s}", "cmd", o->word[0]), *answer;
	int code = fill(o, req, json_object_get(cmd, "arguments"));

	if (code == VPC_OK && o->dry_run)
		code = fill_dry_run(o, req, json_object_get(cmd, "arguments"));
	if (code != VPC_OK) {
		json_decref(req);
		return code;
	}
	if (json_is_true(json_object_get(cmd, "streams"))) {
		code = vpc_send(o, req);
		return code == VPC_OK ? follow(o) : code;
	}
	answer = vpc_ask(o, req, &code);
	if (answer == NULL)
		return code;
	code = print_result(o, answer);
	json_decref(answer);
	return code;
}

static int generic(struct vpc *o)
{
	int code = VPC_OK;
	json_t *answer = vpc_ask(o, json_pack("{s:s}", "cmd", "describe"), &code), *cmd;

	if (answer == NULL)
		return code;
	cmd = find_command(json_object_get(answer, "result"), o->word[0]);
	if (cmd != NULL)
		code = run_command(o, cmd);
	else
		/* The other side has the words to suggest from. */
		code = vpc_send(o, json_pack("{s:s}", "cmd", o->word[0])) == VPC_OK ? follow(o) : VPC_NOBODY;
	json_decref(answer);
	return code == VPC_REFUSED && cmd == NULL ? VPC_USAGE : code;
}

/* ---- help ------------------------------------------------------------------------------------ */

static void help_arg(const json_t *a)
{
	const char *def = json_string_value(json_object_get(a, "default"));
	const json_t *choices = json_object_get(a, "choices"), *word;
	size_t i;

	printf("      %-8s %-8s %s", json_string_value(json_object_get(a, "name")),
	       json_string_value(json_object_get(a, "type")), json_string_value(json_object_get(a, "doc")));
	json_array_foreach(choices, i, word)
		printf("%s%s", i ? ", " : ": ", json_string_value(word));
	if (def != NULL)
		printf(" (%s)", def);
	putchar('\n');
}

static int help(struct vpc *o)
{
	int code = VPC_OK;
	json_t *answer = vpc_ask(o, json_pack("{s:s}", "cmd", "describe"), &code);
	const json_t *cmd, *a, *result = json_object_get(answer, "result");
	size_t i, k;

	if (answer == NULL)
		return code;
	if (o->json) {
		print_result(o, answer);
	} else {
		printf("  top            rates, again and again (-n, -d); top vps, nodes, connections\n"
		       "  dot            a drawing of the graph, with rates (-d)\n"
		       "  export         metrics over HTTP at a port of 127.0.0.1 (9464)\n"
		       "  web            a page for a browser, at a port of 127.0.0.1 (--port), for who has its address\n"
		       "  recording      a file of record's, or of a crash: recording FILE [text|trace|pcapng CAPTURE]\n"
		       "  list           running graphs\n  raw            one request as JSON\n");
		json_array_foreach(json_object_get(result, "commands"), i, cmd) {
			printf("  %-14s %s\n", json_string_value(json_object_get(cmd, "name")),
			       json_string_value(json_object_get(cmd, "doc")));
			json_array_foreach(json_object_get(cmd, "arguments"), k, a)
				help_arg(a);
		}
	}
	json_decref(answer);
	return VPC_OK;
}

/* ---- what is made here -------------------------------------------------------------------------- */

static bool per_vp_asked(const struct vpc *o)
{
	return o->per_vp || (o->nwords == 2 && strcmp(o->word[1], "per_vp=true") == 0);
}

static int metrics(struct vpc *o)
{
	int code = VPC_OK;
	struct ctl_view *v = vpc_view(o, &code);
	char *text = NULL;
	size_t n;

	while (v != NULL) {
		text = ctl_metrics(v, per_vp_asked(o), &n);
		if (text == NULL || vpc_held(o, &v, &code))
			break;
		free(text);
		text = NULL;
	}
	if (v != NULL && text == NULL) {
		fprintf(stderr, "vp-ctl: out of memory\n");
		code = VPC_REFUSED;
	}
	if (text != NULL)
		fwrite(text, 1, n, stdout);
	free(text);
	ctl_view_free(v);
	return code;
}

static int snapshot(struct vpc *o)
{
	int code = VPC_OK;
	struct ctl_view *v = vpc_view(o, &code);
	json_t *j = NULL;

	while (v != NULL) {
		json_decref(j);
		j = ctl_snapshot(v, per_vp_asked(o));
		if (vpc_held(o, &v, &code))
			break;
	}
	if (v != NULL) {
		json_dumpf(j, stdout, JSON_INDENT(2));
		putchar('\n');
	}
	json_decref(j);
	ctl_view_free(v);
	return code;
}

static int raw(struct vpc *o)
{
	json_error_t bad;
	json_t *req;
	int code;

	if (o->nwords != 2)
		return usage("%s needs one request: vp-ctl raw '{\"cmd\":\"describe\"}'", "raw");
	req = json_loads(o->word[1], JSON_REJECT_DUPLICATES, &bad);
	if (req == NULL)
		return usage("the request is not JSON: %s", bad.text);
	code = vpc_send(o, req);
	return code == VPC_OK ? follow(o) : code;
}

static int work(struct vpc *o)
{
	static const struct { const char *name; int (*run)(struct vpc *); unsigned max; } own[] = {
		{ "help", help, 1 }, { "describe", help, 1 }, { "metrics", metrics, 2 }, { "snapshot", snapshot, 2 },
		{ "raw", raw, VPC_WORDS }, { "top", vpc_top, 2 }, { "dot", vpc_dot, 1 }, { "export", vpc_export, 2 },
		{ "record", vpc_record, 2 }, { "web", vpc_web, 1 },
	};
	int code = vpc_open(o);

	if (code != VPC_OK)
		return code;
	for (unsigned i = 0; i < XK_ARRAY_LEN(own); i++)
		if (strcmp(o->word[0], own[i].name) == 0)
			return o->nwords <= own[i].max ? own[i].run(o) : usage("'%s' is an argument too many", o->word[own[i].max]);
	return generic(o);
}

int main(int argc, char **argv)
{
	struct vpc o = { .fd = -1, .passed = -1, .timeout = 10 * XK_SEC, .delay = XK_SEC };
	int code;

	xk_json_start("vp-ctl", VPC_REFUSED);
	vpc_options(&o, argc, argv);
	if (strcmp(o.word[0], "list") == 0)
		code = vpc_list(&o, stdout);
	else
		code = strcmp(o.word[0], "recording") == 0 ? vpc_recording(&o) : work(&o);
	if (o.fd >= 0)
		close(o.fd);
	if (o.passed >= 0)
		close(o.passed);
	free(o.in);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		fprintf(stderr, "vp-ctl: cannot write the output\n");
		code = code ? code : VPC_REFUSED;
	}
	return code;
}
