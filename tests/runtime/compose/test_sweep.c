/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_sweep.c - every parameter of every protocol and driver is given every wrong kind of
 * value, through the loader and the check as vp-run does it.
 *
 * Each file is accepted, or refused with a sentence at a line of it; none ends the program.
 * Two shapes: the node alone with that one parameter, so that what it needs may be missing,
 * and in a whole host, so that what is between nodes is looked at, too.  Each value also
 * stands inside a list and inside a map.  A name that nobody has defined is one fault, said
 * once, whatever it was given to.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/xk_param_value.h"
#include "runtime/compose/xk_compose.h"
#include "tests/support/xk_test_graph.h"

static const char *const values[] = {
	"nosuch", "nosuch.field", "nosuch { x = 1 }", "0", "-1", "3.5", "1e308", "0/0", "-1/0",
	"9223372036854775807", "math.mininteger", "18446744073709551616", "true", "\"\"", "\" \"", "\"x\"", "\"-1\"",
	"\"nan\"", "\"5 parsecs\"", "\"10s\"", "\"1GiB\"", "\"1Gbit/s\"", "\"50%\"", "\"10.0.0.1/8\"", "\"10.0.0.256\"",
	"\"02:00:00:00:00:01\"", "\"a\\0b\"", "\"\\xff\"", "(\"x\"):rep(70000)", "{}", "{ {} }", "{ x = 1 }",
	"function() end", "eth_mem", "eth_mem {}", "up {}", "uint { 1 }", "time \"1s\"", "rate \"1Gbit/s\"", "nil",
};

/* Around a value: itself, in a list, in a map, as a key. */
static const char *const wraps[] = { "%s", "{ %s }", "{ x = %s }", "{ [%s] = 1 }" };

/* What offers each realm, as the file's locals say it. */
static const char below[] =
	"local frame = eth_mem {}\n"
	"local ring = fddi_mem {}\n"
	"local link = eth { over = frame }\n"
	"local hostlink = arp { over = link }\n"
	"local host = ip { addr = \"10.0.0.1/8\", over = hostlink }\n"
	"local port, stream, echo = udp { over = host }, tcp { over = host }, icmp { over = host }\n"
	"local socket = sock { over = stream }\n"
	"local cells = cell { wire = \"cells\" }\n"
	"local messages = ncs { over = port }\n"
	"local job = process { rank = 0, ranks = { \"10.0.0.1\" }, over = messages }\n";

/* step: of the values every so many; where time is short each parameter gets others. */
struct count { unsigned refused, accepted, step, turn; };

static void put_needed(FILE *f, const struct xk_proto *p, const struct xk_param *not)
{
	for (const struct xk_param *q = p->params; q != NULL && q->name != NULL; q++)
		if ((q->flags & XK_PF_REQUIRED) && q != not)
			fprintf(f, "%s = %s, ", q->name, q->type == XK_P_LIST ? "{ \"10.0.0.1\", \"10.0.0.2\" }" :
				q->type == XK_P_CIDR ? "\"10.1.0.1/16\"" : q->type == XK_P_IPV4 ? "\"10.0.0.2\"" :
				q->type == XK_P_TEXT ? "\"xk\"" : "\"1\"");
}

static void put_over(FILE *f, const struct xk_proto *p)
{
	const char *need = p->needs[0];

	if (p->min_down > 1)
		fprintf(f, "over = { %s, messages }, ", need);
	else if (p->min_down != 0 && need != NULL)
		fprintf(f, "over = %.*s, ", (int)strcspn(need, "|"), strcmp(p->name, "fddi") == 0 ? "ring" : need);
}

static char *file_of(const struct xk_proto *p, const struct xk_param *q, const char *value, bool whole)
{
	/* What lies below decides which of a word's descriptors it is. */
	bool decided = xk_proto_find(p->name) == p;
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	if (whole || !decided)
		fputs(below, f);
	fprintf(f, "local n = %s { ", p->name);
	if (whole)
		put_needed(f, p, q);
	if (whole || !decided)
		put_over(f, p);
	if (q->group != NULL)
		fprintf(f, "%s = { %s = %s } }\n", q->group, q->name, value);
	else
		fprintf(f, "%s = %s }\n", q->name, value);
	fputs("return graph \"x\" { threading = up {} }\n", f);
	fclose(f);
	return text;
}

/* Every error has a line of the file; the sentences are printed, too. */
static bool all_located(struct xk_spec *s, struct xk_errs *e)
{
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);
	bool good = true;

	xk_spec_print_errors(f, s, e, NULL);
	fclose(f);
	for (unsigned i = 0; i < xk_errs_count(e); i++) {
		const char *file;
		int line, col;

		xk_errs_text(e, i, &file, &line, &col);
		good &= file != NULL && strcmp(file, "sweep.lua") == 0 && line > 0;
	}
	if (!good)
		printf("# %s", text);
	free(text);
	return good;
}

static void try_one(const char *text, bool one_fault, struct count *n)
{
	struct xk_errs *e = xk_errs_new(), *w = xk_errs_new();
	struct xk_spec *s;
	int load = xk_spec_load_text(&s, "sweep.lua", text, strlen(text), NULL, e), check;
	bool good;

	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	check = xk_spec_check(s, e, w);
	good = load == XK_OK && check == XK_OK;
	if (!(good || load == XK_E_INVAL || check == XK_E_INVAL) || good != (xk_errs_count(e) == 0) ||
	    !all_located(s, e) || (one_fault && xk_errs_count(e) != 1)) {
		printf("# load %d, check %d, %u errors: %s\n", load, check, xk_errs_count(e), text);
		CU_FAIL("not refused in one located sentence");
	}
	n->refused += !good;
	n->accepted += good;
	xk_spec_free(s);
	xk_errs_free(w);
	xk_errs_free(e);
}

static void one_parameter(const struct xk_proto *p, const struct xk_param *q, bool whole, struct count *n)
{
	unsigned nwraps = q->type == XK_P_MAP ? 4 : 2;

	for (unsigned v = n->turn++ % n->step; v < XK_ARRAY_LEN(values); v += n->step)
		for (unsigned i = 0; i < nwraps; i++) {
			bool named = strncmp(values[v], "nosuch", 6) == 0;
			char value[200], *text;

			/* A scalar in a list is a list, whatever is in it. */
			if (i > 0 && q->type != XK_P_MAP && q->type != XK_P_LIST && v > 0)
				break;
			if (i == 3 && strcmp(values[v], "nil") == 0)
				continue;
			snprintf(value, sizeof value, wraps[i], values[v]);
			text = file_of(p, q, value, whole);
			try_one(text, named && whole && i == 0, n);
			free(text);
		}
}

static void sweep(bool whole)
{
	struct count n = { .step = (unsigned)(XK_ARRAY_LEN(values) / xk_test_rounds(XK_ARRAY_LEN(values))) };

	for (const struct xk_proto *const *p = xk_proto_table; *p != NULL; p++)
		for (const struct xk_param *q = (*p)->params; q != NULL && q->name != NULL; q++)
			one_parameter(*p, q, whole, &n);
	printf("# %u refused, %u accepted\n", n.refused, n.accepted);
	CU_ASSERT(n.refused > 5000 / n.step);
	CU_ASSERT(n.accepted > 100 / n.step);
}

static void a_wrong_value_of_a_node_alone_is_refused_in_a_located_sentence(void)
{
	sweep(false);
}

static void a_wrong_value_in_a_host_is_refused_in_a_located_sentence_or_taken(void)
{
	sweep(true);
}

/* As `vp-graph inspect` asks, before what is needed was given. */
static void rules_between_parameters_bear_a_configuration_that_is_not_complete(void)
{
	unsigned n = 0;

	for (const struct xk_proto *const *p = xk_proto_table; *p != NULL; p++) {
		void *conf = calloc(1, (*p)->conf_size + 1);
		char why[400] = "";

		CU_ASSERT_PTR_NOT_NULL_FATAL(conf);
		CU_ASSERT_EQUAL(xk_param_defaults((*p)->params, conf, why, sizeof why), XK_OK);
		if ((*p)->check != NULL && (*p)->check(conf, why, sizeof why) != XK_OK)
			CU_ASSERT(why[0] != '\0');
		n += (*p)->check != NULL;
		if ((*p)->params != NULL)
			xk_param_release((*p)->params, conf);
		free(conf);
	}
	CU_ASSERT(n > 10);
}

static CU_TestInfo tests[] = {
	{ "a wrong value of a node alone is refused in a located sentence",
	  a_wrong_value_of_a_node_alone_is_refused_in_a_located_sentence },
	{ "a wrong value in a host is refused in a located sentence, or taken",
	  a_wrong_value_in_a_host_is_refused_in_a_located_sentence_or_taken },
	{ "rules between parameters bear a configuration that is not complete",
	  rules_between_parameters_bear_a_configuration_that_is_not_complete },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "sweep", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void) { return xk_test_main_rcu(suites); }
