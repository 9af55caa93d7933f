/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kit_descriptor.c - clauses: the descriptor is sound; a graph starts and stops twice.
 */
#include <string.h>

#include "runtime/base/xk_param_value.h"
#include "runtime/mem/xk_alloc.h"
#include "tools/vp-graph/kit/kit_clauses.h"

/* ---- descriptor ----------------------------------------------------------------------------- */

/* Names are columns of tables and keys of JSON: small letters, no two the same. */
static void names(struct kit *k, const char *what, const char *const *v)
{
	for (unsigned i = 0; v != NULL && v[i] != NULL; i++) {
		if (v[i][0] == '\0' || v[i][strspn(v[i], "abcdefghijklmnopqrstuvwxyz0123456789_")] != '\0')
			kit_fail(k, "%s %u, '%s', is no name: small letters, digits and '_'", what, i, v[i]);
		for (unsigned j = 0; j < i; j++)
			if (strcmp(v[i], v[j]) == 0)
				kit_fail(k, "%s %u and %u have one name, '%s'", what, j, i, v[i]);
	}
}

static void one_line(struct kit *k, const char *whose, const char *doc)
{
	if (strpbrk(doc, "\n\t") != NULL)
		kit_fail(k, "the doc of %s is more than one line", whose);
}

/* What a node of it is asked for, it must have. */
static void operations(struct kit *k)
{
	const struct xk_proto *p = k->proto;
	const struct xk_ops *ops = p->ops;
	/* Those above call these by functions of their own. */
	bool other = p->offers == NULL || strcmp(p->offers, "peer") == 0 || strcmp(p->offers, "socket") == 0 ||
		     strcmp(p->offers, "job") == 0;

	if (!other && ops->open == NULL)
		kit_fail(k, "it offers '%s', but has no .open", p->offers);
	if (p->sess_size != 0 && ops->close == NULL && p->offers != NULL && ops->open != NULL)
		kit_fail(k, "it opens sessions, but has no .close");
	if (ops->run != NULL && ops->halt == NULL)
		kit_fail(k, "it has .run, but no .halt that takes it back");
	if (ops->open_enable != NULL && ops->open_disable_all == NULL && ops->open_disable == NULL)
		kit_fail(k, "it has .open_enable, but nothing that takes it back");
}

static void parameters(struct kit *k)
{
	void *conf = xk_alloc(k->proto->conf_size ? k->proto->conf_size : 1);
	bool needed = false;
	char why[256];

	for (const struct xk_param *q = k->proto->params; q != NULL && q->name != NULL; q++) {
		one_line(k, q->name, q->doc);
		needed = needed || (q->flags & XK_PF_REQUIRED);
		if ((q->flags & XK_PF_LIVE) && (q->type == XK_P_TEXT || q->type == XK_P_LIST || q->type == XK_P_MAP))
			kit_fail(k, "parameter '%s' cannot change while running: it is no scalar", q->name);
	}
	if (conf != NULL && k->proto->params != NULL &&
	    xk_param_defaults(k->proto->params, conf, why, sizeof why) != XK_OK)
		kit_fail(k, "a default is none: %s", why);
	else if (conf != NULL && !needed && !k->is_file && k->proto->check != NULL &&
		 k->proto->check(conf, why, sizeof why) != XK_OK)
		kit_fail(k, "its defaults do not pass its own check: %s", why);
	if (conf != NULL && k->proto->params != NULL)
		xk_param_release(k->proto->params, conf);
	xk_free(conf);
}

/* What it says of its header can be composed into a filter, over and under what its scene has. */
static void header(struct kit *k)
{
	struct kit_how how = { 0 };
	struct kit_world w;

	if (k->proto->demux == NULL)
		return;
	kit_at(k, "its .demux");
	if (kit_build(&w, k, &how) && xk_graph_filter(w.g, w.e) != XK_OK)
		kit_fail(k, "its .demux cannot be composed: %s", kit_error(&w));
	kit_down(&w);
}

void kit_clause_descriptor(struct kit *k)
{
	const struct xk_proto *p = k->proto;
	char why[256];
	unsigned n = 0;

	kit_at(k, "its descriptor");
	if (xk_proto_fault(p, why, sizeof why) != XK_OK)
		kit_fail(k, "it %s", why);
	if (p->abi != XK_ABI || p->size != sizeof *p)
		kit_fail(k, "it is of number %u of the interface, with %u bytes", p->abi, p->size);
	if (kit_found_any(k))
		return;
	one_line(k, p->name, p->doc);
	names(k, "drop", p->drops);
	names(k, "count", p->counts);
	operations(k);
	parameters(k);
	header(k);
	for (const struct xk_param *q = p->params; q != NULL && q->name != NULL; q++)
		n++;
	kit_pass(k, "%u parameters", n);
}

/* ---- start and stop twice ----------------------------------------------------------------------- */

/* Of two processors, so that there are two replicas of everything. */
static void once(struct kit *k, unsigned time)
{
	struct kit_how how = { .preset = "vppc { vps = 2 }", .conns = 2, .count = 4 };
	struct kit_world w;

	kit_at(k, "start number %u", time);
	if (kit_start(&w, k, &how)) {
		kit_at(k, "run number %u", time);
		(void)kit_talk(&w);
		kit_at(k, "stop number %u", time);
	}
	kit_down(&w);
	if (kit_found_any(k) && k->found->state == KIT_FAIL && strstr(k->found->what, "number") == NULL)
		kit_more(k, " (start number %u)", time);
}

/* Up, and down again, with nothing in between. */
static void idle(struct kit *k)
{
	struct kit_how how = { 0 };
	struct kit_world w;

	kit_at(k, "a stop right after the start");
	(void)kit_start(&w, k, &how);
	kit_down(&w);
}

void kit_clause_start(struct kit *k)
{
	for (unsigned i = 1; i <= 2 && !kit_found_any(k); i++)
		once(k, i);
	if (!kit_found_any(k))
		idle(k);
	kit_pass(k, "three starts, two runs");
}
