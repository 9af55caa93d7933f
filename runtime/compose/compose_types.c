/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * compose_types.c - values with a unit: time "200ms", rate "1Gbit/s" and what
 * can be done with them, and the words that declare an argument's type.
 *
 * Numbers of bytes are plain integers, since a bare number of bytes is clear.
 * A time must not lose its unit, so it is a value of its own kind: it can be
 * added to and compared with its like, multiplied and divided by numbers.
 */
#include "runtime/base/xk_param_value.h"
#include "runtime/compose/compose_lua.h"

#include <math.h>
#include <string.h>

static int push_typed(lua_State *L, enum xk_ptype type, uint64_t u)
{
	struct thing *t = loader_push_thing(L, THING_TYPED, 0);

	t->type = type;
	t->u = u;
	return 1;
}

static struct thing *typed_at(lua_State *L, int index)
{
	struct thing *t = loader_thing(L, index);

	return t != NULL && t->kind == THING_TYPED ? t : NULL;
}

static int no_sense(lua_State *L, const char *what)
{
	struct thing *a = loader_thing(L, 1), *b = loader_thing(L, 2);

	if ((a != NULL && a->kind == THING_POISON) || (b != NULL && b->kind == THING_POISON)) {
		loader_push_poison(L);
		return 1;
	}
	return luaL_error(L, "%s", what);
}

/* Both operands of one kind, or a complaint. */
static bool both(lua_State *L, struct thing **a, struct thing **b)
{
	*a = typed_at(L, 1);
	*b = typed_at(L, 2);
	return *a != NULL && *b != NULL && (*a)->type == (*b)->type;
}

static int typed_add(lua_State *L)
{
	struct thing *a, *b;
	uint64_t u;

	if (!both(L, &a, &b))
		return no_sense(L, "a value with a unit can only be added to its like");
	if (__builtin_add_overflow(a->u, b->u, &u))
		return luaL_error(L, "the sum is too large");
	return push_typed(L, a->type, u);
}

static int typed_sub(lua_State *L)
{
	struct thing *a, *b;

	if (!both(L, &a, &b))
		return no_sense(L, "only its like can be taken from a value with a unit");
	if (b->u > a->u)
		return luaL_error(L, "the difference would be negative");
	return push_typed(L, a->type, a->u - b->u);
}

static int typed_scale(lua_State *L, const struct thing *t, double by)
{
	double d = nearbyint((double)t->u * by);

	if (!(d >= 0 && d < 1.8e19))
		return luaL_error(L, "the result is negative or too large");
	return push_typed(L, t->type, (uint64_t)d);
}

static int typed_mul(lua_State *L)
{
	struct thing *t = typed_at(L, 1);
	int other = t ? 2 : 1;
	uint64_t u;

	if (t == NULL)
		t = typed_at(L, 2);
	if (t == NULL || lua_type(L, other) != LUA_TNUMBER)
		return no_sense(L, "a value with a unit can only be multiplied by a number");
	if (lua_isinteger(L, other) && lua_tointeger(L, other) >= 0) {
		if (__builtin_mul_overflow(t->u, (uint64_t)lua_tointeger(L, other), &u))
			return luaL_error(L, "the product is too large");
		return push_typed(L, t->type, u);
	}
	return typed_scale(L, t, lua_tonumber(L, other));
}

/* A time by a time is a number; `//` and `/` are the same for the rest. */
static int typed_div(lua_State *L)
{
	struct thing *a, *b;

	if (both(L, &a, &b)) {
		if (b->u == 0)
			return luaL_error(L, "division by zero");
		lua_pushnumber(L, (double)a->u / (double)b->u);
		return 1;
	}
	if (a == NULL || lua_type(L, 2) != LUA_TNUMBER)
		return no_sense(L, "a value with a unit can only be divided by a number or its like");
	return typed_scale(L, a, 1 / lua_tonumber(L, 2));
}

static int typed_eq(lua_State *L)
{
	struct thing *a, *b;

	lua_pushboolean(L, both(L, &a, &b) && a->u == b->u);
	return 1;
}

static int typed_lt(lua_State *L)
{
	struct thing *a, *b;

	if (!both(L, &a, &b))
		return no_sense(L, "a value with a unit can only be compared with its like");
	lua_pushboolean(L, a->u < b->u);
	return 1;
}

static int typed_le(lua_State *L)
{
	struct thing *a, *b;

	if (!both(L, &a, &b))
		return no_sense(L, "a value with a unit can only be compared with its like");
	lua_pushboolean(L, a->u <= b->u);
	return 1;
}

static int typed_text(lua_State *L)
{
	struct thing *t = typed_at(L, 1);
	struct xk_param p = { .name = "value", .type = t ? t->type : XK_P_TIME };
	char buf[64];

	lua_pushstring(L, t ? xk_param_format(&p, &t->u, buf, sizeof buf) : "?");
	return 1;
}

static const luaL_Reg typed_events[] = {
	{ "__add", typed_add }, { "__sub", typed_sub }, { "__mul", typed_mul }, { "__div", typed_div },
	{ "__idiv", typed_div }, { "__eq", typed_eq }, { "__lt", typed_lt }, { "__le", typed_le },
	{ "__tostring", typed_text }, { NULL, NULL },
};

/* ---- the words ------------------------------------------------------------------ */

static const enum xk_ptype types[] = {
	XK_P_BOOL, XK_P_UINT, XK_P_SIZE, XK_P_TIME, XK_P_RATE, XK_P_FRACTION, XK_P_ENUM, XK_P_TEXT,
	XK_P_IPV4, XK_P_CIDR, XK_P_MAC, XK_P_PORT, XK_P_CPUS,
};

/* time "200ms": a value. */
static int value_of(lua_State *L, enum xk_ptype type)
{
	const char *word = xk_param_type_name(type);
	union xk_pval v;
	char why[256];

	if (xk_param_parse_as(type, lua_tostring(L, 1), lua_type(L, 1) == LUA_TNUMBER, &v, why, sizeof why) != XK_OK)
		return loader_poison(L, loader_caller(L), word, "%s: %s", word, why);
	if (type != XK_P_SIZE)
		return push_typed(L, type, v.u);
	if (v.u > INT64_MAX)
		return loader_poison(L, loader_caller(L), word, "%s: is too large", word);
	lua_pushinteger(L, (lua_Integer)v.u);
	return 1;
}

/* Upvalue 1: the type. */
static int word_type(lua_State *L)
{
	enum xk_ptype type = (enum xk_ptype)lua_tointeger(L, lua_upvalueindex(1));
	const char *word = xk_param_type_name(type);
	struct xk_value tab;
	struct thing *t;

	if ((type == XK_P_TIME || type == XK_P_RATE || type == XK_P_SIZE) && lua_isstring(L, 1))
		return value_of(L, type);
	if (typed_at(L, 1) != NULL && typed_at(L, 1)->type == type) {
		lua_settop(L, 1);
		return 1;
	}
	if (!lua_istable(L, 1))
		return loader_poison(L, loader_caller(L), word,
				     "%s: needs a table, as in args { x = %s { ... } }", word, word);
	value_from_lua(L, 1, &tab);
	t = loader_push_thing(L, THING_ARG, 0);
	t->type = type;
	t->tab = tab;
	return 1;
}

void types_open(lua_State *L)
{
	push_typed(L, XK_P_TIME, 0);
	lua_getmetatable(L, -1);
	luaL_setfuncs(L, typed_events, 0);
	lua_pop(L, 2);
	for (unsigned i = 0; i < XK_ARRAY_LEN(types); i++) {
		lua_pushinteger(L, types[i]);
		lua_pushcclosure(L, word_type, 1);
		lua_setfield(L, -2, xk_param_type_name(types[i]));
	}
}
