/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_test_graph.c - what tests of whole graphs share.
 *
 * Which virtual processors a row has decides what must be written with it: a number
 * where there is one for each connection, nothing else anywhere.
 * Invariant: every row of the table is in every list that asks for rows.
 */
#include "tests/support/xk_test_graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/sync/xk_fiber.h"
#include "runtime/sync/xk_sync.h"

#define MAX_TABLE   128u
#define MAX_PRESETS 96u
#define MAX_FIELDS  128u

/* Axes that no row has as they are here; the checkers have large frames; %u: one virtual processor per connection. */
static const char *const changed[] = {
	"vppc { vps = 8, entry = 'lock' }", "vppc { vps = 8, schedule = 'os' }",
	"vppc { vps = 8, entry = 'lock', schedule = 'os' }", "vppc { vps = 96 }",
	"vppc { vps = 3, burst = 1 }", "vppc { burst = 16, quantum = 16 }", "up { burst = 1 }",
	"tpc { vps = %u, burst = 1 }", "cp { vps = %u, io_threads = 1 }", "connp_l { lock = 'mcs' }", "connp_l { vps = 8, handover = 'try', lock = 'ticket' }",
	"connp_l { vps = 8, io_threads = 3 }", "mp { vps = 4, lock = 'mcs', table = 'spin', burst = 4 }",
	"mp { vps = 8, order = 'any', table = 'none' }", "msgp { vps = 8, hold = false, table = 'rw', handover = 'try' }",
	"locking { vps = 8, lock = 'ticket', table = 'adaptive', io_threads = 2 }",
	"mp { vps = 8, object_locks = 'layer', lock = 'mcs', burst = 4 }", "locking { vps = 8, object_locks = 'connection' }",
	"ips_conn { vps = %u, freelist = 'processor' }", "mp { vps = 8, freelist = 'global' }", "lp { freelist = 'global' }",
	"ips_conn { vps = %u, stacks = 'global' }", "mp { vps = 8, stacks = 'processor' }", "connp_l { vps = 8, stacks = 'global' }",
	"vppc { vps = 8, stacks = 'processor' }",
	"tpc { threads = 'user', stack = '128KiB' }", "vppc { vps = 8, threads = 'user', stack = '128KiB' }",
	"up { threads = 'user', burst = 1, stack = '128KiB' }",
	"caller { vps = 3, lock = 'mcs' }", "connp_l { vps = 8, waiters = 'run' }", "tpc { vps = %u, waiters = 'run', spin = '0us' }",
	"lp { pipelines = 3 }", "lp { pipelines = 2, workers = 3 }", "lp { high = 1, burst = 1 }", "lp { high = 8, low = 7, inbox = 4 }",
	NULL
};

static struct { char text[MAX_PRESETS][MAX_FIELDS]; const char *at[MAX_PRESETS + 1]; unsigned n, offered; } list;

/* XK_TEST_TURN=i/n: each n-th row, from the i-th on. */
static bool has_its_turn(unsigned row)
{
	const char *turn = getenv("XK_TEST_TURN");
	unsigned i, n;

	if (turn == NULL || *turn == '\0')
		return true;
	xk_assert(sscanf(turn, "%u/%u", &i, &n) == 2 && i < n);
	return row % n == i;
}

/* XK_TEST_PRESETS holds beginnings of rows, separated by ';'; without it all are wanted that have their turn. */
static bool wanted(const char *text, unsigned row)
{
	const char *at = getenv("XK_TEST_PRESETS");

	if (at == NULL || *at == '\0')
		return has_its_turn(row);
	for (size_t n; *at != '\0'; at += n + (at[n] == ';')) {
		n = strcspn(at, ";");
		if (n != 0 && strncmp(text, at, n) == 0)
			return true;
	}
	return false;
}

static void add(const char *fmt, const char *text, const char *clock)
{
	if (!wanted(text, list.offered++))
		return;
	xk_assert(list.n < MAX_PRESETS);
	list.at[list.n] = list.text[list.n];
	snprintf(list.text[list.n++], MAX_FIELDS, fmt, text, clock);
	list.at[list.n] = NULL;
}

static void add_rows(unsigned conns, unsigned vps, const char *clock)
{
	char row[MAX_FIELDS - 40];

	for (const struct xk_arch *a = xk_arch_presets; a->name != NULL; a++) {
		if (a->vps == XK_VPS_PER_CONN)
			snprintf(row, sizeof row, "%s { vps = %u }", a->name, conns);
		else if (vps != 0 && a->vps > 1 && a->domain != XK_DOMAIN_LAYER)
			snprintf(row, sizeof row, "%s { vps = %u }", a->name, vps);
		else
			snprintf(row, sizeof row, "%s {}", a->name);
		add("threading = %s%s", row, clock);
	}
}

static void add_changed(unsigned conns)
{
	char row[MAX_FIELDS - 40];

	for (unsigned i = 0; changed[i] != NULL; i++) {
		const char *at = strstr(changed[i], "%u");

		if ((strstr(changed[i], "'user'") != NULL || strstr(changed[i], "stacks =") != NULL) && !xk_fiber_available())
			continue;
		if (at == NULL)
			snprintf(row, sizeof row, "%s", changed[i]);
		else
			snprintf(row, sizeof row, "%.*s%u%s", (int)(at - changed[i]), changed[i], conns, at + 2);
		add("threading = %s%s", row, "");
	}
}

const char *const *xk_test_presets_of(unsigned conns, unsigned vps, unsigned which)
{
	list.n = list.offered = 0;
	list.at[0] = NULL;
	if (which & XK_TEST_ROWS)
		add_rows(conns, vps, "");
	/* Words that choose nothing would be a test of nothing. */
	xk_assert(list.n != 0 || !(which & XK_TEST_ROWS));
	if (which & XK_TEST_VIRTUAL)
		add_rows(conns, vps, ", clock = 'virtual'");
	if (which & XK_TEST_CHANGED)
		add_changed(conns);
	return list.at;
}

/* ---- graphs --------------------------------------------------------------------- */

const struct xk_proto *const *xk_test_table(const struct xk_proto *own)
{
	static const struct xk_proto *table[MAX_TABLE];
	unsigned n = 0;

	while (xk_proto_table[n] != NULL && n < MAX_TABLE - 2) {
		table[n] = xk_proto_table[n];
		n++;
	}
	table[n++] = own;
	table[n] = NULL;
	return table;
}

void xk_test_build(struct xk_spec **s, struct xk_graph **g, const char *file, const char *text,
		   const struct xk_proto *own)
{
	struct xk_compose_opts o = { .table = xk_test_table(own) };
	struct xk_errs *e = xk_errs_new();

	*s = NULL;
	*g = NULL;
	if (xk_spec_load_text(s, file, text, strlen(text), &o, e) == XK_OK && xk_spec_check(*s, e, NULL) == XK_OK)
		(void)xk_spec_build(*s, g, e);
	if (xk_errs_count(e) != 0)
		xk_spec_print_errors(stdout, *s, e, NULL);
	CU_ASSERT_EQUAL(xk_errs_count(e), 0);
	xk_errs_free(e);
	CU_ASSERT_PTR_NOT_NULL_FATAL(*g);
}

void xk_test_unbuild(struct xk_spec *s, struct xk_graph *g, struct xk_errs *e, uint64_t live)
{
	CU_ASSERT_EQUAL(xk_graph_free(g), 0);
	xk_spec_free(s);
	xk_errs_free(e);
	xk_rcu_barrier();
	CU_ASSERT_EQUAL(xk_alloc_live(), live);
}

int xk_test_main_rcu(const CU_SuiteInfo *suites)
{
	int code;

	xk_rcu_register();
	code = xk_test_main(suites);
	xk_rcu_unregister();
	return code;
}
