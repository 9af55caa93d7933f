/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * compose_value.c - Lua values as plain C values, and the things that stand
 * for what was recorded.
 *
 * Tables are copied when they are used, so changing one afterwards changes
 * nothing.  Invariant: a copied table is a list (keys 1..n only) or a map
 * sorted by key; the order of Lua's own iteration never shows.
 */
#include "runtime/base/xk_param_value.h"
#include "runtime/compose/compose_lua.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- things -------------------------------------------------------------------- */

static const char thing_mark;

struct thing *loader_thing(lua_State *L, int index)
{
	struct thing *t = lua_touserdata(L, index);
	bool ours;

	if (t == NULL || lua_islightuserdata(L, index) || !lua_getmetatable(L, index))
		return NULL;
	ours = lua_rawgetp(L, -1, &thing_mark) != LUA_TNIL;
	lua_pop(L, 2);
	return ours ? t : NULL;
}

static const char *const thing_name[] = {
	[THING_NODE] = "node", [THING_ARCH] = "threading preset", [THING_GRAPH] = "graph",
	[THING_BENCH] = "bench", [THING_MACHINE] = "machine", [THING_POISON] = "unknown value", [THING_TYPED] = "value with a unit",
	[THING_ARG] = "declaration of an argument",
};

const char *loader_type_name(lua_State *L, int index)
{
	const struct thing *t = loader_thing(L, index);

	return lua_isnone(L, index) ? "nothing" : t ? thing_name[t->kind] : luaL_typename(L, index);
}

struct thing *loader_push_thing(lua_State *L, enum thing_kind kind, unsigned ref)
{
	struct thing *t = lua_newuserdatauv(L, sizeof *t, 0);

	*t = (struct thing){ .kind = kind, .ref = ref };
	lua_rawgetp(L, LUA_REGISTRYINDEX, &thing_name[kind]);
	lua_setmetatable(L, -2);
	return t;
}

void loader_push_poison(lua_State *L)
{
	struct loader *ld = loader_of(L);

	if (++ld->npoison > COMPOSE_AGAIN_MAX) {
		ld->limit = LIMIT_ERRORS;
		luaL_error(L, "limit");
	}
	loader_push_thing(L, THING_POISON, 0);
}

static int poison_any(lua_State *L)
{
	loader_push_thing(L, THING_POISON, 0);
	return 1;
}

static int poison_nothing(lua_State *L)
{
	(void)L;
	return 0;
}

static int poison_text(lua_State *L)
{
	lua_pushliteral(L, "?");
	return 1;
}

static void poison_events(lua_State *L)
{
	static const char *const any[] = {
		"__index", "__call", "__add", "__sub", "__mul", "__div", "__idiv", "__mod", "__pow",
		"__unm", "__concat", "__len", "__lt", "__le",
	};

	for (unsigned i = 0; i < XK_ARRAY_LEN(any); i++) {
		lua_pushcfunction(L, poison_any);
		lua_setfield(L, -2, any[i]);
	}
	lua_pushcfunction(L, poison_nothing);
	lua_setfield(L, -2, "__newindex");
	lua_pushcfunction(L, poison_text);
	lua_setfield(L, -2, "__tostring");
}

/* What a node tells about itself, so that a subgraph can suit what it is given. */
static bool node_field(lua_State *L, const struct thing *t)
{
	const struct spec_node *n = &loader_of(L)->s->node[t->ref];
	const char *field = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "";

	if (strcmp(field, "protocol") == 0)
		lua_pushstring(L, n->proto->name);
	else if (strcmp(field, "offers") == 0)
		lua_pushstring(L, check_offers(loader_of(L)->s, n));
	else if (strcmp(field, "below") != 0)
		return false;
	else if (n->nover != 0)
		loader_push_thing(L, THING_NODE, n->over[0]);
	else
		lua_pushnil(L);
	return true;
}

static int thing_index(lua_State *L)
{
	struct thing *t = loader_thing(L, 1);

	if (t != NULL && t->kind == THING_NODE && node_field(L, t))
		return 1;
	return loader_poison(L, loader_caller(L), NULL, "a %s has no field '%s'",
			     t ? thing_name[t->kind] : "value", luaL_tolstring(L, 2, NULL));
}

static int thing_newindex(lua_State *L)
{
	struct thing *t = loader_thing(L, 1);

	loader_poison(L, loader_caller(L), NULL, "a %s cannot be changed: give '%s' where it is made",
		      t ? thing_name[t->kind] : "value", luaL_tolstring(L, 2, NULL));
	return 0;
}

void loader_metatables(lua_State *L)
{
	for (unsigned k = 0; k < XK_ARRAY_LEN(thing_name); k++) {
		lua_newtable(L);
		lua_pushboolean(L, 1);
		lua_rawsetp(L, -2, &thing_mark);
		lua_pushstring(L, thing_name[k]);
		lua_setfield(L, -2, "__name");
		lua_pushliteral(L, "locked");
		lua_setfield(L, -2, "__metatable");
		if (k == THING_POISON) {
			poison_events(L);
		} else {
			lua_pushcfunction(L, thing_index);
			lua_setfield(L, -2, "__index");
			lua_pushcfunction(L, thing_newindex);
			lua_setfield(L, -2, "__newindex");
		}
		lua_rawsetp(L, LUA_REGISTRYINDEX, &thing_name[k]);
	}
}

/* ---- values ---------------------------------------------------------------------- */

static void *must_get(lua_State *L, size_t n)
{
	void *p = arena_get(&loader_of(L)->s->arena, n);

	if (p == NULL) {
		loader_of(L)->limit = LIMIT_NOMEM;
		luaL_error(L, "out of memory");
	}
	return p;
}

static const char *must_text(lua_State *L, const char *s, size_t n)
{
	char *p = must_get(L, n + 1);

	memcpy(p, s, n);
	return p;
}

static void set_text(lua_State *L, struct xk_value *v, enum xk_vkind kind, const char *s, size_t n)
{
	v->kind = kind;
	v->text = must_text(L, s, n);
	v->len = n;
}

static void from_number(lua_State *L, int index, struct xk_value *v)
{
	char buf[64];
	int n;

	if (lua_isinteger(L, index)) {
		n = snprintf(buf, sizeof buf, "%lld", (long long)lua_tointeger(L, index));
		set_text(L, v, XK_V_INT, buf, (size_t)n);
		return;
	}
	n = snprintf(buf, sizeof buf, "%.15g", lua_tonumber(L, index));
	if (isnan(lua_tonumber(L, index)))
		n = snprintf(buf, sizeof buf, "nan");         /* its sign says nothing */
	if (isfinite(lua_tonumber(L, index)) && strtod(buf, NULL) != lua_tonumber(L, index))
		n = snprintf(buf, sizeof buf, "%.17g", lua_tonumber(L, index));
	if (strspn(buf, "-0123456789") == (size_t)n)
		n += snprintf(buf + n, sizeof buf - (size_t)n, ".0");
	set_text(L, v, XK_V_FLOAT, buf, (size_t)n);
}

static void from_thing(lua_State *L, const struct thing *t, struct xk_value *v)
{
	const struct xk_param p = { .name = "value", .type = t->type };
	char buf[64];

	v->ref = t->ref;
	switch (t->kind) {
	case THING_NODE: v->kind = XK_V_NODE; break;
	case THING_ARCH: v->kind = XK_V_ARCH; break;
	case THING_GRAPH: v->kind = XK_V_GRAPH; break;
	case THING_POISON: v->kind = XK_V_POISON; break;
	case THING_TYPED:
		xk_param_format(&p, &t->u, buf, sizeof buf);
		set_text(L, v, XK_V_TYPED, buf, strlen(buf));
		break;
	case THING_BENCH: set_text(L, v, XK_V_OTHER, "a bench", 7); break;
	case THING_MACHINE: set_text(L, v, XK_V_OTHER, "a machine", 9); break;
	case THING_ARG:
		set_text(L, v, XK_V_OTHER, "the declaration of an argument",
			 strlen("the declaration of an argument"));
		break;
	}
}

static void from_lua(lua_State *L, int index, struct xk_value *v, unsigned depth);

/* Names before numbers before the rest; numbers by value. */
static int key_order(const struct xk_value *a, const struct xk_value *b)
{
	int names = (a->kind != XK_V_TEXT) - (b->kind != XK_V_TEXT);

	if (a->kind != b->kind)
		return names != 0 ? names : (int)a->kind - (int)b->kind;
	if (a->kind == XK_V_INT) {
		long long x = strtoll(a->text, NULL, 10), y = strtoll(b->text, NULL, 10);

		return (x > y) - (x < y);
	}
	return a->text && b->text ? strcmp(a->text, b->text) : 0;
}

struct pair { struct xk_value key, item; };

static int pair_order(const void *a, const void *b)
{
	return key_order(&((const struct pair *)a)->key, &((const struct pair *)b)->key);
}

static void map_from_table(lua_State *L, int index, unsigned n, struct xk_value *v, unsigned depth)
{
	struct pair *p = must_get(L, n * sizeof *p);
	unsigned i = 0;

	lua_pushnil(L);
	while (lua_next(L, index) && i < n) {
		from_lua(L, lua_absindex(L, -2), &p[i].key, depth + 1);
		from_lua(L, lua_absindex(L, -1), &p[i].item, depth + 1);
		i++;
		lua_pop(L, 1);
	}
	qsort(p, n, sizeof *p, pair_order);
	v->kind = XK_V_MAP;
	v->n = n;
	v->key = must_get(L, n * sizeof *v->key);
	v->item = must_get(L, n * sizeof *v->item);
	for (i = 0; i < n; i++) {
		v->key[i] = p[i].key;
		v->item[i] = p[i].item;
	}
}

static void from_table(lua_State *L, int index, struct xk_value *v, unsigned depth)
{
	size_t len = lua_rawlen(L, index), n = 0;

	if (depth > COMPOSE_DEPTH_MAX)
		luaL_error(L, "a table nests more than %d deep (does it hold itself?)", (int)COMPOSE_DEPTH_MAX);
	luaL_checkstack(L, 8, "tables");
	lua_pushnil(L);
	while (lua_next(L, index)) {
		n++;
		lua_pop(L, 1);
	}
	if (loader_of(L)->s->nvalues + n > COMPOSE_VALUES_MAX)
		luaL_error(L, "graph file describes more than 1 million values");
	if (n != len) {
		map_from_table(L, index, (unsigned)n, v, depth);
		return;
	}
	v->kind = XK_V_LIST;
	v->n = (unsigned)n;
	v->item = must_get(L, n * sizeof *v->item);
	for (unsigned i = 0; i < n; i++) {
		lua_rawgeti(L, index, i + 1);
		from_lua(L, lua_absindex(L, -1), &v->item[i], depth + 1);
		lua_pop(L, 1);
	}
}

struct dump { luaL_Buffer b; bool begun; };

/* A buffer puts something on the stack, and lua_dump wants the function on top when it begins. */
static int append(lua_State *L, const void *p, size_t n, void *dump)
{
	struct dump *d = dump;

	if (!d->begun)
		luaL_buffinit(L, &d->b);
	d->begun = true;
	luaL_addlstring(&d->b, p, n);
	return 0;
}

/* A function of the file: its code, which another state can load, unless it needs more than its globals. */
static void from_function(lua_State *L, int index, struct xk_value *v)
{
	struct dump d = { .begun = false };
	const char *name = "";
	size_t n;

	v->kind = XK_V_FUNCTION;
	for (int i = 1; name != NULL; i++) {
		name = lua_getupvalue(L, index, i);
		if (name != NULL)
			lua_pop(L, 1);
		if (name != NULL && strcmp(name, "_ENV") != 0) {
			v->text = must_text(L, name, strlen(name));
			return;
		}
	}
	lua_pushvalue(L, index);
	if (lua_dump(L, append, &d, 0) != 0 || !d.begun)
		luaL_error(L, "a function has no code");
	luaL_pushresult(&d.b);
	v->item = must_get(L, sizeof *v->item);
	name = lua_tolstring(L, -1, &n);
	set_text(L, v->item, XK_V_TEXT, name, n);
	lua_pop(L, 2);
}

static void from_lua(lua_State *L, int index, struct xk_value *v, unsigned depth)
{
	struct thing *t;
	const char *s;
	size_t n;

	*v = (struct xk_value){ .kind = XK_V_NIL };
	loader_of(L)->s->nvalues++;
	switch (lua_type(L, index)) {
	case LUA_TNIL: break;
	case LUA_TBOOLEAN:
		s = lua_toboolean(L, index) ? "true" : "false";
		set_text(L, v, XK_V_BOOL, s, strlen(s));
		break;
	case LUA_TNUMBER: from_number(L, index, v); break;
	case LUA_TSTRING:
		s = lua_tolstring(L, index, &n);
		set_text(L, v, XK_V_TEXT, s, n);
		break;
	case LUA_TTABLE: from_table(L, index, v, depth); break;
	case LUA_TFUNCTION:
		if (!lua_iscfunction(L, index)) {
			from_function(L, index, v);
			break;
		}
		/* fallthrough */
	default:
		t = loader_thing(L, index);
		if (t != NULL) {
			from_thing(L, t, v);
			break;
		}
		s = lua_pushfstring(L, "a %s", luaL_typename(L, index));
		set_text(L, v, XK_V_OTHER, s, strlen(s));
		lua_pop(L, 1);
	}
}

void value_from_lua(lua_State *L, int index, struct xk_value *out)
{
	from_lua(L, lua_absindex(L, index), out, 0);
}
