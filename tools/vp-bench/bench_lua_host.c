/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_lua_host.c - the module host: what the Lua modules can have done by C.
 *
 *   host.run({"gnuplot", "-"}, input, seconds)   what it prints, or nil and why
 *   host.save(text, path)                        whole or not at all; true, or nil and why
 *   host.say(text)                               a line on stderr
 *   host.metrics                                 {name, unit, doc, better} of each metric
 */
#include "tools/vp-bench/bench_lua_host.h"

#include <lauxlib.h>
#include <stdlib.h>

#include "tools/vp-bench/bench.h"

#define WORDS 32

static int run(lua_State *L)
{
	const char *argv[WORDS + 1] = { NULL }, *input = luaL_checkstring(L, 2);
	double seconds = luaL_checknumber(L, 3);
	bool stopped = false;
	char why[400], *text;
	lua_Integer n;

	luaL_checktype(L, 1, LUA_TTABLE);
	n = (lua_Integer)lua_rawlen(L, 1);
	luaL_argcheck(L, n > 0 && n <= WORDS, 1, "1 to 32 words");
	luaL_checkstack(L, WORDS, "too many words");
	for (lua_Integer i = 0; i < n; i++) {
		lua_rawgeti(L, 1, i + 1);
		argv[i] = luaL_checkstring(L, -1);
	}
	text = bench_child_text(argv, input, seconds, &stopped, why, sizeof why);
	if (text != NULL) {
		lua_pushstring(L, text);
		free(text);
		return 1;
	}
	lua_pushnil(L);
	lua_pushstring(L, why);
	return 2;
}

static int save(lua_State *L)
{
	char why[4400];

	if (bench_text_save(luaL_checkstring(L, 1), luaL_checkstring(L, 2), why, sizeof why) == BENCH_OK) {
		lua_pushboolean(L, true);
		return 1;
	}
	lua_pushnil(L);
	lua_pushstring(L, why);
	return 2;
}

static int say(lua_State *L)
{
	fprintf(stderr, "%s\n", luaL_checkstring(L, 1));
	return 0;
}

static void push_metrics(lua_State *L)
{
	lua_newtable(L);
	for (unsigned i = 0; bench_metrics[i].name != NULL; i++) {
		const struct bench_metric *m = &bench_metrics[i];

		lua_createtable(L, 0, 4);
		lua_pushstring(L, m->name);
		lua_setfield(L, -2, "name");
		lua_pushstring(L, m->unit);
		lua_setfield(L, -2, "unit");
		lua_pushstring(L, m->doc);
		lua_setfield(L, -2, "doc");
		lua_pushstring(L, m->lower ? "lower" : "higher");
		lua_setfield(L, -2, "better");
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
}

int bench_lua_host(lua_State *L)
{
	static const luaL_Reg functions[] = { { "run", run }, { "save", save }, { "say", say }, { NULL, NULL } };

	luaL_newlib(L, functions);
	push_metrics(L);
	lua_setfield(L, -2, "metrics");
	return 1;
}
