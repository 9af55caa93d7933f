/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_lua.c - runs the Lua modules that look at results: JSON in, JSON out.
 *
 * One state, made at the first call, holds the modules.  A module sees tables, texts
 * and numbers, the libraries base, table, string, math and utf8, package to find its
 * neighbours by name, and the module json (bench_lua_value.c).  It has no files and no programs: C reads, runs and writes.
 * Invariant: whatever a module does, the caller gets a value or a sentence.
 */
#include "tools/vp-bench/bench_lua.h"

#include <lauxlib.h>
#include <lualib.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/mem/xk_mem.h"
#include "tools/vp-bench/bench.h"
#include "tools/vp-bench/bench_lua_value.h"
#include "tools/vp-bench/bench_lua_text.h"

static lua_State *state;
static const char *modules_dir;

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

/* Is there NAME.lua in the folder? */
static bool from_folder(const char *name)
{
	char path[4096];

	return modules_dir != NULL && snprintf(path, sizeof path, "%s/%s.lua", modules_dir, name) < (int)sizeof path &&
	       access(path, F_OK) == 0;
}

void bench_lua_open(lua_State *L)
{
	static const luaL_Reg libs[] = {
		{ LUA_GNAME, luaopen_base }, { LUA_LOADLIBNAME, luaopen_package }, { LUA_TABLIBNAME, luaopen_table },
		{ LUA_STRLIBNAME, luaopen_string }, { LUA_MATHLIBNAME, luaopen_math }, { LUA_UTF8LIBNAME, luaopen_utf8 },
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
	lua_pushcfunction(L, bench_lua_json);
	lua_setfield(L, -2, "json");
	for (size_t i = 0; i < sizeof lua_text / sizeof *lua_text; i++) {
		if (from_folder(lua_text[i].name))
			continue;
		lua_pushinteger(L, (lua_Integer)i);
		lua_pushcclosure(L, load_embedded, 1);
		lua_setfield(L, -2, lua_text[i].name);
	}
	lua_pop(L, 2);
}

static int open_state(lua_State *L)
{
	bench_lua_open(L);
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

struct call { const char *module, *function; json_t *const *arg; unsigned narg; json_t *result; char *text; bool as_text; };

static int protected(lua_State *L)
{
	struct call *c = lua_touserdata(L, 1);
	const char *text;
	size_t n;

	lua_getglobal(L, "require");
	lua_pushstring(L, c->module);
	lua_call(L, 1, 1);
	lua_getfield(L, -1, c->function);
	/* For the result, too: taking it stops for nothing. */
	luaL_checkstack(L, (int)c->narg + BENCH_LUA_STACK, "too many values");
	for (unsigned i = 0; i < c->narg; i++)
		bench_lua_push(L, c->arg[i]);
	lua_call(L, (int)c->narg, 1);
	if (!c->as_text) {
		c->result = bench_lua_take(L, -1);
		return 0;
	}
	text = luaL_checklstring(L, -1, &n);
	c->text = malloc(n + 1);
	if (c->text != NULL)
		memcpy(c->text, text, n + 1);
	return 0;
}

static void failed(const char *text, char *why, size_t n)
{
	snprintf(why, n, "%s", text != NULL ? text : "an error without words");
	/* A sentence, whatever lines Lua made of it. */
	for (char *c = why; *c != '\0'; c++)
		*c = *c == '\n' || *c == '\t' ? ' ' : *c;
	if (state != NULL)
		lua_settop(state, 0);
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

static bool call(struct call *c, char *why, size_t n)
{
	if (state == NULL && !new_state(why, n))
		return false;
	lua_pushcfunction(state, protected);
	lua_pushlightuserdata(state, c);
	if (lua_pcall(state, 1, 0, 0) != LUA_OK)
		failed(lua_tostring(state, -1), why, n);
	else if (c->result == NULL && c->text == NULL)
		failed("out of memory", why, n);
	return c->result != NULL || c->text != NULL;
}

json_t *bench_lua_call(const char *module, const char *function, json_t *const *args, unsigned nargs, char *why, size_t n)
{
	struct call c = { .module = module, .function = function, .arg = args, .narg = nargs };

	return call(&c, why, n) ? c.result : NULL;
}

char *bench_lua_text(const char *module, const char *function, json_t *const *args, unsigned nargs, char *why, size_t n)
{
	struct call c = { .module = module, .function = function, .arg = args, .narg = nargs, .as_text = true };

	return call(&c, why, n) ? c.text : NULL;
}

int bench_lua_print(FILE *f, const char *module, const char *function, json_t *const *args, unsigned nargs)
{
	char why[400];
	char *text = bench_lua_text(module, function, args, nargs, why, sizeof why);
	bool good;

	if (text == NULL) {
		fprintf(stderr, "vp-bench: cannot show it: %s\n", why);
		return BENCH_IO;
	}
	fputs(text, f);
	free(text);
	good = fflush(f) == 0 && !ferror(f);
	return good ? BENCH_OK : BENCH_IO;
}
