/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ctl_answer.c - what a client hears: answers, events, errors.
 *
 * Invariant: a line is whole, or the client is told that it is not and is let go.
 */
#include "tools/control/ctl_priv.h"
#include "runtime/upi/xk_change.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/run/xk_json.h"

/* s was cut behind n bytes: without the character, of UTF-8, that it ends in the middle of. */
static void drop_broken(char *s, size_t n)
{
	size_t at = n, len;
	unsigned char lead;

	while (at != 0 && ((unsigned char)s[at - 1] & 0xc0) == 0x80)
		at--;
	if (at == 0)
		return;
	lead = (unsigned char)s[--at];
	len = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
	if (len > n - at)
		s[at] = '\0';
}

int ctl_fail(struct ctl_call *k, const char *code, const char *fmt, ...)
{
	va_list ap;
	int n;

	k->code = code;
	va_start(ap, fmt);
	n = vsnprintf(k->why, sizeof k->why, fmt, ap);
	va_end(ap);
	if (n >= (int)sizeof k->why)
		drop_broken(k->why, sizeof k->why - 1);
	return XK_E_INVAL;
}

struct xk_node *ctl_node(struct ctl_call *k, const char *name)
{
	struct xk_node *n = xk_graph_find(k->c->g, name);
	const char **words, *near = NULL;
	unsigned nwords = 0;

	if (n != NULL)
		return n;
	words = xk_alloc(xk_graph_slots(k->c->g) * sizeof *words + 1);
	for (unsigned i = 0; words != NULL && i < xk_graph_slots(k->c->g); i++)
		if (xk_graph_slot(k->c->g, i) != NULL)
			words[nwords++] = k->c->g->node[i]->name;
	if (words != NULL)
		near = xk_errs_suggest(name, words, nwords);
	ctl_fail(k, "unknown-node", "the graph has no node '%.64s'%s%s%s", name, near ? "; did you mean '" : "",
		 near ? near : "", near ? "'?" : "");
	xk_free(words);
	return NULL;
}

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
