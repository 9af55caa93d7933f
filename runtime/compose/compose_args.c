/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * compose_args.c - args { ... }: the arguments of a graph file, declared with
 * the types of the parameters, given on the command line.
 *
 * A declaration is checked first (its bounds, then its default against them),
 * then the command line's value against the declaration.  What the file sees
 * is a plain table of values; reading one that is not there is a complaint.
 */
#include "runtime/base/xk_param_value.h"
#include "runtime/compose/compose_lua.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define ARGS_MAX 256u

/* One declaration under way. */
struct decl {
	struct loader         *ld;
	struct spec_place      at;         /* of args */
	struct xk_arg         *arg;
	const struct xk_value *tab;
	bool                   bad;
};

static void complain(struct decl *d, const char *field, const char *fmt, ...) XK_PRINTF(3, 4);
static void complain(struct decl *d, const char *field, const char *fmt, ...)
{
	struct scan_step step[2] = { { .name = d->arg->p.name }, { .name = field } };
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	if (field == NULL)
		step[1].i = 1;             /* the default: the first value without a name */
	spec_error(d->ld->s, d->ld->e, d->at, "args", step, 2, "args: '%s' %s", d->arg->p.name, text);
	d->bad = true;
}

static bool ordered(enum xk_ptype t)
{
	return t == XK_P_UINT || t == XK_P_SIZE || t == XK_P_TIME || t == XK_P_RATE ||
	       t == XK_P_FRACTION || t == XK_P_PORT;
}

static bool scalar(const struct xk_value *v)
{
	return (v->kind == XK_V_TEXT && strlen(v->text) == v->len) || v->kind == XK_V_BOOL ||
	       v->kind == XK_V_INT || v->kind == XK_V_FLOAT || v->kind == XK_V_TYPED;
}

static bool bare(const struct xk_value *v)
{
	return v->kind == XK_V_INT || v->kind == XK_V_FLOAT;
}

static void free_parsed(enum xk_ptype t, union xk_pval *v)
{
	if (t == XK_P_TEXT)
		free(v->text);
}

#define FIELDS 4u                /* of a declaration */

/* ---- declarations ------------------------------------------------------------------ */

static void take_bound(struct decl *d, const char *field, const char **out)
{
	const struct xk_value *v = xk_value_get(d->tab, field);
	union xk_pval parsed;
	char why[256], got[80];

	if (v == NULL || v->kind == XK_V_POISON)
		return;
	if (!ordered(d->arg->p.type))
		complain(d, field, "is of type %s, which has no %s", xk_param_type_name(d->arg->p.type), field);
	else if (!scalar(v))
		complain(d, field, "has a '%s' that is %s", field, spec_describe(v, got, sizeof got));
	else if (xk_param_parse_as(d->arg->p.type, v->text, bare(v), &parsed, why, sizeof why) != XK_OK)
		complain(d, field, "has a '%s' that %s", field, why);
	else
		*out = v->text;
}

static void take_doc(struct decl *d)
{
	const struct xk_value *v = xk_value_get(d->tab, "doc");

	d->arg->p.doc = "";
	if (v == NULL || v->kind == XK_V_POISON)
		return;
	if (v->kind == XK_V_TEXT)
		d->arg->p.doc = v->text;
	else
		complain(d, "doc", "has a 'doc' that is no text");
}

static void take_choices(struct decl *d)
{
	const struct xk_value *v = xk_value_get(d->tab, "choices");
	const char **list;

	if (d->arg->p.type != XK_P_ENUM) {
		if (v != NULL)
			complain(d, "choices", "is of type %s, which has no choices",
				 xk_param_type_name(d->arg->p.type));
		return;
	}
	d->bad |= v != NULL && v->kind == XK_V_POISON;
	if (d->bad)
		return;
	if (v == NULL || v->kind != XK_V_LIST || v->n == 0) {
		complain(d, v ? "choices" : NULL, "needs choices = { \"a\", \"b\" }");
		return;
	}
	list = arena_get(&d->ld->s->arena, (v->n + 1) * sizeof *list);
	for (unsigned i = 0; list != NULL && i < v->n; i++) {
		if (v->item[i].kind != XK_V_TEXT) {
			complain(d, "choices", "has a choice that is no text");
			return;
		}
		list[i] = v->item[i].text;
	}
	d->arg->p.choices = list;
}

const struct xk_word xk_arg_fields[FIELDS + 1] = {
	{ "choices", "of an enum: the words that it may be, { \"a\", \"b\" }" },
	{ "doc", "what it is for, one line" },
	{ "max", "the most that it may be" },
	{ "min", "the least that it may be" },
	{ NULL, NULL },
};

bool xk_word_is_type(const struct xk_word *w)
{
	static const char begins[] = "argument type: ";

	return strncmp(w->doc, begins, sizeof begins - 1) == 0;
}

/* Unnamed value 1 is the default; all other keys are fields. */
static const struct xk_value *take_keys(struct decl *d)
{
	const char *fields[FIELDS];
	const struct xk_value *def = NULL;
	const char *near;

	for (unsigned f = 0; f < FIELDS; f++)
		fields[f] = xk_arg_fields[f].name;
	if (d->tab->kind == XK_V_LIST && d->tab->n > 0)
		def = &d->tab->item[0];
	if (d->tab->kind == XK_V_LIST && d->tab->n > 1)
		complain(d, NULL, "has more than one default");
	for (unsigned i = 0; d->tab->kind == XK_V_MAP && i < d->tab->n; i++) {
		const struct xk_value *k = &d->tab->key[i];
		bool known = false;

		if (k->kind == XK_V_INT && strcmp(k->text, "1") == 0) {
			def = &d->tab->item[i];
			continue;
		}
		for (unsigned f = 0; k->kind == XK_V_TEXT && f < FIELDS; f++)
			known |= strcmp(fields[f], k->text) == 0;
		if (known)
			continue;
		near = k->kind == XK_V_TEXT ? xk_errs_suggest(k->text, fields, FIELDS) : NULL;
		if (near != NULL)
			complain(d, k->text, "has an unknown field '%s' (did you mean '%s'?)", k->text, near);
		else if (k->kind == XK_V_TEXT)
			complain(d, k->text, "has an unknown field '%s' (there are min, max, doc, choices)", k->text);
		else
			complain(d, NULL, "has more than one default");
	}
	return def;
}

static void take_default(struct decl *d, const struct xk_value *v)
{
	union xk_pval parsed;
	char why[256], got[80];

	d->bad |= v != NULL && v->kind == XK_V_POISON;
	if (v == NULL || d->bad)
		return;
	if (!scalar(v)) {
		complain(d, NULL, "has a default that is %s", spec_describe(v, got, sizeof got));
		return;
	}
	if (xk_param_parse(&d->arg->p, v->text, bare(v), &parsed, why, sizeof why) != XK_OK) {
		complain(d, NULL, "has a default that %s", why);
		return;
	}
	free_parsed(d->arg->p.type, &parsed);
	d->arg->p.def = d->arg->value = v->text;
}

static void declare(struct decl *d, const struct thing *t)
{
	d->tab = &t->tab;
	d->arg->p.type = t->type;
	take_doc(d);
	take_bound(d, "min", &d->arg->p.min);
	take_bound(d, "max", &d->arg->p.max);
	take_choices(d);
	take_default(d, take_keys(d));
}

/* ---- the command line ------------------------------------------------------------------ */

static bool looks_like_number(const char *s)
{
	return *s != '\0' && strspn(s, "0123456789.") == strlen(s);
}

static void take_given(struct decl *d)
{
	const struct xk_compose_opts *o = d->ld->o;
	struct xk_arg *a = d->arg;
	size_t n = strlen(a->p.name);
	union xk_pval parsed;
	char why[256];

	for (unsigned i = 0; i < o->nargs; i++) {
		const char *text = o->args[i];

		if (strncmp(text, a->p.name, n) != 0 || text[n] != '=')
			continue;
		d->ld->arg_used[i] = true;
		if (a->given) {
			xk_errs_add(d->ld->e, NULL, 0, 0, "argument '%s' is given twice", a->p.name);
			return;
		}
		a->given = true;
		text += n + 1;
		if (d->bad)
			continue;
		if (xk_param_parse(&a->p, text, looks_like_number(text), &parsed, why, sizeof why) != XK_OK) {
			xk_errs_add(d->ld->e, NULL, 0, 0, "argument '%s' %s", a->p.name, why);
			d->bad = true;
			continue;
		}
		free_parsed(a->p.type, &parsed);
		a->value = arena_text(&d->ld->s->arena, text, strlen(text));
	}
	if (!a->given && a->value == NULL && !d->bad) {
		xk_errs_add(d->ld->e, NULL, 0, 0, "argument '%s' is needed (%s): %s=...", a->p.name,
			    xk_param_type_name(a->p.type), a->p.name);
		d->bad = true;
	}
}

/* ---- values for the file ------------------------------------------------------------------ */

static void push_uint(lua_State *L, uint64_t u)
{
	if (u <= INT64_MAX)
		lua_pushinteger(L, (lua_Integer)u);
	else
		lua_pushnumber(L, (lua_Number)u);
}

static void push_value(lua_State *L, const struct xk_arg *a)
{
	union xk_pval v;
	struct thing *t;
	char why[256];

	if (a->p.type == XK_P_TEXT || a->value == NULL ||
	    xk_param_parse(&a->p, a->value, false, &v, why, sizeof why) != XK_OK) {
		lua_pushstring(L, a->value ? a->value : "");
		return;
	}
	switch (a->p.type) {
	case XK_P_BOOL: lua_pushboolean(L, v.b); break;
	case XK_P_UINT:
	case XK_P_SIZE: push_uint(L, v.u); break;
	case XK_P_FRACTION: lua_pushnumber(L, v.d); break;
	case XK_P_PORT: lua_pushinteger(L, v.port); break;
	case XK_P_TIME:
	case XK_P_RATE:
		t = loader_push_thing(L, THING_TYPED, 0);
		t->type = a->p.type;
		t->u = v.u;
		break;
	default: lua_pushstring(L, a->value); break;
	}
}

/* Reading an argument that is not there. */
static int args_index(lua_State *L)
{
	const struct xk_spec *s = loader_of(L)->s;
	const char *name = luaL_tolstring(L, 2, NULL), *names[ARGS_MAX], *near;
	unsigned n = 0;

	for (; n < s->nargs && n < ARGS_MAX; n++)
		names[n] = s->arg[n].p.name;
	near = xk_errs_suggest(name, names, n);
	if (near != NULL)
		return loader_poison(L, loader_caller(L), name, "args: there is no argument '%s' (did you mean '%s'?)",
				     name, near);
	return loader_poison(L, loader_caller(L), name, "args: there is no argument '%s'", name);
}

/* The result of args, still empty, on the stack. */
static void push_result(lua_State *L)
{
	lua_newtable(L);
	lua_newtable(L);
	lua_pushcfunction(L, args_index);
	lua_setfield(L, -2, "__index");
	lua_pushliteral(L, "locked");
	lua_setfield(L, -2, "__metatable");
	lua_setmetatable(L, -2);
}

/* ---- the word -------------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b)
{
	const struct xk_arg *x = a, *y = b;

	if (x->line != y->line)
		return (x->line > y->line) - (x->line < y->line);
	/* flags holds the column while they are sorted */
	if (x->p.flags != y->p.flags)
		return (x->p.flags > y->p.flags) - (x->p.flags < y->p.flags);
	return strcmp(x->p.name, y->p.name);
}

/* Names of the declarations, in the order of the source. */
static void collect(lua_State *L, struct loader *ld, struct spec_place at)
{
	const struct spec_file *f = &ld->s->file[at.file];
	const char *name;
	size_t n;

	lua_pushnil(L);
	while (lua_next(L, 1)) {
		struct xk_arg *a = &ld->s->arg[ld->s->nargs];
		struct thing *t = loader_thing(L, -1);
		struct scan_step step = { 0 };
		int col;

		lua_pop(L, 1);
		name = lua_type(L, -1) == LUA_TSTRING ? lua_tolstring(L, -1, &n) : NULL;
		if (t != NULL && t->kind == THING_POISON)
			continue;
		if (name == NULL || !spec_is_name(name, n) || ld->s->nargs == ARGS_MAX) {
			spec_error(ld->s, ld->e, at, "args", NULL, 0, ld->s->nargs == ARGS_MAX ?
				   "args: more than 256" : "args: each one is name = type { default, ... }");
			continue;
		}
		step.name = arena_text(&ld->s->arena, name, n);
		if (step.name == NULL)
			luaL_error(L, "out of memory");
		if (t == NULL || t->kind != THING_ARG) {
			spec_error(ld->s, ld->e, at, "args", &step, 1, "args: '%s' needs a type, as in "
				   "%s = uint { 1, doc = \"...\" }", name, name);
			continue;
		}
		a->p.name = step.name;
		a->file = f->name;
		scan_place(f->text, f->len, at.line, "args", &step, 1, ld->s->scan_left, &a->line, &col);
		a->p.flags = (unsigned)col;
		ld->s->nargs++;
	}
	qsort(ld->s->arg, ld->s->nargs, sizeof *ld->s->arg, by_place);
}

int word_args(lua_State *L)
{
	struct loader *ld = loader_of(L);
	struct decl d = { .ld = ld, .at = loader_caller(L) };

	if (!lua_istable(L, 1))
		return loader_poison(L, d.at, "args", "args: needs a table, as in args { vps = uint { 16 } }");
	if (d.at.file != 0)
		return loader_poison(L, d.at, "args", "args: belongs into the graph file, not into one that it includes");
	if (ld->args_called)
		return loader_poison(L, d.at, "args", "args: is written once");
	ld->args_called = true;
	ld->s->arg = arena_get(&ld->s->arena, (ARGS_MAX + 1) * sizeof *ld->s->arg);
	if (ld->s->arg == NULL)
		return luaL_error(L, "out of memory");
	collect(L, ld, d.at);
	push_result(L);
	for (unsigned i = 0; i < ld->s->nargs; i++) {
		d.arg = &ld->s->arg[i];
		d.arg->p.flags = 0;
		d.bad = false;
		lua_getfield(L, 1, d.arg->p.name);
		declare(&d, loader_thing(L, -1));
		lua_pop(L, 1);
		take_given(&d);
		if (d.bad)
			loader_push_poison(L);
		else
			push_value(L, d.arg);
		lua_setfield(L, -2, d.arg->p.name);
	}
	return 1;
}
