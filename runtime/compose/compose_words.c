/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * compose_words.c - the words that describe: protocols, presets of threading,
 * stack, graph, bench, machine.
 *
 * Every word is a C function, so that the line of its call is kept even where
 * it stands behind `return`.  A word records and complains; it never stops the
 * file.
 */
#include "runtime/compose/compose_lua.h"

#include <stdio.h>
#include <string.h>

const struct xk_word xk_words[] = {
	{ "graph", "graph \"name\" { ... }: what the file returns" },
	{ "bench", "bench \"name\" { ... }: an experiment, for vp-bench" },
	{ "machine", "machine \"name\" { ... }: what things cost on a machine, for vp-sim" },
	{ "virtual", "clock = virtual { processors = 8, machine = \"flat\" }: processors that are simulated" },
	{ "stack", "stack { top, ..., bottom }: each sits over the next; returns the top" },
	{ "include", "include \"lib/inet.lua\": what that file returns, from the graph path" },
	{ "presets", "presets[1].name: the threading architectures, and what each makes of the axes" },
	{ "built", "built \"xdr\": whether this build has a protocol, driver or preset of that name" },
	{ "args", "args { vps = uint { 16, min = 1 } }: arguments of the file, as a table of values" },
	{ "bool", "argument type: true or false" },
	{ "uint", "argument type: a whole number" },
	{ "size", "argument type: bytes, \"64KiB\"; size \"64KiB\" is a number of bytes" },
	{ "time", "argument type: a time with its unit; time \"200ms\" is a value" },
	{ "rate", "argument type: bits per second; rate \"1Gbit/s\" is a value" },
	{ "fraction", "argument type: 0..1, \"1%\"" },
	{ "enum", "argument type: one of choices = { ... }" },
	{ "text", "argument type: any text" },
	{ "ipv4", "argument type: \"10.0.0.2\"" },
	{ "cidr", "argument type: \"10.0.0.1/8\"" },
	{ "mac", "argument type: \"02:00:00:00:00:02\"" },
	{ "port", "argument type: 0..65535" },
	{ "cpus", "argument type: processors, \"0-3,5\"" },
	{ NULL, NULL },
};

static int no_memory(lua_State *L)
{
	loader_of(L)->limit = LIMIT_NOMEM;
	return luaL_error(L, "out of memory");
}

/* ---- nodes ------------------------------------------------------------------------ */

static void bad_over(struct loader *ld, struct spec_node *n, const struct xk_value *v, unsigned i)
{
	struct scan_step step[2] = { { .name = "over" }, { .i = i } };
	char got[80];

	n->over_bad = true;
	if (v->kind == XK_V_POISON)
		return;
	spec_error(ld->s, ld->e, n->at, n->proto->name, step, i ? 2 : 1,
		   "%s: 'over' needs a node, or a list of nodes, got %s", n->proto->name,
		   spec_describe(v, got, sizeof got));
}

static void take_over(lua_State *L, struct spec_node *n, const struct xk_value *v)
{
	struct loader *ld = loader_of(L);
	const struct xk_value *item = v->kind == XK_V_LIST ? v->item : v;
	unsigned count = v->kind == XK_V_LIST ? v->n : 1;

	n->over_given = true;
	n->over = arena_get(&ld->s->arena, (count + 1) * sizeof *n->over);
	if (n->over == NULL)
		no_memory(L);
	for (unsigned i = 0; i < count; i++) {
		if (item[i].kind == XK_V_NODE)
			n->over[n->nover++] = item[i].ref;
		else
			bad_over(ld, n, &item[i], v->kind == XK_V_LIST ? i + 1 : 0);
	}
}

static void take_name(struct loader *ld, struct spec_node *n, const struct xk_value *v)
{
	struct scan_step step = { .name = "name" };
	const struct spec_node *o;
	char got[80];

	if (v->kind == XK_V_POISON)
		return;
	if (v->kind != XK_V_TEXT || !spec_is_name(v->text, v->len)) {
		spec_error(ld->s, ld->e, n->at, n->proto->name, &step, 1,
			   "%s: 'name' needs letters, digits, '_', '-' or '.', beginning with a letter, got %s",
			   n->proto->name, spec_describe(v, got, sizeof got));
		return;
	}
	o = spec_name_find(ld->s, v->text);
	if (o != NULL) {
		spec_error(ld->s, ld->e, n->at, n->proto->name, &step, 1, "%s: the name '%s' is taken: %s:%d",
			   n->proto->name, v->text, spec_file_name(ld->s, o->at.file), o->at.line);
		return;
	}
	n->name = v->text;
	n->named = true;
}

static void take_trace(struct loader *ld, struct spec_node *n, const struct xk_value *v)
{
	struct scan_step step = { .name = "trace" };
	char got[80];

	if (v->kind == XK_V_POISON)
		return;
	if (v->kind == XK_V_INT && v->len == 1 && v->text[0] <= '5')
		n->trace = v->text[0] - '0';
	else
		spec_error(ld->s, ld->e, n->at, n->proto->name, &step, 1,
			   "%s: 'trace' needs a level from 0 to 5, got %s", n->proto->name,
			   spec_describe(v, got, sizeof got));
}

static int bad_call(lua_State *L, struct spec_place at, const char *name, const char *example)
{
	struct thing *t = loader_thing(L, 1);

	if (t != NULL && t->kind == THING_POISON) {
		loader_push_poison(L);
		return 1;
	}
	return loader_poison(L, at, name, "%s: needs a table, as in %s, got %s%s", name, example,
			     lua_isnoneornil(L, 1) ? "" : "a ", loader_type_name(L, 1));
}

/* eth { d } means over = d; the check says so once, and not that nothing is below. */
static bool holds_unnamed_node(const struct xk_value *tab)
{
	for (unsigned i = 0; i < tab->n; i++)
		if (tab->item[i].kind == XK_V_NODE && (tab->kind == XK_V_LIST || tab->key[i].kind == XK_V_INT))
			return true;
	return false;
}

/* Upvalue 1: the descriptor. */
static int word_node(lua_State *L)
{
	struct loader *ld = loader_of(L);
	struct spec_node n = { .proto = lua_touserdata(L, lua_upvalueindex(1)),
			       .at = loader_caller(L), .trace = -1 };
	const struct xk_value *v;
	char example[80];

	if (!lua_istable(L, 1)) {
		snprintf(example, sizeof example, "%s { ... }", n.proto->name);
		return bad_call(L, n.at, n.proto->name, example);
	}
	if (ld->s->nnodes == COMPOSE_NODES_MAX)
		return luaL_error(L, "a graph has at most %d nodes", (int)COMPOSE_NODES_MAX);
	value_from_lua(L, 1, &n.tab);
	if ((v = xk_value_get(&n.tab, "name")) != NULL)
		take_name(ld, &n, v);
	if ((v = xk_value_get(&n.tab, "over")) != NULL)
		take_over(L, &n, v);
	if ((v = xk_value_get(&n.tab, "trace")) != NULL)
		take_trace(ld, &n, v);
	n.over_bad |= holds_unnamed_node(&n.tab);
	if (!spec_grow(ld->s, &ld->s->node, ld->s->nnodes, &ld->s->room_nodes, sizeof n))
		return no_memory(L);
	ld->s->node[ld->s->nnodes] = n;
	if (n.named && !spec_name_add(ld->s, ld->s->nnodes))
		return no_memory(L);
	loader_push_thing(L, THING_NODE, ld->s->nnodes++);
	return 1;
}

/* ---- stack --------------------------------------------------------------------------- */

static void put_over(lua_State *L, struct spec_place at, unsigned upper, unsigned lower, unsigned i)
{
	struct loader *ld = loader_of(L);
	struct spec_node *n = &ld->s->node[upper];
	struct scan_step step = { .i = i };
	char label[128];

	if (n->over_given || n->stacked) {
		spec_error(ld->s, ld->e, at, "stack", &step, 1,
			   "stack: %s already sits over something; only the last one of a stack may",
			   spec_label(ld->s, n, label, sizeof label));
		return;
	}
	n->over = arena_get(&ld->s->arena, sizeof *n->over);
	if (n->over == NULL)
		no_memory(L);
	n->over[0] = lower;
	n->nover = 1;
	n->stacked = true;
}

static void bad_item(struct loader *ld, struct spec_place at, const struct xk_value *v, unsigned i)
{
	struct scan_step step = { .i = i };
	char got[80];

	if (v->kind != XK_V_POISON)
		spec_error(ld->s, ld->e, at, "stack", &step, 1, "stack: number %u needs to be a node, got %s",
			   i, spec_describe(v, got, sizeof got));
}

/* For clock: a table of what is simulated. */
static int word_virtual(lua_State *L)
{
	if (!lua_istable(L, 1))
		return bad_call(L, loader_caller(L), "virtual", "virtual { processors = 8, machine = \"flat\" }");
	lua_settop(L, 1);
	return 1;
}

static int word_stack(lua_State *L)
{
	struct loader *ld = loader_of(L);
	struct spec_place at = loader_caller(L);
	struct xk_value list;

	if (!lua_istable(L, 1))
		return bad_call(L, at, "stack", "stack { top, ..., bottom }");
	value_from_lua(L, 1, &list);
	if (list.kind != XK_V_LIST)
		return loader_poison(L, at, "stack", "stack: takes a plain list of nodes, without names or holes");
	if (list.n == 0)
		return loader_poison(L, at, "stack", "stack: is empty");
	for (unsigned i = 0; i < list.n; i++) {
		const struct xk_value *v = &list.item[i], *w = i + 1 < list.n ? v + 1 : NULL;

		if (v->kind != XK_V_NODE)
			bad_item(ld, at, v, i + 1);
		else if (w != NULL && w->kind == XK_V_NODE)
			put_over(L, at, v->ref, w->ref, i + 1);
		else if (w != NULL)
			ld->s->node[v->ref].over_bad = true;
	}
	if (list.item[0].kind == XK_V_NODE)
		loader_push_thing(L, THING_NODE, list.item[0].ref);
	else
		loader_push_poison(L);
	return 1;
}

/* ---- threading presets ------------------------------------------------------------------- */

/* Upvalue 1: the preset. */
static int word_arch(lua_State *L)
{
	struct loader *ld = loader_of(L);
	struct spec_arch a = { .preset = lua_touserdata(L, lua_upvalueindex(1)), .at = loader_caller(L) };
	char example[80];

	if (!lua_istable(L, 1)) {
		snprintf(example, sizeof example, "%s { }", a.preset->name);
		return bad_call(L, a.at, a.preset->name, example);
	}
	value_from_lua(L, 1, &a.tab);
	if (!spec_grow(ld->s, &ld->s->arch, ld->s->narchs, &ld->s->room_archs, sizeof a))
		return no_memory(L);
	ld->s->arch[ld->s->narchs] = a;
	loader_push_thing(L, THING_ARCH, ld->s->narchs++);
	return 1;
}

static void preset_field(lua_State *L, const char *field, const char *text)
{
	lua_pushstring(L, text);
	lua_setfield(L, -2, field);
}

/* The rows of the table, in its order, so that a file can offer whatever there is. */
static void presets_open(lua_State *L)
{
	lua_Integer n = 0;

	lua_newtable(L);
	for (const struct xk_arch *a = xk_arch_presets; a->name != NULL; a++) {
		lua_newtable(L);
		preset_field(L, "name", a->name);
		preset_field(L, "doc", a->doc);
		preset_field(L, "domain", xk_arch_domains[a->domain]);
		preset_field(L, "entry", xk_arch_entries[a->entry]);
		preset_field(L, "schedule", xk_arch_schedules[a->schedule]);
		if (a->vps > 0)
			lua_pushinteger(L, a->vps);
		else
			lua_pushstring(L, xk_arch_vps_word(a->vps));
		lua_setfield(L, -2, "vps");
		lua_getfield(L, -3, a->name);
		lua_setfield(L, -2, "make");
		lua_rawseti(L, -2, ++n);
	}
	lua_setfield(L, -2, "presets");
}

/* By name. */
const struct xk_word xk_bench_fields[] = {
	{ "absent", "papers' figures that this bench does not have, and why" },
	{ "columns", "further metrics of the table" },
	{ "confidence", "of the intervals; 0.90 unless said" },
	{ "doc", "what it measures, in a line" },
	{ "duration", "of a run, a time; 2s unless said" },
	{ "graph", "graph \"name\" { ... }: what is measured" },
	{ "metric", "what the stop rule looks at; vp-bench list --metrics" },
	{ "metrics", "metrics of the file's own: name, unit, doc, better, of = function(run, m)" },
	{ "model", "what vp-sim simulates, in place of a graph" },
	{ "paper_messages", "{ warmup =, measured = }: messages of a run with --paper" },
	{ "points", "a list of combinations of axes, in place of a sweep" },
	{ "precision", "half-width of the interval at which runs stop; 0.05 unless said" },
	{ "reference", "other people's numbers: at, value, unit, metric, doc, ours" },
	{ "runs", "{ min = 5, max = 20, decide = 40 }: of a point" },
	{ "series", "the axis that curves differ in" },
	{ "shape", "what is expected: doc, a, over, at_least, at_most, ..." },
	{ "source", "where the experiment is from" },
	{ "sweep", "for each axis its values: all combinations" },
	{ "warmup", "before a run is measured, a time; 500ms unless said" },
	{ "x", "the axis that is drawn to the right" },
	{ NULL, NULL }
};

/* ---- graph, bench and machine ---------------------------------------------------------------- */

static const char *const top_word[TOP_KINDS] = { "graph", "bench", "machine" };
static const enum thing_kind top_thing[TOP_KINDS] = { THING_GRAPH, THING_BENCH, THING_MACHINE };

/* Upvalues: 1 name, 2 what, 3 and 4 the place. */
static int top_table(lua_State *L)
{
	struct loader *ld = loader_of(L);
	struct spec_top t = {
		.kind = (enum top_kind)lua_tointeger(L, lua_upvalueindex(2)),
		.at = { .file = (unsigned)lua_tointeger(L, lua_upvalueindex(3)), .line = (int)lua_tointeger(L, lua_upvalueindex(4)) },
	};
	const char *word = top_word[t.kind], *name;
	char usage[40];
	size_t n;

	name = lua_tolstring(L, lua_upvalueindex(1), &n);
	if (!lua_istable(L, 1))
		return bad_call(L, t.at, word, (snprintf(usage, sizeof usage, "%s \"name\" { ... }", word), usage));
	value_from_lua(L, 1, &t.tab);
	t.name = arena_text(&ld->s->arena, name, n);
	if (t.name == NULL || !spec_grow(ld->s, &ld->s->top, ld->s->ntops, &ld->s->room_tops, sizeof t))
		return no_memory(L);
	for (unsigned i = 0; i < ld->s->ntops; i++)
		if (ld->s->top[i].kind == t.kind) {
			struct spec_place first = ld->s->top[i].at;

			return loader_poison(L, t.at, word, "%s: a file describes one %s; the first is at %s:%d",
					     word, word, spec_file_name(ld->s, first.file), first.line);
		}
	ld->s->top[ld->s->ntops] = t;
	loader_push_thing(L, top_thing[t.kind], ld->s->ntops++);
	return 1;
}

/* Upvalue 1: which. */
static int word_top(lua_State *L)
{
	lua_Integer kind = lua_tointeger(L, lua_upvalueindex(1));
	const char *word = top_word[kind], *name;
	struct spec_place at = loader_caller(L);
	size_t n;

	if (lua_type(L, 1) != LUA_TSTRING)
		return loader_poison(L, at, word, "%s: needs a name first: %s \"name\" { ... }", word, word);
	name = lua_tolstring(L, 1, &n);
	if (!spec_is_name(name, n))
		return loader_poison(L, at, word, "%s: the name needs letters, digits, '_', '-' or '.', "
				     "beginning with a letter, at most 63", word);
	lua_pushlstring(L, name, n);
	lua_pushinteger(L, kind);
	lua_pushinteger(L, at.file);
	lua_pushinteger(L, at.line);
	lua_pushcclosure(L, top_table, 4);
	return 1;
}

/* ---- what there is ------------------------------------------------------------------------------ */

static int word_built(lua_State *L)
{
	const char *name = lua_type(L, 1) == LUA_TSTRING ? lua_tostring(L, 1) : NULL;
	bool found = false;

	if (name == NULL)
		return loader_poison(L, loader_caller(L), "built", "built: needs a name: built \"xdr\"");
	for (const struct xk_proto *const *p = loader_of(L)->s->table; *p != NULL; p++)
		found |= strcmp((*p)->name, name) == 0;
	lua_pushboolean(L, found || xk_arch_find(name) != NULL);
	return 1;
}

/* ---- opening ----------------------------------------------------------------------------------- */

void words_open(lua_State *L)
{
	/* Of several descriptors of a word the first stands for it until it is known what lies below. */
	for (const struct xk_proto *const *p = loader_of(L)->s->table; *p != NULL; p++) {
		if (xk_proto_of_word(loader_of(L)->s->table, (*p)->name, 0) != *p)
			continue;
		lua_pushlightuserdata(L, (void *)(uintptr_t)*p);
		lua_pushcclosure(L, word_node, 1);
		lua_setfield(L, -2, (*p)->name);
	}
	for (const struct xk_arch *a = xk_arch_presets; a->name != NULL; a++) {
		lua_pushlightuserdata(L, (void *)(uintptr_t)a);
		lua_pushcclosure(L, word_arch, 1);
		lua_setfield(L, -2, a->name);
	}
	presets_open(L);
	for (int kind = 0; kind < TOP_KINDS; kind++) {
		lua_pushinteger(L, kind);
		lua_pushcclosure(L, word_top, 1);
		lua_setfield(L, -2, top_word[kind]);
	}
	env_word(L, "virtual", word_virtual);
	env_word(L, "stack", word_stack);
	env_word(L, "include", word_include);
	env_word(L, "args", word_args);
	env_word(L, "built", word_built);
}
