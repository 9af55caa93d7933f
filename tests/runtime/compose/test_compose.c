/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_compose.c - from text to specification to graph: what a good file
 * becomes, that Lua and C make the same graph, and that nothing is left behind.
 */
#include "runtime/base/xk_param_value.h"
#include "runtime/compose/compose_priv.h"
#include "runtime/compose/xk_plugins.h"
#include "tests/runtime/compose/toys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/mem/xk_mem.h"
#include "tests/support/xk_test_graph.h"

static uint64_t live;

static int setup(void)
{
	live = xk_alloc_live();
	return 0;
}

static int teardown(void)
{
	return xk_alloc_live() != live;
}

static void good(struct toy_load *l, const char *text, const char *const *args)
{
	*l = toy_load(text, args);
	CU_ASSERT_STRING_EQUAL(toy_error(l, 0), "");
	CU_ASSERT_EQUAL_FATAL(l->check, XK_OK);
}

static char *dump(const struct xk_graph *g)
{
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	xk_graph_dump(g, f);
	fclose(f);
	return text;
}

static void a_description_gives_the_expected_nodes_and_edges(void)
{
	static const char *const expected[][2] = {
		{ "app", "ports" }, { "host", "link" }, { "link", "wire" }, { "wire", "" }, { "ports", "host" },
	};
	struct xk_spec_node n, low;
	struct toy_load l;

	good(&l, toy_good, NULL);
	CU_ASSERT_EQUAL_FATAL(xk_spec_nodes(l.s), 5);
	for (unsigned i = 0; i < 5; i++) {
		xk_spec_node(l.s, i, &n);
		CU_ASSERT_STRING_EQUAL(n.name, expected[i][0]);
		CU_ASSERT_EQUAL_FATAL(n.nover, *expected[i][1] != '\0');
		if (n.nover != 0) {
			xk_spec_node(l.s, n.over[0], &low);
			CU_ASSERT_STRING_EQUAL(low.name, expected[i][1]);
		}
		CU_ASSERT_STRING_EQUAL(n.file, "toy.lua");
	}
	xk_spec_node(l.s, 1, &n);
	CU_ASSERT_EQUAL(n.line, 8);
	CU_ASSERT_STRING_EQUAL(xk_spec_name(l.s), "toy");
	toy_unload(&l);
}

static void refuses(const char *text, const char *error)
{
	struct toy_load l = toy_load(text, NULL);

	CU_ASSERT_EQUAL(l.check == XK_OK && l.load == XK_OK, 0);
	if (strcmp(toy_error(&l, 0), error) != 0)
		printf("# %s\n", toy_error(&l, 0));
	CU_ASSERT_STRING_EQUAL(toy_error(&l, 0), error);
	toy_unload(&l);
}

static void undefined_lower_cycle_and_wrong_realm_are_refused(void)
{
	refuses("link { over = wirre }\nreturn graph \"g\" {}", "1:15: unknown name 'wirre' (did you mean 'wire'?)");
	refuses("local a, b = link {}, link {}\nstack { a, b }\nstack { b, a }\nreturn graph \"g\" {}",
		"1:14: link: cannot sit over link2: it needs 'frame' below, link2 offers 'link'");
	refuses("app { over = link { over = wire {} } }\nreturn graph \"g\" {}",
		"1:7: app: cannot sit over link: it needs 'port|stream' below, link offers 'link'");
}

/* Whatever lies in between, an application gets what is at the bottom of it. */
static void what_stands_between_offers_what_lies_below(void)
{
	static const char low[] = "local low = ports { over = host { addr = '10.0.0.1/8', over = link { over = wire {} } } }\n";
	char text[512];
	struct toy_load l;

	snprintf(text, sizeof text, "%sapp { over = between { over = between { over = low } } }\nreturn graph \"g\" {}", low);
	l = toy_load(text, NULL);
	CU_ASSERT_EQUAL(xk_errs_count(l.e), 0);
	toy_unload(&l);
	snprintf(text, sizeof text, "%sstreamer { over = between { over = low } }\nreturn graph \"g\" {}", low);
	refuses(text, "2:12: streamer: cannot sit over between: it needs 'stream' below, between passes on what ports offers, 'port'");
	refuses("streamer { over = between { over = link { over = wire {} } } }\nreturn graph \"g\" {}",
		"1:29: between: cannot sit over link: it needs 'port|stream' below, link offers 'link'");
	refuses("local a, b = between {}, between {}\nstack { a, b }\nstack { b, a }\nstreamer { over = a }\nreturn graph \"g\" {}",
		"1:14: between: sits over itself: between -> between2 -> between");
}

static void a_cycle_is_shown_as_a_path(void)
{
	struct toy_load l = toy_load("local a, b = link {}, link {}\nstack { a, b, a }\nreturn graph \"g\" {}", NULL);
	bool seen = false;

	for (unsigned i = 0; i < xk_errs_count(l.e); i++)
		seen |= strstr(toy_error(&l, i), "sits over itself: link -> link2 -> link") != NULL;
	CU_ASSERT(seen);
	toy_unload(&l);
}

/* The graph of toy_good, made by hand. */
static struct xk_graph *graph_by_hand(struct xk_errs *e)
{
	struct xk_graph_conf c = { .name = "toy", .arch = *xk_arch_find("vppc") };
	struct xk_node *n[5];
	struct xk_graph *g = NULL;
	static const struct { const struct xk_proto *p; const char *set[4][2]; } made[] = {
		{ &toy_wire, { { "peer", "sink" }, { "mtu", "4096" } } },
		{ &toy_link, { { NULL } } },
		{ &toy_host, { { "addr", "10.0.0.1/8" }, { "neighbours", "10.0.0.2=02:00:00:00:00:02" } } },
		{ &toy_ports, { { "idle", "400ms" }, { "rate", "1000Mbit/s" } } },
		{ &toy_app, { { "conns", "8" } } },
	};

	c.arch.vps = 2;
	c.arch.workers = 1;
	c.arch.schedule = XK_SCHED_VIRTUAL;
	c.mem = (struct xk_mem_conf){ .limit = 1ull << 30, .huge = true };
	CU_ASSERT_EQUAL_FATAL(xk_graph_new(&g, &c, e), XK_OK);
	for (unsigned i = 0; i < 5; i++) {
		const struct xk_proto *p = made[i].p;
		void *conf = xk_alloc(p->conf_size + 1);
		char why[200];

		CU_ASSERT_EQUAL(xk_param_defaults(p->params, conf, why, sizeof why), XK_OK);
		for (unsigned k = 0; k < 4 && made[i].set[k][0] != NULL; k++)
			CU_ASSERT_EQUAL(xk_param_set(xk_param_find(p->params, made[i].set[k][0]), conf,
						     made[i].set[k][1], false, why, sizeof why), XK_OK);
		CU_ASSERT_EQUAL_FATAL(xk_graph_add(g, p, p->name, conf, i ? &n[i - 1] : NULL, i != 0, "hand", 1,
						   &n[i]), XK_OK);
	}
	return g;
}

static void lua_and_the_c_interface_make_the_same_graph(void)
{
	struct toy_load l;
	struct xk_graph *ours, *theirs;
	char *a, *b;

	good(&l, toy_good, NULL);
	CU_ASSERT_EQUAL_FATAL(xk_spec_build(l.s, &ours, l.e), XK_OK);
	theirs = graph_by_hand(l.e);
	a = dump(ours);
	b = dump(theirs);
	CU_ASSERT_STRING_EQUAL(a, b);
	CU_ASSERT_PTR_NOT_NULL(strstr(a, "ports ports { checksum=true idle=400ms rate=1Gbit/s } over host\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(a, "neighbours=10.0.0.2=02:00:00:00:00:02 ports=7,9 } over link\n"));
	free(a);
	free(b);
	CU_ASSERT_EQUAL(xk_graph_free(ours), 0);
	CU_ASSERT_EQUAL(xk_graph_free(theirs), 0);
	toy_unload(&l);
}

static void one_specification_builds_twice(void)
{
	struct xk_graph *g[2];
	struct toy_load l;

	good(&l, toy_good, NULL);
	for (int i = 0; i < 2; i++)
		CU_ASSERT_EQUAL_FATAL(xk_spec_build(l.s, &g[i], l.e), XK_OK);
	for (int i = 0; i < 2; i++) {
		CU_ASSERT_EQUAL(xk_graph_up(g[i], l.e), XK_OK);
		CU_ASSERT_EQUAL(xk_graph_free(g[i]), 0);
	}
	toy_unload(&l);
}

static void arguments_change_the_graph_and_are_listed_in_order(void)
{
	static const char *const args[] = { "vps=5", "idle=1s", NULL };
	const struct xk_arg *a;
	struct toy_load l;
	unsigned n;

	good(&l, toy_good, args);
	CU_ASSERT_EQUAL(xk_spec_plan(l.s)->arch.vps, 5);
	a = xk_spec_args(l.s, &n);
	CU_ASSERT_EQUAL_FATAL(n, 3);
	CU_ASSERT_STRING_EQUAL(a[0].p.name, "vps");
	CU_ASSERT_STRING_EQUAL(a[1].p.name, "idle");
	CU_ASSERT_STRING_EQUAL(a[2].p.name, "kind");
	CU_ASSERT(a[0].given && a[1].given && !a[2].given);
	CU_ASSERT_STRING_EQUAL(a[0].value, "5");
	CU_ASSERT_STRING_EQUAL(a[0].p.max, "64");
	CU_ASSERT_EQUAL(a[1].line, 4);
	CU_ASSERT_STRING_EQUAL(a[2].value, "sink");
	toy_unload(&l);
}

static void the_graph_says_its_own_fields(void)
{
	struct toy_load l;
	const struct xk_plan *p;

	good(&l, toy_good, NULL);
	p = xk_spec_plan(l.s);
	CU_ASSERT_STRING_EQUAL(p->doc, "a good graph");
	CU_ASSERT_EQUAL(p->duration, 10 * XK_MS);
	CU_ASSERT_EQUAL(p->seed, 7);
	CU_ASSERT(p->seed_given && p->is_virtual && p->mem.huge);
	CU_ASSERT_EQUAL(p->mem.limit, 1ull << 30);
	CU_ASSERT_EQUAL(p->arch.schedule, XK_SCHED_VIRTUAL);
	toy_unload(&l);
}

static void unnamed_nodes_get_names_around_the_given_ones(void)
{
	struct xk_spec_node n;
	struct toy_load l;

	l = toy_load("wire { name = \"wire2\" }\nwire {}\nwire {}\nwire {}\nreturn graph \"g\" {}", NULL);
	xk_spec_node(l.s, 1, &n);
	CU_ASSERT_STRING_EQUAL(n.name, "wire");
	xk_spec_node(l.s, 2, &n);
	CU_ASSERT_STRING_EQUAL(n.name, "wire3");
	xk_spec_node(l.s, 3, &n);
	CU_ASSERT_STRING_EQUAL(n.name, "wire4");
	CU_ASSERT_EQUAL(xk_errs_count(l.w), 4);
	toy_unload(&l);
}

static void a_map_of_connections_reaches_the_graph(void)
{
	struct toy_load l;
	struct xk_graph *g;

	good(&l, "stack { app {}, ports {}, host { addr = \"10.0.0.1/8\" }, link {}, wire {} }\n"
	     "return graph \"g\" { threading = vppc { vps = 4, map = { 1, 1, 2, 4 }, schedule = \"virtual\" } }", NULL);
	CU_ASSERT_EQUAL_FATAL(xk_spec_build(l.s, &g, l.e), XK_OK);
	CU_ASSERT_EQUAL(xk_graph_vp_of(g, 0)->no, 0);
	CU_ASSERT_EQUAL(xk_graph_vp_of(g, 1)->no, 0);
	CU_ASSERT_EQUAL(xk_graph_vp_of(g, 2)->no, 1);
	CU_ASSERT_EQUAL(xk_graph_vp_of(g, 3)->no, 3);
	CU_ASSERT_EQUAL(xk_graph_vp_of(g, 6)->no, 1);
	xk_graph_free(g);
	toy_unload(&l);
}

static void every_preset_is_a_word(void)
{
	for (const struct xk_arch *a = xk_arch_presets; a->name != NULL; a++) {
		char text[256];
		struct toy_load l;

		snprintf(text, sizeof text, "stack { link {}, wire {} }\nreturn graph \"g\" { threading = %s { %s } }",
			 a->name, a->vps == XK_VPS_PER_CONN ? "vps = 8" : "");
		good(&l, text, NULL);
		CU_ASSERT_STRING_EQUAL(xk_spec_plan(l.s)->arch.name, a->name);
		CU_ASSERT_EQUAL(xk_spec_plan(l.s)->arch.burst, a->burst);
		toy_unload(&l);
	}
}

static void a_file_may_ask_what_is_built(void)
{
	struct toy_load l;

	good(&l, "assert(built \"wire\" and built \"vppc\" and not built \"warp\")\n"
	     "stack { link {}, wire {} }\nreturn graph \"g\" { }", NULL);
	toy_unload(&l);
	l = toy_load("local x = built { }\nstack { link {}, wire {} }\nreturn graph \"g\" { }", NULL);
	CU_ASSERT_PTR_NOT_NULL(strstr(toy_error(&l, 0), "built: needs a name"));
	toy_unload(&l);
}

static void a_plain_table_of_axes_is_a_threading(void)
{
	const struct xk_arch *a;
	struct toy_load l;

	good(&l, "stack { link {}, wire {} }\nreturn graph \"g\" { threading = { domain = \"connections\", entry = \"lock\", "
	     "schedule = \"os\", vps = 3, burst = 5, spin = \"50us\", cpus = \"0\", wired = false } }", NULL);
	a = &xk_spec_plan(l.s)->arch;
	CU_ASSERT(a->entry == XK_ENTRY_LOCK && a->schedule == XK_SCHED_OS && a->vps == 3 && a->burst == 5);
	CU_ASSERT(a->spin_us == 50 && a->cpus == 1 && !a->wired);
	toy_unload(&l);
}

static void quantities_keep_their_units_through_arithmetic(void)
{
	struct toy_load l;

	good(&l, "local t = time \"1500ms\"\nassert(t == time \"1.5s\" and t < time \"2s\" and t / time \"500ms\" == 3)\n"
	     "assert(tostring(t + t) == \"3s\" and size \"4KiB\" == 4096)\n"
	     "stack { app {}, ports { idle = (t - time \"500ms\") // 2, rate = 3 * rate \"1Mbit/s\" },\n"
	     "host { addr = \"10.0.0.1/8\" }, link {}, wire {} }\nreturn graph \"g\" {}", NULL);
	toy_unload(&l);
}

static void a_bench_is_a_table_with_places(void)
{
	static const char *const path[] = { "sweep", "conns", NULL };
	const struct xk_value *v;
	struct toy_load l;
	int line, col;

	good(&l, "wire { peer = \"sink\" }\nlocal g = graph \"inner\" { duration = \"1s\" }\n"
	     "return bench \"b\" {\n  graph = g, sweep = { vps = { 1, 2, 4 },\n    conns = { \"x\" } } }", NULL);
	CU_ASSERT(xk_spec_is_bench(l.s));
	CU_ASSERT_STRING_EQUAL(xk_spec_name(l.s), "b");
	v = xk_value_get(xk_value_get(xk_spec_bench(l.s), "sweep"), "vps");
	CU_ASSERT_FATAL(v != NULL && v->kind == XK_V_LIST && v->n == 3);
	CU_ASSERT_STRING_EQUAL(v->item[2].text, "4");
	CU_ASSERT_EQUAL(xk_spec_plan(l.s)->duration, XK_SEC);
	xk_spec_bench_error(l.s, l.e, path, "no %s", "good");
	CU_ASSERT_STRING_EQUAL(xk_errs_text(l.e, 0, NULL, &line, &col), "bench: no good");
	CU_ASSERT(line == 5 && col == 5);
	toy_unload(&l);
}

static void a_machine_is_a_table_with_places(void)
{
	static const char *const path[] = { "ips", "hot", NULL };
	struct toy_load l;
	int line, col;

	good(&l, "return machine \"m\" {\n  processors = { 8, source = \"counted\" },\n  ips = {\n    hot = { 2.5, source = \"x\" } } }", NULL);
	CU_ASSERT_STRING_EQUAL(xk_spec_word(l.s), "machine");
	CU_ASSERT_STRING_EQUAL(xk_spec_name(l.s), "m");
	CU_ASSERT(!xk_spec_is_bench(l.s) && xk_spec_bench(l.s) == NULL && xk_spec_plan(l.s) == NULL);
	CU_ASSERT_PTR_NOT_NULL(xk_value_get(xk_spec_machine(l.s), "processors"));
	xk_spec_bench_error(l.s, l.e, path, "no %s", "good");
	CU_ASSERT_STRING_EQUAL(xk_errs_text(l.e, 0, NULL, &line, &col), "machine: no good");
	CU_ASSERT(line == 4 && col == 5);
	toy_unload(&l);
}

static void a_bench_needs_no_graph_of_its_own(void)
{
	struct toy_load l;

	good(&l, "return bench \"b\" { graph = \"udp-send.lua\" }", NULL);
	CU_ASSERT_PTR_NULL(xk_spec_plan(l.s));
	toy_unload(&l);
}

static void a_node_tells_a_subgraph_what_it_is(void)
{
	struct toy_load l;

	good(&l, "local w = wire { peer = \"sink\" }\nlocal x = link { over = w }\n"
	     "assert(x.protocol == \"link\" and x.below.protocol == \"wire\" and x.offers == \"link\" and w.below == nil)\n"
	     "return graph \"g\" {}", NULL);
	toy_unload(&l);
}

static void a_file_that_is_not_there_is_one_sentence(void)
{
	struct xk_errs *e = xk_errs_new();
	struct xk_spec *s;

	CU_ASSERT_EQUAL(xk_spec_load(&s, "/nonexistent/x.lua", NULL, e), XK_E_NOENT);
	CU_ASSERT_EQUAL_FATAL(xk_errs_count(e), 1);
	CU_ASSERT_STRING_EQUAL(xk_errs_text(e, 0, NULL, NULL, NULL), "no such file");
	xk_spec_free(s);
	xk_errs_free(e);
}

static void errors_are_printed_with_their_line_and_a_caret(void)
{
	struct toy_load l = toy_load("stack {\n\tapp { conns = 4,\n\t\tcouns = 5 },\n\tports {}, host {},\n"
				     "\tlink {}, wire {} }\nreturn graph \"g\" {}", NULL);
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	xk_spec_print_errors(f, l.s, l.e, NULL);
	fclose(f);
	CU_ASSERT_STRING_EQUAL(text,
		"toy.lua:3: app: unknown parameter 'couns' (did you mean 'conns'?)\n"
		"    3 | \t\tcouns = 5 },\n"
		"      | \t\t^\n"
		"toy.lua:4: host: parameter 'addr' is needed: our address\n"
		"    4 | \tports {}, host {},\n"
		"      | \t          ^\n"
		"2 errors\n");
	free(text);
	toy_unload(&l);
}

static void no_word_of_the_language_hides_a_protocol(void)
{
	for (const struct xk_word *w = xk_words; w->name != NULL; w++) {
		CU_ASSERT_PTR_NULL(xk_proto_find(w->name));
		CU_ASSERT_PTR_NULL(xk_arch_find(w->name));
		CU_ASSERT(w->doc != NULL && *w->doc != '\0');
	}
	for (const struct xk_arch *a = xk_arch_presets; a->name != NULL; a++)
		CU_ASSERT_PTR_NULL(xk_proto_find(a->name));
}

static void schema_is_sound(const struct xk_param *p, size_t size)
{
	void *conf = calloc(1, size + 1);
	char why[256] = "";

	CU_ASSERT_EQUAL(xk_param_defaults(p, conf, why, sizeof why), XK_OK);
	CU_ASSERT_STRING_EQUAL(why, "");
	for (const struct xk_param *q = p; q != NULL && q->name != NULL; q++) {
		union xk_pval v;

		CU_ASSERT(q->doc != NULL && *q->doc != '\0');
		CU_ASSERT_EQUAL(q->type == XK_P_ENUM, q->choices != NULL);
		if (q->min != NULL)
			CU_ASSERT_EQUAL(xk_param_parse_as(q->type, q->min, false, &v, why, sizeof why), XK_OK);
		if (q->max != NULL)
			CU_ASSERT_EQUAL(xk_param_parse_as(q->type, q->max, false, &v, why, sizeof why), XK_OK);
		CU_ASSERT_PTR_EQUAL(xk_param_find_in(p, q->group, q->name), q);
		/* Without a group's name it is the one of none, where there are two. */
		if (q->group == NULL)
			CU_ASSERT_PTR_EQUAL(xk_param_find(p, q->name), q);
	}
	xk_param_release(p, conf);
	free(conf);
}

static void every_schema_of_the_build_is_sound(void)
{
	schema_is_sound(xk_graph_params, 4096);
	schema_is_sound(xk_arch_params, 4096);
	for (const struct xk_proto *const *p = xk_proto_table; *p != NULL; p++) {
		char why[256] = "";

		CU_ASSERT_EQUAL(xk_proto_fault(*p, why, sizeof why), XK_OK);
		CU_ASSERT_STRING_EQUAL(why, "");
		CU_ASSERT((*p)->doc != NULL && *(*p)->doc != '\0');
		CU_ASSERT((*p)->min_down <= (*p)->max_down && (*p)->max_down <= XK_DOWN_MAX);
		CU_ASSERT_EQUAL((*p)->max_down != 0, (*p)->needs[0] != NULL);
		schema_is_sound((*p)->params, (*p)->conf_size);
	}
}

/* What would have memory freed that is none, when the plug-in's defaults are looked at. */
static void parameters_that_spoil_each_other_are_refused(void)
{
	static const struct xk_ops none;
	struct xk_param q[3] = {
		{ .name = "a", .type = XK_P_TEXT, .doc = "a text", .def = "text", .offset = 8 },
		{ .name = "b", .type = XK_P_UINT, .doc = "a number", .def = "7", .offset = 0 }, XK_PARAM_END };
	struct xk_proto p = { .abi = XK_ABI, .size = sizeof p, .name = "spoiled", .doc = "two parameters", .ops = &none,
			      .params = q, .conf_size = 16 };
	char why[256] = "";

	CU_ASSERT_EQUAL(xk_proto_fault(&p, why, sizeof why), XK_OK);
	q[1].offset = 8;
	CU_ASSERT_EQUAL(xk_proto_fault(&p, why, sizeof why), XK_E_INVAL);
	CU_ASSERT_STRING_EQUAL(why, "has parameters 'a' and 'b' in the same bytes");
	q[1].offset = 0;
	q[0].def = NULL;
	q[0].flags = XK_PF_UNSET;
	CU_ASSERT_EQUAL(xk_proto_fault(&p, why, sizeof why), XK_E_INVAL);
	CU_ASSERT_STRING_EQUAL(why, "has a parameter 'a' that may be unset, or change, and is no scalar");
}

/* Nine hundred faults of a call behind which brackets nest on the same line: each place was
 * looked for behind each bracket, 3 seconds for 1400 bytes. */
static void the_places_of_many_errors_are_found_in_bounded_work(void)
{
	static const char head[] = "local t = {} for i = 1, 900 do t['k' .. i] = i end local x app(t) ";
	char text[2048];
	size_t n = (size_t)snprintf(text, sizeof text, "%s", head);
	struct toy_load l;
	uint64_t used;

	for (unsigned i = 0; i < 150; i++)
		n += (size_t)snprintf(text + n, sizeof text - n, "x={");
	n += (size_t)snprintf(text + n, sizeof text - n, "1");
	for (unsigned i = 0; i < 150; i++)
		n += (size_t)snprintf(text + n, sizeof text - n, "}");
	snprintf(text + n, sizeof text - n, "\nreturn graph \"g\" {}");
	l = toy_load(text, NULL);
	used = COMPOSE_SCAN_MAX - *l.s->scan_left;
	CU_ASSERT(xk_errs_count(l.e) > 900);
	CU_ASSERT(used > 0);
	CU_ASSERT(used <= xk_errs_count(l.e) * (4 * strlen(text) + 1000));
	toy_unload(&l);
}

/* A name looked up without end: said once, and the file is ended by the number of its
 * complaints, long before its instructions or its time are spent. */
static void a_fault_in_an_endless_loop_is_said_once(void)
{
	struct toy_load l = toy_load("while true do\nlocal a = nosuch\nend", NULL);

	CU_ASSERT_EQUAL(xk_errs_count(l.e), 1);
	CU_ASSERT_STRING_EQUAL(toy_error(&l, 0), "2:11: unknown name 'nosuch'");
	CU_ASSERT(l.s->ncomplaints > 1 && l.s->ncomplaints <= COMPOSE_AGAIN_MAX + 1);
	toy_unload(&l);
}

static void errors_beyond_the_limit_are_told_of_last(void)
{
	struct toy_load l = toy_load("for i = 1, 600 do app { a = i, b = i } end\nreturn graph \"g\" {}", NULL);
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);
	static const char last[] = "more than 1000 errors: the rest is not shown\n";

	CU_ASSERT_EQUAL(xk_errs_count(l.e), COMPOSE_ERRORS_MAX);
	xk_spec_print_errors(f, l.s, l.e, NULL);
	fclose(f);
	CU_ASSERT(n > sizeof last && strcmp(text + n - strlen(last), last) == 0);
	CU_ASSERT_PTR_EQUAL(strstr(text, last), text + n - strlen(last));
	free(text);
	toy_unload(&l);
}

/* What start says of a node has its caret, too; bytes that are no UTF-8 do not reach the terminal. */
static void errors_of_a_start_have_a_caret_and_no_raw_bytes(void)
{
	struct toy_load l = toy_load(toy_good, NULL);
	struct xk_spec_node node;
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	xk_spec_node(l.s, 0, &node);
	xk_errs_add(l.e, node.file, node.line, 0, "%s: is \xff\xc2\x9b \xc3\xa4", node.name);
	xk_spec_print_errors(f, l.s, l.e, NULL);
	fclose(f);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "^\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "is ?? \xc3\xa4\n"));
	free(text);
	toy_unload(&l);
}

/* A start from the k-th allocation on, Lua's among them; true when there were fewer. */
static bool starts(void (*fail)(uint64_t), uint64_t k, unsigned *refused, unsigned *said)
{
	uint64_t before = xk_alloc_live(), tries;
	struct xk_graph *g = NULL;
	struct toy_load l;
	bool up;

	fail(k);
	l = toy_load(toy_good, NULL);
	up = l.load == XK_OK && l.check == XK_OK && xk_spec_build(l.s, &g, l.e) == XK_OK && xk_graph_up(g, l.e) == XK_OK;
	tries = xk_mem_tries();
	xk_mem_fail_after(0);
	/* No specification at all, or one and what is wrong. */
	CU_ASSERT(up || l.s == NULL || xk_errs_count(l.e) != 0);
	CU_ASSERT(l.s != NULL || l.load == XK_E_NOMEM);
	*refused += !up;
	*said += !up && strstr(toy_error(&l, 0), "memory") != NULL;
	CU_ASSERT_EQUAL(xk_graph_free(g), 0);
	toy_unload(&l);
	xk_rcu_barrier();
	CU_ASSERT_EQUAL(xk_alloc_live(), before);
	return tries < k;
}

static void memory_that_runs_out_at_any_moment_is_survived(void)
{
	static void (*const fail[])(uint64_t) = { xk_mem_fail_after, xk_mem_fail_from };
	uint64_t step = 21 - xk_test_rounds(20), k;

	for (unsigned i = 0; i < XK_ARRAY_LEN(fail); i++) {
		unsigned refused = 0, said = 0;

		for (k = 1; !starts(fail[i], k, &refused, &said); k += step)
			;
		printf("# %u of %llu starts refused, %u with a sentence\n", refused, (unsigned long long)k, said);
		/* Lua tries again after it has collected: only memory that stays away stops it. */
		CU_ASSERT(fail[i] == xk_mem_fail_after ? refused > 10 / step : refused > 500 / step && refused + 2 * step > k / step);
		CU_ASSERT_NOT_EQUAL(said, 0);
	}
}

static CU_TestInfo tests[] = {
	{ "a description gives the expected nodes and edges", a_description_gives_the_expected_nodes_and_edges },
	{ "undefined lower, cycle and wrong realm are refused", undefined_lower_cycle_and_wrong_realm_are_refused },
	{ "what stands between offers what lies below", what_stands_between_offers_what_lies_below },
	{ "a cycle is shown as a path", a_cycle_is_shown_as_a_path },
	{ "Lua and the C interface make the same graph", lua_and_the_c_interface_make_the_same_graph },
	{ "one specification builds twice", one_specification_builds_twice },
	{ "arguments change the graph and are listed in order", arguments_change_the_graph_and_are_listed_in_order },
	{ "the graph says its own fields", the_graph_says_its_own_fields },
	{ "unnamed nodes get names around the given ones", unnamed_nodes_get_names_around_the_given_ones },
	{ "a map of connections reaches the graph", a_map_of_connections_reaches_the_graph },
	{ "every preset is a word", every_preset_is_a_word },
	{ "a file may ask what is built", a_file_may_ask_what_is_built },
	{ "a plain table of axes is a threading", a_plain_table_of_axes_is_a_threading },
	{ "quantities keep their units through arithmetic", quantities_keep_their_units_through_arithmetic },
	{ "a bench is a table with places", a_bench_is_a_table_with_places },
	{ "a machine is a table with places", a_machine_is_a_table_with_places },
	{ "a bench needs no graph of its own", a_bench_needs_no_graph_of_its_own },
	{ "a node tells a subgraph what it is", a_node_tells_a_subgraph_what_it_is },
	{ "a file that is not there is one sentence", a_file_that_is_not_there_is_one_sentence },
	{ "errors are printed with their line and a caret", errors_are_printed_with_their_line_and_a_caret },
	{ "no word of the language hides a protocol", no_word_of_the_language_hides_a_protocol },
	{ "every schema of the build is sound", every_schema_of_the_build_is_sound },
	{ "parameters that spoil each other are refused", parameters_that_spoil_each_other_are_refused },
	{ "the places of many errors are found in bounded work", the_places_of_many_errors_are_found_in_bounded_work },
	{ "a fault in an endless loop is said once", a_fault_in_an_endless_loop_is_said_once },
	{ "errors beyond the limit are told of last", errors_beyond_the_limit_are_told_of_last },
	{ "errors of a start have a caret and no raw bytes", errors_of_a_start_have_a_caret_and_no_raw_bytes },
	{ "memory that runs out at any moment is survived", memory_that_runs_out_at_any_moment_is_survived },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "compose", setup, teardown, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void) { return xk_test_main_rcu(suites); }
