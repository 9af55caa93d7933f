/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_own.c - metrics that a bench file gives itself: `metrics`, each a name and a Lua
 * function of a run.
 *
 * A function runs in a state of its own, which has the libraries string, table and math
 * and of base what computes: no files, no modules, no code from texts, an end to its
 * steps and its memory.  It is taken as it stands in the file, so its errors have the
 * file's line; what it uses must be its arguments, for the file has ended long before.
 * Invariant: a function that fails makes the run fail, with the reason.
 */
#include "tools/vp-bench/bench.h"

#include <lauxlib.h>
#include <lualib.h>
#include <stdlib.h>
#include <string.h>

#include "tools/vp-bench/bench_lua_value.h"

#define STEPS  100000000         /* of a call */
#define MEMORY (256u << 20)

/* ---- reading ------------------------------------------------------------------------ */

static const char *const keys[] = { "better", "doc", "name", "of", "unit", NULL };

static const char *text(struct bench *b, const char *const *path, const struct xk_value *row, const char *key)
{
	const struct xk_value *v = xk_value_get(row, key);
	const char *at[] = { path[0], path[1], key, NULL };

	if (v == NULL)
		return "";
	if (v->kind != XK_V_TEXT)
		bench_complain(b, at, "'%s' needs to be a text", key);
	return v->kind == XK_V_TEXT ? v->text : "";
}

static void read_function(struct bench *b, const char *const *path, const struct xk_value *row, struct bench_own *own)
{
	const struct xk_value *v = xk_value_get(row, "of");
	const char *at[] = { path[0], path[1], "of", NULL };

	if (v == NULL)
		bench_complain(b, path, "'metrics': number %s has no function: of = function(run, metrics) ... end", path[1] + 1);
	else if (v->kind != XK_V_FUNCTION)
		bench_complain(b, at, "'of' needs a function: of = function(run, metrics) ... end");
	else if (v->item == NULL)
		bench_complain(b, at, "'of' may use its arguments and string, table and math, not %s", v->text);
	else
		own->of = v->item;
}

static void read_one(struct bench *b, const char *const *path, const struct xk_value *row)
{
	struct bench_own own = { .of = NULL };
	const char *better;

	for (unsigned i = 0; i < row->n; i++) {
		const char *key = row->key[i].kind == XK_V_TEXT ? row->key[i].text : "1";

		(void)bench_known(b, (const char *[]){ path[0], path[1], key, NULL }, "metrics: unknown parameter", key, keys);
	}
	own.m.name = text(b, path, row, "name");
	own.m.unit = text(b, path, row, "unit");
	own.m.doc = text(b, path, row, "doc");
	better = text(b, path, row, "better");
	own.m.lower = strcmp(better, "lower") == 0;
	read_function(b, path, row, &own);
	if (*own.m.name == '\0')
		bench_complain(b, path, "'metrics': number %s has no name", path[1] + 1);
	else if (bench_metric_of(b, own.m.name) != NULL)
		bench_complain(b, path, "'metrics': there is a metric '%.60s' already", own.m.name);
	if (strcmp(better, "lower") != 0 && strcmp(better, "higher") != 0)
		bench_complain(b, path, "'metrics': number %s needs better = \"higher\" or \"lower\"", path[1] + 1);
	b->own[b->nown++] = own;
}

void bench_read_own(struct bench *b, const struct xk_value *tab)
{
	const struct xk_value *v = xk_value_get(tab, "metrics");
	const char *path[] = { "metrics", NULL, NULL };
	char number[16];

	if (v == NULL || v->kind == XK_V_POISON)
		return;
	if (v->kind != XK_V_LIST || v->n > BENCH_OWN) {
		bench_complain(b, path, "'metrics' needs a list of at most %u tables", BENCH_OWN);
		return;
	}
	path[1] = number;
	for (unsigned i = 0; i < v->n; i++) {
		snprintf(number, sizeof number, "#%u", i + 1);
		if (v->item[i].kind == XK_V_MAP)
			read_one(b, path, &v->item[i]);
		else if (v->item[i].kind != XK_V_POISON)
			bench_complain(b, path, "'metrics': number %u needs to be a table", i + 1);
	}
}

const struct bench_metric *bench_metric_of(const struct bench *b, const char *name)
{
	for (unsigned i = 0; i < b->nown; i++)
		if (strcmp(b->own[i].m.name, name) == 0)
			return &b->own[i].m;
	return bench_metric_find(name);
}

/* ---- calling ------------------------------------------------------------------------ */

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
	luaL_error(L, "it took more than %d steps", STEPS);
}

static void open_libraries(lua_State *L)
{
	/* What makes code from texts, reads files, catches the end of the steps or speaks. */
	static const char *const not_for_it[] = { "collectgarbage", "dofile", "load", "loadfile", "pcall", "print", "warn",
						  "xpcall", NULL };

	luaL_requiref(L, LUA_GNAME, luaopen_base, 1);
	luaL_requiref(L, LUA_TABLIBNAME, luaopen_table, 1);
	luaL_requiref(L, LUA_MATHLIBNAME, luaopen_math, 1);
	luaL_requiref(L, LUA_STRLIBNAME, luaopen_string, 1);
	lua_pushnil(L);
	lua_setfield(L, -2, "dump");
	lua_settop(L, 1);
	for (unsigned i = 0; not_for_it[i] != NULL; i++) {
		lua_pushnil(L);
		lua_setglobal(L, not_for_it[i]);
	}
}

struct call { const struct xk_value *code; json_t *run, *metrics; double value; };

static int protected(lua_State *L)
{
	struct call *c = lua_touserdata(L, 1);

	open_libraries(L);
	luaL_checkstack(L, BENCH_LUA_STACK, "a run says too much");
	if (luaL_loadbufferx(L, c->code->text, c->code->len, "of", "b") != LUA_OK)
		return lua_error(L);
	bench_lua_push(L, c->run);
	bench_lua_push(L, c->metrics);
	lua_sethook(L, too_long, LUA_MASKCOUNT, STEPS);
	lua_call(L, 2, 1);
	if (!lua_isnil(L, -1) && lua_type(L, -1) != LUA_TNUMBER)
		return luaL_error(L, "it gives a %s, not a number or nil", luaL_typename(L, -1));
	c->value = lua_isnil(L, -1) ? NAN : lua_tonumber(L, -1);
	return 0;
}

/* "0:12: what", with the file's name. */
static void told(const struct bench *b, const char *text, char *why, size_t n)
{
	char *rest;
	unsigned long no = text != NULL ? strtoul(text, &rest, 10) : 0;
	const char *file = text != NULL && rest != text && *rest == ':' ? xk_spec_file(b->spec, (unsigned)no) : NULL;

	if (file != NULL)
		snprintf(why, n, "%s%s", file, rest);
	else
		snprintf(why, n, "%s", text != NULL ? text : "an error without words");
}

static bool call(const struct bench *b, struct call *c, char *why, size_t n)
{
	size_t used = 0;
	lua_State *L = lua_newstate(limited, &used);
	bool good = false;

	if (L != NULL) {
		lua_pushcfunction(L, protected);
		lua_pushlightuserdata(L, c);
		good = lua_pcall(L, 1, 0, 0) == LUA_OK;
		if (!good)
			told(b, lua_tostring(L, -1), why, n);
		lua_close(L);
	} else {
		snprintf(why, n, "out of memory");
	}
	return good;
}

json_t *bench_run_metrics(const struct bench *b, json_t *child, char *why, size_t n)
{
	json_t *m = bench_metrics_of(child, b->needs, why, n);
	char text[400];

	for (unsigned i = 0; m != NULL && i < b->nown; i++) {
		struct call c = { b->own[i].of, child, m, NAN };

		if (call(b, &c, text, sizeof text)) {
			json_object_set_new(m, b->own[i].m.name, bench_real_json(c.value));
		} else {
			snprintf(why, n, "metric %.60s: %s", b->own[i].m.name, text);
			json_decref(m);
			m = NULL;
		}
	}
	return m;
}
