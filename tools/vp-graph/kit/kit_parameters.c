/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kit_parameters.c - clause: each parameter at its limits is refused with a sentence or works, and beyond them is
 * refused by the check of a graph file.
 *
 * A value that the check passes may fail at the start for want of memory alone: what else could fail
 * can be seen before.  Where a value works, messages go through.
 */
#include <string.h>

#include "runtime/base/xk_param_value.h"
#include "tools/vp-graph/kit/kit_clauses.h"

#define VALUES 12u

struct values { unsigned n; char v[VALUES][64]; bool beyond[VALUES]; };

static void add(struct values *v, bool beyond, const char *text)
{
	if (text == NULL || v->n == VALUES)
		return;
	snprintf(v->v[v->n], sizeof v->v[0], "%s", text);
	v->beyond[v->n++] = beyond;
}

/* A whole number or amount, d more than the text says; NULL: there is none. */
static const char *next_to(const struct xk_param *p, const char *text, int d, char *buf, size_t n)
{
	union xk_pval v;
	char why[128];
	uint64_t u;

	bool bare = p->type == XK_P_UINT || p->type == XK_P_PORT;

	if (text == NULL || xk_param_parse_as(p->type, text, bare, &v, why, sizeof why) != XK_OK)
		return NULL;
	u = p->type == XK_P_PORT ? v.port : v.u;
	if ((d < 0 && u == 0) || (d > 0 && u >= UINT64_MAX - 1))
		return NULL;
	u += (uint64_t)(int64_t)d;
	if (p->type == XK_P_TIME)
		snprintf(buf, n, "%lluns", (unsigned long long)u);
	else if (p->type == XK_P_RATE)
		snprintf(buf, n, "%llubit/s", (unsigned long long)u);
	else
		snprintf(buf, n, "%llu", (unsigned long long)u);
	return buf;
}

static void of_amount(const struct xk_param *p, struct values *v)
{
	static const char *const least[] = { [XK_P_UINT] = "0", [XK_P_SIZE] = "0", [XK_P_TIME] = "0s", [XK_P_RATE] = "0bit/s",
					     [XK_P_PORT] = "0" };
	char buf[64];

	add(v, false, p->min != NULL ? p->min : least[p->type]);
	add(v, false, next_to(p, p->min != NULL ? p->min : least[p->type], 1, buf, sizeof buf));
	add(v, true, next_to(p, p->min, -1, buf, sizeof buf));
	add(v, false, p->max != NULL ? p->max : p->type == XK_P_PORT ? "65535" : NULL);
	add(v, true, p->type == XK_P_PORT ? "65536" : next_to(p, p->max, 1, buf, sizeof buf));
	if (p->type == XK_P_UINT || p->type == XK_P_PORT)
		add(v, true, "-1");
}

static void values_of(const struct xk_param *p, struct values *v)
{
	v->n = 0;
	switch (p->type) {
	case XK_P_BOOL:
		add(v, false, "true");
		add(v, false, "false");
		return;
	case XK_P_FRACTION:
		add(v, false, p->min != NULL ? p->min : "0");
		add(v, false, p->max != NULL ? p->max : "1");
		add(v, true, "1.5");
		return;
	case XK_P_ENUM:
		for (unsigned i = 0; p->choices[i] != NULL; i++)
			add(v, false, p->choices[i]);
		add(v, true, "none of them");
		return;
	case XK_P_TEXT:
		add(v, false, "");
		add(v, false, "/nowhere/xkvp");
		return;
	case XK_P_IPV4: add(v, true, "256.0.0.1"); return;
	case XK_P_CIDR: add(v, true, "10.0.0.0/33"); return;
	case XK_P_MAC: add(v, true, "02:00:00:00:00"); return;
	case XK_P_CPUS: add(v, true, "3-1"); return;
	case XK_P_LIST: case XK_P_MAP: add(v, false, "{}"); return;
	default: of_amount(p, v);
	}
}

/* Refused before anything is made, at the parameter. */
static void refused(struct kit *k, const struct kit_how *how)
{
	struct kit_world w;

	if (kit_build(&w, k, how))
		kit_fail(k, "'%s' = %s is beyond its limits, and is taken", how->param->name, how->value);
	else if (strstr(kit_error(&w), how->param->name) == NULL)
		kit_fail(k, "'%s' = %s: the error does not name it: %s", how->param->name, how->value, kit_error(&w));
	kit_down(&w);
}

/* Memory for so many of something may not be there: nobody could know. */
static bool no_memory(const struct kit_world *w)
{
	return strstr(kit_error(w), "memory") != NULL;
}

/* Refused with a sentence, or it comes up, and what then passes is no matter but that it lives.  A value that is
 * a name of something outside (a file, a device), or that such a device has not, may be wrong at the start, too. */
static void tried(struct kit *k, const struct kit_how *how)
{
	bool outside = how->param->type == XK_P_TEXT || (k->real && k->proto->is_host);
	struct kit_world w;

	if (kit_build(&w, k, how)) {
		if (!kit_up(&w) && (kit_error(&w)[0] == '\0' || (!no_memory(&w) && !outside)))
			kit_fail(k, "'%s' = %s passes the check, and fails at the start: %s", how->param->name, how->value, kit_error(&w));
		else if (w.is_up && w.g->vps->clock.is_virtual)
			kit_pass_time(&w, 200 * XK_MS);
	} else if (kit_error(&w)[0] == '\0') {
		kit_fail(k, "'%s' = %s is refused without a word", how->param->name, how->value);
	}
	kit_down(&w);
}

struct one { struct kit_how how; bool beyond; };

static void one(struct kit *k, void *arg)
{
	struct one *o = arg;

	kit_at(k, "'%s' = %s", o->how.param->name, o->how.value);
	if (o->beyond)
		refused(k, &o->how);
	else
		tried(k, &o->how);
	kit_pass(k, "done");
}

void kit_clause_parameters(struct kit *k)
{
	unsigned n = 0, params = 0;
	struct kit_found f;
	struct values v;

	for (const struct xk_param *p = k->proto->params; p != NULL && p->name != NULL; p++, params++) {
		values_of(p, &v);
		for (unsigned i = 0; i < v.n; i++, n++) {
			struct one o = { .how = { .conns = 1, .count = 2, .param = p, .value = v.v[i] }, .beyond = v.beyond[i] };

			kit_at(k, "'%s' = %s", p->name, v.v[i]);
			kit_apart(k, one, &o, &f);
			if (f.state == KIT_FAIL) {
				/* Its own words name the value first. */
				if (f.what[0] == '\'')
					kit_fail(k, "%s", f.what);
				else
					kit_fail(k, "'%s' = %s: %.500s", p->name, v.v[i], f.what);
				return;
			}
		}
	}
	if (params == 0)
		kit_skip(k, "it has none");
	kit_pass(k, "%u values of %u parameters", n, params);
}
