/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_advise_measure.c - the figures that rules look at: from a run's JSON, from the graph file, from this machine.
 *
 * The record says what passed: each connection's messages, bytes, times.  Whether payload
 * is copied, and whether there is a presentation layer, stands in the file alone.
 */
#include "tools/vp-bench/bench_advise.h"

#include <math.h>
#include <sched.h>
#include <string.h>

static double processors(void)
{
	cpu_set_t s;

	return sched_getaffinity(0, sizeof s, &s) == 0 ? CPU_COUNT(&s) : 1;
}

/* Connections of the busiest application: both ends of one are not two. */
static void read_connections(const json_t *record, struct advise_in *in)
{
	const char *busiest = json_string_value(json_object_get(record, "busiest"));
	double sum = 0, most = 0;
	const json_t *c;
	size_t i;

	json_array_foreach(json_object_get(record, "connections"), i, c) {
		const char *node = json_string_value(json_object_get(c, "node"));
		double n = bench_number_of(c, "messages");

		if (n <= 0 || (busiest != NULL && (node == NULL || strcmp(node, busiest) != 0)))
			continue;
		in->conns++;
		sum += n;
		most = n > most ? n : most;
	}
	in->top = sum > 0 ? most / sum : 0;
	in->skew = sum > 0 ? most / (sum / in->conns) : 1;
}

static void read_called(const json_t *record, struct advise_in *in, double messages)
{
	double borrowed = 0;
	const json_t *v;
	size_t i;

	json_array_foreach(json_object_get(record, "vps"), i, v)
		borrowed += bench_number_of(v, "borrowed");
	in->called = borrowed / messages;
}

int advise_from_record(const json_t *record, struct advise_in *in, char *why, size_t n)
{
	double messages = bench_number_of(record, "messages"), nodes = 0, node_messages;
	const json_t *node;
	size_t i;

	if (!json_is_object(record) || json_integer_value(json_object_get(record, "schema")) != 1 ||
	    !json_is_object(json_object_get(record, "record")) || !json_is_array(json_object_get(record, "nodes"))) {
		snprintf(why, n, "it is not what vp-run --json prints");
		return BENCH_USAGE;
	}
	if (!json_is_array(json_object_get(record, "connections")) || !json_is_array(json_object_get(record, "vps"))) {
		snprintf(why, n, "it has no connections or no virtual processors: run vp-run --json --connections --vps");
		return BENCH_USAGE;
	}
	if (messages <= 0) {
		snprintf(why, n, "no message passed after the warm-up: there is nothing to advise from (does the graph end by itself? count=0)");
		return BENCH_CHILD_FAILED;
	}
	in->cpus = processors();
	in->bytes = bench_number_of(record, "bytes") / messages;
	in->ns = bench_number_of(json_object_get(record, "record"), "cpu_ns") / messages;
	json_array_foreach(json_object_get(record, "nodes"), i, node) {
		const char *p = json_string_value(json_object_get(node, "protocol"));

		node_messages = bench_number_of(node, "push") + bench_number_of(node, "pop");
		nodes += node_messages / messages;
		in->xdr = p != NULL && strcmp(p, "xdr") == 0 && node_messages > 0 ? 1 : in->xdr;
	}
	in->layer_ns = nodes > 0 ? in->ns / nodes : in->ns;
	read_connections(record, in);
	read_called(record, in, messages);
	return BENCH_OK;
}

/* ---- the file -------------------------------------------------------------------------------- */

/* Does a node say that it copies payload: copy = true, touch = "copy"? */
static bool copies(const struct xk_spec_node *n)
{
	char buf[64];

	for (const struct xk_param *p = n->proto->params; n->conf != NULL && p != NULL && p->name != NULL; p++) {
		const char *word = strcmp(p->name, "copy") == 0 && p->type == XK_P_BOOL ? "true" :
				   strcmp(p->name, "touch") == 0 && p->type == XK_P_ENUM ? "copy" : NULL;

		if (word != NULL && strcmp(xk_param_format(p, (const char *)n->conf + p->offset, buf, sizeof buf), word) == 0)
			return true;
	}
	return false;
}

/* Is there an argument `preset`, one of words? */
static bool has_preset(const struct xk_spec *s)
{
	unsigned n;
	const struct xk_arg *a = xk_spec_args(s, &n);

	for (unsigned i = 0; i < n; i++)
		if (strcmp(a[i].p.name, "preset") == 0 && a[i].p.type == XK_P_ENUM)
			return true;
	return false;
}

int advise_from_file(const char *file, const char *const *args, unsigned nargs, struct advise_in *in, bool *preset)
{
	struct xk_compose_opts o = { .args = args, .nargs = nargs };
	struct xk_errs *e = xk_errs_new();
	struct xk_spec *s = NULL;
	int code = BENCH_FILE_ERRORS;

	in->copied = 0;
	if (e != NULL && xk_spec_load(&s, file, &o, e) == XK_OK && xk_spec_check(s, e, NULL) == XK_OK) {
		code = BENCH_OK;
		*preset = has_preset(s);
		for (unsigned i = 0; i < xk_spec_nodes(s); i++) {
			struct xk_spec_node n;

			xk_spec_node(s, i, &n);
			in->copied = copies(&n) ? 1 : in->copied;
		}
	} else if (e != NULL) {
		xk_spec_print_errors(stderr, s, e, NULL);
	}
	xk_spec_free(s);
	xk_errs_free(e);
	return code;
}
