/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * compose_env.c - what a graph file can see: an allow-list of Lua, the words
 * of the language, and a strict watch over both.
 *
 * The globals table is an empty proxy.  Reading an unknown name through it is
 * a complaint with a suggestion, answered by a value that swallows whatever is
 * done to it, so that the rest of the file is still looked at.  Writing a
 * global is a complaint, too; the value is kept, for the same reason.
 * Left out of Lua: whatever reaches outside, whatever loads code, metatables
 * (a finalizer runs when no limit is watching), protected calls, patterns and
 * table.move (they can loop for ever inside one instruction).
 */
#include "runtime/compose/compose_lua.h"

#include <string.h>

#define PRINT_MAX 1000

static const char *const base_names[] = {
	"assert", "error", "ipairs", "next", "pairs", "select", "tonumber", "tostring", "type", NULL
};
static const char *const string_names[] = {
	"byte", "char", "format", "len", "lower", "reverse", "sub", "upper", NULL
};
static const char *const table_names[] = {
	"concat", "insert", "pack", "remove", "sort", "unpack", NULL
};
static const char *const math_names[] = {
	"abs", "ceil", "exp", "floor", "fmod", "huge", "log", "max", "maxinteger", "min",
	"mininteger", "modf", "pi", "sqrt", "tointeger", "type", "ult", NULL
};
/* In Lua, but not here. */
static const char *const refused[] = {
	"_G", "collectgarbage", "coroutine", "debug", "dofile", "getmetatable", "io",
	"loadfile", "os", "package", "pcall", "rawequal", "rawget", "rawlen", "rawset", "require",
	"setmetatable", "utf8", "warn", "xpcall", "loadstring", "setfenv", "getfenv", "unpack", NULL
};

static bool in_list(const char *const *list, const char *name)
{
	for (; *list != NULL; list++)
		if (strcmp(*list, name) == 0)
			return true;
	return false;
}

/* ---- suggestions --------------------------------------------------------------- */

#define NAMES_MAX 512u
struct names { const char *v[NAMES_MAX]; unsigned n; };

static void names_add(struct names *w, const char *s)
{
	if (w->n < NAMES_MAX && s != NULL && s[0] != '(')
		w->v[w->n++] = s;
}

/* Locals and upvalues of the function that looked for the name. */
static void names_local(lua_State *L, struct names *w)
{
	lua_Debug ar;
	const char *s;

	if (!lua_getstack(L, 1, &ar))
		return;
	for (int i = 1; (s = lua_getlocal(L, &ar, i)) != NULL; i++) {
		names_add(w, s);
		lua_pop(L, 1);
	}
	lua_getinfo(L, "f", &ar);
	for (int i = 1; (s = lua_getupvalue(L, -1, i)) != NULL; i++) {
		if (strcmp(s, "_ENV") != 0)
			names_add(w, s);
		lua_pop(L, 1);
	}
	lua_pop(L, 1);
}

/* The nearest of all; among equals a local before a protocol before a word. */
static const char *suggest(lua_State *L, const char *name)
{
	struct names w = { .n = 0 };

	names_local(L, &w);
	for (const struct xk_proto *const *p = loader_of(L)->s->table; *p != NULL; p++)
		names_add(&w, (*p)->name);
	for (const struct xk_arch *a = xk_arch_presets; a->name != NULL; a++)
		names_add(&w, a->name);
	for (const struct xk_word *k = xk_words; k->name != NULL; k++)
		names_add(&w, k->name);
	for (unsigned i = 0; base_names[i] != NULL; i++)
		names_add(&w, base_names[i]);
	return xk_errs_suggest(name, w.v, w.n);
}

/* Words of earlier days, and what stands for them now. */
static const char *renamed(const char *name)
{
	static const char *const words[][2] = {
		{ "source", "load" }, { "tcpsend", "load" }, { "tcprecv", "sink" },
	};

	for (unsigned i = 0; i < XK_ARRAY_LEN(words); i++)
		if (strcmp(words[i][0], name) == 0)
			return words[i][1];
	return NULL;
}

/* ---- the proxy: upvalue 1 the words, 2 what was written ------------------------- */

static int unknown_name(lua_State *L, const char *name)
{
	struct spec_place at = loader_caller(L);
	const struct xk_absent *absent = xk_proto_find_absent(name);
	const char *near;

	if (loader_seen(L, at, name)) {
		loader_push_poison(L);
		return 1;
	}
	if (absent != NULL)
		return loader_poison(L, at, name, "'%s' is not in this build: install %s, then configure and build again",
				     name, absent->packages);
	if (in_list(refused, name) || strcmp(name, "print") == 0)
		return loader_poison(L, at, name, "'%s' is not available in graph files: they only describe", name);
	if (renamed(name) != NULL)
		return loader_poison(L, at, name, "'%s' is called %s now, over a port or a stream", name, renamed(name));
	near = suggest(L, name);
	if (near != NULL)
		return loader_poison(L, at, name, "unknown name '%s' (did you mean '%s'?)", name, near);
	return loader_poison(L, at, name, "unknown name '%s'", name);
}

static int env_index(lua_State *L)
{
	for (int up = 2; up >= 1; up--) {
		lua_pushvalue(L, 2);
		if (lua_rawget(L, lua_upvalueindex(up)) != LUA_TNIL)
			return 1;
		lua_pop(L, 1);
	}
	return unknown_name(L, luaL_tolstring(L, 2, NULL));
}

static int env_newindex(lua_State *L)
{
	const char *name = luaL_tolstring(L, 2, NULL);

	loader_poison(L, loader_caller(L), name, "assignment to global '%s': write 'local %s = ...'", name, name);
	lua_pushvalue(L, 2);
	lua_pushvalue(L, 3);
	lua_rawset(L, lua_upvalueindex(1));
	return 0;
}

/* A field that a library does not have here; upvalue 1 its name. */
static int library_index(lua_State *L)
{
	return loader_poison(L, loader_caller(L), NULL, "'%s.%s' is not available in graph files: they only describe",
			     lua_tostring(L, lua_upvalueindex(1)), luaL_tolstring(L, 2, NULL));
}

static int library_newindex(lua_State *L)
{
	loader_poison(L, loader_caller(L), NULL, "the library '%s' cannot be changed",
		      lua_tostring(L, lua_upvalueindex(1)));
	return 0;
}

/* ---- functions of our own -------------------------------------------------------- */

/* Control characters would be the terminal's to obey. */
static void print_text(const char *s, size_t n)
{
	for (size_t i = 0, len; i < n; i += len) {
		len = spec_utf8(s + i, n - i);
		if (s[i] == '\n' || spec_is_printable(s + i, len)) {
			fwrite(s + i, 1, len, stderr);
			continue;
		}
		len = len != 0 ? len : 1;
		for (size_t k = i; k < i + len; k++)
			fprintf(stderr, "\\x%02x", (unsigned char)s[k]);
	}
}

static int base_print(lua_State *L)
{
	static const char done_mark;
	lua_Integer done;

	lua_rawgetp(L, LUA_REGISTRYINDEX, &done_mark);
	done = lua_tointeger(L, -1) + 1;
	lua_pushinteger(L, done);
	lua_rawsetp(L, LUA_REGISTRYINDEX, &done_mark);
	lua_pop(L, 1);
	if (done > PRINT_MAX)
		return 0;
	for (int i = 1, n = lua_gettop(L); i <= n; i++) {
		size_t len;
		const char *s = luaL_tolstring(L, i, &len);

		if (i > 1)
			fputc('\t', stderr);
		print_text(s, len);
		lua_pop(L, 1);
	}
	fputs(done == PRINT_MAX ? "\n(further prints are not shown)\n" : "\n", stderr);
	return 0;
}

/* Lua's own loops n times even over nothing. */
static int string_rep(lua_State *L)
{
	size_t n, m;
	const char *s = luaL_checklstring(L, 1, &n), *sep = luaL_optlstring(L, 3, "", &m);
	lua_Integer times = luaL_checkinteger(L, 2);
	luaL_Buffer b;

	if (times <= 0 || n + m == 0) {
		lua_pushliteral(L, "");
		return 1;
	}
	if (n + m < n || (uint64_t)times > COMPOSE_MEM_MAX / (n + m)) {
		loader_of(L)->limit = LIMIT_MEM;
		return luaL_error(L, "graph file used more than 64 MiB of memory");
	}
	luaL_buffinit(L, &b);
	while (times-- > 1) {
		luaL_addlstring(&b, s, n);
		luaL_addlstring(&b, sep, m);
	}
	luaL_addlstring(&b, s, n);
	luaL_pushresult(&b);
	return 1;
}

/* ---- opening ------------------------------------------------------------------------ */

void env_word(lua_State *L, const char *name, int (*fn)(lua_State *))
{
	lua_pushcfunction(L, fn);
	lua_setfield(L, -2, name);
}

/* From the table on top to the one below it. */
static void copy_names(lua_State *L, const char *const *names)
{
	for (; *names != NULL; names++) {
		lua_getfield(L, -1, *names);
		lua_setfield(L, -3, *names);
	}
}

/* Opens a library and leaves its allowed part as a field of the table on top. */
static void open_part(lua_State *L, const char *name, lua_CFunction open, const char *const *names)
{
	lua_newtable(L);
	luaL_requiref(L, name, open, 0);
	copy_names(L, names);
	lua_pop(L, 1);
	if (strcmp(name, "string") == 0)
		env_word(L, "rep", string_rep);
	lua_newtable(L);
	lua_pushstring(L, name);
	lua_pushcclosure(L, library_index, 1);
	lua_setfield(L, -2, "__index");
	lua_pushstring(L, name);
	lua_pushcclosure(L, library_newindex, 1);
	lua_setfield(L, -2, "__newindex");
	lua_setmetatable(L, -2);
	if (strcmp(name, "string") == 0) {
		/* Methods of strings see the allowed part, too. */
		lua_pushliteral(L, "");
		lua_getmetatable(L, -1);
		lua_pushvalue(L, -3);
		lua_setfield(L, -2, "__index");
		lua_pop(L, 2);
	}
	lua_setfield(L, -2, name);
}

/* The words of a sandboxed file: a fresh table on the stack. */
static void open_safe(lua_State *L)
{
	lua_newtable(L);
	luaL_requiref(L, "_G", luaopen_base, 0);
	copy_names(L, base_names);
	lua_pop(L, 1);
	env_word(L, "print", base_print);
	open_part(L, "string", luaopen_string, string_names);
	open_part(L, "table", luaopen_table, table_names);
	open_part(L, "math", luaopen_math, math_names);
}

static void open_unsafe(lua_State *L)
{
	luaL_openlibs(L);
	lua_pushglobaltable(L);
	env_word(L, "print", base_print);
}

void env_open(lua_State *L, bool unsafe)
{
	loader_metatables(L);
	if (unsafe)
		open_unsafe(L);
	else
		open_safe(L);
	words_open(L);
	types_open(L);
	lua_newtable(L);                       /* the proxy */
	lua_newtable(L);                       /* its metatable */
	lua_newtable(L);                       /* what was written */
	lua_pushvalue(L, -4);
	lua_pushvalue(L, -2);
	lua_pushcclosure(L, env_index, 2);
	lua_setfield(L, -3, "__index");
	lua_pushcclosure(L, env_newindex, 1);
	lua_setfield(L, -2, "__newindex");
	lua_pushliteral(L, "locked");
	lua_setfield(L, -2, "__metatable");
	lua_setmetatable(L, -2);
	lua_rawseti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
	lua_pop(L, 1);
}
