/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * compose_check.c - values against schemas: of the protocols, of the graph's
 * own fields.
 *
 * One schema, one walk: unknown names (with a suggestion), values without a
 * name, values of the wrong kind or out of range, required ones that are
 * missing, then the protocol's own rules between parameters.  Every fault is
 * said; none stops the walk.
 */
#include "runtime/base/xk_param_value.h"
#include "runtime/compose/compose_priv.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/mem/xk_mem.h"
#include "runtime/upi/xk_review.h"

#define WORDS_MAX 128u

/* ---- one value ------------------------------------------------------------------ */

static bool utf8_valid(const char *s, size_t n)
{
	for (size_t i = 0, len; i < n; i += len)
		if ((len = spec_utf8(s + i, n - i)) == 0)
			return false;
	return true;
}

/* A scalar's text, or NULL with the reason. */
static const char *scalar_text(enum xk_ptype type, const struct xk_value *v, char *why, size_t n)
{
	char got[80];

	switch (v->kind) {
	case XK_V_TEXT:
		if (strlen(v->text) != v->len) {
			snprintf(why, n, "has a zero byte in its text");
			return NULL;
		}
		if (!utf8_valid(v->text, v->len)) {
			snprintf(why, n, "has a text that is not UTF-8");
			return NULL;
		}
		return v->text;
	case XK_V_FLOAT:
		if (strpbrk(v->text, "ni") != NULL) {          /* nan, inf */
			snprintf(why, n, "needs a finite number, got %s", v->text);
			return NULL;
		}
		return v->text;
	case XK_V_BOOL:
		if (type != XK_P_BOOL)
			break;
		return v->text;
	case XK_V_INT:
	case XK_V_TYPED:
		return v->text;
	default:
		break;
	}
	snprintf(why, n, "needs a value of type %s, got %s", xk_param_type_name(type), spec_describe(v, got, sizeof got));
	return NULL;
}

static int scalar_parse(const struct xk_param *p, enum xk_ptype type, const struct xk_value *v,
			union xk_pval *out, char *why, size_t n)
{
	const char *text = scalar_text(type, v, why, n);
	bool bare = v->kind == XK_V_INT || v->kind == XK_V_FLOAT;

	if (text == NULL)
		return XK_E_INVAL;
	if (type == XK_P_BOOL && v->kind != XK_V_BOOL) {
		char got[80];

		snprintf(why, n, "needs true or false, got %s", spec_describe(v, got, sizeof got));
		return XK_E_INVAL;
	}
	return p ? xk_param_parse(p, text, bare, out, why, n) : xk_param_parse_as(type, text, bare, out, why, n);
}

static void drop_value(enum xk_ptype t, union xk_pval *v)
{
	if (t == XK_P_TEXT)
		free(v->text);
}

static int list_value(const struct xk_param *p, const struct xk_value *v, void *conf, char *why, size_t n,
		      struct scan_step *step, unsigned *nsteps)
{
	struct xk_plist *l = (struct xk_plist *)(void *)((char *)conf + p->offset);
	union xk_pval x;
	char part[200], got[80];
	int err;

	if (v->kind != XK_V_LIST) {
		snprintf(why, n, "needs a list of %s, got %s", xk_param_type_name(p->elem),
			 spec_describe(v, got, sizeof got));
		return XK_E_INVAL;
	}
	for (unsigned i = 0; i < v->n; i++) {
		if (v->item[i].kind == XK_V_POISON)
			continue;
		err = scalar_parse(NULL, p->elem, &v->item[i], &x, part, sizeof part);
		if (err != XK_OK) {
			snprintf(why, n, "has a number %u that %s", i + 1, part);
			step->i = i + 1;
			*nsteps = 1;
			return err;
		}
		err = xk_param_list_add(l, &x);
		if (err != XK_OK) {
			drop_value(p->elem, &x);
			snprintf(why, n, "needs more memory than there is");
			return err;
		}
	}
	return XK_OK;
}

static int map_add(const struct xk_param *p, struct xk_pmap *m, const struct xk_value *k,
		   const struct xk_value *v, char *why, size_t n)
{
	union xk_pval key, val;
	char part[200];
	int err;

	if (k->kind == XK_V_POISON || v->kind == XK_V_POISON)
		return XK_OK;
	err = scalar_parse(NULL, p->key, k, &key, part, sizeof part);
	if (err != XK_OK) {
		snprintf(why, n, "has a key that %s", part);
		return err;
	}
	err = scalar_parse(NULL, p->elem, v, &val, part, sizeof part);
	if (err != XK_OK) {
		snprintf(why, n, "has an entry ['%.40s'] that %s", k->text, part);
		drop_value(p->key, &key);
		return err;
	}
	err = xk_param_map_add(m, &key, &val);
	if (err != XK_OK) {
		snprintf(why, n, "needs more memory than there is");
		drop_value(p->key, &key);
		drop_value(p->elem, &val);
	}
	return err;
}

/* Two texts of one key: a network by two of its hosts, "10.0.0.1/8" and "10.0.0.2/8". */
struct key_text { char text[48]; };

static int key_text_order(const void *a, const void *b)
{
	return strcmp(((const struct key_text *)a)->text, ((const struct key_text *)b)->text);
}

static int map_keys_differ(const struct xk_param *p, const struct xk_pmap *m, char *why, size_t n)
{
	const struct xk_param one = { .name = "key", .type = p->key };
	struct key_text *t = p->key != XK_P_TEXT && m->n > 1 ? xk_alloc(m->n * sizeof *t) : NULL;
	int err = XK_OK;

	if (t == NULL)
		return XK_OK;
	for (unsigned i = 0; i < m->n; i++) {
		union xk_pval key = m->v[i].key;

		if (p->key == XK_P_CIDR)
			key.cidr.addr &= key.cidr.len == 0 ? 0 : ~(uint32_t)0 << (32 - key.cidr.len);
		xk_param_format(&one, &key, t[i].text, sizeof t[i].text);
	}
	qsort(t, m->n, sizeof *t, key_text_order);
	for (unsigned i = 1; i < m->n && err == XK_OK; i++)
		if (strcmp(t[i - 1].text, t[i].text) == 0) {
			snprintf(why, n, "has %s twice", t[i].text);
			err = XK_E_EXIST;
		}
	xk_free(t);
	return err;
}

static int map_value(const struct xk_param *p, const struct xk_value *v, void *conf, char *why, size_t n,
		     struct scan_step *step, unsigned *nsteps)
{
	struct xk_pmap *m = (struct xk_pmap *)(void *)((char *)conf + p->offset);
	char got[80];
	int err = XK_OK;

	if (v->kind == XK_V_LIST && v->n == 0)
		return XK_OK;
	if (v->kind != XK_V_MAP) {
		snprintf(why, n, "needs a table from %s to %s, got %s", xk_param_type_name(p->key),
			 xk_param_type_name(p->elem), spec_describe(v, got, sizeof got));
		return XK_E_INVAL;
	}
	for (unsigned i = 0; i < v->n && err == XK_OK; i++) {
		err = map_add(p, m, &v->key[i], &v->item[i], why, n);
		if (err != XK_OK && v->key[i].kind == XK_V_TEXT) {
			step->name = v->key[i].text;
			*nsteps = 1;
		}
	}
	return err == XK_OK ? map_keys_differ(p, m, why, n) : err;
}

int check_value(const struct xk_param *p, const struct xk_value *v, void *conf, char *why, size_t n,
		struct scan_step *step, unsigned *nsteps)
{
	union xk_pval x;
	int err;

	*step = (struct scan_step){ 0 };
	*nsteps = 0;
	if (p->type == XK_P_LIST || p->type == XK_P_MAP) {
		/* What is given replaces the default, it does not add to it. */
		const struct xk_param only[2] = { *p, XK_PARAM_END };

		xk_param_release(only, conf);
		return p->type == XK_P_LIST ? list_value(p, v, conf, why, n, step, nsteps)
					    : map_value(p, v, conf, why, n, step, nsteps);
	}
	err = scalar_parse(p, p->type, v, &x, why, n);
	if (err == XK_OK)
		xk_param_store(p, conf, &x);
	return err;
}

/* ---- a table ----------------------------------------------------------------------- */

static bool skipped(const struct check_table *c, const char *name)
{
	for (unsigned i = 0; c->skip != NULL && c->skip[i] != NULL; i++)
		if (strcmp(c->skip[i], name) == 0)
			return true;
	return false;
}

static void table_error(const struct check_table *c, const struct scan_step *last, unsigned nlast,
			const char *fmt, ...) XK_PRINTF(4, 5);
static void table_error(const struct check_table *c, const struct scan_step *last, unsigned nlast,
			const char *fmt, ...)
{
	struct scan_step step[4];
	unsigned n = 0;
	char text[512];
	va_list ap;

	for (unsigned i = 0; i < c->nprefix && n < 2; i++)
		step[n++] = c->prefix[i];
	for (unsigned i = 0; i < nlast && n < 4; i++)
		step[n++] = last[i];
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	spec_error(c->s, c->e, c->at, c->callee, step, n, "%s: %s", c->who, text);
}

/* Is it a word of earlier days, and which stands for it now? */
static bool became(const struct xk_proto *p, const void *conf, struct xk_old_word *w)
{
	const struct xk_view v = { .proto = p, .conf = conf };

	return p != NULL && p->ask != NULL && p->ask(&v, XK_ASK_WORD, w, sizeof *w) == 1;
}

/* What another descriptor of the word that knows the parameter sits over, or NULL. */
static const char *known_over(const struct check_table *c, const char *name)
{
	const struct xk_proto *t;

	if (c->proto == NULL || c->schema != c->proto->params)
		return NULL;
	for (unsigned k = 0; (t = xk_proto_of_word(c->s->table, c->proto->name, k)) != NULL; k++)
		if (t->params != NULL && xk_param_find(t->params, name) != NULL)
			return t->needs[0];
	return NULL;
}

static void unknown_name(const struct check_table *c, const char *name, const void *conf)
{
	const char *words[WORDS_MAX], *near, *over = known_over(c, name);
	struct scan_step step = { .name = name };
	struct xk_old_word word = { .name = name };
	unsigned n = 0;

	for (const struct xk_param *p = c->schema; p != NULL && p->name != NULL && n + 1 < WORDS_MAX; p++) {
		words[n++] = p->name;
		if (p->group != NULL && c->group == NULL)
			words[n++] = p->group;
	}
	for (unsigned i = 0; c->skip != NULL && c->skip[i] != NULL && n < WORDS_MAX; i++)
		words[n++] = c->skip[i];
	near = xk_errs_suggest(name, words, n);
	if (over != NULL)
		table_error(c, &step, 1, "'%.60s' is for a %s below, here it sits over a %s", name, over, c->proto->needs[0]);
	else if (became(c->proto, conf, &word))
		table_error(c, &step, 1, "unknown parameter '%.60s': %s", name, word.text);
	else if (near != NULL)
		table_error(c, &step, 1, "unknown parameter '%.60s' (did you mean '%s'?)", name, near);
	else
		table_error(c, &step, 1, "unknown parameter '%.60s'", name);
}

static bool is_of(const struct xk_param *p, const char *group)
{
	return group == NULL || p->group == NULL ? p->group == group : strcmp(p->group, group) == 0;
}

/* The parameter that a value without a name is likely for: one that is needed, or the port. */
static const struct xk_param *meant(const struct check_table *c, const struct xk_value *v)
{
	for (const struct xk_param *p = c->schema; p != NULL && p->name != NULL; p++) {
		union xk_pval x;
		char why[400];

		if (!is_of(p, c->group) || ((p->flags & XK_PF_REQUIRED) == 0 && strcmp(p->name, "port") != 0))
			continue;
		if (p->type == XK_P_LIST || p->type == XK_P_MAP || scalar_parse(p, p->type, v, &x, why, sizeof why) != XK_OK)
			continue;
		drop_value(p->type, &x);
		return p;
	}
	return NULL;
}

static void unnamed(struct check_table *c, const struct xk_value *v, unsigned i)
{
	struct scan_step step = { .i = i };
	const struct xk_param *p = v->kind != XK_V_POISON ? meant(c, v) : NULL;
	char got[80];

	if (v->kind == XK_V_NODE)
		table_error(c, &step, 1, "a node stands here without a name: write over = ...");
	else if (p != NULL)
		table_error(c, &step, 1, "a value stands here without a name: %s (write %s = ...?)",
			    spec_describe(v, got, sizeof got), p->name);
	else if (v->kind != XK_V_POISON)
		table_error(c, &step, 1, "a value stands here without a name: %s", spec_describe(v, got, sizeof got));
	c->meant = p != NULL ? p : c->meant;
}

/* Is it, or does it hold, what was complained about when the file ran? */
static bool unknown_value(const struct xk_value *v)
{
	bool found = v->kind == XK_V_POISON;

	for (unsigned i = 0; !found && v->item != NULL && i < v->n; i++)
		found = unknown_value(&v->item[i]) || (v->key != NULL && unknown_value(&v->key[i]));
	return found;
}

static bool is_group(const struct check_table *c, const char *name)
{
	for (const struct xk_param *p = c->schema; c->group == NULL && p != NULL && p->name != NULL; p++)
		if (p->group != NULL && strcmp(p->group, name) == 0)
			return true;
	return false;
}

static void misplaced(const struct check_table *c, const struct xk_param *p)
{
	const struct scan_step step = { .name = p->name };

	if (p->group != NULL)
		table_error(c, &step, 1, "parameter '%s' stands in '%s': write %s = { %s = ... }", p->name, p->group,
			    p->group, p->name);
	else
		table_error(c, &step, 1, "parameter '%s' stands outside of '%s'", p->name, c->group);
}

/* The table of a group: parameters of the same schema, one level down. */
static void group_key(struct check_table *c, const char *name, const struct xk_value *v, void *conf)
{
	const struct scan_step step = { .name = name };
	struct scan_step prefix[2];
	struct check_table in = *c;
	char got[80];

	if (v->kind == XK_V_POISON) {
		c->unknown = true;
		return;
	}
	if (v->kind != XK_V_MAP && (v->kind != XK_V_LIST || v->n != 0)) {
		table_error(c, &step, 1, "'%s' needs a table of parameters, got %s", name,
			    spec_describe(v, got, sizeof got));
		return;
	}
	in.group = name;
	in.skip = NULL;
	in.prefix = prefix;
	in.nprefix = c->nprefix != 0;
	if (c->nprefix != 0)
		prefix[0] = c->prefix[0];
	prefix[in.nprefix++] = step;
	check_table(&in, v, conf);
	c->unknown |= in.unknown;
}

static void one_key(struct check_table *c, const char *name, const struct xk_value *v, void *conf)
{
	const struct xk_param *p;
	struct scan_step step[2];
	unsigned nsteps;
	char why[400];

	if (skipped(c, name))
		return;
	if (is_group(c, name)) {
		group_key(c, name, v, conf);
		return;
	}
	p = xk_param_find_in(c->schema, c->group, name);
	if (p == NULL) {
		p = strchr(name, '.') == NULL ? xk_param_find(c->schema, name) : NULL;
		if (p == NULL)
			unknown_name(c, name, conf);
		else
			misplaced(c, p);
		return;
	}
	c->unknown |= unknown_value(v);
	if (v->kind == XK_V_POISON)
		return;
	step[0] = (struct scan_step){ .name = name };
	if (check_value(p, v, conf, why, sizeof why, &step[1], &nsteps) != XK_OK)
		table_error(c, step, 1 + nsteps, "parameter '%s' %s", name, why);
	else if (!trust_value(c->s, p, v))
		table_error(c, step, 1, "parameter '%s' names what is of this machine, which with --untrusted the command "
			    "line alone may: make it an argument, and give that", name);
}

static void missing(const struct check_table *c, const struct xk_value *tab)
{
	for (const struct xk_param *p = c->schema; p != NULL && p->name != NULL; p++)
		if ((p->flags & XK_PF_REQUIRED) && is_of(p, c->group) && p != c->meant && xk_value_get(tab, p->name) == NULL)
			table_error(c, NULL, 0, "parameter '%s' is needed: %s", p->name, p->doc);
}

void check_table(struct check_table *c, const struct xk_value *tab, void *conf)
{
	for (unsigned i = 0; i < tab->n; i++) {
		if (tab->kind == XK_V_LIST)
			unnamed(c, &tab->item[i], i + 1);
		else if (tab->key[i].kind == XK_V_TEXT)
			one_key(c, tab->key[i].text, &tab->item[i], conf);
		else
			unnamed(c, &tab->item[i], (unsigned)strtoul(tab->key[i].text ? tab->key[i].text : "1", NULL, 10));
	}
	missing(c, tab);
}

/* ---- a node -------------------------------------------------------------------------- */

static const char *const reserved[] = { "name", "over", "trace", NULL };

static void hand_over(const struct xk_errs *from, struct xk_errs *to)
{
	if (xk_errs_is_cut(from) || xk_errs_count(from) + xk_errs_count(to) > COMPOSE_ERRORS_MAX)
		xk_errs_cut(to);
	for (unsigned i = 0; i < xk_errs_count(from) && xk_errs_count(to) < COMPOSE_ERRORS_MAX; i++) {
		const char *file, *text;
		int line, col;

		text = xk_errs_text(from, i, &file, &line, &col);
		xk_errs_add(to, file, line, col, "%s", text);
	}
}

void *check_node_conf(struct xk_spec *s, const struct spec_node *n, struct xk_errs *e)
{
	struct xk_errs *mine = xk_errs_new();
	char label[128], why[400];
	struct check_table c = {
		.s = s, .e = mine, .at = n->at, .callee = n->proto->name, .schema = n->proto->params, .proto = n->proto,
		.who = spec_label(s, n, label, sizeof label), .skip = reserved,
	};
	void *conf = xk_alloc(n->proto->conf_size ? n->proto->conf_size : 1);
	bool bad = conf == NULL || mine == NULL;

	if (bad)
		xk_errs_add(e, NULL, 0, 0, "out of memory");
	if (!bad && xk_param_defaults(n->proto->params, conf, why, sizeof why) != XK_OK) {
		spec_error(s, e, n->at, n->proto->name, NULL, 0, "%s: %s", c.who, why);
		bad = true;
	}
	if (!bad && !trust_proto(s, n->proto)) {
		spec_error(s, e, n->at, n->proto->name, NULL, 0, "%s is a driver of this machine: --untrusted=%s allows it",
			   c.who, n->proto->name);
		bad = true;
	}
	if (!bad) {
		check_table(&c, &n->tab, conf);
		bad = xk_errs_count(mine) != 0 || c.unknown;
		hand_over(mine, e);
	}
	/* Rules between parameters make sense only when each alone is right. */
	if (!bad && n->proto->check != NULL && n->proto->check(conf, why, sizeof why) != XK_OK) {
		spec_error(s, e, n->at, n->proto->name, NULL, 0, "%s: %s", c.who, why);
		bad = true;
	}
	xk_errs_free(mine);
	if (bad && conf != NULL) {
		xk_param_release(n->proto->params, conf);
		xk_free(conf);
		conf = NULL;
	}
	return conf;
}

/* ---- the graph's own fields -------------------------------------------------------------- */

static const char *const clocks[] = { "real", "virtual", NULL };

const struct xk_param xk_graph_params[] = {
	{ .name = "doc", .type = XK_P_TEXT, .doc = "what the graph is for, one line",
	  .offset = offsetof(struct graph_conf, doc) },
	{ .name = "duration", .type = XK_P_TIME, .doc = "how long to run; without it until the applications finish",
	  .offset = offsetof(struct graph_conf, duration) },
	{ .name = "warmup", .type = XK_P_TIME, .doc = "time before the duration, not measured",
	  .offset = offsetof(struct graph_conf, warmup) },
	{ .name = "seed", .type = XK_P_UINT, .doc = "of all random numbers; without it a new one each run, 1 under the virtual clock",
	  .offset = offsetof(struct graph_conf, seed) },
	{ .name = "clock", .type = XK_P_ENUM, .choices = clocks, .def = "real",
	  .doc = "virtual: one thread under a simulated clock, the same every time; "
		 "virtual { processors = 8, machine = \"flat\" }",
	  /* The table: check_clock_params. */
	  .offset = offsetof(struct graph_conf, clock) },
	{ .name = "tick", .type = XK_P_TIME, .def = "1ms", .min = "1us", .max = "10ms",
	  .doc = "of timers: none runs early, and none later than the first tick at its time or after it",
	  .offset = offsetof(struct graph_conf, tick) },
	{ .name = "memory", .type = XK_P_SIZE, .def = "1GiB", .min = "1MiB", .max = "1024GiB",
	  .doc = "limit of all message buffers together",
	  .offset = offsetof(struct graph_conf, memory) },
	{ .name = "hugepages", .type = XK_P_BOOL, .def = "true", .doc = "try huge pages for message buffers",
	  .offset = offsetof(struct graph_conf, hugepages) },
	XK_PARAM_END
};

void check_graph_fields(struct xk_spec *s, const struct spec_top *t, struct xk_errs *e)
{
	static const char *const skip[] = { "threading", NULL }, *const skip_clock[] = { "threading", "clock", NULL };
	const struct xk_value *clock = xk_value_get(&t->tab, "clock");
	bool simulates = clock != NULL && (clock->kind == XK_V_MAP || clock->kind == XK_V_LIST);
	struct check_table c = { .s = s, .e = e, .at = t->at, .callee = "graph", .who = "graph",
				 .schema = xk_graph_params, .skip = simulates ? skip_clock : skip };
	struct graph_conf *g = xk_alloc(sizeof *g);
	char why[200];

	if (g == NULL || xk_param_defaults(xk_graph_params, g, why, sizeof why) != XK_OK) {
		xk_errs_add(e, NULL, 0, 0, "out of memory");
		xk_free(g);
		return;
	}
	s->graph_conf = g;
	check_table(&c, &t->tab, g);
	if (simulates)
		check_clock(s, t, clock, g, e);
	s->plan.name = t->name;
	s->plan.doc = g->doc;
	s->plan.duration = g->duration;
	s->plan.warmup = g->warmup;
	s->plan.seed = g->seed;
	s->plan.seed_given = xk_value_get(&t->tab, "seed") != NULL;
	s->plan.is_virtual = g->clock == 1;
	s->plan.tick = g->tick;
	s->plan.mem = (struct xk_mem_conf){ .limit = g->memory, .huge = g->hugepages };
}
