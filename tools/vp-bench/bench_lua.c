/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_lua.c - runs the Lua modules that look at results: JSON in, JSON out.
 *
 * One state, made at the first call, holds the modules.  A module sees tables, texts
 * and numbers and the libraries base, table, string and math, and package to find
 * its neighbours by name.
 * Invariant: whatever a module does, the caller gets a value or a sentence.
 */
#include "tools/vp-bench/bench_lua.h"

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/mem/xk_mem.h"
#include "tools/vp-bench/bench_lua_text.h"

#define DEPTH 32          /* of a value */

static lua_State *state;
static const char *modules_dir;

/* ---- values ----------------------------------------------------------------------- */

static void push(lua_State *L, const json_t *v);

static void push_table(lua_State *L, const json_t *v)
{
	const char *key;
	json_t *item;
	size_t i;

	luaL_checkstack(L, 4, "a value is too deep");
	lua_createtable(L, json_is_array(v) ? (int)json_array_size(v) : 0, json_is_array(v) ? 0 : (int)json_object_size(v));
	if (json_is_array(v)) {
		json_array_foreach(v, i, item) {
			push(L, item);
			lua_rawseti(L, -2, (lua_Integer)i + 1);
		}
		return;
	}
	json_object_foreach((json_t *)v, key, item) {
		lua_pushstring(L, key);
		push(L, item);
		lua_rawset(L, -3);
	}
}

static void push(lua_State *L, const json_t *v)
{
	if (json_is_object(v) || json_is_array(v))
		push_table(L, v);
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

/* A table with [1] is a list, any other an object; keys that are no texts are left out. */
static json_t *take_table(lua_State *L, int at, unsigned depth)
{
	json_t *o;

	at = lua_absindex(L, at);
	if (depth == 0)
		return json_null();
	if (lua_rawlen(L, at) != 0)
		return take_list(L, at, lua_rawlen(L, at), depth - 1);
	o = json_object();
	for (lua_pushnil(L); lua_next(L, at) != 0; lua_pop(L, 1))
		if (lua_type(L, -2) == LUA_TSTRING)
			json_object_set_new(o, lua_tostring(L, -2), take(L, -1, depth - 1));
	return o;
}

static json_t *take(lua_State *L, int at, unsigned depth)
{
	json_t *v = NULL;

	switch (lua_type(L, at)) {
	case LUA_TTABLE: return take_table(L, at, depth);
	case LUA_TSTRING: v = json_string(lua_tostring(L, at)); break;
	case LUA_TBOOLEAN: return json_boolean(lua_toboolean(L, at));
	case LUA_TNUMBER:
		v = lua_isinteger(L, at) ? json_integer((json_int_t)lua_tointeger(L, at)) : json_real(lua_tonumber(L, at));
		break;
	default: break;
	}
	return v != NULL ? v : json_null();       /* JSON has no infinity, and texts may be no UTF-8 */
}

/* ---- modules ---------------------------------------------------------------------- */

static int load_embedded(lua_State *L)
{
	size_t i = (size_t)lua_tointeger(L, lua_upvalueindex(1));
	char name[64];

	snprintf(name, sizeof name, "@%s.lua", lua_text[i].name);
	if (luaL_loadbufferx(L, (const char *)lua_text[i].text, lua_text[i].n, name, "t") != LUA_OK)
		return lua_error(L);
	lua_call(L, 0, 1);
	return 1;
}

static int open_state(lua_State *L)
{
	static const luaL_Reg libs[] = {
		{ LUA_GNAME, luaopen_base }, { LUA_LOADLIBNAME, luaopen_package }, { LUA_TABLIBNAME, luaopen_table },
		{ LUA_STRLIBNAME, luaopen_string }, { LUA_MATHLIBNAME, luaopen_math },
	};

	for (size_t i = 0; i < sizeof libs / sizeof *libs; i++) {
		luaL_requiref(L, libs[i].name, libs[i].func, 1);
		lua_pop(L, 1);
	}
	lua_getglobal(L, LUA_LOADLIBNAME);
	lua_pushliteral(L, "");
	lua_setfield(L, -2, "cpath");
	if (modules_dir != NULL)
		lua_pushfstring(L, "%s/?.lua", modules_dir);
	else
		lua_pushliteral(L, "");
	lua_setfield(L, -2, "path");
	lua_getfield(L, -1, "preload");
	for (size_t i = 0; modules_dir == NULL && i < sizeof lua_text / sizeof *lua_text; i++) {
		lua_pushinteger(L, (lua_Integer)i);
		lua_pushcclosure(L, load_embedded, 1);
		lua_setfield(L, -2, lua_text[i].name);
	}
	return 0;
}

static void *allocate(void *ud, void *p, size_t old, size_t n)
{
	(void)ud;
	if (n == 0) {
		free(p);
		return NULL;
	}
	return (p == NULL || n > old) && xk_mem_fails() ? NULL : realloc(p, n);
}

static void close_state(void)
{
	if (state != NULL)
		lua_close(state);
	state = NULL;
}

void bench_lua_from(const char *dir)
{
	close_state();
	modules_dir = dir;
}

/* ---- calls ------------------------------------------------------------------------ */

struct call { const char *module, *function; json_t *const *arg; unsigned narg; json_t *result; };

static int protected(lua_State *L)
{
	struct call *c = lua_touserdata(L, 1);

	lua_getglobal(L, "require");
	lua_pushstring(L, c->module);
	lua_call(L, 1, 1);
	lua_getfield(L, -1, c->function);
	/* For the result, too: take() stops for nothing. */
	luaL_checkstack(L, (int)c->narg + 4 + 3 * DEPTH, "too many values");
	for (unsigned i = 0; i < c->narg; i++)
		push(L, c->arg[i]);
	lua_call(L, (int)c->narg, 1);
	c->result = take(L, -1, DEPTH);
	return 0;
}

static json_t *failed(const char *text, char *why, size_t n)
{
	snprintf(why, n, "%s", text != NULL ? text : "an error without words");
	/* A sentence, whatever lines Lua made of it. */
	for (char *c = why; *c != '\0'; c++)
		*c = *c == '\n' || *c == '\t' ? ' ' : *c;
	if (state != NULL)
		lua_settop(state, 0);
	return NULL;
}

/* One that could not be opened is none. */
static bool new_state(char *why, size_t n)
{
	static bool registered;

	state = lua_newstate(allocate, NULL);
	if (state == NULL) {
		failed("out of memory", why, n);
		return false;
	}
	registered = registered || atexit(close_state) == 0;
	lua_pushcfunction(state, open_state);
	if (lua_pcall(state, 0, 0, 0) == LUA_OK)
		return true;
	failed(lua_tostring(state, -1), why, n);
	close_state();
	return false;
}

json_t *bench_lua_call(const char *module, const char *function, json_t *const *args, unsigned nargs, char *why, size_t n)
{
	struct call c = { module, function, args, nargs, NULL };

	if (state == NULL && !new_state(why, n))
		return NULL;
	lua_pushcfunction(state, protected);
	lua_pushlightuserdata(state, &c);
	if (lua_pcall(state, 1, 0, 0) != LUA_OK)
		return failed(lua_tostring(state, -1), why, n);
	return c.result != NULL ? c.result : failed("out of memory", why, n);
}
