/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ctl_params.c - get and set: parameters of nodes, of threading, and log levels.
 *
 * Which parameters of a protocol may change while it runs is said by its schema
 * (XK_PF_LIVE).  A value is read and checked like one in a graph file, with the rules between
 * parameters; then every replica has it, or none (xk_node_set).
 * Invariant: a node's configuration has a new value only when all its replicas have it.
 */
#include "tools/control/ctl_priv.h"
#include "runtime/base/xk_param_value.h"
#include "runtime/upi/xk_change.h"
#include "runtime/upi/xk_part.h"

#include <stdlib.h>
#include <string.h>

/* ---- threading ------------------------------------------------------------------------ */

struct threading { uint64_t burst, quantum, spin; };

#define T(f, t, lo, hi, text) \
	{ .name = #f, .type = t, .min = lo, .max = hi, .doc = text, .flags = XK_PF_LIVE, .offset = offsetof(struct threading, f) }
static const struct xk_param threading_params[] = {
	T(burst, XK_P_UINT, "1", "1024", "messages in one unit of work"),
	T(quantum, XK_P_UINT, "0", "1048576", "messages a virtual processor may run before the next one's turn; schedule fifo, 0: all it has"),
	T(spin, XK_P_TIME, NULL, "1s", "look for work this long before sleeping"),
	XK_PARAM_END
};

static struct threading threading_now(const struct xk_vpset *set)
{
	return (struct threading){ xk_load_relaxed(&set->arch.burst), xk_load_relaxed(&set->arch.quantum),
				   xk_load_relaxed(&set->arch.spin_us) * XK_US };
}

static void threading_store(struct xk_vpset *set, const struct threading *t)
{
	xk_store_relaxed(&set->arch.burst, (unsigned)t->burst);
	xk_store_relaxed(&set->arch.quantum, (unsigned)t->quantum);
	xk_store_relaxed(&set->arch.spin_us, (uint32_t)(t->spin / XK_US));
}

/* ---- log levels ------------------------------------------------------------------------ */

struct level { uint64_t log; };

static const struct xk_param log_params[] = {
	{ .name = "log", .type = XK_P_UINT, .min = "0", .max = "5", .flags = XK_PF_LIVE, .offset = 0,
	  .doc = "level of messages: 0 silence, 1 errors, 2 warnings, 3 sessions, 4 control, 5 every message" },
	XK_PARAM_END
};

/* ---- get --------------------------------------------------------------------------------- */

struct getting { struct ctl_call *k; json_t *rows; bool live_only; };

static void row(struct getting *g, const char *owner, const struct xk_param *p, const void *conf)
{
	char buf[1024];
	json_t *o;

	if (g->live_only && !(p->flags & XK_PF_LIVE))
		return;
	if (g->k->a.param != NULL && strcmp(g->k->a.param, p->name) != 0)
		return;
	o = json_object();
	json_object_set_new(o, "node", ctl_string(owner));
	json_object_set_new(o, "parameter", json_string(p->name));
	json_object_set_new(o, "value", xk_param_is_unset(p, conf) ? json_null() :
			    ctl_string(xk_param_format(p, (const char *)conf + p->offset, buf, sizeof buf)));
	json_object_set_new(o, "type", json_string(xk_param_type_name(p->type)));
	json_object_set_new(o, "live", json_boolean(p->flags & XK_PF_LIVE));
	json_object_set_new(o, "doc", json_string(p->doc));
	json_array_append_new(g->rows, o);
}

static void threading_rows(struct getting *g)
{
	struct threading t = threading_now(g->k->c->g->vps);

	for (const struct xk_param *p = threading_params; p->name != NULL; p++)
		row(g, "threading", p, &t);
}

static void node_rows(struct getting *g, const struct xk_node *n)
{
	struct level l = { (uint64_t)xk_load_relaxed(&n->log.level) };

	for (const struct xk_param *p = n->proto->params; p != NULL && p->name != NULL; p++)
		row(g, n->name, p, n->conf);
	if (n->proto->params == NULL || xk_param_find(n->proto->params, "log") == NULL)
		row(g, n->name, log_params, &l);
}

static bool is_threading(const struct ctl_call *k)
{
	return strcmp(k->a.node, "threading") == 0 && xk_graph_find(k->c->g, "threading") == NULL;
}

static int no_param(struct ctl_call *k, const struct xk_param *schema)
{
	const char *words[256], *near;
	unsigned n = 0;

	for (; schema != NULL && schema->name != NULL && n + 1 < XK_ARRAY_LEN(words); schema++)
		words[n++] = schema->name;
	words[n++] = "log";
	near = xk_errs_suggest(k->a.param, words, n);
	return ctl_fail(k, "unknown-parameter", "'%s' has no parameter '%.64s'%s%s%s", k->a.node, k->a.param,
			near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

int ctl_cmd_get(struct ctl_call *k)
{
	const struct xk_graph *g = k->c->g;
	struct getting get = { k, json_array(), k->a.node == NULL };
	const struct xk_param *schema = threading_params;
	struct xk_node *n = NULL;

	if (k->a.node == NULL) {
		for (unsigned i = xk_graph_slots(g); i-- > 0;)
			if (xk_graph_slot(g, i) != NULL)
				node_rows(&get, g->node[i]);
		threading_rows(&get);
	} else if (is_threading(k)) {
		threading_rows(&get);
	} else if ((n = ctl_node(k, k->a.node)) != NULL) {
		schema = n->proto->params;
		node_rows(&get, n);
	} else {
		json_decref(get.rows);
		return XK_E_NOENT;
	}
	if (k->a.param != NULL && json_array_size(get.rows) == 0) {
		json_decref(get.rows);
		return no_param(k, schema);
	}
	k->result = json_pack("{s:o}", "rows", get.rows);
	return k->result != NULL ? XK_OK : ctl_fail(k, "no-memory", "out of memory");
}

/* All of every node, or of one. */
int ctl_show_params(struct ctl_call *k)
{
	const struct xk_graph *g = k->c->g;
	struct getting get = { k, json_array(), false };

	if (k->a.node != NULL) {
		json_decref(get.rows);
		return ctl_cmd_get(k);
	}
	for (unsigned i = xk_graph_slots(g); i-- > 0;)
		if (xk_graph_slot(g, i) != NULL)
			node_rows(&get, xk_graph_slot(g, i));
	threading_rows(&get);
	k->result = json_pack("{s:o}", "rows", get.rows);
	return k->result != NULL ? XK_OK : ctl_fail(k, "no-memory", "out of memory");
}

/* ---- set ----------------------------------------------------------------------------------- */

/* The new value into conf, or says why not. */
static int parse(struct ctl_call *k, const struct xk_param *p, void *conf)
{
	const char *text = k->a.value;
	char why[256];

	if (!(p->flags & XK_PF_LIVE))
		return ctl_fail(k, "not-live", "parameter '%s' of '%s' does not change while the graph runs: 'get %s' shows "
				"which do", p->name, k->a.node, k->a.node);
	if (xk_param_set(p, conf, text, *text != '\0' && strspn(text, "0123456789.") == strlen(text), why, sizeof why) != XK_OK)
		return ctl_fail(k, "bad-value", "parameter '%s' %s", p->name, why);
	return XK_OK;
}

static int done(struct ctl_call *k, const struct xk_param *p, const char *was, const void *conf)
{
	char now[256];

	xk_param_format(p, (const char *)conf + p->offset, now, sizeof now);
	k->result = json_pack("{s:s, s:s, s:s, s:s}", "node", k->a.node, "parameter", p->name, "value", now, "was", was);
	return k->result != NULL ? XK_OK : ctl_fail(k, "no-memory", "out of memory");
}

static int set_threading(struct ctl_call *k)
{
	struct xk_vpset *set = k->c->g->vps;
	const struct xk_param *p = xk_param_find(threading_params, k->a.param);
	struct threading t = threading_now(set);
	char was[256];

	if (p == NULL)
		return no_param(k, threading_params);
	xk_param_format(p, (char *)&t + p->offset, was, sizeof was);
	if (parse(k, p, &t) != XK_OK)
		return XK_E_INVAL;
	if (t.quantum == 0 && set->arch.schedule != XK_SCHED_FIFO)
		return ctl_fail(k, "bad-value", "quantum must be at least 1: 0 serves a virtual processor until it has no more, and "
				"needs schedule \"fifo\"");
	threading_store(set, &t);
	return done(k, p, was, &t);
}

static int set_log(struct ctl_call *k, struct xk_node *n)
{
	struct level l = { (uint64_t)xk_load_relaxed(&n->log.level) };
	char was[256];

	xk_param_format(log_params, &l, was, sizeof was);
	if (parse(k, log_params, &l) != XK_OK)
		return XK_E_INVAL;
	xk_log_set(&n->log, (int)l.log);
	return done(k, log_params, was, &l);
}

static int set_param(struct ctl_call *k, struct xk_node *n, const struct xk_param *p)
{
	size_t size = n->proto->conf_size;
	void *conf = xk_alloc(size);
	char was[256], why[256] = "";
	int err;

	if (conf == NULL)
		return ctl_fail(k, "no-memory", "out of memory");
	memcpy(conf, n->conf, size);     /* its texts and lists are the node's, and stay */
	xk_param_format(p, (const char *)n->conf + p->offset, was, sizeof was);
	err = parse(k, p, conf);
	if (err == XK_OK && n->proto->check != NULL && (err = n->proto->check(conf, why, sizeof why)) != XK_OK)
		err = ctl_fail(k, "bad-value", "%s: %s", n->name, why);
	if (err == XK_OK && xk_node_set(n, p, conf, why, sizeof why) != XK_OK)
		err = ctl_fail(k, "refused", "parameter '%s' of '%s' %s", p->name, n->name, why);
	if (err == XK_OK)
		err = done(k, p, was, conf);
	xk_free(conf);
	return err;
}

int ctl_cmd_set(struct ctl_call *k)
{
	const struct xk_param *p;
	struct xk_node *n;

	if (is_threading(k))
		return set_threading(k);
	n = ctl_node(k, k->a.node);
	if (n == NULL)
		return XK_E_NOENT;
	p = n->proto->params != NULL ? xk_param_find(n->proto->params, k->a.param) : NULL;
	if (p != NULL)
		return set_param(k, n, p);
	return strcmp(k->a.param, "log") == 0 ? set_log(k, n) : no_param(k, n->proto->params);
}
