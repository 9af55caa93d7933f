/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * compose_load.c - runs a graph file in its sandbox and keeps what it
 * described.
 *
 * Four limits end a file that does not: instructions (counted, so the same
 * file always ends the same way), memory held, memory ever taken, and the
 * processor's time as the last resort against slow library calls.  A limit once reached
 * fails every further instruction, so nothing in the file can catch it.
 * Chunks are named by the number of their file ("@3"), which makes Lua's
 * messages easy to take apart and long paths harmless.
 */
#include "runtime/compose/compose_lua.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/compose/xk_plugins.h"
#include "runtime/mem/xk_mem.h"

/* ---- limits ----------------------------------------------------------------------- */

static void *allocate(void *ud, void *p, size_t old, size_t n)
{
	struct loader *ld = ud;
	void *q;

	if (p == NULL)
		old = 0;
	if (n == 0) {
		free(p);
		ld->mem -= old;
		return NULL;
	}
	if (n > old && !ld->o->unsafe) {
		ld->churn += n - old;
		if (ld->mem + (n - old) > COMPOSE_MEM_MAX || ld->churn > COMPOSE_CHURN_MAX) {
			ld->limit = LIMIT_MEM;
			return NULL;
		}
	}
	q = n > old && xk_mem_fails() ? NULL : realloc(p, n);
	if (q != NULL)
		ld->mem = ld->mem - old + n;
	else
		ld->limit = LIMIT_NOMEM;
	return q;
}

static void note_place(struct loader *ld, lua_State *L, lua_Debug *ar)
{
	if (lua_getinfo(L, "Sl", ar) && ar->currentline > 0 && ar->source[0] == '@') {
		ld->now = (struct spec_place){ .file = (unsigned)strtoul(ar->source + 1, NULL, 10), .line = ar->currentline };
		if (ld->now.file == 0 && strcmp(ar->what, "main") == 0)
			ld->main_line = ar->currentline;
	}
}

#define HOOK_EVERY 100

/* This thread's: a busy machine is no reason to refuse a file. */
static xk_ns processor_time(void)
{
	struct timespec t = { 0 };

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (xk_ns)t.tv_sec * XK_SEC + (xk_ns)t.tv_nsec;
}

static void hook(lua_State *L, lua_Debug *ar)
{
	struct loader *ld = loader_of(L);
	lua_Debug deep;

	note_place(ld, L, ar);
	if (ar->event == LUA_HOOKCOUNT) {
		ld->instr += HOOK_EVERY;
		if (ld->instr > COMPOSE_INSTR_MAX)
			ld->limit = LIMIT_INSTR;
		else if (processor_time() > ld->deadline)
			ld->limit = LIMIT_TIME;
		else if (lua_getstack(L, COMPOSE_CALLS_MAX, &deep))
			ld->limit = LIMIT_CALLS;
	}
	/* The limits of memory end in Lua's own error, unless a collection helps. */
	if (loader_final(ld))
		luaL_error(L, "limit");
}

/* ---- the run -------------------------------------------------------------------------------- */

static int on_error(lua_State *L)
{
	struct loader *ld = loader_of(L);
	struct spec_place at = loader_place(L, 0);

	if (at.line != 0)
		ld->now = at;
	if (lua_type(L, 1) != LUA_TSTRING)
		lua_pushfstring(L, "error() was called with a %s", luaL_typename(L, 1));
	return 1;
}

/* ---- what the file returned --------------------------------------------------------------- */

static void take_result(struct loader *ld)
{
	lua_State *L = ld->L;
	struct thing *t = loader_thing(L, -1);
	struct spec_place at = { .line = ld->main_line != 0 ? ld->main_line : 1 };

	if (t != NULL && t->kind == THING_POISON)
		return;
	if (t != NULL && t->kind == THING_GRAPH)
		ld->s->graph = (int)t->ref;
	else if (t != NULL && t->kind == THING_BENCH)
		ld->s->bench = (int)t->ref;
	else if (t != NULL && t->kind == THING_MACHINE)
		ld->s->machine = (int)t->ref;
	else if (lua_isnil(L, -1))
		spec_error(ld->s, ld->e, at, NULL, NULL, 0, "the file returns no graph "
			   "(forgotten 'return graph \"name\" { ... }'?)");
	else if (lua_iscfunction(L, -1))
		spec_error(ld->s, ld->e, at, NULL, NULL, 0, "the file returns a word that was not called "
			   "with its table: write 'return graph \"name\" { ... }'");
	else
		spec_error(ld->s, ld->e, at, NULL, NULL, 0, "the file returns a %s, not a graph: "
			   "write 'return graph \"name\" { ... }'", loader_type_name(L, -1));
}

/* A bench may hold the graph that it measures. */
static void adopt_bench_graph(struct xk_spec *s)
{
	const struct xk_value *tab;

	if (s->bench < 0)
		return;
	tab = &s->top[s->bench].tab;
	for (unsigned i = 0; i < tab->n; i++)
		if (tab->item[i].kind == XK_V_GRAPH)
			s->graph = (int)tab->item[i].ref;
}

/* Runs protected: opens the words, compiles and calls the main chunk. */
static int protected_run(lua_State *L)
{
	struct loader *ld = lua_touserdata(L, 1);
	int status;

	env_open(L, ld->o->unsafe);
	lua_pushcfunction(L, on_error);
	status = files_compile(L, 0);
	if (status != LUA_OK) {
		loader_failed(ld, status, 0, true);
		return 0;
	}
	if (!ld->o->unsafe)
		lua_sethook(L, hook, LUA_MASKCOUNT | LUA_MASKLINE, HOOK_EVERY);
	ld->s->file[0].loading = true;
	status = lua_pcall(L, 0, 1, -2);
	lua_sethook(L, NULL, 0, 0);
	if (status != LUA_OK) {
		loader_failed(ld, status, 0, false);
		return 0;
	}
	ld->s->complete = true;
	take_result(ld);
	return 0;
}

static void unknown_args(struct loader *ld)
{
	const char *names[256];
	unsigned n = 0;

	for (; n < ld->s->nargs && n < XK_ARRAY_LEN(names); n++)
		names[n] = ld->s->arg[n].p.name;
	for (unsigned i = 0; i < ld->o->nargs; i++) {
		const char *arg = ld->o->args[i], *eq = strchr(arg, '='), *near;
		char name[64];

		if (ld->arg_used[i] || i < ld->o->noffered)
			continue;
		if (eq == NULL || eq == arg) {
			xk_errs_add(ld->e, NULL, 0, 0, "'%.60s' is not an argument of the form name=value", arg);
			continue;
		}
		snprintf(name, sizeof name, "%.*s", (int)(eq - arg), arg);
		near = xk_errs_suggest(name, names, n);
		if (near != NULL)
			xk_errs_add(ld->e, NULL, 0, 0, "graph has no argument '%s' (did you mean '%s'?)", name, near);
		else
			xk_errs_add(ld->e, NULL, 0, 0, "graph has no argument '%s'", name);
	}
}

/* ---- the public way in ---------------------------------------------------------------------- */

static int run_file(struct loader *ld)
{
	lua_State *L = lua_newstate(allocate, ld);
	int status;

	if (L == NULL)
		return XK_E_NOMEM;
	ld->L = L;
	*(struct loader **)lua_getextraspace(L) = ld;
	ld->deadline = processor_time() + COMPOSE_TIME_MAX;
	lua_pushcfunction(L, protected_run);
	lua_pushlightuserdata(L, ld);
	status = lua_pcall(L, 1, 0, 0);
	if (status != LUA_OK)
		loader_failed(ld, status, 0, false);
	lua_close(L);
	return XK_OK;
}

static struct xk_spec *spec_new(const struct xk_compose_opts *o)
{
	struct xk_spec *s = xk_alloc(sizeof *s);

	if (s == NULL)
		return NULL;
	s->table = o->table ? o->table : xk_protos();
	s->untrusted = o->untrusted;
	s->graph = s->bench = s->machine = -1;
	s->file = arena_get(&s->arena, COMPOSE_FILES_MAX * sizeof *s->file);
	s->scan_left = arena_get(&s->arena, sizeof *s->scan_left);
	if (s->file == NULL || s->scan_left == NULL) {
		xk_spec_free(s);
		return NULL;
	}
	*s->scan_left = COMPOSE_SCAN_MAX;
	return s;
}

int xk_spec_load_text(struct xk_spec **out, const char *file, const char *text, size_t n,
		      const struct xk_compose_opts *o, struct xk_errs *e)
{
	static const struct xk_compose_opts none;
	struct loader ld = { .e = e, .o = o ? o : &none };
	unsigned before = xk_errs_count(e);
	int err;

	*out = ld.s = spec_new(ld.o);
	if (ld.s == NULL)
		return XK_E_NOMEM;
	ld.arg_used = arena_get(&ld.s->arena, ld.o->nargs + 1);
	ld.seen = arena_get(&ld.s->arena, LOADER_SEEN * sizeof *ld.seen);
	err = ld.arg_used && ld.seen ? files_path(&ld, file) : XK_E_NOMEM;
	if (err == XK_OK)
		err = files_add(ld.s, file, NULL, text, n) < 0 ? XK_E_NOMEM : XK_OK;
	if (err == XK_OK)
		err = run_file(&ld);
	files_fini(&ld);
	ld.s->ncomplaints = ld.npoison;
	if (err == XK_OK)
		err = spec_names_give(ld.s);
	if (err != XK_OK || (ld.limit == LIMIT_NOMEM && !ld.s->complete)) {
		xk_spec_free(ld.s);
		*out = NULL;
		return XK_E_NOMEM;
	}
	adopt_bench_graph(ld.s);
	if (ld.s->complete)
		unknown_args(&ld);
	return xk_errs_count(e) > before ? XK_E_INVAL : XK_OK;
}

int xk_spec_load(struct xk_spec **out, const char *file, const struct xk_compose_opts *o, struct xk_errs *e)
{
	char *text, why[128];
	size_t n;
	int err = files_read(file, &text, &n, why, sizeof why);

	if (err != XK_OK) {
		static const struct xk_compose_opts none;

		*out = spec_new(o ? o : &none);
		xk_errs_add(e, file, 0, 0, "%s", why);
		return *out ? err : XK_E_NOMEM;
	}
	err = xk_spec_load_text(out, file, text, n, o, e);
	free(text);
	return err;
}
