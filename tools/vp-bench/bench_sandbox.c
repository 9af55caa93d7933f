/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_sandbox.c - runs a function of a bench file in a Lua state of its own.
 *
 * The function sees its arguments, the libraries string, table and math and of base what
 * computes: no files, no modules, no code from texts, an end to its steps and its memory.
 * It is taken as it stands in the file, so its errors have the file's line; what it uses
 * must be its arguments, for the file has ended long before.  The module own (own.lua)
 * calls it and checks what it gives.
 * Invariant: whatever the function does, the caller gets a value or a sentence.
 */
#include "tools/vp-bench/bench_sandbox.h"

#include <lauxlib.h>
#include <lualib.h>
#include <stdlib.h>

#include "tools/vp-bench/bench.h"
#include "tools/vp-bench/bench_lua.h"
#include "tools/vp-bench/bench_lua_value.h"

#define STEPS  100000000         /* of a call */
#define MEMORY (256u << 20)

static void *limited(void *ud, void *p, size_t old, size_t n)
{
	size_t *used = ud, had = p != NULL ? old : 0;
	void *got;

	if (n == 0) {
		free(p);
		*used -= had;
		return NULL;
	}
	if (n > had && *used + (n - had) > MEMORY)
		return NULL;
	got = realloc(p, n);
	if (got != NULL)
		*used = *used - had + n;
	return got;
}

static void too_long(lua_State *L, lua_Debug *ar)
{
	(void)ar;
	/* Level 0 of a hook is what it interrupted. */
	luaL_where(L, 0);
	lua_pushfstring(L, "it took more than %d steps", STEPS);
	lua_concat(L, 2);
	lua_error(L);
}

/* Away goes what finds modules, makes code from texts, reads files, catches the end of the steps or
 * speaks; modules that are loaded keep what they hold. */
static void close_world(lua_State *L)
{
	static const char *const not_for_it[] = { "collectgarbage", "dofile", "load", "loadfile", "package", "pcall", "print",
						  "require", "utf8", "warn", "xpcall", NULL };

	lua_getglobal(L, LUA_STRLIBNAME);
	lua_pushnil(L);
	lua_setfield(L, -2, "dump");
	lua_pop(L, 1);
	for (unsigned i = 0; not_for_it[i] != NULL; i++) {
		lua_pushnil(L);
		lua_setglobal(L, not_for_it[i]);
	}
}

struct call {
	const struct xk_value *code;
	const char *how;
	json_t *const *arg;
	unsigned narg;
	json_t *result;
	char where[40];                  /* the function's, as Lua says places: file's number and line */
};

static void load_function(lua_State *L, struct call *c)
{
	lua_Debug ar;

	if (luaL_loadbufferx(L, c->code->text, c->code->len, c->how, "b") != LUA_OK)
		lua_error(L);
	lua_pushvalue(L, -1);
	lua_getinfo(L, ">S", &ar);
	snprintf(c->where, sizeof c->where, "%.20s:%d: ", ar.short_src, ar.linedefined);
}

static int protected(lua_State *L)
{
	struct call *c = lua_touserdata(L, 1);

	bench_lua_open(L);
	luaL_checkstack(L, (int)c->narg + BENCH_LUA_STACK, "too many values");
	lua_getglobal(L, "require");
	lua_pushliteral(L, "own");
	lua_call(L, 1, 1);
	lua_getfield(L, -1, c->how);
	close_world(L);
	load_function(L, c);
	for (unsigned i = 0; i < c->narg; i++)
		bench_lua_push(L, c->arg[i]);
	lua_sethook(L, too_long, LUA_MASKCOUNT, STEPS);
	lua_call(L, 1 + (int)c->narg, 1);
	c->result = bench_lua_take(L, -1);
	return 0;
}

/* "0:12: what", with the file's name; what has no place has the function's. */
static void told(const struct bench *b, const struct call *c, const char *text, char *why, size_t n)
{
	const char *what = text != NULL ? text : "an error without words";
	char *rest;
	unsigned long no = strtoul(what, &rest, 10);
	bool placed = rest != what && *rest == ':';
	const char *file;

	if (!placed) {
		no = strtoul(c->where, &rest, 10);
		placed = rest != c->where && *rest == ':';
	} else {
		what = "";
	}
	file = placed ? xk_spec_file(b->spec, (unsigned)no) : NULL;
	if (file != NULL)
		snprintf(why, n, "%s%s%s", file, rest, what);
	else
		snprintf(why, n, "%s", text != NULL ? text : what);
}

json_t *bench_sandbox_call(const struct bench *b, const struct xk_value *code, const char *how,
			   json_t *const *args, unsigned nargs, char *why, size_t n)
{
	struct call c = { .code = code, .how = how, .arg = args, .narg = nargs };
	size_t used = 0;
	lua_State *L = lua_newstate(limited, &used);

	if (L == NULL) {
		snprintf(why, n, "out of memory");
		return NULL;
	}
	lua_pushcfunction(L, protected);
	lua_pushlightuserdata(L, &c);
	if (lua_pcall(L, 1, 0, 0) != LUA_OK)
		told(b, &c, lua_tostring(L, -1), why, n);
	else if (c.result == NULL)
		snprintf(why, n, "out of memory");
	lua_close(L);
	return c.result;
}
