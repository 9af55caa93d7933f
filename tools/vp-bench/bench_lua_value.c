/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_lua_value.c - JSON values in a Lua state and back.
 *
 * Objects with the same keys share a metatable, their shape: pairs() follows the order
 * of the document, and what goes back has it, too, with the nulls that it had.  A key
 * that Lua adds comes after those, in the order of the alphabet.  Lists share a
 * metatable that tells an empty one from an empty object; null in a list is a light
 * userdata, json.null, so that # is the list's length.
 * Invariant: a document that goes in and comes back unchanged is the same document.
 */
#include "tools/vp-bench/bench_lua_value.h"

#include <lauxlib.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char shapes_key = 0, list_key = 0;

/* ---- shapes ------------------------------------------------------------------------- */

/* (state, key) -> key, value: the next that is not nil.  Upvalues: table, shape, position. */
static int next_of(lua_State *L)
{
	lua_Integer at = lua_tointeger(L, lua_upvalueindex(3));
	lua_Integer n = (lua_Integer)lua_rawlen(L, lua_upvalueindex(2));

	while (at < n) {
		lua_rawgeti(L, lua_upvalueindex(2), ++at);
		lua_pushvalue(L, -1);
		if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL) {
			lua_pushinteger(L, at);
			lua_replace(L, lua_upvalueindex(3));
			return 2;
		}
		lua_pop(L, 2);
	}
	/* Those that were added. */
	if (at == n)
		lua_pushnil(L);
	else
		lua_pushvalue(L, 2);
	lua_pushinteger(L, n + 1);
	lua_replace(L, lua_upvalueindex(3));
	lua_rawgeti(L, lua_upvalueindex(2), 0);
	lua_insert(L, -2);
	while (lua_next(L, lua_upvalueindex(1)) != 0) {
		lua_pushvalue(L, -2);
		if (lua_rawget(L, -4) == LUA_TNIL) {
			lua_pop(L, 1);
			return 2;
		}
		lua_pop(L, 2);
	}
	return 0;
}

static int pairs_of(lua_State *L)
{
	lua_settop(L, 1);
	lua_getmetatable(L, 1);
	lua_pushinteger(L, 0);
	lua_pushcclosure(L, next_of, 3);
	return 1;
}

static void own_table(lua_State *L, const void *key)
{
	if (lua_rawgetp(L, LUA_REGISTRYINDEX, key) == LUA_TTABLE)
		return;
	lua_pop(L, 1);
	lua_newtable(L);
	lua_pushvalue(L, -1);
	lua_rawsetp(L, LUA_REGISTRYINDEX, key);
}

/* {keys in order..., [0] = {key = is it null?}, __pairs}: the shape of the object v. */
static void new_shape(lua_State *L, const json_t *v)
{
	lua_Integer n = 0;
	const char *key;
	json_t *item;

	lua_createtable(L, (int)json_object_size(v), 2);
	lua_pushcfunction(L, pairs_of);
	lua_setfield(L, -2, "__pairs");
	lua_newtable(L);
	json_object_foreach((json_t *)v, key, item) {
		lua_pushstring(L, key);
		lua_rawseti(L, -3, ++n);
		lua_pushboolean(L, json_is_null(item));
		lua_setfield(L, -2, key);
	}
	lua_rawseti(L, -2, 0);
}

static void push_shape(lua_State *L, const json_t *v)
{
	const char *key;
	json_t *item;
	luaL_Buffer b;

	own_table(L, &shapes_key);
	luaL_buffinit(L, &b);
	json_object_foreach((json_t *)v, key, item) {
		luaL_addlstring(&b, key, strlen(key) + 1);
		luaL_addchar(&b, json_is_null(item) ? '0' : '1');
	}
	luaL_pushresult(&b);
	lua_pushvalue(L, -1);
	if (lua_rawget(L, -3) == LUA_TNIL) {
		lua_pop(L, 1);
		new_shape(L, v);
		lua_pushvalue(L, -2);
		lua_pushvalue(L, -2);
		lua_rawset(L, -5);
	}
	lua_replace(L, -3);
	lua_pop(L, 1);
}

/* ---- in ------------------------------------------------------------------------------- */

static void push_list(lua_State *L, const json_t *v)
{
	json_t *item;
	size_t i;

	lua_createtable(L, (int)json_array_size(v), 0);
	json_array_foreach(v, i, item) {
		if (json_is_null(item))
			lua_pushlightuserdata(L, NULL);
		else
			bench_lua_push(L, item);
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
	own_table(L, &list_key);
	lua_setmetatable(L, -2);
}

static void push_object(lua_State *L, const json_t *v)
{
	const char *key;
	json_t *item;

	lua_createtable(L, 0, (int)json_object_size(v));
	json_object_foreach((json_t *)v, key, item) {
		lua_pushstring(L, key);
		bench_lua_push(L, item);
		lua_rawset(L, -3);
	}
	push_shape(L, v);
	lua_setmetatable(L, -2);
}

void bench_lua_push(lua_State *L, const json_t *v)
{
	luaL_checkstack(L, 8, "a value is too deep");
	if (json_is_object(v))
		push_object(L, v);
	else if (json_is_array(v))
		push_list(L, v);
	else if (json_is_string(v))
		lua_pushlstring(L, json_string_value(v), json_string_length(v));
	else if (json_is_integer(v))
		lua_pushinteger(L, (lua_Integer)json_integer_value(v));
	else if (json_is_real(v))
		lua_pushnumber(L, json_real_value(v));
	else if (json_is_boolean(v))
		lua_pushboolean(L, json_is_true(v));
	else
		lua_pushnil(L);
}

/* ---- out ------------------------------------------------------------------------------ */

static json_t *take(lua_State *L, int at, unsigned depth);

static json_t *take_list(lua_State *L, int at, size_t n, unsigned depth)
{
	json_t *list = json_array();

	for (size_t i = 1; i <= n; i++) {
		lua_rawgeti(L, at, (lua_Integer)i);
		json_array_append_new(list, take(L, -1, depth));
		lua_pop(L, 1);
	}
	return list;
}

/* Keys of the shape that is on top: those with a value, and those that were null. */
static void take_shape(lua_State *L, int at, json_t *o, unsigned depth)
{
	size_t n = lua_rawlen(L, -1);

	if (lua_rawgeti(L, -1, 0) != LUA_TTABLE)
		n = 0;
	for (size_t i = 1; i <= n; i++) {
		bool null;

		lua_rawgeti(L, -2, (lua_Integer)i);
		lua_pushvalue(L, -1);
		lua_rawget(L, -3);
		null = lua_toboolean(L, -1);
		lua_pop(L, 1);
		lua_pushvalue(L, -1);
		lua_rawget(L, at);
		if (!lua_isnil(L, -1) || null)
			json_object_set_new(o, lua_tostring(L, -2), take(L, -1, depth));
		lua_pop(L, 2);
	}
	lua_pop(L, 1);
}

/* On top is a key or nil; becomes the least key after it that o has not, or nil. */
static const char *least_after(lua_State *L, int at, const json_t *o)
{
	const char *last = lua_tostring(L, -1), *least = NULL;
	int slot = lua_gettop(L) + 1;

	lua_pushnil(L);
	for (lua_pushnil(L); lua_next(L, at) != 0; lua_pop(L, 1)) {
		const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : NULL;

		if (key == NULL || (last != NULL && strcmp(key, last) <= 0) || (least != NULL && strcmp(key, least) >= 0) ||
		    json_object_get(o, key) != NULL)
			continue;
		least = key;
		lua_pushvalue(L, -2);
		lua_replace(L, slot);
	}
	lua_remove(L, slot - 1);
	return least;
}

static json_t *take_object(lua_State *L, int at, unsigned depth)
{
	json_t *o = json_object();
	const char *key;

	if (lua_getmetatable(L, at)) {
		take_shape(L, at, o, depth);
		lua_pop(L, 1);
	}
	lua_pushnil(L);
	while ((key = least_after(L, at, o)) != NULL) {
		lua_pushvalue(L, -1);
		lua_rawget(L, at);
		json_object_set_new(o, key, take(L, -1, depth));
		lua_pop(L, 1);
	}
	lua_pop(L, 1);
	return o;
}

static bool is_list(lua_State *L, int at)
{
	bool same;

	if (!lua_getmetatable(L, at))
		return false;
	lua_rawgetp(L, LUA_REGISTRYINDEX, &list_key);
	same = lua_rawequal(L, -1, -2);
	lua_pop(L, 2);
	return same;
}

/* A table with [1] is a list, any other an object; keys that are no texts are left out. */
static json_t *take_table(lua_State *L, int at, unsigned depth)
{
	at = lua_absindex(L, at);
	if (depth == 0)
		return json_null();
	if (lua_rawlen(L, at) != 0 || is_list(L, at))
		return take_list(L, at, lua_rawlen(L, at), depth - 1);
	return take_object(L, at, depth - 1);
}

static json_t *take(lua_State *L, int at, unsigned depth)
{
	json_t *v = NULL;
	const char *text;
	size_t n;

	switch (lua_type(L, at)) {
	case LUA_TTABLE: return take_table(L, at, depth);
	case LUA_TSTRING:
		text = lua_tolstring(L, at, &n);
		v = json_stringn(text, n);
		break;
	case LUA_TBOOLEAN: return json_boolean(lua_toboolean(L, at));
	case LUA_TNUMBER:
		v = lua_isinteger(L, at) ? json_integer((json_int_t)lua_tointeger(L, at)) : json_real(lua_tonumber(L, at));
		break;
	default: break;
	}
	return v != NULL ? v : json_null();       /* JSON has no infinity, and texts may be no UTF-8 */
}

json_t *bench_lua_take(lua_State *L, int at)
{
	return take(L, at, BENCH_LUA_DEPTH);
}

/* ---- the module json --------------------------------------------------------------------- */

/* json.object(keys, t): t, with these keys first, null where it has none. */
static int object_of(lua_State *L)
{
	lua_Integer n;

	luaL_checktype(L, 1, LUA_TTABLE);
	luaL_checktype(L, 2, LUA_TTABLE);
	n = (lua_Integer)lua_rawlen(L, 1);
	lua_settop(L, 2);
	lua_newtable(L);
	lua_pushcfunction(L, pairs_of);
	lua_setfield(L, -2, "__pairs");
	lua_newtable(L);
	for (lua_Integer i = 1; i <= n; i++) {
		lua_rawgeti(L, 1, i);
		lua_pushvalue(L, -1);
		lua_rawseti(L, 3, i);
		lua_pushboolean(L, true);
		lua_rawset(L, 4);
	}
	lua_rawseti(L, 3, 0);
	lua_setmetatable(L, 2);
	return 1;
}

/* json.list(t): t, which is a list though it may be empty. */
static int list_of(lua_State *L)
{
	luaL_checktype(L, 1, LUA_TTABLE);
	lua_settop(L, 1);
	own_table(L, &list_key);
	lua_setmetatable(L, 1);
	return 1;
}

/* json.keys(t): those of an object of a document, in order, with those of null. */
static int keys_of(lua_State *L)
{
	luaL_checktype(L, 1, LUA_TTABLE);
	if (lua_getmetatable(L, 1))
		return 1;
	lua_newtable(L);
	return 1;
}

/* json.text(v, indent): without indent on one line. */
static int text_of(lua_State *L)
{
	size_t indent = (size_t)luaL_optinteger(L, 2, 0);
	json_t *v;
	char *text;

	luaL_checkstack(L, BENCH_LUA_STACK, "a value is too deep");
	v = bench_lua_take(L, 1);
	text = json_dumps(v, JSON_ENCODE_ANY | (indent != 0 ? JSON_INDENT(indent) : JSON_COMPACT));
	json_decref(v);
	if (text == NULL)
		return luaL_error(L, "a value is no JSON");
	lua_pushstring(L, text);
	free(text);
	return 1;
}

int bench_lua_json(lua_State *L)
{
	static const luaL_Reg functions[] = {
		{ "object", object_of }, { "list", list_of }, { "keys", keys_of }, { "text", text_of }, { NULL, NULL },
	};

	luaL_newlib(L, functions);
	lua_pushlightuserdata(L, NULL);
	lua_setfield(L, -2, "null");
	return 1;
}
